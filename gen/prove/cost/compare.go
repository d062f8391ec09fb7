package cost

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/recurrence"
	"github.com/nl-hecate/hecate/gen/prove/sample"
	"github.com/nl-hecate/hecate/gen/shape"
	"github.com/nl-hecate/hecate/gen/simplify"
	"github.com/nl-hecate/hecate/gen/units"
)

// ProveToken compares the cost lines of a rule with the count of one token.
func ProveToken(p *proof.Context, f *ir.Func) {
	for _, c := range proof.OwnStatements(p, p.Block.Costs) {
		count, ok := OfToken(f)
		if c.Name.Text != "write+read" || !ok {
			unknownCost(p, c, "the cost of a step is called write+read")
			continue
		}
		compareCost(p, c, count, f)
	}
}

// ProveCall compares the cost lines of an operation, composition or model with what
// its own programs take in one slot of the batch and one call. What the parts of a
// composition take is counted on their pages.
func ProveCall(p *proof.Context, fs []*ir.Func) {
	for _, c := range proof.OwnStatements(p, p.Block.Costs) {
		if c.Name.Text != "forward" {
			unknownCost(p, c, "the cost of "+units.KindName(p.Block.Unit.Kind)+" is called forward")
			continue
		}
		total := Count{Funcs: map[string]shape.Poly{}}
		var last *ir.Func
		for _, f := range fs {
			last, _ = f.Clone()
			simplify.Simplify(last)
			total.add(Of(last))
		}
		total.Adds = total.Adds.Replace(sample.Batch, shape.Int(1))
		compareCost(p, c, total, last)
	}
}

// unknownCost refuses a line about something that is not counted.
func unknownCost(p *proof.Context, c *notation.Cost, hint string) {
	p.Add(proof.Item{Kind: proof.Cost, Name: c.Name.Text, Span: c.Span, Evidence: proof.Failure("nothing of this name")})
	p.Diags.Errorf(diag.NotProvable, c.Name.Span, "nothing in %s is counted as %s", p.Unit.Name.Text, c.Name.Text).Hint("%s", hint)
}

// compareCost compares a cost line with a count. Where the line is another page's and
// does not hold, because the unit has other options, the count itself is listed.
func compareCost(p *proof.Context, c *notation.Cost, count Count, f *ir.Func) {
	holds := p.ProveLine(c.Span, c.When, func() {
		it := proof.Item{Kind: proof.Cost, Name: c.Name.Text, Text: notation.Print(c, notation.Unicode), Span: c.Span}
		it.Evidence = costEvidence(p, c, count, f, "")
		p.Add(it)
	})
	if !holds {
		p.Add(proof.Item{Kind: proof.Cost, Name: c.Name.Text + ".counted", Span: p.Unit.Span, Text: "cost " + c.Name.Text + " = " + count.Adds.String(),
			Evidence: proof.Evidence{Verdict: proof.Proved, Note: "counted " + count.String()}})
	}
}

// costEvidence compares a cost line with a count; where is added to the message.
func costEvidence(p *proof.Context, c *notation.Cost, count Count, f *ir.Func, where string) proof.Evidence {
	exact, ok := costSize(p, c.Value)
	room, ok2 := costSize(p, c.Big)
	written := c.Value // O(p) alone has no value
	if written == nil || ok && !ok2 {
		written = c.Big
	}
	if !ok || !ok2 {
		p.Diags.Errorf(diag.NotProvable, written.Where(), "this is no size").Hint("a cost is a sum of products of sizes")
		return proof.Failure("no size")
	}
	diff := count.Adds.Sub(exact)
	if c.Big == nil && !diff.IsZero() || c.Big != nil && !diff.BoundedBy(room) {
		d := p.Diags.Errorf(diag.CostDiffers, written.Where(), "%s takes %s operations%s", c.Name.Text, leading(count.Adds, room), where).Labelf("the page says %s", notation.Print(written, notation.Unicode))
		if e := costliest(p, f); e != nil {
			d.See(e.Span(), "most of them are here")
		}
		d.Hint("one multiply-add counts once, and a + O(p) covers what p bounds")
		return proof.Failure("counted " + count.String())
	}
	return proof.Evidence{Verdict: proof.Proved, Note: "counted " + count.String()}
}

// costSize reads a polynomial of the page in the program's names.
func costSize(p *proof.Context, e notation.Expr) (shape.Poly, bool) {
	if e == nil {
		return shape.Poly{}, true
	}
	q, ok := p.Block.SizeOf(e, nil)
	return sample.ASCIISizes(q), ok
}

// leading prints the monomials of a count that O(room) does not cover.
func leading(n, room shape.Poly) string {
	var parts []string
	for _, m := range n.Monomials() {
		mono := shape.Int(1)
		for _, s := range m.Syms {
			mono = mono.Mul(shape.Sym(s))
		}
		if !room.IsZero() && mono.BoundedBy(room) {
			continue
		}
		if m.Coef.IsInt() {
			mono = mono.Mul(shape.Int(m.Coef.Num().Int64()))
		}
		parts = append(parts, mono.String())
	}
	if len(parts) == 0 {
		return "only lower-order"
	}
	return strings.Join(parts, " + ")
}

// costliest is the equation with the largest share of a token's cost, estimated by the
// depth of its loop nests.
func costliest(p *proof.Context, f *ir.Func) *check.Equation {
	if f == nil {
		return nil
	}
	r := recurrence.Of(f)
	if r == nil {
		return nil
	}
	total := map[string]int{}
	best := ""
	for _, in := range r.Scan.Body.Body {
		if in.Eq != "" {
			total[in.Eq] += 1 << (4 * min(len(in.Loops), 7))
			if best == "" || total[in.Eq] > total[best] {
				best = in.Eq
			}
		}
	}
	for _, e := range p.Block.Eqs {
		if e.ID == best {
			return e
		}
	}
	return nil
}
