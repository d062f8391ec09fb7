package marker

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/recurrence"
)

// learnedStart proves that a state starts from a learned parameter with a random first value:
// rows that start equal stay equal under a rule that treats all rows equally.
func learnedStart(p *proof.Context, _ *recurrence.Recurrence, states []string) (proof.Evidence, recurrence.Obstacle) {
	var quiet diag.List
	f := irbuild.Start(p.Block, &quiet)
	for _, s := range states {
		var v *ir.Value
		if f != nil {
			v = f.Result(s)
		}
		if v == nil || !drawn(p.Block, v) {
			return proof.Evidence{Verdict: proof.Failed}, recurrence.Obstacle{Why: s + " starts from nothing that is drawn at random"}
		}
	}
	return proof.Evidence{Verdict: proof.Proved}, recurrence.Obstacle{}
}

// drawn reports whether a value depends on a parameter with a random first value.
func drawn(blk *check.Block, v *ir.Value) bool {
	if v.Def != nil {
		return slices.ContainsFunc(v.Def.Reads(), func(v *ir.Value) bool { return drawn(blk, v) })
	}
	return slices.ContainsFunc(blk.SymSeq, func(s *check.Symbol) bool {
		return ident.ASCII(s.Name) == v.Name && s.Kind == check.Outer && s.Decl != nil && s.Decl.Dist != nil
	})
}
