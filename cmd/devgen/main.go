package main

import (
	"fmt"
	"os"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/diag"
)

func main() {
	r, ds, err := gen.Generate(gen.Config{Root: ".", Specs: []string{"specs"}})
	fmt.Print(diag.Render(ds.Sorted()))
	fmt.Println(len(r.Written), "written", len(r.Removed), "removed", r.Kept, "kept", err)
	if err != nil || ds.HasErrors() {
		os.Exit(1)
	}
}
