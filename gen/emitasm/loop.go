package emitasm

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/plan"
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
	f.settle()
	f.content.forget()
	end, top, done := f.word(), f.label("loop"), f.label("done")
	at := f.counter[n.Var]
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
	moved := f.move(n.Var, n.Body)
	switch r, j := f.turned, f.jams[n]; {
	case j != nil:
		f.several(n, j, moved, at, end, top)
	case r == nil || n.Kind != plan.Time:
		f.emit("%s:", top)
		f.nodes(n.Body)
		f.settle()
		f.step(n, moved, at, end, top)
	case r.last == nil:
		f.nodes(r.ahead)
		known := f.content.clone()
		f.emit("%s:", top)
		f.next(r.next, at, end)
		streams := f.move(r.next.To, r.body)
		f.nodes(r.body)
		back(streams)
		f.settle()
		f.rejoin(known)
		f.step(n, moved, at, end, top)
	default:
		f.tokens(n, r, moved, at, end, top)
	}
	back(moved)
	f.emit("%s:", done)
	f.content.forget()
}

// several prints a loop over rows of a nest of which some run at once.
func (f *function) several(n *plan.Loop, j *jammed, moved []*stream, at, end, top string) {
	several, single, done := f.label("rows"), f.label("left"), f.label("over")
	f.emit("SUBQ $%d, %s", j.width-1, end)
	f.emit("MOVQ %s, AX", at)
	f.emit("CMPQ AX, %s", end)
	f.emit("JGE %s", single)
	f.emit("%s:", several)
	f.abreast = j.width
	f.nodes(j.body)
	f.abreast = 1
	f.settle()
	f.advanceAll(n, moved, j.width)
	f.emit("MOVQ %s, AX", at)
	f.emit("ADDQ $%d, AX", j.width)
	f.emit("MOVQ AX, %s", at)
	f.emit("CMPQ AX, %s", end)
	f.emit("JLT %s", several)
	f.emit("%s:", single)
	f.content.forget()
	f.emit("ADDQ $%d, %s", j.width-1, end)
	f.emit("CMPQ AX, %s", end)
	f.emit("JGE %s", done)
	f.emit("%s:", top)
	f.nodes(j.one)
	f.settle()
	f.step(n, f.usedBy(moved, j.one), at, end, top)
	f.emit("%s:", done)
}

// usedBy are those of some streams that statements walk.
func (f *function) usedBy(streams []*stream, ns []plan.Node) []*stream {
	used := map[*stream]bool{}
	plan.Walk(ns, func(x plan.Node) {
		plan.EachAccess(x, func(a plan.Access) { used[f.stream(a)] = true })
	})
	return slices.DeleteFunc(slices.Clone(streams), func(s *stream) bool { return !used[s] })
}

// settle lays down the scalars that are constants: around a loop a point of the
// text is more than one moment.
func (f *function) settle() {
	var all []*plan.Local
	for l := range f.fixed {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *plan.Local) int { return strings.Compare(a.Name, b.Name) })
	for _, l := range all {
		h := f.fixed[l]
		delete(f.fixed, l)
		f.emit("VBROADCASTSS %s, %s", h.text, f.t.reg(0))
		rows := 1
		if f.depends[l].row {
			rows = f.vectors()
		}
		f.content.spoil(0)
		for v := range rows {
			slot := f.home(l, v, false).text
			f.emit("VMOVUPS %s, %s", f.t.reg(0), slot)
			f.content.stored(slot, -1)
		}
	}
}

// step moves a loop on and repeats it while it is in range.
func (f *function) step(n *plan.Loop, moved []*stream, at, end, top string) {
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

// tokens prints a rotated loop whose last token runs by itself.
func (f *function) tokens(n *plan.Loop, r *rotated, moved []*stream, at, end, top string) {
	last := f.label("last")
	f.nodes(r.ahead)
	known := f.content.clone()
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
	f.settle()
	f.rejoin(known)
	f.advanceAll(n, moved, 1)
	f.emit("%s %s", map[bool]string{false: "INCQ", true: "DECQ"}[n.Down], at)
	f.emit("JMP %s", top)
	f.emit("%s:", last)
	f.content = known
	f.nodes(r.last)
	f.settle()
}

// next sets the variable of a Next, which stays at the last token.
func (f *function) next(n *plan.Next, at, end string) {
	f.emit("MOVQ %s, AX", at)
	f.emit("INCQ AX")
	f.emit("CMPQ AX, %s", end)
	f.emit("CMOVQGE %s, AX", at)
	f.emit("MOVQ AX, %s", f.counter[n.To])
}

// back puts streams to where they stand around a loop.
func back(moved []*stream) {
	for _, s := range moved {
		s.cur = s.cur[:len(s.cur)-1]
	}
}

// advanceAll moves streams on by iterations of a loop. Streams with the same
// stride share its bytes.
func (f *function) advanceAll(n *plan.Loop, moved []*stream, times int) {
	op, step := map[bool]string{false: "ADDQ", true: "SUBQ"}[n.Down], ""
	for _, s := range moved {
		by := s.walk.StrideOf(n.Var)
		if key := by.String() + " " + s.unit; key != step {
			step = key
			f.integer(by, "CX")
			f.scaleTo(s, "CX")
			if times > 1 {
				f.emit("IMUL3Q $%d, CX, CX", times)
			}
		}
		f.emit("%s CX, %s", op, s.now())
	}
}

// move computes where the streams of statements stand that a variable moves.
// Streams with the same stride share its bytes.
func (f *function) move(v *plan.Var, body []plan.Node) []*stream {
	var moved []*stream
	step := ""
	for _, s := range f.usedBy(f.byStride(v), body) {
		by := s.walk.StrideOf(v)
		if by.IsZero() {
			continue
		}
		if key := by.String() + " " + s.unit; key != step {
			step = key
			f.emit("MOVQ %s, CX", f.counter[v])
			if c, ok := by.Const(); !ok {
				f.emit("IMULQ %s, CX", f.args.integer(plan.Fixed(by)))
			} else if c != 1 {
				f.emit("IMUL3Q $%d, CX, CX", c)
			}
			f.scaleTo(s, "CX")
		}
		f.emit("MOVQ %s, AX", s.now())
		f.emit("ADDQ CX, AX")
		w := s.word(f)
		f.emit("MOVQ AX, %s", w)
		s.cur = append(s.cur, w)
		moved = append(moved, s)
	}
	return moved
}

// byStride are the streams, those with one stride over a variable together.
func (f *function) byStride(v *plan.Var) []*stream {
	out := slices.Clone(f.order)
	slices.SortStableFunc(out, func(a, b *stream) int {
		return strings.Compare(a.walk.StrideOf(v).String()+" "+a.unit, b.walk.StrideOf(v).String()+" "+b.unit)
	})
	return out
}

// word is the word of the frame for a stream at the next depth.
func (s *stream) word(f *function) string {
	if len(s.words) < len(s.cur) {
		s.words = append(s.words, f.word())
	}
	return s.words[len(s.cur)-1]
}
