// hecate.cuh is what every printed kernel includes.
//
// One text has two readers. NVRTC or nvcc compiles it for a device; a C++
// compiler with HECATE_SHIM defined compiles the same text for the processor,
// where the threads of a block are fibers (cuda/shim). The two differ in the
// macros below and in nothing else: whoever prints or writes a kernel uses
//
//   HECATE_KERNEL(128) name(const float *x, float *y, int n) { ... }
//   HECATE_SHARED(float, tile, 64 * 33);
//   HECATE_DYNAMIC(float, scratch);
//
// and never __shared__ or extern "C" itself.
//
// HECATE_KERNEL(threads) begins a kernel that is launched with at most so many
// threads in a block. `threads` is a literal or a macro. Parameters are
// pointers and integers.
//
// HECATE_SHARED(type, name, n) is an array of n in the block's shared memory,
// one-dimensional, at the head of a function. It holds nothing at first. Use
// it as an array; sizeof(name) is not portable.
//
// HECATE_DYNAMIC(type, name) is a pointer to the shared memory whose size the
// launch names, 16-byte aligned. Two of them in one kernel are the same memory.
//
// HECATE_ARRAY(type, name, n, other) is an array of n, a constant, in that memory if
// it fits there, else the pointer `other`. HECATE_ARRAY_AFTER(before, ...) is one
// more, behind that with the name `before` and those before it. A launch gives the
// bytes of the arrays that fit, each rounded up to 16.
//
// Also there on both sides: threadIdx, blockIdx, blockDim, gridDim,
// __syncthreads, __syncwarp and the four __shfl_sync, float2 and float4 with
// their make_, and the functions of <math.h>. A barrier or a shuffle is met by
// all threads that it names at one place of the text: the shim refuses a
// thread that has returned or that waits at another line.
#ifndef HECATE_CUH
#define HECATE_CUH

#ifdef HECATE_SHIM

#include "shim.h"

#else

// The 1 is a block on a multiprocessor: it lets the compiler use all registers
// that such a block leaves to a thread. Left out, it saves some for more blocks
// and spills.
#define HECATE_KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads, 1)
#define HECATE_SHARED(type, name, n) __shared__ type name[n]
#define HECATE_DYNAMIC(type, name)                                     \
  extern __shared__ __align__(16) unsigned char hecate_dynamic[];     \
  type *const name = reinterpret_cast<type *>(hecate_dynamic)
#define HECATE_ARRAY_AT(type, name, n, other)                     \
  extern __shared__ __align__(16) unsigned char hecate_dynamic[]; \
  type *const name =                                              \
      name##_place.fits ? reinterpret_cast<type *>(hecate_dynamic + name##_place.at) : (other)

#endif

#define HECATE_ARRAY(type, name, n, other)                               \
  constexpr hecate::place name##_place = hecate::place_of<type>(0, n); \
  HECATE_ARRAY_AT(type, name, n, other)
#define HECATE_ARRAY_AFTER(before, type, name, n, other)                                \
  constexpr hecate::place name##_place = hecate::place_of<type>(before##_place.end, n); \
  HECATE_ARRAY_AT(type, name, n, other)

#define HECATE_INF __int_as_float(0x7f800000)
#define HECATE_NAN __int_as_float(0x7fc00000)

