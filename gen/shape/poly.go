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
	coef *big.Rat
}

func (t term) key() string { return strings.Join(t.syms, "·") }

// Int returns the constant n.
func Int(n int64) Poly { return constant(big.NewRat(n, 1)) }

// Ratio returns the constant n/d.
func Ratio(n, d int64) Poly { return constant(big.NewRat(n, d)) }

func constant(r *big.Rat) Poly {
	if r.Sign() == 0 {
		return Poly{}
	}
	return Poly{[]term{{nil, r}}}
}

// Sym returns the size named s.
func Sym(s string) Poly { return Poly{[]term{{[]string{s}, big.NewRat(1, 1)}}} }

// Add returns p + q.
func (p Poly) Add(q Poly) Poly { return collect(append(slices.Clone(p.terms), q.terms...)) }

// Sub returns p − q.
func (p Poly) Sub(q Poly) Poly { return p.Add(q.Mul(Int(-1))) }

// Mul returns p · q.
func (p Poly) Mul(q Poly) Poly {
	var ts []term
	for _, a := range p.terms {
		for _, b := range q.terms {
			syms := slices.Concat(a.syms, b.syms)
			slices.Sort(syms)
			ts = append(ts, term{syms, new(big.Rat).Mul(a.coef, b.coef)})
		}
	}
	return collect(ts)
}

// collect sorts terms, adds like ones and drops zeros: highest degree first,
// then by name.
func collect(ts []term) Poly {
	slices.SortStableFunc(ts, func(a, b term) int {
		if d := len(b.syms) - len(a.syms); d != 0 {
			return d
		}
		return strings.Compare(a.key(), b.key())
	})
	var out []term
	for _, t := range ts {
		if n := len(out); n > 0 && slices.Equal(out[n-1].syms, t.syms) {
			out[n-1].coef = new(big.Rat).Add(out[n-1].coef, t.coef)
			continue
		}
		out = append(out, t)
	}
	return Poly{slices.DeleteFunc(out, func(t term) bool { return t.coef.Sign() == 0 })}
}

// Equal reports whether p and q are the same polynomial.
func (p Poly) Equal(q Poly) bool { return p.String() == q.String() }

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
	if len(p.terms) == 1 && len(p.terms[0].syms) == 1 && p.terms[0].coef.Cmp(big.NewRat(1, 1)) == 0 {
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
		one := c.Cmp(big.NewRat(1, 1)) == 0
		switch {
		case len(t.syms) == 0:
			b.WriteString(c.RatString())
		case one:
			b.WriteString(t.key())
		default:
			b.WriteString(c.RatString() + "·" + t.key())
		}
	}
	return b.String()
}
