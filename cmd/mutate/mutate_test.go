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
		for _, f := range w.judgePages(unit, 2) {
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
	if !report(&b, fates, false) || !strings.Contains(b.String(), "1 of 1 breaks caught, 100.0 %; 1 changed nothing") {
		t.Errorf("the report is\n%s", b.String())
	}
	b.Reset()
	if report(&b, append(fates, fate{What: "c", Kind: "sign", Where: "claim"}), true) || !strings.Contains(b.String(), "survived: c") {
		t.Errorf("the report is\n%s", b.String())
	}
}
