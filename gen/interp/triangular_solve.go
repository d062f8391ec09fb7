package interp

import "github.com/nl-hecate/hecate/gen/ir"

// triangularSolve lays out a triangular solve by forward substitution, entry by entry:
// the rows of each column in order, the terms before each in order inside.
func (m *machine) triangularSolve(in *ir.Instr) func() {
	t, i := in.Triangle()
	n := len(in.Loops)
	a, b := m.access(m.vals[in.Args[0].Val], in.Args[0].Sub, n), m.access(m.vals[in.Args[1].Val], in.Args[1].Sub, n)
	x := m.access(m.vals[in.Out], in.To, n)
	dims := m.shape(in.Loops)
	dims[i] = 1 // the loop of the sum
	entry := func(idx []int) {
		at, _ := x.value(idx)
		sum := 0.0
		if k, ok := b.value(idx); ok {
			sum = b.t.Data[k]
		}
		row := idx[t]
		for j := range row {
			idx[t], idx[i] = row, j
			k, _ := a.value(idx)
			idx[t], idx[i] = j, 0
			p, _ := x.value(idx)
			sum = m.round(sum - m.round(a.t.Data[k]*x.t.Data[p]))
		}
		idx[t], idx[i] = row, 0
		x.t.Data[at] = sum
	}
	return func() { eachPoint(dims, entry) }
}
