/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spreading jobs over the devices of a pool: the pool says whose turn it is, each device has a
 * thread that binds it, and the main thread tells how it goes.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "demo.h"

struct run;

/* A device's thread, and what it does right now. */
struct worker {
    struct run *run;
    pool_device *device;
    pthread_t thread;
    int is_started;
    const char *doing; /* guarded by run->lock; NULL: nothing any more */
    int is_compiling;  /* guarded by run->lock */
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

static void say(struct worker *worker, const char *doing, int is_compiling)
{
    pthread_mutex_lock(&worker->run->lock);
    worker->doing = doing;
    worker->is_compiling = is_compiling;
    pthread_cond_signal(&worker->run->changed);
    pthread_mutex_unlock(&worker->run->lock);
}

static void finish_job(struct worker *worker, struct demo_job *job)
{
    job->is_done = 1;
    if (!job->status && !job->is_right)
        snprintf(job->failure, sizeof(job->failure), "wrong result");
    pthread_mutex_lock(&worker->run->lock);
    worker->run->done++;
    pthread_cond_signal(&worker->run->changed);
    pthread_mutex_unlock(&worker->run->lock);
}

/* Compiling is the host's work and takes longer than all the rest: it is done for all jobs at once.
 */
static void *prepare(void *argument)
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
    job->has_preparer = pthread_create(&job->preparer, NULL, prepare, job) == 0;
}

static void do_job(struct worker *worker, struct demo_job *job)
{
    double begin;

    say(worker, job->tag, 1);
    if (job->has_preparer)
        pthread_join(job->preparer, NULL);
    else
        prepare(job);
    begin = cli_now();
    if (!job->status) {
        say(worker, job->tag, 0);
        job->status = job->run(worker->run->data, job, &job->is_right);
        if (job->status)
            snprintf(job->failure, sizeof(job->failure), "%s", pool_last_error()->message);
    }
    job->seconds = cli_now() - begin;
    finish_job(worker, job);
}

/* What the thread does while its device is bound. */
static pool_status do_jobs(pool_device *device, void *argument)
{
    struct worker *worker = argument;
    struct run *run = worker->run;

    for (size_t i = 0; i < run->count; i++)
        if (run->jobs[i].device == device)
            start_preparing(worker, &run->jobs[i]);
    for (size_t i = 0; i < run->count; i++)
        if (run->jobs[i].device == device)
            do_job(worker, &run->jobs[i]);
    return POOL_OK;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    pool_status status = pool_run_on(worker->device, do_jobs, worker);

    /* Where the device could not even be bound none of its jobs was begun. */
    for (size_t i = 0; status && i < worker->run->count; i++) {
        struct demo_job *job = &worker->run->jobs[i];

        if (job->device != worker->device || job->is_done)
            continue;
        job->status = status;
        snprintf(job->failure, sizeof(job->failure), "%s", pool_last_error()->message);
        finish_job(worker, job);
    }
    say(worker, NULL, 0);
    return NULL;
}

static void show(const struct run *run)
{
    char bar[4 * CLI_BAR];
    char text[400];
    size_t length;

    length = (size_t)snprintf(text, sizeof(text), "%s %zu of %zu  %.1f s",
        cli_bar(run->done, run->count, bar, sizeof(bar)), run->done, run->count,
        cli_now() - run->begin);
    for (size_t i = 0; i < run->worker_count && length < sizeof(text) - 1; i++) {
        const struct worker *worker = &run->workers[i];

        if (worker->doing)
            length += (size_t)snprintf(text + length, sizeof(text) - length, "  %d: %s%s",
                pool_device_index(worker->device), worker->doing,
                worker->is_compiling ? ", compiling" : "");
    }
    cli_progress("%s", text);
}

/* Tells how it goes, several times a second, until all jobs are done. */
static void watch(struct run *run)
{
    pthread_mutex_lock(&run->lock);
    while (run->done < run->count) {
        struct timespec until;

        show(run);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100 * 1000 * 1000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&run->changed, &run->lock, &until);
    }
    pthread_mutex_unlock(&run->lock);
    cli_progress_end();
}

/* Round robin over the usable devices; without any the jobs have failed already. */
static void give_out(device_pool *pool, struct run *run)
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
    give_out(pool, &run);
    for (size_t i = 0; i < run.worker_count; i++)
        run.workers[i].is_started =
            pthread_create(&run.workers[i].thread, NULL, work, &run.workers[i]) == 0;
    for (size_t i = 0; i < run.worker_count; i++)
        if (!run.workers[i].is_started)
            work(&run.workers[i]);
    watch(&run);
    for (size_t i = 0; i < run.worker_count; i++)
        if (run.workers[i].is_started)
            pthread_join(run.workers[i].thread, NULL);
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
    free(run.workers);
}
