// Package nozero finds values that were made without the constructor that their type
// requires.
package nozero

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/mark"
)

// Analyzer is the analyzer.
var Analyzer = &analysis.Analyzer{
	Name: "nozero",
	Doc: `find values that were not made by their constructor

A type whose doc has the directive //hecate:nozero has no useful zero value.
Reported are, outside the package that declares it,

	T{}, T{X: 1}       a composite literal that is not only compared with
	new(T)
	var x T            without a value
	S{A: 1}            a struct literal that leaves out an exported field of type T

A function whose last result is an error may return a zero T beside it, written as
T{} in a return statement with an error that is not nil, or as a named result. What
fills a list made with make, and the fields that a package keeps to itself, are left
to the check at run time.

A variable that is declared only to be assigned in every branch below is better
declared by the assignment, or by a function that returns it.`,
	Requires: []*analysis.Analyzer{inspect.Analyzer, mark.Analyzer},
	Run:      run,
}

// checker analyses one package.
type checker struct {
	pass  *analysis.Pass
	info  *types.Info
	marks *mark.Marks
}

func run(pass *analysis.Pass) (any, error) {
	c := checker{pass, pass.TypesInfo, pass.ResultOf[mark.Analyzer].(*mark.Marks)}
	if !c.marks.Any(mark.NoZero) {
		return nil, nil
	}
	root := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()
	for cur := range root.Preorder((*ast.CompositeLit)(nil), (*ast.CallExpr)(nil), (*ast.ValueSpec)(nil), (*ast.FuncType)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.CompositeLit:
			c.literal(cur, n)
		case *ast.CallExpr:
			c.call(n)
		case *ast.ValueSpec:
			if len(n.Values) == 0 {
				c.declared(n, n.Type)
			}
		case *ast.FuncType:
			c.results(n)
		}
	}
	return nil, nil
}

// made reports whether only a constructor makes values of a type.
func (c checker) made(t types.Type) bool { return t != nil && c.marks.Type(t)&mark.NoZero != 0 }

func (c checker) name(t types.Type) string { return types.TypeString(t, types.RelativeTo(c.pass.Pkg)) }

// literal reports composite literals, and fields that they leave out.
func (c checker) literal(cur inspector.Cursor, n *ast.CompositeLit) {
	t := c.info.TypeOf(n)
	if c.made(t) {
		if !c.besideError(cur) && !compared(cur) {
			c.marks.Report(c.pass, n, "%s is made by its constructor, not by a literal", c.name(t))
		}
		return
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || len(n.Elts) == 0 && (c.besideError(cur) || compared(cur)) {
		return
	}
	given := map[string]bool{}
	for _, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return // all fields are there
		}
		given[types.ExprString(kv.Key)] = true
	}
	for f := range s.Fields() {
		if c.made(f.Type()) && !given[f.Name()] && f.Exported() {
			c.marks.Report(c.pass, n, "the literal leaves %s a zero %s; it is made by its constructor", f.Name(), c.name(f.Type()))
		}
	}
}

// compared reports whether a literal is only compared with.
func compared(cur inspector.Cursor) bool {
	if cur.ParentEdgeKind() == edge.ParenExpr_X {
		cur = cur.Parent()
	}
	return cur.ParentEdgeKind() == edge.BinaryExpr_X || cur.ParentEdgeKind() == edge.BinaryExpr_Y
}

// besideError reports whether a literal is returned together with an error.
func (c checker) besideError(cur inspector.Cursor) bool {
	ret, ok := cur.Parent().Node().(*ast.ReturnStmt)
	if !ok || cur.ParentEdgeKind() != edge.ReturnStmt_Results || len(ret.Results) < 2 {
		return false
	}
	last := ret.Results[len(ret.Results)-1]
	return !c.info.Types[last].IsNil() && isError(c.info.TypeOf(last))
}

func isError(t types.Type) bool {
	e := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	return t != nil && types.Implements(t, e)
}

// call reports new.
func (c checker) call(n *ast.CallExpr) {
	id, ok := ast.Unparen(n.Fun).(*ast.Ident)
	if !ok || len(n.Args) == 0 {
		return
	}
	b, ok := c.info.Uses[id].(*types.Builtin)
	if !ok {
		return
	}
	if t := c.info.TypeOf(n.Args[0]); b.Name() == "new" && c.info.Types[n.Args[0]].IsType() && c.made(t) {
		c.marks.Report(c.pass, n, "new makes a zero %s; it is made by its constructor", c.name(t))
	}
}

func (c checker) declared(at ast.Node, e ast.Expr) {
	if e == nil {
		return
	}
	if t := c.info.TypeOf(e); c.made(t) {
		c.marks.Report(c.pass, at, "the variable begins as a zero %s; declare it with what its constructor returns", c.name(t))
	}
}

// results reports named results that begin as zero, unless an error comes with
// them.
func (c checker) results(n *ast.FuncType) {
	if n.Results == nil {
		return
	}
	list := n.Results.List
	if isError(c.info.TypeOf(list[len(list)-1].Type)) {
		return
	}
	for _, f := range list {
		if len(f.Names) > 0 && f.Names[0].Name != "_" {
			c.declared(f, f.Type)
		}
	}
}
