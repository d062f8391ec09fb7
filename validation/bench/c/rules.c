/* The rules of serve.c: their table, their inputs and what is computed with them. */
#include "rule.h"

#include <stdio.h>
#include <string.h>

static const char *const vectors[] = {"x", "k", "q", "v"};
static const char *const gates[] = {"rho", "theta", "eta"};

enum { TRIPLE = 1 << K | 1 << Q | 1 << V, RATED = 1 << RHO | 1 << THETA, FADING = RATED | 1 << ETA };

typedef struct {
    const char *name;
    int vectors, gates; /* sets */
    const char *states[MAX_STATES], *anchors[MAX_STATES];
    void (*run)(const call *);
} kind;

static const kind kinds[] = {
    {"delta", TRIPLE, RATED, {"M"}, {0}, run_delta},
    {"titans", TRIPLE, FADING, {"M", "S"}, {0}, run_titans},
    {"hebbian", TRIPLE, 1 << RHO, {"M"}, {0}, run_hebbian},
    {"moneta", TRIPLE, RATED, {"W1", "W2"}, {0}, run_moneta},
    {"yaad", TRIPLE, RATED, {"W1", "W2"}, {"B1", "B2"}, run_yaad},
    {"memora", TRIPLE, RATED, {"W1", "W2"}, {0}, run_memora},
    {"lattice", TRIPLE, 1 << THETA, {"S"}, {0}, run_lattice},
    {"trellis", TRIPLE | 1 << X, RATED, {"S_K", "S_V"}, {0}, run_trellis},
    {"atlasomega", TRIPLE, FADING, {"M", "S"}, {0}, run_omega},
};

typedef struct {
    const kind *is;
    REAL *last[MAX_STATES]; /* adjoints of the last states */
    call c;
} problem;

enum { MAX_PROBLEMS = 64 };
static problem all[MAX_PROBLEMS];
static int count;

void load_rule(const char *name, int T, int d)
{
    const kind *is = 0;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, name))
            is = &kinds[i];
    if (!is || count == MAX_PROBLEMS || T < 1 || d < 1)
        fail("bad rule");
    problem *p = &all[count++];
    call *c = &p->c;
    long n = (long)T * d, m = (long)d * d;
    p->is = is, c->T = T, c->d = d;
    for (int i = 0; i < VECTORS; i++)
        if (is->vectors >> i & 1)
            c->vec[i] = receive(n), c->dvec[i] = reals(n);
    for (int i = 0; i < GATES; i++)
        if (is->gates >> i & 1)
            c->gate[i] = receive(T), c->dgate[i] = reals(T);
    for (int i = 0; i < MAX_STATES && is->states[i]; i++) {
        REAL *first = receive(m);
        c->state[i] = reals((T + 1) * m), c->G[i] = reals(m);
        memcpy(c->state[i], first, m * sizeof(REAL));
    }
    for (int i = 0; i < MAX_STATES && is->anchors[i]; i++)
        c->anchor[i] = receive(m), c->danchor[i] = reals(m);
    c->dy = receive(n), c->y = reals(n);
    for (int i = 0; i < MAX_STATES && is->states[i]; i++)
        p->last[i] = receive(m);
    c->tokens = reals(n * ACTIVATIONS), c->work = reals(RULE_WORK(d));
}

static problem *numbered(int i)
{
    if (i < 0 || i >= count)
        fail("no such rule");
    return &all[i];
}

times step_rule(int i, int warm)
{
    problem *p = numbered(i);
    times from;
    do {
        from = now();
        for (int j = 0; j < MAX_STATES && p->is->states[j]; j++)
            memcpy(p->c.G[j], p->last[j], (long)p->c.d * p->c.d * sizeof(REAL));
        p->is->run(&p->c);
    } while (warm-- > 0);
    return since(from);
}

static int names(const char *asked, const char *name, const char *role)
{
    size_t n = strlen(name);
    return !strncmp(asked, name, n) && !strcmp(asked + n, role);
}

void send_stepped(int i, const char *name)
{
    const problem *p = numbered(i);
    const call *c = &p->c;
    long n = (long)c->T * c->d, m = (long)c->d * c->d, size = 0;
    const REAL *x = 0;
    if (!strcmp(name, "y"))
        x = c->y, size = n;
    for (int j = 0; j < VECTORS; j++)
        if (names(name, vectors[j], ".bar"))
            x = c->dvec[j], size = n;
    for (int j = 0; j < GATES; j++)
        if (names(name, gates[j], ".bar"))
            x = c->dgate[j], size = c->T;
    for (int j = 0; j < MAX_STATES && p->is->states[j]; j++) {
        if (names(name, p->is->states[j], ".out"))
            x = c->state[j] + c->T * m, size = m;
        if (names(name, p->is->states[j], ".bar.out"))
            x = c->G[j], size = m;
    }
    for (int j = 0; j < MAX_STATES && p->is->anchors[j]; j++)
        if (names(name, p->is->anchors[j], ".bar.out"))
            x = c->danchor[j], size = m;
    if (!x)
        fail("no such result of a rule");
    fwrite(x, sizeof(REAL), size, stdout);
}
