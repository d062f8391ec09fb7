package emitcuda_test

import (
	"testing"

	"github.com/nl-hecate/hecate/internal/cudashim"
)

// sanitized are the lengths at which a sanitizer checks every kernel: one that
// no tile or warp divides, and for the faster one also a segment and a token.
var sanitized = map[cudashim.Mode][]int{
	cudashim.ASan: {positive, 65},
	cudashim.TSan: {positive},
}

// TestSanitizers runs all kernels, and those of forms that no emitted unit has, with the sanitizers under them, threads and
// blocks in another order. Numbers are not compared: TestKernels does that.
func TestSanitizers(t *testing.T) {
	cudashim.Need(t)
	if testing.Short() {
		t.Skip("two more compilations of all kernels")
	}
	ps := append(load(t), oddExamples(t)...)
	for _, mode := range []cudashim.Mode{cudashim.ASan, cudashim.TSan} {
		bin, err := cudashim.Build(mode, sourcesOf(texts(ps), 2)...)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range ps {
			t.Run(mode.String()+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				for _, tokens := range sanitized[mode] {
					x := newTrial(t, p, tokens)
					if x.empty {
						continue
					}
					program, _ := x.program(true)
					program.Seed = 3
					if _, err := bin.Run(program); err != nil {
						t.Errorf("%v: %v", x.sizes, err)
					}
				}
			})
		}
	}
}
