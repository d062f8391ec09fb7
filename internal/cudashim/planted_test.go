package cudashim_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/internal/cudashim"
)

// The planted bugs. Each kernel of testdata has a bug under PLANTED. The table
// says which detectors find it; none finds anything in the kernel without it.
//
//	numbers   the result is not what Go computes
//	schedule  another order of threads and blocks gives other numbers
//	run       the shim refuses to go on; its word for that follows in brackets,
//	          and only the address sanitizer is asked besides
//	asan      the address sanitizer
//	tsan      the thread sanitizer, copies landing late
//	early     the thread sanitizer, copies landing early
//	isolated  blocks alone do not make what they make together
var planted = []struct {
	kernel string
	blocks int
	finds  string
	want   func(x []float64) []float64
}{
	{"wait_barrier", 1, "numbers schedule tsan early", weighted},
	{"stage_barrier", 1, "early", weighted},
	{"wait_short", 1, "numbers", weighted},
	{"past_end", 1, "run(bounds) asan", weighted},
	{"flush_barrier", 1, "numbers tsan early", total},
	{"half_shared", 1, "run(bounds) asan", backwards},
	{"half_barrier", 1, "run(barrier)", backwards},
	{"early_return", 1, "run(barrier)", backwards},
	{"two_places", 1, "run(barrier)", backwards},
	{"two_writers", 2, "numbers schedule isolated", func(x []float64) []float64 {
		return entries(128, func(j int) float64 { return 2 * x[j] })
	}},
	{"needs_block", 2, "schedule isolated", func(x []float64) []float64 {
		return entries(128, func(j int) float64 { return x[j] + float64(j/64)*x[j%64] })
	}},
	{"unset", 1, "numbers", func(x []float64) []float64 {
		return entries(64, func(j int) float64 { return float64(min(j, 1)+1) * x[j] })
	}},
	{"unset_shared", 1, "numbers", func(x []float64) []float64 {
		return entries(64, func(j int) float64 { return x[j] + x[j+64] })
	}},
	{"wrong_lane", 1, "numbers", func(x []float64) []float64 {
		return entries(64, func(j int) float64 { return x[j/32*32+(j+1)%32] })
	}},
	{"wrong_mask", 1, "run(warp)", func(x []float64) []float64 {
		return entries(64, func(j int) float64 { return x[j^1] })
	}},
	{"no_syncwarp", 1, "tsan early", func(x []float64) []float64 {
		return entries(64, func(j int) float64 { return x[j] + x[j^1] + x[j^2] })
	}},
	{"before_start", 1, "run(bounds) asan", func(x []float64) []float64 { return x[:64] }},
}

func entries(n int, f func(j int) float64) []float64 {
	y := make([]float64, n)
	for j := range y {
		y[j] = f(j)
	}
	return y
}

func weighted(x []float64) []float64 {
	return entries(64, func(j int) (sum float64) {
		for t := range tokens {
			sum += float64(t+1) * x[64*t+(j+1)%64]
		}
		return sum
	})
}

func total(x []float64) (y []float64) {
	return entries(1, func(int) (sum float64) {
		for _, v := range x[:tokens] {
			sum += v
		}
		return sum
	})
}

func backwards(x []float64) []float64 {
	return entries(64, func(j int) float64 { return x[63-j] })
}

// tokens is the kernels' n: stages of 4 tokens, more than the two places.
const tokens = 12

func TestPlantedBugs(t *testing.T) {
	cudashim.Need(t)
	files, err := filepath.Glob("testdata/*.cu")
	if err != nil || len(files) != len(planted) {
		t.Fatalf("%d kernels in testdata, %d rows, error %v", len(files), len(planted), err)
	}
	right, wrong := builds(t, files, ""), builds(t, files, "#define PLANTED 1\n")
	for _, p := range planted {
		t.Run(p.kernel, func(t *testing.T) {
			t.Parallel()
			if got := detect(t, right, p.kernel, p.blocks, p.want); got != "" {
				t.Errorf("without the bug %q find something", got)
			}
			if got := detect(t, wrong, p.kernel, p.blocks, p.want); got != p.finds {
				t.Errorf("the bug is found by %q, want %q", got, p.finds)
			}
		})
	}
}

