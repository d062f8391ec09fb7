/* The functions that kernels call and C99 lacks. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Products and sums are rounded apart. GCC takes only -ffp-contract=off. */
#pragma STDC FP_CONTRACT OFF

/* hecate_new is memory for a buffer of n entries; the program ends where there is none. */
static inline void *hecate_new(int64_t n, size_t entry) {
  void *p = calloc(n > 0 ? (size_t)n : 1, entry);
  if (!p) {
    fprintf(stderr, "hecate: no memory for %lld entries\n", (long long)n);
    exit(1);
  }
  return p;
}

/* NaN if either is NaN; of two zeros the larger is +0. */
static inline double hecate_max(double x, double y) {
  if (x > y) return x;
  if (y > x) return y;
  return x == y && x != 0 ? x : x + y;
}

static inline double hecate_min(double x, double y) { return -hecate_max(-x, -y); }

static inline double hecate_sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x; }

static inline double hecate_sigmoid(double x) {
  if (x >= 0) return 1 / (1 + exp(-x));
  double e = exp(x);
  return e / (1 + e);
}

static inline double hecate_softplus(double x) { return hecate_max(x, 0) + log1p(exp(-fabs(x))); }

static inline double hecate_mod(double x, double y) { return x - (y * floor(x / y)); }

/* The exponents -1, 1/2, 2 and 3 are a quotient, a root and products. */
static inline double hecate_pow(double x, double y) {
  if (y == 2) return x * x;
  if (y == 3) return x * x * x;
  if (y == -1) return 1 / x;
  if (y == 0.5 && x > 0) return sqrt(x);
  return pow(x, y);
}

/* Chandrupatla's method, as plan.FindRoot describes it. */
typedef struct {
  double x, a, b, c, fa, fb, fc, mark, tol;
  int rounds;
  bool done, failed;
} hecate_search;

static inline hecate_search hecate_find(double lo, double hi, double tol) {
  hecate_search s = {0};
  s.x = s.a = lo;
  s.b = hi;
  s.tol = tol;
  return s;
}

static inline void hecate_end(hecate_search *s, double at) {
  s->x = at;
  s->done = true;
}

/* The zero of the secant through the ends of the bracket. */
static inline void hecate_secant(hecate_search *s) {
  double at = s->a + (s->b - s->a) * (s->fa / (s->fa - s->fb));
  hecate_end(s, hecate_min(s->a, s->b) <= at && at <= hecate_max(s->a, s->b) ? at : s->a);
}

/* Goes a part of the way from a to b, kept off both ends. */
static inline void hecate_go(hecate_search *s, double part, double least) {
  double lo = hecate_min(s->a, s->b), hi = hecate_max(s->a, s->b);
  if (!(part > least)) part = least;
  if (part > 1 - least) part = 1 - least;
  s->x = s->a + part * (s->b - s->a);
  if (!(lo < s->x && s->x < hi)) s->x = lo + (hi - lo) / 2;
  if (!(lo < s->x && s->x < hi)) hecate_secant(s);
}

static inline void hecate_round(hecate_search *s) {
  double w = fabs(s->b - s->a), best = fabs(s->fa) < fabs(s->fb) ? s->a : s->b;
  double least = (s->tol / 2 + 0x1p-52 * (2 * fabs(best))) / w, t = 0.5;
  if (!(least < 0.5)) {
    hecate_secant(s);
    return;
  }
  if (s->rounds - 2 >= 256) {
    s->failed = true;
    hecate_end(s, NAN);
    return;
  }
  double u = (s->a - s->b) / (s->c - s->b), y = (s->fa - s->fb) / (s->fc - s->fb);
  if (y * y < u && (1 - y) * (1 - y) < 1 - u) {
    double first = (s->fa / (s->fb - s->fa)) * (s->fc / (s->fb - s->fc));
    double second = (s->fa / (s->fc - s->fa)) * (s->fb / (s->fc - s->fb));
    t = first + (s->c - s->a) / (s->b - s->a) * second;
  }
  if ((s->rounds - 2) % 4 == 0) {
    if (!(w <= s->mark / 2)) t = 0.5;
    s->mark = w;
  }
  hecate_go(s, t, least);
}

/* Receives the residual at x and chooses the next x. */
static inline void hecate_take(hecate_search *s, double f) {
  s->rounds++;
  if (f == 0) {
    s->done = true;
  } else if (s->rounds == 1) {
    s->fa = f;
    s->x = s->b;
  } else if (s->rounds == 2) {
    s->fb = f;
    s->mark = s->b - s->a;
    if (!(s->mark > 0 && s->mark - s->mark == 0) || (s->fa < 0) == (f < 0) || s->fa != s->fa || f != f) {
      s->failed = s->fa == s->fa && f == f;
      hecate_end(s, NAN);
    } else {
      hecate_go(s, 0.5, 0);
    }
  } else if (f != f) {
    hecate_end(s, f);
  } else {
    bool same = (f < 0) == (s->fa < 0);
    s->c = same ? s->a : s->b;
    s->fc = same ? s->fa : s->fb;
    if (!same) {
      s->b = s->a;
      s->fb = s->fa;
    }
    s->a = s->x;
    s->fa = f;
    hecate_round(s);
  }
}
