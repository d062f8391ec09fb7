package derive

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A factor is an array read at loops, one per axis; row says that a matrix
// product with it stands on its left.
type factor struct {
	x     notation.Expr
	loops []int
}

// productForm writes a product without indices: numbers in front, then outer
// products, products of matrices and vectors, inner products, and products of
// entries, found by joining two factors at a time.
func (w *writer) productForm(v *ir.Value) (notation.Expr, bool) {
	in := v.Def
	var numbers []notation.Expr
	var fs []factor
	coef, reads := w.unscaled(in)
	for _, a := range reads {
		loops, ok := plain(w.subs(a))
		x, err := w.array(a.Val)
		if err != nil || !ok {
			return nil, false
		}
		if len(loops) == 0 {
			numbers = append(numbers, x)
			continue
		}
		fs = append(fs, factor{x, loops})
	}
	to, ok := plain(w.subs(ir.Arg{Val: v, Sub: in.To}))
	if !ok {
		return nil, false
	}
	p := &joiner{to: to}
	x, ok := p.join(fs)
	if !ok {
		return nil, false
	}
	return finish(coef, numbers, x)
}

// unscaled takes the numbers out of factors that are an array times numbers, so
// that they stand in front of the whole product.
func (w *writer) unscaled(in *ir.Instr) (float64, []ir.Arg) {
	coef, out := in.Coef[0], []ir.Arg(nil)
	for queue := slices.Clone(in.Args); len(queue) > 0; {
		a := queue[0]
		queue = queue[1:]
		d := a.Val.Def
		if w.names[a.Val] != nil || w.locals[a.Val] != "" || d == nil || d.Op != ir.Prod || len(w.guard(d)) > 0 || w.back(a.Val) != nil {
			out = append(out, a)
			continue
		}
		arrays := 0
		fits := true
		for _, b := range d.Args {
			if subs := w.subs(b); len(subs) > 0 {
				arrays++
				fits = fits && w.aligned(a.Val, subs) && len(subs) == len(w.axes(a.Val))
			}
		}
		if arrays > 1 || !fits || arrays == 0 && len(w.axes(a.Val)) > 0 || len(d.Loops) != len(a.Val.Axes) {
			out = append(out, a)
			continue
		}
		coef *= d.Coef[0]
		for _, b := range d.Args {
			if len(w.subs(b)) > 0 {
				b.Sub = a.Sub
			}
			queue = append(queue, b)
		}
	}
	return coef, out
}

// finish puts the numbers in front.
func finish(c float64, numbers []notation.Expr, x notation.Expr) (notation.Expr, bool) {
	minus := c < 0
	var items []notation.Expr
	if a := math.Abs(c); a != 1 {
		items = append(items, numeral(a))
	}
	for _, n := range append(numbers, x) {
		if n == nil {
			continue
		}
		if u, ok := n.(*notation.Unary); ok {
			n, minus = u.X, !minus
		}
		items = append(items, n)
	}
	if len(items) == 0 {
		items = append(items, numeral(math.Abs(c)))
	}
	out := row(items...)
	if minus {
		out = negative(out)
	}
	return out, true
}

// plain are the loops of subscripts that are one loop each, all different.
func plain(subs []ir.Sub) ([]int, bool) {
	var out []int
	for _, s := range subs {
		l, ok := s.Loop()
		if !ok || slices.Contains(out, l) {
			return nil, false
		}
		out = append(out, l)
	}
	return out, true
}

// A joiner joins factors until one is left whose loops are those of the result.
type joiner struct{ to []int }

func (p *joiner) join(fs []factor) (notation.Expr, bool) {
	if len(fs) == 0 {
		return nil, len(p.to) == 0
	}
	for len(fs) > 1 {
		i, j, f, ok := p.pair(fs)
		if !ok {
			return nil, false
		}
		fs = slices.Delete(fs, j, j+1)
		fs[i] = f
	}
	f := fs[0]
	switch {
	case slices.Equal(f.loops, p.to):
		return f.x, true
	case len(f.loops) == 2 && len(p.to) == 2 && f.loops[0] == p.to[1] && f.loops[1] == p.to[0]:
		return transposed(f.x), true
	}
	return nil, false
}

