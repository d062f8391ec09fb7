package tape_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

var first = pulse.First(pulse.Build)

func ExampleWith() {
	var arena tape.Arena[float64]
	w := []float64{2, 3}
	err := tape.With(&arena, pulse.First(pulse.Build), func(r *tape.Run[float64]) error {
		x := r.Param("w", w)
		loss := sum(r, mul(r, x, x))
		if err := r.Tape.Backward(loss); err != nil {
			return err
		}
		fmt.Println(loss.Data[0], r.Tape.GradOf(x))
		return nil
	})
	fmt.Println(err)
	// Output:
	// 13 [4 6]
	// <nil>
}

// chain multiplies x by itself n times and sums.
func chain[F num.Float](r *tape.Run[F], x tape.Value[F], n int) tape.Value[F] {
	y := x
	for range n {
		y = mul(r, y, x)
	}
	return sum(r, y)
}

func TestSameBitsWithAndWithoutTape(t *testing.T) {
	data := make([]float32, 100)
	num.FillUniform(data, num.NewStream("x", 1), -1.5, 1.5)
	var arena tape.Arena[float32]
	var with, without []float32
	run := func(dst *[]float32) func(*tape.Run[float32]) error {
		return func(r *tape.Run[float32]) error {
			y := mul(r, r.Param("x", data), tape.Const(data))
			*dst = slices.Concat(y.Data, chain(r, y, 9).Data)
			return nil
		}
	}
	if err := errors.Join(tape.With(&arena, first, run(&with)), tape.Without(&arena, first, run(&without))); err != nil {
		t.Fatal(err)
	}
	for i := range with {
		if math.Float32bits(with[i]) != math.Float32bits(without[i]) {
			t.Errorf("element %d: %v with a tape, %v without", i, with[i], without[i])
		}
	}
}

func TestAccumulation(t *testing.T) {
	var arena tape.Arena[float64]
	_ = tape.With(&arena, first, func(r *tape.Run[float64]) error {
		a, b := r.Param("a", []float64{2}), r.Param("b", []float64{5})
		unused := r.Param("unused", []float64{1})
		c := tape.Const([]float64{10})
		y := mul(r, mul(r, a, b), mul(r, a, c)) // 10·a²·b
		r.Tape.Seed(a, []float64{100})
		if err := r.Tape.Backward(y); err != nil {
			t.Fatal(err)
		}
		if got := r.Tape.GradOf(a)[0]; got != 100+2*10*2*5 {
			t.Errorf("da = %v, want 300", got)
		}
		if got := r.Tape.GradOf(b)[0]; got != 40 {
			t.Errorf("db = %v, want 40", got)
		}
		if r.Tape.GradOf(unused) != nil || r.Tape.GradOf(c) != nil {
			t.Error("an unused parameter or a constant has a gradient")
		}
		var names []string
		r.Tape.Params(func(name string, grad []float64) { names = append(names, fmt.Sprint(name, grad == nil)) })
		if !slices.Equal(names, []string{"afalse", "bfalse", "unusedtrue"}) {
			t.Errorf("Params visits %v", names)
		}
		return nil
	})
}

// TestInto: gradients are written where they are asked for, whatever was there, with the values that they have
// elsewhere; memory of a parameter that the loss does not depend on, or of another length, stays.
func TestInto(t *testing.T) {
	var arena tape.Arena[float64]
	_ = tape.With(&arena, first, func(r *tape.Run[float64]) error {
		a, b := r.Param("a", []float64{2, 3}), r.Param("b", []float64{5, 7})
		r.Param("unused", []float64{1, 1})
		dst := [][]float64{{math.NaN(), math.NaN()}, {math.NaN()}, {9, 9}}
		y := sum(r, mul(r, mul(r, a, b), a)) // a²·b
		r.Tape.Seed(y, []float64{1})
		r.Tape.Into(func(k int) []float64 { return dst[k] })
		r.Tape.Reverse()
		if want := []float64{20, 42}; !slices.Equal(dst[0], want) || &r.Tape.GradOf(a)[0] != &dst[0][0] {
			t.Errorf("da = %v in its place, want %v", dst[0], want)
		}
		if want := []float64{4, 9}; !slices.Equal(r.Tape.GradOf(b), want) || !math.IsNaN(dst[1][0]) {
			t.Errorf("db = %v, want %v; %v is where there is no room", r.Tape.GradOf(b), want, dst[1])
		}
		if !slices.Equal(dst[2], []float64{9, 9}) {
			t.Errorf("what nothing reaches is %v", dst[2])
		}
		return nil
	})
}

// TestIntoTwice: a node that has two parts for one parameter before it contributes them has two.
func TestIntoTwice(t *testing.T) {
	var arena tape.Arena[float64]
	_ = tape.With(&arena, first, func(r *tape.Run[float64]) error {
		a, dst := r.Param("a", []float64{2}), []float64{math.NaN()}
		r.Tape.Into(func(int) []float64 { return dst })
		x, y := r.Tape.Part(a, 1), r.Tape.Part(a, 1)
		x[0], y[0] = 3, 4
		r.Tape.Contribute(a, x)
		r.Tape.Contribute(a, y)
		if r.Tape.Reverse(); dst[0] != 7 || r.Tape.GradOf(a)[0] != 7 {
			t.Errorf("3 and 4 add to %v, in its place %v", r.Tape.GradOf(a), dst)
		}
		return nil
	})
}

