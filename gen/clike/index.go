package clike

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Poly prints a polynomial over the sizes, as in 4 * d_k * d_v + d_v - 1; one
// with fractions is printed over their common denominator.
func (p *Printer) Poly(q shape.Poly) string {
	lcm := big.NewInt(1)
	for _, m := range q.Monomials() {
		d := m.Coef.Denom()
		g := new(big.Int).GCD(nil, nil, lcm, d)
		lcm.Mul(lcm, new(big.Int).Div(d, g))
	}
	if lcm.Cmp(big.NewInt(1)) != 0 {
		return fmt.Sprintf("(%s) / %d", p.Poly(q.Mul(shape.Int(lcm.Int64()))), lcm)
	}
	var s sum
	for _, m := range q.Monomials() {
		s.add(m.Coef.Sign() < 0, p.monomial(m))
	}
	return s.String()
}

// monomial prints a monomial without its sign.
func (p *Printer) monomial(m shape.Monomial) string {
	var parts []string
	if c := new(big.Int).Abs(m.Coef.Num()); len(m.Syms) == 0 || !c.IsInt64() || c.Int64() != 1 {
		parts = append(parts, c.String())
	}
	for _, s := range m.Syms {
		parts = append(parts, p.Size(s))
	}
	return strings.Join(parts, " * ")
}

// Monomials prints a polynomial whose coefficients are integers, each monomial without
// its sign by way of each, and counts them.
func (p *Printer) Monomials(q shape.Poly, each func(text string) string) (text string, terms int) {
	var s sum
	for _, m := range q.Monomials() {
		s.add(m.Coef.Sign() < 0, each(p.monomial(m)))
	}
	return s.String(), s.terms
}

// Factor prints a polynomial as a factor of a product.
func (p *Printer) Factor(q shape.Poly) string {
	ms := q.Monomials()
	if len(ms) == 0 || len(ms) == 1 && ms[0].Coef.IsInt() && ms[0].Coef.Sign() > 0 {
		return p.Poly(q)
	}
	return "(" + p.Poly(q) + ")"
}

// Atom prints a polynomial as one word or in brackets.
func (p *Printer) Atom(q shape.Poly) string {
	s := p.Poly(q)
	if strings.ContainsAny(s, " -") {
		return "(" + s + ")"
	}
	return s
}

// A sum is the text of terms with their signs.
type sum struct {
	b     strings.Builder
	terms int
}

func (s *sum) add(negative bool, text string) {
	switch {
	case negative && s.terms > 0:
		s.b.WriteString(" - ")
	case negative:
		s.b.WriteString("-")
	case s.terms > 0:
		s.b.WriteString(" + ")
	}
	s.b.WriteString(text)
	s.terms++
}

func (s *sum) String() string {
	if s.terms == 0 {
		return "0"
	}
	return s.b.String()
}

// Index prints an index. An index that is not simple needs brackets in a product.
func (p *Printer) Index(x plan.Index) (text string, simple bool) {
	var s sum
	for _, t := range x.Terms {
		c, negative := t.Coef, false
		if ms := c.Monomials(); len(ms) == 1 && ms[0].Coef.Sign() < 0 {
			c, negative = c.Mul(shape.Int(-1)), true
		}
		text := p.Var(t.Var)
		if !c.Equal(shape.Int(1)) {
			text = p.Factor(c) + " * " + text
		}
		s.add(negative, text)
	}
	for _, m := range x.Const.Monomials() {
		if !m.Coef.IsInt() {
			s.add(false, p.Poly(x.Const))
			return s.String(), false
		}
		s.add(m.Coef.Sign() < 0, p.monomial(m))
	}
	text = s.String()
	return text, s.terms <= 1 && !strings.HasPrefix(text, "-")
}

// Plain prints an index that nothing binds to.
func (p *Printer) Plain(x plan.Index) string { s, _ := p.Index(x); return s }

// Plus prints the sum of a text and an index.
func (p *Printer) Plus(text string, x plan.Index) string {
	s := p.Plain(x)
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		return text + " - " + rest
	}
	return text + " + " + s
}

// Address prints the row-major address of an access as (i * n + j) * m + k.
func (p *Printer) Address(a plan.Access) string {
	wide := p.Wide != nil && p.Wide(a.Buf.Base())
	out, simple := "", true
	for i, x := range a.Index {
		if out != "" {
			if !simple {
				out = "(" + out + ")"
			}
			if wide && !strings.Contains(out, p.Address64) {
				out = p.Address64 + out
			}
			out, simple = out+" * "+p.Factor(a.Buf.Dims[i]), true
		}
		switch {
		case len(x.Terms) == 0 && x.Const.IsZero():
		case out == "":
			out, simple = p.Index(x)
		default:
			out, simple = p.Plus(out, x), false
		}
	}
	if out == "" {
		return "0"
	}
	return out
}

// InRange prints that gathered indices are inside their axes: a comparison of
// unsigned numbers, of which a negative one is large.
func (p *Printer) InRange(gathered []plan.BoundedIndex) string {
	var parts []string
	for _, g := range gathered {
		parts = append(parts, fmt.Sprintf("%s(%s) < %s(%s)", p.Unsigned, p.Plain(g.Index), p.Unsigned, p.Poly(g.Bound)))
	}
	return strings.Join(parts, " && ")
}

// Lo prints the first value of a loop, and Hi the value after its last.
func (p *Printer) Lo(n *plan.Loop) string { return p.extremum(n.Lo, "max", ">") }
func (p *Printer) Hi(n *plan.Loop) string { return p.extremum(n.Hi, "min", "<") }

func (p *Printer) extremum(xs []plan.Index, function, operator string) string {
	args := make([]string, len(xs))
	for i, x := range xs {
		args[i] = p.Plain(x)
	}
	if p.MinMax && len(xs) > 1 {
		return function + "(" + strings.Join(args, ", ") + ")"
	}
	out := args[0]
	for _, s := range args[1:] {
		out = fmt.Sprintf("(%s %s %s ? %s : %s)", out, operator, s, out, s)
	}
	return out
}

// Head prints the head of a loop over v, as C has it.
func (p *Printer) Head(n *plan.Loop, v string) string {
	if n.Down {
		return fmt.Sprintf("for (int %s = %s - 1; %s >= %s; --%s)", v, p.Hi(n), v, p.Lo(n), v)
	}
	var ends []string
	for _, x := range n.Hi {
		ends = append(ends, v+" < "+p.Plain(x))
	}
	return fmt.Sprintf("for (int %s = %s; %s; ++%s)", v, p.Lo(n), strings.Join(ends, " && "), v)
}

// Condition prints the condition of a branch; given prints that a buffer was given.
func (p *Printer) Condition(n *plan.If, given func(*plan.Buffer) string) string {
	var out []string
	if n.Present != nil {
		out = append(out, given(n.Present))
	}
	for _, x := range n.Cond {
		out = append(out, p.Plain(x)+" >= 0")
	}
	return strings.Join(out, " && ")
}
