// Package invariant proves what must hold after every token of a rule, or of the result of
// an operation: the invariants that a page states and the declared sets of gates and states.
//
// A range or an inequality that follows from the equations is proved by interval arithmetic,
// and for a state by induction (by_intervals.go); a declared range that is narrower than the
// image of its equation is refuted. Everything else is tested along trajectories
// (trajectory.go): the rule runs from its first values over random tokens, chunk after chunk,
// and all sides are compared after every token; then over learned numbers and tokens of very
// different sizes (stress.go).
package invariant

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// The length of a trajectory: the number of chunks and of tokens in each.
const (
	quickChunks, quickChunk = 4, 16
	deepChunks, deepChunk   = 100, 100
)

// OfRule proves everything that must hold after every token of a rule, and that its outputs
// stay finite.
func OfRule(p *proof.Context) {
	all := conditionsOf(p)
	var ds diag.List
	probes := make([]irbuild.Probe, len(all))
	for i, w := range all {
		probes[i] = w.probe
	}
	f := irbuild.Probed(p.Block, probes, &ds)
	p.Diags.Append(ds)
	if f == nil || ds.HasErrors() {
		for _, w := range all {
			p.Fail(w.it, "cannot be built")
		}
		return
	}
	proveByIntervals(p, f, all)
	finite := proof.Item{Kind: proof.Domain, Name: "finite", Span: p.Unit.Span, Text: "the output stays finite"}
	done := false
	run := func() {
		if !done {
			done = true
			finite.Evidence = followTrajectories(p, f, all)
		}
	}
	for _, w := range all {
		p.Decide(w.it, func() proof.Evidence { run(); return w.verdict() })
	}
	p.Decide(finite, func() proof.Evidence { run(); return finite.Evidence })
}

// conditionsOf lists the invariants of a rule's pages and its declared sets.
func conditionsOf(p *proof.Context) []*condition {
	var out []*condition
	add := func(w *condition) {
		w.probe.Name = fmt.Sprintf("watch%d", len(out))
		out = append(out, w)
	}
	for i, inv := range p.Block.Invariants {
		for _, x := range relationsOf(p, inv, i) {
			w := newCondition(x.it, irbuild.Probe{Binders: inv.Binders, Left: x.X, Right: x.Y}, x.Op, nil)
			w.page = p.OtherPage(inv.Span, inv.When)
			if w.page != nil && !buildable(p.Block, w.probe) {
				w.it.Evidence = proof.HoldsOnlyFor(w.page)
				p.Add(w.it)
				continue
			}
			add(w)
		}
	}
	for _, s := range p.Block.SymSeq {
		if s.Type == nil || s.Kind != check.State && s.Kind != check.Defined || !restricted(s.Type) {
			continue
		}
		name := notation.Word{Span: s.Span, Text: s.Name + "_" + p.Block.Time}
		add(newCondition(proof.Item{Kind: proof.Domain, Name: ident.ASCII(s.Name), Text: s.Name + " ∈ " + notation.Print(s.Type, notation.Unicode), Span: s.Span},
			irbuild.Probe{Left: &notation.Ident{Span: s.Span, Name: name}}, "", s.Type))
	}
	return out
}

// buildable reports whether a probe has types in a block.
func buildable(blk *check.Block, x irbuild.Probe) bool {
	var quiet diag.List
	x.Name = "tried"
	return irbuild.Probed(blk, []irbuild.Probe{x}, &quiet) != nil && !quiet.HasErrors()
}
