package recurrence

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Rows, or columns, that a value depends on: none, the one at an axis of its own, or many.
const (
	noRow    = -1
	manyRows = -2
)

// independent decides whether what lies at i of an axis of the next values of the states
// depends on nothing of any state that lies elsewhere on it: rows along axis 0,
// columns along axis 1.
func Independent(axis int) func(r *Recurrence, states []string) (bool, Obstacle) {
	return func(r *Recurrence, states []string) (bool, Obstacle) { return r.independent(axis, states) }
}

func (r *Recurrence) independent(axis int, states []string) (bool, Obstacle) {
	what := [...]string{"rows", "columns"}[axis]
	row := map[*ir.Value]int{}
	for _, p := range r.Scan.Body.Params {
		row[p] = noRow
	}
	for n := range r.dependents(states) {
		row[r.Carry[n].Param] = manyRows
	}
	for _, n := range states {
		if len(r.Carry[n].Param.Axes) <= axis {
			return false, Obstacle{Why: n + " has no " + what}
		}
		row[r.Carry[n].Param] = axis
	}
	var first Obstacle
	for _, in := range r.Scan.Body.Body {
		if in.Out == nil {
			continue
		}
		row[in.Out] = rowOf(in, row)
		if row[in.Out] == manyRows && first.Instr == nil {
			first = Obstacle{in, "mixes " + what}
		}
	}
	for _, n := range states {
		if k := row[r.Carry[n].Next]; k != axis && k != noRow {
			return false, first
		}
	}
	return true, Obstacle{}
}

func rowOf(in *ir.Instr, row map[*ir.Value]int) int {
	loop := noRow
	for _, v := range in.Reads() {
		k, known := row[v]
		if known && k == noRow {
			continue
		}
		if k == manyRows || in.Op == ir.Reshape {
			return manyRows
		}
		for _, a := range in.Args {
			if a.Val != v {
				continue
			}
			l, ok := a.Sub[k].Loop()
			if !ok || loop != noRow && loop != l {
				return manyRows
			}
			loop = l
		}
		if loop == noRow {
			return manyRows // read as a subscript
		}
	}
	if loop == noRow {
		return noRow
	}
	if slices.Contains(in.Over, loop) {
		return manyRows
	}
	for i, s := range in.To {
		if l, ok := s.Loop(); ok && l == loop {
			return i
		}
	}
	return manyRows
}
