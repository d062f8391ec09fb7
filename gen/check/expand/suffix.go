package expand

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// Names of lines that are written several times. A name gets the weight, or the first
// weight of its fit, as a suffix if there are several of them or if another page has the
// same name.

// label makes the ids of a line that is written several times distinct.
func (s *substitution) label(w *notation.Word) *notation.Word {
	if w == nil || !s.e.manyWeights || s.fit == nil {
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
	name, time := s.e.cutTime(w.Text)
	if s.letters && name == "W" && s.weight != "" {
		name = s.weight
	} else {
		m := s.e.lookup(s.unit, name)
		suffix := s.suffix(s.e.multiplicities[m], s.e.shared(name))
		if s.e.needsPageSuffix(m) {
			suffix = "_" + m.unit.Name.Text
		}
		name = s.e.unique(m, suffix)
	}
	return notation.Word{Span: w.Span, Text: name + time}
}

// cutTime cuts the time from a name: this token, or, for a name that the formula defines,
// the start of the context.
func (e *expander) cutTime(text string) (name, suffix string) {
	if name, ok := strings.CutSuffix(text, "_t"); ok {
		return name, "_t"
	}
	if name, ok := strings.CutSuffix(text, "_0"); ok && (name == "W" || len(e.definers[name]) > 0) {
		return name, "_0"
	}
	return text, ""
}

// unique appends a suffix to a name, again while something else has the result.
func (e *expander) unique(m qualified, suffix string) string {
	if suffix == "" {
		return m.name
	}
	name := m.name + suffix
	for {
		old, given := e.generated[name]
		if len(e.definers[name]) == 0 && (!given || old == m) {
			break
		}
		name += suffix
	}
	if e.generated == nil {
		e.generated = map[string]qualified{}
	}
	e.generated[name] = m
	return name
}

// suffix is the suffix of a name that is written several times.
func (s *substitution) suffix(l multiplicity, shared bool) string {
	switch {
	case l == perWeight && s.weight != "" && (s.e.manyWeights || shared):
		return "_" + s.weight
	case l == perFit && s.fit != nil && (s.e.manyFits || shared):
		return s.fit.suffix()
	}
	return ""
}

// function is the name of a function as the rule has it.
func (s *substitution) function(w notation.Word) notation.Word {
	return notation.Word{Span: w.Span, Text: w.Text + s.suffix(s.e.multiplicities[s.e.lookupFunction(w.Text)], false)}
}

// provides copies a property with the names of the rule as its arguments.
func (e *expander) provides(u *notation.Unit, st *notation.Provides) notation.Stmt {
	c := *st
	c.Marks = nil
	for _, m := range st.Marks {
		k := *m
		k.Args = nil
		for _, a := range m.Args {
			if e.multiplicities[e.lookup(u, a.Text)] != perWeight || !e.manyWeights && !e.shared(a.Text) {
				k.Args = append(k.Args, a)
				continue
			}
			for _, f := range e.fits {
				for _, w := range f.Weights {
					k.Args = append(k.Args, notation.Word{Span: a.Span, Text: e.unique(e.lookup(u, a.Text), "_"+w.Text)})
				}
			}
		}
		c.Marks = append(c.Marks, &k)
	}
	return &c
}

// isStateParameter reports whether a name is the first parameter of a function of a knob,
// which may be any weight: Z of join(Z, U; ρ, θ).
func (e *expander) isStateParameter(u *notation.Unit, name string) bool {
	return slices.ContainsFunc(u.Body, func(st notation.Stmt) bool {
		d, ok := st.(*notation.Define)
		return ok && d.Target.IsFunc && len(d.Target.Params) > 0 && d.Target.Params[0].Name.Text == name
	})
}

// Two knobs of a formula may each have an option of one name: the parentheses after the
// name of a knob say whose is set, `One(λ = 0.1) + Two(λ = 1e-3)`. In the rule that is
// written out the name of the page is a suffix, λ_One and λ_Two, and so are the fields of
// the emitted code. An option of a structure, a front or the rule itself keeps its name;
// these three read each other's names, so a name is used once among them.

// renamed returns what a formula sets of a knob, with the names of the options in the
// rule.
func (e *expander) renamed(s Source) []*notation.Override {
	var out []*notation.Override
	for _, o := range s.Set {
		if m := (qualified{s.Unit, o.Name.Text}); e.needsPageSuffix(m) {
			c := *o
			c.Name = (&substitution{e: e, unit: s.Unit}).word(o.Name)
			o = &c
		}
		out = append(out, o)
	}
	return out
}

// renameSizes is a type with the names of the rule for its sizes.
func (s *substitution) renameSizes(t *notation.Type) *notation.Type {
	renames := func(x notation.Expr) bool {
		return notation.Mentions(x, func(id *notation.Ident) bool { return s.renamesOption(id.Name.Text) })
	}
	if t == nil || !slices.ContainsFunc(t.Shape, renames) {
		return t // the same node: names that share a type go on sharing it
	}
	return notation.Copy(t, func(x notation.Expr) notation.Expr {
		return notation.Rewrite(x, func(n notation.Expr) notation.Expr {
			if id, ok := n.(*notation.Ident); ok && s.renamesOption(id.Name.Text) {
				return id.Named(s.word(id.Name))
			}
			return nil
		})
	})
}

// renamesOption reports whether a name is an option of the page with another name in the
// rule.
func (s *substitution) renamesOption(name string) bool {
	return units.HasOption(s.unit, name) && s.e.needsPageSuffix(qualified{s.unit, name})
}
