package module_test

import (
	"math"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/tensor"
	"github.com/nl-hecate/hecate/runtime/update"
)

// A twoLevels is an echo of one number whose H belongs to level 1, with constants
// as first values, so that its gradients can be computed by hand.
type twoLevels struct {
	echo[float64]
	gated bool
}

func (e twoLevels) Declare(s *context.ParamSet[float64], prefix string) error {
	add := func(name string, first float64, shape ...int) error {
		return s.Add(context.Param{Name: prefix + name, Shape: tensor.Shape(shape), Init: context.Init{Kind: context.Constant, A: first}})
	}
	if err := add("E", 3, stream.Vocab, 1); err != nil {
		return err
	}
	if err := s.AtLevel(1, e.gated, func() error { return add("H", 0, stream.Vocab, 1) }); err != nil {
		return err
	}
	return add("a", 0.5)
}

// NewMemory is that of the echo as the part of level 1, beside a number of level 0.
func (e twoLevels) NewMemory(batch int) *block.Memory[float64] {
	m := e.echo.NewMemory(batch)
	inner := block.NewMemory(batch, block.Slot[float64]{Name: "M", Shape: []int{2}}, block.Slot[float64]{Name: "tail", Shape: []int{1}, Window: true})
	copy(inner.Slots[0].Data, []float64{3, 4})
	inner.Slots[1].Data[0] = 100
	m.Parts = append(m.Parts, block.Part[float64]{Name: "slow", Memory: inner, Levels: true, Level: 1, Gated: e.gated, Periods: []int{1, 3}})
	return m
}

func (e twoLevels) Step(c block.Call[float64], w block.Weights[float64], m *block.Memory[float64], ids, next []int32) (loss, logits tape.Value[float64], err error) {
	if e.gated && m.Slots[0].Data[0] > 5 { // as a gate of a page would, from what it has read
		m.Parts[0].Memory.Discard(0)
	}
	return e.echo.Step(c, w, m, ids, next)
}

// adding is a buffer that takes the sum, and still does not move.
type adding struct{ descent[float64] }

func (*adding) Slots(context.Param) update.Slots[float64] { return addingSlots{} }

type addingSlots struct{}

func (addingSlots) By() string                   { return "Adding" }
func (addingSlots) Each(func(string, []float64)) {}
func (addingSlots) Step(_ *tape.Run[float64], _ int, w, g []float64) {
	for i, x := range g {
		w[i] += x
	}
}

// averaging is a buffer that takes the mean, and keeps the sum.
type averaging struct{ descent[float64] }

func (*averaging) Slots(p context.Param) update.Slots[float64] {
	n, err := p.Shape.Size()
	if err != nil {
		panic(err)
	}
	return &averagingSlots{make([]float64, n)}
}

type averagingSlots struct{ sum []float64 }

func (*averagingSlots) By() string                       { return "Averaging" }
func (a *averagingSlots) Each(f func(string, []float64)) { f("sum", a.sum) }
func (a *averagingSlots) Step(_ *tape.Run[float64], n int, w, g []float64) {
	if n == 1 {
		clear(a.sum)
	}
	for i, x := range g {
		a.sum[i] += x
		w[i] = a.sum[i] / float64(n)
	}
}

func TestHealth(t *testing.T) {
	t.Run("sum", func(t *testing.T) { testHealth(t, &adding{}) })
	t.Run("mean", func(t *testing.T) { testHealth(t, &averaging{}) })
}

