package lifecycle

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// forbidden are names that bring back what the contract has done away with. Each is
// looked for in everything that is declared: types, functions, fields, parameters
// and variables.
var forbidden = []struct {
	names *regexp.Regexp
	why   string
}{
	{regexp.MustCompile(`Memory(Module|Bank|Store)`), "memory is not a module: the parameters and the states are it"},
	{regexp.MustCompile(`(?i)^(train|training|trainer|pretrain|inference|is_?eval|eval_?mode|train_?mode)|Train(ing|er)|Pretrain|Inference(Mode|Engine)`), "the phases are build, test and stream"},
	{regexp.MustCompile(`(?i)epoch|shuffle|data_?loader`), "there is a stream, and no loop over a set"},
	{regexp.MustCompile(`(?i)^evict|Evict|CacheTier|MemoryTier`), "levels learn at different speeds; they are no caches"},
	{regexp.MustCompile(`Recurrent[A-Z]|RNN|HiddenState|Hybrid[A-Z]|FusionLayer`), "there are blocks in compositions, and no layers of kinds"},
}

// flags are names of a bool that changes what a forward does. They are looked for in
// what forwards are made of: blocks and generated code.
var flags = regexp.MustCompile(`(?i)^(is_?)?(train|training|eval|evaluating|frozen|recording|inference|grad|nograd|deterministic|testing|building|streaming)$`)

// TestWords scans the declarations of the runtime, the commands and the generated
// code.
func TestWords(t *testing.T) {
	files := 0
	for _, root := range []string{"../../runtime", "../../cmd", "../../generated"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go"):
				return nil
			}
			files++
			return words(t, path)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 500 {
		t.Errorf("only %d files were scanned", files)
	}
}

func words(t *testing.T, path string) error {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	forward := strings.HasPrefix(path, filepath.Join("..", "..", "generated")) || filepath.Dir(path) == filepath.Join("..", "..", "runtime", "block")
	declared := func(id *ast.Ident) {
		for _, x := range forbidden {
			if x.names.MatchString(id.Name) {
				t.Errorf("%v: %s: %s", set.Position(id.Pos()), id.Name, x.why)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			declared(n.Name)
		case *ast.TypeSpec:
			declared(n.Name)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				declared(id)
			}
		case *ast.Field:
			for _, id := range n.Names {
				declared(id)
				if typ, ok := n.Type.(*ast.Ident); ok && typ.Name == "bool" && forward && flags.MatchString(id.Name) {
					t.Errorf("%v: bool %s: no flag changes what a forward does; the scope has a tape or none", set.Position(id.Pos()), id.Name)
				}
			}
		}
		return true
	})
	return nil
}
