//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	_ "embed"
	"encoding/binary"
	"math"
	"unsafe"
)

// vectorText is what is done with vectors between the kernels of the pages.
//
//go:embed text/vector.cu
var vectorText string

// vectorThreads is the number of threads of a block of these kernels, squaresOf how many entries
// a block of hecate_squares has.
const (
	vectorThreads = 256
	squaresOf     = 4096
)

// vectors are the kernels of vectorText.
type vectors struct{ add, scale, squares *Function }

// kernels loads them, the first time.
func (m *Memory) kernels() (*vectors, error) {
	if m.vector != nil {
		return m.vector, nil
	}
	const name = "runtime/vector"
	image, _, err := m.library.image(&Kernel{Name: name, Text: vectorText}, nil, m.device.Info)
	if err != nil {
		return nil, err
	}
	module, err := m.device.Load(name, image)
	if err != nil {
		return nil, err
	}
	v := &vectors{}
	for name, f := range map[string]**Function{"hecate_add": &v.add, "hecate_scale": &v.scale, "hecate_squares": &v.squares} {
		if *f, err = module.Function(name); err != nil {
			return nil, err
		}
	}
	m.vector = v
	return v, nil
}

// launch enqueues one of the kernels for n entries, so many a block.
func (m *Memory) launch(which func(*vectors) *Function, n, block int, args ...Arg) {
	v, err := m.kernels()
	if err == nil {
		err = m.device.Launch(which(v), Grid{Blocks: (n + block - 1) / block, Threads: vectorThreads}, append(args, Int(n))...)
	}
	m.fail(err)
}

// Add is device.Device's.
func (m *Memory) Add(to, from unsafe.Pointer, n int) {
	m.launch(func(v *vectors) *Function { return v.add }, n, vectorThreads, m.pointer(to), m.pointer(from))
}

// Scale is device.Device's.
func (m *Memory) Scale(to unsafe.Pointer, n int, c float32) {
	at, err := m.stage(binary.LittleEndian.AppendUint32(nil, math.Float32bits(c)))
	m.fail(err)
	m.launch(func(v *vectors) *Function { return v.scale }, n, vectorThreads, m.pointer(to), Pointer(at))
}

// Squares is device.Device's.
func (m *Memory) Squares(x unsafe.Pointer, n int) {
	blocks := (n + squaresOf - 1) / squaresOf
	if m.sums == nil || m.summed+blocks > len(m.sums)/8 {
		m.growSums(max(2*(m.summed+blocks), 1024))
	}
	at, _ := m.address(unsafe.Pointer(unsafe.SliceData(m.sums)))
	m.launch(func(v *vectors) *Function { return v.squares }, n, squaresOf, m.pointer(x), Pointer(at+Address(8*m.summed)))
	m.summed += blocks
}

// growSums makes room for n sums and keeps those that are there.
func (m *Memory) growSums(n int) {
	p := m.Make(8 * n)
	if p == nil {
		m.sums = nil
		return
	}
	old := m.sums
	m.sums = unsafe.Slice((*byte)(p), 8*n)
	if old != nil {
		m.Copy(p, unsafe.Pointer(unsafe.SliceData(old)), len(old))
		m.Free(unsafe.Pointer(unsafe.SliceData(old)))
	}
}

// Total is device.Device's: the sums are added in order.
func (m *Memory) Total() float64 {
	data := make([]byte, 8*m.summed)
	m.summed = 0
	if len(data) == 0 || m.sums == nil {
		return math.NaN()
	}
	m.Copy(unsafe.Pointer(&data[0]), unsafe.Pointer(unsafe.SliceData(m.sums)), len(data))
	sum := 0.0
	for at := 0; at < len(data); at += 8 {
		sum += math.Float64frombits(binary.LittleEndian.Uint64(data[at:]))
	}
	return sum
}

// pointer is an address of the range as an argument.
func (m *Memory) pointer(p unsafe.Pointer) Arg {
	a, _ := m.address(p)
	return Pointer(a)
}
