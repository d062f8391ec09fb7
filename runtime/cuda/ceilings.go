//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"fmt"
	"math"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Measure measures what the n-th device can do: copies within it, and products of matrices by cuBLAS, where
// that is installed.
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
	if err := errors.Join(err1, err2, v.Fill(from, 0, bytes)); err != nil {
		return c, err
	}
	took, err := v.timed(func() error { return v.Copy(to, from, bytes) })
	if err != nil {
		return c, err
	}
	c.Copy = 2 * float64(bytes) / took.Seconds()
	side := min(productSide, int(math.Sqrt(float64(bytes/8)))) // a third matrix is behind the second
	if took, err = v.product(from, to, side); err != nil {
		c.NoProduct = err.Error()
		return c, nil
	}
	c.Product = 2 * math.Pow(float64(side), 3) / took.Seconds()
	return c, nil
}

// copiedBytes and productSide are what is measured, repeats how often at the first wait.
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

// product is the time of a product of square matrices by cuBLAS.
func (v *Device) product(x, y Address, side int) (took time.Duration, err error) {
	handle, err := openBLAS()
	if err != nil {
		return 0, err
	}
	var f struct{ create, destroy, stream, gemm uintptr }
	for name, at := range map[string]*uintptr{"cublasCreate_v2": &f.create, "cublasDestroy_v2": &f.destroy, "cublasSetStream_v2": &f.stream, "cublasSgemm_v2": &f.gemm} {
		if *at, err = purego.Dlsym(handle, name); err != nil {
			return 0, err
		}
	}
	call := func(what string, at uintptr, args ...uintptr) error {
		return v.do("", func() error {
			if r, _, _ := purego.SyscallN(at, args...); int32(r) != 0 {
				return fmt.Errorf("%s: status %d", what, int32(r))
			}
			return nil
		})
	}
	p := new(struct{ blas, one, zero uintptr }) // on the heap; the factors are 32 bits of a word
	*(*float32)(unsafe.Pointer(&p.one)) = 1
	if err := call("cublasCreate", f.create, uintptr(unsafe.Pointer(&p.blas))); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, call("cublasDestroy", f.destroy, p.blas)) }()
	if err := call("cublasSetStream", f.stream, p.blas, v.stream); err != nil {
		return 0, err
	}
	n, z := uintptr(side), uintptr(y)+uintptr(4*side*side)
	return v.timed(func() error {
		return call("cublasSgemm", f.gemm, p.blas, 0, 0, n, n, n, uintptr(unsafe.Pointer(&p.one)), uintptr(x), n, uintptr(y), n,
			uintptr(unsafe.Pointer(&p.zero)), z, n)
	})
}

// openBLAS opens cuBLAS.
func openBLAS() (uintptr, error) {
	for _, path := range libraryPaths("libcublas.so", []string{"13", "12", "11"}, "cublas") {
		if handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL); err == nil {
			return handle, nil
		}
	}
	return 0, errors.New("there is no cuBLAS")
}
