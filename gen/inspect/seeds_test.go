package inspect_test

import (
	"os"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/inspect"
	"github.com/nl-hecate/hecate/gen/spec"
)

// TestSeeds reads the five documents that the project began with and did not
// write. They are not in the repository; HECATE_SEEDS names their folder, and
// HECATE_REQUIRE=seeds forbids skipping.
func TestSeeds(t *testing.T) {
	dir := os.Getenv("HECATE_SEEDS")
	if dir == "" {
		if strings.Contains(os.Getenv("HECATE_REQUIRE"), "seeds") {
			t.Fatal("HECATE_REQUIRE asks for the seeds and HECATE_SEEDS names no folder")
		}
		t.Skip("HECATE_SEEDS names no folder with the seed documents")
	}
	r, ds := inspect.Tree([]string{dir})
	if ds.HasErrors() {
		t.Error(ds.Error())
	}
	if len(r.Pages) != 5 {
		t.Fatalf("%d pages, want 5", len(r.Pages))
	}
	seedHeaders(t, r)
	tape := r.Pages[2]
	ops := seedEnum(t, tape, "TapeOp", 25)
	seedNames(t, ops[:3], "Matmul", "MatmulTransposeB", "Transpose")
	seedNames(t, ops[23:], "StraightThroughBool", "Opaque")
	keys := seedEnum(t, tape, "OpaqueKey", 19)
	seedNames(t, keys[9:11], "SWA", "FrozenDeltaRule")
	seedVJPs(t, tape)
}

func seedHeaders(t *testing.T, r *inspect.Report) {
	forms := []spec.Form{0, spec.Bare, spec.Fenced, spec.Fenced, spec.Fenced}
	for i, p := range r.Pages {
		switch {
		case forms[i] == 0 && p.Header != nil:
			t.Errorf("%s: a header, want none", p.File.Path)
		case forms[i] == 0:
		case p.Header == nil:
			t.Errorf("%s: no header", p.File.Path)
		case p.Header.Form != forms[i] || len(p.Header.Fields) != 7:
			t.Errorf("%s: %v header of %d fields, want %v of 7", p.File.Path, p.Header.Form, len(p.Header.Fields), forms[i])
		}
		if p.Title == "" || len(p.ExtraHeaders) > 0 {
			t.Errorf("%s: title %q, %d further headers", p.File.Path, p.Title, len(p.ExtraHeaders))
		}
	}
	if s := r.Pages[1].Status.Kind; s != spec.Updated {
		t.Errorf("%s: %v, want updated", r.Pages[1].File.Path, s)
	}
}

func seedEnum(t *testing.T, p *spec.Page, name string, members int) []spec.Member {
	t.Helper()
	for _, e := range p.Outline {
		if e.Kind != spec.Enum || e.Name != name {
			continue
		}
		if len(e.Members) != members {
			t.Fatalf("enum %s has %d members, want %d", name, len(e.Members), members)
		}
		for _, m := range e.Members {
			if !strings.HasPrefix(m.Span.Text(), m.Name) {
				t.Errorf("%s.%s has the span of %q", name, m.Name, m.Span.Text())
			}
		}
		return e.Members
	}
	t.Fatalf("no enum %s", name)
	return nil
}

func seedNames(t *testing.T, got []spec.Member, want ...string) {
	t.Helper()
	for i, m := range got {
		if m.Name != want[i] {
			t.Errorf("member %s, want %s", m.Name, want[i])
		}
	}
}

// seedVJPs counts the entries: 18 whose forward begins with `out =`, two more
// with an index (`out[i] =`), and four in comment lines.
func seedVJPs(t *testing.T, p *spec.Page) {
	plain, indexed, comment := 0, 0, 0
	for _, v := range inspect.VJPEntries(p) {
		switch {
		case v.CommentOnly:
			comment++
		case strings.HasPrefix(v.ForwardText, "out ="):
			plain++
		case strings.HasPrefix(v.ForwardText, "out["):
			indexed++
		}
		if len(v.Adjoints) == 0 {
			t.Errorf("%s has no adjoint line", v.Name)
		}
		for _, a := range v.Adjoints {
			if text := a.Span.Text(); !strings.HasPrefix(text, a.LHS) || !strings.HasSuffix(text, a.RHS) {
				t.Errorf("%s: %s = %s has the span of %q", v.Name, a.LHS, a.RHS, text)
			}
		}
	}
	if plain != 18 || indexed != 2 || comment != 4 {
		t.Errorf("%d plain, %d indexed and %d comment entries, want 18, 2 and 4", plain, indexed, comment)
	}
}
