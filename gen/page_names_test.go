package gen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// TestNoPageIsNamed: the compiler's comments and texts name no rule, knob,
// operation, composition, model or update of the pages, in any spelling. A word that is a name in the compiler's own Go, such as
// that of a primitive, is the compiler's.
func TestNoPageIsNamed(t *testing.T) {
	src, ds := gen.Load("../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	unit := map[string]string{}
	for _, u := range src.Tree.Order {
		if !u.Example && u.Kind != notation.FuncUnit {
			unit[u.Name.Text] = u.Name.Text
			if id := ident.ID(u.Name.Text); strings.Contains(id, "_") {
				unit[id] = u.Name.Text
			}
		}
	}
	files := map[string]*ast.File{}
	set, own := token.NewFileSet(), map[string]bool{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") || strings.Contains(p, "testdata") {
			return err
		}
		files[p], err = parser.ParseFile(set, p, nil, parser.ParseComments)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				own[id.Name] = true
			}
			return true
		})
	}
	word := regexp.MustCompile(`[\pL_][\pL\pN_]*`)
	look := func(at token.Pos, text string) {
		for _, w := range word.FindAllString(text, -1) {
			if unit[w] != "" && !own[w] {
				t.Errorf("%v: names %s", set.Position(at), unit[w])
			}
		}
	}
	for _, f := range files {
		for _, c := range f.Comments {
			look(c.Pos(), c.Text())
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if x, ok := n.(*ast.BasicLit); ok && x.Kind == token.STRING {
				look(x.Pos(), x.Value)
			}
			return true
		})
	}
}
