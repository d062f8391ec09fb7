/* The delta rule row by row: a row of M outside, time inside, so that the row
 * stays in the first cache. Backward, the states of a segment of that row are
 * rebuilt from its checkpoint. Within a row the write and the read share a loop,
 * as do the sums of the backward pass: with a loop for each of them the code is
 * about 1.3 times slower. rows_*: one accumulator to a sum; rows4_*: four.
 *
 *     gcc -O2 -shared -fPIC -o rows.so rows.c
 *
 * gives rows_forward, rows_backward, rows4_forward and rows4_backward. */
#include "delta.h"

#ifndef PUBLIC
#define PUBLIC
#endif

/* One accumulator. */

static REAL rows_dot(const REAL *a, const REAL *b, int d)
{
    REAL sum = 0;
    for (int j = 0; j < d; j++)
        sum += a[j] * b[j];
    return sum;
}

/* m = r m - s k; returns m . q */
static REAL rows_write_read(REAL *restrict m, const REAL *restrict k, const REAL *restrict q, REAL r, REAL s,
                                int d)
{
    REAL sum = 0;
    for (int j = 0; j < d; j++) {
        m[j] = r * m[j] - s * k[j];
        sum += m[j] * q[j];
    }
    return sum;
}

/* dq += dy new; g += dy q; then gk = g . k and gm = g . old */
static void rows_read_adjoint(REAL *restrict g, REAL *restrict dq, REAL dy, const REAL *restrict q,
                                  const REAL *restrict k, const REAL *restrict old, const REAL *restrict new, int d,
                                  REAL *gk, REAL *gm)
{
    REAL sk = 0, sm = 0;
    for (int j = 0; j < d; j++) {
        dq[j] += dy * new[j];
        g[j] += dy * q[j];
        sk += g[j] * k[j];
        sm += g[j] * old[j];
    }
    *gk = sk;
    *gm = sm;
}

/* Four accumulators; d is a multiple of 4 or the rest goes to the first. */

static REAL rows4_dot(const REAL *a, const REAL *b, int d)
{
    REAL s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int j = 0;
    for (; j + 3 < d; j += 4) {
        s0 += a[j] * b[j];
        s1 += a[j + 1] * b[j + 1];
        s2 += a[j + 2] * b[j + 2];
        s3 += a[j + 3] * b[j + 3];
    }
    for (; j < d; j++)
        s0 += a[j] * b[j];
    return (s0 + s1) + (s2 + s3);
}

static REAL rows4_write_read(REAL *restrict m, const REAL *restrict k, const REAL *restrict q, REAL r, REAL s, int d)
{
    REAL s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int j = 0;
    for (; j + 3 < d; j += 4) {
        m[j] = r * m[j] - s * k[j];
        m[j + 1] = r * m[j + 1] - s * k[j + 1];
        m[j + 2] = r * m[j + 2] - s * k[j + 2];
        m[j + 3] = r * m[j + 3] - s * k[j + 3];
        s0 += m[j] * q[j];
        s1 += m[j + 1] * q[j + 1];
        s2 += m[j + 2] * q[j + 2];
        s3 += m[j + 3] * q[j + 3];
    }
    for (; j < d; j++) {
        m[j] = r * m[j] - s * k[j];
        s0 += m[j] * q[j];
    }
    return (s0 + s1) + (s2 + s3);
}

static void rows4_read_adjoint(REAL *restrict g, REAL *restrict dq, REAL dy, const REAL *restrict q,
                              const REAL *restrict k, const REAL *restrict old, const REAL *restrict new, int d,
                              REAL *gk, REAL *gm)
{
    REAL k0 = 0, k1 = 0, k2 = 0, k3 = 0, m0 = 0, m1 = 0, m2 = 0, m3 = 0;
    int j = 0;
    for (; j + 3 < d; j += 4) {
        dq[j] += dy * new[j];
        dq[j + 1] += dy * new[j + 1];
        dq[j + 2] += dy * new[j + 2];
        dq[j + 3] += dy * new[j + 3];
        g[j] += dy * q[j];
        g[j + 1] += dy * q[j + 1];
        g[j + 2] += dy * q[j + 2];
        g[j + 3] += dy * q[j + 3];
        k0 += g[j] * k[j];
        k1 += g[j + 1] * k[j + 1];
        k2 += g[j + 2] * k[j + 2];
        k3 += g[j + 3] * k[j + 3];
        m0 += g[j] * old[j];
        m1 += g[j + 1] * old[j + 1];
        m2 += g[j + 2] * old[j + 2];
        m3 += g[j + 3] * old[j + 3];
    }
    for (; j < d; j++) {
        dq[j] += dy * new[j];
        g[j] += dy * q[j];
        k0 += g[j] * k[j];
        m0 += g[j] * old[j];
    }
    *gk = (k0 + k1) + (k2 + k3);
    *gm = (m0 + m1) + (m2 + m3);
}

#define NAME(x) rows_##x
#include "rows.inc"
#undef NAME

#define NAME(x) rows4_##x
#include "rows.inc"
#undef NAME
