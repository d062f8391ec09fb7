#include "hecate.cuh"

// 96 values that stay alive, in a block of 1024 threads, which leaves 64
// registers to each.
HECATE_KERNEL(1024) spilly(const float *x, float *y, int n) {
  float a[96];
#pragma unroll
  for (int i = 0; i < 96; i++) a[i] = x[threadIdx.x + i * 1024];
  for (int k = 0; k < n; k++)
#pragma unroll
    for (int i = 0; i < 96; i++) a[i] = a[i] * a[(i + 7) % 96] + x[k];
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 96; i++) sum += a[i];
  y[threadIdx.x] = sum;
}
