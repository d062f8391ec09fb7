package main

import (
	"fmt"
	"io"
	"slices"
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

// report prints the table, and says whether enough was caught.
func report(out io.Writer, fates []fate, verbose bool) bool {
	rows := map[string]*tally{}
	var sum tally
	var kinds []string
	for _, f := range fates {
		key := f.Kind + " in " + f.Where
		if rows[key] == nil {
			rows[key] = &tally{}
			kinds = append(kinds, key)
		}
		rows[key].count(f.By)
		sum.count(f.By)
		if verbose {
			fmt.Fprintf(out, "%-9s %s  %s\n", f.By, f.What, f.Detail)
		}
	}
	slices.Sort(kinds)
	fmt.Fprintf(out, "%-28s %6s %8s %6s %8s %6s %9s\n", "broken", "all", "message", "proof", "witness", "equal", "survived")
	line := func(name string, t *tally) {
		fmt.Fprintf(out, "%-28s %6d %8d %6d %8d %6d %9d\n", name, t.all, t.message, t.proof, t.witness, t.equal, t.survived)
	}
	for _, k := range kinds {
		line(k, rows[k])
	}
	line("all", &sum)
	counted := sum.all - sum.equal
	share := 1.0
	if counted > 0 {
		share = float64(counted-sum.survived) / float64(counted)
	}
	fmt.Fprintf(out, "%d of %d breaks caught, %.1f %%; %d changed nothing\n", counted-sum.survived, counted, 100*share, sum.equal)
	return share >= wanted
}
