/* The rules whose memory is W2 silu(W1 k): MONETA, YAAD, MEMORA. What they share is
 * the inner gradient, the outer products s k^T and b h^T below, and its adjoint;
 * what a rule does with it is its own.
 *
 *     z = W1 k, h = silu(z), r = W2 h - v, b = slope(r), w = W2^T b, s = silu'(z) w */
#include "rule.h"

#include <math.h>
#include <string.h>
#include <tgmath.h>

enum { Z, R, B, W, S, H, ZQ, HQ }; /* activations; the last two are of the read */
enum { PLAIN, BOUNDED, POWER };    /* slopes */

static inline REAL sigmoid(REAL x) { return 1 / (1 + exp(-x)); }

static inline REAL silu1(REAL x)
{
    REAL p = sigmoid(x);
    return p + x * p * (1 - p);
}

static inline REAL silu2(REAL x)
{
    REAL p = sigmoid(x);
    return p * (1 - p) * (2 + x * (1 - 2 * p));
}

static inline REAL slope(int bias, REAL r)
{
    if (bias == BOUNDED)
        return r > 1 ? 1 : r < -1 ? -1 : r;
    return bias == POWER ? tanh(10 * r) * (r * r + (REAL)1e-6) : r;
}

static inline REAL bend(int bias, REAL r)
{
    if (bias == BOUNDED)
        return r > 1 || r < -1 ? 0 : 1;
    REAL u = tanh(10 * r);
    return bias == POWER ? 10 * (1 - u * u) * (r * r + (REAL)1e-6) + 2 * u * r : 1;
}

static inline void write_forward(const call *c, int t, int bias, const REAL *W1, const REAL *W2)
{
    int d = c->d;
    const REAL *v = AT(c, vec[V], t);
    REAL *z = ACT(c, Z, t), *h = ACT(c, H, t), *r = ACT(c, R, t), *b = ACT(c, B, t), *w = ACT(c, W, t), *s = ACT(c, S, t);
    apply(d, W1, AT(c, vec[K], t), z);
    for (int i = 0; i < d; i++)
        h[i] = z[i] * sigmoid(z[i]);
    apply(d, W2, h, r);
    for (int i = 0; i < d; i++) {
        r[i] -= v[i];
        b[i] = slope(bias, r[i]);
    }
    zero(d, w);
    back(d, 1, W2, b, w);
    for (int i = 0; i < d; i++)
        s[i] = silu1(z[i]) * w[i];
}

static inline void read_forward(const call *c, int t, const REAL *W1, const REAL *W2)
{
    REAL *z = ACT(c, ZQ, t), *h = ACT(c, HQ, t);
    apply(c->d, W1, AT(c, vec[Q], t), z);
    for (int i = 0; i < c->d; i++)
        h[i] = z[i] * sigmoid(z[i]);
    apply(c->d, W2, h, AT(c, y, t));
}

/* The adjoint of W2 is dy h^T, that of W1 dz q^T. */
static inline void read_backward(const call *c, int t, const REAL *W1, const REAL *W2, REAL *dz)
{
    REAL *z = ACT(c, ZQ, t), *dq = AT(c, dvec[Q], t);
    zero(c->d, dz), zero(c->d, dq);
    back(c->d, 1, W2, AT(c, dy, t), dz);
    for (int i = 0; i < c->d; i++)
        dz[i] *= silu1(z[i]);
    back(c->d, 1, W1, dz, dq);
}

/* From -theta P1 and -theta P2, the adjoints of the two outer products: those of
 * key, value and rate, and of the weights dz k^T and b dw^T + dr h^T. */
