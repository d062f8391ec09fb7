package zero

import (
	"fmt"
	"math"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/tensor"
	"github.com/nl-hecate/hecate/runtime/update"
)

// Updates under levels that are updated at different times. A parameter that is not
// updated keeps its value, its slots and its clock to the last bit, and one that
// is updated is moved as if the steps in between had not been.

// levels are the periods, and levelSteps how long they run: the slowest level
// is updated a few times.
var levels = []int{1, 4, 8}

const levelSteps = 26

// table has a vector and two matrices, wide and tall, for each level.
func table(t *testing.T) *context.ParamSet[float64] {
	t.Helper()
	s := &context.ParamSet[float64]{}
	for l := range levels {
		for _, p := range []context.Param{{Name: "v", Shape: tensor.Shape{5}, NoDecay: true}, {Name: "W", Shape: tensor.Shape{3, 5}},
			{Name: "U", Shape: tensor.Shape{6, 2}, NoDecay: true}, {Name: "E", Shape: tensor.Shape{4, 3}, Entrywise: true}} {
			p.Name = fmt.Sprintf("%d.%s", l, p.Name)
			p.Init = context.Init{Kind: context.Normal, B: 1}
			if err := s.Add(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Fill(3)
	return s
}

// moved is everything that a parameter has: its value, its slots, its clock.
func moved(m *update.Machine[float64], v context.View[float64], i int) []float64 {
	out := append([]float64{float64(m.Clocks()[i])}, v.Data(i)...)
	m.Slots(i).Each(func(_ string, x []float64) { out = append(out, x...) })
	return out
}

func TestFrozenLevelsChangeNothing(t *testing.T) {
	for _, name := range registry.Updates() {
		t.Run(name, func(t *testing.T) {
			set, alone := table(t), table(t)
			u, err := registry.NewUpdate[float64](name)
			if err != nil {
				t.Fatal(err)
			}
			m, n := update.NewMachine(u, nil, set.View(), update.Options{}), update.NewMachine(u, nil, alone.View(), update.Options{})
			per := set.View().Len() / len(levels)
			step := func(m *update.Machine[float64], s *context.ParamSet[float64], at pulse.Pulse, on func(level int) bool) {
				w, err := s.Writer()
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				arena := tape.Arena[float64]{Debug: true}
				_ = tape.Without(&arena, at, func(r *tape.Run[float64]) error {
					w.Update(func(i int, p context.Param, data []float64) {
						if on(i / per) {
							g := make([]float64, len(data))
							num.FillNormal(g, num.NewStream(p.Name, at.Step()), 0, 1)
							m.Step(r, i, data, g)
						}
					})
					return nil
				})
			}
			p := pulse.First(pulse.Build, levels...)
			for range levelSteps {
				var before [][]float64
				for i := range set.View().Len() {
					before = append(before, moved(m, set.View(), i))
				}
				step(m, set, p, p.Active)
				for i, was := range before {
					same := fmt.Sprint(was) == fmt.Sprint(moved(m, set.View(), i))
					if same == p.Active(i/per) {
						t.Fatalf("step %d: level %d is active: %v, and %s is the same: %v", p.Step(), i/per, p.Active(i/per), set.View().Name(i), same)
					}
				}
				p = p.Next(1)
			}
			// The slowest level, updated without the steps in between.
			last := len(levels) - 1
			for q := pulse.First(pulse.Build, levels...); q.Step() < levelSteps; q = q.Next(1) {
				if q.Active(last) {
					step(n, alone, q, func(l int) bool { return l == last })
				}
			}
			for i := last * per; i < set.View().Len(); i++ {
				if a, b := moved(m, set.View(), i), moved(n, alone.View(), i); fmt.Sprint(a) != fmt.Sprint(b) {
					t.Errorf("%s of a slow level is not what its own updates make of it", set.View().Name(i))
				}
				if want := int64((levelSteps + levels[last] - 1) / levels[last]); m.Clocks()[i] != want {
					t.Errorf("the clock of %s shows %d, want %d", set.View().Name(i), m.Clocks()[i], want)
				}
			}
		})
	}
}

// TestFirstStepOfASlowLevel: by a clock of the run, the correction of AdamW would
// be spent after a thousand steps, and the first step of a level that waited so
// long a thirtieth of its size.
func TestFirstStepOfASlowLevel(t *testing.T) {
	set := table(t)
	u, err := registry.NewUpdate[float64]("AdamW")
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Set("lr", 0.25); err != nil {
		t.Fatal(err)
	}
	m := update.NewMachine(u, nil, set.View(), update.Options{})
	w, err := set.Writer()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	was := append([]float64(nil), set.View().Data(0)...)
	g := []float64{3, -1e-3, 40, -1, 0.5}
	var arena tape.Arena[float64]
	_ = tape.Without(&arena, pulse.First(pulse.Build).At(1000, 1000), func(r *tape.Run[float64]) error {
		w.Update(func(i int, _ context.Param, data []float64) {
			if i == 0 {
				m.Step(r, 0, data, g)
			}
		})
		return nil
	})
	for i, x := range set.View().Data(0) {
		if d := was[i] - x; !(math.Abs(d-math.Copysign(0.25, g[i])) <= 1e-5) {
			t.Errorf("a first step by %v, want by the rate of 0.25", d)
		}
	}
}

func TestClip(t *testing.T) {
	grads := [][]float64{{3, 0}, {0, -4}}
	if n := update.Clip(grads, 0); n != 5 || grads[1][1] != -4 {
		t.Errorf("without a bound: norm %v, gradients %v", n, grads)
	}
	if n := update.Clip(grads, 10); n != 5 || grads[1][1] != -4 {
		t.Errorf("under the bound: norm %v, gradients %v", n, grads)
	}
	if n := update.Clip(grads, 1); n != 5 || !(math.Abs(grads[0][0]-0.6) <= exact) || !(math.Abs(grads[1][1]+0.8) <= exact) {
		t.Errorf("over the bound: norm %v, gradients %v", n, grads)
	}
}

func TestClocks(t *testing.T) {
	s := &context.ParamSet[float64]{}
	for _, p := range []context.Param{{Name: "a", Shape: tensor.Shape{2}}, {Name: "b", Shape: tensor.Shape{2}, Fixed: true}} {
		p.Init = context.Init{Kind: context.Constant}
		if err := s.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	u, err := registry.NewUpdate[float64]("AdamW")
	if err != nil {
		t.Fatal(err)
	}
	m := update.NewMachine(u, nil, s.View(), update.Options{})
	for _, bad := range [][]int64{{1}, {-1, 0}, {1, 1}} {
		if err := m.CheckClocks(bad, []int64{0, 0}); err == nil {
			t.Errorf("clocks %v were taken", bad)
		}
	}
	if err := m.CheckClocks([]int64{7, 0}, []int64{0, 1}); err == nil {
		t.Error("something waits for a parameter of the fastest level")
	}
	good := []int64{7, 0}
	if err := m.CheckClocks(good, []int64{0, 0}); err != nil {
		t.Errorf("clocks %v: %v", good, err)
	}
	if m.SetClocks(good, []int64{0, 0}); m.Clocks()[0] != 7 {
		t.Errorf("clocks: %v, want %v", m.Clocks(), good)
	}
	defer func() {
		if recover() != update.FixedParameter {
			t.Error("a fixed parameter was updated")
		}
	}()
	m.Step(nil, 1, nil, nil)
}
