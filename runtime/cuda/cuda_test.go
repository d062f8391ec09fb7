//go:build linux && amd64 && !nogpu

package cuda_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nl-hecate/hecate/internal/fakecuda"
	"github.com/nl-hecate/hecate/runtime/cuda"

	text "github.com/nl-hecate/hecate/cuda"
)

func TestMain(m *testing.M) { fakecuda.Main(m) }

// axpy is a kernel with an array in shared memory where n_max is small.
const axpy = `#include "hecate.cuh"
#ifndef HECATE_SIZES
#define HECATE_SIZES width = 4
#endif
constexpr int HECATE_SIZES;
#undef HECATE_SIZES
// Row sums of x times a, added to y.
HECATE_KERNEL(32) axpy_1(const float *x, float *y, float *kept_scratch, int n) {
  HECATE_ARRAY(float, kept, 32 * width, kept_scratch + blockIdx.x * (long long)(32 * width));
  const int item = blockIdx.x * 32 + threadIdx.x;
  if (item >= n) return;
  for (int j = 0; j < width; ++j) kept[j * 32 + threadIdx.x] = x[item * width + j];
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) sum += kept[j * 32 + threadIdx.x];
  y[item] += sum;
}
`

const row = `{"unit":"axpy","page":"axpy.md","constants":{"width":4},"open":["n"],
"quotients":[{"name":"row_blocks","numerator":"n","denominator":"32"}],
"buffers":[{"name":"x","of":"x","role":"read","type":"float","length":"n*width"},
 {"name":"y","of":"y","role":"write","type":"float","length":"n"},
 {"name":"kept_scratch","role":"work","type":"float","length":"32*width*row_blocks"}],
"functions":[{"name":"axpy_1","equations":["axpy.y"],"grid":[[{"items":"n","per":32}]],"block":32,"static_shared":0,
 "arrays":[{"name":"kept","bytes":"4*32*width","scratch":"kept_scratch"}],"arguments":["x","y","kept_scratch","n"]}]}`

// archive makes an archive of files.
func archive(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, data := range files {
		if err := errors.Join(w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))}), write(w, data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(w *tar.Writer, data string) error {
	_, err := w.Write([]byte(data))
	return err
}

func library(t testing.TB) *cuda.Library {
	t.Helper()
	header, err := text.Text.ReadFile("include/hecate.cuh")
	if err != nil {
		t.Fatal(err)
	}
	l, err := cuda.OpenLibrary(archive(t, map[string]string{"hecate.cuh": string(header), "axpy/run.cu": axpy, "axpy/run.json": row}))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// open opens the device and sees at the end that nothing is left of it.
func open(t testing.TB) *cuda.Device {
	t.Helper()
	fakecuda.Need(t)
	d, err := cuda.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Close()
		fakecuda.Set("late=0,seed=0,alloc=0,launch=0,fault=0,load=0")
		for _, what := range []string{"live", "pinned", "modules", "streams", "graphs", "retained"} {
			if n := fakecuda.Count(what); n != 0 {
				t.Errorf("%d %s are left", n, what)
			}
		}
	})
	return d
}

