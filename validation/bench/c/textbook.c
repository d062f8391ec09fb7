/* The delta rule as it is written most often, time outside and the whole state
 * in each token: three passes over M (textbook: the error of all rows, the write,
 * the read), or for each row its error and then write and read in one loop
 * (fused). The backward of such code reads M_t from memory, all of them: the
 * forward that writes them is not counted here. */
#include "delta.h"

#include <string.h>

/* start copies the state into MT, where it is changed in place. */
static void start(const delta *c)
{
    long row = c->d * sizeof(REAL);
    memcpy(c->MT + (long)c->from * c->d, c->M0 + (long)c->from * c->d, (c->to - c->from) * row);
}

/* keep writes a checkpoint where one is due. */
static void keep(const delta *c, int t)
{
    long d = c->d;
    if (t % CHECKPOINT == 0)
        memcpy(c->checkpoints + (t / CHECKPOINT * d + c->from) * d, c->MT + c->from * d,
               (c->to - c->from) * d * sizeof(REAL));
}

static void error(int d, int from, int to, const REAL *restrict M, const REAL *restrict k, const REAL *restrict v,
                  REAL *restrict e)
{
    for (int i = from; i < to; i++) {
        REAL sum = 0;
        for (int j = 0; j < d; j++)
            sum += M[i * d + j] * k[j];
        e[i] = sum - v[i];
    }
}

static void write(int d, int from, int to, REAL *restrict M, const REAL *restrict k, const REAL *restrict e, REAL rho,
                  REAL theta)
{
    for (int i = from; i < to; i++) {
        REAL s = theta * e[i];
        for (int j = 0; j < d; j++)
            M[i * d + j] = rho * M[i * d + j] - s * k[j];
    }
}

static void read(int d, int from, int to, const REAL *restrict M, const REAL *restrict q, REAL *restrict y)
{
    for (int i = from; i < to; i++) {
        REAL sum = 0;
        for (int j = 0; j < d; j++)
            sum += M[i * d + j] * q[j];
        y[i] = sum;
    }
}

static void textbook_forward(const delta *c)
{
    int d = c->d;
    start(c);
    for (int t = 0; t < c->T; t++) {
        keep(c, t);
        error(d, c->from, c->to, c->MT, c->k + t * d, c->v + t * d, c->e + t * d);
        write(d, c->from, c->to, c->MT, c->k + t * d, c->e + t * d, c->rho[t], c->theta[t]);
        read(d, c->from, c->to, c->MT, c->q + t * d, c->y + t * d);
    }
}

static void fused_token(int d, int from, int to, REAL *restrict M, const REAL *restrict k, const REAL *restrict q,
                        const REAL *restrict v, REAL *restrict y, REAL *restrict e, REAL rho, REAL theta)
{
    for (int i = from; i < to; i++) {
        REAL *restrict m = M + i * d;
        REAL sum = 0;
        for (int j = 0; j < d; j++)
            sum += m[j] * k[j];
        e[i] = sum - v[i];
        REAL s = theta * e[i];
        sum = 0;
        for (int j = 0; j < d; j++) {
            m[j] = rho * m[j] - s * k[j];
            sum += m[j] * q[j];
        }
        y[i] = sum;
    }
}

static void fused_forward(const delta *c)
{
    int d = c->d;
    start(c);
    for (int t = 0; t < c->T; t++) {
        keep(c, t);
        fused_token(d, c->from, c->to, c->MT, c->k + t * d, c->q + t * d, c->v + t * d, c->y + t * d, c->e + t * d,
                    c->rho[t], c->theta[t]);
    }
}

static void stored_token(int d, int from, int to, const REAL *restrict old, const REAL *restrict new,
                         REAL *restrict G, const REAL *restrict k, const REAL *restrict q, const REAL *restrict e,
                         const REAL *restrict dy, REAL *restrict dk, REAL *restrict dq, REAL *restrict dv,
                         REAL *restrict drho, REAL *restrict dtheta, REAL rho, REAL theta)
{
    REAL keeps = 0, rates = 0;
    for (int j = 0; j < d; j++)
        dk[j] = dq[j] = 0;
    for (int i = from; i < to; i++) {
        REAL *restrict g = G + i * d;
        const REAL *restrict m = old + i * d, *restrict n = new + i * d;
        REAL gk = 0, gm = 0, dyi = dy[i], s = theta * e[i];
        for (int j = 0; j < d; j++) {
            dq[j] += dyi * n[j];
            g[j] += dyi * q[j];
            gk += g[j] * k[j];
            gm += g[j] * m[j];
        }
        REAL de = -theta * gk;
        keeps += gm;
        rates -= e[i] * gk;
        dv[i] = -de;
        for (int j = 0; j < d; j++) {
            dk[j] += de * m[j] - s * g[j];
            g[j] = rho * g[j] + de * k[j];
        }
    }
    *drho = keeps;
    *dtheta = rates;
}

static void stored_backward(const delta *c)
{
    int d = c->d;
    long m = (long)d * d;
    memcpy(c->dM0 + (long)c->from * d, c->dMT + (long)c->from * d, (long)(c->to - c->from) * d * sizeof(REAL));
    for (int t = c->T - 1; t >= 0; t--)
        stored_token(d, c->from, c->to, c->states + t * m, c->states + (t + 1) * m, c->dM0, c->k + t * d, c->q + t * d,
                     c->e + t * d, c->dy + t * d, c->dk + t * d, c->dq + t * d, c->dv + t * d, c->drho + t,
                     c->dtheta + t, c->rho[t], c->theta[t]);
}
