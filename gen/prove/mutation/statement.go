package mutation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/source"
)

// A mutator makes the mutants of one unit, line by line.
type mutator struct {
	unit    *notation.Unit
	names   []string // of values
	axes    []string
	line    string
	defines bool
	out     []Mutant
}

// namesOf lists the names of values and of axes in a unit's lines, in order.
func namesOf(u *notation.Unit) (values, axes []string) {
	note := func(to *[]string, x any) {
		if id, ok := x.(*notation.Ident); ok && !slices.Contains(*to, id.Name.Text) {
			*to = append(*to, id.Name.Text)
		}
	}
	bound := []string{}
	notation.Inspect(u, func(n any) bool {
		switch n := n.(type) {
		case *notation.Type:
			for _, x := range n.Shape {
				note(&axes, x)
			}
		case *notation.Binder:
			note(&axes, n.Range)
			bound = append(bound, n.Name.Text)
		}
		return true
	})
	for id := range notation.Idents(u) {
		if !slices.Contains(axes, id.Name.Text) && !slices.Contains(bound, id.Name.Text) {
			note(&values, id)
		}
	}
	return values, axes
}

func (b *mutator) add(kind string, at source.Span, text string) {
	if at.File == nil || at.Start > at.End || strings.Contains(at.Text(), "\n") && !strings.Contains(text, "\n") && at.End-at.Start > 400 {
		return
	}
	b.out = append(b.out, Mutant{Span: at, New: text, Kind: kind, Unit: b.unit.Name.Text, Line: b.line, Defines: b.defines})
}

// between is the span between two nodes.
func between(x, y source.Span) source.Span {
	return source.Span{File: x.File, Start: x.End, End: y.Start}
}

func (b *mutator) statement(st notation.Stmt) {
	b.line, b.defines = "equation", true
	switch s := st.(type) {
	case *notation.Define:
		b.define(s)
	case *notation.Declare:
		b.line = s.Keyword.Text
		for _, n := range s.Names {
			b.shape(n.Type)
			b.initialValues(s.Keyword.Text, n)
			if n.Within != nil {
				b.swap("order", n.Within.Lo, n.Within.Hi)
			}
		}
	case *notation.Fit:
		b.expr(s.Predict)
		b.expr(s.Target)
		for _, w := range s.With {
			b.define(w)
		}
	case *notation.Iterate:
		b.expr(s.From)
		b.expr(s.Step)
		for _, w := range s.With {
			b.define(w)
		}
	case *notation.Claim:
		b.line, b.defines = s.Keyword.Text, s.Keyword.Text == "relax"
		b.side(s.Left)
		b.whole(s.Right)
		b.expr(s.Right)
		for _, w := range s.With {
			b.define(w)
		}
	default:
		b.property(st)
	}
}

// initialValues mutates the value of a declared name: the default of an option, the value of a
// gate, a first value, the numbers of a distribution and those by level.
func (b *mutator) initialValues(keyword string, n *notation.DeclName) {
	if id, ok := n.Init.(*notation.Ident); ok && keyword == "option" {
		if other := neighbour(membersOf(n.Type), id.Name.Text); other != "" {
			b.add("option", id.Span, other)
		}
		return
	}
	b.expr(n.Init)
	b.expr(n.Dist)
	b.expr(n.Seed)
	for _, x := range n.ByLevel {
		b.expr(x)
	}
}

// membersOf are the members of a set type.
func membersOf(t *notation.Type) []string {
	var out []string
	if t != nil && t.Kind == notation.SetType {
		for _, m := range t.Members {
			out = append(out, m.Where().Text())
		}
	}
	return out
}

// property mutates a line that is a statement about the equations.
func (b *mutator) property(st notation.Stmt) {
	b.defines = false
	switch s := st.(type) {
	case *notation.Kink:
		b.line = "kink"
		b.expr(s.Left)
		b.expr(s.Right)
		if s.Class.Text == "C⁰" {
			b.add("claim", s.Class.Span, "C¹")
		}
	case *notation.Invariant:
		b.line = "invariant"
		for _, c := range proof.Conjuncts(s.Cond) {
			if r, ok := c.(*notation.Relation); ok {
				b.expr(r.X)
				b.expr(r.Y)
			}
		}
	case *notation.Cost:
		b.line = "cost"
		for x := range notation.All[*notation.Number](s.Value) {
			b.add("factor", x.Span, fmt.Sprint(x.Value+1))
		}
	case *notation.Special:
		b.special(s.Left, s.LWith)
		b.special(s.Right, s.With)
	case *notation.Provides:
		b.line = "provides"
		for _, m := range s.Marks {
			if stronger := map[string]string{"AffineInState": "ScalarAffineInState", "RowIndependent": "UnitSphere", "ColumnIndependent": "UnitSphere", "ScalarAffineInState": "ProbabilitySimplex"}[m.Name.Text]; stronger != "" && !s.Needs {
				b.add("marker", m.Name.Span, stronger)
			}
			for i := 1; i < len(m.Args); i++ {
				b.add("marker", source.Span{File: m.Span.File, Start: m.Args[i-1].Span.End, End: m.Args[i].Span.End}, "")
			}
		}
	}
}

