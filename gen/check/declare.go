package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// declare visits all statements once: declarations become symbols, definitions become
// equations or functions, and the rest is collected by kind.
func (r *resolver) declare() {
	r.b.Time = r.timeLetter()
	for _, p := range r.tree.Order {
		if p.Kind == notation.FuncUnit {
			r.b.Funcs[p.Name.Text] = &Function{Name: p.Name.Text, Params: p.Result.Target.Params, Def: p.Result, Unit: p}
		}
	}
	for _, s := range r.srcs {
		r.params(s.Unit)
		for _, st := range s.Body {
			r.statement(s.Unit, st)
		}
		if d := s.Unit.Result; d != nil && s.Unit.Kind == notation.OpUnit {
			r.define(s.Unit, d)
		}
	}
}

// timeLetter is t in rules and fronts, the name of the clock in updates and schedules, and
// empty in units in which time is an axis like any other.
func (r *resolver) timeLetter() string {
	switch r.b.Unit.Kind {
	case notation.RuleUnit, notation.FrontUnit:
		return "t"
	}
	for _, s := range r.srcs {
		for d := range notation.Of[*notation.Declare](s.Body) {
			if d.Keyword.Text == "clock" {
				return d.Names[0].Name.Text
			}
		}
	}
	return ""
}

// params declares the parameters of a header.
func (r *resolver) params(u *notation.Unit) {
	for _, p := range u.Params {
		k := Input
		switch {
		case p.Type != nil && p.Type.Kind == notation.PageType:
			k = Part
			if u != r.b.Unit || u.Kind == notation.LawUnit || !r.checkPartKind(u, p) {
				continue
			}
		case u.Kind == notation.LawUnit:
			continue
		case u.Kind == notation.UpdateUnit && p == u.Params[0]:
			k = State
		case u.Kind == notation.OpUnit && p.Group > 0:
			k = Constant
		}
		if u.Kind == notation.OpUnit && p.Name.Text == "out" {
			r.ds.Errorf(diag.DuplicateName, p.Name.Span, "out is the name of an operation's result").Hint("give the parameter another name")
			continue
		}
		r.symbol(&Symbol{Name: p.Name.Text, Kind: k, Type: p.Type, Span: p.Name.Span, Unit: u})
	}
}

// checkPartKind refuses a part whose kind is not a kind of page.
func (r *resolver) checkPartKind(u *notation.Unit, p *notation.Param) bool {
	switch {
	case u.Kind == notation.StrategyUnit:
		return true
	case u.Kind != notation.ComposeUnit && u.Kind != notation.ModelUnit:
		r.ds.Errorf(diag.NotHere, p.Name.Span, "only compositions and models have parts, and %s is %s", u.Name.Text, units.KindName(u.Kind))
	case !slices.Contains(partKinds, p.Type.Page.Text):
		r.ds.Errorf(diag.WrongPageKind, p.Type.Page.Span, "%s is not a kind of part", p.Type.Page.Text).Hint("a part is a Rule, a Composition, or a Block, which may be either")
	default:
		return true
	}
	return false
}

// partKinds are the kinds of pages that a part can be.
var partKinds = []string{"Rule", "Composition", "Block"}

func (r *resolver) symbol(s *Symbol) {
	if old := r.b.Symbols[s.Name]; old != nil {
		r.duplicate(s.Span, s.Name, "declared", old, s.Unit)
		return
	}
	if r.b.Time != "" && s.Kind != Clock && strings.HasSuffix(s.Name, "_"+r.b.Time) {
		r.ds.Errorf(diag.TimeSuffix, s.Span, "a declared name cannot end in _%s", r.b.Time).
			Hint("the suffix is a time; write w_θ rather than w_%s", r.b.Time)
		return
	}
	r.b.Symbols[s.Name] = s
	r.b.SymSeq = append(r.b.SymSeq, s)
}

// duplicate refuses a second declaration or equation of a name.
func (r *resolver) duplicate(at notation.Span, name, what string, old *Symbol, by *notation.Unit) {
	d := r.ds.Errorf(diag.DuplicateName, at, "%s is %s twice", name, what).See(old.Span, "first %s here", what)
	if old.Unit == nil || by == nil || by.Kind != notation.RuleUnit || old.Unit.Kind != notation.FrontUnit {
		return
	}
	switch {
	case what == "declared" && old.Kind == Outer:
		d.Hint("to start the parameter of %s from something else, give it a start and no type: outer %s = …; for one of your own, choose another name", old.Unit.Name.Text, name)
	case old.Kind == Defined:
		d.Hint("choose another name, or replace the one of %s in the header: over %s with %s := …", old.Unit.Name.Text, old.Unit.Name.Text, name)
	}
}

var symbolKinds = map[string]Kind{"input": Input, "outer": Outer, "gate": Defined, "state": State, "weight": State,
	"slot": State, "const": Constant, "clock": Clock, "anchor": Anchor, "snap": Snap}

// allowedIn are the units in which a declaration is allowed.
var allowedIn = map[string][]notation.UnitKind{
	"input":  {notation.FrontUnit, notation.StructUnit, notation.RuleUnit, notation.StrategyUnit, notation.ComposeUnit, notation.ModelUnit},
	"outer":  append(memoryUnits, notation.ComposeUnit, notation.ModelUnit),
	"const":  append(memoryUnits, notation.ComposeUnit, notation.ModelUnit),
	"gate":   memoryUnits,
	"state":  append(memoryUnits, notation.StrategyUnit, notation.ComposeUnit),
	"weight": {notation.StructUnit},
	"slot":   {notation.UpdateUnit},
	"clock":  {notation.UpdateUnit},
	"anchor": memoryUnits,
	"snap":   append(memoryUnits, notation.StrategyUnit, notation.ComposeUnit),
}

