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

// What must hold at every step is decided in one of three ways. Interval
// arithmetic proves a range or an inequality that follows from the equations
// alone (ranges.go), and refutes a range that is narrower than what they give.
// All else is followed along trajectories: the rule runs from the values that its
// page starts it from, over random tokens, chunk after chunk, and after every
// token all sides are compared; then along hard ones, on which learned numbers
// and tokens are far from any start (hard.go). Declared sets are invariants too:
// that of every gate, and that of every state. Whatever else is said, the numbers
// must stay numbers.

// The length of a trajectory: chunks of so many tokens.
const (
	quickChunks, quickChunk = 4, 16
	deepChunks, deepChunk   = 100, 100
)

// OfRule follows the rule and settles everything that must hold at
// every step.
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
			w.it.Evidence = proof.Failure("cannot be built")
			p.Add(w.it)
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

// watch lists the invariants of a rule's pages and its declared sets.
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

// buildable reports whether a probe means something in this unit.
func buildable(blk *check.Block, x irbuild.Probe) bool {
	var quiet diag.List
	x.Name = "tried"
	return irbuild.Probed(blk, []irbuild.Probe{x}, &quiet) != nil && !quiet.HasErrors()
}
