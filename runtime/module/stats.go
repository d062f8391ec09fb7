package module

import (
	"math"

	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/update"
)

// Moves returns what moves the parameters, to read its clocks and slots; nil for
// a module that moves none.
func (m *Module[F]) Moves() *update.Machine[F] { return m.optimizer }

// Norms appends to dst the norm of the gradient of every parameter, in the order
// of the table: after Process of a build as it was computed, after Update as it
// was clipped. A parameter that has had none yet has 0.
func (m *Module[F]) Norms(dst []float64) []float64 {
	for i := range m.params.View().Len() {
		sum := 0.0
		switch {
		case len(m.grads) == 0:
		case m.memory != nil:
			sum = m.squares[i]
		default:
			sum = device.Squares(m.grads[0][i : i+1])
		}
		dst = append(dst, math.Sqrt(sum))
	}
	return dst
}

// Bytes returns the memory that the workers hold for the work on a chunk.
func (m *Module[F]) Bytes() (n int) {
	for _, a := range m.arenas {
		n += a.Bytes()
	}
	return n
}
