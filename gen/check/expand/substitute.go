package expand

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// instantiate writes the lines of the law or of a knob as often as their multiplicity says.
func (e *expander) instantiate(u *notation.Unit, body []notation.Stmt) []notation.Stmt {
	var out []notation.Stmt
	for _, st := range body {
		if c, ok := st.(*notation.Claim); ok && u.Kind != notation.BiasUnit && units.OfFunctions(c) {
			continue
		}
		switch e.multiplicityOf(u, st) {
		case once:
			if e.hasPageSuffix(u) {
				st = (&substitution{e: e, unit: u, letters: e.usesLetters(u)}).stmt(st)
			}
			switch s := st.(type) {
			case *notation.Provides:
				st = e.provides(u, s)
			case *notation.Dims:
				if st = axisLine(s); st == nil {
					continue
				}
			}
			out = append(out, st)
		case perFit:
			for _, f := range e.fits {
				s := &substitution{e: e, unit: u, letters: e.usesLetters(u), fit: f}
				out = append(out, s.stmt(st))
			}
		case perWeight:
			for _, f := range e.fits {
				for _, w := range f.Weights {
					s := &substitution{e: e, unit: u, letters: e.usesLetters(u), fit: f, weight: w.Text}
					out = append(out, s.stmt(st))
				}
			}
		}
	}
	return out
}

// A substitution copies a line for one weight of one fit. It avoids capture: a parameter
// or a local definition with the name of something in the fit is renamed.
type substitution struct {
	e        *expander
	unit     *notation.Unit // whose line it is
	letters  bool
	fit      *fitLine
	weight   string
	at       *notation.Ident   // replaces W at any time
	hidden   map[string]string // parameters and local definitions, with their names here
	inlining *inliner          // of the definition that is being written
}

// stmt copies a line.
func (s *substitution) stmt(st notation.Stmt) notation.Stmt {
	switch st := st.(type) {
	case *notation.Define:
		return s.define(st)
	case *notation.Declare:
		d := *st
		d.Names, d.When = nil, s.expr(st.When)
		for _, n := range st.Names {
			m := *n
			m.Name = s.word(n.Name)
			m.Init, m.Dist, m.Type = s.expr(n.Init), s.expr(n.Dist), s.typeOf(n.Type)
			if m.Type == nil && st.Keyword.Text == "state" {
				m.Type = s.e.weightType(s.weight)
			}
			if n.Of != nil && s.e.isStateParameter(s.unit, n.Of.Text) {
				m.Of = &notation.Word{Span: n.Of.Span, Text: s.weight}
			}
			d.Names = append(d.Names, &m)
		}
		return &d
	case *notation.Iterate:
		return s.iterate(st)
	case *notation.Claim:
		c := *st
		c.Left, c.Right, c.When, c.With = s.expr(st.Left), s.expr(st.Right), s.expr(st.When), nil
		for _, w := range st.With {
			c.With = append(c.With, s.define(w))
		}
		return &c
	case *notation.Invariant, *notation.Dims, *notation.Kink, *notation.Provides, *notation.Cost:
		return notation.Copy(st, s.expr)
	}
	return st
}

// iterate copies an iteration; from the first round on its name is local.
func (s *substitution) iterate(st *notation.Iterate) *notation.Iterate {
	in := *s
	in.hidden = map[string]string{}
	for _, w := range st.With {
		in.hidden[w.Target.Name.Name.Text] = w.Target.Name.Name.Text
	}
	if st.Index != nil {
		in.hidden[st.Index.Text] = st.Index.Text
	}
	c := *st
	c.Name, c.From, c.Count, c.Step = s.word(st.Name), s.expr(st.From), s.expr(st.Count), in.expr(st.Step)
	c.With = notation.CopyAll(st.With, in.expr)
	return &c
}

// define copies a definition. A parameter W becomes one for each weight of the fit.
func (s *substitution) define(d *notation.Define) *notation.Define {
	in := *s
	in.hidden = map[string]string{}
	if s.fit != nil {
		in.inlining = &inliner{fit: s.fit}
		for id := range notation.Idents(d) {
			in.inlining.names = append(in.inlining.names, id.Name.Text)
		}
	}
	c, t := *d, *d.Target
	for _, i := range bound(d) {
		if s.e.weightAxis(s.unit, i.Text) < 0 && !s.renamesOption(i.Text) {
			in.hidden[i.Text] = i.Text
		}
	}
	for _, w := range d.With {
		in.hide(w.Target.Name.Name)
	}
	t.Params = nil
	for _, p := range d.Target.Params {
		if s.letters && s.fit != nil && p.Name.Text == "W" && s.e.hasLawLetters(d) {
			for _, w := range s.fit.Weights {
				q := *p
				q.Name = notation.Word{Span: p.Name.Span, Text: w.Text}
				t.Params = append(t.Params, &q)
			}
			continue
		}
		q := *p
		q.Name, q.Type = in.hide(p.Name), s.renameSizes(p.Type)
		t.Params = append(t.Params, &q)
	}
	name := s.word
	if t.IsFunc {
		name = s.function
	}
	t.Name, t.Index = t.Name.Named(name(t.Name.Name)), notation.CopyAll(t.Index, in.expr)
	c.Target, c.Value, c.With, c.Label = &t, in.expr(d.Value), nil, s.label(d.Label)
	for _, w := range d.With {
		was := w.Target.Name.Name
		v := w.Named(notation.Word{Span: was.Span, Text: in.hidden[was.Text]})
		v.Value = in.expr(w.Value)
		c.With = append(c.With, v)
	}
	if in.inlining != nil {
		c.With = append(c.With, in.inlining.with...)
	}
	return &c
}

