// Package consumeonce finds values that are used after they were moved.
//
// A type marked consumeonce has values that one owner has at a time. Passing one
// to a call, returning it, storing it, sending it or assigning it to another
// variable moves it; what it was moved from is dead until something is assigned to
// it again. The analyzer follows every place that can hold such a value (a
// variable, a field of it, an element under one index) along the edges of the
// control-flow graph, and reports a use that some path reaches with the place dead.
package consumeonce

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/cfg"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/effect"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/flow"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/mark"
)

// Analyzer is the analyzer.
var Analyzer = &analysis.Analyzer{
	Name: "consumeonce",
	Doc: `find values that are used after they were moved

A value of a type whose doc has the directive //hecate:consumeonce has one owner.
A call that takes it moves it:

	y, next, err := model.Process(x, h)   // h is dead now
	z, next, err := model.Process(x, h)   // reported: use next

So does assigning it to another variable, returning, storing or sending it, and a
function literal that does one of these: it must run at most once, called where it
stands or by a function that is seen to call it no more than once. Assigning to the place makes it live
again, as the usual form does: y, h, err = model.Process(x, h). A move in a loop
without such an assignment is reported, on any way through branches, goto, select
and range.

Reported as well: the address of such a value, a method value of it, an interface
that hides it, a package-level variable of its type and a copy of a list of them,
since none of these can be followed.

A method marked //hecate:takes takes the content out, and one marked
//hecate:returns gives it back: between the two the value may be used for nothing
else. A function or method marked //hecate:borrows leaves what it is given as it
is, and its own arguments cannot be moved inside it.

The package that declares the type is not looked at. What is stored in a list or
behind a pointer of another function is left to the check at run time.`,
	Requires: []*analysis.Analyzer{inspect.Analyzer, ctrlflow.Analyzer, mark.Analyzer, effect.Analyzer},
	Run:      run,
}

// checker analyses one package.
type checker struct {
	pass    *analysis.Pass
	marks   *mark.Marks
	effects *effect.Effects
	cfgs    *ctrlflow.CFGs
	lits    map[*ast.FuncLit]*captures
	done    map[ast.Node]bool // reported
}

func run(pass *analysis.Pass) (any, error) {
	c := &checker{
		pass:    pass,
		marks:   pass.ResultOf[mark.Analyzer].(*mark.Marks),
		effects: pass.ResultOf[effect.Analyzer].(*effect.Effects),
		cfgs:    pass.ResultOf[ctrlflow.Analyzer].(*ctrlflow.CFGs),
		lits:    map[*ast.FuncLit]*captures{},
		done:    map[ast.Node]bool{},
	}
	if !c.marks.Any(mark.ConsumeOnce) {
		return nil, nil
	}
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Preorder([]ast.Node{(*ast.GenDecl)(nil), (*ast.FuncDecl)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				c.function(n)
			}
		case *ast.GenDecl:
			c.global(n)
		}
	})
	// Literals outside of functions: initial values of package-level variables.
	in.Preorder([]ast.Node{(*ast.FuncLit)(nil)}, func(n ast.Node) {
		c.literal(n.(*ast.FuncLit))
	})
	return nil, nil
}

// once reports whether values of a type are moved.
func (c *checker) once(t types.Type) bool {
	return t != nil && c.marks.Holds(t, mark.ConsumeOnce)
}

func (c *checker) report(at ast.Node, format string, args ...any) {
	if !c.done[at] {
		c.done[at] = true
		c.marks.Report(c.pass, at, format, args...)
	}
}

// global refuses package-level variables that hold such a value.
func (c *checker) global(d *ast.GenDecl) {
	for name, v := range mark.PackageVars(c.pass, d) {
		if c.once(v.Type()) {
			c.report(name, "%s is a package-level variable of %s: nobody owns it; keep it where it is used and pass it on", name.Name, c.name(v.Type()))
		}
	}
}

// name is the name of the marked type in a type.
func (c *checker) name(t types.Type) string { return c.marks.Name(t, mark.ConsumeOnce) }

// function looks at a function from its parameters, all live, on.
func (c *checker) function(d *ast.FuncDecl) {
	fn, _ := c.pass.TypesInfo.Defs[d.Name].(*types.Func)
	if fn == nil {
		return
	}
	w := &walker{checker: c, root: d}
	if c.marks.OwnFunc(fn)&mark.Borrows != 0 {
		w.lent = fn.Signature()
	}
	w.solve(c.cfgs.FuncDecl(d))
}

// solve finds the state before every block, and then walks each block once more to
// report.
func (w *walker) solve(g *cfg.CFG) {
	w.prepare()
	flow.Solve(g, state{}, w.block, w.edge, func(b *cfg.Block, s state) {
		w.reporting = true
		w.block(b, s)
		if len(b.Succs) == 0 {
			w.exit(s)
		}
	})
}
