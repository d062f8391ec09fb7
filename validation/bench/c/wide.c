/* Columns × time with AVX-512.
 *
 *     gcc -O3 -march=native -mavx512f -c wide.c */
#include "delta.h"

#include <immintrin.h>

#define W 16
#define VEC __m512
#define LOAD _mm512_loadu_ps
#define STORE _mm512_storeu_ps
#define SET _mm512_set1_ps
#define MUL _mm512_mul_ps
#define FMA _mm512_fmadd_ps
#define FNMA _mm512_fnmadd_ps
#define ADD _mm512_add_ps
#define SUB _mm512_sub_ps
#define TRANSPOSE transpose16

/* Pairs of rows, then pairs of pairs, then quarters of vectors twice. */
static inline __attribute__((always_inline)) void transpose16(__m512 *x)
{
    __m512 y[16];
    _Pragma("GCC unroll 8") for (int i = 0; i < 16; i += 2)
    {
        y[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
    }
#define PAIR(op, a, b) _mm512_castpd_ps(_mm512_##op##_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)))
    _Pragma("GCC unroll 4") for (int i = 0; i < 16; i += 4)
    {
        x[i] = PAIR(unpacklo, y[i], y[i + 2]);
        x[i + 1] = PAIR(unpackhi, y[i], y[i + 2]);
        x[i + 2] = PAIR(unpacklo, y[i + 1], y[i + 3]);
        x[i + 3] = PAIR(unpackhi, y[i + 1], y[i + 3]);
    }
    _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++)
    {
        y[i] = _mm512_shuffle_f32x4(x[i], x[i + 4], 0x88);
        y[i + 4] = _mm512_shuffle_f32x4(x[i], x[i + 4], 0xdd);
        y[i + 8] = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0x88);
        y[i + 12] = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0xdd);
    }
    _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++)
    {
        x[i] = _mm512_shuffle_f32x4(y[i], y[i + 8], 0x88);
        x[i + 8] = _mm512_shuffle_f32x4(y[i], y[i + 8], 0xdd);
        x[i + 4] = _mm512_shuffle_f32x4(y[i + 4], y[i + 12], 0x88);
        x[i + 12] = _mm512_shuffle_f32x4(y[i + 4], y[i + 12], 0xdd);
    }
}

#define NAME(x) cols32_##x
#define R 2
#include "cols.inc"
#undef NAME
#undef R

#define NAME(x) cols64_##x
#define R 4
#include "cols.inc"

const variant wide[] = {
    {"forward", "cols32 × time, AVX-512 intrinsics", cols32_forward, 32, 0},
    {"forward", "cols64 × time, AVX-512 intrinsics", cols64_forward, 64, 0},
    {0},
};
