/* Lattice and Trellis: slots on the sphere, and two passes. */
#include "rule.h"

#include <math.h>
#include <tgmath.h>

static inline REAL sigmoid(REAL x) { return 1 / (1 + exp(-x)); }

/* a is the residual v - S^T k, S' = U / |U| with U = S + theta k_i (a - (S_i a) S_i). */
enum { A, INNER, LENGTH, P };

void run_lattice(const call *c)
{
    int d = c->d;
    REAL *dz = c->work, *w = dz + d, *da = w + d;
    for (int t = 0; t < c->T; t++) {
        const REAL *restrict S = STATE(c, 0, t), *restrict k = AT(c, vec[K], t), *restrict q = AT(c, vec[Q], t);
        REAL *restrict N = STATE(c, 0, t + 1), *restrict a = ACT(c, A, t), *restrict inner = ACT(c, INNER, t);
        REAL *restrict length = ACT(c, LENGTH, t), *restrict p = ACT(c, P, t), *restrict y = AT(c, y, t), most = -INFINITY, sum = 0;
        for (int j = 0; j < d; j++)
            a[j] = AT(c, vec[V], t)[j];
        back(d, -1, S, k, a);
        for (int i = 0; i < d; i++) {
            const REAL *restrict s = S + i * d;
            REAL *restrict n = N + i * d, step = c->gate[THETA][t] * k[i], square = 0, fit = 0;
            inner[i] = dot(d, s, a);
            for (int j = 0; j < d; j++) {
                n[j] = s[j] + step * (a[j] - inner[i] * s[j]);
                square += n[j] * n[j];
                fit += n[j] * q[j];
            }
            length[i] = sqrt(square);
            p[i] = fit / length[i];
            most = p[i] > most ? p[i] : most;
            for (int j = 0; j < d; j++)
                n[j] /= length[i];
        }
        for (int i = 0; i < d; i++)
            sum += p[i] = exp(p[i] - most);
        for (int i = 0; i < d; i++)
            p[i] /= sum;
        zero(d, y);
        back(d, 1, N, p, y);
    }
    for (int t = c->T - 1; t >= 0; t--) {
        const REAL *restrict S = STATE(c, 0, t), *restrict N = STATE(c, 0, t + 1), *restrict a = ACT(c, A, t);
        const REAL *restrict k = AT(c, vec[K], t), *restrict q = AT(c, vec[Q], t), *restrict p = ACT(c, P, t);
        const REAL *restrict dy = AT(c, dy, t);
        REAL *restrict G = c->G[0], *restrict dk = AT(c, dvec[K], t), *restrict dq = AT(c, dvec[Q], t), theta = c->gate[THETA][t], rates = 0;
        apply(d, N, dy, w);
        REAL mean = dot(d, p, w);
        for (int i = 0; i < d; i++)
            dz[i] = p[i] * (w[i] - mean);
        zero(d, dq), zero(d, da);
        back(d, 1, N, dz, dq);
        for (int i = 0; i < d; i++) {
            const REAL *restrict s = S + i * d, *restrict n = N + i * d;
            REAL *restrict g = G + i * d, ng = 0, ea = 0, es = 0, inner = ACT(c, INNER, t)[i], step = theta * k[i];
            for (int j = 0; j < d; j++) {
                g[j] += p[i] * dy[j] + dz[i] * q[j];
                ng += n[j] * g[j];
            }
            REAL scale = 1 / ACT(c, LENGTH, t)[i];
            for (int j = 0; j < d; j++) {
                g[j] = scale * (g[j] - ng * n[j]);
                ea += g[j] * a[j];
                es += g[j] * s[j];
            }
            REAL moved = ea - inner * es, dinner = -step * es;
            dk[i] = theta * moved, rates += k[i] * moved;
            for (int j = 0; j < d; j++) {
                da[j] += step * g[j] + dinner * s[j];
                g[j] = (1 - step * inner) * g[j] + dinner * a[j];
            }
        }
        c->dgate[THETA][t] = rates;
        for (int j = 0; j < d; j++)
            AT(c, dvec[V], t)[j] = da[j];
        for (int i = 0; i < d; i++) {
            dk[i] -= dot(d, S + i * d, da);
            for (int j = 0; j < d; j++)
                G[i * d + j] -= k[i] * da[j];
        }
    }
}

enum { EK, ZX, C, EV, ZQ, CQ };

/* c = sqrt(d) silu(z) / sqrt(|silu(z)|^2 + 1e-6) */
static void nsilu(int d, const REAL *restrict z, REAL *restrict c)
{
    REAL square = (REAL)1e-6;
    for (int i = 0; i < d; i++) {
        c[i] = z[i] * sigmoid(z[i]);
        square += c[i] * c[i];
    }
    REAL s = sqrt(d / square);
    for (int i = 0; i < d; i++)
        c[i] *= s;
}

