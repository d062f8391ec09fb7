//go:build linux && (amd64 || arm64) && !nogpu

package device

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/compositions/mag"
	"github.com/nl-hecate/hecate/generated/compositions/slidingwindow"
	"github.com/nl-hecate/hecate/generated/models/bytelm"
	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/generated/rules/deltaunbounded"
	"github.com/nl-hecate/hecate/generated/rules/moneta"
	"github.com/nl-hecate/hecate/generated/rules/titanslmm"
	"github.com/nl-hecate/hecate/generated/updates/adamw"
	"github.com/nl-hecate/hecate/internal/fakecuda"
	"github.com/nl-hecate/hecate/runtime/cuda"
)

func TestMain(m *testing.M) { fakecuda.Main(m) }

// forwardTol and backwardTol bound the norm of a result's error by the norm of the result.
const (
	forwardTol  = 1e-5
	backwardTol = 1e-4
)

// A reference is a generated kernel in Go.
type reference interface {
	Run()
	WorkLen() int
}

// A pair is a kernel with its backward, if it has one.
type pair struct {
	name          string
	fwd, bwd      reference
	forward, back string
}

func pairs() []pair {
	return []pair{
		{"adam_w", &adamw.Step[float64]{}, nil, "step", ""},
		{"byte_lm", &bytelm.X[float64]{}, &bytelm.XBackward[float64]{}, "x", "x_backward"},
		{"byte_lm", &bytelm.Loss[float64]{}, &bytelm.LossBackward[float64]{}, "loss", "loss_backward"},
		{"mag", &mag.Out[float64]{}, &mag.OutBackward[float64]{}, "out", "out_backward"},
		{"sliding_window", &slidingwindow.Out[float64]{}, &slidingwindow.OutBackward[float64]{}, "out", "out_backward"},
		{"delta_unbounded", &deltaunbounded.Step[float64]{}, &deltaunbounded.StepBackward[float64]{}, "step", "step_backward"},
		{"titans_lmm", &titanslmm.Step[float64]{}, &titanslmm.StepBackward[float64]{}, "step", "step_backward"},
		{"moneta", &moneta.Step[float64]{}, &moneta.StepBackward[float64]{}, "step", "step_backward"},
	}
}

// models are the sizes of the model, and tokens the lengths of calls. One set of sizes is one
// compilation of each kernel.
var (
	models = []map[string]int{{"d": 48, "d_k": 33, "d_v": 48, "H": 3, "d_h": 16, "n_p": 2, "w": 5, "V": 31, "C": 64, "n_phi": 3}}
	tokens = []int{1, 7, 65}
)

// TestKernels runs the kernels of ZeroB, of two more rules, and of an update.
func TestKernels(t *testing.T) {
	fakecuda.Need(t)
	l, err := cuda.OpenLibrary(registry.All().Kernels()...)
	if err != nil {
		t.Fatal(err)
	}
	d, err := cuda.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"late=0", "late=1,seed=3"} {
		fakecuda.Set(words)
		for _, model := range models {
			for _, p := range pairs() {
				t.Run(fmt.Sprintf("%s/%s/%s", words, p.name, p.forward), func(t *testing.T) {
					for _, n := range tokens {
						c := &call{t: t, device: d, library: l, sizes: maps.Clone(model), values: map[string]any{}, rng: rand.New(rand.NewPCG(1, uint64(n)))}
						c.sizes["L"], c.sizes["T"], c.sizes["n"] = 2, n, 7*n
						c.compare(p.name+"/"+p.forward, p.fwd, forwardTol)
						if p.bwd != nil {
							c.compare(p.name+"/"+p.back, p.bwd, backwardTol)
						}
					}
				})
			}
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if n := fakecuda.Count("live"); n != 0 {
		t.Errorf("%d allocations are left", n)
	}
}

// A call is a kernel and its backward at some sizes. values are what parameters, results and
// what the forward saves are, by field of the Go kernel.
type call struct {
	t       *testing.T
	device  *cuda.Device
	library *cuda.Library
	sizes   map[string]int
	values  map[string]any // []float64, []int32 or []bool
	rng     *rand.Rand
}

// plain is a name without what Go and C spell differently.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// compare runs a kernel on both sides.
func (c *call) compare(name string, ref reference, tol float64) {
	c.t.Helper()
	k, err := c.library.Kernel(name)
	if err != nil {
		c.t.Fatal(err)
	}
	x, err := c.device.Prepare(c.library, k, c.sizes)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() {
		if err := x.Unload(); err != nil {
			c.t.Error(err)
		}
	}()
	s, err := x.Shape(c.sizes)
	if err != nil {
		c.t.Fatal(err)
	}
	c.draw(k, s)
	want := c.reference(ref, k, s)
	got := c.run(x, s)
	for i, b := range k.Buffers {
		if b.Role != "write" && b.Role != "checkpoint" || strings.HasSuffix(name, "backward") && b.Role == "checkpoint" || b.Type != "float" {
			continue
		}
		exact := want[plain(b.Name)]
		if err := distance(got[i], exact); !(err <= tol) {
			c.t.Errorf("%s, %s: %s is off by %.3g, may be by %.3g", name, cuda.SizesText(c.sizes), b.Name, err, tol)
		}
		c.values[plain(b.Name)] = rounded(exact) // for the backward
	}
}

// draw makes the parameters that have no values yet: numbers about 0.1, gates between 0.1 and 0.6,
// indices below the number of ids.
func (c *call) draw(k *cuda.Kernel, s *cuda.Shape) {
	for i, b := range k.Buffers {
		n := s.Lengths[i]
		if c.values[plain(b.Name)] != nil || b.Role != "read" {
			continue
		}
		switch b.Type {
		case "int":
			x := make([]int32, n)
			for i := range x {
				x[i] = int32(c.rng.IntN(c.sizes["V"]))
			}
			c.values[plain(b.Name)] = x
		case "bool":
			c.values[plain(b.Name)] = make([]bool, n)
		default:
			x := make([]float64, n)
			for i := range x {
				x[i] = 0.1 + 0.5*c.rng.Float64()
				if n > c.sizes["L"]*c.sizes["T"] && slices.Contains(k.Open, "T") { // no gate, and no moment
					x[i] = x[i]/2 - 0.15
				}
			}
			c.values[plain(b.Name)] = rounded(x)
		}
	}
}

func rounded(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(float32(v))
	}
	return out
}

