package derive

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Products without indices, such as A x, Aᵀ x, a · b, a bᵀ and A ⊙ B, found by joining two factors
// at a time.

// A factor is an array read at loops, one per axis.
type factor struct {
	x     notation.Expr
	loops []int
}

// productForm writes a product without indices: scalars first, then outer products,
// products of matrices and vectors, inner products, and products entry by entry.
func (w *writer) productForm(v *ir.Value) notation.Expr {
	in := v.Def
	var numbers []notation.Expr
	var fs []factor
	coef, reads := w.takeScalars(in)
	for _, a := range reads {
		x, loops := w.array(a.Val), loopsOf(w.subs(a))
		if len(loops) == 0 {
			numbers = append(numbers, x)
			continue
		}
		fs = append(fs, factor{x, loops})
	}
	p := &productJoiner{to: loopsOf(w.subs(ir.Arg{Val: v, Sub: in.To}))}
	if x := p.join(fs); x != nil {
		numbers = append(numbers, x)
	}
	return times(coef, numbers)
}

// takeScalars moves the scalars of factors that are an array times scalars to the front of
// the whole product.
func (w *writer) takeScalars(in *ir.Instr) (float64, []ir.Arg) {
	coef, out := in.Coef[0], []ir.Arg(nil)
	for queue := slices.Clone(in.Args); len(queue) > 0; {
		a := queue[0]
		queue = queue[1:]
		d := a.Val.Def
		if w.names[a.Val] != nil || w.locals[a.Val] != "" || d == nil || d.Op != ir.Prod || len(w.guard(d)) > 0 || w.summedWindow(a.Val) != nil {
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

// loopsOf are the loops of subscripts that are one loop each, all different.
func loopsOf(subs []ir.Sub) []int {
	var out []int
	for _, s := range subs {
		l, ok := s.Loop()
		if !ok || slices.Contains(out, l) {
			panic(noArray)
		}
		out = append(out, l)
	}
	return out
}

// A productJoiner joins factors until one is left whose loops are those of the result.
type productJoiner struct{ to []int }

// It returns nil without factors.
func (p *productJoiner) join(fs []factor) notation.Expr {
	for len(fs) > 1 {
		i, j, f := p.pair(fs)
		fs = slices.Delete(fs, j, j+1)
		fs[i] = f
	}
	switch {
	case len(fs) == 0 && len(p.to) == 0:
		return nil
	case len(fs) == 0:
		panic(noArray)
	}
	f := fs[0]
	switch {
	case slices.Equal(f.loops, p.to):
		return f.x
	case len(f.loops) == 2 && len(p.to) == 2 && f.loops[0] == p.to[1] && f.loops[1] == p.to[0]:
		return transposed(f.x)
	}
	panic(noArray)
}

// pair finds two factors that join: first factors that share a loop that only they have,
// then factors that multiply entry by entry, then outer products.
func (p *productJoiner) pair(fs []factor) (i, j int, f factor) {
	for _, how := range []func(p *productJoiner, a, b factor, fs []factor) (factor, bool){(*productJoiner).contract, (*productJoiner).entries, (*productJoiner).outer} {
		for i = range fs {
			for j = i + 1; j < len(fs); j++ {
				if f, ok := how(p, fs[i], fs[j], fs); ok {
					return i, j, f
				}
			}
		}
	}
	panic(noArray)
}

// shared lists the loops of two factors that neither another factor nor the result has.
func (p *productJoiner) shared(a, b factor, fs []factor) []int {
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

func (p *productJoiner) contract(a, b factor, fs []factor) (factor, bool) {
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
func (p *productJoiner) matrix(a, b factor, l int) (factor, bool) {
	if len(a.loops) == 1 && len(b.loops) == 1 {
		return factor{x: &notation.Binary{Op: "·", X: a.x, Y: b.x}}, true
	}
	if len(a.loops) == 1 { // a vector follows its matrix
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

func (p *productJoiner) entries(a, b factor, fs []factor) (factor, bool) {
	switch {
	case slices.Equal(a.loops, b.loops):
	case len(a.loops) == 2 && len(b.loops) == 2 && a.loops[0] == b.loops[1] && a.loops[1] == b.loops[0]:
		b.x = transposed(b.x)
	default:
		return factor{}, false
	}
	return factor{&notation.Binary{Op: "⊙", X: a.x, Y: b.x}, a.loops}, true
}

func (p *productJoiner) outer(a, b factor, fs []factor) (factor, bool) {
	if len(a.loops) != 1 || len(b.loops) != 1 || a.loops[0] == b.loops[0] {
		return factor{}, false
	}
	if i, j := slices.Index(p.to, a.loops[0]), slices.Index(p.to, b.loops[0]); i > j {
		a, b = b, a
	}
	return factor{row(a.x, transposed(b.x)), append(slices.Clone(a.loops), b.loops...)}, true
}

// transposed is the transpose of an expression.
func transposed(x notation.Expr) notation.Expr {
	if t, ok := x.(*notation.Transpose); ok {
		return t.X
	}
	return &notation.Transpose{X: x}
}
