/* Atlas Omega: the gradient of the last eight pairs, a momentum, and five rounds of
 * Newton and Schulz. Products of matrices are three loops, the inner one along rows;
 * of the iterates only those of the token at hand are kept. */
#include "rule.h"

#include <math.h>
#include <string.h>
#include <tgmath.h>

enum { PAIRS = 8, ROUNDS = 5 };
static const REAL ca = (REAL)3.4445, cb = (REAL)-4.7750, cc = (REAL)2.0315;

/* C = s A B */
static void multiply(int d, REAL s, const REAL *restrict A, const REAL *restrict B, REAL *restrict C)
{
    zero((long)d * d, C);
    for (int i = 0; i < d; i++)
        for (int l = 0; l < d; l++) {
            REAL a = s * A[i * d + l];
            for (int j = 0; j < d; j++)
                C[i * d + j] += a * B[l * d + j];
        }
}

/* C = A B^T */
static void multiply_rows(int d, const REAL *restrict A, const REAL *restrict B, REAL *restrict C)
{
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++)
            C[i * d + j] = dot(d, A + i * d, B + j * d);
}

/* A = X X^T, F = b A + c A A, and the next X = a X + F X. */
static void rounds(int d, REAL *X, REAL *A, REAL *F)
{
    long n = (long)d * d;
    for (int r = 0; r < ROUNDS; r++, X += n, A += n, F += n) {
        multiply_rows(d, X, X, A);
        multiply(d, cc, A, A, F);
        for (long i = 0; i < n; i++)
            F[i] += cb * A[i];
        multiply(d, 1, F, X, X + n);
        for (long i = 0; i < n; i++)
            X[n + i] += ca * X[i];
    }
}

/* D is the adjoint of the last X and becomes that of the first. F is symmetric. */
static void rounds_back(int d, const REAL *X, const REAL *A, const REAL *F, REAL *restrict D, REAL *dF, REAL *dA, REAL *t)
{
    long n = (long)d * d;
    for (int r = ROUNDS - 1; r >= 0; r--) {
        const REAL *x = X + r * n, *a = A + r * n, *f = F + r * n;
        multiply_rows(d, D, x, dF);
        multiply(d, cc, a, dF, dA);
        multiply(d, cc, dF, a, t);
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++)
                dA[i * d + j] += t[i * d + j] + cb * dF[i * d + j];
        for (int i = 0; i < d; i++)
            for (int j = 0; j <= i; j++)
                dF[i * d + j] = dF[j * d + i] = dA[i * d + j] + dA[j * d + i];
        multiply(d, 1, dF, x, t);
        multiply(d, 1, f, D, dA);
        for (long i = 0; i < n; i++)
            D[i] = ca * D[i] + dA[i] + t[i];
    }
}

/* The first iterate of a momentum, and its norm. */
static REAL first(long n, const REAL *S, REAL *X)
{
    REAL norm = sqrt(dot(n, S, S));
    for (long i = 0; i < n; i++)
        X[i] = S[i] / (norm + (REAL)1e-7);
    return norm;
}

/* The errors of the pairs that token t sees, taken with the state before it. */
static int errors(const call *c, int t, REAL *e)
{
    int from = t < PAIRS ? 0 : t - PAIRS + 1;
    for (int s = from; s <= t; s++, e += c->d) {
        apply(c->d, STATE(c, 0, t), AT(c, vec[K], s), e);
        for (int i = 0; i < c->d; i++)
            e[i] -= AT(c, vec[V], s)[i];
    }
    return from;
}

void run_omega(const call *c)
{
    int d = c->d;
    long n = (long)d * d;
    REAL *e = c->work, *u = e + PAIRS * d, *X = c->work + 32 * d, *A = X + (ROUNDS + 1) * n, *F = A + ROUNDS * n;
    REAL *D = F + ROUNDS * n, *s1 = D + n, *s2 = s1 + n, *s3 = s2 + n;
    for (int t = 0; t < c->T; t++) {
        REAL *restrict N = STATE(c, 1, t + 1), rho = c->gate[RHO][t], theta = c->gate[THETA][t], eta = c->gate[ETA][t];
        int from = errors(c, t, e);
        for (long i = 0; i < n; i++)
            N[i] = eta * STATE(c, 1, t)[i];
        for (int s = from; s <= t; s++) {
            for (int i = 0; i < d; i++)
                u[i] = e[(s - from) * d + i] * 2 / PAIRS;
            outer(d, u, AT(c, vec[K], s), N);
        }
        first(n, N, X);
        rounds(d, X, A, F);
        for (long i = 0; i < n; i++)
            STATE(c, 0, t + 1)[i] = rho * STATE(c, 0, t)[i] - theta * X[ROUNDS * n + i];
        apply(d, STATE(c, 0, t + 1), AT(c, vec[Q], t), AT(c, y, t));
    }
    zero((long)c->T * d, c->dvec[K]), zero((long)c->T * d, c->dvec[V]);
    for (int t = c->T - 1; t >= 0; t--) {
        REAL *restrict G = c->G[0], *restrict H = c->G[1], rho = c->gate[RHO][t], theta = c->gate[THETA][t], eta = c->gate[ETA][t];
        REAL *dq = AT(c, dvec[Q], t);
        const REAL *S = STATE(c, 1, t + 1);
        REAL norm = first(n, S, X), scale = 1 / (norm + (REAL)1e-7);
        rounds(d, X, A, F);
        zero(d, dq);
        back(d, 1, STATE(c, 0, t + 1), AT(c, dy, t), dq);
        outer(d, AT(c, dy, t), AT(c, vec[Q], t), G);
        c->dgate[RHO][t] = dot(n, G, STATE(c, 0, t));
        c->dgate[THETA][t] = -dot(n, G, X + ROUNDS * n);
        for (long i = 0; i < n; i++)
            D[i] = -theta * G[i];
        rounds_back(d, X, A, F, D, s1, s2, s3);
        REAL along = norm > 0 ? dot(n, D, S) * scale * scale / norm : 0;
        for (long i = 0; i < n; i++)
            H[i] += scale * D[i] - along * S[i];
        c->dgate[ETA][t] = dot(n, H, STATE(c, 1, t));
        int from = errors(c, t, e);
        for (long i = 0; i < n; i++)
            G[i] *= rho;
        for (int s = from; s <= t; s++) {
            apply(d, H, AT(c, vec[K], s), u);
            back(d, (REAL)2 / PAIRS, H, e + (s - from) * d, AT(c, dvec[K], s));
            back(d, (REAL)2 / PAIRS, STATE(c, 0, t), u, AT(c, dvec[K], s));
            for (int i = 0; i < d; i++) {
                u[i] *= (REAL)2 / PAIRS;
                AT(c, dvec[V], s)[i] -= u[i];
            }
            outer(d, u, AT(c, vec[K], s), G);
        }
        for (long i = 0; i < n; i++)
            H[i] *= eta;
    }
}
