//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// A Device is an open device with one stream. See the package for its use.
type Device struct {
	Info    Info
	driver  *driver
	number  int32
	context uintptr
	stream  uintptr
	pools   bool

	mu        sync.Mutex
	allocated map[Address]int
	pinned    map[*Pinned]bool
	modules   map[*Module]bool
	lost      *Error
	closed    bool
	args      launchArgs
}

// errClosed is the answer of a closed device.
var errClosed = errors.New("cuda: the device is closed")

// Open opens the n-th device. Without such a device the error is an *UnavailableError.
func Open(n int) (*Device, error) {
	d, err := openDriver()
	if err != nil {
		return nil, err
	}
	count, err := d.count()
	if err != nil {
		return nil, err
	}
	if n < 0 || n >= count {
		return nil, &UnavailableError{fmt.Sprintf("there is no device cuda:%d: the CUDA driver sees %d", n, count)}
	}
	info, number, err := d.info(n)
	if err != nil {
		return nil, err
	}
	v := &Device{Info: info, driver: d, number: number, allocated: map[Address]int{}, pinned: map[*Pinned]bool{}, modules: map[*Module]bool{}}
	if err := d.call(&d.retain, uintptr(unsafe.Pointer(&v.context)), uintptr(number)); err != nil {
		return nil, v.named(err, "")
	}
	pools, err := d.attribute(number, attributePools)
	v.pools = err == nil && pools != 0 && d.allocAsync.at != 0 && d.freeAsync.at != 0
	err = d.onThread(v.context, func() error {
		return d.call(&d.streamCreate, uintptr(unsafe.Pointer(&v.stream)), 1) // not blocked by the default stream
	})
	if err != nil {
		err = errors.Join(v.named(err, ""), d.call(&d.release, uintptr(number)))
		return nil, err
	}
	return v, nil
}

// named adds the device, and a kernel, to an error of the driver; one after which the device is
// lost is kept.
func (v *Device) named(err error, kernel string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	e.Device = v.Info.String()
	if kernel != "" {
		e.Kernel = kernel
	}
	if e.Lost() && v.lost == nil {
		v.lost = e
	}
	return e
}

// do runs f on a thread with the device's context.
func (v *Device) do(kernel string, f func() error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.closed:
		return errClosed
	case v.lost != nil:
		return v.lost
	}
	return v.named(v.driver.onThread(v.context, f), kernel)
}

// Lost is the error after which the device cannot be used, nil if there is none.
func (v *Device) Lost() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.lost == nil {
		return nil
	}
	return v.lost
}

// Free is the memory that the device has free, and all of it, in bytes.
func (v *Device) Free() (free, total int64, err error) {
	var a, b uint64
	err = v.do("", func() error {
		return v.driver.call(&v.driver.memoryInfo, uintptr(unsafe.Pointer(&a)), uintptr(unsafe.Pointer(&b)))
	})
	return int64(a), int64(b), err
}

// Alloc returns n bytes of memory, contents unspecified; none for n of 0.
func (v *Device) Alloc(n int) (Address, error) {
	if n == 0 {
		return 0, nil
	}
	var a Address
	err := v.do("", func() error {
		if v.pools {
			return v.driver.call(&v.driver.allocAsync, uintptr(unsafe.Pointer(&a)), uintptr(n), v.stream)
		}
		return v.driver.call(&v.driver.alloc, uintptr(unsafe.Pointer(&a)), uintptr(n))
	})
	if err != nil {
		var e *Error
		if errors.As(err, &e) && e.Code == codeOutOfMemory {
			e.Detail = fmt.Sprintf("%d bytes were asked for, %d are allocated", n, v.bytes())
		}
		return 0, err
	}
	v.mu.Lock()
	v.allocated[a] = n
	v.mu.Unlock()
	return a, nil
}

// Release frees memory when all that is enqueued has used it.
func (v *Device) Release(a Address) error {
	if a == 0 {
		return nil
	}
	err := v.do("", func() error {
		if _, ok := v.allocated[a]; !ok {
			return fmt.Errorf("cuda: BUG: %#x is not allocated", uint64(a))
		}
		if v.pools {
			return v.driver.call(&v.driver.freeAsync, uintptr(a), v.stream)
		}
		if err := v.driver.call(&v.driver.streamWait, v.stream); err != nil {
			return err
		}
		return v.driver.call(&v.driver.free, uintptr(a))
	})
	if err == nil {
		v.mu.Lock()
		delete(v.allocated, a)
		v.mu.Unlock()
	}
	return err
}

// Allocated is the number of allocations that have not been released, memory of the host for
// copies included, and the bytes of those on the device.
func (v *Device) Allocated() (count, bytes int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.allocated) + len(v.pinned), v.bytesLocked()
}

func (v *Device) bytes() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.bytesLocked()
}

func (v *Device) bytesLocked() (n int) {
	for _, m := range v.allocated {
		n += m
	}
	return n
}

