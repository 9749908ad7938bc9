/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributes jobs over the devices of a pool. The pool selects the device of each job and a thread
 * per job compiles; of the jobs of one device one runs at a time.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "demo.h"

/* All jobs. Their `state` and `done` are guarded by `lock`. */
struct run {
    const struct demo_data *data;
    struct demo_job *jobs;
    size_t count;
    size_t next; /* guarded by lock, as is the next */
    size_t done;
    double begin;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_mutex_t *device_locks; /* held while a job of the device runs */
};

static const struct demo_job *first_unfinished_job(const struct run *run, const pool_device *device)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->jobs[i].device == device && run->jobs[i].state != DEMO_DONE)
            return &run->jobs[i];
    return NULL;
}

static void show_progress_locked(const struct run *run)
{
    char bar[4 * CLI_BAR];
    char line[400];
    size_t length = (size_t)snprintf(line, sizeof(line), "%s %zu of %zu  %.1f s",
        cli_bar(run->done, run->count, bar, sizeof(bar)), run->done, run->count,
        bench_now() - run->begin);

    for (size_t i = 0; i < run->count && length < sizeof(line) - 1; i++) {
        const struct demo_job *job = &run->jobs[i];

        if (job == first_unfinished_job(run, job->device))
            length += (size_t)snprintf(line + length, sizeof(line) - length, "  %d: %s%s",
                pool_device_index(job->device), job->tag,
                job->state == DEMO_COMPILING ? ", compiling" : "");
    }
    cli_progress("%s", line);
}

/* Updates the progress line ten times per second until all jobs are done. */
static void show_progress(struct run *run)
{
    pthread_mutex_lock(&run->lock);
    while (run->done < run->count) {
        struct timespec until;

        show_progress_locked(run);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100 * 1000 * 1000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&run->changed, &run->lock, &until);
    }
    pthread_mutex_unlock(&run->lock);
    cli_progress_end();
}

static void set_state(struct run *run, struct demo_job *job, enum demo_state state)
{
    pthread_mutex_lock(&run->lock);
    job->state = state;
    run->done += state == DEMO_DONE;
    pthread_cond_signal(&run->changed);
    pthread_mutex_unlock(&run->lock);
}

/* Runs on the thread while the job's device is bound. */
static pool_status run_bound_job(pool_device *device, void *argument)
{
    struct demo_job *job = argument;

    (void)device;
    return job->run(job->data, job, &job->is_correct);
}

static void run_job(struct run *run, struct demo_job *job)
{
    double begin = bench_now();

    if (job->state == DEMO_DONE) /* it has no device */
        return;
    set_state(run, job, DEMO_COMPILING);
    job->data = run->data;
    job->status = job->prepare(job->data, job->device);
    job->first_use = bench_now() - begin;
    if (!job->status) {
        pthread_mutex_t *lock = &run->device_locks[pool_device_index(job->device)];

        pthread_mutex_lock(lock);
        set_state(run, job, DEMO_RUNNING);
        begin = bench_now();
        job->status = pool_run_on(job->device, run_bound_job, job);
        job->seconds = bench_now() - begin;
        pthread_mutex_unlock(lock);
    }
    if (job->status || !job->is_correct)
        snprintf(job->failure, sizeof(job->failure), "%s",
            job->status ? pool_last_error()->message : "wrong result");
    set_state(run, job, DEMO_DONE);
}

/* One thread per job and one that shows the progress. */
static void *run_jobs(void *argument)
{
    struct run *run = argument;
    size_t index;

    do {
        pthread_mutex_lock(&run->lock);
        index = run->next++;
        pthread_mutex_unlock(&run->lock);
        if (index < run->count)
            run_job(run, &run->jobs[index]);
        else if (index == run->count)
            show_progress(run);
    } while (index < run->count);
    return NULL;
}

void demo_run(device_pool *pool, const struct demo_data *data, struct demo_job *jobs, size_t count)
{
    size_t devices = pool_device_count(pool);
    struct run run = {.data = data,
        .jobs = jobs,
        .count = count,
        .begin = bench_now(),
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
        .device_locks = bench_alloc(devices, sizeof(*run.device_locks))};

    for (size_t i = 0; i < devices; i++)
        pthread_mutex_init(&run.device_locks[i], NULL);
    for (size_t i = 0; i < count; i++) {
        jobs[i].status = pool_next_device(pool, &jobs[i].device);
        if (!jobs[i].status)
            continue;
        snprintf(jobs[i].failure, sizeof(jobs[i].failure), "%s", pool_last_error()->message);
        set_state(&run, &jobs[i], DEMO_DONE);
    }
    bench_run_threads(count + 1, 0, run_jobs, &run);
    for (size_t i = 0; i < devices; i++)
        pthread_mutex_destroy(&run.device_locks[i]);
    free(run.device_locks);
}
