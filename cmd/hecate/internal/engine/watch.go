package engine

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/build"
	"github.com/nl-hecate/hecate/runtime/block"
	rtcontext "github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/update"
)

// A watch looks on while a build runs: it wraps the model and the update that
// the catalog makes, changes nothing that they compute, and tells when an update
// is complete.
type watch struct {
	mu     sync.Mutex // lanes run at once
	nats   []float64  // of the pieces since the last step, with a tape
	valid  int
	asked  []float64 // the same of measurements
	model  block.Model[float32]
	params *rtcontext.ParamSet[float32]
	states int
	rate   float64
	norms  []float64
	last   int    // the last parameter that fires
	step   func() // called when it has fired
}

// catalog wraps what c makes.
func (w *watch) catalog(c build.Catalog[float32]) build.Catalog[float32] {
	newModel, newUpdate := c.New, c.NewUpdate
	c.New = func(name string, sizes block.Sizes) (block.Model[float32], error) {
		m, err := newModel(name, sizes)
		if err != nil {
			return m, err
		}
		return watchedModel{m, w}, w.look(m)
	}
	c.NewUpdate = func(name string) (update.Update[float32], error) {
		u, err := newUpdate(name)
		return watchedUpdate{u, w}, err
	}
	return c
}

// look takes the model's table of parameters and the size of its memory.
func (w *watch) look(m block.Model[float32]) error {
	w.model, w.params = m, &rtcontext.ParamSet[float32]{}
	if err := m.Declare(w.params, ""); err != nil {
		return err
	}
	v := w.params.View()
	w.norms = make([]float64, v.Len())
	for i := range v.Len() {
		if !v.Param(i).Fixed {
			w.last = i
		}
	}
	w.states = 0
	m.NewMemory(1).Each("", func(_ string, _ []int, data []float32) { w.states += len(data) })
	return nil
}

// take returns the nats of all pieces since the last call and how many tokens
// they predicted. The order in which lanes finish does not show.
func (w *watch) take() (nats float64, valid int) {
	nats, valid = total(w.nats), w.valid
	w.nats, w.valid = w.nats[:0], 0
	return nats, valid
}

func total(xs []float64) (sum float64) {
	slices.Sort(xs)
	for _, x := range xs {
		sum += x
	}
	return sum
}

type watchedModel struct {
	block.Model[float32]
	w *watch
}

func (m watchedModel) Step(c block.Call[float32], p block.Weights[float32], mem *block.Memory[float32], ids, next []int32) (loss, logits tape.Value[float32], err error) {
	loss, logits, err = m.Model.Step(c, p, mem, ids, next)
	if err != nil || c.Pulse.Phase() == pulse.Stream {
		return loss, logits, err
	}
	n := 0
	for _, t := range next {
		if t != stream.Ignore {
			n++
		}
	}
	x := float64(float64(loss.Data[0]) * float64(n))
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	if c.Pulse.Phase() == pulse.Test {
		m.w.asked = append(m.w.asked, x)
	} else {
		m.w.nats, m.w.valid = append(m.w.nats, x), m.w.valid+n
	}
	return loss, logits, nil
}

type watchedUpdate struct {
	update.Update[float32]
	w *watch
}

func (u watchedUpdate) Slots(p rtcontext.Param) update.Slots[float32] {
	u.w.rate = rateOf(u.Update)
	s := u.Update.Slots(p)
	if s == nil {
		return nil
	}
	i, err := u.w.params.View().Index(p.Name)
	if err != nil {
		panic("engine: BUG: " + err.Error())
	}
	return watchedSlots{s, u, i}
}

// rateOf is the setting lr, 0 if there is none.
func rateOf(u update.Update[float32]) (rate float64) {
	u.Settings(func(name string, x float64) {
		if name == "lr" {
			rate = x
		}
	})
	return rate
}

type watchedSlots struct {
	update.Slots[float32]
	u watchedUpdate
	i int
}

func (s watchedSlots) Fire(r *tape.Run[float32], n int, w, g []float32) {
	sum := 0.0
	for _, x := range g {
		sum += float64(float64(x) * float64(x))
	}
	s.u.w.norms[s.i] = math.Sqrt(sum)
	s.Slots.Fire(r, n, w, g)
	if s.i == s.u.w.last {
		s.u.w.step()
	}
}

// table is the parameters as the commands see them.
func (w *watch) table(u update.Update[float32]) []Param {
	v := w.params.View()
	out := make([]Param, v.Len())
	for i := range out {
		p := v.Param(i)
		out[i] = Param{Name: p.Name, Shape: p.Shape, Size: len(v.Data(i)), Fixed: p.Fixed}
		if at := strings.LastIndexByte(p.Name, '.'); at >= 0 {
			out[i].Block = p.Name[:at]
		}
		if u != nil && !p.Fixed {
			if s := u.Slots(p); s != nil {
				s.Each(func(_ string, data []float32) { out[i].Slots += len(data) })
			}
		}
	}
	return out
}
