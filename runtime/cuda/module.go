//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// A Module is an image that was loaded.
type Module struct {
	device *Device
	name   string
	handle uintptr
}

// A Function is a kernel of a module.
type Function struct {
	module *Module
	name   string
	handle uintptr
	shared int // dynamic shared memory that it was allowed
}

// jitLog is the room for what the driver says of an image.
const jitLog = 8 << 10

// loadArgs is what the driver reads and writes through pointers while it loads an image: on the heap, where
// nothing moves.
type loadArgs struct {
	options [2]int32
	values  [2]uintptr
	log     [jitLog]byte
}

// Load loads an image, machine code or PTX, under a name for messages.
func (v *Device) Load(name string, image []byte) (*Module, error) {
	m := &Module{device: v, name: name}
	if len(image) == 0 {
		return nil, &Error{Call: "cuModuleLoadDataEx", Code: codeInvalidSource, Name: "an empty image", Kernel: name, Device: v.Info.String()}
	}
	image = append(bytes.Clone(image), 0) // PTX ends with a zero
	x := new(loadArgs)
	x.options = [2]int32{5, 6} // the buffer of the log of errors, and its size
	x.values = [2]uintptr{uintptr(unsafe.Pointer(&x.log[0])), jitLog}
	err := v.do(name, func() error {
		defer runtime.KeepAlive(x)
		return v.driver.call(&v.driver.load, uintptr(unsafe.Pointer(&m.handle)), uintptr(unsafe.Pointer(&image[0])), uintptr(len(x.options)),
			uintptr(unsafe.Pointer(&x.options[0])), uintptr(unsafe.Pointer(&x.values[0])))
	})
	log := x.log[:]
	if err != nil {
		var e *Error
		if text, _, _ := bytes.Cut(log, []byte{0}); errors.As(err, &e) && len(text) > 0 {
			line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte{'\n'})
			e.Detail = string(line)
		}
		return nil, err
	}
	v.mu.Lock()
	v.modules[m] = true
	v.mu.Unlock()
	return m, nil
}

// Function finds a kernel.
func (m *Module) Function(name string) (*Function, error) {
	v := m.device
	f := &Function{module: m, name: name}
	text := append([]byte(name), 0)
	err := v.do(name, func() error {
		return v.driver.call(&v.driver.getFunction, uintptr(unsafe.Pointer(&f.handle)), m.handle, uintptr(unsafe.Pointer(&text[0])))
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// A Resources is what a kernel takes: registers of a thread, and bytes of a thread's stack.
type Resources struct{ Registers, Stack int }

// Resources asks the driver what a kernel takes.
func (f *Function) Resources() (r Resources, err error) {
	v := f.module.device
	err = v.do(f.name, func() error {
		for _, x := range []struct {
			to    *int
			which uintptr
		}{{&r.Registers, 4}, {&r.Stack, 3}} {
			var n int32
			if err := v.driver.call(&v.driver.getAttribute, uintptr(unsafe.Pointer(&n)), x.which, f.handle); err != nil {
				return err
			}
			*x.to = int(n)
		}
		return nil
	})
	return r, err
}

// Unload frees the module; no kernel of it may be enqueued.
func (m *Module) Unload() error {
	v := m.device
	err := v.do(m.name, func() error { return v.driver.call(&v.driver.unload, m.handle) })
	v.mu.Lock()
	delete(v.modules, m)
	v.mu.Unlock()
	return err
}

// mostArgs is the most arguments that a kernel has.
const mostArgs = 256

// launchArgs are the arguments of a launch. The driver reads them through pointers while
// the call lasts, so they are on the heap, where nothing moves.
type launchArgs struct {
	values   [mostArgs]uint64
	pointers [mostArgs]unsafe.Pointer
}

// givenShared is the dynamic shared memory that a kernel may have without asking, in bytes: 48 KB less
// what its arrays of fixed length take.
const givenShared = 48<<10 - 128

// functionShared is the attribute of the dynamic shared memory that a kernel may have.
const functionShared = 8

// Launch enqueues a kernel. A grid without blocks does nothing.
func (v *Device) Launch(f *Function, g Grid, args ...Arg) error {
	if g.Blocks == 0 {
		return nil
	}
	err := v.do(f.name, func() error {
		if len(args) > mostArgs {
			return fmt.Errorf("cuda: BUG: %s has %d arguments", f.name, len(args))
		}
		if g.Shared > givenShared && g.Shared > f.shared {
			if err := v.driver.call(&v.driver.setFunction, f.handle, functionShared, uintptr(g.Shared)); err != nil {
				return err
			}
			f.shared = g.Shared
		}
		for i, a := range args {
			v.args.values[i] = a.bits
			v.args.pointers[i] = unsafe.Pointer(&v.args.values[i])
		}
		defer runtime.KeepAlive(v)
		return v.driver.call(&v.driver.launch, f.handle, uintptr(g.Blocks), 1, 1, uintptr(g.Threads), 1, 1, uintptr(g.Shared), v.stream,
			uintptr(unsafe.Pointer(&v.args.pointers[0])), 0)
	})
	var e *Error
	if errors.As(err, &e) && e.Detail == "" && e != v.lost {
		e.Detail = fmt.Sprintf("%d blocks of %d threads, %d bytes of shared memory", g.Blocks, g.Threads, g.Shared)
	}
	return err
}
