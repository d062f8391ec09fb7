package invariant

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// isComparison reports whether a relation compares two numbers.
func isComparison(op string) bool {
	switch op {
	case "=", "<", "≤", ">", "≥":
		return true
	}
	return false
}

// A stated relation is one of an invariant, with its item.
type stated struct {
	*notation.Relation
	it proof.Item
}

// relationsOf lists the relations of invariant i, each of which is decided by itself: a chain
// a ≤ b < c and a conjunction have several. An invariant that is not made of comparisons is
// refused.
func relationsOf(p *proof.Context, inv *notation.Invariant, i int) []stated {
	var out []stated
	name := proof.InvariantName(inv, i)
	for _, c := range proof.Conjuncts(inv.Cond) {
		r, ok := c.(*notation.Relation)
		if !ok || !isComparison(r.Op) {
			p.Add(proof.Item{Kind: proof.Invariant, Name: name, Span: inv.Span, Evidence: proof.Failure("no comparison")})
			p.Diags.Errorf(diag.NotProvable, c.Where(), "an invariant compares two numbers").Hint("use =, <, ≤, > or ≥")
			return nil
		}
		alone := *inv
		alone.Cond = r
		out = append(out, stated{r, proof.Item{Kind: proof.Invariant, Name: fmt.Sprintf("%s.%d", name, len(out)+1), Text: notation.Print(&alone, notation.Unicode), Span: inv.Span}})
	}
	if len(out) == 1 {
		out[0].it.Name = name
	}
	return out
}
