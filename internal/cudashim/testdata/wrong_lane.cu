#include "hecate.cuh"

// y is the first 64 entries of x, turned by one within each warp.
// Planted: a shuffle reads the wrong lane.
HECATE_KERNEL(64) wrong_lane(const float *x, float *y, int n) {
#ifdef PLANTED
  int from = (threadIdx.x + 2) % 32;
#else
  int from = (threadIdx.x + 1) % 32;
#endif
  y[threadIdx.x] = __shfl_sync(hecate::kAllLanes, x[threadIdx.x], from);
}
