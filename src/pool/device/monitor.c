/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor thread. It sleeps until the earliest time of its tasks and runs those that are due,
 * one after another. Tasks are few, so their list is searched from its start.
 */
#include "pool/device/monitor.h"

#include <pthread.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"
#include "driver/driver.h"
#include "pool/device/pool.h"

struct monitor {
    unsigned generation; /* of the process that created it */
    pthread_mutex_t lock;
    pthread_cond_t changed;     /* a task has become due earlier, or the thread shall end */
    pthread_cond_t returned;    /* a task has returned, or the thread ends */
    struct monitor_task *tasks; /* guarded by lock, as everything below */
    uint64_t wake_ns;           /* when the sleeping thread looks again */
    bool has_thread;
    bool is_stopping;
    bool is_ended; /* the thread does not touch the monitor any more */
    pthread_t thread;
};

struct monitor *device_pool_monitor(device_pool *pool)
{
    return pool->monitor;
}

static struct timespec timespec_of(uint64_t time_ns)
{
    return (struct timespec){
        .tv_sec = (time_t)(time_ns / 1000000000u), .tv_nsec = (long)(time_ns % 1000000000u)};
}

static uint64_t add_saturated(uint64_t time_ns, uint64_t duration_ns)
{
    return duration_ns < INT64_MAX - time_ns ? time_ns + duration_ns : INT64_MAX;
}

pool_status monitor_create(struct monitor **monitor)
{
    struct monitor *made = base_calloc(1, sizeof(*made));
    pthread_condattr_t attributes;

    if (!made)
        return base_fail_memory("the pool's monitor");
    made->generation = driver_fork_generation();
    pthread_mutex_init(&made->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&made->changed, &attributes);
    pthread_cond_init(&made->returned, &attributes);
    pthread_condattr_destroy(&attributes);
    *monitor = made;
    return POOL_OK;
}

static bool is_forked(const struct monitor *monitor)
{
    return monitor->generation != driver_fork_generation();
}

void monitor_free(struct monitor *monitor)
{
    if (!monitor)
        return;
    /* In a forked child the thread that is not there may hold the lock. */
    if (!is_forked(monitor)) {
        pthread_cond_destroy(&monitor->returned);
        pthread_cond_destroy(&monitor->changed);
        pthread_mutex_destroy(&monitor->lock);
    }
    base_free(monitor);
}

/* The task with the earliest time; NULL: none has a time. Called with the lock held. */
static struct monitor_task *earliest(const struct monitor *monitor)
{
    struct monitor_task *first = NULL;

    for (struct monitor_task *at = monitor->tasks; at; at = at->next)
        if (at->due_ns != MONITOR_NEVER && (!first || at->due_ns < first->due_ns))
            first = at;
    return first;
}

/* Runs the task without the lock, which is held before and after. */
static void run_task(struct monitor *monitor, struct monitor_task *task, uint64_t now_ns)
{
    uint64_t next_ns;

    task->due_ns = MONITOR_NEVER;
    task->is_running = true;
    pthread_mutex_unlock(&monitor->lock);
    next_ns = task->run(task->user, now_ns);
    pthread_mutex_lock(&monitor->lock);
    task->is_running = false;
    /* It may have been scheduled during the run. */
    if (next_ns < task->due_ns)
        task->due_ns = next_ns;
    pthread_cond_broadcast(&monitor->returned);
}

static void *monitor_main(void *argument)
{
    struct monitor *monitor = argument;

    pthread_setname_np(pthread_self(), "pool-monitor");
    pthread_mutex_lock(&monitor->lock);
    while (!monitor->is_stopping) {
        struct monitor_task *task = earliest(monitor);
        uint64_t now_ns = base_clock_ns();

        if (task && task->due_ns <= now_ns) {
            run_task(monitor, task, now_ns);
            continue;
        }
        monitor->wake_ns = task ? task->due_ns : MONITOR_NEVER;
        if (task) {
            struct timespec until = timespec_of(task->due_ns);

            pthread_cond_timedwait(&monitor->changed, &monitor->lock, &until);
        } else {
            pthread_cond_wait(&monitor->changed, &monitor->lock);
        }
        monitor->wake_ns = 0;
    }
    monitor->is_ended = true;
    pthread_cond_broadcast(&monitor->returned);
    pthread_mutex_unlock(&monitor->lock);
    return NULL;
}

