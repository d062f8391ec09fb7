package cudashim_test

import (
	"math"
	"testing"

	"github.com/nl-hecate/hecate/internal/cudashim"
)

const rowsum = `
#include "hecate.cuh"
// HECATE_KERNEL(1) comment(int n)
HECATE_KERNEL(128) rowsum(const float *x, float *y, int n) {
  HECATE_SHARED(float, scratch, 32);
  HECATE_DYNAMIC(float, partial);
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[blockIdx.x * n + i];
  partial[threadIdx.x] = s;
  __syncthreads();
  s = hecate::block_sum(partial[(threadIdx.x + 1) % blockDim.x], scratch);
  if (threadIdx.x == 0) y[blockIdx.x] = s;
}
`

func rows(n int) (x []float32, sums []float64) {
	sums = make([]float64, 3)
	for i := range 3 * n {
		x = append(x, float32(i%7)-2)
		sums[i/n] += float64(x[i])
	}
	return x, sums
}

// Every mode and schedule gives the sums, to the bit: they are small integers.
func TestRun(t *testing.T) {
	cudashim.Need(t)
	const n = 100
	x, want := rows(n)
	for _, mode := range cudashim.Modes() {
		bin, err := cudashim.Build(mode, cudashim.Source{Name: "rowsum.cu", Text: rowsum})
		if err != nil {
			t.Fatal(err)
		}
		for _, seed := range []uint64{0, 1, 99} {
			out, err := bin.Run(&cudashim.Program{
				Buffers: []cudashim.Buffer{{Name: "x", Data: x}, {Name: "y", Data: cudashim.NaNs(3)}},
				Launches: []cudashim.Launch{{
					Kernel: "rowsum", Grid: cudashim.Dim{3}, Block: cudashim.Dim{96}, Shared: 96 * 4,
					Args: []cudashim.Arg{cudashim.Ptr("x"), cudashim.Ptr("y"), cudashim.Int(n)},
				}},
				Seed: seed, Isolated: true,
			})
			if err != nil {
				t.Fatalf("%v, seed %d: %v", mode, seed, err)
			}
			for i, y := range out.Float32("y") {
				if !(math.Abs(float64(y)-want[i]) <= 0) {
					t.Errorf("%v, seed %d: y[%d] = %v, want %v", mode, seed, i, y, want[i])
				}
			}
		}
	}
}
