#include "hecate.cuh"

// y is the sums of pairs, x[j] + x[j+64].
// Planted: shared memory is taken to begin as zero.
HECATE_KERNEL(64) unset_shared(const float *x, float *y, int n) {
  HECATE_SHARED(float, sum, 64);
#ifndef PLANTED
  sum[threadIdx.x] = 0.0f;
#endif
  sum[threadIdx.x] += x[threadIdx.x];
  sum[threadIdx.x] += x[threadIdx.x + 64];
  y[threadIdx.x] = sum[threadIdx.x];
}
