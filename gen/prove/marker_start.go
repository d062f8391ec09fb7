package prove

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
)

// learnedStart proves that a state begins with something that is learned and
// was drawn at random: rows that start alike under a rule that treats them alike
// stay alike for ever.
func learnedStart(p *prover, _ *recurrence, states []string) (Evidence, blame) {
	var quiet diag.List
	f := irbuild.Start(p.blk, &quiet)
	for _, s := range states {
		var v *ir.Value
		if f != nil {
			v = f.Result(s)
		}
		if v == nil || !p.drawn(v) {
			return Evidence{Verdict: Failed}, blame{why: s + " starts from nothing that is drawn at random"}
		}
	}
	return Evidence{Verdict: Proved}, blame{}
}

// drawn reports whether a value depends on a parameter that is drawn.
func (p *prover) drawn(v *ir.Value) bool {
	if v.Def != nil {
		return slices.ContainsFunc(v.Def.Reads(), p.drawn)
	}
	return slices.ContainsFunc(p.blk.SymSeq, func(s *check.Symbol) bool {
		return ident.ASCII(s.Name) == v.Name && s.Kind == check.Outer && s.Decl != nil && s.Decl.Dist != nil
	})
}
