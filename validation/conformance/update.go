package conformance

import (
	"testing"

	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// An Update is the table of a generated test of an update. F64 and F32 change
// one parameter by the numbers of a case.
type Update struct {
	F64     func(r *tape.Run[float64], a *Args[float64])
	F32     func(r *tape.Run[float32], a *Args[float32])
	Matrix  [2]string // the sizes of rows and columns of one that moves matrices
	Vectors string
}

// step calls an update in a scope of its own.
func step[F num.Float](f func(*tape.Run[F], *Args[F]), a *Args[F]) {
	arena := tape.Arena[F]{Debug: true}
	a.Must(tape.Without(&arena, first(), func(r *tape.Run[F]) error {
		f(r, a)
		return nil
	}))
}

// Test runs all checks.
func (u Update) Test(t *testing.T) {
	cases := read(t, u.Vectors, "step")
	t.Run("class3", func(t *testing.T) {
		for _, c := range cases {
			a := args[float64](t, c)
			step(u.F64, a)
			c.complete(t, a)
			c.holds(t, "out", a.Outs)
		}
	})
	t.Run("float32", func(t *testing.T) {
		for _, c := range cases {
			a := args[float32](t, c)
			step(u.F32, a)
			singles(t, c, a.Outs, nil)
		}
	})
	t.Run("levels", func(t *testing.T) {
		for _, c := range cases {
			u.levels(t, c)
		}
	})
	t.Run("steady", func(t *testing.T) {
		steadyUpdate(t, cases[0], u.F64)
		steadyUpdate(t, cases[0], u.F32)
	})
	if u.Matrix != [2]string{} {
		return
	}
	t.Run("entries", func(t *testing.T) {
		for _, c := range cases {
			u.oneByOne(t, c)
		}
	})
}

// oneByOne compares the entries of a parameter together with each alone: an
// update sees nothing of its neighbours.
func (u Update) oneByOne(t *testing.T, c *vectorCase) {
	all := args[float64](t, c)
	step(u.F64, all)
	n := len(anyOut(all))
	for i := range n {
		one := args[float64](t, c)
		for name, x := range one.In {
			if len(x) == n {
				one.In[name] = x[i : i+1]
			}
		}
		step(u.F64, one)
		for name, x := range one.Outs {
			bits(t, c.name+" entry alone: "+name, x, all.Outs[name][i:i+1])
		}
	}
}

func anyOut(a *Args[float64]) []float64 {
	for _, x := range a.Outs {
		return x
	}
	return nil
}
