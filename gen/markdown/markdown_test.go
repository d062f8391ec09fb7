package markdown_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

func parse(text string) (*spec.Page, diag.List) {
	return markdown.Parse(source.NewFile("page.md", text))
}

// TestBlocks checks the text of fences in all surroundings, and that every
// line of it is found again in the file at the offset that the block gives.
func TestBlocks(t *testing.T) {
	tests := []struct {
		name, page, info, want string
	}{
		{"backticks", "```hecate\na = b\n```\n", "hecate", "a = b\n"},
		{"tildes", "~~~ hecate example\na\n\nb\n~~~\n", "hecate example", "a\n\nb\n"},
		{"four", "````hecate\n```\ninner\n```\n````\n", "hecate", "```\ninner\n```\n"},
		{"ends the file", "x\n\n```hecate\na\n```", "hecate", "a\n"},
		{"indented", "  ```hecate\n  a\n    b\n c\n  ```\n", "hecate", "a\n  b\nc\n"},
		{"list", "- item\n\n  ```hecate\n  a\n    b\n  ```\n- next\n", "hecate", "a\n  b\n"},
		{"ordered list", "1. item\n   ~~~hecate\n   ∇ = θ\n   ~~~\n", "hecate", "∇ = θ\n"},
		{"quote", "> ```hecate\n> a\n>   b\n> ```\n", "hecate", "a\n  b\n"},
		{"list in quote", "> - x\n>   ```hecate\n>   a\n>   ```\n", "hecate", "a\n"},
		{"crlf", "# T\r\n\r\n```hecate\r\na\r\nb\r\n```\r\n", "hecate", "a\nb\n"},
		{"bom", "\uFEFF```hecate\na\n```\n", "hecate", "a\n"},
		{"tab in list", "-\tx\n\n\t```hecate\n\ta\n\t\tb\n\t```\n", "hecate", "a\n\tb\n"},
		{"tabs inside", "```hecate\n\ta\tb\n```\n", "hecate", "\ta\tb\n"},
		{"empty", "```hecate\n```\n", "hecate", ""},
		{"after front matter", "---\nCONTRACT\n  Cost: 1\n---\n\n```hecate\na\n```\n", "hecate", "a\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := parse(tt.page)
			if len(p.Blocks) != 1 {
				t.Fatalf("Parse(%q) found %d blocks, want 1", tt.page, len(p.Blocks))
			}
			b := p.Blocks[0]
			if b.Info != tt.info || b.Text != tt.want || !b.Closed || !b.IsHecate {
				t.Errorf("Parse(%q): info %q text %q closed %v, want %q %q", tt.page, b.Info, b.Text, b.Closed, tt.info, tt.want)
			}
			checkOffsets(t, p, b)
		})
	}
}

func checkOffsets(t *testing.T, p *spec.Page, b *spec.Block) {
	t.Helper()
	text := p.File.Text
	for i := range len(b.Text) {
		off := b.FileOffset(i)
		if off < 0 || off > len(text) {
			t.Fatalf("FileOffset(%d) = %d outside the file", i, off)
		}
		if c := b.Text[i]; c != '\n' && c != ' ' && text[off] != c {
			t.Errorf("FileOffset(%d) = %d, which holds %q, want %q", i, off, text[off], c)
		}
	}
	if s := b.Span; s.Start < 0 || s.End > len(text) || s.Start > s.End {
		t.Errorf("span of block [%d, %d) outside the file", s.Start, s.End)
	}
}

func TestFileSpan(t *testing.T) {
	p, _ := parse("> - x\n>   ```hecate\n>   ab\n>   cd\n>   ```\n")
	b := p.Blocks[0]
	for _, tt := range []struct {
		start, end int
		want       string
	}{{0, 2, "ab"}, {1, 2, "b"}, {3, 5, "cd"}, {4, 4, ""}, {0, 5, "ab\n>   cd"}, {3, 99, "cd\n"}} {
		if got := b.FileSpan(tt.start, tt.end).Text(); got != tt.want {
			t.Errorf("FileSpan(%d, %d) = %q, want %q", tt.start, tt.end, got, tt.want)
		}
	}
}

