package derive

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Reads of values at indices, and the subscripts.

// An indexSum is the indices and conditions of a read at positions that are no indices:
// Σ_{l∈n, l = m + i} x[l].
type indexSum struct {
	binders []*notation.Binder
	conds   []notation.Expr
}

// read writes an argument of an instruction at the loops.
func (w *writer) read(in *ir.Instr, a ir.Arg, loops []notation.Expr, g *indexSum) notation.Expr {
	subs := w.subs(a)
	var at []notation.Expr
	axes := w.axes(a.Val)
	for i, s := range subs {
		x := w.affine(in, s, loops)
		_, number := s.Const.Const()
		if l, ok := s.Loop(); !number || ok && in.Loops[l] != axes[i] {
			b, l := w.binder(axes[i])
			g.binders = append(g.binders, b)
			g.conds = append(g.conds, &notation.Relation{Op: "=", X: l, Y: x})
			x = l
		}
		at = append(at, x)
	}
	return w.at(a.Val, at)
}

// at writes a value at positions: a name with an index, or its definition.
func (w *writer) at(v *ir.Value, at []notation.Expr) notation.Expr {
	named := func(x notation.Expr) notation.Expr {
		if len(at) == 0 {
			return x
		}
		return &notation.Index{X: x, At: at}
	}
	if x := w.pageName(v); x != nil {
		return named(x)
	}
	if n := w.locals[v]; n != "" {
		return named(identifier(n))
	}
	if v.Def == nil {
		panic(noForm("%s has no name on the page", v.Name))
	}
	if w.uses[v] > 1 && !cheap(v) && v.Elem == ir.Real && !w.hasWindow(v) || v.Def.Op == ir.Softmax || v.Def.Op == ir.Stack {
		return named(w.local(v))
	}
	if w.depth++; w.depth > 100 {
		panic(noForm("it nests too deep"))
	}
	defer func() { w.depth-- }()
	return w.expand(v, at)
}

// affine writes a subscript.
func (w *writer) affine(in *ir.Instr, s ir.Sub, loops []notation.Expr) notation.Expr {
	var plus, minus []notation.Expr
	add := func(c int, x notation.Expr) {
		for range max(c, -c) {
			if c > 0 {
				plus = append(plus, x)
			} else {
				minus = append(minus, x)
			}
		}
	}
	for _, t := range s.Terms {
		if loops[t.Loop] != nil {
			add(t.Coef, loops[t.Loop])
		}
	}
	if s.Indirect != nil {
		var g indexSum
		x := w.read(in, *s.Indirect, loops, &g)
		if len(g.binders) > 0 {
			panic(noForm("a position inside a position"))
		}
		add(1, x)
	}
	for _, m := range s.Const.Monomials() {
		x, sign := w.monomial(m)
		add(sign, x)
	}
	out := notation.Expr(numeral(0))
	for i, x := range plus {
		if i == 0 {
			out = x
			continue
		}
		out = &notation.Binary{Op: "+", X: out, Y: x}
	}
	for _, x := range minus {
		out = &notation.Binary{Op: "−", X: out, Y: x}
	}
	return out
}

// monomial writes a monomial of a size, without its sign.
func (w *writer) monomial(m shape.Monomial) (notation.Expr, int) {
	sign := 1
	p := shape.Poly{}
	c := m.Coef
	if c.Sign() < 0 {
		sign = -1
	}
	if !c.IsInt() {
		panic(noForm("a position that is a fraction"))
	}
	p = shape.Int(c.Num().Int64() * int64(sign))
	for _, s := range m.Syms {
		p = p.Mul(shape.Sym(s))
	}
	x := w.size(p, p.String())
	return x, sign
}
