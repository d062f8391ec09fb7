package zero

import (
	"math"
	"os"
	"testing"

	"github.com/nl-hecate/hecate/generated/updates/adamw"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/update"
)

// The setting of the curves, as the heads of their files give it.
const (
	curveText  = "../../command/text/crossroads.txt"
	curveSteps = 1000
	curveBatch = 4
	curveT     = 32
	curveTol   = 0.01 // of every step's loss

	// In float64 the two programs differ by rounding only, and a few hundred
	// steps show it as well as a thousand.
	curveSteps64 = 250
	curveTol64   = 1e-9
)

// slots cuts the text for the sequences: of its first nine tenths each sequence has its
// stretch.
func slots(t *testing.T) [][]byte {
	t.Helper()
	text, err := os.ReadFile(curveText)
	if err != nil {
		t.Fatal(err)
	}
	n := 9 * len(text) / 10
	var out [][]byte
	for i := range curveBatch {
		out = append(out, text[i*n/curveBatch:(i+1)*n/curveBatch])
	}
	return out
}

// run builds a model step by step and compares its losses with a curve.
func run[F num.Float](t *testing.T, name, file string, steps int, tol float64) {
	want := curve(t, file)
	if len(want) != curveSteps {
		t.Fatalf("the curve has %d steps", len(want))
	}
	k := start[F](t, name, curveBatch, 32, 4, 256, 16)
	k.set.Fill(1)
	w, err := k.set.Writer()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var moments []adamw.Slots[F]
	v := k.set.View()
	for i := range v.Len() {
		moments = append(moments, adamw.NewSlots[F](len(v.Data(i))))
	}
	text, at := slots(t), make([]int, curveBatch)
	var arena tape.Arena[F]
	worst, last := 0.0, 0.0
	for n := range steps {
		ids, next := take(k, text, at)
		loss, _, grads := k.step(ids, next)
		last = loss
		worst = max(worst, math.Abs(loss-want[n])/want[n])
		if !(math.Abs(loss-want[n]) <= tol*want[n]) {
			t.Fatalf("step %d: loss %v, the oracle has %v", n+1, loss, want[n])
		}
		_ = tape.Without(&arena, k.pulse, func(r *tape.Run[F]) error { // the gradients lie in the other arena
			w.Update(func(i int, p context.Param, data []F) {
				if g := grads[p.Name]; g != nil {
					adamw.Apply(r, warmed(n+1), n+1, p.NoDecay, data, g, moments[i])
				}
			})
			return nil
		})
	}
	t.Logf("%s: loss %.4f → %.4f; at most %.2g %% from the oracle", name, want[0], last, 100*worst)
}

// warmed are the settings of AdamW at a step of the oracle, whose rate warms up over fifty.
func warmed(step int) adamw.Settings {
	z := adamw.Defaults()
	z.LR *= update.Schedule{WarmUp: 50}.Factor(step)
	return z
}

// take is the next chunk of every sequence. A sequence whose text is at its end starts
// again with a fresh context.
func take[F num.Float](k *track[F], text [][]byte, at []int) (ids, next []int32) {
	for l, s := range text {
		if at[l]+curveT+1 > len(s) {
			at[l] = 0
			k.mem.Reset(l)
		}
		for i := range curveT {
			ids = append(ids, int32(s[at[l]+i]))
			next = append(next, int32(s[at[l]+i+1]))
		}
		at[l] += curveT
	}
	return ids, next
}

// TestCurve holds the loss to the oracle's: over 1,000 steps within one percent.
func TestCurve(t *testing.T) {
	for _, m := range []struct{ name, file string }{{"ZeroA", "zero_a"}, {"ZeroB", "zero_b"}} {
		t.Run(m.name+"/float32", func(t *testing.T) {
			t.Parallel()
			run[float32](t, m.name, m.file, curveSteps, curveTol)
		})
		t.Run(m.name+"/float64", func(t *testing.T) {
			t.Parallel()
			run[float64](t, m.name, m.file+"_f64", curveSteps64, curveTol64)
		})
	}
}
