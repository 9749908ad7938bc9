/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Persistent threads that wait for the next run.
 */
#include "base/thread_pool.h"

#include <pthread.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/processors.h"
#include "base/thread.h"

enum { MAX_THREADS = 256 };

struct base_thread_pool {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    bool is_acquired; /* guarded by lock, as everything below */
    bool is_closing;
    uint64_t run_count;
    unsigned wanted; /* threads of the current run besides the caller's */
    unsigned running;
    base_thread_pool_work work;
    void *context;
    unsigned thread_count;
    pthread_t threads[MAX_THREADS];
};

struct worker {
    struct base_thread_pool *pool;
    unsigned index;
};

static void *worker_main(void *argument)
{
    struct worker worker = *(struct worker *)argument;
    struct base_thread_pool *pool = worker.pool;
    uint64_t seen = 0;

    base_free(argument);
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->is_closing && (pool->run_count == seen || worker.index > pool->wanted)) {
            seen = pool->run_count;
            pthread_cond_wait(&pool->begin, &pool->lock);
        }
        if (pool->is_closing)
            break;
        seen = pool->run_count;
        base_thread_pool_work work = pool->work;
        void *context = pool->context;
        pthread_mutex_unlock(&pool->lock);
        work(context, worker.index);
        pthread_mutex_lock(&pool->lock);
        if (--pool->running == 0)
            pthread_cond_broadcast(&pool->end);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static bool start_worker(struct base_thread_pool *pool)
{
    struct worker *worker = base_calloc(1, sizeof(*worker));

    if (!worker)
        return false;
    worker->pool = pool;
    worker->index = pool->thread_count + 1;
    if (!base_thread_start(&pool->threads[pool->thread_count], worker_main, worker)) {
        base_free(worker);
        return false;
    }
    pool->thread_count++;
    return true;
}

bool base_thread_pool_create(unsigned count, struct base_thread_pool **pool)
{
    struct base_thread_pool *made = base_calloc(1, sizeof(*made));

    if (!made)
        return false;
    if (count == 0)
        count = base_processors();
    count = (unsigned)base_min(count, MAX_THREADS);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->begin, NULL);
    pthread_cond_init(&made->end, NULL);
    while (made->thread_count + 1 < count && start_worker(made))
        continue;
    *pool = made;
    return true;
}

void base_thread_pool_destroy(struct base_thread_pool **pool)
{
    struct base_thread_pool *ended = *pool;

    if (!ended)
        return;
    pthread_mutex_lock(&ended->lock);
    ended->is_closing = true;
    pthread_cond_broadcast(&ended->begin);
    pthread_mutex_unlock(&ended->lock);
    for (unsigned i = 0; i < ended->thread_count; i++)
        pthread_join(ended->threads[i], NULL);
    pthread_cond_destroy(&ended->begin);
    pthread_cond_destroy(&ended->end);
    pthread_mutex_destroy(&ended->lock);
    base_free(ended);
    *pool = NULL;
}

void base_thread_pool_forget(struct base_thread_pool **pool)
{
    base_free(*pool);
    *pool = NULL;
}

unsigned base_thread_pool_acquire(struct base_thread_pool *pool, unsigned wanted)
{
    if (!pool || wanted <= 1)
        return 1;
    pthread_mutex_lock(&pool->lock);
    bool is_free = !pool->is_acquired && pool->thread_count > 0;
    if (is_free)
        pool->is_acquired = true;
    pthread_mutex_unlock(&pool->lock);
    unsigned available = pool->thread_count + 1;
    return is_free ? (unsigned)base_min(wanted, available) : 1;
}

void base_thread_pool_run(
    struct base_thread_pool *pool, unsigned count, base_thread_pool_work work, void *context)
{
    if (count <= 1) {
        work(context, 0);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->work = work;
    pool->context = context;
    pool->wanted = count - 1;
    pool->running = count - 1;
    pool->run_count++;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    work(context, 0);
    pthread_mutex_lock(&pool->lock);
    while (pool->running > 0)
        pthread_cond_wait(&pool->end, &pool->lock);
    pool->is_acquired = false;
    pthread_mutex_unlock(&pool->lock);
}
