// Command mutate measures the proof by mutation testing: it changes the pages one token
// at a time and the table of local derivatives row by row, and counts the mutants that
// are killed.
//
//	mutate [-specs DIR] [-vectors DIR] [-list FILE] [-page TEXT] [-unit NAME] [-every N] [-v]
//
// With -page only pages are changed whose path contains the text, with -unit one
// unit alone:
//
//	mutate -page rules/yaad.md
//	mutate -page knobs/retention -v
//	mutate -unit DeltaRule
//
// takes seconds to minutes, because only the units that the mutants can reach are proved
// first; a knob reaches the rules that are made with it, the front all of them.
//
// A mutant is killed by a diagnostic, by a failed item of the proof, or by a difference
// from a witness, numbers from outside of the project. A mutant that changes neither the
// normal form nor the numbers of any program is equivalent and does not count; nor does
// one that changes neither side of a statement. The mutation score of a page is the share
// of its other mutants that are killed. The command prints the survivors with the reasons
// of survivors.txt, the scores of the pages and those of the kinds of mutants, and exits
// with 1 when the score of all mutants is below 95 %.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
)

// wantedScore is the mutation score below which the command fails.
const wantedScore = 0.95

func main() {
	specs := flag.String("specs", "specs", "the pages")
	vectors := flag.String("vectors", "validation/oracle/vectors", "the numbers from outside")
	list := flag.String("list", "gen/prove/testdata/witness.txt", "the list of the units and their numbers")
	var of selection
	flag.StringVar(&of.page, "page", "", "change only pages whose path contains this")
	flag.StringVar(&of.unit, "unit", "", "change only this unit")
	verbose := flag.Bool("v", false, "print every mutant and its outcome, as it comes")
	flag.IntVar(&of.every, "every", 1, "change only every n-th token of a page, for an estimate")
	flag.Parse()
	w, err := newBaseline(*specs, *vectors, *list)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	var each func(outcome)
	if *verbose {
		each = func(f outcome) { printOutcome(os.Stdout, f) }
	}
	outcomes, err := w.runPages(of, runtime.GOMAXPROCS(0), each)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if of.all() {
		outcomes = append(outcomes, w.runTable()...)
	}
	survivors(os.Stdout, outcomes, reasons(explained), of.all())
	if !report(os.Stdout, outcomes) {
		os.Exit(1)
	}
}
