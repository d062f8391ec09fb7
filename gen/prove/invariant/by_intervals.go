package invariant

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/interval"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// byIntervals is the note of what interval arithmetic proves.
const byIntervals = "by interval arithmetic"

// proveByIntervals proves ranges of gates and states and inequalities by interval arithmetic.
// Ranges of states are proved together by induction over the tokens: the base case is the
// first value; the step assumes the ranges before a token and shows them after it. A range
// that the step does not show is no longer assumed, until a fixed point is reached.
func proveByIntervals(p *proof.Context, f *ir.Func, all []*condition) {
	frees := irbuild.Frees(p.Block, f)
	states := map[string]interval.Interval{}
	first := startRanges(p.Block)
	for _, w := range all {
		if n := w.it.Name; w.set != nil && w.set.Kind == notation.RangeType && isState(p.Block, n) {
			if x, ok := first[n]; ok && x.Inside(interval.Declared(w.set)) {
				states[n] = interval.Declared(w.set)
			}
		}
	}
	var now map[string]interval.Range
	for again := true; again; {
		again = false
		now = interval.Of(f, frees, states)
		for _, w := range all {
			if iv, ok := states[w.it.Name]; ok && w.set != nil && !now[w.probe.Name].Inside(iv) {
				delete(states, w.it.Name)
				again = true
			}
		}
	}
	for _, w := range all {
		left := now[w.probe.Name]
		if w.set == nil {
			if implied(w.op, left.Interval, now[w.probe.RightName()].Interval) {
				w.ev = proof.Evidence{Verdict: proof.Proved, Note: byIntervals}
			}
			continue
		}
		if w.set.Kind != notation.RangeType {
			continue
		}
		declared := interval.Declared(w.set)
		_, assumed := states[w.it.Name]
		switch {
		case isState(p.Block, w.it.Name) && !assumed:
		case left.Inside(declared):
			w.ev = proof.Evidence{Verdict: proof.Proved, Note: byIntervals + ": " + left.String()}
		case left.Image:
			reportNarrower(p, w, declared, left.Interval)
		}
	}
}

// isState reports whether a name of the program is a state.
func isState(blk *check.Block, ascii string) bool {
	for _, s := range blk.SymSeq {
		if ident.ASCII(s.Name) == ascii {
			return s.Kind == check.State
		}
	}
	return false
}

// startRanges are the ranges of the first values of the states.
func startRanges(blk *check.Block) map[string]interval.Range {
	var quiet diag.List
	g := irbuild.Start(blk, &quiet)
	if g == nil || quiet.HasErrors() {
		return nil
	}
	return interval.Of(g, irbuild.Frees(blk, g), nil)
}

// implied reports whether a comparison follows from the ranges of its sides.
func implied(op string, a, b interval.Interval) bool {
	switch op {
	case "≤":
		return a.Hi <= b.Lo
	case "<":
		return a.Hi < b.Lo || a.Hi == b.Lo && (a.HiOpen || b.LoOpen)
	case "≥":
		return implied("≤", b, a)
	case ">":
		return implied("<", b, a)
	}
	return false
}

// reportNarrower refuses a declared range that is narrower than the image of its equation.
func reportNarrower(p *proof.Context, w *condition, declared, has interval.Interval) {
	w.failure = "narrower than the range of its equation, " + has.String()
	w.ev = proof.Failure(w.failure)
	at := w.it.Span
	if w.set.Span.File != nil {
		at = w.set.Span
	}
	d := p.Diags.Errorf(diag.OutOfDomain, at, "%s: the equation takes every value in %s", w.it.Text, has).
		See(p.Unit.Name.Span, "in %s", p.Unit.Name.Text)
	name, _, _ := strings.Cut(w.it.Text, " ")
	declared.LoOpen, declared.HiOpen = false, false // as a clamp has its ends
	d.Hint("declare %s ∈ %s, or limit the value with within %s", name, has, declared)
}
