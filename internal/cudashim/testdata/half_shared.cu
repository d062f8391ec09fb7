#include "hecate.cuh"

#ifdef PLANTED
#define HALF_SHARED_SIZE 32
#else
#define HALF_SHARED_SIZE 64
#endif

// y is the first 64 entries of x backwards.
// Planted: the shared array has half the size.
HECATE_KERNEL(64) half_shared(const float *x, float *y, int n) {
  HECATE_SHARED(float, tile, HALF_SHARED_SIZE);
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
