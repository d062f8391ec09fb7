package emitcuda

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan/plantest"
	"github.com/nl-hecate/hecate/gen/shape"
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

func TestNonNegative(t *testing.T) {
	n, m, one := shape.Sym("n"), shape.Sym("m"), shape.Int(1)
	for _, c := range []struct {
		p    shape.Poly
		want bool
	}{{shape.Poly{}, true}, {n.Sub(one), true}, {n.Sub(shape.Int(2)), false}, {n.Mul(m).Sub(m), true}, {n.Sub(m), false}} {
		if got := nonNegative(c.p); got != c.want {
			t.Errorf("nonNegative(%s) = %v", c.p, got)
		}
	}
}

func TestIdentifier(t *testing.T) {
	for name, want := range map[string]string{"M.bar": "M_bar", "%.3.2": "t3_2", "%": "t", "d_k": "d_k", "λ": "lambda", "2x": "t2x"} {
		if got := clike.Underscored(name); got != want {
			t.Errorf("clike.Underscored(%q) = %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"StepBackward": "step_backward", "SiLU": "si_lu", "L2Norm": "l2_norm"} {
		if got := fileName(name); got != want {
			t.Errorf("fileName(%q) = %q, want %q", name, got, want)
		}
	}
}
