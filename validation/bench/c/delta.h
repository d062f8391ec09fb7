/* What the passes of the delta rule in C have in common: the yardstick of validation/bench.
 *
 * One lane, float32 (or -DREAL=double), row-major:
 *
 *     e_t = M_{t-1} k_t - v_t
 *     M_t = rho_t M_{t-1} - theta_t e_t k_t^T
 *     y_t = M_t q_t
 *
 * Every CHECKPOINT tokens the state is kept; beside it the errors e_t are kept,
 * so that a backward pass can rebuild the states of one segment without a dot
 * product. k, q, v, y, e and their adjoints are [T, d], rho and theta [T],
 * M0, MT, dMT and dM0 [d, d], checkpoints [ceil(T / CHECKPOINT), d, d], states
 * (of a backward that reads them all) [T + 1, d, d].
 *
 * Rows of M do not see each other, so a pass takes a range of rows: two threads
 * share the rows. Of what a backward sums over rows (dk, dq, drho, dtheta) it
 * overwrites all with the sums over its own rows.
 */
#ifndef HECATE_DELTA_H
#define HECATE_DELTA_H

#ifndef REAL
#define REAL float
#endif

enum { CHECKPOINT = 64 };

typedef struct {
    int T, d, from, to; /* tokens, width, first row and the one after the last */
    const REAL *k, *q, *v, *rho, *theta, *M0;
    REAL *y, *e, *checkpoints, *MT; /* written forward; a backward reads e and checkpoints */
    const REAL *dy, *dMT, *states;
    REAL *dk, *dq, *dv, *drho, *dtheta, *dM0;
    REAL *work; /* WORK(d) numbers, for this thread alone */
} delta;

#define WORK(d) ((long)(CHECKPOINT + 2) * (d))

/* A variant is one way to write one pass. A table of them ends with a null name. */
typedef struct {
    const char *pass, *name; /* "forward" or "backward"; for people, with the flags */
    void (*run)(const delta *);
    int multiple; /* of which the width must be a multiple */
    int stored;   /* reads all states */
} variant;

#endif
