package check

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
	"github.com/nl-hecate/hecate/gen/units"
)

// order keeps the equations that the block's outputs need, classifies them by
// what stands behind them, and sorts them so that each comes after what it
// reads at its own moment. A front is thereby instantiated on demand: what
// nothing reads does not exist.
func (in *instancer) order() {
	all := *in.b
	all.Symbols, all.SymSeq = maps.Clone(in.b.Symbols), slices.Clone(in.b.SymSeq)
	o := newOrderer(in)
	o.sort(o.roots())
	if u := in.b.Unit; !in.ds.HasErrors() && (u.Kind == notation.RuleUnit || u.Kind == notation.ComposeUnit) {
		in.unreadToo(o, &all)
	}
}

// unreadToo makes a block in which equations of the unit's own page exist that nothing
// reads: they are not compiled, and are to mean something all the same. Members of a
// family that a choice leaves unread are no mistake.
func (in *instancer) unreadToo(o *orderer, all *Block) {
	unread := slices.DeleteFunc(slices.Clone(in.defs), func(e *Equation) bool {
		_, member := notation.CutMember(e.Name)
		return e.Unit != in.b.Unit || member != "" || o.mark[e.Name] == 2
	})
	if len(unread) == 0 {
		return
	}
	with := *in
	with.b = all
	p := newOrderer(&with)
	p.sort(append(p.roots(), unread...))
	in.b.Unpruned = all
}

func newOrderer(in *instancer) *orderer {
	o := &orderer{in: in, b: in.b, eq: map[string]*Equation{}, class: map[string]Class{}, mark: map[string]int{}}
	for _, e := range in.defs {
		o.eq[e.Name] = e
	}
	return o
}

// sort orders what roots need and drops the rest.
func (o *orderer) sort(roots []*Equation) {
	for _, e := range roots {
		o.visit(e)
	}
	o.unwritten()
	o.prune()
}

// unwritten refuses a state without an equation that nothing reads either; one
// that is read was refused there.
func (o *orderer) unwritten() {
	for _, s := range o.b.SymSeq {
		if s.Kind == State && (o.b.Time == notation.TokenTime || o.b.Unit.Kind == notation.ComposeUnit) && o.eq[s.Name] == nil && !o.used[s.Name] && o.b.Replaced[s.Name] == nil {
			o.in.ds.Errorf(diag.MissingEquation, s.Span, "state %s has no equation", s.Name).
				Hint("say how it changes: %s = …, or leave it out", notation.At(s.Name, o.now()))
		}
	}
}

// now is the suffix of what is written now.
func (o *orderer) now() string {
	if o.b.Time == "" {
		return ""
	}
	return "_" + o.b.Time
}

type orderer struct {
	in    *instancer
	b     *Block
	eq    map[string]*Equation
	class map[string]Class
	mark  map[string]int // 1 on the way, 2 done
	out   []*Equation
	used  map[string]bool
	stack []*Equation
	at    notation.Span // of the name that is being followed

	anyArm bool // an arm of a case that is not taken reads something too
}

// roots are the equations that must exist: the output of a rule is y, of a
// composition and an operation out, of an update every slot; a model keeps all.
func (o *orderer) roots() []*Equation {
	o.used = map[string]bool{}
	switch o.b.Unit.Kind {
	case notation.RuleUnit:
		return append(o.output("y"), o.coefficients()...)
	case notation.ComposeUnit:
		return append(o.output("out"), o.carried()...)
	case notation.OpUnit:
		return o.output("out")
	}
	return o.in.defs
}

// coefficients are the inputs of a strategy: a match speaks of all of them.
func (o *orderer) coefficients() []*Equation {
	var out []*Equation
	for _, e := range o.in.defs {
		if e.Matched {
			out = append(out, e)
		}
	}
	return out
}

// carried are what the states of a composition become, and the gates of its
// levels, which only the calls of parts read.
func (o *orderer) carried() []*Equation {
	var out []*Equation
	for _, s := range o.b.SymSeq {
		if s.Kind == State && o.eq[s.Name] != nil {
			out = append(out, o.eq[s.Name])
		}
	}
	for _, l := range o.b.Levels {
		if o.eq[l.Gate] != nil {
			out = append(out, o.eq[l.Gate])
		}
	}
	return out
}

