package lower

import (
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
)

// TestEveryPrimitiveIsLowered: a primitive is a call of scalars, has loops of
// its own, or is one of those that leaf.expr writes itself.
func TestEveryPrimitiveIsLowered(t *testing.T) {
	inline := []ir.Op{ir.Prod, ir.Lin, ir.Const, ir.SizeOf, ir.Iota, ir.Stop, ir.Override}
	for _, op := range ir.Ops() {
		ways := 0
		for _, way := range []bool{op.Called(), specials[op] != nil, slices.Contains(inline, op)} {
			if way {
				ways++
			}
		}
		if ways != 1 {
			t.Errorf("%v is lowered in %d ways", op, ways)
		}
	}
}
