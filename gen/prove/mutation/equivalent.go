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

// Equivalent mutants. Two blocks are equivalent where their programs have the same results and
// gradients at sampled points, some of them at numbers so small that the floors under norms
// and roots decide.

const (
	sameTol    = 1e-10 // two orders of the same sums
	samePoints = 8
	floorPoint = 6  // from this point on numbers are small: first the inputs alone, then all
	floorSize  = 30 // halvings of a small number
	sameScale  = 1e-3
)

// SamePrograms reports whether the programs of two blocks are equivalent.
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

// samePrograms compares two programs, with or without their gradients.
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
		if round == floorPoint { // small inputs, everything else of the usual size
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

// halvingsNearConsts are the numbers of halvings at which numbers have the size of a small
// constant that only one of two programs has, and a little less: a threshold between two
// branches shows nowhere else.
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

// smallConsts are the positive constants of a program below the size of usual numbers.
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

// nearlyEqual compares two tensors within sameTol.
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

// evaluateAll returns the results of a program and, if wanted, its gradients for given weights;
// ok is false where a result is not finite.
func evaluateAll(f *ir.Func, draw *sample.Sampler, params numeric.Tensors, gradients bool, weigh func(ir.Result, *interp.Tensor) *interp.Tensor) (all numeric.Tensors, ok bool) {
	if !gradients {
		all = interp.Run(f, draw.Sizes, params)
		return all, numeric.AllFinite(all)
	}
	all, _ = equivalence.Evaluate(f, autodiff.NewPair(f), params, draw.Sizes, weigh)
	ok = !slices.ContainsFunc(f.Results, func(r ir.Result) bool { return !numeric.Finite(all["value of "+r.Name]) })
	return all, ok
}
