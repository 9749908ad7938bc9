/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Persistent threads that wait for the next run.
 */
#include "base/thread_pool.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/processors.h"
#include "base/thread.h"

/* The threads of one run besides the caller's; on the caller's stack. */
struct run {
    base_thread_pool_work work;
    void *context;
    unsigned count;     /* of threads, the caller's included */
    unsigned running;   /* guarded by the pool's lock */
    pthread_cond_t end; /* nothing is running */
};

struct worker {
    pthread_t thread;
    struct base_thread_pool *pool;
    struct worker *next;      /* constant: of all workers */
    struct worker *next_idle; /* guarded by the pool's lock, as the next three */
    struct run *run;          /* NULL while idle */
    unsigned index;           /* in the run */
    pthread_cond_t begin;     /* it has a run, or the pool is closing */
};

struct base_thread_pool {
    unsigned limit; /* of workers */
    pthread_mutex_t lock;
    bool is_closing; /* guarded by lock, as everything below */
    unsigned worker_count;
    struct worker *workers;
    struct worker *idle; /* last in, first out: its caches are warm */
};

enum { MAX_THREADS = 256 };

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct base_thread_pool *pool = worker->pool;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!worker->run && !pool->is_closing)
            pthread_cond_wait(&worker->begin, &pool->lock);
        if (!worker->run)
            break;
        struct run *run = worker->run;
        pthread_mutex_unlock(&pool->lock);
        run->work(run->context, worker->index, run->count);
        pthread_mutex_lock(&pool->lock);
        worker->run = NULL;
        worker->next_idle = pool->idle;
        pool->idle = worker;
        if (--run->running == 0)
            pthread_cond_signal(&run->end);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* NULL if there may not be more or none can be started. Called with the lock held. */
static struct worker *start_worker(struct base_thread_pool *pool)
{
    struct worker *worker =
        pool->worker_count < pool->limit ? base_calloc(1, sizeof(*worker)) : NULL;

    if (!worker)
        return NULL;
    worker->pool = pool;
    pthread_cond_init(&worker->begin, NULL);
    if (!base_thread_start(&worker->thread, worker_main, worker)) {
        pthread_cond_destroy(&worker->begin);
        base_free(worker);
        return NULL;
    }
    worker->next = pool->workers;
    pool->workers = worker;
    pool->worker_count++;
    return worker;
}

/* Called with the lock held. */
static struct worker *take_worker(struct base_thread_pool *pool)
{
    struct worker *worker = pool->idle;

    if (!worker)
        return start_worker(pool);
    pool->idle = worker->next_idle;
    return worker;
}

bool base_thread_pool_create(unsigned limit, struct base_thread_pool **pool)
{
    struct base_thread_pool *created = base_calloc(1, sizeof(*created));

    if (!created)
        return false;
    created->limit = (unsigned)base_min(limit ? limit : base_processors(), MAX_THREADS) - 1;
    pthread_mutex_init(&created->lock, NULL);
    *pool = created;
    return true;
}

void base_thread_pool_destroy(struct base_thread_pool **pool)
{
    struct base_thread_pool *ended = *pool;

    if (!ended)
        return;
    pthread_mutex_lock(&ended->lock);
    ended->is_closing = true;
    for (struct worker *worker = ended->workers; worker; worker = worker->next)
        pthread_cond_signal(&worker->begin);
    pthread_mutex_unlock(&ended->lock);
    for (struct worker *worker = ended->workers; worker; worker = worker->next) {
        pthread_join(worker->thread, NULL);
        pthread_cond_destroy(&worker->begin);
    }
    pthread_mutex_destroy(&ended->lock);
    base_thread_pool_forget(pool);
}

/* Destroys no lock and no condition: in a forked child they may have waiters. */
void base_thread_pool_forget(struct base_thread_pool **pool)
{
    struct base_thread_pool *forgotten = *pool;

    while (forgotten && forgotten->workers) {
        struct worker *worker = forgotten->workers;

        forgotten->workers = worker->next;
        base_free(worker);
    }
    base_free(forgotten);
    *pool = NULL;
}

void base_thread_pool_run(
    struct base_thread_pool *pool, unsigned wanted, base_thread_pool_work work, void *context)
{
    struct run run = {.work = work, .context = context, .count = 1};
    struct worker *taken[MAX_THREADS], *worker;

    if (!pool || wanted <= 1) {
        work(context, 0, 1);
        return;
    }
    pthread_cond_init(&run.end, NULL);
    wanted = (unsigned)base_min(wanted, MAX_THREADS);
    pthread_mutex_lock(&pool->lock);
    while (run.count < wanted && (worker = take_worker(pool))) {
        worker->index = run.count;
        taken[run.count++] = worker;
    }
    run.running = run.count - 1;
    for (unsigned i = 1; i < run.count; i++)
        taken[i]->run = &run;
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 1; i < run.count; i++)
        pthread_cond_signal(&taken[i]->begin);
    work(context, 0, run.count);
    pthread_mutex_lock(&pool->lock);
    while (run.running > 0)
        pthread_cond_wait(&run.end, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_destroy(&run.end);
}
