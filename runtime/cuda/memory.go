//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/device"
)

// A Memory is the memory of a device as slices. It reserves a range of addresses that the host
// cannot read, and gives parts of it: each stands for a block of the device of the same layout. So
// generated code keeps its slices, and a call of a kernel is enqueued by translating their
// addresses. It is a device.Device, and serves one goroutine.
//
// Slices of the host among the arguments of a call, such as ids, are copied to the device with it, as
// they are when the call is asked for. What is asked for is enqueued together, at the latest when the
// host waits; see queue.
type Memory struct {
	device  *Device
	library *Library
	forget  func()

	reserved []byte
	used     int
	blocks   []block // by address
	last     int     // of the block that was found last

	calls     boundCalls
	loaded    map[Variant]*Loaded
	work      Address // workspace of kernels, which run one after another
	workBytes int
	vector    *vectors
	queue     queue
	sums      []float64 // of squares, by block of the launches since the last wait
	summed    int       // how many there are,
	parts     []float64 // the same on the host,
	squares   []squares // and whose they are
	staging   *Pinned   // numbers of the host on their way,
	stagingAt Address   // where arguments of calls go,
	staged    int       // the bytes since the last wait,
	sent      int       // and how many of them are enqueued
	results   *Pinned   // numbers of the device on their way,
	pending   []pending // where they go,
	expected  int       // and their bytes since the last wait
	err       error
}

// A pending copy is memory of the host that gets what is at an offset of the results after a wait.
type pending struct {
	to []byte
	at int
}

type block struct {
	from, bytes int // in the reserved range
	address     Address
}

// addressSpace is how much of it a Memory reserves, and alignment that of its parts, in
// bytes.
const (
	addressSpace = 1 << 40
	alignment    = 256
)

// pinnedBytes is the most bytes that go through pinned memory between two waits, each way, and
// pinnedMost the most of one copy.
const (
	pinnedBytes = 1 << 20
	pinnedMost  = pinnedBytes / 4
)

// NewMemory reserves a range for a device. Kernels come from a library.
func (v *Device) NewMemory(l *Library) (*Memory, error) {
	reserved, err := syscall.Mmap(-1, 0, addressSpace, syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("cuda: no range of addresses can be reserved: %w", err)
	}
	m := &Memory{device: v, library: l, reserved: reserved, calls: boundCalls{}, loaded: map[Variant]*Loaded{}}
	if m.staging, err = v.Pin(pinnedBytes); err == nil {
		m.results, err = v.Pin(pinnedBytes)
	}
	if err == nil {
		m.stagingAt, err = v.Alloc(pinnedBytes)
	}
	if err != nil {
		return nil, errors.Join(err, syscall.Munmap(reserved))
	}
	m.forget = device.Register(reserved, m)
	return m, nil
}

// OpenMemory opens the n-th device and its memory, with the kernels of a library. Without such a device the
// error is an *UnavailableError.
func OpenMemory(n int, l *Library) (*Opened, error) {
	v, err := Open(n)
	if err != nil {
		return nil, err
	}
	m, err := v.NewMemory(l)
	if err != nil {
		return nil, errors.Join(err, v.Close())
	}
	m.Eager(os.Getenv("HECATE_GRAPHS") == "off")
	return &Opened{m, v.Info, v.Free, func() error { return errors.Join(m.Close(), v.Close()) }}, nil
}

// Variants are the kernels that were loaded, with their sizes, sorted.
func (m *Memory) Variants() (out []Variant) {
	for v := range m.loaded {
		out = append(out, v)
	}
	if m.vector != nil {
		out = append(out, Variant{Kernel: vectorKernel.Name})
	}
	slices.SortFunc(out, CompareVariants)
	return out
}

// Eager makes it capture no graphs and wait for each kernel, so that the one that fails is named; slow.
// HECATE_GRAPHS=off in the environment does the same.
func (m *Memory) Eager(on bool) { m.queue.eager = on }

// Close gives the range and the graphs back; its slices cannot be used any more. What was allocated is
// freed with the device, which is closed after it.
func (m *Memory) Close() error {
	m.forget()
	return errors.Join(m.queue.release(m.device), syscall.Munmap(m.reserved))
}

