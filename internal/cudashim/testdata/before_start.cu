#include "hecate.cuh"

// y is the first 64 entries of x.
// Planted: one thread also writes the entry before the first.
HECATE_KERNEL(64) before_start(const float *x, float *y, int n) {
  y[threadIdx.x] = x[threadIdx.x];
#ifdef PLANTED
  if (threadIdx.x == 0) y[-1] = 0.0f;
#endif
}
