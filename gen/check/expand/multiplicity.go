package expand

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
)

// A multiplicity says how often a line of the law or of a knob is written. The values are
// ordered: a line that reads a name of a higher multiplicity has it too. They are the
// least fixed point over all lines, found by iteration from once (see Kildall, "A unified
// approach to global program optimization", 1973).
type multiplicity int

const (
	once multiplicity = iota
	perFit
	perWeight
)

// A qualified name is a name in the scope of one unit: two pages may use one name for two
// things.
type qualified struct {
	unit *notation.Unit
	name string
}

// writers are the units whose lines are instantiated, in the order in which a name is
// looked up that the reading unit does not define.
func (e *expander) writers() []*notation.Unit {
	return []*notation.Unit{e.law, e.knobs[notation.AlgorithmUnit], e.knobs[notation.RetentionUnit], e.knobs[notation.BiasUnit]}
}

// usesLetters reports whether W, F and V are those of the law in a unit's lines.
func (e *expander) usesLetters(u *notation.Unit) bool {
	return u == e.law || u.Kind == notation.AlgorithmUnit
}

// lookup resolves a name in the lines of a unit.
func (e *expander) lookup(u *notation.Unit, name string) qualified {
	for _, w := range append([]*notation.Unit{u}, e.writers()...) {
		if slices.Contains(e.definers[name], w) {
			return qualified{w, name}
		}
	}
	return qualified{nil, name}
}

// lookupFunction resolves the name of a function to the one in force.
func (e *expander) lookupFunction(name string) qualified {
	if d := e.defines[name]; d != nil {
		for _, u := range e.writers() {
			if slices.Contains(u.Body, notation.Stmt(d)) {
				return qualified{u, name}
			}
		}
	}
	return qualified{nil, name}
}

// analyze finds the multiplicity of every name that the law and the knobs define.
func (e *expander) analyze(law []notation.Stmt) {
	e.multiplicities = map[qualified]multiplicity{}
	for changed := true; changed; {
		changed = false
		for _, u := range e.writers() {
			lines := u.Body
			if u == e.law {
				lines = law
			}
			for _, st := range lines {
				for _, name := range definedBy(st) {
					m := qualified{u, name}
					if l := e.multiplicityOf(u, st); l > e.multiplicities[m] {
						e.multiplicities[m] = l
						changed = true
					}
				}
			}
		}
	}
}

// definedBy lists the names that a line defines, without their times.
func definedBy(st notation.Stmt) []string {
	var out []string
	switch s := st.(type) {
	case *notation.Define:
		name := s.Target.Name.Name.Text
		if !s.Target.IsFunc {
			name = notation.Base(name)
		}
		out = append(out, name)
	case *notation.Iterate:
		out = append(out, notation.Base(s.Name.Text))
	case *notation.Fit:
		for _, w := range s.With {
			if name, timed := strings.CutSuffix(w.Target.Name.Name.Text, "_t"); timed {
				out = append(out, name)
			}
		}
	case *notation.Dims:
		for _, it := range s.Items {
			out = append(out, it.Name.Text)
		}
	case *notation.Declare:
		for _, n := range s.Names {
			out = append(out, n.Name.Text)
		}
	}
	return out
}

