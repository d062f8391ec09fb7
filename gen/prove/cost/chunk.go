package cost

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// The cost of a rule in chunks is that of one chunk. Its tokens are a number when
// a page is configured, so a line is compared at several lengths, each with the
// coefficients that it has there: what a chunk takes is a polynomial of low degree
// in its length, and two that agree at four lengths are one. A line on the page
// of a strategy is held for every rule that is given it; one on the page of such
// a rule at the rule's own length alone, so that it may have a number where the
// strategy has a logarithm. A strategy that only freezes reads goes on token by
// token, and its cost is that of a rule.

// costLengths are the lengths at which the line of a strategy is compared. In a
// chunk of one token some parts of a page are not there.
var costLengths = []int{2, 4, 8, 16}

// chunkCosts compares the cost lines of a strategy and of the rule that has it.
func ProveChunks(p *proof.Context) {
	whole, _ := check.Instantiate(p.Tree, p.Unit)
	if whole == nil || whole.Strategy == nil {
		return
	}
	old := p.Block
	defer func() { p.Block = old }()
	mine := func(c *notation.Cost) bool { return slices.Contains(p.Unit.Body, notation.Stmt(c)) }
	settled := map[*notation.Cost]*proof.Item{}
	var lines []*notation.Cost
	length := whole.Strategy.Length()
	for _, n := range append([]int{length}, costLengths...) {
		blk, ds := check.WithChunks(p.Tree, p.Unit, n)
		if len(blk.Costs) == 0 {
			continue
		}
		f := irbuild.Rule(blk, &ds)
		if ds.HasErrors() || f == nil {
			continue // said where the rule is proved
		}
		p.Block = blk
		count, ok := OfToken(f)
		for _, c := range blk.Costs {
			it := settled[c]
			if mine(c) && it != nil || it != nil && it.Verdict == proof.Failed {
				continue
			}
			if name := chunkCostName(blk.Strategy); c.Name.Text != name || !ok {
				unknownCost(p, c, "the cost of a rule with this strategy is called "+name)
				settled[c] = &proof.Item{Evidence: proof.Failure("nothing of this name")}
				continue
			}
			if it == nil {
				it = &proof.Item{Kind: proof.Cost, Name: c.Name.Text, Text: notation.Print(c, notation.Unicode), Span: c.Span}
				settled[c] = it
				lines = append(lines, c)
			}
			var notes []string
			if it.Note != "" {
				notes = append(notes, it.Note)
			}
			it.Evidence = costEvidence(p, c, count, f, fmt.Sprintf(" in a chunk of %d", n))
			it.Note = strings.Join(append(notes, fmt.Sprintf("%s at %s = %d", it.Note, blk.Strategy.Size.Name, n)), "; ")
		}
	}
	for _, c := range lines {
		p.Add(*settled[c])
	}
}

// chunkCostName is what the cost of a step is called.
func chunkCostName(s *check.Strategy) string {
	if s.Frozen {
		return "write+read"
	}
	return "chunk"
}
