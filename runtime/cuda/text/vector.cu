// vector.cu: what the runtime does with vectors between the kernels of the pages.
#include "hecate.cuh"

// to += x
HECATE_KERNEL(256) hecate_add(float *to, const float *x, int n) {
  const long long item = (long long)blockIdx.x * 256 + threadIdx.x;
  if (item < n) to[item] += x[item];
}

// x *= c
HECATE_KERNEL(256) hecate_scale(float *x, const float *c, int n) {
  const long long item = (long long)blockIdx.x * 256 + threadIdx.x;
  if (item < n) x[item] *= c[0];
}

// The squares of 4096 entries a block are added in double: a thread adds those 256 apart, and
// one thread adds what the threads have, in order.
HECATE_KERNEL(256) hecate_squares(const float *x, double *sums, int n) {
  HECATE_SHARED(double, parts, 256);
  double sum = 0.0;
  for (int k = 0; k < 16; ++k) {
    const long long at = (long long)blockIdx.x * 4096 + k * 256 + threadIdx.x;
    if (at < n) sum += (double)x[at] * x[at];
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int k = 1; k < 256; ++k) sum += parts[k];
  sums[blockIdx.x] = sum;
}
