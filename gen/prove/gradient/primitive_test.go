package gradient

import (
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
)

// TestPrimitives compares the derivative of every primitive with finite differences.
func TestPrimitives(t *testing.T) {
	for _, op := range ir.Ops() {
		if wrong := Primitive(op); wrong != "" {
			t.Error(wrong)
		}
	}
}

// TestHasDerivativeIsTotal compares the list of primitives without a derivative with the
// adjoints that autodiff makes.
func TestHasDerivativeIsTotal(t *testing.T) {
	for _, op := range ir.Ops() {
		f := irtest.Primitive(op)
		if f == nil {
			continue
		}
		missing := autodiff.NewPair(f).Missing
		some := slices.ContainsFunc(f.Params, func(v *ir.Value) bool {
			return v.Elem == ir.Real && !slices.Contains(missing, v.Name)
		})
		if some != HasDerivative(op) {
			t.Errorf("%v: an argument has an adjoint: %v, but HasDerivative says %v", op, some, !some)
		}
	}
}

// TestKinksAreTotal fails on a primitive with a kink whose branch finite differences
// would not see.
func TestKinksAreTotal(t *testing.T) {
	ofTruths := []ir.Op{ir.And, ir.Or, ir.Not, ir.ToReal} // of truth values and integers
	for _, op := range ir.Ops() {
		f := irtest.Primitive(op)
		if f == nil {
			continue
		}
		kink := !op.Info().Smooth && !slices.Contains(ofTruths, op)
		if sees := len(withComparisons(f).Results) > 0; sees != kink {
			t.Errorf("%v: has a kink: %v, and its branch is exposed: %v", op, kink, sees)
		}
	}
}
