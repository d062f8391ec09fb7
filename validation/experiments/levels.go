package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/synthetic"
)

// Question: is a model with a second level, which writes and moves at an eighth of the
// pace, better than one without?
//
// Fixed before the first run of two levels:
//
//   - Model: MAG of a memory beside a sliding window, the memory a delta rule; d = 32,
//     two heads, windows of 16. Two levels of the rule have periods 1 and 8 and keys
//     of 16.
//   - Matched size: the model of one level has longer keys, the shortest with which it
//     has at least as many parameters as that of two. It has as many states or more,
//     too: what differs is favourable to one level.
//   - Control: the model of two levels with periods 1 and 1. It has the parameters, the
//     states and the composition of the one that is asked about, and not the pace.
//   - Streams: two timescales, a made-up source half of whose tables last 32 times as
//     long as the others, so that the best single rate of forgetting is worse than two;
//     and plain text, Newton's Opticks as bytes.
//   - Build: 1,000 updates by AdamW at 3e-3, gradients clipped at norm 1, 32 sequences of 64
//     tokens. This was chosen for the model of one level, with a seed that is not
//     one of the three: with 8 sequences of 16 the parameters themselves learn the tables of
//     the day and predict others worse than chance, and 1e-2 learns less in 600 updates.
//   - Metric: bits per scored token held out.
//   - Answer: a model beats another on a stream if at the last horizon it is better for
//     each of three seeds, and by more than twice the standard error of the mean
//     difference. Seeds set the parameters, and the made-up source.
//
// Asked after the first run, for why: both models of two levels are scored at each
// other's pace as well. What the control loses at periods 1 and 8 is what a level costs
// that reads and seldom writes; what the model that is asked about still lacks at periods 1 and 1
// was lost in building, where its second level moved an eighth as often.
var levelSeeds = []uint64{1, 2, 3}

const (
	levelSteps = 1000
	keysOfTwo  = 16
	slow       = 8 // the period of the second level
)

// levelStreams are what is read, by seed.
var levelStreams = []struct {
	name string
	make func(seed uint64) (data, error)
}{
	{"two timescales", func(seed uint64) (data, error) { return madeUp(synthetic.TwoTimescales(), seed, 1280, 16) }},
	{"text", func(uint64) (data, error) { return text() }},
}

// A contestant is a model and how it did: by seed, then horizon.
type contestant struct {
	name   string
	build  build
	keys   int
	params int
	states int
	marks  [][]mark
	swap   []int     // the other's periods
	other  []float64 // bits held out at those, by seed
}

// one and two are the models of one level and of two, with keys of a length.
func one(base build, keys int) *contestant {
	return &contestant{name: "k = 1", keys: keys,
		build: base.with("ByteLM(MAG(DeltaRule, SlidingWindow))", "memory.d_k", keys, 1)}
}

func two(base build, keys int, periods ...int) *contestant {
	return &contestant{name: fmt.Sprintf("k = 2, periods %d %d", periods[0], periods[1]), keys: keys, swap: []int{1, slow + 1 - periods[1]},
		build: base.with("ByteLM(MAG(CMS([DeltaRule, DeltaRule]), SlidingWindow))", "memory.memory.d_k", keys, periods...)}
}

// with is a build of another model and one size more.
func (t build) with(formula, size string, n int, periods ...int) build {
	t.formula, t.periods, t.sizes = formula, periods, maps.Clone(t.sizes)
	t.sizes[size] = n
	return t
}

// contestants are the three models for a vocabulary, that of one level matched.
func contestants(vocab int, marks []int) ([]*contestant, error) {
	base := build{sizes: map[string]int{"d": 32, "attention.w": 16}, batch: 32, chunk: 64, rate: 3e-3, clip: 1, marks: marks}
	asked, control := two(base, keysOfTwo, 1, slow), two(base, keysOfTwo, 1, 1)
	if err := errors.Join(asked.size(vocab), control.size(vocab)); err != nil {
		return nil, err
	}
	for keys := keysOfTwo; ; keys++ {
		c := one(base, keys)
		if err := c.size(vocab); err != nil {
			return nil, err
		}
		if c.params >= asked.params {
			if c.states < asked.states {
				return nil, fmt.Errorf("the model of one level has %d states, that of two %d", c.states, asked.states)
			}
			return []*contestant{c, asked, control}, nil
		}
	}
}

// size counts the parameters and the states of the model.
func (c *contestant) size(vocab int) error {
	m, err := c.build.make(vocab)
	if err == nil {
		c.params, c.states = m.params, m.states
	}
	return err
}

