package gradient_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/prove/gradient"
)

// TestPrimitives holds the derivative of every primitive to differences.
func TestPrimitives(t *testing.T) {
	for _, op := range ir.Ops() {
		if wrong := gradient.Primitive(op); wrong != "" {
			t.Error(wrong)
		}
	}
}
