package update

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// A Machine moves the parameters of one table. Each has its own clock, which
// counts the times that it fired and nothing else: a level that fires seldom
// corrects its moments for the fires that it had, not for the steps of the run.
// A parameter that does not fire keeps its value, its slots and its clock.
type Machine[F num.Float] struct {
	update Update[F]
	slots  []Slots[F] // nil for a fixed parameter
	fires  []int64
}

// NewMachine makes the slots of all parameters that are not fixed.
func NewMachine[F num.Float](u Update[F], v context.View[F]) *Machine[F] {
	m := &Machine[F]{update: u, fires: make([]int64, v.Len())}
	for i := range v.Len() {
		var s Slots[F]
		if p := v.Param(i); !p.Fixed {
			s = u.Slots(p)
		}
		m.slots = append(m.slots, s)
	}
	return m
}

// Update is what moves them.
func (m *Machine[F]) Update() Update[F] { return m.update }

// Fired is the panic message of a fire of a fixed parameter.
const Fired = "update: a fixed parameter cannot fire"

// Fire moves parameter i by its gradient and counts.
func (m *Machine[F]) Fire(r *tape.Run[F], i int, w, g []F) {
	if m.slots[i] == nil {
		panic(Fired)
	}
	m.fires[i]++
	m.slots[i].Fire(r, int(m.fires[i]), w, g)
}

// Slots are what is kept for parameter i, nil for a fixed one.
func (m *Machine[F]) Slots(i int) Slots[F] { return m.slots[i] }

// Clocks are the fires of every parameter so far, to save them.
func (m *Machine[F]) Clocks() []int64 { return m.fires }

// SetClocks takes the fires of every parameter from what was saved. The error
// says what cannot be.
func (m *Machine[F]) SetClocks(fires []int64) error {
	if len(fires) != len(m.fires) {
		return fmt.Errorf("update: %d clocks for %d parameters", len(fires), len(m.fires))
	}
	for i, n := range fires {
		if n < 0 || m.slots[i] == nil && n != 0 {
			return fmt.Errorf("update: the clock of parameter %d shows %d", i, n)
		}
	}
	copy(m.fires, fires)
	return nil
}

// Clip bounds the norm of the gradients of all parameters that fire at once,
// taken together, and returns the norm that it found. A bound of 0 is none. The
// sum runs in float64, in the order of the list, so it is the same everywhere.
func Clip[F num.Float](grads [][]F, bound float64) float64 {
	sum := 0.0
	for _, g := range grads {
		for _, x := range g {
			sum += float64(float64(x) * float64(x))
		}
	}
	norm := math.Sqrt(sum)
	if bound > 0 && norm > bound {
		c := F(bound / norm)
		for _, g := range grads {
			for i, x := range g {
				g[i] = F(x * c)
			}
		}
	}
	return norm
}
