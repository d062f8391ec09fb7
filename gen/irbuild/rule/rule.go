// Package rule builds the programs of a rule: its step over the tokens of a call,
// the read of a memory that does not change, and the initial states. Equations that
// need no state are built for all tokens at once; the others are the body of one
// scan, token by token (package scan) or chunk by chunk (package chunked). All
// programs are then mapped over the heads.
package rule

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/chunked"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/scan"
)

// Rule builds the program of a rule: inputs, learned parameters and states in;
// y and states out.
func Rule(blk *check.Block, ds *diag.List) *ir.Func {
	return whole(blk, func() *ir.Func { return Probed(blk, nil, ds) }, ds)
}

// Distinct is Rule, token by token, in which no two equations of a step share a value.
func Distinct(blk *check.Block, ds *diag.List) *ir.Func {
	e, n := scan.NewBuilder(blk, blk.ID, ds)
	n.Distinct = true
	return whole(blk, func() *ir.Func { return n.Program(e, nil) }, ds)
}

// whole is the program of one head over all heads, without what nothing reads. Equations that an
// option leaves out are checked first.
func whole(blk *check.Block, oneHead func() *ir.Func, ds *diag.List) *ir.Func {
	if before := ds.Len(); blk.Unpruned != nil {
		if Probed(blk.Unpruned, nil, ds); ds.Len() > before {
			return nil
		}
	}
	f := oneHead()
	scan.DropUnread(f)
	return program.OverHeads(blk, program.CheckSizes(blk, f, ds), ds)
}

// Probed builds the program of one head of a rule: in chunks where a strategy
// says so, else token by token with the values of probes as further results, over
// batch and tokens.
func Probed(blk *check.Block, probes []scan.Probe, ds *diag.List) *ir.Func {
	e, n := scan.NewBuilder(blk, blk.ID, ds)
	if blk.Strategy != nil && !blk.Strategy.Frozen {
		return chunked.Program(e, n)
	}
	return n.Program(e, probes)
}

// Frozen builds the read of a rule whose states do not change.
func Frozen(blk *check.Block, ds *diag.List) *ir.Func {
	return program.OverHeads(blk, scan.Frozen(blk, ds), ds)
}

// Start builds the initial values of a rule's states from its learned
// parameters, for every sequence of the batch.
func Start(blk *check.Block, ds *diag.List) *ir.Func {
	return program.OverHeads(blk, scan.Initial(blk, ds), ds)
}
