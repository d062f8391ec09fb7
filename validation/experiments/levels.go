package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/nl-hecate/hecate/runtime/synthetic"
)

// Question: is a model with a second level, which writes and moves at an eighth of the
// pace, better than one without, where its write is built for the chunks that read it?
//
// Fixed before the first run:
//
//   - Model: MAG of a memory beside a sliding window, the memory a delta rule; d = 32,
//     two heads, windows of 16, keys of 16. The second level has a period of 8 chunks.
//   - Crossed: a gradient over 1 chunk and over 8; a second level that skips the chunks
//     between two writes, and one that accumulates them (the strategy Chunkwise with a chunk of
//     512 tokens, active on every chunk); decays that start at the front's values, and decays that
//     fit the period (the rules Long of specs/algorithms/rules/slow_levels.md).
//   - Matched size: the models of one level, with a gradient over 1 chunk and over 8, have longer keys, the shortest with
//     which they have at least as many parameters as those of two. They have as many
//     states or more, too.
//   - Streams: two timescales, a made-up source half of whose tables last 32 times as
//     long as the others, so that the best single rate of forgetting is worse than two;
//     and plain text, Newton's Opticks as bytes.
//   - Build: updates by AdamW at 1e-2, gradients clipped at norm 1, 8,192 tokens to an
//     update in every build: 128 sequences of 64 tokens, or with a gradient over 8 chunks 16 of
//     512. So all builds have the same tokens, updates and pace of the learning rate. Chosen for one level, with a
//     seed that is none of the five: after 300 updates of 2,048 tokens 1e-2 has 3.30 bits where 3e-3 has 3.99, and
//     4 sequences of 512 tokens teach the parameters the tables of the day.
//   - Metric: bits per scored token held out, halfway and at the end.
//   - Plateau: one level is on it where the second half of the updates gains less than 0.1 bits.
//   - Answer: a model beats another on a stream if at the end it is better for
//     each seed, and by more than twice the standard error of the mean difference. Seeds set the
//     parameters, and the made-up source.
var levelSeeds = []uint64{1, 2, 3, 4, 5}

const (
	levelSteps = 2000
	keysOfTwo  = 16
	slow       = 8 // the period of the second level
	perUpdate  = 8192
	plateau    = 0.1 // bits that the second half of a build gains at most
)

// levelStreams are what is read, by seed.
var levelStreams = []struct {
	name string
	make func(seed uint64) (data, error)
}{
	{"two timescales", func(seed uint64) (data, error) { return madeUp(synthetic.TwoTimescales(), seed, 1280, 8) }},
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
}

// contestant is a build of a memory, in the gate of an attention.
func (t build) contestant(name, memory, size string, keys, across int, periods ...int) *contestant {
	t.formula, t.periods, t.across, t.sizes = "ByteLM(MAG("+memory+", SlidingWindow))", periods, across, maps.Clone(t.sizes)
	t.sizes[size] = keys
	t.batch = perUpdate / t.chunk / across
	return &contestant{name: fmt.Sprintf("%s, gradient over %d", name, across), keys: keys, build: t}
}

// twoLevels are the rules of two levels with the period of the second one: by how it treats the
// chunks of a period, and what its decay starts at.
var twoLevels = []struct {
	name, memory string
	period       int
}{
	{"k = 2, skips", "CMS([DeltaRule, DeltaRule])", slow},
	{"k = 2, skips, long", "CMS([DeltaRule, DeltaLong])", slow},
	{"k = 2, accumulates", "CMS([DeltaRule, DeltaAccumulated])", 1},
	{"k = 2, accumulates, long", "CMS([DeltaRule, DeltaAccumulatedLong])", 1},
}