// multiplicityOf is how often a line of a unit is written, as far as is known.
func (e *expander) multiplicityOf(u *notation.Unit, st notation.Stmt) multiplicity {
	letters := e.usesLetters(u)
	g := analyzer{e: e, unit: u, letters: letters}
	switch s := st.(type) {
	case *notation.Define:
		l := g.define(s)
		if !s.Target.IsFunc {
			l = max(l, e.multiplicities[qualified{u, notation.Base(s.Target.Name.Name.Text)}])
			if letters && notation.Base(s.Target.Name.Name.Text) == "W" {
				l = perWeight
			}
		}
		return l
	case *notation.Declare:
		l := once
		for _, n := range s.Names {
			l = max(l, g.expr(n.Init), g.expr(n.Dist), e.multiplicities[qualified{u, n.Name.Text}])
			if n.Type != nil {
				for _, x := range n.Type.Shape {
					l = max(l, g.expr(x))
				}
			}
			if n.Type == nil && s.Keyword.Text == "state" || n.Of != nil && e.isStateParameter(u, n.Of.Text) {
				l = perWeight
			}
		}
		return l
	case *notation.Iterate:
		d := &notation.Define{Target: &notation.Target{Name: &notation.Ident{}}, Value: s.Step, With: s.With}
		return max(g.define(d), g.expr(s.From), g.expr(s.Count), e.multiplicities[qualified{u, notation.Base(s.Name.Text)}])
	case *notation.Claim:
		l := max(g.expr(s.Left), g.expr(s.Right))
		for _, w := range s.With {
			l = max(l, g.define(w))
		}
		return l
	case *notation.Invariant:
		return g.expr(s.Cond)
	}
	return once
}

// An analyzer finds the multiplicity of expressions. The parameters of a function hide
// other names.
type analyzer struct {
	e       *expander
	unit    *notation.Unit
	letters bool
	hidden  map[string]bool
	inside  bool // of F or of an argument for W: every weight has its own
}

func (g analyzer) define(d *notation.Define) multiplicity {
	g.hidden = notation.Locals(d.Target.Params, d)
	l := once
	for _, i := range bound(d) {
		if g.e.weightAxis(g.unit, i.Text) >= 0 {
			l = perWeight
		} else {
			g.hidden[i.Text] = true
		}
	}
	if g.letters {
		delete(g.hidden, "W") // one for each weight
	}
	l = max(l, g.expr(d.Value))
	for _, w := range d.With {
		l = max(l, g.expr(w.Value))
	}
	return l
}

func (g analyzer) expr(x notation.Expr) multiplicity {
	l := once
	up := func(m multiplicity) {
		if g.inside {
			m = min(m, perFit)
		}
		l = max(l, m)
	}
	notation.Inspect(x, func(n any) bool {
		switch n := n.(type) {
		case *notation.Call:
			up(g.call(n))
			return false
		case *notation.Grad:
			if g.letters && n.Wrt.Text == "W" {
				up(perWeight)
			}
		case *notation.Ident:
			up(g.name(n.Name.Text))
		}
		return true
	})
	return l
}

func (g analyzer) call(c *notation.Call) multiplicity {
	f := g.letters && c.Fun.Text == notation.Prediction
	l := g.e.multiplicities[g.e.lookupFunction(c.Fun.Text)]
	if f {
		l = perFit
	}
	if g.inside {
		l = min(l, perFit)
	}
	for i, a := range c.Args {
		h := g
		h.inside = g.inside || f || g.letters && g.e.isPerWeight(c.Fun.Text, i)
		l = max(l, h.expr(a))
	}
	return l
}

func (g analyzer) name(text string) multiplicity {
	name, _ := g.e.cutTime(text)
	switch {
	case g.hidden[text]:
		return once
	case g.letters && name == "W", g.e.weightAxis(g.unit, text) >= 0:
		return perWeight
	case g.letters && text == "V":
		return perFit
	}
	return g.e.multiplicities[g.e.lookup(g.unit, name)]
}

// isPerWeight reports whether argument i of a function is one for each weight: for a
// parameter W of a function of the law or of the algorithm.
func (e *expander) isPerWeight(name string, i int) bool {
	d := e.defines[name]
	return d != nil && e.hasLawLetters(d) && i < len(d.Target.Params) && d.Target.Params[i].Name.Text == "W"
}

// hasLawLetters reports whether W is the law's in the signature of a function.
func (e *expander) hasLawLetters(d *notation.Define) bool {
	return slices.Contains(e.law.Body, notation.Stmt(d)) || slices.Contains(e.knobs[notation.AlgorithmUnit].Body, notation.Stmt(d))
}
