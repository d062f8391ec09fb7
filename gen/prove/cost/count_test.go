package cost

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
)

// TestEveryPrimitiveHasACost fails on a hole of the table: a primitive without a row
// would cost nothing.
func TestEveryPrimitiveHasACost(t *testing.T) {
	for _, op := range ir.Ops() {
		if chargeOf(op) == nil {
			t.Errorf("%v has no cost", op)
		} else if f := irtest.Primitive(op); f != nil {
			t.Logf("%v: %v", op, Of(f))
		}
	}
}

// TestCounts holds the counts of some primitives to what they are by hand.
func TestCounts(t *testing.T) {
	for op, want := range map[ir.Op]string{
		ir.Prod:     "2·a·b",
		ir.Lin:      "2·a·b",
		ir.Softmax:  "2·a·b, exp·(a·b)",
		ir.TriSolve: "1/2·a·a·b - 1/2·a·b",
		ir.Div:      "0, div·(a·b)",
		ir.SolveOp:  "2·a·b + 2·a, solve·(a), tanh·(a·b)",
		ir.Stack:    "0",
	} {
		if got := Of(irtest.Primitive(op)).String(); got != want {
			t.Errorf("%v costs %s, want %s", op, got, want)
		}
	}
}
