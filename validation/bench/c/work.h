/* The series and matrices of serve.c and what is computed with them. What a
 * caller asks wrongly ends the process with a line. */
#ifndef HECATE_WORK_H
#define HECATE_WORK_H

#include "delta.h"

typedef struct {
    long long cpu, wall; /* nanoseconds */
} times;

times now(void);
times since(times from);
void fail(const char *what);

/* Fills variants from the tables of BUILDS, those that this CPU can run. */
void collect(void);
extern const variant *variants[];
extern int variantCount;

void load(int T, int d);
times run(int series, int variant, int start, int n, int threads, int warm);
void send(int series, int variant, const char *name);

/* reals are n zeros in whole cache lines, receive n numbers from the input. */
REAL *reals(long n);
REAL *receive(long n);

void load_chunks(int n, int C, int d);
times run_chunks(int chunks, int pass, int warm);
void send_chunks(int chunks, const char *name);

void load_rule(const char *name, int T, int d);
times step_rule(int rule, int warm);
void send_stepped(int rule, const char *name);

void load_matrices(int T, int d);
times product(int matrices, int form, int warm);
void send_product(int matrices, int form);

#endif
