package check

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// The text of a structure speaks of weights, and a rule carries states. What
// the law's lines `read W_t = …` and `W_0 = …` say about the two is put in here:
// where an equation of the structure reads a weight at a moment, and where a
// weight has its first value. Where both say no more than the weight itself, the
// text stays as it is.

// structure is the structure's own text: weights with the values that they
// start with, equations in which a weight is what the law reads, and the
// values that a fit gives a name for the token.
func (e *expander) structure(u *notation.Unit) ([]notation.Stmt, bool) {
	var out []notation.Stmt
	for _, st := range u.Body {
		switch s := st.(type) {
		case *notation.Fit:
			for _, f := range e.fits {
				if f.Fit == s {
					out = append(out, f.timed...)
				}
			}
			continue
		case *notation.Claim:
			if units.OfFunctions(s) {
				continue
			}
			st = e.stated(s)
		case *notation.Define:
			st = e.reading(s)
		case *notation.Declare:
			d, ok := e.begins(s)
			if !ok {
				return nil, false
			}
			st = d
		case *notation.Iterate:
			st = e.rounds(s)
		}
		out = append(out, st)
	}
	return out, true
}

// stated is a claim of the structure's with the law's names as the rule has them.
// With several fits a structure says itself whose it means.
func (e *expander) stated(c *notation.Claim) notation.Stmt {
	if e.several {
		return c
	}
	s := &substitution{e: e, unit: e.knobs[notation.StructUnit], fit: e.fits[0]}
	if !e.many {
		s.weight = s.fit.Weights[0].Text
	}
	return s.stmt(c)
}

// begins gives the weights of a declaration the first values that the law
// makes of those of the structure. A weight that is declared in a set of its
// own starts where the structure says.
func (e *expander) begins(s *notation.Declare) (*notation.Declare, bool) {
	if s.Keyword.Text != "weight" || e.first == nil {
		return s, true
	}
	start := e.settled(e.first.Value)
	if id, ok := start.(*notation.Ident); ok && id.Name.Text == "P" {
		return s, true
	}
	d := *s
	d.Names = nil
	for _, n := range s.Names {
		if n.Type == nil || n.Type.Kind != notation.RealType || e.fitOf(n.Name.Text) == nil {
			d.Names = append(d.Names, n)
			continue
		}
		if _, number := Number(n.Init); n.Init == nil || number {
			e.startless(n, start)
			return nil, false
		}
		m := *n
		m.Init = notation.Rewrite(start, func(x notation.Expr) notation.Expr {
			if id, ok := x.(*notation.Ident); ok && id.Name.Text == "P" {
				return n.Init
			}
			return nil
		})
		d.Names = append(d.Names, &m)
	}
	return &d, true
}

// startless refuses a weight that starts from a number where a knob makes the
// first value out of an array.
func (e *expander) startless(n *notation.DeclName, start notation.Expr) {
	d := e.in.ds.Errorf(diag.IllegalFormula, n.Span, "the first value of %s is a number, and this formula makes it out of an array", n.Name.Text)
	if c, ok := start.(*notation.Call); ok && e.defines[c.Fun.Text] != nil {
		d.See(e.defines[c.Fun.Text].Span, "by %s", c.Fun.Text)
	}
	d.Hint("give it a learned first value: outer %s⁰ … and weight %s … = %s⁰", n.Name.Text, n.Name.Text, n.Name.Text)
}

// declared is a weight's declaration as the rule has it.
func (e *expander) declared(weight string) *notation.DeclName { return e.declaredIn(e.body, weight) }

func (e *expander) declaredIn(body []notation.Stmt, weight string) *notation.DeclName {
	for _, st := range body {
		if d, ok := st.(*notation.Declare); ok && d.Keyword.Text == "weight" {
			for _, n := range d.Names {
				if n.Name.Text == weight {
					return n
				}
			}
		}
	}
	return nil
}

// reading replaces the weights that an equation reads by what the law reads.
func (e *expander) reading(d *notation.Define) *notation.Define {
	if e.plain() {
		return d
	}
	hidden := locals(d.Target.Params, d)
	c := *d
	c.Value = e.seen(d.Value, hidden)
	c.With = nil
	for _, w := range d.With {
		v := *w
		v.Value = e.seen(w.Value, hidden)
		c.With = append(c.With, &v)
	}
	return &c
}

// rounds is an iteration of the structure with what the law reads.
func (e *expander) rounds(it *notation.Iterate) *notation.Iterate {
	d := e.reading(&notation.Define{Target: &notation.Target{Name: &notation.Ident{}}, Value: it.Step, With: it.With})
	c := *it
	c.From, c.Step, c.With = e.seen(it.From, nil), d.Value, d.With
	return &c
}

// plain reports whether a structure reads the states themselves.
func (e *expander) plain() bool {
	if e.read == nil {
		return true
	}
	id, ok := e.settled(e.read.Value).(*notation.Ident)
	return ok && id.Name.Text == "W_t"
}

// seen is an expression of the structure with what the law reads in the place
// of weights at a moment.
func (e *expander) seen(x notation.Expr, hidden map[string]bool) notation.Expr {
	if e.plain() {
		return x
	}
	value := e.settled(e.read.Value)
	return notation.Rewrite(x, func(n notation.Expr) notation.Expr {
		id, ok := n.(*notation.Ident)
		if !ok || id.Bar || hidden[id.Name.Text] {
			return nil
		}
		w, timed := e.weightAt(id)
		f := e.fitOf(w)
		if f == nil || !timed {
			return nil
		}
		s := &substitution{e: e, unit: e.law, fit: f, weight: w, at: id}
		return s.expr(value)
	})
}

// weightAt is the weight that a name means, and whether it is read at a
// moment; the weight is "" for any other name.
func (e *expander) weightAt(id *notation.Ident) (weight string, timed bool) {
	text := id.Name.Text
	if e.fitOf(text) != nil {
		return text, id.Time != nil
	}
	if i := strings.LastIndexByte(text, '_'); i > 0 && e.fitOf(text[:i]) != nil {
		return text[:i], true
	}
	return "", false
}

// weightType is the type of what a knob keeps for a weight: of its shape, and
// any number.
func (e *expander) weightType(weight string) *notation.Type {
	n := e.declared(weight)
	if n == nil || n.Type == nil {
		return nil
	}
	t := *n.Type
	t.Kind = notation.RealType
	return &t
}
