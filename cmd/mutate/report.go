package main

import (
	"fmt"
	"io"
	"slices"
)

// report prints the table and the survivors, and says whether enough was
// caught.
func report(out io.Writer, fates []fate, verbose bool) bool {
	type row struct{ total, message, proof, witness, equal, survived int }
	rows := map[string]*row{}
	var sum row
	count := func(r *row, by string) {
		r.total++
		switch by {
		case byMessage:
			r.message++
		case byProof:
			r.proof++
		case byWitness:
			r.witness++
		case equal:
			r.equal++
		default:
			r.survived++
		}
	}
	var kinds []string
	for _, f := range fates {
		key := f.Kind + " in " + f.Where
		if rows[key] == nil {
			rows[key] = &row{}
			kinds = append(kinds, key)
		}
		count(rows[key], f.By)
		count(&sum, f.By)
		if verbose {
			fmt.Fprintf(out, "%-9s %s  %s\n", f.By, f.What, f.Detail)
		}
	}
	slices.Sort(kinds)
	line := func(name string, r row) {
		fmt.Fprintf(out, "%-28s %6d %8d %6d %8d %6d %9d\n", name, r.total, r.message, r.proof, r.witness, r.equal, r.survived)
	}
	fmt.Fprintf(out, "%-28s %6s %8s %6s %8s %6s %9s\n", "broken", "all", "message", "proof", "witness", "equal", "survived")
	for _, k := range kinds {
		line(k, *rows[k])
	}
	line("all", sum)
	for _, f := range fates {
		if f.By == "" {
			fmt.Fprintf(out, "survived: %s (in a line of kind %s)\n", f.What, f.Where)
		}
	}
	counted := sum.total - sum.equal
	share := 1.0
	if counted > 0 {
		share = float64(counted-sum.survived) / float64(counted)
	}
	fmt.Fprintf(out, "%d of %d breaks caught, %.1f %%; %d changed nothing\n", counted-sum.survived, counted, 100*share, sum.equal)
	return share >= wanted
}