// testHealth holds every figure to what it is by hand, whatever a buffer makes of what
// it gathers. H is 0, so all V bytes have
// the chance 1/V, and E and a, whose gradients come through H, have none. With the
// state s, which is 3 after the first token and 0.5·s + 3 after each later one,
// row v of the gradient of H is s·(1/V − [v is next]): of length s·√(1−1/V) where
// the next byte is another one every time.
func testHealth(t *testing.T, buffer update.Update[float64]) {
	const v = stream.Vocab
	long := math.Sqrt(1 - 1.0/v)
	s := [4]float64{3, 4.5, 5.25, 5.625}
	m, err := module.New(module.Config[float64]{Model: twoLevels{echo: echo[float64]{v, 1}}, Update: &descent[float64]{0}, Buffer: buffer})
	if err != nil {
		t.Fatal(err)
	}
	x := healthy(t, m)
	// What waits after the third step is that of two chunks: two unlike bytes.
	dot := -s[1] * s[2] / v
	sum := math.Sqrt(s[1]*s[1]*long*long + s[2]*s[2]*long*long + 2*dot)
	for n, want := range []module.Health{
		{Updates: 1, Open: 1, Share: 1, Gradient: s[0] * long},
		{Updates: 1, Open: 0, Share: 1.0 / 2, Gradient: s[1] * long, Waiting: 1, Ratio: 1},
		{Updates: 1, Open: 0, Share: 1.0 / 3, Gradient: s[2] * long, Waiting: 2, Ratio: sum / (s[2] * long * math.Sqrt2)},
		{Updates: 2, Open: 1, Share: 2.0 / 4, Gradient: s[3] * long},
	} {
		if _, err := x.Step(1); err != nil {
			t.Fatal(err)
		}
		got, err := x.Health(nil)
		if err != nil || len(got) != 2 {
			t.Fatal(got, err)
		}
		want.Level, want.State = 1, 5
		near(t, n, got[1], want)
		near(t, n, got[0], module.Health{Updates: int64(n + 1), Open: 1, Share: 1, State: s[n], Parameter: math.Sqrt(9*v + 0.25)})
	}
}

// TestHealthOfGates counts what the gate has said, not the pulse: it shuts when the
// state that the call begins with is above 5, which is the fourth call.
func TestHealthOfGates(t *testing.T) {
	m, err := module.New(module.Config[float64]{Model: twoLevels{echo[float64]{stream.Vocab, 1}, true}, Update: &descent[float64]{0}, Buffer: &adding{}})
	if err != nil {
		t.Fatal(err)
	}
	x := healthy(t, m)
	for n, want := range []module.Health{{Updates: 1, Open: 1, Share: 1}, {Updates: 2, Open: 1, Share: 1}, {Updates: 3, Open: 1, Share: 1}, {Updates: 3, Open: 0, Share: 0.75}} {
		if _, err := x.Step(1); err != nil {
			t.Fatal(err)
		}
		got, err := x.Health(nil)
		if err != nil {
			t.Fatal(err)
		}
		if h := got[1]; !h.Gated || h.Updates != want.Updates || h.Open != want.Open || h.Share != want.Share {
			t.Errorf("step %d: %+v, want %+v", n, h, want)
		}
	}
}

func healthy(t *testing.T, m *module.Module[float64]) *module.Session[float64] {
	t.Helper()
	source, err := stream.FromDocuments("unlike", []byte("abcdefghijklmnopqrstuvwxyz"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := stream.New(stream.Whole(source), 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err := module.NewSession(m, s, pulse.Schedule{Periods: []int{1, 3}}, pulse.Build)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// near compares figures; the exponentials of the echo are exact to about 1e-15.
func near(t *testing.T, step int, got, want module.Health) {
	t.Helper()
	const tol = 1e-12
	for _, x := range [][2]float64{{got.Open, want.Open}, {got.Share, want.Share}, {got.Ratio, want.Ratio},
		{got.Gradient, want.Gradient}, {got.Parameter, want.Parameter}, {got.State, want.State}} {
		if !(math.Abs(x[0]-x[1]) <= tol*max(1, math.Abs(x[1]))) {
			t.Errorf("step %d: %+v\nwant     %+v", step, got, want)
			break
		}
	}
	if got.Level != want.Level || got.Updates != want.Updates || got.Waiting != want.Waiting || got.Gated {
		t.Errorf("step %d: %+v\nwant     %+v", step, got, want)
	}
}
