package build

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// What a run adds to the checkpoint of its session.
const (
	curveName  = "build.curve"  // bits per byte by step
	beforeName = "build.before" // the held-out figure before the first step, if it was taken
)

// A recipe is what a run is made from and a resumed one must share.
type recipe struct {
	Spec     string // hash of the pages, "" if the program does not know it
	Model    string
	Sizes    string // as sizeWords prints them
	Update   string
	Settings string // as update.Text prints them
	Clip     float64
	Lanes    int
	Chunk    int
	Seed     uint64
	Text     string // its name; the digest is in the cursors
}

// identity is the recipe as a checkpoint has it.
func (r recipe) identity() module.Identity {
	return module.Identity{
		{Name: "specification", Value: r.Spec},
		{Name: "model", Value: r.Model},
		{Name: "sizes", Value: r.Sizes},
		{Name: "update", Value: r.Update},
		{Name: "settings of the update", Value: r.Settings},
		{Name: "clip", Value: strconv.FormatFloat(r.Clip, 'g', -1, 64)},
		{Name: "lanes", Value: strconv.Itoa(r.Lanes)},
		{Name: "chunk", Value: strconv.Itoa(r.Chunk)},
		{Name: "seed", Value: strconv.FormatUint(r.Seed, 10)},
		{Name: "text", Value: r.Text},
	}
}

// snapshot is the whole state of the run: that of its session, and the losses so
// far.
func (r *run[F]) snapshot() (*checkpoint.Snapshot, error) {
	s, err := r.session.SnapshotBuild(r.recipe.identity())
	if err != nil {
		return nil, err
	}
	return s, errors.Join(
		checkpoint.Add(s, curveName, tensor.Shape{len(r.curve)}, r.curve),
		checkpoint.Add(s, beforeName, tensor.Shape{len(r.before)}, r.before))
}

// resume takes up the run in a checkpoint; it must be made from the same
// recipe.
func (r *run[F]) resume(path string) error {
	s, err := checkpoint.Read(path)
	if err != nil {
		return err
	}
	var curve, before []float64
	if err := r.session.ResumeBuild(s, r.recipe.identity(), func(s *checkpoint.Snapshot) (err error) {
		if curve, err = takeList(s, curveName); err != nil {
			return err
		}
		before, err = takeList(s, beforeName)
		return err
	}); err != nil {
		return err
	}
	if steps := r.session.Conductor().Pulse().Step(); uint64(len(curve)) != steps {
		return fmt.Errorf("%s has %d losses after %d steps", curveName, len(curve), steps)
	}
	r.curve, r.before = curve, before
	return nil
}

// takeList takes a list of any length.
func takeList(s *checkpoint.Snapshot, name string) ([]float64, error) {
	_, shape, err := s.Shape(name)
	if err != nil {
		return nil, err
	}
	n, err := shape.Size()
	if err != nil {
		return nil, err
	}
	list := make([]float64, n)
	return list, checkpoint.Take(s, name, tensor.Shape{n}, list)
}

// series is where the run saves on its way.
func (r *run[F]) series() checkpoint.Series {
	return checkpoint.Series{Dir: r.opt.Out, Name: r.name(), Keep: r.opt.Keep, Best: true}
}

// save writes the run's checkpoint on its way, judged by its last losses.
func (r *run[F]) save() error {
	s, err := r.snapshot()
	if err != nil {
		return err
	}
	_, err = r.series().Write(uint64(len(r.curve)), recent(r.curve), s)
	return err
}

// newest is the checkpoint to go on from by itself: of the run's folder the one
// with the most steps behind it, "" if there is none.
func (r *run[F]) newest() (string, error) {
	m, ok, err := r.series().Latest()
	if err != nil {
		return "", err
	}
	end := r.stem() + ".safetensors"
	s, err := checkpoint.Read(end)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return m.Path, nil
	case err != nil:
		return "", err
	}
	curve, err := takeList(s, curveName)
	if err != nil {
		return "", fmt.Errorf("%s: %w", end, err)
	}
	if ok && m.Step > uint64(len(curve)) {
		return m.Path, nil
	}
	return end, nil
}
