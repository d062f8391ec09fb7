package expand

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// The text of a structure reads weights, and a rule carries states. The law's lines
// `read W_t = …` and `W_0 = …` relate the two; they are substituted here where an
// equation of the structure reads a weight at a time, and for the start of a weight.
// If both lines are the weight itself, the text does not change.

// structure returns the lines of the structure: weights with their starts, equations that
// read what the law reads, and the timed local definitions of fits as equations.
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
			st = e.claim(s)
		case *notation.Define:
			st = e.withReads(s)
		case *notation.Declare:
			d, ok := e.withStarts(s)
			if !ok {
				return nil, false
			}
			st = d
		case *notation.Iterate:
			st = e.iteration(s)
		}
		out = append(out, st)
	}
	return out, true
}

// claim is a claim of the structure with the law's names as the rule has them. With
// several fits the structure itself says which of them it means.
func (e *expander) claim(c *notation.Claim) notation.Stmt {
	if e.manyFits {
		return c
	}
	s := &substitution{e: e, unit: e.knobs[notation.StructUnit], fit: e.fits[0]}
	if !e.manyWeights {
		s.weight = s.fit.Weights[0].Text
	}
	return s.stmt(c)
}

// withStarts gives the weights of a declaration the starts that the law makes of those of
// the structure. A weight whose type is a set, such as a sphere, keeps its start.
func (e *expander) withStarts(s *notation.Declare) (*notation.Declare, bool) {
	if s.Keyword.Text != "weight" || e.initial == nil {
		return s, true
	}
	start := e.inlineProjections(e.initial.Value)
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
		if _, number := notation.Constant(n.Init); n.Init == nil || number {
			e.refuseStart(n, start)
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

// refuseStart refuses a weight that starts from a number where a knob makes the
// first value out of an array.
func (e *expander) refuseStart(n *notation.DeclName, start notation.Expr) {
	d := e.ds.Errorf(diag.IllegalFormula, n.Span, "the first value of %s is a number, and this formula makes it out of an array", n.Name.Text)
	if c, ok := start.(*notation.Call); ok && e.defines[c.Fun.Text] != nil {
		d.See(e.defines[c.Fun.Text].Span, "by %s", c.Fun.Text)
	}
	d.Hint("give it a learned first value: outer %s⁰ … and weight %s … = %s⁰", n.Name.Text, n.Name.Text, n.Name.Text)
}

// weightDecl is the declaration of a weight among some lines, or nil.
func weightDecl(body []notation.Stmt, weight string) *notation.DeclName {
	for n := range notation.Declared(body, "weight") {
		if n.Name.Text == weight {
			return n
		}
	}
	return nil
}

// withReads replaces the weights that an equation reads by what the law reads.
func (e *expander) withReads(d *notation.Define) *notation.Define {
	if e.readsStates() {
		return d
	}
	hidden := notation.Locals(d.Target.Params, d)
	read := func(x notation.Expr) notation.Expr { return e.readAs(x, hidden) }
	return notation.Copy(d, read)
}

// iteration is an iteration of the structure with what the law reads.
func (e *expander) iteration(it *notation.Iterate) *notation.Iterate {
	d := e.withReads(&notation.Define{Target: &notation.Target{Name: &notation.Ident{}}, Value: it.Step, With: it.With})
	c := *it
	c.From, c.Step, c.With = e.readAs(it.From, nil), d.Value, d.With
	return &c
}

// readsStates reports whether a structure reads the states themselves.
func (e *expander) readsStates() bool {
	if e.readLine == nil {
		return true
	}
	id, ok := e.inlineProjections(e.readLine.Value).(*notation.Ident)
	return ok && id.Name.Text == "W_t"
}

// readAs is an expression of the structure with what the law reads for each weight that is
// read at a time.
func (e *expander) readAs(x notation.Expr, hidden map[string]bool) notation.Expr {
	if e.readsStates() {
		return x
	}
	value := e.inlineProjections(e.readLine.Value)
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

// weightAt is the weight that a name means, and whether it is read at a time; the weight
// is "" for any other name.
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

// weightType is the type of a state that a knob keeps for a weight: the shape of the
// weight, with any real entries.
func (e *expander) weightType(weight string) *notation.Type {
	n := weightDecl(e.body, weight)
	if n == nil || n.Type == nil {
		return nil
	}
	t := *n.Type
	t.Kind = notation.RealType
	return &t
}
