// Command hecategen compiles specification pages: it reads equations in
// markdown, types and differentiates them, proves what they claim and writes
// the Go that computes them.
//
// `hecategen help` lists the commands. The exit status is 0 when all is well,
// 1 when the input is not (diagnostics, drift, a failed proof), 2 when the
// command line cannot be understood, and 3 when the compiler itself failed.
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