static inline void write_backward(const call *c, int t, int bias, const REAL *W1, const REAL *W2, const REAL *P1,
                                  const REAL *P2, REAL *dz, REAL *dw, REAL *dr)
{
    int d = c->d;
    REAL theta = c->gate[THETA][t], *k = AT(c, vec[K], t), *dk = AT(c, dvec[K], t), *dv = AT(c, dvec[V], t);
    REAL *z = ACT(c, Z, t), *h = ACT(c, H, t), *r = ACT(c, R, t), *b = ACT(c, B, t), *w = ACT(c, W, t), *s = ACT(c, S, t);
    REAL *u = c->work, *a = u + d, *dh = a + d;
    apply(d, P1, k, u);
    apply(d, P2, h, a);
    c->dgate[THETA][t] = -dot(d, s, u) - dot(d, b, a);
    zero(d, dk), zero(d, dh);
    back(d, -theta, P1, s, dk);
    back(d, -theta, P2, b, dh);
    for (int i = 0; i < d; i++) {
        REAL ds = -theta * u[i];
        dw[i] = silu1(z[i]) * ds;
        dz[i] = silu2(z[i]) * w[i] * ds;
    }
    apply(d, W2, dw, dr);
    for (int i = 0; i < d; i++) {
        dr[i] = bend(bias, r[i]) * (dr[i] - theta * a[i]);
        dv[i] = -dr[i];
    }
    back(d, 1, W2, dr, dh);
    for (int i = 0; i < d; i++)
        dz[i] += silu1(z[i]) * dh[i];
    back(d, 1, W1, dz, dk);
}

/* G = keep G + a b^T + e f^T - move B, with what the gates and anchors see of it. */
static inline void kept(const call *c, int t, int layer, REAL keep, REAL pull, const REAL *restrict a, const REAL *restrict b,
                        const REAL *restrict e, const REAL *restrict f)
{
    int d = c->d;
    const REAL *restrict M = STATE(c, layer, t), *restrict anchor = c->anchor[layer];
    REAL *restrict G = c->G[layer], *restrict dB = c->danchor[layer], keeps = 0, pulls = 0, theta = c->gate[THETA][t];
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            REAL g = G[i * d + j], m = M[i * d + j];
            keeps += g * m;
            pulls += g * (2 * m - anchor[i * d + j]);
            dB[i * d + j] += theta * pull * g;
            G[i * d + j] = keep * g + a[i] * b[j] + e[i] * f[j];
        }
    c->dgate[RHO][t] += keeps, c->dgate[THETA][t] -= pull * pulls;
}

void run_yaad(const call *c)
{
    int d = c->d;
    const REAL pull = (REAL)0.02; /* twice each of the two strengths */
    REAL *dz = c->work + 4 * d, *dw = dz + d, *dr = dw + d, *none = dr + d;
    for (int t = 0; t < c->T; t++) {
        REAL rho = c->gate[RHO][t], theta = c->gate[THETA][t], keep = rho - 2 * pull * theta;
        write_forward(c, t, BOUNDED, STATE(c, 0, t), STATE(c, 1, t));
        for (int layer = 0; layer < 2; layer++) {
            const REAL *restrict m = STATE(c, layer, t), *restrict anchor = c->anchor[layer];
            const REAL *restrict a = layer ? ACT(c, B, t) : ACT(c, S, t), *restrict b = layer ? ACT(c, H, t) : AT(c, vec[K], t);
            REAL *restrict n = STATE(c, layer, t + 1);
            for (int i = 0; i < d; i++)
                for (int j = 0; j < d; j++)
                    n[i * d + j] = keep * m[i * d + j] + theta * pull * anchor[i * d + j] - theta * a[i] * b[j];
        }
        read_forward(c, t, STATE(c, 0, t + 1), STATE(c, 1, t + 1));
    }
    zero(d, none), zero((long)d * d, c->danchor[0]), zero((long)d * d, c->danchor[1]);
    for (int t = c->T - 1; t >= 0; t--) {
        REAL keep = c->gate[RHO][t] - 2 * pull * c->gate[THETA][t];
        read_backward(c, t, STATE(c, 0, t + 1), STATE(c, 1, t + 1), dz);
        outer(d, dz, AT(c, vec[Q], t), c->G[0]);
        outer(d, AT(c, dy, t), ACT(c, HQ, t), c->G[1]);
        write_backward(c, t, BOUNDED, STATE(c, 0, t), STATE(c, 1, t), c->G[0], c->G[1], dz, dw, dr);
        c->dgate[RHO][t] = 0;
        kept(c, t, 0, keep, pull, dz, AT(c, vec[K], t), none, none);
        kept(c, t, 1, keep, pull, ACT(c, B, t), dw, dr, ACT(c, H, t));
    }
}

