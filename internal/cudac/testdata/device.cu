#include "hecate.cuh"

// Every device function of hecate.cuh, so that each is compiled.
HECATE_KERNEL(128) sums(const float *x, float *y, int n) {
  HECATE_SHARED(float, scratch, 32);
  HECATE_DYNAMIC(float, part);
  float sum = 0.0f, top = -HECATE_INF;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float a = hecate::entry(i > 0, x, i);
    sum += hecate::sigmoid(a) + hecate::softplus(a) + hecate::pow(a, 3.5f) + hecate::mod(a, 2.0f) + hecate::sign(a);
    sum += hecate::is_finite(a) && hecate::in_range(a, -1.0f, 1.0f) ? hecate::clamp(a, 0.0f, 1.0f) : hecate::min(a, 1.0f);
    top = hecate::max(top, a);
  }
  part[threadIdx.x] = hecate::group_sum<8>(sum) + hecate::group_max<8>(top);
  sum = hecate::block_sum(part[threadIdx.x], scratch) + hecate::block_max(top, scratch);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

HECATE_KERNEL(128) copies(const float *x, float *y, int n) {
  HECATE_SHARED(float, stage, 512);
  hecate::copy_async<16>(stage + 4 * threadIdx.x, x + 4 * threadIdx.x);
  hecate::commit_async();
  hecate::wait_async<0>();
  __syncthreads();
  y[threadIdx.x] = stage[(threadIdx.x + n) % 512];
}
