package prove

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A claim is proved where both sides have one normal form. Otherwise it is
// tested at points drawn from the sets that its names belong to, at sizes that
// tell all axes apart, comparisons at a tie included. The normal form is not
// believed blindly either: what it proves must hold at one point.

// claimPoints is how often a claim is tested at each size.
const (
	claimPoints     = 4
	deepClaimPoints = 24
)

var claimKinds = map[string]Kind{"claim": Claim, "eval": Eval, "adjoint": Adjoint, "relax": Relax}

var claimCodes = map[Kind]diag.Code{Claim: diag.ClaimFails, Eval: diag.EvalDiffers, Adjoint: diag.AdjointDiffers}

// claims settles every equality that the unit states.
func (p *prover) claims() {
	for _, c := range own(p, p.blk.Claims) {
		p.claim(c)
	}
}

func (p *prover) claim(c *notation.Claim) {
	kind := claimKinds[c.Keyword.Text]
	it := Item{Kind: kind, Name: claimName(c), Text: notation.Print(c, notation.Unicode), Span: c.Span, Eq: p.equationOf(c)}
	switch {
	case c.Left == nil || c.Right == nil:
		it.Evidence = failed("no equality")
		p.add(it)
		p.ds.Errorf(diag.NotProvable, c.Span, "this claim is about a strategy, and %s is none", p.unit.Name.Text)
		return
	case kind == Relax:
		it.Evidence = Evidence{Verdict: Declared, Note: "finite differences test this in place of the value"}
		p.add(it)
		return
	}
	var ds diag.List
	q := irbuild.Claim(p.blk, c, &ds)
	p.ds.Append(ds)
	if q == nil || ds.HasErrors() {
		it.Evidence = failed("cannot be built")
		p.add(it)
		return
	}
	p.settle(it, func() Evidence {
		ev := p.equality(it, c, q)
		if kind == Adjoint && ev.Verdict != Failed {
			return p.declaredAdjoint(c, ev)
		}
		return ev
	}, q.Func)
}

// declaredAdjoint is the verdict on an adjoint that the page gives: with relax
// it stays declared, whatever the arithmetic says.
func (p *prover) declaredAdjoint(c *notation.Claim, ev Evidence) Evidence {
	for _, o := range p.blk.Claims {
		if o.Keyword.Text == "relax" {
			ev.Verdict, ev.Note = Declared, "the derivative of relax"
			if c.Reason != nil {
				ev.Note += ": " + c.Reason.Value
			}
		}
	}
	return ev
}

// claimName is the tag of a claim, or what its left side speaks of.
func claimName(c *notation.Claim) string {
	if c.Tag != nil {
		return c.Tag.Text
	}
	var words []string
	notation.Inspect(c.Left, func(n any) bool {
		switch n := n.(type) {
		case *notation.Grad:
			words = append(words, "grad", n.Wrt.Text, n.Call.Fun.Text)
			return false
		case *notation.Ident:
			words = append(words, n.Name.Text)
			if n.Bar {
				words = append(words, "bar")
			}
		}
		return true
	})
	if len(words) == 0 {
		return "equality"
	}
	return check.ID(strings.Join(words, "_"))
}

// equationOf is the equation of the block that a claim's left side is about.
func (p *prover) equationOf(c *notation.Claim) string {
	id := ""
	notation.Inspect(c.Left, func(n any) bool {
		if x, ok := n.(*notation.Ident); ok && id == "" {
			name, _ := p.blk.Split(x.Name.Text)
			if eq := p.blk.Equation(name); eq != nil {
				id = eq.ID
			}
		}
		return true
	})
	return id
}

// equality decides whether the two sides of a claim are equal.
func (p *prover) equality(it Item, c *notation.Claim, q *irbuild.Equality) Evidence {
	proved := equal(q.Func, irbuild.Left, irbuild.Right)
	points := claimPoints
	if p.opt.Deep {
		points = deepClaimPoints
	}
	if proved {
		points = 1
	}
	ev := Evidence{Verdict: Tested, Tolerance: claimTol}
	prog := interp.Compile(q.Func)
	for i, sizes := range sizeSets(p.opt.Deep, q.Func) {
		for k := range points {
			draw := newSampler(p.blk, q.Free, sizes, it.Kind.String()+it.Text, i*1000+k)
			draw.edges = k%2 == 1
			out := prog.Run(sizes, draw.params(q.Func))
			w := compare(out[irbuild.Left], out[irbuild.Right])
			if !(w.err <= claimTol) {
				if proved {
					panic(fmt.Sprintf("prove: BUG: %s is proved, but %g is not %g%s at %s", it.Text, w.a, w.b, at(w.at), spelled(sizes)))
				}
				p.claimWrong(it, c, q)
				return failed(fmt.Sprintf("%.6g is not %.6g", w.a, w.b))
			}
			ev.Points += len(out[irbuild.Left].Data)
			ev.Worst = math.Max(ev.Worst, w.err)
		}
	}
	if proved {
		ev = Evidence{Verdict: Proved}
	}
	return ev
}

// claimWrong reports a claim with the smallest case that refutes it and the
// smallest part of its right side that is to blame.
func (p *prover) claimWrong(it Item, c *notation.Claim, q *irbuild.Equality) {
	prog := interp.Compile(q.Func)
	part, why := c.Right, ""
	sets := append(growing(sizeNames(q.Func)), sizeSets(true, q.Func)...)
	for i, sizes := range append(sets, sets...) {
		for k := range 8 {
			draw := newSampler(p.blk, q.Free, sizes, "counterexample"+it.Text, k)
			if draw.edges = i >= len(sets); draw.edges {
				why = "only where two of the numbers are equal"
			}
			out := prog.Run(sizes, draw.params(q.Func))
			w := compare(out[irbuild.Left], out[irbuild.Right])
			if w.err <= claimTol {
				continue
			}
			if x, reason := p.blame(it, q, prog); x != nil {
				part, why = x, reason
			}
			if why == "" {
				why = p.factor(it, q, prog)
			}
			d := p.ds.Errorf(claimCodes[it.Kind], part.Where(), "%s: at %s the left side is %.9g and the right side %.9g%s",
				wrongly[it.Kind], spelled(sizes), w.a, w.b, at(w.at)).Labelf("%s", why)
			p.seeEquation(d, it)
			return
		}
	}
	p.ds.Errorf(claimCodes[it.Kind], c.Right.Where(), "%s at some points", wrongly[it.Kind])
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
	if x, ok := leastSquares(rows, left); ok && math.Abs(x[0]) > 1e-6 {
		return reasonFor(x[0])
	}
	return ""
}

// observe gathers entries of the summands, or of the right side as a whole
// where there are none, and of the left side.
func (p *prover) observe(it Item, q *irbuild.Equality, prog *interp.Program) (rows [][]float64, left []float64) {
	sizes := sizeSets(false, q.Func)[0]
	for k := range 3 {
		out := prog.Run(sizes, newSampler(p.blk, q.Free, sizes, "blame"+it.Text, k).params(q.Func))
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
