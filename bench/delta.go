package main

import (
	"fmt"
	"math/rand/v2"
)

const tokens = 512 // of every comparison

var widths = []int{64, 128, 256}

// equal is how far a result of the emitted Go may be from one of C, relative
// to its norm: two orders of summation of float32 over 512 tokens.
const equal = 2e-6

// goVariant is the emitted code in tables; the variants of C have their own names.
const goVariant = "Go, emitted"

func deltaName(pass string, d int) string { return fmt.Sprintf("%s, d = %d", pass, d) }

// deltaTasks binds the emitted recurrence and the C of bench/c to the same
// series, sees that they agree, and returns their slices as tasks. worst is the
// largest distance between two results.
func deltaTasks(c *cc[float32], seed uint64) (tasks []task, worst difference, err error) {
	for _, d := range widths {
		s := newSeries[float32](tokens, d, rand.New(rand.NewPCG(seed, uint64(d))))
		n := sliceTokens(tokens, d, segment)
		p := newPasses(s, n)
		p.all()
		for i := range p.forward {
			tasks = append(tasks, task{deltaName("forward", d), i, goVariant, clocked(p.forward[i])},
				task{deltaName("backward", d), i, goVariant, clocked(p.backward[i])})
		}
		if c == nil {
			continue
		}
		number, err := c.load(s)
		if err != nil {
			return nil, worst, err
		}
		for _, v := range ccVariants {
			if err := c.all(number, v, tokens, n); err != nil {
				return nil, worst, err
			}
			for start := 0; start < tokens; start += n {
				for _, pass := range []string{"forward", "backward"} {
					tasks = append(tasks, task{deltaName(pass, d), start / n, v, func() (int64, error) {
						return c.run(number, v, pass, start, min(n, tokens-start))
					}})
				}
			}
		}
		diffs, err := differences(p, c, number)
		if err != nil {
			return nil, worst, err
		}
		for _, x := range diffs {
			if !(x.relative <= equal) {
				return nil, worst, fmt.Errorf("d = %d: %s of the emitted Go is %.2g from that of %s in C, more than %g: nothing is timed",
					d, x.name, x.relative, x.variant, equal)
			}
			if x.relative >= worst.relative {
				worst = x
			}
		}
	}
	return tasks, worst, nil
}