// TestScopesDoNotShare runs the same work again on memory that is used: nodes
// come zeroed, adjoints begin at zero, and seeding the loss adds.
func TestScopesDoNotShare(t *testing.T) {
	var arena tape.Arena[float64]
	for scope := range 3 {
		_ = tape.With(&arena, first, func(r *tape.Run[float64]) error {
			if scope > 0 { // takes the node that mul filled in scope 0
				if n := tape.Push[float64, mulNode[float64]](r, kindMul); n.a.Data != nil || n.out.Recorded() {
					t.Errorf("scope %d: the node holds %v", scope, n)
				}
			}
			x := r.Param("x", []float64{2, 3})
			loss := sum(r, mul(r, x, x))
			r.Tape.Seed(loss, []float64{4})
			if err := r.Tape.Backward(loss); err != nil {
				t.Fatal(err)
			}
			if got := r.Tape.GradOf(x); !slices.Equal(got, []float64{20, 30}) {
				t.Errorf("scope %d: gradient %v, want [20 30]", scope, got)
			}
			return nil
		})
	}
}

func TestSnapshot(t *testing.T) {
	var arena tape.Arena[float64]
	w := []float64{3}
	_ = tape.With(&arena, first, func(r *tape.Run[float64]) error {
		x := r.Param("w", w)
		y := mul(r, x, x)
		w[0] = 1000 // an update in the middle
		if err := r.Tape.Backward(y); err != nil {
			t.Fatal(err)
		}
		if got := r.Tape.GradOf(x)[0]; got != 6 {
			t.Errorf("gradient %v, want 6 of the snapshot", got)
		}
		return nil
	})
}

func TestLossMustBeFinite(t *testing.T) {
	var arena tape.Arena[float64]
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		err := tape.With(&arena, first, func(r *tape.Run[float64]) error {
			return r.Tape.Backward(sum(r, r.Input([]float64{x})))
		})
		if !errors.Is(err, tape.ErrLoss) {
			t.Errorf("Backward of loss %v = %v, want ErrLoss", x, err)
		}
	}
}

// TestMisuse has one row per panic message.
//
//hecate:allow noescape what leaves its scope is refused: that is the test
//hecate:allow outerwrite a value changed in place is noticed: that is the test
func TestMisuse(t *testing.T) {
	var old tape.Value[float64]
	var leaked *tape.Run[float64]
	var leakedTape *tape.Tape[float64]
	var arena, other tape.Arena[float64]
	_ = tape.With(&other, first, func(r *tape.Run[float64]) error {
		leaked, leakedTape = r, r.Tape
		old = r.Input([]float64{1})
		return nil
	})
	in := func(f func(r *tape.Run[float64], x tape.Value[float64])) func() {
		return func() {
			_ = tape.With(&arena, first, func(r *tape.Run[float64]) error {
				f(r, r.Input([]float64{2}))
				return nil
			})
		}
	}
	rows := []struct {
		want string
		f    func()
	}{
		{tape.BadLength, in(func(r *tape.Run[float64], x tape.Value[float64]) { r.Arena.Alloc(-1) })},
		{tape.Closed, func() { leaked.Output(nil) }},
		{tape.Closed, func() { leakedTape.Reverse() }},
		{tape.Closed, func() { tape.Push[float64, mulNode[float64]](leaked, kindMul) }},
		{tape.Closed, func() { leaked.Arena.Alloc(1) }},
		{tape.Closed, func() { leaked.Arena.Scratch(1) }},
		{tape.Closed, func() { leaked.Arena.Flags(1) }},
		{tape.Closed, func() { leakedTape.Grad(old) }},
		{tape.Closed, func() { new(tape.Arena[float64]).Alloc(1) }},
		{tape.DuplicateParam, in(func(r *tape.Run[float64], x tape.Value[float64]) {
			r.Param("p", nil)
			r.Param("p", nil)
		})},
		{tape.ForeignValue, in(func(r *tape.Run[float64], x tape.Value[float64]) { mul(r, x, old) })},
		{tape.ForeignValue, func() { stale(&arena, tape.With[float64]) }},
		{tape.ForeignValue, func() { stale(&arena, tape.Without[float64]) }},
		{tape.ForeignValue, in(func(r *tape.Run[float64], x tape.Value[float64]) { r.Tape.Grad(old) })},
		{tape.KindTaken, in(func(r *tape.Run[float64], x tape.Value[float64]) {
			mul(r, x, x)
			tape.Push[float64, sumNode[float64]](r, kindMul)
		})},
		{tape.Nested, in(func(r *tape.Run[float64], x tape.Value[float64]) {
			_ = tape.Without(r.Arena, first, func(*tape.Run[float64]) error { return nil })
		})},
		{tape.NotRecorded, in(func(r *tape.Run[float64], x tape.Value[float64]) {
			_ = r.Tape.Backward(tape.Const([]float64{1}))
		})},
		{tape.NotReversed, in(func(r *tape.Run[float64], x tape.Value[float64]) { r.Tape.GradOf(x) })},
		{tape.NotScalar, in(func(r *tape.Run[float64], x tape.Value[float64]) {
			_ = r.Tape.Backward(r.Input([]float64{1, 2}))
		})},
		{tape.Overwritten, in(func(r *tape.Run[float64], x tape.Value[float64]) {
			y := mul(r, x, x)
			x.Data[0] = 7
			_ = r.Tape.Backward(y)
		})},
		{tape.Reversed, in(func(r *tape.Run[float64], x tape.Value[float64]) {
			_ = r.Tape.Backward(x)
			_ = r.Tape.Backward(x)
		})},
		{tape.Reversed, in(func(r *tape.Run[float64], x tape.Value[float64]) {
			_ = r.Tape.Backward(x)
			mul(r, x, x)
		})},
		{tape.Reversed, in(func(r *tape.Run[float64], x tape.Value[float64]) {
			_ = r.Tape.Backward(x)
			tape.Push[float64, mulNode[float64]](r, kindMul)
		})},
		{tape.SeedLength, in(func(r *tape.Run[float64], x tape.Value[float64]) { r.Tape.Seed(x, []float64{1, 2}) })},
	}
	arena.Debug = true
	for i, row := range rows {
		func() {
			defer func() {
				if got := recover(); got != row.want {
					t.Errorf("row %d: panic %v, want %v", i, got, row.want)
				}
			}()
			row.f()
		}()
		// The panic closed the scope: the arena is usable again.
		if err := tape.With(&arena, first, func(*tape.Run[float64]) error { return nil }); err != nil {
			t.Error(err)
		}
	}
}

