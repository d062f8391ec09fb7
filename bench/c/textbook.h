/* The delta rule in C as a peer would write it: the yardstick of bench/.
 *
 * One lane, float32 (or -DREAL=double), row-major:
 *
 *     e_t = M_{t-1} k_t - v_t
 *     M_t = rho_t M_{t-1} - theta_t e_t k_t^T
 *     y_t = M_t q_t
 *
 * Rows of M do not see each other, so rows are outside and time is inside.
 * Every CHECKPOINT tokens the state is kept; beside it the errors e_t are kept,
 * so that the backward pass rebuilds the states of one segment without a dot
 * product. k, q, v, y, e and their adjoints are [T, d], rho and theta [T],
 * M0, MT, dMT and dM0 [d, d], checkpoints [ceil(T / CHECKPOINT), d, d].
 *
 * Within a row the write and the read share a loop, as do the sums of the
 * backward pass: with a loop for each of them the code is about 1.3 times slower.
 * textbook_*: one accumulator to a sum; dot4_*: four.
 */
#ifndef HECATE_TEXTBOOK_H
#define HECATE_TEXTBOOK_H

#ifndef REAL
#define REAL float
#endif

enum { CHECKPOINT = 64 };

/* work: d floats. */
typedef void delta_forward(int T, int d, const REAL *k, const REAL *q, const REAL *v, const REAL *rho,
                           const REAL *theta, const REAL *M0, REAL *y, REAL *e, REAL *checkpoints, REAL *MT,
                           REAL *work);

/* dMT may be null for zero. work: (CHECKPOINT + 2) * d floats. The outputs dk,
 * dq, dv, drho, dtheta and dM0 are overwritten. */
typedef void delta_backward(int T, int d, const REAL *k, const REAL *q, const REAL *v, const REAL *rho,
                            const REAL *theta, const REAL *e, const REAL *checkpoints, const REAL *dy,
                            const REAL *dMT, REAL *dk, REAL *dq, REAL *dv, REAL *drho, REAL *dtheta, REAL *dM0,
                            REAL *work);

delta_forward textbook_forward, dot4_forward;
delta_backward textbook_backward, dot4_backward;

#endif
