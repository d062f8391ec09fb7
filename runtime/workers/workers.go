// Package workers runs the parts of one job on several cores.
//
// Helpers are goroutines that live as long as the program. Each divides a job
// into numbered parts; the caller and the helpers take the next number until
// none is left, so parts may differ in length, and a helper that the machine
// holds up costs nothing: the others do its parts, and Each takes back a call
// that nobody has answered. A helper without work looks for some for a few
// tens of microseconds, then sleeps. There is no barrier within a job and no
// allocation after the first ones.
//
// Which goroutine runs a part, and in which order parts run, is left open. That
// results do not depend on the number of workers is the callers' duty: parts
// are fixed by the shapes of a job, never by Count; a part writes what no other
// part reads or writes; sums over parts are added afterwards in their order.
package workers

import (
	"runtime"
	"sync/atomic"
)

// A Task is a job that is divided into parts. Parts run at the same time.
type Task interface {
	Part(i int)
}

// spins is how often a goroutine looks for a change before it sleeps. A look
// is about 0.25 µs: eight loads, and a yield to whoever else could run.
const spins = 128

// bound is the argument of SetCount, 0 for none.
var bound atomic.Int64

// SetCount bounds how many goroutines work at one job, the caller included; 1
// is the caller alone, 0 or less is no bound but GOMAXPROCS.
func SetCount(n int) { bound.Store(int64(max(n, 0))) }

// Count is how many goroutines work at one job at most, the caller included.
func Count() int {
	n := runtime.GOMAXPROCS(0)
	if b := int(bound.Load()); b > 0 {
		n = min(n, b)
	}
	return n
}

// Each runs t.Part(0) to t.Part(n-1), each once, and returns when all are done.
// A panic of a part reaches the caller: that of the smallest number where there
// are several; parts that nobody had begun are then left out. There is one job
// at a time on the helpers: a call from within a part, or while another
// goroutine's job runs, does its parts itself, in order.
func Each(n int, t Task) {
	if n > 1 {
		if helpers := min(Count(), n) - 1; helpers > 0 && shared.busy.CompareAndSwap(false, true) {
			shared.each(n, helpers, t)
			return
		}
	}
	for i := range n {
		t.Part(i)
	}
}

// shared is the pool of this program.
var shared pool

// A pool is the helpers and the job that they work at. Whoever has set busy
// owns what is not atomic; helpers see it between call and answer.
type pool struct {
	busy    atomic.Bool
	helpers []*helper

	task   Task
	n      int64
	_      [64]byte
	next   atomic.Int64 // the next part that nobody has taken
	_      [64]byte
	failed atomic.Pointer[failure]
}

// A failure is what a part panicked with.
type failure struct {
	part  int64
	value any
}

// each runs a job with some helpers.
func (p *pool) each(n, helpers int, t Task) {
	for len(p.helpers) < helpers {
		p.helpers = append(p.helpers, start(p))
	}
	p.task, p.n = t, int64(n)
	p.next.Store(0)
	for _, h := range p.helpers[:helpers] {
		h.call()
	}
	defer p.end(helpers) // also where a part leaves this goroutine by Goexit
	p.work(true)
}

// end waits for the helpers that have answered, frees the pool, and panics if a
// part has.
func (p *pool) end(helpers int) {
	for _, h := range p.helpers[:helpers] {
		h.await()
	}
	f := p.failed.Swap(nil)
	p.task = nil
	p.busy.Store(false)
	if f != nil {
		panic(f.value)
	}
}

// work takes parts until there are none. A part may also end its goroutine
// (runtime.Goexit): the caller's own ends with it, a helper's is a failure.
func (p *pool) work(own bool) {
	i, done := int64(-1), false
	defer func() {
		if done {
			return
		}
		p.next.Store(p.n)
		if v := recover(); v != nil {
			p.fail(i, v)
		} else if !own {
			p.fail(i, "workers: a part ended its goroutine (runtime.Goexit)")
		}
	}()
	for i = p.next.Add(1) - 1; i < p.n; i = p.next.Add(1) - 1 {
		p.task.Part(int(i))
	}
	done = true
}

// fail keeps the failure of the smallest part.
func (p *pool) fail(part int64, value any) {
	for f := (&failure{part, value}); ; {
		was := p.failed.Load()
		if was != nil && was.part < part || p.failed.CompareAndSwap(was, f) {
			return
		}
	}
}
