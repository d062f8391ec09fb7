#include "hecate.cuh"

// y is the first 64 entries of x, all but the first one twice.
// Planted: a register is never set in one thread.
HECATE_KERNEL(64) unset(const float *x, float *y, int n) {
#ifdef PLANTED
  float scale;
#else
  float scale = 1.0f;
#endif
  if (threadIdx.x > 0) scale = 2.0f;
  y[threadIdx.x] = scale * x[threadIdx.x];
}
