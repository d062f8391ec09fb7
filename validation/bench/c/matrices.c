/* The rules whose state is one matrix of which no row sees another: delta, Titans,
 * Hebbian. A row is read once for the error, then written and read in one loop. */
#include "rule.h"

void run_delta(const call *c)
{
    int d = c->d;
    for (int t = 0; t < c->T; t++) {
        const REAL *restrict k = AT(c, vec[K], t), *restrict q = AT(c, vec[Q], t), *restrict v = AT(c, vec[V], t);
        REAL *restrict e = ACT(c, 0, t), rho = c->gate[RHO][t], theta = c->gate[THETA][t];
        for (int i = 0; i < d; i++) {
            const REAL *restrict m = STATE(c, 0, t) + i * d;
            REAL *restrict n = STATE(c, 0, t + 1) + i * d, y = 0;
            e[i] = dot(d, m, k) - v[i];
            REAL s = theta * e[i];
            for (int j = 0; j < d; j++) {
                n[j] = rho * m[j] - s * k[j];
                y += n[j] * q[j];
            }
            AT(c, y, t)[i] = y;
        }
    }
    for (int t = c->T - 1; t >= 0; t--) {
        const REAL *restrict k = AT(c, vec[K], t), *restrict q = AT(c, vec[Q], t), *restrict dy = AT(c, dy, t);
        const REAL *restrict e = ACT(c, 0, t), rho = c->gate[RHO][t], theta = c->gate[THETA][t];
        REAL *restrict dk = AT(c, dvec[K], t), *restrict dq = AT(c, dvec[Q], t), keeps = 0, rates = 0;
        zero(d, dk), zero(d, dq);
        for (int i = 0; i < d; i++) {
            const REAL *restrict m = STATE(c, 0, t) + i * d, *restrict n = STATE(c, 0, t + 1) + i * d;
            REAL *restrict g = c->G[0] + i * d, gk = 0, gm = 0, s = theta * e[i];
            for (int j = 0; j < d; j++) {
                dq[j] += dy[i] * n[j];
                g[j] += dy[i] * q[j];
                gk += g[j] * k[j];
                gm += g[j] * m[j];
            }
            REAL de = -theta * gk;
            keeps += gm, rates -= e[i] * gk;
            AT(c, dvec[V], t)[i] = -de;
            for (int j = 0; j < d; j++) {
                dk[j] += de * m[j] - s * g[j];
                g[j] = rho * g[j] + de * k[j];
            }
        }
        c->dgate[RHO][t] = keeps, c->dgate[THETA][t] = rates;
    }
}

void run_titans(const call *c)
{
    int d = c->d;
    for (int t = 0; t < c->T; t++) {
        const REAL *restrict k = AT(c, vec[K], t), *restrict q = AT(c, vec[Q], t), *restrict v = AT(c, vec[V], t);
        REAL *restrict e = ACT(c, 0, t), rho = c->gate[RHO][t], theta = c->gate[THETA][t], eta = c->gate[ETA][t];
        for (int i = 0; i < d; i++) {
            const REAL *restrict m = STATE(c, 0, t) + i * d, *restrict s = STATE(c, 1, t) + i * d;
            REAL *restrict n = STATE(c, 0, t + 1) + i * d, *restrict u = STATE(c, 1, t + 1) + i * d, y = 0;
            e[i] = dot(d, m, k) - v[i];
            REAL a = theta * e[i];
            for (int j = 0; j < d; j++) {
                u[j] = eta * s[j] - a * k[j];
                n[j] = rho * m[j] + u[j];
                y += n[j] * q[j];
            }
            AT(c, y, t)[i] = y;
        }
    }
    for (int t = c->T - 1; t >= 0; t--) {
        const REAL *restrict k = AT(c, vec[K], t), *restrict q = AT(c, vec[Q], t), *restrict dy = AT(c, dy, t);
        const REAL *restrict e = ACT(c, 0, t), rho = c->gate[RHO][t], theta = c->gate[THETA][t], eta = c->gate[ETA][t];
        REAL *restrict dk = AT(c, dvec[K], t), *restrict dq = AT(c, dvec[Q], t), keeps = 0, rates = 0, fades = 0;
        zero(d, dk), zero(d, dq);
        for (int i = 0; i < d; i++) {
            const REAL *restrict m = STATE(c, 0, t) + i * d, *restrict n = STATE(c, 0, t + 1) + i * d;
            const REAL *restrict s = STATE(c, 1, t) + i * d;
            REAL *restrict g = c->G[0] + i * d, *restrict h = c->G[1] + i * d, hk = 0, gm = 0, hs = 0, a = theta * e[i];
            for (int j = 0; j < d; j++) {
                dq[j] += dy[i] * n[j];
                g[j] += dy[i] * q[j];
                h[j] += g[j];
                hk += h[j] * k[j];
                gm += g[j] * m[j];
                hs += h[j] * s[j];
            }
            REAL de = -theta * hk;
            keeps += gm, rates -= e[i] * hk, fades += hs;
            AT(c, dvec[V], t)[i] = -de;
            for (int j = 0; j < d; j++) {
                dk[j] += de * m[j] - a * h[j];
                g[j] = rho * g[j] + de * k[j];
                h[j] *= eta;
            }
        }
        c->dgate[RHO][t] = keeps, c->dgate[THETA][t] = rates, c->dgate[ETA][t] = fades;
    }
}

void run_hebbian(const call *c)
{
    int d = c->d;
    for (int t = 0; t < c->T; t++) {
        const REAL *restrict k = AT(c, vec[K], t), *restrict q = AT(c, vec[Q], t), *restrict v = AT(c, vec[V], t);
        REAL rho = c->gate[RHO][t];
        for (int i = 0; i < d; i++) {
            const REAL *restrict m = STATE(c, 0, t) + i * d;
            REAL *restrict n = STATE(c, 0, t + 1) + i * d, y = 0;
            for (int j = 0; j < d; j++) {
                n[j] = rho * m[j] + v[i] * k[j];
                y += n[j] * q[j];
            }
            AT(c, y, t)[i] = y;
        }
    }
    for (int t = c->T - 1; t >= 0; t--) {
        const REAL *restrict k = AT(c, vec[K], t), *restrict q = AT(c, vec[Q], t), *restrict v = AT(c, vec[V], t);
        const REAL *restrict dy = AT(c, dy, t), rho = c->gate[RHO][t];
        REAL *restrict dk = AT(c, dvec[K], t), *restrict dq = AT(c, dvec[Q], t), keeps = 0;
        zero(d, dk), zero(d, dq);
        for (int i = 0; i < d; i++) {
            const REAL *restrict m = STATE(c, 0, t) + i * d, *restrict n = STATE(c, 0, t + 1) + i * d;
            REAL *restrict g = c->G[0] + i * d, gk = 0, gm = 0;
            for (int j = 0; j < d; j++) {
                dq[j] += dy[i] * n[j];
                g[j] += dy[i] * q[j];
                gk += g[j] * k[j];
                gm += g[j] * m[j];
                dk[j] += v[i] * g[j];
                g[j] *= rho;
            }
            keeps += gm;
            AT(c, dvec[V], t)[i] = gk;
        }
        c->dgate[RHO][t] = keeps;
    }
}
