//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// The driver is libcuda with the addresses of its functions. Each is called by SyscallN:
// no function takes a floating-point number.

// A function is a function of the driver. An optional one may be missing.
type function struct {
	name     string
	optional bool
	at       uintptr
}

// A driver is a library that was opened.
type driver struct {
	path    string
	version int // 1000·major + 10·minor

	init, driverVersion, errorName                          function
	deviceCount, deviceGet, deviceName, deviceMemory        function
	deviceAttribute, retain, release, setCurrent            function
	memoryInfo, alloc, free, allocAsync, freeAsync          function
	hostAlloc, hostFree, upload, download, copyWithin, fill function
	streamCreate, streamDestroy, streamWait                 function
	load, unload, getFunction, setFunction, getAttribute    function
	launch                                                  function
	beginCapture, endCapture, instantiate, graphLaunch      function
	graphDestroy, execDestroy, graphNodes                   function
}

// functions lists the functions with their names in the library, of which several have a
// second version.
func (d *driver) functions() []*function {
	name := func(f *function, name string) *function { f.name = name; return f }
	optional := func(f *function, name string) *function { f.name, f.optional = name, true; return f }
	return []*function{
		name(&d.init, "cuInit"), name(&d.driverVersion, "cuDriverGetVersion"), name(&d.errorName, "cuGetErrorName"),
		name(&d.deviceCount, "cuDeviceGetCount"), name(&d.deviceGet, "cuDeviceGet"), name(&d.deviceName, "cuDeviceGetName"),
		name(&d.deviceMemory, "cuDeviceTotalMem_v2"), name(&d.deviceAttribute, "cuDeviceGetAttribute"),
		name(&d.retain, "cuDevicePrimaryCtxRetain"), name(&d.release, "cuDevicePrimaryCtxRelease_v2"), name(&d.setCurrent, "cuCtxSetCurrent"),
		name(&d.memoryInfo, "cuMemGetInfo_v2"), name(&d.alloc, "cuMemAlloc_v2"), name(&d.free, "cuMemFree_v2"),
		optional(&d.allocAsync, "cuMemAllocAsync"), optional(&d.freeAsync, "cuMemFreeAsync"),
		name(&d.hostAlloc, "cuMemHostAlloc"), name(&d.hostFree, "cuMemFreeHost"),
		name(&d.upload, "cuMemcpyHtoDAsync_v2"), name(&d.download, "cuMemcpyDtoHAsync_v2"),
		name(&d.copyWithin, "cuMemcpyDtoDAsync_v2"), name(&d.fill, "cuMemsetD8Async"),
		name(&d.streamCreate, "cuStreamCreate"), name(&d.streamDestroy, "cuStreamDestroy_v2"), name(&d.streamWait, "cuStreamSynchronize"),
		name(&d.load, "cuModuleLoadDataEx"), name(&d.unload, "cuModuleUnload"), name(&d.getFunction, "cuModuleGetFunction"),
		name(&d.setFunction, "cuFuncSetAttribute"), name(&d.getAttribute, "cuFuncGetAttribute"), name(&d.launch, "cuLaunchKernel"),
		optional(&d.beginCapture, "cuStreamBeginCapture_v2"), optional(&d.endCapture, "cuStreamEndCapture"),
		optional(&d.instantiate, "cuGraphInstantiateWithFlags"), optional(&d.graphLaunch, "cuGraphLaunch"),
		optional(&d.graphDestroy, "cuGraphDestroy"), optional(&d.execDestroy, "cuGraphExecDestroy"), optional(&d.graphNodes, "cuGraphGetNodes"),
	}
}

// graphs reports whether the driver has all that graphs need.
func (d *driver) graphs() bool {
	for _, f := range []*function{&d.beginCapture, &d.endCapture, &d.instantiate, &d.graphLaunch, &d.graphDestroy, &d.execDestroy} {
		if f.at == 0 {
			return false
		}
	}
	return true
}

// libraries are where the driver may be.
func libraries() []string {
	if named := os.Getenv("LIBCUDA_PATH"); named != "" {
		return []string{named}
	}
	return []string{"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"}
}

// openLibrary opens a shared library, on one thread: what went wrong is known to that thread alone.
func openLibrary(path string, mode int) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(path, purego.RTLD_NOW|mode)
}

// openDriver opens the driver, once in a process.
var openDriver = sync.OnceValues(func() (*driver, error) {
	var said []string
	for _, path := range libraries() {
		handle, err := openLibrary(path, purego.RTLD_GLOBAL)
		if err != nil {
			said = append(said, err.Error())
			continue
		}
		d := &driver{path: path}
		if err := d.bind(handle); err != nil {
			return nil, err
		}
		return d, d.start()
	}
	if len(said) > 1 {
		said = said[:1] // the others are places where it seldom is
	}
	return nil, &UnavailableError{"there is no CUDA driver: " + strings.Join(said, "; ")}
})