// Make is device.Memory's.
func (m *Memory) Make(bytes int) unsafe.Pointer {
	a, err := m.device.Alloc(bytes)
	if err != nil {
		m.fail(err)
		return nil
	}
	m.queue.copy(fill, a, 0, bytes)
	from := m.used
	m.used += whole(bytes + 1) // a slice without elements behind the last is in no other block
	m.blocks = append(m.blocks, block{from, bytes, a})
	return unsafe.Pointer(&m.reserved[from])
}

// Free is device.Memory's. The addresses are not used again.
func (m *Memory) Free(p unsafe.Pointer) {
	i := m.find(p)
	if i < 0 || m.blocks[i].address == 0 {
		return
	}
	m.flush()
	m.fail(m.device.Release(m.blocks[i].address))
	m.blocks[i].address = 0
}

// String is device.Memory's.
func (m *Memory) String() string { return "cuda " + m.device.Info.Target() }

// Err enqueues what was asked for, and is the first error since the last call of it.
func (m *Memory) Err() error {
	m.flush()
	err := m.err
	m.err = nil
	return err
}

func (m *Memory) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// find is the index of the block that an address of the range is in, -1 for one of the host.
func (m *Memory) find(p unsafe.Pointer) int {
	base := uintptr(unsafe.Pointer(&m.reserved[0]))
	at := int(uintptr(p) - base)
	if uintptr(p) < base || at >= m.used {
		return -1
	}
	if m.last < len(m.blocks) {
		if b := &m.blocks[m.last]; at >= b.from && at < b.from+b.bytes {
			return m.last
		}
	}
	i, found := slices.BinarySearchFunc(m.blocks, at, func(b block, at int) int { return b.from - at })
	if !found {
		i--
	}
	m.last = i
	return i
}

// address translates an address of the range; ok is false for one of the host.
func (m *Memory) address(p unsafe.Pointer) (a Address, ok bool) {
	i := m.find(p)
	if i < 0 {
		return 0, false
	}
	b := &m.blocks[i]
	return b.address + Address(int(uintptr(p)-uintptr(unsafe.Pointer(&m.reserved[0])))-b.from), true
}

// Copy is device.Device's.
func (m *Memory) Copy(to, from unsafe.Pointer, bytes int) {
	a, ok1 := m.address(to)
	b, ok2 := m.address(from)
	switch {
	case ok1 && ok2:
		m.queue.copy(copyWithin, a, b, bytes)
	case ok1 && bytes <= pinnedMost:
		m.room(whole(bytes))
		m.queue.copy(copyWithin, a, m.stage(unsafe.Slice((*byte)(from), bytes)), bytes)
	case ok1:
		m.flush()
		m.fail(m.device.Upload(a, unsafe.Slice((*byte)(from), bytes)))
		m.Wait()
	case bytes <= pinnedMost:
		m.Later(to, from, bytes)
		m.Wait()
	default:
		m.Wait()
		m.fail(m.device.Download(unsafe.Slice((*byte)(to), bytes), b))
	}
}

// Later is device.Device's.
func (m *Memory) Later(to, from unsafe.Pointer, bytes int) {
	if bytes > pinnedBytes {
		m.Copy(to, from, bytes)
		return
	}
	a, _ := m.address(from)
	m.later(unsafe.Slice((*byte)(to), bytes), a)
}

// later copies to the host from an address; no more than there is room for.
func (m *Memory) later(to []byte, from Address) {
	if m.expected+whole(len(to))+whole(8*m.summed) > pinnedBytes {
		m.Wait()
	}
	m.queue.copy(download, Address(m.expected), from, len(to))
	m.pending = append(m.pending, pending{to, m.expected})
	m.expected += whole(len(to))
}

// Wait is device.Device's.
func (m *Memory) Wait() {
	m.expectSums()
	m.flush()
	err := m.device.Wait()
	m.fail(err)
	for _, d := range m.pending {
		if err == nil {
			copy(d.to, m.results.Data[d.at:])
		}
	}
	clear(m.pending)
	m.pending, m.expected, m.staged, m.sent = m.pending[:0], 0, 0, 0
	m.addSums()
}

// flush enqueues what was asked for.
func (m *Memory) flush() {
	if m.sent < m.staged {
		m.queue.first(upload, m.stagingAt+Address(m.sent), Address(m.sent), m.staged-m.sent)
		m.sent = m.staged
	}
	m.fail(m.queue.flush(m.device, m.staging, m.results))
}

