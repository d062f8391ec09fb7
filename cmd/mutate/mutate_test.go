package main

import (
	"strings"
	"testing"
)

// A few units stand for all: the full run is `make mutate`.
func TestJudge(t *testing.T) {
	w, err := newWorld("../../specs", "../../oracle/vectors", "../../gen/prove/testdata/witness.txt")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, unit := range []string{"Matmul", "EmbedLookup", "LayerNorm"} {
		fates, err := w.judgePages(choice{unit: unit}, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fates {
			if f.By == "" {
				t.Errorf("survived: %s", f.What)
			}
			kinds[f.Kind] = true
		}
	}
	if !kinds["sign"] || !kinds["axis"] || !kinds["transpose"] {
		t.Errorf("kinds of breaks: %v", kinds)
	}
}

func TestReport(t *testing.T) {
	var b strings.Builder
	fates := []fate{{What: "a", Kind: "sign", Where: "claim", By: byProof}, {What: "b", Kind: "sign", Where: "claim", By: equal}}
	if !report(&b, fates) || !strings.Contains(b.String(), "1 of 1 breaks caught, 100.0 %; 1 changed nothing") {
		t.Errorf("the report is\n%s", b.String())
	}
	b.Reset()
	if report(&b, append(fates, fate{What: "c", Kind: "sign", Where: "claim"})) || !strings.Contains(b.String(), "50.0 %") {
		t.Errorf("the report is\n%s", b.String())
	}
}

func TestSurvivors(t *testing.T) {
	rs := reasons("# a | comment | of three\na.md | kink | still true\nb.md | claim | none\n")
	fates := []fate{{What: "specs/a.md:3:1 sign: x → −x", Where: "kink"}, {What: "specs/a.md:4:1 sign: y → −y", Where: "claim"},
		{What: "specs/a.md:3:1 factor", Where: "kink", By: byProof}}
	var b strings.Builder
	survivors(&b, fates, rs, true)
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
