package check

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// repeat writes the lines of the law or of a knob as often as their level says.
func (e *expander) repeat(u *notation.Unit, body []notation.Stmt) []notation.Stmt {
	var out []notation.Stmt
	for _, st := range body {
		if c, ok := st.(*notation.Claim); ok && u.Kind != notation.BiasUnit && units.OfFunctions(c) {
			continue
		}
		switch e.level(u, st) {
		case once:
			if e.privately(u) {
				st = (&substitution{e: e, unit: u, letters: e.letters(u)}).stmt(st)
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
				s := &substitution{e: e, unit: u, letters: e.letters(u), fit: f}
				out = append(out, s.stmt(st))
			}
		case perWeight:
			for _, f := range e.fits {
				for _, w := range f.Weights {
					s := &substitution{e: e, unit: u, letters: e.letters(u), fit: f, weight: w.Text}
					out = append(out, s.stmt(st))
				}
			}
		}
	}
	return out
}

func base(text string) string { return strings.TrimSuffix(text, "_t") }

// A substitution writes a line out for one weight of one fit.
type substitution struct {
	e       *expander
	unit    *notation.Unit // whose line it is
	letters bool
	fit     *fitting
	weight  string
	at      *notation.Ident   // stands for W at any moment
	hidden  map[string]string // parameters and local names, and what they are called here
	placing *placing          // of the definition that is being written
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
			m.Init, m.Dist, m.Type = s.expr(n.Init), s.expr(n.Dist), s.typed(n.Type)
			if m.Type == nil && st.Keyword.Text == "state" {
				m.Type = s.e.weightType(s.weight)
			}
			if n.Of != nil && s.e.joins(s.unit, n.Of.Text) {
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
	case *notation.Invariant:
		c := *st
		c.Cond, c.When, c.Binders = s.expr(st.Cond), s.expr(st.When), notation.RewriteBinders(st.Binders, s.expr)
		return &c
	}
	return s.line(st)
}

// line copies a line that is written once; only names of the page's own are
// others in it.
func (s *substitution) line(st notation.Stmt) notation.Stmt {
	switch st := st.(type) {
	case *notation.Dims:
		c := *st
		c.Items, c.When = nil, s.expr(st.When)
		for _, it := range st.Items {
			i := *it
			i.Size = s.expr(it.Size)
			c.Items = append(c.Items, &i)
		}
		return &c
	case *notation.Kink:
		c := *st
		c.Left, c.Right, c.When = s.expr(st.Left), s.expr(st.Right), s.expr(st.When)
		return &c
	case *notation.Provides:
		c := *st
		c.When = s.expr(st.When)
		return &c
	case *notation.Cost:
		c := *st
		c.Value, c.Big, c.When = s.expr(st.Value), s.expr(st.Big), s.expr(st.When)
		return &c
	}
	return st
}

// iterate copies an iteration; its name is its own from the first round on.
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
	c.Name, c.From, c.Count, c.Step, c.With = s.word(st.Name), s.expr(st.From), s.expr(st.Count), in.expr(st.Step), nil
	for _, w := range st.With {
		v := *w
		v.Value = in.expr(w.Value)
		c.With = append(c.With, &v)
	}
	return &c
}

