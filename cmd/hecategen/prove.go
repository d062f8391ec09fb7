package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/nl-hecate/hecate/gen"
)

func defineProve(c *command) runFunc {
	deep := c.flags.Bool("deep", false, "more sizes, and trajectories of 10,000 steps")
	verbose := verboseFlag(c.flags)
	open := workspaceFlags(c)
	return func(args []string, out, err io.Writer) (int, error) {
		w, e := open.pages(args)
		if e != nil {
			return exitFailed, e
		}
		return w.prove(*deep, *verbose, out, err), nil
	}
}

// prove prints the verdict on every item of every chosen page, then how many of each
// there are.
func (w *workspace) prove(deep, verbose bool, out, err io.Writer) int {
	p, ds := gen.Open(w.conf)
	if status := report(ds, err); status != exitOK {
		return status
	}
	seen, end := progress(err, verbose)
	proof, ds := p.ProveOnly(deep, w.chosen, seen)
	end()
	for _, r := range slices.Concat(proof.Units, proof.Pages) {
		if len(r.Items) > 0 {
			fmt.Fprintln(out, r)
		}
	}
	fmt.Fprintln(out, proof.Totals())
	return report(ds, err)
}
