#include "hecate.cuh"

#ifdef PLANTED
#define TWO_WRITERS_STEP 63
#else
#define TWO_WRITERS_STEP 64
#endif

// y is the first 128 entries of x, twice; a block has 64 of them.
// Planted: the blocks' parts overlap by one entry.
HECATE_KERNEL(64) two_writers(const float *x, float *y, int n) {
  y[blockIdx.x * TWO_WRITERS_STEP + threadIdx.x] = 2.0f * x[blockIdx.x * 64 + threadIdx.x];
}