// bound are the names that belong to a definition: its indices, and the sizes in the types
// of its parameters.
func bound(d *notation.Define) []notation.Word {
	out := indices(d)
	for _, p := range d.Target.Params {
		if p.Type == nil {
			continue
		}
		for _, x := range p.Type.Shape {
			for id := range notation.Idents(x) {
				out = append(out, id.Name)
			}
		}
	}
	return out
}

// indices are the names that a node binds as indices, and the axes that they run over.
func indices(node any) []notation.Word {
	var out []notation.Word
	notation.Inspect(node, func(n any) bool {
		b, ok := n.(*notation.Binder)
		if !ok {
			return true
		}
		if b.Name.Text != "" {
			out = append(out, b.Name)
		}
		for id := range notation.Idents(b.Range) {
			out = append(out, id.Name)
		}
		return true
	})
	return out
}

// hide returns a parameter or a local definition with its name here: a fresh one if the fit
// reads something of the same name, which it would capture.
func (s *substitution) hide(w notation.Word) notation.Word {
	text := w.Text
	if s.fit != nil && s.fit.mentions(text) {
		text += "″"
	}
	s.hidden[w.Text] = text
	return notation.Word{Span: w.Span, Text: text}
}

// mentions reports whether a fit line reads or defines a name.
func (f *fitLine) mentions(text string) bool {
	named := func(id *notation.Ident) bool { return id.Name.Text == text }
	return f.has(text) || notation.Mentions(f.predict, named) || notation.Mentions(f.target, named) ||
		slices.ContainsFunc(f.locals, func(d *notation.Define) bool { return notation.Mentions(d, named) })
}

func (s *substitution) expr(x notation.Expr) notation.Expr {
	return notation.Rewrite(x, func(n notation.Expr) notation.Expr {
		switch n := n.(type) {
		case *notation.Call:
			return s.call(n)
		case *notation.Grad:
			g := notation.Copy(n, s.expr)
			if s.letters && n.Wrt.Text == "W" {
				g.Wrt = s.word(n.Wrt)
			}
			return g
		case *notation.Ident:
			return s.ident(n)
		}
		return nil
	})
}

func (s *substitution) ident(n *notation.Ident) notation.Expr {
	_, hidden := s.hidden[n.Name.Text]
	axis := s.weightAxisOf(n.Name.Text)
	switch {
	case axis != nil && !hidden:
		return axis
	case s.at != nil && notation.Base(n.Name.Text) == "W":
		return s.at
	case s.letters && n.Name.Text == "V" && s.fit != nil && !hidden:
		return s.inlined().expr(s.fit.target, nil)
	}
	return n.Named(s.word(n.Name))
}

// inlined is the inliner of the definition that is being copied.
func (s *substitution) inlined() *inliner {
	if s.inlining == nil {
		s.inlining = &inliner{fit: s.fit}
	}
	return s.inlining
}

// call copies a call: F is the prediction, and an argument for a parameter W of the law is
// one for each weight.
func (s *substitution) call(n *notation.Call) notation.Expr {
	if s.letters && n.Fun.Text == notation.Prediction && len(n.Args) == 1 && s.fit != nil {
		return s.predict(n.Args[0])
	}
	c := *n
	c.Fun = s.function(n.Fun)
	c.Args = nil
	for i, a := range n.Args {
		if !s.letters || s.fit == nil || !s.e.isPerWeight(n.Fun.Text, i) {
			c.Args = append(c.Args, s.expr(a))
			continue
		}
		for _, w := range s.fit.Weights {
			c.Args = append(c.Args, s.of(w.Text).expr(a))
		}
	}
	return &c
}

// of is the same substitution for another weight of the fit.
func (s *substitution) of(weight string) *substitution {
	t := *s
	s.inlined()
	t.inlining, t.weight = s.inlining, weight
	return &t
}

// predict is the prediction of the fit with every weight at x, each with its own state
// for W.
func (s *substitution) predict(x notation.Expr) notation.Expr {
	at := map[string]notation.Expr{}
	for _, w := range s.fit.Weights {
		at[w.Text] = s.of(w.Text).expr(x)
	}
	return s.inlined().expr(s.fit.predict, at)
}
