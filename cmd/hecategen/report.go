package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/project"
)

// report prints errors and warnings and returns the exit status: notes are for
// inspect, which prints everything.
func report(ds diag.List, err io.Writer) int {
	var shown []diag.Diagnostic
	for _, d := range ds.Sorted() {
		if d.Severity != diag.Note {
			shown = append(shown, d)
		}
	}
	fmt.Fprint(err, diag.Render(shown))
	if failure(shown, err) {
		return exitInternal
	}
	if ds.HasErrors() {
		fmt.Fprintf(err, "%s\n", tally(shown))
		return exitFailed
	}
	return exitOK
}

// tally is "2 errors, 1 warning".
func tally(shown []diag.Diagnostic) string {
	n := map[diag.Severity]int{}
	for _, d := range shown {
		n[d.Severity]++
	}
	s := plural(n[diag.Error], "error")
	if n[diag.Warning] > 0 {
		s += ", " + plural(n[diag.Warning], "warning")
	}
	return s
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// issues is where a failure of the compiler is reported.
const issues = "https://" + project.Library + "/issues"

// failure writes a report where one of the diagnostics is a failure of the compiler, and
// prints where to send it.
func failure(shown []diag.Diagnostic, err io.Writer) bool {
	var stacks []string
	for _, d := range shown {
		if d.Stack != "" {
			stacks = append(stacks, d.Text+"\n"+d.Stack)
		}
	}
	if len(stacks) == 0 {
		return false
	}
	send(strings.Join(stacks, "\n"), err)
	return true
}

// send puts a report of a failure into a file.
func send(text string, err io.Writer) {
	f, e := os.CreateTemp("", "hecategen-failure-*.txt")
	if e == nil {
		_, e = fmt.Fprintf(f, "%s\n%s\n%s\n", versionLine(), strings.Join(os.Args, " "), text)
		if closed := f.Close(); e == nil {
			e = closed
		}
	}
	if e != nil {
		fmt.Fprintf(err, "%s\nhecategen: the compiler failed; please send the lines above and the page to %s\n", text, issues)
		return
	}
	fmt.Fprintf(err, "hecategen: the compiler failed; please send %s and the page to %s\n", f.Name(), issues)
}

// guarded runs a command. A panic that nothing else caught is a failure of the
// compiler too.
func guarded(err io.Writer, run func() int) (status int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(err, "hecategen: %s: %v\n", diag.Internal, r)
			send(fmt.Sprintf("%v\n%s", r, debug.Stack()), err)
			status = exitInternal
		}
	}()
	return run()
}
