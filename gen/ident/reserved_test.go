package ident

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestImportedWords wants the name of every package of the library that generated code
// imports among those that no unit may have.
func TestImportedWords(t *testing.T) {
	const generated = "hecate/generated/"
	found := map[string]bool{}
	err := filepath.WalkDir("../../generated", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.Contains(filepath.ToSlash(name), "generated/safety/") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, im := range f.Imports {
			p, err := strconv.Unquote(im.Path.Value)
			if err != nil {
				return err
			}
			if strings.Contains(p, ".") && !strings.Contains(p, generated) || strings.HasSuffix(p, "/registry") {
				found[path.Base(p)] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 10 {
		t.Fatalf("generated code imports %d packages", len(found))
	}
	for name := range found {
		if !slices.Contains(importedWords, name) {
			t.Errorf("generated code imports %s, and a rule may have that name", name)
		}
	}
}
