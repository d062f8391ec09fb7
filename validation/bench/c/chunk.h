/* The chunk form of the delta rule; chunk.c has its passes. */
#ifndef HECATE_CHUNK_H
#define HECATE_CHUNK_H

/* n chunks of C tokens, keys and values of d entries. Names are those of
 * gen/ir/irtest/chunk.go; dX is the adjoint of X. */
typedef struct {
    int n, C, d;
    float *K, *Q, *V, *D, *Gm, *g, *gp, *gam, *gC, *theta, *M, *dY, *dM;             /* come in */
    float *Y, *M_out, *P, *KK, *U, *QM, *QK, *states;                                  /* the forward gives */
    float *dK, *dQ, *dV, *dD, *dGm, *dg, *dgp, *dgam, *dgC, *dtheta, *dM_out;         /* the backward gives */
    float *work;                                                                       /* 5 C² + 4 C d */
} chunks;

void chunk_forward(const chunks *c);
void chunk_backward(const chunks *c);

/* OpenBLAS: out [m, n] = alpha·a·b + beta·out. */
void blas_multiply(int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb,
                   float beta, float *out, int ldo);

#endif
