package gokernel

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/plan"
)

// TestSearchBounds holds the search that emitted Go calls to the method that
// the plan describes: both bound their rounds alike.
func TestSearchBounds(t *testing.T) {
	text, err := os.ReadFile("../../../runtime/num/search.go")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(string(text)), " ")
	for name, n := range map[string]int{"searchRounds": plan.RootRounds, "searchCheck": plan.RootCheck} {
		if want := fmt.Sprintf("%s = %d ", name, n); !strings.Contains(words, want) {
			t.Errorf("runtime/num lacks %q", want)
		}
	}
}
