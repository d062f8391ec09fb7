#include "hecate.cuh"

// y is running sums over two blocks of 64, each entry x[j] + x[j-64].
// Planted: the second block takes x[j-64] from what the first has written.
HECATE_KERNEL(64) needs_block(const float *x, float *y, int n) {
  int j = blockIdx.x * 64 + threadIdx.x;
  float before = 0.0f;
#ifdef PLANTED
  if (blockIdx.x > 0) before = y[j - 64];
#else
  if (blockIdx.x > 0) before = x[j - 64];
#endif
  y[j] = x[j] + before;
}