// pair finds two factors that join: first those that share a loop that only
// they have, then those that multiply entry by entry, then outer products.
func (p *joiner) pair(fs []factor) (i, j int, f factor, ok bool) {
	for _, how := range []func(p *joiner, a, b factor, fs []factor) (factor, bool){(*joiner).contract, (*joiner).entries, (*joiner).outer} {
		for i = range fs {
			for j = i + 1; j < len(fs); j++ {
				if f, ok = how(p, fs[i], fs[j], fs); ok {
					return i, j, f, true
				}
			}
		}
	}
	return 0, 0, factor{}, false
}

// shared lists the loops of two factors that no other factor and not the
// result has.
func (p *joiner) shared(a, b factor, fs []factor) []int {
	var out []int
	for _, l := range a.loops {
		n := 0
		for _, f := range fs {
			if slices.Contains(f.loops, l) {
				n++
			}
		}
		if slices.Contains(b.loops, l) && n == 2 && !slices.Contains(p.to, l) {
			out = append(out, l)
		}
	}
	return out
}

func (p *joiner) contract(a, b factor, fs []factor) (factor, bool) {
	s := p.shared(a, b, fs)
	switch {
	case len(s) == 1 && len(a.loops) <= 2 && len(b.loops) <= 2:
		return p.matrix(a, b, s[0])
	case len(s) == 2 && len(a.loops) == 2 && len(b.loops) == 2:
		if a.loops[0] != b.loops[0] {
			b.x = transposed(b.x)
		}
		return factor{x: &notation.Inner{X: a.x, Y: b.x}}, true
	}
	return factor{}, false
}

// matrix sums over one loop: A x, Aᵀ x, A B, a · b.
func (p *joiner) matrix(a, b factor, l int) (factor, bool) {
	if len(a.loops) == 1 && len(b.loops) == 1 {
		return factor{x: &notation.Binary{Op: "·", X: a.x, Y: b.x}}, true
	}
	if len(a.loops) == 1 { // a vector stands behind its matrix
		a, b = b, a
	}
	rest := func(f factor) []int {
		return slices.DeleteFunc(slices.Clone(f.loops), func(x int) bool { return x == l })
	}
	out := factor{loops: append(rest(a), rest(b)...)}
	if len(b.loops) == 2 {
		// The order of the two is that of the result, where it says.
		if i, j := slices.Index(p.to, out.loops[0]), slices.Index(p.to, out.loops[1]); i >= 0 && j >= 0 && i > j {
			a, b = b, a
			out.loops = append(rest(a), rest(b)...)
		}
	}
	if a.loops[0] == l {
		a.x = transposed(a.x)
	}
	if len(b.loops) == 2 && b.loops[1] == l {
		b.x = transposed(b.x)
	}
	out.x = row(a.x, b.x)
	return out, true
}

func (p *joiner) entries(a, b factor, fs []factor) (factor, bool) {
	switch {
	case slices.Equal(a.loops, b.loops):
	case len(a.loops) == 2 && len(b.loops) == 2 && a.loops[0] == b.loops[1] && a.loops[1] == b.loops[0]:
		b.x = transposed(b.x)
	default:
		return factor{}, false
	}
	return factor{&notation.Binary{Op: "⊙", X: a.x, Y: b.x}, a.loops}, true
}

func (p *joiner) outer(a, b factor, fs []factor) (factor, bool) {
	if len(a.loops) != 1 || len(b.loops) != 1 || a.loops[0] == b.loops[0] {
		return factor{}, false
	}
	if i, j := slices.Index(p.to, a.loops[0]), slices.Index(p.to, b.loops[0]); i > j {
		a, b = b, a
	}
	return factor{row(a.x, transposed(b.x)), append(slices.Clone(a.loops), b.loops...)}, true
}

// transposed takes the transpose of an expression: of a product it is that of
// its factors only where the expression is a name.
func transposed(x notation.Expr) notation.Expr {
	if t, ok := x.(*notation.Transpose); ok {
		return t.X
	}
	return &notation.Transpose{X: x}
}