// define copies a definition. A parameter W is one for each weight of the fit;
// any other that has the name of something in the fit gets another one.
func (s *substitution) define(d *notation.Define) *notation.Define {
	in := *s
	in.hidden = map[string]string{}
	if s.fit != nil {
		in.placing = &placing{fit: s.fit, names: bareNames(d)}
	}
	c, t := *d, *d.Target
	for _, i := range bound(d) {
		if s.e.weightAxis(s.unit, i.Text) < 0 && !s.owns(i.Text) {
			in.hidden[i.Text] = i.Text
		}
	}
	for _, w := range d.With {
		in.hide(w.Target.Name.Name)
	}
	t.Params = nil
	for _, p := range d.Target.Params {
		if s.letters && s.fit != nil && p.Name.Text == "W" && s.e.lettered(d) {
			for _, w := range s.fit.Weights {
				q := *p
				q.Name = notation.Word{Span: p.Name.Span, Text: w.Text}
				t.Params = append(t.Params, &q)
			}
			continue
		}
		q := *p
		q.Name, q.Type = in.hide(p.Name), s.sized(p.Type)
		t.Params = append(t.Params, &q)
	}
	id := *t.Name
	id.Name = s.word(id.Name)
	if t.IsFunc {
		id.Name = s.function(t.Name.Name)
	}
	t.Name, t.Index = &id, notation.RewriteBinders(t.Index, in.expr)
	c.Target, c.Value, c.With, c.Label = &t, in.expr(d.Value), nil, s.label(d.Label)
	for _, w := range d.With {
		v := *w
		vt := *w.Target
		vid := *vt.Name
		vid.Name.Text = in.hidden[vid.Name.Text]
		vt.Name = &vid
		v.Target, v.Value = &vt, in.expr(w.Value)
		c.With = append(c.With, &v)
	}
	if in.placing != nil {
		c.With = append(c.With, in.placing.with...)
	}
	return &c
}

// bound are the names of a definition's own: its indices, and the sizes that its
// parameters bring.
func bound(d *notation.Define) []notation.Word {
	out := indices(d)
	for _, p := range d.Target.Params {
		if p.Type == nil {
			continue
		}
		for _, x := range p.Type.Shape {
			notation.Inspect(x, func(n any) bool {
				if id, ok := n.(*notation.Ident); ok {
					out = append(out, id.Name)
				}
				return true
			})
		}
	}
	return out
}

// indices are the names that a node binds as indices, and the axes that they
// run over.
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
		notation.Inspect(b.Range, func(n any) bool {
			if id, ok := n.(*notation.Ident); ok {
				out = append(out, id.Name)
			}
			return true
		})
		return true
	})
	return out
}

// bareNames are the names that stand in a definition.
func bareNames(d *notation.Define) []string {
	var out []string
	notation.Inspect(d, func(n any) bool {
		if id, ok := n.(*notation.Ident); ok {
			out = append(out, id.Name.Text)
		}
		return true
	})
	return out
}

// hide gives a parameter or a local name the name that it has here: another
// one where the fit has something of the same name, which would be taken for
// it.
func (s *substitution) hide(w notation.Word) notation.Word {
	text := w.Text
	if s.fit != nil && s.fit.mentions(text) {
		text += "″"
	}
	s.hidden[w.Text] = text
	return notation.Word{Span: w.Span, Text: text}
}

// mentions reports whether a name stands in the line.
func (f *fitting) mentions(text string) bool {
	found := f.has(text)
	look := func(x any) {
		notation.Inspect(x, func(n any) bool {
			if id, ok := n.(*notation.Ident); ok {
				found = found || id.Name.Text == text
			}
			return true
		})
	}
	look(f.predict)
	look(f.target)
	for _, d := range f.locals {
		look(d)
	}
	return found
}

// label keeps the ids of a line that is written several times apart.
func (s *substitution) label(w *notation.Word) *notation.Word {
	if w == nil || !s.e.many || s.fit == nil {
		return w
	}
	of := s.fit.Weights[0].Text
	if s.weight != "" {
		of = s.weight
	}
	return &notation.Word{Span: w.Span, Text: w.Text + "_" + ident.ASCII(of)}
}

// word is a name of the law or of a knob as the rule has it.
func (s *substitution) word(w notation.Word) notation.Word {
	if to, ok := s.hidden[w.Text]; ok {
		return notation.Word{Span: w.Span, Text: to}
	}
	name, moment := s.e.moment(w.Text)
	if s.letters && name == "W" && s.weight != "" {
		name = s.weight
	} else {
		m := s.e.name(s.unit, name)
		suffix := s.behind(s.e.levels[m], s.e.shared(name))
		if s.e.private(m) {
			suffix = "_" + m.unit.Name.Text
		}
		name = s.e.free(m, suffix)
	}
	return notation.Word{Span: w.Span, Text: name + moment}
}

