/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that obtain tasks from a shared counter.
 */
#include "base/parallel.h"
#include "base/math.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/log.h"
#include "base/processors.h"
#include "base/status.h"
#include "base/thread.h"

enum { MAX_PLACES = 8 };

struct work {
    const struct base_parallel *job;
    const char *log_label; /* of the calling thread */
    atomic_size_t next;
    pthread_mutex_t lock;
    size_t failed;                  /* guarded by lock: the first task that failed, or the count */
    pool_status status;             /* guarded by lock: its own */
    struct base_error_copy failure; /* guarded by lock: why */
};

unsigned base_parallel_threads(void)
{
    unsigned processors = base_processors();

    return (unsigned)base_min(processors, MAX_PLACES);
}

/* Tasks start in order, so all tasks before the first failed one have been started: which one that
 * is does not depend on the threads' speed. */
static void note_failure(struct work *work, size_t index, pool_status status)
{
    pthread_mutex_lock(&work->lock);
    if (index < work->failed) {
        work->failed = index;
        work->status = status;
        base_error_save(&work->failure);
    }
    pthread_mutex_unlock(&work->lock);
    if (!work->job->tries_all)
        atomic_store(&work->next, work->job->count);
}

static void *work_on(void *argument)
{
    struct work *work = argument;
    const struct base_parallel *job = work->job;

    BASE_LOG_LABEL(work->log_label);
    for (size_t i; (i = atomic_fetch_add(&work->next, 1)) < job->count;) {
        pool_status status = job->task(job->user, i);

        if (status)
            note_failure(work, i, status);
    }
    return NULL;
}

static size_t start_helpers(struct work *work, pthread_t *threads, size_t wanted)
{
    size_t started = 0;

    while (started < wanted && base_thread_start(&threads[started], work_on, work))
        started++;
    return started;
}

pool_status base_parallel_run(const struct base_parallel *job)
{
    struct work work = {.job = job, .log_label = base_log_label(), .failed = job->count};
    size_t places = base_parallel_threads();
    pthread_t threads[MAX_PLACES];
    size_t started;

    if (!job->count)
        return POOL_OK;
    pthread_mutex_init(&work.lock, NULL);
    started = start_helpers(&work, threads, base_min(places, job->count) - 1);
    work_on(&work);
    while (started)
        pthread_join(threads[--started], NULL);
    pthread_mutex_destroy(&work.lock);
    if (work.status)
        base_error_restore(&work.failure);
    return work.status;
}
