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

// Which strategy computes which rule is found out by trying: the rule is given
// the strategy as a page would give it, built, and held to what the strategy's
// page claims. No list of pairs stands anywhere.

// An Applicability is how a strategy stands to a rule.
type Applicability struct {
	Refused string    // why the rule cannot be given the strategy, "" where it can
	Off     []float64 // of an approximation: how far off its answers are, as of Approximation
}

// Exact reports whether the strategy gives what the rule gives.
func (s Applicability) Exact() bool { return s.Refused == "" && s.Off == nil }

// Last is the distance of an approximation at the longest chunk that is tried,
// and that chunk's length.
func (s Applicability) Last() (off float64, tokens int) {
	return s.Off[len(s.Off)-1], approximationLengths[len(approximationLengths)-1]
}

// Apply tries a strategy on a rule, at the chunks of a quick proof.
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
	for _, st := range strategy.Body {
		if c, ok := st.(*notation.Claim); ok && isSequential(c) {
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
		return Applicability{} // there was nothing to freeze
	}
	return Applicability{Off: off}
}

// firstError is the first message of a list.
func firstError(ds diag.List) string {
	for _, d := range ds.Sorted() {
		if d.Severity == diag.Error {
			return d.Text
		}
	}
	return "it cannot be built"
}
