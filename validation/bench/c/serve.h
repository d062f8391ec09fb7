/* What serve.c links: tables of variants by build, the peak, OpenBLAS. */
#ifndef HECATE_SERVE_H
#define HECATE_SERVE_H

#include "delta.h"

/* The builds that are left out of a server are missing from BUILDS, which is
 * X(table) for each that is linked. */
#ifndef BUILDS
#define BUILDS
#endif
#define X(table) extern const variant table[];
BUILDS
#undef X

/* A peak is a loop of fused multiply-adds in registers, or of loads from the
 * second-level cache; run makes n rounds of it and returns how many floating point
 * operations those were, or bytes. */
typedef struct {
    const char *name;
    int (*can)(void);
    double (*run)(long n);
} peak;
extern const peak peaks[]; /* ends with a null name */

/* Opens OpenBLAS with one thread; 0 if there is none. says is its configuration
 * or what is missing. */
int blas_open(const char **says);

/* product computes with row-major X [T, d], W [d, d] and dY [T, d], as form is
 * 0: X W^T [T, d], 1: dY W [T, d], 2: dY^T X [d, d]. */
void blas_product(int form, int T, int d, const float *X, const float *W, const float *dY, float *out);

#endif
