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

// The cost of a rule in chunks is the cost of one chunk. The length of a chunk is a
// number in the program, so a line is compared at several lengths, each with the
// coefficients that it has there: the cost is a polynomial of low degree in the
// length, and two such polynomials that agree at four lengths are equal. A line on
// the page of a strategy must hold for every rule that uses the strategy; a line on
// the page of such a rule, at the rule's own length alone. A strategy that only
// freezes reads runs token by token, and its cost is that of a token.

// costLengths are the lengths at which the line of a strategy is compared. A chunk of
// one token lacks some equations of a page.
var costLengths = []int{2, 4, 8, 16}

// ProveChunks compares the cost lines of a strategy and of the rule that has it.
func ProveChunks(p *proof.Context) {
	whole, _ := check.Instantiate(p.Tree, p.Unit)
	if whole == nil || whole.Strategy == nil {
		return
	}
	old := p.Block
	defer func() { p.Block = old }()
	mine := func(c *notation.Cost) bool { return slices.Contains(p.Unit.Body, notation.Stmt(c)) }
	decided := map[*notation.Cost]*proof.Item{}
	var lines []*notation.Cost
	length := whole.Strategy.Length()
	for _, n := range append([]int{length}, costLengths...) {
		blk, ds := check.WithChunks(p.Tree, p.Unit, n)
		if len(blk.Costs) == 0 {
			continue
		}
		f := irbuild.Rule(blk, &ds)
		if ds.HasErrors() || f == nil {
			continue // reported where the rule is proved
		}
		p.Block = blk
		count, ok := OfToken(f)
		for _, c := range blk.Costs {
			it := decided[c]
			if mine(c) && it != nil || it != nil && it.Verdict == proof.Failed {
				continue
			}
			if name := chunkCostName(blk.Strategy); c.Name.Text != name || !ok {
				unknownCost(p, c, "the cost of a rule with this strategy is called "+name)
				decided[c] = &proof.Item{Evidence: proof.Failure("nothing of this name")}
				continue
			}
			if it == nil {
				it = &proof.Item{Kind: proof.Cost, Name: c.Name.Text, Text: notation.Print(c, notation.Unicode), Span: c.Span}
				decided[c] = it
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
		p.Add(*decided[c])
	}
}

// chunkCostName is the name of the cost line.
func chunkCostName(s *check.Strategy) string {
	if s.Frozen {
		return "write+read"
	}
	return "chunk"
}
