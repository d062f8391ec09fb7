// Package conformance is the conformance tests of generated code. The generated
// tests are thin tables that call it; comparisons and tolerances are defined
// only here.
//
// The three classes of gradient tests:
//
//   - Class 1, isolation: a block on the tape gives bit for bit what a direct
//     call of its kernels gives, and its gradient reaches what it read and
//     nothing else.
//   - Class 2, analytic: in float64 every gradient of every input, parameter,
//     gate bias, embedding and state agrees with finite differences
//     (package gradcheck). States have no adjoint on the tape, because the
//     gradient ends at the edge of a chunk; there the kernels are called.
//   - Class 3, integration: outputs, memory and gradients equal the vectors
//     that the compiler's interpreter wrote, an evaluation of the whole program
//     that shares neither loops nor buffers with the emitted kernels.
//
// Further properties need no second implementation: the same
// bits with and without a tape, for sequences together or alone, for one call or
// many, for every distance of checkpoints, at every level of the CPU and on any
// number of cores; kernels that keep to their buffers; float32 near float64; no look into
// the future; a frozen read that writes nothing; errors instead of panics; no
// parameter without a gradient; and no allocation once every shape was seen.
//
// Numbers that a test draws come from streams of their names, so that a failure
// repeats.
//
//hecate:conductor
package conformance

// The tolerances of this package. Where none is named the comparison is of bits.
const (
	// vectorTol is relative to the largest entry: two orders of the same sums
	// in float64, hundreds of terms long, and two implementations of exp.
	vectorTol = 1e-11
	// sumTol is for sums over sequences in another order.
	sumTol = 1e-12
	// singleTol and singleGradTol are the distance ‖a − b‖/‖b‖ that float32
	// keeps from float64 over a few tokens, forward and backward.
	singleTol     = 2e-5
	singleGradTol = 2e-4
	// floor and singleFloor are the sizes below which a tensor is compared
	// absolutely: after a unit key of one entry a gradient is zero but for
	// rounding. Where a gradient of the call has an entry above 1, floor is by
	// the largest.
	floor       = 1e-3
	singleFloor = 0.1
)