// stale uses what one scope computed in the next one of the same arena.
func stale(arena *tape.Arena[float64], scope func(*tape.Arena[float64], pulse.Pulse, func(*tape.Run[float64]) error) error) {
	var old tape.Value[float64]
	for range 2 {
		_ = scope(arena, first, func(r *tape.Run[float64]) error {
			x := r.Input([]float64{2})
			if old.Data != nil {
				mul(r, x, old)
			}
			old = mul(r, x, x)
			return nil
		})
	}
}

func TestLimit(t *testing.T) {
	arena := tape.Arena[float64]{Limit: 1 << 20}
	need := func(n int) error {
		return tape.Without(&arena, first, func(r *tape.Run[float64]) error {
			r.Arena.Alloc(n)
			return nil
		})
	}
	var limit *tape.LimitError
	if err := need(1 << 18); !errors.As(err, &limit) || limit.Limit != 1<<20 || limit.Need <= limit.Limit {
		t.Errorf("2 MiB under a limit of 1 MiB = %v, want a LimitError", err)
	}
	if err := need(1 << 16); err != nil {
		t.Errorf("512 KiB under a limit of 1 MiB = %v", err)
	}
	defer func() {
		if got := recover(); got != "other" {
			t.Errorf("panic %v, want it to pass", got)
		}
	}()
	_ = tape.Without(&arena, first, func(*tape.Run[float64]) error { panic("other") })
}

// steady runs a scope of n recorded operations forwards and backwards.
func steady(arena *tape.Arena[float32], x []float32, n int) func() {
	body := func(r *tape.Run[float32]) error {
		y := r.Param("x", x)
		for range n {
			y = empty(r, y, y)
		}
		if r.Tape != nil {
			r.Tape.Grad(y)[0] = 1
			r.Tape.Reverse()
		}
		return nil
	}
	return func() { _ = tape.With(arena, first, body) }
}

func TestNoAllocationInSteadyState(t *testing.T) {
	var arena tape.Arena[float32]
	x := make([]float32, 64)
	work := steady(&arena, x, 1000)
	work()
	work()
	if n := testing.AllocsPerRun(10, work); n != 0 {
		t.Errorf("1000 recorded operations allocate %v times, want 0", n)
	}
	without := func(r *tape.Run[float32]) error { chain(r, r.Param("x", x), 100); return nil }
	if n := testing.AllocsPerRun(10, func() { _ = tape.Without(&arena, first, without) }); n != 0 {
		t.Errorf("100 unrecorded operations allocate %v times, want 0", n)
	}
}

// BenchmarkRecord reports the cost of one recorded operation with 64 results:
// memory for the output and the adjoint (zeroed), the record, and the reverse
// dispatch; the operation itself does nothing.
func BenchmarkRecord(b *testing.B) {
	const ops = 4096
	var arena tape.Arena[float32]
	work := steady(&arena, make([]float32, 64), ops)
	work()
	work()
	b.ReportAllocs()
	for b.Loop() {
		work()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/ops, "ns/recorded-op")
}

// A value without elements was recorded all the same: its seed is empty.
func TestSeedOfNothing(t *testing.T) {
	var arena tape.Arena[float64]
	err := tape.With(&arena, first, func(r *tape.Run[float64]) error {
		r.Tape.Seed(r.Input([]float64{}), nil)
		r.Tape.Reverse()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
