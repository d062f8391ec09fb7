// Package irbuild turns a checked block into tensor programs: type checking and
// translation of equations into the SSA form of gen/ir. Every function takes a
// block and a list of diagnostics; it returns nil after it has reported an error.
//
// The work is done in packages below this one, each of which imports only those
// above it in this list:
//
//	tensor   lazy tensors: products of factors that become instructions on demand
//	program  passes over a built program: axes, limits, batching over heads, cuts
//	expr     expressions: names, axes, indices, reductions, products, calls, solves
//	scan     a rule token by token: series, and the body of its recurrence
//	form     polynomials in a state, compared coefficient by coefficient
//	chunked  a rule chunk by chunk, as a strategy computes it
//	rule     the programs of a rule
//	compose  operations; compositions and models in stages; parts inlined
//	update   optimizer updates
//	claim    the two sides of claims, kinks and invariants; inner gradients
//
// This package is their outward face.
package irbuild

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/claim"
	"github.com/nl-hecate/hecate/gen/irbuild/compose"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/rule"
	"github.com/nl-hecate/hecate/gen/irbuild/scan"
	"github.com/nl-hecate/hecate/gen/irbuild/update"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Types of results, described where they are made.
type (
	// A Probe is a value, or the two sides of an invariant, that Probed returns.
	Probe = scan.Probe
	// A Program is a composition or model in stages.
	Program = compose.Program
	// A Stage is one program, or one call of a part, of a Program.
	Stage = compose.Stage
	// How says what the call of a stage does with parts.
	How = compose.How
	// A PartCall is the call of a part in the program of Open.
	PartCall = compose.PartCall
	// An Equality is the program of the two sides of a claim.
	Equality = claim.Equality
	// A Free is a name that a claim speaks of.
	Free = claim.Free
	// A Gradient is the program of one ∇ inside an equation.
	Gradient = claim.Gradient
)

// How a stage calls parts.
const (
	One           = compose.One
	Each          = compose.Each
	Chain         = compose.Chain
	ResidualChain = compose.ResidualChain
	Opens         = compose.Opens
)

// The names of results of an Equality and of a Gradient.
const (
	Left   = claim.Left
	Right  = claim.Right
	Value  = claim.Value
	Inside = claim.Inside
	Loss   = claim.Loss
	Slope  = claim.Slope
)

// Rule builds the program of a rule. Parameters: the inputs [L, T, …], learned
// parameters and states [L, …]. Results: y [L, T, …], and the states after the
// last token. With heads there is an axis H after L, and y is [L, T, H·d_v].
func Rule(blk *check.Block, ds *diag.List) *ir.Func { return rule.Rule(blk, ds) }

// Distinct is Rule, token by token, with a value of its own for every equation that
// changes with the states: one that only renames a value has a copy, and so an
// adjoint of its own.
func Distinct(blk *check.Block, ds *diag.List) *ir.Func { return rule.Distinct(blk, ds) }

// Frozen builds the read of a rule whose states do not change; its results are
// those of Rule without the states that only a write changes.
func Frozen(blk *check.Block, ds *diag.List) *ir.Func { return rule.Frozen(blk, ds) }

// Start builds the initial values of a rule's states, [L, …], from its learned
// parameters.
func Start(blk *check.Block, ds *diag.List) *ir.Func { return rule.Start(blk, ds) }

// Probed builds Rule for one head with the values of probes, [L, T, …], as
// further results.
func Probed(blk *check.Block, probes []Probe, ds *diag.List) *ir.Func {
	return rule.Probed(blk, probes, ds)
}

// Op builds an operation: parameters in the order of its header, result "out".
func Op(blk *check.Block, ds *diag.List) *ir.Func { return compose.Op(blk, ds) }

// Compose builds a composition or model in stages.
func Compose(blk *check.Block, ds *diag.List) *Program { return compose.Build(blk, ds) }

// Whole builds a composition or model with its parts inlined into one program.
// Parameters of a part carry its name: memory.W_K. All levels are active.
func Whole(blk *check.Block, ds *diag.List) *ir.Func { return compose.Whole(blk, ds) }

// WholeAt is Whole at a token at which some levels are not active: where the pulse
// decides about a list of levels, those that are closed are read frozen.
// validation/protocol compares models under every mask of levels with it.
func WholeAt(blk *check.Block, closed func(level int) bool, ds *diag.List) *ir.Func {
	return compose.WholeAt(blk, closed, ds)
}

// Open builds a composition or model as one program in which the answer of
// every part is an input.
func Open(blk *check.Block, ds *diag.List) (*ir.Func, []PartCall) { return compose.Open(blk, ds) }

// Update builds an update. Parameters: the parameter, its gradient, its slots,
// the clock and the options. Results: the parameter and the slots after one
// update step. An update of entries has the axis n, one of matrices two axes.
func Update(blk *check.Block, ds *diag.List) *ir.Func { return update.Build(blk, ds) }

// UpdateOfMatrix is Update of a parameter that is a matrix, also for an update
// of entries, so that the two can be compared.
func UpdateOfMatrix(blk *check.Block, ds *diag.List) *ir.Func { return update.OfMatrix(blk, ds) }

// UpdateTall is Update with every oriented iteration computed on the transpose.
// It is nil, without an error, where no iteration is oriented.
func UpdateTall(blk *check.Block, ds *diag.List) *ir.Func { return update.Tall(blk, ds) }

// Claim builds the two sides of an equation that a block claims.
func Claim(blk *check.Block, c *notation.Claim, ds *diag.List) *Equality {
	return claim.Of(blk, c, ds)
}

// Kink builds the two sides of a kink, and the value that is not smooth there.
func Kink(blk *check.Block, k *notation.Kink, ds *diag.List) *Equality {
	return claim.Kink(blk, k, ds)
}

// Invariant builds the two sides of an invariant of an operation.
func Invariant(blk *check.Block, p Probe, ds *diag.List) *Equality {
	return claim.Invariant(blk, p, ds)
}

// Gradients builds one program for every ∇ inside the equations of a block; for
// a knob, one for each scalar function and each of its typed parameters.
func Gradients(blk *check.Block, ds *diag.List) []Gradient { return claim.Gradients(blk, ds) }

// Function builds a function of a page of its own: its typed parameters in,
// result "out". It is nil, without an error, where a parameter has no type.
func Function(blk *check.Block, ds *diag.List) *ir.Func { return claim.Function(blk, ds) }

// Frees lists the declared names of the parameters of a program of the block.
func Frees(blk *check.Block, f *ir.Func) map[string]Free { return claim.Frees(blk, f) }

// TermName is the name of the result for summand i of the right side of a claim.
func TermName(i int) string { return claim.TermName(i) }

// Cuts says how the results of a program depend on where a sequence is cut into
// calls; it is empty where they do not.
func Cuts(f *ir.Func) []string { return program.Cuts(f) }

// Stopped lists the parameters whose gradient a stop-gradient of the program
// makes differ from the derivative of the result.
func Stopped(f *ir.Func) []string { return program.Stopped(f) }

// Sizes lists the free sizes of a program, in the order of its axes.
func Sizes(f *ir.Func) []string { return program.Sizes(f) }
