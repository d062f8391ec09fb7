package zero

import (
	"math"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/generated/rules/deltaheads"
	"github.com/nl-hecate/hecate/generated/rules/deltarule"
	"github.com/nl-hecate/hecate/generated/rules/titansheads"
	"github.com/nl-hecate/hecate/generated/rules/titanslmm"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// TestOneHead wants from one head the bits of the rule, answers and states over two
// calls. A gradient is summed over sequences in another order, so it is near.
func TestOneHead(t *testing.T) {
	const width = 16
	rule, head := map[string]int{"d_k": 7}, map[string]int{"d_k": 7, "heads": 1}
	for _, c := range []struct {
		name      string
		one, many block.Block[float32]
	}{
		{"delta", deltarule.New[float32](block.NewSizes(rule), width), deltaheads.New[float32](block.NewSizes(head), width)},
		{"titans", titanslmm.New[float32](block.NewSizes(rule), width), titansheads.New[float32](block.NewSizes(head), width)},
	} {
		one, many := twoCalls(t, c.one), twoCalls(t, c.many)
		if len(one) != len(many) {
			t.Fatalf("%s: %d results, of one head %d", c.name, len(one), len(many))
		}
		for i, r := range one {
			if r.bits && !slices.Equal(r.data, many[i].data) || !slices.EqualFunc(r.data, many[i].data, roundedAlike) {
				t.Errorf("%s: %s differs\n%v\n%v", c.name, r.name, r.data, many[i].data)
			}
		}
	}
}

// roundedAlike allows a hundred roundings of the larger number, and as many of one.
func roundedAlike(a, b float32) bool {
	const roundings = 100 * 0x1p-24
	return math.Abs(float64(a-b)) <= roundings*max(1, math.Abs(float64(a)), math.Abs(float64(b)))
}

// A result is what a call leaves under a name.
type result struct {
	name string
	data []float32
	bits bool // it depends on no order of sums over sequences
}

// twoCalls steps a block twice: answers, gradients of parameters, states.
func twoCalls(t *testing.T, b block.Block[float32]) (out []result) {
	t.Helper()
	const batch, steps = 2, 37
	var params context.ParamSet[float32]
	if err := b.Declare(&params, ""); err != nil {
		t.Fatal(err)
	}
	w, err := params.Writer()
	if err != nil {
		t.Fatal(err)
	}
	w.Restore(func(i int, _ context.Param, data []float32) {
		for j := range data {
			data[j] = float32((7*i+3*j)%11)/20 - 0.25
		}
	})
	w.Close()
	view := params.View()
	x := make([]float32, batch*steps*b.Width())
	for i := range x {
		x[i] = float32(i%7)/3 - 1
	}
	add := func(name string, data []float32, bits bool) {
		out = append(out, result{name, slices.Clone(data), bits})
	}
	m, now := b.NewMemory(batch), pulse.First(pulse.Build)
	var arena tape.Arena[float32]
	for range 2 {
		err := tape.With(&arena, now, func(r *tape.Run[float32]) error {
			w := block.Bind(r, view)
			y, err := b.Step(block.Call[float32]{Run: r, Pulse: now, Batch: batch, Tokens: steps}, w, m, r.Input(x))
			if err != nil {
				return err
			}
			adjoint := make([]float32, len(y.Data))
			for i := range adjoint {
				adjoint[i] = float32(i%5) - 2
			}
			r.Tape.Seed(y, adjoint)
			r.Tape.Reverse()
			add("y", y.Data, true)
			for i := range view.Len() {
				add(view.Name(i), r.Tape.Adjoint(w.Value(view.Name(i))), false)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		m.Keep()
		m.Each("", func(name string, _ []int, data []float32) { add(name, data, true) })
	}
	return out
}
