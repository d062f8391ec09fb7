package noescape

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/mark"
)

// flows reports values that are stored where they outlive their scope.
func (c *checker) flows(root inspector.Cursor) {
	for cur := range root.Preorder((*ast.CallExpr)(nil), (*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.ReturnStmt)(nil),
		(*ast.SendStmt)(nil), (*ast.CompositeLit)(nil), (*ast.GoStmt)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.CallExpr:
			c.call(n)
		case *ast.AssignStmt:
			c.assign(cur, n)
		case *ast.ValueSpec:
			for i, e := range n.Values {
				if len(n.Values) == len(n.Names) {
					c.hides(c.info.TypeOf(n.Names[i]), e)
				}
			}
		case *ast.ReturnStmt:
			c.returns(cur, n)
		case *ast.SendStmt:
			if c.into(n.Value) {
				c.report(n, "%s points into a scope and is sent out of it", types.ExprString(n.Value))
			}
			if ch, ok := c.typeOf(n.Chan).Underlying().(*types.Chan); ok {
				c.hides(ch.Elem(), n.Value)
			}
		case *ast.CompositeLit:
			c.composite(n)
		case *ast.GoStmt:
			c.goroutine(n)
		}
	}
}

// hides reports an interface that a value goes into.
func (c *checker) hides(to types.Type, e ast.Expr) {
	from := c.info.TypeOf(e)
	if to == nil || from == nil || !types.IsInterface(to) || types.IsInterface(from) || !c.inner(from) {
		return
	}
	if _, generic := types.Unalias(to).(*types.TypeParam); !generic {
		c.report(e, "an interface hides the %s in %s, and can keep it", c.name(from), types.ExprString(e))
	}
}

func (c *checker) call(call *ast.CallExpr) {
	tv := c.info.Types[call.Fun]
	if tv.IsType() {
		c.hides(tv.Type, call.Args[0])
		return
	}
	sig, ok := c.typeOf(call.Fun).Underlying().(*types.Signature)
	if !ok {
		return
	}
	for i, e := range call.Args {
		c.hides(mark.Parameter(sig, i, call.Ellipsis.IsValid()), e)
	}
}

func (c *checker) assign(cur inspector.Cursor, n *ast.AssignStmt) {
	for i, lhs := range n.Lhs {
		rhs := n.Rhs[min(i, len(n.Rhs)-1)]
		if len(n.Lhs) == len(n.Rhs) {
			c.hides(c.info.TypeOf(lhs), rhs)
		}
		if c.info.Types[rhs].IsNil() {
			continue
		}
		bound := c.into(rhs) && mark.Pointerish(c.typeOf(lhs))
		if !bound && !c.inner(c.info.TypeOf(lhs)) {
			continue
		}
		id, ok := rootOf(lhs)
		if !ok {
			if bound && !c.part(lhs) && !isBlank(lhs) {
				c.report(n, "%s points into a scope and is stored outside of it", types.ExprString(rhs))
			}
			continue
		}
		v, ok := c.info.ObjectOf(id).(*types.Var)
		switch {
		case !ok:
		case c.outermost(v):
			if bound {
				c.report(n, "%s points into a scope and is stored in a package-level variable", types.ExprString(rhs))
			}
		case c.around(cur, v):
			c.report(n, "%s is moved out of its scope into %s, which is declared around the function", types.ExprString(rhs), id.Name)
		case bound && id != lhs && !isStruct(v.Type()):
			if !c.bound[v] {
				c.report(n, "%s points into a scope and is stored outside of it", types.ExprString(rhs))
			}
		}
	}
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// around reports whether a variable is declared outside of the function literal at the
// cursor.
func (c *checker) around(cur inspector.Cursor, v *types.Var) bool {
	for lit := range cur.Enclosing((*ast.FuncLit)(nil)) {
		n := lit.Node()
		return v.Pos() < n.Pos() || v.Pos() >= n.End()
	}
	return false
}

func (c *checker) returns(cur inspector.Cursor, n *ast.ReturnStmt) {
	var sig *types.Signature
	for f := range cur.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		switch f := f.Node().(type) {
		case *ast.FuncLit:
			sig, _ = c.typeOf(f).(*types.Signature)
		case *ast.FuncDecl:
			fn, ok := c.info.Defs[f.Name].(*types.Func)
			if !ok || c.marks.OwnFunc(fn)&mark.Scoped != 0 {
				return
			}
			sig = fn.Signature()
		}
		break
	}
	for i, e := range n.Results {
		if c.into(e) {
			c.report(e, "%s points into a scope and is returned; return a copy", types.ExprString(e))
		}
		if sig != nil && len(n.Results) == sig.Results().Len() {
			c.hides(sig.Results().At(i).Type(), e)
		}
	}
}

func (c *checker) composite(n *ast.CompositeLit) {
	t := c.typeOf(n).Underlying()
	for i, e := range n.Elts {
		var to types.Type
		switch t := t.(type) {
		case *types.Struct:
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if id, ok := kv.Key.(*ast.Ident); ok {
					to, e = c.info.TypeOf(id), kv.Value
				}
			} else if i < t.NumFields() {
				to = t.Field(i).Type()
			}
		case *types.Slice:
			to = t.Elem()
		case *types.Array:
			to = t.Elem()
		case *types.Map:
			to = t.Elem()
		}
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		c.hides(to, e)
	}
}

// goroutine reports what a go statement takes along.
func (c *checker) goroutine(n *ast.GoStmt) {
	for _, e := range append([]ast.Expr{receiver(n.Call)}, n.Call.Args...) {
		if e != nil && (c.inner(c.info.TypeOf(e)) || c.into(e)) {
			c.report(e, "%s goes to another goroutine; a scope has one", types.ExprString(e))
		}
	}
}

// receiver is the receiver of a method call.
func receiver(call *ast.CallExpr) ast.Expr {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		return sel.X
	}
	return nil
}

// literals reports function literals that use what is in a scope, and may run
// after it or on another goroutine.
func (c *checker) literals(root inspector.Cursor) {
	for lit := range root.Preorder((*ast.FuncLit)(nil)) {
		id, v := c.captured(lit)
		if id == nil {
			continue
		}
		decl := root
		for d := range lit.Enclosing((*ast.FuncDecl)(nil)) {
			decl = d
		}
		if !c.effects.Kept(decl, lit) {
			continue
		}
		if lit.ParentEdgeKind() == edge.CallExpr_Fun {
			c.report(id, "%s goes to another goroutine; a scope has one", v.Name())
		} else {
			c.report(id, "%s is used by a function that may run after its scope", v.Name())
		}
	}
}

// captured returns the first use of inner state of the function around a literal.
func (c *checker) captured(lit inspector.Cursor) (*ast.Ident, *types.Var) {
	n := lit.Node()
	for cur := range lit.Preorder((*ast.Ident)(nil)) {
		id := cur.Node().(*ast.Ident)
		v, ok := c.info.Uses[id].(*types.Var)
		if !ok || v.IsField() || c.outermost(v) || v.Pos() >= n.Pos() && v.Pos() < n.End() {
			continue
		}
		if c.inner(v.Type()) || c.bound[v] {
			return id, v
		}
	}
	return nil, nil
}
