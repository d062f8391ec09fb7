package mutation

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
	"github.com/nl-hecate/hecate/gen/units"
)

// SameDeclarations reports whether the declarations of a unit and its mutant fix the same
// numbers, at sizes that tell all axes apart.
func SameDeclarations(u, v *notation.Unit) bool {
	sizes := map[string]float64{}
	size := func(axis string) float64 {
		if sizes[axis] == 0 {
			sizes[axis] = float64(17*len(sizes)*len(sizes) + 23*len(sizes) + 5)
		}
		return sizes[axis]
	}
	return maps.Equal(sample.Declarations(u, size), sample.Declarations(v, size))
}

// SameClaims reports whether the equalities that a unit and its mutant state have the same
// values on both sides. Those of a knob are about its own functions.
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
		if x == nil || y == nil || !samePrograms(a, sides(x.Func), sides(y.Func), x.Free, false) {
			return false
		}
	}
	return true
}

// statements are the equalities that a page states, and their block.
func statements(tree *units.Tree, u *notation.Unit) (*check.Block, []*notation.Claim) {
	if slices.Contains(knobsAndFronts, u.Kind) {
		alone, all := proof.FunctionClaims(u)
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
