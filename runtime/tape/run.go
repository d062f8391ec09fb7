package tape

import (
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
)

// A Run is what one chunk's work is given: memory, the tape or nil, and the
// time. It is made by With and Without and is dead when they return.
type Run[F num.Float] struct {
	Arena *Arena[F]
	Tape  *Tape[F] // nil: nothing is recorded
	Pulse pulse.Pulse
}

// With runs f with a tape. It is the only way to get one: the tape is closed
// when f returns or panics, and a value that outlives it fails loudly when it
// is used again. With panics with Nested if the arena is in use.
//
// The error is f's, or a *LimitError.
func With[F num.Float](a *Arena[F], p pulse.Pulse, f func(*Run[F]) error) error {
	return scope(a, p, f, true)
}

// Without runs f without a tape, on the same memory: the same bodies run and
// give the same bits, and nothing is recorded.
func Without[F num.Float](a *Arena[F], p pulse.Pulse, f func(*Run[F]) error) error {
	return scope(a, p, f, false)
}

func scope[F num.Float](a *Arena[F], p pulse.Pulse, f func(*Run[F]) error, record bool) (err error) {
	if a.open {
		panic(Nested)
	}
	a.open = true
	a.reset()
	a.run = Run[F]{Arena: a, Pulse: p}
	if record {
		a.tape.start(a)
		a.run.Tape = &a.tape
	}
	defer func() {
		a.open, a.tape.open, a.run.Tape = false, false, nil
		if a.Limit > 0 {
			err = limited(recover(), err)
		}
	}()
	return f(&a.run)
}

// limited turns the panic of an arena at its limit into an error and lets
// every other panic go on.
func limited(r any, err error) error {
	switch r := r.(type) {
	case nil:
		return err
	case *LimitError:
		return r
	default:
		panic(r)
	}
}

// start opens the tape for a new scope. The generation comes from the tape's
// address and a count, so that values of two tapes differ without any state
// outside them.
func (t *Tape[F]) start(a *Arena[F]) {
	if t.gen == 0 {
		t.gen = uint32(uint64(uintptr(unsafe.Pointer(t))>>4) * 0x9E3779B97F4A7C15 >> 32)
	}
	t.gen = max(t.gen+1, 1) // 0 marks what no tape recorded
	t.arena, t.open, t.reversed = a, true, false
	t.nodes = t.nodes[:0]
	t.adjoints = append(t.adjoints[:0], nil) // id 0 is no value
	t.sealed = t.sealed[:0]
	t.params = t.params[:0]
	for _, s := range t.slabs {
		if s != nil {
			s.reset()
		}
	}
}
