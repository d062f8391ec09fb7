package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/nl-hecate/hecate/bench/kernel"
	"github.com/nl-hecate/hecate/runtime/num"
)

// segment is the number of tokens from checkpoint to checkpoint, CHECKPOINT of
// bench/c.
const segment = 64

// A series is the input of the recurrence: T tokens of width d.
type series[F num.Float] struct {
	T, D                            int
	K, Q, V, Rho, Theta, M0, DY, DM []F
}

// newSeries draws a series like the one of bench/c: unit keys and queries,
// gates where a young model has them.
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
	return &series[F]{T: T, D: d, K: units(), Q: units(), V: uniform(T*d, -1, 1), Rho: uniform(T, 0.9, 1),
		Theta: uniform(T, 0.005, 0.05), M0: uniform(d*d, -0.1, 0.1), DY: uniform(T*d, -1, 1), DM: uniform(d*d, -1, 1)}
}

// results are the names of what is compared: the plan's names of what a pass
// writes.
var results = []string{"y", "M.out", "M.checkpoints", "k.bar", "q.bar", "v.bar", "rho.bar", "theta.bar", "M.bar.out"}

// A passes holds the emitted kernels bound to a series, cut into slices of
// tokens. As in bench/c/serve.c there is a state and an adjoint for every edge
// between segments, so that after one run in order any slice may run again.
type passes[F num.Float] struct {
	s                 *series[F]
	states, adjoints  []F
	out               map[string][]F // of all tokens
	forward, backward []runner       // by slice
	kept              map[string][]F // what a slice keeps for its backward
}

type runner interface{ Run() }

// newPasses binds the emitted kernels to slices of so many tokens.
func newPasses[F num.Float](s *series[F], tokens int) *passes[F] {
	n, m, segments := s.T*s.D, s.D*s.D, (s.T+segment-1)/segment
	p := &passes[F]{s: s, states: make([]F, (segments+1)*m), adjoints: make([]F, (segments+1)*m), kept: map[string][]F{}}
	p.out = map[string][]F{"y": make([]F, n), "M.out": p.states[segments*m:], "M.checkpoints": make([]F, segments*m),
		"k.bar": make([]F, n), "q.bar": make([]F, n), "v.bar": make([]F, n),
		"rho.bar": make([]F, s.T), "theta.bar": make([]F, s.T), "M.bar.out": p.adjoints[:m]}
	copy(p.states, s.M0)
	copy(p.adjoints[segments*m:], s.DM)
	for start := 0; start < s.T; start += tokens {
		here := min(tokens, s.T-start)
		size := func(name string) int {
			switch name {
			case "C":
				return segment
			case "L":
				return 1
			case "T":
				return here
			}
			return s.D
		}
		get := func(name string, n int) []F { return p.buffer(start, here, name, n) }
		p.forward = append(p.forward, kernel.NewForward(size, get))
		p.backward = append(p.backward, kernel.NewBackward(size, get))
	}
	return p
}

// buffer is what a kernel sees under a name: a stretch of the series or of the
// results, or something of its own that forward and backward share.
func (p *passes[F]) buffer(start, tokens int, name string, n int) []F {
	s := p.s
	m := s.D * s.D
	first, last := start/segment*m, (start+tokens+segment-1)/segment*m
	given := map[string][]F{"k": s.K, "q": s.Q, "v": s.V, "rho": s.Rho, "theta": s.Theta, "y.bar": s.DY}
	switch name {
	case "M":
		return p.states[first:][:n]
	case "M.out":
		return p.states[last:][:n]
	case "M.bar":
		return p.adjoints[last:][:n]
	case "M.bar.out":
		return p.adjoints[first:][:n]
	case "M.checkpoints":
		return p.out[name][first:][:n]
	}
	x := given[name]
	if x == nil {
		x = p.out[name]
	}
	if x == nil {
		key := fmt.Sprintf("%s %d", name, start)
		if p.kept[key] == nil {
			p.kept[key] = make([]F, n)
		}
		return p.kept[key]
	}
	return x[start*(len(x)/s.T):][:n]
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

// clocked is the task of a call.
func clocked(r runner) func() (int64, error) {
	return func() (int64, error) {
		start := now()
		r.Run()
		return now() - start, nil
	}
}

// distance is ‖a − b‖ / ‖b‖, NaN where something is not a number.
func distance[F num.Float](a, b []F) float64 {
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
