/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that obtain tasks from a shared counter.
 */
#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/log.h"
#include "base/math.h"
#include "base/processors.h"
#include "base/status.h"

/*
 * The programs of an MSM, of which there are the most, are compiled at once where the processors
 * allow; a compilation takes some 100 MiB of memory.
 */
enum { MAX_THREADS = 16 };

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
    return (unsigned)base_min(base_processors(), MAX_THREADS);
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

static void run_tasks(void *context, unsigned index, unsigned count)
{
    struct work *work = context;
    const struct base_parallel *job = work->job;

    BASE_LOG_LABEL(work->log_label);
    (void)index;
    (void)count;
    for (size_t i; (i = atomic_fetch_add(&work->next, 1)) < job->count;) {
        pool_status status = job->task(job->user, i);

        if (status)
            note_failure(work, i, status);
    }
}

pool_status base_parallel_run(struct base_thread_pool *threads, const struct base_parallel *job)
{
    struct work work = {.job = job, .log_label = base_log_label(), .failed = job->count};

    if (!job->count)
        return POOL_OK;
    pthread_mutex_init(&work.lock, NULL);
    base_thread_pool_run(
        threads, (unsigned)base_min(base_parallel_threads(), job->count), run_tasks, &work);
    pthread_mutex_destroy(&work.lock);
    if (work.status)
        base_error_restore(&work.failure);
    return work.status;
}
