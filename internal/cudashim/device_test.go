package cudashim_test

import (
	"math"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/internal/cudashim"
)

// lanes writes what each lane receives from each of the four shuffles, for
// groups of 32 and of 8, and what half-warps sum on their own.
const lanes = `
#include "hecate.cuh"
HECATE_KERNEL(64) lanes(int *out, double *sums) {
  int lane = threadIdx.x % 32, at = threadIdx.x;
  unsigned all = hecate::kAllLanes;
  out[0 * 64 + at] = __shfl_sync(all, lane, 5);
  out[1 * 64 + at] = __shfl_up_sync(all, lane, 3);
  out[2 * 64 + at] = __shfl_down_sync(all, lane, 3);
  out[3 * 64 + at] = __shfl_xor_sync(all, lane, 6);
  out[4 * 64 + at] = __shfl_sync(all, lane, 13, 8);
  out[5 * 64 + at] = __shfl_up_sync(all, lane, 3, 8);
  out[6 * 64 + at] = __shfl_down_sync(all, lane, 3, 8);
  out[7 * 64 + at] = __shfl_xor_sync(all, lane, 12, 8);
  double x = at;
  if (lane < 16) {
    for (int d = 8; d > 0; d /= 2) x += __shfl_xor_sync(0x0000ffffu, x, d);
  } else {
    for (int d = 1; d < 16; d *= 2) x += __shfl_xor_sync(0xffff0000u, x, d);
  }
  sums[at] = x;
}
`

// The shuffles follow CUDA's rules, in every mode and for both ways to switch.
func TestShuffles(t *testing.T) {
	cudashim.Need(t)
	want := [8]func(lane int) int{
		func(int) int { return 5 },
		func(l int) int { return l - 3*b(l >= 3) },
		func(l int) int { return l + 3*b(l+3 < 32) },
		func(l int) int { return l ^ 6 },
		func(l int) int { return l/8*8 + 5 },
		func(l int) int { return l - 3*b(l%8 >= 3) },
		func(l int) int { return l + 3*b(l%8+3 < 8) },
		func(l int) int { return l + (l^12-l)*b(l^12 < l/8*8+8) }, // an earlier group may be read, a later one not
	}
	for _, mode := range cudashim.Modes() {
		for name, build := range map[string]func(cudashim.Mode, ...cudashim.Source) (*cudashim.Binary, error){"own switch": cudashim.Build, "ucontext": cudashim.BuildPortable} {
			bin, err := build(mode, cudashim.Source{Name: "lanes.cu", Text: lanes})
			if err != nil {
				t.Fatal(err)
			}
			out, err := bin.Run(&cudashim.Program{
				Buffers:  []cudashim.Buffer{{Name: "out", Data: make([]int32, 8*64)}, {Name: "sums", Data: make([]float64, 64)}},
				Launches: []cudashim.Launch{{Kernel: "lanes", Block: cudashim.Dim{64}, Args: []cudashim.Arg{cudashim.Ptr("out"), cudashim.Ptr("sums")}}},
				Seed:     7,
			})
			if err != nil {
				t.Fatalf("%v, %s: %v", mode, name, err)
			}
			for i, got := range out.Int32("out") {
				if w := want[i/64](i % 32); int(got) != w {
					t.Errorf("%v, %s: shuffle %d gives lane %d %d, want %d", mode, name, i/64, i%32, got, w)
				}
			}
			for i, got := range out.Float64("sums") {
				if w := float64(16*(i/16*16) + 120); !(math.Abs(got-w) <= 0) {
					t.Errorf("%v, %s: half-warp sum %v in thread %d, want %v", mode, name, got, i, w)
				}
			}
		}
	}
}

func b(x bool) int {
	if x {
		return 1
	}
	return 0
}

const scalars = `
#include "hecate.cuh"
HECATE_KERNEL(32) scalars(const float *x, const float *y, float *out, bool *finite, int n) {
  for (int i = threadIdx.x; i < n; i += 32) {
    float *o = out + 8 * i;
    o[0] = hecate::max(x[i], y[i]);
    o[1] = hecate::min(x[i], y[i]);
    o[2] = hecate::clamp(x[i], -1.0f, 1.0f);
    o[3] = hecate::sign(x[i]);
    o[4] = hecate::sigmoid(x[i]);
    o[5] = hecate::softplus(x[i]);
    o[6] = hecate::pow(x[i], y[i]);
    o[7] = hecate::mod(x[i], y[i]);
    finite[i] = hecate::is_finite(x[i]);
  }
}
`

// scalarTol is the relative error that the functions made of expf, log1pf and
// powf may have: the device's are good to 2, 1 and 4 units of the last place.
const scalarTol = 1e-6

