package emitasm

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// bound puts the largest or smallest of indices into a register.
func (f *function) bound(xs []plan.Index, reg, less string) {
	f.index(xs[0], reg)
	for _, x := range xs[1:] {
		f.index(x, f.t.spare)
		f.m.compare(f.t.spare, reg)
		f.m.moveIf(less, f.t.spare, reg)
	}
}

// loop prints a loop around others:
//
//	lo, hi → counter, streams; while in range: body; move counter and streams on
func (f *function) loop(n *plan.Loop) {
	f.materialise()
	f.cache.invalidate()
	end, top, done := f.word(), f.label("loop"), f.label("done")
	at := f.counter[n.Var]
	zero := !n.Down && len(n.Lo) == 1 && n.Lo[0].Equal(plan.Index{})
	counts := zero && f.onlyCounts(n)
	f.enter(n, at, end, done, zero, counts)
	moved := f.move(n.Var, n.Body, zero)
	switch r, j := f.pipelined, f.jammed[n]; {
	case j != nil && counts:
		f.countedRows(n, j, moved, end, top)
	case j != nil:
		f.jammedRows(n, j, moved, at, end, top)
	case counts:
		f.here(top)
		f.nodes(n.Body)
		f.materialise()
		f.advanceAll(n, moved, 1)
		f.m.dec(end)
		f.m.jump("NE", top)
	case r == nil || n.Kind != plan.Time:
		f.here(top)
		f.nodes(n.Body)
		f.materialise()
		f.step(n, moved, at, end, top)
	case r.last == nil:
		f.aside(r.prologue)
		known := f.cache.clone()
		f.here(top)
		f.next(r.next, at, end)
		streams := f.move(r.next.To, r.body, false)
		f.nodes(r.body)
		back(streams)
		f.materialise()
		f.restore(known)
		f.step(n, moved, at, end, top)
	default:
		f.pipelinedTokens(n, r, moved, at, end, top)
	}
	back(moved)
	f.here(done)
	f.cache.invalidate()
}

// aside prints a prologue, an epilogue or a remainder, whose loads do not count for the choice of a form.
func (f *function) aside(ns []plan.Node) {
	was := f.once
	f.once = true
	f.nodes(ns)
	f.once = was
}

// enter prints the way into a loop. One that only counts has the number of iterations
// that are left in end.
func (f *function) enter(n *plan.Loop, at, end, done string, zero, counts bool) {
	if zero {
		f.bound(n.Hi, f.t.length, "LT")
		f.m.test(f.t.length)
		f.m.jump("LE", done)
		if !counts {
			f.m.move("$0", at)
		}
		f.m.move(f.t.length, end)
		return
	}
	f.bound(n.Lo, f.t.work, "GT")
	f.bound(n.Hi, f.t.length, "LT")
	f.m.compare(f.t.work, f.t.length)
	f.m.jump("GE", done)
	if n.Down {
		f.m.dec(f.t.length)
		f.m.move(f.t.length, at)
		f.m.move(f.t.work, end)
	} else {
		f.m.move(f.t.work, at)
		f.m.move(f.t.length, end)
	}
}

// onlyCounts reports whether a loop from 0 needs no variable: no bound and no
// gathered index mentions it, and it is not a loop over time with a part done ahead.
func (f *function) onlyCounts(n *plan.Loop) bool {
	if f.pipelined != nil && n.Kind == plan.Time {
		return false
	}
	only := true
	mentions := func(xs ...plan.Index) {
		for _, x := range xs {
			only = only && x.Coef(n.Var).IsZero()
		}
	}
	plan.Walk(n.Body, func(x plan.Node) {
		switch x := x.(type) {
		case *plan.Loop:
			mentions(x.Lo...)
			mentions(x.Hi...)
		case *plan.Gather:
			mentions(x.Plus)
		case *plan.Next:
			only = only && x.Of != n.Var
		}
	})
	return only
}

