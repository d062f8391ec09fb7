// Package sample draws the next token from the logits of a model.
//
// The logits of tokens that came lately are penalised (Keskar et al., arXiv:1909.05858: a
// positive one is divided by the penalty, a negative one multiplied), all are divided by the
// temperature and become probabilities (softmax). The candidates, in falling order of
// probability, are restricted by top-k to the first K, by top-p (nucleus sampling, Holtzman
// et al., arXiv:1904.09751) to the fewest with the total probability P, and by min-p to those
// with at least the share M of the highest probability; one of them is drawn in proportion.
// Tokens of equal probability are in the order of their ids, so that a seed produces one
// text everywhere.
package sample

import (
	"fmt"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/runtime/num"
)

// Settings are the parameters of sampling. The zero Settings takes the most probable token.
type Settings struct {
	Temperature float64 `json:"temperature"`    // divides the logits; 0 takes the most probable token
	TopK        int     `json:"top_k"`          // 0: all
	TopP        float64 `json:"top_p"`          // 0 or 1: all
	MinP        float64 `json:"min_p"`          // 0: all
	Penalty     float64 `json:"repeat_penalty"` // of tokens among the last Window; 0 or 1: none
	Window      int     `json:"repeat_window"`  // 0: all tokens so far
	Seed        uint64  `json:"seed"`
}

// Check reports a setting that is out of range.
func (s Settings) Check() error {
	for _, x := range []struct {
		name   string
		got    float64
		lo, hi float64
	}{{"temperature", s.Temperature, 0, 100}, {"top-k", float64(s.TopK), 0, math.MaxInt32}, {"top-p", s.TopP, 0, 1}, {"min-p", s.MinP, 0, 1},
		{"repeat-penalty", s.Penalty, 0, 100}, {"repeat-window", float64(s.Window), 0, math.MaxInt32}} {
		if !(x.got >= x.lo && x.got <= x.hi) {
			return fmt.Errorf("%s is %v, must be from %v to %v", x.name, x.got, x.lo, int(x.hi))
		}
	}
	return nil
}

// A Drawer samples with one random generator.
type Drawer[F num.Float] struct {
	Settings
	random *num.Stream
	ids    []int
	logits []float64 // penalised
	share  []float64
	lately []int32
}

// New returns a drawer with the generator of the seed.
func New[F num.Float](s Settings) *Drawer[F] {
	return &Drawer[F]{Settings: s, random: num.NewStream("draw", s.Seed)}
}

// Saw tells the drawer that a token was read.
func (d *Drawer[F]) Saw(id int32) {
	if d.Penalty == 0 || d.Penalty == 1 {
		return
	}
	d.lately = append(d.lately, id)
	if n := len(d.lately) - d.Window; d.Window > 0 && n > 0 {
		d.lately = append(d.lately[:0], d.lately[n:]...)
	}
}

// Next draws an id.
func (d *Drawer[F]) Next(logits []F) (id int) {
	d.ids, d.logits, d.share = d.ids[:0], d.logits[:0], d.share[:0]
	for i, z := range logits {
		d.ids, d.logits = append(d.ids, i), append(d.logits, float64(z))
	}
	for i, id := range d.lately {
		if slices.Contains(d.lately[:i], id) || int(id) >= len(d.logits) {
			continue
		}
		if z := &d.logits[id]; *z > 0 {
			*z /= d.Penalty
		} else {
			*z *= d.Penalty
		}
	}
	slices.SortStableFunc(d.ids, func(a, b int) int {
		switch {
		case d.logits[a] > d.logits[b]:
			return -1
		case d.logits[a] < d.logits[b]:
			return 1
		}
		return 0
	})
	id = d.ids[0]
	if d.Temperature > 0 {
		id = d.pick()
	}
	d.Saw(int32(id))
	return id
}

// LogProb is the natural logarithm of the probability of an id under a model, without any
// setting.
func LogProb[F num.Float](logits []F, id int) float64 {
	top := float64(slices.Max(logits))
	all := 0.0
	for _, z := range logits {
		all += num.Exp(float64(z) - top)
	}
	return float64(logits[id]) - top - num.Log(all)
}

// pick draws from the remaining candidates.
func (d *Drawer[F]) pick() int {
	top, total := d.logits[d.ids[0]], 0.0
	for _, i := range d.ids {
		p := num.Exp((d.logits[i] - top) / d.Temperature)
		d.share = append(d.share, p)
		total += p
	}
	n := len(d.ids)
	if d.TopK > 0 {
		n = min(n, d.TopK)
	}
	sum, left := 0.0, 0
	for left < n {
		if left > 0 && (d.TopP > 0 && sum >= float64(d.TopP*total) || d.share[left] < float64(d.MinP*d.share[0])) {
			break
		}
		sum += d.share[left]
		left++
	}
	at := float64(d.random.Unit() * sum)
	for i := range left {
		if at -= d.share[i]; at < 0 {
			return d.ids[i]
		}
	}
	return d.ids[left-1]
}
