/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributes jobs over the devices of a pool: the pool selects the device of each job, each device
 * has a thread that binds it, and the main thread shows the progress.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "demo.h"

struct run;

/* A device's thread and its current activity. */
struct worker {
    struct run *run;
    pool_device *device;
    pthread_t thread;
    int is_started;
    const char *activity; /* guarded by run->lock; NULL: finished */
    int is_compiling;     /* guarded by run->lock */
};

struct run {
    const struct demo_data *data;
    struct demo_job *jobs;
    size_t count;
    struct worker *workers;
    size_t worker_count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t done; /* guarded by lock */
    double begin;
};

static void set_activity(struct worker *worker, const char *activity, int is_compiling)
{
    pthread_mutex_lock(&worker->run->lock);
    worker->activity = activity;
    worker->is_compiling = is_compiling;
    pthread_cond_signal(&worker->run->changed);
    pthread_mutex_unlock(&worker->run->lock);
}

static void finish_job(struct worker *worker, struct demo_job *job)
{
    job->is_done = 1;
    if (!job->status && !job->is_correct)
        snprintf(job->failure, sizeof(job->failure), "wrong result");
    pthread_mutex_lock(&worker->run->lock);
    worker->run->done++;
    pthread_cond_signal(&worker->run->changed);
    pthread_mutex_unlock(&worker->run->lock);
}

/* Compilation runs on the host and takes the most time, so all jobs compile concurrently. */
static void *prepare_job(void *argument)
{
    struct demo_job *job = argument;
    double begin = cli_now();

    job->status = job->prepare(job->data, job->device);
    job->first_use = cli_now() - begin;
    if (job->status)
        snprintf(job->failure, sizeof(job->failure), "%s", pool_last_error()->message);
    return NULL;
}

static void start_preparing(struct worker *worker, struct demo_job *job)
{
    job->data = worker->run->data;
    job->has_preparer = pthread_create(&job->preparer, NULL, prepare_job, job) == 0;
}

static void run_job(struct worker *worker, struct demo_job *job)
{
    double begin;

    set_activity(worker, job->tag, 1);
    if (job->has_preparer)
        pthread_join(job->preparer, NULL);
    else
        prepare_job(job);
    begin = cli_now();
    if (!job->status) {
        set_activity(worker, job->tag, 0);
        job->status = job->run(worker->run->data, job, &job->is_correct);
        if (job->status)
            snprintf(job->failure, sizeof(job->failure), "%s", pool_last_error()->message);
    }
    job->seconds = cli_now() - begin;
    finish_job(worker, job);
}

/* Runs on the thread while its device is bound. */
static pool_status run_jobs(pool_device *device, void *argument)
{
    struct worker *worker = argument;
    struct run *run = worker->run;

    for (size_t i = 0; i < run->count; i++)
        if (run->jobs[i].device == device)
            start_preparing(worker, &run->jobs[i]);
    for (size_t i = 0; i < run->count; i++)
        if (run->jobs[i].device == device)
            run_job(worker, &run->jobs[i]);
    return POOL_OK;
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    pool_status status = pool_run_on(worker->device, run_jobs, worker);

    /* Binding failed, so none of the jobs was started. */
    for (size_t i = 0; status && i < worker->run->count; i++) {
        struct demo_job *job = &worker->run->jobs[i];

        if (job->device != worker->device || job->is_done)
            continue;
        job->status = status;
        snprintf(job->failure, sizeof(job->failure), "%s", pool_last_error()->message);
        finish_job(worker, job);
    }
    set_activity(worker, NULL, 0);
    return NULL;
}

static void show_progress(const struct run *run)
{
    char bar[4 * CLI_BAR];
    char line[400];
    size_t length;

    length = (size_t)snprintf(line, sizeof(line), "%s %zu of %zu  %.1f s",
        cli_bar(run->done, run->count, bar, sizeof(bar)), run->done, run->count,
        cli_now() - run->begin);
    for (size_t i = 0; i < run->worker_count && length < sizeof(line) - 1; i++) {
        const struct worker *worker = &run->workers[i];

        if (worker->activity)
            length += (size_t)snprintf(line + length, sizeof(line) - length, "  %d: %s%s",
                pool_device_index(worker->device), worker->activity,
                worker->is_compiling ? ", compiling" : "");
    }
    cli_progress("%s", line);
}

/* Updates the progress line ten times per second until all jobs are done. */
static void wait_for_jobs(struct run *run)
{
    pthread_mutex_lock(&run->lock);
    while (run->done < run->count) {
        struct timespec until;

        show_progress(run);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100 * 1000 * 1000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&run->changed, &run->lock, &until);
    }
    pthread_mutex_unlock(&run->lock);
    cli_progress_end();
}

/* Assigns the jobs round robin to the usable devices; without any they fail here. */
static void assign_jobs(device_pool *pool, struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        struct demo_job *job = &run->jobs[i];
        struct worker *worker = run->workers;

        job->status = pool_next_device(pool, &job->device);
        if (job->status) {
            snprintf(job->failure, sizeof(job->failure), "%s", pool_last_error()->message);
            run->done++;
            continue;
        }
        while (worker->device && worker->device != job->device)
            worker++;
        if (!worker->device)
            run->worker_count++;
        worker->device = job->device;
        worker->run = run;
    }
}

void demo_run(device_pool *pool, const struct demo_data *data, struct demo_job *jobs, size_t count)
{
    struct run run = {.data = data,
        .jobs = jobs,
        .count = count,
        .workers = cli_alloc(count + 1, sizeof(*run.workers)),
        .begin = cli_now()};

    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.changed, NULL);
    assign_jobs(pool, &run);
    for (size_t i = 0; i < run.worker_count; i++)
        run.workers[i].is_started =
            pthread_create(&run.workers[i].thread, NULL, worker_main, &run.workers[i]) == 0;
    for (size_t i = 0; i < run.worker_count; i++)
        if (!run.workers[i].is_started)
            worker_main(&run.workers[i]);
    wait_for_jobs(&run);
    for (size_t i = 0; i < run.worker_count; i++)
        if (run.workers[i].is_started)
            pthread_join(run.workers[i].thread, NULL);
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
    free(run.workers);
}
