package prove

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// TestKindsAreTotal: every kind of item has a row of the table, or is decided with another one.
func TestKindsAreTotal(t *testing.T) {
	with := map[proof.Kind]string{
		proof.Shape:     "before all else, when the programs are built",
		proof.Parameter: "with the adjoint of its program",
		proof.Eval:      "as an equality",
		proof.Adjoint:   "as an equality",
		proof.Relax:     "as an equality",
		proof.Erratum:   "by the claim that it names",
		proof.Header:    "by the lines that back it",
	}
	for k := proof.Shape; k <= proof.Approximation; k++ {
		rows := 0
		for _, row := range kinds {
			if row.item == k {
				rows++
			}
		}
		if (rows == 0) == (with[k] == "") {
			t.Errorf("%v has %d rows, and is decided %q", k, rows, with[k])
		}
	}
	for _, row := range kinds {
		if row.decides == "" || row.of == 0 || row.prove == nil {
			t.Errorf("a row of %v is not complete", row.item)
		}
	}
}
