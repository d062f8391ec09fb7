#include "hecate.cuh"

#ifdef PLANTED
#define WRONG_MASK 0x0000ffffu
#else
#define WRONG_MASK hecate::kAllLanes
#endif

// y is the first 64 entries of x with neighbours exchanged.
// Planted: lanes call that the mask does not name.
HECATE_KERNEL(64) wrong_mask(const float *x, float *y, int n) {
  y[threadIdx.x] = __shfl_xor_sync(WRONG_MASK, x[threadIdx.x], 1);
}