func (o *orderer) output(name string) []*Equation {
	if e := o.eq[name]; e != nil {
		return []*Equation{e}
	}
	if o.b.Unit.Kind == notation.OpUnit && o.b.Symbols[name] != nil {
		return nil
	}
	o.in.ds.Errorf(diag.MissingEquation, o.b.Unit.Name.Span, "%s has no equation for its output %s", o.b.Name, name).
		Hint("end with a line that defines %s", name)
	return nil
}

func (o *orderer) visit(e *Equation) {
	switch o.mark[e.Name] {
	case 2:
		return
	case 1:
		o.cycle(e)
		return
	}
	o.mark[e.Name] = 1
	o.stack = append(o.stack, e)
	class := Static
	if e.Timed {
		class = Parallel
	}
	for _, r := range o.reads(e) {
		class = max(class, o.read(e, r))
	}
	if s := o.b.Symbols[e.Name]; s != nil && s.Kind == State || o.b.Strategy != nil && e.Unit == o.b.Strategy.Unit {
		class = Recurrent // what a strategy says is about a chunk
	}
	if class > Static && !e.Timed && o.b.Time == notation.TokenTime {
		if e.Iter != nil {
			o.in.ds.Errorf(diag.TimeSuffix, e.Iter.Name.Span, "%s", o.untimed(e)).Hint("write iterate %s from …", notation.At(e.Name, "_t"))
		} else {
			o.in.ds.Errorf(diag.TimeSuffix, e.Span(), "%s", o.untimed(e)).Hint("write %s = …", notation.At(e.Name, "_t"))
		}
	}
	e.Class = class
	o.class[e.Name] = class
	o.stack = o.stack[:len(o.stack)-1]
	o.mark[e.Name] = 2
	o.out = append(o.out, e)
}

// A read is a name with the moment at which it is read.
type read struct {
	name  string
	now   bool
	first bool // at the start of the context: M_0
	at    bool // at a moment that an index has bound
	span  notation.Span
}

// read follows one reference and returns the class it forces on its reader.
func (o *orderer) read(e *Equation, r read) Class {
	o.used[r.name], o.at = true, r.span
	sym := o.b.Symbols[r.name]
	if sym == nil {
		return Static
	}
	next := o.eq[r.name]
	switch {
	case o.b.Strategy != nil && !r.first && (r.at || !r.now) && next == e && sym.Kind == Defined:
		return Recurrent // at an earlier token of the chunk
	case sym.Kind == Snap && !e.Timed && o.b.Time == notation.TokenTime && o.b.Strategy == nil:
		o.held(sym)
		return Static // the same for all tokens of a call
	case sym.Kind == Anchor, sym.Kind == Snap:
		o.held(sym)
		return Recurrent
	case r.first && o.b.Time == notation.TokenTime && o.first(sym):
		return Recurrent
	case !r.now && !r.first && sym.Kind != State && next != nil && o.b.Time == notation.TokenTime && o.ofStates(next, nil):
		o.lagging(next)
		return Recurrent
	}
	if sym.Kind == State {
		if next == nil {
			if o.b.Unit.Kind != notation.UpdateUnit {
				o.in.ds.Errorf(diag.MissingEquation, sym.Span, "state %s has no equation", r.name).
					See(r.span, "it is read here").Hint("say how it changes: %s = …", notation.At(r.name, "_t"))
			}
			return Recurrent
		}
		if r.now && next.Name == e.Name && o.b.Time == notation.TokenTime {
			o.cycle(e)
		} else if r.now && next.Name != e.Name {
			o.visit(next)
		} else if o.mark[next.Name] == 0 {
			o.later(next)
		}
		return Recurrent
	}
	if next == nil {
		if sym.Kind == Input && o.b.Time == notation.TokenTime {
			return Parallel
		}
		return Static
	}
	o.visit(next)
	return o.class[r.name]
}

