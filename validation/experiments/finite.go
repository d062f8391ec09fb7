package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Question: does each of the nine rules stay finite in each of four compositions, when
// a build is told nothing but its width?
//
// The update is AdamW at the rate of its page, and gradients are clipped at one. A build
// fails when at 100, 1,000 or 10,000 updates it degenerates as sweep.go says it.

// flagships are the four compositions; R is the rule.
var flagships = []string{"MAC(R)", "MAG(R, SlidingWindow)", "MAL(R, SlidingWindow)", "HOPE(R, [ResidualMLP, ResidualMLP])"}

// flagshipBuilds are the builds of all of them with all rules; rate 0 is that of the page.
func flagshipBuilds(rate float64, width int, marks []int) (out []build) {
	for _, c := range flagships {
		for _, rule := range nine {
			out = append(out, build{formula: "ByteLM(" + strings.Replace(c, "R", rule, 1) + ")", periods: []int{1, 8}, batch: 4, chunk: 16,
				rate: rate, clip: 1, seed: 1, marks: marks, sizes: map[string]int{"d": width}})
		}
	}
	return out
}

func finite(ctx context.Context, a asked) (r report, err error) {
	d, err := text()
	if err != nil {
		return r, err
	}
	steps := sweepSteps
	if a.steps > 0 {
		steps = a.steps
	}
	builds := slices.DeleteFunc(flagshipBuilds(0, 64, horizons(steps)), func(t build) bool { return !strings.Contains(t.formula, a.only) })
	if len(builds) == 0 {
		return r, fmt.Errorf("no combination contains %q", a.only)
	}
	s, err := combinations(ctx, builds, d)
	if err != nil {
		return r, err
	}
	t := builds[0]
	r.say("# Nine rules in four compositions")
	r.say("`go run ./validation/experiments finite` wrote this page. %d of %d degenerate, as validation/experiments/sweep.go says it.", s.any, len(builds))
	r.say("%s; width %d, periods %v, AdamW at the rate of its page, gradients clipped at %g, batches of %d sequences of %d bytes, seed %d. Counting single bytes gives %.3f bits per byte.",
		d.name, t.sizes["d"], t.periods, t.clip, t.batch, t.chunk, t.seed, d.unigram)
	r.say("Bits per byte held out, then the smallest and the largest root mean square of a state's entries; the finding is the first.")
	r.sweptTable(t.marks, s)
	return r, nil
}
