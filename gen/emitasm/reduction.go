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
	f := t.f
	p := func(r int) string { return f.t.part(r, lanes) }
	switch {
	case !t.max:
		f.emit("VADDPS %s, %s, %s", p(y), p(x), p(d))
	case f.t.wide():
		f.emit("VCMPPS $30, %s, %s, K3", p(x), p(y))
		f.emit("VCMPPS $4, %s, %s, K4", p(y), p(y))
		f.emit("KORW K3, K4, K3")
		f.emit("VBLENDMPS %s, %s, K3, %s", p(y), p(x), p(d))
	default:
		c, u := f.t.regs-1, f.t.regs-2
		f.emit("VCMPPS $30, %s, %s, %s", p(x), p(y), p(c))
		f.emit("VCMPPS $4, %s, %s, %s", p(y), p(y), p(u))
		f.emit("VORPS %s, %s, %s", p(c), p(u), p(c))
		f.emit("VBLENDVPS %s, %s, %s, %s", p(c), p(y), p(x), p(d))
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
		f.emit("VMOVUPS %s, %s", f.t.reg(even), f.slot(l, v))
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
		f.emit("%s, Y%d, Y%d, Y%d", f.t.pick("VPERM2F128 $0x20", "VSHUFF64X2 $0"), q, p, u)
		f.emit("%s, Y%d, Y%d, Y%d", f.t.pick("VPERM2F128 $0x31", "VSHUFF64X2 $3"), q, p, p)
		t.combine(u, p, p, 8)
		lanes = 8
	} else {
		p, u := reg(0, 0), t.temporary(0)
		f.emit("%s $1, Y%d, X%d", f.t.pick("VEXTRACTF128", "VEXTRACTF32X4"), p, u)
		t.combine(p, u, p, 4)
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
		from, r := reg(0), reg(k)
		if k > 0 {
			f.emit("VPERMILPS $%d, X%d, X%d", k, from, r)
			from = r
		}
		f.emit("VBROADCASTSS X%d, %s", from, f.t.reg(r))
		t.lay(ls[k], r, f.t.width)
	}
}

// lay takes a maximum with what the scalar was, and stores it.
func (t *reducer) lay(l *plan.Local, r, lanes int) {
	f := t.f
	t.old(f.home(l, 0, false), r, lanes)
	f.emit("VMOVUPS %s, %s", f.t.reg(r), f.slot(l, 0)) // zeros after the rows: they are computed with
	f.cache.setSlot(f.slot(l, 0), r)
	delete(f.fixed, l)
}

// old takes a maximum with what the scalar was; a sum began there.
func (t *reducer) old(was home, r, lanes int) {
	if t.max {
		old := t.temporary(0)
		t.f.emit("%s", was.load(t.f.t.part(old, lanes)))
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
	p := func(r int) string { return f.t.part(r, w) }
	for half := range 16 / w {
		x := [4]int{reg(0, half), reg(1, half), reg(2, half), reg(3, half)}
		u, v := t.temporary(0), t.temporary(1)
		single := x[0] == x[1] && x[1] == x[2] && x[2] == x[3]
		f.emit("VUNPCKLPS %s, %s, %s", p(x[1]), p(x[0]), p(u))
		f.emit("VUNPCKHPS %s, %s, %s", p(x[1]), p(x[0]), p(v))
		t.combine(u, v, u, w)
		y := u
		if !single {
			y = t.temporary(2)
			f.emit("VUNPCKLPS %s, %s, %s", p(x[3]), p(x[2]), p(y))
			f.emit("VUNPCKHPS %s, %s, %s", p(x[3]), p(x[2]), p(v))
			t.combine(y, v, y, w)
		}
		f.emit("VUNPCKLPD %s, %s, %s", p(y), p(u), p(v))
		f.emit("VUNPCKHPD %s, %s, %s", p(y), p(u), p(u))
		t.combine(v, u, x[0], w)
	}
	first := reg(0, 0)
	if f.t.wide() {
		u := t.temporary(0)
		f.emit("VEXTRACTF64X4 $1, Z%d, Y%d", first, u)
		t.combine(first, u, first, 8)
		return
	}
	t.combine(first, reg(0, 1), first, 8)
}
