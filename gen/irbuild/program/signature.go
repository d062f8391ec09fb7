package program

import (
	"github.com/nl-hecate/hecate/gen/ir"
)

// The parameters, results and sizes of a program.

// Input is the one input of a part.
func Input(g *ir.Func) *ir.Value {
	for _, p := range g.Params {
		if p.Role == ir.Input {
			return p
		}
	}
	return nil
}

// Output is the result of a program that is no state.
func Output(g *ir.Func) *ir.Value {
	for _, r := range g.Results {
		if !r.State {
			return r.Val
		}
	}
	return nil
}

// Sizes lists the free sizes of a program, in the order of its axes.
func Sizes(f *ir.Func) []string {
	var out []string
	seen := map[string]bool{}
	for _, a := range f.Axes {
		for _, s := range a.Size.Symbols() {
			if !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}
