package vjpcheck_test

import (
	"os"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/inspect"
	"github.com/nl-hecate/hecate/gen/units"
	"github.com/nl-hecate/hecate/gen/vjpcheck"
)

// functions is the tree of our own pages, whose operations lend their names.
func functions(t *testing.T) *units.Tree {
	t.Helper()
	s, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	return s.Tree
}

// TestMiniature holds the verdict on every line to what its comment expects:
// a verdict, and after a colon the beginning or the middle of the detail.
func TestMiniature(t *testing.T) {
	r, ds := inspect.Tree([]string{"testdata/miniature.md"})
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	entries := vjpcheck.Check(r.Pages, functions(t))
	tables := inspect.VJPEntries(r.Pages[0])
	if len(entries) != len(tables) || len(entries) < 25 {
		t.Fatalf("%d entries of %d", len(entries), len(tables))
	}
	for i, e := range entries {
		for k, a := range tables[i].Adjoints {
			want, detail, _ := strings.Cut(a.Note, ": ")
			if got := e.Lines[k]; string(got.Verdict) != want || !has(got.Detail, detail) {
				t.Errorf("%s %s: %s (%s), want %s", e.Name, a.LHS, got.Verdict, got.Detail, a.Note)
			}
		}
	}
	remarks(t, entries)
	if c := find(t, entries, "LENGTH_FORMS"); len(c.Lines) != 2 || !strings.HasPrefix(c.Lines[1].Detail, "the forms of the forward differ") {
		t.Errorf("two forms that differ: %+v", c.Lines)
	}
}

// has reports whether any of several alternatives occurs.
func has(detail, want string) bool {
	for _, w := range strings.Split(want, ", or ") {
		if strings.Contains(detail, w) {
			return true
		}
	}
	return false
}

func find(t *testing.T, entries []vjpcheck.Entry, name string) vjpcheck.Entry {
	t.Helper()
	for _, e := range entries {
		if e.Name == name {
			return e
		}
	}
	t.Fatalf("no entry %s", name)
	return vjpcheck.Entry{}
}

// remarks are lines of their own and do not count against the entry.
func remarks(t *testing.T, entries []vjpcheck.Entry) {
	t.Helper()
	e := find(t, entries, "SQUARE_RIGHT")
	if len(e.Lines) != 3 || e.Verdict != "agrees" {
		t.Fatalf("%+v", e)
	}
	for i, want := range []vjpcheck.Verdict{"agrees", "agrees", "disagrees"} {
		if e.Lines[i].Verdict != want || strings.HasSuffix(e.Lines[i].Label, "(remark)") != (i > 0) {
			t.Errorf("%+v, want %s", e.Lines[i], want)
		}
	}
}

// TestSeeds judges the tables that the project did not write. HECATE_SEEDS
// names their folder, and HECATE_REQUIRE=seeds forbids skipping.
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
		t.Fatal(ds.Error())
	}
	all := vjpcheck.Check(r.Pages, functions(t))
	var standard, further []vjpcheck.Entry
	for _, e := range all {
		if strings.Contains(e.Section, "Standard") {
			standard = append(standard, e)
		} else {
			further = append(further, e)
		}
	}
	if len(standard) != 20 || len(further) != 4 {
		t.Fatalf("%d standard entries and %d further ones, want 20 and 4", len(standard), len(further))
	}
	if n := judged(standard); n < 19 {
		t.Errorf("%d of 20 standard entries have a verdict, want 19", n)
	}
	if n := judged(further); n != 4 {
		t.Errorf("%d of 4 further entries have a verdict", n)
	}
	for name, want := range map[string]string{
		"CROSS_ENTROPY": "it agrees where d_out = 1, which it leaves out", "L2_NORM": "undefined at x = 0",
		"STRAIGHT_THROUGH_BOOL": "the line can only be declared", "KL_RETENTION": "it differs only at tiny values",
	} {
		e := find(t, all, name)
		found := false
		for _, l := range e.Lines {
			found = found || strings.HasSuffix(l.Detail, want)
		}
		if !found {
			t.Errorf("%s: %+v, want %s", name, e.Lines, want)
		}
	}
}

func judged(entries []vjpcheck.Entry) int {
	n := 0
	for _, e := range entries {
		if e.Verdict != vjpcheck.NotFormal {
			n++
		}
	}
	return n
}
