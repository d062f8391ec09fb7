package autodiff_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
)

// A trial is a program at a point: random weights on its results make the loss
// whose derivatives are compared.
type trial struct {
	pair   *ir.Pair
	sizes  map[string]int
	params map[string]*interp.Tensor
	weight map[string]*interp.Tensor
	fwd    *interp.Program
	scale  float64         // of the terms of the loss
	skip   map[string]bool // parameters whose derivative is declared, not derived
}

// gradErrors derives the backward of f and compares it with fourth-order
// central differences for every entry of every real parameter; it also runs
// what was printed and parsed again, and runs the backward in float32.
func gradErrors(f *ir.Func, sizes map[string]int, params map[string]*interp.Tensor, skip ...string) []string {
	t := &trial{pair: autodiff.NewPair(f), sizes: sizes, params: params, weight: map[string]*interp.Tensor{}, skip: map[string]bool{}}
	for _, n := range skip {
		t.skip[n] = true
	}
	for _, g := range []*ir.Func{t.pair.Fwd, t.pair.Bwd} {
		if err := ir.Verify(g); err != nil {
			return []string{fmt.Sprintf("%v\n%s", err, g)}
		}
	}
	t.fwd = interp.Compile(t.pair.Fwd)
	grads := t.backward(false)
	parsed, err := ir.Parse(t.pair.Bwd.String())
	if err != nil {
		return []string{err.Error()}
	}
	whole := t.pair.Bwd
	t.pair.Bwd = parsed
	out := t.differs("printed and parsed", grads, t.backward(false), 0)
	t.pair.Bwd = whole
	out = append(out, t.differs("in float32", grads, t.backward(true), 2e-3)...)
	for _, n := range slices.Sorted(maps.Keys(params)) {
		if p := f.Param(n); p.Elem == ir.Real && !p.NoGrad && p.Role != ir.Constant {
			out = append(out, t.entries(n, grads[ir.AdjointName(n)])...)
		}
	}
	if len(out) > 0 {
		out = append(out, f.String(), t.pair.Bwd.String())
	}
	return out
}

// backward runs both programs and returns the adjoints.
func (t *trial) backward(single bool) map[string]*interp.Tensor {
	rng := rand.New(rand.NewPCG(9, 9))
	fwd, bwd := interp.Compile(t.pair.Fwd), interp.Compile(t.pair.Bwd)
	fwd.Float32, bwd.Float32 = single, single
	given := maps.Clone(t.params)
	results := fwd.Run(t.sizes, t.params)
	for _, n := range slices.Sorted(maps.Keys(results)) {
		v := results[n]
		if p := t.pair.Bwd.Param(n); p != nil && p.Role == ir.Saved {
			given[n] = v
		}
		if slices.Contains(t.pair.Saved, n) {
			continue
		}
		w := interp.NewTensor(v.Shape...)
		for i := range w.Data {
			w.Data[i] = rng.NormFloat64()
		}
		t.weight[n], given[ir.AdjointName(n)] = w, w
	}
	return bwd.Run(t.sizes, given)
}

func (t *trial) differs(what string, want, got map[string]*interp.Tensor, tol float64) []string {
	var out []string
	for n, w := range want {
		scale := 1.0
		for _, x := range w.Data {
			scale = math.Max(scale, math.Abs(x))
		}
		for i, x := range w.Data {
			if !(math.Abs(x-got[n].Data[i]) <= tol*scale) {
				out = append(out, fmt.Sprintf("%s: %s[%d] = %g, not %g", what, n, i, got[n].Data[i], x))
			}
		}
	}
	return out
}

func (t *trial) loss() float64 {
	sum := 0.0
	for n, v := range t.fwd.Run(t.sizes, t.params) {
		if w := t.weight[n]; w != nil {
			for i, x := range v.Data {
				sum += x * w.Data[i]
				t.scale = math.Max(t.scale, math.Abs(x*w.Data[i]))
			}
		}
	}
	return sum
}

// entries compares one parameter; no adjoint means zero.
func (t *trial) entries(n string, g *interp.Tensor) []string {
	var out []string
	p := t.params[n]
	for i, x := range p.Data {
		a, h := 0.0, 1e-3
		if g != nil {
			a = g.Data[i]
		}
		at := func(d float64) float64 { p.Data[i] = x + d; return t.loss() }
		fd := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
		p.Data[i] = x
		if t.skip[n] {
			fd = 0
			if a == 0 {
				continue
			}
		}
		noise := 1e-14 * t.scale / h // of the difference of two losses
		if !(math.Abs(fd-a) <= relTol*math.Max(1, math.Abs(fd))+noise) {
			out = append(out, fmt.Sprintf("%s[%d]: adjoint %g, difference %g", n, i, a, fd))
		}
	}
	return out
}
