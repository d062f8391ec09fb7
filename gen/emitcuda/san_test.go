package emitcuda_test

import (
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/internal/cudashim"
)

// TestSanitizers runs recurrences, whose threads share memory, under the address
// and the thread sanitizer: with rows in threads, and in phases.
func TestSanitizers(t *testing.T) {
	cudashim.Need(t)
	if testing.Short() {
		t.Skip("a C++ compiler takes a minute")
	}
	ps := slices.DeleteFunc(load(t), func(p *program) bool { return p.unit.Kind != plan.RuleUnit })
	ps = append(ps, oddExamples(t)...)
	for _, mode := range []cudashim.Mode{cudashim.ASan, cudashim.TSan} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			bin, err := cudashim.Build(mode, sourcesOf(texts(ps), 2)...)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range ps {
				x := newTrial(t, p, positive)
				x.oracle()
				x.shuffled = false
				x.run(bin, true)
			}
		})
	}
}
