package emitcuda_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/internal/cudashim"
)

// written makes a program of the text of one, which no page says yet.
func written(t *testing.T, f *ir.Func, sizes map[string]int) *program {
	t.Helper()
	p := &program{name: f.Name, unit: &abi.Unit{Kind: abi.RuleUnit}, blk: &check.Block{Unit: &notation.Unit{}}, f: f, other: sizes}
	p.lower(t)
	return p
}

// TestSystems holds triangular systems to the interpreter.
func TestSystems(t *testing.T) {
	cudashim.Need(t)
	for _, sizes := range []map[string]int{{"B": 1, "c": 1, "d": 1}, {"B": 3, "c": 9, "d": 5}, {"B": 2, "c": 33, "d": 131}} {
		runAll(t, []*program{written(t, irtest.Triangular(), sizes)}, positive)
	}
}

// TestChunk holds recurrences over chunks of tokens to the interpreter.
func TestChunk(t *testing.T) {
	cudashim.Need(t)
	for _, make := range []func() *ir.Func{irtest.Chunk, irtest.Momentum, irtest.Linear} {
		for _, sizes := range []map[string]int{{"C": 1, "d_k": 1, "d_v": 1}, {"C": 5, "d_k": 7, "d_v": 35}, {"C": 33, "d_k": 31, "d_v": 5}} {
			p := written(t, make(), sizes)
			if p.fwd.Kernel.Segment != "" || p.bwd.Kernel.Segment != "" {
				t.Errorf("%s: a chunk is computed again from checkpoints", p.name)
			}
			runAll(t, []*program{p}, 1, positive)
		}
	}
}