func floats(x ...float32) []byte {
	var out []byte
	for _, v := range x {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

func upload(t testing.TB, d *cuda.Device, data []byte) cuda.Address {
	t.Helper()
	a, err := d.Alloc(len(data))
	if err = errors.Join(err, d.Upload(a, data)); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestKernel runs a kernel at sizes for which its array is in shared memory and for which it
// is not, eagerly and late.
func TestKernel(t *testing.T) {
	for _, words := range []string{"late=0", "late=1,seed=0", "late=1,seed=7"} {
		for _, width := range []int{1, 4, 33, 900} {
			t.Run(fmt.Sprintf("%s/%d", words, width), func(t *testing.T) {
				d := open(t)
				fakecuda.Set(words)
				l := library(t)
				k, err := l.Kernel("axpy/run")
				if err != nil {
					t.Fatal(err)
				}
				x, err := d.Prepare(l, k, map[string]int{"width": width})
				if err != nil {
					t.Fatal(err)
				}
				const n = 70
				s, err := x.Shape(map[string]int{"n": n})
				if err != nil {
					t.Fatal(err)
				}
				if inside := width < 700; (s.Lengths[2] == 0) != inside || (s.Grids[0].Shared > 0) != inside {
					t.Errorf("width %d: %d entries of scratch and %d bytes shared", width, s.Lengths[2], s.Grids[0].Shared)
				}
				in := make([]float32, n*width)
				for i := range in {
					in[i] = float32(i % 7)
				}
				a, b := upload(t, d, floats(in...)), upload(t, d, floats(make([]float32, n)...))
				scratch, err := d.Alloc(4 * s.Lengths[2])
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if err := x.Run(s, []cuda.Address{a, b, scratch}); err != nil {
						t.Fatal(err)
					}
				}
				out := make([]byte, 4*n)
				if err := d.Download(out, b); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					var want float32
					for j := range width {
						want += in[i*width+j]
					}
					if got := math.Float32frombits(binary.LittleEndian.Uint32(out[4*i:])); got != 2*want {
						t.Fatalf("y[%d] is %v, want %v", i, got, 2*want)
					}
				}
			})
		}
	}
}

// TestCache: the second time an image comes from the cache, and a damaged entry is made
// again.
func TestCache(t *testing.T) {
	d := open(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	l := library(t)
	k, err := l.Kernel("axpy/run")
	if err != nil {
		t.Fatal(err)
	}
	from := func() string {
		x, err := d.Prepare(l, k, map[string]int{"width": 3})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Unload()
		return x.From
	}
	if got := []string{from(), from()}; got[0] != "NVRTC 12.8" || got[1] != "the cache" {
		t.Errorf("images came from %q", got)
	}
	files := globbed(t, os.Getenv("XDG_CACHE_HOME")+"/hecate/cuda/*")
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(f, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := from(); len(files) != 1 || got != "NVRTC 12.8" {
		t.Errorf("of %d files one is damaged, and the image came from %q", len(files), got)
	}
}

// TestGraph records launches and copies and replays them.
func TestGraph(t *testing.T) {
	for _, words := range []string{"late=0", "late=1,seed=5"} {
		t.Run(words, func(t *testing.T) {
			d := open(t)
			fakecuda.Set(words)
			l := library(t)
			k, _ := l.Kernel("axpy/run")
			x, err := d.Prepare(l, k, map[string]int{"width": 1})
			if err != nil {
				t.Fatal(err)
			}
			s, err := x.Shape(map[string]int{"n": 2})
			if err != nil {
				t.Fatal(err)
			}
			y, a := upload(t, d, floats(0, 0)), upload(t, d, floats(0, 0))
			pin, err := d.Pin(8)
			if err != nil {
				t.Fatal(err)
			}
			g, err := d.Capture(func() error {
				return errors.Join(d.EnqueueUpload(a, pin, 0, 8), x.Run(s, []cuda.Address{a, y, 0}), x.Run(s, []cuda.Address{a, y, 0}))
			})
			if err != nil {
				t.Fatal(err)
			}
			if g.Nodes != 3 {
				t.Errorf("%d nodes, want 3", g.Nodes)
			}
			for i := range 3 {
				copy(pin.Data, floats(float32(i), 1))
				if err := errors.Join(g.Replay(), d.Wait()); err != nil {
					t.Fatal(err)
				}
			}
			out := make([]byte, 8)
			if err := errors.Join(d.Download(out, y), g.Release(), pin.Release()); err != nil {
				t.Fatal(err)
			}
			if want := floats(6, 6); !bytes.Equal(out, want) {
				t.Errorf("%s: % x, want % x", words, out, want)
			}
			if _, err := d.Capture(func() error { return d.Wait() }); err == nil || !strings.Contains(err.Error(), "CAPTURE_UNSUPPORTED") {
				t.Errorf("a wait in a capture: %v", err)
			}
		})
	}
}

// TestFailures: each failure of the driver is an error that names what failed, and nothing is left
// allocated.
func TestFailures(t *testing.T) {
	l := library(t)
	k, _ := l.Kernel("axpy/run")
	for _, c := range []struct{ words, want string }{
		{"alloc=2", "cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY (2) on cuda:0 no GPU but the processor (sm_90, 8.0 GiB, CUDA 12.8): the device has too little memory free: 8 bytes were asked for, 8 are allocated"},
		{"load=1", "kernel axpy/run: cuModuleLoadDataEx: CUDA_ERROR_INVALID_SOURCE (300) on cuda:0 no GPU but the processor (sm_90, 8.0 GiB, CUDA 12.8): the image is damaged: no object of this processor"},
		{"launch=1", "kernel axpy_1: cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701) on cuda:0 no GPU but the processor (sm_90, 8.0 GiB, CUDA 12.8): 1 blocks of 32 threads, 128 bytes of shared memory"},
		{"fault=1,late=1", "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700) on cuda:0 no GPU but the processor (sm_90, 8.0 GiB, CUDA 12.8): the kernel went outside its memory; the device is lost to this process; HECATE_GRAPHS=off waits for each kernel and names it"},
	} {
		t.Run(c.words, func(t *testing.T) {
			d := open(t)
			fakecuda.Set(c.words)
			err := func() error {
				a, err := d.Alloc(8)
				if err != nil {
					return err
				}
				y, err := d.Alloc(8)
				if err != nil {
					return err
				}
				x, err := d.Prepare(l, k, map[string]int{"width": 1})
				if err != nil {
					return err
				}
				s, err := x.Shape(map[string]int{"n": 2})
				if err != nil {
					return err
				}
				if err := x.Run(s, []cuda.Address{a, y, 0}); err != nil {
					return err
				}
				return d.Wait()
			}()
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			var e *cuda.Error
			if errors.As(err, &e) && e.Lost() {
				if again := d.Wait(); !errors.Is(again, e) {
					t.Errorf("a lost device answers %v", again)
				}
			}
		})
	}
}

// TestThreads: calls from many goroutines have the context that they need.
func TestThreads(t *testing.T) {
	d := open(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				a, err := d.Alloc(64)
				if err = errors.Join(err, d.Upload(a, make([]byte, 64)), d.Release(a)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n, bytes := d.Allocated(); n != 0 || bytes != 0 {
		t.Errorf("%d allocations of %d bytes are left", n, bytes)
	}
}

// TestUnavailable: what List says where there is no driver, another library of that name, an old
// driver, or no device.
func TestUnavailable(t *testing.T) {
	fakecuda.Need(t)
	if os.Getenv("UNAVAILABLE") != "" {
		os.Setenv("LIBCUDA_PATH", os.Getenv("TEST_DRIVER"))
		_, err := cuda.List()
		var u *cuda.UnavailableError
		fmt.Printf("said: %v %v\n", errors.As(err, &u), err)
		return
	}
	for _, c := range []struct{ path, words, want string }{
		{"/nowhere/libcuda.so.1", "", "true there is no CUDA driver: /nowhere/libcuda.so.1: cannot open shared object file: No such file or directory"},
		{os.Getenv("HECATE_NVRTC"), "", "is no CUDA driver that can be used: it has no cuInit"},
		{os.Getenv("LIBCUDA_PATH"), "driver=11040", "knows CUDA 11.4, 11.8 or newer is needed"},
		{os.Getenv("LIBCUDA_PATH"), "devices=0", "true the CUDA driver sees no device"},
	} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestUnavailable$")
		cmd.Env = append(os.Environ(), "UNAVAILABLE=1", "TEST_DRIVER="+c.path, "FAKECUDA="+c.words)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s %s: %v\n%s\nwant %s", c.path, c.words, err, out, c.want)
		}
	}
}

// TestDamagedArchive: an archive that is cut short is one error.
func TestDamagedArchive(t *testing.T) {
	whole := archive(t, map[string]string{"axpy/run.cu": axpy, "axpy/run.json": row})
	if _, err := cuda.OpenLibrary(whole[:len(whole)/2]); err == nil || !strings.Contains(err.Error(), "the archive of kernels is damaged") {
		t.Errorf("got %v", err)
	}
	l, err := cuda.OpenLibrary(archive(t, map[string]string{"axpy/run.cu": axpy, "axpy/run.json": strings.Replace(row, "n*width", "n**width", 1)}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Kernel("axpy/run"); err == nil || !strings.Contains(err.Error(), `formula "n**width" is not understood from "*width" on`) {
		t.Errorf("got %v", err)
	}
	if _, err := l.Kernel("axpy/other"); err == nil || !strings.Contains(err.Error(), "no kernel axpy/other") {
		t.Errorf("got %v", err)
	}
}

func globbed(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}
