package device_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/device"
)

// A machine is a device whose memory is Go's. It notes what it is asked for.
type machine struct {
	memory []float32
	used   int
	asked  []string
	later  []func()
	err    error
}

func (m *machine) note(what string) { m.asked = append(m.asked, what) }

func floats(p unsafe.Pointer, n int) []float32 { return unsafe.Slice((*float32)(p), n) }

func (m *machine) Run(kernel string, call any) { m.note(kernel) }
func (m *machine) Copy(to, from unsafe.Pointer, bytes int) {
	m.note("copy")
	copy(floats(to, bytes/4), floats(from, bytes/4))
}
func (m *machine) Later(to, from unsafe.Pointer, bytes int) {
	m.later = append(m.later, func() { m.Copy(to, from, bytes) })
}
func (m *machine) Wait() {
	for _, f := range m.later {
		f()
	}
	m.later = nil
}
func (m *machine) Clear(to unsafe.Pointer, bytes int) { m.note("clear"); clear(floats(to, bytes/4)) }
func (m *machine) Add(to, from unsafe.Pointer, n int) {
	m.note("add")
	for i, x := range floats(from, n) {
		floats(to, n)[i] += x
	}
}
func (m *machine) Scale(to unsafe.Pointer, n int, c float32) {
	m.note("scale")
	for i := range floats(to, n) {
		floats(to, n)[i] *= c
	}
}
func (m *machine) Squares(x unsafe.Pointer, n int, sum *float64) {
	m.note("squares")
	m.later = append(m.later, func() {
		for _, v := range floats(x, n) {
			*sum += float64(v) * float64(v)
		}
	})
}
func (m *machine) Make(bytes int) unsafe.Pointer {
	if m.used+bytes/4 > len(m.memory) {
		m.err = errors.New("full")
		return nil
	}
	m.used += bytes / 4
	return unsafe.Pointer(&m.memory[m.used-bytes/4])
}
func (m *machine) Free(unsafe.Pointer) { m.note("free") }
func (m *machine) Err() error          { return m.err }
func (m *machine) String() string      { return "machine" }

func newMachine(t *testing.T) *machine {
	m := &machine{memory: make([]float32, 64)}
	t.Cleanup(device.Register(unsafe.Slice((*byte)(unsafe.Pointer(&m.memory[0])), 4*len(m.memory)), m))
	return m
}

// TestFunctions: the same numbers on the host and on a device, which is asked for each.
func TestFunctions(t *testing.T) {
	m := newMachine(t)
	for _, on := range []device.Memory{nil, m} {
		x, y := device.Moved(on, []float32{1, 2, 3}), device.Moved(on, []float32{4, 5, 6})
		z := device.Like(x, 3)
		device.Sum(z, x, y)
		device.Add(z, x)
		device.Scale(z, 2)
		device.Clear(x)
		device.Copy(y, device.Host(z)[:2])
		if got := [][]float32{device.Host(x), device.Host(y), device.Host(z)}; !slices.Equal(got[0], []float32{0, 0, 0}) ||
			!slices.Equal(got[1], []float32{12, 18, 6}) || !slices.Equal(got[2], []float32{12, 18, 24}) {
			t.Errorf("on %v: %v", on, got)
		}
		if got := device.Squares([][]float32{y, z}); got != 504+1044 {
			t.Errorf("on %v the squares are %v", on, got)
		}
		z[1] = float32(math.NaN())
		if got := device.Squares([][]float32{y, z}); !math.IsNaN(got) {
			t.Errorf("on %v the squares with a NaN are %v", on, got)
		}
		if (device.Of(z) == nil) != (on == nil) {
			t.Errorf("what is like a slice on %v is on %v", on, device.Of(z))
		}
	}
	for _, what := range []string{"copy", "clear", "add", "scale", "squares"} {
		if !slices.Contains(m.asked, what) {
			t.Errorf("the device was not asked to %s", what)
		}
	}
}

// TestJoined: slices that lie one after another are one for a device, in both lists, and only there.
func TestJoined(t *testing.T) {
	m := newMachine(t)
	x, y := device.Make[float32](m, 6), device.Make[float32](m, 6)
	list := [][]float32{x[:1], x[1:3], x[4:6]} // a gap before the last
	for i := range x {
		x[i] = float32(i + 1)
	}
	for _, c := range []struct {
		what string
		want int
		do   func()
	}{
		{"scale", 2, func() { device.ScaleAll(list, 2) }},
		{"copy", 2, func() { device.CopyAll([][]float32{y[:1], y[1:3], y[4:6]}, list) }},
		{"copy", 3, func() { device.CopyAll([][]float32{y[:1], y[2:4], y[4:6]}, list) }},
		{"scale", 3, func() { device.ScaleAll([][]float32{x[:1:1], x[1:3:3], x[4:6]}, 2) }}, // they may not grow
	} {
		m.asked = nil
		c.do()
		if len(m.asked) != c.want || m.asked[0] != c.what {
			t.Errorf("asked for %v, want %d times %s", m.asked, c.want, c.what)
		}
	}
	if want := []float32{4, 8, 12, 4, 20, 24}; !slices.Equal(x, want) {
		t.Errorf("got %v, want %v", x, want)
	}
}

// TestLater: the host has numbers of a device after a wait, and its own at once.
func TestLater(t *testing.T) {
	m := newMachine(t)
	there := device.Moved(m, []float32{1, 2})
	got := make([]float32, 2)
	device.Later(got, there)
	if got[0] != 0 {
		t.Error("the numbers are there before the wait")
	}
	device.Wait(m)
	device.Later(got[:1], []float32{7})
	if !slices.Equal(got, []float32{7, 2}) {
		t.Errorf("got %v", got)
	}
	device.Wait(nil)
}

// call is a call of a kernel.
type call struct {
	N    int
	X, Y []float32
}

// TestRun: a call runs where its result is; where that is empty, where its other slices are.
func TestRun(t *testing.T) {
	m := newMachine(t)
	here, there := []float32{1}, device.Moved(m, []float32{1})
	for _, c := range []struct {
		call call
		want bool
	}{
		{call{X: here, Y: here}, false},
		{call{X: there, Y: here}, false}, // an argument alone is copied by whoever runs
		{call{X: here, Y: there}, true},
		{call{X: there}, true},
		{call{X: here}, false},
		{call{}, false},
	} {
		m.asked = nil
		if got := device.Run(&c.call, "unit/step", c.call.Y); got != c.want || slices.Contains(m.asked, "unit/step") != c.want {
			t.Errorf("%v ran on the device: %v", c.call, got)
		}
	}
}

// TestNoMemory: what a device cannot make is an error of its owner, and other panics go on.
func TestNoMemory(t *testing.T) {
	m := newMachine(t)
	try := func(f func()) (err error) {
		defer device.Recover(m, &err)
		f()
		return nil
	}
	if err := try(func() { device.Make[float32](m, 65) }); !errors.Is(err, m.err) || err == nil {
		t.Errorf("got %v", err)
	}
	defer func() {
		if r := recover(); r != "other" {
			t.Errorf("the panic became %v", r)
		}
	}()
	try(func() { panic("other") })
}

// TestForget: addresses are the host's again when a device is gone.
func TestForget(t *testing.T) {
	memory := make([]byte, 64)
	forget := device.Register(memory, &machine{})
	if device.Of(memory[63:]) == nil {
		t.Error("the last byte is the host's")
	}
	forget()
	if d := device.Of(memory); d != nil {
		t.Errorf("the memory is still that of %v", d)
	}
}
