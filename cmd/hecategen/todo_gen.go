package main

import (
	"errors"
	"io"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/notation"
)

// What package gen does not offer yet. This file is to be replaced by calls:
// each function writes to out and returns an error only for what is wrong
// with the world; diagnostics are printed by the function itself.

var errNotBuilt = errors.New("not built yet")

// generate compiles the pages under specs and writes what they become; with
// dry set it writes nothing and reports drift.
func generate(specs []string, root string, dry bool, out, err io.Writer) (status int, e error) {
	return bad, errNotBuilt
}

// prove proves the pages under specs.
func prove(specs []string, deep bool, out, err io.Writer) (status int, e error) {
	return bad, errNotBuilt
}

// audit prints which equation became which symbol and which test holds it.
func audit(specs []string, root string, json bool, out, err io.Writer) (status int, e error) {
	return bad, errNotBuilt
}

// dumpLowered prints the plan or the Go of a unit.
func dumpLowered(s *gen.Source, u *notation.Unit, stage string, out io.Writer) error {
	return errNotBuilt
}
