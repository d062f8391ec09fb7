package context

import "sync/atomic"

// The panic messages of an Inner.
const (
	usedAfterScope = "context: inner state used after its scope"
	outsideScope   = "context: inner state that no scope made"
	otherGoroutine = "context: inner state used on another goroutine than its scope's"
)

// An Inner is state that lives for one forward call, on the goroutine that made
// the call. It is made by Scope only. A copy of an Inner is the same state and
// ends with it. What State points to is not copied out: a step that has a result
// returns numbers.
//
//hecate:noescape
//hecate:nozero
type Inner[S any] struct{ cell *innerCell[S] }

// innerCell is what all copies of an Inner share.
type innerCell[S any] struct {
	ended atomic.Bool
	owner uint64 // goroutine
	state S
}

// Scope runs f with inner state that starts as s, and ends its life when f
// returns or panics. What f returns is all that leaves.
func Scope[S, R any](s S, f func(*Inner[S]) R) R {
	c := &innerCell[S]{owner: goroutine(), state: s}
	defer c.end()
	return f(&Inner[S]{c})
}

func (c *innerCell[S]) end() {
	c.ended.Store(true)
	var zero S
	c.state = zero
}

// State returns the state to read and write, until the scope ends. It panics when
// the scope has ended, on a goroutine that is not the scope's, and for an
// Inner that no scope made. It costs about a microsecond: ask once, not once per number.
//
//hecate:scoped
func (in *Inner[S]) State() *S {
	switch {
	case in.cell == nil:
		panic(outsideScope)
	case in.cell.ended.Load():
		panic(usedAfterScope)
	case in.cell.owner != goroutine():
		panic(otherGoroutine)
	}
	return &in.cell.state
}
