// Package shape is the algebra of sizes: exact polynomials in named sizes.
//
// Axes have sizes such as d_k, 4·d_k, T+w−1 or 1+d+d(d+1)/2, and costs are
// polynomials of the same kind, so one exact type serves both. Coefficients
// are rationals; two polynomials are equal exactly when their String is.
package shape

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// A Poly is a polynomial with rational coefficients in named sizes. The zero
// Poly is 0. Polys are values: no method changes its receiver.
type Poly struct {
	terms []term // sorted by key, no zero coefficient
}

type term struct {
	syms []string // sorted, repeated for powers
	key  string   // the symbols as they print
	coef *big.Rat // never changed
}

func monomial(coef *big.Rat, syms []string) term {
	if len(syms) == 1 {
		return term{syms, syms[0], coef}
	}
	return term{syms, strings.Join(syms, "·"), coef}
}

// compare orders terms: the highest degree first, then by name.
func (t term) compare(u term) int {
	if d := len(u.syms) - len(t.syms); d != 0 {
		return d
	}
	return strings.Compare(t.key, u.key)
}

var one = big.NewRat(1, 1)

func isOne(r *big.Rat) bool {
	return r == one || r.IsInt() && r.Num().IsInt64() && r.Num().Int64() == 1
}

// small are the constants that index arithmetic is full of.
var small = func() (out [66]Poly) {
	for i := range out {
		out[i] = constant(big.NewRat(int64(i-1), 1))
	}
	return out
}()

// Int returns the constant n.
func Int(n int64) Poly {
	if n >= -1 && n < int64(len(small))-1 {
		return small[n+1]
	}
	return constant(big.NewRat(n, 1))
}

// Ratio returns the constant n/d.
func Ratio(n, d int64) Poly { return constant(big.NewRat(n, d)) }

func constant(r *big.Rat) Poly {
	if r.Sign() == 0 {
		return Poly{}
	}
	return Poly{[]term{{coef: r}}}
}

// Sym returns the size named s.
func Sym(s string) Poly { return Poly{[]term{{[]string{s}, s, one}}} }

// Add returns p + q.
func (p Poly) Add(q Poly) Poly {
	switch {
	case len(p.terms) == 0:
		return q
	case len(q.terms) == 0:
		return p
	}
	out := make([]term, 0, len(p.terms)+len(q.terms))
	a, b := p.terms, q.terms
	for len(a) > 0 && len(b) > 0 {
		switch c := a[0].compare(b[0]); {
		case c < 0:
			out, a = append(out, a[0]), a[1:]
		case c > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			if r := new(big.Rat).Add(a[0].coef, b[0].coef); r.Sign() != 0 {
				out = append(out, term{a[0].syms, a[0].key, r})
			}
			a, b = a[1:], b[1:]
		}
	}
	return Poly{append(append(out, a...), b...)}
}

// Sub returns p − q.
func (p Poly) Sub(q Poly) Poly { return p.Add(q.Mul(Int(-1))) }

// Mul returns p · q.
func (p Poly) Mul(q Poly) Poly {
	if q.isOne() {
		return p
	}
	if p.isOne() {
		return q
	}
	out := Poly{}
	for _, a := range p.terms {
		row := make([]term, len(q.terms))
		for i, b := range q.terms {
			row[i] = a.times(b)
		}
		// The order of products may be another than that of their factors.
		slices.SortFunc(row, term.compare)
		out = out.Add(Poly{row})
	}
	return out
}

func (p Poly) isOne() bool {
	return len(p.terms) == 1 && len(p.terms[0].syms) == 0 && isOne(p.terms[0].coef)
}

func (t term) times(u term) term {
	var coef *big.Rat
	switch {
	case isOne(t.coef):
		coef = u.coef
	case isOne(u.coef):
		coef = t.coef
	default:
		coef = new(big.Rat).Mul(t.coef, u.coef)
	}
	switch {
	case len(t.syms) == 0:
		return term{u.syms, u.key, coef}
	case len(u.syms) == 0:
		return term{t.syms, t.key, coef}
	}
	syms := slices.Concat(t.syms, u.syms)
	slices.Sort(syms)
	return monomial(coef, syms)
}

// Equal reports whether p and q are the same polynomial.
func (p Poly) Equal(q Poly) bool {
	return slices.EqualFunc(p.terms, q.terms, func(a, b term) bool {
		return len(a.syms) == len(b.syms) && a.key == b.key && a.coef.Cmp(b.coef) == 0
	})
}

// IsZero reports whether p is 0.
func (p Poly) IsZero() bool { return len(p.terms) == 0 }

// Const returns the value of a constant polynomial.
func (p Poly) Const() (int64, bool) {
	switch {
	case len(p.terms) == 0:
		return 0, true
	case len(p.terms) == 1 && len(p.terms[0].syms) == 0 && p.terms[0].coef.IsInt():
		return p.terms[0].coef.Num().Int64(), true
	}
	return 0, false
}

