package emitasm

import (
	"fmt"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// vectorLoop prints an innermost loop by strip mining: whole passes, then a remainder. A
// pass takes 16 adjacent columns, or with rows in the lanes two columns, one
// for each partial sum. Where several rows add to what columns share, one accumulator
// after another would be slow: passes of more columns go before, so
// that several accumulators run at once.
func (f *function) vectorLoop(n *plan.Loop) {
	step, columns := 16, 16/f.t.width
	if f.r.Across == plan.Rows {
		step, columns = 2, 2
	}
	chains := f.groupsAtOnce(n)
	step, columns = step*chains, columns*chains
	f.bound(n.Hi, f.t.length, "LT")
	f.pointers(n)
	if f.counts(n) {
		f.m.zero(f.t.entry)
	}
	if f.indexed(n) {
		f.m.zero(f.t.own)
	}
	s := f.pass(n, columns, false)
	main, ok := allocate(s.b, true, nil, f.spillSlot)
	if !ok || s.b.accs+5 > f.t.regs {
		f.failed = fmt.Sprintf("the loop over %s does not fit the registers with %d rows", n.Var.Name, f.rows)
		return
	}
	known := f.cache.clone()
	f.loadPinned(main)
	f.cache.invalidate()
	f.initAccumulators(n, s, main, known)
	if !f.once {
		f.loads += float64(main.loads()) / float64(f.rows*columns*f.unrolled)
	}
	top, rest, done := f.label("pass"), f.label("rest"), f.label("end")
	f.m.sub(imm(step), f.t.length)
	f.m.jump("LT", rest)
	f.here(top)
	f.lines = append(f.lines, main.lines...)
	f.advance(n, step, columns)
	f.m.sub(imm(step), f.t.length)
	f.m.jump("GE", top)
	f.here(rest)
	if chains > 1 {
		f.singleGroup(n, step, step/chains, columns/chains, s.b.accs)
		step, main.pinned = step/chains, nil
	}
	f.m.add(imm(step), f.t.length)
	f.m.jump("LE", done) // a length may be negative, as that of a window less the tokens
	f.remainder(n, columns/chains, s.b.accs, main.inRegisters())
	f.here(done)
	for _, st := range f.order {
		if st.reg == f.t.args {
			f.m.arguments()
		}
		st.reg, st.word = "", ""
	}
	f.reduce(n, s, main)
}

// groupsAtOnce is how many times 16 columns a pass takes.
func (f *function) groupsAtOnce(n *plan.Loop) int {
	if f.accumulators == 1 || f.r.Across != plan.Columns || !f.rowsInVector() {
		return 1
	}
	for _, x := range n.Body {
		if s, ok := x.(*plan.Store); ok && !f.accessDepends(s.To, n).row {
			return f.accumulators
		}
	}
	return 1
}

// singleGroup prints passes of 16 columns, after those of more.
func (f *function) singleGroup(n *plan.Loop, before, step, columns, keep int) {
	top, done := f.label("single"), f.label("after")
	f.m.add(imm(before-step), f.t.length)
	f.m.jump("LT", done)
	f.here(top)
	f.placeOnce(f.pass(n, columns, false), keep, nil)
	f.advance(n, step, columns)
	f.m.sub(imm(step), f.t.length)
	f.m.jump("GE", top)
	f.here(done)
}

// pointers loads the pointers of the streams of a vector loop, as many as there are
// registers; the others are in the frame. Booleans pass through the temporary register.
func (f *function) pointers(n *plan.Loop) {
	all, registers := f.loopStreams(n), f.t.pointers
	if slices.ContainsFunc(all, func(st *stream) bool { return st.walk.Buf.Elem == ir.Bool }) {
		registers = slices.DeleteFunc(slices.Clone(registers), func(r string) bool { return r == f.t.temp })
	}
	most := min(len(registers), len(all))
	for _, st := range all[most:] {
		f.point(st, f.t.work)
		st.word = f.word()
		f.m.move(f.t.work, st.word)
	}
	apart := "" // what the spare register holds: a distance between two streams
	for i, reg := range registers[:most] {
		switch {
		case f.derive(all[i], all[:i], reg, &apart):
		case reg == f.t.args:
			f.point(all[i], f.t.work)
			f.m.move(f.t.work, reg)
		default:
			f.point(all[i], reg)
		}
		all[i].reg = reg
	}
}

// derive computes a pointer from that of a stream over the same buffer with the same
// offset, such as the next row of an unrolled nest. It reports false where there is none,
// or where this takes more instructions.
func (f *function) derive(s *stream, before []*stream, reg string, apart *string) bool {
	for i := len(before) - 1; i >= 0; i-- {
		t := before[i]
		if t.walk.Buf != s.walk.Buf || t.offset != s.offset || s.offset.scale() != 4 {
			continue
		}
		d := s.walk.Base.Add(t.walk.Base, shape.Int(-1))
		if len(d.Terms) > 0 {
			continue
		}
		if n, ok := d.Const.Const(); ok {
			f.m.sum(int(4*n), t.reg, reg)
			return true
		}
		if key := d.String(); key != *apart {
			*apart = key
			f.m.move(f.args.integer(d), f.t.spare)
		}
		f.m.entry(t.reg, f.t.spare, reg)
		return true
	}
	return false
}

func (f *function) loopStreams(n *plan.Loop) []*stream {
	used := map[*stream]bool{}
	for _, x := range n.Body {
		plan.EachAccess(x, func(a plan.Access) { used[f.stream(a)] = true })
	}
	var out []*stream
	for _, st := range f.order {
		if used[st] {
			out = append(out, st)
		}
	}
	return out
}

// moves reports whether the pointer of a stream moves on in a vector loop, as far as it
// has a register; the others have an index. Those of rows' own buffers do, and
// with one vector of rows all, so that instructions can read from there at no cost. Where
// operands have no index, all do.
func (f *function) moves(st *stream, n *plan.Loop) bool {
	if f.inStrip {
		return true
	}
	most := !f.t.indexed || f.r.Across == plan.Rows && f.vectors() == 1
	return st.reg != "" && (st.own || most && !st.walk.StrideOf(n.Var).IsZero())
}

// offset is the index of an access to a row's own buffer.
func (f *function) offset(st *stream, n *plan.Loop) string {
	if f.moves(st, n) {
		return ""
	}
	return byOwn
}

// indexed reports whether a vector loop needs an offset into the rows' own buffers.
func (f *function) indexed(n *plan.Loop) bool {
	return slices.ContainsFunc(f.loopStreams(n), func(st *stream) bool { return st.own && !f.moves(st, n) })
}

// counts reports whether a vector loop needs the number of its entry.
func (f *function) counts(n *plan.Loop) bool {
	return f.t.indexed || slices.ContainsFunc(f.loopStreams(n), func(st *stream) bool { return !st.own && !f.moves(st, n) && !st.walk.StrideOf(n.Var).IsZero() })
}

// advance moves on by a pass.
func (f *function) advance(n *plan.Loop, step, columns int) {
	if f.counts(n) {
		f.m.add(imm(step), f.t.entry)
	}
	by, other := 4*f.rows*columns, 4*columns
	if f.r.Across == plan.Columns {
		other = 4 * f.t.width * columns
		by = f.rows * other
	}
	for _, st := range f.loopStreams(n) {
		switch {
		case !f.moves(st, n):
		case st.own:
			f.m.add(imm(by), st.reg)
		default:
			f.m.add(imm(other), st.reg)
		}
	}
	if f.indexed(n) {
		f.m.add(imm(by), f.t.own)
	}
}

// pass is the body of one pass.
func (f *function) pass(n *plan.Loop, columns int, masked bool) *scope {
	s := f.newScope(n, columns, masked)
	groups := 1
	if f.rowsInVector() {
		groups = f.rows
		if f.r.Across == plan.Rows {
			groups = f.vectors()
		}
	}
	each := func() {
		for _, x := range n.Body {
			if (s.row == 0 || f.rowDependent(x, n)) && (s.column == 0 || f.columnDependent(x)) {
				s.statement(x)
			}
		}
	}
	if columns <= 16/f.t.width || f.r.Across == plan.Rows {
		for s.column = range columns {
			for s.row = range groups {
				each()
				s.endRow()
			}
			s.finish() // at once: a register each is free for the next column
		}
	} else {
		for s.row = range groups {
			for s.column = range columns {
				each()
			}
			s.endRow()
		}
	}
	s.finish()
	return s
}

// columnDependent reports whether a statement differs between the columns of a
// pass. An accumulation does: each column adds.
func (f *function) columnDependent(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Let:
		return f.depends[n.To].column
	case *plan.Note:
		return false
	}
	return true
}

