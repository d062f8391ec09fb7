/* See work.h. There is one state and one adjoint of it for every edge between
 * segments, for each variant; the errors, checkpoints and states that backward
 * passes read are made once for a series, token by token, by the first forward. */
#include "work.h"
#include "pair.h"
#include "serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_SERIES = 32, MAX_VARIANTS = 64 };

typedef struct {
    REAL *y, *e, *checkpoints, *states;               /* of a forward */
    REAL *dk, *dq, *dv, *drho, *dtheta, *adjoints;    /* of a backward */
} result;

typedef struct {
    int T, d, segments;
    REAL *k, *q, *v, *rho, *theta, *M0, *dy, *dMT;
    REAL *e, *checkpoints, *states; /* what a backward reads */
    result of[MAX_VARIANTS], other; /* other: sums over rows of the second thread */
} series;

static series all[MAX_SERIES];
static int count;
static REAL *work[2];

const variant *variants[MAX_VARIANTS];
int variantCount;

void fail(const char *what)
{
    fprintf(stderr, "serve: %s\n", what);
    exit(1);
}

#ifdef __linux__
#define CPU_CLOCK CLOCK_THREAD_CPUTIME_ID /* what the scheduler gives to others does not count */
#else
#define CPU_CLOCK CLOCK_MONOTONIC
#endif

