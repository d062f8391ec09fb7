#include "hecate.cuh"

// y[j] is the sum over t of (t+1)*x[t, (j+1) mod 64]. Stages of 4 tokens are
// copied one ahead, into two places of shared memory in turn.
// Planted: one stage too many is copied.
HECATE_KERNEL(64) past_end(const float *x, float *y, int n) {
  HECATE_SHARED(float, stage, 2 * 256);
  int j = threadIdx.x, stages = n / 4;
  hecate::copy_async<16>(stage + 4 * j, x + 4 * j);
  hecate::commit_async();
  float sum = 0.0f;
  for (int s = 0; s < stages; s++) {
#ifdef PLANTED
    if (s + 1 <= stages)
#else
    if (s + 1 < stages)
#endif
      hecate::copy_async<16>(stage + (s + 1) % 2 * 256 + 4 * j, x + (s + 1) * 256 + 4 * j);
    hecate::commit_async();
    hecate::wait_async<1>();
    __syncthreads();
    for (int t = 0; t < 4; t++) sum += (4 * s + t + 1) * stage[s % 2 * 256 + t * 64 + (j + 1) % 64];
    __syncthreads();
  }
  y[j] = sum;
}
