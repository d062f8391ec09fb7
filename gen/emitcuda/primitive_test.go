package emitcuda

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan/plantest"
)

// TestEveryPrimitiveIsPrinted prints a call of each scalar function; one that
// has no text panics.
func TestEveryPrimitiveIsPrinted(t *testing.T) {
	for _, op := range ir.Ops() {
		if !op.Called() {
			continue
		}
		if text := (&emitter{scope: clike.NewScope(reserved)}).newText(nil, 0).Expr(plantest.Call(op)); text == "" {
			t.Errorf("%v has no text", op)
		}
	}
}
