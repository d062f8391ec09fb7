package conformance

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// An Op is the table of a generated test of an operation. Its vectors hold
// cases at the edges, such as the sides of a kink, and cases of moderate
// numbers; differences are taken of the latter.
type Op struct {
	Taped    func(r *tape.Run[float64], a *Args[float64]) error
	Taped32  func(r *tape.Run[float32], a *Args[float32]) error
	Direct   func(a *Args[float64])
	Direct32 func(a *Args[float32])
	Declared bool // the page declares an adjoint that is not the derivative
	Vectors  string
}

const (
	edge     = "edge"
	moderate = "case"
)

// Test runs all checks.
func (o Op) Test(t *testing.T) {
	cases := read(t, o.Vectors, moderate)
	all := cases
	if f := readAny(t, o.Vectors, edge); len(f) > 0 {
		all = slices.Concat(f, cases)
	}
	p := Pair{Name: "op", Taped: o.Taped, Direct: o.Direct}
	each := func(cs []*vectorCase, f func(t *testing.T, c *vectorCase, a *Args[float64])) func(*testing.T) {
		return func(t *testing.T) {
			for _, c := range cs {
				a := args[float64](t, c)
				o.Direct(a)
				f(t, c, a)
			}
		}
	}
	t.Run("class1", each(all, func(t *testing.T, _ *vectorCase, a *Args[float64]) { p.isolated(t, a) }))
	if !o.Declared {
		t.Run("class2", func(t *testing.T) {
			var s tally
			each(cases, func(t *testing.T, _ *vectorCase, a *Args[float64]) { p.differences(t, &s, a) })(t)
			s.report(t)
		})
	}
	t.Run("class3", each(all, func(t *testing.T, c *vectorCase, a *Args[float64]) {
		c.complete(t, a)
		c.holds(t, "out", a.Outs)
		c.holds(t, "grad", a.Grads)
	}))
	t.Run("float32", func(t *testing.T) { o.single(t, cases) })
	t.Run("levels", func(t *testing.T) {
		o.levels(t, cases)
		o.special(t, cases[0])
	})
	t.Run("guards", func(t *testing.T) { o.guards(t, cases) })
	t.Run("tape", each(all, func(t *testing.T, _ *vectorCase, a *Args[float64]) { o.withAndWithout(t, a) }))
	t.Run("batch", each(cases, func(t *testing.T, _ *vectorCase, a *Args[float64]) { o.oneByOne(t, a) }))
	t.Run("twice", each(cases, func(t *testing.T, _ *vectorCase, a *Args[float64]) { o.twice(t, a) }))
	t.Run("steady", func(t *testing.T) {
		for _, c := range cases[:1] {
			steadyOp(t, c, o.Taped)
			steadyOp(t, c, o.Taped32)
		}
	})
	t.Run("input", each(cases[:1], func(t *testing.T, _ *vectorCase, a *Args[float64]) { o.badInput(t, a) }))
}

// call runs an operation once, with a tape or without.
func call[F num.Float](op func(*tape.Run[F], *Args[F]) error, a *Args[F], taped bool) error {
	scope := tape.Without[F]
	if taped {
		scope = tape.With[F]
	}
	a.Outs = map[string][]F{}
	a.given, a.leaves = map[string]tape.Value[F]{}, map[string]tape.Value[F]{}
	var arena tape.Arena[F]
	arena.Debug = true
	return scope(&arena, first(), func(r *tape.Run[F]) error {
		if err := op(r, a); err != nil {
			return err
		}
		if taped {
			a.reverse(r)
		}
		return nil
	})
}

// single holds float32 to the interpreter's float64.
func (o Op) single(t *testing.T, cases []*vectorCase) {
	for _, c := range cases {
		a := args[float32](t, c)
		a.Must(call(o.Taped32, a, true))
		singles(t, c, a.Outs, a.Grads)
	}
}

