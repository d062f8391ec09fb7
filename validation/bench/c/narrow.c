/* Columns × time with AVX2.
 *
 *     gcc -O3 -mavx2 -mfma -c narrow.c */
#include "delta.h"

#include <immintrin.h>

#define W 8
#define VEC __m256
#define LOAD _mm256_loadu_ps
#define STORE _mm256_storeu_ps
#define SET _mm256_set1_ps
#define MUL _mm256_mul_ps
#define FMA _mm256_fmadd_ps
#define FNMA _mm256_fnmadd_ps
#define ADD _mm256_add_ps
#define SUB _mm256_sub_ps
#define TRANSPOSE transpose8

/* Pairs of rows, then pairs of pairs, then halves of vectors. */
static inline __attribute__((always_inline)) void transpose8(__m256 *x)
{
    __m256 y[8];
    _Pragma("GCC unroll 4") for (int i = 0; i < 8; i += 2)
    {
        y[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
        y[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
    }
    _Pragma("GCC unroll 2") for (int i = 0; i < 8; i += 4)
    {
        x[i] = _mm256_shuffle_ps(y[i], y[i + 2], 0x44);
        x[i + 1] = _mm256_shuffle_ps(y[i], y[i + 2], 0xee);
        x[i + 2] = _mm256_shuffle_ps(y[i + 1], y[i + 3], 0x44);
        x[i + 3] = _mm256_shuffle_ps(y[i + 1], y[i + 3], 0xee);
    }
    _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++)
    {
        y[i] = _mm256_permute2f128_ps(x[i], x[i + 4], 0x20);
        y[i + 4] = _mm256_permute2f128_ps(x[i], x[i + 4], 0x31);
    }
    _Pragma("GCC unroll 8") for (int i = 0; i < 8; i++)
        x[i] = y[i];
}

#define NAME(x) cols16_##x
#define R 2
#include "cols.inc"

const variant narrow[] = {
    {"forward", "cols16 × time, AVX2 intrinsics", cols16_forward, 16, 0},
    {0},
};
