package check

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// options gathers option declarations and applies what the formula sets.
func (in *instancer) options(with []*notation.Override) {
	for _, s := range in.srcs {
		for _, st := range s.Body {
			d, ok := st.(*notation.Declare)
			if !ok || d.Keyword.Text != "option" {
				continue
			}
			for _, n := range d.Names {
				if old := in.b.Options[n.Name.Text]; old != nil && old.Decl != n {
					in.ds.Errorf(diag.DuplicateName, n.Span, "option %s is declared twice", n.Name.Text).See(old.Decl.Span, "first declared here").
						Hint("only two knobs may have options of one name: give this one another")
					continue
				}
				in.b.Options[n.Name.Text] = &Option{Name: n.Name.Text, Decl: n, Value: n.Init, Unit: s.Unit}
			}
		}
	}
	for _, s := range in.srcs {
		for i, o := range s.Set {
			if k := slices.IndexFunc(s.Set[:i], func(p *notation.Override) bool { return p.Name.Text == o.Name.Text }); k >= 0 {
				in.ds.Errorf(diag.DuplicateName, o.Span, "the option %s is set twice", o.Name.Text).See(s.Set[k].Span, "first set here")
				continue
			}
			in.set(o, s.Unit)
		}
	}
	for _, o := range with {
		if in.b.Options[o.Name.Text] != nil {
			in.set(o, nil)
		}
	}
	for _, s := range in.srcs {
		for _, p := range s.Unit.Params {
			if p.Type != nil && p.Type.Kind == notation.IntType {
				in.ends(p.Type)
			}
		}
		for _, st := range s.Body {
			in.staticUse(st)
			in.choices(st)
			in.counts(st)
		}
	}
}

func (in *instancer) set(o *notation.Override, unit *notation.Unit) {
	opt := in.b.Options[o.Name.Text]
	if opt == nil {
		in.noOption(o.Name)
		return
	}
	if unit != nil && opt.Unit != unit && !(units.IsKnob(unit) && units.IsKnob(opt.Unit)) && !ofFront(unit, opt) {
		in.ds.Errorf(diag.UnknownOption, o.Name.Span, "%s has no option %s", unit.Name.Text, o.Name.Text).
			See(opt.Decl.Span, "it is an option of %s", opt.Unit.Name.Text).
			Hint("set it where %s names that page: %s(%s = …)", unit.Name.Text, opt.Unit.Name.Text, o.Name.Text)
		return
	}
	if t := opt.Decl.Type; t != nil && !member(t, o.Value) {
		d := in.ds.Errorf(diag.BadOption, o.Span, "%s = %s is outside %s", opt.PageName(), notation.Print(o.Value, notation.Unicode), notation.Print(t, notation.Unicode)).
			See(opt.Decl.Span, "the option is declared here")
		units.Suggest(d, notation.Print(o.Value, notation.Unicode), words(t.Members))
		return
	}
	if in.inFloat32(opt.PageName(), o.Value) {
		opt.Value = o.Value
	}
}

// ofFront reports whether a page that another form of a rule names may set an option
// of the rule's front or of the strategy that computes it.
func ofFront(rule *notation.Unit, o *Option) bool {
	return rule.Kind == notation.RuleUnit && o.Unit != nil && (o.Unit.Kind == notation.FrontUnit || o.Unit.Kind == notation.StrategyUnit)
}

// words are the members of a set as they are written.
func words(members []notation.Expr) []string {
	var out []string
	for _, m := range members {
		out = append(out, notation.Print(m, notation.Unicode))
	}
	return out
}

// member reports whether the value of an option lies in its domain, as far as
// numbers and words go.
func member(t *notation.Type, v notation.Expr) bool {
	switch t.Kind {
	case notation.SetType:
		return slices.ContainsFunc(t.Members, func(m notation.Expr) bool { return notation.Equal(m, v) })
	case notation.IntType:
		x, ok := notation.Constant(v)
		lo, okLo := notation.Constant(t.Lo)
		hi, okHi := notation.Constant(t.Hi)
		return ok && x == math.Trunc(x) && (!okLo || x >= lo) && (!okHi || x <= hi)
	case notation.RangeType:
		x, ok := notation.Constant(v)
		if !ok || math.IsNaN(x) {
			return true
		}
		if t.Lo != nil {
			if lo, ok := notation.Constant(t.Lo); ok && (x < lo || (x == lo && t.LoOpen)) {
				return false
			}
		}
		if t.Hi != nil {
			if hi, ok := notation.Constant(t.Hi); ok && (x > hi || (x == hi && t.HiOpen)) {
				return false
			}
		}
	}
	return true
}

// whenOf is the condition on options that a statement has before it, or nil.
func whenOf(st notation.Stmt) notation.Expr {
	switch s := st.(type) {
	case *notation.Declare:
		return s.When
	case *notation.Dims:
		return s.When
	case *notation.Claim:
		return s.When
	case *notation.Kink:
		return s.When
	case *notation.Invariant:
		return s.When
	case *notation.Provides:
		return s.When
	case *notation.Cost:
		return s.When
	}
	return nil
}

// staticUse marks the options that a case, a when or a number of rounds reads.
func (in *instancer) staticUse(st notation.Stmt) {
	mark := func(e notation.Expr) {
		notation.Inspect(e, func(n any) bool {
			if id, ok := n.(*notation.Ident); ok {
				if o := in.b.Options[id.Name.Text]; o != nil {
					o.Static = true
				}
			}
			return true
		})
	}
	mark(whenOf(st))
	if it, ok := st.(*notation.Iterate); ok {
		mark(it.Count)
	}
	notation.Inspect(st, func(n any) bool {
		if c, ok := n.(*notation.Case); ok {
			mark(c.On)
		}
		return true
	})
}
