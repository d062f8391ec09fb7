//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"fmt"
	"reflect"
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
// Slices of the host among the arguments of a call, such as ids, are copied to the device with it. What
// they hold is read when the call is enqueued.
type Memory struct {
	device  *Device
	library *Library
	forget  func()

	reserved []byte
	used     int
	blocks   []block // by address
	last     int     // of the block that was found last

	calls     map[callKey]*boundCall
	loaded    map[string]*Loaded
	work      Address // workspace of kernels, which run one after another
	workBytes int
	vector    *vectors
	sums      []byte  // partial sums of squares, of float64
	summed    int     // how many there are
	staging   *Pinned // arguments of the host on their way,
	stagingAt Address // where they go,
	staged    int     // and their bytes since the last wait
	err       error
}

type block struct {
	from, bytes int // in the reserved range
	address     Address
}

// callKey is the kernel and the type of its calls.
type callKey struct {
	kernel string
	typ    reflect.Type
}

// addressSpace is how much of it a Memory reserves, and alignment that of its parts, in
// bytes.
const (
	addressSpace = 1 << 40
	alignment    = 256
)

// stagingBytes is the most bytes of arguments of the host between two waits.
const stagingBytes = 1 << 20

// NewMemory reserves a range for a device. Kernels come from a library.
func (v *Device) NewMemory(l *Library) (*Memory, error) {
	reserved, err := syscall.Mmap(-1, 0, addressSpace, syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("cuda: no range of addresses can be reserved: %w", err)
	}
	m := &Memory{device: v, library: l, reserved: reserved, calls: map[callKey]*boundCall{}, loaded: map[string]*Loaded{}}
	m.staging, err = v.Pin(stagingBytes)
	if err == nil {
		m.stagingAt, err = v.Alloc(stagingBytes)
	}
	if err != nil {
		return nil, errors.Join(err, syscall.Munmap(reserved))
	}
	m.forget = device.Register(reserved, m)
	return m, nil
}

// OpenMemory opens the n-th device and its memory, with the kernels of some archives. done closes both.
func OpenMemory(n int, archives ...[]byte) (m device.Memory, info Info, done func() error, err error) {
	l, err := OpenLibrary(archives...)
	if err != nil {
		return nil, info, nil, err
	}
	v, err := Open(n)
	if err != nil {
		return nil, info, nil, err
	}
	own, err := v.NewMemory(l)
	if err != nil {
		return nil, info, nil, errors.Join(err, v.Close())
	}
	return own, v.Info, func() error { return errors.Join(v.Close(), own.Close()) }, nil
}

// Close gives the range back; its slices cannot be used any more. What was allocated is freed with the
// device.
func (m *Memory) Close() error {
	m.forget()
	return syscall.Munmap(m.reserved)
}

// Make is device.Memory's.
func (m *Memory) Make(bytes int) unsafe.Pointer {
	a, err := m.device.Alloc(bytes)
	if err == nil {
		err = m.device.Fill(a, 0, bytes)
	}
	if err != nil {
		m.fail(err)
		return nil
	}
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
	m.fail(m.device.Release(m.blocks[i].address))
	m.blocks[i].address = 0
}

// String is device.Memory's.
func (m *Memory) String() string { return "cuda " + m.device.Info.Target() }

// Err is the first error since the last call of it.
func (m *Memory) Err() error {
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
		m.fail(m.device.Copy(a, b, bytes))
	case ok1 && bytes <= stagingBytes/4:
		at, err := m.stage(unsafe.Slice((*byte)(from), bytes))
		if err == nil {
			err = m.device.Copy(a, at, bytes)
		}
		m.fail(err)
	case ok1:
		m.fail(m.device.Upload(a, unsafe.Slice((*byte)(from), bytes)))
	default:
		m.fail(m.device.Download(unsafe.Slice((*byte)(to), bytes), b))
		m.staged = 0 // it has waited for all that was enqueued
	}
}

// Clear is device.Device's.
func (m *Memory) Clear(to unsafe.Pointer, bytes int) {
	a, _ := m.address(to)
	m.fail(m.device.Fill(a, 0, bytes))
}

// A boundCall is the type of the calls of a kernel: where its sizes and slices are.
type boundCall struct {
	kernel *Kernel
	sizes  []field
	slices []field // of the buffers that are no workspace
	shapes map[string]*sizedCall
	key    []byte
	values map[string]int
	to     []Address
}

// A sizedCall is what follows from the sizes of a call.
type sizedCall struct {
	*Shape
	loaded *Loaded
	work   int // bytes of workspace
}

type field struct {
	name   string // of the size, or of the buffer
	offset uintptr
	bytes  int // of an element
	buffer int // index
}

// noRoot is the workspace in which a kernel says that a search has failed.
const noRoot = "no_root"

