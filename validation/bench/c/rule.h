/* A memory rule in plain C, forward and backward of all tokens: one lane, row-major,
 * every vector and every side of a state d wide. The equations are those of
 * ../page; the states of all tokens are stored, as such code does. */
#ifndef HECATE_RULE_H
#define HECATE_RULE_H

#include "work.h"

enum { X, K, Q, V, VECTORS };         /* [T, d] */
enum { RHO, THETA, ETA, GATES };      /* [T] */
enum { MAX_STATES = 2, ACTIVATIONS = 8 };

/* What a rule reads and writes; null where it has no such thing. dA is the adjoint
 * of A. state is [T + 1, d, d], its first given; G is the adjoint of the state,
 * that of the last one before a run and that of the first one after it. */
typedef struct {
    int T, d;
    REAL *vec[VECTORS], *gate[GATES], *state[MAX_STATES], *anchor[MAX_STATES], *dy;
    REAL *y, *dvec[VECTORS], *dgate[GATES], *G[MAX_STATES], *danchor[MAX_STATES];
    REAL *tokens; /* [T, ACTIVATIONS, d]: what the forward leaves for the backward */
    REAL *work;   /* RULE_WORK(d) */
} call;

#define RULE_WORK(d) (32L * (d) + 32L * (d) * (d))

/* Row t of a vector of all tokens, state t, activation i of token t. */
#define AT(c, of, t) ((c)->of + (long)(t) * (c)->d)
#define STATE(c, i, t) ((c)->state[i] + (long)(t) * (c)->d * (c)->d)
#define ACT(c, i, t) ((c)->tokens + ((long)(t) * ACTIVATIONS + (i)) * (c)->d)

void run_delta(const call *c);
void run_titans(const call *c);
void run_hebbian(const call *c);
void run_moneta(const call *c);
void run_yaad(const call *c);
void run_memora(const call *c);
void run_lattice(const call *c);
void run_trellis(const call *c);
void run_omega(const call *c);

static inline REAL dot(long n, const REAL *restrict a, const REAL *restrict b)
{
    REAL sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* y = M x */
static inline void apply(int d, const REAL *restrict M, const REAL *restrict x, REAL *restrict y)
{
    for (int i = 0; i < d; i++)
        y[i] = dot(d, M + i * d, x);
}

/* y += s M^T x */
static inline void back(int d, REAL s, const REAL *restrict M, const REAL *restrict x, REAL *restrict y)
{
    for (int i = 0; i < d; i++) {
        REAL a = s * x[i];
        for (int j = 0; j < d; j++)
            y[j] += a * M[i * d + j];
    }
}

/* M += a b^T */
static inline void outer(int d, const REAL *restrict a, const REAL *restrict b, REAL *restrict M)
{
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++)
            M[i * d + j] += a[i] * b[j];
}

static inline void zero(long n, REAL *a)
{
    for (long i = 0; i < n; i++)
        a[i] = 0;
}

#endif
