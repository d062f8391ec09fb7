package effect

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// A function value runs at most once if it is named once, beside comparisons with
// nil, outside of loops, and is called there or handed to a function that calls it
// at most once. On which goroutine that is does not matter.

// once reports whether a parameter of the declaration at c is called at most once.
func (e *Effects) once(c inspector.Cursor, v *types.Var) bool {
	named := 0
	for id := range c.Preorder((*ast.Ident)(nil)) {
		if e.info.Uses[id.Node().(*ast.Ident)] != v {
			continue
		}
		if k := id.ParentEdgeKind(); k == edge.BinaryExpr_X || k == edge.BinaryExpr_Y {
			continue
		}
		if named++; named > 1 || !e.single(id) || !straight(c, id) {
			return false
		}
	}
	return named == 1
}

// single reports whether what is done with a function runs it at most once.
func (e *Effects) single(x inspector.Cursor) bool {
	switch kind, i := x.ParentEdge(); kind {
	case edge.ParenExpr_X:
		return e.single(x.Parent())
	case edge.CallExpr_Fun:
		return true
	case edge.CallExpr_Args:
		call := x.Parent().Node().(*ast.CallExpr)
		return e.RunsOnce(call, i)
	}
	return false
}

// RunsOnce reports whether a call runs the function that is its argument i at most
// once.
func (e *Effects) RunsOnce(call *ast.CallExpr, i int) bool {
	f, ok := typeutil.Callee(e.info, call).(*types.Func)
	return ok && f.Signature().Params().Len() > 0 && e.Of(f).Once>>parameter(f.Signature(), i)&1 == 1
}

// straight reports whether a place in a declaration is reached at most once by a
// call of it, loops by goto aside: it is in no loop, and in no function literal but
// those that are called in place.
func straight(c, x inspector.Cursor) bool {
	for around := range x.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.LabeledStmt)(nil)) {
		if !c.Contains(around) {
			break
		}
		if _, lit := around.Node().(*ast.FuncLit); !lit || around.ParentEdgeKind() != edge.CallExpr_Fun {
			return false
		}
	}
	return true
}
