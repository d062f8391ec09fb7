#include "hecate.cuh"

// y[j] is x[j] + x[j^1] + x[j^2]: one neighbour through shared memory, one
// through a shuffle.
// Planted: there is no __syncwarp; the shuffle brings the lanes together and
// does not order memory.
HECATE_KERNEL(64) no_syncwarp(const float *x, float *y, int n) {
  HECATE_SHARED(float, tile, 64);
  tile[threadIdx.x] = x[threadIdx.x];
#ifndef PLANTED
  __syncwarp();
#endif
  float other = __shfl_xor_sync(hecate::kAllLanes, x[threadIdx.x], 2);
  y[threadIdx.x] = x[threadIdx.x] + tile[threadIdx.x ^ 1] + other;
}
