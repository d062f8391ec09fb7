package main

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/nl-hecate/hecate/runtime/num"
)

// segment is the number of tokens from checkpoint to checkpoint, CHECKPOINT of
// validation/bench/c.
const segment = 64

// A series is the input of a recurrence: T tokens of width d, by the plan's
// names. Those of a state are where it begins, and its adjoint where it ends.
type series[F num.Float] struct {
	T, D int
	of   map[string][]F
}

// newSeries draws a series: unit keys and queries, gates where a young model
// has them.
func newSeries[F num.Float](T, d int, random *rand.Rand) *series[F] {
	uniform := func(n int, lo, hi float64) []F {
		x := make([]F, n)
		for i := range x {
			x[i] = F(lo + (hi-lo)*random.Float64())
		}
		return x
	}
	units := func() []F {
		x := uniform(T*d, -1, 1)
		for t := range T {
			row := x[t*d:][:d]
			square := 0.0
			for _, v := range row {
				square += float64(v) * float64(v)
			}
			for j := range row {
				row[j] = F(float64(row[j]) / math.Sqrt(square))
			}
		}
		return x
	}
	return &series[F]{T: T, D: d, of: map[string][]F{
		"k": units(), "q": units(), "v": uniform(T*d, -1, 1), "rho": uniform(T, 0.9, 1), "theta": uniform(T, 0.005, 0.05),
		"eta": uniform(T, 0.5, 0.9), "y.bar": uniform(T*d, -1, 1),
		"M": uniform(d*d, -0.1, 0.1), "M.bar": uniform(d*d, -1, 1), "S": uniform(d*d, -0.01, 0.01), "S.bar": uniform(d*d, -1, 1),
	}}
}

// widened is the same series in float64.
func widened[F num.Float](s *series[F]) *series[float64] {
	out := &series[float64]{T: s.T, D: s.D, of: map[string][]float64{}}
	for name, x := range s.of {
		wide := make([]float64, len(x))
		for i, v := range x {
			wide[i] = float64(v)
		}
		out.of[name] = wide
	}
	return out
}

// A passes holds the emitted kernels of a rule bound to a series, cut into
// slices of tokens. There is a state and an adjoint for every edge between
// segments, so that after one run in order any slice may run again.
type passes[F num.Float] struct {
	s                                  *series[F]
	states                             []string
	edges, adjoints, checkpoints, each map[string][]F // each: of all tokens, by name
	forward, backward                  []runner       // by slice
}

// newPasses binds the emitted kernels to slices of the given number of tokens.
func newPasses[F num.Float](r rule[F], s *series[F], tokens int) *passes[F] {
	m, segments := s.D*s.D, (s.T+segment-1)/segment
	p := &passes[F]{s: s, states: r.states, edges: map[string][]F{}, adjoints: map[string][]F{},
		checkpoints: map[string][]F{}, each: map[string][]F{}}
	for _, name := range r.states {
		p.edges[name], p.adjoints[name] = make([]F, (segments+1)*m), make([]F, (segments+1)*m)
		p.checkpoints[name] = make([]F, segments*m)
		copy(p.edges[name], s.of[name])
		copy(p.adjoints[name][segments*m:], s.of[name+".bar"])
	}
	for start := 0; start < s.T; start += tokens {
		here := min(tokens, s.T-start)
		size := sizesOf(here, s.D, segment)
		get := func(name string, n int) []F { return p.buffer(start, here, name, n) }
		p.forward = append(p.forward, r.forward(size, get))
		p.backward = append(p.backward, r.backward(size, get))
	}
	return p
}

// buffer is what a kernel sees under a name: an edge of a state, or a stretch of
// what there is for each token.
func (p *passes[F]) buffer(start, here int, name string, n int) []F {
	m := p.s.D * p.s.D
	first, last := start/segment*m, (start+here+segment-1)/segment*m
	for _, state := range p.states {
		role, ok := strings.CutPrefix(name, state)
		if !ok {
			continue
		}
		switch role {
		case "":
			return p.edges[state][first:][:n]
		case ".out":
			return p.edges[state][last:][:n]
		case ".bar":
			return p.adjoints[state][last:][:n]
		case ".bar.out":
			return p.adjoints[state][first:][:n]
		case ".checkpoints":
			return p.checkpoints[state][first:][:n]
		}
	}
	step := n / here
	x := p.s.of[name]
	if x == nil {
		if p.each[name] == nil {
			p.each[name] = make([]F, p.s.T*step)
		}
		x = p.each[name]
	}
	return x[start*step:][:n]
}

// results are what the passes compute, by the plan's names.
func (p *passes[F]) results() map[string][]F {
	out := map[string][]F{}
	for name, x := range p.each {
		out[name] = x
	}
	m := p.s.D * p.s.D
	for _, name := range p.states {
		out[name+".out"] = p.edges[name][len(p.edges[name])-m:]
		out[name+".bar.out"] = p.adjoints[name][:m]
		out[name+".checkpoints"] = p.checkpoints[name]
	}
	return out
}

// all runs every slice once, in order.
func (p *passes[F]) all() {
	for _, r := range p.forward {
		r.Run()
	}
	for i := len(p.backward) - 1; i >= 0; i-- {
		p.backward[i].Run()
	}
}

// slices are those of a pass.
func (p *passes[F]) slices(pass string) []runner {
	if pass == backward {
		return p.backward
	}
	return p.forward
}

// distance is ‖a − b‖ / ‖b‖, NaN where something is not a number.
func distance[F, G num.Float](a []F, b []G) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	diff, norm := 0.0, 0.0
	for i, x := range a {
		e := float64(x) - float64(b[i])
		diff += e * e
		norm += float64(b[i]) * float64(b[i])
	}
	if norm == 0 {
		return math.Sqrt(diff)
	}
	return math.Sqrt(diff / norm)
}
