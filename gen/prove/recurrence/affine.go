package recurrence

import (
	"github.com/nl-hecate/hecate/gen/ir"
)

// affine reports whether the next values of the states are affine in the
// states taken together. A state that is not listed counts as a number, unless
// it depends on a listed one.
func (r *Recurrence) Affine(states []string) (bool, Obstacle) {
	deg := map[*ir.Value]int{}
	for n := range r.dependents(states) {
		deg[r.Carry[n].Param] = 2
	}
	for _, n := range states {
		deg[r.Carry[n].Param] = 1
	}
	var first Obstacle
	for _, in := range r.Scan.Body.Body {
		if in.Out == nil {
			continue
		}
		d := degree(in, deg)
		deg[in.Out] = d
		if d > 1 && first.Instr == nil {
			first = Obstacle{in, "is not affine in the state"}
		}
	}
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

// degree is the degree of an instruction's output: 0 free of the states, 1
// affine, 2 anything else.
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
	switch in.Op {
	case ir.Prod:
		return min(sum, 2)
	case ir.Lin, ir.Stack, ir.Reshape, ir.Stop:
		return most
	case ir.TriSolve:
		if deg[in.Args[0].Val] == 0 {
			return most
		}
	case ir.Div:
		if deg[in.Args[1].Val] == 0 {
			return most
		}
	case ir.Select:
		if deg[in.Args[0].Val] == 0 {
			return most
		}
	}
	return 2
}
