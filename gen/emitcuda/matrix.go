package emitcuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/dependence"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A matrix product is cut into tiles of tileSide × tileSide entries, one block
// each and one entry a thread. Along k both factors come through shared memory
// a tile at a time, read in the order in which they are stored. Each entry is one sum
// over k from zero, in order, multiplied by the coefficient at its end.
//
// Loops around a product are blocks of their own where each iteration writes
// its own matrix, else they run inside the block.

const tileSide = 16

// An inLoops is a product with the loops around it, outermost first.
type inLoops struct {
	gemm  *plan.Gemm
	loops []*plan.Loop
	apart []*plan.Loop // those whose iterations write entries of their own
}

// productOf returns the product that a nest is, or nil when there is more to
// the nest.
func (e *emitter) productOf(n plan.Node) *inLoops {
	out := &inLoops{}
	for {
		switch x := n.(type) {
		case *plan.Gemm:
			out.gemm = x
			base := x.C.At.Buf.Base()
			if x.A.At.Buf.Base() == base || x.B.At.Buf.Base() == base {
				return nil
			}
			for _, l := range out.loops {
				if out.writesApart(l) {
					out.apart = append(out.apart, l)
				}
			}
			return out
		case *plan.Loop:
			body := plan.WithoutNotes(x.Body)
			if len(x.Private) > 0 || len(body) != 1 || !dependence.BoxOf(x).Known || len(x.Lo) > 1 || len(x.Hi) > 1 {
				return nil
			}
			out.loops = append(out.loops, x)
			n = body[0]
		default:
			return nil
		}
	}
}

// writesApart reports that neighbouring iterations of a loop write matrices of
// which one begins where the other has ended.
func (p *inLoops) writesApart(l *plan.Loop) bool {
	c := p.gemm.C
	stride := c.At.Flat().Coef(l.Var)
	one := shape.Int(1)
	span := p.gemm.M.Sub(one).Mul(c.Row).Add(p.gemm.N.Sub(one).Mul(c.Col))
	for _, m := range p.loops {
		if m != l {
			if !c.At.Flat().Coef(m.Var).IsZero() && !nonNegative(stride.Sub(dependence.BoxOf(m).Extent().Mul(c.At.Flat().Coef(m.Var)))) &&
				!nonNegative(c.At.Flat().Coef(m.Var).Sub(dependence.BoxOf(l).Extent().Mul(stride))) {
				return false
			}
		}
	}
	return !stride.IsZero() && nonNegative(stride.Sub(one).Sub(span))
}

// nonNegative reports that a polynomial is at least zero whatever its sizes,
// all at least one: with each size written 1 + s no coefficient is negative.
func nonNegative(p shape.Poly) bool {
	for _, s := range p.Symbols() {
		p = p.Replace(s, shape.Int(1).Add(shape.Sym("1+"+s)))
	}
	for _, m := range p.Monomials() {
		if m.Coef.Sign() < 0 {
			return false
		}
	}
	return true
}

// product prints a product as a launch.
func (e *emitter) product(p *part) {
	x := e.productOf(p.nodes[0])
	f := e.newFunction(tileSide * tileSide)
	a := f.array("a_tile", tileSide*(tileSide+1))
	b := f.array("b_tile", tileSide*(tileSide+1))
	f.Line("const int across = (%s) / %d;", f.Poly(x.gemm.N.Add(shape.Int(tileSide-1))), tileSide)
	f.Line("const int down = (%s) / %d;", f.Poly(x.gemm.M.Add(shape.Int(tileSide-1))), tileSide)
	f.Line("const int row = threadIdx.x / %d, col = threadIdx.x %% %d;", tileSide, tileSide)
	f.Line("const int m0 = blockIdx.x / across %% down * %d, n0 = blockIdx.x %% across * %d;", tileSide, tileSide)
	if len(x.apart) > 0 {
		f.Line("const int item = blockIdx.x / across / down;")
		f.each(x.apart, "item")
	}
	f.scalarsOf(p.nodes)
	f.around(x, x.loops, func() { f.tileProduct(x.gemm, a, b) })
	words := []string{fmt.Sprintf("A matrix product: one block for each tile of %d x %d entries, one thread for each entry", tileSide, tileSide)}
	if len(x.apart) > 0 {
		words[0] += ", for each " + tuple(x.apart)
	}
	words[0] += "."
	f.finish(p.eqs, words, Factor{items(x.apart), 1}, Factor{x.gemm.M, tileSide}, Factor{x.gemm.N, tileSide})
}

func (f *function) around(x *inLoops, loops []*plan.Loop, body func()) {
	switch {
	case len(loops) == 0:
		body()
	case slices.Contains(x.apart, loops[0]):
		f.around(x, loops[1:], body)
	default:
		f.loop(loops[0], func([]plan.Node) { f.around(x, loops[1:], body) })
	}
}

