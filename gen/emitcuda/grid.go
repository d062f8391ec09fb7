package emitcuda

import (
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
	if cut, shared := e.splitLoops(x, loops); len(cut) > 0 {
		e.inSplits(p, loops, cut, shared)
		return
	}
	if s := e.exchangedOf(x); s != nil {
		e.inExchanged(p, s)
		return
	}
	f := e.newFunction(gridThreads)
	total := items(loops)
	f.item(total, f.points(loops))
	f.each(loops, "item")
	f.scalarsOf(p.nodes)
	f.nodes(p.nodes)
	f.finish(p.eqs, []string{"One thread for each " + tuple(loops) + "."}, Factor{total, gridThreads})
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

// fill prints zeros into buffers, one after another in one grid.
func (e *emitter) fill(p *part) {
	f := e.newFunction(gridThreads)
	total := shape.Poly{}
	for _, n := range p.nodes {
		total = total.Add(n.(*plan.Zero).Buf.Len())
	}
	f.Line("const i64 thread = (i64)blockIdx.x * %d + threadIdx.x;", f.threads)
	f.Line("const i64 threads = (i64)gridDim.x * %d;", f.threads)
	for _, n := range p.nodes {
		f.zeroWide(f.target(n.(*plan.Zero).Buf), n.(*plan.Zero).Buf)
	}
	f.finish(p.eqs, []string{"Zeros; the threads of the grid share each buffer."}, Factor{total, gridThreads})
}

func (f *function) zeroWide(name string, b *plan.Buffer) {
	wanted := ""
	if b.Optional {
		wanted = "if (" + name + " != nullptr) "
	}
	f.Line("%sfor (i64 at = thread; at < %s; at += threads) %s[at] = %s;", wanted, f.count(b.Len()), name, f.Zero(b.Elem))
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
