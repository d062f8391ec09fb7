package inspect_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/inspect"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// TestTree compares the report of a small tree with testdata/tree.txt and
// testdata/tree.json. With UPDATE set it rewrites them and still fails.
func TestTree(t *testing.T) {
	r, ds := inspect.Tree([]string{"testdata/tree"})
	var text, js bytes.Buffer
	if err := r.Text(&text); err != nil {
		t.Fatal(err)
	}
	text.WriteString("\n" + diag.Render(ds.Sorted()))
	if err := r.JSON(&js); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(js.Bytes()) {
		t.Error("JSON() wrote no valid JSON")
	}
	compare(t, "testdata/tree.golden", text.Bytes())
	compare(t, "testdata/tree.json", js.Bytes())
}

func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	want, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	diff := cmp.Diff(string(want), string(got))
	if diff == "" {
		return
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(name, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Errorf("%s (-want +got):\n%s", name, diff)
}

func TestTreeSameForAnyOrder(t *testing.T) {
	show := func(paths ...string) string {
		r, _ := inspect.Tree(paths)
		var b strings.Builder
		if err := r.Text(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	a := show("testdata/tree/specs", "testdata/tree/notes")
	b := show("testdata/tree/notes", "testdata/tree/specs", "testdata/tree/specs/papers.md")
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("order of arguments matters:\n%s", diff)
	}
}

// TestOnePage checks that a page inspected alone still finds the bibliography
// and the pages around it.
func TestOnePage(t *testing.T) {
	r, ds := inspect.Tree([]string{"testdata/tree/specs/rules/01_leak.md"})
	p := r.Pages[0]
	if r.Bibliography == nil || p.Citations[0].State != spec.Read {
		t.Errorf("citation %+v, want it read", p.Citations[0])
	}
	for _, ref := range p.Refs {
		if ref.Target == "00_interface.md" && ref.Path != "testdata/tree/specs/rules/00_interface.md" {
			t.Errorf("00_interface.md leads to %q", ref.Path)
		}
	}
	if ds.HasErrors() {
		t.Error(ds.Error())
	}
}

func TestUnreadable(t *testing.T) {
	r, ds := inspect.Tree([]string{"testdata/no_such_page.md", "testdata/tree/notes"})
	all := ds.Sorted()
	if len(all) != 1 || all[0].Code != diag.Unreadable || !strings.Contains(all[0].Text, "cannot read testdata/no_such_page.md: ") {
		t.Errorf("diagnostics:\n%s", ds.Error())
	}
	if len(r.Pages) != 2 {
		t.Errorf("%d pages, want the 2 that can be read", len(r.Pages))
	}
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("rest needs a system and a user that can be refused a file")
	}
	name := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(name, []byte("# T\n"), 0); err != nil {
		t.Fatal(err)
	}
	if _, ds := inspect.Tree([]string{name}); !ds.HasErrors() {
		t.Error("no error for a file without permission")
	}
}

func TestResolve(t *testing.T) {
	pages := map[string]*spec.Page{}
	var list []*spec.Page
	for _, name := range []string{
		"specs/a.md", "specs/x/a.md", "specs/x/b.md", "specs/y/b.md", "specs/x/deep/c.md", "specs/z/17_one.md", "specs/z/w/17_two.md", "specs/q/07_x.md",
	} {
		pages[name] = &spec.Page{File: source.NewFile(name, "")}
		list = append(list, pages[name])
	}
	from := pages["specs/x/deep/c.md"]
	tests := []struct{ target, want string }{
		{"specs/a.md", "specs/a.md"},
		{"y/b.md", "specs/y/b.md"},
		{"a.md", "specs/a.md"},
		{"b.md", "specs/x/b.md"},
		{"deep/c.md", "specs/x/deep/c.md"},
		{"../b.md", "specs/x/b.md"},
		{"w/17_two.md", "specs/z/w/17_two.md"},
		{"07_x.md", "specs/q/07_x.md"},
		{"no.md", "dangling"},
		{"17", "ambiguous specs/z/17_one.md specs/z/w/17_two.md"},
		{"7", "specs/q/07_x.md"},
		{"8", "dangling"},
	}
	for _, tt := range tests {
		kind := spec.RefName
		if !strings.HasSuffix(tt.target, ".md") {
			kind = spec.RefNumber
		}
		from.Refs = []spec.Ref{{Target: tt.target, Kind: kind}}
		inspect.Resolve(list, nil, nil)
		r := from.Refs[0]
		got := r.Path
		if r.Resolution != spec.RefResolved {
			got = strings.TrimSpace(r.Resolution.String() + " " + strings.Join(r.Candidates, " "))
		}
		if got != tt.want {
			t.Errorf("resolve(%q) = %q, want %q", tt.target, got, tt.want)
		}
	}
	pages["specs/a.md"].Refs = []spec.Ref{{Target: "b.md", Kind: spec.RefName}}
	inspect.Resolve(list, nil, nil)
	if r := pages["specs/a.md"].Refs[0]; r.Resolution != spec.RefAmbiguous || len(r.Candidates) != 2 {
		t.Errorf("b.md from above: %v %v, want ambiguous", r.Resolution, r.Candidates)
	}
}

// TestExplanations holds the codes of references and citations to their own
// examples, on a page beside testdata/tree.
func TestExplanations(t *testing.T) {
	for _, code := range []diag.Code{diag.AmbiguousRef, diag.DanglingRef, diag.UnknownPaper, diag.NoEquationNumber, diag.EquationNotRead} {
		e, ok := diag.Explain(code)
		if !ok {
			t.Fatalf("%v has no explanation", code)
		}
		if got := found(t, e.Wrong); len(got) == 0 || strings.Trim(strings.Join(got, ""), code.String()) != "" {
			t.Errorf("%v: the wrong example gives %v", code, got)
		}
		if got := found(t, e.Right); len(got) != 0 {
			t.Errorf("%v: the right example gives %v", code, got)
		}
	}
}

func found(t *testing.T, page string) []string {
	t.Helper()
	r, _ := inspect.Tree([]string{"testdata/tree"})
	p, ds := markdown.Parse(source.NewFile("testdata/page.md", page))
	own, _ := markdown.Parse(source.NewFile("specs/algorithms/name.md", ""))
	ds.Append(inspect.Resolve(append(r.Pages, p, own), r.Bibliography, nil))
	var out []string
	for _, d := range ds.Sorted() {
		if d.Span.File == p.File {
			out = append(out, d.Code.String())
		}
	}
	return out
}

func TestVJPEntries(t *testing.T) {
	r, _ := inspect.Tree([]string{"testdata/tree/specs/infra"})
	var got []string
	for _, v := range inspect.VJPEntries(r.Pages[0]) {
		s := fmt.Sprintf("%s|%s|%s|%s|%s|%v", v.Name, v.Gloss, v.ForwardText, v.ForwardSpan.Text(), v.Shapes, v.CommentOnly)
		for _, a := range v.Adjoints {
			s += fmt.Sprintf(" / %s %s %s (%s) %s", a.LHS, a.Op, a.RHS, a.Note, a.Span.Text())
		}
		got = append(got, s)
	}
	want := []string{
		"ADD||out = A + B|out = A + B  (A: n, B: n)|A: n, B: n|false / d_A = d_out (the same) d_A = d_out / d_B = d_out () d_B = d_out",
		"HALVE|Toys|out = A / 2|out = A / 2||true / d_A = d_out / 2 () d_A = d_out / 2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
