package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/nl-hecate/hecate/gen"
)

// A command that takes more than a second reports its progress: on a terminal in one line
// that changes, elsewhere in a line every few seconds. With -v each result of each unit
// has a line of its own: whether it is from the cache, or why not.

// quiet is the time before the first report, pause that between two lines that stay.
const (
	quiet = time.Second
	pause = 5 * time.Second
)

// verboseFlag adds -v.
func verboseFlag(flags *flag.FlagSet) *bool {
	return flags.Bool("v", false, "print every result of every unit, and whether it is from the cache or why not")
}

// watch reports the progress of what is compiled in the workspace until end is called.
func (w *workspace) watch(err io.Writer, verbose bool) (end func()) {
	w.conf.Seen, end = progress(err, verbose)
	return end
}

// progress returns a listener and what ends its line.
func progress(w io.Writer, verbose bool) (seen func(gen.Event), end func()) {
	if verbose {
		return func(e gen.Event) {
			what := "computed"
			switch {
			case e.Cached:
				what = "from the cache"
			case e.Why != "":
				what += ": " + e.Why
			}
			fmt.Fprintf(w, "%*d/%d %s %s: %s\n", len(fmt.Sprint(e.All)), e.Done, e.All, e.Unit, e.Stage, what)
		}, func() {}
	}
	f, isFile := w.(*os.File)
	terminal := isFile && term.IsTerminal(int(f.Fd()))
	var mu sync.Mutex
	start, last, shown := time.Now(), time.Time{}, false
	seen = func(e gen.Event) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		switch {
		case now.Sub(start) < quiet:
		case terminal:
			fmt.Fprintf(w, "\r\x1b[K%d of %d: %s of %s", e.Done, e.All, e.Stage, e.Unit)
			shown = true
		case now.Sub(last) >= pause:
			fmt.Fprintf(w, "%d of %d: %s of %s\n", e.Done, e.All, e.Stage, e.Unit)
			last = now
		}
	}
	return seen, func() {
		if shown {
			fmt.Fprint(w, "\r\x1b[K")
		}
	}
}