func TestStatus(t *testing.T) {
	tests := []struct {
		name, page string
		want       spec.StatusKind
		text       string
	}{
		{"none", "# T\n", spec.Active, ""},
		{"archived", "# T\n\n> **ARCHIVED** long ago\n> and more\n", spec.Archived, "ARCHIVED long ago"},
		{"status word", "# T\n\n> **STATUS: SUPERSEDED** by b.md\n", spec.Superseded, "STATUS: SUPERSEDED by b.md"},
		{"alert", "> [!WARNING]\n> Archived: see b.md\n\n# T\n", spec.Archived, "Archived: see b.md"},
		{"sentence", "> This page is archived.\n", spec.Archived, "This page is archived."},
		{"updated below", "# T\n\n## S\n\n> **Updated 2031-01-02**: new (ARCHIVED page elsewhere)\n", spec.Updated, "Updated 2031-01-02: new (ARCHIVED page elsewhere)"},
		{"section only", "# T\n\n## S\n\n> ARCHIVED section\n", spec.Active, ""},
		{"archive wins", "> Updated today\n\n> ARCHIVED\n", spec.Archived, "ARCHIVED"},
		{"in a fence", "```\n> ARCHIVED\n> Updated\n```\n", spec.Active, ""},
		{"mentioned", "> It replaces the ARCHIVED page.\n", spec.Active, ""},
	}
	for _, tt := range tests {
		p, _ := parse(tt.page)
		if p.Status.Kind != tt.want || p.Status.Text != tt.text {
			t.Errorf("%s: status %v %q, want %v %q", tt.name, p.Status.Kind, p.Status.Text, tt.want, tt.text)
		}
	}
}

func TestArchivedPageEmitsNothing(t *testing.T) {
	p, _ := parse("> ARCHIVED\n\n```hecate\ndims d\n```\n")
	if !p.Ours() || p.Emits() {
		t.Errorf("Ours() = %v, Emits() = %v, want true, false", p.Ours(), p.Emits())
	}
}

func TestRefs(t *testing.T) {
	page := "See a.md and specs/b/00_c.md#part, [x](../d.md), `e.md`.\n" +
		"Not https://x.org/f.md, *.md, g.mdx, {1,2}_h.md, .md but ./i.md; Spec 17, Spec 4x, aSpec 3.\n" +
		"```\n├── j.md  <- here\nh.md.bak k.md.\n```\n"
	p, _ := parse(page)
	var got []string
	for _, r := range p.Refs {
		got = append(got, fmt.Sprintf("%s %s %s %s", r.Kind, r.Target, r.Fragment, r.Span.Text()))
	}
	want := []string{
		"name a.md  a.md", "path specs/b/00_c.md part specs/b/00_c.md#part", "link ../d.md  ../d.md", "name e.md  e.md",
		"name _h.md  _h.md", "path ./i.md  ./i.md", "number 17  Spec 17", "name j.md  j.md", "name k.md  k.md",
	}
	want = append(want[:4], want[5:]...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refs (-want +got):\n%s", diff)
	}
}

// TestExplanations holds every code of this package to its own examples.
func TestExplanations(t *testing.T) {
	codes := []diag.Code{
		diag.InvalidUTF8, diag.UnclosedFence, diag.HeaderTwice, diag.UnknownField, diag.MissingField,
		diag.FieldTwice, diag.MissingHeader, diag.EmptyField, diag.BadPaperRow,
	}
	for _, code := range codes {
		e, ok := diag.Explain(code)
		if !ok || e.Summary == "" || !e.Page {
			t.Fatalf("%v has no explanation of a page", code)
		}
		if got := found(e.Wrong); len(got) == 0 || got[0] != code {
			t.Errorf("%v: the wrong example gives %v", code, got)
		}
		if got := found(e.Right); len(got) != 0 {
			t.Errorf("%v: the right example gives %v", code, got)
		}
	}
}

func found(page string) []diag.Code {
	_, ds := parse(page)
	_, more := markdown.Bibliography(source.NewFile("papers.md", page))
	ds.Append(more)
	var out []diag.Code
	for _, d := range ds.Sorted() {
		out = append(out, d.Code)
	}
	return out
}

func TestUnclosedFence(t *testing.T) {
	for page, want := range map[string]string{
		"```hecate\na\n":            "error 1:1 ```hecate",
		"x\n\n~~~ hecate\na\n```\n": "error 3:1 ~~~ hecate",
		"```\na\n":                  "warning 1:1 ```",
		"```text":                   "warning 1:1 ```text",
		"- x\n  ````hecate\n  a\n":  "error 2:3 ````hecate",
	} {
		_, ds := parse(page)
		got := ""
		for _, d := range ds.Sorted() {
			if d.Code == diag.UnclosedFence {
				got += fmt.Sprintf("%s %s %s", d.Severity, at(d.Span), d.Span.Text())
			}
		}
		if got != want {
			t.Errorf("Parse(%q): %q, want %q", page, got, want)
		}
	}
}

func TestInvalidUTF8(t *testing.T) {
	_, ds := parse("# T\n\nab\xffc\xfe\n")
	all := ds.Sorted()
	if len(all) != 1 || all[0].Span.Start != 7 || at(all[0].Span) != "3:3" {
		t.Errorf("diagnostics %v, want one at 3:3", ds.Error())
	}
}

