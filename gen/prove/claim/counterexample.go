package claim

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// reportCounterexample reports an equality that fails with its smallest counterexample: sizes
// grow until one refutes it. The caret is under the summand that is wrong, where there is one.
func reportCounterexample(p *proof.Context, it proof.Item, c *notation.Claim, q *irbuild.Equality) {
	prog := interp.Compile(q.Func)
	part, why := c.Right, ""
	sets := append(sample.GrowingSizes(sample.SizeNames(p.Block, q.Func)), sample.Sizes(p.Block, true, q.Func)...)
	for i, sizes := range append(sets, sets...) {
		for k := range 8 {
			if i >= len(sets) {
				why = "only where two of the numbers are equal, or one is 0"
			}
			params, out, draw := sample.EqualityPoint(p.Block, q, prog, sizes, sample.ForCounterexample, k, i >= len(sets))
			w, tol := compareSides(q, draw, params, out)
			if w.Err <= tol {
				continue
			}
			if x, reason := wrongTerm(p, q, prog); x != nil {
				part, why = x, reason
			}
			if why == "" {
				why = wrongFactor(p, q, prog)
			}
			a, b := distinctDigits(w.A, w.B)
			if why == "" && w.Err < 1e-6 {
				why = fmt.Sprintf("the sides differ by %.2g of their size", w.Err)
			}
			d := p.Diags.Errorf(claimCodes[it.Kind], part.Where(), "%s: at %s the left side is %s and the right side %s%s",
				failureText[it.Kind], sample.SizesText(sizes), a, b, numeric.AtIndex(w.Index)).Labelf("%s", why)
			seeEquation(p, d, it)
			return
		}
	}
	p.Diags.Errorf(claimCodes[it.Kind], c.Right.Where(), "%s at some points", failureText[it.Kind])
}

// distinctDigits prints two numbers with enough digits to tell them apart.
func distinctDigits(a, b float64) (string, string) {
	for _, digits := range []int{9, 13} {
		if x, y := fmt.Sprintf("%.*g", digits, a), fmt.Sprintf("%.*g", digits, b); x != y {
			return x, y
		}
	}
	return fmt.Sprintf("%.17g", a), fmt.Sprintf("%.17g", b)
}

// failureText says what is wrong where an equality fails.
var failureText = map[proof.Kind]string{proof.Claim: "the claim fails", proof.Eval: "eval computes something else", proof.Adjoint: "the declared adjoint is not the derivative"}

// seeEquation adds the equation that an item is about to a message.
func seeEquation(p *proof.Context, d *diag.Diagnostic, it proof.Item) {
	for _, e := range p.Block.Eqs {
		if e.ID == it.Eq {
			d.See(e.Span(), "the equation is here")
			return
		}
	}
	if r := p.Block.Unit.Result; r != nil {
		d.See(r.Span, "the equation is here")
		return
	}
	for g := range notation.All[*notation.Grad](claimOf(p, it)) {
		if f := p.Block.Funcs[g.Call.Fun.Text]; f != nil {
			d.See(f.Def.Span, "the function is here")
			return
		}
	}
}

// claimOf is the claim of an item.
func claimOf(p *proof.Context, it proof.Item) any {
	for _, c := range p.Block.Claims {
		if c.Span == it.Span {
			return c
		}
	}
	return nil
}
