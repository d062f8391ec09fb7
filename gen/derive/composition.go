package derive

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The backward of a composition or a model is that of its own equations; what
// happens inside a part is the part's. So the answer of a part is an operand
// like an input, and its adjoint is derived; what the part makes of that comes
// back to the argument of the call as one value, written as a call of the
// part's name with a bar:
//
//	ā[t] = …
//	X̄ = attention̄(X; ā) + memorȳ(X; m̄)
//
// As a claim of the page an adjoint is that of the unit's own equations, with
// all answers fixed. A line through a part says more and is a comment.

// composition derives the adjoints of the answers, parameters and inputs of a
// composition or model.
func (d *Derivation) composition(ds *diag.List) bool {
	f, calls := irbuild.Open(d.Unit, ds)
	if f == nil {
		return false
	}
	names := map[*ir.Value]naming{}
	for _, p := range f.Params {
		if p.Role == ir.State {
			ds.Errorf(diag.NotSupported, d.Unit.Unit.Name.Span, "%s reads what came before its first token, and the adjoint of that has no name on the page", d.Unit.Name).
				Hint("a composition without windows has a backward in the notation")
			return false
		}
		names[p] = naming{name: d.pageName(p.Name)}
	}
	for _, r := range f.Results {
		if r.Name == "out" || d.Unit.Unit.Kind == notation.ModelUnit && len(r.Val.Axes) == 1 { // a number for each lane
			names[r.Val] = naming{name: d.pageName(r.Name), given: true}
		}
	}
	d.open, d.calls = true, calls
	rank := func(v *ir.Value) int { // answers from the last to the first, then what is learned, then inputs
		switch k := slices.IndexFunc(calls, func(c irbuild.PartCall) bool { return c.Out == v }); {
		case k >= 0:
			return -k
		case v.Role == ir.Outer:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(f.Params, func(a, b *ir.Value) int { return rank(a) - rank(b) })
	return d.adjoints(f, names, laneOf(d.Unit, f), ds)
}

// seedParts adds what comes back from the parts to the adjoints that come in.
func (d *Derivation) seedParts(g *ir.Func, seeds map[*ir.Value]*ir.Value) {
	d.backs = map[*ir.Value]*notation.Call{}
	b := &ir.Builder{F: g}
	for _, c := range d.calls {
		v := g.AddParam(ident.ASCII(c.Part)+".back", ir.Adjoint, ir.Real, c.Arg.Axes...)
		answer := naming{name: c.Eq.Name}
		d.backs[v] = &notation.Call{Fun: notation.Word{Text: c.Part}, Bar: true, Args: []notation.Expr{c.Text, answer.ident(true)}, Semi: []int{1}}
		if old := seeds[c.Arg]; old != nil {
			v = b.Lin(v.Axes, 0, []float64{1, 1}, ir.All(old), ir.All(v))
		}
		seeds[c.Arg] = v
	}
}

// throughParts reports whether an adjoint holds what a part gives back, by
// itself or through another that does.
func (d *Derivation) throughParts(left, right notation.Expr, with []*notation.Define) bool {
	found := false
	look := func(x any) {
		notation.Inspect(x, func(n any) bool {
			switch n := n.(type) {
			case *notation.Call:
				found = found || n.Bar
			case *notation.Ident:
				found = found || n.Bar && d.partly[n.Name.Text]
			}
			return true
		})
	}
	look(right)
	for _, w := range with {
		look(w)
	}
	if id, ok := left.(*notation.Ident); ok && found {
		if d.partly == nil {
			d.partly = map[string]bool{}
		}
		d.partly[id.Name.Text] = true
	}
	return found
}
