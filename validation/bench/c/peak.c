/* The peaks of one core: independent chains of fused multiply-adds that never
 * leave the registers, of which twelve are more than the latency of four cycles
 * on two ports needs; and sums of an array that the second-level cache holds and
 * the first does not. */
#include "serve.h"

#if defined(__x86_64__)
#include <immintrin.h>

static volatile float sink;

#define CHAINS 12
#define LOOP(name, isa, VEC, SET, FMA, FIRST)                                      \
    __attribute__((target(isa))) static double name(long n)                         \
    {                                                                               \
        VEC x[CHAINS], a = SET(1 + sink), b = SET(sink);                                 \
        _Pragma("GCC unroll 16") for (int i = 0; i < CHAINS; i++) x[i] = SET((float)i); \
        for (long r = 0; r < n; r++)                                                \
            _Pragma("GCC unroll 16") for (int i = 0; i < CHAINS; i++)               \
                x[i] = FMA(x[i], a, b);                                             \
        _Pragma("GCC unroll 16") for (int i = 1; i < CHAINS; i++) x[0] = FMA(x[i], a, x[0]); \
        sink = FIRST(x[0]) * 0;                                                     \
        return 2.0 * CHAINS * (sizeof(VEC) / sizeof(float)) * n;                    \
    }

LOOP(fma512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps, _mm512_cvtss_f32)
LOOP(fma256, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_cvtss_f32)

#define FIELD (1 << 16)
static float field[FIELD];

#define STREAM(name, isa, VEC, SET, LOAD, ADD, FIRST)                              \
    __attribute__((target(isa))) static double name(long n)                         \
    {                                                                               \
        enum { SUMS = 8, STEP = SUMS * sizeof(VEC) / sizeof(float) };               \
        VEC x[SUMS];                                                                \
        _Pragma("GCC unroll 8") for (int i = 0; i < SUMS; i++) x[i] = SET(sink);    \
        for (long r = 0; r < n; r++) {                                              \
            const float *at = field + (r * STEP & FIELD - 1);                       \
            _Pragma("GCC unroll 8") for (int i = 0; i < SUMS; i++)                  \
                x[i] = ADD(x[i], LOAD(at + i * (STEP / SUMS)));                     \
        }                                                                           \
        _Pragma("GCC unroll 8") for (int i = 1; i < SUMS; i++) x[0] = ADD(x[0], x[i]); \
        sink = FIRST(x[0]) * 0;                                                     \
        return (double)n * SUMS * sizeof(VEC);                                      \
    }

STREAM(load512, "avx512f", __m512, _mm512_set1_ps, _mm512_loadu_ps, _mm512_add_ps, _mm512_cvtss_f32)
STREAM(load256, "avx2,fma", __m256, _mm256_set1_ps, _mm256_loadu_ps, _mm256_add_ps, _mm256_cvtss_f32)

static int can512(void) { return __builtin_cpu_supports("avx512f"); }
static int can256(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

const peak peaks[] = {{"AVX-512", can512, fma512}, {"AVX2", can256, fma256},
                      {"loads AVX-512", can512, load512}, {"loads AVX2", can256, load256}, {0}};
#else
const peak peaks[] = {{0}};
#endif
