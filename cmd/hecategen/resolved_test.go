package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/simplify"
	"github.com/nl-hecate/hecate/gen/source"
)

// TestResolved reads what `dump -after=check` prints: in the place of the unit
// it must mean the same, down to the programs.
func TestResolved(t *testing.T) {
	s, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	known := map[string]bool{}
	for _, p := range s.Pages {
		for n := range notation.Known(blocks(p, nil)) {
			known[n] = true
		}
	}
	for _, u := range s.Tree.Order {
		if u.Kind != notation.RuleUnit && u.Kind != notation.OpUnit {
			continue
		}
		b, _ := instantiate(s, u)
		if b.Strategy != nil || members(b) { // about a chunk, or written out for members: no unit of its own
			continue
		}
		text := notation.Print(resolved(b), notation.Unicode)
		f := source.NewFile("resolved.md", text)
		file, ds := notation.Parse(f, []notation.Input{{Text: text, File: f, Known: known}})
		if ds.HasErrors() || len(file.Units) != 1 {
			t.Errorf("%s\n%s", text, ds.Error())
			continue
		}
		again, ds := check.Instantiate(s.Tree, file.Units[0])
		if again == nil || ds.HasErrors() {
			t.Errorf("%s\n%s", text, ds.Error())
			continue
		}
		want, _ := programs(b, u)
		got, ds := programs(again, file.Units[0])
		if ds.HasErrors() || len(got) != len(want) {
			t.Errorf("%s\n%d programs, want %d\n%s", text, len(got), len(want), ds.Error())
			continue
		}
		for i := range want {
			if !simplify.Equal(got[i].fn, want[i].fn) {
				t.Errorf("%s: program %d is\n%s\nwant\n%s", u.Name.Text, i, got[i].fn, want[i].fn)
			}
		}
	}
}

// members reports whether a block has members of a family.
func members(b *check.Block) bool {
	return slices.ContainsFunc(b.SymSeq, func(s *check.Symbol) bool { return strings.Contains(s.Name, "[") })
}
