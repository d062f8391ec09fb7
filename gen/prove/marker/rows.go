package marker

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/recurrence"
)

// KeepsRows tests that the states of a rule that are declared on the sphere or the simplex stay
// there: a formula that no page refuses may still leave the set.
func KeepsRows(blk *check.Block) diag.List {
	var ds diag.List
	p := proof.NewContext(blk.Tree, blk.Unit, proof.Options{})
	p.Block = blk
	var r *recurrence.Recurrence
	for _, s := range blk.SymSeq {
		if s.Kind != check.State || s.Type == nil || s.Type.Kind != notation.SphereType && s.Type.Kind != notation.SimplexType {
			continue
		}
		if r == nil {
			f := irbuild.Rule(blk, &ds)
			if ds.HasErrors() {
				return ds
			}
			r = recurrence.Of(f)
		}
		if r == nil || r.Carry[ident.ASCII(s.Name)] == nil {
			continue
		}
		if ev, b := staysOnRows(s.Type.Kind)(p, r, []string{ident.ASCII(s.Name)}); ev.Verdict == proof.Failed {
			ds.Errorf(diag.OutOfDomain, s.Span, "%s ∈ %s: the state %s", s.Name, notation.Print(s.Type, notation.Unicode), b.Why)
		}
	}
	return ds
}
