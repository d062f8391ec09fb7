package workers

import (
	"runtime"
	"sync/atomic"
)

// States of a helper. The helper moves from idle to asleep, from called to
// working, and from working or awaited to idle; the caller makes every other
// move. A helper is asleep only while wake holds no token.
const (
	idle    = iota // looks for a call
	asleep         // waits for a token in wake, or is about to
	called         // is to work
	working        // takes parts
	awaited        // takes parts, and the caller waits for a token in done
)

// A helper is one goroutine of a pool.
type helper struct {
	_     [64]byte
	state atomic.Uint32
	wake  chan struct{} // of the caller, to a helper asleep
	done  chan struct{} // of the helper, to the caller that waits
	_     [64]byte
}

func start(p *pool) *helper {
	h := &helper{wake: make(chan struct{}, 1), done: make(chan struct{}, 1)}
	go h.run(p)
	return h
}

// call asks the helper to work.
func (h *helper) call() {
	if h.state.Swap(called) == asleep {
		h.wake <- struct{}{}
	}
}

// await returns when the helper does not work: at once where it has not
// answered, whose call is taken back.
func (h *helper) await() {
	if h.state.CompareAndSwap(called, idle) {
		return
	}
	if h.turns(func(s uint32) bool { return s != working }) || !h.state.CompareAndSwap(working, awaited) {
		return
	}
	<-h.done
}

// run is the life of a helper. A part that ends the goroutine (runtime.Goexit)
// leaves the helper with another one.
func (h *helper) run(p *pool) {
	defer func() { go h.run(p) }()
	for {
		if h.state.CompareAndSwap(called, working) {
			h.answer(p)
		}
		if !h.turns(func(s uint32) bool { return s == called }) && h.state.CompareAndSwap(idle, asleep) {
			<-h.wake
		}
	}
}

// answer works and says so.
func (h *helper) answer(p *pool) {
	defer func() {
		if h.state.Swap(idle) == awaited {
			h.done <- struct{}{}
		}
	}()
	p.work(false)
}

// turns polls the state until a condition holds; false if it does not hold soon.
func (h *helper) turns(is func(state uint32) bool) bool {
	for range spins {
		for range 8 {
			if is(h.state.Load()) {
				return true
			}
		}
		runtime.Gosched()
	}
	return false
}
