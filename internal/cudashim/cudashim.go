// Package cudashim runs the text of CUDA kernels without a GPU.
//
// Build compiles kernels and the shim of cuda/shim with g++ into one program,
// once per text: programs are in the user's cache folder under the hash of all
// that went into them. Run gives a program buffers and launches and returns the
// buffers as the launches left them.
//
//	cudashim.Need(t) // skips where there is no g++
//	bin, err := cudashim.Build(cudashim.Plain, cudashim.Source{Name: "axpy.cu", Text: text})
//	out, err := bin.Run(&cudashim.Program{
//		Buffers: []cudashim.Buffer{
//			{Name: "x", Data: x},                            // []float32
//			{Name: "y", Data: cudashim.NaNs(n)},             // an output
//		},
//		Launches: []cudashim.Launch{{
//			Kernel: "axpy",
//			Grid:   cudashim.Dim{(n + 127) / 128},           // (n, 1, 1)
//			Block:  cudashim.Dim{128},
//			Args:   []cudashim.Arg{cudashim.Ptr("x"), cudashim.Ptr("y"), cudashim.Int(n)},
//		}},
//	})
//	y := out.Float32("y")
//
// A kernel's text includes hecate.cuh, begins kernels with HECATE_KERNEL and
// takes pointers and integers; a launch whose arguments have other types is
// refused. The threads of a block are fibers that take turns; barriers and
// shuffles are real. What is found wrong comes back as a *Fault with the text:
//
//	always   threads that wait at different barriers or shuffles, a lane that
//	         reads one outside its mask, a thread that returns while others
//	         wait; an access past the end of a buffer, a write before its start
//	ASan     every access outside of a buffer or array, read or write
//	TSan     two threads of a block that use one address without a barrier or
//	         __syncwarp between them (a shuffle orders nothing)
//	Isolated two blocks that write one entry, a block that needs another's
//	         result or what an earlier one left
//
// Shared memory begins as NaN in every block, stacks and registers hold NaN and
// variables without a value a huge number, so that what was never set shows in
// the numbers. Another Seed is another order of threads and of blocks: results
// must not depend on it. Give outputs that are wholly written as NaNs: then an
// entry that nobody writes shows, and Isolated sees every write.
package cudashim

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// A Mode is what a program is compiled for.
type Mode int

const (
	Plain Mode = iota
	ASan       // the address sanitizer: about twice the time
	TSan       // the thread sanitizer: about 5 times, and a millisecond to begin for each thread of a block
)

func (m Mode) String() string {
	if m < 0 || int(m) >= len(modes) {
		return fmt.Sprintf("Mode(%d)", int(m))
	}
	return modes[m].name
}

// Modes are all modes.
func Modes() []Mode { return []Mode{Plain, ASan, TSan} }

// A Source is the text of a .cu file. Its name, such as "delta.cu", is what
// reports call it.
type Source struct{ Name, Text string }

// A Program is what one run does: launches over named buffers, in order.
type Program struct {
	Buffers  []Buffer
	Launches []Launch

	Seed        uint64 // the order of threads and blocks; 0 is by number
	Isolated    bool   // run every block alone, too
	EarlyCopies bool   // asynchronous copies land where they are issued, not where they are waited for
}

// A Buffer is device memory. Data is []float32, []float64, []int32, []uint8 or
// []uint16; Run does not change it. A bool of a kernel is a uint8 here, a number of bfloat16 a uint16.
type Buffer struct {
	Name string
	Data any
}

// A Dim is a number of blocks or threads; zeros count as one.
type Dim [3]int

// A Launch runs a kernel over a grid of blocks. Shared is the size in bytes of
// its dynamic shared memory.
type Launch struct {
	Kernel      string
	Grid, Block Dim
	Shared      int
	Args        []Arg
}

// An Arg is an argument of a launch.
type Arg struct {
	buffer string
	number int64
	isPtr  bool
}

// Ptr is the first entry of a buffer.
func Ptr(buffer string) Arg { return Arg{buffer: buffer, isPtr: true} }

// PtrAt is an entry of a buffer.
func PtrAt(buffer string, entry int) Arg {
	return Arg{buffer: buffer, number: int64(entry), isPtr: true}
}

// Null is a pointer to nothing.
func Null() Arg { return Arg{isPtr: true} }

// Int is an integer.
func Int(n int) Arg { return Arg{number: int64(n)} }

// A Result is the buffers after a run, by name.
type Result map[string]any

// Float32 returns a buffer of that type; it panics if there is none.
func (r Result) Float32(name string) []float32 { return as[float32](r, name) }

// Float64 returns a buffer of that type; it panics if there is none.
func (r Result) Float64(name string) []float64 { return as[float64](r, name) }

// Int32 returns a buffer of that type; it panics if there is none.
func (r Result) Int32(name string) []int32 { return as[int32](r, name) }

// Uint8 returns a buffer of that type; it panics if there is none.
func (r Result) Uint8(name string) []uint8 { return as[uint8](r, name) }

func as[E any](r Result, name string) []E {
	x, ok := r[name].([]E)
	if !ok {
		panic(fmt.Sprintf("cudashim: buffer %s is %T, not %T", name, r[name], x))
	}
	return x
}

// NaNs returns n NaNs, as an output begins.
func NaNs(n int) []float32 { return slices.Repeat([]float32{float32(math.NaN())}, n) }

// A Kind is what found a fault.
type Kind string

const (
	Barrier  Kind = "barrier"  // threads wait at different places
	Warp     Kind = "warp"     // a wrong mask or lane
	Bounds   Kind = "bounds"   // a fault, or bytes written around a buffer
	Isolated Kind = "isolated" // blocks that are not independent
	Call     Kind = "call"     // a launch that does not fit its kernel
	Address  Kind = "asan"     // a report of the address sanitizer
	Race     Kind = "tsan"     // a report of the thread sanitizer
	World    Kind = "world"    // no memory, no time, a broken program
)

// A Fault is what the shim or a sanitizer found. Text names kernel, block and
// thread, or file and line.
type Fault struct {
	Kind Kind
	Text string
}

func (f *Fault) Error() string { return "cudashim: " + string(f.Kind) + ": " + f.Text }

// Need skips a short test, and one where there is no g++ of version 12 or later, which fails
// where HECATE_REQUIRE contains "cxx".
func Need(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("a C++ compiler takes long")
	}
	_, err := compilerVersion()
	if err == nil {
		return
	}
	if slices.Contains(strings.Split(os.Getenv("HECATE_REQUIRE"), ","), "cxx") {
		t.Fatalf("HECATE_REQUIRE asks for cxx: %v", err)
	}
	t.Skipf("kernels are not run: %v", err)
}
