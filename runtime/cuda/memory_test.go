//go:build linux && amd64 && !nogpu

package cuda_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	text "github.com/nl-hecate/hecate/cuda"
	"github.com/nl-hecate/hecate/internal/fakecuda"
	"github.com/nl-hecate/hecate/runtime/cuda"
	"github.com/nl-hecate/hecate/runtime/device"
)

// A call of axpy: its sizes, then its parameters.
type call struct {
	N, Width int
	X, Y     []float32
	Work     []float32
}

// sized is the row of axpy with its sizes in order.
var sized = strings.Replace(row, `"open":["n"]`, `"open":["n"],"sizes":["n","width"]`, 1)

func memory(t *testing.T, row string) *cuda.Memory {
	t.Helper()
	d := open(t)
	header, err := text.Text.ReadFile("include/hecate.cuh")
	if err != nil {
		t.Fatal(err)
	}
	l, err := cuda.OpenLibrary(archive(t, map[string]string{"hecate.cuh": string(header), "axpy/run.cu": axpy, "axpy/run.json": row}))
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.NewMemory(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// TestCalls: a call whose result is on the device runs there, with arguments of the device and of the
// host, as these are when it is enqueued: late, and more of them than there is room for at once.
func TestCalls(t *testing.T) {
	m := memory(t, sized)
	fakecuda.Set("late=1,seed=0")
	const n, width = 70, 900 // its array is in workspace
	x := make([]float32, n*width)
	y := device.Make[float32](m, n)
	want := make([]float32, n)
	for round := range 9 {
		for i := range x {
			x[i] = float32((i + round) % 5)
			want[i/width] += x[i]
		}
		in := x
		if round%2 == 1 {
			in = device.Moved(m, x)
		}
		if !device.Run(&call{N: n, Width: width, X: in, Y: y}, "axpy/run", y) {
			t.Fatal("the call does not run on the device")
		}
		clear(x)
	}
	if got := device.Host(y); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got[:4], want[:4])
	}
	if err := m.Err(); err != nil {
		t.Error(err)
	}
}

// TestGraphs: a sequence of calls that comes again is captured, and its graph computes with the numbers
// that the host has then; another sequence is none of it. The same without graphs.
func TestGraphs(t *testing.T) {
	for _, eager := range []bool{false, true} {
		t.Run(fmt.Sprintf("eager=%v", eager), func(t *testing.T) { testGraphs(t, eager) })
	}
}

func testGraphs(t *testing.T, eager bool) {
	m := memory(t, sized)
	m.Eager(eager)
	fakecuda.Set("late=1,seed=0")
	const n, width = 5, 3
	y := [][]float32{device.Make[float32](m, n), device.Make[float32](m, n), device.Make[float32](m, n)}
	x, got := make([]float32, n*width), make([]float32, n)
	want := [][]float32{make([]float32, n), make([]float32, n), make([]float32, n)}
	device.Wait(m)
	began := fakecuda.Count("replays")
	round := func(what []int, f func(to int)) {
		for _, to := range what {
			f(to)
		}
		if err := m.Err(); err != nil { // these alone are a sequence
			t.Fatal(err)
		}
		for k := range y {
			device.Later(got, y[k])
			device.Wait(m)
			if !slices.Equal(got, want[k]) {
				t.Fatalf("after %v: got %v, want %v", what, got, want[k])
			}
		}
	}
	for k, calls := range [][]int{{0, 1, 2, 0}, {0, 1, 2, 0}, {0, 1, 2, 2}, {0, 1, 2, 0}, {0, 1, 2}, {0, 1, 2, 2}} {
		round(calls, func(to int) {
			for i := range x {
				x[i] = float32(k + i)
				want[to][i/width] += x[i]
			}
			device.Run(&call{N: n, Width: width, X: x, Y: y[to]}, "axpy/run", y[to])
		})
	}
	for _, copies := range [][]int{{0, 1, 0, 1}, {1, 0, 1, 0}, {2, 0, 2, 0}, {1, 0, 1, 0}} {
		round(copies, func(to int) {
			device.Copy(y[to], y[(to+1)%3])
			copy(want[to], want[(to+1)%3])
		})
	}
	if replays := fakecuda.Count("replays") - began; eager && replays != 0 || !eager && replays != 4 {
		t.Errorf("%d replays", replays)
	}
}

