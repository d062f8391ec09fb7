// Command mutate measures the proof: it breaks the pages one token at a time
// and the table of local derivatives row by row, and counts how much of that
// is noticed.
//
//	mutate [-specs DIR] [-vectors DIR] [-list FILE] [-unit NAME] [-v]
//
// A break is caught by a diagnostic, by a failed item of the proof, or by a
// difference from numbers that came from outside. One that changes neither the
// normal form nor the numbers of any program is no break and does not count.
// The command prints the survivors with the reasons of survivors.txt, then what
// was caught by what, and exits with 1 when fewer than 95 of a hundred were caught.
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
	vectors := flag.String("vectors", "oracle/vectors", "the numbers from outside")
	list := flag.String("list", "gen/prove/testdata/witness.txt", "which numbers hold which unit")
	unit := flag.String("unit", "", "break only this unit")
	verbose := flag.Bool("v", false, "print every break and its fate")
	flag.Parse()
	w, err := newWorld(*specs, *vectors, *list)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	fates := w.judgePages(*unit, runtime.GOMAXPROCS(0))
	if *unit == "" {
		fates = append(fates, w.judgeTable()...)
	}
	survivors(os.Stdout, fates, reasons(explained), *unit == "")
	if !report(os.Stdout, fates, *verbose) {
		os.Exit(1)
	}
}
