package interp

import "github.com/nl-hecate/hecate/gen/ir"

// triangularSolve lays out a triangular solve by forward substitution, entry by entry:
// the rows in order outside, the terms before each in order inside.
func (m *machine) triangularSolve(in *ir.Instr) func() {
	t, i := in.Triangle()
	n := len(in.Loops)
	a, b := m.access(m.vals[in.Args[0].Val], in.Args[0].Sub, n), m.access(m.vals[in.Args[1].Val], in.Args[1].Sub, n)
	x := m.access(m.vals[in.Out], in.To, n)
	dims := m.shape(in.Loops)
	order := []int{t}
	for l := range dims {
		if l != t && l != i {
			order = append(order, l)
		}
	}
	idx := make([]int, n)
	entry := func() {
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
	var each func(k int)
	each = func(k int) {
		if k == len(order) {
			entry()
			return
		}
		for v := range dims[order[k]] {
			idx[order[k]] = v
			each(k + 1)
		}
	}
	return func() { each(0) }
}
