package main

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/diag"
)

func main() {
	s, ds := gen.Load("bench/page")
	fmt.Print(diag.Render(ds.Sorted()))
	us, ds := gen.Compile(s)
	fmt.Print(diag.Render(ds.Sorted()))
	for _, u := range us {
		fmt.Println(u.Name, u.Stages[0].Pair.Fwd, u.Stages[0].Pair.Bwd)
	}
}
