package gokernel

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/plan/plantest"
)

// TestEveryPrimitiveIsPrinted prints a call of each scalar function and looks
// for the functions of package num that the text names.
func TestEveryPrimitiveIsPrinted(t *testing.T) {
	files, err := filepath.Glob("../../../runtime/num/*.go")
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				has[f.Name.Name] = true
			}
		}
	}
	e := newKernelEmitter(&plan.Kernel{}, "K")
	for _, op := range ir.Ops() {
		if !op.Called() {
			continue
		}
		text := e.text.Expr(plantest.Call(op))
		if _, name, ok := strings.Cut(text, "num."); ok {
			if name, _, _ = strings.Cut(name, "("); !has[name] {
				t.Errorf("%v is printed as %s, and package num has no %s", op, text, name)
			}
		}
	}
}
