package spelling_test

import (
	"testing"

	"github.com/nl-hecate/hecate/internal/spelling"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ab", 1}, {"abc", "acb", 1},
		{"kitten", "sitting", 3}, {"ρ_t", "θ_t", 1}, {"ca", "abc", 3}, {"a", "", 1}, {"model", "modl", 1}, {"model", "mdoel", 1}, {"lane", "lanes", 1}, {"abc", "xyz", 3},
	} {
		if got := spelling.Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := spelling.Distance(c.b, c.a); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	list := []string{"retention", "structure", "x", "α"}
	for word, want := range map[string]string{"retnetion": "retention", "STRUCTURE": "structure", "y": "", "β": "", "law": "", "strcutre": "structure"} {
		if got := spelling.Nearest(word, list); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
