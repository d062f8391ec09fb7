package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// A tally counts fates by what caught them.
type tally struct{ all, message, proof, witness, equal, survived int }

func (t *tally) count(by string) {
	t.all++
	switch by {
	case byMessage:
		t.message++
	case byProof:
		t.proof++
	case byWitness:
		t.witness++
	case equal:
		t.equal++
	default:
		t.survived++
	}
}

// caught is how many of the breaks that changed something were noticed.
func (t *tally) caught() (n, of int) {
	of = t.all - t.equal
	return of - t.survived, of
}

// share is the score; of nothing it is one.
func (t *tally) share() float64 {
	n, of := t.caught()
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
	fmt.Fprintf(out, "%-*s %6s %8s %6s %8s %6s %9s %8s\n", width, title, "all", "message", "proof", "witness", "equal", "survived", "score")
	for _, n := range names {
		t := r[n]
		fmt.Fprintf(out, "%-*s %6d %8d %6d %8d %6d %9d %6.1f %%\n", width, n, t.all, t.message, t.proof, t.witness, t.equal, t.survived, 100*t.share())
	}
}

// report prints the tables, and says whether enough was caught.
func report(out io.Writer, fates []fate) bool {
	pages, kinds := rows{}, rows{}
	var sum tally
	for _, f := range fates {
		if f.Page != "" {
			pages.count(f.Page, f.By)
		}
		kinds.count(f.Kind+" in "+f.Where, f.By)
		sum.count(f.By)
	}
	pages.print(out, "page")
	kinds.print(out, "broken")
	n, of := sum.caught()
	fmt.Fprintf(out, "%d of %d breaks caught, %.1f %%; %d changed nothing\n", n, of, 100*sum.share(), sum.equal)
	return sum.share() >= wanted
}

// tell prints a break and its fate.
func tell(out io.Writer, f fate) {
	detail, _, _ := strings.Cut(f.Detail, "\n")
	fmt.Fprintf(out, "%-9s %s  %s\n", cmp.Or(f.By, "survived"), f.What, detail)
}
