package main

import (
	"fmt"
	"io"

	"github.com/nl-hecate/hecate/gen/inspect"
)

// adjoints prints the verdicts on the tables of adjoints of a report.
func adjoints(r *inspect.Report, specs string, asJSON bool, out, err io.Writer) error {
	return fmt.Errorf("inspect -vjp: %w", errNotBuilt)
}
