package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Question: are the choices of a model independent of one another? If more than a
// fifth of the combinations degenerate, they do not.
//
// The combinations, fixed before the first run: four levels of each of the nine rules
// in each of three compositions; four rules at the four levels of each other schedule
// in the same compositions; HOPE, and two blocks on top of one another. Width 8,
// periods 1, 8, 64, 512, on text. A build degenerates when at 100, 1,000 or
// 10,000 updates (at 100,000 too with -steps 100000)
//
//   - a number is NaN or infinite,
//   - the root mean square of a state's entries is above stateBound or below stateFloor,
//   - the learned gate of a level but the first was never open or never closed,
//   - or, from learnsFrom updates on, the held-out loss is not below that of counting
//     single bytes. Before that no model of 256 bytes has seen enough of them.
//
// A level of period 512 has been updated once at 100 updates and twice at 1,000: what is said
// of it there is what its start does.
//
// Changed after the first run, of which 20 of 41 degenerated: gradients are clipped at one,
// which is what a build that is told nothing does.
const (
	stateBound  = 1e3
	stateFloor  = 1e-12
	learnsFrom  = 1000
	falsifiedAt = 0.2
	sweepSteps  = 10_000
)

// What replaces M in a composition.
var (
	sweptCompositions = []string{"MAG(M, SlidingWindow)", "MAL(M, SlidingWindow)", "MAC(M)"}
	sweptSchedules    = []string{"CMSIndependent([R])", "CMSSequential([R])", "CMSHybrid([R], [DeltaRule, DeltaRule, DeltaRule, DeltaRule])", "CMSGated([R])"}
	sweptAlone        = []string{"HOPE(SelfReferential, [ResidualMLP, ResidualMLP, ResidualMLP, ResidualMLP])"}
)

const (
	sweptMixed = "DeltaRule, TitansLMM, YAAD, Trellis"
	sweptStack = "StackLM([PreNorm(MAG(CMS([DeltaRule, TitansLMM, YAAD, Trellis]), SlidingWindow)), PreNorm(MAC(CMS([Hebbian, Lattice, MONETA, MEMORA])))])"
)

// sweptBuilds are the combinations.
func sweptBuilds(marks []int) (out []build) {
	add := func(formula string) {
		out = append(out, build{formula: formula, periods: fourLevels, batch: 4, chunk: 16, rate: 1e-2, clip: 1, seed: 1, marks: marks,
			sizes: map[string]int{"d": 8}})
	}
	var memories []string
	for _, rule := range nine {
		memories = append(memories, "CMS(["+strings.Join([]string{rule, rule, rule, rule}, ", ")+"])")
	}
	for _, s := range sweptSchedules {
		memories = append(memories, strings.Replace(s, "R", sweptMixed, 1))
	}
	for _, c := range sweptCompositions {
		for _, m := range memories {
			add("ByteLM(" + strings.Replace(c, "(M", "("+m, 1) + ")")
		}
	}
	for _, c := range sweptAlone {
		add("ByteLM(" + c + ")")
	}
	add(sweptStack)
	return out
}

// degenerate says in what way a build is at a mark, or "".
func (m mark) degenerate(unigram float64) string {
	if m.bad != nil {
		return "not finite"
	}
	if !(m.most <= stateBound) {
		return "state unbounded"
	}
	if !(m.least >= stateFloor) {
		return "state " + m.leastOf + " is zero"
	}
	for _, h := range m.health {
		if h.Gated && h.Level > 0 && !(h.Share > 0 && h.Share < 1) {
			return fmt.Sprintf("gate of level %d saturated", h.Level)
		}
	}
	if m.steps >= learnsFrom && !(m.heldOut < unigram) {
		return "no better than counting bytes"
	}
	return ""
}

// A swept is what came of some combinations.
type swept struct {
	rows [][]string
	bad  []int // degenerate at each mark
	any  int   // degenerate at some mark
}

// combinations builds them.
func combinations(ctx context.Context, builds []build, d data) (out swept, err error) {
	out.bad = make([]int, len(builds[0].marks))
	for i, t := range builds {
		_, got, err := t.run(ctx, d)
		if err != nil {
			return out, err
		}
		row, finding := []string{"`" + t.formula + "`"}, ""
		for j, steps := range t.marks {
			how, cell := "not finite", "–"
			if j < len(got) && got[j].bad == nil {
				how, cell = got[j].degenerate(d.unigram), fmt.Sprintf("%s, %.1g to %.1g", figure(got[j]), got[j].least, got[j].most)
			}
			if how != "" {
				out.bad[j]++
			}
			if how != "" && finding == "" {
				finding = fmt.Sprintf("%s at %d", how, steps)
				out.any++
			}
			row = append(row, cell)
		}
		progress("%d of %d: %s: %s %s", i+1, len(builds), t.formula, figure(got[len(got)-1]), finding)
		out.rows = append(out.rows, append(row, finding))
	}
	return out, nil
}

func sweep(ctx context.Context, a asked) (r report, err error) {
	d, err := text()
	if err != nil {
		return r, err
	}
	steps := sweepSteps
	if a.steps > 0 {
		steps = a.steps
	}
	builds := slices.DeleteFunc(sweptBuilds(horizons(steps)), func(t build) bool { return !strings.Contains(t.formula, a.only) })
	if len(builds) == 0 {
		return r, fmt.Errorf("no combination contains %q", a.only)
	}
	s, err := combinations(ctx, builds, d)
	if err != nil {
		return r, err
	}
	r.swept(d, builds[0], s)
	return r, nil
}

// swept writes the first part of the report.
func (r *report) swept(d data, t build, s swept) {
	n := len(s.rows)
	verdict := "at most a fifth, so the claim that the choices stand apart holds"
	if share(s.any, n) > 100*falsifiedAt {
		verdict = "more than a fifth: the choices do not stand apart"
	}
	r.say("# Sweep of compositions")
	r.say("`make sweep` wrote this page. %d of %d combinations degenerate at some horizon, %.1f %%: %s. What counts as degenerate stands in the head of validation/experiments/sweep.go, from before the first run.", s.any, n, share(s.any, n), verdict)
	var by [][]string
	for i, m := range t.marks {
		by = append(by, []string{fmt.Sprint(m), fmt.Sprint(s.bad[i]), fmt.Sprintf("%.1f %%", share(s.bad[i], n))})
	}
	r.table([]string{"updates", "degenerate", "share"}, by)
	r.say("%s; width %d, periods %v, AdamW at %g, gradients clipped at %g, batches of %d sequences of %d bytes, seed %d. Counting single bytes gives %.3f bits per byte.",
		d.name, t.sizes["d"], t.periods, t.rate, t.clip, t.batch, t.chunk, t.seed, d.unigram)
	r.say("Bits per byte held out, then the smallest and the largest root mean square of a state's entries; the finding is the first.")
	r.sweptTable(t.marks, s)
}

func (r *report) sweptTable(marks []int, s swept) {
	head := []string{"model"}
	for _, m := range marks {
		head = append(head, fmt.Sprintf("after %d", m))
	}
	r.table(append(head, "finding"), s.rows)
}

func share(part, whole int) float64 { return 100 * float64(part) / float64(whole) }

// horizons are 100, 1,000, 10,000 and so on up to the last.
func horizons(last int) (out []int) {
	for n := 100; n < last; n *= 10 {
		out = append(out, n)
	}
	return append(out, last)
}
