package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// A rule that is a formula of knobs is written out by the law. The law speaks
// of one weight W of one fit: W is the state of the weight, F(x) what the fit
// predicts when every weight stands at x, with its own state in W's place, and
// V the target. Two lines of a law say how a structure's own text is meant:
// `read W_t = …` what it sees where it reads a weight, `W_0 = …` with what a
// weight starts whose first value the structure gives as P.
//
// A line of the law, of the algorithm, the bias or the retention is written
// once; once for each fit where it speaks of F or V alone; once for each weight
// where it speaks of W itself or of something that is written for each weight.
// All weights of a fit move at once: a parameter W of a law's function is one
// parameter for each of them, and so is the argument in its place. Fits follow
// one another by the moments at which they read what another one writes.
//
// Names that are written several times get the name of the weight, or of the
// fit's first weight, behind them; so does one that another page has too.
// Otherwise they stay as they are.

// expandLaw adds the knobs and the law, written out, to the block's sources.
func (in *instancer) expandLaw(f *notation.Formula) bool {
	knobs := map[notation.UnitKind]*notation.Unit{}
	first := len(in.srcs)
	for _, p := range f.Parts {
		u := in.page(p, units.Knobs...)
		if u == nil {
			return false
		}
		if old := knobs[u.Kind]; old != nil {
			in.ds.Errorf(diag.WrongPageKind, p.Span, "%s and %s are both %s", old.Name.Text, u.Name.Text, units.KindName(u.Kind))
			return false
		}
		knobs[u.Kind] = u
		in.srcs = append(in.srcs, source{u, nil, in.bind(u, p.Args, nil)})
	}
	for _, k := range units.Knobs {
		if knobs[k] == nil {
			in.ds.Errorf(diag.WrongPageKind, f.Span, "the formula has no %s", k.String()).Hint("a rule is structure + bias + retention + algorithm")
			return false
		}
	}
	if !in.legal(f) {
		return false
	}
	laws := in.tree.Kinds(notation.LawUnit)
	if len(laws) != 1 {
		in.ds.Errorf(diag.UnknownPage, f.Span, "a formula of knobs needs exactly one law, and there are %d", len(laws))
		return false
	}
	e := &expander{in: in, law: laws[0], knobs: knobs, defines: map[string]*notation.Define{}}
	return e.expand(in.srcs[first:])
}

// An expander writes the law out for one formula.
type expander struct {
	in      *instancer
	law     *notation.Unit
	knobs   map[notation.UnitKind]*notation.Unit
	defines map[string]*notation.Define // the functions in force, by name
	levels  map[meant]level             // of names that knobs and law define
	fits    []*fitting
	read    *notation.Define // how the structure reads a weight, or nil
	first   *notation.Define // with what a weight starts, or nil
	many    bool             // several weights
	several bool             // several fits
	owners  map[string][]*notation.Unit
	given   map[string]meant // names that were made, and of what
	body    []notation.Stmt  // of the structure, written out

	optionsOf map[string]int // how many units declare an option, by its name
}

// expand gives the knobs' sources their statements and adds the law's.
func (e *expander) expand(srcs []source) bool {
	law := e.lawLines()
	for _, k := range units.Knobs {
		for _, st := range e.knobs[k].Body {
			if d, ok := st.(*notation.Define); ok && d.Target.IsFunc {
				e.defines[d.Target.Name.Name.Text] = d
			}
		}
	}
	law = slices.DeleteFunc(law, e.replaced)
	if !e.fitLines() || !e.axesFit() {
		return false
	}
	e.own()
	e.grade(law)
	var ok bool
	if e.body, ok = e.structure(e.knobs[notation.StructUnit]); !ok {
		return false
	}
	for i := range srcs {
		srcs[i].set = e.renamed(srcs[i])
		switch s := &srcs[i]; s.unit.Kind {
		case notation.StructUnit:
			s.body = e.body
		case notation.BiasUnit, notation.RetentionUnit:
			s.body = e.repeat(s.unit, s.unit.Body)
		}
	}
	alg := e.knobs[notation.AlgorithmUnit]
	e.in.srcs = append(e.in.srcs, source{alg, e.repeat(alg, alg.Body), nil}, source{e.law, e.repeat(e.law, law), nil})
	return true
}

