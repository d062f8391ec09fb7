package engine

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/config"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/tensor"
	"github.com/nl-hecate/hecate/runtime/update"
)

// A Catalog is what can be built, with a text for when there is none. The
// generated code provides it; this package knows nothing of it by name.
type Catalog struct {
	Spec      string // hash of the pages, "" if the program does not know it
	Models    func() []string
	New       func(name string, sizes block.Sizes) (block.Model[float32], error)
	Updates   func() []string
	NewUpdate func(name string) (update.Update[float32], error)
	Rules     func() []string
	OwnText   []byte // a small text, for where there is no other
	OwnName   string
}

// Modules makes builders and readers of what a catalog has.
type Modules struct{ Catalog }

// World lists what there is by name.
func (m *Modules) World() config.World {
	return config.World{Models: m.Models(), Updates: m.Updates(), Rules: m.Rules()}
}

// KnowsSize reports whether a model has a size of this name.
func (m *Modules) KnowsSize(model, size string) bool {
	if !slices.Contains(m.Models(), model) {
		return false
	}
	_, err := m.New(model, block.NewSizes(map[string]int{size: 1}))
	return err == nil || !noSize(err, size)
}

// noSize reports whether an error says that there is no such size.
func noSize(err error, size string) bool {
	return slices.Contains(strings.Split(strings.TrimPrefix(err.Error(), "sizes: "), "; "), "there is no size "+size)
}

// Check refuses what is configured and cannot be done here: nothing is left out
// in silence.
func (m *Modules) Check(c *config.Loaded) error {
	var all config.Problems
	no := func(is bool, key, message, hint string) {
		var one config.Problems
		if is && errors.As(c.Wrong(key, message, hint), &one) {
			all = append(all, one...)
		}
	}
	f := c.Model.Formula
	no(strings.ContainsAny(f, "(,)"), "model.formula", fmt.Sprintf("no compiled model is named %q", f),
		"a formula becomes a model by one line on a page, such as: model Mine = "+f)
	no(len(c.Levels) > 1, "level.1.period", fmt.Sprintf("%d levels are configured, the builder runs one", len(c.Levels)), "")
	no(len(c.Levels) > 0 && c.Levels[0].Rule != "", "level.0.rule", "the rule of a level is that of the model's formula here", "name a model with that rule")
	if all != nil {
		return all
	}
	return nil
}

var named = regexp.MustCompile(`(?:size|setting) ([A-Za-z_0-9.]+)`)

// placed puts an error that names a size or a setting where that was configured.
func placed(c *config.Loaded, err error) error {
	for _, m := range named.FindAllStringSubmatch(err.Error(), -1) {
		for _, key := range []string{"model.sizes." + m[1], "update.settings." + m[1]} {
			if c.Given(key) {
				return c.Wrong(key, err.Error(), "")
			}
		}
	}
	return err
}

// byDefault are the sizes of a build that is told none. A model without such
// a size does without.
var byDefault = map[string]int{"d": 64, "V": 256, "attention.H": 4, "attention.n_p": 0, "attention.w": 64, "memory.d_k": 64}

// model makes the model of a configuration, with its sizes in words. It has a
// token for each of the vocabulary, if it is not told how many.
func (m *Modules) model(c *config.Loaded, vocab int) (block.Model[float32], string, error) {
	name, given := c.Model.Formula, c.Model.Sizes
	sizes := maps.Clone(byDefault)
	sizes["V"] = vocab
	maps.Copy(sizes, given)
	_, err := m.New(name, block.NewSizes(maps.Clone(sizes)))
	for n := range byDefault { // the model says which mean nothing to it
		if _, mine := given[n]; err != nil && !mine && noSize(err, n) {
			delete(sizes, n)
		}
	}
	model, err := m.New(name, block.NewSizes(maps.Clone(sizes)))
	if err != nil {
		return nil, "", placed(c, fmt.Errorf("model %s: %w", name, err))
	}
	if v := model.Vocabulary(); v < vocab {
		return nil, "", c.Wrong("model.sizes.V", fmt.Sprintf("the model has %d tokens, what it reads has %d", v, vocab), "")
	}
	return model, sizeWords(sizes), nil
}

// sizeWords prints sizes as name=value, in order.
func sizeWords(sizes map[string]int) string {
	var words []string
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		words = append(words, fmt.Sprintf("%s=%d", n, sizes[n]))
	}
	return strings.Join(words, " ")
}

// update makes the update of a configuration.
func (m *Modules) update(c *config.Loaded) (update.Update[float32], error) {
	u, err := m.NewUpdate(c.Update.Name)
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

// identity is what a run is made of and a resumed one must share.
func (m *Modules) identity(c *config.Loaded, sizes string, u update.Update[float32], r *reading) module.Identity {
	return append(module.Identity{
		{Name: "specification", Value: m.Spec},
		{Name: "model", Value: c.Model.Formula},
		{Name: "sizes", Value: sizes},
		{Name: "update", Value: u.Name()},
		{Name: "settings of the update", Value: update.Text(u)},
		{Name: "clip", Value: fmt.Sprint(c.Update.Clip)},
		{Name: "lanes", Value: fmt.Sprint(c.Stream.Lanes)},
		{Name: "chunk", Value: fmt.Sprint(c.Stream.Chunk)},
		{Name: "seed", Value: fmt.Sprint(c.Model.Seed)},
		{Name: "text", Value: r.base()},
	}, r.own...)
}

// Steps returns how many updates a checkpoint has behind it.
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

// table is the parameters as the commands see them; without moves nothing is
// kept for any.
func table(b *module.Module[float32]) []Param {
	v, moves := b.Params(), b.Moves()
	out := make([]Param, v.Len())
	for i := range out {
		p := v.Param(i)
		out[i] = Param{Name: p.Name, Shape: p.Shape, Size: len(v.Data(i)), Fixed: p.Fixed}
		if at := strings.LastIndexByte(p.Name, '.'); at >= 0 {
			out[i].Block = p.Name[:at]
		}
		if moves != nil && moves.Slots(i) != nil {
			moves.Slots(i).Each(func(_ string, data []float32) { out[i].Slots += len(data) })
		}
	}
	return out
}

// states is how many numbers a lane's context holds.
func states(b *module.Module[float32]) (n int, err error) {
	m, err := b.NewContext(1).Take()
	if err == nil {
		m.Each(func(_ string, _ []int, data []float32) { n += len(data) })
	}
	return n, err
}
