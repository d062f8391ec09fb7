package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/num"
)

// The delta rule in exact chunks: products of matrices and a triangular solve
// for a chunk of tokens at once. The emitted code is compared with validation/bench/c/chunk.c, the
// same algorithm by OpenBLAS, and both on the series of the recurrence, which is
// what they are held to: keys, values and rates go through unchanged, the
// products of the gates are tables that come with each chunk.

// chunkLengths are the numbers of tokens of a chunk.
var chunkLengths = []int{16, 32}

const chunkRule = "chunk"

// chunkName names a pass in tables.
func chunkName(C int, pass string) string { return fmt.Sprintf("%s of %d, %s", chunkRule, C, pass) }

// chunkSlots are multiply-adds for each token: three products with a state
// forward and six backward, and those with the other tokens of its chunk.
func chunkSlots(d, C int, pass string) float64 {
	if pass == forward {
		return 3*float64(d)*float64(d) + 3.5*float64(C)*float64(d)
	}
	return 6*float64(d)*float64(d) + 9.5*float64(C)*float64(d)
}

// chunkInputs are what a chunk's kernel reads, by its names.
func chunkInputs[F num.Float](s *series[F], C int) map[string][]F {
	n := s.T / C
	in := map[string][]F{"K": s.of["k"], "Q": s.of["q"], "V": s.of["v"], "theta": s.of["theta"],
		"M": s.of["M"], "y.bar": s.of["y.bar"], "M.bar": s.of["M.bar"],
		"D": make([]F, n*C*C), "Gm": make([]F, n*C*C), "g": make([]F, n*C), "gp": make([]F, n*C), "gam": make([]F, n*C), "gC": make([]F, n)}
	for t := range n {
		g := []float64{1} // before the first token
		for i := range C {
			g = append(g, g[i]*float64(s.of["rho"][t*C+i]))
		}
		in["gC"][t] = F(g[C])
		for i := range C {
			in["g"][t*C+i], in["gp"][t*C+i], in["gam"][t*C+i] = F(g[i+1]), F(g[i]), F(g[C]/g[i+1])
			for j := range i + 1 {
				in["Gm"][(t*C+i)*C+j] = F(g[i+1] / g[j+1])
				if j < i {
					in["D"][(t*C+i)*C+j] = F(g[i] / g[j+1])
				}
			}
		}
	}
	return in
}

// A chunked is both kernels bound to a series.
type chunked[F num.Float] struct {
	d, C int
	of   map[string][]F
	pass map[string]runner
}

func newChunked[F num.Float](s *series[F], C int) *chunked[F] {
	x := &chunked[F]{d: s.D, C: C, of: chunkInputs(s, C), pass: map[string]runner{}}
	size := func(name string) int {
		switch name {
		case "C":
			return C
		case "L":
			return 1
		case "T":
			return s.T / C
		}
		return s.D
	}
	get := func(name string, n int) []F {
		if x.of[name] == nil {
			x.of[name] = make([]F, n)
		}
		return x.of[name]
	}
	k := kernels[F](chunkRule)
	x.pass[forward], x.pass[backward] = k.forward(size, get), k.backward(size, get)
	return x
}

// chunkResults are what the kernels give, by their names, with the name that the
// recurrence has for it, if it has one.
var chunkResults = map[string]string{"y": "y", "M.out": "M.out", "K.bar": "k.bar", "Q.bar": "q.bar", "V.bar": "v.bar",
	"theta.bar": "theta.bar", "M.bar.out": "M.bar.out", "D.bar": "", "Gm.bar": "", "g.bar": "", "gp.bar": "", "gam.bar": "", "gC.bar": ""}

// chunkExact is how far float64 results of the chunk form and of the recurrence
// may be apart: other sums, through a system of C equations.
const chunkExact = 1e-12

// chunkOracle runs the kernels in float64 and holds them to the recurrence.
func chunkOracle[F num.Float](s *series[F], C int) (*chunked[float64], error) {
	wide := newChunked(widened(s), C)
	wide.pass[forward].Run()
	wide.pass[backward].Run()
	whole := newPasses(rules[float64]()[0], widened(s), s.T)
	whole.all()
	want := whole.results()
	for name, as := range chunkResults {
		if as == "" {
			continue
		}
		if e := distance(wide.of[name], want[as]); !(e <= chunkExact) {
			return nil, fmt.Errorf("%s of %d, d = %d: %s is %.2g from the recurrence", chunkRule, C, s.D, name, e)
		}
	}
	return wide, nil
}

// A chunkTrial is one width and length of a chunk at every level and in C.
type chunkTrial struct {
	*chunked[float32]
	levels []level
	c      *cc[float32] // nil without OpenBLAS
	number int          // in C
}