// Symbol returns the name when p is a single size.
func (p Poly) Symbol() (string, bool) {
	if len(p.terms) == 1 && len(p.terms[0].syms) == 1 && isOne(p.terms[0].coef) {
		return p.terms[0].syms[0], true
	}
	return "", false
}

// Symbols returns the sizes that p mentions, sorted; of a quotient the size that
// it divides.
func (p Poly) Symbols() []string {
	var out []string
	for _, t := range p.terms {
		for _, s := range t.syms {
			if q, ok := quotient(s); ok {
				s = q.Of
			}
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Eval returns the value of p for the given sizes; it fails when a size is
// missing or the value is not an integer.
func (p Poly) Eval(sizes map[string]int) (int, error) {
	sum := new(big.Rat)
	for _, t := range p.terms {
		v := new(big.Rat).Set(t.coef)
		for _, s := range t.syms {
			q, floor := quotient(s)
			if !floor {
				q = Quotient{s, 1}
			}
			n, ok := sizes[q.Of]
			if !ok {
				return 0, fmt.Errorf("size %s is not given", q.Of)
			}
			n /= int(q.By)
			v.Mul(v, big.NewRat(int64(n), 1))
		}
		sum.Add(sum, v)
	}
	if !sum.IsInt() {
		return 0, fmt.Errorf("size %s is %s, not an integer", p, sum.RatString())
	}
	return int(sum.Num().Int64()), nil
}

// Rename returns p with every size s named f(s).
func (p Poly) Rename(f func(string) string) Poly {
	for _, s := range p.Symbols() {
		if n := f(s); n != s {
			p = p.Replace(s, Sym(n))
		}
	}
	return p
}

// Replace returns p with the size named s replaced by q. Where p has a quotient
// of s, q is a size or a number.
func (p Poly) Replace(s string, q Poly) Poly {
	for _, f := range p.Quotients() {
		if f.Of != s {
			continue
		}
		if name, ok := q.Symbol(); ok {
			p = p.put(f.name(), Floor(name, f.By))
		} else if n, ok := q.Const(); ok {
			p = p.put(f.name(), Int(n/f.By))
		} else {
			panic("shape: BUG: " + f.name() + " of " + q.String())
		}
	}
	return p.put(s, q)
}

// put replaces a symbol or an atom by its name.
func (p Poly) put(s string, q Poly) Poly {
	out := Poly{}
	for _, t := range p.terms {
		m := constant(t.coef)
		for _, x := range t.syms {
			if x == s {
				m = m.Mul(q)
			} else {
				m = m.Mul(Sym(x))
			}
		}
		out = out.Add(m)
	}
	return out
}

// A Monomial is one term of a polynomial as another package sees it.
type Monomial struct {
	Coef *big.Rat
	Syms []string // sorted, repeated for powers
}

// Monomials returns the terms, highest degree first.
func (p Poly) Monomials() []Monomial {
	out := make([]Monomial, len(p.terms))
	for i, t := range p.terms {
		out[i] = Monomial{t.coef, t.syms}
	}
	return out
}

// NonNegative reports whether no coefficient of p is negative, so that p is at least zero
// for all sizes.
func (p Poly) NonNegative() bool {
	return !slices.ContainsFunc(p.terms, func(t term) bool { return t.coef.Sign() < 0 })
}

// BoundedBy reports whether every monomial of p divides some monomial of q
// in the sense of O(q): its sizes are among that monomial's sizes.
func (p Poly) BoundedBy(q Poly) bool {
	for _, t := range p.terms {
		if !slices.ContainsFunc(q.terms, func(u term) bool { return divides(t.syms, u.syms) }) {
			return false
		}
	}
	return true
}

func divides(a, b []string) bool {
	j := 0
	for _, s := range a {
		for j < len(b) && b[j] < s {
			j++
		}
		if j == len(b) || b[j] != s {
			return false
		}
		j++
	}
	return true
}

// String prints p in one canonical form, such as "4·d_k·d_v + d_v − 1".
func (p Poly) String() string {
	if len(p.terms) == 0 {
		return "0"
	}
	var b strings.Builder
	for i, t := range p.terms {
		c := t.coef
		switch {
		case i > 0 && c.Sign() < 0:
			b.WriteString(" - ")
			c = new(big.Rat).Neg(c)
		case i > 0:
			b.WriteString(" + ")
		case c.Sign() < 0:
			b.WriteString("-")
			c = new(big.Rat).Neg(c)
		}
		switch {
		case len(t.syms) == 0:
			b.WriteString(c.RatString())
		case isOne(c):
			b.WriteString(t.key)
		default:
			b.WriteString(c.RatString() + "·" + t.key)
		}
	}
	return b.String()
}
