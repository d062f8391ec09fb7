/* The variants without intrinsics under one set of flags. Compiled once for each:
 *
 *     gcc -O2 -DFLAGS='"-O2"' -DTABLE=o2 -c -o o2.o build.c */
#define PUBLIC static
#include "rows.c"
#include "textbook.c"

const variant TABLE[] = {
    {"forward", "textbook " FLAGS, textbook_forward, 1, 0},
    {"forward", "row-fused " FLAGS, fused_forward, 1, 0},
    {"forward", "rows × time " FLAGS, rows_run_forward, 1, 0},
#ifdef FOUR_SUMS
    {"forward", "rows × time, four sums " FLAGS, rows4_run_forward, 1, 0},
#endif
    {"backward", "textbook, stored M " FLAGS, stored_backward, 1, 1},
    {"backward", "rows × time " FLAGS, rows_run_backward, 1, 0},
#ifdef FOUR_SUMS
    {"backward", "rows × time, four sums " FLAGS, rows4_run_backward, 1, 0},
#endif
    {0},
};
