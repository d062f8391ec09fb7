package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/nl-hecate/hecate/gen/sweep"
)

func defineSweep(c *command) runFunc {
	w := sweep.Sweep{Steps: []int{100, 1000}}
	dir := c.flags.String("o", outDir("sweep"), "`folder` of the report")
	c.flags.StringVar(&w.Over, "over", defaultFront, "`front`; a combination that does not fit it takes another")
	c.flags.IntVar(&w.Width, "d", 8, "`size` of every width in the runs")
	only := c.flags.String("only", "", "sweep only the formulas that match this regular `expression`, such as ^Matrix .* GD$")
	most := c.flags.Duration("for", time.Hour, "`time` after which no combination is started")
	open := workspaceFlags(c)
	return func(_ []string, out, err io.Writer) (int, error) {
		if w.Width < 1 {
			return c.misuse(err, "-d %d is no width", w.Width), nil
		}
		match, e := regexp.Compile(*only)
		if e != nil {
			return c.misuse(err, "-only: %v", e), nil
		}
		if why := oneLine([]string{w.Over}); why != "" {
			return c.misuse(err, "%s", why), nil
		}
		pages, e := open(nil)
		if e == nil {
			*dir, e = pages.output(c, *dir)
		}
		if e != nil {
			return exitFailed, e
		}
		w.Config = pages.conf
		start := time.Now()
		w.Only, w.Until, w.Store = match.MatchString, start.Add(*most), filepath.Join(*dir, "rows.jsonl")
		w.Seen = ticker(err, start)
		sum, left, ds, e := w.Run()
		if status := report(ds, err); status != exitOK || e != nil {
			return status, e
		}
		return swept(*dir, sum, left, time.Since(start), out, err)
	}
}

// swept writes the report and prints its summary.
func swept(dir string, sum sweep.Summary, left int, took time.Duration, out, err io.Writer) (status int, e error) {
	for name, write := range map[string]func(io.Writer) error{"knobs.md": sum.Markdown, "knobs.csv": sum.CSV} {
		f, e := os.Create(filepath.Join(dir, name))
		if e == nil {
			e = errors.Join(write(f), f.Close())
		}
		if e != nil {
			return exitFailed, e
		}
	}
	fmt.Fprintf(out, "%s legal of %d; %d done in %s, %d failed\n", plural(sum.Legal, "combination"), sum.Combinations, len(sum.Rows), took.Round(time.Second), sum.Failed())
	fmt.Fprintln(out, sum.Verdict())
	fmt.Fprintf(out, "report: %s\n", filepath.Join(dir, "knobs.md"))
	if left > 0 {
		fmt.Fprintf(err, "hecategen: sweep: the time is over, and %d combinations are left; the same command goes on with them\n", left)
		return exitFailed, nil
	}
	if sum.Failed() > 0 || sum.Share() > sweep.Falsified {
		return exitFailed, nil
	}
	return exitOK, nil
}

// ticker prints the progress of a sweep twice a minute.
func ticker(w io.Writer, start time.Time) func(done, all int) {
	var mu sync.Mutex
	last := start
	return func(done, all int) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(last) > 30*time.Second {
			last = now
			fmt.Fprintf(w, "%d of %d combinations after %s\n", done, all, now.Sub(start).Round(time.Second))
		}
	}
}
