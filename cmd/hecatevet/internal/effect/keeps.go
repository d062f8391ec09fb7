package effect

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/mark"
)

// A function value is kept if it may run after the function in which it is named
// has returned, or on another goroutine. It is not if it is only called, compared
// with nil, or handed to a function that does not keep it.

// keeps reports whether a variable that holds a function is kept, somewhere in the
// declaration at c. The functions inside of it that use the variable count as well.
func (e *Effects) keeps(c inspector.Cursor, v *types.Var, seen map[*types.Var]bool) bool {
	if seen[v] {
		return false
	}
	seen[v] = true
	for id := range c.Preorder((*ast.Ident)(nil)) {
		if e.info.Uses[id.Node().(*ast.Ident)] != v {
			continue
		}
		if id.ParentEdgeKind() == edge.AssignStmt_Lhs {
			continue
		}
		if e.value(c, id, seen) {
			return true
		}
		for lit := range id.Enclosing((*ast.FuncLit)(nil)) {
			around := lit.Node().(*ast.FuncLit)
			if v.Pos() >= around.Pos() && v.Pos() < around.End() || !c.Contains(lit) {
				break
			}
			if e.value(c, lit, seen) {
				return true
			}
		}
	}
	return false
}

// Kept reports whether the function literal at lit is kept, in the declaration at
// decl.
func (e *Effects) Kept(decl, lit inspector.Cursor) bool {
	return e.value(decl, lit, map[*types.Var]bool{})
}

// value reports whether the function that an expression denotes is kept by what is
// done with it.
func (e *Effects) value(c, x inspector.Cursor, seen map[*types.Var]bool) bool {
	parent := x.Parent()
	kind, i := x.ParentEdge()
	switch kind {
	case edge.ParenExpr_X:
		return e.value(c, parent, seen)
	case edge.CallExpr_Fun:
		return parent.ParentEdgeKind() == edge.GoStmt_Call
	case edge.CallExpr_Args:
		return e.argument(c, parent, i, seen)
	case edge.CompositeLit_Elts:
		return !e.confined(parent)
	case edge.KeyValueExpr_Value:
		return !e.confined(parent.Parent())
	case edge.BinaryExpr_X, edge.BinaryExpr_Y, edge.RangeStmt_X:
		return false
	case edge.AssignStmt_Rhs:
		a := parent.Node().(*ast.AssignStmt)
		return len(a.Lhs) != len(a.Rhs) || e.into(c, a.Lhs[i], seen)
	case edge.ValueSpec_Values:
		s := parent.Node().(*ast.ValueSpec)
		return len(s.Names) != len(s.Values) || e.into(c, s.Names[i], seen)
	}
	return true
}

// confined reports whether a literal is of a type that stays in its scope itself.
func (e *Effects) confined(c inspector.Cursor) bool {
	lit, ok := c.Node().(*ast.CompositeLit)
	return ok && e.marks.AnyType(e.info.TypeOf(lit))&mark.NoEscape != 0
}

// argument reports whether a call keeps its argument i.
func (e *Effects) argument(c, call inspector.Cursor, i int, seen map[*types.Var]bool) bool {
	n := call.Node().(*ast.CallExpr)
	if call.ParentEdgeKind() == edge.GoStmt_Call {
		return true
	}
	if e.info.Types[n.Fun].IsType() {
		return e.value(c, call, seen)
	}
	switch f := typeutil.Callee(e.info, n).(type) {
	case *types.Func:
		recv := f.Signature().Recv()
		if recv != nil && types.IsInterface(recv.Type()) {
			return true
		}
		p := parameter(f.Signature(), i)
		if _, ok := f.Signature().Params().At(p).Type().Underlying().(*types.Signature); !ok {
			return true // an interface, a list, a type parameter
		}
		return e.Of(f).Keeps>>p&1 == 1
	}
	return true
}

// into reports whether a function is kept in what it is assigned to: a variable of
// the declaration keeps it if it is itself kept.
func (e *Effects) into(c inspector.Cursor, lhs ast.Expr, seen map[*types.Var]bool) bool {
	id, ok := ast.Unparen(lhs).(*ast.Ident)
	if !ok {
		return true
	}
	if id.Name == "_" {
		return false
	}
	v, ok := e.info.ObjectOf(id).(*types.Var)
	if !ok || c.Node() == nil || v.Pos() < c.Node().Pos() || v.Pos() >= c.Node().End() {
		return true
	}
	return e.keeps(c, v, seen)
}
