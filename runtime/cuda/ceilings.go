//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Measure measures what the n-th device can do: copies within it, and products of matrices by cuBLAS, where
// that is installed. Without such a device the error is an *UnavailableError.
func Measure(n int) (c Ceilings, err error) {
	v, err := Open(n)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	c.Device = v.Info
	free, _, err := v.Free()
	if err != nil {
		return c, err
	}
	bytes := min(copiedBytes, int(free)/4)
	from, err1 := v.Alloc(bytes)
	to, err2 := v.Alloc(bytes)
	if err := errors.Join(err1, err2); err != nil {
		return c, err
	}
	noise := make([]byte, min(bytes, 1<<20)) // zeros would take less power
	for i := range noise[:len(noise)/4] {
		binary.LittleEndian.PutUint32(noise[4*i:], math.Float32bits(rand.Float32()-0.5))
	}
	for at := 0; at < bytes; at += len(noise) {
		part := noise[:min(len(noise), bytes-at)]
		if err := errors.Join(v.Upload(from+Address(at), part), v.Upload(to+Address(at), part)); err != nil {
			return c, err
		}
	}
	took, err := v.timed(func() error { return v.Copy(to, from, bytes) })
	if err != nil {
		return c, err
	}
	c.Copy = 2 * float64(bytes) / took.Seconds()
	side := min(productSide, int(math.Sqrt(float64(bytes/8)))) // a third matrix is behind the second
	if took, err = v.product(from, to, side); err != nil {
		c.NoProduct = err.Error()
		return c, v.Lost()
	}
	c.Product = 2 * math.Pow(float64(side), 3) / took.Seconds()
	return c, nil
}

// copiedBytes and productSide are what is measured, repeats the operations between two waits.
const (
	copiedBytes = 512 << 20
	productSide = 4096
	repeats     = 5
)

// timed is the time of what f enqueues: the least of some rounds.
func (v *Device) timed(f func() error) (least time.Duration, err error) {
	for i := range 4 {
		if err := v.Wait(); err != nil {
			return 0, err
		}
		began := time.Now()
		for range repeats {
			if err := f(); err != nil {
				return 0, err
			}
		}
		if err := v.Wait(); err != nil {
			return 0, err
		}
		if took := time.Since(began) / repeats; i == 1 || i > 1 && took < least { // the first warms up
			least = took
		}
	}
	return least, nil
}

// product is the time of a product of square matrices of 32 bits by cuBLAS: the first version of it that
// works here.
func (v *Device) product(x, y Address, side int) (time.Duration, error) {
	err := errors.New("there is no cuBLAS")
	for _, path := range libraryPaths("libcublas.so", []string{"13", "12", "11"}, "cublas") {
		handle, e := openLibrary(path, purego.RTLD_LOCAL)
		if e != nil {
			continue
		}
		took, e := v.productBy(handle, x, y, side)
		if e == nil || v.Lost() != nil {
			return took, e
		}
		err = fmt.Errorf("%s: %w", path, e)
	}
	return 0, err
}

// gemmArgs is what cuBLAS reads and writes through pointers; the factors are float32.
type gemmArgs struct {
	handle    uintptr
	one, zero float32
}

func (v *Device) productBy(library uintptr, x, y Address, side int) (took time.Duration, err error) {
	var f struct{ create, destroy, stream, gemm uintptr }
	for name, at := range map[string]*uintptr{"cublasCreate_v2": &f.create, "cublasDestroy_v2": &f.destroy, "cublasSetStream_v2": &f.stream, "cublasSgemm_v2": &f.gemm} {
		if *at, err = purego.Dlsym(library, name); err != nil {
			return 0, err
		}
	}
	p := &gemmArgs{one: 1}
	if err := v.blas("cublasCreate", f.create, uintptr(unsafe.Pointer(&p.handle))); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, v.blas("cublasDestroy", f.destroy, p.handle)) }()
	if err := v.blas("cublasSetStream", f.stream, p.handle, v.stream); err != nil {
		return 0, err
	}
	n, z := uintptr(side), uintptr(y)+uintptr(4*side*side)
	return v.timed(func() error {
		return v.blas("cublasSgemm", f.gemm, p.handle, 0, 0, n, n, n, uintptr(unsafe.Pointer(&p.one)), uintptr(x), n, uintptr(y), n,
			uintptr(unsafe.Pointer(&p.zero)), z, n)
	})
}

// blas calls a function of cuBLAS on a thread with the device's context. What arguments point to is on the
// heap, where nothing moves.
//
//go:uintptrescapes
func (v *Device) blas(what string, at uintptr, args ...uintptr) error {
	return v.do("", func() error {
		if r, _, _ := purego.SyscallN(at, args...); int32(r) != 0 {
			return fmt.Errorf("%s: status %d", what, int32(r))
		}
		return nil
	})
}
