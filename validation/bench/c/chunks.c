/* The series of chunks of serve.c and what is computed with them, in float32. */
#include "chunk.h"
#include "work.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CHUNKS = 16, INPUTS = 13 };

static chunks all[MAX_CHUNKS];
static int count;

/* The sizes of the inputs, in the order of chunk.h. */
void load_chunks(int n, int C, int d)
{
    if (count == MAX_CHUNKS || n < 1 || C < 1 || d < 1 || sizeof(REAL) != sizeof(float))
        fail("bad chunks");
    chunks *c = &all[count++];
    long v = (long)n * C * d, s = (long)n * C * C, g = (long)n * C, m = (long)d * d;
    long in[INPUTS] = {v, v, v, s, s, g, g, g, n, g, m, v, m};
    float **to[INPUTS] = {&c->K, &c->Q, &c->V, &c->D, &c->Gm, &c->g, &c->gp, &c->gam, &c->gC, &c->theta, &c->M, &c->dY, &c->dM};
    c->n = n, c->C = C, c->d = d;
    for (int i = 0; i < INPUTS; i++)
        *to[i] = (float *)receive(in[i]);
    float **give[] = {&c->Y, &c->P, &c->U, &c->QM, &c->dK, &c->dQ, &c->dV, &c->KK, &c->QK, &c->dD, &c->dGm,
                      &c->dg, &c->dgp, &c->dgam, &c->dtheta, &c->dgC, &c->M_out, &c->dM_out, &c->states, &c->work};
    long size[] = {v, v, v, v, v, v, v, s, s, s, s, g, g, g, g, n, m, m, n * m, 5L * C * C + 4L * C * d};
    for (unsigned i = 0; i < sizeof size / sizeof *size; i++)
        *give[i] = (float *)reals(size[i]);
}

static chunks *numbered(int i)
{
    if (i < 0 || i >= count)
        fail("no such chunks");
    return &all[i];
}

times run_chunks(int i, int pass, int warm)
{
    chunks *c = numbered(i);
    times from;
    do {
        from = now();
        if (pass == 0)
            chunk_forward(c);
        else
            chunk_backward(c);
    } while (warm-- > 0);
    return since(from);
}

void send_chunks(int i, const char *name)
{
    const chunks *c = numbered(i);
    long v = (long)c->n * c->C * c->d, s = (long)c->n * c->C * c->C, g = (long)c->n * c->C, m = (long)c->d * c->d;
    const struct {
        const char *name;
        const float *x;
        long n;
    } results[] = {
        {"y", c->Y, v},          {"M.out", c->M_out, m},      {"K.bar", c->dK, v},         {"Q.bar", c->dQ, v},
        {"V.bar", c->dV, v},     {"D.bar", c->dD, s},         {"Gm.bar", c->dGm, s},       {"g.bar", c->dg, g},
        {"gp.bar", c->dgp, g},   {"gam.bar", c->dgam, g},     {"gC.bar", c->dgC, c->n},    {"theta.bar", c->dtheta, g},
        {"M.bar.out", c->dM_out, m},
    };
    for (unsigned k = 0; k < sizeof results / sizeof *results; k++)
        if (!strcmp(results[k].name, name)) {
            fwrite(results[k].x, sizeof(float), results[k].n, stdout);
            return;
        }
    fail("no such result");
}