// countedRows prints a loop over rows of a nest of which some run at once, and which
// only counts.
func (f *function) countedRows(n *plan.Loop, j *jammedLoop, moved []*offset, end, top string) {
	several, single, done := f.label("rows"), f.label("left"), f.label("over")
	f.m.sub(imm(j.width-1), end)
	f.m.jump("LE", single)
	f.here(several)
	f.unrolled = j.width
	f.nodes(j.body)
	f.unrolled = 1
	f.materialise()
	f.advanceAll(n, moved, j.width)
	f.m.sub(imm(j.width), end)
	f.m.jump("GT", several)
	f.here(single)
	f.cache.invalidate()
	f.m.add(imm(j.width-1), end)
	f.m.jump("LE", done)
	f.here(top)
	f.aside(j.one)
	f.materialise()
	f.advanceAll(n, f.usedBy(moved, j.one), 1)
	f.m.dec(end)
	f.m.jump("NE", top)
	f.here(done)
}

// jammedRows prints a loop over rows of a nest of which some run at once.
func (f *function) jammedRows(n *plan.Loop, j *jammedLoop, moved []*offset, at, end, top string) {
	several, single, done := f.label("rows"), f.label("left"), f.label("over")
	f.m.sub(imm(j.width-1), end)
	f.m.move(at, f.t.work)
	f.m.compare(f.t.work, end)
	f.m.jump("GE", single)
	f.here(several)
	f.unrolled = j.width
	f.nodes(j.body)
	f.unrolled = 1
	f.materialise()
	f.advanceAll(n, moved, j.width)
	f.m.move(at, f.t.work)
	f.m.add(imm(j.width), f.t.work)
	f.m.move(f.t.work, at)
	f.m.compare(f.t.work, end)
	f.m.jump("LT", several)
	f.here(single)
	f.cache.invalidate()
	f.m.add(imm(j.width-1), end)
	f.m.compare(f.t.work, end)
	f.m.jump("GE", done)
	f.here(top)
	f.aside(j.one)
	f.materialise()
	f.step(n, f.usedBy(moved, j.one), at, end, top)
	f.here(done)
}

// usedBy are those of some offsets that streams of statements have.
func (f *function) usedBy(offsets []*offset, ns []plan.Node) []*offset {
	used := map[*offset]bool{}
	plan.Walk(ns, func(x plan.Node) {
		plan.EachAccess(x, func(a plan.Access) { used[f.stream(a).offset] = true })
	})
	return slices.DeleteFunc(slices.Clone(offsets), func(o *offset) bool { return !used[o] })
}

// materialise lays down the scalars that are constants: around a loop a point of the
// text is executed more than once.
func (f *function) materialise() {
	var all []*plan.Local
	for l := range f.fixed {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *plan.Local) int { return strings.Compare(a.Name, b.Name) })
	for _, l := range all {
		h := f.fixed[l]
		delete(f.fixed, l)
		f.m.load(h, 0, f.t.width)
		rows := 1
		if f.depends[l].row {
			rows = f.vectors()
		}
		f.cache.clobber(0)
		for v := range rows {
			slot := f.home(l, v, false).text
			f.m.save(0, slot)
			f.cache.setSlot(slot, -1)
		}
	}
}

// step moves a loop on and repeats it while it is in range.
func (f *function) step(n *plan.Loop, moved []*offset, at, end, top string) {
	f.advanceAll(n, moved, 1)
	f.m.move(at, f.t.work)
	if n.Down {
		f.m.dec(f.t.work)
	} else {
		f.m.inc(f.t.work)
	}
	f.m.move(f.t.work, at)
	f.m.compare(f.t.work, end)
	if n.Down {
		f.m.jump("GE", top)
	} else {
		f.m.jump("LT", top)
	}
}