/* The image of a state under the mirror map at the exponent 4. */
static REAL image(long n, const REAL *restrict M, REAL *restrict A)
{
    REAL sum = 0;
    for (long i = 0; i < n; i++)
        sum += M[i] * M[i] * M[i] * M[i];
    REAL s = 1 / (3 * sqrt(sum));
    for (long i = 0; i < n; i++)
        A[i] = s * M[i] * M[i] * M[i];
    return sum;
}

/* G += what a b^T + e f^T, the adjoint of the image, is for the state. */
static void unmapped(int d, REAL sum, const REAL *restrict M, const REAL *restrict a, const REAL *restrict b,
                     const REAL *restrict e, const REAL *restrict f, REAL *restrict G)
{
    REAL x = 0, root = 1 / sqrt(sum);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            REAL m = M[i * d + j];
            x += (a[i] * b[j] + e[i] * f[j]) * m * m * m;
        }
    x *= 2 * root / (3 * sum);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            REAL m = M[i * d + j];
            G[i * d + j] += m * m * (root * (a[i] * b[j] + e[i] * f[j]) - x * m);
        }
}

void run_moneta(const call *c)
{
    int d = c->d;
    long n = (long)d * d;
    REAL *dz = c->work + 4 * d, *dw = dz + d, *dr = dw + d, *none = dr + d, *A1 = c->work + 32 * d, *A2 = A1 + n;
    for (int t = 0; t < c->T; t++) {
        REAL rho = c->gate[RHO][t], theta = c->gate[THETA][t];
        image(n, STATE(c, 0, t), A1), image(n, STATE(c, 1, t), A2);
        write_forward(c, t, POWER, A1, A2);
        for (int layer = 0; layer < 2; layer++) {
            const REAL *restrict a = layer ? ACT(c, B, t) : ACT(c, S, t), *restrict b = layer ? ACT(c, H, t) : AT(c, vec[K], t);
            const REAL *restrict old = STATE(c, layer, t);
            REAL *restrict new = STATE(c, layer, t + 1);
            for (int i = 0; i < d; i++)
                for (int j = 0; j < d; j++)
                    new[i * d + j] = rho * old[i * d + j] - theta * a[i] * b[j];
        }
        image(n, STATE(c, 0, t + 1), A1), image(n, STATE(c, 1, t + 1), A2);
        read_forward(c, t, A1, A2);
    }
    zero(d, none);
    for (int t = c->T - 1; t >= 0; t--) {
        REAL rho = c->gate[RHO][t], sum1 = image(n, STATE(c, 0, t + 1), A1), sum2 = image(n, STATE(c, 1, t + 1), A2);
        read_backward(c, t, A1, A2, dz);
        unmapped(d, sum1, STATE(c, 0, t + 1), dz, AT(c, vec[Q], t), none, none, c->G[0]);
        unmapped(d, sum2, STATE(c, 1, t + 1), AT(c, dy, t), ACT(c, HQ, t), none, none, c->G[1]);
        sum1 = image(n, STATE(c, 0, t), A1), sum2 = image(n, STATE(c, 1, t), A2);
        write_backward(c, t, POWER, A1, A2, c->G[0], c->G[1], dz, dw, dr);
        c->dgate[RHO][t] = dot(n, c->G[0], STATE(c, 0, t)) + dot(n, c->G[1], STATE(c, 1, t));
        for (long i = 0; i < n; i++)
            c->G[0][i] *= rho, c->G[1][i] *= rho;
        unmapped(d, sum1, STATE(c, 0, t), dz, AT(c, vec[K], t), none, none, c->G[0]);
        unmapped(d, sum2, STATE(c, 1, t), ACT(c, B, t), dw, dr, ACT(c, H, t), c->G[1]);
    }
}

