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

func deriveCommand() *command {
	c := newCommand("derive", "[-ascii] NAME", "print a derived backward in the page's notation", `
Print the adjoints of a rule's step, of an operation, or of a composition or
model as equations in the notation of the page: bars for adjoints, products of
matrices where they are such, Σ and indices where they are not. Inner gradients
come first. Behind the word claim every line is one that the page could state,
and that would hold. A part of a composition is not looked into: what it gives
back is a call of its name with a bar, in a line that is a comment.`, 1, 1)
	open := workspaceFlags(c)
	ascii := c.flags.Bool("ascii", false, "spell everything in ASCII")
	c.run = func(args []string, out, err io.Writer) int {
		w, e := open(nil)
		if e != nil {
			return finish("derive", bad, e, err)
		}
		p, ds := gen.Open(w.conf)
		if ds.HasErrors() {
			return report(ds, err)
		}
		s := p.Source
		u := unit(s, args[0], err)
		if u == nil {
			return bad
		}
		if !gen.Standalone(u) {
			fmt.Fprintf(err, "hecategen: %s is %s, which has no backward of its own\n  help: name a rule that uses it, an operation, a composition or a model\n", args[0], units.KindName(u.Kind))
			return bad
		}
		b, ds := check.Instantiate(s.Tree, u)
		if b == nil || ds.HasErrors() {
			return report(ds, err)
		}
		d := derive.Of(b, &ds)
		if d == nil || ds.HasErrors() {
			return report(ds, err)
		}
		style := notation.Unicode
		if *ascii {
			style = notation.ASCII
		}
		fmt.Fprint(out, d.Text(style))
		return fine
	}
	return c
}
