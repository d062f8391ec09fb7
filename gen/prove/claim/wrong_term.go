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

// wrongTerm looks for factors of the summands under which the claim would hold; a
// summand whose factor is not one is wrong, and the factor says how.
func wrongTerm(p *proof.Context, it proof.Item, q *irbuild.Equality, prog *interp.Program) (notation.Expr, string) {
	n := len(q.Terms)
	if n < 2 {
		return nil, ""
	}
	rows, left := sampleTerms(p, it, q, prog)
	x, ok := leastSquares(rows, left)
	if !ok {
		return nil, ""
	}
	wrong := -1
	for i, c := range x {
		if math.Abs(c-1) < 1e-6 {
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
	return unsigned(q.Terms[wrong]), reasonFor(x[wrong])
}

// unsigned takes off the minus that stood before a summand.
func unsigned(x notation.Expr) notation.Expr {
	if u, ok := x.(*notation.Unary); ok && u.Span == u.X.Where() {
		return u.X
	}
	return x
}

func reasonFor(c float64) string {
	switch {
	case math.Abs(c) < 1e-6:
		return "should not be there"
	case math.Abs(c+1) < 1e-6:
		return "the sign is wrong"
	}
	return fmt.Sprintf("should be %.6g times this", c)
}

// wrongFactor says whether a number times the right side would be right.
func wrongFactor(p *proof.Context, it proof.Item, q *irbuild.Equality, prog *interp.Program) string {
	one := &irbuild.Equality{Func: q.Func, Free: q.Free}
	rows, left := sampleTerms(p, it, one, prog)
	if x, ok := leastSquares(rows, left); ok && math.Abs(x[0]) > 1e-6 && math.Abs(x[0]-1) > 1e-6 {
		return reasonFor(x[0])
	}
	return ""
}

// sampleTerms gathers entries of the summands, or of the right side as a whole
// where there are none, and of the left side.
func sampleTerms(p *proof.Context, it proof.Item, q *irbuild.Equality, prog *interp.Program) (rows [][]float64, left []float64) {
	sizes := sample.Sizes(p.Block, false, q.Func)[0]
	for k := range 3 {
		_, out, _ := sample.EqualityPoint(p.Block, q, prog, sizes, sample.ForTerms, k, false)
		for i, y := range out[irbuild.Left].Data {
			row := []float64{out[irbuild.Right].Data[i]}
			if len(q.Terms) > 0 {
				row = nil
				for t := range q.Terms {
					row = append(row, out[irbuild.TermName(t)].Data[i])
				}
			}
			rows, left = append(rows, row), append(left, y)
		}
	}
	return rows, left
}

// leastSquares solves rows·x = left where that has one exact solution.
func leastSquares(rows [][]float64, left []float64) ([]float64, bool) {
	n := len(rows[0])
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n+1)
		for r, row := range rows {
			for j := range n {
				a[i][j] += row[i] * row[j]
			}
			a[i][n] += row[i] * left[r]
		}
	}
	x, ok := gauss(a)
	if !ok {
		return nil, false
	}
	worst, scale := 0.0, 0.0
	for r, row := range rows {
		y := 0.0
		for j, c := range row {
			y += c * x[j]
		}
		worst, scale = math.Max(worst, math.Abs(y-left[r])), math.Max(scale, math.Abs(left[r]))
	}
	return x, worst <= 1e-6*math.Max(scale, 1e-12)
}

// gauss solves a small system given as an augmented matrix.
func gauss(a [][]float64) ([]float64, bool) {
	n := len(a)
	for c := range n {
		best := c
		for r := c + 1; r < n; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[best][c]) {
				best = r
			}
		}
		a[c], a[best] = a[best], a[c]
		if math.Abs(a[c][c]) < 1e-12 {
			return nil, false
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
	return x, !slices.ContainsFunc(x, math.IsNaN)
}
