// Command cprinter prints the kernels of a unit as C99: a small target of the
// compiler, which shows what a target has to do. See README.md.
//
//	go run ./examples/cprinter DeltaRule > delta_rule.c
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/nl-hecate/hecate/gen"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: cprinter UNIT, in the folder of the module hecate")
		os.Exit(2)
	}
	src, ds := gen.Load("specs")
	if ds.HasErrors() {
		fmt.Fprintln(os.Stderr, ds)
		os.Exit(1)
	}
	functions, err := Unit(src, os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(File(functions))
}

// Unit prints all kernels of a unit of the pages.
func Unit(src *gen.Source, name string) ([]*Function, error) {
	u := src.Tree.Units[name]
	if u == nil {
		return nil, fmt.Errorf("no page defines %s", name)
	}
	unit, ds := gen.CompileUnit(src, u)
	if ds.HasErrors() {
		return nil, fmt.Errorf("%s: %v", name, ds)
	}
	if unit == nil {
		return nil, fmt.Errorf("%s is compiled where it is used", name)
	}
	var out []*Function
	for _, k := range unit.Kernels() {
		out = append(out, Print(k, unit.ID))
	}
	return out, nil
}

// File is a C file with the functions.
func File(functions []*Function) string {
	var b strings.Builder
	b.WriteString(header)
	for _, f := range functions {
		b.WriteString("\n" + f.Text)
	}
	return b.String()
}
