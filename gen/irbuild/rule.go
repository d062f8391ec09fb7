package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A rule becomes one program: what has no state behind it is built for all
// tokens at once, with lane and token as loops; what has a state behind it is
// the body of one scan. The same equations without the writes are the frozen
// read.

// ruleNames serves a rule's names outside of its scan.
type ruleNames struct {
	vals   map[string]*ten
	states map[string]*ir.Value // state parameters, and the first values of states per chunk
	frozen bool
	start  *check.Symbol // the state whose first value is built
	first  bool          // equations of states are read where the context began
}

// Rule builds the program of a rule: inputs, learned parameters and states in;
// y and states out.
func Rule(blk *check.Block, ds *diag.List) *ir.Func {
	if before := ds.Len(); blk.Unpruned != nil {
		if buildRule(blk.Unpruned, ds, nil, nil); ds.Len() > before {
			return nil
		}
	}
	_, f := buildRule(blk, ds, nil, nil)
	startsAlone(f)
	return inHeads(blk, bounded(blk, f, ds), ds)
}

// startsAlone takes away what only the first values of states read: equations
// of learned parameters that no equation of a token reads.
func startsAlone(f *ir.Func) {
	if f == nil {
		return
	}
	f.Sweep()
	used := f.Uses()
	f.Params = slices.DeleteFunc(f.Params, func(p *ir.Value) bool { return p.Role == ir.Outer && used[p] == 0 })
}

// buildRule is Rule that also records the gradients inside the equations and
// gives out what the probes look at.
func buildRule(blk *check.Block, ds *diag.List, trace *[]gradSite, probes []Probe) (*builder, *ir.Func) {
	e, n := newRuleBuilder(blk, blk.ID, ds)
	e.trace = trace
	return e, n.rule(e, probes)
}

// rule writes the program of a rule.
func (n *ruleNames) rule(e *builder, probes []Probe) *ir.Func {
	blk, ds := e.blk, e.ds
	before := ds.Len()
	var step *stepNames
	for _, eq := range blk.Eqs {
		if eq.Class == check.Recurrent && parallel(blk) {
			continue
		}
		if eq.Class == check.Recurrent {
			if step == nil {
				step = newStep(e, n)
			}
			step.equation(eq)
			continue
		}
		n.equation(e, eq)
	}
	if ds.Len() > before && ds.HasErrors() {
		return nil
	}
	if step == nil && len(probes) > 0 {
		step = newStep(e, n)
	}
	switch {
	case parallel(blk):
		n.sequential(e)
		n.inChunks(e)
		if ds.Len() > before && ds.HasErrors() {
			return nil
		}
	case step != nil:
		step.probe(probes)
		step.finish()
	default:
		e.f.Results = append(e.f.Results, ir.Result{Name: "y", Val: e.pack(n.vals["y"], []*loopVar{e.lane, e.token})})
	}
	e.nameTails()
	adopt(e.f)
	return e.f
}

// parallel reports whether a strategy computes a chunk's tokens at once.
func parallel(blk *check.Block) bool { return blk.Strategy != nil && !blk.Strategy.Frozen }

// Frozen builds the read of a rule whose states do not change.
func Frozen(blk *check.Block, ds *diag.List) *ir.Func {
	return inHeads(blk, frozenRead(blk, ds), ds)
}

func frozenRead(blk *check.Block, ds *diag.List) *ir.Func {
	if blk.Strategy != nil {
		blk = blk.Strategy.Rule
	}
	e, n := newRuleBuilder(blk, blk.ID+".frozen", ds)
	n.frozen = true
	before := ds.Len()
	for _, eq := range blk.Eqs {
		if blk.Symbols[eq.Name] != nil && blk.Symbols[eq.Name].Kind == check.State {
			continue
		}
		if e.neededFrozen(eq) {
			n.equation(e, eq)
		}
	}
	if ds.Len() > before && ds.HasErrors() {
		return nil
	}
	e.f.Results = append([]ir.Result{{Name: "y", Val: e.named(e.pack(n.vals["y"], []*loopVar{e.lane, e.token}), "y")}}, e.f.Results...)
	e.keepTails(blk)
	n.valuesOnly(blk, e.f)
	e.f.Sweep()
	used := e.f.Uses()
	e.f.Params = slices.DeleteFunc(e.f.Params, func(p *ir.Value) bool { return used[p] == 0 })
	adopt(e.f)
	return e.f
}

// valuesOnly takes the adjoints from the states of a frozen read, but for those that a
// context may begin with in this very call: they are handed on to what they began with.
func (n *ruleNames) valuesOnly(blk *check.Block, f *ir.Func) {
	begun := map[*ir.Value]bool{}
	for _, s := range blk.SymSeq {
		if v := n.states[s.Name]; v != nil {
			begun[v] = blk.NonzeroStart(s)
		}
	}
	for _, p := range f.Params {
		p.NoGrad = p.NoGrad || p.Role == ir.State && !begun[p]
	}
}

