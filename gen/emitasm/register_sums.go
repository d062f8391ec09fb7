package emitasm

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A nest whose outer loop adds to the same entries in each iteration keeps these in registers
// (scalar replacement, register blocking; Callahan, Carr and Kennedy 1990):
//
//	for m                              for p, some vectors at a time
//	    e = a[m]                           s = y[p]
//	    for p { y[p] += e·x[m, p] }        for m { s += a[m]·x[m, p] }
//	                                       y[p] = s
//
// No entry's sum changes its order.
type registerSums struct {
	outer, inner *plan.Loop
	lets         []*plan.Let
	stores       []*plan.Store

	// As the nest is printed:
	count, bytes string             // words of the frame: iterations of the outer loop; of the columns that are done
	before       map[*offset]string // the words of offsets that columns move, at column 0
	steps        map[*offset]string // by how much an iteration of the outer loop moves an offset
}

// Such a nest may need so many pointers, and add up so many sums: those of 16 columns are two
// registers of sixteen each.
const mostWalks, mostSums = 8, 5

// registerSumsOf recognises such a nest; otherwise it returns nil.
func registerSumsOf(outer *plan.Loop) *registerSums {
	if outer.Down || outer.Kind == plan.Time || len(outer.Body) == 0 {
		return nil
	}
	r := &registerSums{outer: outer}
	for i, n := range outer.Body {
		switch n := n.(type) {
		case *plan.Note:
		case *plan.Let:
			if calls(n.Val) {
				return nil
			}
			r.lets = append(r.lets, n)
		case *plan.Loop:
			if i+1 < len(outer.Body) {
				return nil
			}
			r.inner = n
		default:
			return nil
		}
	}
	if r.inner == nil || slices.ContainsFunc(r.inner.Hi, func(x plan.Index) bool { return !x.Coef(outer.Var).IsZero() }) {
		return nil
	}
	uses, stored := map[*plan.Buffer]int{}, map[*plan.Buffer]int{}
	walks, numbers := map[string]bool{}, true
	plan.Walk(outer.Body, func(n plan.Node) {
		plan.EachAccess(n, func(a plan.Access) {
			uses[a.Buf.Base()]++
			walks[a.String()] = true
			numbers = numbers && a.Buf.Elem == ir.Real // a Boolean takes the register of a pointer
		})
	})
	entries := map[string]bool{}
	for _, n := range r.inner.Body {
		s, ok := n.(*plan.Store)
		if !ok || entries[s.To.String()] || len(s.Vals) != 1 || s.To.Mentions(outer.Var) || !s.To.Mentions(r.inner.Var) || !plan.AddsTo(s.Vals[0], s.To) {
			return nil
		}
		entries[s.To.String()] = true
		r.stores, stored[s.To.Buf.Base()] = append(r.stores, s), stored[s.To.Buf.Base()]+1
	}
	for b, n := range stored {
		if uses[b] != 2*n {
			return nil
		}
	}
	if len(r.stores) == 0 || len(r.stores) > mostSums || !numbers || len(walks)-len(r.stores) > mostWalks {
		return nil
	}
	return r
}

// calls reports whether an expression calls a function, which takes longer than to load its
// result again.
func calls(e plan.Expr) bool {
	found := false
	plan.WalkExpr(e, func(e plan.Expr) {
		if _, ok := e.(plan.Call); ok {
			found = true
		}
	})
	return found
}

// registerSums is what a loop of a nest is, if its sums fit the registers.
func (f *function) registerSums(n *plan.Loop) *registerSums {
	if f.r.Row != nil {
		return nil
	}
	return registerSumsOf(n)
}

// groups are the widths of strips, in groups of 16 columns: as many as have their sums in
// registers at once, and one.
func (r *registerSums) groups(t *target) []int {
	for n := 4; n > 1; n /= 2 {
		if len(r.stores)*n*(16/t.width) <= t.regs-6 {
			return []int{n, 1}
		}
	}
	return []int{1}
}

// sumsInRegisters prints the nest: strips of several groups of 16 columns, of one, and the
// last columns under a mask.
func (f *function) sumsInRegisters(r *registerSums) {
	f.materialise()
	f.cache.invalidate()
	n := r.outer
	over, at := f.label("over"), f.counter[n.Var]
	r.count = f.word()
	left := f.word()
	r.bytes = f.word()
	zero := len(n.Lo) == 1 && n.Lo[0].Equal(plan.Index{})
	if zero {
		f.bound(n.Hi, f.t.length, "LT")
		f.m.test(f.t.length)
	} else {
		f.bound(n.Lo, f.t.work, "GT")
		f.m.move(f.t.work, at)
		f.bound(n.Hi, f.t.length, "LT")
		f.m.sub(at, f.t.length)
	}
	f.m.jump("LE", over)
	f.m.move(f.t.length, r.count)
	f.bound(r.inner.Hi, f.t.length, "LT")
	f.m.move(f.t.length, left)
	f.m.move("$0", f.t.work)
	f.m.move(f.t.work, r.bytes)
	moved := f.move(n.Var, n.Body, zero)
	strips := f.moveColumns(r)
	r.steps, r.before = f.strides(moved, n.Var), map[*offset]string{}
	for _, o := range strips {
		r.before[o] = o.now()
		o.push(f)
	}
	for _, groups := range r.groups(f.t) {
		top, next := f.label("strip"), f.label("narrow")
		f.here(top)
		f.m.move(left, f.t.length)
		f.m.sub(imm(16*groups), f.t.length)
		f.m.jump("LT", next)
		f.m.move(f.t.length, left)
		f.strip(r, groups*16/f.t.width, false)
		f.m.add(imm(64*groups), r.bytes)
		f.m.jump("", top)
		f.here(next)
	}
	f.m.move(left, f.t.length)
	f.m.test(f.t.length)
	f.m.jump("LE", over)
	f.strip(r, 16/f.t.width, true)
	back(strips)
	back(moved)
	f.here(over)
	f.cache.invalidate()
}

