#include "hecate.cuh"

HECATE_KERNEL(32) broken(float *y) { y[threadIdx.x] = nothing; }
