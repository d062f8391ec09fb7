package check

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// options gathers the declarations of options and applies what the formula sets.
func (r *resolver) options(with []*notation.Override) {
	for _, s := range r.srcs {
		for n := range notation.Declared(s.Body, "option") {
			if old := r.b.Options[n.Name.Text]; old != nil && old.Decl != n {
				r.ds.Errorf(diag.DuplicateName, n.Span, "option %s is declared twice", n.Name.Text).See(old.Decl.Span, "first declared here").
					Hint("only two knobs may have options of one name: give this one another")
				continue
			}
			r.b.Options[n.Name.Text] = &Option{Name: n.Name.Text, Decl: n, Value: n.Init, Unit: s.Unit}
		}
	}
	for _, s := range r.srcs {
		for i, o := range s.Set {
			if k := slices.IndexFunc(s.Set[:i], func(p *notation.Override) bool { return p.Name.Text == o.Name.Text }); k >= 0 {
				r.ds.Errorf(diag.DuplicateName, o.Span, "the option %s is set twice", o.Name.Text).See(s.Set[k].Span, "first set here")
				continue
			}
			r.set(o, s.Unit)
		}
	}
	for _, o := range with {
		if r.b.Options[o.Name.Text] != nil {
			r.set(o, nil)
		}
	}
	for _, s := range r.srcs {
		for _, p := range s.Unit.Params {
			if p.Type != nil && p.Type.Kind == notation.IntType {
				r.checkEnds(p.Type)
			}
		}
		for _, st := range s.Body {
			r.staticUse(st)
			r.checkConditions(st)
			r.checkCounts(st)
		}
	}
}

func (r *resolver) set(o *notation.Override, unit *notation.Unit) {
	opt := r.b.Options[o.Name.Text]
	if opt == nil {
		r.noOption(o.Name)
		return
	}
	if unit != nil && opt.Unit != unit && !(units.IsKnob(unit) && units.IsKnob(opt.Unit)) && !ofFront(unit, opt) {
		r.ds.Errorf(diag.UnknownOption, o.Name.Span, "%s has no option %s", unit.Name.Text, o.Name.Text).
			See(opt.Decl.Span, "it is an option of %s", opt.Unit.Name.Text).
			Hint("set it where %s names that page: %s(%s = …)", unit.Name.Text, opt.Unit.Name.Text, o.Name.Text)
		return
	}
	if t := opt.Decl.Type; t != nil && !isMember(t, o.Value) {
		d := r.ds.Errorf(diag.BadOption, o.Span, "%s = %s is outside %s", opt.PageName(), notation.Print(o.Value, notation.Unicode), notation.Print(t, notation.Unicode)).
			See(opt.Decl.Span, "the option is declared here")
		units.Suggest(d, notation.Print(o.Value, notation.Unicode), words(t.Members))
		return
	}
	if r.checkFloat32(opt.PageName(), o.Value) {
		opt.Value = o.Value
	}
}

func (r *resolver) noOption(w notation.Word) {
	names := slices.Collect(maps.Keys(r.b.Options))
	d := r.ds.Errorf(diag.UnknownOption, w.Span, "there is no option %s", w.Text)
	units.Suggest(d, w.Text, names)
	r.hintOwners(d, w.Text)
}

// hintOwners adds a hint for an option name that two knobs use: the ways to say whose.
func (r *resolver) hintOwners(d *diag.Diagnostic, name string) {
	var say []string
	for _, at := range slices.Sorted(maps.Keys(r.b.Options)) {
		if o := r.b.Options[at]; at != name && o.PageName() == name {
			say = append(say, o.Unit.Name.Text+"("+name+" = …)")
			d.See(o.Decl.Span, "%s has an option %s", o.Unit.Name.Text, name)
		}
	}
	if len(say) > 0 {
		d.Hint("say whose: %s", strings.Join(say, " or "))
	}
}

// ofFront reports whether an option belongs to the front of a rule or to the strategy that
// computes it: a page that names the rule may set it.
func ofFront(rule *notation.Unit, o *Option) bool {
	return rule.Kind == notation.RuleUnit && o.Unit != nil && (o.Unit.Kind == notation.FrontUnit || o.Unit.Kind == notation.StrategyUnit)
}

// words are the members of a set as text.
func words(members []notation.Expr) []string {
	var out []string
	for _, m := range members {
		out = append(out, notation.Print(m, notation.Unicode))
	}
	return out
}

// isMember reports whether a value is in the domain of an option, if both are constants.
func isMember(t *notation.Type, v notation.Expr) bool {
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

// checkDefaults refuses an option whose default is outside of its set.
func (r *resolver) checkDefaults() {
	for _, s := range r.srcs {
		for n := range notation.Declared(s.Body, "option") {
			if n.Init != nil && !r.checkFloat32(n.Name.Text, n.Init) {
				continue
			}
			if n.Type != nil && n.Init != nil && !isMember(n.Type, n.Init) {
				r.ds.Errorf(diag.BadOption, n.Init.Where(), "%s = %s is outside %s", n.Name.Text, notation.Print(n.Init, notation.Unicode), notation.Print(n.Type, notation.Unicode)).
					See(n.Type.Span, "declared here")
			}
		}
	}
}

// staticUse marks the options that a case, a when or a number of rounds reads.
func (r *resolver) staticUse(st notation.Stmt) {
	mark := func(e notation.Expr) {
		for id := range notation.Idents(e) {
			if o := r.b.Options[id.Name.Text]; o != nil {
				o.Static = true
			}
		}
	}
	mark(notation.When(st))
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

// heads finds the option for the number of heads, `option heads ≥ 1 = 1 replicate`. If it
// is not set, the rule has one head; a value that a rule sets is the default of a size of
// the model.
func (r *resolver) heads() {
	var found *notation.DeclName
	for _, s := range r.srcs {
		for n := range notation.Declared(s.Body, "option") {
			a := attribute(n, "replicate")
			switch {
			case a == nil:
			case s.Unit.Kind != notation.FrontUnit && s.Unit.Kind != notation.RuleUnit:
				r.ds.Errorf(diag.NotHere, a.Span, "an option replicates rules alone, and %s is %s", s.Unit.Name.Text, units.KindName(s.Unit.Kind)).Hint("put it on a front or a rule")
			case found != nil:
				r.ds.Errorf(diag.DuplicateName, a.Span, "%s and %s both replicate the rule", found.Name.Text, n.Name.Text).See(found.Span, "the first one")
			default:
				found = n
			}
		}
	}
	if found == nil {
		return
	}
	set := r.b.Options[found.Name.Text].Value
	n, ok := notation.Constant(set)
	if !ok || n != math.Trunc(n) || n < 1 || n > MaxSize {
		r.ds.Errorf(diag.BadOption, set.Where(), "%s = %s is not a number of heads", found.Name.Text, notation.Print(set, notation.Unicode)).
			See(found.Span, "the option is declared here").Hint("write a whole number, 1 or more")
	} else if set != found.Init || n != 1 {
		r.b.Heads = r.b.AxisOf(found.Name.Text)
	}
	if r.b.Strategy != nil {
		r.b.Strategy.Rule.Heads = r.b.Heads // the same rule, token by token
	}
}