// TestLongPages gives the parser 100,000 lines of each kind of thing. The
// limit is far above what it takes, and far below what a quadratic step would.
func TestLongPages(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	const lines, limit = 100_000, time.Minute
	kinds := map[string]string{
		"prose":      "The write follows Titans Eq 13 (see 00_interface.md) and -- x.\n",
		"paragraphs": "Some words.\n\n",
		"headings":   "## Heading `x`\n",
		"fences":     "```hecate\na = b\n```\n",
		"unclosed":   "```\nstruct A {\n",
		"list":       "- item Source: x\n",
		"quotes":     "> ARCHIVED\n\n",
		"one fence":  "M_t = ρ_t M_{t−1} − θ_t ∇_M ℓ(M_{t−1}; k_t, v_t)\n",
		"structs":    "struct A { a: int, b: Vec<(int, int)> }\n",
		"open":       "struct A {\n",
		"algorithms": "ALGORITHM: a(b,\n",
		"vjp":        "ADD: out = A + B\n  d_A = d_out\n",
		"bare":       "Purpose: x; y\n",
		"table":      "| Purpose | `a | b` |\n",
		"tags":       "  {a}; {b} {c}\n",
		"comments":   "  -- f(x)\n",
		"adjoint":    "  + more\n",
		"members":    "    more\n",
		"labels":     "Other: x\n",
	}
	heads := map[string]string{"one fence": "```hecate\n", "structs": "```\n", "open": "```\n", "algorithms": "```\n", "vjp": "```\n",
		"bare": "CONTRACT\n", "table": "## CONTRACT\n\n",
		"tags": "CONTRACT\nCost:\n", "comments": "```\nADD:\n  -- Forward: out = x\n", "adjoint": "```\nADD: out = A\n  d_A = d_out\n",
		"members": "```\nSTATE: A\n  M: x\n", "labels": "```hecate\n```\n\nCONTRACT\nCost: x\n"}
	for name, unit := range kinds {
		n := lines / strings.Count(unit, "\n")
		text := heads[name] + strings.Repeat(unit, n)
		start := time.Now()
		parse(text)
		took := time.Since(start)
		t.Logf("%-10s %8d bytes %v", name, len(text), took.Round(time.Millisecond))
		if took > limit {
			t.Errorf("%s: %v for %d lines", name, took, lines)
		}
	}
}

// TestLongLines does the same with lines of 200,000 bytes.
func TestLongLines(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	const bytes, limit = 200_000, time.Minute
	for _, unit := range []string{"Titans Eqs 1, 2, ", "alpha#1 ", "a.md/", "a.md-", "a.md ", "`", "Aa-", "eq-1-", "| `a` ", "{a}; ", "{", "<a", "§", "- "} {
		for _, head := range []string{"", "CONTRACT\nSource: ", "## CONTRACT\n| Cost |", "```\nfn a(", "```\nenum A {", "```\nADD: out = "} {
			start := time.Now()
			parse(head + strings.Repeat(unit, bytes/len(unit)) + "\n")
			if took := time.Since(start); took > limit {
				t.Errorf("%q and many %q: %v", head, unit, took)
			} else if took > time.Second {
				t.Logf("%q and many %q: %v", head, unit, took)
			}
		}
	}
}

// TestAlignedColons: names may be followed by blanks, so that the colons of a
// header are in one column, in every form that a header has.
func TestAlignedColons(t *testing.T) {
	line := func(format string) string {
		var b strings.Builder
		for _, n := range spec.StandardFields {
			fmt.Fprintf(&b, format+"\n", n, "of "+string(n))
		}
		return b.String()
	}
	for form, page := range map[spec.Form]string{
		spec.FencedText:     "```text\nCONTRACT\n" + line("  %-11s: %s") + "```\n",
		spec.Fenced:         "```\nCONTRACT\n" + line("  %-11s:  %s") + "```\n",
		spec.Table:          "## CONTRACT\n\n| Field | Value |\n|--|--|\n" + line("| %-11s : | %s |"),
		spec.TableBold:      "## CONTRACT\n\n| Field | Value |\n|--|--|\n" + line("| **%s** : | %s |"),
		spec.Bullets:        "## CONTRACT\n\n" + line("- **%s** : %s"),
		spec.BoldParagraphs: "## CONTRACT\n\n" + line("**%s :** %s\n"),
		spec.FrontMatter:    "---\nCONTRACT\n" + line("%-11s : %s") + "---\n",
		spec.Bare:           "CONTRACT\n" + line("%-11s\t: %s"),
		spec.HeadedFence:    "## CONTRACT\n\n```\n" + line("%-11s: %s") + "```\n",
		spec.HeadedPlain:    "## CONTRACT\n\n" + line("%-11s : %s"),
	} {
		p, ds := parse(page)
		if p.Header == nil || p.Header.Form != form {
			t.Errorf("%v: no such header in\n%s", form, page)
			continue
		}
		for _, n := range spec.StandardFields {
			f := p.Header.Field(n)
			if f == nil || f.Value != "of "+string(n) || f.NameSpan.Text() != string(n) {
				t.Errorf("%v: %s is %+v", form, n, f)
			}
		}
		if ds.Len() > 0 {
			t.Errorf("%v: %s", form, ds.Error())
		}
	}
}
