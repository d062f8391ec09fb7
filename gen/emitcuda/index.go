package emitcuda

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Sizes are 32-bit, addresses 64-bit: the first product of an address in a
// buffer of no fixed length is made in i64, so that a buffer may have more than
// 2³¹ entries although no axis has.

// poly prints a polynomial over the sizes, as in 4 * d_k * d_v + d_v - 1; one
// with fractions is printed over their common denominator.
func (f *function) poly(p shape.Poly) string {
	lcm := big.NewInt(1)
	for _, m := range p.Monomials() {
		d := m.Coef.Denom()
		g := new(big.Int).GCD(nil, nil, lcm, d)
		lcm.Mul(lcm, new(big.Int).Div(d, g))
	}
	if !lcm.IsInt64() || lcm.Int64() != 1 {
		return fmt.Sprintf("(%s) / %d", f.poly(p.Mul(shape.Int(lcm.Int64()))), lcm.Int64())
	}
	var b strings.Builder
	for i, m := range p.Monomials() {
		c := m.Coef.Num().Int64()
		switch {
		case i > 0 && c < 0:
			b.WriteString(" - ")
			c = -c
		case i > 0:
			b.WriteString(" + ")
		}
		b.WriteString(f.monomial(c, m.Syms))
	}
	if p.IsZero() {
		return "0"
	}
	return b.String()
}

func (f *function) monomial(c int64, syms []string) string {
	var parts []string
	sign := ""
	switch {
	case len(syms) == 0:
		return fmt.Sprint(c)
	case c == -1:
		sign = "-"
	case c != 1:
		parts = append(parts, fmt.Sprint(c))
	}
	for _, s := range syms {
		parts = append(parts, f.size(s))
	}
	return sign + strings.Join(parts, " * ")
}

// operand prints a polynomial as an operand of a product.
func (f *function) operand(p shape.Poly) string {
	ms := p.Monomials()
	if len(ms) == 0 || len(ms) == 1 && ms[0].Coef.IsInt() && ms[0].Coef.Sign() > 0 {
		return f.poly(p)
	}
	return "(" + f.poly(p) + ")"
}

// atom prints a polynomial as one word or in brackets.
func (f *function) atom(p shape.Poly) string {
	s := f.poly(p)
	if strings.ContainsAny(s, " -") {
		return "(" + s + ")"
	}
	return s
}

// count prints a number of entries, in 64 bits unless it is fixed.
func (f *function) count(p shape.Poly) string {
	if _, ok := p.Symbol(); ok || f.e.constant(p) {
		return f.poly(p)
	}
	var b strings.Builder
	for i, m := range p.Monomials() {
		if !m.Coef.IsInt() {
			return "(i64)(" + f.poly(p) + ")"
		}
		switch {
		case i > 0 && m.Coef.Sign() < 0:
			b.WriteString(" - ")
		case i > 0:
			b.WriteString(" + ")
		case m.Coef.Sign() < 0:
			b.WriteString("-")
		}
		b.WriteString("(i64)" + f.monomial(new(big.Int).Abs(m.Coef.Num()).Int64(), m.Syms))
	}
	if len(p.Monomials()) > 1 {
		return "(" + b.String() + ")"
	}
	return b.String()
}

// index prints an index; sum says whether it has more than one term.
func (f *function) index(x plan.Index) (out string, sum bool) {
	var b strings.Builder
	n := 0
	put := func(negative bool, s string) {
		switch {
		case negative && n > 0:
			b.WriteString(" - ")
		case negative:
			b.WriteString("-")
		case n > 0:
			b.WriteString(" + ")
		}
		b.WriteString(s)
		n++
	}
	for _, t := range x.Terms {
		c, negative := t.Coef, false
		if ms := c.Monomials(); len(ms) == 1 && ms[0].Coef.Sign() < 0 {
			c, negative = c.Mul(shape.Int(-1)), true
		}
		s := f.variable(t.Var)
		if !c.Equal(shape.Int(1)) {
			s = f.operand(c) + " * " + s
		}
		put(negative, s)
	}
	for _, m := range x.Const.Monomials() {
		if !m.Coef.IsInt() {
			put(false, f.poly(x.Const))
			return b.String(), true
		}
		put(m.Coef.Sign() < 0, f.monomial(new(big.Int).Abs(m.Coef.Num()).Int64(), m.Syms))
	}
	if n == 0 {
		return "0", false
	}
	return b.String(), n > 1
}

// plain prints an index.
func (f *function) plain(x plan.Index) string { s, _ := f.index(x); return s }

// factor prints an index as an operand of a product.
func (f *function) factor(x plan.Index) string {
	s, sum := f.index(x)
	if sum || strings.HasPrefix(s, "-") {
		return "(" + s + ")"
	}
	return s
}

func (f *function) variable(v *plan.Var) string {
	if s, ok := f.vars[v]; ok {
		return s
	}
	panic(fmt.Sprintf("emitcuda: BUG: variable %s of %s is not in scope", v.Name, f.e.k.Name))
}

// address prints the row-major address of an access as (i * n + j) * m + k.
func (f *function) address(a plan.Access) string {
	wide := !f.e.constant(a.Buf.Base().Len())
	out, sum, empty := "", false, true
	for i, x := range a.Index {
		if !empty {
			if sum {
				out = "(" + out + ")"
			}
			if wide && !strings.Contains(out, "(i64)") {
				out = "(i64)" + out
			}
			out += " * " + f.operand(a.Buf.Dims[i])
			sum = false
		}
		if len(x.Terms) == 0 && x.Const.IsZero() {
			continue
		}
		s, many := f.index(x)
		if empty {
			out, sum, empty = s, many || strings.HasPrefix(s, "-"), false
			continue
		}
		if rest, ok := strings.CutPrefix(s, "-"); ok {
			out += " - " + rest
		} else {
			out += " + " + s
		}
		sum = true
	}
	if empty {
		return "0"
	}
	return out
}

// entry prints an entry of a buffer.
func (f *function) entry(a plan.Access) string {
	at := f.address(a)
	b := a.Buf.Base()
	name := f.buffer(b)
	if p := f.private[b]; p != nil && p.each {
		// One column for each row of the block, entries of a row apart.
		if at == "0" {
			return fmt.Sprintf("%s[row]", name)
		}
		if strings.ContainsAny(at, "+-") {
			at = "(" + at + ")"
		}
		return fmt.Sprintf("%s[%s * %d + row]", name, at, f.threads)
	}
	return name + "[" + at + "]"
}

// inRange prints that gathered indices are within their axes.
func (f *function) inRange(picked []plan.BoundedIndex) string {
	var parts []string
	for _, p := range picked {
		parts = append(parts, fmt.Sprintf("(unsigned)(%s) < (unsigned)(%s)", f.plain(p.Index), f.poly(p.Bound)))
	}
	return strings.Join(parts, " && ")
}

// lo and hi print the ends of a loop.
func (f *function) lo(n *plan.Loop) string { return f.extremum(n.Lo, ">") }
func (f *function) hi(n *plan.Loop) string { return f.extremum(n.Hi, "<") }

func (f *function) extremum(xs []plan.Index, op string) string {
	out := f.plain(xs[0])
	for _, x := range xs[1:] {
		s := f.plain(x)
		out = fmt.Sprintf("(%s %s %s ? %s : %s)", out, op, s, out, s)
	}
	return out
}
