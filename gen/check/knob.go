package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
)

// What lines of a knob speak of: its own functions, the state that it joins, or
// what is written for each weight.

// provides names what a property is of as the rule does.
func (e *expander) provides(u *notation.Unit, st *notation.Provides) notation.Stmt {
	c := *st
	c.Marks = nil
	for _, m := range st.Marks {
		k := *m
		k.Args = nil
		for _, a := range m.Args {
			if e.levels[e.name(u, a.Text)] != perWeight || !e.many && !e.shared(a.Text) {
				k.Args = append(k.Args, a)
				continue
			}
			for _, f := range e.fits {
				for _, w := range f.Weights {
					k.Args = append(k.Args, notation.Word{Span: a.Span, Text: e.free(e.name(u, a.Text), "_"+w.Text)})
				}
			}
		}
		c.Marks = append(c.Marks, &k)
	}
	return &c
}

// joins reports whether a name is the first parameter of a function of a
// knob, which stands for any weight: Z of join(Z, U; ρ, θ).
func (e *expander) joins(u *notation.Unit, name string) bool {
	return slices.ContainsFunc(u.Body, func(st notation.Stmt) bool {
		d, ok := st.(*notation.Define)
		return ok && d.Target.IsFunc && len(d.Target.Params) > 0 && d.Target.Params[0].Name.Text == name
	})
}
