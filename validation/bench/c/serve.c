/* Runs the passes of the delta rule on request, so that another process can time
 * its own beside them; also products by OpenBLAS and the peaks of the core. See
 * ../c.go for the other end, which compiles this.
 *
 * Requests come on standard input, one line each:
 *
 *     have                         answers a line for each variant, "variant PASS MULTIPLE NAME", and for each
 *                                  peak, "peak NAME"; "blas CONFIGURATION"; "lacks WHAT"; and then "."
 *     series T D                   then k, q, v, rho, theta, M0, dy, dMT as raw numbers; series are counted from
 *                                  0 in the order of their coming
 *     run SERIES VARIANT START N THREADS WARM
 *                                  N tokens from START, a multiple of CHECKPOINT, WARM times unmeasured and once
 *                                  measured; answers the nanoseconds of this thread and of the clock on the wall
 *     get SERIES VARIANT NAME      answers the raw numbers
 *     peak WHICH N                 runs it twice; answers how many floating point operations the second were, and
 *                                  the two times
 *     matrices T D                 then X, W, dY as raw numbers; counted like series
 *     product MATRICES FORM WARM   answers the two times, as for "run"
 *     result MATRICES FORM         answers the raw numbers of the last product
 *     chunks N C D                 then the inputs of chunk.h in its order as raw numbers; counted like series
 *     chunk CHUNKS PASS WARM       0 is the forward, 1 the backward; answers the two times, as for "run"
 *     chunked CHUNKS NAME          answers the raw numbers of a result
 *     rule NAME T D                then the inputs of a rule of rule.h as raw numbers: vectors, gates, states,
 *                                  anchors, dy, adjoints of the last states; counted like series
 *     step RULE WARM               forward and backward; answers the two times, as for "run"
 *     stepped RULE NAME            answers the raw numbers of a result of the last step
 *
 * Variants and peaks are numbers in the order of "have". A forward pass over
 * tokens needs the one over the tokens before, a backward the one over the tokens
 * after; then any may be run again at any time, for a state is kept for every
 * checkpoint. Errors, checkpoints and states that a backward reads are the
 * server's own. Anything else on the input ends the process. */
#include "serve.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const peak *usable[8];
static int peakCount;

static void have(void)
{
    for (int i = 0; i < variantCount; i++)
        printf("variant %s %d %s\n", variants[i]->pass, variants[i]->multiple, variants[i]->name);
    peakCount = 0;
    for (const peak *p = peaks; p->name; p++) {
        if (p->can()) {
            usable[peakCount++] = p;
            printf("peak %s\n", p->name);
        } else {
            printf("lacks %s on this CPU: the C with its intrinsics is left out\n", p->name);
        }
    }
    const char *says;
    int opened = blas_open(&says);
    printf("%s %s\n.\n", opened ? "blas" : "lacks", says);
}

static int request(const char *line)
{
    char name[32];
    int i, v, start, n, threads, warm;
    times t;
    if (!strcmp(line, "have\n")) {
        have();
    } else if (sscanf(line, "series %d %d", &start, &n) == 2) {
        load(start, n);
    } else if (sscanf(line, "run %d %d %d %d %d %d", &i, &v, &start, &n, &threads, &warm) == 6) {
        t = run(i, v, start, n, threads, warm);
        printf("%lld %lld\n", t.cpu, t.wall);
    } else if (sscanf(line, "get %d %d %31s", &i, &v, name) == 3) {
        send(i, v, name);
    } else if (sscanf(line, "peak %d %d", &i, &n) == 2 && i >= 0 && i < peakCount) {
        usable[i]->run(n);
        times from = now();
        double flop = usable[i]->run(n);
        t = since(from);
        printf("%.0f %lld %lld\n", flop, t.cpu, t.wall);
    } else if (sscanf(line, "matrices %d %d", &start, &n) == 2) {
        load_matrices(start, n);
    } else if (sscanf(line, "product %d %d %d", &i, &v, &warm) == 3) {
        t = product(i, v, warm);
        printf("%lld %lld\n", t.cpu, t.wall);
    } else if (sscanf(line, "result %d %d", &i, &v) == 2) {
        send_product(i, v);
    } else if (sscanf(line, "chunks %d %d %d", &i, &v, &n) == 3) {
        load_chunks(i, v, n);
    } else if (sscanf(line, "chunk %d %d %d", &i, &v, &warm) == 3) {
        t = run_chunks(i, v, warm);
        printf("%lld %lld\n", t.cpu, t.wall);
    } else if (sscanf(line, "chunked %d %31s", &i, name) == 2) {
        send_chunks(i, name);
    } else if (sscanf(line, "rule %31s %d %d", name, &start, &n) == 3) {
        load_rule(name, start, n);
    } else if (sscanf(line, "step %d %d", &i, &warm) == 2) {
        t = step_rule(i, warm);
        printf("%lld %lld\n", t.cpu, t.wall);
    } else if (sscanf(line, "stepped %d %31s", &i, name) == 2) {
        send_stepped(i, name);
    } else {
        return 0;
    }
    return 1;
}

int main(void)
{
    char line[128];
    collect();
    while (fgets(line, sizeof line, stdin)) {
        if (!request(line))
            fail("unknown request");
        fflush(stdout);
    }
    return 0;
}
