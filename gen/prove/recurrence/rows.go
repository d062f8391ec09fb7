package recurrence

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// The axis of a value along which it depends on the states' entries of the same index,
// where there is one.
const (
	noAxis      = -1 // the value does not depend on the states
	severalRows = -2 // it depends on more than one row
)

// RowIndependent reports whether row i of the next values of the states depends on no
// other row of any state.
func (r *Recurrence) RowIndependent(states []string) (bool, Obstacle) {
	return r.independent(0, states)
}

// ColumnIndependent is RowIndependent for columns.
func (r *Recurrence) ColumnIndependent(states []string) (bool, Obstacle) {
	return r.independent(1, states)
}

// independent decides for the axis 0 of rows or 1 of columns.
func (r *Recurrence) independent(axis int, states []string) (bool, Obstacle) {
	what := [...]string{"rows", "columns"}[axis]
	row := map[*ir.Value]int{}
	for _, p := range r.Scan.Body.Params {
		row[p] = noAxis
	}
	for n := range r.dependents(states) {
		row[r.Carry[n].Param] = severalRows
	}
	for _, n := range states {
		if len(r.Carry[n].Param.Axes) <= axis {
			return false, Obstacle{Why: n + " has no " + what}
		}
		row[r.Carry[n].Param] = axis
	}
	first := follow(r, row, rowOf, func(k int) bool { return k == severalRows }, "mixes "+what)
	for _, n := range states {
		if k := row[r.Carry[n].Next]; k != axis && k != noAxis {
			return false, first
		}
	}
	return true, Obstacle{}
}

// rowOf is the transfer function of the analysis.
func rowOf(in *ir.Instr, row map[*ir.Value]int) int {
	loop := noAxis
	for _, v := range in.Reads() {
		k, known := row[v]
		if known && k == noAxis {
			continue
		}
		if k == severalRows || in.Op == ir.Reshape {
			return severalRows
		}
		for _, a := range in.Args {
			if a.Val != v {
				continue
			}
			l, ok := a.Sub[k].Loop()
			if !ok || loop != noAxis && loop != l {
				return severalRows
			}
			loop = l
		}
		if loop == noAxis {
			return severalRows // read as a subscript
		}
	}
	if loop == noAxis {
		return noAxis
	}
	if slices.Contains(in.Over, loop) {
		return severalRows
	}
	for i, s := range in.To {
		if l, ok := s.Loop(); ok && l == loop {
			return i
		}
	}
	return severalRows
}
