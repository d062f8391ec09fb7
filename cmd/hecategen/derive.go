package main

import (
	"fmt"
	"io"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/derive"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

func defineDerive(c *command) runFunc {
	open := workspaceFlags(c)
	ascii := c.flags.Bool("ascii", false, "spell everything in ASCII")
	return func(args []string, out, err io.Writer) (int, error) {
		w, e := open(nil)
		if e != nil {
			return exitFailed, e
		}
		p, ds := gen.Open(w.conf)
		if ds.HasErrors() {
			return report(ds, err), nil
		}
		s := p.Source
		u := findUnit(s, args[0], err)
		if u == nil {
			return exitFailed, nil
		}
		if !gen.Standalone(u) {
			fmt.Fprintf(err, "hecategen: %s is %s, which has no backward of its own\n  help: name a rule that uses it, an operation, a composition or a model\n", args[0], units.KindName(u.Kind))
			return exitFailed, nil
		}
		b, ds := check.Instantiate(s.Tree, u)
		if b == nil || ds.HasErrors() {
			return report(ds, err), nil
		}
		d := derive.Of(b, &ds)
		if d == nil || ds.HasErrors() {
			return report(ds, err), nil
		}
		style := notation.Unicode
		if *ascii {
			style = notation.ASCII
		}
		fmt.Fprint(out, d.Text(style))
		return exitOK, nil
	}
}