// formula mutates the options and overridden values of a formula.
func (b *mutator) formula(f *notation.Formula, with []*notation.Override) {
	if f != nil {
		b.line = "formula"
	}
	b.parts(f, with)
}

// special mutates a side of a special case.
func (b *mutator) special(f *notation.Formula, with []*notation.Override) {
	b.line = "special"
	b.parts(f, with)
}

func (b *mutator) parts(f *notation.Formula, with []*notation.Override) {
	if f != nil {
		all := slices.Clone(f.Parts)
		if f.Over != nil {
			all = append(all, f.Over)
		}
		for _, a := range all {
			b.options(a.Args)
		}
	}
	b.options(with)
}

func (b *mutator) options(all []*notation.Override) {
	for _, o := range all {
		switch x := o.Value.(type) {
		case *notation.Number:
			b.add("factor", x.Span, fmt.Sprint(x.Value+1))
		case *notation.Ident:
			if other := map[string]string{"on": "off", "off": "on"}[x.Name.Text]; other != "" {
				b.add("option", x.Span, other)
			}
		}
		if o.Apply != nil {
			b.options(o.Apply.Args)
		}
	}
}

func (b *mutator) define(d *notation.Define) {
	for _, p := range d.Target.Params {
		b.shape(p.Type)
	}
	if s, ok := d.Value.(*notation.Solve); ok {
		b.expr(s.Left)
		b.whole(s.Right)
		b.expr(s.Right)
	} else {
		b.whole(d.Value)
		b.expr(d.Value)
	}
	for _, w := range d.With {
		b.define(w)
	}
}

// whole mutates a right-hand side as a whole.
func (b *mutator) whole(x notation.Expr) {
	if x == nil || x.Where().File == nil {
		return
	}
	text := x.Where().Text()
	b.add("sign", x.Where(), "−("+text+")")
	b.add("factor", x.Where(), "2 ("+text+")")
}

// side replaces the name on the left side of a claim.
func (b *mutator) side(x notation.Expr) {
	id, ok := x.(*notation.Ident)
	if !ok {
		b.expr(x)
		return
	}
	for _, other := range b.names {
		if other != id.Name.Text && strings.HasSuffix(other, "_t") == strings.HasSuffix(id.Name.Text, "_t") && id.Bar {
			b.rename("claim", id, other)
			return
		}
	}
}

// rename replaces a name and keeps its bar and its time subscript.
func (b *mutator) rename(kind string, id *notation.Ident, other string) {
	text := id.Name.Span.Text()
	if text == "" {
		return
	}
	if id.Bar {
		base, suffix, timed := strings.Cut(other, "_")
		other = base + "̄"
		if timed {
			other += "_" + suffix
		}
	}
	b.add(kind, id.Name.Span, other)
}

// shape exchanges the axes of a type.
func (b *mutator) shape(t *notation.Type) {
	if t == nil {
		return
	}
	for i := 1; i < len(t.Shape); i++ {
		b.swap("axis", t.Shape[i-1], t.Shape[i])
	}
}

// swap exchanges two nodes of one line.
func (b *mutator) swap(kind string, x, y notation.Expr) {
	if x == nil || y == nil || x.Where().File == nil || y.Where().Start < x.Where().End {
		return
	}
	gap := between(x.Where(), y.Where()).Text()
	b.add(kind, x.Where().To(y.Where()), y.Where().Text()+gap+x.Where().Text())
}

// expr mutates every node of an expression.
func (b *mutator) expr(x notation.Expr) {
	if x == nil {
		return
	}
	notation.Inspect(x, func(n any) bool {
		switch n := n.(type) {
		case notation.Expr:
			b.node(n)
		case *notation.Binder:
			b.binder(n)
		}
		return true
	})
}
