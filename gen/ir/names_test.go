package ir

import (
	"go/ast"
	goparser "go/parser"
	gotoken "go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestNamesAreHere: no package of the compiler tests or builds a name that
// carries meaning by a literal of its own.
func TestNamesAreHere(t *testing.T) {
	literals := []string{adjointSuffix, backwardSuffix, windowSuffix, frozenSuffix, initialSuffix, partInputSuffix, Position}
	exceptions := map[string]string{
		"../ir/names.go":    "the literals",
		"../trace/block.go": "it lists the equations of a page and knows no program",
	}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/testdata/") || exceptions[path] != "" {
			return err
		}
		f, err := goparser.ParseFile(gotoken.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == gotoken.STRING {
				if s, err := strconv.Unquote(l.Value); err == nil && slices.Contains(literals, s) {
					t.Errorf("%s has the literal %s: ask package ir", path, l.Value)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
