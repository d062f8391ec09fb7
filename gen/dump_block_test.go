package gen

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/simplify"
	"github.com/nl-hecate/hecate/gen/source"
)

// TestResolved reads what `dump -after=check` prints: in the place of the unit
// it must mean the same, down to the programs.
func TestResolved(t *testing.T) {
	s, ds := Load("../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	known := map[string]bool{}
	for _, p := range s.Pages {
		maps.Copy(known, parser.Known(inputs(p)))
	}
	for _, u := range s.Tree.Order {
		if u.Kind != notation.RuleUnit && u.Kind != notation.OpUnit {
			continue
		}
		want := newCompiler(s, u, Config{})
		want.run(codeStage, "ir")
		if want.blk.Strategy != nil || members(want.blk) { // about a chunk, or written out for members: no unit of its own
			continue
		}
		text := notation.Print(resolvedUnit(want.blk), notation.Unicode)
		f := source.NewFile("resolved.md", text)
		file, ds := parser.Parse(f, []parser.Input{{Text: text, File: f, Known: known}})
		if ds.HasErrors() || len(file.Units) != 1 {
			t.Errorf("%s\n%s", text, ds.Error())
			continue
		}
		got := newCompiler(s, file.Units[0], Config{})
		if !got.run(codeStage, "ir") || len(got.programs) != len(want.programs) {
			t.Errorf("%s\n%d stages, want %d\n%s", text, len(got.programs), len(want.programs), got.ds.Error())
			continue
		}
		for i := range want.programs {
			a, b := got.programs[i], want.programs[i]
			if !equalPrograms(a.main, b.main) || !equalPrograms(a.frozen, b.frozen) || !equalPrograms(a.start, b.start) {
				t.Errorf("%s: the programs of stage %d differ:\n%s", u.Name.Text, i, text)
			}
		}
	}
}

func equalPrograms(a, b *program) bool {
	return a == nil && b == nil || a != nil && b != nil && simplify.Equal(a.fn, b.fn)
}

// members reports whether a block has members of a family.
func members(b *check.Block) bool {
	return slices.ContainsFunc(b.SymSeq, func(s *check.Symbol) bool { return strings.Contains(s.Name, "[") })
}
