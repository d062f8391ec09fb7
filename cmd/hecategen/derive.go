package main

import (
	"fmt"
	"io"

	"github.com/nl-hecate/hecate/gen"
)

func deriveCommand() *command {
	c := newCommand("derive", "NAME", "print a derived backward in the page's notation", `
Print the adjoints of a rule's step, or of an operation, as equations in the
notation of the page: bars for adjoints, Σ and indices where no matrix form is
recognised. For a rule the inner gradients come first.`, 1, 1)
	specs := c.flags.String("specs", specsDir, "`folder` of the pages")
	ascii := c.flags.Bool("ascii", false, "spell everything in ASCII")
	c.run = func(args []string, out, err io.Writer) int {
		s, ds := gen.Load(*specs)
		if ds.HasErrors() {
			return report(ds, err)
		}
		u := unit(s, args[0], err)
		if u == nil {
			return bad
		}
		_ = ascii
		fmt.Fprintln(err, "hecategen: derive: not built yet")
		return bad
	}
	return c
}
