package gen_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove"
)

// TestMatches tries the strategies that match a rule on every rule of the library.
func TestMatches(t *testing.T) {
	s, ds := gen.LoadFiles(specFiles(t)...)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	want := map[string]string{
		"Hebbian":    "StateSpaceChunk LinearChunk GatedChunk DiagonalChunk RemovalChunk",
		"HGRN2":      "LinearChunk DiagonalChunk RemovalChunk",
		"DeltaRule":  "GatedChunk DiagonalChunk RemovalChunk",
		"DeltaHeads": "GatedChunk DiagonalChunk RemovalChunk",
		"Comba":      "GatedChunk DiagonalChunk RemovalChunk",
	}
	for _, u := range rulesOf(t, s) {
		got := ""
		for _, st := range s.Tree.Kinds(notation.StrategyUnit) {
			if !matching(st) {
				continue
			}
			stands := prove.Stands(s.Tree, st, u)
			if stands.Exact() {
				got += " " + st.Name.Text
			}
		}
		if len(got) > 0 {
			got = got[1:]
		}
		if got != want[u.Name.Text] {
			t.Errorf("%s is computed by %q, want %q", u.Name.Text, got, want[u.Name.Text])
		}
	}
}

// matching reports whether a strategy matches a rule's equations.
func matching(u *notation.Unit) bool {
	for _, st := range u.Body {
		if d, ok := st.(*notation.Define); ok && d.Match {
			return true
		}
	}
	return false
}
