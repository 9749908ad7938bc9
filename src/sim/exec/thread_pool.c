/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of threads for one launch at a time: a second launch meanwhile runs on its own thread. */
#include "sim/exec/thread_pool.h"

#include "base/alloc.h"

#include <pthread.h>
#include <unistd.h>

enum { MOST_WORKERS = 256 };

struct sim_workers {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    bool is_taken; /* guarded by lock, as all below */
    bool is_closing;
    uint64_t round;
    unsigned wanted; /* threads of this round besides the caller's */
    unsigned running;
    sim_work work;
    void *context;
    unsigned thread_count;
    pthread_t threads[MOST_WORKERS];
};

struct start {
    struct sim_workers *workers;
    unsigned index;
};

static void *run_worker(void *argument)
{
    struct start start = *(struct start *)argument;
    struct sim_workers *workers = start.workers;
    uint64_t seen = 0;
    base_free(argument);
    pthread_mutex_lock(&workers->lock);
    for (;;) {
        while (!workers->is_closing && (workers->round == seen || start.index > workers->wanted)) {
            seen = workers->round;
            pthread_cond_wait(&workers->begin, &workers->lock);
        }
        if (workers->is_closing)
            break;
        seen = workers->round;
        sim_work work = workers->work;
        void *context = workers->context;
        pthread_mutex_unlock(&workers->lock);
        work(context, start.index);
        pthread_mutex_lock(&workers->lock);
        if (--workers->running == 0)
            pthread_cond_broadcast(&workers->end);
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

static bool start_thread(struct sim_workers *workers)
{
    struct start *start = base_calloc(1, sizeof(*start));
    if (!start)
        return false;
    start->workers = workers;
    start->index = workers->thread_count + 1;
    if (pthread_create(&workers->threads[workers->thread_count], NULL, run_worker, start) != 0) {
        base_free(start);
        return false;
    }
    workers->thread_count++;
    return true;
}

bool sim_workers_create(unsigned count, struct sim_workers **workers)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct sim_workers *w = base_calloc(1, sizeof(*w));
    if (!w)
        return false;
    if (count == 0)
        count = cores > 0 ? (unsigned)cores : 1;
    count = count > MOST_WORKERS ? MOST_WORKERS : count;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->begin, NULL);
    pthread_cond_init(&w->end, NULL);
    /* Fewer threads than wished are still a pool. */
    while (w->thread_count + 1 < count && start_thread(w))
        continue;
    *workers = w;
    return true;
}

void sim_workers_destroy(struct sim_workers **workers)
{
    struct sim_workers *w = *workers;
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->is_closing = true;
    pthread_cond_broadcast(&w->begin);
    pthread_mutex_unlock(&w->lock);
    for (unsigned i = 0; i < w->thread_count; i++)
        pthread_join(w->threads[i], NULL);
    pthread_cond_destroy(&w->begin);
    pthread_cond_destroy(&w->end);
    pthread_mutex_destroy(&w->lock);
    base_free(w);
    *workers = NULL;
}

unsigned sim_workers_count(const struct sim_workers *workers)
{
    return workers->thread_count + 1;
}

unsigned sim_workers_take(struct sim_workers *workers, unsigned wanted)
{
    if (!workers || wanted <= 1)
        return 1;
    pthread_mutex_lock(&workers->lock);
    bool is_free = !workers->is_taken && workers->thread_count > 0;
    if (is_free)
        workers->is_taken = true;
    pthread_mutex_unlock(&workers->lock);
    unsigned have = workers->thread_count + 1;
    return is_free ? (wanted < have ? wanted : have) : 1;
}

void sim_workers_run(struct sim_workers *workers, unsigned count, sim_work work, void *context)
{
    if (count <= 1) {
        work(context, 0);
        return;
    }
    pthread_mutex_lock(&workers->lock);
    workers->work = work;
    workers->context = context;
    workers->wanted = count - 1;
    workers->running = count - 1;
    workers->round++;
    pthread_cond_broadcast(&workers->begin);
    pthread_mutex_unlock(&workers->lock);
    work(context, 0);
    pthread_mutex_lock(&workers->lock);
    while (workers->running > 0)
        pthread_cond_wait(&workers->end, &workers->lock);
    workers->is_taken = false;
    pthread_mutex_unlock(&workers->lock);
}
