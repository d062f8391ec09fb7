package expr

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// TestFunctionsAreWords: the notation knows the name of every primitive that
// pages call.
func TestFunctionsAreWords(t *testing.T) {
	for name := range ir.PageFunctions() {
		if !notation.Builtins[name] {
			t.Errorf("%s is a function of the IR and no word of the notation", name)
		}
	}
}
