package tape

import (
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
)

// A Run is what one chunk's work is given: memory, the tape or nil, and the
// time. It is made by With and Without and is dead when they return.
//
//hecate:run
//hecate:noescape
//hecate:nozero
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
// compute the same bits, and nothing is recorded.
func Without[F num.Float](a *Arena[F], p pulse.Pulse, f func(*Run[F]) error) error {
	return scope(a, p, f, false)
}

func scope[F num.Float](a *Arena[F], p pulse.Pulse, f func(*Run[F]) error, record bool) (err error) {
	if !a.busy.CompareAndSwap(false, true) {
		panic(Nested)
	}
	a.start()
	a.run = Run[F]{Arena: a, Pulse: p}
	if record {
		a.tape.start(a)
		a.run.Tape = &a.tape
	}
	defer func() {
		a.stop()
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

// Output returns data, which the caller just computed into the arena, as a
// value that later operations can use; a tape records it.
func (r *Run[F]) Output(data []F) Value[F] {
	t := r.Tape
	if t == nil {
		if !r.Arena.budget.open {
			panic(Closed)
		}
		return r.Arena.Value(data)
	}
	if !t.recording {
		t.refuse()
	}
	id := len(t.adjoints)
	t.adjoints, t.into = append(t.adjoints, nil), append(t.into, nil)
	if t.debug {
		t.seal(data)
	}
	if t.trace {
		t.traced = append(t.traced, traced[F]{data, len(t.nodes) - 1})
	}
	return Value[F]{data, int32(id), t.gen}
}

// Saved returns n elements that a backward is to read, contents unspecified.
// Without a tape nobody will: then they are scratch.
func (r *Run[F]) Saved(n int) []F {
	if r.Tape == nil {
		return r.Arena.Scratch(n)
	}
	return r.Arena.Alloc(n)
}

// Input records a leaf that is not a parameter: data carried into the chunk. A
// tape takes a snapshot, so the caller may overwrite data afterwards; without
// one the value is the caller's own memory.
func (r *Run[F]) Input(data []F) Value[F] {
	if r.Tape == nil {
		return Const(data)
	}
	snapshot := r.Arena.Alloc(len(data))
	device.Copy(snapshot, data)
	return r.leaf(snapshot)
}

// leaf records data that no node computed.
func (r *Run[F]) leaf(data []F) Value[F] {
	v := r.Output(data)
	if t := r.Tape; t.trace {
		t.traced[v.id-1].node = -1
	}
	return v
}

// Param records a parameter as a leaf under its name, as Input does: an update
// during the scope changes neither the forward nor the gradient. Param panics
// with DuplicateParam if the name is taken; tied uses share the Value.
func (r *Run[F]) Param(name string, data []F) Value[F] { return r.param(name, r.Input(data)) }

// Reads says that the scope reads the data of a table in place, with Frozen. A backward
// after the table has changed panics with Updated.
func (r *Run[F]) Reads(v Versioned) {
	if r.Tape != nil {
		r.Tape.tables = append(r.Tape.tables, table{v, v.Version()})
	}
}

// Frozen is Param of data that nobody changes during the scope: it takes no snapshot.
// Under Arena.Debug a change panics with Overwritten.
func (r *Run[F]) Frozen(name string, data []F) Value[F] {
	if r.Tape == nil {
		return Const(data)
	}
	return r.param(name, r.leaf(data))
}

// param registers a leaf under a name.
func (r *Run[F]) param(name string, v Value[F]) Value[F] {
	if t := r.Tape; t != nil {
		for i := range t.params {
			if t.params[i].name == name {
				panic(DuplicateParam)
			}
		}
		t.params = append(t.params, param{name, v.id})
	}
	return v
}
