package check

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/notation"
)

// Reads of an earlier token. If a state is read at t−1, or at the start of its context or
// call, its equation may come later in the order. The same holds for a name that is defined
// from states alone: to read it before this token means its equation with the states of
// then. So such a read makes no edge of the graph that is sorted, and no cycle.

func isZero(e notation.Expr) bool {
	n, ok := e.(*notation.Number)
	return ok && n.Value == 0
}

// untimedReason is the message for an equation that needs a time suffix.
func (o *orderer) untimedReason(e *Equation) string {
	for _, r := range o.reads(e) {
		if s := o.b.Symbols[r.name]; s != nil && (s.Kind == Anchor || s.Kind == Snap) {
			return fmt.Sprintf("%s is not the same everywhere: it depends on %s %s", e.Name, s.Kind, s.Name)
		}
	}
	return e.Name + " changes with every token"
}

// postpone visits an equation after the others: it is read before the write of this token.
func (o *orderer) postpone(e *Equation) { o.r.b.Eqs = append(o.r.b.Eqs, e) }

// useState keeps an anchor or a snap with its state.
func (o *orderer) useState(s *Symbol) {
	o.used[s.Name] = true
	o.useEarlier(s.Of)
}

// useEarlier keeps a state that is read before this token.
func (o *orderer) useEarlier(state string) {
	o.used[state] = true
	if e := o.eq[state]; e != nil && o.mark[state] == 0 {
		o.postpone(e)
	}
}

// readStart keeps a state, or a name that is defined from states alone, that is read at the
// start of the context. It reports false for any other name, which has no value there.
func (o *orderer) readStart(s *Symbol) bool {
	next := o.eq[s.Name]
	switch {
	case next == nil:
		return false
	case s.Kind == State:
		if !s.PerChunk() {
			o.useState(o.anchor(s))
		}
		o.useEarlier(s.Name)
		return true
	case o.fromStates(next, o.equation, nil):
		for _, r := range o.reads(next) {
			if sym := o.b.Symbols[r.name]; sym != nil {
				o.used[r.name] = true
				o.readStart(sym)
			}
		}
		o.useLagged(next)
		return true
	}
	return false
}

// anchor is the anchor of a state: a declared one, or M_0.
func (o *orderer) anchor(s *Symbol) *Symbol {
	if a := o.b.AnchorOf(s.Name); a != nil {
		return a
	}
	a := &Symbol{Name: notation.At(s.Name, "_0"), Kind: Anchor, Of: s.Name, Type: s.Type, Span: s.Span, Unit: s.Unit}
	o.b.Symbols[a.Name] = a
	o.b.SymSeq = append(o.b.SymSeq, a)
	return a
}

// useLagged keeps a name that is defined from states alone and read before this token, with
// all that it depends on.
func (o *orderer) useLagged(e *Equation) {
	o.used[e.Name] = true
	if o.mark[e.Name] == 0 {
		o.postpone(e)
	}
	for _, r := range o.reads(e) {
		sym := o.b.Symbols[r.name]
		switch next := o.eq[r.name]; {
		case sym == nil:
		case sym.Kind == Anchor, sym.Kind == Snap:
			o.useState(sym)
		case sym.Kind == State:
			o.useEarlier(r.name)
		case next != nil && o.fromStates(next, o.equation, nil) && next != e:
			o.useLagged(next)
		default:
			o.used[r.name] = true
		}
	}
}

// equation is the equation of a name, or nil.
func (o *orderer) equation(name string) *Equation { return o.eq[name] }
