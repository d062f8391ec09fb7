/* Two threads for one pass: the caller and one that waits for it. */
#ifndef HECATE_PAIR_H
#define HECATE_PAIR_H

/* Wakes the other thread; when it returns, that one waits for work without
 * sleeping. */
void pair_wake(void);

/* Runs f(0) here and f(1) there, and returns when both have. After pair_wake. */
void pair_run(void (*f)(int));

/* Lets the other thread sleep. */
void pair_sleep(void);

#endif
