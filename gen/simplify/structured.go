package simplify

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Structured matrices. A sum of diagonal matrices and outer products has the
// shape of a matrix and the rank of a few vectors. A product with one is
// distributed over its terms,
//
//	Σ_j S[i,j] (diag(a) − u wᵀ)[j,l]     S[i,l] a[l] − (Σ_j S[i,j] u[j]) w[l]
//
// so that the matrix is never computed. That is done where every term needs a
// smaller iteration space than the product, at every size. Products of
// structured matrices are structured again, term by term from the left: n
// factors of rank one plus a diagonal give n terms and not 2ⁿ, because the
// factors right of a column are first multiplied to one row.

// A lowRankTerm is a product whose factors each depend on fewer loops than the
// matrix. Loops are numbered as the axes of the matrix.
type lowRankTerm struct {
	factors []map[int]bool
	equal   [][2]int // axes that are one index, as on a diagonal
}

// maxLowRankTerms bounds the terms of a structured matrix.
const maxLowRankTerms = 24

// lowRankTerms decomposes a value, or returns nil where it is not structured.
func (s *simplifier) lowRankTerms(v *ir.Value) []lowRankTerm {
	if ts, ok := s.decomposed[v]; ok {
		return ts
	}
	s.decomposed[v] = nil
	ts := s.decompose(v.Def)
	if len(ts) > maxLowRankTerms {
		ts = nil
	}
	s.decomposed[v] = ts
	return ts
}

func (s *simplifier) decompose(d *ir.Instr) []lowRankTerm {
	if d == nil || d.Out == nil || len(d.Guard) > 0 || len(d.Out.Axes) < 2 || slices.ContainsFunc(d.Args, func(a ir.Arg) bool { return ir.HasIndirect(a.Sub) }) {
		return nil
	}
	switch {
	case d.Op == ir.Const && d.Elementwise():
		return []lowRankTerm{{}}
	case d.Op == ir.Lin && d.Elementwise():
		return s.decomposeSum(d)
	case d.Op == ir.Prod && d.Elementwise():
		return s.decomposeProduct(d)
	case d.Op == ir.Prod:
		return decomposeDiagonal(d)
	}
	return nil
}

// decomposeSum are the terms of a sum.
func (s *simplifier) decomposeSum(d *ir.Instr) []lowRankTerm {
	var out []lowRankTerm
	for _, a := range d.Args {
		ts := s.decomposeArg(d, a)
		if ts == nil {
			return nil
		}
		out = append(out, ts...)
	}
	if d.Coef[len(d.Args)] != 0 {
		out = append(out, lowRankTerm{})
	}
	return out
}

// decomposeProduct multiplies the terms of the factors.
func (s *simplifier) decomposeProduct(d *ir.Instr) []lowRankTerm {
	out := []lowRankTerm{{}}
	for _, a := range d.Args {
		ts := s.decomposeArg(d, a)
		if ts == nil || len(out)*len(ts) > maxLowRankTerms {
			return nil
		}
		var next []lowRankTerm
		for _, x := range out {
			for _, y := range ts {
				next = append(next, lowRankTerm{slices.Concat(x.factors, y.factors), slices.Concat(x.equal, y.equal)})
			}
		}
		out = next
	}
	return out
}

// decomposeArg are the terms of an argument, in the axes of the instruction's output.
func (s *simplifier) decomposeArg(d *ir.Instr, a ir.Arg) []lowRankTerm {
	by, _ := d.OutputAxes()
	if readsWholeAxes(d, a) {
		if ts := s.lowRankTerms(a.Val); ts != nil {
			return renumberAxes(ts, func(axis int) int {
				l, _ := a.Sub[axis].Loop()
				return by[l]
			})
		}
	}
	if loops := ir.LoopsOf(a.Sub); len(loops) < len(d.Loops) {
		return []lowRankTerm{{factors: []map[int]bool{axesOf(loops, by)}}}
	}
	return nil
}

func axesOf(loops map[int]bool, by []int) map[int]bool {
	out := map[int]bool{}
	for l := range loops {
		out[by[l]] = true
	}
	return out
}

// renumberAxes renumbers the axes of terms.
func renumberAxes(ts []lowRankTerm, at func(axis int) int) []lowRankTerm {
	var out []lowRankTerm
	for _, t := range ts {
		u := lowRankTerm{}
		for _, f := range t.factors {
			g := map[int]bool{}
			for axis := range f {
				g[at(axis)] = true
			}
			u.factors = append(u.factors, g)
		}
		for _, e := range t.equal {
			u.equal = append(u.equal, [2]int{at(e[0]), at(e[1])})
		}
		out = append(out, u)
	}
	return out
}

// decomposeDiagonal is the term of an instruction that writes where some axes are equal.
func decomposeDiagonal(d *ir.Instr) []lowRankTerm {
	first, ok := diagonalOf(d)
	if !ok {
		return nil
	}
	by := make([]int, len(d.Loops))
	t := lowRankTerm{}
	for i, l := range first {
		if k := slices.Index(first, l); k < i {
			t.equal = append(t.equal, [2]int{k, i})
		} else {
			by[l] = i
		}
	}
	for _, a := range d.Args {
		t.factors = append(t.factors, axesOf(ir.LoopsOf(a.Sub), by))
	}
	return []lowRankTerm{t}
}

// diagonalOf returns the loop of each axis of a product that writes each entry
// of a diagonal once and nothing else.
func diagonalOf(d *ir.Instr) (loops []int, ok bool) {
	if d == nil || d.Op != ir.Prod || len(d.Guard) > 0 || len(d.Out.Axes) <= len(d.Loops) {
		return nil, false
	}
	seen := map[int]bool{}
	for i, sub := range d.To {
		l, ok := sub.Loop()
		if !ok || d.Loops[l] != d.Out.Axes[i] {
			return nil, false
		}
		loops, seen[l] = append(loops, l), true
	}
	return loops, len(seen) == len(d.Loops)
}
