package main

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
)

// A report is what a run found. What was left out is nil or empty.
type report struct {
	machine   string
	rounds    int
	lacks     []string // lines about what is left out
	blas      string   // the configuration of OpenBLAS
	checks    checks
	core      *times             // recurrences, products, peak and model, one interleaved run
	peakFlops map[string]float64 // operations of a slice, or bytes, by peak
	threads   *times             // two threads and one, by wall time
	model     bool
	matrices  int64                 // that a token of the model is multiplied with
	rules     *times                // all memory rules and the peaks
	kernels   map[string]abi.Pair   // of the rules, by package
	far       map[string]difference // from float64, by variant of the rules
	tokens    int                   // of a trial of a rule
	steps     []*stepRace           // steps of training and PyTorch
	races     []race                // the whole model and JAX
	million   []lasted              // streams of a million tokens
	gen       *times
}

// String is the report in markdown.
func (r *report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. %d rounds, %s.\n\n", r.machine, r.rounds, clockWords)
	for _, line := range r.lacks {
		b.WriteString("Left out: " + line + ".\n\n")
	}
	if r.core != nil {
		r.single(&b)
	}
	if r.threads != nil {
		r.pairs(&b)
	}
	if r.core != nil {
		r.verdicts(&b)
	}
	if r.model {
		r.whole(&b)
	}
	if r.rules != nil {
		r.family(&b)
		r.floors(&b)
	}
	if r.steps != nil {
		r.stepped(&b)
	}
	if r.races != nil {
		r.raced(&b)
	}
	if r.million != nil {
		r.lasting(&b)
	}
	if r.gen != nil {
		r.generation(&b)
	}
	return b.String()
}

// single is what came on one thread.
func (r *report) single(b *strings.Builder) {
	if len(r.checks.variants) > 0 {
		b.WriteString(r.checks.String() + "\n")
	}
	fmt.Fprintf(b, "One thread, %d tokens, float32, a checkpoint every %d. A cell is the time, the share of this run's\n"+
		"median peak and the time ÷ the best of the column. ", tokens, segment)
	if all := r.peaks(r.core, false); len(all) > 0 {
		words := make([]string, len(all))
		for i, p := range all {
			words[i] = p.String()
		}
		fmt.Fprintf(b, "Peak of one core, median: %s.", strings.Join(words, ", "))
	} else {
		b.WriteString("No peak was measured, so there are no shares.")
	}
	b.WriteString("\n\n")
	for _, rule := range rules[float32]() {
		for _, pass := range passNames {
			r.table(b, passOf(rule.name, pass))
		}
	}
	if r.blas != "" {
		fmt.Fprintf(b, "Products of a projection; OpenBLAS is %s.\n\n", r.blas)
	}
	for _, p := range products[float32]() {
		r.table(b, p.name)
	}
	b.WriteString("The delta rule in exact chunks, the states of all chunks stored.\n\n")
	for _, C := range chunkLengths {
		for _, pass := range passNames {
			r.table(b, chunkName(C, pass))
		}
	}
}

// pairs is what came on two threads.
func (r *report) pairs(b *strings.Builder) {
	b.WriteString("Two threads beside one, by the clock on the wall; the last figure is how many times as fast two are,\n" +
		"in brackets the quartiles of single rounds.\n\n")
	for _, pass := range passNames {
		r.two(b, passOf(deltaRule, pass))
	}
	for _, p := range products[float32]() {
		r.two(b, p.name)
	}
}

// targetWhole is how many times as long a step may take as its products and its recurrence.
const targetWhole = 3.0

// whole is what building the model takes.
func (r *report) whole(b *strings.Builder) {
	fmt.Fprintf(b, "Building %s at d = %d on one core, %d tokens in chunks of %d and one update.\n\n"+
		"| level | µs | of which the update | tokens/s | ÷ the recurrence alone, forward and backward | ÷ the recurrence and the products with %d matrices [%s] |\n|---|---|---|---|---|---|\n",
		modelName, modelWidth, tokens, modelChunk, r.matrices, figures(targetWhole))
	for _, v := range r.core.variants(modelStep) {
		all := total(r.building(v))
		least := quotient(r.building(v), append(r.recurrence(v), r.products(v)...))
		fmt.Fprintf(b, "| %s | %s | %s | %.0f | %s | %s %s |\n", v, micros(all), micros(r.core.sum(modelUpdate, v)), tokens/(all/1e9),
			quotient(r.building(v), r.recurrence(v)), least, met(targetWhole, least.of))
	}
	b.WriteString("\n")
}

// building and recurrence are the slices of a build and of both passes of the
// recurrence at the model's width.
func (r *report) building(variant string) [][]int64 {
	return append(r.core.slices(modelStep, variant), r.core.slices(modelUpdate, variant)...)
}

func (r *report) recurrence(variant string) [][]int64 {
	return append(r.core.slices(at(passOf(deltaRule, forward), modelWidth), variant),
		r.core.slices(at(passOf(deltaRule, backward), modelWidth), variant)...)
}

// products are the slices of the model's products, forward and backward.
func (r *report) products(variant string) (out [][]int64) {
	for _, p := range products[float32]() {
		for _, ns := range r.core.slices(at(p.name, modelWidth), variant) {
			all := make([]int64, len(ns))
			for i, t := range ns {
				if all[i] = r.matrices * t; t == skipped {
					all[i] = skipped
				}
			}
			out = append(out, all)
		}
	}
	return out
}

func (r *report) generation(b *strings.Builder) {
	fmt.Fprintf(b, "The compiler on the whole tree, in a copy; %d rounds. Budgets: 1 for a run without evidence, 0.1 for one\n"+
		"with nothing to do.\n\n| command | ms | ÷ go build |\n|---|---|---|\n", len(r.gen.ns[0]))
	for _, k := range r.gen.tasks {
		fmt.Fprintf(b, "| %s | %.0f | %s |\n", k.variant, r.gen.sum(generationName, k.variant)/1e6, r.gen.over(generationName, k.variant, buildEmitted))
	}
	fmt.Fprintf(b, "\nA run with nothing to do takes %s of one without evidence.\n", r.gen.over(generationName, generateAgain, generateFirst))
}
