package block

import (
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// A Model maps token ids to a loss for every sequence and to what the loss was
// computed from.
type Model[F num.Float] interface {
	Name() string
	// Vocabulary is how many ids there are.
	Vocabulary() int
	Declare(s *context.ParamSet[F], prefix string) error
	NewMemory(batch int) *Memory[F]
	// Step runs the model over ids [batch, tokens] with the ids that follow
	// them. It returns the loss [batch] and the logits [batch, tokens,
	// vocabulary]. An id outside the vocabulary is a RangeError.
	Step(c Call[F], w Weights[F], m *Memory[F], ids, next []int32) (loss, logits tape.Value[F], err error)
}
