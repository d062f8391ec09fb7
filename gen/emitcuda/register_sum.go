package emitcuda

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/dependence"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Scalar replacement: what a loop of one thread adds to one entry of memory is in a register
// meanwhile. The sum keeps its order.

// sumsOf are the stores of a loop that add to the same entry in all its iterations, and that
// alone touch their buffers there.
func (f *function) sumsOf(n *plan.Loop) []*plan.Store {
	if f.fixed[n] || f.warps != "" {
		return nil
	}
	if _, ok := f.moved[n]; ok {
		return nil
	}
	touched := map[*plan.Buffer]int{}
	for a := range plan.Accesses(n.Body) {
		touched[a.Buf.Base()]++
	}
	inside := []*plan.Var{n.Var}
	memory := false // the entry may be none of the buffer's, or be read elsewhere
	var stores []*plan.Store
	plan.Walk(n.Body, func(x plan.Node) {
		switch x := x.(type) {
		case *plan.Loop:
			if _, moved := f.moved[x]; moved || !f.fixed[x] {
				inside = append(inside, x.Var)
			} else {
				memory = memory || !inBox(x)
			}
		case *plan.Gather:
			inside = append(inside, x.To)
		case *plan.Gemm, *plan.TriSolve, *plan.Zero:
			memory = true
		case *plan.Store:
			if x.Add && x.To.Buf.Elem == ir.Real && len(x.To.Gathered()) == 0 && touched[x.To.Buf.Base()] == 1 && f.private[x.To.Buf.Base()] == nil && f.tiles[x] == nil && f.sums[x] == "" {
				stores = append(stores, x)
			}
		}
	})
	if memory {
		return nil
	}
	return slices.DeleteFunc(stores, func(s *plan.Store) bool { return slices.ContainsFunc(inside, s.To.Mentions) })
}

// inBox reports whether the ends of a loop are those of its box.
func inBox(n *plan.Loop) bool {
	box := dependence.BoxOf(n)
	other := func(end shape.Poly) func(plan.Index) bool {
		return func(x plan.Index) bool { return !x.Equal(plan.Fixed(end)) }
	}
	return !slices.ContainsFunc(n.Lo, other(box.Lo)) && !slices.ContainsFunc(n.Hi, other(box.Hi))
}

// inRegisters prints a loop whose sums are in registers.
func (f *function) inRegisters(n *plan.Loop, sums []*plan.Store) {
	mark := f.e.scope.Mark()
	for _, s := range sums {
		name := f.e.scope.Name(s.To.Buf.Name + ".sum")
		f.Line("float %s = %s;", name, f.entry(s.To))
		f.sums[s] = name
	}
	f.loop(n, f.nodes)
	for _, s := range sums {
		f.target(s.To.Buf)
		if f.live != "" {
			f.Line("if (%s) %s = %s;", f.live, f.entry(s.To), f.sums[s])
		} else {
			f.Line("%s = %s;", f.entry(s.To), f.sums[s])
		}
		delete(f.sums, s)
	}
	f.e.scope.Release(mark)
}