func levels(ctx context.Context, a asked) (r report, err error) {
	steps := levelSteps
	if a.steps > 0 {
		steps = a.steps
	}
	marks := horizons(steps)
	r.say("# One level or two")
	r.say("`go run ./validation/experiments levels` wrote this page. The question, the models, how they are matched and what counts as an answer stand in the head of validation/experiments/levels.go, from before the first run.")
	for _, s := range levelStreams {
		var all []*contestant
		var unigram float64
		for _, seed := range levelSeeds {
			d, err := s.make(seed)
			if err != nil {
				return r, err
			}
			unigram = d.unigram
			if all == nil {
				if all, err = contestants(d.vocab(), marks); err != nil {
					return r, err
				}
			}
			for _, c := range all {
				if err := c.compete(ctx, d, seed); err != nil {
					return r, err
				}
				progress("%s, seed %d, %s: %s", s.name, seed, c.name, seedsAt(c, len(marks)-1))
			}
		}
		r.stream(s.name, unigram, all, marks)
	}
	return r, nil
}

// compete builds the model, and scores it at the other's pace too.
func (c *contestant) compete(ctx context.Context, d data, seed uint64) error {
	c.build.seed = seed
	m, got, err := c.build.run(ctx, d)
	if err != nil {
		return err
	}
	c.marks = append(c.marks, got)
	if c.swap == nil || got[len(got)-1].bad != nil {
		return nil
	}
	nats, err := d.score(ctx, m.module, pulse.Schedule{Unit: pulse.Chunks, Periods: c.swap}, c.build.chunk)
	c.other = append(c.other, nats/math.Ln2)
	return err
}

// horizons are 100, 1,000, 10,000 and so on up to the last.
func horizons(last int) (out []int) {
	for n := 100; n < last; n *= 10 {
		out = append(out, n)
	}
	return append(out, last)
}

// stream adds what was found on one stream.
func (r *report) stream(name string, unigram float64, all []*contestant, marks []int) {
	r.say("## %s", name)
	head := []string{"model", "keys", "parameters", "states of a sequence"}
	for _, m := range marks {
		head = append(head, fmt.Sprintf("after %d", m))
	}
	var rows [][]string
	for _, c := range all {
		row := []string{c.name, fmt.Sprint(c.keys), fmt.Sprint(c.params), fmt.Sprint(c.states)}
		for i := range marks {
			row = append(row, seedsAt(c, i))
		}
		rows = append(rows, row)
	}
	r.table(head, rows)
	r.say("Bits per scored token held out, by seed. Counting single ids gives %.3f.", unigram)
	last := len(marks) - 1
	single, asked, control := all[0], all[1], all[2]
	r.say("%s %s %s", verdict(asked, single, last), verdict(asked, control, last), verdict(control, single, last))
	for _, c := range all[1:] {
		if len(c.other) == len(c.marks) {
			r.say("Built as %s and read with periods %d %d: %.3f bits.", c.name, c.swap[0], c.swap[1], c.other)
		}
	}
}

func seedsAt(c *contestant, horizon int) string {
	out := ""
	for _, m := range c.marks {
		if horizon < len(m) {
			out += figure(m[horizon]) + " "
		} else {
			out += "– "
		}
	}
	return out[:len(out)-1]
}

// verdict says whether one beats another at a horizon.
func verdict(a, b *contestant, horizon int) string {
	var by []float64 // how much less a takes
	for i := range a.marks {
		x, y := a.marks[i], b.marks[i]
		if horizon >= len(x) || horizon >= len(y) || x[horizon].bad != nil || y[horizon].bad != nil {
			return fmt.Sprintf("%s against %s: one of them is no number.", a.name, b.name)
		}
		by = append(by, y[horizon].heldOut-x[horizon].heldOut)
	}
	mean, err := meanAndError(by)
	says := "does not differ from"
	switch {
	case slices.Min(by) > 0 && mean > 2*err:
		says = "beats"
	case slices.Max(by) < 0 && -mean > 2*err:
		says = "is beaten by"
	}
	return fmt.Sprintf("%s %s %s: %+.4f ± %.4f bits.", a.name, says, b.name, -mean, err)
}

// meanAndError returns the mean and its standard error.
func meanAndError(x []float64) (mean, err float64) {
	mean, deviation := stat.MeanStdDev(x, nil)
	return mean, stat.StdErr(deviation, float64(len(x)))
}
