//go:build linux && (amd64 || arm64) && !nogpu

package engine

import (
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/cuda"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/pulse"
)

// TestTryReading: what reading a checkpoint takes of a device includes the frozen reads of levels that the first
// chunk finds open, and room for calls of whole chunks.
func TestTryReading(t *testing.T) {
	needs := func(chunk int) Needs {
		x := &saved{info: Info{Model: "ByteLM(CMS([DeltaRule, Hebbian]))", Sizes: "V=31 d=64 memory.0.d_k=16 memory.1.d_k=16", Chunk: chunk}, schedule: pulse.Schedule{Periods: []int{1, 4}}}
		n, err := modules.dry(func(s device.Memory) error { return modules.tryReading(x, s, chunk) })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	short, long := needs(8), needs(512)
	for _, kernel := range []string{"hebbian/step", "hebbian/read"} {
		if !slices.ContainsFunc(short.Kernels, func(v cuda.Variant) bool { return v.Kernel == kernel }) {
			t.Errorf("no %s among %v", kernel, short.Kernels)
		}
	}
	if least := 4 * 64 * (512 - 8); long.Bytes < short.Bytes+least { // one value of a token, at least
		t.Errorf("%d bytes for chunks of 512 tokens, %d for chunks of 8", long.Bytes, short.Bytes)
	}
}
