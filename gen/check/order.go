package check

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// The order of equations: a depth-first topological sort from the outputs of the block (see
// Cormen et al., "Introduction to algorithms", 20.4). What no output reads is dropped. On
// the way each equation gets its class: static, parallel over tokens, or recurrent.

// order keeps the equations that the outputs of the block depend on, classifies them, and
// sorts them so that each comes after what it reads at its own time. A front is thereby
// instantiated on demand.
func (r *resolver) order() {
	all := *r.b
	all.Symbols, all.SymSeq = maps.Clone(r.b.Symbols), slices.Clone(r.b.SymSeq)
	o := newOrderer(r)
	o.sort(o.roots())
	if u := r.b.Unit; !r.ds.HasErrors() && (u.Kind == notation.RuleUnit || u.Kind == notation.ComposeUnit) {
		r.keepUnpruned(o, &all)
	}
}

// keepUnpruned makes a block with the equations of the unit's own page that nothing reads:
// they are not compiled, but checked. Members of a family that an option leaves unread are
// allowed.
func (r *resolver) keepUnpruned(o *orderer, all *Block) {
	unread := slices.DeleteFunc(slices.Clone(r.defs), func(e *Equation) bool {
		_, member := notation.CutMember(e.Name)
		return e.Unit != r.b.Unit || member != "" || o.mark[e.Name] == 2
	})
	if len(unread) == 0 {
		return
	}
	with := *r
	with.b = all
	p := newOrderer(&with)
	p.sort(append(p.roots(), unread...))
	r.b.Unpruned = all
}

type orderer struct {
	reader
	r     *resolver
	eq    map[string]*Equation
	class map[string]Class
	mark  map[string]int // 1 being visited, 2 done
	out   []*Equation
	used  map[string]bool
	stack []*Equation
	at    notation.Span // of the read that is being followed
}

func newOrderer(r *resolver) *orderer {
	o := &orderer{reader: reader{b: r.b}, r: r, eq: map[string]*Equation{}, class: map[string]Class{}, mark: map[string]int{}}
	for _, e := range r.defs {
		o.eq[e.Name] = e
	}
	return o
}

// sort orders what the roots depend on and drops the rest.
func (o *orderer) sort(roots []*Equation) {
	for _, e := range roots {
		o.visit(e)
	}
	o.checkStates()
	o.prune()
}

// checkStates refuses a state without an equation that nothing reads; one that is read was
// refused at the read.
func (o *orderer) checkStates() {
	for _, s := range o.b.SymSeq {
		if s.Kind == State && (o.b.Time == notation.TokenTime || o.b.Unit.Kind == notation.ComposeUnit) && o.eq[s.Name] == nil && !o.used[s.Name] && o.b.Replaced[s.Name] == nil {
			o.r.ds.Errorf(diag.MissingEquation, s.Span, "state %s has no equation", s.Name).
				Hint("say how it changes: %s = …, or leave it out", notation.At(s.Name, o.timeSuffix()))
		}
	}
}

// timeSuffix is the suffix of a name at this token, or of an update at this step.
func (o *orderer) timeSuffix() string {
	if o.b.Time == "" {
		return ""
	}
	return "_" + o.b.Time
}

// roots are the equations that must exist: the output of a rule is y, of a
// composition and an operation out, of an update every slot; a model keeps all.
func (o *orderer) roots() []*Equation {
	o.used = map[string]bool{}
	switch o.b.Unit.Kind {
	case notation.RuleUnit:
		return append(o.output("y"), o.matchedInputs()...)
	case notation.ComposeUnit:
		return append(o.output("out"), o.stateEquations()...)
	case notation.OpUnit:
		return o.output("out")
	}
	return o.r.defs
}

// matchedInputs are the inputs of a strategy: a match defines all of them.
func (o *orderer) matchedInputs() []*Equation {
	var out []*Equation
	for _, e := range o.r.defs {
		if e.Matched {
			out = append(out, e)
		}
	}
	return out
}

// stateEquations are the equations of the states of a composition, and of the gates of its
// levels, which only calls of parts read.
func (o *orderer) stateEquations() []*Equation {
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
	o.r.ds.Errorf(diag.MissingEquation, o.b.Unit.Name.Span, "%s has no equation for its output %s", o.b.Name, name).
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
		class = Recurrent // the equations of a strategy compute a chunk
	}
	if class > Static && !e.Timed && o.b.Time == notation.TokenTime {
		if e.Iter != nil {
			o.r.ds.Errorf(diag.TimeSuffix, e.Iter.Name.Span, "%s", o.untimedReason(e)).Hint("write iterate %s from …", notation.At(e.Name, "_t"))
		} else {
			o.r.ds.Errorf(diag.TimeSuffix, e.Span(), "%s", o.untimedReason(e)).Hint("write %s = …", notation.At(e.Name, "_t"))
		}
	}
	e.Class = class
	o.class[e.Name] = class
	o.stack = o.stack[:len(o.stack)-1]
	o.mark[e.Name] = 2
	o.out = append(o.out, e)
}

// read follows one read and returns the least class of the equation that reads.
func (o *orderer) read(e *Equation, r read) Class {
	o.used[r.name], o.at = true, r.span
	sym := o.b.Symbols[r.name]
	if sym == nil {
		return Static
	}
	next := o.eq[r.name]
	switch {
	case o.b.Strategy != nil && !r.start && (r.indexed || !r.now) && next == e && sym.Kind == Defined:
		return Recurrent // at an earlier token of the chunk
	case sym.Kind == Snap && !e.Timed && o.b.Time == notation.TokenTime && o.b.Strategy == nil:
		o.useState(sym)
		return Static // the same for all tokens of a call
	case sym.Kind == Anchor, sym.Kind == Snap:
		o.useState(sym)
		return Recurrent
	case r.start && o.b.Time == notation.TokenTime && o.readStart(sym):
		return Recurrent
	case !r.now && !r.start && sym.Kind != State && next != nil && o.b.Time == notation.TokenTime && o.fromStates(next, o.equation, nil):
		o.useLagged(next)
		return Recurrent
	}
	if sym.Kind == State {
		if next == nil {
			if o.b.Unit.Kind != notation.UpdateUnit {
				o.r.ds.Errorf(diag.MissingEquation, sym.Span, "state %s has no equation", r.name).
					See(r.span, "it is read here").Hint("say how it changes: %s = …", notation.At(r.name, "_t"))
			}
			return Recurrent
		}
		if r.now && next.Name == e.Name && o.b.Time == notation.TokenTime {
			o.cycle(e)
		} else if r.now && next.Name != e.Name {
			o.visit(next)
		} else if o.mark[next.Name] == 0 {
			o.postpone(next)
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

// cycle refuses an equation that needs itself, at the read that closes the cycle.
func (o *orderer) cycle(e *Equation) {
	d := o.r.ds.Errorf(diag.Cycle, o.at, "%s needs itself at the same time", e.Name)
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

// prune finishes the order: the equations of states that are read only before their write
// come last, and symbols that nothing reads are dropped.
func (o *orderer) prune() {
	for {
		late := slices.DeleteFunc(slices.Clone(o.r.b.Eqs), func(e *Equation) bool { return o.mark[e.Name] == 2 })
		o.r.b.Eqs = nil
		if len(late) == 0 {
			break
		}
		for _, e := range late {
			o.visit(e)
		}
	}
	o.r.b.Eqs = o.out
	for _, e := range o.out {
		o.used[e.Name] = true
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

// initials keeps what the starts of the states read.
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
				o.r.b.Eqs = o.out
			}
		}
	}
}
