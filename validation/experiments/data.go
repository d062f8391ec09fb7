package main

import (
	"context"
	"fmt"

	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/synthetic"
	"github.com/nl-hecate/hecate/validation/opticks"
)

// data is what a build reads, cut in two.
type data struct {
	name           string
	built, heldOut stream.Part
	unigram        float64 // bits of a scored token, held out, by counting
	ids            []int32 // of the held-out part of a text; a made-up source has none
	before         int32   // the id in front of them
}

// text is Newton's Opticks as bytes, its last tenth held out; cut into documents of so
// many bytes, if a number is given.
func text(documents ...int) (d data, err error) {
	return textOf(opticks.Path(), opticks.Note, documents...)
}

// textOf is a file's text.
func textOf(path, name string, documents ...int) (d data, err error) {
	t, err := stream.Open(path)
	if err != nil {
		return d, fmt.Errorf("%s: %w", name, err)
	}
	d.name = name
	if len(documents) > 0 {
		d.built, d.heldOut = stream.Split(cut{t, documents[0]})
		return d, d.count()
	}
	d.built, d.heldOut = stream.Split(t)
	at, _ := d.heldOut.Bounds()
	all := make([]int32, d.heldOut.Len()+1)
	if err := t.Read(all, at-1); err != nil {
		return d, err
	}
	d.before, d.ids = all[0], all[1:]
	return d, d.count()
}

// cut is a text whose documents end after every so many tokens.
type cut struct {
	*stream.Text
	every int
}

func (c cut) DocumentEnd(at int) int { return min(c.Len(), at-at%c.every+c.every) }

// madeUp is a synthetic source of so many episodes to build on and to hold out.
func madeUp(k synthetic.Kind, seed uint64, built, heldOut int) (d data, err error) {
	s, err := synthetic.New(k, seed, built+heldOut)
	if err != nil {
		return d, err
	}
	d.name = k.String()
	if d.built, err = s.Episodes(0, built); err == nil {
		d.heldOut, err = s.Episodes(built, built+heldOut)
	}
	if err != nil {
		return d, err
	}
	return d, d.count()
}

func (d *data) count() error {
	b, err := stream.Count(d.built, d.heldOut)
	d.unigram = b.Unigram
	return err
}

func (d *data) vocab() int { return d.built.Source().Vocab() }

// score is the held-out loss in nats: of a text in eight stretches, each from a
// fresh context; of a source, whose contexts matter, in one.
func (d *data) score(ctx context.Context, m *module.Module[float32], s pulse.Schedule, chunk int) (float64, error) {
	if d.ids == nil {
		return m.ScorePart(ctx, s, d.heldOut, chunk)
	}
	return m.Score(ctx, s, d.before, d.ids, chunk)
}
