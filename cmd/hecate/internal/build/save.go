package build

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tensor"
	"github.com/nl-hecate/hecate/runtime/update"
)

// format is the layout of a build's checkpoint.
const format = "2"

// Keys of the metadata.
const (
	formatKey   = "build.format"
	modelKey    = "build.model"
	sizesKey    = "build.sizes"
	updateKey   = "build.update"
	settingsKey = "build.settings"
	clipKey     = "build.clip"
	lanesKey    = "build.lanes"
	chunkKey    = "build.chunk"
	seedKey     = "build.seed"
	textKey     = "build.text"
)

// Names of the tensors that are not a parameter's or a memory's.
const (
	clockName   = "build.pulse"   // step, position
	firesName   = "build.fires"   // of every parameter: how often it fired
	cursorsName = "build.cursors" // [lanes, stream.CursorWords]
	curveName   = "build.curve"   // bits per byte by step
	beforeName  = "build.before"  // the held-out figure before the first step, if it was taken
)

// A recipe is what a run is made from and a resumed one must share.
type recipe struct {
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

// same says what of another recipe is not this one's.
func (r recipe) same(here recipe) error {
	for _, x := range []struct {
		what        string
		saved, here any
	}{{"model", r.Model, here.Model}, {"sizes", r.Sizes, here.Sizes}, {"update", r.Update, here.Update},
		{"settings of the update", r.Settings, here.Settings}, {"clip", r.Clip, here.Clip}, {"lanes", r.Lanes, here.Lanes},
		{"chunk", r.Chunk, here.Chunk}, {"seed", r.Seed, here.Seed}, {"text", r.Text, here.Text}} {
		if x.saved != x.here {
			return fmt.Errorf("the %s of the run differs: saved %v, here %v", x.what, x.saved, x.here)
		}
	}
	return nil
}

func (r recipe) write(s *checkpoint.Snapshot) {
	s.SetMeta(formatKey, format)
	s.SetMeta(modelKey, r.Model)
	s.SetMeta(sizesKey, r.Sizes)
	s.SetMeta(updateKey, r.Update)
	s.SetMeta(settingsKey, r.Settings)
	s.SetMeta(clipKey, strconv.FormatFloat(r.Clip, 'g', -1, 64))
	s.SetMeta(lanesKey, strconv.Itoa(r.Lanes))
	s.SetMeta(chunkKey, strconv.Itoa(r.Chunk))
	s.SetMeta(seedKey, strconv.FormatUint(r.Seed, 10))
	s.SetMeta(textKey, r.Text)
}

// readRecipe is the inverse of write.
func readRecipe(s *checkpoint.Snapshot) (r recipe, err error) {
	get := func(key string) string {
		v, e := s.Meta(key)
		err = errors.Join(err, e)
		return v
	}
	number := func(key string, read func(string) error) {
		if v := get(key); err == nil {
			if e := read(v); e != nil {
				err = fmt.Errorf("metadata %s: %w", key, e)
			}
		}
	}
	if f := get(formatKey); err == nil && f != format {
		return r, fmt.Errorf("the layout of the build differs: saved %s, here %s", f, format)
	}
	if err != nil {
		return r, errors.New("no checkpoint of a build: it has no " + formatKey)
	}
	r.Model, r.Sizes, r.Text = get(modelKey), get(sizesKey), get(textKey)
	r.Update, r.Settings = get(updateKey), get(settingsKey)
	number(clipKey, func(v string) (e error) { r.Clip, e = strconv.ParseFloat(v, 64); return e })
	number(lanesKey, func(v string) (e error) { r.Lanes, e = strconv.Atoi(v); return e })
	number(chunkKey, func(v string) (e error) { r.Chunk, e = strconv.Atoi(v); return e })
	number(seedKey, func(v string) (e error) { r.Seed, e = strconv.ParseUint(v, 10, 64); return e })
	return r, err
}

// snapshot is the whole state of the run: what it was made from, the
// parameters, the update's slots, every lane's memory, where the lanes stand
// in the text, the time, and the losses so far.
func (r *run[F]) snapshot() (*checkpoint.Snapshot, error) {
	s := &checkpoint.Snapshot{}
	r.recipe.write(s)
	var errs []error
	v := r.builder.Params()
	for i := range v.Len() {
		p := v.Param(i)
		errs = append(errs, checkpoint.Add(s, "param."+p.Name, p.Shape, v.Data(i)))
		if p.Fixed {
			continue // nothing updates it
		}
		slots := r.builder.moves.Slots(i)
		slots.Each(func(name string, data []F) {
			errs = append(errs, checkpoint.Add(s, slotName(slots, name, p), p.Shape, data))
		})
	}
	for i, l := range r.builder.lanes {
		prefix := fmt.Sprintf("lane%d.", i)
		l.memory.Each(prefix, func(name string, shape []int, data []F) {
			errs = append(errs, checkpoint.Add(s, name, shape, data))
		})
		l.memory.EachPos(prefix, func(name string, pos []int32) {
			wide := make([]int64, len(pos))
			for j, x := range pos {
				wide[j] = int64(x)
			}
			errs = append(errs, checkpoint.Add(s, name, tensor.Shape{len(pos)}, wide))
		})
	}
	p := r.builder.pulse
	var words []uint64
	for _, c := range r.stream.Cursors(p) {
		words = append(words, c.Words()...)
	}
	fires := r.builder.moves.Clocks()
	errs = append(errs,
		checkpoint.Add(s, firesName, tensor.Shape{len(fires)}, fires),
		checkpoint.Add(s, clockName, tensor.Shape{2}, []uint64{p.Step(), p.Position()}),
		checkpoint.Add(s, cursorsName, tensor.Shape{len(r.builder.lanes), stream.CursorWords}, words),
		checkpoint.Add(s, curveName, tensor.Shape{len(r.curve)}, r.curve),
		checkpoint.Add(s, beforeName, tensor.Shape{len(r.before)}, r.before))
	return s, errors.Join(errs...)
}

// restore is the inverse of snapshot, for a run made from the same recipe.
func (r *run[F]) restore(s *checkpoint.Snapshot) error {
	clock := make([]uint64, 2)
	if err := checkpoint.Take(s, clockName, tensor.Shape{2}, clock); err != nil {
		return err
	}
	fires := make([]int64, r.builder.Params().Len())
	if err := checkpoint.Take(s, firesName, tensor.Shape{len(fires)}, fires); err != nil {
		return err
	}
	if err := r.builder.moves.SetClocks(fires); err != nil {
		return err
	}
	if err := r.restoreBuilder(s); err != nil {
		return err
	}
	r.builder.pulse = pulse.First(pulse.Build).At(clock[0], clock[1])
	if err := r.restoreStream(s); err != nil {
		return err
	}
	var err error
	if r.curve, err = takeList(s, curveName); err != nil {
		return err
	}
	if r.before, err = takeList(s, beforeName); err != nil {
		return err
	}
	if uint64(len(r.curve)) != clock[0] {
		return fmt.Errorf("%s has %d losses after %d steps", curveName, len(r.curve), clock[0])
	}
	return s.Done()
}

// restoreBuilder takes the parameters, the slots and the memories.
func (r *run[F]) restoreBuilder(s *checkpoint.Snapshot) error {
	b := r.builder
	v := b.Params()
	params := make([][]F, v.Len())
	var errs []error
	for i := range params {
		p := v.Param(i)
		params[i] = make([]F, len(v.Data(i)))
		errs = append(errs, checkpoint.Take(s, "param."+p.Name, p.Shape, params[i]))
		if p.Fixed {
			continue
		}
		slots := b.moves.Slots(i)
		slots.Each(func(name string, data []F) {
			errs = append(errs, checkpoint.Take(s, slotName(slots, name, p), p.Shape, data))
		})
	}
	for i, l := range b.lanes {
		prefix := fmt.Sprintf("lane%d.", i)
		l.memory.Each(prefix, func(name string, shape []int, data []F) {
			errs = append(errs, checkpoint.Take(s, name, shape, data))
		})
		l.memory.EachPos(prefix, func(name string, pos []int32) {
			wide := make([]int64, len(pos))
			errs = append(errs, checkpoint.Take(s, name, tensor.Shape{len(pos)}, wide))
			for j, x := range wide {
				pos[j] = int32(x)
			}
		})
	}
	for _, err := range errs {
		if err != nil {
			return err // the first; one missing tensor is enough to say
		}
	}
	for i, l := range b.lanes {
		if err := l.memory.Check(fmt.Sprintf("lane%d", i)); err != nil {
			return err
		}
	}
	b.writer.Restore(func(i int, _ context.Param, data []F) { copy(data, params[i]) })
	return nil
}

// slotName is the tensor of a slot: it says which update it belongs to.
func slotName[F Float](s update.Slots[F], slot string, p context.Param) string {
	return "update." + s.By() + "." + slot + "." + p.Name
}

// restoreStream takes the cursors.
func (r *run[F]) restoreStream(s *checkpoint.Snapshot) error {
	lanes := len(r.builder.lanes)
	words := make([]uint64, lanes*stream.CursorWords)
	if err := checkpoint.Take(s, cursorsName, tensor.Shape{lanes, stream.CursorWords}, words); err != nil {
		return err
	}
	cursors := make([]stream.Cursor, lanes)
	for i := range cursors {
		var err error
		if cursors[i], err = stream.CursorFromWords(words[i*stream.CursorWords : (i+1)*stream.CursorWords]); err != nil {
			return err
		}
	}
	return r.stream.Restore(cursors, r.builder.pulse)
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
