package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A rule that is a formula of knobs is written out by the law: the law's
// equations speak of one weight W of one fit F → V of the structure, and are
// repeated for each weight. W, F(·) and V are replaced by what the structure
// says; the functions that the law calls come from the knobs, or from the law
// where no knob defines them. With one weight the law's own names stay as they
// are; with several each gets the weight's name behind it.

var slots = []notation.UnitKind{notation.StructUnit, notation.BiasUnit, notation.RetentionUnit, notation.AlgorithmUnit}

// expandLaw adds the knobs and the law, written out, to the block's sources.
func (in *instancer) expandLaw(f *notation.Formula) bool {
	knobs := map[notation.UnitKind]*notation.Unit{}
	for _, p := range f.Parts {
		u := in.page(p, slots...)
		if u == nil {
			return false
		}
		if old := knobs[u.Kind]; old != nil {
			in.ds.Errorf(diag.WrongPageKind, p.Span, "%s and %s are both %s", old.Name.Text, u.Name.Text, KindName(u.Kind))
			return false
		}
		knobs[u.Kind] = u
		in.srcs = append(in.srcs, source{u, nil, in.bind(u, p.Args, nil)})
	}
	for _, k := range slots {
		if knobs[k] == nil {
			in.ds.Errorf(diag.WrongPageKind, f.Span, "the formula has no %s", KindWord(k)).Hint("a rule is structure + bias + retention + algorithm")
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
	e := &expander{in: in, law: laws[0], knobs: knobs, own: map[string]bool{}}
	return e.expand()
}

// An expander writes the law out for one formula.
type expander struct {
	in    *instancer
	law   *notation.Unit
	knobs map[notation.UnitKind]*notation.Unit
	funcs map[string]bool // defined by a knob
	own   map[string]bool // names that the law or the algorithm defines, by weight
	many  bool
}

func (e *expander) expand() bool {
	var fits []*notation.Fit
	e.funcs = map[string]bool{}
	for i := range e.in.srcs {
		s := &e.in.srcs[i]
		if e.knobs[s.unit.Kind] != s.unit {
			continue
		}
		for _, st := range s.unit.Body {
			switch st := st.(type) {
			case *notation.Fit:
				fits = append(fits, st)
				continue
			case *notation.Define:
				e.funcs[st.Target.Name.Name.Text] = e.funcs[st.Target.Name.Name.Text] || st.Target.IsFunc
			}
			if s.unit.Kind != notation.AlgorithmUnit && !ofJoined(s.unit, st) {
				s.body = append(s.body, st)
			}
		}
	}
	e.names(e.law.Body)
	e.names(e.knobs[notation.AlgorithmUnit].Body)
	weights := 0
	for _, f := range fits {
		weights += len(f.Weights)
	}
	if weights == 0 {
		u := e.knobs[notation.StructUnit]
		e.in.ds.Errorf(diag.MissingEquation, u.Name.Span, "structure %s has no fit", u.Name.Text).Hint("write fit W : prediction → target")
		return false
	}
	e.many = weights > 1
	for _, f := range fits {
		for _, w := range f.Weights {
			e.weight(f, w)
		}
	}
	return true
}

// names remembers what the law and the algorithm define, so that the names can
// be kept apart when there are several weights.
func (e *expander) names(body []notation.Stmt) {
	for _, st := range body {
		switch st := st.(type) {
		case *notation.Define:
			e.own[base(st.Target.Name.Name.Text)] = !st.Target.IsFunc || st.Target.Name.Name.Text == "J"
		case *notation.Iterate:
			e.own[base(st.Name.Text)] = true
		case *notation.Declare:
			for _, n := range st.Names {
				e.own[n.Name.Text] = st.Keyword.Text != "option"
			}
		}
	}
	delete(e.own, "W")
}

func base(text string) string { return strings.TrimSuffix(text, "_t") }

// weight writes the algorithm and the law out for one weight.
func (e *expander) weight(f *notation.Fit, w notation.Word) {
	s := &substitution{e: e, fit: f, weight: w}
	alg := e.knobs[notation.AlgorithmUnit]
	var body []notation.Stmt
	for _, st := range alg.Body {
		body = append(body, s.stmt(st))
	}
	e.in.srcs = append(e.in.srcs, source{alg, body, nil})
	e.anchors(s)
	body = nil
	for _, st := range e.law.Body {
		if d, ok := st.(*notation.Define); ok && d.Target.IsFunc && d.Target.Name.Name.Text != "J" {
			if e.funcs[d.Target.Name.Name.Text] || e.in.lawDone(d) {
				continue
			}
		}
		body = append(body, s.stmt(st))
	}
	e.in.srcs = append(e.in.srcs, source{e.law, body, nil})
}

// lawDone reports whether the law's function was written out for an earlier
// weight.
func (in *instancer) lawDone(d *notation.Define) bool {
	return slices.ContainsFunc(in.srcs, func(s source) bool {
		return slices.ContainsFunc(s.body, func(st notation.Stmt) bool {
			o, ok := st.(*notation.Define)
			return ok && o.Target.IsFunc && o.Target.Name.Name.Text == d.Target.Name.Name.Text && s.unit == in.lawUnit()
		})
	})
}

func (in *instancer) lawUnit() *notation.Unit { return in.tree.Kinds(notation.LawUnit)[0] }

// A substitution replaces W, F(·) and V.
type substitution struct {
	e      *expander
	fit    *notation.Fit
	weight notation.Word
}

func (s *substitution) stmt(st notation.Stmt) notation.Stmt {
	switch st := st.(type) {
	case *notation.Define:
		d := *st
		t := *st.Target
		id := *t.Name
		id.Name = s.word(id.Name)
		t.Name = &id
		d.Target, d.Value = &t, s.expr(st.Value)
		if t.IsFunc {
			t.Params = s.params(st.Target.Params)
		}
		d.With = nil
		for _, w := range st.With {
			d.With = append(d.With, s.stmt(w).(*notation.Define))
		}
		return &d
	case *notation.Iterate:
		it := *st
		it.Name, it.From, it.Step, it.With = s.word(st.Name), s.expr(st.From), s.expr(st.Step), nil
		for _, w := range st.With {
			it.With = append(it.With, s.stmt(w).(*notation.Define))
		}
		return &it
	case *notation.Declare:
		d := *st
		d.Names = nil
		for _, n := range st.Names {
			m := *n
			m.Name = s.word(n.Name)
			if m.Type == nil && st.Keyword.Text == "state" {
				m.Type = s.e.in.weightType(s.weight)
			}
			d.Names = append(d.Names, &m)
		}
		return &d
	}
	return st
}

func (s *substitution) params(ps []*notation.Param) []*notation.Param {
	var out []*notation.Param
	for _, p := range ps {
		q := *p
		q.Name = s.word(p.Name)
		out = append(out, &q)
	}
	return out
}

// word renames one of the law's names for this weight.
func (s *substitution) word(w notation.Word) notation.Word {
	name, timed := strings.CutSuffix(w.Text, "_t")
	switch {
	case name == "W":
		name = s.weight.Text
	case s.e.many && s.e.own[name]:
		name += "_" + s.weight.Text
	default:
		return w
	}
	if timed {
		name += "_t"
	}
	return notation.Word{Span: w.Span, Text: name}
}

func (s *substitution) expr(x notation.Expr) notation.Expr {
	return rewrite(x, func(n notation.Expr) notation.Expr {
		switch n := n.(type) {
		case *notation.Call:
			if n.Fun.Text == notation.Prediction && len(n.Args) == 1 {
				return s.predict(s.expr(n.Args[0]))
			}
			if s.e.many && s.e.own[n.Fun.Text] {
				c := *n
				c.Fun = s.word(n.Fun)
				c.Args = nil
				for _, a := range n.Args {
					c.Args = append(c.Args, s.expr(a))
				}
				return &c
			}
		case *notation.Grad:
			g := *n
			g.Wrt = s.word(n.Wrt)
			g.Call = s.expr(n.Call).(*notation.Call)
			return &g
		case *notation.Ident:
			if n.Name.Text == "V" {
				return s.fit.Target
			}
			id := *n
			id.Name = s.word(n.Name)
			return &id
		}
		return nil
	})
}

// predict is the fit's prediction with this weight replaced by x.
func (s *substitution) predict(x notation.Expr) notation.Expr {
	return rewrite(s.fit.Predict, func(n notation.Expr) notation.Expr {
		if id, ok := n.(*notation.Ident); ok && base(id.Name.Text) == s.weight.Text {
			return x
		}
		return nil
	})
}

// weightType is the declared type of a weight of the structure.
func (in *instancer) weightType(w notation.Word) *notation.Type {
	for _, s := range in.srcs {
		for _, st := range s.body {
			if d, ok := st.(*notation.Declare); ok && d.Keyword.Text == "weight" {
				for _, n := range d.Names {
					if n.Name.Text == w.Text {
						return n.Type
					}
				}
			}
		}
	}
	return nil
}
