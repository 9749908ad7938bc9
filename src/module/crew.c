/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few threads that share out tasks.
 */
#include "module/crew.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/processors.h"
#include "base/status.h"

enum { MAX_PLACES = 8 };

struct work {
    const struct module_crew *crew;
    atomic_size_t next;
    pthread_mutex_t lock;
    size_t failed;                  /* guarded by lock: the first task that failed, or the count */
    pool_status status;             /* guarded by lock: its own */
    struct base_error_copy failure; /* guarded by lock: why */
};

unsigned module_crew_places(void)
{
    unsigned processors = base_processors();

    return processors > MAX_PLACES ? MAX_PLACES : processors;
}

/* Tasks start in order, so all before the first that failed have been started: which it is does not
 * depend on which thread was faster. */
static void note_failure(struct work *work, size_t index, pool_status status)
{
    pthread_mutex_lock(&work->lock);
    if (index < work->failed) {
        work->failed = index;
        work->status = status;
        base_error_save(&work->failure);
    }
    pthread_mutex_unlock(&work->lock);
    if (!work->crew->tries_all)
        atomic_store(&work->next, work->crew->count);
}

static void *work_on(void *argument)
{
    struct work *work = argument;
    const struct module_crew *crew = work->crew;

    for (size_t i; (i = atomic_fetch_add(&work->next, 1)) < crew->count;) {
        pool_status status = crew->task(crew->user, i);

        if (status)
            note_failure(work, i, status);
    }
    return NULL;
}

/* Signals are the program's business, on its own threads. */
static size_t start_helpers(struct work *work, pthread_t *threads, size_t wanted)
{
    sigset_t all, before;
    size_t started = 0;

    sigfillset(&all);
    if (!wanted || pthread_sigmask(SIG_SETMASK, &all, &before))
        return 0;
    while (started < wanted && !pthread_create(&threads[started], NULL, work_on, work))
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

pool_status module_crew_run(const struct module_crew *crew)
{
    struct work work = {.crew = crew, .failed = crew->count};
    size_t places = module_crew_places();
    pthread_t threads[MAX_PLACES];
    size_t started;

    if (!crew->count)
        return POOL_OK;
    pthread_mutex_init(&work.lock, NULL);
    started = start_helpers(&work, threads, (places < crew->count ? places : crew->count) - 1);
    work_on(&work);
    while (started)
        pthread_join(threads[--started], NULL);
    pthread_mutex_destroy(&work.lock);
    if (work.status)
        base_error_restore(&work.failure);
    return work.status;
}

/* The programs that are not ready. */
struct rest {
    const struct module_loading *loading;
    size_t indices[MODULE_LOADING_MAX];
};

static pool_status load_one(void *user, size_t index)
{
    const struct rest *rest = user;
    bool is_there = false;

    return rest->loading->load(rest->loading->user, rest->indices[index], false, &is_there);
}

pool_status module_crew_load(const struct module_loading *loading)
{
    struct rest rest = {.loading = loading};
    struct module_crew crew = {.task = load_one, .user = &rest};

    for (size_t i = 0; i < loading->count; i++) {
        bool is_there = false;
        pool_status status = loading->load(loading->user, i, true, &is_there);

        if (status)
            return status;
        if (!is_there)
            rest.indices[crew.count++] = i;
    }
    return module_crew_run(&crew);
}
