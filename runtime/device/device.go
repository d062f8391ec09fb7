// Package device says where the memory of a slice is, and so where what is done with it runs.
//
// A slice of a device's memory has an address that the host cannot read. A generated kernel whose
// result is such a slice is run by the device (Run), and the functions of this package copy, clear and
// add there. The memory of the host is that of no device, and then they are loops. A program
// that has opened no device pays one load for the question.
package device

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// A Device does what is asked for after all that it was asked for before. Errors are kept until
// its owner looks. Addresses are those of its memory but where Copy says otherwise.
type Device interface {
	// Run runs a kernel of the archive, UNIT/NAME, with the call of the generated kernel: a pointer to
	// a struct of its sizes and its parameters, in the order of the plan.
	Run(kernel string, call any)
	// Copy copies bytes; one of the addresses may be the host's. It waits where that is the target.
	// What the host has at the source may change when Copy has returned.
	Copy(to, from unsafe.Pointer, bytes int)
	// Later copies bytes to the host, which has them after the next wait.
	Later(to, from unsafe.Pointer, bytes int)
	// Wait waits for all that was asked for.
	Wait()
	// Clear writes zeros.
	Clear(to unsafe.Pointer, bytes int)
	// Add adds n numbers of 32 bits to others.
	Add(to, from unsafe.Pointer, n int)
	// Scale multiplies n numbers of 32 bits.
	Scale(to unsafe.Pointer, n int, c float32)
	// Squares adds the squares of n numbers of 32 bits to a sum, which the host has after the next wait.
	Squares(x unsafe.Pointer, n int, sum *float64)
}

// A Call is a call of a generated kernel, a pointer to a struct of its sizes and its parameters;
// WorkLen is the length of its field Work.
type Call interface {
	Run()
	WorkLen() int
}

// A Reference is a kernel in Go, with numbers of 64 bits and of 32.
type Reference struct{ Double, Single Call }

// References make references by the names of kernels in an archive.
type References map[string]func() Reference

// A Memory makes and frees parts of a device's memory. What fails is kept like the errors of a
// Device, and the part is nil.
type Memory interface {
	Make(bytes int) unsafe.Pointer // zeros
	Free(p unsafe.Pointer)
	// Err is the first error since it was last called.
	Err() error
	// String names the device in records, as in cuda sm_90.
	String() string
}

// Make returns n zeros of a memory; nil is the host's.
func Make[T any](m Memory, n int) []T {
	if m == nil {
		return tensor.Make[T](n)
	}
	var t T
	if n == 0 {
		return nil
	}
	p := m.Make(n * int(unsafe.Sizeof(t)))
	if p == nil {
		panic(NoMemory)
	}
	return unsafe.Slice((*T)(p), n)
}

// NoMemory is the panic message of a device without memory; Memory's owner has the error.
const NoMemory = "device: no memory"

// Recover, deferred, makes the panic of Make the error of the memory.
func Recover(m Memory, err *error) {
	switch r := recover(); {
	case r == nil:
	case m != nil && r == NoMemory:
		*err = m.Err()
	default:
		panic(r)
	}
}

// Free frees what Make returned, when all that was asked for is done.
func Free[T any](m Memory, x []T) {
	if m != nil && cap(x) > 0 {
		m.Free(unsafe.Pointer(unsafe.SliceData(x)))
	}
}

// Release frees what Make returned, where that is a device's, when all that was asked for is done.
func Release[T any](x []T) {
	if m, ok := Of(x).(Memory); ok {
		Free(m, x)
	}
}

// Moved is a copy of x in a memory.
func Moved[T any](m Memory, x []T) []T {
	out := Make[T](m, len(x))
	Copy(out, x)
	return out
}

// A span is a range of addresses that belongs to a device.
type span struct {
	from, to uintptr
	device   Device
}

var (
	spans atomic.Pointer[[]span] // nil: there is no device
	mu    sync.Mutex
)

// Register makes a range of addresses a device's. The result takes it back.
func Register(memory []byte, d Device) (forget func()) {
	mu.Lock()
	defer mu.Unlock()
	from := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	s := span{from, from + uintptr(len(memory)), d}
	change(func(all []span) []span { return append(all, s) })
	return func() {
		mu.Lock()
		defer mu.Unlock()
		change(func(all []span) []span {
			return slices.DeleteFunc(all, func(x span) bool { return x == s })
		})
	}
}

func change(f func([]span) []span) {
	var all []span
	if p := spans.Load(); p != nil {
		all = slices.Clone(*p)
	}
	if all = f(all); len(all) == 0 {
		spans.Store(nil)
	} else {
		spans.Store(&all)
	}
}

// Of is the device that has a slice, nil for the host.
func Of[T any](x []T) Device {
	all := spans.Load()
	if all == nil {
		return nil
	}
	return find(*all, uintptr(unsafe.Pointer(unsafe.SliceData(x))))
}

func find(all []span, at uintptr) Device {
	for _, s := range all {
		if s.from <= at && at < s.to {
			return s.device
		}
	}
	return nil
}

// Run runs a call of a kernel if its result is a device's, and reports whether it was; of a result
// without entries the other slices of the call decide. Generated kernels ask at their beginning.
func Run[F num.Float](call any, kernel string, result []F) bool {
	if spans.Load() == nil {
		return false
	}
	d := Of(result)
	if d == nil && len(result) == 0 {
		d = ofCall(call)
	}
	if d == nil {
		return false
	}
	d.Run(kernel, call)
	return true
}

