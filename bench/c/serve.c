/* Runs the passes of textbook.c on request, so that another process can time
 * its own beside them. See ../c.go for the other end.
 *
 *     gcc -O2 -o serve serve.c -lm
 *
 * Requests come on standard input, one line each:
 *
 *     series T D                          then k, q, v, rho, theta, M0, dy, dMT as raw numbers;
 *                                         series are counted from 0 in the order of their coming
 *     run SERIES VARIANT PASS START N     N tokens from START, a multiple of CHECKPOINT;
 *                                         answers a line, the nanoseconds it took
 *     get SERIES VARIANT NAME             answers the raw numbers
 *
 * A pass forward over tokens needs the one over the tokens before, a pass
 * backward the one over the tokens after and all forward ones. Once they have
 * been run in that order, any may be run again at any time: a state is kept for
 * every checkpoint. Anything else on the input ends the process. */
#define NO_MAIN
#include "textbook.c"

#include <string.h>

enum { VARIANTS = 2, MAX_SERIES = 16 };

static const struct {
    const char *name;
    delta_forward *forward;
    delta_backward *backward;
} variants[VARIANTS] = {
    {"textbook", textbook_forward, textbook_backward},
    {"dot4", dot4_forward, dot4_backward},
};

/* What a variant computes. There is one state and one adjoint of it for every
 * edge between segments. */
typedef struct {
    REAL *y, *e, *checkpoints, *states, *dk, *dq, *dv, *drho, *dtheta, *adjoints;
} result;

typedef struct {
    int T, d, segments;
    REAL *k, *q, *v, *rho, *theta, *M0, *dy, *dMT, *work;
    result of[VARIANTS];
} series;

static series all[MAX_SERIES];
static int count;

static void fail(const char *what)
{
    fprintf(stderr, "serve: %s\n", what);
    exit(1);
}

static REAL *reals(long n)
{
    REAL *p = calloc(n, sizeof *p);
    if (!p)
        fail("out of memory");
    return p;
}

static REAL *receive(long n)
{
    REAL *p = reals(n);
    if (fread(p, sizeof *p, n, stdin) != (size_t)n)
        fail("short series");
    return p;
}

static void load(int T, int d)
{
    if (count == MAX_SERIES || T < 1 || d < 1)
        fail("bad series");
    series *s = &all[count++];
    long n = (long)T * d, m = (long)d * d;
    s->T = T, s->d = d, s->segments = (T + CHECKPOINT - 1) / CHECKPOINT;
    s->k = receive(n), s->q = receive(n), s->v = receive(n), s->rho = receive(T), s->theta = receive(T);
    s->M0 = receive(m), s->dy = receive(n), s->dMT = receive(m);
    s->work = reals((long)(CHECKPOINT + 2) * d);
    for (int i = 0; i < VARIANTS; i++) {
        result *r = &s->of[i];
        r->y = reals(n), r->e = reals(n), r->checkpoints = reals(s->segments * m);
        r->states = reals((s->segments + 1) * m), r->adjoints = reals((s->segments + 1) * m);
        r->dk = reals(n), r->dq = reals(n), r->dv = reals(n), r->drho = reals(T), r->dtheta = reals(T);
        memcpy(r->states, s->M0, m * sizeof(REAL));
        memcpy(r->adjoints + s->segments * m, s->dMT, m * sizeof(REAL));
    }
}

/* The time that this thread has been running, where there is such a clock: what
 * the scheduler gives to others does not count. */
#ifdef __linux__
#define CLOCK CLOCK_THREAD_CPUTIME_ID
#else
#define CLOCK CLOCK_MONOTONIC
#endif

static long long now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK, &ts);
    return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static long long run(series *s, int variant, int forward, int start, int n)
{
    result *r = &s->of[variant];
    int d = s->d;
    long at = (long)start * d, m = (long)d * d;
    long from = start / CHECKPOINT * m, to = (start + n + CHECKPOINT - 1) / CHECKPOINT * m;
    long long t0 = now();
    if (forward)
        variants[variant].forward(n, d, s->k + at, s->q + at, s->v + at, s->rho + start, s->theta + start,
                                  r->states + from, r->y + at, r->e + at, r->checkpoints + from, r->states + to,
                                  s->work);
    else
        variants[variant].backward(n, d, s->k + at, s->q + at, s->v + at, s->rho + start, s->theta + start, r->e + at,
                                   r->checkpoints + from, s->dy + at, r->adjoints + to, r->dk + at, r->dq + at,
                                   r->dv + at, r->drho + start, r->dtheta + start, r->adjoints + from, s->work);
    return now() - t0;
}

static void send(const series *s, const result *r, const char *name)
{
    long n = (long)s->T * s->d, m = (long)s->d * s->d;
    const struct {
        const char *name;
        const REAL *p;
        long n;
    } known[] = {
        {"y", r->y, n},           {"M.out", r->states + s->segments * m, m},
        {"k.bar", r->dk, n},      {"q.bar", r->dq, n},
        {"v.bar", r->dv, n},      {"rho.bar", r->drho, s->T},
        {"theta.bar", r->dtheta, s->T}, {"M.bar.out", r->adjoints, m},
        {"M.checkpoints", r->checkpoints, s->segments * m},
    };
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name)) {
            fwrite(known[i].p, sizeof(REAL), known[i].n, stdout);
            return;
        }
    fail("unknown name");
}

static series *numbered(int i)
{
    if (i < 0 || i >= count)
        fail("no such series");
    return &all[i];
}

static int named(const char *name)
{
    for (int i = 0; i < VARIANTS; i++)
        if (!strcmp(name, variants[i].name))
            return i;
    fail("unknown variant");
    return 0;
}

int main(void)
{
    char line[128], variant[16], what[16];
    int i, start, n;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "series %d %d", &start, &n) == 2) {
            load(start, n);
        } else if (sscanf(line, "run %d %15s %15s %d %d", &i, variant, what, &start, &n) == 5) {
            series *s = numbered(i);
            if (start < 0 || start % CHECKPOINT || n < 1 || n > s->T - start)
                fail("tokens out of range");
            printf("%lld\n", run(s, named(variant), !strcmp(what, "forward"), start, n));
        } else if (sscanf(line, "get %d %15s %15s", &i, variant, what) == 3) {
            series *s = numbered(i);
            send(s, &s->of[named(variant)], what);
        } else {
            fail("unknown request");
        }
        fflush(stdout);
    }
    return 0;
}