// strides computes by how many bytes an iteration moves offsets on: numbers, or words of the
// frame.
func (f *function) strides(moved []*offset, v *plan.Var) map[*offset]string {
	out := map[*offset]string{}
	for _, o := range moved {
		by := o.walk.StrideOf(v)
		if c, ok := by.Const(); ok && o.scale() > 0 {
			out[o] = imm(int(c) * o.scale())
			continue
		}
		f.bytes(by, o, 1)
		out[o] = f.word()
		f.m.move(f.t.spare, out[o])
	}
	return out
}

// moveColumns are the offsets that columns move.
func (f *function) moveColumns(r *registerSums) []*offset {
	return slices.DeleteFunc(f.usedBy(f.byStride(r.inner.Var), r.outer.Body), func(o *offset) bool { return o.walk.StrideOf(r.inner.Var).IsZero() })
}

// strip prints the sums of so many vectors of columns.
func (f *function) strip(r *registerSums, columns int, masked bool) {
	for _, o := range f.offsets {
		if was, ok := r.before[o]; ok {
			f.m.move(r.bytes, f.t.work)
			if was != "" {
				f.m.add(was, f.t.work)
			}
			f.m.move(f.t.work, o.now())
		}
	}
	if masked {
		f.m.columnMasks()
	}
	f.inStrip = true
	defer func() { f.inStrip = false }()
	f.place(f.sums(r, columns, masked, func(s *scope, n *plan.Store, _ val) val { return s.load(n.To) }))
	sums := f.sums(r, columns, masked, func(s *scope, n *plan.Store, sum val) val {
		s.loads[s.key(n.To)] = sum
		s.define(r.lets, n.Vals[0])
		return s.real(n.Vals[0])
	})
	streams := f.streamsOf(r)
	registers := slices.DeleteFunc(slices.Clone(f.t.pointers), func(reg string) bool { return reg == f.t.args })
	for i, st := range streams {
		apart := ""
		if !f.derive(st, streams[:i], registers[i], &apart) {
			f.point(st, registers[i])
		}
		st.reg = registers[i]
	}
	main, ok := allocate(sums, true, nil, func() (home, bool) { return home{}, false })
	if !ok {
		f.failed = "the sums of a nest do not fit the registers"
		return
	}
	if !f.once && columns == 16/f.t.width && !masked {
		f.loads += float64(main.loads()) / float64(columns*f.unrolled)
	}
	f.loadPinned(main)
	f.cache.invalidate()
	f.m.move(r.count, f.t.own)
	kept := mostUsed(streams, r.steps)
	if kept != "" {
		f.m.move(kept, f.t.spare)
	}
	top := f.label("sum")
	f.here(top)
	f.lines = append(f.lines, main.lines...)
	for _, st := range streams {
		switch by := r.steps[st.offset]; by {
		case "":
		case kept:
			f.m.add(f.t.spare, st.reg)
		default:
			f.m.add(by, st.reg)
		}
	}
	f.m.dec(f.t.own)
	f.m.jump("NE", top)
	for _, st := range streams {
		st.reg = ""
	}
	f.place(f.sums(r, columns, masked, func(s *scope, n *plan.Store, sum val) val {
		s.b.store("STORE", s.address(n.To, f.t.width), sum)
		return sum
	}))
}

// mostUsed is the word of the frame by which most streams move, or "".
func mostUsed(streams []*stream, steps map[*offset]string) string {
	best, times := "", map[string]int{}
	for _, st := range streams {
		by := steps[st.offset]
		if by == "" || by[0] == '$' {
			continue
		}
		if times[by]++; times[by] > times[best] {
			best = by
		}
	}
	return best
}

// sums is a body with an accumulator for each store of a nest and each vector of columns, which
// becomes a value.
func (f *function) sums(r *registerSums, columns int, masked bool, becomes func(s *scope, n *plan.Store, sum val) val) *body {
	s := f.newScope(r.inner, columns, masked)
	for s.column = range columns {
		for _, n := range r.stores {
			number, sum := s.b.accumulator()
			s.b.accOut[number] = becomes(s, n, sum)
		}
	}
	return s.b
}

// define sets the scalars that an expression needs, as late as can be.
func (s *scope) define(lets []*plan.Let, e plan.Expr) {
	plan.WalkExpr(e, func(e plan.Expr) {
		ref, ok := e.(plan.Ref)
		if !ok {
			return
		}
		for _, l := range lets {
			if _, set := s.locals[s.of(l.To)]; l.To == ref.To && !set {
				s.define(lets, l.Val)
				s.statement(l)
			}
		}
	})
}

// streamsOf are the streams of a nest but for those of its sums.
func (f *function) streamsOf(r *registerSums) []*stream {
	used := map[*stream]bool{}
	plan.Walk(r.outer.Body, func(n plan.Node) {
		plan.EachAccess(n, func(a plan.Access) { used[f.stream(a)] = true })
	})
	for _, n := range r.stores {
		used[f.stream(n.To)] = false
	}
	return slices.DeleteFunc(slices.Clone(f.order), func(st *stream) bool { return !used[st] })
}
