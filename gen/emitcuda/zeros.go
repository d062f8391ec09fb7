package emitcuda

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/dependence"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A buffer that begins as zeros is cleared where it is first used, if each thread, or each
// block, has entries of its own there: a launch that only writes zeros costs as much as one
// that computes.

// absorbZeros moves buffers to be cleared from parts of their own to those that use them
// first.
func (e *emitter) absorbZeros(parts []part) []part {
	for i := range parts {
		if parts[i].form != zeros {
			continue
		}
		parts[i].nodes = slices.DeleteFunc(parts[i].nodes, func(n plan.Node) bool {
			b := n.(*plan.Zero).Buf.Base()
			for j := i + 1; j < len(parts); j++ {
				p := &parts[j]
				if p.form == zeros || !touches(p, b) {
					continue
				}
				if !e.absorbs(p, b) {
					return false
				}
				p.fresh[b] = true
				return true
			}
			return false
		})
	}
	return slices.DeleteFunc(parts, func(p part) bool { return p.form == zeros && len(p.nodes) == 0 })
}

func touches(p *part, b *plan.Buffer) bool {
	reads, writes := touched(p.nodes)
	return reads[b] || writes[b]
}

// firstUse is the first node that touches a buffer.
func firstUse(ns []plan.Node, b *plan.Buffer) plan.Node {
	return ns[slices.IndexFunc(ns, func(n plan.Node) bool { return dependence.Of(n).Accesses[b] != nil })]
}

// absorbs reports whether a part can clear a buffer itself.
func (e *emitter) absorbs(p *part, b *plan.Buffer) bool {
	if b.Optional || b.Elem != ir.Real {
		return false
	}
	switch p.form {
	case block:
		return true
	case grid:
		x := dependence.Of(firstUse(p.nodes, b))
		loops := x.Independent()
		if len(p.nodes) == 1 {
			if cut, shared := e.splitLoops(x, loops); len(cut) > 0 {
				return slices.Contains(shared, b)
			}
			if e.exchangedOf(x) != nil {
				return false
			}
		}
		return owned(x, b, loops) != nil
	case scan:
		batch := p.nodes[0].(*plan.Loop)
		if !simpleBatch(batch) {
			return true // it is one block
		}
		if r := e.rowRecurrenceOf(batch); r != nil {
			shared, _ := r.shared()
			return slices.Contains(shared, b) || owned(r.x, b, []*plan.Loop{batch, r.row}) != nil
		}
		x := dependence.Of(batch)
		shared, ok := e.sharedOf(batch, x)
		return !ok || slices.Contains(shared, b) || prefix(owned(x, b, []*plan.Loop{batch}))
	}
	return false
}

// owned says which loop each index of a buffer is the variable of, as its number in loops,
// or -1 for an index without any of them. It is nil unless all accesses agree and each loop
// runs over a whole axis: then a thread with the variables fixed has the entries to itself.
func owned(x *dependence.Nest, b *plan.Buffer, loops []*plan.Loop) []int {
	as := x.Accesses[b]
	var out []int
	for k, a := range as {
		if a.Buf != as[0].Buf {
			return nil
		}
		for p, index := range a.Index {
			by := slices.IndexFunc(loops, func(l *plan.Loop) bool { return index.Var() == l.Var })
			switch {
			case by < 0 && slices.ContainsFunc(loops, func(l *plan.Loop) bool { return !index.Coef(l.Var).IsZero() }):
				return nil
			case k > 0 && out[p] != by:
				return nil
			case k == 0 && by >= 0 && slices.Contains(out, by):
				return nil
			case k == 0:
				out = append(out, by)
			}
		}
	}
	for i, l := range loops {
		p := slices.Index(out, i)
		if box := dependence.BoxOf(l); p < 0 || !box.Lo.IsZero() || !box.Extent().Equal(as[0].Buf.Dims[p]) {
			return nil
		}
	}
	return out
}

// prefix reports whether a buffer's first index, and no other, is that of a loop: the
// entries of an iteration are contiguous then.
func prefix(by []int) bool { return len(by) > 0 && by[0] == 0 }

// clearOwn prints zeros into the entries of a buffer that a thread has to itself: those at
// the variables of loops, as owned says.
func (f *function) clearOwn(x *dependence.Nest, b *plan.Buffer, loops []*plan.Loop) {
	to := plan.Access{Buf: x.Accesses[b][0].Buf}
	var free []*plan.Loop
	for p, by := range owned(x, b, loops) {
		if by >= 0 {
			to.Index = append(to.Index, plan.At(loops[by].Var))
			continue
		}
		l := &plan.Loop{Kind: plan.Plain, Var: &plan.Var{Name: "at"}, Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(to.Buf.Dims[p])}}
		to.Index, free = append(to.Index, plan.At(l.Var)), append(free, l)
	}
	var inside func(free []*plan.Loop)
	inside = func(free []*plan.Loop) {
		if len(free) == 0 {
			f.store(&plan.Store{To: to, Vals: []plan.Expr{plan.Num{}}})
			return
		}
		f.loop(free[0], func([]plan.Node) { inside(free[1:]) })
	}
	inside(free)
}

// clearBlock prints zeros into contiguous entries, by the threads of the block.
func (f *function) clearBlock(to, count string) {
	f.Line("for (i64 at = threadIdx.x; at < %s; at += %d) %s[at] = 0.0f;", count, f.threads, to)
}

// rest is the length of a buffer, as a nest has it, without its first axis.
func (f *function) rest(x *dependence.Nest, b *plan.Buffer) string {
	tail := plan.Buffer{Dims: x.Accesses[b][0].Buf.Dims[1:]}
	return fmt.Sprintf("(%s)", f.count(tail.Len()))
}
