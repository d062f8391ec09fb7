package engine

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/build"
	"github.com/nl-hecate/hecate/cmd/hecate/internal/config"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// Present makes builders and readers of what the generated code has.
type Present struct {
	Catalog  build.Catalog[float32]
	Rules    func() []string
	Fallback build.Fallback
}

// World lists what there is by name.
func (p *Present) World() config.World {
	return config.World{Models: p.Catalog.Models(), Updates: p.Catalog.Updates(), Rules: p.Rules()}
}

// KnowsSize reports whether a model has a size of this name.
func (p *Present) KnowsSize(model, size string) bool {
	if !slices.Contains(p.Catalog.Models(), model) {
		return false
	}
	_, err := p.Catalog.New(model, block.NewSizes(map[string]int{size: 1}))
	if err == nil {
		return true
	}
	return !slices.Contains(strings.Split(strings.TrimPrefix(err.Error(), "sizes: "), "; "), "there is no size "+size)
}

// Check refuses what is configured and cannot be done here: nothing is left out
// in silence.
func (p *Present) Check(c *config.Loaded) error {
	var all config.Problems
	no := func(is bool, key, message, hint string) {
		var one config.Problems
		if is && errors.As(c.Wrong(key, message, hint), &one) {
			all = append(all, one...)
		}
	}
	m := c.Model.Formula
	no(strings.ContainsAny(m, "(,)"), "model.formula", fmt.Sprintf("no compiled model is named %q", m),
		"a formula becomes a model by one line on a page, such as: model Mine = "+m)
	no(len(c.Levels) > 1, "level.1.period", fmt.Sprintf("%d levels are configured, the builder runs one", len(c.Levels)), "")
	no(len(c.Levels) > 0 && c.Levels[0].Rule != "", "level.0.rule", "the rule of a level is that of the model's formula here", "name a model with that rule")
	no(c.Stream.Kind != "bytes", "stream.kind", fmt.Sprintf("the builder reads bytes, not %s", c.Stream.Kind), "")
	no(len(c.Stream.Path) > 1, "stream.path", fmt.Sprintf("the builder reads one file, not %d", len(c.Stream.Path)), "")
	no(c.Stream.Separator != "", "stream.separator", "the builder reads a file as one document", "")
	no(c.Stream.HeldOut != config.Default().Stream.HeldOut, "stream.held_out", fmt.Sprintf("the builder holds out %v, not %v", config.Default().Stream.HeldOut, c.Stream.HeldOut), "")
	no(c.Build.From != "", "build.from", "the builder cannot begin from a donor", "")
	if all != nil {
		return all
	}
	return nil
}

// NewBuilder returns a build that goes on from a checkpoint, or begins.
func (p *Present) NewBuilder(c *config.Loaded, resume string) (Builder, error) {
	if err := p.Check(c); err != nil {
		return nil, err
	}
	r := &runner{present: p, saved: resume, sample: c.Build.Sample}
	r.opt = build.Options{Model: c.Model.Formula, Sizes: c.Model.Sizes, Lanes: c.Stream.Lanes, Chunk: c.Stream.Chunk,
		Update: c.Update.Name, Rate: c.Update.LR, Clip: c.Update.Clip, Seed: c.Model.Seed}
	for _, name := range slices.Sorted(maps.Keys(c.Update.Settings)) {
		r.opt.Set = append(r.opt.Set, build.Setting{Name: name, Value: c.Update.Settings[name]})
	}
	if len(c.Stream.Path) > 0 {
		r.opt.Text = c.Stream.Path[0]
	}
	var err error
	if resume != "" {
		if r.bits, r.before, err = curves(resume); err != nil {
			return nil, fmt.Errorf("resume %s: %w", resume, err)
		}
	}
	if r.work, err = os.MkdirTemp("", "hecate-build-*"); err != nil {
		return nil, err
	}
	if r.now, err = r.begin(math.MaxInt, 0); err != nil {
		return nil, errors.Join(placed(c, err), r.Close())
	}
	r.info, r.look = r.now.info, &r.now.watch
	u, err := p.Catalog.NewUpdate(r.opt.Update)
	if err != nil {
		return nil, err
	}
	r.info.Params, r.info.States = r.now.watch.table(u), r.now.watch.states
	return r, nil
}

var namedSize = regexp.MustCompile(`(?:size|setting) ([A-Za-z_0-9.]+)`)

// placed puts an error that names a size or a setting where that was configured.
func placed(c *config.Loaded, err error) error {
	for _, m := range namedSize.FindAllStringSubmatch(err.Error(), -1) {
		for _, key := range []string{"model.sizes." + m[1], "update.settings." + m[1]} {
			if c.Given(key) {
				return c.Wrong(key, err.Error(), "")
			}
		}
	}
	return err
}

// curves returns the losses in a checkpoint and the figure before the first.
func curves(path string) (bits, before []float64, err error) {
	s, err := checkpoint.Read(path)
	if err != nil {
		return nil, nil, err
	}
	if bits, err = list(s, "build.curve"); err == nil {
		before, err = list(s, "build.before")
	}
	return bits, before, err
}

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

// Steps returns how many updates a checkpoint has behind it.
func (p *Present) Steps(path string) (int, error) {
	s, err := checkpoint.Read(path)
	if err != nil {
		return 0, err
	}
	clock := make([]uint64, 2)
	if err := checkpoint.Take(s, "build.pulse", tensor.Shape{2}, clock); err != nil {
		return 0, err
	}
	return int(clock[0]), nil
}
