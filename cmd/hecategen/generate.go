package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/tree"
)

func defineGenerate(c *command) runFunc {
	dry := c.flags.Bool("n", false, "write nothing; exit 1 when files would change")
	verbose := verboseFlag(c.flags)
	stats := c.flags.Bool("stats", false, "compute everything anew, one unit at a time, and print the time and the allocated memory of each pass")
	return func(_ []string, out, err io.Writer) (int, error) {
		w, e := openProject()
		if e != nil {
			return exitFailed, e
		}
		if *stats {
			w.conf.Cache, w.conf.Stats = "", &gen.Stats{}
		}
		status, e := w.generate(*dry, *verbose, out, err)
		if *stats {
			passes(w.conf.Stats, out)
		}
		return status, e
	}
}

// passes prints a table of the time and the allocated memory of each pass.
func passes(s *gen.Stats, out io.Writer) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(p gen.PassStats) {
		const mega = 1e6
		fmt.Fprintf(t, "%-12s\t%d\t%.3f s\t%.1f MB\t\n", p.Name, p.Runs, p.Time.Seconds(), float64(p.Bytes)/mega)
	}
	fmt.Fprintln(t, "pass        \truns\ttime\tallocated\t")
	total := gen.PassStats{Name: "total"}
	for _, p := range s.Passes {
		row(p)
		total.Runs, total.Time, total.Bytes = total.Runs+p.Runs, total.Time+p.Time, total.Bytes+p.Bytes
	}
	row(total)
	t.Flush()
}

// generate compiles the pages and writes the generated files; with dry set it writes
// nothing and reports drift.
func (w *workspace) generate(dry, verbose bool, out, err io.Writer) (status int, e error) {
	end := w.watch(err, verbose)
	if dry {
		d, ds, e := gen.Check(w.conf)
		end()
		if status := report(ds, err); status != exitOK || e != nil {
			return status, e
		}
		return drift(d, out, err), nil
	}
	r, ds, e := gen.Generate(w.conf)
	end()
	if status := report(ds, err); status != exitOK || e != nil {
		return status, e
	}
	if r.Recovery != tree.Idle {
		fmt.Fprintf(out, "an interrupted run was %v first\n", r.Recovery)
	}
	fmt.Fprintf(out, "%s written, %d removed, %d current\n", plural(len(r.Written), "file"), len(r.Removed), r.Kept)
	return exitOK, nil
}

// drift prints how the files on disk differ from those that the pages define.
func drift(d tree.Drift, out, err io.Writer) int {
	if d.None() {
		fmt.Fprintln(out, "generated files are current")
		return exitOK
	}
	fmt.Fprint(err, d.String())
	stray := len(d.Stray) > 0
	d.Stray = nil
	switch {
	case stray && d.None():
		fmt.Fprintln(err, "move or delete the stray files")
	case stray:
		fmt.Fprintln(err, "move or delete the stray files, then run hecategen generate")
	default:
		fmt.Fprintln(err, "run hecategen generate")
	}
	return exitFailed
}
