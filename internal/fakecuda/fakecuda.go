// Package fakecuda makes a CUDA driver and a compiler of kernels that need no GPU: libcuda.so
// and libnvrtc.so, built from C++ over the shim of cuda/shim. What runtime/cuda does with a GPU
// it does with them: it loads images, allocates, copies, launches, captures and replays. The text
// of a kernel is compiled for the processor, and its threads are fibers.
//
//	cd to the module; go run ./internal/fakecuda/make
//	LIBCUDA_PATH=out/fakecuda/libcuda.so HECATE_NVRTC=out/fakecuda/libnvrtc.so hecate devices
//
// FAKECUDA, or Set, asks for another device or for failures; library/libcuda.cpp lists the words.
package fakecuda

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/nl-hecate/hecate/internal/cudashim"
)

//go:embed library/libcuda.cpp
var driverText string

//go:embed library/libnvrtc.cpp
var compilerText string

// Build makes both libraries, or finds those of before, and returns their paths. It fails where
// there is no C++ compiler.
func Build() (driver, compiler string, err error) {
	driver, err1 := cudashim.SharedObject("libcuda.so", driverText, true)
	compiler, err2 := cudashim.SharedObject("libnvrtc.so", compilerText, false)
	return driver, compiler, errors.Join(err1, err2)
}

// Main runs the tests of a package with both libraries and a cache of images of its own, for
// TestMain. Without a C++ compiler the
// tests run too, and those that call Need are skipped.
func Main(m *testing.M) {
	driver, compiler, err := Build()
	missing = err
	images := ""
	if err == nil {
		images, err = os.MkdirTemp("", "images")
		missing = err
		os.Setenv("LIBCUDA_PATH", driver)
		os.Setenv("HECATE_NVRTC", compiler)
		os.Setenv("XDG_CACHE_HOME", images)
	}
	code := m.Run()
	os.RemoveAll(images)
	os.Exit(code)
}

var missing error

// Wanted reports whether scripts can use the libraries; it is an error where they cannot and
// HECATE_REQUIRE names cxx.
func Wanted() (bool, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return false, nil
	}
	_, _, err := Build()
	if err != nil && required() {
		return false, err
	}
	return err == nil, nil
}

func required() bool { return strings.Contains(","+os.Getenv("HECATE_REQUIRE")+",", ",cxx,") }

// Need skips a test where the libraries are not there, which fails where HECATE_REQUIRE names cxx.
func Need(t testing.TB) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the driver without a GPU is for linux/amd64")
	}
	if missing == nil {
		return
	}
	if required() {
		t.Fatal(missing)
	}
	t.Skip(missing)
}

// Set asks the driver of this process for something, as FAKECUDA does.
func Set(words string) {
	text := append([]byte(words), 0)
	purego.SyscallN(symbol("fakecuda_set"), uintptr(unsafe.Pointer(&text[0])))
}

// Count is a count of the driver of this process: live (allocations), pinned, modules, streams,
// graphs and retained (contexts) are those that are there now; allocated, launches, kernels (that
// ran), uploads, downloads, copies, fills, waits and replays are all of them so far, and "kernels of N"
// are those of the N-th device.
func Count(what string) int {
	text := append([]byte(what), 0)
	n, _, _ := purego.SyscallN(symbol("fakecuda_count"), uintptr(unsafe.Pointer(&text[0])))
	return int(n)
}

func symbol(name string) uintptr {
	handle, err := purego.Dlopen(os.Getenv("LIBCUDA_PATH"), purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		panic(fmt.Sprintf("fakecuda: %v", err))
	}
	at, err := purego.Dlsym(handle, name)
	if err != nil {
		panic(fmt.Sprintf("fakecuda: %v", err))
	}
	return at
}
