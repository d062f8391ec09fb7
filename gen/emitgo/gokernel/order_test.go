package gokernel_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A slab is the part of a trial at one index of one axis.
type slab struct {
	axis string
	at   int
}

// slice is the trial at index at of the axis, whose size becomes 1.
func (x *trial) slice(s slab) *trial {
	y := *x
	y.sizes, y.params = map[string]int{}, map[string]*interp.Tensor{}
	for n, v := range x.sizes {
		y.sizes[n] = v
	}
	y.sizes[s.axis] = 1
	for _, f := range []*ir.Func{x.p.pair.Fwd, x.p.pair.Bwd} {
		for _, v := range f.Params {
			if full := x.params[v.Name]; full != nil {
				y.params[v.Name] = &interp.Tensor{Shape: interp.Shape(v.Axes, y.sizes), Data: s.cut(full.Data, v.Axes, full.Shape)}
			}
		}
	}
	return &y
}

// cut takes the entries of a tensor at the slab; a tensor without the axis is
// taken whole.
func (s slab) cut(data []float64, axes []*ir.Axis, shape []int) []float64 {
	for i, a := range axes {
		if a.Name != s.axis {
			continue
		}
		inner := 1
		for _, n := range shape[i+1:] {
			inner *= n
		}
		var out []float64
		for o := s.at * inner; o < len(data); o += shape[i] * inner {
			out = append(out, data[o:o+inner]...)
		}
		return out
	}
	return data
}

func hasAxis(axes []*ir.Axis, name string) bool {
	return slices.ContainsFunc(axes, func(a *ir.Axis) bool { return a.Name == name })
}

// fromSums are the results that are computed from a sum over the rows and not as
// one: θ times it, and its product with the key.
var fromSums = []string{"k.bar", "theta.bar"}

// fromSumsTol is for a product of a sum in place of a sum of products, by the
// largest entry: at most 33 rows, each rounded to float32, whose spacing is 6e-8.
const fromSumsTol = 2e-6

// parts runs a program at once and index by index of an axis: results with
// the axis have the same bits, those without are the sum over it in order,
// each term rounded to float32, but for those that are computed from such sums.
func parts(t *testing.T, b *bench, axis string, names ...string) {
	for _, p := range b.programs {
		if !slices.Contains(names, p.name) {
			continue
		}
		for _, sizes := range p.sizes {
			x := b.trial(t, p, sizes)
			fwd := x.forward(true, true)
			bwd := x.backward(true, fwd)
			sums := map[string][]float64{}
			for at := range sizes[axis] {
				s := slab{axis, at}
				y := x.slice(s)
				f := y.forward(true, true)
				what := fmt.Sprintf("%s: %v at %s = %d", p.name, sizes, axis, at)
				x.sameSlab(what, s, p.fwd, p.pair.Fwd, fwd, f, sums)
				x.sameSlab(what, s, p.bwd, p.pair.Bwd, bwd, y.backward(true, f), sums)
			}
			what := fmt.Sprintf("%s: %v summed over %s", p.name, sizes, axis)
			for _, name := range slices.Sorted(maps.Keys(sums)) {
				want := sums[name]
				if axis == "d_v" && slices.Contains(fromSums, name) {
					within(t, what+": "+name, bwd[name], want, fromSumsTol)
				} else {
					same(t, what, bwd, sums, name)
				}
			}
		}
	}
}

func within(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	scale := 0.
	for _, x := range want {
		scale = max(scale, math.Abs(x))
	}
	for i, x := range want {
		if !(math.Abs(got[i]-x) <= tol*scale) {
			t.Errorf("%s: entry %d is %g, want %g within %g of %g", what, i, got[i], x, tol, scale)
			return
		}
	}
}

func (x *trial) sameSlab(what string, s slab, k *plan.Kernel, f *ir.Func, whole, part map[string][]float64, sums map[string][]float64) {
	for _, b := range k.Params {
		if b.Role != plan.Write {
			continue
		}
		v := f.Result(b.Of)
		if hasAxis(v.Axes, s.axis) {
			want := map[string][]float64{b.Name: s.cut(whole[b.Name], v.Axes, interp.Shape(v.Axes, x.sizes))}
			same(x.t, what, part, want, b.Name)
			continue
		}
		if sums[b.Name] == nil {
			sums[b.Name] = make([]float64, len(part[b.Name]))
		}
		for i, y := range part[b.Name] {
			sums[b.Name][i] = float64(float32(sums[b.Name][i]) + float32(y))
		}
	}
}