// Clear is device.Device's.
func (m *Memory) Clear(to unsafe.Pointer, bytes int) {
	a, _ := m.address(to)
	m.queue.copy(fill, a, 0, bytes)
}

// Run is device.Device's.
func (m *Memory) Run(kernel string, call any) { m.fail(m.run(kernel, call)) }

func (m *Memory) run(kernel string, call any) error {
	b, base, err := m.calls.bind(m.library, kernel, call)
	if err != nil {
		return err
	}
	s := b.shapes[string(b.key)]
	if s == nil {
		if s, err = m.shape(b); err != nil {
			return err
		}
		b.shapes[string(b.key)] = s
	}
	b.host = b.host[:0]
	here := 0
	for _, f := range b.slices {
		data := *(*[]byte)(unsafe.Add(base, f.offset)) // its length counts elements
		p := unsafe.Pointer(unsafe.SliceData(data))
		b.to[f.buffer] = 0
		if len(data) == 0 {
			continue
		}
		a, ok := m.address(p)
		if !ok {
			b.host = append(b.host, argument{f.buffer, unsafe.Slice((*byte)(p), len(data)*f.bytes)})
			here += whole(len(data) * f.bytes)
		}
		b.to[f.buffer] = a
	}
	if here > pinnedBytes {
		return fmt.Errorf("cuda: arguments of kernel %s take %d bytes of the host's memory; there is room for %d", kernel, here, pinnedBytes)
	}
	m.room(here)
	for _, x := range b.host {
		b.to[x.buffer] = m.stage(x.data)
	}
	clear(b.host)
	if err := m.workspace(b, s); err != nil {
		return err
	}
	if err := s.loaded.launches(s.Shape, b.to, m.queue.launch); err != nil || b.roots < 0 {
		return err
	}
	found := make([]byte, 4*s.Lengths[b.roots])
	m.later(found, b.to[b.roots])
	m.Wait() // what follows a search that has failed is not computed
	first := 0
	for i := range s.Lengths[b.roots] {
		if first == 0 && binary.LittleEndian.Uint32(found[4*i:]) != 0 {
			first = i + 1
		}
	}
	*(*int)(unsafe.Add(base, b.failed)) = first
	return nil
}

// shape loads the kernel for the sizes of a call, and evaluates them.
func (m *Memory) shape(b *boundCall) (*sizedCall, error) {
	constants, err := b.kernel.Constants(b.values)
	if err != nil {
		return nil, err
	}
	v := Variant{b.kernel.Name, constants}
	if m.loaded[v] == nil {
		if m.loaded[v], err = m.device.Prepare(m.library, b.kernel, b.values); err != nil {
			return nil, err
		}
	}
	s := &sizedCall{loaded: m.loaded[v]}
	if s.Shape, err = s.loaded.Shape(b.values); err != nil {
		return nil, err
	}
	s.work = b.kernel.workBytes(s.Shape)
	return s, nil
}

// whole rounds bytes up to an aligned part.
func whole(bytes int) int { return (bytes + alignment - 1) / alignment * alignment }

// workspace gives a call its workspace. Kernels run one after another, so all of them share it.
func (m *Memory) workspace(b *boundCall, s *sizedCall) error {
	if s.work > m.workBytes {
		m.flush()
		err := m.device.Release(m.work)
		m.work, m.workBytes = 0, 0
		if err != nil {
			return err
		}
		a, err := m.device.Alloc(s.work)
		if err != nil {
			return err
		}
		m.work, m.workBytes = a, s.work
	}
	at := m.work
	for i, buffer := range b.kernel.Buffers {
		if !buffer.Own() {
			continue
		}
		b.to[i] = at
		if s.Lengths[i] == 0 {
			b.to[i] = 0
		}
		at += Address(whole(s.Lengths[i] * buffer.Size()))
	}
	return nil
}

// room sees that so many bytes can be staged.
func (m *Memory) room(n int) {
	if m.staged+n > pinnedBytes {
		m.Wait()
	}
}

// stage takes numbers of the host, for which there is room, and is where the device has them.
func (m *Memory) stage(data []byte) Address {
	at := m.staged
	m.staged += whole(len(data))
	copy(m.staging.Data[at:], data)
	return m.stagingAt + Address(at)
}
