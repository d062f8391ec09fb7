package papers_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/papers"
	"github.com/nl-hecate/hecate/gen/source"
)

const bibliography = `# Papers

| key | title | arXiv | version | equations | equations read | date |
|---|---|---|---|---|---|---|
| alpha | On alpha | 9901.00001 | v1 | 1-9, alg1 | 1-9 | 2026-11 |
| alpha@talk | On alpha, as told | | talk | 1-3 | none: nobody wrote it down | |

| equation | says | no page |
|---|---|---|
| alpha#1 | the write | |
| alpha#2-3 | the rest | |
| alpha#4 | a lemma | it computes nothing |
| alpha#alg1 | the loop | |
`

// table reads units from pages of their own.
func table(t *testing.T, bibliography string, pages ...string) (*papers.Table, string) {
	t.Helper()
	bib, ds := markdown.Bibliography(source.NewFile("papers.md", bibliography))
	var units []*notation.Unit
	for i, text := range pages {
		page := source.NewFile(string(rune('a'+i))+".md", text)
		f, pd := parser.Parse(page, []parser.Input{{Text: text, File: page}})
		ds.Append(pd)
		units = append(units, f.Units...)
	}
	out, td := papers.New(units, bib, func(*source.File) bool { return true })
	ds.Append(td)
	return out, ds.Error()
}

// TestVerdicts: a row has the best of what its lines say.
func TestVerdicts(t *testing.T) {
	got, ds := table(t, bibliography,
		"op Twice(x ∈ ℝ^{n}) → out = 2 x  @eq alpha#1  @eq alpha@talk#2 \"doubled\"\nclaim x̄ = 2 out̄  {back}\nerratum alpha#2 \"halved\" by claim back\n",
		"op Half(x ∈ ℝ^{n}) → out = x / 2  @eq alpha#1 \"halved\"  @eq alpha#9\n")
	if ds != "" {
		t.Fatal(ds)
	}
	var all []string
	for _, p := range got.Papers {
		for _, r := range p.Rows {
			all = append(all, p.Key+"#"+r.Number()+" "+string(r.Verdict()))
		}
	}
	want := "alpha#1 as printed, alpha#2-3 erratum, alpha#4 no page, alpha#9 as printed, alpha#alg1 open, alpha@talk#2 differs"
	if got := strings.Join(all, ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if u := got.Paper("alpha").Rows[0].Uses; len(u) != 2 || u[1].Says != "halved" {
		t.Errorf("uses of alpha#1: %+v", u)
	}
}

// TestRefused: what contradicts another page or the bibliography is one message.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, more string
		pages      []string
		want       string
	}{
		{"another form", "", []string{"op A(x ∈ ℝ^{n}) → out = 2 x  @eq alpha#1\n", "op B(x ∈ ℝ^{n}) → out = 3 x  @eq alpha#1\n"}, "two pages give alpha#1 as printed, in different forms"},
		{"the same in other letters", "", []string{"op A(x ∈ ℝ^{n}) → out = 2 x  @eq alpha#1\n", "op B(y ∈ ℝ^{m}) → out = 2 y  @eq alpha#1\n"}, ""},
		{"another form that says so", "", []string{"op A(x ∈ ℝ^{n}) → out = 2 x  @eq alpha#1\n", "op B(x ∈ ℝ^{n}) → out = 3 x  @eq alpha#1 \"3\"\n"}, ""},
		{"two forms of one page", "", []string{"op A(x ∈ ℝ^{n}) → out = 2 x  @eq alpha#1\nop B(x ∈ ℝ^{n}) → out = 3 x  @eq alpha#1\n"}, ""},
		{"a page for what has none", "", []string{"op A(x ∈ ℝ^{n}) → out = 2 x  @eq alpha#4\n"}, "papers.md says that no page has it"},
		{"a row twice", "| alpha#3 | again | |\n", nil, "two rows speak of equation 3"},
		{"a row of no paper", "| beta#3 | who | |\n", nil, "no row for the paper beta"},
		{"a row beyond the paper", "| alpha#12 | who | |\n", nil, "alpha has no equation 12"},
	} {
		_, got := table(t, bibliography+c.more, c.pages...)
		if c.want == "" && got != "" || c.want != "" && (!strings.Contains(got, c.want) || strings.Count(got, "error HEC") != 1) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
