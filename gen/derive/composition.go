package derive

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The backward of a composition or a model is that of its own equations, and excludes the inside
// of its parts. So the result of a part is an operand like an input, and its adjoint is derived;
// the part's contribution to the adjoint of its argument is one value, written as a call of the
// part's name with a bar:
//
//	ā[t] = …
//	X̄ = attention̄(X; ā) + memorȳ(X; m̄)
//
// As a claim of the page an adjoint is that of the unit's own equations, with the results of all
// parts fixed. An equation with a call of a part says more than that, so it is a comment.

// composition derives the adjoints of the results of parts, of parameters and of inputs of
// a composition or model.
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
		if r.Name == "out" || d.Unit.Unit.Kind == notation.ModelUnit && len(r.Val.Axes) == 1 { // a number for each sequence of the batch
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
	return d.adjoints(f, names, batchAxisOf(d.Unit, f), ds)
}

// seedParts adds the adjoints that parts return to the given ones.
func (d *Derivation) seedParts(g *ir.Func, seeds map[*ir.Value]*ir.Value) {
	d.partAdjoints = map[*ir.Value]*notation.Call{}
	b := &ir.Builder{F: g}
	for _, c := range d.calls {
		v := g.AddParam(ident.ASCII(c.Part)+".back", ir.Adjoint, ir.Real, c.Arg.Axes...)
		answer := naming{name: c.Eq.Name}
		d.partAdjoints[v] = &notation.Call{Fun: notation.Word{Text: c.Part}, Bar: true, Args: []notation.Expr{c.Text, answer.ident(true)}, Semi: []int{1}}
		if old := seeds[c.Arg]; old != nil {
			v = b.Lin(v.Axes, 0, []float64{1, 1}, ir.All(old), ir.All(v))
		}
		seeds[c.Arg] = v
	}
}

// readsParts reports whether an adjoint depends on an adjoint that a part returns,
// directly or through another adjoint.
func (d *Derivation) readsParts(left, right notation.Expr, with []*notation.Define) bool {
	found := false
	look := func(x any) {
		notation.Inspect(x, func(n any) bool {
			switch n := n.(type) {
			case *notation.Call:
				found = found || n.Bar
			case *notation.Ident:
				found = found || n.Bar && d.incomplete[n.Name.Text]
			}
			return true
		})
	}
	look(right)
	for _, w := range with {
		look(w)
	}
	if id, ok := left.(*notation.Ident); ok && found {
		if d.incomplete == nil {
			d.incomplete = map[string]bool{}
		}
		d.incomplete[id.Name.Text] = true
	}
	return found
}
