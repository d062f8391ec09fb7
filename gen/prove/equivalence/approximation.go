package equivalence

import (
	"fmt"
	"math"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
	"github.com/nl-hecate/hecate/gen/units"
)

// approximationLengths are the lengths of a chunk at which an approximate strategy is measured,
// over as many tokens as the longest.
var approximationLengths = []int{1, 2, 4, 8, 16}

// MeasureApproximation lists the distance of an approximate strategy from its rule.
func MeasureApproximation(p *proof.Context) {
	if !p.Block.Strategy.Approximate() {
		return
	}
	it := proof.Item{Kind: proof.Approximation, Name: "answers", Span: p.Unit.Span, Text: "distance of the outputs from those of the rule, relative to them"}
	off, err := Approximation(p.Tree, p.Unit)
	if err != nil {
		p.Diags.Append(*err)
		p.Fail(it, "cannot be built")
		return
	}
	var notes []string
	for i, n := range approximationLengths {
		notes = append(notes, fmt.Sprintf("%.2g at C = %d", off[i], n))
	}
	it.Evidence = proof.Evidence{Verdict: proof.Tested, Points: len(off), Note: strings.Join(notes, ", ")}
	p.Add(it)
}

// Approximation returns the distance of the outputs of a rule with a strategy from those of the
// rule, max |y − y_rule| / max |y_rule|, with chunks of 1, 2, 4, 8 and 16 tokens, over sixteen
// tokens from the declared first values.
func Approximation(tree *units.Tree, u *notation.Unit) ([]float64, *diag.List) {
	var out []float64
	for _, n := range approximationLengths {
		blk, ds := check.WithChunks(tree, u, n)
		if blk == nil || ds.HasErrors() {
			return nil, &ds
		}
		fast, slow := irbuild.Rule(blk, &ds), irbuild.Rule(blk.Strategy.Rule, &ds)
		if fast == nil || slow == nil || ds.HasErrors() {
			return nil, &ds
		}
		sizes := sample.AssignSizes(sample.SizeNames(blk, fast, slow), 2, approximationLengths[len(approximationLengths)-1], 6, 5, 4, 3)
		draw := sample.New(blk.Strategy.Rule, irbuild.Frees(blk.Strategy.Rule, slow), sizes, sample.ForApproximation, 0)
		params := draw.StartValues(slow)
		fillMissing(fast, params, sizes)
		y, want := interp.Run(fast, sizes, params)["y"], interp.Run(slow, sizes, params)["y"]
		d := y.Clone()
		for i := range d.Data {
			d.Data[i] -= want.Data[i]
		}
		out = append(out, numeric.MaxNorm(d)/math.Max(numeric.MaxNorm(want), 1e-300))
	}
	return out, nil
}
