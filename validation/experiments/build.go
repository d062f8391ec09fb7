package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"time"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	rtcontext "github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/update"
)

// A build is one build. What it leaves open is as in a build that is told nothing.
type build struct {
	formula string
	sizes   map[string]int // V is the source's
	periods []int          // in chunks
	batch   int
	chunk   int
	across  int     // chunks of a gradient; 0: one
	keys    int     // length of the keys that sizes does not name; 0: the width
	rate    float64 // 0: the page's own
	clip    float64 // of the norm of the gradients of the parameters that are updated together; 0: none
	seed    uint64
	marks   []int // updates after which it is measured, the last one being its end

	settings map[string]float64 // of the update
	falling  update.Schedule    // zero: a warm-up
	noDecay  update.Kinds
}

// warmUp is the number of steps over which the learning rate rises in a build without a schedule.
const warmUp = 50

// A mark is how a build is after some updates.
type mark struct {
	steps    int
	heldOut  float64 // bits per scored token
	built    float64 // the same on what was built on, mean since the mark before
	health   []module.Health
	most     float64 // root mean square of a state's entries: the largest of all states and sequences
	least    float64 // and the smallest
	leastOf  string
	bad      error // the number that was none, with which the build ended
	duration time.Duration
}

// A model is a build's model with what a report says of it.
type model struct {
	module *module.Module[float32]
	params int
	states int // of a sequence
	levels int
}

// make makes the model.
func (t build) make(vocab int) (*model, error) {
	sizes := maps.Clone(t.sizes)
	sizes["V"] = vocab
	m, err := registry.NewModel[float32](t.formula, block.NewSizes(sizes).Else(t.otherwise))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.formula, err)
	}
	u, err := registry.NewUpdate[float32]("AdamW")
	if err == nil && t.rate > 0 {
		err = u.Set("lr", t.rate)
	}
	for name, x := range t.settings {
		if err == nil {
			err = u.Set(name, x)
		}
	}
	if err != nil {
		return nil, err
	}
	buffer, err := registry.NewUpdate[float32]("ErrorBuffer")
	if err != nil {
		return nil, err
	}
	rates := t.falling
	if rates == (update.Schedule{}) {
		rates.WarmUp = warmUp
	}
	mod, err := module.New(module.Config[float32]{Model: m, Update: u, Buffer: buffer, Clip: t.clip, Chunks: t.across, Schedule: rates, NoDecay: t.noDecay, Seed: t.seed})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.formula, err)
	}
	out := &model{module: mod}
	v := mod.Params()
	for i := range v.Len() {
		out.params += len(v.Data(i))
	}
	mem := m.NewMemory(1)
	mem.Each("", func(_ string, _ []int, data []float32) { out.states += len(data) })
	out.levels, _ = mem.Levels()
	return out, nil
}

// otherwise are the sizes that a build does not name: two heads, no persistent
// tokens, keys of its own length, and widths those of the model.
func (t build) otherwise(name string) int {
	switch name {
	case "H":
		return 2
	case "n_p":
		return 0
	case "d_k":
		if t.keys > 0 {
			return t.keys
		}
	}
	return t.sizes["d"]
}

// run builds, and measures at each mark. A NaN or an infinity ends the build; the
// mark that it did not reach says so.
func (t build) run(ctx context.Context, d data) (*model, []mark, error) {
	m, err := t.make(d.vocab())
	if err != nil {
		return nil, nil, err
	}
	in, err := stream.New(d.built, t.batch)
	if err != nil {
		return nil, nil, err
	}
	s, err := module.NewSession(m.module, in, t.schedule(), pulse.Build)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.formula, err)
	}
	var out []mark
	done := 0
	for _, at := range t.marks {
		x := mark{steps: at}
		if x.bad = t.advance(ctx, s, &x, at-done); x.bad == nil {
			done, x.bad = at, t.measure(ctx, s, d, &x)
		}
		out = append(out, x)
		var number *module.BadNumber
		switch {
		case x.bad == nil:
		case errors.As(x.bad, &number):
			return m, out, nil
		default:
			return nil, nil, fmt.Errorf("%s: %w", t.formula, x.bad)
		}
	}
	return m, out, nil
}

// schedule is that of the periods.
func (t build) schedule() pulse.Schedule {
	return pulse.Schedule{Unit: pulse.Chunks, Periods: t.periods}
}

// advance makes n updates.
func (t build) advance(ctx context.Context, s *module.Session[float32], x *mark, n int) error {
	began := time.Now()
	sum := 0.0
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		step, err := s.Step(t.chunk)
		if err != nil {
			return err
		}
		sum += step.Nats
	}
	x.duration = time.Since(began)
	x.built = sum / float64(n) / math.Ln2
	return nil
}

// measure looks at a build and changes nothing.
func (t build) measure(ctx context.Context, s *module.Session[float32], d data, x *mark) (err error) {
	nats, err := d.score(ctx, s.Module(), t.schedule(), t.chunk)
	x.heldOut = nats / math.Ln2
	if err == nil {
		x.health, err = s.Health(nil)
	}
	if err == nil {
		err = x.look(s)
	}
	return err
}

// look finds the largest and the smallest state, of a copy.
func (x *mark) look(s *module.Session[float32]) error {
	x.least = math.Inf(1)
	return s.Probe(func(h rtcontext.Handle[*module.Memory[float32]], _ pulse.Pulse) error {
		mem, err := h.Take()
		if err != nil {
			return err
		}
		mem.Each(func(name string, _ []int, data []float32) {
			if strings.HasSuffix(name, ".tail") || len(data) == 0 {
				return // what a window looks back at
			}
			sum := 0.0
			for _, v := range data {
				sum += float64(v) * float64(v)
			}
			rms := math.Sqrt(sum / float64(len(data)))
			x.most = math.Max(x.most, rms)
			if rms < x.least {
				x.least, x.leastOf = rms, name
			}
		})
		return nil
	})
}