// later visits the equation of a state that is read before this token's
// write: it does not have to come first.
func (o *orderer) later(e *Equation) { o.in.b.Eqs = append(o.in.b.Eqs, e) }

// cycle refuses an equation that needs itself, at the reading that closes the
// circle.
func (o *orderer) cycle(e *Equation) {
	d := o.in.ds.Errorf(diag.Cycle, o.at, "%s needs itself at the same moment", e.Name)
	through := o.stack[slices.Index(o.stack, e)+1:]
	if len(through) > 0 {
		d.See(e.Span(), "the equation of %s", e.Name)
		for _, s := range through[:len(through)-1] {
			d.See(s.Span(), "through %s", s.Name)
		}
	}
	if o.b.Time != "" {
		d.Hint("read one of them at %s−1", o.b.Time)
	}
}

// prune finishes the order: states read only before their write come last, and
// symbols that nothing reads are dropped.
func (o *orderer) prune() {
	for {
		late := slices.DeleteFunc(slices.Clone(o.in.b.Eqs), func(e *Equation) bool { return o.mark[e.Name] == 2 })
		o.in.b.Eqs = nil
		if len(late) == 0 {
			break
		}
		for _, e := range late {
			o.visit(e)
		}
	}
	o.in.b.Eqs = o.out
	for _, e := range o.out {
		if e.Gate != nil || e.Def != nil || e.Iter != nil {
			o.used[e.Name] = true
		}
	}
	o.initials()
	o.b.SymSeq = slices.DeleteFunc(o.b.SymSeq, func(s *Symbol) bool {
		keep := o.used[s.Name] || s.Kind == Input || s.Kind == Part || o.b.Unit.Kind == notation.OpUnit || o.b.Unit.Kind == notation.UpdateUnit || units.IsKnob(o.b.Unit)
		if !keep {
			delete(o.b.Symbols, s.Name)
		}
		return !keep
	})
}

// initials keeps what the initial values of the used states read.
func (o *orderer) initials() {
	for _, s := range slices.Clone(o.b.SymSeq) {
		if s.Kind != State || !o.used[s.Name] || s.Decl == nil || s.Decl.Init == nil {
			continue
		}
		var rs []read
		o.exprs(s.Decl.Init, nil, map[string]bool{}, &rs)
		for _, r := range rs {
			o.used[r.name] = true
			if e := o.eq[r.name]; e != nil {
				o.visit(e)
				o.in.b.Eqs = o.out
			}
		}
	}
}

// TimedReads lists the names with moments that an equation reads, inputs too.
func (b *Block) TimedReads(eq *Equation) []string {
	o := &orderer{b: b, used: map[string]bool{}}
	var out []string
	for _, r := range o.reads(eq) {
		s := b.Symbols[r.name]
		if e := b.Equation(r.name); s != nil && (s.Kind == State || s.Kind == Input || e != nil && e.Timed) {
			out = append(out, r.name)
		}
	}
	return out
}

// FromStates reports whether a name is defined from states and learned values
// alone.
func (b *Block) FromStates(name string) bool {
	eq := b.Equation(name)
	if eq == nil {
		return false
	}
	for _, r := range b.TimedReads(eq) {
		if b.Symbols[r].Kind != State && !b.FromStates(r) {
			return false
		}
	}
	return true
}

// DependsOn reports whether an equation depends on a name without passing
// through a state.
func (b *Block) DependsOn(from, to string) bool {
	if from == to {
		return true
	}
	eq := b.Equation(from)
	if eq == nil || b.Symbols[from] != nil && b.Symbols[from].Kind == State {
		return false
	}
	o := &orderer{b: b, used: map[string]bool{}}
	for _, r := range o.reads(eq) {
		if r.name != from && b.DependsOn(r.name, to) {
			return true
		}
	}
	return false
}

// AddFreeAxis adds a free axis to a block: one that an operation's signature
// introduces.
func (b *Block) AddFreeAxis(name string) *Axis {
	a := &Axis{Name: name, Size: shape.Sym(name), Free: true}
	b.Axes[name] = a
	b.AxisSeq = append(b.AxisSeq, a)
	return a
}
