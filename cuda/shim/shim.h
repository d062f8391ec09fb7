// shim.h is the device side of the shim: what a kernel's text sees when a C++
// compiler reads it. hecate.cuh includes it where HECATE_SHIM is defined.
//
// Everything that moves a thread on or changes bookkeeping is a call into the
// runtime, which is compiled without a sanitizer; so a sanitizer sees the
// kernel's own accesses and no others. Calls take the place in the text where
// they stand, for reports.
#ifndef HECATE_SHIM_H
#define HECATE_SHIM_H

#include <math.h>

#define HECATE_KERNEL(threads) extern "C" void
#define HECATE_SHARED(type, name, n)                          \
  static_assert((n) > 0, "shared memory of no size: " #name); \
  static const char name##_place = 0;                         \
  type *const name = static_cast<type *>(hecate_shim::shared(&name##_place, sizeof(type) * (n), #name))
#define HECATE_ARRAY_AT(type, name, n, other)                                                              \
  static const char name##_key = 0;                                                                      \
  type *const name = name##_place.fits                                                                   \
                         ? static_cast<type *>(hecate_shim::array(&name##_key, sizeof(type) * (n),       \
                                                                  unsigned(name##_place.end), #name)) \
                         : (other)
#define HECATE_DYNAMIC(type, name) type *const name = static_cast<type *>(hecate_shim::dynamic())

#define __device__
#define __forceinline__ inline

struct uint3 {
  unsigned x, y, z;
};
using dim3 = uint3;

// Vectors of floats may be laid over arrays of floats, as on the device.
struct __attribute__((may_alias, aligned(8))) float2 {
  float x, y;
};
struct __attribute__((may_alias, aligned(16))) float4 {
  float x, y, z, w;
};

// HECATE_PLACE is the caller's place in the text, as default arguments.
#define HECATE_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace hecate_shim {

// Present is what the running thread knows of itself.
struct Present {
  uint3 thread;
};
extern const Present *present;

enum Meeting { kBarrier, kSyncWarp, kIndex, kUp, kDown, kXor };

void *shared(const char *place, unsigned long bytes, const char *name);
void *dynamic();
// array is shared, of an array that a launch's dynamic memory has room for up to `end`.
void *array(const char *place, unsigned long bytes, unsigned long end, const char *name);
void barrier(const char *file, int line);
unsigned long long exchange(Meeting kind, unsigned mask, unsigned long long bits, int lane, int width,
                            const char *file, int line);
void copy_async(void *to, const void *from, int bytes);
void commit_async();
void wait_async(int open);

template <typename T>
inline T shuffle(Meeting kind, unsigned mask, T value, int lane, int width, const char *file, int line) {
  static_assert(sizeof(T) <= 8 && T(1) / T(2) <= T(1), "a shuffle passes numbers");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = exchange(kind, mask, bits, lane, width, file, line);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

template <typename To, typename From>
inline To same_bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "two types of one size");
  To y;
  __builtin_memcpy(&y, &x, sizeof y);
  return y;
}

}  // namespace hecate_shim

#define threadIdx (::hecate_shim::present->thread)
extern uint3 blockIdx;
extern dim3 blockDim, gridDim;

inline void __syncthreads(HECATE_PLACE) { hecate_shim::barrier(file, line); }
inline void __syncwarp(unsigned mask = 0xffffffffu, HECATE_PLACE) {
  hecate_shim::exchange(hecate_shim::kSyncWarp, mask, 0, 0, 32, file, line);
}
template <typename T>
inline T __shfl_sync(unsigned mask, T x, int lane, int width = 32, HECATE_PLACE) {
  return hecate_shim::shuffle(hecate_shim::kIndex, mask, x, lane, width, file, line);
}
template <typename T>
inline T __shfl_up_sync(unsigned mask, T x, unsigned by, int width = 32, HECATE_PLACE) {
  return hecate_shim::shuffle(hecate_shim::kUp, mask, x, int(by), width, file, line);
}
template <typename T>
inline T __shfl_down_sync(unsigned mask, T x, unsigned by, int width = 32, HECATE_PLACE) {
  return hecate_shim::shuffle(hecate_shim::kDown, mask, x, int(by), width, file, line);
}
template <typename T>
inline T __shfl_xor_sync(unsigned mask, T x, int bits, int width = 32, HECATE_PLACE) {
  return hecate_shim::shuffle(hecate_shim::kXor, mask, x, bits, width, file, line);
}

inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

inline float __int_as_float(int x) { return hecate_shim::same_bits<float>(x); }
inline int __float_as_int(float x) { return hecate_shim::same_bits<int>(x); }
inline float __uint_as_float(unsigned x) { return hecate_shim::same_bits<float>(x); }
inline unsigned __float_as_uint(float x) { return hecate_shim::same_bits<unsigned>(x); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
template <typename T>
inline T __ldg(const T *p) {
  return *p;
}

// As on the device: the larger and the smaller, a NaN dropped.
inline int max(int x, int y) { return x > y ? x : y; }
inline int min(int x, int y) { return x < y ? x : y; }
inline unsigned max(unsigned x, unsigned y) { return x > y ? x : y; }
inline unsigned min(unsigned x, unsigned y) { return x < y ? x : y; }
inline float max(float x, float y) { return fmaxf(x, y); }
inline float min(float x, float y) { return fminf(x, y); }

#endif  // HECATE_SHIM_H
