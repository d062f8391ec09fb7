#include "hecate.cuh"

// y is the first 64 entries of x backwards.
// Planted: each half of the threads has a barrier of its own.
HECATE_KERNEL(64) two_places(const float *x, float *y, int n) {
  HECATE_SHARED(float, tile, 64);
#ifdef PLANTED
  if (threadIdx.x < 32) {
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
  } else {
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
  }
#else
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
#endif
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
