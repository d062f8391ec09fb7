// Command tablegen prints the tables of the portable arithmetic, package runtime/num.
//
//	go run ./internal/tablegen > runtime/num/internal/table/table.go
//
// Every entry is computed with math/big and rounded once, so the tables do
// not depend on the machine that printed them; a test prints them again and
// compares.
package main

import "os"

func main() {
	if err := Print(os.Stdout); err != nil {
		os.Stderr.WriteString("tablegen: " + err.Error() + "\n")
		os.Exit(1)
	}
}