// newChunkTrial computes everything once and compares it.
func newChunkTrial(d, C int, c *cc[float32], seed uint64, k *checks) (*chunkTrial, error) {
	s := newSeries[float32](tokens, d, rand.New(rand.NewPCG(seed, uint64(d))))
	want, err := chunkOracle(s, C)
	if err != nil {
		return nil, err
	}
	x := &chunkTrial{chunked: newChunked(s, C)}
	all, _ := levels(recurrenceLevels)
	for _, l := range all {
		if l.Target == cpu.FMA && d > twinWidth {
			continue
		}
		_, err := l.at(func() (int64, error) {
			x.pass[forward].Run()
			x.pass[backward].Run()
			return 0, nil
		})()
		if err != nil {
			return nil, err
		}
		for name := range chunkResults {
			if err := k.add(l.variant(), difference{at(fmt.Sprintf("chunks of %d", C), d), name, distance(x.of[name], want.of[name])}); err != nil {
				return nil, err
			}
		}
		if l.timed(d) {
			x.levels = append(x.levels, l)
		}
	}
	if c == nil || c.blas == "" {
		return x, nil
	}
	x.c = c
	return x, x.inC(want, k)
}

// chunkOrder is the order in which C takes the inputs.
var chunkOrder = []string{"K", "Q", "V", "D", "Gm", "g", "gp", "gam", "gC", "theta", "M", "y.bar", "M.bar"}

// inC sends the series to C, which computes it once, and compares.
func (x *chunkTrial) inC(want *chunked[float64], k *checks) (err error) {
	var data [][]float32
	for _, name := range chunkOrder {
		data = append(data, x.of[name])
	}
	if x.number, err = x.c.loadChunks(tokens/x.C, x.C, x.d, data); err != nil {
		return err
	}
	for i := range passNames {
		if _, err := x.c.chunk(x.number, i, 0); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(chunkResults)) {
		got, err := x.c.get(len(want.of[name]), "chunked %d %s", x.number, name)
		if err != nil {
			return err
		}
		if err := k.add(openBLAS, difference{at(fmt.Sprintf("chunks of %d", x.C), x.d), name, distance(got, want.of[name])}); err != nil {
			return err
		}
	}
	return nil
}

// tasks are both passes of every variant on one thread.
func (x *chunkTrial) tasks() (out []task) {
	for i, pass := range passNames {
		what := at(chunkName(x.C, pass), x.d)
		for _, l := range x.levels {
			out = append(out, task{what, 0, l.variant(), l.at(clocked(x.pass[pass]))})
		}
		if x.c != nil {
			out = append(out, task{what, 0, openBLAS, warmed(func(warm int) (int64, error) {
				t, err := x.c.chunk(x.number, i, warm)
				return t.cpu, err
			})})
		}
	}
	return out
}

// chunkTrials are those of all widths and lengths.
func chunkTrials(c *cc[float32], seed uint64, k *checks) (out []*chunkTrial, err error) {
	for _, C := range chunkLengths {
		for _, d := range widths {
			x, err := newChunkTrial(d, C, c, seed, k)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
	}
	return out, nil
}

// both are the slices of both passes of a chunk's variant.
func (r *report) both(C, d int, variant string) [][]int64 {
	return slices.Concat(r.core.slices(at(chunkName(C, forward), d), variant), r.core.slices(at(chunkName(C, backward), d), variant))
}

// chunkTargets hold the chunk to OpenBLAS and to the recurrence, forward and
// backward together.
func (r *report) chunkTargets() (out []target) {
	for _, C := range chunkLengths {
		fast := func() string { return r.fast(chunkName(C, forward)) }
		over := func(d int, other [][]int64) (float64, string) {
			if own := r.both(C, d, fast()); len(own) > 0 && len(other) > 0 {
				return quotient(other, own).of, ""
			}
			return 0, ""
		}
		name := fmt.Sprintf("%s of %d, both passes: ", chunkRule, C)
		out = append(out, target{name + "OpenBLAS ÷ Go", always(1), func(d int) (float64, string) { return over(d, r.both(C, d, openBLAS)) }},
			target{name + "one token after another ÷ chunks", func(d int) float64 {
				if d < 128 {
					return 0
				}
				return 1
			}, func(d int) (float64, string) {
				fwd, bwd := passOf(deltaRule, forward), passOf(deltaRule, backward)
				return over(d, slices.Concat(r.core.slices(at(fwd, d), r.fast(fwd)), r.core.slices(at(bwd, d), r.fast(bwd))))
			}})
	}
	return out
}
