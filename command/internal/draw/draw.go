// Package draw samples the next token from the logits of a model.
//
// The logits are divided by the temperature and become probabilities (softmax). The
// candidates, in falling order of probability, are restricted by top-k to the first K,
// by top-p (nucleus sampling) to the fewest with the total probability P, and by min-p
// to those with at least the share M of the highest probability; one of them is drawn
// in proportion. Tokens of equal probability are in the order of their ids, so that a
// seed produces one text everywhere.
package draw

import (
	"fmt"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/runtime/num"
)

// Settings are the parameters of sampling.
type Settings struct {
	Temperature float64 `json:"temperature"` // 0 takes the most probable token
	TopK        int     `json:"top_k"`       // 0: all
	TopP        float64 `json:"top_p"`       // 1: all
	MinP        float64 `json:"min_p"`       // 0: all
	Seed        uint64  `json:"seed"`
}

// Check reports a setting that is out of range.
func (s Settings) Check() error {
	for _, x := range []struct {
		name   string
		got    float64
		lo, hi float64
	}{{"temperature", s.Temperature, 0, 100}, {"top-k", float64(s.TopK), 0, math.MaxInt32}, {"top-p", s.TopP, 0, 1}, {"min-p", s.MinP, 0, 1}} {
		if !(x.got >= x.lo && x.got <= x.hi) {
			return fmt.Errorf("--%s is %v, must be from %v to %v", x.name, x.got, x.lo, int(x.hi))
		}
	}
	return nil
}

// A Drawer samples with one random generator.
type Drawer struct {
	Settings
	random *num.Stream
	ids    []int
	share  []float64
}

// New returns a drawer with the generator of the seed.
func New(s Settings) *Drawer {
	return &Drawer{Settings: s, random: num.NewStream("draw", s.Seed)}
}

// Next draws an id. logprob is the natural logarithm of its probability under the
// model, before any setting.
func (d *Drawer) Next(logits []float32) (id int, logprob float64) {
	d.ids, d.share = d.ids[:0], d.share[:0]
	top := math.Inf(-1)
	for i, z := range logits {
		d.ids = append(d.ids, i)
		top = max(top, float64(z))
	}
	slices.SortStableFunc(d.ids, func(a, b int) int {
		switch {
		case logits[a] > logits[b]:
			return -1
		case logits[a] < logits[b]:
			return 1
		}
		return 0
	})
	id = d.ids[0]
	if d.Temperature > 0 {
		id = d.pick(logits, top)
	}
	all := 0.0
	for _, z := range logits {
		all += num.Exp(float64(z) - top)
	}
	return id, float64(logits[id]) - top - num.Log(all)
}

// pick draws from the remaining candidates.
func (d *Drawer) pick(logits []float32, top float64) int {
	total := 0.0
	for _, i := range d.ids {
		p := num.Exp((float64(logits[i]) - top) / d.Temperature)
		d.share = append(d.share, p)
		total += p
	}
	n := len(d.ids)
	if d.TopK > 0 {
		n = min(n, d.TopK)
	}
	sum, left := 0.0, 0
	for left < n {
		if left > 0 && (sum >= d.TopP*total || d.share[left] < d.MinP*d.share[0]) {
			break
		}
		sum += d.share[left]
		left++
	}
	at := float64(d.random.Unit()) * sum
	for i := range left {
		if at -= d.share[i]; at < 0 {
			return d.ids[i]
		}
	}
	return d.ids[left-1]
}
