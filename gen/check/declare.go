package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// declare walks all statements once: declarations become symbols, definitions
// become equations or functions, the rest is sorted by kind.
func (in *instancer) declare() {
	in.b.Time = in.timeLetter()
	for _, p := range in.tree.Order {
		if p.Kind == notation.FuncUnit {
			in.b.Funcs[p.Name.Text] = &Function{Name: p.Name.Text, Params: p.Result.Target.Params, Def: p.Result, Unit: p}
		}
	}
	for _, s := range in.srcs {
		in.params(s.Unit)
		for _, st := range s.Body {
			in.statement(s.Unit, st)
		}
		if r := s.Unit.Result; r != nil && s.Unit.Kind == notation.OpUnit {
			in.define(s.Unit, r)
		}
	}
}

// timeLetter is t in rules and what makes them up, the clock's name in
// updates and schedules, and nothing where time is an axis like any other.
func (in *instancer) timeLetter() string {
	switch in.b.Unit.Kind {
	case notation.RuleUnit, notation.FrontUnit:
		return "t"
	}
	for _, s := range in.srcs {
		for _, st := range s.Body {
			if d, ok := st.(*notation.Declare); ok && d.Keyword.Text == "clock" {
				return d.Names[0].Name.Text
			}
		}
	}
	return ""
}

