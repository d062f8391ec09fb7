// Command kerngen writes what of package runtime/kern is printed: the elementary functions
// of the fused arithmetic in Go, and the assembly of moves and of the matrix product. It runs
// in the folder of that package, by go generate.
package main

import (
	"fmt"
	"os"

	"github.com/nl-hecate/hecate/gen/emitasm"
)

func main() {
	for name, text := range emitasm.Kern() {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			fmt.Fprintln(os.Stderr, "kerngen:", err)
			os.Exit(1)
		}
	}
}
