package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/plan"
)

// dumpLowered prints what a unit's kernels have become after a late stage.
func dumpLowered(s *gen.Source, u *notation.Unit, stage string, out io.Writer) error {
	pu, ds := gen.CompileUnit(s, u)
	if ds.HasErrors() {
		return &ds
	}
	if pu == nil {
		fmt.Fprintf(out, "// %s %s is not emitted on its own\n", u.Kind, u.Name.Text)
		return nil
	}
	list := emitgo.KernelFiles([]*abi.Unit{pu})
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
		files, ds := gen.UnitFiles(s, u)
		if ds.HasErrors() {
			return &ds
		}
		dumpFiles(pu, files, ".go", out)
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
func dumpFiles(pu *abi.Unit, files map[string][]byte, ending string, out io.Writer) {
	dir, _ := emitgo.Package(pu)
	for _, n := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(n, dir+"/") && strings.HasSuffix(n, ending) {
			fmt.Fprintf(out, "-- %s --\n%s", n, files[n])
		}
	}
}
