package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
)

// A level says how often a line of the law or of a knob is written; the order
// is that of dependence: what reads something that is written more often is
// written as often.
type level int

const (
	once level = iota
	perFit
	perWeight
)

// A meant is a name as one unit means it: two pages may use one name for two
// things.
type meant struct {
	unit *notation.Unit
	name string
}

// writers are the units whose lines are written out, in the order in which a
// name is looked up that the reader does not define.
func (e *expander) writers() []*notation.Unit {
	return []*notation.Unit{e.law, e.knobs[notation.AlgorithmUnit], e.knobs[notation.RetentionUnit], e.knobs[notation.BiasUnit]}
}

// letters reports whether W, F and V are those of the law in a unit's lines.
func (e *expander) letters(u *notation.Unit) bool {
	return u == e.law || u.Kind == notation.AlgorithmUnit
}

// name is what a name means in a unit's lines.
func (e *expander) name(u *notation.Unit, name string) meant {
	for _, w := range append([]*notation.Unit{u}, e.writers()...) {
		if slices.Contains(e.owners[name], w) {
			return meant{w, name}
		}
	}
	return meant{nil, name}
}

// function is what the name of a function means: the one in force.
func (e *expander) function(name string) meant {
	if d := e.defines[name]; d != nil {
		for _, u := range e.writers() {
			if slices.Contains(u.Body, notation.Stmt(d)) {
				return meant{u, name}
			}
		}
	}
	return meant{nil, name}
}

// grade finds the level of every name that the law and the knobs define.
func (e *expander) grade(law []notation.Stmt) {
	e.levels = map[meant]level{}
	for changed := true; changed; {
		changed = false
		for _, u := range e.writers() {
			lines := u.Body
			if u == e.law {
				lines = law
			}
			for _, st := range lines {
				for _, name := range definedBy(st) {
					m := meant{u, name}
					if l := e.level(u, st); l > e.levels[m] {
						e.levels[m] = l
						changed = true
					}
				}
			}
		}
	}
}

// definedBy lists the names that a line defines, without their moments.
func definedBy(st notation.Stmt) []string {
	var out []string
	switch s := st.(type) {
	case *notation.Define:
		name := s.Target.Name.Name.Text
		if !s.Target.IsFunc {
			name = base(name)
		}
		out = append(out, name)
	case *notation.Iterate:
		out = append(out, base(s.Name.Text))
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

// level is how often a line of a unit is written, as far as is known.
func (e *expander) level(u *notation.Unit, st notation.Stmt) level {
	letters := e.letters(u)
	g := grader{e: e, unit: u, letters: letters}
	switch s := st.(type) {
	case *notation.Define:
		l := g.define(s)
		if !s.Target.IsFunc {
			l = max(l, e.levels[meant{u, base(s.Target.Name.Name.Text)}])
			if letters && base(s.Target.Name.Name.Text) == "W" {
				l = perWeight
			}
		}
		return l
	case *notation.Declare:
		l := once
		for _, n := range s.Names {
			l = max(l, g.expr(n.Init), g.expr(n.Dist), e.levels[meant{u, n.Name.Text}])
			if n.Type != nil {
				for _, x := range n.Type.Shape {
					l = max(l, g.expr(x))
				}
			}
			if n.Type == nil && s.Keyword.Text == "state" || n.Of != nil && e.joins(u, n.Of.Text) {
				l = perWeight
			}
		}
		return l
	case *notation.Iterate:
		d := &notation.Define{Target: &notation.Target{Name: &notation.Ident{}}, Value: s.Step, With: s.With}
		return max(g.define(d), g.expr(s.From), g.expr(s.Count), e.levels[meant{u, base(s.Name.Text)}])
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

// A grader finds the level of expressions; what a function's parameters hide
// counts for nothing.
type grader struct {
	e       *expander
	unit    *notation.Unit
	letters bool
	hidden  map[string]bool
	inside  bool // of F or of an argument for W: every weight has its own
}

func (g grader) define(d *notation.Define) level {
	g.hidden = locals(d.Target.Params, d)
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

func (g grader) expr(x notation.Expr) level {
	l := once
	up := func(m level) {
		if g.inside {
			m = min(m, perFit)
		}
		l = max(l, m)
	}
	if x == nil {
		return l
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

func (g grader) call(c *notation.Call) level {
	f := g.letters && c.Fun.Text == notation.Prediction
	l := g.e.levels[g.e.function(c.Fun.Text)]
	if f {
		l = perFit
	}
	if g.inside {
		l = min(l, perFit)
	}
	for i, a := range c.Args {
		h := g
		h.inside = g.inside || f || g.letters && g.e.spread(c.Fun.Text, i)
		l = max(l, h.expr(a))
	}
	return l
}

func (g grader) name(text string) level {
	name, _ := g.e.moment(text)
	switch {
	case g.hidden[text]:
		return once
	case g.letters && name == "W", g.e.weightAxis(g.unit, text) >= 0:
		return perWeight
	case g.letters && text == "V":
		return perFit
	}
	return g.e.levels[g.e.name(g.unit, name)]
}

// spread reports whether argument i of a function is one for each weight: in
// the place of a parameter W of the law's or of the algorithm's.
func (e *expander) spread(name string, i int) bool {
	d := e.defines[name]
	return d != nil && e.lettered(d) && i < len(d.Target.Params) && d.Target.Params[i].Name.Text == "W"
}

// lettered reports whether W is the law's in the signature of a function.
func (e *expander) lettered(d *notation.Define) bool {
	return slices.Contains(e.law.Body, notation.Stmt(d)) || slices.Contains(e.knobs[notation.AlgorithmUnit].Body, notation.Stmt(d))
}
