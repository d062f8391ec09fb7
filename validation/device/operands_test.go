//go:build linux && (amd64 || arm64) && !nogpu

package device

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/cuda"
	"github.com/nl-hecate/hecate/runtime/device"
)

// TestOperands runs the Go kernels that have operands with these in bfloat16: the same bits on every target of
// the fused arithmetic, other bits than with operands in float32, and near to numbers of 64 bits.
func TestOperands(t *testing.T) {
	const tol = 1e-4 // float32 has 1.2e-5 here; operands that are not rounded have 1e-3
	l, err := cuda.OpenLibrary(registry.All().Kernels()...)
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Force(cpu.Active())
	kernels := 0
	for _, name := range l.Names() {
		k, err := l.Kernel(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := k.Defaults[cuda.BFloat16]; !ok {
			continue
		}
		kernels++
		sizes := map[string]int{cuda.BFloat16: 1, "L": 2, "T": 7}
		for i, s := range append(slices.Clone(k.Sizes), k.Open...) {
			if _, ok := sizes[s]; !ok {
				sizes[s] = 3 + i%5
			}
		}
		shape, err := k.Shape(sizes)
		if err != nil {
			t.Fatal(err)
		}
		run := func(double, narrow bool) [][]float64 {
			ref, ok := registry.All().Reference(name)
			if !ok {
				t.Fatalf("no %s in Go", name)
			}
			call := ref.Single
			if double {
				call = ref.Double
			}
			return runCall(call, k, sizes, shape, narrow)
		}
		var first [][]float64
		for _, target := range cpu.Targets() {
			if _, err := cpu.Force(target); err != nil {
				continue
			}
			got := run(false, true)
			switch {
			case target.Arithmetic() != "fma":
			case first == nil:
				first = got
			case !slices.EqualFunc(got, first, sameBits):
				t.Errorf("%s: %v has other bits than the first target", name, target)
			}
			if single := run(false, false); slices.EqualFunc(got, single, sameBits) {
				t.Errorf("%s: %v does not round its operands", name, target)
			}
			exact := run(true, true)
			for i := range got {
				if d := distance(got[i], exact[i]); !(d <= tol) {
					t.Errorf("%s: result %d on %v is off by %.3g, may be by %g", name, i, target, d, tol)
				}
			}
		}
	}
	if kernels < 100 {
		t.Errorf("%d kernels have operands", kernels)
	}
}

func sameBits(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
}

// runCall runs a call on small random numbers and returns its results; they hold NaNs before, and so do its workspace
// and the copies of operands.
func runCall(call device.Call, k *cuda.Kernel, sizes map[string]int, shape *cuda.Shape, narrow bool) (out [][]float64) {
	v := reflect.ValueOf(call).Elem()
	rng := rand.New(rand.NewPCG(9, 9))
	for i, s := range k.Sizes {
		v.Field(i).SetInt(int64(sizes[s]))
	}
	fresh := func(f reflect.Value, n int) reflect.Value {
		f.Set(reflect.MakeSlice(f.Type(), n, n))
		for i := range n {
			if f.Index(i).CanFloat() {
				f.Index(i).SetFloat(math.NaN())
			}
		}
		return f
	}
	at, results := len(k.Sizes), []reflect.Value{}
	for i, b := range k.Buffers {
		if b.Own() {
			continue
		}
		f := fresh(v.Field(at), shape.Lengths[i])
		at++
		switch {
		case b.Role == "write":
			results = append(results, f)
		case b.Type == "float":
			for j := range f.Len() {
				f.Index(j).SetFloat(float64(float32(0.2 + 0.6*rng.Float64())))
			}
		case b.Type == "int":
			for j := range f.Len() {
				f.Index(j).SetInt(int64(j % 2))
			}
		}
	}
	fresh(v.FieldByName("Work"), call.WorkLen())
	if narrow {
		fresh(v.FieldByName("Operands"), call.(interface{ OperandsLen() int }).OperandsLen())
	}
	call.Run()
	for _, f := range results {
		x := make([]float64, f.Len())
		for i := range x {
			if f.Index(i).CanFloat() {
				x[i] = f.Index(i).Float()
			}
		}
		out = append(out, x)
	}
	return out
}