static long long clocked(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

times now(void) { return (times){clocked(CPU_CLOCK), clocked(CLOCK_MONOTONIC)}; }

times since(times from)
{
    times t = now();
    return (times){t.cpu - from.cpu, t.wall - from.wall};
}

static int runs(const variant *table)
{
#if defined(__x86_64__)
    if (strstr(table->name, "AVX-512"))
        return __builtin_cpu_supports("avx512f");
    if (strstr(table->name, "AVX2"))
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    (void)table;
    return 1;
}

void collect(void)
{
#define X(table) table,
    const variant *const tables[] = {BUILDS 0};
#undef X
    for (const variant *const *t = tables; *t; t++)
        for (const variant *v = *t; v->name && runs(v); v++) {
            if (variantCount == MAX_VARIANTS)
                fail("too many variants");
            variants[variantCount++] = v;
        }
}

REAL *reals(long n)
{
    /* whole cache lines, so that vectors do not cross them */
    size_t bytes = (n * sizeof(REAL) + 63) / 64 * 64;
    REAL *p = aligned_alloc(64, bytes + 64);
    if (!p)
        fail("out of memory");
    memset(p, 0, bytes);
    return p;
}

REAL *receive(long n)
{
    REAL *p = reals(n);
    if (fread(p, sizeof *p, n, stdin) != (size_t)n)
        fail("short series");
    return p;
}

static int backward(const variant *v) { return !strcmp(v->pass, "backward"); }

static void adjoints(const series *s, result *r)
{
    long n = (long)s->T * s->d, m = (long)s->d * s->d;
    r->dk = reals(n), r->dq = reals(n), r->dv = reals(n), r->drho = reals(s->T), r->dtheta = reals(s->T);
    r->adjoints = reals((s->segments + 1) * m);
    memcpy(r->adjoints + s->segments * m, s->dMT, m * sizeof(REAL));
}

/* prepare makes what backward passes read. */
static void prepare(series *s)
{
    long d = s->d, m = d * d;
    REAL *y = reals(d), *checkpoint = reals(m);
    s->e = reals(s->T * d), s->checkpoints = reals(s->segments * m), s->states = reals((s->T + 1) * m);
    memcpy(s->states, s->M0, m * sizeof(REAL));
    for (int t = 0; t < s->T; t++) {
        if (t % CHECKPOINT == 0)
            memcpy(s->checkpoints + t / CHECKPOINT * m, s->states + t * m, m * sizeof(REAL));
        delta c = {.T = 1, .d = d, .from = 0, .to = d, .k = s->k + t * d, .q = s->q + t * d, .v = s->v + t * d,
                   .rho = s->rho + t, .theta = s->theta + t, .M0 = s->states + t * m, .y = y, .e = s->e + t * d,
                   .checkpoints = checkpoint, .MT = s->states + (t + 1) * m, .work = work[0]};
        variants[0]->run(&c);
    }
    free(y);
    free(checkpoint);
}

void load(int T, int d)
{
    if (count == MAX_SERIES || T < 1 || d < 1)
        fail("bad series");
    series *s = &all[count++];
    long n = (long)T * d, m = (long)d * d;
    s->T = T, s->d = d, s->segments = (T + CHECKPOINT - 1) / CHECKPOINT;
    s->k = receive(n), s->q = receive(n), s->v = receive(n), s->rho = receive(T), s->theta = receive(T);
    s->M0 = receive(m), s->dy = receive(n), s->dMT = receive(m);
    static int widest;
    if (d > widest) {
        widest = d;
        free(work[0]), free(work[1]);
        work[0] = reals(WORK(d)), work[1] = reals(WORK(d));
    }
    prepare(s);
    adjoints(s, &s->other);
    for (int i = 0; i < variantCount; i++) {
        result *r = &s->of[i];
        if (d % variants[i]->multiple)
            continue;
        if (backward(variants[i])) {
            adjoints(s, r);
            continue;
        }
        r->y = reals(n), r->e = reals(n), r->checkpoints = reals(s->segments * m);
        r->states = reals((s->segments + 1) * m);
        memcpy(r->states, s->M0, m * sizeof(REAL));
    }
}

static series *numbered(int i, int v)
{
    if (i < 0 || i >= count || v < 0 || v >= variantCount || all[i].d % variants[v]->multiple)
        fail("no such series, or not for this variant");
    return &all[i];
}

/* A pass in progress: two halves of rows, or one whole. */
static delta halves[2];
static void (*body)(const delta *);

static void half(int i) { body(&halves[i]); }

static void add(REAL *a, const REAL *b, long n)
{
    for (long i = 0; i < n; i++)
        a[i] += b[i];
}

static void together(const delta *whole, int threads, int sums)
{
    if (threads == 1) {
        body(whole);
        return;
    }
    pair_run(half);
    if (sums) {
        long n = (long)whole->T * whole->d;
        add(whole->dk, halves[1].dk, n);
        add(whole->dq, halves[1].dq, n);
        add(whole->drho, halves[1].drho, whole->T);
        add(whole->dtheta, halves[1].dtheta, whole->T);
    }
}

static delta pass(const series *s, const variant *kind, const result *r, int start, int n)
{
    long at = (long)start * s->d, m = (long)s->d * s->d;
    long from = start / CHECKPOINT * m, to = (start + n + CHECKPOINT - 1) / CHECKPOINT * m;
    delta c = {.T = n, .d = s->d, .from = 0, .to = s->d, .k = s->k + at, .q = s->q + at, .v = s->v + at,
               .rho = s->rho + start, .theta = s->theta + start, .work = work[0]};
    if (backward(kind)) {
        c.e = s->e + at, c.checkpoints = s->checkpoints + from, c.states = s->states + start * m;
        c.dy = s->dy + at, c.dMT = r->adjoints + to, c.dM0 = r->adjoints + from;
        c.dk = r->dk + at, c.dq = r->dq + at, c.dv = r->dv + at, c.drho = r->drho + start;
        c.dtheta = r->dtheta + start;
    } else {
        c.M0 = r->states + from, c.MT = r->states + to;
        c.y = r->y + at, c.e = r->e + at, c.checkpoints = r->checkpoints + from;
    }
    return c;
}

times run(int number, int v, int start, int n, int threads, int warm)
{
    series *s = numbered(number, v);
    const variant *kind = variants[v];
    if (start < 0 || start % CHECKPOINT || n < 1 || n > s->T - start || warm < 0)
        fail("tokens out of range");
    delta c = pass(s, kind, &s->of[v], start, n);
    int middle = s->d / 2 / kind->multiple * kind->multiple;
    if (threads < 1 || threads > 2 || (threads == 2 && !middle))
        fail("rows cannot be shared by so many threads");
    body = kind->run;
    halves[0] = halves[1] = c;
    halves[0].to = halves[1].from = middle;
    halves[1].work = work[1];
    if (backward(kind)) {
        halves[1].dk = s->other.dk, halves[1].dq = s->other.dq;
        halves[1].drho = s->other.drho, halves[1].dtheta = s->other.dtheta;
    }
    if (threads == 2)
        pair_wake();
    while (warm--)
        together(&c, threads, backward(kind));
    times from = now();
    together(&c, threads, backward(kind));
    times t = since(from);
    if (threads == 2)
        pair_sleep();
    return t;
}

void send(int number, int v, const char *name)
{
    const series *s = numbered(number, v);
    const result *r = &s->of[v];
    long n = (long)s->T * s->d, m = (long)s->d * s->d;
    const struct {
        const char *name;
        const REAL *p;
        long n;
    } known[] = {
        {"y", r->y, n},           {"M.out", r->states ? r->states + s->segments * m : 0, m},
        {"M_lin", r->e, n},       {"M.checkpoints", r->checkpoints, s->segments * m},
        {"k.bar", r->dk, n},      {"q.bar", r->dq, n},
        {"v.bar", r->dv, n},      {"rho.bar", r->drho, s->T},
        {"theta.bar", r->dtheta, s->T}, {"M.bar.out", r->adjoints, m},
    };
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name) && known[i].p) {
            fwrite(known[i].p, sizeof(REAL), known[i].n, stdout);
            return;
        }
    fail("unknown name");
}
