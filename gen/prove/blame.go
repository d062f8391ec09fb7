package prove

import (
	"fmt"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A claim that fails is reported at the smallest sizes that refute it, and with
// the caret under the part that is to blame. Where the right side is a sum that
// part is found by solving for factors of the summands under which the claim
// would hold: if all but one come out as 1, that one is wrong, and its factor
// says how: a sign, a factor, or that it should not be there.

// claimWrong reports a claim with the smallest case that refutes it and the
// smallest part of its right side that is to blame.
func (p *prover) claimWrong(it Item, c *notation.Claim, q *irbuild.Equality) {
	prog := interp.Compile(q.Func)
	part, why := c.Right, ""
	sets := append(growing(sizeNames(p.blk, q.Func)), sizeSets(p.blk, true, q.Func)...)
	for i, sizes := range append(sets, sets...) {
		for k := range 8 {
			if i >= len(sets) {
				why = "only where two of the numbers are equal, or one is 0"
			}
			params, out, draw := p.pointOf(q, prog, sizes, forCounterexample, k, i >= len(sets))
			w, tol := sidesAt(q, draw, params, out)
			if w.err <= tol {
				continue
			}
			if x, reason := p.blame(it, q, prog); x != nil {
				part, why = x, reason
			}
			if why == "" {
				why = p.factor(it, q, prog)
			}
			a, b := apartFrom(w.a, w.b)
			if why == "" && w.err < 1e-6 {
				why = fmt.Sprintf("the sides differ by %.2g of their size", w.err)
			}
			d := p.ds.Errorf(claimCodes[it.Kind], part.Where(), "%s: at %s the left side is %s and the right side %s%s",
				wrongly[it.Kind], spelled(sizes), a, b, at(w.at)).Labelf("%s", why)
			p.seeEquation(d, it)
			return
		}
	}
	p.ds.Errorf(claimCodes[it.Kind], c.Right.Where(), "%s at some points", wrongly[it.Kind])
}

// apartFrom prints two numbers with as many digits as tell them apart.
func apartFrom(a, b float64) (string, string) {
	for _, digits := range []int{9, 13} {
		if x, y := fmt.Sprintf("%.*g", digits, a), fmt.Sprintf("%.*g", digits, b); x != y {
			return x, y
		}
	}
	return fmt.Sprintf("%.17g", a), fmt.Sprintf("%.17g", b)
}

// wrongly says what is wrong with an equality that fails.
var wrongly = map[Kind]string{Claim: "the claim fails", Eval: "eval computes something else", Adjoint: "the declared adjoint is not the derivative"}

// seeEquation adds the equation that an item is about to a message.
func (p *prover) seeEquation(d *diag.Diagnostic, it Item) {
	for _, e := range p.blk.Eqs {
		if e.ID == it.Eq {
			d.See(e.Span(), "the equation is here")
			return
		}
	}
	if r := p.blk.Unit.Result; r != nil {
		d.See(r.Span, "the equation is here")
		return
	}
	var f *check.Function
	notation.Inspect(p.claimAt(it), func(n any) bool {
		if g, ok := n.(*notation.Grad); ok && f == nil {
			f = p.blk.Funcs[g.Call.Fun.Text]
		}
		return true
	})
	if f != nil {
		d.See(f.Def.Span, "the function is here")
	}
}

func (p *prover) claimAt(it Item) any {
	for _, c := range p.blk.Claims {
		if c.Span == it.Span {
			return c
		}
	}
	return nil
}

// blame looks for factors of the summands under which the claim would hold; a
// summand whose factor is not one is wrong, and the factor says how.
func (p *prover) blame(it Item, q *irbuild.Equality, prog *interp.Program) (notation.Expr, string) {
	n := len(q.Terms)
	if n < 2 {
		return nil, ""
	}
	rows, left := p.observe(it, q, prog)
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

// factor says whether a number times the right side would be right.
func (p *prover) factor(it Item, q *irbuild.Equality, prog *interp.Program) string {
	one := &irbuild.Equality{Func: q.Func, Free: q.Free}
	rows, left := p.observe(it, one, prog)
	if x, ok := leastSquares(rows, left); ok && math.Abs(x[0]) > 1e-6 && math.Abs(x[0]-1) > 1e-6 {
		return reasonFor(x[0])
	}
	return ""
}

// observe gathers entries of the summands, or of the right side as a whole
// where there are none, and of the left side.
func (p *prover) observe(it Item, q *irbuild.Equality, prog *interp.Program) (rows [][]float64, left []float64) {
	sizes := sizeSets(p.blk, false, q.Func)[0]
	for k := range 3 {
		_, out, _ := p.pointOf(q, prog, sizes, forBlame, k, false)
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
