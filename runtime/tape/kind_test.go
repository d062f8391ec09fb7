package tape_test

import (
	"testing"

	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// A strayNode is a node of code that was generated alone.
type strayNode[F num.Float] struct{ n int }

func (s *strayNode[F]) Backward(*tape.Tape[F]) {}

type strangerNode[F num.Float] struct{ n int }

func (s *strangerNode[F]) Backward(*tape.Tape[F]) {}

// TestNewKind gives types of code that knows nothing of other code kinds that
// nothing else has.
func TestNewKind(t *testing.T) {
	a, b := tape.NewKind(), tape.NewKind()
	if a == b || a <= kindMul || b <= kindMul {
		t.Fatalf("kinds %d and %d", a, b)
	}
	var arena tape.Arena[float64]
	err := tape.With(&arena, first, func(r *tape.Run[float64]) error {
		tape.Push[float64, strayNode[float64]](r, a).n = 1
		tape.Push[float64, strangerNode[float64]](r, b).n = 2
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
