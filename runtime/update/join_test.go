package update

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// A noted update adds the gradient and notes how many entries each step has.
type noted struct{ steps *[]int }

func (noted) Name() string                   { return "Noted" }
func (noted) Settings(func(string, float64)) {}
func (noted) Set(string, float64) error      { return nil }
func (u noted) Slots(p context.Param) Slots[float64] {
	n := 1
	for _, d := range p.Shape {
		n *= d
	}
	return &notedSlots{u, make([]float64, n)}
}

type notedSlots struct {
	noted
	sum []float64
}

func (s *notedSlots) By() string { return "Noted" }
func (s *notedSlots) Step(_ *tape.Run[float64], n int, w, g []float64) {
	*s.steps = append(*s.steps, len(w))
	for i, x := range g {
		w[i] += x * float64(n)
		s.sum[i] += x
	}
}
func (s *notedSlots) Each(f func(string, []float64))   { f("sum", s.sum) }
func (s *notedSlots) Move(f func([]float64) []float64) { s.sum = f(s.sum) }
func (s *notedSlots) Over(n int) Slots[float64]        { return &notedSlots{s.noted, s.sum[:n]} }

// TestTogether: parameters that are updated alike take one step, and where one of them is left out, has
// another clock or a gradient elsewhere, a step each; always with the same numbers.
func TestTogether(t *testing.T) {
	set := &context.ParamSet[float64]{}
	for _, p := range []context.Param{
		{Name: "a", Shape: tensor.Shape{2}}, {Name: "b", Shape: tensor.Shape{1}, NoDecay: true}, {Name: "c", Shape: tensor.Shape{3}},
		{Name: "d", Shape: tensor.Shape{2}, Level: 1}, {Name: "e", Shape: tensor.Shape{1}, Level: 1}, {Name: "f", Shape: tensor.Shape{1}, Fixed: true},
	} {
		p.Init = context.Init{Kind: context.Constant}
		if err := set.AtLevel(p.Level, false, func() error { return set.Add(p) }); err != nil {
			t.Fatal(err)
		}
	}
	var steps []int
	m := NewMachine(noted{&steps}, noted{&steps}, set.View(), Options{})
	order := m.Order()
	if want := []int{0, 2, 1, 3, 4, 5}; !slices.Equal(order, want) {
		t.Fatalf("the order is %v, want %v", order, want)
	}
	vectors := func() [][]float64 {
		out, free := make([][]float64, 6), make([]float64, 10)
		for _, i := range order {
			n := len(set.View().Data(i))
			out[i], free = free[:n], free[n:]
		}
		return out
	}
	set.Move(order, vectors)
	if err := m.Move(func(n int) []float64 { return make([]float64, n) }); err != nil {
		t.Fatal(err)
	}
	w, err := set.Writer()
	if err != nil {
		t.Fatal(err)
	}
	grads, apart := vectors(), []float64{1, 1, 1}
	for i, g := range grads {
		for j := range g {
			g[j] = float64(1 + i + j)
		}
	}
	want := make([]float64, 6) // the first entries
	clocks := make([]float64, 6)
	var arena tape.Arena[float64]
	for _, c := range []struct {
		what  string
		with  map[int][]float64 // instead of grads; nil leaves it out
		steps []int             // of collecting d and e, and of a, b, c, d, e
	}{
		{"all", nil, []int{3, 5, 1, 3}},
		{"a gradient elsewhere", map[int][]float64{2: apart}, []int{3, 2, 1, 3, 3}},
		{"one left out", map[int][]float64{2: nil, 4: nil}, []int{2, 2, 1, 2}},
		{"other clocks", nil, []int{2, 1, 2, 1, 3, 2, 1}},
	} {
		steps = steps[:0]
		list := slices.Clone(grads)
		list[5] = nil
		for i, g := range c.with {
			list[i] = g
		}
		_ = tape.Without(&arena, pulse.First(pulse.Build), func(r *tape.Run[float64]) error {
			m.Together(list)
			for _, i := range order {
				if list[i] != nil {
					list[i] = m.Collect(r, i, list[i])
				}
			}
			m.Together(list)
			w.Update(func(i int, _ context.Param, data []float64) {
				if list[i] != nil {
					m.Step(r, i, data, list[i])
				}
			})
			return nil
		})
		if !slices.Equal(steps, c.steps) {
			t.Errorf("%s: steps of %v entries, want %v", c.what, steps, c.steps)
		}
		for i := range 5 {
			g := grads[i]
			if x, other := c.with[i]; other {
				g = x
			}
			if g != nil {
				clocks[i]++
				want[i] += g[0] * clocks[i]
			}
			if got := set.View().Data(i)[0]; got != want[i] {
				t.Errorf("%s: parameter %d is %v, want %v", c.what, i, got, want[i])
			}
		}
	}
	if got := fmt.Sprint(m.Clocks()); got != "[4 4 3 4 3 0]" {
		t.Errorf("clocks %s", got)
	}
}
