package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// A tally counts outcomes by what killed the mutants.
type tally struct{ all, message, proof, witness, equivalent, survived int }

func (t *tally) count(by string) {
	t.all++
	switch by {
	case byMessage:
		t.message++
	case byProof:
		t.proof++
	case byWitness:
		t.witness++
	case equivalent:
		t.equivalent++
	default:
		t.survived++
	}
}

// killed is the number of mutants that were killed, and of those that are not equivalent.
func (t *tally) killed() (n, of int) {
	of = t.all - t.equivalent
	return of - t.survived, of
}

// score is the mutation score; without mutants it is one.
func (t *tally) score() float64 {
	n, of := t.killed()
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// rows are tallies by name, in the order of the names.
type rows map[string]*tally

func (r rows) count(name, by string) {
	if r[name] == nil {
		r[name] = &tally{}
	}
	r[name].count(by)
}

func (r rows) print(out io.Writer, title string) {
	names := slices.Sorted(maps.Keys(r))
	width := len(title)
	for _, n := range names {
		width = max(width, len(n))
	}
	fmt.Fprintf(out, "%-*s %6s %8s %6s %8s %10s %9s %8s\n", width, title, "all", "message", "proof", "witness", "equivalent", "survived", "score")
	for _, n := range names {
		t := r[n]
		fmt.Fprintf(out, "%-*s %6d %8d %6d %8d %10d %9d %6.1f %%\n", width, n, t.all, t.message, t.proof, t.witness, t.equivalent, t.survived, 100*t.score())
	}
}

// report prints the tables, and reports whether the score is high enough.
func report(out io.Writer, outcomes []outcome) bool {
	pages, kinds := rows{}, rows{}
	var sum tally
	for _, f := range outcomes {
		if f.Page != "" {
			pages.count(f.Page, f.KilledBy)
		}
		kinds.count(f.Kind+" in "+f.Where, f.KilledBy)
		sum.count(f.KilledBy)
	}
	pages.print(out, "page")
	kinds.print(out, "mutant")
	n, of := sum.killed()
	fmt.Fprintf(out, "%d of %d mutants killed, %.1f %%; %d equivalent\n", n, of, 100*sum.score(), sum.equivalent)
	return sum.score() >= wantedScore
}

// printOutcome prints a mutant and its outcome.
func printOutcome(out io.Writer, f outcome) {
	detail, _, _ := strings.Cut(f.Detail, "\n")
	fmt.Fprintf(out, "%-10s %s  %s\n", cmp.Or(f.KilledBy, "survived"), f.What, detail)
}
