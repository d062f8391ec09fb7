//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/device"
)

// A DryRun is a memory without a device. It runs no kernel, and notes which ones a device would run, with
// which sizes of the model, and how much memory they would take. What kernels write stays as it was:
// zeros at first. It is a device.Device, and serves one goroutine.
type DryRun struct {
	library  *Library
	reserved []byte
	forget   func()
	used     int
	open     int // of the range, which the host may read: whole pages
	sizes    map[unsafe.Pointer]int
	calls    boundCalls
	variants map[Variant]bool
	bytes    int // that are made now,
	most     int // and the most so far
	work     int
	err      error
}

// NewDryRun returns a memory without a device. Kernels are those of a library.
func NewDryRun(l *Library) (*DryRun, error) {
	reserved, err := syscall.Mmap(-1, 0, addressSpace, syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("cuda: no range of addresses can be reserved: %w", err)
	}
	s := &DryRun{library: l, reserved: reserved, sizes: map[unsafe.Pointer]int{}, calls: boundCalls{}, variants: map[Variant]bool{}}
	s.forget = device.Register(reserved, s)
	return s, nil
}

// Close gives the range back; its slices cannot be used any more.
func (s *DryRun) Close() error {
	s.forget()
	return syscall.Munmap(s.reserved)
}

// Variants are the kernels that were called, with their sizes, sorted.
func (s *DryRun) Variants() []Variant {
	return slices.SortedFunc(maps.Keys(s.variants), CompareVariants)
}

// Bytes is the memory of a device that all of it takes, in bytes, at most at one time; images, graphs and the
// driver's own are not counted.
func (s *DryRun) Bytes() int { return s.most + s.work + pinnedBytes }

// IsDryRun says that no kernel runs; see device.Computed.
func (s *DryRun) IsDryRun() {}

// Make is device.Memory's.
func (s *DryRun) Make(bytes int) unsafe.Pointer {
	if s.used+whole(bytes+1) > len(s.reserved) {
		s.fail(fmt.Errorf("cuda: %d bytes are more than a process can reserve", bytes))
		return nil
	}
	from, page := s.used, os.Getpagesize()
	s.used += whole(bytes + 1)
	if to := (s.used + page - 1) / page * page; to > s.open {
		if err := syscall.Mprotect(s.reserved[s.open:to], syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
			s.fail(fmt.Errorf("cuda: no memory of the host: %w", err))
			return nil
		}
		s.open = to
	}
	p := unsafe.Pointer(&s.reserved[from])
	s.sizes[p] = bytes
	s.bytes += whole(bytes)
	s.most = max(s.most, s.bytes)
	return p
}

// Free is device.Memory's.
func (s *DryRun) Free(p unsafe.Pointer) {
	s.bytes -= whole(s.sizes[p])
	delete(s.sizes, p)
}

// Err is the first error since the last call of it.
func (s *DryRun) Err() error {
	err := s.err
	s.err = nil
	return err
}

func (s *DryRun) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// String is device.Memory's.
func (s *DryRun) String() string { return "cuda" }

// Run is device.Device's.
func (s *DryRun) Run(kernel string, call any) { s.fail(s.run(kernel, call)) }

func (s *DryRun) run(kernel string, call any) error {
	b, _, err := s.calls.bind(s.library, kernel, call)
	if err != nil {
		return err
	}
	if b.shapes[string(b.key)] != nil {
		return nil
	}
	shape, err := b.kernel.Shape(b.values)
	if err != nil {
		return err
	}
	constants, err := b.kernel.Constants(b.values)
	if err != nil {
		return err
	}
	b.shapes[string(b.key)] = &sizedCall{Shape: shape}
	s.variants[Variant{kernel, constants}] = true
	s.work = max(s.work, b.kernel.workBytes(shape))
	return nil
}

// Copy is device.Device's.
func (s *DryRun) Copy(to, from unsafe.Pointer, bytes int) {
	copy(unsafe.Slice((*byte)(to), bytes), unsafe.Slice((*byte)(from), bytes))
}

// Later is device.Device's.
func (s *DryRun) Later(to, from unsafe.Pointer, bytes int) { s.Copy(to, from, bytes) }

// Wait is device.Device's.
func (s *DryRun) Wait() {}

// Clear is device.Device's.
func (s *DryRun) Clear(to unsafe.Pointer, bytes int) { clear(unsafe.Slice((*byte)(to), bytes)) }

// vector notes the kernels of vectors.
func (s *DryRun) vector() { s.variants[Variant{Kernel: vectorKernel.Name}] = true }

// Add is device.Device's.
func (s *DryRun) Add(_, _ unsafe.Pointer, _ int) { s.vector() }

// Scale is device.Device's.
func (s *DryRun) Scale(unsafe.Pointer, int, float32) { s.vector() }

// Squares is device.Device's.
func (s *DryRun) Squares(unsafe.Pointer, int, *float64) { s.vector() }
