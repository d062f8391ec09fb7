package gokernel

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/plan/plantest"
)

// TestEveryPrimitiveIsPrinted prints a call of each scalar function and looks
// for the functions of package num that the text names.
func TestEveryPrimitiveIsPrinted(t *testing.T) {
	packages, err := parser.ParseDir(token.NewFileSet(), "../../../runtime/num", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, f := range packages["num"].Files {
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
		text := e.call(plantest.Call(op)).GoString()
		if _, name, ok := strings.Cut(text, "num."); ok {
			if name, _, _ = strings.Cut(name, "("); !has[name] {
				t.Errorf("%v is printed as %s, and package num has no %s", op, text, name)
			}
		}
	}
}
