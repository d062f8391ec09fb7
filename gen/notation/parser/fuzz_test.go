package parser

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/notation"
)

// corpus returns the pages under testdata.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/pages/*.hecate")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	pages := map[string]string{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.Base(p)] = string(b)
	}
	return pages
}

// seeds adds every line of the pages as a unit of its own: short inputs are
// mutated and minimised in no time.
func seeds(f *testing.F) {
	pages := corpus(f)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		for unit := range strings.SplitSeq(pages[name], "\n\n") {
			f.Add(unit)
			for line := range strings.SplitSeq(unit, "\n") {
				f.Add("rule X\n" + line + "\n")
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		file, ds := parseText(text)
		for _, d := range ds.Sorted() {
			if d.Span.Start < 0 || d.Span.End > len(text) || d.Span.End < d.Span.Start {
				t.Fatalf("span %d..%d outside the text: %s", d.Span.Start, d.Span.End, d.Text)
			}
		}
		if ds.HasErrors() {
			return
		}
		notation.Inspect(file, func(any) bool { return true })
		for _, style := range []notation.Style{notation.Unicode, notation.ASCII} {
			printed := notation.Print(file, style)
			again, ds := parseText(printed)
			if ds.HasErrors() {
				t.Fatalf("printed form does not parse: %s\nfrom %q\nto   %q", ds.Error(), text, printed)
			}
			if !notation.Equal(file, again) {
				t.Fatalf("printed form is another tree\nfrom %q\nto   %q\nthen %q", text, printed, notation.Print(again, style))
			}
		}
	})
}

func FuzzFormat(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		uni, ds := Format(text, notation.Unicode)
		if ds.HasErrors() {
			if uni != text {
				t.Fatal("a block with errors was changed")
			}
			return
		}
		again, ds := Format(uni, notation.Unicode)
		if ds.HasErrors() || again != uni {
			t.Fatalf("not idempotent: %s\nfrom %q\nto   %q\nthen %q", ds.Error(), text, uni, again)
		}
		ascii, ds := Format(uni, notation.ASCII)
		if ds.HasErrors() {
			t.Fatalf("ASCII: %s", ds.Error())
		}
		if twice, ds := Format(ascii, notation.ASCII); ds.HasErrors() || twice != ascii {
			t.Fatalf("ASCII not idempotent: %s\nfrom %q\nto   %q\nthen %q", ds.Error(), text, ascii, twice)
		}
		back, ds := Format(ascii, notation.Unicode)
		if ds.HasErrors() || back != uni {
			t.Fatalf("not back: %s\nfrom  %q\nuni   %q\nascii %q\nback  %q", ds.Error(), text, uni, ascii, back)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text := "rule X\n" + strings.Repeat("M_t = ρ_t M_{t−1} − θ_t ∇_M ℓ(M_{t−1}; k_t, v_t)\n", 10000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		parseText(text)
	}
}
