/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs work that a hung device may prevent from ending on separate threads, and stops waiting for
 * them when they make no progress.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "cli.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t progress; /* guarded by lock, as is the next */
    int has_timed_out;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* One call of cli_watch. It outlives a call that times out. */
struct watched {
    void *(*work)(void *argument);
    void *argument;
    size_t running; /* guarded by watch.lock */
};

void cli_watch_progress(void)
{
    pthread_mutex_lock(&watch.lock);
    watch.progress++;
    pthread_cond_broadcast(&watch.changed);
    pthread_mutex_unlock(&watch.lock);
}

int cli_watch_has_timed_out(void)
{
    int has_timed_out;

    pthread_mutex_lock(&watch.lock);
    has_timed_out = watch.has_timed_out;
    pthread_mutex_unlock(&watch.lock);
    return has_timed_out;
}

static void *run_watched(void *argument)
{
    struct watched *watched = argument;

    watched->work(watched->argument);
    pthread_mutex_lock(&watch.lock);
    watched->running--;
    watch.progress++;
    pthread_cond_broadcast(&watch.changed);
    pthread_mutex_unlock(&watch.lock);
    return NULL;
}

static void init_condition(void)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watch.changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Waits until all threads have returned, or for `timeout` seconds without progress. */
static int wait_locked(struct watched *watched, uint64_t timeout)
{
    int error = 0;

    while (watched->running && error != ETIMEDOUT) {
        uint64_t seen = watch.progress;
        struct timespec deadline;

        clock_gettime(CLOCK_MONOTONIC, &deadline);
        deadline.tv_sec += (time_t)timeout;
        error = 0;
        while (watched->running && watch.progress == seen && error != ETIMEDOUT)
            error = timeout ? pthread_cond_timedwait(&watch.changed, &watch.lock, &deadline)
                            : pthread_cond_wait(&watch.changed, &watch.lock);
        if (watch.progress != seen)
            error = 0;
    }
    return !watched->running;
}

int cli_watch(size_t threads, uint64_t timeout, void *(*work)(void *argument), void *argument)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct watched *watched = cli_alloc(1, sizeof(*watched));
    pthread_t thread;
    int has_ended;

    pthread_once(&once, init_condition);
    *watched = (struct watched){.work = work, .argument = argument};
    pthread_mutex_lock(&watch.lock);
    while (watched->running < threads && pthread_create(&thread, NULL, run_watched, watched) == 0) {
        pthread_detach(thread);
        watched->running++;
    }
    if (!watched->running) {
        pthread_mutex_unlock(&watch.lock);
        work(argument);
        free(watched);
        return 1;
    }
    has_ended = wait_locked(watched, timeout);
    watch.has_timed_out |= !has_ended;
    pthread_mutex_unlock(&watch.lock);
    if (has_ended)
        free(watched);
    return has_ended;
}
