package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// TestTrials holds every form of every rule, and the C of it, to float64, at a
// width that is not measured.
func TestTrials(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	var rivals []rival
	c, err := startCC[float32]("../..", t.TempDir())
	switch {
	case errors.Is(err, errNoCC):
		t.Log(err)
	case err != nil:
		t.Fatal(err)
	default:
		rivals = append(rivals, rival{variantC, c.peer})
		defer func() {
			if err := c.close(); err != nil {
				t.Error(err)
			}
		}()
	}
	for _, m := range family {
		far := map[string]difference{}
		if _, err := newTrial(m, m.length(70, 24), 24, rivals, 1, far); err != nil {
			t.Error(err)
		}
		if len(far) != len(forms[float32](m.name))+len(rivals) {
			t.Errorf("%s: %d variants were compared", m.name, len(far))
		}
	}
}

// BenchmarkRule runs a pass of each form of each rule at a width, for a profile.
func BenchmarkRule(b *testing.B) {
	const d = 128
	for _, m := range family {
		for _, f := range forms[float32](m.name) {
			bench(b, m, f, d)
		}
	}
}

// bench runs the passes of one form.
func bench(b *testing.B, m member, f form[float32], d int) {
	for _, pass := range passNames {
		b.Run(m.name+"/"+f.name+"/"+pass, func(b *testing.B) {
			x := bind(f, m.length(tokens, d), d, m.segment(), m.draw(m.length(tokens, d), d, rand.New(rand.NewPCG(1, 2))))
			run := x.forward
			if pass == backward {
				x.forward.Run()
				run = x.backward
			}
			for b.Loop() {
				run.Run()
			}
		})
	}
}

// BenchmarkHeads steps a whole rule forward and back, projections and all: in one head,
// and in several of the same width together.
func BenchmarkHeads(b *testing.B) {
	const d, batch, steps = 128, 1, 512
	for _, name := range []string{"Delta", "Titans"} {
		one := map[string]string{"Delta": "DeltaRule", "Titans": "TitansLMM"}[name]
		b.Run(name+"/rule", func(b *testing.B) { stepRule(b, one, map[string]int{"d_k": d}, d, batch, steps) })
		for _, heads := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("%s/heads=%d", name, heads), func(b *testing.B) {
				stepRule(b, name+"Heads", map[string]int{"heads": heads, "d_k": d / heads}, d, batch, steps)
			})
		}
	}
}

// stepRule measures calls of a rule and their way back.
func stepRule(b *testing.B, name string, sizes map[string]int, width, batch, steps int) {
	rule, err := registry.NewRule[float32](name, block.NewSizes(sizes), width)
	if err != nil {
		b.Fatal(err)
	}
	var params context.ParamSet[float32]
	if err := rule.Declare(&params, ""); err != nil {
		b.Fatal(err)
	}
	params.Fill(1)
	x := make([]float32, batch*steps*width)
	for i := range x {
		x[i] = float32(i%7)/7 - 0.5
	}
	m, now := rule.NewMemory(batch), pulse.First(pulse.Build)
	var arena tape.Arena[float32]
	for b.Loop() {
		err := tape.With(&arena, now, func(r *tape.Run[float32]) error {
			y, err := rule.Step(block.Call[float32]{Run: r, Pulse: now, Batch: batch, Tokens: steps}, block.Bind(r, params.View()), m, r.Input(x))
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