// builds compiles all kernels as one text in every mode.
func builds(t *testing.T, files []string, head string) map[cudashim.Mode]*cudashim.Binary {
	t.Helper()
	var text strings.Builder
	text.WriteString(head)
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "#line 1 %q\n%s", filepath.Base(f), data)
	}
	out := map[cudashim.Mode]*cudashim.Binary{}
	for _, mode := range cudashim.Modes() {
		bin, err := cudashim.Build(mode, cudashim.Source{Name: "planted.cu", Text: text.String()})
		if err != nil {
			t.Fatal(err)
		}
		out[mode] = bin
	}
	return out
}

// detect returns the detectors that find something, in the order of the table
// above.
func detect(t *testing.T, bins map[cudashim.Mode]*cudashim.Binary, kernel string, blocks int, want func(x []float64) []float64) string {
	x := make([]float32, 64*tokens)
	wide := make([]float64, len(x))
	for i := range x {
		x[i] = float32(i*i%23) - 9 // integers: every order of a sum is exact
		wide[i] = float64(x[i])
	}
	ref := want(wide)
	run := func(mode cudashim.Mode, how cudashim.Program) ([]float32, *cudashim.Fault) {
		how.Buffers = []cudashim.Buffer{{Name: "x", Data: x}, {Name: "y", Data: cudashim.NaNs(max(len(ref), 64*blocks))}}
		how.Launches = []cudashim.Launch{{
			Kernel: kernel, Grid: cudashim.Dim{blocks}, Block: cudashim.Dim{64},
			Args: []cudashim.Arg{cudashim.Ptr("x"), cudashim.Ptr("y"), cudashim.Int(tokens)},
		}}
		out, err := bins[mode].Run(&how)
		var fault *cudashim.Fault
		if errors.As(err, &fault) {
			return nil, fault
		} else if err != nil {
			t.Fatal(err)
		}
		return out.Float32("y"), nil
	}
	var found []string
	note := func(name string, caught bool) {
		if caught {
			found = append(found, name)
		}
	}
	sanitizer := func(name string, mode cudashim.Mode, kind cudashim.Kind, how cudashim.Program) {
		_, fault := run(mode, how)
		note(name, fault != nil && fault.Kind == kind)
	}
	first, fault := run(cudashim.Plain, cudashim.Program{})
	if fault != nil {
		note(fmt.Sprintf("run(%s)", fault.Kind), true)
		if !strings.Contains(fault.Text, "kernel "+kernel) {
			t.Errorf("the report does not name its kernel: %v", fault)
		}
		sanitizer("asan", cudashim.ASan, cudashim.Address, cudashim.Program{})
		return strings.Join(found, " ")
	}
	note("numbers", !exact(first, ref))
	note("schedule", slices.ContainsFunc([]uint64{1, 2, 3}, func(seed uint64) bool {
		other, fault := run(cudashim.Plain, cudashim.Program{Seed: seed})
		return fault != nil || !sameBits(first, other)
	}))
	sanitizer("asan", cudashim.ASan, cudashim.Address, cudashim.Program{})
	sanitizer("tsan", cudashim.TSan, cudashim.Race, cudashim.Program{})
	sanitizer("early", cudashim.TSan, cudashim.Race, cudashim.Program{EarlyCopies: true})
	sanitizer("isolated", cudashim.Plain, cudashim.Isolated, cudashim.Program{Isolated: true})
	return strings.Join(found, " ")
}

func exact(got []float32, want []float64) bool {
	for i, w := range want {
		if !(math.Abs(float64(got[i])-w) <= 0) {
			return false
		}
	}
	return true
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}
