package lower_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
	"github.com/nl-hecate/hecate/gen/lower"
	"github.com/nl-hecate/hecate/gen/plan"
)

// TestChunkPlans has the plans of a chunk of the delta rule.
func TestChunkPlans(t *testing.T) {
	fwd, bwd, err := lower.Pair(autodiff.NewPair(irtest.Chunk()))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "chunk", fwd)
	golden(t, "chunk_backward", bwd)
}

// TestChunksStayWhole wants of every step that takes several tokens at once that
// it is products, that its rows are not taken apart, that no state is computed
// again, and that states are overwritten where they lie.
func TestChunksStayWhole(t *testing.T) {
	for _, c := range []struct {
		f        *ir.Func
		fwd, bwd int // products
	}{{irtest.Chunk(), 6, 12}, {irtest.Momentum(), 9, 18}, {irtest.Linear(), 5, 10}} {
		fwd, bwd, err := lower.Pair(autodiff.NewPair(c.f))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []struct {
			*plan.Kernel
			products int
		}{{fwd, c.fwd}, {bwd, c.bwd}} {
			text := k.String()
			if n := strings.Count(text, "gemm "); n != k.products {
				t.Errorf("%s has %d products, want %d:\n%s", k.Name, n, k.products, text)
			}
			for _, bad := range []string{"row ", "segment ", ".trail"} {
				if strings.Contains(text, bad) {
					t.Errorf("%s has %q:\n%s", k.Name, bad, text)
				}
			}
			for _, b := range k.Work {
				if n := len(b.Dims); b.Role == plan.Work && n > 3 {
					t.Errorf("%s keeps %s for all tokens", k.Name, b)
				}
			}
		}
	}
	// One token's rule keeps its rows.
	if k, err := lower.Func(read(t, "delta")); err != nil || !strings.Contains(k.String(), "row ") {
		t.Errorf("the delta rule of single tokens has no rows: %v", err)
	}
}
