package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/tree"
)

// generate compiles the pages under specs and writes what they become; with
// dry set it writes nothing and reports drift.
func generate(specs []string, root string, dry bool, out, err io.Writer) (status int, e error) {
	c := gen.Config{Root: root, Specs: specs, Memo: gen.MemoDir()}
	if dry {
		return drift(c, out, err)
	}
	r, ds, e := gen.Generate(c)
	if status := report(ds, err); status != fine || e != nil {
		return status, e
	}
	if r.Recovery != tree.Idle {
		fmt.Fprintf(out, "an interrupted run was %v first\n", r.Recovery)
	}
	fmt.Fprintf(out, "%s written, %d removed, %d current\n", plural(len(r.Written), "file"), len(r.Removed), r.Kept)
	return fine, nil
}

// drift compares the files on disk with what the pages say.
func drift(c gen.Config, out, err io.Writer) (status int, e error) {
	d, ds, e := gen.Check(c)
	if status := report(ds, err); status != fine || e != nil {
		return status, e
	}
	if d.None() {
		fmt.Fprintln(out, "generated files are current")
		return fine, nil
	}
	fmt.Fprint(err, d.String())
	fmt.Fprintln(err, "run hecategen generate")
	return bad, nil
}

// prove prints the verdict on every item of every page, then how many of each
// there are.
func prove(specs []string, deep bool, out, err io.Writer) (status int, e error) {
	s, ds := gen.Load(specs...)
	if status := report(ds, err); status != fine {
		return status, nil
	}
	p, ds := gen.Prove(s, deep)
	for _, r := range slices.Concat(p.Units, p.Pages) {
		if len(r.Items) > 0 {
			fmt.Fprintln(out, r)
		}
	}
	fmt.Fprintln(out, p.Totals())
	return report(ds, err), nil
}

// audit prints which equation became which symbol and which test holds it.
func audit(specs []string, root string, json bool, out, err io.Writer) (status int, e error) {
	a, ds := gen.Audit(gen.Config{Root: root, Specs: specs})
	if status := report(ds, err); status != fine {
		return status, nil
	}
	if json {
		return fine, a.JSON(out)
	}
	return fine, a.Text(out)
}

// dumpLowered prints the plan or the Go of a unit.
func dumpLowered(s *gen.Source, u *notation.Unit, stage string, out io.Writer) error {
	pu, ds := gen.CompileUnit(s, u)
	if ds.HasErrors() {
		return &ds
	}
	if pu == nil {
		return fmt.Errorf("%s is not emitted on its own", u.Name.Text)
	}
	if stage == "plan" {
		for _, st := range pu.Stages {
			for _, k := range []*plan.Kernel{st.Start.Fwd, st.Fwd, st.Bwd, st.Frozen.Fwd, st.Frozen.Bwd} {
				if k != nil {
					fmt.Fprintln(out, k)
				}
			}
		}
		return nil
	}
	files := emitgo.Files([]*plan.Unit{pu})
	var names []string
	dir, _ := emitgo.Package(pu)
	for n := range files {
		if len(n) > len(dir) && n[:len(dir)] == dir {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(out, "-- %s --\n%s", n, files[n])
	}
	return nil
}
