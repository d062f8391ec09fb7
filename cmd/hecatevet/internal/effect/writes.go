package effect

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/mark"
)

// A list is changed by an assignment to one of its elements, by the builtins that
// write, and by a function that changes what it is given. Elements that share memory
// themselves are not its own: a list of lists is not changed with its members.

// look finds the writes in a node, and in its function literals with the present
// state.
func (t *tracer) look(m Memory, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			t.depth++
			t.function(n, m)
			t.depth--
			return false
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				t.element(m, e)
			}
		case *ast.IncDecStmt:
			t.element(m, n.X)
		case *ast.CallExpr:
			return t.call(m, n)
		}
		return true
	})
}

// element reports an element that is assigned to.
func (t *tracer) element(m Memory, e ast.Expr) {
	base := ast.Expr(nil)
	switch x := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		if _, ok := t.info.TypeOf(x.X).Underlying().(*types.Map); !ok {
			base = x.X
		}
	case *ast.StarExpr:
		base = x.X
	}
	if base == nil || mark.Pointerish(t.info.TypeOf(e)) {
		return
	}
	if of := t.of(m, base); of != 0 {
		t.writes(e, of, "assigns to "+types.ExprString(e))
	}
}

// call reports lists that a call changes. It returns whether to look at the
// arguments.
func (t *tracer) call(m Memory, call *ast.CallExpr) bool {
	change := func(e ast.Expr, how string) {
		if of := t.of(m, e); of != 0 {
			t.writes(call, of, how)
		}
	}
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		t.literal(m, lit, call.Args)
		for _, e := range call.Args {
			t.look(m, e)
		}
		return false
	}
	switch f := typeutil.Callee(t.info, call).(type) {
	case *types.Builtin:
		switch {
		case f.Name() == "copy", f.Name() == "clear":
			change(call.Args[0], f.Name()+" writes "+types.ExprString(call.Args[0]))
		case f.Name() == "append" && !full(call.Args[0]) && !lists(t.info.TypeOf(call)):
			change(call.Args[0], "append may write after "+types.ExprString(call.Args[0]))
		}
	case *types.Func:
		writes := t.Of(f).Writes
		for i, e := range call.Args {
			if writes>>parameter(f.Signature(), i)&1 == 1 {
				change(e, f.Name()+" writes "+types.ExprString(e))
			}
		}
	}
	return true
}

// literal is a function literal that is called in place.
func (t *tracer) literal(m Memory, lit *ast.FuncLit, args []ast.Expr) {
	inside := m.Clone()
	i := 0
	for _, field := range lit.Type.Params.List {
		for _, name := range field.Names {
			if i < len(args) {
				t.set(inside, name, t.of(m, args[i]))
			}
			i++
		}
	}
	t.depth++
	t.function(lit, inside)
	t.depth--
}
