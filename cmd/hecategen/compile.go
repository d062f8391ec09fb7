package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

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

// dumpLowered prints what a unit's kernels have become after a late stage.
func dumpLowered(s *gen.Source, u *notation.Unit, stage string, out io.Writer) error {
	pu, ds := gen.CompileUnit(s, u)
	if ds.HasErrors() {
		return &ds
	}
	if pu == nil {
		return fmt.Errorf("%s is not emitted on its own", u.Name.Text)
	}
	list := emitgo.KernelFiles([]*plan.Unit{pu})
	if stage == "plan" {
		eachKernel(list, func(k *plan.Kernel) { fmt.Fprintln(out, k) })
		return nil
	}
	assembly := gen.Assembly(list)
	switch stage {
	case "fused":
		eachKernel(list, func(k *plan.Kernel) {
			if k.Fused == nil {
				fmt.Fprintf(out, "; kernel %s has no fused arithmetic: its sums over rows or lanes have no order by blocks\n\n", k.Name)
				return
			}
			fmt.Fprintln(out, k.Fused)
		})
	case "asm":
		dumpFiles(pu, assembly, ".s", out)
	default:
		dumpFiles(pu, emitgo.Files([]*plan.Unit{pu}), ".go", out)
	}
	return nil
}

func eachKernel(files []plan.KernelFile, f func(*plan.Kernel)) {
	for _, file := range files {
		for _, k := range file.Kernels {
			f(k)
		}
	}
}

// dumpFiles prints the files of a unit's package with an ending, each under its
// name.
func dumpFiles(pu *plan.Unit, files map[string][]byte, ending string, out io.Writer) {
	dir, _ := emitgo.Package(pu)
	for _, n := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(n, dir+"/") && strings.HasSuffix(n, ending) {
			fmt.Fprintf(out, "-- %s --\n%s", n, files[n])
		}
	}
}