// own notes who declares or defines a name, options included, so that what the
// law calls e is not taken for an option e of a knob.
func (e *expander) own() {
	e.owners, e.optionsOf = map[string][]*notation.Unit{}, map[string]int{}
	note := func(u *notation.Unit, body []notation.Stmt) {
		for _, st := range body {
			for _, name := range definedBy(st) {
				if !slices.Contains(e.owners[name], u) {
					e.owners[name] = append(e.owners[name], u)
				}
			}
			if d, ok := st.(*notation.Declare); ok && d.Keyword.Text == "option" {
				for _, n := range d.Names {
					e.optionsOf[n.Name.Text]++
				}
			}
		}
	}
	for _, s := range e.in.srcs {
		note(s.unit, s.unit.Body)
	}
	note(e.in.b.Unit, e.in.b.Unit.Body)
	note(e.law, e.law.Body)
}

// shared reports whether several units of the formula have a name.
func (e *expander) shared(name string) bool { return len(e.owners[name]) > 1 }

// private reports whether a name that is written once is of a bias, a retention
// or an algorithm, and some other page of the formula has the same one.
func (e *expander) private(m meant) bool {
	return m.unit != nil && m.unit != e.law && m.unit.Kind != notation.StructUnit && slices.Contains(units.Knobs, m.unit.Kind) &&
		e.levels[m] == once && e.shared(m.name) && slices.ContainsFunc(m.unit.Body, func(st notation.Stmt) bool {
		switch s := st.(type) {
		case *notation.Define:
			return !s.Target.IsFunc && slices.Contains(definedBy(st), m.name)
		case *notation.Declare:
			return slices.Contains(definedBy(st), m.name) && (s.Keyword.Text != "option" || e.optionsOf[m.name] > 1)
		case *notation.Iterate:
			return slices.Contains(definedBy(st), m.name)
		}
		return false
	})
}

// privately reports whether a unit has such a name.
func (e *expander) privately(u *notation.Unit) bool {
	return slices.ContainsFunc(u.Body, func(st notation.Stmt) bool {
		return slices.ContainsFunc(definedBy(st), func(name string) bool { return e.private(meant{u, name}) })
	})
}

// lawLines are the law's lines without the two that speak of the structure.
func (e *expander) lawLines() []notation.Stmt {
	var out []notation.Stmt
	for _, st := range e.law.Body {
		d, ok := st.(*notation.Define)
		switch {
		case ok && d.Read && d.Target.Name.Name.Text == "W_t":
			e.read = d
		case ok && d.Target.Name.Name.Text == "W_0":
			e.first = d
		default:
			out = append(out, st)
		}
	}
	return out
}

// replaced reports whether a line of the law is a function that a knob defines
// in its place; a function that none defines is in force. What speaks of F or
// V stays the law's.
func (e *expander) replaced(st notation.Stmt) bool {
	d, ok := st.(*notation.Define)
	if !ok || !d.Target.IsFunc {
		return false
	}
	name := d.Target.Name.Name.Text
	if e.defines[name] != nil && !speaks(d, notation.Prediction, "V") {
		return true
	}
	e.defines[name] = d
	return false
}

// speaks reports whether a definition mentions one of the law's letters.
func speaks(d *notation.Define, letters ...string) bool {
	found := false
	notation.Inspect(d, func(n any) bool {
		switch n := n.(type) {
		case *notation.Ident:
			found = found || slices.Contains(letters, n.Name.Text)
		case *notation.Call:
			found = found || slices.Contains(letters, n.Fun.Text)
		}
		return true
	})
	return found
}

// settled replaces calls of functions that give a parameter back as it is by
// the argument: what the law only leaves room for is not there.
func (e *expander) settled(x notation.Expr) notation.Expr {
	return notation.Rewrite(x, func(n notation.Expr) notation.Expr {
		c, ok := n.(*notation.Call)
		if !ok {
			return nil
		}
		d := e.defines[c.Fun.Text]
		if d == nil || len(d.Target.Index) > 0 || len(d.Target.Params) != len(c.Args) {
			return nil
		}
		id, ok := d.Value.(*notation.Ident)
		if !ok {
			return nil
		}
		for i, p := range d.Target.Params {
			if p.Name.Text == id.Name.Text && id.Time == nil && !id.Bar {
				return e.settled(c.Args[i])
			}
		}
		return nil
	})
}
