// Package context separates the three lifetimes of a model's numbers.
//
// Outer parameters live as long as the model; they are read by everyone and
// written by one Writer, after the backward, a whole update or nothing
// (ParamSet). Inner state lives for one forward call, on one goroutine, and
// cannot leave it (Inner). Context memory lives from chunk to chunk of one text and
// is moved: Take transfers ownership, and the old handle is invalid (Handle).
//
// Go's compiler enforces none of this, so each type counts generations and
// answers misuse with an error or a named panic. What can be seen without
// running a program is seen by cmd/hecatevet, from the marks on the types.
package context

import (
	"errors"
	"sync/atomic"
)

// The errors of a Handle.
var (
	ErrMoved         = errors.New("context: already moved; use the handle that the last step returned")
	ErrUninitialised = errors.New("context: zero handle; make one with New")
)

// A Handle owns a context S that is moved, never shared:
//
//	y, h, err = model.Process(x, h, pulse)
//
// Copies of a handle are the same claim; the first Take wins, also between
// goroutines. The zero Handle owns nothing.
//
//hecate:consumeonce
//hecate:nozero
type Handle[S any] struct {
	cell *cell[S]
	gen  uint64
}

// A cell is even while it holds a value of that generation, odd while the
// value is out.
type cell[S any] struct {
	gen   atomic.Uint64
	value S
}

// beingReturned is the generation of a cell while Return writes it.
const beingReturned = ^uint64(0)

// New returns a handle that owns s.
func New[S any](s S) Handle[S] { return Handle[S]{cell: &cell[S]{value: s}} }

// Take moves the context out. It returns ErrMoved the second time and
// ErrUninitialised for the zero Handle.
//
//hecate:takes
func (h Handle[S]) Take() (S, error) {
	var zero S
	if h.cell == nil {
		return zero, ErrUninitialised
	}
	if !h.cell.gen.CompareAndSwap(h.gen, h.gen+1) {
		return zero, ErrMoved
	}
	s := h.cell.value
	h.cell.value = zero
	return s, nil
}

// Return puts a context back where h took it from and returns the handle that
// owns it now; it allocates nothing. It returns ErrMoved unless h was taken
// and its context not yet returned.
//
//hecate:returns
func (h Handle[S]) Return(s S) (Handle[S], error) {
	if h.cell == nil {
		return Handle[S]{}, ErrUninitialised
	}
	if !h.cell.gen.CompareAndSwap(h.gen+1, beingReturned) {
		return Handle[S]{}, ErrMoved
	}
	h.cell.value = s
	h.cell.gen.Store(h.gen + 2)
	return Handle[S]{cell: h.cell, gen: h.gen + 2}, nil
}

// Step takes the context, runs f on it and returns the handle that owns what f
// made of it; h is dead then. Where f fails or panics, the context goes back
// under h, so that nothing is lost: f changes what it is given only when it
// succeeds, as a step of a model does by Memory.Keep. Step allocates nothing.
// The error is f's, ErrMoved or ErrUninitialised, and comes with h itself.
//
//	h, err = h.Step(func(m *block.Memory[F]) (*block.Memory[F], error) { … })
func (h Handle[S]) Step(f func(S) (S, error)) (Handle[S], error) {
	s, err := h.Take()
	if err != nil {
		return h, err
	}
	done := false
	defer func() {
		if !done {
			h.untake(s)
		}
	}()
	next, err := f(s)
	if err != nil {
		return h, err
	}
	done = true
	return h.Return(next)
}

// untake undoes a Take.
func (h Handle[S]) untake(s S) {
	h.cell.value = s
	h.cell.gen.Store(h.gen)
}

// Fork returns a new handle to a copy of the context, made by clone, and
// leaves h as it was, also where clone panics. A probe works on a fork, so that
// the live context is unchanged after it. While clone runs the context is out.
//
//hecate:borrows
func (h Handle[S]) Fork(clone func(S) S) (Handle[S], error) {
	s, err := h.Take()
	if err != nil {
		return Handle[S]{}, err
	}
	defer h.untake(s)
	return New(clone(s)), nil
}