// ofCall is the device that has one of the slices of a call, a pointer to a struct; nil for none.
func ofCall(call any) Device {
	v := reflect.ValueOf(call).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice && f.Len() > 0 {
			if d := find(*spans.Load(), f.Pointer()); d != nil {
				return d
			}
		}
	}
	return nil
}

// Copy copies the elements that both have, as the function copy does. It waits for a device where
// the target is the host's.
func Copy[T any](to, from []T) int {
	d := Of(to)
	if d == nil {
		d = Of(from)
	}
	if d == nil {
		return copy(to, from)
	}
	n := min(len(to), len(from))
	if n > 0 {
		d.Copy(unsafe.Pointer(&to[0]), unsafe.Pointer(&from[0]), n*int(unsafe.Sizeof(to[0])))
	}
	return n
}

// Later copies the elements that both have to memory of the host. From a device they are there after
// the next wait for it.
func Later[T any](to, from []T) {
	n := min(len(to), len(from))
	if d := Of(from); d == nil {
		copy(to, from)
	} else if n > 0 {
		d.Later(unsafe.Pointer(&to[0]), unsafe.Pointer(&from[0]), n*int(unsafe.Sizeof(to[0])))
	}
}

// Wait waits for all that a device was asked for; nil is the host.
func Wait(m Memory) {
	if d, ok := m.(Device); ok {
		d.Wait()
	}
}

// Clear makes all elements zero.
func Clear[T any](x []T) {
	d := Of(x)
	switch {
	case d == nil:
		clear(x)
	case len(x) > 0:
		d.Clear(unsafe.Pointer(&x[0]), len(x)*int(unsafe.Sizeof(x[0])))
	}
}

// Add adds numbers to others, as many as there are of the latter; both are the host's, or one
// device's.
func Add[F num.Float](to, x []F) {
	x = x[:len(to)]
	d := Of(to)
	switch {
	case d == nil:
		for i := range to {
			to[i] += x[i]
		}
	case len(to) > 0:
		d.Add(unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), len(to))
	}
}

// Sum writes x + y.
func Sum[F num.Float](to, x, y []F) {
	if Of(to) != nil {
		Copy(to, x)
		Add(to, y)
		return
	}
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] = x[i] + y[i]
	}
}

// Scale multiplies all elements by c.
func Scale[F num.Float](x []F, c F) {
	d := Of(x)
	switch {
	case d == nil:
		for i, v := range x {
			x[i] = F(v * c)
		}
	case len(x) > 0:
		d.Scale(unsafe.Pointer(&x[0]), len(x), float32(c))
	}
}

// ScaleAll multiplies all elements of some slices by c.
func ScaleAll[F num.Float](list [][]F, c F) { joined(list, nil, func(x, _ []F) { Scale(x, c) }) }

// CopyAll copies slices to others, as long and as many.
func CopyAll[F num.Float](to, from [][]F) { joined(to, from, func(a, b []F) { Copy(a, b) }) }

// joined calls f for the slices of a list, with those of another one that is as long or nil. Slices of a
// device that lie one after another, in both lists, are one.
func joined[F num.Float](x, y [][]F, f func(x, y []F)) {
	for from := 0; from < len(x); {
		a, b, to := x[from], []F(nil), from+1
		if y != nil {
			b = y[from]
		}
		for Of(a) != nil && to < len(x) && follows(a, x[to]) && (y == nil || follows(b, y[to])) {
			a = a[:len(a)+len(x[to])]
			if y != nil {
				b = b[:len(a)]
			}
			to++
		}
		f(a, b)
		from = to
	}
}

// follows reports whether y lies behind x, and x may grow so far.
func follows[T any](x, y []T) bool {
	return len(x)+len(y) <= cap(x) && unsafe.SliceData(y) == unsafe.SliceData(x[len(x):cap(x)])
}

// Squares is the sum of the squares of all elements of some slices, in float64, in the order of the
// list; a device adds them in an order of its own, and waits. It is not finite where an
// element is not.
func Squares[F num.Float](list [][]F) float64 {
	if len(list) > 0 && Of(list[0]) != nil {
		return squares(list)
	}
	sum := 0.0
	for _, x := range list {
		for _, v := range x {
			sum += float64(float64(v) * float64(v))
		}
	}
	return sum
}

// AddSquares adds the squares of all elements to a sum; those of a device are there after the next wait
// for it.
func AddSquares[F num.Float](sum *float64, x []F) {
	if d := Of(x); d == nil {
		s := 0.0
		for _, v := range x {
			s += float64(float64(v) * float64(v))
		}
		*sum += s
	} else if len(x) > 0 {
		d.Squares(unsafe.Pointer(&x[0]), len(x), sum)
	}
}

// squares is Squares of slices of a device.
func squares[F num.Float](list [][]F) float64 {
	sum := new(float64)
	joined(list, nil, func(x, _ []F) { AddSquares(sum, x) })
	Of(list[0]).Wait()
	return *sum
}

// Like returns n zeros of the memory that x is of.
func Like[T any](x []T, n int) []T {
	if m, ok := Of(x).(Memory); ok {
		return Make[T](m, n)
	}
	return tensor.Make[T](n)
}

// Computed reports whether what is in a slice is what a program computes there. It is not in the memory of a
// device that only notes what it would run: one with the method IsDryRun.
func Computed[T any](x []T) bool {
	_, blank := Of(x).(interface{ IsDryRun() })
	return !blank
}

// Host is the elements in memory of the host: x itself, or a copy of a device's, for which it waits.
func Host[T any](x []T) []T {
	if Of(x) == nil {
		return x
	}
	out := make([]T, len(x))
	Copy(out, x)
	return out
}
