package context

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nl-hecate/hecate/runtime/tensor"
)

func ExampleHandle() {
	h := New([]float64{1})
	m, _ := h.Take()
	m[0]++
	next, _ := h.Return(m)
	_, err := h.Take()
	fmt.Println(err)
	m, err = next.Take()
	fmt.Println(m, err)
	// Output:
	// context: already moved; use the handle that the last step returned
	// [2] <nil>
}

func TestHandleErrors(t *testing.T) {
	var zero Handle[int]
	if _, err := zero.Take(); err != ErrUninitialised {
		t.Errorf("Take of the zero handle = %v", err)
	}
	if _, err := zero.Return(1); err != ErrUninitialised {
		t.Errorf("Return to the zero handle = %v", err)
	}
	h := New(1)
	if _, err := h.Return(2); err != ErrMoved {
		t.Errorf("Return before Take = %v, want ErrMoved", err)
	}
	if _, err := h.Take(); err != nil {
		t.Error(err)
	}
	if _, err := h.Fork(func(x int) int { return x }); err != ErrMoved {
		t.Errorf("Fork of a moved handle = %v, want ErrMoved", err)
	}
	if _, err := h.Return(2); err != nil {
		t.Error(err)
	}
	if _, err := h.Return(3); err != ErrMoved {
		t.Errorf("second Return = %v, want ErrMoved", err)
	}
}

func TestForkLeavesTheOriginal(t *testing.T) {
	h := New([]float64{1})
	f, err := h.Fork(slices.Clone[[]float64])
	if err != nil {
		t.Fatal(err)
	}
	m, _ := f.Take()
	m[0] = 99
	if m, err := h.Take(); err != nil || m[0] != 1 {
		t.Errorf("after a fork the original is %v, %v", m, err)
	}
}

func TestOneTakerWins(t *testing.T) {
	h := New(1)
	var wins atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := h.Take(); err == nil {
				wins.Add(1)
			}
		})
	}
	wg.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d goroutines took one context", wins.Load())
	}
}

func TestInnerEndsWithItsScope(t *testing.T) {
	var leaked *Inner[int]
	got := Scope(3, func(in *Inner[int]) int {
		leaked = in
		*in.State() *= 2
		return *in.State()
	})
	if got != 6 {
		t.Errorf("Scope returned %d, want 6", got)
	}
	defer func() {
		if r := recover(); r != usedAfterScope {
			t.Errorf("panic %v, want UsedAfterScope", r)
		}
	}()
	leaked.State()
}

func params(t *testing.T, names ...string) *ParamSet[float32] {
	t.Helper()
	s := &ParamSet[float32]{}
	for _, n := range names {
		if err := s.Add(Param{Name: n, Shape: tensor.Shape{2, 3}, Init: Init{Kind: Uniform, A: -1, B: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	s.Fill(7)
	return s
}

func TestInitDoesNotDependOnOrder(t *testing.T) {
	a, b := params(t, "W_K", "W_V").View(), params(t, "extra", "W_V", "W_K").View()
	for _, n := range []string{"W_K", "W_V"} {
		i, _ := a.Index(n)
		j, _ := b.Index(n)
		if !slices.Equal(a.Data(i), b.Data(j)) {
			t.Errorf("%s differs: %v and %v", n, a.Data(i), b.Data(j))
		}
	}
	if slices.Equal(a.Data(0), a.Data(1)) {
		t.Error("two parameters have the same values")
	}
}

func TestWriter(t *testing.T) {
	s := params(t, "w")
	v := s.View()
	before, version := v.Hash(), v.Version()
	w, err := s.Writer()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Writer(); err != ErrWriter {
		t.Errorf("second Writer = %v, want ErrWriter", err)
	}
	w.Update(func(i int, p Param, data []float32) { data[0] += 1 })
	if v.Hash() == before || v.Version() != version+1 {
		t.Error("an update changed neither hash nor version")
	}
	w.Close()
	if _, err := s.Writer(); err != nil {
		t.Errorf("Writer after Close = %v", err)
	}
	defer func() {
		if r := recover(); r != writerClosed {
			t.Errorf("panic %v, want WriterClosed", r)
		}
	}()
	w.Update(nil)
}

// TestFixed wants a parameter with a stream of its own to be the same whatever
// the set is filled from and wherever it is, and no update to see it.
func TestFixed(t *testing.T) {
	make := func(name string, seed uint64) *ParamSet[float64] {
		s := &ParamSet[float64]{}
		for _, p := range []Param{
			{Name: "w", Shape: tensor.Shape{2}, Init: Init{Kind: Normal, B: 1}},
			{Name: name, Shape: tensor.Shape{2}, Fixed: true, Init: Init{Kind: Normal, A: 1, B: 0.5, Stream: "R", Seed: 7}},
		} {
			if err := s.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		s.Fill(seed)
		return s
	}
	s := make("R", 1)
	want := []float64{0x1.ff1411f6b69p-09, 0x1.f814a36ffb9f8p-04}
	if got := s.View().Data(1); !slices.Equal(got, want) {
		t.Errorf("R is %x, want %x", got, want)
	}
	other := make("memory.R", 2)
	if !slices.Equal(other.View().Data(1), s.View().Data(1)) || slices.Equal(other.View().Data(0), s.View().Data(0)) {
		t.Error("a stream of its own depends on the set's seed or on the name, or the other one does not")
	}
	if got := s.View().Param(1).Init.String(); got != "normal(1, 0.5) seed 7" {
		t.Errorf("it prints as %s", got)
	}
	w, err := s.Writer()
	if err != nil {
		t.Fatal(err)
	}
	w.Update(func(_ int, p Param, data []float64) { data[0] = 3 })
	if got := s.View(); got.Data(0)[0] != 3 || got.Data(1)[0] == 3 {
		t.Error("an update moved a fixed parameter, or did not move another")
	}
	w.Restore(func(_ int, p Param, data []float64) { data[0] = 4 })
	if got := s.View(); got.Data(0)[0] != 4 || got.Data(1)[0] != 4 {
		t.Error("a restore left a parameter out")
	}
}

func TestAddRefuses(t *testing.T) {
	s := params(t, "w")
	ok := Init{Kind: Constant}
	for _, c := range []struct {
		p    Param
		want error
	}{
		{Param{Name: "w", Init: ok}, ErrDuplicate},
		{Param{Name: "x", Shape: tensor.Shape{-1}, Init: ok}, tensor.ErrShape},
		{Param{Name: "x", Shape: tensor.Shape{math.MaxInt, 3}, Init: ok}, tensor.ErrShape},
		{Param{Name: "x", Shape: tensor.Shape{2}, Init: Init{Kind: Values, List: []float64{1}}}, tensor.ErrShape},
	} {
		if err := s.Add(c.p); !errors.Is(err, c.want) {
			t.Errorf("Add(%v) = %v, want %v", c.p, err, c.want)
		}
	}
	if err := s.Add(Param{Name: "x"}); err == nil {
		t.Error("Add without an init = nil")
	}
	if _, err := s.View().Index("nope"); !errors.Is(err, ErrNoParam) {
		t.Errorf("Index(nope) = %v", err)
	}
	if s.View().Len() != 1 || s.View().Size() != 6 {
		t.Error("a refused parameter was kept")
	}
}
