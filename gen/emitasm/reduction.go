package emitasm

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/plan"
)

// reduce adds up the accumulators of a vector loop and stores the scalars that they
// are; a maximum is taken with what the scalar was. The tree of 16 partial sums s:
//
//	q_i = (s_4i + s_4i+2) + (s_4i+1 + s_4i+3)     reduce = (q_0 + q_2) + (q_1 + q_3)
//
// is taken for four rows at once, whose sums are transposed on
// the way. Partial sums of two columns, with rows in the lanes, are added.
func (f *function) reduce(n *plan.Loop, s *scope, a *allocation) {
	t := &reducer{f: f, next: s.b.accs}
	var seen []*plan.Local
	for _, c := range s.accIn {
		if !slices.Contains(seen, c.local) {
			seen = append(seen, c.local)
		}
	}
	for len(seen) > 0 {
		t.max = f.accumulatesMax(n, seen[0])
		if f.r.Across == plan.Rows {
			t.rows(seen[0], s, a)
			seen = seen[1:]
			continue
		}
		several := 1
		for !f.rowsInVector() && several < min(4, len(seen)) && f.accumulatesMax(n, seen[several]) == t.max {
			several++
		}
		t.columns(seen[:several], s, a)
		seen = seen[several:]
	}
}

type reducer struct {
	f    *function
	next int // first register without an accumulator
	max  bool
}

// temporary is a register that no accumulator has.
func (t *reducer) temporary(n int) int { return t.next + n }

// combine prints d = x + y, or the larger, in registers of the given lanes.
func (t *reducer) combine(x, y, d, lanes int) {
	if t.max {
		t.f.m.larger(x, y, d, lanes)
	} else {
		t.f.m.plus(x, y, d, lanes)
	}
}

// rows adds the two partial sums of each vector of rows.
func (t *reducer) rows(l *plan.Local, s *scope, a *allocation) {
	f := t.f
	vectors := 1
	if f.depends[l].row {
		vectors = f.vectors()
	}
	for v := range vectors {
		even := a.acc[s.accs[copyOf{l, v, 0}]]
		odd := a.acc[s.accs[copyOf{l, v, 1}]]
		t.combine(even, odd, even, f.t.width)
		t.old(f.home(l, v, false), even, f.t.width)
		f.m.save(even, f.slot(l, v))
		f.cache.setSlot(f.slot(l, v), even)
	}
	delete(f.fixed, l)
}

// columns adds the 16 partial sums of each row of a scalar, or of up to four
// scalars.
func (t *reducer) columns(ls []*plan.Local, s *scope, a *allocation) {
	f, l := t.f, ls[0]
	count := len(ls)
	if f.depends[l].row {
		count = f.rows
	}
	reg := func(row, half int) int {
		row = min(row, count-1)
		if len(ls) > 1 {
			return a.acc[s.accs[copyOf{ls[row], 0, half}]]
		}
		return a.acc[s.accs[copyOf{l, row, half}]]
	}
	groups := (count + 3) / 4
	for g := range groups {
		t.four(func(row, half int) int { return reg(4*g+row, half) })
	}
	lanes := 4
	if groups == 2 {
		p, q, u := reg(0, 0), reg(4, 0), t.temporary(0)
		f.m.quarters(q, p, u, p)
		t.combine(u, p, p, 8)
		lanes = 8
	} else {
		p, u := reg(0, 0), t.temporary(0)
		f.m.upper(p, u, 8)
		t.combine(p, u, p, 4)
	}
	if i := slices.IndexFunc(f.adjacents, func(a *adjacentSums) bool { return slices.Equal(a.sums, ls) }); i >= 0 && !t.max {
		f.adjacents[i].laid = true
		for _, l := range ls {
			delete(f.fixed, l)
		}
		t.lay(l, reg(0, 0), lanes)
		return
	}
	if count == 1 || len(ls) > 1 {
		t.spread(ls, func(k int) int { return reg(k, 0) })
		return
	}
	t.lay(l, reg(0, 0), lanes)
}

// spread broadcasts to each scalar its number, of those in the lanes of the first one's
// register, in all lanes of its own.
func (t *reducer) spread(ls []*plan.Local, reg func(k int) int) {
	f := t.f
	for k := len(ls) - 1; k >= 0; k-- {
		f.m.spreadLane(reg(0), k, reg(k))
		t.lay(ls[k], reg(k), f.t.width)
	}
}

// lay takes a maximum with what the scalar was, and stores it.
func (t *reducer) lay(l *plan.Local, r, lanes int) {
	f := t.f
	t.old(f.home(l, 0, false), r, lanes)
	f.m.clearAbove(r, lanes) // zeros after the rows: they are computed with
	f.m.save(r, f.slot(l, 0))
	f.cache.setSlot(f.slot(l, 0), r)
	delete(f.fixed, l)
}

// old takes a maximum with what the scalar was; a sum began there.
func (t *reducer) old(was home, r, lanes int) {
	if t.max {
		old := t.temporary(0)
		t.f.m.load(was, old, lanes)
		t.combine(old, r, r, lanes)
	}
}

// slot is where a scalar of a group of rows is stored, whatever it is now.
func (f *function) slot(l *plan.Local, row int) string {
	h, ok := f.fixed[l]
	delete(f.fixed, l)
	at := f.home(l, row, false).text
	if ok {
		f.fixed[l] = h
	}
	return at
}

// four brings the sums of four rows from their vectors into one of four lanes
// in each half of the first row's register: q_0 + q_2, q_1 + q_3.
func (t *reducer) four(reg func(row, half int) int) {
	f := t.f
	w := f.t.width
	for half := range 16 / w {
		x := [4]int{reg(0, half), reg(1, half), reg(2, half), reg(3, half)}
		u, v := t.temporary(0), t.temporary(1)
		single := x[0] == x[1] && x[1] == x[2] && x[2] == x[3]
		f.m.interleave(x[0], x[1], u, v, 4)
		t.combine(u, v, u, w)
		y := u
		if !single {
			y = t.temporary(2)
			f.m.interleave(x[2], x[3], y, v, 4)
			t.combine(y, v, y, w)
		}
		f.m.interleave(u, y, v, u, 8)
		t.combine(v, u, x[0], w)
	}
	first := reg(0, 0)
	if f.t.wide() {
		u := t.temporary(0)
		f.m.upper(first, u, 16)
		t.combine(first, u, first, 8)
		return
	}
	t.combine(first, reg(0, 1), first, 8)
}
