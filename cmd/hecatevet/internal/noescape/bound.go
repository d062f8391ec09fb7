package noescape

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/mark"
)

// bind finds the variables that point into a scope: those that are assigned what a
// scoped function returned, or a part of it, until there are no more.
func (c *checker) bind(root inspector.Cursor) {
	for changed := true; changed; {
		changed = false
		set := func(lhs, rhs ast.Expr) {
			id, ok := rootOf(lhs)
			if !ok || !c.into(rhs) {
				return
			}
			if v, ok := c.info.ObjectOf(id).(*types.Var); ok && !v.IsField() && !c.bound[v] && !c.outermost(v) {
				if _, whole := lhs.(*ast.Ident); whole || !mark.Pointerish(v.Type()) || isStruct(v.Type()) {
					c.bound[v], changed = true, true
				}
			}
		}
		for cur := range root.Preorder((*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.RangeStmt)(nil)) {
			switch n := cur.Node().(type) {
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					set(lhs, n.Rhs[min(i, len(n.Rhs)-1)])
				}
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if len(n.Values) > 0 {
						set(name, n.Values[min(i, len(n.Values)-1)])
					}
				}
			case *ast.RangeStmt:
				if n.Value != nil && mark.Pointerish(c.typeOf(n.Value)) {
					set(n.Value, n.X)
				}
			}
		}
	}
}

func (c *checker) typeOf(e ast.Expr) types.Type {
	if t := c.info.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

func (c *checker) outermost(v *types.Var) bool { return v.Parent() == c.pass.Pkg.Scope() }

func isStruct(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// rootOf returns the variable that holds a part of a struct; what is reached through a
// pointer, a list or a map has none.
func rootOf(e ast.Expr) (*ast.Ident, bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e, e.Name != "_"
	case *ast.SelectorExpr:
		return rootOf(e.X)
	}
	return nil, false
}

// into reports whether an expression points into a scope.
func (c *checker) into(e ast.Expr) bool {
	t := c.info.TypeOf(e)
	if t == nil {
		return false
	}
	if _, tuple := t.(*types.Tuple); !tuple && !mark.Pointerish(t) {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := c.info.ObjectOf(e).(*types.Var)
		return ok && c.bound[v]
	case *ast.SelectorExpr:
		return c.part(e.X)
	case *ast.IndexExpr:
		return c.part(e.X)
	case *ast.SliceExpr:
		return c.part(e.X)
	case *ast.StarExpr:
		return c.part(e.X)
	case *ast.UnaryExpr:
		return e.Op == token.AND && c.part(e.X)
	case *ast.TypeAssertExpr:
		return c.into(e.X)
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
			}
			if c.into(x) {
				return true
			}
		}
	case *ast.CallExpr:
		return c.scoped(e)
	}
	return false
}

// part is into of something of which a part is taken: the whole need not be a
// pointer itself.
func (c *checker) part(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return c.part(x.X)
	case *ast.IndexExpr:
		return c.part(x.X)
	case *ast.StarExpr:
		return c.part(x.X)
	}
	return c.into(e)
}

// scoped reports whether what a call returns points into a scope.
func (c *checker) scoped(call *ast.CallExpr) bool {
	if c.info.Types[call.Fun].IsType() {
		return c.into(call.Args[0])
	}
	switch f := typeutil.Callee(c.info, call).(type) {
	case *types.Builtin:
		if f.Name() == "append" {
			for _, e := range call.Args {
				if c.into(e) {
					return true
				}
			}
		}
	case *types.Func:
		return c.marks.OwnFunc(f)&mark.Scoped != 0
	}
	return false
}
