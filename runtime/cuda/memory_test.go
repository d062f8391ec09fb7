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
	y := device.Make[float32](m, n)
	x, want, got := make([]float32, n*width), make([]float32, n), make([]float32, n)
	device.Wait(m)
	began := fakecuda.Count("replays")
	for round := range 6 {
		calls := 4
		if round == 4 {
			calls = 3
		}
		for range calls {
			for i := range x {
				x[i] = float32(round + i)
				want[i/width] += x[i]
			}
			device.Run(&call{N: n, Width: width, X: x, Y: y}, "axpy/run", y)
		}
		device.Later(got, y)
		device.Wait(m)
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: got %v, want %v", round, got, want)
		}
	}
	if replays := fakecuda.Count("replays") - began; eager && replays != 0 || !eager && replays != 4 {
		t.Errorf("eager %v: %d replays", eager, replays)
	}
	if err := m.Err(); err != nil {
		t.Error(err)
	}
}

// TestRefusals: calls that a device cannot run are errors that name the kernel.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ row, kernel, want string }{
		{strings.Replace(sized, `"kept_scratch","role":"work"`, `"no_root","role":"work"`, 1), "axpy/run", "kernel axpy/run finds roots"},
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