// contestants are the models for a vocabulary: those of one level, and after them those of two.
func contestants(vocab int, marks []int) (out []*contestant, err error) {
	base := build{sizes: map[string]int{"d": 32, "attention.w": 16}, chunk: 64, rate: 1e-2, clip: 1, marks: marks}
	var two []*contestant
	for _, across := range []int{1, slow} {
		for _, l := range twoLevels {
			two = append(two, base.contestant(l.name, l.memory, "memory.memory.d_k", keysOfTwo, across, 1, l.period))
		}
	}
	for _, c := range two {
		if err := c.size(vocab); err != nil {
			return nil, err
		}
	}
	for _, across := range []int{1, slow} {
		for keys := keysOfTwo; ; keys++ {
			c := base.contestant("k = 1", "DeltaRule", "memory.d_k", keys, across, 1)
			if err := c.size(vocab); err != nil {
				return nil, err
			}
			if c.params >= two[0].params {
				out = append(out, c)
				break
			}
		}
	}
	return append(out, two...), nil
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
	steps, seeds := levelSteps, levelSeeds
	if a.steps > 0 {
		steps = a.steps
	}
	if a.seeds > 0 {
		seeds = seeds[:min(a.seeds, len(seeds))]
	}
	r.say("# One level or two")
	r.say("`go run ./validation/experiments levels -steps %d -seeds %d` wrote this page. The question, the models, how they are matched and what counts as an answer are in the head of validation/experiments/levels.go.", steps, len(seeds))
	for _, s := range levelStreams {
		var all []*contestant
		var unigram float64
		done := 0
	builds:
		for _, seed := range seeds {
			d, err := s.make(seed)
			if err != nil {
				return r, err
			}
			unigram = d.unigram
			if all == nil {
				if all, err = contestants(d.vocab(), []int{steps / 2, steps}); err != nil {
					return r, err
				}
			}
			for _, c := range all {
				c.build.seed = seed
				_, got, err := c.build.run(ctx, d)
				if ctx.Err() != nil {
					break builds
				}
				if err != nil {
					return r, err
				}
				c.marks = append(c.marks, got)
				progress("%s, seed %d, %s: %s then %s", s.name, seed, c.name, figure(got[0]), figure(got[len(got)-1]))
			}
			done++
		}
		for _, c := range all {
			c.marks = c.marks[:done]
		}
		if done > 1 {
			r.stream(s.name, unigram, all, steps)
		}
		if done < len(seeds) {
			r.say("Interrupted on %s, after %d of %d seeds.", s.name, done, len(seeds))
			break
		}
	}
	r.say("%s", needs)
	return r, nil
}

// needs is what an answer in favour of two levels needs.
const needs = "Where no model of two levels is better, this is what an answer in their favour needs. One level has to be on its plateau: before that a difference is one of when a build begins to predict at all, which differs more between seeds than between models. A gradient over several chunks needs as many sequences as one over one chunk, and so several times the tokens to an update: with few sequences the parameters learn the tables of the day. And an accumulating level needs a bound of its rates, since the errors of a period add up at one memory."

// stream adds what was found on one stream.
func (r *report) stream(name string, unigram float64, all []*contestant, steps int) {
	r.say("## %s", name)
	head := []string{"model", "keys", "parameters", "states of a sequence", fmt.Sprintf("after %d", steps/2), fmt.Sprintf("after %d", steps), "against k = 1"}
	var rows [][]string
	for i, c := range all {
		against := ""
		if single := all[0]; i > 1 {
			if c.build.across > 1 {
				single = all[1]
			}
			against = verdict(c, single)
		}
		rows = append(rows, []string{c.name, fmt.Sprint(c.keys), fmt.Sprint(c.params), fmt.Sprint(c.states), seedsAt(c, 0), seedsAt(c, 1), against})
	}
	r.table(head, rows)
	r.say("Bits per scored token held out, by seed. Counting single ids gives %.3f. The last column compares with one level at the same length of a gradient.", unigram)
	for _, c := range all[:2] {
		if by := gains(c.marks, c.marks, 0, 1); len(by) > 0 {
			mean := stat.Mean(by, nil)
			word := "is not yet on"
			if mean < plateau {
				word = "is on"
			}
			r.say("%s %s its plateau: the second half of the updates gains %.3f bits.", c.name, word, mean)
		}
	}
	r.say("One level: a gradient over %d chunks %s.", slow, verdict(all[1], all[0]))
	for i, c := range all[2 : 2+len(twoLevels)] {
		r.say("%s: a gradient over %d chunks %s.", twoLevels[i].name, slow, verdict(all[2+len(twoLevels)+i], c))
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
	return out[:max(len(out)-1, 0)]
}

// gains are how many bits less b takes at one horizon than a at another, by seed; none where
// a number is missing.
func gains(a, b [][]mark, at, then int) (out []float64) {
	for i := range a {
		x, y := a[i], b[i]
		if at >= len(x) || then >= len(y) || x[at].bad != nil || y[then].bad != nil {
			return nil
		}
		out = append(out, x[at].heldOut-y[then].heldOut)
	}
	return out
}

// verdict says whether one model beats another at the end.
func verdict(a, b *contestant) string {
	by := gains(b.marks, a.marks, 1, 1)
	if len(by) == 0 {
		return "one of them is no number"
	}
	mean, err := meanAndError(by)
	says := "does not differ"
	switch {
	case slices.Min(by) > 0 && mean > 2*err:
		says = "is better"
	case slices.Max(by) < 0 && -mean > 2*err:
		says = "is worse"
	}
	return fmt.Sprintf("%s: %+.3f ± %.3f bits", says, -mean, err)
}

// meanAndError returns the mean and its standard error.
func meanAndError(x []float64) (mean, err float64) {
	mean, deviation := stat.MeanStdDev(x, nil)
	return mean, stat.StdErr(deviation, float64(len(x)))
}