// tileProduct prints the sum over k and the store. m and n are the entry's
// place, p counts along k.
func (f *function) tileProduct(g *plan.Gemm, a, b string) {
	f.Line("float dot = 0.0f;")
	depth := f.Poly(g.K)
	f.Line("#pragma unroll 1")
	f.block(fmt.Sprintf("for (int p0 = 0; p0 < %s; p0 += %d)", depth, tileSide), func() {
		f.fetch(a, g.A, "m0", f.Poly(g.M), "p0", depth)
		f.fetch(b, g.B, "p0", depth, "n0", f.Poly(g.N))
		f.Line("__syncthreads();")
		f.Line("for (int kk = 0; kk < %d; ++kk) dot += %s[row * %d + kk] * %s[kk * %d + col];", tileSide, a, tileSide+1, b, tileSide+1)
		f.Line("__syncthreads();")
	})
	f.target(g.C.At.Buf)
	at := f.cell(g.C, "(m0 + row)", "(n0 + col)")
	f.Line("if (m0 + row < %s && n0 + col < %s) %s", f.Poly(g.M), f.Poly(g.N), gemmStore(at, g))
}

func gemmStore(at string, g *plan.Gemm) string {
	op := "="
	if g.Add {
		op = "+="
	}
	switch g.Coef {
	case 1:
		return fmt.Sprintf("%s %s dot;", at, op)
	case -1:
		return fmt.Sprintf("%s %s -dot;", at, op)
	}
	return fmt.Sprintf("%s %s %s * dot;", at, op, number(g.Coef))
}

// fetch prints the load of a tile. Threads that follow each other read entries
// that do, along a row of the matrix or along a column.
func (f *function) fetch(tile string, m plan.Matrix, r0, rows, c0, cols string) {
	r, c := "row", "col"
	if m.Row.Equal(shape.Int(1)) && !m.Col.Equal(shape.Int(1)) {
		r, c = "col", "row"
	}
	at := f.cell(m, fmt.Sprintf("(%s + %s)", r0, r), fmt.Sprintf("(%s + %s)", c0, c))
	f.Line("%s[%s * %d + %s] = %s + %s < %s && %s + %s < %s ? %s : 0.0f;", tile, r, tileSide+1, c, r0, r, rows, c0, c, cols, at)
}

// cell prints an entry of a matrix.
func (f *function) cell(m plan.Matrix, row, col string) string {
	var parts []string
	if at := f.Address(m.At); at != "0" {
		parts = append(parts, at)
	}
	cast := ""
	if !f.e.constant(m.At.Buf.Base().Len()) {
		cast = "(i64)"
	}
	along := func(i string, stride shape.Poly) {
		switch {
		case stride.Equal(shape.Int(1)):
			parts = append(parts, strings.TrimSuffix(strings.TrimPrefix(i, "("), ")"))
		case !stride.IsZero():
			parts = append(parts, cast+i+" * "+f.Factor(stride))
		}
	}
	along(row, m.Row)
	along(col, m.Col)
	if len(parts) == 0 {
		parts = []string{"0"}
	}
	return fmt.Sprintf("%s[%s]", f.buffer(m.At.Buf), strings.Join(parts, " + "))
}

// gemmEntries prints a product whose entries are shared out: from one in steps.
func (f *function) gemmEntries(g *plan.Gemm, from, step string) {
	total := g.M.Mul(g.N)
	f.block(fmt.Sprintf("for (%s at = %s; at < %s; at += %s)", f.itemType(total), from, f.count(total), step), func() {
		f.target(g.C.At.Buf)
		f.Line("const int row = (int)(at / %s), col = (int)(at %% %s);", f.Atom(g.N), f.Atom(g.N))
		f.Line("float dot = 0.0f;")
		f.Line("for (int kk = 0; kk < %s; ++kk) dot += %s * %s;", f.Poly(g.K), f.cell(g.A, "row", "kk"), f.cell(g.B, "kk", "col"))
		f.Line("%s", gemmStore(f.cell(g.C, "row", "col"), g))
	})
}

// triangleColumns prints a triangular solve whose columns are shared out: from
// one in steps. A thread has a column to itself and does its rows one after
// another.
func (f *function) triangleColumns(n *plan.TriSolve, from, step string) {
	rows := f.Poly(n.M)
	f.block(fmt.Sprintf("for (%s col = %s; col < %s; col += %s)", f.itemType(n.N), from, f.count(n.N), step), func() {
		f.target(n.X.At.Buf)
		rest := "int before = 0; before < row; ++before"
		head := fmt.Sprintf("for (int row = 0; row < %s; ++row)", rows)
		if n.Down {
			head = fmt.Sprintf("for (int row = %s - 1; row >= 0; --row)", f.Atom(n.M))
			rest = fmt.Sprintf("int before = %s - 1; before > row; --before", f.Atom(n.M))
		}
		f.Line("#pragma unroll 1")
		f.block(head, func() {
			at := f.cell(n.X, "row", "col")
			f.Line("float left = %s;", at)
			f.Line("for (%s) left -= %s * %s;", rest, f.cell(n.A, "row", "before"), f.cell(n.X, "before", "col"))
			f.Line("%s = left;", at)
		})
	})
}
