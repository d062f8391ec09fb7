//go:build linux

package kern_test

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// fenced returns a slice of n numbers right before, or right after, a page
// that may not be touched.
func fenced(t *testing.T, n int, before bool) []float32 {
	t.Helper()
	page := syscall.Getpagesize()
	size := (4*n + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { syscall.Munmap(mem) })
	for _, fence := range [][]byte{mem[:page], mem[page+size:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Skip(err)
		}
	}
	at := page
	if before {
		at += size - 4*n
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&mem[at])), n)
}

// TestGemmFMAStaysInside has operands between fences: a kernel that reads or
// writes one byte outside of them ends the test with a fault.
func TestGemmFMAStaysInside(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	move := func(x matrix, before bool) matrix {
		inner := fenced(t, len(x.entries()), before)
		copy(inner, x.entries())
		x.buf = inner
		x.bare = true
		return x
	}
	for v := range variants / 4 {
		p := newProduct(1+r.IntN(31), 1+r.IntN(67), 1+r.IntN(21), 4*v+r.IntN(4), draws(r, false))
		before := v%2 == 0
		p.a, p.b, p.c = move(p.a, before), move(p.b, before), move(p.c, before)
		p.check(t)
	}
}

// TestTriangleFMAStaysInside is the same for triangular systems.
func TestTriangleFMAStaysInside(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	for v := range 64 {
		s := newTriangle(r, 1+r.IntN(21), 1+r.IntN(131), v&1 > 0, v&2 > 0, v&4 > 0)
		x, a := fenced(t, len(s.x), v&8 > 0), fenced(t, len(s.a), v&8 > 0)
		copy(x, s.x)
		copy(a, s.a)
		s.x, s.a = x, a
		s.check(t)
	}
}
