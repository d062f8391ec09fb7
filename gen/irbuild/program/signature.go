package program

import (
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The parameters, results and sizes of a program.

// ASCIISizes spells the sizes of a polynomial in ASCII.
func ASCIISizes(p shape.Poly) shape.Poly {
	for _, s := range p.Symbols() {
		if n := ident.ASCII(s); n != s {
			p = p.Replace(s, shape.Sym(n))
		}
	}
	return p
}

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
