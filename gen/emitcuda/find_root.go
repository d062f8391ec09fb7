package emitcuda

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// noRoot is the workspace buffer that says which root findings of a kernel failed:
// an entry for each, 1 if it did. A caller reads it after the last launch.
const noRoot = "no_root"

// clearRoots prints the launch that clears the failures.
func (e *emitter) clearRoots() {
	n := len(e.k.Roots())
	if n == 0 {
		return
	}
	e.noRoot = e.addWork(noRoot, ir.Int, shape.Int(int64(n)))
	f := e.newFunction(gridThreads)
	f.uses[e.noRoot], f.writes[e.noRoot] = true, true
	f.item(shape.Int(int64(n)), fmt.Sprint(n))
	f.Line("%s[item] = 0;", e.noRoot)
	f.finish(nil, []string{"No search has failed yet."}, Factor{shape.Int(int64(n)), gridThreads})
}

// findRoot prints root finding; hecate.cuh has its rounds:
//
//	hecate::search search(lo, hi, tol);
//	while (search.more()) {
//	  const float x = search.x;
//	  …
//	  search.take(r);
//	}
//	const float zeta = search.x;
//	if (search.failed) no_root[0] = 1;
//
// Several threads may write the same entry, all of them the same number.
func (f *function) findRoot(n *plan.FindRoot) {
	search := f.e.scope.Name("trial")
	f.Line("hecate::search %s(%s, %s, %s);", search, f.Top(n.Lo), f.Top(n.Hi), number(n.Tol))
	f.block("while ("+search+".more())", func() {
		x := f.e.scope.Name(n.X.Name)
		f.locals[n.X] = x
		f.Line("const float %s = %s.x;", x, search)
		f.nodes(n.Body)
		f.Line("%s.take(%s);", search, f.Top(n.Val))
	})
	to := f.e.scope.Name(n.To.Name)
	f.locals[n.To] = to
	f.Line("const float %s = %s.x;", to, search)
	f.uses[f.e.noRoot], f.writes[f.e.noRoot] = true, true
	f.Line("if (%s.failed) %s[%d] = 1;", search, f.e.noRoot, n.Number-1)
}
