// Command hecategen compiles specification pages: it reads equations in
// markdown, types and differentiates them, proves what they claim and writes
// the Go that computes them.
//
// `hecategen help` lists the commands. The exit status is 0 for success,
// 1 for errors in the pages, drift or a failed proof, 2 for an error in the
// command line, and 3 for a failure of the compiler.
package main

import (
	"os"
	"runtime/debug"
)

// gcPercent is how far the heap grows between collections. A command lives for
// seconds; with 100 a third of the time of generate was garbage collection.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
