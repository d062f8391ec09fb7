package blocktest

import "testing"

// An Update is the table of a generated test of an update. F64 and F32 change
// one parameter by the numbers of a case.
type Update struct {
	F64     func(a *Args[float64])
	F32     func(a *Args[float32])
	Vectors string
}

// Test runs all checks.
func (u Update) Test(t *testing.T) {
	cases := read(t, u.Vectors, "fire")
	t.Run("class3", func(t *testing.T) {
		for _, c := range cases {
			a := args[float64](t, c)
			u.F64(a)
			c.complete(t, a)
			c.holds(t, "out", a.Outs)
		}
	})
	t.Run("float32", func(t *testing.T) {
		for _, c := range cases {
			a := args[float32](t, c)
			u.F32(a)
			singles(t, c, a.Outs, nil)
		}
	})
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
	u.F64(all)
	n := len(anyOut(all))
	for i := range n {
		one := args[float64](t, c)
		for name, x := range one.In {
			if len(x) == n {
				one.In[name] = x[i : i+1]
			}
		}
		u.F64(one)
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
