package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/update"
)

// Question: how do the nine rules of the papers compare as four levels of one model,
// built on one text?
//
// The model is that of the presets in two blocks, a memory and an attention, each followed by a network, with four levels of
// one rule as its memory, the periods that the page of CMS proposes, and everything else alike: width, window, update, seed,
// tokens. Each rule is built at three rates, and the best figure counts, of the last tenth of the text: the rate is thus chosen
// by the figure, for every rule alike. Five rows are forms as the papers print them, and three have something else in the
// memory's place: an attention, a network, and one level of the gated delta rule with heads, as the presets and baseline.md
// have it. Parameters and states are what the rule takes at that width; nothing is matched, so the table has both.
//
// Changed after earlier runs: the model was one block without norm and residual, each rule had one rate, and keys of Trellis were
// shorter than tokens.

// nine are the rules of the papers, by the names of their pages.
var nine = []string{"DeltaRule", "TitansLMM", "Hebbian", "MONETA", "YAAD", "MEMORA", "Lattice", "Trellis", "AtlasOmega"}

// asPrinted are the forms that papers print of four of them and of TNT.
var asPrinted = []string{"TitansPrinted", "MONETAPrinted", "YAADPrinted", "MEMORAPrinted", "TNTPrinted"}

// comparedBeside are what takes the place of the memory in the rows beside the rules.
var comparedBeside = []string{"AttentionOnly(RotaryWindow)", "GELUMLP", "MemoryMixer(GatedDeltaHeads)"}

var (
	fourLevels   = []int{1, 8, 64, 512}
	compareRates = []float64{3e-3, 6e-3, 1e-2}
)

const compareSteps = 1300

func compareBuild(first string, rate float64, steps int) build {
	periods := fourLevels
	if !strings.Contains(first, "CMS") {
		periods = fourLevels[:1]
	}
	return build{formula: "TiedLM([PreRMSNorm(" + first + "), PreRMSNorm(SwiGLU), PreRMSNorm(Convolved(AttentionOnly(RotaryWindow(w = 64)))), PreRMSNorm(SwiGLU)])",
		sizes: map[string]int{"d": 64}, periods: periods, batch: 8, chunk: 64, rate: rate, clip: 1, seed: 1, marks: []int{steps},
		falling: update.Schedule{Shape: update.Cosine, Steps: steps, WarmUp: max(steps/20, 1), Final: 0.1}}
}

func compare(ctx context.Context, a asked) (r report, err error) {
	d, err := text()
	if err != nil {
		return r, err
	}
	steps := compareSteps
	if a.steps > 0 {
		steps = a.steps
	}
	var rows, health [][]string
	row := func(name, first string) error {
		if !strings.Contains(name, a.only) {
			return nil
		}
		line, levels, least := []string{name}, []string(nil), math.Inf(1)
		for i, rate := range compareRates {
			m, marks, err := compareBuild(first, rate, steps).run(ctx, d)
			if err != nil {
				return err
			}
			last := marks[0]
			progress("%-10s %g %s bits per byte, %v", name, rate, figure(last), last.duration.Round(time.Second))
			if i == 0 {
				line = append(line, fmt.Sprint(m.params), fmt.Sprint(m.states))
			}
			line = append(line, figure(last))
			if last.bad == nil && last.heldOut < least {
				least, levels = last.heldOut, byLevel(last.health)
			}
		}
		rows = append(rows, append(line, fmt.Sprintf("%.3f", least)))
		if strings.Contains(first, "CMS") {
			health = append(health, append([]string{name}, levels...))
		}
		return nil
	}
	for _, rule := range slices.Concat(nine, asPrinted) {
		if err := row(rule, "MemoryMixer(CMS(["+strings.Join([]string{rule, rule, rule, rule}, ", ")+"]))"); err != nil {
			return r, err
		}
	}
	for _, first := range comparedBeside {
		if err := row("`"+first+"`", first); err != nil {
			return r, err
		}
	}
	if len(rows) == 0 {
		return r, fmt.Errorf("no row has %q in its name", a.only)
	}
	t := compareBuild("B", 0, steps)
	r.say("# Nine rules, four levels each, on one text")
	r.say("`make compare` wrote this page. %s; the model `%s`, B being `MemoryMixer(CMS([R, R, R, R]))` with each rule R in turn, then forms as papers print them, and below them what else took its place; width %d, periods %v, AdamW, a warm-up of a twentieth and a cosine to a tenth, clip 1, batches of %d sequences of %d bytes, %d updates, seed %d. Counting single bytes gives %.3f bits per byte held out.",
		d.name, t.formula, t.sizes["d"], fourLevels, t.batch, t.chunk, steps, t.seed, d.unigram)
	head := []string{"rule", "parameters", "states of a sequence"}
	for _, rate := range compareRates {
		head = append(head, fmt.Sprintf("at %g", rate))
	}
	r.table(append(head, "best"), rows)
	r.say("Bits per byte of the held-out tenth; – is a build that ended with a NaN. One seed: differences of a few hundredths mean nothing.")
	r.say("## The levels at the end, at the best rate")
	r.table([]string{"rule", "updates", "norm of the gradient", "norm of the parameters", "norm of the states"}, health)
	r.say("Each cell has the four levels, the fastest first; level 0 includes what is no memory. All states of all sequences together.")
	return r, nil
}

// byLevel prints what each level is like.
func byLevel(all []module.Health) []string {
	var cells [4][]string
	for _, h := range all {
		for i, c := range []string{fmt.Sprint(h.Updates), fmt.Sprintf("%.2g", h.Gradient), fmt.Sprintf("%.3g", h.Parameter), fmt.Sprintf("%.3g", h.State)} {
			cells[i] = append(cells[i], c)
		}
	}
	var out []string
	for _, c := range cells {
		out = append(out, strings.Join(c, " "))
	}
	return out
}
