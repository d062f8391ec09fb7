/* The products of a projection and of its backward by OpenBLAS. */
#include "serve.h"
#include "work.h"

#include <stdio.h>

enum { MAX_MATRICES = 16, FORMS = 3 };

typedef struct {
    int T, d;
    REAL *X, *W, *dY, *out[FORMS];
} matrices;

static matrices all[MAX_MATRICES];
static int count;

void load_matrices(int T, int d)
{
    if (count == MAX_MATRICES || T < 1 || d < 1)
        fail("bad matrices");
    matrices *m = &all[count++];
    long n = (long)T * d, w = (long)d * d;
    m->T = T, m->d = d;
    m->X = receive(n), m->W = receive(w), m->dY = receive(n);
    m->out[0] = reals(n), m->out[1] = reals(n), m->out[2] = reals(w);
}

static matrices *numbered(int i, int form)
{
    if (i < 0 || i >= count || form < 0 || form >= FORMS || sizeof(REAL) != sizeof(float))
        fail("no such product");
    return &all[i];
}

times product(int i, int form, int warm)
{
    matrices *m = numbered(i, form);
    times from;
    do {
        from = now();
        blas_product(form, m->T, m->d, (float *)m->X, (float *)m->W, (float *)m->dY, (float *)m->out[form]);
    } while (warm-- > 0);
    return since(from);
}

void send_product(int i, int form)
{
    const matrices *m = numbered(i, form);
    fwrite(m->out[form], sizeof(REAL), (long)(form == 2 ? m->d : m->T) * m->d, stdout);
}