// neededFrozen reports whether the frozen read needs an equation: whether y
// depends on it without passing through a state.
func (e *builder) neededFrozen(eq *check.Equation) bool {
	return e.blk.DependsOn("y", eq.Name)
}

func newRuleBuilder(blk *check.Block, name string, ds *diag.List) (*builder, *ruleNames) {
	return ruleBuilder(newBuilder(blk, name, ds))
}

func ruleBuilder(e *builder) (*builder, *ruleNames) {
	blk := e.blk
	n := &ruleNames{vals: map[string]*ten{}, states: map[string]*ir.Value{}}
	e.names = n
	e.lane = e.newVar("lane", e.axis(blk.Axes["L"]))
	e.token = e.newVar("t", e.axis(blk.Axes["T"]))
	return e, n
}

// equation builds an equation without a state behind it.
func (n *ruleNames) equation(e *builder, eq *check.Equation) {
	if eq.Class == check.Static && n.vals[eq.Name] != nil {
		return // a state per chunk began with it
	}
	t := e.equationValue(eq)
	if t == nil {
		return
	}
	if len(t.fs) > 0 {
		t = e.one(t)
		e.named(t.fs[0].val, eq.Name)
	}
	n.vals[eq.Name] = t
}

// equationValue builds the right-hand side of an equation; a gate is clamped.
func (e *builder) equationValue(eq *check.Equation) *ten {
	e.eq, e.span = eq.ID, eq.Span()
	if eq.Gate == nil {
		return e.column(e.real(e.side(eq), eq.Value()), eq.Value())
	}
	t := e.value(eq.Gate.Init)
	if t == nil || eq.Gate.Within == nil {
		return t
	}
	w := eq.Gate.Within
	if !e.ordered(eq, w) {
		return nil
	}
	if x, ok := e.number(w.Lo); w.Lo != nil && !(ok && inert(x, -1)) {
		lo := e.value(w.Lo)
		if lo == nil {
			return nil
		}
		t = e.scalar2(ir.Max2, t, lo)
	}
	if x, ok := e.number(w.Hi); w.Hi != nil && !(ok && inert(x, 1)) {
		hi := e.value(w.Hi)
		if hi == nil {
			return nil
		}
		t = e.scalar2(ir.Min2, t, hi)
	}
	return t
}

// ordered refuses bounds of a gate of which the lower one is above the upper:
// the clamp would give the upper one, whatever the gate is.
func (e *builder) ordered(eq *check.Equation, w *notation.Type) bool {
	lo, okLo := e.number(w.Lo)
	hi, okHi := e.number(w.Hi)
	if !okLo || !okHi || lo <= hi {
		return true
	}
	from, to := e.setAt(w.Lo), e.setAt(w.Hi)
	d := e.errorf(diag.BadOption, from, "%s is at least %s and at most %s, which no number is", eq.Name, text(from), text(to)).
		See(w.Span, "the bounds of the gate")
	if to.Where() != w.Hi.Where() {
		d.See(to.Where(), "the upper bound")
	}
	return false
}

// setAt is the value of an expression that may be an option, which is where a
// formula sets it, and otherwise the expression.
func (e *builder) setAt(x notation.Expr) notation.Expr {
	if id, ok := x.(*notation.Ident); ok {
		if o := e.blk.Options[id.Name.Text]; o != nil && o.Value != nil {
			return o.Value
		}
	}
	return x
}

// side builds the right-hand side of an equation that is no gate.
func (e *builder) side(eq *check.Equation) *ten {
	var t *ten
	if eq.Iter != nil {
		t = e.iterate(eq.Iter)
	} else {
		t = e.define(eq.Def)
	}
	if t == nil || !t.open() {
		return t
	}
	if sym := e.blk.Symbols[eq.Name]; sym != nil && sym.Kind == check.State {
		axes, _, _ := e.declared(sym)
		t = e.fill(eq.Value(), t, axes)
	}
	return e.closed(eq.Value(), t)
}

// column refuses a row as the value of a name: a name is read as a vector, so
// it would be a row where it is made and a column where it is read.
func (e *builder) column(t *ten, x notation.Expr) *ten {
	if t == nil || !t.row {
		return t
	}
	e.errorf(diag.WrongResult, x, "%s is a row, and a row is no value of its own", text(x)).
		Labelf("%s", e.typ(t)).Hint("write the vector; a row stands in a product")
	return nil
}

// inert reports whether a bound is infinite and so clamps nothing.
func inert(x float64, sign float64) bool { return x*sign > 1e308 }

