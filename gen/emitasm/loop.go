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
		f.index(x, "CX")
		f.emit("CMPQ CX, %s", reg)
		f.emit("CMOVQ%s CX, %s", less, reg)
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
		f.emit("%s:", top)
		f.nodes(n.Body)
		f.materialise()
		f.advanceAll(n, moved, 1)
		f.emit("DECQ %s", end)
		f.emit("JNE %s", top)
	case r == nil || n.Kind != plan.Time:
		f.emit("%s:", top)
		f.nodes(n.Body)
		f.materialise()
		f.step(n, moved, at, end, top)
	case r.last == nil:
		f.nodes(r.prologue)
		known := f.cache.clone()
		f.emit("%s:", top)
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
	f.emit("%s:", done)
	f.cache.invalidate()
}

// enter prints the way into a loop. One that only counts has the number of iterations
// that are left in end.
func (f *function) enter(n *plan.Loop, at, end, done string, zero, counts bool) {
	if zero {
		f.bound(n.Hi, "DX", "LT")
		f.emit("TESTQ DX, DX")
		f.emit("JLE %s", done)
		if !counts {
			f.emit("MOVQ $0, %s", at)
		}
		f.emit("MOVQ DX, %s", end)
		return
	}
	f.bound(n.Lo, "AX", "GT")
	f.bound(n.Hi, "DX", "LT")
	f.emit("CMPQ AX, DX")
	f.emit("JGE %s", done)
	if n.Down {
		f.emit("DECQ DX")
		f.emit("MOVQ DX, %s", at)
		f.emit("MOVQ AX, %s", end)
	} else {
		f.emit("MOVQ AX, %s", at)
		f.emit("MOVQ DX, %s", end)
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
	f.emit("SUBQ $%d, %s", j.width-1, end)
	f.emit("JLE %s", single)
	f.emit("%s:", several)
	f.unrolled = j.width
	f.nodes(j.body)
	f.unrolled = 1
	f.materialise()
	f.advanceAll(n, moved, j.width)
	f.emit("SUBQ $%d, %s", j.width, end)
	f.emit("JGT %s", several)
	f.emit("%s:", single)
	f.cache.invalidate()
	f.emit("ADDQ $%d, %s", j.width-1, end)
	f.emit("JLE %s", done)
	f.emit("%s:", top)
	f.nodes(j.one)
	f.materialise()
	f.advanceAll(n, f.usedBy(moved, j.one), 1)
	f.emit("DECQ %s", end)
	f.emit("JNE %s", top)
	f.emit("%s:", done)
}

// jammedRows prints a loop over rows of a nest of which some run at once.
func (f *function) jammedRows(n *plan.Loop, j *jammedLoop, moved []*offset, at, end, top string) {
	several, single, done := f.label("rows"), f.label("left"), f.label("over")
	f.emit("SUBQ $%d, %s", j.width-1, end)
	f.emit("MOVQ %s, AX", at)
	f.emit("CMPQ AX, %s", end)
	f.emit("JGE %s", single)
	f.emit("%s:", several)
	f.unrolled = j.width
	f.nodes(j.body)
	f.unrolled = 1
	f.materialise()
	f.advanceAll(n, moved, j.width)
	f.emit("MOVQ %s, AX", at)
	f.emit("ADDQ $%d, AX", j.width)
	f.emit("MOVQ AX, %s", at)
	f.emit("CMPQ AX, %s", end)
	f.emit("JLT %s", several)
	f.emit("%s:", single)
	f.cache.invalidate()
	f.emit("ADDQ $%d, %s", j.width-1, end)
	f.emit("CMPQ AX, %s", end)
	f.emit("JGE %s", done)
	f.emit("%s:", top)
	f.nodes(j.one)
	f.materialise()
	f.step(n, f.usedBy(moved, j.one), at, end, top)
	f.emit("%s:", done)
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
		f.emit("%s", h.load(f.t.reg(0)))
		rows := 1
		if f.depends[l].row {
			rows = f.vectors()
		}
		f.cache.clobber(0)
		for v := range rows {
			slot := f.home(l, v, false).text
			f.emit("VMOVUPS %s, %s", f.t.reg(0), slot)
			f.cache.setSlot(slot, -1)
		}
	}
}

