// Package outerwrite finds code that changes outer parameters without their writer.
//
// Memory is read-only if a function marked readonly returned it or a field marked
// readonly holds it. It stays so through slices of it, other variables, lists of
// lists and functions that pass it on. Changing an element of it is reported.
package outerwrite

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/effect"
	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/mark"
)

// Analyzer is the analyzer.
var Analyzer = &analysis.Analyzer{
	Name: "outerwrite",
	Doc: `find writes to outer parameters past their writer

Outer parameters change once, after the backward, through the one writer of their
set. What a function marked //hecate:readonly returns, or a field so marked holds,
is read:

	w := view.Data(i)
	w[0] = 1            // reported, as are copy(w, …), clear(w), append(w, …)
	slices.Sort(w)      // reported: Sort writes what it is given
	w = slices.Clone(w) // a copy is one's own
	w[0] = 1

The memory is followed along the control-flow graph through slices, variables,
function literals and functions of any package that return or write what they are
given. What is written through an interface or by assembly is left to the hashes
that tests compare.

A type marked //hecate:writer does not occur in the signature or the fields of a
package of forwards: one with a function that takes what is marked //hecate:run
and returns what is marked //hecate:value.`,
	Requires: []*analysis.Analyzer{inspect.Analyzer, effect.Analyzer, mark.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	marks := pass.ResultOf[mark.Analyzer].(*mark.Marks)
	effects := pass.ResultOf[effect.Analyzer].(*effect.Effects)
	if !marks.Any(mark.ReadOnly | mark.Writer) {
		return nil, nil
	}
	root := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()
	report := func(at ast.Node, of uint64, how string) {
		if of&effect.ReadOnly != 0 {
			marks.Report(pass, at, "%s, which is read-only: copy it, or change it through the writer of its set", how)
		}
	}
	for c := range root.Preorder((*ast.FuncDecl)(nil)) {
		if d := c.Node().(*ast.FuncDecl); d.Body != nil {
			effects.Trace(d, effect.Memory{}, report, func(uint64) {})
		}
	}
	if forwards(pass, marks, root) {
		signatures(pass, marks, root)
	}
	return nil, nil
}

// forwards reports whether a package has a forward.
func forwards(pass *analysis.Pass, marks *mark.Marks, root inspector.Cursor) bool {
	for c := range root.Preorder((*ast.FuncDecl)(nil)) {
		test := strings.HasSuffix(pass.Fset.File(c.Node().Pos()).Name(), "_test.go")
		f, ok := pass.TypesInfo.Defs[c.Node().(*ast.FuncDecl).Name].(*types.Func)
		if ok && !test && marks.Forward(f.Signature()) {
			return true
		}
	}
	return false
}

// signatures reports writers in signatures and fields.
func signatures(pass *analysis.Pass, marks *mark.Marks, root inspector.Cursor) {
	for c := range root.Preorder((*ast.Field)(nil), (*ast.ValueSpec)(nil)) {
		var e ast.Expr
		switch n := c.Node().(type) {
		case *ast.Field:
			e = n.Type
		case *ast.ValueSpec:
			e = n.Type
		}
		if e == nil {
			continue
		}
		if t := pass.TypesInfo.TypeOf(e); t != nil && marks.Carries(t, mark.Writer) {
			marks.Report(pass, e, "a %s in a package of forwards: outer parameters do not change during a forward; let the driver hold it", marks.Name(t, mark.Writer))
		}
	}
}
