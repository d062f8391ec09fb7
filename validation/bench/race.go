package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/workers"
)

// A race is what some racers took for chunks in the same rounds, in random order in
// each. Every one takes an unmeasured chunk before the measured one. Other programs
// slow a racer down and never up, so the least time of all rounds is compared: by the
// clock on the wall, for all cores are there for all, and by the processor time of all
// threads, which does not depend on how many were really free.

// A bout is how a model is used.
type bout struct {
	name         string
	phase        pulse.Phase
	batch, chunk int
	unrolled     []int // forms of the scan in JAX
	asked        float64
}

// bouts begin with the first command of the project.
var bouts = []bout{
	{"build", pulse.Build, 8, 64, []int{1, 4}, targetJAX},
	{"stream in chunks", pulse.Stream, 1, 64, []int{1, 4}, 0},
	{"two streams in chunks", pulse.Stream, 2, 64, []int{1, 4}, 0},
	{"stream token by token", pulse.Stream, 1, 1, []int{1}, 0},
}

type race struct {
	bout
	far  float64 // of losses, relatively
	rows []raced
}

// raced is what one took, by round.
type raced struct {
	name      string
	wall, cpu []int64
}

// races measures all bouts.
func (o options) races(r *report) (err error) {
	jax, err := startJAX(".", o.python, "all")
	switch {
	case errors.Is(err, errNoJAX):
		r.lacks = append(r.lacks, err.Error())
	case err != nil:
		return err
	default:
		defer func() { err = errors.Join(err, jax.close()) }()
	}
	defer workers.SetCount(0)
	random := rand.New(rand.NewPCG(o.seed, 5))
	for _, b := range bouts {
		x, err := b.run(jax, o.rounds, o.seed, random)
		if err != nil {
			return err
		}
		r.races = append(r.races, *x)
	}
	return nil
}

// run is one bout.
func (b bout) run(jax *peer[float32], rounds int, seed uint64, random *rand.Rand) (*race, error) {
	racers, err := b.racers(jax, sameChunks+2*(rounds+1), seed)
	if err != nil {
		return nil, err
	}
	x := &race{bout: b, rows: make([]raced, len(racers))}
	if x.far, err = agree(b.name, racers); err != nil {
		return nil, err
	}
	runtime.GC()
	done := told(b.name, rounds)
	for round := -1; round < rounds; round++ {
		for _, i := range random.Perm(len(racers)) {
			t, _, err := racers[i].step(1)
			if err != nil {
				return nil, err
			}
			if row := &x.rows[i]; round >= 0 {
				row.name, row.wall, row.cpu = racers[i].name, append(row.wall, t.wall), append(row.cpu, t.cpu)
			}
		}
		done(round + 1)
	}
	return x, nil
}

// racers are the emitted code on all cores, which the others are compared with, and on
// one, and JAX; the tokens suffice for the given number of chunks.
func (b bout) racers(jax *peer[float32], steps int, seed uint64) (out []racer, err error) {
	ids, err := prose(b.batch * (steps*b.chunk + 1))
	if err != nil {
		return nil, err
	}
	var s *module.Session[float32]
	for _, cores := range slices.Compact([]int{runtime.NumCPU(), 1}) {
		if s, err = session(modelName, b.phase, b.batch, ids, seed); err != nil {
			return nil, err
		}
		out = append(out, emittedRacer(s, b.chunk, cores))
	}
	for _, unroll := range b.unrolled {
		if jax == nil {
			break
		}
		x, err := rivalRacer(jax, b, unroll, s, steps, ids)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// raced prints the races.
func (r *report) raced(b *strings.Builder) {
	fmt.Fprintf(b, "%s at d = %d as a whole, with the same parameters and tokens by all, which have all cores where not said\n"+
		"otherwise. Least times of all rounds; ratios are to the first row, in brackets the quartiles of single rounds.\n\n"+
		"| what | batch × chunk | by | tokens/s here | wall ÷ Go | processor time ÷ Go |\n|---|---|---|---|---|---|\n",
		modelName, modelWidth)
	for _, x := range r.races {
		n := float64(x.batch * x.chunk)
		for _, row := range x.rows {
			fmt.Fprintf(b, "| %s | %d × %d | %s | %.0f | %s | %s |\n", x.name, x.batch, x.chunk, row.name, n/shortest(row.wall)*1e9,
				leastRatio(row.wall, x.rows[0].wall), leastRatio(row.cpu, x.rows[0].cpu))
		}
	}
	b.WriteString("\n")
	for _, x := range r.races {
		fmt.Fprintf(b, "- %s: over the first %d chunks the losses are at most %.1e apart, relatively.\n", x.name, sameChunks, x.far)
		if x.asked > 0 && len(x.rows) > 2 {
			least := math.Inf(1)
			for _, row := range x.rows[2:] {
				least = min(least, shortest(row.wall)/shortest(x.rows[0].wall))
			}
			fmt.Fprintf(b, "- %s: the fastest form of JAX takes %s times as long by the wall, asked %s: %s.\n", x.name, figures(least), figures(x.asked), met(least, x.asked))
		}
	}
	b.WriteString("\n")
}

// leastRatio compares the least of two lists of times.
func leastRatio(a, b []int64) string {
	q := quotient([][]int64{a}, [][]int64{b})
	return fmt.Sprintf("%s [%s %s %s]", figures(shortest(a)/shortest(b)), figures(q.lo), figures(q.mid), figures(q.hi))
}
