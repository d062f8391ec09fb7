package invariant

import (
	"fmt"
	"math"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/interval"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

const (
	invTol   = 1e-9  // of an equality after any number of tokens
	rangeTol = 1e-12 // of an inequality
)

// A condition is a relation or a declared set that must hold after every token, the probe that
// computes its sides, and what is known of it.
type condition struct {
	it      proof.Item
	probe   irbuild.Probe
	op      string         // of a relation
	set     *notation.Type // a declared set
	page    *notation.Unit // another page that states it of itself alone
	ev      proof.Evidence
	failure string // the first violation

	closest     float64 // the least distance from a violation
	closestText string  // and its point
}

// newCondition returns a condition that is not tested yet.
func newCondition(it proof.Item, probe irbuild.Probe, op string, set *notation.Type) *condition {
	w := &condition{it: it, probe: probe, op: op, set: set, closest: math.Inf(1)}
	w.ev = proof.Evidence{Verdict: proof.Tested, Tolerance: w.tolerance()}
	return w
}

// tolerance allows for rounding, which accumulates along a trajectory in an equality.
func (w *condition) tolerance() float64 {
	if w.set == nil && w.op == "=" || w.set != nil && proof.HasNormalisedRows(w.set.Kind) {
		return invTol
	}
	return rangeTol
}

// restricted reports whether a type is narrower than all numbers.
func restricted(t *notation.Type) bool {
	switch t.Kind {
	case notation.RangeType:
		return t.Lo != nil || t.Hi != nil
	case notation.SphereType, notation.SimplexType:
		return true
	}
	return false
}

// entries are the shape and the number of entries of the larger side.
func (w *condition) entries(out numeric.Tensors) (shape []int, n int) {
	return numeric.LargerShape(out[w.probe.Name], out[w.probe.RightName()])
}

// inside reports whether the binders' conditions hold at entry i of n.
func (w *condition) inside(out numeric.Tensors, i, n int) bool {
	in := out[w.probe.InsideName()]
	return in == nil || numeric.Broadcast(in.Data, i, n) != 0
}

// afterToken prints the token of entry i of a probe, after some tokens of earlier chunks.
func afterToken(before int, shape []int, i int) string {
	return fmt.Sprintf("after token %d", before+numeric.Unravel(shape, i)[1]+1)
}

// violation is by how much the condition fails at entry i, whether the entry is at an excluded
// end, and the text of the violation.
func (w *condition) violation(out numeric.Tensors, i int) (by float64, end bool, text string) {
	if w.set != nil {
		return outside(w.set, out[w.probe.Name], i)
	}
	a, b := w.sides(out, i)
	by, end = relative(w.op, a, b, a-b)
	return by, end, notHolding(w.op, a, b)
}

// sides are the numbers that are compared at entry i.
func (w *condition) sides(out numeric.Tensors, i int) (a, b float64) {
	_, n := w.entries(out)
	return numeric.Broadcast(out[w.probe.Name].Data, i, n), numeric.Broadcast(out[w.probe.RightName()].Data, i, n)
}

// relative is by how much a comparison of a and b fails, relative to their size, where d is
// their difference, and whether they are equal in a strict inequality.
func relative(op string, a, b, d float64) (by float64, end bool) {
	return violated(op, d) / math.Max(1, math.Max(math.Abs(a), math.Abs(b))), d == 0 && (op == "<" || op == ">")
}

func notHolding(op string, a, b float64) string {
	return fmt.Sprintf("%.12g %s %.12g does not hold", a, op, b)
}

// nearAt records how close the condition came to failing at entry i.
func (w *condition) nearAt(out numeric.Tensors, i int, when string, sizes map[string]int) {
	if w.set == nil {
		x, y := w.sides(out, i)
		w.near(x, y, when, sizes)
	} else if w.set.Kind == notation.RangeType {
		x, iv := out[w.probe.Name].Data[i], interval.Declared(w.set)
		w.closer(math.Min(x-iv.Lo, iv.Hi-x), fmt.Sprintf("%.6g", x), when, sizes)
	}
}

// near records how close the two sides of an inequality came.
func (w *condition) near(x, y float64, when string, sizes map[string]int) {
	if w.op != "=" {
		w.closer(math.Abs(x-y), fmt.Sprintf("%.6g %s %.6g", x, w.op, y), when, sizes)
	}
}

func (w *condition) closer(gap float64, text, when string, sizes map[string]int) {
	if gap < w.closest {
		w.closest, w.closestText = gap, strings.TrimSpace(text+" "+when)+" at "+sample.SizesText(sizes)
	}
}

// verdict is the evidence for the condition.
func (w *condition) verdict() proof.Evidence {
	switch {
	case w.ev.Verdict == proof.Proved:
		w.ev.Points = 0 // tested as well, which adds nothing to a proof
	case w.ev.Verdict == proof.Tested && w.closestText != "":
		w.ev.Note = fmt.Sprintf("closest by %.2g: %s", math.Max(0, w.closest), w.closestText)
	}
	return w.ev
}

// violated is by how much a comparison fails whose sides differ by d.
func violated(op string, d float64) float64 {
	switch op {
	case "<", "≤":
		return math.Max(0, d)
	case ">", "≥":
		return math.Max(0, -d)
	}
	return math.Abs(d)
}

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