/* Called with the lock held. */
static pool_status start_thread(struct monitor *monitor)
{
    monitor->is_ended = false;
    monitor->wake_ns = 0;
    if (!base_thread_start(&monitor->thread, monitor_main, monitor))
        return base_fail(POOL_ERR_OUT_OF_HOST_MEMORY,
            "the pool's monitor thread could not be started: a limit of threads or memory is "
            "reached");
    monitor->has_thread = true;
    return POOL_OK;
}

/* Called with the lock held. */
static void add_to_list(struct monitor *monitor, struct monitor_task *task)
{
    if (task->is_listed)
        return;
    task->due_ns = MONITOR_NEVER;
    task->is_listed = true;
    task->next = monitor->tasks;
    monitor->tasks = task;
}

pool_status monitor_schedule(struct monitor *monitor, struct monitor_task *task, uint64_t due_ns)
{
    pool_status status = POOL_OK;

    if (is_forked(monitor))
        return base_fail(POOL_ERR_FORKED, "a forked child has no monitor thread");
    pthread_mutex_lock(&monitor->lock);
    if (!monitor->has_thread && !monitor->is_stopping && due_ns != MONITOR_NEVER)
        status = start_thread(monitor);
    if (!status) {
        add_to_list(monitor, task);
        if (due_ns < task->due_ns)
            task->due_ns = due_ns;
        if (due_ns < monitor->wake_ns)
            pthread_cond_signal(&monitor->changed);
    }
    pthread_mutex_unlock(&monitor->lock);
    return status;
}

bool monitor_is_current(struct monitor *monitor)
{
    bool is_current;

    if (is_forked(monitor))
        return false;
    pthread_mutex_lock(&monitor->lock);
    is_current = monitor->has_thread && pthread_equal(monitor->thread, pthread_self());
    pthread_mutex_unlock(&monitor->lock);
    return is_current;
}

bool monitor_remove(struct monitor *monitor, struct monitor_task *task, uint64_t timeout_ns)
{
    struct timespec until = timespec_of(add_saturated(base_clock_ns(), timeout_ns));
    bool is_removed;
    int error = 0;

    if (is_forked(monitor))
        return true;
    pthread_mutex_lock(&monitor->lock);
    task->due_ns = MONITOR_NEVER;
    while (task->is_running && !pthread_equal(monitor->thread, pthread_self()) && !error)
        error = pthread_cond_timedwait(&monitor->returned, &monitor->lock, &until);
    is_removed = !task->is_running || pthread_equal(monitor->thread, pthread_self());
    if (is_removed && task->is_listed) {
        struct monitor_task **link = &monitor->tasks;

        while (*link != task)
            link = &(*link)->next;
        *link = task->next;
        task->is_listed = false;
    }
    pthread_mutex_unlock(&monitor->lock);
    return is_removed;
}

/* With the lock held. */
static bool await_end(struct monitor *monitor, uint64_t timeout_ns)
{
    struct timespec until = timespec_of(add_saturated(base_clock_ns(), timeout_ns));
    int error = 0;

    monitor->is_stopping = true;
    pthread_cond_signal(&monitor->changed);
    while (monitor->has_thread && !monitor->is_ended && !error)
        error = pthread_cond_timedwait(&monitor->returned, &monitor->lock, &until);
    return !monitor->has_thread || monitor->is_ended;
}

bool monitor_await_end(struct monitor *monitor, uint64_t timeout_ns)
{
    bool is_ended;

    if (is_forked(monitor))
        return true;
    pthread_mutex_lock(&monitor->lock);
    is_ended = await_end(monitor, timeout_ns);
    pthread_mutex_unlock(&monitor->lock);
    return is_ended;
}

bool monitor_stop(struct monitor *monitor, uint64_t timeout_ns)
{
    bool has_thread, is_ended;

    if (is_forked(monitor))
        return true;
    pthread_mutex_lock(&monitor->lock);
    is_ended = await_end(monitor, timeout_ns);
    has_thread = monitor->has_thread;
    monitor->has_thread = false;
    pthread_mutex_unlock(&monitor->lock);
    if (has_thread && is_ended)
        pthread_join(monitor->thread, NULL);
    else if (has_thread)
        pthread_detach(monitor->thread);
    return is_ended;
}

pool_status monitor_restart(struct monitor *monitor)
{
    pool_status status = POOL_OK;

    if (is_forked(monitor))
        return POOL_OK;
    pthread_mutex_lock(&monitor->lock);
    monitor->is_stopping = false;
    if (earliest(monitor))
        status = start_thread(monitor);
    pthread_mutex_unlock(&monitor->lock);
    return status;
}
