package main

import (
	"fmt"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// BenchmarkHeads steps a whole rule forward and back, projections and all: in one head,
// and in several of the same width together.
func BenchmarkHeads(b *testing.B) {
	const d, lanes, steps = 128, 1, 512
	for _, name := range []string{"Delta", "Titans"} {
		one := map[string]string{"Delta": "DeltaRule", "Titans": "TitansLMM"}[name]
		b.Run(name+"/rule", func(b *testing.B) { stepRule(b, one, map[string]int{"d_k": d}, d, lanes, steps) })
		for _, heads := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("%s/heads=%d", name, heads), func(b *testing.B) {
				stepRule(b, name+"Heads", map[string]int{"heads": heads, "d_k": d / heads}, d, lanes, steps)
			})
		}
	}
}

// stepRule measures calls of a rule and their way back.
func stepRule(b *testing.B, name string, sizes map[string]int, width, lanes, steps int) {
	rule, err := registry.NewRule[float32](name, block.NewSizes(sizes), width)
	if err != nil {
		b.Fatal(err)
	}
	var params context.ParamSet[float32]
	if err := rule.Declare(&params, ""); err != nil {
		b.Fatal(err)
	}
	params.Fill(1)
	x := make([]float32, lanes*steps*width)
	for i := range x {
		x[i] = float32(i%7)/7 - 0.5
	}
	m, now := rule.NewMemory(lanes), pulse.First(pulse.Build)
	var arena tape.Arena[float32]
	for b.Loop() {
		err := tape.With(&arena, now, func(r *tape.Run[float32]) error {
			y, err := rule.Step(block.Call[float32]{Run: r, Pulse: now, Lanes: lanes, Steps: steps}, block.Bind(r, params.View()), m, r.Input(x))
			if err == nil {
				r.Tape.Seed(y, x)
				r.Tape.Reverse()
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
