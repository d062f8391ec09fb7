// Package bits holds the parameters of small models, after eight updates, to the
// bits that they had when the table was written.
//
// A change of the compiler or the runtime that is not meant to change numbers must
// leave testdata/bits.txt as it is. One that is meant to must also raise the version
// of the arithmetic (runtime/cpu), so that older checkpoints are refused by name.
// UPDATE=1 rewrites the table, and fails.
package bits

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

const table = "testdata/bits.txt"

// 67 tokens are more than a segment and 24 entries more than a vector, and neither is
// a multiple of one.
const (
	width, tokens, slots, steps = 24, 67, 2, 8
	vocabulary                  = 29
)

// formulas are the models of the pages, and each rule in two compositions.
func formulas() []string {
	out := registry.Models()
	for _, rule := range registry.Rules() {
		out = append(out, "ByteLM(MAG("+rule+", SlidingWindow))", "ByteLM(MAC("+rule+"))")
	}
	return out
}

func TestBits(t *testing.T) {
	text, err := os.ReadFile(table)
	if err != nil && os.Getenv("UPDATE") == "" {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		want[strings.TrimSuffix(line, "\n")] = true
	}
	var now strings.Builder
	all := 0
	for _, level := range slices.Compact([]cpu.Target{cpu.Portable, cpu.Best()}) {
		restore, err := cpu.Force(level)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range formulas() {
			all++
			t.Run(level.Arithmetic()+"/"+f, func(t *testing.T) {
				line := fmt.Sprintf("%s %016x %s", level.Arithmetic(), digest(t, f), f)
				fmt.Fprintln(&now, line)
				if os.Getenv("UPDATE") == "" && !want[line] {
					t.Errorf("not in %s: %s", table, line)
				}
			})
		}
		restore()
	}
	if os.Getenv("UPDATE") != "" && now.String() != string(text) && strings.Count(now.String(), "\n") == all {
		if err := os.WriteFile(table, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s: rewritten", table)
	}
}

// digest builds a model for a few steps and returns the hash of its parameters.
func digest(t *testing.T, formula string) uint64 {
	t.Helper()
	sizes := block.NewSizes(map[string]int{"V": vocabulary, "d": width}).Else(func(name string) int {
		if name == "H" {
			return 2
		}
		return width
	})
	model, err := registry.NewModel[float32](formula, sizes)
	if err != nil {
		t.Fatalf("%s: %v", formula, err)
	}
	c := module.Config[float32]{Model: model, Seed: 5}
	if c.Update, err = registry.NewUpdate[float32]("AdamW"); err != nil {
		t.Fatal(err)
	}
	if c.Buffer, err = registry.NewUpdate[float32]("ErrorBuffer"); err != nil {
		t.Fatal(err)
	}
	m, err := module.New(c)
	if err != nil {
		t.Fatalf("%s: %v", formula, err)
	}
	ids := make([]int32, 1000)
	for i := range ids {
		ids[i] = int32((i*i + 3*i) % vocabulary)
	}
	source, err := stream.NewTokens("bits", vocabulary, ids)
	if err != nil {
		t.Fatal(err)
	}
	in, err := stream.New(stream.Whole(source), slots)
	if err != nil {
		t.Fatal(err)
	}
	s, err := module.NewSession(m, in, pulse.Schedule{Unit: pulse.Chunks, Periods: []int{1, 2, 4, 8}}, pulse.Build)
	if err != nil {
		t.Fatalf("%s: %v", formula, err)
	}
	for range steps {
		if _, err := s.Step(tokens); err != nil {
			t.Fatalf("%s: %v", formula, err)
		}
	}
	return m.Params().Hash()
}
