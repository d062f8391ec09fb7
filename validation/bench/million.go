package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/nl-hecate/hecate/runtime/pulse"
)

// A million tokens of one document are streamed, the memory carried through all of
// them, and each chunk is timed. Were anything kept that grows, or were numbers in the
// memory to go where arithmetic is slow, the last chunks would take longer than the
// first. command/internal/engine has the test that nothing is kept.

const (
	millionTokens = 1_000_000
	millionChunk  = 64
	millionPart   = millionTokens / millionChunk / 100 // chunks of a hundredth
)

// millionModels are the delta rule alone and as the fastest of four levels.
var millionModels = []string{modelName, "ByteLM(MAG(CMS([DeltaRule, DeltaRule, DeltaRule, DeltaRule]), SlidingWindow))"}

// lasted is what the chunks of a stream took, and the heap after the first hundredth
// and at the end.
type lasted struct {
	model     string
	wall, cpu []int64
	heap      [2]uint64
}

// millions streams through all models.
func millions(seed uint64) ([]lasted, error) {
	ids, err := prose(millionTokens)
	if err != nil {
		return nil, err
	}
	var out []lasted
	for _, name := range millionModels {
		s, err := session(name, pulse.Stream, 1, ids, seed)
		if err != nil {
			return nil, err
		}
		const chunks = millionTokens / millionChunk
		x := lasted{model: name, wall: make([]int64, 0, chunks), cpu: make([]int64, 0, chunks)}
		for i := range chunks {
			cpu, from := processNow(), time.Now()
			if _, err := s.Step(millionChunk); err != nil {
				return nil, fmt.Errorf("%s, chunk %d: %w", name, i, err)
			}
			x.wall, x.cpu = append(x.wall, time.Since(from).Nanoseconds()), append(x.cpu, processNow()-cpu)
			if i == millionPart {
				x.heap[0] = inUse()
			}
		}
		x.heap[1] = inUse()
		out = append(out, x)
	}
	return out, nil
}

// inUse is what is reachable in the heap.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// drift is the median of the last hundredth of the chunks over that of the second; the
// first one warms up.
func drift(ns []int64) string {
	first, last := ns[millionPart:2*millionPart], ns[len(ns)-millionPart:]
	return figures(median(last) / median(first))
}

// lasting prints the streams.
func (r *report) lasting(b *strings.Builder) {
	fmt.Fprintf(b, "%d tokens of one document in chunks of %d, d = %d, on all cores. Last ÷ first is the median of the last hundredth of\n"+
		"the chunks over that of the second hundredth.\n\n| model | tokens/s here | last ÷ first, wall | last ÷ first, processor time | heap, first and last, bytes |\n|---|---|---|---|---|\n",
		millionTokens, millionChunk, modelWidth)
	for _, x := range r.million {
		fmt.Fprintf(b, "| %s | %.0f | %s | %s | %d, %d |\n", x.model, millionChunk/median(x.wall)*1e9, drift(x.wall), drift(x.cpu), x.heap[0], x.heap[1])
	}
	b.WriteString("\n")
}
