package module_test

import (
	"fmt"

	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// Example makes a model of 6 tokens with a state of 3 numbers, and streams two chunks
// through a context, which carries the state from the first to the second. Parameters
// do not change.
func Example() {
	m, err := module.New(module.Config[float64]{Model: echo[float64]{v: 6, d: 3}, Seed: 1})
	if err != nil {
		panic(err)
	}
	memory, now := m.NewContext(1), pulse.First(pulse.Stream)
	for _, tokens := range [][]int32{{1, 2, 3, 4}, {4, 5, 0, 1}} {
		n := len(tokens) - 1 // each token is to be predicted from those before it
		var r module.Result
		r, memory, err = m.Process(stream.Chunk{Batch: 1, Tokens: n, Inputs: tokens[:n], Targets: tokens[1:]}, memory, now)
		if err != nil {
			panic(err)
		}
		now = now.Next(n)
		fmt.Println(r.Valid, "tokens predicted,", now.Position(), "read")
	}
	// Output:
	// 3 tokens predicted, 3 read
	// 3 tokens predicted, 6 read
}
