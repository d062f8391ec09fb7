package emitgo_test

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/lower"
	"github.com/nl-hecate/hecate/gen/plan"
)

// TestDeltaSpeed prints the time of the emitted delta rule beside the textbook
// C of bench/c, when SPEED is set.
func TestDeltaSpeed(t *testing.T) {
	if os.Getenv("SPEED") == "" {
		t.Skip("SPEED is not set")
	}
	fwd, bwd, err := lower.Pair(autodiff.NewPair(deltaRule()))
	if err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, map[string]*plan.Kernel{"DeltaForward": fwd, "DeltaBackward": bwd})
	for range 2 {
		for _, d := range []int{64, 128, 256} {
			sizes := map[string]int{"L": 1, "T": 512, "d_k": d, "d_v": d, "C": 64}
			for _, k := range []struct {
				name string
				k    *plan.Kernel
			}{{"DeltaForward", fwd}, {"DeltaBackward", bwd}} {
				r := &request{Kernel: k.name, Single: true, Sizes: sizes, Params: map[string][]float64{}, Lens: map[string]int{}, Rounds: 15}
				for _, b := range k.k.Params {
					n := length(t, k.k, b, sizes)
					if b.Role == plan.Read {
						r.Params[b.Name] = deltaInput(b.Of, n, d)
					} else if b.Role == plan.Checkpoint && !b.Optional {
						r.Params[b.Name] = deltaInput(b.Of, n, d)
					} else {
						r.Lens[b.Name] = n
					}
				}
				ns := h.run(t, r).Nanos
				slices.Sort(ns)
				t.Logf("%s d=%d median %d µs, best %d µs", k.name, d, ns[len(ns)/2]/1000, ns[0]/1000)
			}
		}
		exe := filepath.Join(t.TempDir(), "textbook")
		if out, err := exec.Command("gcc", "-O2", "-o", exe, "../../bench/c/textbook.c", "-lm").CombinedOutput(); err != nil {
			t.Skipf("gcc: %v %s", err, out)
		}
		out, _ := exec.Command(exe).Output()
		t.Logf("\n%s", out)
	}
}

func deltaInput(name string, n, d int) []float64 {
	rng := rand.New(rand.NewPCG(7, uint64(len(name))))
	out := make([]float64, n)
	for i := range out {
		switch name {
		case "rho":
			out[i] = 0.9 + 0.1*rng.Float64()
		case "theta":
			out[i] = 0.005 + 0.045*rng.Float64()
		default:
			out[i] = (2*rng.Float64() - 1) / math.Sqrt(float64(d))
		}
	}
	return out
}