// bind finds the fields of a call: sizes, then parameters, in the order of the plan.
func (m *Memory) bind(kernel string, t reflect.Type) (*boundCall, error) {
	k, err := m.library.Kernel(kernel)
	if err != nil {
		return nil, err
	}
	b := &boundCall{kernel: k, shapes: map[string]*sizedCall{}, values: map[string]int{}, to: make([]Address, len(k.Buffers))}
	at := 0
	next := func(kind reflect.Kind, name string) (reflect.StructField, error) {
		if at >= t.NumField() || t.Field(at).Type.Kind() != kind {
			return reflect.StructField{}, fmt.Errorf("cuda: BUG: %s has no field for %s of kernel %s", t, name, kernel)
		}
		at++
		return t.Field(at - 1), nil
	}
	for _, s := range k.Sizes {
		f, err := next(reflect.Int, s)
		if err != nil {
			return nil, err
		}
		b.sizes = append(b.sizes, field{name: s, offset: f.Offset})
	}
	for i, buffer := range k.Buffers {
		if buffer.Role == "work" {
			if buffer.Name == noRoot {
				return nil, fmt.Errorf("cuda: kernel %s finds roots; a GPU does not report yet that there is none, so it runs on the processor only", kernel)
			}
			continue
		}
		f, err := next(reflect.Slice, buffer.Name)
		if err != nil {
			return nil, err
		}
		size := int(f.Type.Elem().Size())
		if size != buffer.Size() {
			return nil, fmt.Errorf("cuda: BUG: field %s of %s has elements of %d bytes, %s of kernel %s of %d", f.Name, t, size, buffer.Name, kernel, buffer.Size())
		}
		b.slices = append(b.slices, field{buffer.Name, f.Offset, size, i})
	}
	return b, nil
}

// Run is device.Device's.
func (m *Memory) Run(kernel string, call any) { m.fail(m.run(kernel, call)) }

func (m *Memory) run(kernel string, call any) error {
	v := reflect.ValueOf(call)
	key := callKey{kernel, v.Type().Elem()}
	b := m.calls[key]
	if b == nil {
		var err error
		if b, err = m.bind(kernel, key.typ); err != nil {
			return err
		}
		m.calls[key] = b
	}
	base := v.UnsafePointer()
	b.key = b.key[:0]
	for _, f := range b.sizes {
		n := *(*int)(unsafe.Add(base, f.offset))
		b.values[f.name] = n
		b.key = fmt.Appendf(b.key, "%d ", n)
	}
	s := b.shapes[string(b.key)]
	if s == nil {
		var err error
		if s, err = m.shape(b); err != nil {
			return err
		}
		b.shapes[string(b.key)] = s
	}
	for _, f := range b.slices {
		data := *(*[]byte)(unsafe.Add(base, f.offset)) // its length counts elements
		p := unsafe.Pointer(unsafe.SliceData(data))
		if len(data) == 0 {
			b.to[f.buffer] = 0
			continue
		}
		a, ok := m.address(p)
		if !ok {
			var err error
			if a, err = m.stage(unsafe.Slice((*byte)(p), len(data)*f.bytes)); err != nil {
				return err
			}
		}
		b.to[f.buffer] = a
	}
	if err := m.workspace(b, s); err != nil {
		return err
	}
	return s.loaded.Run(s.Shape, b.to)
}

// shape loads the kernel for the sizes of a call, and evaluates them.
func (m *Memory) shape(b *boundCall) (*sizedCall, error) {
	constants, err := b.kernel.Constants(b.values)
	if err != nil {
		return nil, err
	}
	name := b.kernel.Name + " " + constants
	if m.loaded[name] == nil {
		if m.loaded[name], err = m.device.Prepare(m.library, b.kernel, b.values); err != nil {
			return nil, err
		}
	}
	s := &sizedCall{loaded: m.loaded[name]}
	if s.Shape, err = s.loaded.Shape(b.values); err != nil {
		return nil, err
	}
	for i, buffer := range b.kernel.Buffers {
		if buffer.Role == "work" {
			s.work += whole(s.Lengths[i] * buffer.Size())
		}
	}
	return s, nil
}

// whole rounds bytes up to an aligned part.
func whole(bytes int) int { return (bytes + alignment - 1) / alignment * alignment }

// workspace gives a call its workspace. Kernels run one after another, so all of them share it.
func (m *Memory) workspace(b *boundCall, s *sizedCall) error {
	if s.work > m.workBytes {
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
		if buffer.Role != "work" {
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

// stage copies memory of the host to the device, as it is now.
func (m *Memory) stage(data []byte) (Address, error) {
	n := whole(len(data))
	if n > stagingBytes {
		return 0, fmt.Errorf("cuda: an argument of %d bytes is in memory of the host; there is room for %d", len(data), stagingBytes)
	}
	if m.staged+n > stagingBytes {
		if err := m.device.Wait(); err != nil {
			return 0, err
		}
		m.staged = 0
	}
	at := m.staged
	m.staged += n
	copy(m.staging.Data[at:], data)
	return m.stagingAt + Address(at), m.device.EnqueueUpload(m.stagingAt+Address(at), m.staging, at, len(data))
}
