package docs

import (
	"regexp"
	"strings"
	"testing"
)

func TestMath(t *testing.T) {
	for in, want := range map[string]string{
		"k_t":               "<i>k</i><sub><i>t</i></sub>",
		"k_tᵀ":              "<i>k</i><sub><i>t</i></sub>ᵀ",
		"M_{t−1}ᵀ k":        "<i>M</i><sub><i>t</i>−1</sub>ᵀ <i>k</i>",
		"S_K_t":             "<i>S</i><sub><i>K</i>&#8201;<i>t</i></sub>",
		"M̄_t":              "<i>M̄</i><sub><i>t</i></sub>",
		"out̄ x":            "out̄ <i>x</i>",
		"ℝ^{d_v×d_k}":       "ℝ<sup><i>d</i><sub><i>v</i></sub>×<i>d</i><sub><i>k</i></sub></sup>",
		"W⁰ k0":             "<i>W</i>⁰ <i>k</i>0",
		"softmax_{j∈c}(x)":  "softmax<sub><i>j</i>∈<i>c</i></sub>(<i>x</i>)",
		"a < b & c":         "<i>a</i> &lt; <i>b</i> &amp; <i>c</i>",
		`"<script>" _ ^ {x`: "<q>&lt;script&gt;</q> _ ^ {<i>x</i>",
		"x_{":               "<i>x</i><sub></sub>",
		"{ a if c ; 0 }":    "{ <i>a</i> if <i>c</i> ; 0 }",
	} {
		if got := string(mathHTML(in)); got != want {
			t.Errorf("%q:\n%s, want\n%s", in, got, want)
		}
	}
	const page = "rule A over B\nstate M ∈ ℝ^{n} = 0  // M_t is <it>\nclaim a = b  {grad}\n  with c = d"
	got := string(blockHTML(page))
	for _, w := range []string{"<b>rule</b> <i>A</i> over", "<b>state</b> ", "<span class=note><span class=math><i>M</i><sub><i>t</i></sub></span> is &lt;it&gt;</span>",
		"<span class=note>  {grad}</span>", "  <b>with</b> "} {
		if !strings.Contains(got, w) {
			t.Errorf("no %q in\n%s", w, got)
		}
	}
	if got := string(textHTML("4·d_k of a <b>, snake_case")); got != "4·<span class=math><i>d</i><sub><i>k</i></sub></span> of a &lt;b&gt;, snak<span class=math><i>e</i><sub>case</sub></span>" {
		t.Error(got)
	}
	if got := string(textHTML("`A<b>` and ` alone")); got != "<code>A&lt;b&gt;</code> and ` alone" {
		t.Error(got)
	}
}

func site() *Site {
	return &Site{Counts: "2 combinations.", Reasons: []string{"B: <no>"},
		Pairs: []*Pairs{{Title: "Structure and bias", Cols: []Link{{"B", "b"}}, Rows: []PairRow{{Link{"A", "a"}, []string{"no [1]"}}}}},
		Entries: []*Entry{
			{Name: "A", ID: "a", Kind: "structure", Page: "a.md", Prose: "A *word*, <script>alert(1)</script>", Header: []Field{{"Purpose", "a | b"}},
				Partners:  []Partner{{"bias", Link{"B", "b"}, "no", "because"}},
				Equations: []Equation{{"a.x", "|x| = 1", ""}}},
			{Name: "B", ID: "b", Kind: "bias", Page: "b.md", Relations: []Relation{{"Named by", []Link{{"A", "a"}, {"x = y", ""}}}}},
		}}
}

// TestEscapes: nothing of a page becomes markup, and no bar ends a cell.
func TestEscapes(t *testing.T) {
	html, err := site().HTML()
	if err != nil {
		t.Fatal(err)
	}
	if s := string(html); strings.Contains(s, "alert(1)</script>") || !strings.Contains(s, "<em>word</em>") || !strings.Contains(s, "B: &lt;no&gt;") {
		t.Error(s)
	}
	files, err := site().Markdown()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"README.md": `| [A](a.md) | a \| b |`, "a.md": "| `a.x` | `\\|x\\| = 1` |  |", "legality.md": "| [A](a.md) | no [1] |"} {
		if !strings.Contains(string(files[name]), want) {
			t.Errorf("%s has no %q:\n%s", name, want, files[name])
		}
	}
}

var attribute = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)

// TestNothingFromOutside: the site asks for nothing.
func TestNothingFromOutside(t *testing.T) {
	html, err := site().HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range attribute.FindAllStringSubmatch(string(html), -1) {
		if !strings.HasPrefix(m[1], "#") {
			t.Errorf("%s", m[0])
		}
	}
	for _, word := range []string{"http:", "https:", "@import", "url(", "<link", "<img", "<iframe"} {
		if strings.Contains(string(html), word) {
			t.Errorf("the site has %q", word)
		}
	}
}
