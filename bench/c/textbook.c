/* Textbook delta rule, forward and backward, and its timing. See textbook.h.
 *
 *     gcc -O2 -o textbook textbook.c -lm && ./textbook [ROUNDS]
 *
 * prints lines "name d ns": the median over the rounds of one pass of T = 512
 * tokens, the variants interleaved; lines that begin with # are for people. */
#include "textbook.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* One accumulator. */

static REAL textbook_dot(const REAL *a, const REAL *b, int d)
{
    REAL sum = 0;
    for (int j = 0; j < d; j++)
        sum += a[j] * b[j];
    return sum;
}

/* m = r m - s k; returns m . q */
static REAL textbook_write_read(REAL *restrict m, const REAL *restrict k, const REAL *restrict q, REAL r, REAL s,
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
static void textbook_read_adjoint(REAL *restrict g, REAL *restrict dq, REAL dy, const REAL *restrict q,
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

static REAL dot4_dot(const REAL *a, const REAL *b, int d)
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

static REAL dot4_write_read(REAL *restrict m, const REAL *restrict k, const REAL *restrict q, REAL r, REAL s, int d)
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

static void dot4_read_adjoint(REAL *restrict g, REAL *restrict dq, REAL dy, const REAL *restrict q,
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

#define NAME(x) textbook_##x
#include "kernels.inc"
#undef NAME

#define NAME(x) dot4_##x
#include "kernels.inc"
#undef NAME

#ifndef NO_MAIN

static uint64_t state;

/* uniform in [lo, hi) from splitmix64 */
static double uniform(double lo, double hi)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return lo + (hi - lo) * ((double)((z ^ z >> 31) >> 11) * 0x1p-53);
}

static REAL *reals(long n)
{
    REAL *p = malloc(n * sizeof *p);
    if (!p) {
        fputs("textbook: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static REAL *random_reals(long n, double lo, double hi)
{
    REAL *p = reals(n);
    for (long i = 0; i < n; i++)
        p[i] = uniform(lo, hi);
    return p;
}

/* rows of unit length, as the rule's front end gives them */
static REAL *unit_rows(int T, int d)
{
    REAL *p = random_reals((long)T * d, -1, 1);
    for (int t = 0; t < T; t++) {
        double square = 0;
        for (int j = 0; j < d; j++)
            square += (double)p[t * d + j] * p[t * d + j];
        for (int j = 0; j < d; j++)
            p[t * d + j] /= sqrt(square);
    }
    return p;
}

static double sum(const REAL *p, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += p[i];
    return s;
}

static int64_t now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t median(int64_t *ns, int n)
{
    qsort(ns, n, sizeof *ns, ascending);
    return n % 2 ? ns[n / 2] : (ns[n / 2 - 1] + ns[n / 2]) / 2;
}

enum { MAX_ROUNDS = 1000, VARIANTS = 2 };

static const struct {
    const char *name;
    delta_forward *forward;
    delta_backward *backward;
} variants[VARIANTS] = {
    {"textbook", textbook_forward, textbook_backward},
    {"dot4", dot4_forward, dot4_backward},
};

static void measure(int T, int d, int rounds)
{
    static int64_t ns[VARIANTS][2][MAX_ROUNDS];
    long n = (long)T * d, m = (long)d * d, segments = (T + CHECKPOINT - 1) / CHECKPOINT;
    state = d;
    REAL *k = unit_rows(T, d), *q = unit_rows(T, d), *v = random_reals(n, -1, 1);
    REAL *rho = random_reals(T, 0.9, 1), *theta = random_reals(T, 0.005, 0.05);
    REAL *M0 = random_reals(m, -0.1, 0.1), *dy = random_reals(n, -1, 1), *dMT = random_reals(m, -1, 1);
    REAL *y = reals(n), *e = reals(n), *checkpoints = reals(segments * m), *MT = reals(m);
    REAL *dk = reals(n), *dq = reals(n), *dv = reals(n), *drho = reals(T), *dtheta = reals(T), *dM0 = reals(m);
    REAL *work = reals((long)(CHECKPOINT + 2) * d);
    double check[VARIANTS][2];

    for (int r = -1; r < rounds; r++) { /* round -1 warms up */
        for (int i = 0; i < VARIANTS; i++) {
            int64_t t0 = now();
            variants[i].forward(T, d, k, q, v, rho, theta, M0, y, e, checkpoints, MT, work);
            int64_t t1 = now();
            variants[i].backward(T, d, k, q, v, rho, theta, e, checkpoints, dy, dMT, dk, dq, dv, drho, dtheta, dM0,
                                 work);
            int64_t t2 = now();
            if (r >= 0) {
                ns[i][0][r] = t1 - t0;
                ns[i][1][r] = t2 - t1;
            }
            check[i][0] = sum(y, n) + sum(MT, m);
            check[i][1] = sum(dk, n) + sum(dq, n) + sum(dv, n) + sum(drho, T) + sum(dtheta, T) + sum(dM0, m);
        }
    }
    for (int i = 0; i < VARIANTS; i++) {
        printf("%s_forward %d %lld\n", variants[i].name, d, (long long)median(ns[i][0], rounds));
        printf("%s_backward %d %lld\n", variants[i].name, d, (long long)median(ns[i][1], rounds));
        printf("# checksum %s %d %.9g %.9g\n", variants[i].name, d, check[i][0], check[i][1]);
    }
    REAL *all[] = {k, q, v, rho, theta, M0, dy, dMT, y, e, checkpoints, MT, dk, dq, dv, drho, dtheta, dM0, work};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 15;
    if (argc > 2 || rounds < 1 || rounds > MAX_ROUNDS) {
        fprintf(stderr, "usage: textbook [ROUNDS], 1 to %d\n", MAX_ROUNDS);
        return 2;
    }
    static const int widths[] = {64, 128, 256};
    for (int i = 0; i < 3; i++)
        measure(512, widths[i], rounds);
    return 0;
}

#endif
