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

// TestPages holds the pages under testdata to their canonical spelling, and
// their ASCII form to the golden beside them. UPDATE=1 rewrites the goldens
// and fails.
func TestPages(t *testing.T) {
	pages := corpus(t)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		text := pages[name]
		uni, ds := Format(text, notation.Unicode)
		if ds.HasErrors() {
			t.Errorf("%s: %s", name, ds.Error())
			continue
		}
		if uni != text {
			t.Errorf("%s is not canonical:\n%s", name, diff(text, uni))
		}
		ascii, _ := Format(text, notation.ASCII)
		golden := filepath.Join("testdata/pages", strings.TrimSuffix(name, ".hecate")+".ascii")
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(golden, []byte(ascii), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s: rewritten", golden)
		}
		want, err := os.ReadFile(golden)
		if err != nil || ascii != string(want) {
			t.Errorf("%s: ASCII form differs (%v):\n%s", name, err, diff(string(want), ascii))
		}
		if back, ds := Format(ascii, notation.Unicode); back != uni {
			t.Errorf("%s does not come back: %s\n%s", name, ds.Error(), diff(uni, back))
		}
		a, _ := parseText(text)
		b, _ := parseText(ascii)
		if !notation.Equal(a, b) {
			t.Errorf("%s: the two spellings are different trees", name)
		}
		c, ds := parseText(notation.Print(a, notation.Unicode))
		if !notation.Equal(a, c) {
			t.Errorf("%s: Parse(Print(x)) is not x: %s", name, ds.Error())
		}
	}
}

// diff returns the lines that differ.
func diff(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	var out strings.Builder
	for i := range max(len(x), len(y)) {
		l, r := "", ""
		if i < len(x) {
			l = x[i]
		}
		if i < len(y) {
			r = y[i]
		}
		if l != r {
			out.WriteString("- " + l + "\n+ " + r + "\n")
		}
	}
	return out.String()
}