// step moves a loop on and repeats it while it is in range.
func (f *function) step(n *plan.Loop, moved []*offset, at, end, top string) {
	f.advanceAll(n, moved, 1)
	f.emit("MOVQ %s, AX", at)
	if n.Down {
		f.emit("DECQ AX")
	} else {
		f.emit("INCQ AX")
	}
	f.emit("MOVQ AX, %s", at)
	f.emit("CMPQ AX, %s", end)
	if n.Down {
		f.emit("JGE %s", top)
	} else {
		f.emit("JLT %s", top)
	}
}

// pipelinedTokens prints a pipelined loop whose last token runs by itself.
func (f *function) pipelinedTokens(n *plan.Loop, r *pipelinedLoop, moved []*offset, at, end, top string) {
	last := f.label("last")
	f.nodes(r.prologue)
	known := f.cache.clone()
	f.emit("%s:", top)
	f.emit("MOVQ %s, AX", at)
	if n.Down {
		f.emit("CMPQ AX, %s", end)
		f.emit("JLE %s", last)
	} else {
		f.emit("INCQ AX")
		f.emit("CMPQ AX, %s", end)
		f.emit("JGE %s", last)
	}
	f.nodes(r.body)
	f.materialise()
	f.restore(known)
	f.advanceAll(n, moved, 1)
	f.emit("%s %s", map[bool]string{false: "INCQ", true: "DECQ"}[n.Down], at)
	f.emit("JMP %s", top)
	f.emit("%s:", last)
	f.cache = known
	f.nodes(r.last)
	f.materialise()
}

// next sets the variable of a Next, which stays at the last token.
func (f *function) next(n *plan.Next, at, end string) {
	f.emit("MOVQ %s, AX", at)
	f.emit("INCQ AX")
	f.emit("CMPQ AX, %s", end)
	f.emit("CMOVQGE %s, AX", at)
	f.emit("MOVQ AX, %s", f.counter[n.To])
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
	op, in := map[bool]string{false: "ADDQ", true: "SUBQ"}[n.Down], ""
	for _, o := range moved {
		by := o.walk.StrideOf(n.Var)
		c, ok := by.Const()
		if u := o.scale(); ok && u > 0 {
			f.emit("%s $%d, %s", op, int(c)*u*times, o.now())
			continue
		}
		if key := by.String() + " " + o.unit; key != in {
			in = key
			f.bytes(by, o, times)
		}
		f.emit("%s CX, %s", op, o.now())
	}
}

// bytes puts a stride, times a number, into CX.
func (f *function) bytes(by shape.Poly, o *offset, times int) {
	c, fixed := by.Const()
	size := o.unit
	if u := o.scale(); u > 0 {
		size, times = f.args.integer(plan.Fixed(by)), times*u
	} else if fixed {
		times *= int(c)
	}
	if times == 1 {
		f.emit("MOVQ %s, CX", size)
	} else {
		f.emit("IMUL3Q $%d, %s, CX", times, size)
	}
	if o.scale() == 0 && !fixed {
		f.emit("IMULQ %s, CX", f.args.integer(plan.Fixed(by)))
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
			f.emit("MOVQ $0, %s", o.push(f))
		case zero:
			f.emit("MOVQ %s, AX", before)
			f.emit("MOVQ AX, %s", o.push(f))
		default:
			f.bytes(by, o, 1)
			f.emit("IMULQ %s, CX", f.counter[v])
			if before != "" {
				f.emit("ADDQ %s, CX", before)
			}
			f.emit("MOVQ CX, %s", o.push(f))
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
