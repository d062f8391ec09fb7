package zero

import (
	"errors"
	"os"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/update"
)

const stableSteps = 60

// TestUpdatesOfMatricesStayFinite builds two small models with every update of matrices, at a
// rate below their defaults and one above. Without its bound, a step of AdaMuonUS is about the
// rate over the gradient, which ends with a NaN here.
func TestUpdatesOfMatricesStayFinite(t *testing.T) {
	for _, formula := range []string{"ZeroB", "StackLM([PreNorm(MAG(DeltaRule, SlidingWindow)), PreNorm(MAG(TitansLMM, SlidingWindow))])"} {
		for _, name := range []string{"Muon", "AdaMuon", "AdaMuonPlain", "AdaMuonUS", "M3", "M3PaperSums"} {
			for _, rate := range []float64{2e-3, 3e-2} {
				u, err := registry.NewUpdate[float32](name)
				if err == nil {
					err = u.Set("lr", rate)
				}
				if err == nil {
					err = advance(t, formula, u)
				}
				if err != nil {
					t.Errorf("%s, %s at %g: %v", formula, name, rate, err)
				}
			}
		}
	}
	u, err := registry.NewUpdate[float32]("AdaMuonUS")
	if err == nil {
		err = u.Set("bound", 1e30)
	}
	if err != nil {
		t.Fatal(err)
	}
	var number *module.BadNumber
	if err := advance(t, "ZeroB", u); !errors.As(err, &number) {
		t.Errorf("AdaMuonUS without a bound: %v, want a number that is not finite", err)
	}
}

// advance makes the steps of a model of width 32.
func advance(t *testing.T, formula string, u update.Update[float32]) error {
	t.Helper()
	m, err := registry.NewModel[float32](formula, block.NewSizes(map[string]int{"V": 256}).Else(func(name string) int {
		return map[string]int{"d": 32, "d_k": 32, "d_v": 32, "d_h": 16, "H": 2, "w": 32}[name]
	}))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(curveText)
	if err != nil {
		t.Fatal(err)
	}
	source, err := stream.FromDocuments("text", text)
	if err != nil {
		t.Fatal(err)
	}
	in, err := stream.New(stream.Whole(source), curveBatch)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := module.New(module.Config[float32]{Model: m, Update: u, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := module.NewSession(mod, in, pulse.Schedule{Unit: pulse.Chunks, Periods: []int{1}}, pulse.Build)
	for n := 0; err == nil && n < stableSteps; n++ {
		_, err = s.Step(curveT)
	}
	return err
}
