// Package outerwrite reads tables, and writes some.
package outerwrite

import (
	"slices"
	"sort"

	"keeper"
	"life"
)

func elements(t life.Table) {
	w := t.Row(0)
	w[0] = 1        // want `assigns to w\[0\], which is read-only`
	w[0]++          // want `assigns to w\[0\], which is read-only`
	w[1] += 2       // want `assigns to w\[1\], which is read-only`
	t.Row(1)[0] = 1 // want `assigns to t.Row\(1\)\[0\], which is read-only`
	part := w[1:]
	part[0], w[1] = 1, 2 // want `assigns to part\[0\]` `assigns to w\[1\]`
	p := &w[0]
	*p = 3 // want `assigns to \*p, which is read-only`
	n := w[0]
	n++
	_ = n
}

func calls(t life.Table, own []int) {
	w := t.Row(0)
	copy(w, own) // want `copy writes w`
	copy(own, w)
	clear(w)         // want `clear writes w`
	_ = append(w, 1) // want `append may write after w`
	_ = append(own, w...)
	_ = append(w[:1:1], 2)
	slices.Sort(w)        // want `Sort writes w`
	slices.Reverse(w)     // want `Reverse writes w`
	sort.Ints(w)          // want `Ints writes w`
	keeper.Fill(w, 1)     // want `Fill writes w`
	keeper.Clear(1, w)    // want `Clear writes w`
	keeper.Tail(w)[0] = 1 // want `assigns to keeper.Tail\(w\)\[0\]`
	_ = keeper.Total(w)
	_ = slices.Max(w)
}

func branches(t life.Table, own bool) {
	w := t.Row(0)
	if own {
		w = slices.Clone(w)
		w[0] = 1
	}
	w[0] = 2 // want `assigns to w\[0\]`
	w = make([]int, 3)
	w[0] = 3
}

func loops(t life.Table, rows [][]int) {
	w := make([]int, 3)
	for i := range 3 {
		w[i] = 1 // want `assigns to w\[i\]`
		w = t.Row(i)
	}
	list := [][]int{t.Row(0)}
	for _, row := range list {
		row[0] = 1 // want `assigns to row\[0\]`
	}
	list[0] = rows[0]
	for _, row := range rows {
		row[0] = 1
	}
}

func gotos(t life.Table, n int) {
	w := []int{1}
again:
	w[0] = n // want `assigns to w\[0\]`
	if n--; n > 0 {
		w = t.Row(n)
		goto again
	}
}

func selects(t life.Table, in chan []int) {
	w := []int{1}
	select {
	case w = <-in:
	default:
		w = t.Row(0)
	}
	w[0] = 1 // want `assigns to w\[0\]`
}

func shadow(t life.Table) {
	w := t.Row(0)
	{
		w := []int{1}
		w[0] = 2
	}
	_ = w
}

func literals(t life.Table) {
	w := t.Row(0)
	defer func() { w[0] = 1 }()          // want `assigns to w\[0\]`
	func(d []int) { d[0] = 1 }(t.Row(1)) // want `assigns to d\[0\]`
	f := func() []int { return w }
	_ = f
}

func row(t life.Table, i int) []int { return t.Row(i)[:1] }

func wrapped(t life.Table) {
	row(t, 0)[0] = 1 // want `assigns to row\(t, 0\)\[0\]`
}

func values(n life.Number) {
	n.Data[0] = 1 // want `assigns to n.Data\[0\]`
	n.Data = nil
	n = life.Number{Data: []int{1}}
	_ = n
}

func generic[S ~[]E, E any](s S, x E) { s[0] = x }

func callsGeneric(t life.Table) {
	generic(t.Row(0), 1) // want `generic writes t.Row\(0\)`
}

type driver struct{ pen *life.Pen }

func (d driver) update(own []int) {
	d.pen.Write(0, func(w []int) { copy(w, own) })
}

func methodValue(t life.Table) {
	get := t.Row
	_ = get(0)
}

func allowed(t life.Table) {
	t.Row(0)[0] = 1 //hecate:allow outerwrite the table is the test's own
}
