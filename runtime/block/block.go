// Package block says how a composition calls its parts.
//
// This is a sketch that the compiler's author will finish. A part, be it a
// memory rule, attention or a whole model, is a generated type that knows its
// rows of the parameter table, takes its context by move and runs one body
// with and without a tape:
//
//	type Block[F num.Float, S any] interface {
//		// Declare appends the part's parameters, under prefix, to the table.
//		Declare(prefix string, set *context.ParamSet[F]) error
//
//		// Forward reads x [lanes, T, d] and returns [lanes, T, d]. It records
//		// on run.Tape if there is one, moves the context on, and allocates
//		// from run.Arena only.
//		Forward(run *tape.Run[F], p context.View[F], x tape.Value[F],
//			ctx context.Handle[S], time pulse.Pulse) (tape.Value[F], context.Handle[S], error)
//	}
//
// The gradient has no method here: Forward pushed the nodes that compute it.
// Since compositions are generated, they can call their parts by concrete
// type, and the interface is for tests that range over all parts.
package block
