package main

import (
	"fmt"
	"math"
	"strings"
)

// A report is what a run found.
type report struct {
	machine  string
	rounds   int
	worst    difference
	compared bool   // with C
	without  string // why not
	core     *times // recurrence and model, one interleaved run
	model    bool
	gen      *times
}

// passesOf lists what the recurrence is measured for.
func passesOf() (out []string) {
	for _, pass := range []string{"forward", "backward"} {
		for _, d := range widths {
			out = append(out, deltaName(pass, d))
		}
	}
	return out
}

// String is the report in markdown.
func (r *report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. %d rounds, %s.\n", r.machine, r.rounds, clockWords)
	if r.core != nil {
		r.delta(&b)
		if r.model {
			r.whole(&b)
		}
	}
	if r.gen != nil {
		r.generation(&b)
	}
	return b.String()
}

func (r *report) delta(b *strings.Builder) {
	fmt.Fprintf(b, "\nThe recurrence alone, %d tokens, float32, a checkpoint every %d. Ratios are C ÷ Go, above 1 the emitted\n"+
		"Go is faster; in brackets the quartiles of the ratios of single rounds. Budget: 1.0 against the textbook.\n\n", tokens, segment)
	if !r.compared {
		fmt.Fprintf(b, "Not compared: %s.\n\n| pass | Go, µs |\n|---|---|\n", r.without)
		for _, p := range passesOf() {
			fmt.Fprintf(b, "| %s | %s |\n", p, micros(r.core.sum(p, goVariant)))
		}
		return
	}
	b.WriteString("| pass | Go, µs | C textbook, µs | C four sums, µs | textbook ÷ Go | four sums ÷ Go | longest slice, ms |\n|---|---|---|---|---|---|---|\n")
	for _, p := range passesOf() {
		long := 0.0
		for _, v := range []string{goVariant, "textbook", "dot4"} {
			long = max(long, r.core.longest(p, v))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %.1f |\n", p, micros(r.core.sum(p, goVariant)), micros(r.core.sum(p, "textbook")),
			micros(r.core.sum(p, "dot4")), r.core.over(p, "textbook", goVariant), r.core.over(p, "dot4", goVariant), long/1e6)
	}
	fmt.Fprintf(b, "\nGo and C agree: the largest distance between two results is %.1e of the norm (%s, %s).\n", r.worst.relative, r.worst.name, r.worst.variant)
}

func (r *report) whole(b *strings.Builder) {
	step, update := r.core.sum(modelStep, goVariant), r.core.sum(modelUpdate, goVariant)
	own := r.recurrence(goVariant)
	fmt.Fprintf(b, "\nBuilding %s at d = %d on one core, %d tokens in chunks of %d and one update: %s µs, of which the update\n%s; %.0f tokens/s. That is\n",
		modelName, modelWidth, tokens, modelChunk, micros(step+update), micros(update), tokens/((step+update)/1e9))
	fmt.Fprintf(b, "%s times the emitted recurrence alone, forward and backward", quotient(r.building(), own))
	if r.compared {
		fmt.Fprintf(b, ",\nand %s times that of the C textbook", quotient(r.building(), r.recurrence("textbook")))
	}
	b.WriteString(".\n")
}

// building and recurrence are the slices of a build and of both passes of the
// recurrence at the model's width.
func (r *report) building() [][]int64 {
	return append(r.core.slices(modelStep, goVariant), r.core.slices(modelUpdate, goVariant)...)
}

func (r *report) recurrence(variant string) [][]int64 {
	return append(r.core.slices(deltaName("forward", modelWidth), variant), r.core.slices(deltaName("backward", modelWidth), variant)...)
}

func (r *report) generation(b *strings.Builder) {
	fmt.Fprintf(b, "\nThe compiler on the whole tree, in a copy; %d rounds. Budgets: 1 for a run without evidence, 0.1 for one\n"+
		"with nothing to do.\n\n| command | ms | ÷ go build |\n|---|---|---|\n", len(r.gen.ns[0]))
	for _, k := range r.gen.tasks {
		fmt.Fprintf(b, "| %s | %.0f | %s |\n", k.variant, r.gen.sum(generationName, k.variant)/1e6, r.gen.over(generationName, k.variant, buildEmitted))
	}
	fmt.Fprintf(b, "\nA run with nothing to do takes %s of one without evidence.\n", r.gen.over(generationName, generateAgain, generateFirst))
}

func (r ratio) String() string {
	return fmt.Sprintf("%s [%s %s %s]", figures(r.of), figures(r.lo), figures(r.mid), figures(r.hi))
}

// figures prints a ratio with two digits after the point, or two that count.
func figures(x float64) string {
	if x < 0.1 {
		return fmt.Sprintf("%.2g", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// micros prints nanoseconds as microseconds.
func micros(ns float64) string { return fmt.Sprintf("%.0f", math.Round(ns/1000)) }