// reference runs the Go kernel and returns its results.
func (c *call) reference(ref reference, k *cuda.Kernel, s *cuda.Shape) map[string][]float64 {
	v := reflect.ValueOf(ref).Elem()
	v.SetZero()
	out := map[string][]float64{}
	lengths := map[string]int{}
	for i, b := range k.Buffers {
		lengths[plain(b.Name)] = s.Lengths[i]
	}
	for i := range v.NumField() {
		f, name := v.Field(i), plain(v.Type().Field(i).Name)
		switch {
		case f.Kind() == reflect.Int:
			f.SetInt(int64(c.field(k, v.Type().Field(i).Name)))
		case name == "work" || name == "rows":
		case c.values[name] != nil && !c.written(k, name):
			f.Set(reflect.ValueOf(c.values[name]))
		case f.Type() == reflect.TypeFor[[]float64]():
			x := make([]float64, lengths[name])
			for i := range x {
				x[i] = math.NaN()
			}
			f.Set(reflect.ValueOf(x))
			out[name] = x
		default:
			c.t.Fatalf("%s: nobody has a value for %s", k.Name, v.Type().Field(i).Name)
		}
	}
	v.FieldByName("Work").Set(reflect.ValueOf(make([]float64, ref.WorkLen())))
	if rows, ok := ref.(interface{ RowsLen() int }); ok {
		v.FieldByName("Rows").Set(reflect.ValueOf(make([][4]float64, rows.RowsLen())))
	}
	ref.Run()
	return out
}

// written reports whether a kernel writes a buffer.
func (c *call) written(k *cuda.Kernel, name string) bool {
	for _, b := range k.Buffers {
		if plain(b.Name) == name {
			return b.Role == "write" || b.Role == "checkpoint" && !strings.HasSuffix(k.Name, "backward")
		}
	}
	return false
}

// field is the size of a field of the Go kernel.
func (c *call) field(k *cuda.Kernel, field string) int {
	for _, name := range slices.Concat(k.Open, slices.Sorted(maps.Keys(k.Defaults)), []string{field}) {
		if n, ok := c.sizes[name]; ok && plain(name) == plain(field) {
			return n
		}
	}
	c.t.Fatalf("%s: no size is %s", k.Name, field)
	return 0
}

// run runs the kernel on the device; what it writes holds NaNs before.
func (c *call) run(x *cuda.Loaded, s *cuda.Shape) [][]float64 {
	k := x.Kernel
	addresses := make([]cuda.Address, len(k.Buffers))
	var errs []error
	for i, b := range k.Buffers {
		a, err := c.device.Alloc(s.Lengths[i] * b.Size())
		addresses[i] = a
		errs = append(errs, err)
		if value := c.values[plain(b.Name)]; value != nil && !c.written(k, plain(b.Name)) && b.Role != "work" {
			errs = append(errs, c.device.Upload(a, bytesOf(value)))
		} else {
			errs = append(errs, c.device.Fill(a, 0xff, s.Lengths[i]*b.Size()))
		}
	}
	errs = append(errs, x.Run(s, addresses))
	out := make([][]float64, len(k.Buffers))
	for i, b := range k.Buffers {
		data := make([]byte, s.Lengths[i]*b.Size())
		errs = append(errs, c.device.Download(data, addresses[i]), c.device.Release(addresses[i]))
		if b.Type == "float" {
			for at := 0; at < len(data); at += 4 {
				out[i] = append(out[i], float64(math.Float32frombits(binary.LittleEndian.Uint32(data[at:]))))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		c.t.Fatal(err)
	}
	return out
}

func bytesOf(x any) []byte {
	var out []byte
	switch x := x.(type) {
	case []float64:
		for _, v := range x {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
		}
	case []int32:
		for _, v := range x {
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		}
	case []bool:
		for _, v := range x {
			out = append(out, map[bool]byte{true: 1}[v])
		}
	}
	return out
}

// distance is the norm of a difference by the norm of what is exact; NaN where lengths differ.
func distance(got, exact []float64) float64 {
	if len(got) != len(exact) {
		return math.NaN()
	}
	var diff, norm float64
	for i, x := range exact {
		diff += (got[i] - x) * (got[i] - x)
		norm += x * x
	}
	if diff == 0 {
		return 0
	}
	return math.Sqrt(diff / norm)
}