// memoryUnits are the units that make up a rule.
var memoryUnits = []notation.UnitKind{notation.FrontUnit, notation.StructUnit, notation.BiasUnit, notation.RetentionUnit,
	notation.AlgorithmUnit, notation.LawUnit, notation.RuleUnit}

func (r *resolver) statement(u *notation.Unit, st notation.Stmt) {
	b := r.b
	switch st.(type) {
	case *notation.Claim, *notation.Invariant, *notation.Provides, *notation.Special, *notation.Erratum, *notation.Cost:
		if !r.describesBlock(u) || !r.kept(notation.When(st)) {
			return
		}
	case *notation.Kink:
		if !r.kept(notation.When(st)) {
			return
		}
	}
	switch s := st.(type) {
	case *notation.Dims:
	case *notation.Declare:
		r.declaration(u, s)
	case *notation.Define:
		r.define(u, s)
	case *notation.Claim:
		b.Claims = append(b.Claims, s)
	case *notation.Kink:
		b.Kinks = append(b.Kinks, s)
	case *notation.Invariant:
		b.Invariants = append(b.Invariants, s)
	case *notation.Provides:
		b.Provides = append(b.Provides, s)
	case *notation.Special:
		b.Specials = append(b.Specials, s)
	case *notation.Trial:
		r.checkTrial(u, s)
	case *notation.Erratum:
		b.Errata = append(b.Errata, s)
	case *notation.Cost:
		b.Costs = append(b.Costs, s)
	case *notation.NoGrad:
		b.NoGrads = append(b.NoGrads, s)
	case *notation.Iterate:
		r.equation(u, s.Name, s.Name.Span, &Equation{Iter: s})
	case *notation.Level:
		r.level(u, s)
	default:
		if u.Kind == notation.StrategyUnit {
			r.notYet(st.Where(), strings.Fields(st.Where().Text())[0]+" in a strategy")
			return
		}
		if u.Kind != notation.StructUnit && u.Kind != notation.LawUnit {
			r.ds.Errorf(diag.NotHere, st.Where(), "this statement is not allowed in %s", units.KindName(u.Kind))
		}
	}
}

// describesBlock reports whether a statement about a whole page is about this block. If a
// strategy computes the rule, the claims of the rule's pages are about the rule's block.
func (r *resolver) describesBlock(u *notation.Unit) bool {
	s := r.b.Strategy
	return s == nil || u == s.Unit || u == r.b.Unit
}

func (r *resolver) declaration(u *notation.Unit, s *notation.Declare) {
	if s.Keyword.Text == "option" {
		r.checkClauses(s)
		return
	}
	if s.When != nil && !r.holds(s.When) {
		return
	}
	kind := symbolKinds[s.Keyword.Text]
	if !slices.Contains(allowedIn[s.Keyword.Text], u.Kind) {
		d := r.ds.Errorf(diag.NotHere, s.Keyword.Span, "%s has no %s", units.KindName(u.Kind), s.Keyword.Text)
		if u.Kind == notation.UpdateUnit {
			d.Hint("what an update carries is a slot")
		}
		return
	}
	r.checkStarts(s)
	r.checkClauses(s)
	if kind == State && u.Kind == notation.StrategyUnit {
		r.checkPerChunk(s)
	}
	if kind == Input && u.Kind == notation.StrategyUnit {
		r.coefficients(u, s)
		return
	}
	if kind == State && u.Kind == notation.ComposeUnit {
		r.checkCarried(s)
	}
	for _, n := range s.Names {
		if n = r.redefined(u, s.Keyword.Text, n); n == nil {
			continue
		}
		r.dropReplaced(u, n.Name.Text)
		n = r.chosenStart(n)
		r.symbol(&Symbol{Name: n.Name.Text, Kind: kind, Decl: n, Type: n.Type, Span: n.Name.Span, Unit: u})
		r.noGradClause(s, n)
		if s.Keyword.Text == "gate" {
			r.defs = append(r.defs, &Equation{Name: n.Name.Text, ID: r.b.ID + "." + ident.ASCII(n.Name.Text), Gate: n, Timed: r.b.Time != "", Unit: u})
		}
	}
}

// chosenStart is a declaration whose start is the arm of a case that the options choose.
func (r *resolver) chosenStart(n *notation.DeclName) *notation.DeclName {
	c, ok := n.Init.(*notation.Case)
	if !ok {
		return n
	}
	arm := r.b.ChosenArm(c)
	if arm == nil {
		return n
	}
	one := *n
	one.Init = arm
	return &one
}

// checkCarried refuses a state of a composition that is not carried from call to call.
func (r *resolver) checkCarried(s *notation.Declare) {
	for _, n := range s.Names {
		if attribute(n, "per chunk") != nil {
			r.ds.Errorf(diag.NotHere, n.Span, "a state of a composition is carried from call to call, and cannot be reset at each").
				Hint("take per chunk away, or give the value an equation of its own")
		}
	}
}

// notYet refuses what the parser reads and no later stage uses.
func (r *resolver) notYet(span notation.Span, what string) {
	r.ds.Errorf(diag.NotSupported, span, "%s is part of the notation, but it is not compiled yet", what)
}
