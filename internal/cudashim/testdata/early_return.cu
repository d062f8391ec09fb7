#include "hecate.cuh"

// y is the first 64 entries of x backwards.
// Planted: half of the threads return before the barrier.
HECATE_KERNEL(64) early_return(const float *x, float *y, int n) {
  HECATE_SHARED(float, tile, 64);
  tile[threadIdx.x] = x[threadIdx.x];
#ifdef PLANTED
  if (threadIdx.x >= 32) return;
#endif
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
