package gokernel

import (
	"fmt"
	"math/big"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// poly prints a polynomial over the sizes, as in 4*dK*dV + dV - 1; one with
// fractions is printed over their common denominator.
func (e *kernelEmitter) poly(p shape.Poly) *jen.Statement {
	lcm := big.NewInt(1)
	for _, m := range p.Monomials() {
		d := m.Coef.Denom()
		g := new(big.Int).GCD(nil, nil, lcm, d)
		lcm.Mul(lcm, new(big.Int).Div(d, g))
	}
	if !lcm.IsInt64() || lcm.Int64() != 1 {
		whole := p.Mul(shape.Int(lcm.Int64()))
		return jen.Parens(e.poly(whole)).Op("/").Lit(int(lcm.Int64()))
	}
	out := jen.Null()
	for i, m := range p.Monomials() {
		c := int(m.Coef.Num().Int64())
		switch {
		case i > 0 && c < 0:
			out.Op("-")
			c = -c
		case i > 0:
			out.Op("+")
		}
		out.Add(e.monomial(c, m.Syms))
	}
	if p.IsZero() {
		return jen.Lit(0)
	}
	return out
}

func (e *kernelEmitter) monomial(c int, syms []string) *jen.Statement {
	out := jen.Null()
	switch {
	case len(syms) == 0:
		return jen.Lit(c)
	case c == -1:
		out.Op("-")
	case c != 1:
		out.Lit(c).Op("*")
	}
	for i, s := range syms {
		if i > 0 {
			out.Op("*")
		}
		name := e.sizes[s]
		if name == "" {
			panic(fmt.Sprintf("gokernel: BUG: size %s of %s is not declared", s, e.k.Name))
		}
		out.Id(name)
	}
	return out
}

// operand prints a polynomial as an operand of a product.
func (e *kernelEmitter) operand(p shape.Poly) *jen.Statement {
	if single(p) {
		return e.poly(p)
	}
	return jen.Parens(e.poly(p))
}

func single(p shape.Poly) bool {
	ms := p.Monomials()
	return len(ms) == 0 || len(ms) == 1 && ms[0].Coef.IsInt() && ms[0].Coef.Sign() > 0
}

// index prints an index; sum says whether it has more than one term.
func (e *kernelEmitter) index(x plan.Index) (out *jen.Statement, sum bool) {
	out = jen.Null()
	n := 0
	for _, t := range x.Terms {
		c := t.Coef
		if ms := c.Monomials(); len(ms) == 1 && ms[0].Coef.Sign() < 0 {
			out.Op("-")
			c = c.Mul(shape.Int(-1))
		} else if n > 0 {
			out.Op("+")
		}
		if !c.Equal(shape.Int(1)) {
			out.Add(e.operand(c)).Op("*")
		}
		out.Add(e.variable(t.Var))
		n++
	}
	if n > 0 && x.Const.IsZero() {
		return out, n > 1
	}
	for _, m := range x.Const.Monomials() {
		one := shape.Int(m.Coef.Num().Int64())
		switch {
		case !m.Coef.IsInt():
			if n > 0 {
				out.Op("+")
			}
			return out.Add(e.poly(x.Const)), true
		case m.Coef.Sign() < 0:
			out.Op("-")
			one = one.Mul(shape.Int(-1))
		case n > 0:
			out.Op("+")
		}
		for _, s := range m.Syms {
			one = one.Mul(shape.Sym(s))
		}
		out.Add(e.poly(one))
		n++
	}
	if n == 0 {
		return jen.Lit(0), false
	}
	return out, n > 1
}

func (e *kernelEmitter) variable(v *plan.Var) *jen.Statement {
	if s := e.vars[v]; s != nil {
		return s.Clone()
	}
	panic(fmt.Sprintf("gokernel: BUG: variable %s of %s is not in scope", v.Name, e.k.Name))
}

// address prints the row-major address of an access as ((i)*n + j)*m + k.
func (e *kernelEmitter) address(a plan.Access) *jen.Statement {
	out, sum, empty := jen.Null(), false, true
	for i, x := range a.Index {
		if !empty {
			if sum {
				out = jen.Parens(out)
			}
			out = out.Op("*").Add(e.operand(a.Buf.Dims[i]))
			sum = false
		}
		if len(x.Terms) == 0 && x.Const.IsZero() {
			continue
		}
		s, many := e.index(x)
		if empty {
			out, sum, empty = s, many, false
			continue
		}
		out, sum = out.Op("+").Add(s), true
	}
	if empty {
		return jen.Lit(0)
	}
	return out
}

// storage is the buffer that holds a buffer's entries.
func storage(b *plan.Buffer) *plan.Buffer {
	b = b.Base()
	if b.CopyOf != nil {
		return b.CopyOf
	}
	return b
}

// inRow selects the present row of an entry that holds all rows in flight.
func (e *kernelEmitter) inRow(b *plan.Buffer, entry *jen.Statement) *jen.Statement {
	if e.rows[storage(b)] && !e.fused {
		return entry.Index(jen.Lit(b.Base().Iteration))
	}
	return entry
}

// slice prints the slice that holds a buffer's entries.
func (e *kernelEmitter) slice(b *plan.Buffer) *jen.Statement {
	b = storage(b)
	if name, ok := e.bufs[b]; ok {
		return jen.Id(name)
	}
	if name, ok := e.names.Buffers[b]; ok {
		return jen.Id("c").Dot(name)
	}
	panic(fmt.Sprintf("gokernel: BUG: buffer %s of %s has no slice", b.Name, e.k.Name))
}