// moment takes the moment from a name: this token's, or, of something that the
// formula has, the start of the context.
func (e *expander) moment(text string) (name, suffix string) {
	if name, ok := strings.CutSuffix(text, "_t"); ok {
		return name, "_t"
	}
	if name, ok := strings.CutSuffix(text, "_0"); ok && (name == "W" || len(e.owners[name]) > 0) {
		return name, "_0"
	}
	return text, ""
}

// free puts a suffix behind a name, once more where something else has the
// result.
func (e *expander) free(m meant, suffix string) string {
	if suffix == "" {
		return m.name
	}
	name := m.name + suffix
	for {
		old, given := e.given[name]
		if len(e.owners[name]) == 0 && (!given || old == m) {
			break
		}
		name += suffix
	}
	if e.given == nil {
		e.given = map[string]meant{}
	}
	e.given[name] = m
	return name
}

// behind is what stands behind a name that is written several times.
func (s *substitution) behind(l level, shared bool) string {
	switch {
	case l == perWeight && s.weight != "" && (s.e.many || shared):
		return "_" + s.weight
	case l == perFit && s.fit != nil && (s.e.several || shared):
		return s.fit.suffix()
	}
	return ""
}

// function is the name of a function as the rule has it.
func (s *substitution) function(w notation.Word) notation.Word {
	return notation.Word{Span: w.Span, Text: w.Text + s.behind(s.e.levels[s.e.function(w.Text)], false)}
}

func (s *substitution) expr(x notation.Expr) notation.Expr {
	return notation.Rewrite(x, func(n notation.Expr) notation.Expr {
		switch n := n.(type) {
		case *notation.Call:
			return s.call(n)
		case *notation.Grad:
			g := *n
			if s.letters && n.Wrt.Text == "W" {
				g.Wrt = s.word(n.Wrt)
			}
			g.Call = s.expr(n.Call).(*notation.Call)
			return &g
		case *notation.Ident:
			return s.ident(n)
		}
		return nil
	})
}

func (s *substitution) ident(n *notation.Ident) notation.Expr {
	_, hidden := s.hidden[n.Name.Text]
	axis := s.axisOf(n.Name.Text)
	switch {
	case axis != nil && !hidden:
		return axis
	case s.at != nil && base(n.Name.Text) == "W":
		return s.at
	case s.letters && n.Name.Text == "V" && s.fit != nil && !hidden:
		return s.place().put(s.fit.target, nil)
	}
	id := *n
	id.Name = s.word(n.Name)
	return &id
}

// place gathers the local names that F and V bring along.
func (s *substitution) place() *placing {
	if s.placing == nil {
		s.placing = &placing{fit: s.fit}
	}
	return s.placing
}

// call copies a call: F is the prediction, and an argument in the place of a
// law's W is one for each weight.
func (s *substitution) call(n *notation.Call) notation.Expr {
	if s.letters && n.Fun.Text == notation.Prediction && len(n.Args) == 1 && s.fit != nil {
		return s.predict(n.Args[0])
	}
	c := *n
	c.Fun = s.function(n.Fun)
	c.Args = nil
	for i, a := range n.Args {
		if !s.letters || s.fit == nil || !s.e.spread(n.Fun.Text, i) {
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
	s.place()
	t.placing, t.weight = s.placing, weight
	return &t
}

// predict is the fit's prediction with every weight at x, each with its own
// state in the place of W.
func (s *substitution) predict(x notation.Expr) notation.Expr {
	at := map[string]notation.Expr{}
	for _, w := range s.fit.Weights {
		at[w.Text] = s.of(w.Text).expr(x)
	}
	return s.place().put(s.fit.predict, at)
}
