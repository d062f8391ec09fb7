package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/runtime/catalog"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/tensor"
	"github.com/nl-hecate/hecate/runtime/update"
)

// Modules makes builders and readers of the models of a catalog.
type Modules struct {
	*catalog.Catalog
	OwnText []byte // a small text, used if the default text is missing
	OwnName string
}

// World lists the known names.
func (m *Modules) World() config.World {
	return config.World{Models: m.Models(), Updates: m.Updates(), Buffers: m.Buffers(), Formula: func(text string) error { return wrongFormula(m.Pages(), text) }}
}

// update makes the update of a configuration.
func (m *Modules) update(c *config.Loaded) (update.Update[float32], error) {
	u, err := catalog.NewUpdate[float32](m.Catalog, c.Update.Name)
	if err != nil {
		return nil, err
	}
	if c.Update.LR != 0 {
		if err := u.Set("lr", c.Update.LR); err != nil {
			return nil, c.Wrong("update.lr", fmt.Sprintf("update %s: %v", c.Update.Name, err), "")
		}
	}
	for _, n := range slices.Sorted(maps.Keys(c.Update.Settings)) {
		if err := u.Set(n, c.Update.Settings[n]); err != nil {
			return nil, c.Wrong("update.settings."+n, fmt.Sprintf("update %s: %v", c.Update.Name, err), "")
		}
	}
	return u, nil
}

// autoWarmUp is the number of steps of a warm-up that is not configured.
const autoWarmUp = 50

// rates is the schedule of the learning rate of a configuration. With a time limit, the
// number of steps is decided later.
func rates(c *config.Loaded) (update.Schedule, error) {
	x, steps := c.Update, c.TotalSteps()
	s := update.Schedule{Shape: update.Shape(x.Schedule), Steps: steps, WarmUp: autoWarmUp, Decay: x.Decay, Final: x.Final, Power: x.Power}
	const key = "update.warmup"
	switch {
	case x.WarmUp == 0 && steps > 0:
		s.WarmUp = min(autoWarmUp, steps/10)
	case x.WarmUp == 0:
	case x.WarmUp < 1 && steps == 0:
		return s, c.Wrong(key, fmt.Sprintf("%s is %v, a share of a run whose number of steps is not known", key, x.WarmUp), "give it in steps, or give build.steps")
	case x.WarmUp < 1:
		s.WarmUp = int(math.Round(x.WarmUp * float64(steps)))
	case x.WarmUp != math.Trunc(x.WarmUp) || x.WarmUp > math.MaxInt32:
		return s, c.Wrong(key, fmt.Sprintf("%s is %v, must be a whole number of steps or a share below 1", key, x.WarmUp), "")
	default:
		s.WarmUp = int(x.WarmUp)
	}
	if err := s.Check(); err != nil {
		return s, c.Wrong(key, strings.TrimPrefix(err.Error(), "update: "), "build more steps, or lower update.warmup or update.decay_share")
	}
	if c.Build.TimeLimit > 0 || s.Shape == update.Constant {
		s.Steps = 0
	}
	return s, nil
}

// kindsOf is a set of kinds of parameters by their names.
func kindsOf(names []string) (k update.Kinds) {
	for _, n := range names {
		k |= update.KindNames[n]
	}
	return k
}

// identity is the properties that a resumed run must share.
func (m *Modules) identity(c *config.Loaded, info *Info, u update.Update[float32], r *reading) module.Identity {
	return append(module.Identity{
		{Name: "model", Value: info.Model},
		{Name: "sizes", Value: info.Sizes},
		{Name: "periods", Value: periodWords(info.Periods)},
		{Name: "unit of the periods", Value: info.Counts},
		{Name: "buffer", Value: info.Buffer},
		{Name: "update", Value: u.Name()},
		{Name: "settings of the update", Value: update.Text(u)},
		{Name: "kinds without decay", Value: strings.Join(slices.Sorted(slices.Values(c.Update.NoDecay)), " ")},
		{Name: "clip", Value: fmt.Sprint(c.Update.Clip)},
		{Name: "lanes", Value: fmt.Sprint(c.Stream.Batch)},
		{Name: "chunk", Value: fmt.Sprint(c.Stream.Chunk)},
		{Name: "gradient chunks", Value: fmt.Sprint(c.Build.GradientChunks)},
		{Name: "seed", Value: fmt.Sprint(c.Model.Seed)},
		{Name: "text", Value: r.base()},
		{Name: "specification", Value: m.spec(info.Model, u.Name(), info.Buffer)}, // last, so that other differences are reported by name
	}, r.own...)
}

// spec is the digest of the pages that a run uses.
func (m *Modules) spec(formula string, updates ...string) string {
	d, err := m.DigestOf(formula, updates...)
	if err != nil {
		panic("engine: BUG: a model was made of a formula that is none: " + err.Error())
	}
	return d
}

// periodWords prints periods with spaces between them.
func periodWords(periods []int) string { return strings.Trim(fmt.Sprint(periods), "[]") }

// Steps returns the number of updates of a checkpoint.
func (m *Modules) Steps(path string) (int, error) {
	s, err := checkpoint.Read(path)
	if err != nil {
		return 0, err
	}
	bits, err := list(s, curveName)
	return len(bits), err
}

// list takes a list of any length.
func list(s *checkpoint.Snapshot, name string) ([]float64, error) {
	_, shape, err := s.Shape(name)
	if err != nil {
		return nil, err
	}
	n, err := shape.Size()
	if err != nil {
		return nil, err
	}
	out := make([]float64, n)
	return out, checkpoint.Take(s, name, tensor.Shape{n}, out)
}

// table is the parameters as the commands see them; without an update none has
// slots.
func table(b *module.Module[float32]) []Param {
	v, moves := b.Params(), b.Moves()
	out := make([]Param, v.Len())
	for i := range out {
		p := v.Param(i)
		out[i] = Param{Name: p.Name, Shape: p.Shape, Size: len(v.Data(i)), Fixed: p.Fixed, Level: p.Level}
		if at := strings.LastIndexByte(p.Name, '.'); at >= 0 {
			out[i].Block = p.Name[:at]
		}
		if moves != nil && moves.Slots(i) != nil {
			count := func(_ string, data []float32) { out[i].Slots += len(data) }
			moves.Slots(i).Each(count)
			moves.Buffers(i, count)
		}
	}
	return out
}

// states is the number of elements of a sequence's context memory.
func states(b *module.Module[float32]) (n int) {
	b.Model().NewMemory(1).Each("", func(_ string, _ []int, data []float32) { n += len(data) })
	return n
}
