/* See pair.h. The other thread sleeps on a condition between measurements and
 * spins within one, so that waking it is not measured. */
#include "pair.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ASLEEP, AWAKE, GO, DONE };

static atomic_int stage = ASLEEP;
static atomic_int called;
static void (*work)(int);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

/* look is one look of a thread that waits: it gives way now and then, in case
 * the machine has no core for both. */
static void look(void)
{
    static _Thread_local int looks;
    if (++looks % 4096 == 0)
        sched_yield();
}

static void *other(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!atomic_load(&called))
            pthread_cond_wait(&condition, &lock);
        pthread_mutex_unlock(&lock);
        atomic_store(&stage, AWAKE);
        for (; atomic_load(&called); look())
            if (atomic_load_explicit(&stage, memory_order_acquire) == GO) {
                work(1);
                atomic_store_explicit(&stage, DONE, memory_order_release);
            }
        atomic_store(&stage, ASLEEP);
    }
    return 0;
}

void pair_wake(void)
{
    static int started;
    pthread_t thread;
    if (!started++ && pthread_create(&thread, 0, other, 0))
        abort();
    pthread_mutex_lock(&lock);
    atomic_store(&called, 1);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&lock);
    while (atomic_load(&stage) == ASLEEP)
        look();
}

void pair_run(void (*f)(int))
{
    work = f;
    atomic_store_explicit(&stage, GO, memory_order_release);
    f(0);
    while (atomic_load_explicit(&stage, memory_order_acquire) != DONE)
        look();
}

void pair_sleep(void)
{
    atomic_store(&called, 0);
    while (atomic_load(&stage) != ASLEEP)
        look();
}