static void nsilu_back(int d, const REAL *restrict z, const REAL *restrict u, REAL *restrict dz)
{
    REAL square = (REAL)1e-6, along = 0;
    for (int i = 0; i < d; i++) {
        REAL s = z[i] * sigmoid(z[i]);
        square += s * s;
        along += s * u[i];
    }
    REAL scale = sqrt(d / square);
    for (int i = 0; i < d; i++) {
        REAL p = sigmoid(z[i]), s = z[i] * p;
        dz[i] = (p + s * (1 - p)) * scale * (u[i] - along / square * s);
    }
}

/* One pass: e = S a - b, S' = keep S - theta e a^T. */
static void pass(int d, REAL keep, REAL theta, const REAL *restrict S, const REAL *restrict a, const REAL *restrict b,
                 REAL *restrict e, REAL *restrict N)
{
    for (int i = 0; i < d; i++) {
        e[i] = dot(d, S + i * d, a) - b[i];
        for (int j = 0; j < d; j++)
            N[i * d + j] = keep * S[i * d + j] - theta * e[i] * a[j];
    }
}

/* Its adjoint: that of b, da added to, and what the gates see. */
static void pass_back(const call *c, int t, int which, const REAL *restrict a, const REAL *restrict e, REAL *restrict da, REAL *restrict db)
{
    int d = c->d;
    const REAL *restrict S = STATE(c, which, t);
    const REAL lambda = (REAL)0.01, theta = c->gate[THETA][t], keep = c->gate[RHO][t] - theta * lambda;
    REAL keeps = 0, rates = 0;
    for (int i = 0; i < d; i++) {
        const REAL *restrict s = S + i * d;
        REAL *restrict g = c->G[which] + i * d, ga = 0, gs = 0, b = theta * e[i];
        for (int j = 0; j < d; j++) {
            ga += g[j] * a[j];
            gs += g[j] * s[j];
        }
        REAL de = -theta * ga;
        keeps += gs, rates -= e[i] * ga + lambda * gs, db[i] = -de;
        for (int j = 0; j < d; j++) {
            da[j] += de * s[j] - b * g[j];
            g[j] = keep * g[j] + de * a[j];
        }
    }
    c->dgate[RHO][t] += keeps, c->dgate[THETA][t] += rates;
}

void run_trellis(const call *c)
{
    int d = c->d;
    REAL *u = c->work, *dz = u + d;
    for (int t = 0; t < c->T; t++) {
        REAL theta = c->gate[THETA][t], keep = c->gate[RHO][t] - theta * (REAL)0.01;
        pass(d, keep, theta, STATE(c, 0, t), AT(c, vec[X], t), AT(c, vec[K], t), ACT(c, EK, t), STATE(c, 0, t + 1));
        apply(d, STATE(c, 0, t + 1), AT(c, vec[X], t), ACT(c, ZX, t));
        nsilu(d, ACT(c, ZX, t), ACT(c, C, t));
        pass(d, keep, theta, STATE(c, 1, t), ACT(c, C, t), AT(c, vec[V], t), ACT(c, EV, t), STATE(c, 1, t + 1));
        apply(d, STATE(c, 0, t + 1), AT(c, vec[Q], t), ACT(c, ZQ, t));
        nsilu(d, ACT(c, ZQ, t), ACT(c, CQ, t));
        apply(d, STATE(c, 1, t + 1), ACT(c, CQ, t), AT(c, y, t));
    }
    for (int t = c->T - 1; t >= 0; t--) {
        REAL *dx = AT(c, dvec[X], t), *dq = AT(c, dvec[Q], t);
        c->dgate[RHO][t] = c->dgate[THETA][t] = 0;
        zero(d, u), zero(d, dx), zero(d, dq);
        outer(d, AT(c, dy, t), ACT(c, CQ, t), c->G[1]);
        back(d, 1, STATE(c, 1, t + 1), AT(c, dy, t), u);
        nsilu_back(d, ACT(c, ZQ, t), u, dz);
        outer(d, dz, AT(c, vec[Q], t), c->G[0]);
        back(d, 1, STATE(c, 0, t + 1), dz, dq);
        zero(d, u);
        pass_back(c, t, 1, ACT(c, C, t), ACT(c, EV, t), u, AT(c, dvec[V], t));
        nsilu_back(d, ACT(c, ZX, t), u, dz);
        outer(d, dz, AT(c, vec[X], t), c->G[0]);
        back(d, 1, STATE(c, 0, t + 1), dz, dx);
        pass_back(c, t, 0, AT(c, vec[X], t), ACT(c, EK, t), dx, AT(c, dvec[K], t));
    }
}
