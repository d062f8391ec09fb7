package interp

import (
	"math"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Root finding by bisection, until no float64 number is between the ends of the bracket:
// the reference root does not depend on the tolerance, nor on the method of the emitted
// programs. Where the residual has the same sign at both ends, or is NaN, the root is NaN.

// root lays out a root search: the residual is a machine of its own, run once for every
// evaluation at every point.
func (m *machine) root(in *ir.Instr) func() {
	out, f := m.vals[in.Out], in.Solve.Residual
	inner := layOut(f, m.sizes, m.single, observers{onRoot: m.onRoot})
	points := len(in.Out.Axes)
	var args []*solveArg
	for k, a := range in.Args {
		g := &solveArg{from: m.access(m.vals[a.Val], a.Sub, len(in.Loops)), to: NewTensor()}
		if k >= 2 {
			g.to = NewTensor(m.shape(f.Params[k-1].Axes)...)
			inner.vals[f.Params[k-1]].Data = g.to.Data
		}
		args = append(args, g)
	}
	next := points
	for _, g := range args {
		g.first = next
		next += len(g.to.Shape)
	}
	x := NewTensor()
	inner.vals[f.Params[0]].Data = x.Data
	residual := func(t float64) float64 {
		x.Data[0] = t
		inner.run()
		return inner.vals[f.Results[0].Val].Data[0]
	}
	idx := make([]int, len(in.Loops))
	return func() {
		i := 0
		eachPoint(out.Shape, func(point []int) {
			copy(idx, point)
			for _, g := range args {
				g.fill(idx)
			}
			lo, hi := args[0].to.Data[0], args[1].to.Data[0]
			out.Data[i] = m.bisect(residual, lo, hi)
			if m.onRoot != nil {
				m.onRoot(in, residual, lo, hi, out.Data[i])
			}
			i++
		})
	}
}

// A solveArg is an argument of a root search: at each point its entries are copied to
// the buffer that the residual reads.
type solveArg struct {
	from  access
	to    *Tensor
	first int // its first own loop
}

func (g *solveArg) fill(idx []int) {
	i := 0
	eachPoint(g.to.Shape, func(point []int) {
		copy(idx[g.first:], point)
		g.to.Data[i] = 0
		if v, ok := g.from.value(idx); ok {
			g.to.Data[i] = g.from.t.Data[v]
		}
		i++
	})
}

// bisect finds a root of f between lo and hi, or NaN.
func (m *machine) bisect(f func(float64) float64, lo, hi float64) float64 {
	a, b := f(lo), f(hi)
	switch {
	case a == 0:
		return lo
	case b == 0:
		return hi
	case !(lo < hi) || !(a < 0 && b > 0 || a > 0 && b < 0):
		return math.NaN()
	}
	for {
		mid := m.round(lo + (hi-lo)/2)
		if !(lo < mid && mid < hi) {
			break
		}
		switch c := f(mid); {
		case c == 0:
			return mid
		case c != c:
			return c
		case (c < 0) == (a < 0):
			lo, a = mid, c
		default:
			hi, b = mid, c
		}
	}
	if math.Abs(b) < math.Abs(a) {
		return hi
	}
	return lo
}
