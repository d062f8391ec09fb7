package emitcuda

import (
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/dependence"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// gridThreads is the number of threads of a block where threads have nothing to
// do with each other.
const gridThreads = 256

// grid prints a nest whose iterations are spread over all threads of a grid.
func (e *emitter) grid(p *part) {
	x := dependence.Of(p.nodes[0])
	loops := x.Independent()
	if len(p.nodes) > 1 {
		e.gridOf(p, loops)
		return
	}
	if cut, shared := e.splitLoops(x, loops); len(cut) > 0 {
		e.inSplits(p, x, loops, cut, shared)
		return
	}
	if s := e.exchangedOf(x); s != nil {
		e.inExchanged(p, s)
		return
	}
	e.gridOf(p, loops)
}

// gridOf prints nests that are spread over the same points, those of loops.
func (e *emitter) gridOf(p *part, loops []*plan.Loop) {
	f := e.newFunction(gridThreads)
	total := items(loops)
	f.item(total, f.points(loops))
	f.each(loops, "item")
	for _, n := range p.nodes[1:] {
		for i, l := range dependence.Of(n).Independent() {
			f.vars[l.Var], f.fixed[l] = f.vars[loops[i].Var], true
		}
	}
	f.scalarsOf(p.nodes)
	for _, b := range e.inOrder(p.fresh) {
		x := dependence.Of(firstUse(p.nodes, b))
		f.clearOwn(x, b, x.Independent())
	}
	f.nodes(p.nodes)
	f.finish(p.eqs, []string{"One thread for each " + tuple(loops) + "."}, Factor{total, gridThreads})
}

// fusible is the part with which a nest can be fused, or -1: the nest is spread over
// the same points, a thread reads there only what it has written itself, and the nest can
// change places with the parts between.
func (e *emitter) fusible(parts []part, n plan.Node, as form) int {
	if as != grid {
		return -1
	}
	x := dependence.Of(n)
	loops := x.Independent()
	if cut, _ := e.splitLoops(x, loops); len(cut) > 0 || e.exchangedOf(x) != nil {
		return -1
	}
	for k := len(parts) - 1; k >= 0; k-- {
		p := &parts[k]
		if p.form == grid && !e.follows(n, p.nodes) && e.aligned(p, x, loops) {
			return k
		}
		if e.conflict(p, n) {
			return -1
		}
	}
	return -1
}

// aligned reports whether a nest has the points of a part, and its threads the same entries.
func (e *emitter) aligned(p *part, x *dependence.Nest, loops []*plan.Loop) bool {
	first := dependence.Of(p.nodes[0])
	own := first.Independent()
	if cut, _ := e.splitLoops(first, own); len(cut) > 0 || len(p.nodes) == 1 && e.exchangedOf(first) != nil || len(own) != len(loops) || len(loops) == 0 {
		return false
	}
	for i, l := range loops {
		a, b := dependence.BoxOf(l), dependence.BoxOf(own[i])
		if !a.Lo.Equal(b.Lo) || !a.Hi.Equal(b.Hi) {
			return false
		}
	}
	for _, m := range p.nodes {
		before := dependence.Of(m)
		for b := range x.Accesses {
			if before.Accesses[b] == nil || !before.Writes[b] && !x.Writes[b] {
				continue
			}
			by, then := owned(x, b, loops), owned(before, b, before.Independent())
			if by == nil || !slices.Equal(by, then) || x.Accesses[b][0].Buf != before.Accesses[b][0].Buf {
				return false
			}
		}
	}
	return true
}

// conflict reports whether a node and a part cannot change places.
func (e *emitter) conflict(p *part, n plan.Node) bool {
	reads, writes := e.uses([]plan.Node{n})
	otherReads, otherWrites := e.uses(p.nodes)
	meet := func(a, b map[*plan.Buffer]bool) bool {
		for x := range a {
			if b[x] {
				return true
			}
		}
		return false
	}
	if meet(reads, otherWrites) || meet(writes, otherReads) || meet(writes, otherWrites) {
		return true
	}
	set := scalarSet(p.nodes)
	return slices.ContainsFunc(scalars([]plan.Node{n}), func(l *plan.Local) bool { return set[l] })
}

// uses are the buffers that nodes read and write, those included that scalars come from which
// they compute again.
func (e *emitter) uses(ns []plan.Node) (reads, writes map[*plan.Buffer]bool) {
	reads, writes = touched(ns)
	for _, l := range scalars(ns) {
		if let := e.again[l]; let != nil {
			more, _ := e.uses([]plan.Node{let})
			maps.Copy(reads, more)
		}
	}
	return reads, writes
}

// item prints the number of the thread in the grid.
func (f *function) item(total shape.Poly, points string) {
	typ := f.itemType(total)
	if typ == "int" {
		f.Line("const int item = blockIdx.x * %d + threadIdx.x;", f.threads)
	} else {
		f.Line("const i64 item = (i64)blockIdx.x * %d + threadIdx.x;", f.threads)
	}
	f.Line("if (item >= %s) return;", points)
}

// tuple names the variables of loops.
func tuple(loops []*plan.Loop) string {
	var names []string
	for _, l := range loops {
		names = append(names, clike.Underscored(l.Var.Name))
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// fill prints zeros into buffers.
func (e *emitter) fill(p *part) {
	for _, n := range p.nodes {
		f := e.clear(n.(*plan.Zero).Buf.Base(), p.eqs, gridThreads)
		e.functions = append(e.functions, f)
	}
}

// clear is a function that fills a buffer with zeros, by blocks of so many threads.
func (e *emitter) clear(b *plan.Buffer, eqs []string, threads int) *function {
	f := e.newFunction(threads)
	f.zeros = b
	f.item(b.Len(), f.count(b.Len()))
	name, wanted := f.target(b), ""
	if b.Optional {
		wanted = "if (" + name + " != nullptr) "
	}
	f.Line("%s%s[item] = %s;", wanted, name, f.Zero(b.Elem))
	f.end(eqs, []string{"Zeros into " + name + "."}, Factor{b.Len(), threads})
	return f
}

// each prints the decoding of an item into the variables of loops; the last one
// varies fastest.
func (f *function) each(loops []*plan.Loop, item string) {
	for i, l := range loops {
		val := item
		if rest := f.points(loops[i+1:]); rest != "1" {
			val += " / " + quotient(rest)
		}
		if i > 0 {
			val += " % " + f.Atom(dependence.BoxOf(l).Extent())
		}
		if val != item {
			val = "(" + val + ")"
		}
		if lo := dependence.BoxOf(l).Lo; !lo.IsZero() {
			val = f.Factor(lo) + " + (int)" + val
		} else {
			val = "(int)" + val
		}
		name := f.e.scope.Name(l.Var.Name)
		f.vars[l.Var], f.fixed[l] = name, true
		f.Line("const int %s = %s;", name, val)
	}
}

// quotient prints a divisor.
func quotient(s string) string {
	if strings.Contains(s, " ") {
		return "(" + s + ")"
	}
	return s
}

// points prints the number of points of loops as a product, in 64 bits unless it
// is fixed or a single size.
func (f *function) points(loops []*plan.Loop) string {
	var parts []string
	for _, l := range loops {
		if n := dependence.BoxOf(l).Extent(); !n.Equal(shape.Int(1)) {
			parts = append(parts, f.Atom(n))
		}
	}
	switch {
	case len(parts) == 0:
		return "1"
	case len(parts) > 1 && !f.e.constant(items(loops)):
		parts[0] = "(i64)" + parts[0]
	}
	return strings.Join(parts, " * ")
}

// items is the number of points of loops.
func items(loops []*plan.Loop) shape.Poly {
	n := shape.Int(1)
	for _, l := range loops {
		n = n.Mul(dependence.BoxOf(l).Extent())
	}
	return n
}

// itemType is the type that counts these items.
func (f *function) itemType(n shape.Poly) string {
	if f.e.constant(n) {
		return "int"
	}
	return "i64"
}
