package ir_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
)

// TestEntrywise: what reads another entry, all entries or the number of entries cannot be joined.
func TestEntrywise(t *testing.T) {
	for body, want := range map[string]bool{
		"r [n] = lin i:n : x[i] + 2 a":            true,
		"r [n] = prod i:n : x[i] x[i] a":          true,
		"r [] = prod i:n : x[i] x[i]":             false,
		"r [n] = lin i:n : x[n - 1 - i]":          false,
		"r [] = size : n":                         false,
		"r [n] = iota i:n over i":                 false,
		"r [n] = softmax i:n over i : x[i]":       false,
		"r [n, n] = prod i:n j:n : x[i] x[j]":     false,
		"r [n] = lin i:n where i - 1 >= 0 : x[i]": false,
	} {
		f, err := ir.Parse("func f(\n  x: input real[n],\n  a: const real[]\n) {\n  axes n\n  " + body + "\n  return r = r\n}\n")
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if got := f.Entrywise(); got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
}
