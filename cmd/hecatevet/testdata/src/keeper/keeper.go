// Package keeper has functions that keep and write what they are given.
package keeper

import "sync"

var last func()

// Keep keeps f.
func Keep(f func()) { // want Keep:"keeps 1, once 0, writes 0, gives 0"
	last = f
}

// Pass hands f to Keep.
func Pass(f func()) { Keep(f) } // want Pass:"keeps 1, once 0, writes 0, gives 0"

// Start runs f on another goroutine.
func Start(f func()) { // want Start:"keeps 1, once 1, writes 0, gives 0"
	var wg sync.WaitGroup
	wg.Go(f)
	wg.Wait()
}

// Call calls f, by way of another function and a variable.
func Call(f func()) {
	if f == nil {
		return
	}
	g := f
	inner := func() { g() }
	inner()
}

// Fill writes d, by way of another list.
func Fill(d []int, x int) { // want Fill:"keeps 0, once 0, writes 1, gives 0"
	e := d[1:]
	for i := range e {
		e[i] = x
	}
}

// Clear hands d to Fill.
func Clear(n int, d []int) { Fill(d, 0) } // want Clear:"keeps 0, once 0, writes 2, gives 0"

// Total reads d; what it writes is a copy.
func Total(d []int) (n int) {
	d = append([]int(nil), d...)
	for i := range d {
		d[i] *= 2
		n += d[i]
	}
	return n
}

// Tail is the memory of d.
func Tail(d []int) []int { // want Tail:"keeps 0, once 0, writes 0, gives 1"
	if len(d) == 0 {
		return nil
	}
	return d[1:]
}

// Once calls f no more than once.
func Once(n int, f func()) { // want Once:"keeps 0, once 2, writes 0, gives 0"
	if f != nil && n > 0 {
		OnceMore(f)
	}
}

// OnceMore calls f once.
func OnceMore(f func()) { // want OnceMore:"keeps 0, once 1, writes 0, gives 0"
	defer func() { f() }()
}

// Twice calls f twice.
func Twice(f func()) {
	f()
	f()
}

// Many calls f in a loop.
func Many(f func()) {
	for range 3 {
		f()
	}
}