// withAndWithout compares a call on a tape with one without.
func (o Op) withAndWithout(t *testing.T, a *Args[float64]) {
	a.Must(call(o.Taped, a, false))
	off := a.Outs
	a.Must(call(o.Taped, a, true))
	sameBits(t, label(a.Sizes)+" with and without a tape", a.Outs, off)
}

// oneByOne compares sequences side by side with each sequence alone.
func (o Op) oneByOne(t *testing.T, a *Args[float64]) {
	n := a.Size("L")
	for l := range n {
		one := newArgs[float64](t, a.Sizes.with(Sizes{"L": 1}), a.seed)
		of := func(x []float64) []float64 { return cut(x, n, 1, [2]int{l, l + 1}, [2]int{0, 1}) }
		for name, x := range a.In {
			if one.In[name] = x; !a.consts[name] {
				one.In[name] = of(x)
			}
		}
		for name, x := range a.Ints {
			if one.Ints[name] = x; len(x)%n == 0 {
				one.Ints[name] = cut(x, n, 1, [2]int{l, l + 1}, [2]int{0, 1})
			}
		}
		for name, x := range a.Bars {
			one.Bars[name] = of(x)
		}
		o.Direct(one)
		for name, x := range one.Outs {
			bits(t, label(a.Sizes)+" sequence alone: "+name, x, of(a.Outs[name]))
		}
		for name, x := range one.Grads {
			bits(t, label(a.Sizes)+" sequence alone, gradient of "+name, x, of(a.Grads[name]))
		}
	}
}

// twice gives one value to two inputs: its gradient is the sum of both.
func (o Op) twice(t *testing.T, a *Args[float64]) {
	names := slices.Sorted(maps.Keys(a.In))
	for i, x := range names {
		for _, y := range names[i+1:] {
			if a.consts[x] || a.consts[y] || len(a.In[x]) != len(a.In[y]) {
				continue
			}
			both := newArgs[float64](t, a.Sizes, a.seed)
			both.In, both.Ints, both.Bars = maps.Clone(a.In), a.Ints, a.Bars
			both.In[y] = a.In[x]
			o.Direct(both)
			want := add(slices.Clone(both.Grads[x]), both.Grads[y])
			both.alias = map[string]string{x: y, y: x}
			both.Must(call(o.Taped, both, true))
			got := both.Grads[x]
			if got == nil {
				got = both.Grads[y]
			}
			near(t, label(a.Sizes)+" one value as "+x+" and "+y, got, want, sumTol)
		}
	}
}

// badInput gives each input a wrong length and each index a value far outside.
func (o Op) badInput(t *testing.T, a *Args[float64]) {
	a.Must(call(o.Taped, a, false)) // which inputs are constants
	length := func(err error) bool { var want *block.LengthError; return errors.As(err, &want) }
	outside := func(err error) bool { var want *block.RangeError; return errors.As(err, &want) }
	for _, name := range slices.Sorted(maps.Keys(a.In)) {
		if good := a.In[name]; !a.consts[name] {
			for _, n := range []int{0, len(good) - 1, len(good) + 1} {
				if n != len(good) {
					a.In[name] = make([]float64, n)
					o.refused(t, a, length, name+" of another length")
				}
			}
			a.In[name] = good
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Ints)) {
		good := a.Ints[name]
		for _, x := range []int32{-2, 1 << 30, math.MinInt32} {
			a.Ints[name] = append(slices.Clone(good[:len(good)-1]), x)
			o.refused(t, a, outside, name+" outside its range")
		}
		if len(good) > 1 {
			a.Ints[name] = append(slices.Clone(good), 0)
			o.refused(t, a, length, name+" of another length")
		}
		a.Ints[name] = good
	}
}

// refused wants an error of a kind, with and without a tape, and no panic.
func (o Op) refused(t *testing.T, a *Args[float64], kind func(error) bool, what string) {
	t.Helper()
	for _, taped := range []bool{false, true} {
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("%s: panic: %v", what, r)
				}
			}()
			if err := call(o.Taped, a, taped); !kind(err) {
				t.Errorf("%s: %v", what, err)
			}
		}()
	}
}
