package check

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
)

// Reads of another moment than this token's. Where a state is read at t−1, or
// where its context or its call began, its equation may come later: so may that
// of a name that is defined from states alone, because reading it before this
// token means its equation of the states before. Nothing has to come first,
// and what looked like a circle is none.

func isZero(e notation.Expr) bool {
	n, ok := e.(*notation.Number)
	return ok && n.Value == 0
}

// untimed says why an equation without a suffix needs one.
func (o *orderer) untimed(e *Equation) string {
	for _, r := range o.reads(e) {
		if s := o.b.Symbols[r.name]; s != nil && (s.Kind == Anchor || s.Kind == Snap) {
			return fmt.Sprintf("%s is not the same everywhere: it depends on %s %s", e.Name, s.Kind, s.Name)
		}
	}
	return e.Name + " changes with every token"
}

// held keeps what an anchor or a snap is of.
func (o *orderer) held(s *Symbol) {
	o.used[s.Name] = true
	o.behind(s.Of)
}

// behind keeps a state whose value before this token is read.
func (o *orderer) behind(state string) {
	o.used[state] = true
	if e := o.eq[state]; e != nil && o.mark[state] == 0 {
		o.later(e)
	}
}

// first is a read at the start of the context, of a state or of a name that is
// defined from states alone; anything else has no value there.
func (o *orderer) first(s *Symbol) bool {
	next := o.eq[s.Name]
	switch {
	case next == nil:
		return false
	case s.Kind == State:
		if !s.PerChunk() {
			o.held(o.anchor(s))
		}
		o.behind(s.Name)
		return true
	case o.ofStates(next, nil):
		for _, r := range o.reads(next) {
			if sym := o.b.Symbols[r.name]; sym != nil {
				o.used[r.name] = true
				o.first(sym)
			}
		}
		o.lagging(next)
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

// lagging keeps a name of states alone that is read before this token, with
// all that stands behind it.
func (o *orderer) lagging(e *Equation) {
	o.used[e.Name] = true
	if o.mark[e.Name] == 0 {
		o.later(e)
	}
	for _, r := range o.reads(e) {
		sym := o.b.Symbols[r.name]
		switch next := o.eq[r.name]; {
		case sym == nil:
		case sym.Kind == Anchor, sym.Kind == Snap:
			o.held(sym)
		case sym.Kind == State:
			o.behind(r.name)
		case next != nil && o.ofStates(next, nil) && next != e:
			o.lagging(next)
		default:
			o.used[r.name] = true
		}
	}
}

// ofStates reports whether an equation reads states and learned values alone.
// An equation that needs itself does not.
func (o *orderer) ofStates(e *Equation, above []*Equation) bool {
	if slices.Contains(above, e) {
		return false
	}
	for _, r := range o.reads(e) {
		sym, next := o.b.Symbols[r.name], o.eq[r.name]
		switch {
		case sym == nil || sym.Kind == State || sym.Kind == Anchor || sym.Kind == Snap:
		case sym.Kind == Input:
			return false
		case next != nil && !o.ofStates(next, append(above, e)):
			return false
		}
	}
	return true
}

// SnapRead is a snap that an equation reads, or something of states alone
// that it reads; nil where there is none.
func (b *Block) SnapRead(eq *Equation) *Symbol {
	o := &orderer{b: b, used: map[string]bool{}}
	for _, r := range o.reads(eq) {
		s := b.Symbols[r.name]
		if s != nil && s.Kind == Snap {
			return s
		}
		if e := b.Equation(r.name); e != nil && e != eq && s != nil && s.Kind == Defined {
			if s := b.SnapRead(e); s != nil {
				return s
			}
		}
	}
	return nil
}

// ReadTimes reports whether what a rule answers reads its states as they were
// before the token's write, and as they are after it. A state per chunk that is
// read after its write counts as both: no memory holds either.
func (b *Block) ReadTimes() (before, after bool) {
	m := &moments{b: b, o: &orderer{b: b, used: map[string]bool{}}, seen: map[string]bool{}}
	m.visit("y", false)
	return m.before, m.after
}

type moments struct {
	b             *Block
	o             *orderer
	before, after bool
	seen          map[string]bool
}

// visit follows an equation; lagging is set where it is read at t−1.
func (m *moments) visit(name string, lagging bool) {
	e := m.b.Equation(name)
	key := name
	if lagging {
		key += " before"
	}
	if e == nil || m.seen[key] {
		return
	}
	m.seen[key] = true
	for _, r := range m.o.reads(e) {
		s := m.b.Symbols[r.name]
		switch {
		case s == nil || r.first || s.Kind == Anchor:
		case s.Kind == Snap:
			m.before = true
		case s.Kind == State && (lagging || !r.now):
			m.before = m.before || !s.PerChunk()
		case s.Kind == State:
			m.after, m.before = true, m.before || s.PerChunk()
		default:
			m.visit(r.name, lagging || !r.now)
		}
	}
}
