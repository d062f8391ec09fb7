package mutation

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/equivalence"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// Two blocks are the same when their programs give the same results and the
// same gradients wherever they are sampled: for a broken page that means that
// it is not broken.

// sameTol is the agreement of two orders of the same sums, samePoints how often
// they are compared, and the last of these times at numbers so small that the
// floors under norms and roots are seen: a billionth of the usual size, of the
// inputs or of everything.
const (
	sameTol    = 1e-10
	samePoints = 8
	floorPoint = 6
	floorSize  = 30 // halvings
	sameScale  = 1e-3
)

// SamePrograms reports whether two blocks compute the same.
func SamePrograms(a, b *check.Block) bool {
	var ds diag.List
	fs, gs := Programs(a, &ds), Programs(b, &ds)
	if ds.HasErrors() || len(fs) != len(gs) {
		return false
	}
	for i := range fs {
		if !samePrograms(a, fs[i].Func, gs[i].Func, irbuild.Frees(a, fs[i].Func), true) {
			return false
		}
	}
	return true
}

func samePrograms(blk *check.Block, f, g *ir.Func, frees map[string]irbuild.Free, gradients bool) bool {
	more := halvingsNearConsts(f, g)
	for round := range samePoints + len(more) {
		sizes := sample.Sizes(blk, false, f, g)[round%2]
		draw := sample.New(blk, frees, sizes, sample.ForMutant, round)
		draw.Ties = round%3 == 2
		switch {
		case round >= samePoints:
			draw.Halvings, draw.Ties = more[round-samePoints], false
		case round >= floorPoint:
			draw.Halvings, draw.Ties = floorSize, false
		}
		var params numeric.Tensors
		if blk.Unit.Kind == notation.UpdateUnit {
			params = equivalence.AfterSteps(f, draw)
		} else {
			params = draw.Params(f)
		}
		for n, t := range draw.Params(g) {
			if params[n] == nil {
				params[n] = t
			}
		}
		weigh := sample.ResultWeights(f, sizes, round)
		if round == floorPoint { // small inputs, and all else of the usual size
			usual := sample.New(blk, frees, sizes, sample.ForMutant, round)
			for n, t := range usual.Params(f) {
				if v := f.Param(n); v.Role != ir.Input && blk.Unit.Kind != notation.UpdateUnit {
					params[n] = t
				}
			}
		}
		x, okX := evaluateAll(f, draw, params, gradients, weigh)
		y, okY := evaluateAll(g, draw, params, gradients, weigh)
		if !okX || !okY || len(x) != len(y) {
			return false
		}
		for n := range x {
			if y[n] == nil || !nearlyEqual(x[n], y[n]) {
				return false
			}
		}
	}
	return true
}

// halvingsNearConsts are how often numbers are halved to come to the size of each small
// constant that only one of two programs has, and a little below it: a bound that
// decides between two branches shows nowhere else.
func halvingsNearConsts(f, g *ir.Func) (halvings []int) {
	a, b := smallConsts(f), smallConsts(g)
	for _, c := range slices.Concat(a, b) {
		if slices.Contains(a, c) && slices.Contains(b, c) {
			continue
		}
		_, exp := math.Frexp(c)
		for below := range 3 {
			if n := below - exp; !slices.Contains(halvings, n) {
				halvings = append(halvings, n)
			}
		}
	}
	return halvings
}

// smallConsts are the positive constants of a program below those that usual numbers reach.
func smallConsts(f *ir.Func) (out []float64) {
	for _, in := range f.Body {
		if in.Op != ir.Const && in.Op != ir.Lin {
			continue
		}
		for _, c := range in.Coef {
			if c = math.Abs(c); c > 0 && c < sameScale {
				out = append(out, c)
			}
		}
	}
	return out
}

func nearlyEqual(a, b *interp.Tensor) bool {
	if len(a.Data) != len(b.Data) {
		return false
	}
	scale := math.Max(numeric.MaxNorm(a), sameScale)
	for i := range a.Data {
		if a.Data[i] != b.Data[i] && !(math.Abs(a.Data[i]-b.Data[i]) <= sameTol*scale) {
			return false
		}
	}
	return true
}

// evaluateAll are the results of a program and, where they are asked for, its
// gradients for given weights; ok is false where a result is not finite.
func evaluateAll(f *ir.Func, draw *sample.Sampler, params numeric.Tensors, gradients bool, weigh func(ir.Result, *interp.Tensor) *interp.Tensor) (numeric.Tensors, bool) {
	all, ok := numeric.Tensors{}, true
	if !gradients {
		for n, t := range interp.Run(f, draw.Sizes, params) {
			all[n], ok = t, ok && numeric.Finite(t)
		}
		return all, ok
	}
	_, grads := numeric.ForwardBackward(f, autodiff.NewPair(f), draw.Sizes, params, func(r ir.Result, out *interp.Tensor) *interp.Tensor {
		all[r.Name], ok = out, ok && numeric.Finite(out)
		return weigh(r, out)
	})
	for n, g := range grads {
		all["adjoint of "+n] = g
	}
	return all, ok
}