// params declares what the header lists.
func (in *instancer) params(u *notation.Unit) {
	for _, p := range u.Params {
		k := Input
		switch {
		case p.Type != nil && p.Type.Kind == notation.PageType:
			k = Part
			if u != in.b.Unit || u.Kind == notation.LawUnit || !in.partKind(u, p) {
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
			in.ds.Errorf(diag.DuplicateName, p.Name.Span, "out is the name of an operation's result").Hint("give the parameter another name")
			continue
		}
		in.symbol(&Symbol{Name: p.Name.Text, Kind: k, Type: p.Type, Span: p.Name.Span, Unit: u})
	}
}

func (in *instancer) symbol(s *Symbol) {
	if old := in.b.Symbols[s.Name]; old != nil {
		in.twice(s.Span, s.Name, "declared", old, s.Unit)
		return
	}
	if in.b.Time != "" && s.Kind != Clock && strings.HasSuffix(s.Name, "_"+in.b.Time) {
		in.ds.Errorf(diag.TimeSuffix, s.Span, "a declared name cannot end in _%s", in.b.Time).
			Hint("the suffix means a moment; write w_θ rather than w_%s", in.b.Time)
		return
	}
	in.b.Symbols[s.Name] = s
	in.b.SymSeq = append(in.b.SymSeq, s)
}

var declared = map[string]Kind{"input": Input, "outer": Outer, "gate": Defined, "state": State, "weight": State,
	"slot": State, "const": Constant, "clock": Clock, "anchor": Anchor, "snap": Snap}

// homes are the units in which a declaration has a meaning.
var homes = map[string][]notation.UnitKind{
	"input":  {notation.FrontUnit, notation.StructUnit, notation.RuleUnit, notation.StrategyUnit, notation.ComposeUnit, notation.ModelUnit},
	"outer":  append(memory, notation.ComposeUnit, notation.ModelUnit),
	"const":  append(memory, notation.ComposeUnit, notation.ModelUnit),
	"gate":   memory,
	"state":  append(memory, notation.StrategyUnit, notation.ComposeUnit),
	"weight": {notation.StructUnit},
	"slot":   {notation.UpdateUnit},
	"clock":  {notation.UpdateUnit},
	"anchor": memory,
	"snap":   append(memory, notation.StrategyUnit, notation.ComposeUnit),
}

// memory are the units that a rule is made of.
var memory = []notation.UnitKind{notation.FrontUnit, notation.StructUnit, notation.BiasUnit, notation.RetentionUnit,
	notation.AlgorithmUnit, notation.LawUnit, notation.RuleUnit}

func (in *instancer) statement(u *notation.Unit, st notation.Stmt) {
	b := in.b
	switch st.(type) {
	case *notation.Claim, *notation.Invariant, *notation.Provides, *notation.Special, *notation.Erratum, *notation.Cost:
		if !in.ownStatement(u) {
			return
		}
	}
	switch s := st.(type) {
	case *notation.Dims:
	case *notation.Declare:
		in.declaration(u, s)
	case *notation.Define:
		in.define(u, s)
	case *notation.Claim:
		if in.kept(s.When) {
			b.Claims = append(b.Claims, s)
		}
	case *notation.Kink:
		if in.kept(s.When) {
			b.Kinks = append(b.Kinks, s)
		}
	case *notation.Invariant:
		if in.kept(s.When) {
			b.Invariants = append(b.Invariants, s)
		}
	case *notation.Provides:
		if in.kept(s.When) {
			b.Provides = append(b.Provides, s)
		}
	case *notation.Special:
		b.Specials = append(b.Specials, s)
	case *notation.Trial:
		in.trial(u, s)
	case *notation.Erratum:
		b.Errata = append(b.Errata, s)
	case *notation.Cost:
		if in.kept(s.When) {
			b.Costs = append(b.Costs, s)
		}
	case *notation.NoGrad:
		b.NoGrads = append(b.NoGrads, s)
	case *notation.Iterate:
		in.equation(u, s.Name, s.Name.Span, &Equation{Iter: s})
	case *notation.Level:
		in.level(u, s)
	default:
		if u.Kind == notation.StrategyUnit {
			in.notYet(st.Where(), strings.Fields(st.Where().Text())[0]+" in a strategy")
			return
		}
		if u.Kind != notation.StructUnit && u.Kind != notation.LawUnit {
			in.ds.Errorf(diag.NotHere, st.Where(), "this statement cannot stand in %s", units.KindName(u.Kind))
		}
	}
}

// kept says whether a line with this condition, or with none, is there.
func (in *instancer) kept(when notation.Expr) bool { return when == nil || in.holds(when) }

func (in *instancer) declaration(u *notation.Unit, s *notation.Declare) {
	if s.Keyword.Text == "option" {
		in.clauses(s)
		return
	}
	if s.When != nil && !in.holds(s.When) {
		return
	}
	kind, ok := declared[s.Keyword.Text]
	if !ok {
		in.notYet(s.Span, s.Keyword.Text)
		return
	}
	if !slices.Contains(homes[s.Keyword.Text], u.Kind) {
		d := in.ds.Errorf(diag.NotHere, s.Keyword.Span, "%s has no %s", units.KindName(u.Kind), s.Keyword.Text)
		if u.Kind == notation.UpdateUnit {
			d.Hint("what an update carries is a slot")
		}
		return
	}
	in.start(s)
	in.clauses(s)
	if kind == State && u.Kind == notation.StrategyUnit {
		in.perChunk(s)
	}
	if kind == Input && u.Kind == notation.StrategyUnit {
		in.coefficients(u, s)
		return
	}
	if kind == State && u.Kind == notation.ComposeUnit {
		in.callToCall(s)
	}
	for _, n := range s.Names {
		if n = in.asRedefined(u, s.Keyword.Text, n); n == nil {
			continue
		}
		in.replaces(u, n.Name.Text)
		in.symbol(&Symbol{Name: n.Name.Text, Kind: kind, Decl: n, Type: n.Type, Span: n.Name.Span, Unit: u})
		in.ungraded(s, n)
		if s.Keyword.Text == "gate" {
			in.defs = append(in.defs, &Equation{Name: n.Name.Text, ID: in.b.ID + "." + ident.ASCII(n.Name.Text), Gate: n, Timed: in.b.Time != "", Unit: u})
		}
	}
}

// callToCall refuses a state of a composition that does not go from call to call.
func (in *instancer) callToCall(s *notation.Declare) {
	for _, n := range s.Names {
		if attribute(n, "per chunk") != nil {
			in.ds.Errorf(diag.NotHere, n.Span, "a state of a composition goes from call to call, and cannot begin anew with each").
				Hint("take per chunk away, or give the value an equation of its own")
		}
	}
}

// notYet refuses what the parser reads and no later stage does anything with:
// to accept it would be to forget it.
func (in *instancer) notYet(span notation.Span, what string) {
	in.ds.Errorf(diag.NotSupported, span, "%s is part of the notation, but it is not compiled yet", what)
}

// holds decides a condition on options: `conv > 0`, `drive = decode`.
func (in *instancer) holds(e notation.Expr) bool {
	ok, known := in.b.Decide(e)
	if !known {
		in.ds.Errorf(diag.UnknownOption, e.Where(), "%s cannot be decided when the page is configured", notation.Print(e, notation.Unicode)).
			Hint("a when may only compare options with numbers or words")
	}
	return ok
}

// Decide evaluates a relation between options and constants.
func (b *Block) Decide(e notation.Expr) (holds, known bool) {
	switch e := e.(type) {
	case *notation.And:
		x, okx := b.Decide(e.X)
		y, oky := b.Decide(e.Y)
		return x && y, okx && oky
	case *notation.Relation:
		if set, ok := e.Y.(*notation.Set); ok && e.Op == "∈" && set.Lo == nil {
			return b.among(e.X, set)
		}
		return b.Compare(e.Op, b.OptionValue(e.X), b.OptionValue(e.Y))
	}
	return false, false
}

// among decides `option ∈ {a, b}`.
func (b *Block) among(x notation.Expr, set *notation.Set) (holds, known bool) {
	for _, it := range set.Items {
		is, ok := b.Compare("=", b.OptionValue(x), b.OptionValue(it))
		if !ok || is {
			return is, ok
		}
	}
	return false, true
}

// OptionValue replaces an option by its value.
func (b *Block) OptionValue(e notation.Expr) notation.Expr {
	if id, ok := e.(*notation.Ident); ok && b.Options[id.Name.Text] != nil {
		return b.Options[id.Name.Text].Value
	}
	return e
}

// Compare decides a relation between two constants: numbers, or words for
// equality.
func (b *Block) Compare(op string, x, y notation.Expr) (holds, known bool) {
	m, okm := notation.Constant(x)
	n, okn := notation.Constant(y)
	if !okm || !okn {
		same := notation.Equal(x, y)
		return same == (op == "=" || op == ""), op == "=" || op == "≠" || op == ""
	}
	switch op {
	case "=", "":
		return m == n, true
	case "≠":
		return m != n, true
	case "<":
		return m < n, true
	case "≤":
		return m <= n, true
	case ">":
		return m > n, true
	case "≥":
		return m >= n, true
	}
	return false, false
}

// define adds an equation or, when the target has parameters, a function.
func (in *instancer) define(u *notation.Unit, d *notation.Define) {
	text := d.Target.Name.Name.Text
	if d.Match {
		in.match(u, d)
		return
	}
	if d.InLog {
		in.notYet(d.Span, "in log")
		return
	}
	if _, solve := d.Value.(*notation.Solve); solve && u.Kind == notation.UpdateUnit {
		in.ds.Errorf(diag.NotHere, d.Target.Span, "an update cannot solve for %s", text).Hint("an update is written in closed form; only operations, rules and compositions solve")
		return
	}
	if d.Target.IsFunc {
		if old := in.b.Funcs[text]; old != nil && old.Block != nil {
			in.ds.Errorf(diag.DuplicateName, d.Target.Span, "%s is defined twice", text).See(old.Def.Target.Span, "first defined here")
			return
		}
		in.b.Funcs[text] = &Function{Name: text, Params: d.Target.Params, Def: d, Unit: u, Block: in.b}
		return
	}
	in.equation(u, d.Target.Name.Name, d.Target.Span, &Equation{Def: d})
}

// equation adds an equation of a name, which a time suffix may follow.
func (in *instancer) equation(u *notation.Unit, word notation.Word, span notation.Span, e *Equation) {
	text := word.Text
	name, timed := text, false
	if in.b.Time != "" {
		name, timed = strings.CutSuffix(text, "_"+in.b.Time)
	}
	if in.b.Replaced[name] != nil {
		return
	}
	in.replaces(u, name)
	sym := in.b.Symbols[name]
	switch {
	case sym == nil:
		in.symbol(&Symbol{Name: name, Kind: Defined, Span: span, Unit: u})
	case sym.Kind == State && !in.defined(name):
	case sym.Kind == State || sym.Kind == Defined:
		old := *sym
		if i := slices.IndexFunc(in.defs, func(e *Equation) bool { return e.Name == name }); sym.Kind == State && i >= 0 {
			old.Span = in.defs[i].Span()
		}
		in.twice(span, name, "defined", &old, u)
		return
	default:
		in.ds.Errorf(diag.DuplicateName, span, "%s is an %s and cannot be defined", name, sym.Kind).See(sym.Span, "declared here")
		return
	}
	e.Name, e.ID, e.Timed, e.Unit = name, in.b.ID+"."+ident.ASCII(name), timed, u
	if e.Def != nil && e.Def.Label != nil {
		e.ID = in.b.ID + "." + e.Def.Label.Text
	}
	in.defs = append(in.defs, e)
}

func (in *instancer) defined(name string) bool {
	for _, e := range in.defs {
		if e.Name == name {
			return true
		}
	}
	return false
}

// override replaces names by what `with name := expr` says: their equations go.
func (in *instancer) override(with []*notation.Override) {
	for _, o := range with {
		name := o.Name.Text
		if in.b.Options[name] != nil {
			continue
		}
		sym := in.b.Symbols[name]
		if sym == nil {
			var names []string
			for n := range in.b.Symbols {
				names = append(names, n)
			}
			d := in.ds.Errorf(diag.UnknownName, o.Name.Span, "there is nothing named %s to replace", name)
			units.Suggest(d, name, names)
			in.whose(d, name)
			continue
		}
		if sym.Kind != Input && mentions(o.Value, in.b, name) {
			in.ds.Errorf(diag.Cycle, o.Span, "%s would be made of itself", name).See(sym.Span, "what it is").
				Hint("what is replaced is gone; only what comes in can be read by its own replacement")
			continue
		}
		in.b.Replaced[name] = o.Value
		for i, e := range in.defs {
			if e.Name == name {
				in.defs = append(in.defs[:i:i], in.defs[i+1:]...)
				break
			}
		}
	}
}

// mentions reports whether an expression reads a name of the block.
func mentions(e notation.Expr, b *Block, name string) (found bool) {
	notation.Inspect(e, func(n any) bool {
		if id, ok := n.(*notation.Ident); ok {
			text, _ := b.Split(id.Name.Text)
			found = found || text == name
		}
		return !found
	})
	return found
}