// TestRefusals: calls that a device cannot run are errors that name the kernel.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ row, kernel, want string }{
		{strings.Replace(sized, `"kept_scratch","role":"work"`, `"no_root","role":"work"`, 1), "axpy/run", "cuda_test.call has no field NoRoot"},
		{sized, "axpy/other", "no kernel axpy/other"},
		{row, "axpy/run", "has no field for x of kernel axpy/run"},
	} {
		t.Run(c.want, func(t *testing.T) {
			m := memory(t, c.row)
			y := device.Make[float32](m, 1)
			device.Run(&call{N: 1, Width: 1, X: []float32{1}, Y: y}, c.kernel, y)
			if err := m.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestRoom: the launcher and the text know the same room for arrays.
func TestRoom(t *testing.T) {
	header, err := text.Text.ReadFile("include/hecate.cuh")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("kRoom = (96 << 10) - %d;", 96<<10-cuda.Room); !strings.Contains(string(header), want) {
		t.Errorf("hecate.cuh has no %q", want)
	}
}

// A search is a kernel that says which of two searches have failed: for negative numbers the first one,
// for large ones the second.
const search = `#include "hecate.cuh"
HECATE_KERNEL(32) search_1(int *no_root) {
  if (threadIdx.x < 2) no_root[threadIdx.x] = 0;
}
HECATE_KERNEL(32) search_2(const float *x, float *y, int *no_root, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= n) return;
  y[i] = 2.0f * x[i];
  if (x[i] < 0.0f) no_root[0] = 1;
  if (x[i] > 9.0f) no_root[1] = 1;
}
`

const searchRow = `{"unit":"search","page":"search.md","constants":{},"open":["n"],"sizes":["n"],
"buffers":[{"name":"x","of":"x","role":"read","type":"float","length":"n"},{"name":"y","of":"y","role":"write","type":"float","length":"n"},
 {"name":"no_root","role":"work","type":"int","length":"2"}],
"functions":[{"name":"search_1","grid":[[{"items":"1","per":1}]],"block":32,"arguments":["no_root"]},
 {"name":"search_2","grid":[[{"items":"n","per":32}]],"block":32,"arguments":["x","y","no_root","n"]}]}`

type searchCall struct {
	N      int
	X, Y   []float32
	NoRoot int
}

// TestNoRoot: a call knows after it which search has failed, though all kernels share their workspace.
func TestNoRoot(t *testing.T) {
	d := open(t)
	fakecuda.Set("late=1,seed=0")
	header, err := text.Text.ReadFile("include/hecate.cuh")
	if err != nil {
		t.Fatal(err)
	}
	l, err := cuda.OpenLibrary(archive(t, map[string]string{"hecate.cuh": string(header), "search/run.cu": search, "search/run.json": searchRow}))
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.NewMemory(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	for _, c := range []struct {
		x    float32
		want int
	}{{1, 0}, {-1, 1}, {10, 2}, {2, 0}} {
		x := make([]float32, 70)
		x[69] = c.x
		call := searchCall{N: len(x), X: x, Y: device.Make[float32](m, len(x)), NoRoot: 7}
		device.Run(&call, "search/run", call.Y)
		if got := device.Host(call.Y)[69]; call.NoRoot != c.want || got != 2*c.x || m.Err() != nil {
			t.Errorf("%v: search %d has failed, want %d; y = %v", c.x, call.NoRoot, c.want, got)
		}
	}
}
