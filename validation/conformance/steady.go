package conformance

import (
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// In a steady state, where every shape has been seen, nothing allocates: not a
// step with a tape, its backward and the memory that it leaves, not one without
// a tape. The count is exact: all allocations of several steps in a row are
// wanted to be none.

const (
	warmSteps   = 3 // grow the arena, join its blocks, run once in them
	steadySteps = 8
	// steadyTries lets the runtime allocate for itself now and then: a step that
	// allocates does so in every try.
	steadyTries = 4
)

// steady wants f to allocate nothing once it has run a few times.
func steady(t testing.TB, what string, f func()) {
	t.Helper()
	for range warmSteps {
		f()
	}
	var n float64
	for range steadyTries {
		n = testing.AllocsPerRun(1, func() {
			for range steadySteps {
				f()
			}
		})
		if n == 0 {
			return
		}
	}
	t.Errorf("%s: %v allocations in %d steps of a steady state, want none", what, n, steadySteps)
}

// A quietCall runs a call again and again: nothing is copied out of the arena
// and no name put together.
type quietCall[F num.Float] struct {
	a     *Args[F]
	arena tape.Arena[F]
	call  func(r *tape.Run[F]) error
	mem   *block.Memory[F] // or nil
	from  *block.Memory[F] // what it is before each call: where it would go is another matter
	given []tape.Value[F]
	ones  []F
	err   error
}

// steady checks the call with a tape and without.
func (q *quietCall[F]) steady(t testing.TB, what string) {
	t.Helper()
	q.a.quiet = &q.given
	defer func() { q.a.quiet = nil }()
	taped := func(r *tape.Run[F]) error {
		q.given = q.given[:0]
		if err := q.call(r); err != nil {
			return err
		}
		for _, v := range q.given {
			for len(q.ones) < len(v.Data) {
				q.ones = append(q.ones, 1)
			}
			if v.Recorded() {
				r.Tape.Seed(v, q.ones[:len(v.Data)])
			}
		}
		r.Tape.Reverse()
		return nil
	}
	untaped := func(r *tape.Run[F]) error {
		q.given = q.given[:0]
		return q.call(r)
	}
	steady(t, what+" with a tape", func() { q.keep(tape.With(&q.arena, first(), taped)) })
	steady(t, what+" without a tape", func() { q.keep(tape.Without(&q.arena, first(), untaped)) })
	if q.err != nil {
		t.Errorf("%s: %v", what, q.err)
	}
}

func (q *quietCall[F]) keep(err error) {
	switch {
	case err != nil:
		q.err = err
	case q.mem != nil:
		q.mem.Keep()
		restore(q.mem, q.from)
	}
}

// steadyUnit checks the calls of a block or model of every size.
func steadyUnit[F num.Float](t *testing.T, u unit, make func(testing.TB, Sizes) subject[F]) {
	for i := range u.sizes {
		z := longest(u.sizes[i:i+1], u.tokens[i:i+1])
		s := newSetup(make(t, z), newArgs[F](t, z, 1))
		call := s.a.Call
		q := &quietCall[F]{a: s.a, mem: s.mem, from: s.mem.Clone(), call: func(r *tape.Run[F]) error {
			return s.call(call(r), block.Bind(r, s.set.View()), s.mem, s.a)
		}}
		q.steady(t, label(z))
	}
}

// steadyOp checks the calls of an operation.
func steadyOp[F num.Float](t *testing.T, c *vectorCase, op func(*tape.Run[F], *Args[F]) error) {
	a := args[F](t, c)
	q := &quietCall[F]{a: a, call: func(r *tape.Run[F]) error { return op(r, a) }}
	q.steady(t, c.name)
}

// steadyUpdate checks the steps of an update.
func steadyUpdate[F num.Float](t *testing.T, c *vectorCase, f func(*tape.Run[F], *Args[F])) {
	a := args[F](t, c)
	step(f, a) // what it moves has its copies
	a.quiet = new([]tape.Value[F])
	var arena tape.Arena[F]
	body := func(r *tape.Run[F]) error {
		f(r, a)
		return nil
	}
	steady(t, c.name, func() { a.Must(tape.Without(&arena, first(), body)) })
}