// remainder prints the last pass: fewer columns than lanes, under a mask, or
// one column where rows are in the lanes.
func (f *function) remainder(n *plan.Loop, columns, keep int, known registerCache) {
	if f.r.Across == plan.Rows {
		f.placeOnce(f.pass(n, 1, false), keep, known)
		return
	}
	f.m.columnMasks()
	f.placeOnce(f.pass(n, columns, true), keep, known)
}

// placeOnce places a pass that runs once after the loop; accumulators keep their
// registers, and scalars that registers still hold come from there as far as the others
// are enough.
func (f *function) placeOnce(s *scope, keep int, known registerCache) {
	s.b.keep = keep
	a, ok := allocate(s.b, false, known, func() (home, bool) { return home{}, false })
	if !ok {
		a, ok = allocate(s.b, false, nil, f.spillSlot)
	}
	if !ok {
		f.failed = "the last pass of a loop does not fit the registers"
		return
	}
	f.lines = append(f.lines, a.lines...)
}

// initAccumulators starts the accumulators: the first partial sum at the scalar, the others
// at zero, maxima at −∞. Known is what registers held before those of the loop were loaded,
// which are others than the accumulators'.
func (f *function) initAccumulators(n *plan.Loop, s *scope, a *allocation, known registerCache) {
	for i, c := range s.accIn {
		r, from := a.acc[i], f.home(c.local, c.row, false)
		switch {
		case f.accumulatesMax(n, c.local):
			f.m.load(home{constant(math.Float32bits(float32(math.Inf(-1)))), true}, r, f.t.width)
		case c.column > 0 || from.text == constant(0):
			f.m.clear(r)
		case f.r.Across == plan.Rows:
			f.m.load(from, r, f.t.width)
		case slices.Contains(known[r], f.home(c.local, c.row, true).text):
			f.m.keepFirst(f.home(c.local, c.row, true).text, r)
		default:
			f.m.loadFirst(f.home(c.local, c.row, true).text, r)
		}
	}
}

func (f *function) accumulatesMax(n *plan.Loop, l *plan.Local) bool {
	for _, x := range n.Body {
		if a, ok := x.(*plan.Accumulate); ok && a.To == l {
			return a.Max
		}
	}
	return false
}
