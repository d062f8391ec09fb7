package shape

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A quotient rounded down, such as ⌊T/32⌋, the whole chunks of T tokens, is an
// atom of the algebra: a size that follows from another. It multiplies and adds
// like a size of its own, is evaluated from the size that it divides, and
// follows that size when it gets another name.

// A Quotient is the atom ⌊Of/By⌋.
type Quotient struct {
	Of string
	By int64
}

func (q Quotient) name() string { return fmt.Sprintf("⌊%s/%d⌋", q.Of, q.By) }

// Floor returns ⌊s/d⌋ for the size named s and a d of at least one.
func Floor(s string, d int64) Poly {
	if d == 1 {
		return Sym(s)
	}
	return Sym(Quotient{s, d}.name())
}

// quotient reads the name of an atom.
func quotient(name string) (Quotient, bool) {
	rest, ok := strings.CutPrefix(name, "⌊")
	if !ok {
		return Quotient{}, false
	}
	of, by, _ := strings.Cut(strings.TrimSuffix(rest, "⌋"), "/")
	d, err := strconv.ParseInt(by, 10, 64)
	return Quotient{of, d}, err == nil && d > 0
}

// Quotients returns the atoms that p mentions, sorted by name.
func (p Poly) Quotients() []Quotient {
	var names []string
	for _, t := range p.terms {
		names = append(names, t.syms...)
	}
	slices.Sort(names)
	var out []Quotient
	for _, n := range slices.Compact(names) {
		if q, ok := quotient(n); ok {
			out = append(out, q)
		}
	}
	return out
}

// Call returns p with the atom q as a size of the given name.
func (p Poly) Call(q Quotient, name string) Poly { return p.put(q.name(), Sym(name)) }

// Unfold returns p with each size that an atom divides written as d times the
// atom and a rest; both are sizes of their own that are never negative.
func (p Poly) Unfold() Poly {
	for _, q := range p.Quotients() {
		n, r := Sym(q.Of+".chunks"), Sym(q.Of+".rest")
		p = p.put(q.name(), n).put(q.Of, n.Mul(Int(q.By)).Add(r))
	}
	return p
}
