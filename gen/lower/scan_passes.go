package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// A scanPass rewrites a recurrence before it becomes loops. It is skipped when its
// condition is false at its turn.
type scanPass struct {
	name string
	run  func(l *lowerer, rec *recurrence)
	when func(rec *recurrence) bool // nil: always
}

// scanPasses run in this order on every recurrence of a program. The forward
// and the step that a backward replays take the same decisions about products,
// one product at a time, so that a replay has the bits of the forward.
var scanPasses = []scanPass{
	{"resolve replay", (*lowerer).resolveReplay, backward},
	{"factor out scalings", func(l *lowerer, rec *recurrence) { l.factorOutScalings(rec.s.Body.Body) }, nil},
	{"split sums", func(_ *lowerer, rec *recurrence) { factor(rec.s.Body) }, forward},
	{"order factors", func(_ *lowerer, rec *recurrence) { sortFactors(rec.s.Body.Body, nil) }, forward},
	{"merge equal instructions", (*lowerer).mergeSteps, nil},
	{"match states", (*lowerer).matchStates, replays},
	{"hoist", (*lowerer).hoistSteps, nil},
	{"find independent rows", func(_ *lowerer, rec *recurrence) { rec.findRows() }, oneToken},
	{"split row sums", (*lowerer).splitRowSums, hasRows},
	{"sink", (*lowerer).sink, hasRows},
	{"split sums of the adjoint", (*lowerer).factorAdjoint, adjointWithoutRows},
	{"rewrite chunk step", func(l *lowerer, rec *recurrence) { l.chunkStep(rec.s) }, chunked},
	{"materialise results", (*lowerer).materialise, nil},
	{"confirm rows", func(_ *lowerer, rec *recurrence) { rec.confirmRows() }, hasRows},
	{"order factors by row", func(_ *lowerer, rec *recurrence) { sortFactors(rec.s.Body.Body, rec.rows) }, backward},
}

// scanPassOrder says for a pass what must have run before it, and why; a test
// holds scanPasses to it.
var scanPassOrder = []struct{ before, after, why string }{
	{"resolve replay", "factor out scalings", "the replayed step is brought into the order of the forward's when it is made"},
	{"resolve replay", "match states", "there is no replay to compare with before"},
	{"factor out scalings", "split sums", "a factor leaves a sum only where it is a factor of the product"},
	{"split sums", "order factors", "the order is that of the factors which stay"},
	{"order factors", "merge equal instructions", "a merged product has one order in the forward and in its replay"},
	{"merge equal instructions", "match states", "each value has one instruction, so it is found once"},
	{"match states", "hoist", "a state after the token is read from the replay and must not be computed outside"},
	{"hoist", "find independent rows", "what is hoisted does not constrain the rows"},
	{"find independent rows", "split row sums", "it needs the row loop of each instruction"},
	{"find independent rows", "split sums of the adjoint", "it is for adjoints without rows"},
	{"split row sums", "sink", "a sum over rows leaves the recurrence as one instruction"},
	{"merge equal instructions", "rewrite chunk step", "a value that is read twice has one layout"},
	{"sink", "materialise results", "outputs that leave the recurrence are not stored in it"},
	{"rewrite chunk step", "materialise results", "results are stored where the rewritten step computes them"},
	{"materialise results", "confirm rows", "the copies get their row"},
	{"confirm rows", "order factors by row", "the row comes first among the loops"},
}

func forward(rec *recurrence) bool            { return !rec.s.Reverse }
func backward(rec *recurrence) bool           { return rec.s.Reverse }
func replays(rec *recurrence) bool            { return rec.replay != nil }
func oneToken(rec *recurrence) bool           { return !rec.chunks }
func chunked(rec *recurrence) bool            { return rec.chunks }
func hasRows(rec *recurrence) bool            { return rec.rows != nil }
func adjointWithoutRows(rec *recurrence) bool { return rec.rows == nil && rec.s.Reverse }

// prepareScan runs the passes over recurrence n of the program.
func (l *lowerer) prepareScan(in *ir.Instr, n int) *recurrence {
	rec := &recurrence{in: in, s: in.Scan, index: n, before: map[*ir.Value]int{}, after: map[*ir.Value]int{}, inline: map[*ir.Value]bool{}}
	if backward(rec) {
		rec.link = l.links.find(n)
		rec.chunks = rec.link != nil && rec.link.chunks
	} else {
		rec.chunks = len(rec.s.ChunkAxes()) > 0
	}
	for _, p := range scanPasses {
		if p.when == nil || p.when(rec) {
			p.run(l, rec)
		}
	}
	return rec
}

// mergeSteps merges equal instructions in the step and in the replayed one.
func (l *lowerer) mergeSteps(rec *recurrence) {
	for _, s := range rec.scans() {
		l.mergeAndSweep(s)
	}
}

// hoistSteps hoists out of the replayed step first, so that what both compute
// is computed as the replay has it.
func (l *lowerer) hoistSteps(rec *recurrence) {
	for _, s := range slices.Backward(rec.scans()) {
		l.hoist(rec, s)
	}
}

// factorAdjoint moves factors out of the sums of an adjoint step.
func (l *lowerer) factorAdjoint(rec *recurrence) {
	factor(rec.s.Body)
	l.mergeAndSweep(rec.s)
}
