package program

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Stop-gradients: which parameters have one on a path to a result, found by a depth-first walk over
// definitions.

// Stopped lists the learned parameters, inputs and states that a stopped value of
// a program depends on: the gradient that they receive is not the derivative of
// the result.
func Stopped(f *ir.Func) []string {
	seen := map[*ir.Value]bool{}
	var out []string
	var visit func(v *ir.Value)
	visit = func(v *ir.Value) {
		switch {
		case seen[v]:
			return
		case v.Def == nil && (v.Role == ir.Outer || v.Role == ir.Input || v.Role == ir.State):
			out = append(out, v.Name)
		}
		seen[v] = true
		if v.Def != nil {
			for _, x := range v.Def.Reads() {
				visit(x)
			}
		}
	}
	var find func(g *ir.Func)
	find = func(g *ir.Func) {
		for _, in := range g.Body {
			if in.Op == ir.Stop && !slices.ContainsFunc(f.Results, func(r ir.Result) bool { return r.State && r.Val == in.Out }) {
				visit(in.Args[0].Val)
			}
			if in.Scan != nil {
				find(in.Scan.Body)
			}
		}
	}
	find(f)
	slices.Sort(out)
	return out
}
