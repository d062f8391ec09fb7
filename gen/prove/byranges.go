package prove

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// byIntervals is the note of what interval arithmetic proves.
const byIntervals = "by interval arithmetic"

// byRanges settles what interval arithmetic decides about a rule: a gate's or a
// state's range, and an inequality. The range of a state is assumed before a step
// and shown after it, from its first value on; one that does not show is assumed
// no longer.
func (p *prover) byRanges(f *ir.Func, all []*watched) {
	frees := irbuild.Frees(p.blk, f)
	states := map[string]interval{}
	first := p.firstRanges()
	for _, w := range all {
		if n := w.it.Name; w.set != nil && w.set.Kind == notation.RangeType && p.isState(n) {
			if x, ok := first[n]; ok && x.inside(declaredInterval(w.set)) {
				states[n] = declaredInterval(w.set)
			}
		}
	}
	var now map[string]ranged
	for again := true; again; {
		again = false
		now = rangesOf(f, frees, states)
		for _, w := range all {
			if iv, ok := states[w.it.Name]; ok && w.set != nil && !now[w.probe.Name].inside(iv) {
				delete(states, w.it.Name)
				again = true
			}
		}
	}
	for _, w := range all {
		left := now[w.probe.Name]
		if w.set == nil {
			if implied(w.op, left.interval, now[w.probe.RightName()].interval) {
				w.ev = Evidence{Verdict: Proved, Note: byIntervals}
			}
			continue
		}
		if w.set.Kind != notation.RangeType {
			continue
		}
		declared := declaredInterval(w.set)
		_, assumed := states[w.it.Name]
		switch {
		case p.isState(w.it.Name) && !assumed:
		case left.inside(declared):
			w.ev = Evidence{Verdict: Proved, Note: byIntervals + ": " + left.String()}
		case left.image:
			p.narrower(w, declared, left.interval)
		}
	}
}

func (p *prover) isState(ascii string) bool {
	for _, s := range p.blk.SymSeq {
		if ident.ASCII(s.Name) == ascii {
			return s.Kind == check.State
		}
	}
	return false
}

// firstRanges are the ranges of what states begin with.
func (p *prover) firstRanges() map[string]ranged {
	var quiet diag.List
	g := irbuild.Start(p.blk, &quiet)
	if g == nil || quiet.HasErrors() {
		return nil
	}
	return rangesOf(g, irbuild.Frees(p.blk, g), nil)
}

// implied reports whether a comparison follows from the ranges of its sides.
func implied(op string, a, b interval) bool {
	switch op {
	case "≤":
		return a.hi <= b.lo
	case "<":
		return a.hi < b.lo || a.hi == b.lo && (a.hiOpen || b.loOpen)
	case "≥":
		return implied("≤", b, a)
	case ">":
		return implied("<", b, a)
	}
	return false
}

// narrower refuses a declared range that the equation leaves.
func (p *prover) narrower(w *watched, declared, has interval) {
	w.bad = "narrower than the range of its equation, " + has.String()
	w.ev = failed(w.bad)
	at := w.it.Span
	if w.set.Span.File != nil {
		at = w.set.Span
	}
	d := p.ds.Errorf(diag.OutOfDomain, at, "%s: the equation takes every value in %s", w.it.Text, has).
		See(p.unit.Name.Span, "in %s", p.unit.Name.Text)
	d.Hint("declare %s, or limit the value with within %s", rangeText(w, has), closed(declared))
}

// rangeText is the declaration that has an interval.
func rangeText(w *watched, iv interval) string {
	name, _, _ := strings.Cut(w.it.Text, " ")
	return name + " ∈ " + iv.String()
}

// closed is an interval as a clamp has it.
func closed(iv interval) string {
	iv.loOpen, iv.hiOpen = false, false
	return iv.String()
}
