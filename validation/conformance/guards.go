package conformance

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/workers"
)

// The kernels at the levels that are assembly keep to their buffers: each buffer
// of a call by hand is between marks, which are found again, and where the
// system has pages that may not be touched, it begins after one or ends in
// front of one, so that a read outside ends in a fault too.

// mark is the bits of a number that no kernel computes.
const mark = 0x7fa5a5a5

// marks is how many there are on each side of a buffer: two of the widest vectors
// and more.
const marks = 40

// A guarded is a buffer between marks.
type guarded struct {
	all   []float32 // marks, entries, marks
	first int
	n     int
}

func (g guarded) intact() bool {
	for i, x := range g.all {
		if (i < g.first || i >= g.first+g.n) && math.Float32bits(x) != mark {
			return false
		}
	}
	return true
}

// A fence gives out guarded buffers: by turns at the end of what may be
// touched and at its beginning.
type fence struct {
	t       testing.TB
	buffers []guarded
	free    []func()
}

// room is a buffer of n entries.
func (f *fence) room(n int) []float32 {
	all, free := pages(f.t, n+marks)
	g := guarded{all: all, n: n}
	switch atEnd := len(f.buffers)%2 == 0; {
	case free == nil:
		all, free = make([]float32, n+2*marks), func() {}
		g.all, g.first = all, marks
	case atEnd:
		g.first = len(all) - n
	}
	for i := range all {
		all[i] = math.Float32frombits(mark)
	}
	f.buffers, f.free = append(f.buffers, g), append(f.free, free)
	return all[g.first:][:n:n]
}

// close looks at the marks and gives the memory back.
func (f *fence) close(what string) {
	f.t.Helper()
	for i, g := range f.buffers {
		if !g.intact() {
			f.t.Errorf("%s: a kernel wrote outside of buffer %d, which has %d entries", what, i, g.n)
		}
	}
	for _, free := range f.free {
		free()
	}
}

// between calls two kernels by hand at each level in assembly.
func between(t *testing.T, what string, direct func(*Args[float32]), args func() *Args[float32]) {
	t.Helper()
	workers.SetCount(1)
	defer workers.SetCount(0)
	for _, l := range cpu.Targets() {
		if !l.Vector() {
			continue
		}
		restore, err := cpu.Force(l)
		if err != nil {
			continue // this machine lacks it
		}
		func() {
			defer restore()
			f := &fence{t: t}
			defer f.close(fmt.Sprintf("%s at %v", what, l))
			a := args()
			a.room = f.room
			if fault := faults(func() { direct(a) }); fault != nil {
				t.Errorf("%s at %v: a kernel touched what is outside of its buffers: %v", what, l, fault)
			}
		}()
	}
}

// faults calls f and returns the fault that a touch of a forbidden page was. Any
// other panic goes on.
func faults(f func()) (fault error) {
	defer panicOnFault()()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface {
			error
			Addr() uintptr
		}:
			fault = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// guards runs the kernels of a pair at the sizes of levels.
func (p Pair) guards(t *testing.T) {
	if p.Direct32 == nil {
		return
	}
	for i := range regimes {
		for k, z := range wideCases(p.Sizes, p.Tokens, i) {
			if power(z, p.Order) > mostPower {
				z = p.Sizes[k%len(p.Sizes)].times(3).with(Sizes{"L": z["L"], "T": z["T"]})
			}
			between(t, label(z), p.Direct32, func() *Args[float32] {
				a := newArgs[float32](t, z, uint64(100*i+k))
				if p.Starts {
					a.Ints["pos"] = slices.Repeat([]int32{100}, a.Size("L"))
				}
				return a
			})
		}
	}
}

// guards runs the kernels of an operation at the sizes of its vectors and at
// multiples of them, which it may refuse.
func (o Op) guards(t *testing.T, cases []*vectorCase) {
	for k, c := range cases {
		for i, n := range []int{1, 5, 11, 16} {
			z := c.sizes.times(n).with(Sizes{"L": 1 + i%2})
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Logf("%v: not sizes of this operation: %v", label(z), r)
					}
				}()
				between(t, label(z), o.Direct32, func() *Args[float32] {
					return newArgs[float32](t, z, uint64(10*k+i))
				})
			}()
		}
	}
}

// numbersIn are the numbers in bytes.
func numbersIn(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}
