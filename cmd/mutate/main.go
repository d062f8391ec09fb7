// Command mutate measures the proof: it breaks the pages one token at a time
// and the table of local derivatives row by row, and counts how much of that
// is noticed.
//
//	mutate [-specs DIR] [-vectors DIR] [-list FILE] [-page TEXT] [-unit NAME] [-every N] [-v]
//
// With -page only pages are broken whose path contains the text, with -unit one
// unit alone:
//
//	mutate -page rules/yaad.md
//	mutate -page knobs/retention -v
//	mutate -unit DeltaRule
//
// takes seconds to minutes, because only what the breaks can reach is proved
// first; a knob reaches the rules that are made with it, the front all of them.
//
// A break is caught by a diagnostic, by a failed item of the proof, or by a
// difference from numbers that came from outside. One that changes neither the
// normal form nor the numbers of any program is no break and does not count;
// nor does one of a statement whose two sides are what they were. The score
// of a page is the share of its other breaks that something caught.
// The command prints the survivors with the reasons of survivors.txt, then the
// scores of the pages, then what was caught by what, and exits with 1 when fewer
// than 95 of a hundred were caught over all that was broken.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
)

// wanted is the share of breaks that must be caught.
const wanted = 0.95

func main() {
	specs := flag.String("specs", "specs", "the pages")
	vectors := flag.String("vectors", "validation/oracle/vectors", "the numbers from outside")
	list := flag.String("list", "gen/prove/testdata/witness.txt", "which numbers hold which unit")
	var of choice
	flag.StringVar(&of.page, "page", "", "break only pages whose path contains this")
	flag.StringVar(&of.unit, "unit", "", "break only this unit")
	verbose := flag.Bool("v", false, "print every break and its fate, as it comes")
	flag.IntVar(&of.every, "every", 1, "break only every n-th token of a page, for an estimate")
	flag.Parse()
	w, err := newWorld(*specs, *vectors, *list)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	var each func(fate)
	if *verbose {
		each = func(f fate) { tell(os.Stdout, f) }
	}
	fates, err := w.judgePages(of, runtime.GOMAXPROCS(0), each)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if of.all() {
		fates = append(fates, w.judgeTable()...)
	}
	survivors(os.Stdout, fates, reasons(explained), of.all())
	if !report(os.Stdout, fates) {
		os.Exit(1)
	}
}
