package irbuild_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
)

const head = "# Page\n\n```text\nCONTRACT\n  Purpose: P\n  Expects: E\n  Guarantees: G\n  Cost: C\n  Trade-off: T\n  Position: here\n  Source: none\n```\n\n```hecate\n"

// block checks the last unit of a page whose only block has the given text.
func block(t *testing.T, text string) *check.Block {
	t.Helper()
	s, ds := gen.LoadFiles(source.NewFile("page.md", head+text+"```\n"))
	if ds.HasErrors() {
		t.Errorf("%s\n%s", text, ds.Error())
		return nil
	}
	blk, ds := check.Instantiate(s.Tree, s.Tree.Order[len(s.Tree.Order)-1])
	if ds.HasErrors() {
		t.Errorf("%s\n%s", text, ds.Error())
		return nil
	}
	return blk
}

// programs are the programs of a block as text.
func programs(blk *check.Block, ds *diag.List) string {
	var b strings.Builder
	add := func(what string, f *ir.Func) {
		if f != nil {
			if err := ir.Verify(f); err != nil {
				fmt.Fprintf(&b, "%v\n", err)
			}
			fmt.Fprintf(&b, "%s\n%s", what, f)
		}
	}
	addSides := func(what string, q *irbuild.Equality) {
		if q != nil {
			add(what, q.Func)
		}
	}
	switch blk.Unit.Kind {
	case notation.RuleUnit:
		add("rule", irbuild.Rule(blk, ds))
		add("frozen", irbuild.Frozen(blk, ds))
		add("start", irbuild.Start(blk, ds))
	case notation.OpUnit:
		add("op", irbuild.Op(blk, ds))
	case notation.UpdateUnit:
		add("update", irbuild.Update(blk, ds))
		add("tall", irbuild.UpdateTall(blk, ds))
	case notation.ComposeUnit, notation.ModelUnit:
		if p := irbuild.Compose(blk, ds); p != nil {
			for _, s := range p.Stages {
				add(fmt.Sprintf("stage %s", s.Part), s.Func)
			}
		}
		add("whole", irbuild.Whole(blk, ds))
	}
	if blk.Strategy == nil {
		for _, c := range blk.Claims {
			addSides("claim", irbuild.Claim(blk, c, ds))
		}
		for _, k := range blk.Kinks {
			addSides("kink", irbuild.Kink(blk, k, ds))
		}
	}
	for _, g := range irbuild.Gradients(blk, ds) {
		add("gradient by "+g.Param, g.Func)
	}
	return b.String() + ds.Error()
}

// TestPrograms compares the programs of small pages with testdata/programs. A
// case is a block, four dashes and the programs of its last unit; four equals
// signs end it. UPDATE=1 rewrites the programs and fails.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/programs/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var now strings.Builder
		for c := range strings.SplitSeq(strings.TrimSuffix(string(text), "====\n"), "====\n") {
			page, want, _ := strings.Cut(c, "----\n")
			blk := block(t, page)
			if blk == nil {
				continue
			}
			var ds diag.List
			got := programs(blk, &ds)
			now.WriteString(page + "----\n" + got + "====\n")
			if got != want && os.Getenv("UPDATE") == "" {
				t.Errorf("%s:\n%s\nbecomes\n%s\nwant\n%s", file, page, got, want)
			}
		}
		if os.Getenv("UPDATE") != "" && now.String() != string(text) {
			if err := os.WriteFile(file, []byte(now.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s: rewritten", file)
		}
	}
}
