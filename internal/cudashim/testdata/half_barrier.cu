#include "hecate.cuh"

// y is the first 64 entries of x backwards.
// Planted: only half of the threads meet at the barrier.
HECATE_KERNEL(64) half_barrier(const float *x, float *y, int n) {
  HECATE_SHARED(float, tile, 64);
  tile[threadIdx.x] = x[threadIdx.x];
#ifdef PLANTED
  if (threadIdx.x < 32)
#endif
    __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
