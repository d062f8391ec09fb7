package prove

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
	"github.com/nl-hecate/hecate/gen/units"
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

// Same reports whether two blocks compute the same.
func Same(a, b *check.Block) bool {
	var ds diag.List
	fs, gs := Programs(a, &ds), Programs(b, &ds)
	if ds.HasErrors() || len(fs) != len(gs) {
		return false
	}
	for i := range fs {
		if !agree(a, fs[i].Func, gs[i].Func, irbuild.Frees(a, fs[i].Func), true) {
			return false
		}
	}
	return true
}

// SameClaims reports whether two forms of a unit make the same statements, as
// far as those are equalities: side by side the same numbers. Of a knob these
// are what its page says of its own functions.
func SameClaims(was *units.Tree, u *notation.Unit, is *units.Tree, v *notation.Unit) bool {
	a, as := statements(was, u)
	b, bs := statements(is, v)
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		if as[i].Left == nil || as[i].Right == nil {
			continue
		}
		var ds diag.List
		x, y := irbuild.Claim(a, as[i], &ds), irbuild.Claim(b, bs[i], &ds)
		if x == nil || y == nil || !agree(a, sides(x.Func), sides(y.Func), x.Free, false) {
			return false
		}
	}
	return true
}

// statements are the equalities that a page states, and the block that they
// speak of.
func statements(tree *units.Tree, u *notation.Unit) (*check.Block, []*notation.Claim) {
	if slices.Contains(tried, u.Kind) {
		alone, all := aboutFunctions(u)
		if len(all) == 0 {
			return nil, nil
		}
		blk, _ := check.Instantiate(tree, alone)
		return blk, all
	}
	blk, ds := check.Instantiate(tree, u)
	if blk == nil || ds.HasErrors() {
		return nil, nil
	}
	return blk, blk.Claims
}

// sides is the program of a claim without its summands.
func sides(f *ir.Func) *ir.Func {
	g, _ := f.Clone()
	g.Results = g.Results[:2]
	g.Sweep()
	return g
}

func agree(blk *check.Block, f, g *ir.Func, frees map[string]irbuild.Free, gradients bool) bool {
	more := besideConsts(f, g)
	for round := range samePoints + len(more) {
		sizes := sizeSets(blk, false, f, g)[round%2]
		draw := newSampler(blk, frees, sizes, forSame, round)
		draw.edges = round%3 == 2
		switch {
		case round >= samePoints:
			draw.halved, draw.edges = more[round-samePoints], false
		case round >= floorPoint:
			draw.halved, draw.edges = floorSize, false
		}
		var params tensors
		if blk.Unit.Kind == notation.UpdateUnit {
			params = (&prover{blk: blk}).fired(f, draw)
		} else {
			params = draw.params(f)
		}
		for n, t := range draw.params(g) {
			if params[n] == nil {
				params[n] = t
			}
		}
		weigh := weightsOf(f, sizes, round)
		if round == floorPoint { // small inputs, and all else of the usual size
			usual := newSampler(blk, frees, sizes, forSame, round)
			for n, t := range usual.params(f) {
				if v := f.Param(n); v.Role != ir.Input && blk.Unit.Kind != notation.UpdateUnit {
					params[n] = t
				}
			}
		}
		x, okX := values(f, draw, params, gradients, weigh)
		y, okY := values(g, draw, params, gradients, weigh)
		if !okX || !okY || len(x) != len(y) {
			return false
		}
		for n := range x {
			if y[n] == nil || !near(x[n], y[n]) {
				return false
			}
		}
	}
	return true
}

// besideConsts are how often numbers are halved to come to the size of each small
// constant that only one of two programs has, and a little below it: a bound that
// decides between two branches shows nowhere else.
func besideConsts(f, g *ir.Func) (halvings []int) {
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

func near(a, b *interp.Tensor) bool {
	if len(a.Data) != len(b.Data) {
		return false
	}
	scale := math.Max(norm(a), sameScale)
	for i := range a.Data {
		if a.Data[i] != b.Data[i] && !(math.Abs(a.Data[i]-b.Data[i]) <= sameTol*scale) {
			return false
		}
	}
	return true
}

// values are the results of a program and, where they are asked for, its
// gradients for given weights; ok is false where a result is not finite.
func values(f *ir.Func, draw *sampler, params tensors, gradients bool, weigh func(ir.Result, *interp.Tensor) *interp.Tensor) (tensors, bool) {
	all, ok := tensors{}, true
	if !gradients {
		for n, t := range interp.Run(f, draw.sizes, params) {
			all[n], ok = t, ok && finite(t)
		}
		return all, ok
	}
	_, grads := evaluate(f, autodiff.NewPair(f), draw.sizes, params, func(r ir.Result, out *interp.Tensor) *interp.Tensor {
		all[r.Name], ok = out, ok && finite(out)
		return weigh(r, out)
	})
	for n, g := range grads {
		all["adjoint of "+n] = g
	}
	return all, ok
}
