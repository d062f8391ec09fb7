package trace

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A definition is a statement that defines a name.
type definition struct {
	name, kind string
	span       notation.Span
	node       any
	cite       *notation.Cite
}

// definitions lists the equations of a unit's own text.
func definitions(u *notation.Unit) []definition {
	var out []definition
	define := func(d *notation.Define) {
		text := strings.TrimSuffix(d.Target.Name.Name.Text, "_t")
		kind, name := "equation", ident.ASCII(text)
		switch before, first := strings.CutSuffix(text, "_0"); {
		case d.Target.IsFunc:
			kind = "function"
		case d.Read:
			kind, name = "read", "read."+name
		case d.Match:
			kind, name = "match", "match."+name
		case first:
			kind, name = "start", ident.ASCII(before)+".start"
		}
		if d.Label != nil {
			name = d.Label.Text
		}
		out = append(out, definition{name, kind, d.Span, d, d.Cite})
	}
	if u.Result != nil {
		define(u.Result)
	}
	for _, st := range u.Body {
		switch s := st.(type) {
		case *notation.Define:
			define(s)
		case *notation.Declare:
			for _, n := range s.Names {
				switch {
				case s.Keyword.Text == "gate":
					out = append(out, definition{ident.ASCII(n.Name.Text), "gate", n.Span, nil, nil})
				case (s.Keyword.Text == "state" || s.Keyword.Text == "weight") && starts(n):
					out = append(out, definition{ident.ASCII(n.Name.Text) + ".start", "start", n.Span, nil, nil})
				}
			}
		case *notation.Fit:
			var names []string
			for _, w := range s.Weights {
				names = append(names, ident.ASCII(w.Text))
			}
			out = append(out, definition{"fit." + strings.Join(names, "_"), "fit", s.Span, s, nil})
			for _, w := range s.With {
				if strings.HasSuffix(w.Target.Name.Name.Text, "_t") {
					define(w)
				}
			}
		case *notation.Iterate:
			out = append(out, definition{ident.ASCII(strings.TrimSuffix(s.Name.Text, "_t")), "iterate", s.Span, s, nil})
		}
	}
	return out
}

// starts reports whether a state begins with something else than zero.
func starts(n *notation.DeclName) bool {
	if n == nil || n.Init == nil {
		return false
	}
	x, number := notation.Constant(n.Init)
	return !number || x != 0
}

// block files the equations of one emitted unit and notes with which lines of
// other units they are written.
func (t *tracer) block(b *check.Block) {
	t.blocks[b.ID] = b
	for _, eq := range b.AllEquations() {
		kind, node, cite := "equation", any(nil), (*notation.Cite)(nil)
		switch {
		case eq.Gate != nil:
			kind = "gate"
		case eq.Iter != nil:
			kind, node = "iterate", eq.Iter
		default:
			node, cite = eq.Def, eq.Def.Cite
		}
		e := t.add(eq.ID, b.ID, kind, eq.Span(), node, cite)
		e.Hashes.IR = t.programHash(b, eq.ID)
		if line := t.lines[placeOf(eq.Span())]; line != nil {
			e.Of = line.ID
			t.uses = append(t.uses, use{line, e})
			// the law writes the fit of each weight out
			if eq.Unit != nil && (eq.Unit.Kind == notation.LawUnit || eq.Unit.Kind == notation.AlgorithmUnit) {
				t.fits(b, e)
			}
		}
		t.calls(b, e, eq.Expressions())
	}
	for _, s := range b.SymSeq {
		if s.Kind != check.State || !starts(s.Decl) {
			continue
		}
		e := t.add(b.ID+"."+ident.ASCII(s.Name)+".start", b.ID, "start", s.Decl.Span, nil, nil)
		e.Hashes.IR = t.programHash(b, e.ID)
		if line := t.lines[placeOf(s.Decl.Span)]; line != nil {
			e.Of = line.ID
			t.uses = append(t.uses, use{line, e})
		}
		t.calls(b, e, []any{s.Decl.Init})
	}
	t.cited(b)
}

// calls notes the functions that an equation is written with.
func (t *tracer) calls(b *check.Block, e *Equation, all []any) {
	for _, f := range b.Called(all...) {
		line := t.lines[placeOf(f.Def.Span)]
		if line == nil && f.Block != nil && f.Unit == b.Unit {
			line = t.add(b.ID+"."+ident.ASCII(f.Name), b.ID, "function", f.Def.Span, f.Def, f.Def.Cite)
		}
		if line != nil {
			t.uses = append(t.uses, use{line, e})
		}
	}
}

// cited adds the citation after a formula to the equations that it makes and
// that have none: `rule R = … @eq paper#13` cites for what comes of it.
func (t *tracer) cited(b *check.Block) {
	c := b.Unit.Cite
	if c == nil || b.Unit.Result != nil {
		return
	}
	span := b.Unit.Span
	t.add(b.ID+".formula", b.ID, "formula", span, nil, c)
	for _, eq := range b.AllEquations() {
		t.uses = append(t.uses, use{t.byID[b.ID+".formula"], t.byID[eq.ID]})
	}
}

func (t *tracer) fits(b *check.Block, e *Equation) {
	for _, s := range b.SymSeq {
		if s.Unit == nil || s.Unit.Kind != notation.StructUnit {
			continue
		}
		for f := range notation.Of[*notation.Fit](s.Unit.Body) {
			if line := t.lines[placeOf(f.Span)]; line != nil && !slices.Contains(t.uses, use{line, e}) {
				t.uses = append(t.uses, use{line, e})
			}
		}
	}
}

// mentions lists the equations of a block whose names an equation speaks of.
func mentions(b *check.Block, eq *check.Equation) []*check.Equation {
	var out []*check.Equation
	all := eq.Expressions()
	for _, f := range b.Called(all...) {
		all = append(all, f.Def.Value)
	}
	for _, n := range all {
		for id := range notation.Idents(n) {
			name, _ := b.Split(id.Name.Text)
			if e := b.Equation(name); e != nil && !slices.Contains(out, e) {
				out = append(out, e)
			}
		}
	}
	return out
}
