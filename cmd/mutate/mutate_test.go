package main

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/prove/mutation"
)

// A few units stand for all: the full run is `make mutate`.
func TestJudge(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	w, err := newBaseline("../../specs", "../../validation/oracle/vectors", "../../gen/prove/testdata/witness.txt")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, unit := range []string{"Matmul", "EmbedLookup", "LayerNorm"} {
		outcomes, err := w.runPages(selection{unit: unit}, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range outcomes {
			if f.KilledBy == "" {
				t.Errorf("survived: %s", f.What)
			}
			kinds[f.Kind] = true
		}
	}
	if !kinds["sign"] || !kinds["axis"] || !kinds["transpose"] {
		t.Errorf("kinds of mutants: %v", kinds)
	}
}

// TestPins: the defaults of options and the numbers that parameters start from
// enter no program, and a change of one is noticed all the same.
func TestPins(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	w, err := newBaseline("../../specs", "../../validation/oracle/vectors", "../../gen/prove/testdata/witness.txt")
	if err != nil {
		t.Fatal(err)
	}
	pins := map[string]int{}
	for i, f := range w.files {
		for _, m := range mutation.Mutants(f) {
			if m.Line != "option" && m.Line != "outer" && m.Line != "const" && m.Line != "state" || m.Kind == "axis" || !slices.Contains([]string{"AtlasOmega", "TNT", "Lp", "TwoPass"}, m.Unit) {
				continue
			}
			if f := w.run(i, m); f.KilledBy == "" || f.KilledBy == equivalent {
				t.Errorf("%s: %s", f.What, cmp.Or(f.KilledBy, "survived"))
			}
			pins[m.Unit]++
		}
	}
	if pins["AtlasOmega"] < 4 || pins["TNT"] < 3 || pins["Lp"] < 2 {
		t.Errorf("mutants of declarations: %v", pins)
	}
}

// TestFloors: a floor under a norm is seen where the norm is below it.
func TestFloors(t *testing.T) {
	w, err := newBaseline("../../specs", "../../validation/oracle/vectors", "../../gen/prove/testdata/witness.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ unit, floor string }{{"unit", "1e-8"}, {"AtlasOmega", "1e-7"}, {"NormalizedSiLU", "1e-6"}, {"SphereProjectNormalize", "1e-8"}} {
		found := false
		for i, f := range w.files {
			for _, m := range mutation.Mutants(f) {
				if m.Unit != c.unit || m.Span.Text() != c.floor {
					continue
				}
				found = true
				tree, _, _ := w.mutated(i, m.Text())
				if u := tree.Units[c.unit]; w.isEquivalent(tree, []string{c.unit}, m) {
					t.Errorf("%s counts as equal with another floor", u.Name.Text)
				}
			}
		}
		if !found {
			t.Errorf("%s has no floor %s", c.unit, c.floor)
		}
	}
}

func TestReport(t *testing.T) {
	var b strings.Builder
	outcomes := []outcome{{What: "a", Kind: "sign", Where: "claim", KilledBy: byProof}, {What: "b", Kind: "sign", Where: "claim", KilledBy: equivalent}}
	if !report(&b, outcomes) || !strings.Contains(b.String(), "1 of 1 mutants killed, 100.0 %; 1 equivalent") {
		t.Errorf("the report is\n%s", b.String())
	}
	b.Reset()
	if report(&b, append(outcomes, outcome{What: "c", Kind: "sign", Where: "claim"})) || !strings.Contains(b.String(), "50.0 %") {
		t.Errorf("the report is\n%s", b.String())
	}
}

func TestSurvivors(t *testing.T) {
	rs := reasons("# a | comment | of three\na.md | kink | still true\nb.md | claim | none\n")
	outcomes := []outcome{{What: "specs/a.md:3:1 sign: x → −x", Where: "kink"}, {What: "specs/a.md:4:1 sign: y → −y", Where: "claim"},
		{What: "specs/a.md:3:1 factor", Where: "kink", KilledBy: byProof}}
	var b strings.Builder
	survivors(&b, outcomes, rs, true)
	want := `lines of kind kink in a.md: still true
  survived: specs/a.md:3:1 sign: x → −x (in a line of kind kink)
out of date: nothing survives in lines of kind claim in b.md
not explained:
  survived: specs/a.md:4:1 sign: y → −y (in a line of kind claim)
`
	if b.String() != want {
		t.Errorf("survivors are\n%s\nwant\n%s", b.String(), want)
	}
}
