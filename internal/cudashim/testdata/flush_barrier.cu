#include "hecate.cuh"

// y[0] is the sum of x: each thread sums a part, thread 0 the parts.
// Planted: the barrier before the parts are read is missing.
HECATE_KERNEL(64) flush_barrier(const float *x, float *y, int n) {
  HECATE_SHARED(float, part, 64);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 64) sum += x[i];
  part[threadIdx.x] = sum;
#ifndef PLANTED
  __syncthreads();
#endif
  if (threadIdx.x == 0) {
    sum = 0.0f;
    for (int i = 0; i < 64; i++) sum += part[i];
    y[0] = sum;
  }
}