namespace hecate {

// Lanes of a warp, and the mask that names all of them.
enum : int { kWarp = 32 };
enum : unsigned { kAllLanes = 0xffffffffu };

// ---- Places of arrays ------------------------------------------------------

// A place is where an array is in dynamic shared memory, in bytes: at `at` if it
// fits. `end` is where the next one may be.
struct place {
  int at, end;
  bool fits;
};

// Shared memory of a block for arrays: what every device from sm_80 on gives to a
// block that asks for it, less what a sum over the block takes. Package emitcuda has the
// same number.
constexpr int kRoom = (96 << 10) - 128;

template <typename T>
__device__ constexpr place place_of(int before, long long n) {
  return before + (n * static_cast<long long>(sizeof(T)) + 15) / 16 * 16 > kRoom
             ? place{before, before, false}
             : place{before, before + static_cast<int>((n * sizeof(T) + 15) / 16 * 16), true};
}

// ---- Scalars ---------------------------------------------------------------
//
// The rules are those of runtime/num: NaN in gives NaN out, and the signs of
// zeros are ordered. fmaxf and fminf would drop a NaN.

// max returns the larger of x and y: NaN if either is, and max(-0, +0) = +0.
__device__ inline float max(float x, float y) {
  if (x > y) return x;
  if (y > x) return y;
  return x == y && x != 0.0f ? x : x + y;
}

// min returns the smaller of x and y: NaN if either is, and min(-0, +0) = -0.
__device__ inline float min(float x, float y) {
  if (x < y) return x;
  if (y < x) return y;
  return x == y && x != 0.0f ? x : -(-x - y);
}

// clamp returns x limited to [lo, hi]; NaN stays NaN.
__device__ inline float clamp(float x, float lo, float hi) { return min(max(x, lo), hi); }

// in_range is the mask that belongs to clamp: true on the boundary, not at NaN.
__device__ inline bool in_range(float x, float lo, float hi) { return lo <= x && x <= hi; }

// sign returns -1, 0 or 1; +0 for both zeros, NaN for NaN.
__device__ inline float sign(float x) {
  if (x > 0.0f) return 1.0f;
  if (x < 0.0f) return -1.0f;
  return x == 0.0f ? 0.0f : x;
}

// is_finite reports that x is neither NaN nor infinite.
__device__ inline bool is_finite(float x) { return x - x == 0.0f; }

// sigmoid returns 1/(1 + e^-x) without overflow on the way; it reaches 0 only
// where e^x does.
__device__ inline float sigmoid(float x) {
  if (x >= 0.0f) return 1.0f / (1.0f + expf(-x));
  float e = expf(x);
  return e / (1.0f + e);
}

// softplus returns ln(1 + e^x) as max(x, 0) + log1p(e^-|x|).
__device__ inline float softplus(float x) { return max(x, 0.0f) + log1pf(expf(-fabsf(x))); }

// pow returns x^y with the special cases of IEEE 754; the exponents -1, 0, 1/2,
// 1, 2 and 3 are quotients, roots and products.
__device__ inline float pow(float x, float y) {
  if (y == 0.0f || x == 1.0f) return 1.0f;
  if (y == 1.0f) return x;
  if (y == 2.0f) return x * x;
  if (y == 3.0f) return x * x * x;
  if (y == -1.0f) return 1.0f / x;
  if (y == 0.5f && x > 0.0f) return sqrtf(x);
  return powf(x, y);
}

// mod returns x - y*floor(x/y), which has the sign of y.
__device__ inline float mod(float x, float y) { return x - __fmul_rn(y, floorf(x / y)); }

// entry returns x[at], or zero where `in` says that there is no such entry.
template <typename T>
__device__ inline T entry(bool in, const T *x, int at) {
  return in ? x[at] : T(0);
}

// ---- Operands of products --------------------------------------------------

// bfloat16 is a number of 16 bits, the first of a float. One from a float is rounded to nearest, ties
// to even; NaN stays NaN. It is read as a float.
struct bfloat16 {
  unsigned short bits;
  __device__ explicit bfloat16(float x) {
    const unsigned u = __float_as_uint(x);
    bits = static_cast<unsigned short>((x != x ? u | 1u << 22 : u + 0x7fffu + (u >> 16 & 1u)) >> 16);
  }
  __device__ operator float() const { return __uint_as_float(static_cast<unsigned>(bits) << 16); }
};

// operand<bf16>::type is the type in which a text stores operands of products.
template <int bf16>
struct operand {
  typedef float type;
};
template <>
struct operand<1> {
  typedef bfloat16 type;
};

// ---- Sums and maxima over lanes --------------------------------------------
//
// Every order is fixed: no result depends on which warp came first. All lanes
// of the warp (all threads of the block) call together, in full warps.

// group_sum adds over groups of `width` neighbouring lanes, a power of two of
// at most 32, as a tree over distances width/2, ..., 2, 1. All lanes of a group
// get the same bits.
template <int width>
__device__ inline float group_sum(float x) {
#pragma unroll
  for (int d = width / 2; d > 0; d /= 2) x += __shfl_xor_sync(kAllLanes, x, d);
  return x;
}

// group_max is group_sum with max.
template <int width>
__device__ inline float group_max(float x) {
#pragma unroll
  for (int d = width / 2; d > 0; d /= 2) x = max(x, __shfl_xor_sync(kAllLanes, x, d));
  return x;
}

// warp_sum and warp_max go over a whole warp.
__device__ inline float warp_sum(float x) { return group_sum<kWarp>(x); }
__device__ inline float warp_max(float x) { return group_max<kWarp>(x); }

// linear_thread is the number of the thread in its block, block_threads how
// many there are.
__device__ inline int linear_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ inline int block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

// block_sum adds over a block of full warps: the sums of the warps, then those
// from warp 0 upwards. Every thread gets the same bits. `scratch` is shared
// memory of 32 floats; it is free again when the call returns.
__device__ inline float block_sum(float x, float *scratch) {
  int thread = linear_thread(), warps = block_threads() / kWarp;
  x = warp_sum(x);
  if (thread % kWarp == 0) scratch[thread / kWarp] = x;
  __syncthreads();
  float sum = scratch[0];
  for (int w = 1; w < warps; w++) sum += scratch[w];
  __syncthreads();
  return sum;
}

// block_max is block_sum with max.
__device__ inline float block_max(float x, float *scratch) {
  int thread = linear_thread(), warps = block_threads() / kWarp;
  x = warp_max(x);
  if (thread % kWarp == 0) scratch[thread / kWarp] = x;
  __syncthreads();
  float top = scratch[0];
  for (int w = 1; w < warps; w++) top = max(top, scratch[w]);
  __syncthreads();
  return top;
}

// ---- Copies that do not wait -----------------------------------------------
//
// copy_async begins a copy of 4, 8 or 16 bytes, so aligned, from global to
// shared memory. commit_async closes a group of the copies since the last one;
// wait_async<n> waits until at most the n youngest groups of this thread are
// open. Other threads see what was copied after a barrier that follows.

template <int bytes>
__device__ inline void copy_async(void *to, const void *from) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "a copy of 4, 8 or 16 bytes");
#ifdef HECATE_SHIM
  hecate_shim::copy_async(to, from, bytes);
