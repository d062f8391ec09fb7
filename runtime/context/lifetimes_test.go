package context

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

// panicOf runs f and returns what it panicked with.
func panicOf(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}

func TestStepMovesTheContextOn(t *testing.T) {
	h := New([]int{1})
	old := h
	h, err := h.Step(func(s []int) ([]int, error) { return append(s, 2), nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Step(func(s []int) ([]int, error) { t.Error("a moved context was stepped"); return s, nil }); err != ErrMoved {
		t.Errorf("a second step from the same place = %v, want ErrMoved", err)
	}
	if s, err := h.Take(); err != nil || !slices.Equal(s, []int{1, 2}) {
		t.Errorf("after a step the context is %v, %v", s, err)
	}
	var zero Handle[int]
	if _, err := zero.Step(nil); err != ErrUninitialised {
		t.Errorf("a step of the zero handle = %v", err)
	}
}

// TestFailedStepLosesNothing wants a context whose step fails or panics back
// under the handle that it was taken from.
func TestFailedStepLosesNothing(t *testing.T) {
	h := New("tokens 0 to 9")
	full := errors.New("no room")
	got, err := h.Step(func(string) (string, error) { return "half", full })
	if err != full || got != h {
		t.Errorf("Step = %v, want f's error and the handle itself", err)
	}
	if r := panicOf(func() { _, _ = h.Step(func(string) (string, error) { panic("broken") }) }); r != "broken" {
		t.Errorf("panic %v", r)
	}
	if r := panicOf(func() { _, _ = h.Fork(func(string) string { panic("broken") }) }); r != "broken" {
		t.Errorf("panic %v", r)
	}
	if s, err := h.Take(); err != nil || s != "tokens 0 to 9" {
		t.Errorf("the context is %q, %v", s, err)
	}
}

// TestStaleHandleOnAnotherGoroutine hands an old handle to a goroutine that is
// late: the generation is two older, and the context is where it should be.
func TestStaleHandleOnAnotherGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(1)
		stale, late := h, make(chan error)
		start := make(chan bool)
		go func() {
			<-start
			_, err := stale.Take()
			late <- err
		}()
		s, _ := h.Take()
		h, _ = h.Return(s + 1)
		close(start)
		if err := <-late; err != ErrMoved {
			t.Errorf("the late goroutine got %v, want ErrMoved", err)
		}
		if s, err := h.Take(); err != nil || s != 2 {
			t.Errorf("the context is %v, %v", s, err)
		}
	})
}

func TestHandleAllocatesNothing(t *testing.T) {
	h := New(new(int))
	if n := testing.AllocsPerRun(100, func() {
		h, _ = h.Step(func(p *int) (*int, error) { *p++; return p, nil })
	}); n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
}

// TestInnerCannotBeMovedOut tries the ways out that Go's types leave open.
func TestInnerCannotBeMovedOut(t *testing.T) {
	var copied Inner[int]
	Scope(3, func(in *Inner[int]) int {
		copied = *in
		done := make(chan any)
		go func() { done <- panicOf(func() { in.State() }) }()
		if r := <-done; r != otherGoroutine {
			t.Errorf("State on another goroutine: panic %v, want OtherGoroutine", r)
		}
		return *copied.State()
	})
	if r := panicOf(func() { copied.State() }); r != usedAfterScope {
		t.Errorf("State of a copy after the scope: panic %v, want UsedAfterScope", r)
	}
	if r := panicOf(func() { new(Inner[int]).State() }); r != outsideScope {
		t.Errorf("State that no scope made: panic %v, want OutsideScope", r)
	}
	var leaked *Inner[int]
	if r := panicOf(func() { Scope(1, func(in *Inner[int]) int { leaked = in; panic("broken") }) }); r != "broken" {
		t.Errorf("panic %v", r)
	}
	if r := panicOf(func() { leaked.State() }); r != usedAfterScope {
		t.Errorf("State after a scope that panicked: panic %v, want UsedAfterScope", r)
	}
}

func TestGoroutinesDiffer(t *testing.T) {
	here, there := goroutine(), make(chan uint64)
	go func() { there <- goroutine() }()
	if other := <-there; here == 0 || other == 0 || here == other || here != goroutine() {
		t.Errorf("this goroutine is %d and %d, another one %d", here, goroutine(), other)
	}
}

// TestUpdateIsAllOrNothing breaks an update after its first parameter.
func TestUpdateIsAllOrNothing(t *testing.T) {
	s := params(t, "a", "b", "c")
	v := s.View()
	w, err := s.Writer()
	if err != nil {
		t.Fatal(err)
	}
	hash, version := v.Hash(), v.Version()
	same := func(what string) {
		t.Helper()
		if v.Hash() != hash || v.Version() != version {
			t.Errorf("%s left its mark: hash %x, version %d; before it %x, %d", what, v.Hash(), v.Version(), hash, version)
		}
	}
	for _, write := range []func(func(int, Param, []float32)){w.Update, w.Restore} {
		r := panicOf(func() {
			write(func(i int, _ Param, data []float32) {
				if i == 2 {
					panic("broken")
				}
				data[0]++
			})
		})
		if r != "broken" {
			t.Errorf("panic %v", r)
		}
		same("an update that panicked")
	}
	w.Update(func(i int, p Param, data []float32) {
		if data[0] != v.Data(i)[0] {
			t.Errorf("an update finds %v in %s, want what the set has, %v", data[0], p.Name, v.Data(i)[0])
		}
		data[0]++
		if same("an update that is not done"); i == 0 {
			return
		}
		if v.Data(i - 1)[0] == data[0] {
			t.Error("an update sees what it made of an earlier parameter")
		}
	})
	if v.Version() != version+1 || v.Hash() == hash {
		t.Error("an update that was done left no mark")
	}
}

func TestUpdateAllocatesNothing(t *testing.T) {
	s := params(t, "a", "b")
	w, err := s.Writer()
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() {
		w.Update(func(_ int, _ Param, data []float32) { data[0]++ })
	}); n != 0 {
		t.Errorf("an update allocates %v times", n)
	}
}