// bind finds the functions.
func (d *driver) bind(handle uintptr) error {
	for _, f := range d.functions() {
		at, err := purego.Dlsym(handle, f.name)
		if err != nil && !f.optional {
			return &UnavailableError{fmt.Sprintf("%s is no CUDA driver that can be used: it has no %s", d.path, f.name)}
		}
		if err == nil {
			f.at = at
		}
	}
	return nil
}

// oldest is the first version of the driver that runs our images.
const oldest = 11080

// start initialises the driver and checks its version.
func (d *driver) start() error {
	var version int32
	if err := d.call(&d.driverVersion, uintptr(unsafe.Pointer(&version))); err != nil {
		return unavailable(err)
	}
	d.version = int(version)
	if d.version < oldest {
		return &UnavailableError{fmt.Sprintf("the CUDA driver %s knows CUDA %s, %s or newer is needed", d.path, versionText(d.version), versionText(oldest))}
	}
	return unavailable(d.call(&d.init, 0))
}

func versionText(n int) string { return fmt.Sprintf("%d.%d", n/1000, n%1000/10) }

// unavailable says of an error that there is no device.
func unavailable(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Code == codeNoDevice {
		return &UnavailableError{"the CUDA driver sees no device"}
	}
	return &UnavailableError{"the CUDA driver cannot be used: " + e.Error()}
}

// call calls a function of the driver. What arguments point to is on the heap, where
// nothing moves.
//
//go:uintptrescapes
func (d *driver) call(f *function, args ...uintptr) error {
	if f.at == 0 {
		return &Error{Call: f.name, Name: "this driver does not have it", Code: codeNotFound}
	}
	r, _, _ := purego.SyscallN(f.at, args...)
	if code := int(int32(r)); code != 0 {
		return &Error{Call: f.name, Code: code, Name: d.nameOf(code)}
	}
	return nil
}

// nameOf is the driver's name of a code.
func (d *driver) nameOf(code int) string {
	var text *byte
	if r, _, _ := purego.SyscallN(d.errorName.at, uintptr(code), uintptr(unsafe.Pointer(&text))); r != 0 || text == nil {
		return "unknown error"
	}
	return cString(text)
}

func cString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// Attributes of a device, from cuda.h.
const (
	attributeProcessors = 16
	attributeMajor      = 75
	attributeMinor      = 76
	attributeShared     = 97
	attributePools      = 115
)

// attribute is an attribute of a device.
func (d *driver) attribute(device int32, which uintptr) (int, error) {
	var n int32
	err := d.call(&d.deviceAttribute, uintptr(unsafe.Pointer(&n)), which, uintptr(device))
	return int(n), err
}

// info describes a device.
func (d *driver) info(index int) (Info, int32, error) {
	i := Info{Index: index, Driver: versionText(d.version)}
	var device int32
	var name [256]byte
	var memory uint64
	errs := []error{
		d.call(&d.deviceGet, uintptr(unsafe.Pointer(&device)), uintptr(index)),
		d.call(&d.deviceName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), uintptr(device)),
		d.call(&d.deviceMemory, uintptr(unsafe.Pointer(&memory)), uintptr(device)),
	}
	for _, x := range []struct {
		to    *int
		which uintptr
	}{{&i.Major, attributeMajor}, {&i.Minor, attributeMinor}, {&i.Processors, attributeProcessors}, {&i.Shared, attributeShared}} {
		n, err := d.attribute(device, x.which)
		*x.to = n
		errs = append(errs, err)
	}
	i.Name, _, _ = strings.Cut(string(name[:]), "\x00")
	i.Memory = int64(memory)
	return i, device, errors.Join(errs...)
}

// count is the number of devices.
func (d *driver) count() (int, error) {
	var n int32
	if err := d.call(&d.deviceCount, uintptr(unsafe.Pointer(&n))); err != nil {
		return 0, unavailable(err)
	}
	if n == 0 {
		return 0, &UnavailableError{"the CUDA driver sees no device"}
	}
	return int(n), nil
}

// List describes the devices. Without any the error is an *UnavailableError.
func List() ([]Info, error) {
	d, err := openDriver()
	if err != nil {
		return nil, err
	}
	n, err := d.count()
	if err != nil {
		return nil, err
	}
	var out []Info
	for i := range n {
		info, _, err := d.info(i)
		if err != nil {
			return out, err
		}
		out = append(out, info)
	}
	return out, nil
}

// onThread runs f on a thread on which a context is current.
func (d *driver) onThread(context uintptr, f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := d.call(&d.setCurrent, context); err != nil {
		return err
	}
	return f()
}
