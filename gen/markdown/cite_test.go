package markdown_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

func bibliography(t *testing.T) *spec.Bibliography {
	t.Helper()
	text, err := os.ReadFile("testdata/papers.md")
	if err != nil {
		t.Fatal(err)
	}
	bib, ds := markdown.Bibliography(source.NewFile("papers.md", string(text)))
	if ds.Len() > 0 {
		t.Fatal(ds.Error())
	}
	return bib
}

func TestBibliography(t *testing.T) {
	var got []string
	for _, p := range bibliography(t).Papers {
		got = append(got, fmt.Sprintf("%s %q %s %s %v", p.Key, p.Names, p.ArXiv, p.Version, p.Read))
	}
	want := []string{
		`alpha ["Alpha" "Alpha Net"] 9901.00001 v2 [{1 15 } {32 32 } {0 0 table1} {0 0 13a}]`,
		`beta ["BETA"] 9902.12345 v1 [{0 0 all}]`,
		`gamma [] 9903.00003  []`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("papers (-want +got):\n%s", diff)
	}
}

// citations parses one line of prose and shows what it cites.
func citations(t *testing.T, page string) []string {
	t.Helper()
	p, _ := parse(page)
	var out []string
	for _, c := range markdown.Cite(p, bibliography(t)) {
		s := fmt.Sprintf("%s | %s | %s", c.Canonical, c.State, c.Text)
		if c.Implied {
			s += " | implied"
		}
		out = append(out, s)
	}
	return out
}

func TestCite(t *testing.T) {
	tests := []struct {
		text string
		want string // one citation per line
	}{
		{"alpha#13", "alpha::13 | read | alpha#13"},
		{"alpha#8-15", "alpha::8-15 | read | alpha#8-15"},
		{"alpha#8-20", "alpha::8-20 | equation not read | alpha#8-20"},
		{"alpha#table1 and alpha#table2", "alpha::table1 | read | alpha#table1\nalpha::table2 | equation not read | alpha#table2"},
		{"alpha#?", "alpha::? | no number | alpha#?"},
		{"alpha#13a", "alpha::13a | read | alpha#13a"},
		{"x = y  @eq alpha#3", "alpha::3 | read | @eq alpha#3"},
		{"@eq beta#? ", "beta::? | no number | @eq beta#?"},
		{"@eq nosuch#3", "nosuch::3 | unknown paper | @eq nosuch#3"},
		{"gamma#3", "gamma::3 | equation not read | gamma#3"},
		{"alpha_equations/eq-034-write-step", "alpha::34 | equation not read | alpha_equations/eq-034-write-step"},
		{"alpha_equations/eq-003", "alpha::3 | read | alpha_equations/eq-003"},
		{"Alpha eq-013", "alpha::13 | read | Alpha eq-013"},
		{"Alpha Eq 13", "alpha::13 | read | Alpha Eq 13"},
		{"ALPHA Eq. 7", "alpha::7 | read | ALPHA Eq. 7"},
		{"Alpha Eqs 8-15", "alpha::8-15 | read | Alpha Eqs 8-15"},
		{"Alpha Eqs. 8–10", "alpha::8-10 | read | Alpha Eqs. 8–10"},
		{"Alpha Equations (2) to (4)", "alpha::2-4 | read | Alpha Equations (2) to (4)"},
		{"Alpha Eqs 2, 4-5 and 32", "alpha::2 | read | Alpha Eqs 2\nalpha::4-5 | read | 4-5\nalpha::32 | read | 32"},
		{"Alpha Net Eq (3)", "alpha::3 | read | Alpha Net Eq (3)"},
		{"Alpha (9901.00001) Eq 3", "alpha::3 | read | Alpha (9901.00001) Eq 3"},
		{"Alpha (arXiv:9901.00001v2), Section 3.1, Eq 3", "alpha:3.1:3 | read | Alpha (arXiv:9901.00001v2), Section 3.1, Eq 3"},
		{"BETA §2.3 Eq 13", "beta:2.3:13 | read | BETA §2.3 Eq 13"},
		{"Beta §6 is long", "beta:6 | paper | Beta §6"},
		{"Beta Appendix C, Eq. 40", "beta:C:40 | read | Beta Appendix C, Eq. 40"},
		{"Beta Table 2", "beta::table2 | read | Beta Table 2"},
		{"Beta Proposition 3 and Definition 2", "beta::prop3 | read | Beta Proposition 3\nbeta::def2 | read | Definition 2"},
		{"the write of Eq 13 of Alpha", "alpha::13 | read | Eq 13 of Alpha"},
		{"the write (Eq 13 in the Alpha paper)", "alpha::13 | read | Eq 13 in the Alpha"},
		{"Trellis (9912.99999) Eq. 7", "9912.99999::7 | unknown paper | Trellis (9912.99999) Eq. 7"},
		{"as MIRO Eq 5 says", "miro::5 | unknown paper | MIRO Eq 5"},
		{"arXiv 9901.00001", "alpha | paper | arXiv 9901.00001"},
		{"arxiv:9901.00009", "9901.00009 | unknown paper | arxiv:9901.00009"},
		{"(Eq 4)", "?::4 | no paper | Eq 4"},
		{"Paper Eq 4", "?::4 | no paper | Paper Eq 4"},
		{"Combining Eq 3 with Eq 4", "?::3 | no paper | Eq 3\n?::4 | no paper | Eq 4"},
		{"Alpha goes first and then, many words later and more of them still, Eq 4", "alpha::4 | read | Eq 4 | implied"},
		{"as in Alpha, which writes,\n and in Eq 4", "alpha::4 | read | Eq 4 | implied"},
		{"as in Alpha.\nBy Eq 4", "?::4 | no paper | Eq 4"},
		{"Alpha is a paper. See Table 1 above, Section 3, issue#4, file.md#3, #12, 2099.1, 1234.567891, eq. for all.", ""},
		{"we hope alpha eq is fine", ""},
	}
	for _, tt := range tests {
		got := strings.Join(citations(t, "# T\n\n"+tt.text+"\n"), "\n")
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Cite(%q) (-want +got):\n%s", tt.text, diff)
		}
	}
}

// TestCiteSource checks what the Source field adds: names alone are
// citations, and the only paper it names is that of lonely equations.
func TestCiteSource(t *testing.T) {
	page := "CONTRACT\nPurpose: x\nSource: Alpha, Section 2\n\n-- Eq 3 and Paper Eq 99, but BETA Eq 4\n<!-- alpha_equations/eq-002-read -->\n"
	want := []string{
		"alpha:2 | paper | Alpha, Section 2",
		"alpha::3 | read | Eq 3 | implied",
		"alpha::99 | equation not read | Paper Eq 99 | implied",
		"beta::4 | read | BETA Eq 4",
		"alpha::2 | read | alpha_equations/eq-002-read",
	}
	if diff := cmp.Diff(want, citations(t, page)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	page = "CONTRACT\nSource: Alpha; beta\n\nEq 3, beta\n"
	want = []string{"alpha | paper | Alpha", "beta | paper | beta", "?::3 | no paper | Eq 3"}
	if diff := cmp.Diff(want, citations(t, page)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
