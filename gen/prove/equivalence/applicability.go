package equivalence

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/units"
)

// Which strategy computes which rule is found by trying: the rule is given the strategy, built,
// and compared with it as the strategy's page claims. There is no list of pairs.

// An Applicability says whether a strategy computes a rule.
type Applicability struct {
	Refused string    // why it does not, "" where it does
	Off     []float64 // of an approximation: its distances, see Approximation
}

// Exact reports whether the strategy computes the rule exactly.
func (s Applicability) Exact() bool { return s.Refused == "" && s.Off == nil }

// Last is the distance of an approximation at the longest chunk, and the chunk's length.
func (s Applicability) Last() (off float64, tokens int) {
	return s.Off[len(s.Off)-1], approximationLengths[len(approximationLengths)-1]
}

// Apply tries a strategy on a rule, with the chunks of a quick proof.
func Apply(tree *units.Tree, strategy, rule *notation.Unit) Applicability {
	of := func(u *notation.Unit) *notation.Apply { return &notation.Apply{Span: u.Name.Span, Name: u.Name} }
	a := of(strategy)
	a.Args = []*notation.Override{{Span: a.Span, Apply: of(rule)}}
	u := &notation.Unit{Span: strategy.Span, Kind: notation.RuleUnit, Name: rule.Name, Formula: &notation.Formula{Span: a.Span, Parts: []*notation.Apply{a}}}
	p := proof.NewContext(tree, u, proof.Options{})
	blk, ds := check.WithChunks(tree, u, ProvedChunk)
	if blk != nil && !ds.HasErrors() {
		irbuild.Rule(blk, &ds)
	}
	if blk == nil || ds.HasErrors() {
		return Applicability{Refused: firstError(ds)}
	}
	p.Block = blk
	for c := range notation.Of[*notation.Claim](strategy.Body) {
		if isSequential(c) {
			Sequential(p, c, proof.Item{Kind: proof.ClaimKinds[c.Keyword.Text], Span: c.Span})
		}
	}
	for _, it := range p.Report.Items {
		if it.Verdict == proof.Failed {
			return Applicability{Refused: "it computes something else: " + it.Note}
		}
	}
	if len(p.Report.Items) == 0 {
		return Applicability{Refused: "the page claims nothing"}
	}
	if !blk.Strategy.Approximate() {
		return Applicability{}
	}
	off, bad := Approximation(tree, u)
	if bad != nil {
		return Applicability{Refused: firstError(*bad)}
	}
	if slices.Max(off) == 0 {
		return Applicability{} // no read was frozen
	}
	return Applicability{Off: off}
}

// firstError is the text of the first error of a list.
func firstError(ds diag.List) string {
	for _, d := range ds.Sorted() {
		if d.Severity == diag.Error {
			return d.Text
		}
	}
	return "it cannot be built"
}
