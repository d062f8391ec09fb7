package claim

import (
	"fmt"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// Fault localisation in a sum. The right side of a claim that fails is fitted to its left
// side by least squares, with a factor for each summand. Where the fit is exact and all
// factors but one are 1, that summand is wrong, and its factor says how: the sign, a
// factor, or that the summand should not be there.

const (
	factorTol  = 1e-6 // of a factor
	fitTol     = 1e-6 // of the residual, relative to the left side
	leastPivot = 1e-12
)

// wrongTerm returns the summand of the right side that is wrong, and how.
func wrongTerm(p *proof.Context, q *irbuild.Equality, prog *interp.Program) (notation.Expr, string) {
	if len(q.Terms) < 2 {
		return nil, ""
	}
	var terms []string
	for t := range q.Terms {
		terms = append(terms, irbuild.TermName(t))
	}
	factors := fitTerms(p, q, prog, terms)
	wrong := -1
	for i, c := range factors {
		if math.Abs(c-1) < factorTol {
			continue
		}
		if wrong >= 0 {
			return nil, ""
		}
		wrong = i
	}
	if wrong < 0 {
		return nil, ""
	}
	return unsigned(q.Terms[wrong]), reasonFor(factors[wrong])
}

// unsigned removes the minus of a summand.
func unsigned(x notation.Expr) notation.Expr {
	if u, ok := x.(*notation.Unary); ok && u.Span == u.X.Where() {
		return u.X
	}
	return x
}

func reasonFor(factor float64) string {
	switch {
	case math.Abs(factor) < factorTol:
		return "should not be there"
	case math.Abs(factor+1) < factorTol:
		return "the sign is wrong"
	}
	return fmt.Sprintf("should be %.6g times this", factor)
}

// wrongFactor says how the right side as a whole is wrong by a factor, or "".
func wrongFactor(p *proof.Context, q *irbuild.Equality, prog *interp.Program) string {
	c := fitTerms(p, q, prog, []string{irbuild.Right})
	if c == nil || math.Abs(c[0]) <= factorTol || math.Abs(c[0]-1) <= factorTol {
		return ""
	}
	return reasonFor(c[0])
}

// fitTerms returns the factors of some results whose combination equals the left side, or
// nil where there are none or where they are not unique.
func fitTerms(p *proof.Context, q *irbuild.Equality, prog *interp.Program, terms []string) []float64 {
	var rows [][]float64
	var left []float64
	sizes := sample.Sizes(p.Block, false, q.Func)[0]
	for k := range 3 {
		_, out, _ := sample.EqualityPoint(p.Block, q, prog, sizes, sample.ForTerms, k, false)
		for i, y := range out[irbuild.Left].Data {
			var row []float64
			for _, t := range terms {
				row = append(row, out[t].Data[i])
			}
			rows, left = append(rows, row), append(left, y)
		}
	}
	return leastSquares(rows, left)
}

// leastSquares solves rows·x = left by the normal equations, where there is one exact
// solution; else it returns nil.
func leastSquares(rows [][]float64, left []float64) []float64 {
	n := len(rows[0])
	a := make([][]float64, n) // augmented
	for i := range a {
		a[i] = make([]float64, n+1)
		for r, row := range rows {
			for j := range n {
				a[i][j] += row[i] * row[j]
			}
			a[i][n] += row[i] * left[r]
		}
	}
	x := solve(a)
	if x == nil {
		return nil
	}
	residual, scale := 0.0, 0.0
	for r, row := range rows {
		y := 0.0
		for j, c := range row {
			y += c * x[j]
		}
		residual, scale = math.Max(residual, math.Abs(y-left[r])), math.Max(scale, math.Abs(left[r]))
	}
	if !(residual <= fitTol*math.Max(scale, leastPivot)) {
		return nil
	}
	return x
}

// solve solves a small system, given as an augmented matrix, by Gauss–Jordan elimination
// with partial pivoting. It returns nil for a singular matrix.
func solve(a [][]float64) []float64 {
	n := len(a)
	for c := range n {
		pivot := c
		for r := c + 1; r < n; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[pivot][c]) {
				pivot = r
			}
		}
		a[c], a[pivot] = a[pivot], a[c]
		if math.Abs(a[c][c]) < leastPivot {
			return nil
		}
		for r := range n {
			if r == c {
				continue
			}
			f := a[r][c] / a[c][c]
			for k := c; k <= n; k++ {
				a[r][k] -= f * a[c][k]
			}
		}
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = a[i][n] / a[i][i]
	}
	if slices.ContainsFunc(x, math.IsNaN) {
		return nil
	}
	return x
}
