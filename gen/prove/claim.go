package prove

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A claim is proved where both sides have one normal form. Otherwise it is
// tested at points drawn from the sets that its names belong to, at sizes that
// tell all axes apart, comparisons at a tie included: those of drawn numbers
// here, and where the program's own comparisons are ties in tie.go. The normal
// form is not believed blindly either: what it proves must hold at one point.

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
		if c.Keyword.Text == "claim" {
			p.line(c.Span, c.When, func() { p.claim(c) })
		} else {
			p.claim(c)
		}
	}
}

func (p *prover) claim(c *notation.Claim) {
	kind := claimKinds[c.Keyword.Text]
	it := Item{Kind: kind, Name: claimName(c), Text: notation.Print(c, notation.Unicode), Span: c.Span, Eq: p.equationOf(c)}
	switch {
	case c.Left == nil || c.Right == nil:
		p.sequential(c, it)
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
	})
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
	return ident.ASCII(strings.Join(words, "_"))
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

// pointOf evaluates the program of a claim at numbers that it can be evaluated at.
func (p *prover) pointOf(q *irbuild.Equality, prog *interp.Program, sizes map[string]int, why purpose, n int, edges bool) (params, out tensors, s *sampler) {
	params, out, s, _ = numbers(q.Func, prog, func() *sampler {
		s := newSampler(p.blk, q.Free, sizes, why, n)
		s.edges = edges
		return s
	}, func(s *sampler) tensors { return s.params(q.Func) })
	return params, out, s
}

// sidesAt compares the two sides of a claim at one point, in double-double
// arithmetic where its program can be evaluated in that, and says how far they may
// be apart.
func sidesAt(q *irbuild.Equality, s *sampler, params, out tensors) (worst, float64) {
	wide, ok := interp.RunWide(q.Func, s.sizes, params)
	if !ok {
		return compare(out[irbuild.Left], out[irbuild.Right]), claimTol
	}
	scale := wideScale
	if slices.ContainsFunc(q.Func.Params, func(v *ir.Value) bool { return ofRows(s.set(v, s.frees[v.Name].Type)) }) {
		scale = rowScale
	}
	return compareWide(wide[irbuild.Left], wide[irbuild.Right], scale), wideTol
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
	ev := Evidence{Verdict: Tested}
	prog := interp.Compile(q.Func)
	for i, sizes := range sizeSets(p.blk, p.opt.Deep, q.Func) {
		for k := range points {
			params, out, draw := p.pointOf(q, prog, sizes, forClaim, i*1000+k, k%2 == 1)
			ev.halved(draw)
			w, tol := compare(out[irbuild.Left], out[irbuild.Right]), claimTol
			if !proved || !(w.err <= tol) {
				w, tol = sidesAt(q, draw, params, out)
			}
			ev.Tolerance = tol
			if !(w.err <= tol) {
				switch {
				case proved && math.IsNaN(w.a) && math.IsNaN(w.b): // what is no number is for another item to say
					continue
				case proved && math.Abs(w.a-w.b) <= mostRoundings*roundingOf(q.Func, sizes, params)[irbuild.Left]:
					continue
				case proved:
					panic(fmt.Sprintf("prove: BUG: %s is proved, but %g is not %g%s at %s", it.Text, w.a, w.b, at(w.at), spelled(sizes)))
				}
				p.claimWrong(it, c, q)
				a, b := apartFrom(w.a, w.b)
				return failed(a + " is not " + b)
			}
			ev.Points += len(out[irbuild.Left].Data)
			ev.Worst = math.Max(ev.Worst, w.err)
		}
	}
	if proved {
		return Evidence{Verdict: Proved}
	}
	points, ok := p.atTies(it, c, q)
	if !ok {
		return failed("false at a kink")
	}
	if points > 0 {
		ev.Note = fmt.Sprintf("and at %d kinks", points)
	}
	return ev
}