#else
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(bytes)
               : "memory");
#endif
}

__device__ inline void commit_async() {
#ifdef HECATE_SHIM
  hecate_shim::commit_async();
#else
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int open>
__device__ inline void wait_async() {
#ifdef HECATE_SHIM
  hecate_shim::wait_async(open);
#else
  asm volatile("cp.async.wait_group %0;" ::"n"(open) : "memory");
#endif
}

// ---- Searches --------------------------------------------------------------

// A search looks for a root of a function between two numbers: the method of
// Chandrupatla with a check, as gen/plan and runtime/num have it.
//
//   hecate::search s(lo, hi, tol);
//   while (s.more()) s.take(f(s.x));
//   root = s.x;  // NaN where there is none, and s.failed if f gave numbers
//
// Each product is rounded, so that a device and a processor make the same
// rounds.
struct search {
  float x;
  bool failed;

  __device__ search(float lo, float hi, float tolerance)
      : x(lo), failed(false), a(lo), b(hi), c(0.0f), fa(0.0f), fb(0.0f), fc(0.0f), mark(0.0f),
        tol(tolerance), rounds(0), done(false) {}

  __device__ bool more() const { return !done; }

  // take receives the function at x and chooses the next x.
  __device__ void take(float f) {
    rounds++;
    if (f == 0.0f) {
      done = true;
    } else if (rounds == 1) {
      fa = f;
      x = b;
    } else if (rounds == 2) {
      begin(f);
    } else if (f != f) {
      end(f);
    } else {
      if ((f < 0.0f) == (fa < 0.0f)) {
        c = a;
        fc = fa;
      } else {
        c = b;
        fc = fb;
        b = a;
        fb = fa;
      }
      a = x;
      fa = f;
      next();
    }
  }

 private:
  float a, b, c;  // the last trial, the other end of the range, the trial before
  float fa, fb, fc;
  float mark;  // the range some rounds ago
  float tol;
  int rounds;
  bool done;

  __device__ void end(float at) {
    x = at;
    done = true;
  }

  __device__ void none() {
    failed = true;
    end(HECATE_NAN);
  }

  // begin receives the function at the upper end.
  __device__ void begin(float f) {
    fb = f;
    mark = b - a;
    if (!(mark > 0.0f && is_finite(mark)) || !((fa < 0.0f) != (f < 0.0f)) || fa != fa || f != f) {
      failed = fa == fa && f == f;
      end(HECATE_NAN);
      return;
    }
    go(0.5f, 0.0f);
  }

  __device__ void next() {
    const float w = fabsf(b - a), best = fabsf(fa) < fabsf(fb) ? a : b;
    const float least = (tol / 2.0f + __fmul_rn(0x1p-23f, 2.0f * fabsf(best))) / w;
    if (!(least < 0.5f)) {
      line();
    } else if (rounds - 2 >= 256) {
      none();
    } else {
      float t = smooth() ? inverse() : 0.5f;
      if ((rounds - 2) % 4 == 0) {
        if (!(w <= mark / 2.0f)) t = 0.5f;
        mark = w;
      }
      go(t, least);
    }
  }

  // smooth reports that the inverse parabola through the three trials runs
  // between them.
  __device__ bool smooth() const {
    const float u = (a - b) / (c - b), y = (fa - fb) / (fc - fb);
    return __fmul_rn(y, y) < u && __fmul_rn(1.0f - y, 1.0f - y) < 1.0f - u;
  }

  // inverse is where it meets zero, as a part of the way from a to b.
  __device__ float inverse() const {
    const float first = __fmul_rn(fa / (fb - fa), fc / (fb - fc));
    const float second = __fmul_rn(fa / (fc - fa), fb / (fc - fb));
    return first + __fmul_rn((c - a) / (b - a), second);
  }

  // go goes a part of the way from a to b, kept off both ends.
  __device__ void go(float part, float least) {
    if (!(part > least)) part = least;
    if (part > 1.0f - least) part = 1.0f - least;
    const float lo = min(a, b), hi = max(a, b);
    x = a + __fmul_rn(part, b - a);
    if (!(lo < x && x < hi)) x = lo + (hi - lo) / 2.0f;
    if (!(lo < x && x < hi)) line();
  }

  // line ends the search where the line through the ends meets zero.
  __device__ void line() {
    float at = a + __fmul_rn(b - a, fa / (fa - fb));
    if (!(min(a, b) <= at && at <= max(a, b))) at = a;
    end(at);
  }
};

}  // namespace hecate

#endif  // HECATE_CUH
