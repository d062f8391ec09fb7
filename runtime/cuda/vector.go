//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/device"
)

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
	image, _, err := m.library.image(vectorKernel, nil, m.device.Info)
	if err != nil {
		return nil, err
	}
	module, err := m.device.Load(vectorKernel.Name, image)
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
		err = m.queue.launch(which(v), Grid{Blocks: (n + block - 1) / block, Threads: vectorThreads}, append(args, Int(n)))
	}
	m.fail(err)
}

// Add is device.Device's.
func (m *Memory) Add(to, from unsafe.Pointer, n int) {
	m.launch(func(v *vectors) *Function { return v.add }, n, vectorThreads, m.pointer(to), m.pointer(from))
}

// Scale is device.Device's.
func (m *Memory) Scale(to unsafe.Pointer, n int, c float32) {
	m.room(alignment)
	at := m.stage(binary.LittleEndian.AppendUint32(nil, math.Float32bits(c)))
	m.launch(func(v *vectors) *Function { return v.scale }, n, vectorThreads, m.pointer(to), Pointer(at))
}

// A squares is a sum that the host has after the next wait: of so many blocks' sums.
type squares struct {
	to     *float64
	blocks int
}

// Squares is device.Device's.
func (m *Memory) Squares(x unsafe.Pointer, n int, sum *float64) {
	const most = pinnedBytes / 16 // blocks
	if n > most*squaresOf {
		m.Squares(x, most*squaresOf, sum)
		m.Squares(unsafe.Add(x, 4*most*squaresOf), n-most*squaresOf, sum)
		return
	}
	blocks := (n + squaresOf - 1) / squaresOf
	if m.expected+whole(8*(m.summed+blocks)) > pinnedBytes {
		m.Wait()
	}
	if m.summed+blocks > len(m.sums) {
		m.Wait()
		device.Free(m, m.sums)
		m.sums = device.Make[float64](m, max(2*blocks, 1024))
	}
	m.launch(func(v *vectors) *Function { return v.squares }, n, squaresOf, m.pointer(x), m.pointer(unsafe.Pointer(&m.sums[m.summed])))
	m.squares = append(m.squares, squares{sum, blocks})
	m.summed += blocks
}

// expectSums asks for the sums of blocks, before a wait.
func (m *Memory) expectSums() {
	if n := m.summed; n > 0 {
		m.summed = 0
		m.parts = slices.Grow(m.parts[:0], n)[:n]
		m.Later(unsafe.Pointer(&m.parts[0]), unsafe.Pointer(&m.sums[0]), 8*n)
	}
}

// addSums adds the sums of blocks in order, after a wait.
func (m *Memory) addSums() {
	at := 0
	for _, s := range m.squares {
		for _, x := range m.parts[at : at+s.blocks] {
			*s.to += x
		}
		at += s.blocks
	}
	clear(m.squares)
	m.squares = m.squares[:0]
}

// pointer is an address of the range as an argument.
func (m *Memory) pointer(p unsafe.Pointer) Arg {
	a, _ := m.address(p)
	return Pointer(a)
}
