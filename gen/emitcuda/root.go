package emitcuda

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// noRoot is the workspace buffer that says which searches of a kernel failed:
// one entry each, and more than zero if it did. It is the caller's to clear.
const noRoot = "no_root"

// root prints a search; hecate.cuh has its rounds:
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
func (f *function) root(n *plan.Root) {
	search := f.e.scope.name("trial")
	f.line("hecate::search %s(%s, %s, %s);", search, f.top(n.Lo), f.top(n.Hi), number(n.Tol))
	f.block("while ("+search+".more())", func() {
		x := f.e.scope.name(n.X.Name)
		f.locals[n.X] = x
		f.line("const float %s = %s.x;", x, search)
		f.nodes(n.Body)
		f.line("%s.take(%s);", search, f.top(n.Val))
	})
	to := f.e.scope.name(n.To.Name)
	f.locals[n.To] = to
	f.line("const float %s = %s.x;", to, search)
	if !f.e.taken(noRoot) {
		f.e.addWork(noRoot, ir.Int, shape.Int(int64(len(f.e.k.Roots()))))
	}
	f.uses[noRoot], f.writes[noRoot] = true, true
	f.line("if (%s.failed) %s[%d] = 1;", search, noRoot, n.Number-1)
}
