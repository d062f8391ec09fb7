// Package noescape finds values that leave the scope they were made for.
//
// A type marked noescape has values that live for one scope, on one goroutine.
// Escapes are found by types: a field, a package-level variable, a channel, a list, a
// map, an interface or a result of such a type is an escape, whatever is stored there.
// The result of a function marked scoped points into a scope without having such a
// type, and is followed through the variables of a function.
package noescape

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/effect"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/mark"
)

// Analyzer is the analyzer.
var Analyzer = &analysis.Analyzer{
	Name: "noescape",
	Doc: `find inner state that leaves its scope

A value of a type whose doc has the directive //hecate:noescape lives for one
scope, on one goroutine. Reported are, of such a type or a pointer to it,

	type block struct{ in *Inner }      a field; mark the struct //hecate:noescape too
	var last *Inner                     a package-level variable
	func f(in *Inner) *Inner            a result
	chan *Inner, map[k]*Inner, []*Inner an element
	any(in), fmt.Println(in)            an interface
	keep[*Inner](in)                    a generic function or type made for it
	go use(in), go func() { in… }()     another goroutine
	outer = in                          a variable of the function around a literal
	func() { in… }                      a function that may run after the scope

A function literal may use the value if it is called or deferred where it stands,
or handed to a function that neither keeps it nor starts a goroutine with it; which
functions do is found in their bodies, in every package.

What a function marked //hecate:scoped returns is followed as well: it may be read,
written and handed to calls, and not be stored, returned or sent. A function that
is itself marked scoped may return it.`,
	Requires: []*analysis.Analyzer{inspect.Analyzer, effect.Analyzer, mark.Analyzer},
	Run:      run,
}

// checker analyses one package.
type checker struct {
	pass    *analysis.Pass
	info    *types.Info
	marks   *mark.Marks
	effects *effect.Effects
	bound   map[*types.Var]bool // point into a scope
}

func run(pass *analysis.Pass) (any, error) {
	c := &checker{
		pass: pass, info: pass.TypesInfo,
		marks:   pass.ResultOf[mark.Analyzer].(*mark.Marks),
		effects: pass.ResultOf[effect.Analyzer].(*effect.Effects),
		bound:   map[*types.Var]bool{},
	}
	if !c.marks.Any(mark.NoEscape | mark.Scoped) {
		return nil, nil
	}
	root := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()
	c.types(root)
	c.bind(root)
	c.flows(root)
	c.literals(root)
	return nil, nil
}

func (c *checker) inner(t types.Type) bool { return t != nil && c.marks.Carries(t, mark.NoEscape) }

func (c *checker) name(t types.Type) string { return c.marks.Name(t, mark.NoEscape) }

func (c *checker) report(at ast.Node, format string, args ...any) {
	c.marks.Report(c.pass, at, format, args...)
}

// types reports the escapes that are written as types.
func (c *checker) types(root inspector.Cursor) {
	for cur := range root.Preorder((*ast.StructType)(nil), (*ast.FuncType)(nil), (*ast.ChanType)(nil), (*ast.MapType)(nil),
		(*ast.ArrayType)(nil), (*ast.GenDecl)(nil), (*ast.Ident)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.StructType:
			c.fields(cur, n)
		case *ast.FuncType:
			c.results(cur, n)
		case *ast.ChanType:
			c.element(n, n.Value, "a channel of")
		case *ast.MapType:
			c.element(n, n.Key, "a map of")
			c.element(n, n.Value, "a map of")
		case *ast.ArrayType:
			c.element(n, n.Elt, "a list of")
		case *ast.GenDecl:
			c.global(n)
		case *ast.Ident:
			c.instance(n)
		}
	}
}

func (c *checker) fields(cur inspector.Cursor, n *ast.StructType) {
	if spec, ok := cur.Parent().Node().(*ast.TypeSpec); ok && cur.ParentEdgeKind() == edge.TypeSpec_Type {
		if c.marks.Of(c.info.Defs[spec.Name])&mark.NoEscape != 0 {
			return
		}
	}
	for _, f := range n.Fields.List {
		if t := c.info.TypeOf(f.Type); c.inner(t) {
			c.report(f, "a field of %s outlives its scope; keep it in a variable, or mark the struct %snoescape", c.name(t), mark.Prefix)
		}
	}
}

func (c *checker) results(cur inspector.Cursor, n *ast.FuncType) {
	if n.Results == nil {
		return
	}
	if d, ok := cur.Parent().Node().(*ast.FuncDecl); ok {
		if f, ok := c.info.Defs[d.Name].(*types.Func); ok && c.marks.OwnFunc(f)&mark.Scoped != 0 {
			return
		}
	}
	for _, f := range n.Results.List {
		if t := c.info.TypeOf(f.Type); c.inner(t) {
			c.report(f, "a result of %s leaves its scope; return what was computed from it", c.name(t))
		}
	}
}

func (c *checker) element(at ast.Node, e ast.Expr, what string) {
	if t := c.info.TypeOf(e); c.inner(t) {
		c.report(at, "%s %s outlives its scope", what, c.name(t))
	}
}

func (c *checker) global(d *ast.GenDecl) {
	for name, v := range mark.PackageVars(c.pass, d) {
		if c.inner(v.Type()) {
			c.report(name, "a package-level variable of %s outlives its scope", c.name(v.Type()))
		}
	}
}

// instance reports generic functions and types that are made for inner state: in
// them it is a type like any other. Those of a package with marks know it.
func (c *checker) instance(id *ast.Ident) {
	inst, ok := c.info.Instances[id]
	if !ok {
		return
	}
	for arg := range inst.TypeArgs.Types() {
		if c.inner(arg) {
			c.report(id, "%s is made for a %s and can keep it", id.Name, c.name(arg))
			return
		}
	}
}
