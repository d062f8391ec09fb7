package parser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
)

// fences finds the hecate blocks of a page and takes off their indentation,
// as package markdown does.
func fences(f *source.File) []Input {
	var blocks []Input
	var text strings.Builder
	var at []int
	in, indent := false, 0
	for n := 1; n <= f.Lines(); n++ {
		line, start := f.Line(n), f.LineStart(n)
		switch trimmed := strings.TrimSpace(line); {
		case !in && trimmed == "```hecate":
			in, indent = true, strings.Index(line, "`")
			text.Reset()
			at = nil
		case in && trimmed == "```":
			in = false
			offsets := at
			blocks = append(blocks, Input{Text: text.String(), File: f, Offset: func(i int) int {
				return offsets[min(i, len(offsets)-1)]
			}})
		case in:
			cut := min(indent, len(line))
			text.WriteString(line[cut:] + "\n")
			for i := cut; i <= len(line); i++ {
				at = append(at, start+i)
			}
		}
	}
	return blocks
}

// TestMessages compares the messages about bad pages with the goldens beside
// them. UPDATE=1 rewrites the goldens and fails.
func TestMessages(t *testing.T) {
	pages, err := filepath.Glob("testdata/messages/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		f := source.NewFile(filepath.Base(page), string(b))
		_, ds := Parse(f, fences(f))
		got := diag.Render(ds.Sorted())
		golden := strings.TrimSuffix(page, ".md") + ".txt"
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s: rewritten", golden)
		}
		want, err := os.ReadFile(golden)
		if err != nil || got != string(want) {
			t.Errorf("%s (%v):\n%s", golden, err, diff(string(want), got))
		}
	}
}

// TestSpans holds the span of the first message to the very words.
func TestSpans(t *testing.T) {
	for _, c := range []struct{ line, span, code string }{
		{"y_t = a · b ⊙ c", "⊙", "HEC2012"},
		{"y_t = (a + b", "(", "HEC2008"},
		{"y_t = θ / b c", "b c", "HEC2013"},
		{"y_t = a + ρ̄ θ_{t−1})", ")", "HEC2009"},
		{"y_t = x̂", "\u0302", "HEC2003"},
		{"y_t = f(θ, 2)", "f", "HEC2015"},
		{"option a = 1, gate = 2", "gate", "HEC2016"},
		{"y_tₜ₋₁ = 2 $", "$", "HEC2001"},
		{"y_t = aₜ₋₁ ∇ℓ", "∇", "HEC2023"},
		{"y_t = 2.5.1", "2.5.", "HEC2005"},
		{"y_t = |a|  |b|", "|", "HEC2014"},
		{"nograd x \"no end", "\"", "HEC2006"},
		{"y_t = 1 @eq foo // c", "@eq foo", "HEC2007"},
		{"y_t = ", "", "HEC2010"},
	} {
		text := "> ∇θ prose\n"
		text += "> rule X\n> " + c.line + "\n"
		f := source.NewFile("page.md", text)
		block := Input{File: f}
		var at []int
		for n := 2; n <= 3; n++ {
			line := f.Line(n)[2:]
			block.Text += line + "\n"
			for i := 0; i <= len(line); i++ {
				at = append(at, f.LineStart(n)+2+i)
			}
		}
		block.Offset = func(i int) int { return at[min(i, len(at)-1)] }
		_, ds := Parse(f, []Input{block})
		all := ds.Sorted()
		if len(all) != 1 {
			t.Errorf("%q: %d messages: %s", c.line, len(all), ds.Error())
			continue
		}
		if got := all[0].Span.Text(); got != c.span || all[0].Code.String() != c.code {
			t.Errorf("%q: %v at %q, want %s at %q", c.line, all[0].Code, got, c.code, c.span)
		}
	}
}

func TestLimits(t *testing.T) {
	deep := strings.Repeat("(", 1000) + "x" + strings.Repeat(")", 1000)
	for _, c := range []struct {
		name, text string
		code       diag.Code
	}{
		{"parentheses", "rule X\ny = " + deep, diag.TooDeep},
		{"open parentheses", "rule X\ny = " + strings.Repeat("(", 100000), diag.TooLong},
		{"brackets", "rule X\ny = x" + strings.Repeat("[x", 1000), diag.TooDeep},
		{"exponents", "rule X\ny = x" + strings.Repeat("^{x", 1000), diag.TooDeep},
		{"times", "rule X\ny = x" + strings.Repeat("_{x", 1000), diag.TooDeep},
		{"minus", "rule X\ny = " + strings.Repeat("−", 1000) + "x", diag.TooDeep},
		{"cases", "rule X\ny = " + strings.Repeat("case x { = 1 : ", 1000), diag.TooDeep},
		{"sums", "rule X\ny = " + strings.Repeat("Σ_{i∈n} ", 1000), diag.TooDeep},
		{"parts", "model X = " + strings.Repeat("A(", 1000), diag.TooDeep},
		{"chain", "rule X\ny = x" + strings.Repeat(" + x", 100000), diag.TooLong},
	} {
		if _, ds := parseText(c.text + "\n"); ds.Len() != 1 || !has(ds, c.code) {
			t.Errorf("%s: %d messages, want one %v: %.300s", c.name, ds.Len(), c.code, ds.Error())
		}
		if out, ds := Format(c.text, notation.ASCII); out != c.text || !ds.HasErrors() {
			t.Errorf("%s: Format takes it", c.name)
		}
	}
	page := "rule X\n" + strings.Repeat("M_t = ρ_t M_{t−1} − θ_t ‖x‖ (1/2)\n", 100000)
	if _, ds := parseText(page); ds.Len() != 0 {
		t.Errorf("a long page: %.300s", ds.Error())
	}
}
