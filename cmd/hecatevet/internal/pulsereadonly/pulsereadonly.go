// Package pulsereadonly finds parts of a model that hold, share or move the clock.
package pulsereadonly

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/mark"
)

// Analyzer is the analyzer.
var Analyzer = &analysis.Analyzer{
	Name: "pulsereadonly",
	Doc: `find parts of a model that hold, share or move the clock

A type marked //hecate:clock is the time of one chunk. Parts are told it by value.
Reported are, outside the package that declares it,

	*Pulse, &p         a pointer: who has one can change the time of others
	var now Pulse      a package-level variable
	field Pulse        in a struct that outlives the call; one that is marked
	                   //hecate:noescape may have it
	p.Next(n), p.Next  a method marked //hecate:advances, called or as a value
	func Step(r *Run, x Value) Value
	                   an exported forward that is not told the time: one that takes
	                   what is marked run and returns what is marked value takes a
	                   clock by value, by itself or in a struct

A package whose doc has the directive //hecate:conductor drives the clock: it may
keep it in fields and advance it. So may test files, which drive what they test;
they may have a pulse for all their tests as well.`,
	Requires: []*analysis.Analyzer{inspect.Analyzer, mark.Analyzer},
	Run:      run,
}

// checker looks at one package.
type checker struct {
	pass  *analysis.Pass
	info  *types.Info
	marks *mark.Marks
}

func run(pass *analysis.Pass) (any, error) {
	c := checker{pass, pass.TypesInfo, pass.ResultOf[mark.Analyzer].(*mark.Marks)}
	if !c.marks.Any(mark.Clock) {
		return nil, nil
	}
	root := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()
	for cur := range root.Preorder((*ast.StarExpr)(nil), (*ast.UnaryExpr)(nil), (*ast.GenDecl)(nil), (*ast.StructType)(nil),
		(*ast.SelectorExpr)(nil), (*ast.FuncDecl)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.StarExpr:
			if c.info.Types[n].IsType() && c.clock(n.X) {
				c.report(n, "a pointer to a %s: pass it by value", c.name(n.X))
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND && c.clock(n.X) {
				c.report(n, "the address of a %s: pass it by value", c.name(n.X))
			}
		case *ast.GenDecl:
			c.global(n)
		case *ast.StructType:
			c.fields(cur, n)
		case *ast.SelectorExpr:
			c.advances(n)
		case *ast.FuncDecl:
			c.forward(n)
		}
	}
	return nil, nil
}

func (c checker) report(at ast.Node, format string, args ...any) {
	c.marks.Report(c.pass, at, format, args...)
}

func (c checker) clock(e ast.Expr) bool {
	t := c.info.TypeOf(e)
	return t != nil && c.marks.Type(t)&mark.Clock != 0
}

func (c checker) name(e ast.Expr) string { return c.marks.Name(c.info.TypeOf(e), mark.Clock) }

// drives reports whether this value may hold and advance the clock.
func (c checker) drives(at ast.Node) bool {
	return c.marks.Package()&mark.Conductor != 0 || c.inTest(at)
}

func (c checker) inTest(at ast.Node) bool {
	return strings.HasSuffix(c.pass.Fset.File(at.Pos()).Name(), "_test.go")
}

func (c checker) global(d *ast.GenDecl) {
	for name, v := range mark.PackageVars(c.pass, d) {
		if !c.inTest(name) && c.marks.Carries(v.Type(), mark.Clock) {
			c.report(name, "a package-level %s is a clock that all share; pass it by value", c.name(name))
		}
	}
}

func (c checker) fields(cur inspector.Cursor, n *ast.StructType) {
	if c.drives(n) {
		return
	}
	if spec, ok := cur.Parent().Node().(*ast.TypeSpec); ok && cur.ParentEdgeKind() == edge.TypeSpec_Type {
		if c.marks.Of(c.info.Defs[spec.Name])&mark.NoEscape != 0 {
			return
		}
	}
	for _, f := range n.Fields.List {
		if t := c.info.TypeOf(f.Type); t != nil && c.marks.Carries(t, mark.Clock) {
			c.report(f, "a field of %s keeps the time of one chunk for the next; take it as an argument, or mark the package %sconductor if it drives the clock",
				c.name(f.Type), mark.Prefix)
		}
	}
}

func (c checker) advances(n *ast.SelectorExpr) {
	f, ok := c.info.Uses[n.Sel].(*types.Func)
	if ok && c.marks.Func(f)&mark.Advances != 0 && !c.drives(n) {
		c.report(n, "%s moves the clock: only a package marked %sconductor does", f.Name(), mark.Prefix)
	}
}

// forward reports exported forwards that are not told the time.
func (c checker) forward(d *ast.FuncDecl) {
	f, ok := c.info.Defs[d.Name].(*types.Func)
	if !ok || !f.Exported() || c.drives(d) || !c.marks.Forward(f.Signature()) {
		return
	}
	for p := range f.Signature().Params().Variables() {
		if c.told(p.Type()) {
			return
		}
	}
	c.report(d.Name, "the forward %s is not told the time: it takes no clock by value", f.Name())
}

// told reports whether a parameter is a clock, or a struct with one.
func (c checker) told(t types.Type) bool {
	if c.marks.Type(t)&mark.Clock != 0 {
		return true
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if c.marks.Type(f.Type())&mark.Clock != 0 {
			return true
		}
	}
	return false
}