// The scalar functions follow runtime/num: a NaN comes through, and zeros have
// signs.
func TestScalars(t *testing.T) {
	cudashim.Need(t)
	bin, err := cudashim.Build(cudashim.Plain, cudashim.Source{Name: "scalars.cu", Text: scalars})
	if err != nil {
		t.Fatal(err)
	}
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, 2, 3, -2.75, 20, -20, 104, -104, 1e-30, 3e38,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	var x, y []float32
	for _, a := range special {
		for _, b := range special {
			x, y = append(x, a), append(y, b)
		}
	}
	n := len(x)
	out, err := bin.Run(&cudashim.Program{
		Buffers: []cudashim.Buffer{{Name: "x", Data: x}, {Name: "y", Data: y}, {Name: "out", Data: cudashim.NaNs(8 * n)}, {Name: "finite", Data: make([]uint8, n)}},
		Launches: []cudashim.Launch{{Kernel: "scalars", Block: cudashim.Dim{32}, Args: []cudashim.Arg{
			cudashim.Ptr("x"), cudashim.Ptr("y"), cudashim.Ptr("out"), cudashim.Ptr("finite"), cudashim.Int(n)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range x {
		a, b := float64(x[i]), float64(y[i])
		want := [8]float64{
			max(a, b), min(a, b), min(max(a, -1), 1), sign(a), sigmoid(a), max(a, 0) + math.Log1p(math.Exp(-math.Abs(a))),
			math.Pow(a, b), float64(x[i] - y[i]*float32(math.Floor(float64(x[i]/y[i])))),
		}
		for k, w := range want {
			got := float64(out.Float32("out")[8*i+k])
			w32 := float64(float32(w))
			if !close(got, w32) || k < 4 && w == 0 && math.Signbit(got) != math.Signbit(w32) {
				t.Errorf("function %d of %v and %v is %v, want %v", k, a, b, got, w)
			}
		}
		if want := !math.IsInf(a, 0) && !math.IsNaN(a); (out.Uint8("finite")[i] == 1) != want {
			t.Errorf("is_finite(%v) is not %v", a, want)
		}
	}
}

func close(got, want float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return got == want || math.IsNaN(got) && math.IsNaN(want)
	}
	return math.Abs(got-want) <= scalarTol*math.Abs(want)+1e-44
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	case x == 0:
		return 0
	}
	return x
}

func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	return math.Exp(x) / (1 + math.Exp(x))
}

// What does not fit is refused before a kernel runs.
func TestRefusals(t *testing.T) {
	cudashim.Need(t)
	bin, err := cudashim.Build(cudashim.Plain, cudashim.Source{Name: "rowsum.cu", Text: rowsum})
	if err != nil {
		t.Fatal(err)
	}
	x, y, i := cudashim.Ptr("x"), cudashim.Ptr("y"), cudashim.Int(1)
	good := cudashim.Launch{Kernel: "rowsum", Block: cudashim.Dim{32}, Shared: 128, Args: []cudashim.Arg{x, y, i}}
	for _, c := range []struct {
		name   string
		change func(l *cudashim.Launch)
		want   string
	}{
		{"good", func(*cudashim.Launch) {}, ""},
		{"no kernel", func(l *cudashim.Launch) { l.Kernel = "other" }, "there is no kernel other"},
		{"few arguments", func(l *cudashim.Launch) { l.Args = l.Args[:2] }, "has 3 parameters and got 2"},
		{"other type", func(l *cudashim.Launch) { l.Args = []cudashim.Arg{x, i, i} }, "argument 2 of kernel rowsum is of type n"},
		{"other element", func(l *cudashim.Launch) { l.Args = []cudashim.Arg{cudashim.Ptr("z"), y, i} }, "argument 1 of kernel rowsum is of type i"},
		{"no buffer", func(l *cudashim.Launch) { l.Args = []cudashim.Arg{cudashim.Ptr("w"), y, i} }, `there is no buffer "w"`},
		{"entry", func(l *cudashim.Launch) { l.Args = []cudashim.Arg{cudashim.PtrAt("x", 3), y, i} }, "entry 3 of buffer x, which has 2"},
		{"many threads", func(l *cudashim.Launch) { l.Block = cudashim.Dim{64, 4} }, "256 threads in a block and declares 128"},
		{"no dynamic memory", func(l *cudashim.Launch) { l.Shared = 0 }, "past the end of dynamic shared memory"},
		{"much dynamic memory", func(l *cudashim.Launch) { l.Shared = 1 << 20 }, "bytes of shared memory"},
		{"negative grid", func(l *cudashim.Launch) { l.Grid = cudashim.Dim{-1} }, "launched over"},
	} {
		l := good
		c.change(&l)
		_, err := bin.Run(&cudashim.Program{
			Buffers:  []cudashim.Buffer{{Name: "x", Data: []float32{1, 2}}, {Name: "y", Data: cudashim.NaNs(1)}, {Name: "z", Data: []int32{1}}},
			Launches: []cudashim.Launch{l},
		})
		if got := text(err); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, c := range []struct{ name, text, want string }{
		{"empty.cu", "", "has no HECATE_KERNEL"},
		{"bad/name.cu", rowsum, "no name of a source"},
		{"plain.cu", "#include \"hecate.cuh\"\nHECATE_KERNEL(1) f(float *x) { __shared__ float y[1]; x[0] = y[0]; }", "__shared__"},
	} {
		if _, err := cudashim.Build(cudashim.Plain, cudashim.Source{Name: c.name, Text: c.text}); !strings.Contains(text(err), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