static const REAL least = (REAL)1e-8; /* of what a logarithm is taken of */

/* new = softmax of each row of rho log old - theta a b^T */
static void normalised(int d, REAL rho, REAL theta, const REAL *restrict old, const REAL *restrict a, const REAL *restrict b,
                       REAL *restrict new)
{
    for (int i = 0; i < d; i++) {
        REAL most = -INFINITY, sum = 0;
        for (int j = 0; j < d; j++) {
            REAL m = old[i * d + j];
            new[i * d + j] = rho * log(m > least ? m : least) - theta * a[i] * b[j];
            most = new[i * d + j] > most ? new[i * d + j] : most;
        }
        for (int j = 0; j < d; j++) {
            new[i * d + j] = exp(new[i * d + j] - most);
            sum += new[i * d + j];
        }
        for (int j = 0; j < d; j++)
            new[i * d + j] /= sum;
    }
}

void run_memora(const call *c)
{
    int d = c->d;
    REAL *dz = c->work + 4 * d, *dw = dz + d, *dr = dw + d, *P[2] = {c->work + 32 * d, c->work + 32 * d + d * d};
    for (int t = 0; t < c->T; t++) {
        REAL rho = c->gate[RHO][t], theta = c->gate[THETA][t];
        write_forward(c, t, PLAIN, STATE(c, 0, t), STATE(c, 1, t));
        normalised(d, rho, theta, STATE(c, 0, t), ACT(c, S, t), AT(c, vec[K], t), STATE(c, 0, t + 1));
        normalised(d, rho, theta, STATE(c, 1, t), ACT(c, B, t), ACT(c, H, t), STATE(c, 1, t + 1));
        read_forward(c, t, STATE(c, 0, t + 1), STATE(c, 1, t + 1));
    }
    for (int t = c->T - 1; t >= 0; t--) {
        REAL rho = c->gate[RHO][t], keeps = 0;
        read_backward(c, t, STATE(c, 0, t + 1), STATE(c, 1, t + 1), dz);
        outer(d, dz, AT(c, vec[Q], t), c->G[0]);
        outer(d, AT(c, dy, t), ACT(c, HQ, t), c->G[1]);
        for (int layer = 0; layer < 2; layer++)
            for (int i = 0; i < d; i++) {
                const REAL *restrict n = STATE(c, layer, t + 1) + i * d, *restrict g = c->G[layer] + i * d;
                REAL *restrict p = P[layer] + i * d, mean = dot(d, n, g);
                for (int j = 0; j < d; j++)
                    p[j] = n[j] * (g[j] - mean);
            }
        write_backward(c, t, PLAIN, STATE(c, 0, t), STATE(c, 1, t), P[0], P[1], dz, dw, dr);
        for (int i = 0; i < d; i++) {
            const REAL *restrict m1 = STATE(c, 0, t) + i * d, *restrict m2 = STATE(c, 1, t) + i * d, *restrict k = AT(c, vec[K], t);
            const REAL *restrict h = ACT(c, H, t), *restrict p1 = P[0] + i * d, *restrict p2 = P[1] + i * d;
            REAL *restrict g1 = c->G[0] + i * d, *restrict g2 = c->G[1] + i * d, b = ACT(c, B, t)[i];
            for (int j = 0; j < d; j++) {
                REAL a1 = m1[j] > least ? m1[j] : least, a2 = m2[j] > least ? m2[j] : least;
                keeps += p1[j] * log(a1) + p2[j] * log(a2);
                g1[j] = (m1[j] > least ? rho * p1[j] / a1 : 0) + dz[i] * k[j];
                g2[j] = (m2[j] > least ? rho * p2[j] / a2 : 0) + b * dw[j] + dr[i] * h[j];
            }
        }
        c->dgate[RHO][t] = keeps;
    }
}
