/* The exact chunk form of the delta rule by OpenBLAS: the same algorithm as
 * gen/ir/irtest/chunk.go, one product a call, with what the forward computes
 * kept for the backward. Row-major; n chunks of C tokens, states [d, d]. What
 * stands between products are loops that gcc makes vectors of. */
#include "chunk.h"

#include <string.h>

enum { AS_IS = 0, TRANSPOSED = 1 };

/* out [m, n] = beta·out + a·b, either factor transposed. */
static void mul(int ta, int tb, int m, int n, int k, const float *a, const float *b, float beta, float *out)
{
    blas_multiply(ta, tb, m, n, k, 1, a, ta ? m : k, b, tb ? k : n, beta, out, n);
}

/* x [C, d] by (I + strictly lower a), or its transpose, in place. At these sizes
 * loops are faster than strsm. */
static void solve(int C, int d, const float *restrict a, int transposed, float *x)
{
    for (int s = 0; s < C; s++)
        for (int r = 0; r < s; r++) {
            int t = transposed ? C - 1 - s : s, i = transposed ? C - 1 - r : r;
            float c = transposed ? a[i * C + t] : a[t * C + i];
            for (int j = 0; j < d; j++)
                x[t * d + j] -= c * x[i * d + j];
        }
}

void chunk_forward(const chunks *c)
{
    int C = c->C, d = c->d;
    float *M = c->M_out, *A = c->work, *H = A + C * C, *GK = H + C * C;
    memcpy(M, c->M, sizeof(float) * d * d);
    for (int t = 0; t < c->n; t++) {
        long v = (long)t * C * d, s = (long)t * C * C, g = (long)t * C;
        const float *K = c->K + v, *Q = c->Q + v, *V = c->V + v, *D = c->D + s, *Gm = c->Gm + s;
        float *P = c->P + v, *U = c->U + v, *QM = c->QM + v, *KK = c->KK + s, *QK = c->QK + s, *Y = c->Y + v;
        memcpy(c->states + (long)t * d * d, M, sizeof(float) * d * d);
        mul(AS_IS, TRANSPOSED, C, d, d, K, M, 0, P);
        mul(AS_IS, TRANSPOSED, C, C, d, K, K, 0, KK);
        mul(AS_IS, TRANSPOSED, C, d, d, Q, M, 0, QM);
        mul(AS_IS, TRANSPOSED, C, C, d, Q, K, 0, QK);
        for (int i = 0; i < C; i++) {
            float th = c->theta[g + i], gp = c->gp[g + i], gt = c->g[g + i], ga = c->gam[g + i];
            for (int j = 0; j < C; j++) {
                A[i * C + j] = th * D[i * C + j] * KK[i * C + j];
                H[i * C + j] = Gm[i * C + j] * QK[i * C + j];
            }
            for (int j = 0; j < d; j++) {
                U[i * d + j] = th * (V[i * d + j] - gp * P[i * d + j]);
                Y[i * d + j] = gt * QM[i * d + j];
                GK[i * d + j] = ga * K[i * d + j];
            }
        }
        solve(C, d, A, 0, U);
        mul(AS_IS, AS_IS, C, d, C, H, U, 1, Y);
        mul(TRANSPOSED, AS_IS, d, d, C, U, GK, c->gC[t], M);
    }
}

void chunk_backward(const chunks *c)
{
    int C = c->C, d = c->d;
    float *dM = c->dM_out, *A = c->work, *H = A + C * C, *J = H + C * C, *dA = J + C * C, *G = dA + C * C;
    float *X = G + C * C, *gY = X + C * d, *Z = gY + C * d, *dP = Z + C * d;
    memcpy(dM, c->dM, sizeof(float) * d * d);
    for (int t = c->n - 1; t >= 0; t--) {
        long v = (long)t * C * d, s = (long)t * C * C, g = (long)t * C;
        const float *K = c->K + v, *Q = c->Q + v, *V = c->V + v, *D = c->D + s, *Gm = c->Gm + s, *dY = c->dY + v;
        const float *P = c->P + v, *U = c->U + v, *QM = c->QM + v, *KK = c->KK + s, *QK = c->QK + s;
        const float *M = c->states + (long)t * d * d;
        float *dK = c->dK + v, *dQ = c->dQ + v, *dV = c->dV + v, *dD = c->dD + s, *dGm = c->dGm + s;
        float gC = 0;
        for (long i = 0; i < (long)d * d; i++)
            gC += M[i] * dM[i];
        c->dgC[t] = gC;
        mul(AS_IS, TRANSPOSED, C, d, d, K, dM, 0, X);
        mul(AS_IS, AS_IS, C, d, d, U, dM, 0, dK);
        mul(AS_IS, TRANSPOSED, C, C, d, dY, U, 0, J);
        for (int i = 0; i < C; i++) {
            float ga = c->gam[g + i], gt = c->g[g + i], th = c->theta[g + i], sga = 0, sg = 0;
            for (int j = 0; j < d; j++) {
                sga += U[i * d + j] * X[i * d + j];
                sg += dY[i * d + j] * QM[i * d + j];
                gY[i * d + j] = gt * dY[i * d + j];
                Z[i * d + j] = ga * X[i * d + j];
                dK[i * d + j] *= ga;
            }
            c->dgam[g + i] = sga, c->dg[g + i] = sg;
            for (int j = 0; j < C; j++) {
                A[i * C + j] = th * D[i * C + j] * KK[i * C + j];
                H[i * C + j] = Gm[i * C + j] * QK[i * C + j];
                G[i * C + j] = Gm[i * C + j] * J[i * C + j];
                dGm[i * C + j] = QK[i * C + j] * J[i * C + j];
            }
        }
        mul(TRANSPOSED, AS_IS, C, d, C, H, dY, 1, Z);
        solve(C, d, A, 1, Z);
        mul(AS_IS, TRANSPOSED, C, C, d, Z, U, 0, dA);
        for (int i = 0; i < C; i++) {
            float gp = c->gp[g + i], th = c->theta[g + i], sth = 0, sgp = 0;
            for (int j = 0; j < d; j++) {
                float r = V[i * d + j] - gp * P[i * d + j], z = Z[i * d + j], w = th * z;
                sth += r * z;
                sgp -= P[i * d + j] * w;
                dV[i * d + j] = w;
                dP[i * d + j] = -gp * w;
            }
            for (int j = 0; j < i; j++) {
                float a = -dA[i * C + j], w = th * a;
                sth += D[i * C + j] * KK[i * C + j] * a;
                dD[i * C + j] = KK[i * C + j] * w;
                dA[i * C + j] = D[i * C + j] * w;
            }
            for (int j = i; j < C; j++)
                dD[i * C + j] = dA[i * C + j] = 0;
            c->dtheta[g + i] = sth, c->dgp[g + i] = sgp;
        }
        mul(TRANSPOSED, AS_IS, d, d, C, gY, Q, gC = c->gC[t], dM);
        mul(TRANSPOSED, AS_IS, d, d, C, dP, K, 1, dM);
        mul(TRANSPOSED, AS_IS, C, d, C, G, Q, 1, dK);
        mul(AS_IS, AS_IS, C, d, C, dA, K, 1, dK);
        mul(TRANSPOSED, AS_IS, C, d, C, dA, K, 1, dK);
        mul(AS_IS, AS_IS, C, d, d, dP, M, 1, dK);
        mul(AS_IS, AS_IS, C, d, C, G, K, 0, dQ);
        mul(AS_IS, AS_IS, C, d, d, gY, M, 1, dQ);
    }
}