// Upload copies to the device and waits.
func (v *Device) Upload(to Address, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	return v.do("", func() error {
		defer runtime.KeepAlive(from)
		if err := v.driver.call(&v.driver.upload, uintptr(to), uintptr(unsafe.Pointer(&from[0])), uintptr(len(from)), v.stream); err != nil {
			return err
		}
		return v.driver.call(&v.driver.streamWait, v.stream)
	})
}

// Download copies from the device, after all that is enqueued, and waits.
func (v *Device) Download(to []byte, from Address) error {
	if len(to) == 0 {
		return v.Wait()
	}
	return v.do("", func() error {
		defer runtime.KeepAlive(to)
		if err := v.driver.call(&v.driver.download, uintptr(unsafe.Pointer(&to[0])), uintptr(from), uintptr(len(to)), v.stream); err != nil {
			return err
		}
		return v.driver.call(&v.driver.streamWait, v.stream)
	})
}

// Copy enqueues a copy of n bytes within the device.
func (v *Device) Copy(to, from Address, n int) error {
	if n == 0 {
		return nil
	}
	return v.do("", func() error {
		return v.driver.call(&v.driver.copyWithin, uintptr(to), uintptr(from), uintptr(n), v.stream)
	})
}

// Fill enqueues a fill of n bytes with x.
func (v *Device) Fill(to Address, x byte, n int) error {
	if n == 0 {
		return nil
	}
	return v.do("", func() error {
		return v.driver.call(&v.driver.fill, uintptr(to), uintptr(x), uintptr(n), v.stream)
	})
}

// Wait waits for all that is enqueued.
func (v *Device) Wait() error { return v.waitFor("") }

// waitFor is Wait, whose error is that of a kernel.
func (v *Device) waitFor(kernel string) error {
	return v.do(kernel, func() error { return v.driver.call(&v.driver.streamWait, v.stream) })
}

// Pinned is memory of the host that the device reads and writes while the host goes on.
type Pinned struct {
	Data   []byte
	device *Device
}

// Pin returns n bytes of such memory.
func (v *Device) Pin(n int) (*Pinned, error) {
	p := &Pinned{device: v}
	var at unsafe.Pointer
	err := v.do("", func() error {
		return v.driver.call(&v.driver.hostAlloc, uintptr(unsafe.Pointer(&at)), uintptr(max(n, 1)), 0)
	})
	if err != nil {
		return nil, err
	}
	p.Data = unsafe.Slice((*byte)(at), n)
	v.mu.Lock()
	v.pinned[p] = true
	v.mu.Unlock()
	return p, nil
}

// Release frees the memory; nothing that is enqueued may still use it.
func (p *Pinned) Release() error {
	v := p.device
	err := v.do("", func() error { return v.freePinned(p) })
	if err == nil {
		v.mu.Lock()
		delete(v.pinned, p)
		v.mu.Unlock()
	}
	return err
}

func (v *Device) freePinned(p *Pinned) error {
	return v.driver.call(&v.driver.hostFree, uintptr(unsafe.Pointer(unsafe.SliceData(p.Data))))
}

// EnqueueUpload enqueues a copy of n bytes of pinned memory, from an offset on. They must not
// change until it has happened.
func (v *Device) EnqueueUpload(to Address, from *Pinned, offset, n int) error {
	if n == 0 {
		return nil
	}
	part := from.Data[offset : offset+n]
	return v.do("", func() error {
		return v.driver.call(&v.driver.upload, uintptr(to), uintptr(unsafe.Pointer(&part[0])), uintptr(n), v.stream)
	})
}

// EnqueueDownload enqueues a copy to pinned memory; it is there after the next Wait.
func (v *Device) EnqueueDownload(to *Pinned, offset int, from Address, n int) error {
	if n == 0 {
		return nil
	}
	part := to.Data[offset : offset+n]
	return v.do("", func() error {
		return v.driver.call(&v.driver.download, uintptr(unsafe.Pointer(&part[0])), uintptr(from), uintptr(n), v.stream)
	})
}

// Close waits, frees all that is allocated, and gives the device back. Of a device that is lost
// the driver frees everything with the process.
func (v *Device) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil
	}
	v.closed = true
	var errs []error
	if v.lost == nil {
		err := v.driver.onThread(v.context, func() error {
			errs := []error{v.driver.call(&v.driver.streamWait, v.stream)}
			for m := range v.modules {
				errs = append(errs, v.driver.call(&v.driver.unload, m.handle))
			}
			for a := range v.allocated {
				if v.pools {
					errs = append(errs, v.driver.call(&v.driver.freeAsync, uintptr(a), v.stream))
				} else {
					errs = append(errs, v.driver.call(&v.driver.free, uintptr(a)))
				}
			}
			for p := range v.pinned {
				errs = append(errs, v.freePinned(p))
			}
			errs = append(errs, v.driver.call(&v.driver.streamWait, v.stream), v.driver.call(&v.driver.streamDestroy, v.stream))
			return errors.Join(errs...)
		})
		errs = append(errs, v.named(err, ""))
	}
	clear(v.allocated)
	clear(v.pinned)
	clear(v.modules)
	return errors.Join(append(errs, v.driver.call(&v.driver.release, uintptr(v.number)))...)
}
