/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs work that a hung device may prevent from ending on separate threads, and stops waiting for
 * them when they make no progress.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t count; /* guarded by lock, as is the next */
    bool has_timed_out;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* One call of bench_run_threads. It outlives a call that times out. */
struct task {
    void *(*work)(void *argument);
    void *argument;
    size_t running;    /* guarded by progress.lock */
    bool is_abandoned; /* likewise: timed out, so the last thread frees it */
};

void bench_report_progress(void)
{
    pthread_mutex_lock(&progress.lock);
    progress.count++;
    pthread_cond_broadcast(&progress.changed);
    pthread_mutex_unlock(&progress.lock);
}

uint64_t bench_progress(void)
{
    uint64_t count;

    pthread_mutex_lock(&progress.lock);
    count = progress.count;
    pthread_mutex_unlock(&progress.lock);
    return count;
}

bool bench_has_timed_out(void)
{
    bool has_timed_out;

    pthread_mutex_lock(&progress.lock);
    has_timed_out = progress.has_timed_out;
    pthread_mutex_unlock(&progress.lock);
    return has_timed_out;
}

static void *run_task(void *argument)
{
    struct task *task = argument;
    bool is_last;

    task->work(task->argument);
    pthread_mutex_lock(&progress.lock);
    is_last = --task->running == 0 && task->is_abandoned;
    progress.count++;
    pthread_cond_broadcast(&progress.changed);
    pthread_mutex_unlock(&progress.lock);
    if (is_last)
        free(task);
    return NULL;
}

static void init_condition(void)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&progress.changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Waits until all threads have returned, or for `timeout` seconds without progress. */
static bool wait_locked(struct task *task, uint64_t timeout)
{
    int error = 0;

    while (task->running && error != ETIMEDOUT) {
        uint64_t seen = progress.count;
        struct timespec deadline;

        clock_gettime(CLOCK_MONOTONIC, &deadline);
        deadline.tv_sec += (time_t)timeout;
        error = 0;
        while (task->running && progress.count == seen && error != ETIMEDOUT)
            error = timeout ? pthread_cond_timedwait(&progress.changed, &progress.lock, &deadline)
                            : pthread_cond_wait(&progress.changed, &progress.lock);
        if (progress.count != seen)
            error = 0;
    }
    return !task->running;
}

bool bench_run_threads(
    size_t threads, uint64_t timeout, void *(*work)(void *argument), void *argument)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct task *task = bench_alloc(1, sizeof(*task));
    pthread_t thread;
    bool has_ended;

    pthread_once(&once, init_condition);
    *task = (struct task){.work = work, .argument = argument};
    pthread_mutex_lock(&progress.lock);
    while (task->running < threads && pthread_create(&thread, NULL, run_task, task) == 0) {
        pthread_detach(thread);
        task->running++;
    }
    if (!task->running) {
        pthread_mutex_unlock(&progress.lock);
        work(argument);
        free(task);
        return true;
    }
    has_ended = wait_locked(task, timeout);
    progress.has_timed_out |= !has_ended;
    task->is_abandoned = !has_ended;
    pthread_mutex_unlock(&progress.lock);
    if (has_ended)
        free(task);
    return has_ended;
}

size_t bench_processors(size_t limit)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    return processors < 1 ? 1 : (size_t)processors > limit ? limit : (size_t)processors;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

struct ranges {
    uint64_t count;
    void (*work)(void *user, uint64_t first, uint64_t end);
    void *user;
    atomic_uint_fast64_t next;
};

/* Long enough that taking one costs nothing, short enough that all threads get some. */
enum { RANGE = 4096 };

static void *run_ranges(void *argument)
{
    struct ranges *ranges = argument;
    uint64_t first;

    while ((first = atomic_fetch_add(&ranges->next, RANGE)) < ranges->count)
        ranges->work(
            ranges->user, first, ranges->count - first < RANGE ? ranges->count : first + RANGE);
    return NULL;
}

void bench_run_ranges(
    uint64_t count, void (*work)(void *user, uint64_t first, uint64_t end), void *user)
{
    enum { MAX_THREADS = 64 };
    const uint64_t most = (count + RANGE - 1) / RANGE;
    struct ranges ranges = {.count = count, .work = work, .user = user};

    bench_run_threads(
        bench_processors(most < MAX_THREADS ? most : MAX_THREADS), 0, run_ranges, &ranges);
}