func (n *ruleNames) name(e *builder, sym *check.Symbol, when moment, span notation.Span) *ten {
	switch sym.Kind {
	case check.Outer, check.Constant:
		if n.vals[sym.Name] == nil {
			n.vals[sym.Name] = e.param(sym, roleOf(sym), nil)
		}
		return e.timeless(sym, when, span, n.vals[sym.Name])
	case check.Anchor, check.Snap:
		if n.frozen || sym.Kind == check.Snap && (n.start == nil || n.start.PerChunk()) {
			return e.timeless(sym, when, span, n.heldFrozen(e, sym))
		}
		e.ds.Errorf(diag.TimeSuffix, span, "%s %s is read where no state can be read", sym.Kind, sym.Name).
			Hint("a state starts from constants and learned values")
		return nil
	case check.State:
		if n.frozen {
			return n.stateFrozen(e, sym, when, span)
		}
		e.ds.Errorf(diag.TimeSuffix, span, "state %s is read where no state can be read", sym.Name)
		return nil
	case check.Input:
		if n.vals[sym.Name] == nil {
			n.vals[sym.Name] = e.param(sym, ir.Input, []*loopVar{e.lane, e.token})
		}
	}
	eq := e.blk.Equation(sym.Name)
	if n.start != nil && (eq == nil || eq.Class != check.Static) {
		e.ds.Errorf(diag.TimeSuffix, span, "state %s starts from a series", n.start.Name).
			Labelf("changes with every token").Hint("a state starts from constants and learned values, before the first token")
		n.start = nil // one message a start
		return nil
	}
	again := n.first || when.before || when.initial || n.vals[sym.Name] == nil && eq != nil && eq.Timed
	if n.frozen && again && e.blk.FromStates(sym.Name) {
		return n.ofStatesFrozen(e, eq, when, span)
	}
	t := n.vals[sym.Name]
	if t == nil {
		return nil
	}
	switch {
	case eq != nil && !eq.Timed:
		return e.timeless(sym, when, span, t)
	case when.now:
		return t
	case when.at != nil:
		return e.seriesAt(t, when.at)
	}
	e.ds.Errorf(diag.TimeSuffix, span, "%s is a series and has no value at this moment", sym.Name).
		Hint("read it now, %s_t, or at a moment bound to a window", sym.Name)
	return nil
}

// timeless refuses a moment of something that does not change over time.
func (e *builder) timeless(sym *check.Symbol, when moment, span notation.Span, t *ten) *ten {
	if when != (moment{}) {
		e.ds.Errorf(diag.TimeSuffix, span, "%s does not change over time", sym.Name).Hint("write it without a suffix")
		return nil
	}
	return t
}

// seriesAt reads a series at a bound moment, back over the chunk's edge where
// the moment is of a window.
func (e *builder) seriesAt(t *ten, b *binding) *ten {
	if b.time == nil {
		return t
	}
	if b.wide == nil {
		return e.shift(t, *b.time)
	}
	visible := e.lift(e.laned(t), []*loopVar{e.token})
	u, base := e.extend(visible, 0, b.wide)
	moment := b.time.add(affine{c: base}, 1)
	out := u.clone()
	out.axes = out.axes[1:]
	for _, f := range out.fs {
		for i, s := range f.sub {
			switch {
			case s.slot > 0:
				f.sub[i].slot--
			case s.slot == 0:
				f.sub[i] = vsub{-1, moment}
			}
		}
	}
	return out
}

// laned makes sure that a series has lane and token as loops.
func (e *builder) laned(t *ten) *ten {
	vars := []*loopVar{e.lane, e.token}
	return e.ofValue(e.pack(t, vars), vars, t.axes)
}

// shift replaces the token by another moment of the same chunk.
func (e *builder) shift(t *ten, to affine) *ten {
	u := e.laned(t).clone()
	for _, f := range u.fs {
		for i, s := range f.sub {
			if s.slot < 0 && s.aff.single() == e.token {
				f.sub[i].aff = to
			}
		}
	}
	return u
}

// Start builds the initial values of a rule's states from its learned
// parameters, for every lane.
func Start(blk *check.Block, ds *diag.List) *ir.Func {
	return inHeads(blk, firstStates(blk, ds), ds)
}

func firstStates(blk *check.Block, ds *diag.List) *ir.Func {
	if blk.Strategy != nil {
		blk = blk.Strategy.Rule
	}
	e, n := newRuleBuilder(blk, blk.ID+".start", ds)
	for _, eq := range blk.Eqs {
		if eq.Class == check.Static {
			n.equation(e, eq)
		}
	}
	for _, s := range blk.SymSeq {
		of := s
		if s.Kind == check.Anchor {
			of = blk.Symbols[s.Of]
		}
		if of == nil || of.Kind != check.State || of.PerChunk() {
			continue
		}
		v := n.firstValue(e, of)
		if v == nil {
			return nil
		}
		e.f.Results = append(e.f.Results, ir.Result{Name: ident.ASCII(s.Name), Val: v, State: true})
	}
	startsAlone(e.f)
	adopt(e.f)
	return e.f
}
