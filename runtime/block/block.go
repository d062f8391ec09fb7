// Package block says how a composition calls its parts.
//
// A block is a generated type: a memory rule, attention, or a composition of
// blocks. It knows its learned parameters, which it declares in a table, and
// its context memory, which it makes and moves on; its one body runs with and
// without a tape. A composition calls its parts through Block alone, so any
// rule can be used in any composition.
package block

import (
	"fmt"

	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// A Call is what every block receives beside its input: where to compute, when
// it is, and how much.
//
//hecate:noescape
type Call[F num.Float] struct {
	Run    *tape.Run[F]
	Pulse  pulse.Pulse
	Batch  int // size of the batch
	Tokens int // tokens of each
	// Across lets the gradient cross the edges of the call: the states and windows that
	// it begins with and those that it leaves are values of its tape.
	Across bool
}

// Check refuses a call of a negative batch or number of tokens, and one whose memory
// is of another batch: a SizeError. A nil memory is not compared. Values that an
// earlier call left in the memory and nobody kept are dropped.
func (c Call[F]) Check(name string, m *Memory[F]) error {
	if c.Batch < 0 {
		return &SizeError{Block: name, Size: "batch", Got: c.Batch, Want: "at least 0"}
	}
	if c.Tokens < 0 {
		return &SizeError{Block: name, Size: "tokens", Got: c.Tokens, Want: "at least 0"}
	}
	if m != nil && m.Batch != c.Batch {
		return &SizeError{Block: name, Size: "batch", Got: c.Batch, Want: fmt.Sprintf("%d, as its memory has", m.Batch)}
	}
	if m != nil {
		m.forget(c.Run.Arena)
		if p := c.Run.Arena.Profile; p != nil {
			p.Enter(m.unit)
		}
	}
	return nil
}

// A Block maps x [batch, tokens, width] to a value of the same shape.
type Block[F num.Float] interface {
	// Name is the name of the page the block came from.
	Name() string
	// Width is the size of one token's vector.
	Width() int
	// Declare adds the block's parameters to the table, their names under the
	// prefix. It fails when a name is taken.
	Declare(s *context.ParamSet[F], prefix string) error
	// NewMemory makes the context memory of a new context for every sequence.
	NewMemory(batch int) *Memory[F]
	// Step runs the block over the call's tokens: it reads and writes the
	// memory. What it leaves is kept by Memory.Keep, after any backward.
	Step(c Call[F], w Weights[F], m *Memory[F], x tape.Value[F]) (tape.Value[F], error)
	// Read runs the block with the memory rules frozen: they read their
	// memory and do not write it.
	Read(c Call[F], w Weights[F], m *Memory[F], x tape.Value[F]) (tape.Value[F], error)
}

// A SizeError says that a size of a block cannot be.
type SizeError struct {
	Block, Size string
	Got         int
	Want        string
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s: size %s is %d, must be %s", e.Block, e.Size, e.Got, e.Want)
}

// A RangeError says that an index of the input is outside its table.
type RangeError struct {
	Input    string
	At       int
	Got      int
	Lo, High int
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("%s[%d] is %d, outside %d … %d", e.Input, e.At, e.Got, e.Lo, e.High)
}

// CheckIndices reports the first index outside lo … hi that is not extra.
func CheckIndices[I int | int32](input string, ids []I, lo, hi int, extra ...I) error {
next:
	for i, x := range ids {
		if int(x) >= lo && int(x) <= hi {
			continue
		}
		for _, e := range extra {
			if x == e {
				continue next
			}
		}
		return &RangeError{input, i, int(x), lo, hi}
	}
	return nil
}

// A NoRootError says that root finding failed for an equation that defines an
// unknown: with the inputs of this call the difference of its two sides does not
// change sign in the range that the page declares. The call has changed nothing.
type NoRootError struct{ Equation string }

func (e *NoRootError) Error() string {
	return fmt.Sprintf("%s: its equation has no root in the range that its page declares", e.Equation)
}

// A LengthError says that a value does not have the length its shape needs.
type LengthError struct {
	Block, Value string
	Got, Want    int
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("%s: %s has %d entries, its shape needs %d", e.Block, e.Value, e.Got, e.Want)
}
