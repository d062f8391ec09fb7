package conformance

import (
	"runtime/debug"
	"syscall"
	"testing"
)

// pages is room for at least n numbers between two pages that may not be
// touched, and what gives it back; nil where the system refuses.
func pages(t testing.TB, n int) ([]float32, func()) {
	t.Helper()
	page := syscall.Getpagesize()
	size := (4*n + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil
	}
	free := func() { _ = syscall.Munmap(mem) }
	for _, side := range [][]byte{mem[:page], mem[page+size:]} {
		if syscall.Mprotect(side, syscall.PROT_NONE) != nil {
			free()
			return nil, nil
		}
	}
	return numbersIn(mem[page : page+size]), free
}

// panicOnFault turns faults of this goroutine into panics until it is undone.
func panicOnFault() (undo func()) {
	was := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(was) }
}
