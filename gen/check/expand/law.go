// Package expand writes out what the pages of a block abbreviate, before any name is
// resolved: a law for the knobs of a formula, families for their members, and the pages
// of a strategy beside those of its rule. It is macro expansion on syntax trees. Every
// function takes lines and returns lines, and substitution avoids capture: what it
// copies under the name of something else gets a fresh name.
package expand

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// A Source is the lines that one unit contributes to a block, with what a formula sets of
// its options.
type Source struct {
	Unit *notation.Unit
	Body []notation.Stmt
	Set  []*notation.Override
}

// A rule that is a formula of knobs is written out by the law. The law speaks
// of one weight W of one fit: W is the state of the weight, F(x) what the fit
// predicts when every weight is x, with its own state for W, and
// V the target. Two lines of a law say how to read the text of a structure:
// `read W_t = …` is the value where the structure reads a weight, `W_0 = …` the
// start of a weight whose first value the structure gives as P.
//
// A line of the law, of the algorithm, the bias or the retention is written
// once; once for each fit if it reads F or V alone; once for each weight if it
// reads W itself or a name that is written for each weight. All weights of a
// fit change at once: a parameter W of a function of the law is one parameter
// for each of them, and so is the argument for it. Fits are ordered by the
// times at which they read what another one writes.
//
// Names that are written several times get the name of the weight, or of the
// first weight of the fit, as a suffix; so does one that another page has too.

// Law appends the law to the sources of a rule, written out for the knobs of a formula.
// From first on the sources are the knobs, one of each kind, whose bodies it replaces.
// It reports whether the knobs fit each other and the law.
func Law(rule, law *notation.Unit, srcs []Source, first int, ds *diag.List) ([]Source, bool) {
	e := &expander{ds: ds, rule: rule, law: law, srcs: srcs, knobs: map[notation.UnitKind]*notation.Unit{}, defines: map[string]*notation.Define{}}
	for _, s := range srcs[first:] {
		e.knobs[s.Unit.Kind] = s.Unit
	}
	lines := e.lawLines()
	for _, k := range units.Knobs {
		for d := range notation.Functions(e.knobs[k].Body) {
			e.defines[d.Target.Name.Name.Text] = d
		}
	}
	lines = slices.DeleteFunc(lines, e.replaced)
	if !e.fitLines() || !e.checkWeightAxes() {
		return nil, false
	}
	e.collectNames()
	e.analyze(lines)
	var ok bool
	if e.body, ok = e.structure(e.knobs[notation.StructUnit]); !ok {
		return nil, false
	}
	for i := first; i < len(srcs); i++ {
		s := &srcs[i]
		s.Set = e.renamed(*s)
		switch s.Unit.Kind {
		case notation.StructUnit:
			s.Body = e.body
		case notation.BiasUnit, notation.RetentionUnit:
			s.Body = e.instantiate(s.Unit, s.Unit.Body)
		}
	}
	alg := e.knobs[notation.AlgorithmUnit]
	return append(srcs, Source{alg, e.instantiate(alg, alg.Body), nil}, Source{e.law, e.instantiate(e.law, lines), nil}), true
}

// An expander writes the law out for one formula.
type expander struct {
	ds        *diag.List
	rule, law *notation.Unit
	srcs      []Source
	knobs     map[notation.UnitKind]*notation.Unit

	defines        map[string]*notation.Define // the functions in force, by name
	multiplicities map[qualified]multiplicity  // of names that knobs and law define
	fits           []*fitLine
	readLine       *notation.Define // the law's read W_t = …, or nil
	initial        *notation.Define // the law's W_0 = …, or nil
	manyWeights    bool
	manyFits       bool
	definers       map[string][]*notation.Unit // the units that define a name
	generated      map[string]qualified        // names that were made, and of what
	body           []notation.Stmt             // of the structure, written out

	optionsOf map[string]int // how many units declare an option, by its name
}

// collectNames notes the units that declare or define a name, options included, so that
// what the law calls e is not taken for an option e of a knob.
func (e *expander) collectNames() {
	e.definers, e.optionsOf = map[string][]*notation.Unit{}, map[string]int{}
	note := func(u *notation.Unit, body []notation.Stmt) {
		for _, st := range body {
			for _, name := range definedBy(st) {
				if !slices.Contains(e.definers[name], u) {
					e.definers[name] = append(e.definers[name], u)
				}
			}
		}
		for n := range notation.Declared(body, "option") {
			e.optionsOf[n.Name.Text]++
		}
	}
	for _, s := range e.srcs {
		note(s.Unit, s.Unit.Body)
	}
	note(e.rule, e.rule.Body)
	note(e.law, e.law.Body)
}

// shared reports whether several units of the formula have a name.
func (e *expander) shared(name string) bool { return len(e.definers[name]) > 1 }

// needsPageSuffix reports whether a name that is written once is of a bias, a retention
// or an algorithm, and some other page of the formula has the same one.
func (e *expander) needsPageSuffix(m qualified) bool {
	return units.IsKnob(m.unit) && m.unit.Kind != notation.StructUnit &&
		e.multiplicities[m] == once && e.shared(m.name) && slices.ContainsFunc(m.unit.Body, func(st notation.Stmt) bool {
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

// hasPageSuffix reports whether a unit has such a name.
func (e *expander) hasPageSuffix(u *notation.Unit) bool {
	return slices.ContainsFunc(u.Body, func(st notation.Stmt) bool {
		return slices.ContainsFunc(definedBy(st), func(name string) bool { return e.needsPageSuffix(qualified{u, name}) })
	})
}

// lawLines are the law's lines without the two that speak of the structure.
func (e *expander) lawLines() []notation.Stmt {
	var out []notation.Stmt
	for _, st := range e.law.Body {
		d, ok := st.(*notation.Define)
		switch {
		case ok && d.Read && d.Target.Name.Name.Text == "W_t":
			e.readLine = d
		case ok && d.Target.Name.Name.Text == "W_0":
			e.initial = d
		default:
			out = append(out, st)
		}
	}
	return out
}

// replaced reports whether a line of the law is a function that a knob defines
// instead; a function that no knob defines is in force. One that reads F or V stays.
func (e *expander) replaced(st notation.Stmt) bool {
	d, ok := st.(*notation.Define)
	if !ok || !d.Target.IsFunc {
		return false
	}
	name := d.Target.Name.Name.Text
	if e.defines[name] != nil && !readsFit(d) {
		return true
	}
	e.defines[name] = d
	return false
}

// readsFit reports whether a definition reads the prediction or the target of a fit.
func readsFit(d *notation.Define) bool {
	found := false
	notation.Inspect(d, func(n any) bool {
		switch n := n.(type) {
		case *notation.Ident:
			found = found || n.Name.Text == "V"
		case *notation.Call:
			found = found || n.Fun.Text == notation.Prediction
		}
		return !found
	})
	return found
}

// inlineProjections replaces the calls of functions that return a parameter unchanged by
// the argument. A law leaves room for what a knob may do; a knob that does nothing is gone.
func (e *expander) inlineProjections(x notation.Expr) notation.Expr {
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
				return e.inlineProjections(c.Args[i])
			}
		}
		return nil
	})
}
