package notation_test

import (
	"fmt"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
)

// TestEveryBlockKeepsItsMeaning formats every block of every page, and every
// example of the manual, in both spellings. What comes out must parse to the
// tree that went in, and does not change when it is formatted again.
func TestEveryBlockKeepsItsMeaning(t *testing.T) {
	s, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	var blocks []parser.Input
	for _, p := range s.Pages {
		for _, b := range p.Blocks {
			if b.IsHecate {
				blocks = append(blocks, parser.Input{Text: b.Text})
			}
		}
	}
	known := parser.Known(blocks)
	for _, p := range s.Pages {
		for _, b := range p.Blocks {
			sketch := b.Lang == "hecate-sketch" // of the manual: parsed, and not compiled
			if b.IsHecate || sketch {
				keepsItsMeaning(t, fmt.Sprint(p.File.Path, ", offset ", b.Span.Start), b.Text, known)
			}
		}
	}
}

// TestRangesOfParametersKeepTheirMeaning: after a declared name a half-open
// range is a bound, `a ≥ 0`, and after a parameter it has to stay a range.
func TestRangesOfParametersKeepTheirMeaning(t *testing.T) {
	for _, text := range []string{
		"f(a ∈ [0,∞)) = a\n",
		"f(a ∈ (−∞,1], b, c ∈ (0,∞)^{n}) = a\n",
		"op F(x ∈ ℝ^{n}; a ∈ [0,∞), b ∈ (1,∞), c ∈ (0,1), d ∈ (−∞, n)) → out = a x\n",
		"rule R\noption a ≥ 0 = 1\ngate b < 1 = 0\nf(x ∈ ℝ; a ∈ (0,∞)) = a x\n",
	} {
		if got := keepsItsMeaning(t, text, text, nil); got != text {
			t.Errorf("formatted, it is %q, want %q", got, text)
		}
	}
}

// keepsItsMeaning returns the canonical spelling of a block.
func keepsItsMeaning(t *testing.T, name, text string, known map[string]bool) string {
	t.Helper()
	was, ds := parser.Parse(nil, []parser.Input{{Text: text, Known: known}})
	if ds.HasErrors() {
		t.Errorf("%s: %s", name, ds.Error())
		return ""
	}
	unicode := ""
	for _, style := range []notation.Style{notation.ASCII, notation.Unicode} {
		out, ds := parser.FormatInput(parser.Input{Text: text, Known: known}, style)
		if ds.HasErrors() {
			t.Errorf("%s: %s", name, ds.Error())
			continue
		}
		is, ds := parser.Parse(nil, []parser.Input{{Text: out, Known: known}})
		if ds.HasErrors() || !notation.Equal(was, is) {
			t.Errorf("%s: formatted, it means something else (%s):\n%s", name, ds.Error(), out)
		}
		if again, _ := parser.FormatInput(parser.Input{Text: out, Known: known}, style); again != out {
			t.Errorf("%s: formatted twice, it differs:\n%s\n%s", name, out, again)
		}
		unicode = out
	}
	return unicode
}
