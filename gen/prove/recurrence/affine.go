package recurrence

import (
	"github.com/nl-hecate/hecate/gen/ir"
)

// A linearity says how the output of a primitive depends on its arguments.
type linearity int

const (
	_               linearity = iota
	linear                    // in all arguments together
	multilinear               // in each argument, the others fixed
	linearBesides0            // in all arguments but the first together
	linearBesides1            // in all arguments but the second together
	nonlinear                 // or not known to be anything else
	withoutOperands           // a constant
)

// linearities has the primitives that are more than nonlinear functions of numbers.
var linearities = map[ir.Op]linearity{
	ir.Lin: linear, ir.Stack: linear, ir.Reshape: linear, ir.Narrow: linear, ir.Stop: linear,
	ir.Prod:   multilinear,
	ir.Select: linearBesides0, ir.TriSolve: linearBesides0,
	ir.Div:   linearBesides1,
	ir.Const: withoutOperands, ir.SizeOf: withoutOperands, ir.Iota: withoutOperands,

	ir.Override: nonlinear, ir.Max: nonlinear, ir.Softmax: nonlinear, ir.LogSumExp: nonlinear,
	ir.ScanOp: nonlinear, ir.SolveOp: nonlinear,
}

// linearityOf is the linearity of a primitive, 0 for one that is not known.
func linearityOf(op ir.Op) linearity {
	if l := linearities[op]; l != 0 || !op.Called() {
		return l
	}
	return nonlinear
}

// Affine reports whether the next values of the states are affine in the states taken
// together. A state that is not listed counts as a number, unless it depends on a
// listed one.
func (r *Recurrence) Affine(states []string) (bool, Obstacle) {
	deg := map[*ir.Value]int{}
	for n := range r.dependents(states) {
		deg[r.Carry[n].Param] = 2
	}
	for _, n := range states {
		deg[r.Carry[n].Param] = 1
	}
	first := follow(r, deg, degree, func(d int) bool { return d > 1 }, "is not affine in the state")
	for _, n := range states {
		if deg[r.Carry[n].Next] > 1 {
			if first.Instr == nil {
				first.Why = "a state that is not listed depends on " + n
			}
			return false, first
		}
	}
	return true, Obstacle{}
}

// degree is the degree of an instruction's output in the states: 0 for a value that does
// not depend on them, 1 for an affine one, 2 for anything else.
func degree(in *ir.Instr, deg map[*ir.Value]int) int {
	sum, most := 0, 0
	for _, v := range in.Reads() {
		most = max(most, deg[v])
	}
	for _, a := range in.Args {
		sum += deg[a.Val]
	}
	if most == 0 {
		return 0
	}
	switch linearityOf(in.Op) {
	case linear:
		return most
	case multilinear:
		return min(sum, 2)
	case linearBesides0:
		if deg[in.Args[0].Val] == 0 {
			return most
		}
	case linearBesides1:
		if deg[in.Args[1].Val] == 0 {
			return most
		}
	}
	return 2
}
