package emitcuda

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/dependence"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The body of a kernel is cut into parts here: a nest or several that are fused, buffers to be
// filled with zeros, what is adjacent outside of nests. Each becomes a function, or
// several, and schedule.go puts those into launches.
//
// A scalar of the kernel's own level is computed again by each function that
// reads it, if it comes from what nobody writes from there on. Any other is
// kept in memory by the function that computes it.

// A form is how a part of the body is spread over a grid; the zero value is
// invalid.
type form int

const (
	_ form = iota
	zeros
	product
	grid
	scan
	block
	narrow
)

// A part is what one function does (a recurrence needs more).
type part struct {
	form  form
	eqs   []string
	nodes []plan.Node
	fresh map[*plan.Buffer]bool // that the part clears before it uses them
}

// launches cuts the body into parts and prints them.
func (e *emitter) launches() {
	e.clearRoots()
	parts := e.absorbZeros(e.cut())
	e.keepScalars(parts)
	for i := range parts {
		p := &parts[i]
		switch p.form {
		case zeros:
			e.fill(p)
		case product:
			e.product(p)
		case grid:
			e.grid(p)
		case scan:
			e.scan(p)
		case block:
			e.block(p)
		case narrow:
			e.narrow(p.nodes[0].(*plan.Narrow))
		}
	}
	e.schedule()
}

// cut cuts the body.
func (e *emitter) cut() []part {
	var out []part
	var eqs []string
	for at, n := range e.k.Body {
		if note, ok := n.(*plan.Note); ok {
			eqs = note.Eqs
			continue
		}
		if let, ok := n.(*plan.Let); ok && e.repeats(let, at) {
			e.again[let.To] = let
			continue
		}
		form := e.formOf(n)
		if k := len(out) - 1; k >= 0 && out[k].form == form && (form == zeros || form == block && !e.follows(n, out[k].nodes)) {
			out[k].nodes = append(out[k].nodes, n)
			out[k].eqs = union(out[k].eqs, eqs)
			continue
		}
		if k := e.fusible(out, n, form); k >= 0 {
			out[k].nodes = append(out[k].nodes, n)
			out[k].eqs = union(out[k].eqs, eqs)
			continue
		}
		out = append(out, part{form, slices.Clone(eqs), []plan.Node{n}, map[*plan.Buffer]bool{}})
	}
	for i := range out {
		plan.Walk(out[i].nodes, func(n plan.Node) {
			if note, ok := n.(*plan.Note); ok {
				out[i].eqs = union(out[i].eqs, note.Eqs)
			}
		})
	}
	return out
}

func union(a, b []string) []string {
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(a, x)
		}
	}
	return a
}

func (e *emitter) formOf(n plan.Node) form {
	switch n := n.(type) {
	case *plan.Zero:
		return zeros
	case *plan.Narrow:
		return narrow
	case *plan.Gemm:
		return product
	case *plan.Loop, *plan.If:
		x := dependence.Of(n)
		switch l, ok := n.(*plan.Loop); {
		case ok && l.Kind == plan.Batch:
			return scan
		case x.HasGemm && e.productOf(n) != nil:
			return product
		case len(x.Totals) == 0:
			cut, _ := e.splitLoops(x, x.Independent())
			if len(cut) > 0 || len(x.Independent()) > 0 {
				return grid
			}
		}
	}
	return block
}

// repeats reports whether every launch can compute a scalar for itself: it
// gathers nothing, and nothing that it reads is written from here on.
func (e *emitter) repeats(n *plan.Let, at int) bool {
	if e.gathers[n.To] {
		return false
	}
	later := plan.Written(e.k.Body[at:])
	ok := true
	plan.WalkExpr(n.Val, func(x plan.Expr) {
		switch x := x.(type) {
		case plan.Load:
			ok = ok && !later[x.Buf.Base()]
		case plan.Ref:
			ok = ok && e.again[x.To] != nil
		}
	})
	return ok
}

// follows reports whether a scalar that n needs is computed again from what nodes
// write. A launch computes such scalars where it begins.
func (e *emitter) follows(n plan.Node, nodes []plan.Node) bool {
	written := plan.Written(nodes)
	var stale func(n plan.Node) bool
	stale = func(n plan.Node) bool {
		return slices.ContainsFunc(scalars([]plan.Node{n}), func(l *plan.Local) bool {
			let := e.again[l]
			if let == nil {
				return false
			}
			found := stale(let)
			plan.WalkExpr(let.Val, func(x plan.Expr) {
				if load, ok := x.(plan.Load); ok {
					found = found || written[load.Buf.Base()]
				}
			})
			return found
		})
	}
	return stale(n)
}

// keepScalars allocates each scalar that a part computes and another
// one reads or adds to.
func (e *emitter) keepScalars(parts []part) {
	home := map[*plan.Local]int{}
	for i := range parts {
		for _, n := range parts[i].nodes {
			if let, ok := n.(*plan.Let); ok {
				home[let.To] = i
			}
			if r, ok := n.(*plan.FindRoot); ok {
				home[r.To] = i
			}
		}
		for _, l := range scalars(parts[i].nodes) {
			if h, ok := home[l]; ok && h != i {
				if _, ok := e.kept[l]; !ok {
					e.kept[l] = len(e.kept)
				}
			}
		}
	}
	if len(e.kept) > 0 {
		e.keep = e.addWork("kept", ir.Real, shape.Int(int64(len(e.kept))))
	}
}

// scalars lists the scalars that nodes read or add to, in order.
func scalars(ns []plan.Node) []*plan.Local {
	var out []*plan.Local
	add := func(l *plan.Local) {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	plan.Walk(ns, func(n plan.Node) {
		if a, ok := n.(*plan.Accumulate); ok {
			add(a.To)
		}
		plan.EachRef(n, add)
	})
	return out
}

// scalarsOf prints the scalars of the kernel's own level that nodes need.
func (f *function) scalarsOf(ns []plan.Node) {
	for _, l := range scalars(ns) {
		f.bring(l)
	}
}

func (f *function) bring(l *plan.Local) {
	if _, ok := f.locals[l]; ok {
		return
	}
	if let := f.e.again[l]; let != nil {
		for _, m := range scalars([]plan.Node{let}) {
			f.bring(m)
		}
		f.let(let)
		return
	}
	at, ok := f.e.kept[l]
	if !ok {
		return // of the nodes' own
	}
	f.uses[f.e.keep] = true
	name := f.e.scope.Name(l.Name)
	f.locals[l] = name
	val := fmt.Sprintf("%s[%d]", f.e.keep, at)
	if l.Elem != ir.Real {
		val += " != 0.0f"
	}
	typ := language.Types[l.Elem]
	if !f.e.gathers[l] {
		typ = "const " + typ
	}
	f.Line("%s %s = %s;", typ, name, val)
}
