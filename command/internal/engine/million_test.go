package engine_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// A million tokens of one document go through a model in a stream, the memory
// carried through all of them. Now and then what is not reachable is collected and
// the heap is read.
const (
	looks, chunksBetween, millionChunk = 125, 125, 64
	million                            = looks * chunksBetween * millionChunk
	// heapDrift is by how much the heap of the last tenth may differ from that of the
	// first: what the runtime keeps for itself. One byte kept per token would be
	// thirteen times as much.
	heapDrift = 64 << 10
	// fewAllocations is how many there may be after the first look, those of the
	// collections and of the goroutines of the workers: far less than chunks.
	fewAllocations = looks * chunksBetween / 10
)

// TestMillion holds that a stream of a million tokens keeps nothing and allocates
// nothing for them, on all processors.
func TestMillion(t *testing.T) {
	if testing.Short() {
		t.Skip("a million tokens")
	}
	for _, name := range []string{"ZeroB", fourLevels[0]} {
		s, seen := long(t, name), make([]runtime.MemStats, looks)
		for i := range seen {
			for range chunksBetween {
				if _, err := s.Step(millionChunk); err != nil {
					t.Fatal(name, err)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&seen[i])
		}
		from, to := heap(seen[:looks/10]), heap(seen[looks-looks/10:])
		if drift := max(from, to) - min(from, to); !(drift <= heapDrift) {
			t.Errorf("%s: %d bytes are in use in the last tenth, %d in the first", name, to, from)
		}
		n, bytes := seen[looks-1].Mallocs-seen[0].Mallocs, seen[looks-1].TotalAlloc-seen[0].TotalAlloc
		if !(n <= fewAllocations) {
			t.Errorf("%s: %d allocations, %.3g bytes per token", name, n, float64(bytes)/million)
		}
		t.Logf("%s: heap %d bytes, then %d; %d allocations of %d bytes", name, from, to, n, bytes)
	}
}

// heap is the median of what is in use.
func heap(seen []runtime.MemStats) uint64 {
	var x []uint64
	for _, m := range seen {
		x = append(x, m.HeapAlloc)
	}
	slices.Sort(x)
	return x[len(x)/2]
}

// long is a session over one document of a million tokens, which begins no context
// anew.
func long(t *testing.T, name string) *module.Session[float32] {
	t.Helper()
	model, err := registry.NewModel[float32](name, block.NewSizes(map[string]int{"V": stream.Vocab}).Else(func(size string) int {
		if size == "H" || strings.HasSuffix(size, ".H") {
			return 2
		}
		return 16
	}))
	if err != nil {
		t.Fatal(err)
	}
	text, err := stream.FromDocuments("prose", []byte(strings.Repeat(prose, million/len(prose)+1)[:million]))
	if err != nil {
		t.Fatal(err)
	}
	s, err := stream.NewSession(stream.Whole(text), 1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := module.New(module.Config[float32]{Model: model, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	levels, _ := model.NewMemory(1).Levels()
	x, err := module.NewSession(m, s, pulse.Schedule{Periods: []int{1, 2, 4, 8}[:levels]}, pulse.Stream)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
