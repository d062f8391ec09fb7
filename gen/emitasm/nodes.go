package emitasm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/plan"
)

// nodes prints statements: stretches without loops as one body each.
func (f *function) nodes(ns []plan.Node) {
	var run []plan.Node
	flush := func() {
		if len(run) > 0 {
			f.straight(run)
		}
		run = nil
	}
	for _, n := range ns {
		switch n := n.(type) {
		case *plan.Note:
		case *plan.Loop:
			flush()
			if f.isLane(n) {
				f.lane(n)
			} else {
				f.loop(n)
			}
		case *plan.If:
			flush()
			f.present(n)
		case *plan.Pick:
			flush()
			f.pick(n)
		case *plan.Next: // is done where the loop begins
		case *plan.Store:
			if f.sharedAdd(n) {
				flush()
				f.addRows(n)
				continue
			}
			run = append(run, n)
		default:
			run = append(run, n)
		}
	}
	flush()
}

// present prints statements that a missing buffer leaves out.
func (f *function) present(n *plan.If) {
	skip := f.label("absent")
	f.emit("MOVQ %s, AX", f.args.pointer(n.Present.Base()))
	f.emit("TESTQ AX, AX")
	f.emit("JEQ %s", skip)
	f.branch++
	f.nodes(n.Body)
	f.branch--
	f.emit("%s:", skip)
}

// pick sets a variable to an entry of a buffer of whole numbers.
func (f *function) pick(n *plan.Pick) {
	s := f.stream(n.From)
	f.emit("MOVQ %s, AX", s.now())
	f.emit("MOVLQSX (AX), CX")
	if len(n.Plus.Terms) > 0 || !n.Plus.Const.IsZero() {
		f.index(n.Plus, "DX")
		f.emit("ADDQ DX, CX")
	}
	f.emit("MOVQ CX, %s", f.counter[n.To])
}

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
//	lo, hi → counter; while in range: move the streams on; body
func (f *function) loop(n *plan.Loop) {
	f.settle()
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
	inside := func(body []plan.Node) { f.inside(n.Var, body, func() { f.nodes(body) }) }
	switch r := f.turned; {
	case r == nil || n.Kind != plan.Time:
		f.emit("%s:", top)
		inside(n.Body)
		f.step(n, at, end, top)
	case r.last == nil:
		inside(r.ahead)
		f.emit("%s:", top)
		f.next(r.next, at, end)
		f.inside(r.next.To, r.body, func() { inside(r.body) })
		f.step(n, at, end, top)
	default:
		f.tokens(n, r, at, end, top)
	}
	f.emit("%s:", done)
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
		for v := range rows {
			f.emit("VMOVUPS %s, %s", f.t.reg(0), f.home(l, v, false).text)
		}
	}
}

// step moves a loop on and repeats it while it is in range.
func (f *function) step(n *plan.Loop, at, end, top string) {
	f.settle()
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
func (f *function) tokens(n *plan.Loop, r *rotated, at, end, top string) {
	last := f.label("last")
	inside := func(body []plan.Node) { f.inside(n.Var, body, func() { f.nodes(body) }) }
	inside(r.ahead)
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
	inside(r.body)
	f.settle()
	f.emit("%s %s", map[bool]string{false: "INCQ", true: "DECQ"}[n.Down], at)
	f.emit("JMP %s", top)
	f.emit("%s:", last)
	inside(r.last)
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

// inside prints statements after moving the streams that a variable moves.
func (f *function) inside(v *plan.Var, body []plan.Node, print func()) {
	moved := f.move(v, body)
	print()
	for _, s := range moved {
		s.cur = s.cur[:len(s.cur)-1]
	}
}

// move computes where the streams of statements stand that a variable moves.
// Streams with the same stride share its bytes.
func (f *function) move(v *plan.Var, body []plan.Node) []*stream {
	used := map[*stream]bool{}
	plan.Walk(body, func(x plan.Node) {
		plan.Accesses(x, func(a plan.Access) { used[f.stream(a)] = true })
	})
	var moved []*stream
	step := ""
	for _, s := range f.byStride(v) {
		by := s.walk.By(v)
		if !used[s] || by.IsZero() {
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
		return strings.Compare(a.walk.By(v).String()+" "+a.unit, b.walk.By(v).String()+" "+b.unit)
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

// straight prints a stretch of statements outside the lanes.
func (f *function) straight(ns []plan.Node) {
	s := f.newScope(nil, 0, false)
	for _, n := range ns {
		for v := range f.vectors() {
			s.row = v
			if s.row > 0 && !f.rowDependent(n, nil) {
				break
			}
			s.statement(n)
		}
	}
	s.keep()
	f.place(s.b)
}

// place allocates a body that runs once and appends it.
func (f *function) place(b *body) {
	a, ok := allocate(b, false)
	if !ok {
		f.failed = "a stretch of scalars does not fit the registers"
		return
	}
	f.lines = append(f.lines, a.lines...)
}

func (f *function) rowDependent(n plan.Node, lane *plan.Loop) bool {
	row := false
	plan.Accesses(n, func(a plan.Access) { row = row || f.accessDepends(a, lane).row })
	plan.Exprs(n, func(e plan.Expr) plan.Expr { row = row || f.depend(e, lane).row; return e })
	switch n := n.(type) {
	case *plan.Let:
		row = row || f.depends[n.To].row
	case *plan.Acc:
		row = row || f.depends[n.To].row
	}
	return row
}

// sharedAdd reports whether a store outside the lanes sums over rows.
func (f *function) sharedAdd(n *plan.Store) bool {
	return f.rowLanes() && f.r.Across == plan.Columns && !f.accessDepends(n.To, nil).row && f.depend(n.Vals[0], nil).row
}

// addRows adds a sum over rows to an entry, row by row: each term is computed
// for all rows, laid down, and taken from there one after another.
func (f *function) addRows(n *plan.Store) {
	type part struct {
		neg   bool
		fused bool
		a, b  func(s *scope, row int) val
	}
	var parts []part
	first := f.newScope(nil, 0, false)
	lay := func(e plan.Expr) func(s *scope, row int) val {
		d := f.depend(e, nil)
		at := f.newSlot()
		first.b.store("STORE", &address{direct: fmt.Sprintf("%d(R13)", at.at), lanes: f.t.width}, first.real(e))
		return func(s *scope, row int) val {
			if d.row {
				return s.b.at(home{fmt.Sprintf("%d(R13)", at.at+4*row), true})
			}
			return s.b.at(home{fmt.Sprintf("%d(R13)", at.at), false})
		}
	}
	for e := n.Vals[0]; ; {
		switch x := e.(type) {
		case plan.Fma:
			parts = append(parts, part{x.Neg, true, lay(x.A), lay(x.B)})
			e = x.C
			continue
		case plan.Lin:
			parts = append(parts, part{x.Coef[1] < 0, false, lay(x.Args[1]), nil})
			e = x.Args[0]
			continue
		}
		break
	}
	f.place(first.b)
	s := f.newScope(nil, 0, false)
	sum := s.load(n.To)
	for row := range f.rows {
		for i := len(parts) - 1; i >= 0; i-- {
			p := parts[i]
			switch {
			case p.fused:
				sum = s.b.fma(p.neg, p.a(s, row), p.b(s, row), sum)
			case p.neg:
				sum = s.b.sub(sum, p.a(s, row))
			default:
				sum = s.b.add(sum, p.a(s, row))
			}
		}
	}
	s.b.store("STORELOW", s.address(n.To, 1), sum)
	f.place(s.b)
}