// pipelinedTokens prints a pipelined loop whose last token runs by itself.
func (f *function) pipelinedTokens(n *plan.Loop, r *pipelinedLoop, moved []*offset, at, end, top string) {
	last := f.label("last")
	f.aside(r.prologue)
	known := f.cache.clone()
	f.here(top)
	f.m.move(at, f.t.work)
	if n.Down {
		f.m.compare(f.t.work, end)
		f.m.jump("LE", last)
	} else {
		f.m.inc(f.t.work)
		f.m.compare(f.t.work, end)
		f.m.jump("GE", last)
	}
	f.nodes(r.body)
	f.materialise()
	f.restore(known)
	f.advanceAll(n, moved, 1)
	if n.Down {
		f.m.dec(at)
	} else {
		f.m.inc(at)
	}
	f.m.jump("", top)
	f.here(last)
	f.cache = known
	f.aside(r.last)
	f.materialise()
}

// next sets the variable of a Next, which stays at the last token.
func (f *function) next(n *plan.Next, at, end string) {
	f.m.move(at, f.t.work)
	f.m.inc(f.t.work)
	f.m.compare(f.t.work, end)
	f.m.moveIf("GE", at, f.t.work)
	f.m.move(f.t.work, f.counter[n.To])
}

// back leaves a loop: offsets are what they are around it.
func back(moved []*offset) {
	for _, o := range moved {
		o.cur = o.cur[:len(o.cur)-1]
	}
}

// advanceAll moves offsets on by iterations of a loop. Those with the same stride
// share its bytes.
func (f *function) advanceAll(n *plan.Loop, moved []*offset, times int) {
	move, in := f.m.add, ""
	if n.Down {
		move = f.m.sub
	}
	for _, o := range moved {
		by := o.walk.StrideOf(n.Var)
		c, ok := by.Const()
		if u := o.scale(); ok && u > 0 {
			move(imm(int(c)*u*times), o.now())
			continue
		}
		if key := by.String() + " " + o.unit; key != in {
			in = key
			f.bytes(by, o, times)
		}
		move(f.t.spare, o.now())
	}
}

// bytes puts a stride, times a number, into the spare register.
func (f *function) bytes(by shape.Poly, o *offset, times int) {
	c, fixed := by.Const()
	size := o.unit
	if u := o.scale(); u > 0 {
		size, times = f.args.integer(plan.Fixed(by)), times*u
	} else if fixed {
		times *= int(c)
	}
	if times == 1 {
		f.m.move(size, f.t.spare)
	} else {
		f.m.scale(times, size, f.t.spare)
	}
	if o.scale() == 0 && !fixed {
		f.m.mul(f.args.integer(plan.Fixed(by)), f.t.spare)
	}
}

// move computes the offsets of the streams of statements that a variable moves; zero
// says that it begins at 0.
func (f *function) move(v *plan.Var, body []plan.Node, zero bool) []*offset {
	var moved []*offset
	for _, o := range f.usedBy(f.byStride(v), body) {
		by := o.walk.StrideOf(v)
		if by.IsZero() {
			continue
		}
		moved = append(moved, o)
		switch before := o.now(); {
		case zero && before == "":
			f.m.move("$0", o.push(f))
		case zero:
			f.m.move(before, f.t.work)
			f.m.move(f.t.work, o.push(f))
		default:
			f.bytes(by, o, 1)
			f.m.mul(f.counter[v], f.t.spare)
			if before != "" {
				f.m.add(before, f.t.spare)
			}
			f.m.move(f.t.spare, o.push(f))
		}
	}
	return moved
}

// byStride are the offsets, those with one stride over a variable together.
func (f *function) byStride(v *plan.Var) []*offset {
	out := slices.Clone(f.offsets)
	slices.SortStableFunc(out, func(a, b *offset) int {
		return strings.Compare(a.walk.StrideOf(v).String()+" "+a.unit, b.walk.StrideOf(v).String()+" "+b.unit)
	})
	return out
}
