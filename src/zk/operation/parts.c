/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a job on several devices, at the same time: see devices.h. */
#include "zk/operation/devices.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/cancel.h"
#include "base/log.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "pool/device/device.h"
#include "zk/operation/timeout.h"

struct part {
    struct group *group;
    uint32_t index;
    pool_exec exec;
    uint64_t finished; /* of its progress, in calls that have ended; its own thread's */
    uint64_t done;     /* guarded by group->lock */
};

struct group {
    const struct parts *parts;
    pthread_t caller;
    const char *label;   /* of the caller's log records */
    pool_cancel *cancel; /* of all parts */
    struct fork fork;
    uint64_t reported;   /* of the progress; the caller's */
    struct timed *timed; /* NULL: the call has no timeout */
    atomic_uint next;    /* the first part that no thread has taken */
    pthread_mutex_t lock;
    pthread_cond_t changed;         /* progress, or a part ended */
    uint32_t running;               /* guarded by lock: parts that have not ended */
    pool_status status;             /* guarded by lock: of the first part that failed */
    struct base_error_copy failure; /* guarded by lock: why it did */
    struct part part[EXEC_MAX_DEVICES];
};

/* With the lock held. */
static uint64_t done_by_all(const struct group *group)
{
    uint64_t done = 0;

    for (uint32_t i = 0; i < group->parts->devices->count; i++)
        done += group->part[i].done;
    return done;
}

/* On the calling thread. */
static void report_progress(struct group *group, uint64_t done)
{
    if (!group->parts->exec->progress || done <= group->reported)
        return;
    group->reported = done;
    group->parts->exec->progress(group->parts->exec->user, done, group->parts->total);
}

static void note_progress(void *user, uint64_t done, uint64_t total)
{
    struct part *part = user;
    struct group *group = part->group;
    uint64_t done_now = part->finished + done, all;

    if (done == total)
        part->finished = done_now;
    pthread_mutex_lock(&group->lock);
    part->done = done_now;
    all = done_by_all(group);
    pthread_cond_signal(&group->changed);
    pthread_mutex_unlock(&group->lock);
    if (pthread_equal(pthread_self(), group->caller))
        report_progress(group, all);
}

static void compute_part(struct part *part)
{
    struct group *group = part->group;
    pool_status status = group->parts->compute(group->parts->user, part->index, &part->exec);

    pthread_mutex_lock(&group->lock);
    if (status && !group->status) {
        group->status = status;
        base_error_save(&group->failure);
    }
    group->running--;
    pthread_cond_signal(&group->changed);
    pthread_mutex_unlock(&group->lock);
    if (status)
        pool_cancel_request(group->cancel);
}

static void init_part(struct group *group, uint32_t index)
{
    const pool_exec *exec = group->parts->exec;
    struct part *part = &group->part[index];

    *part = (struct part){
        .group = group, .index = index, .exec = devices_exec(group->parts->devices, exec, index)};
    part->exec.cancel = group->cancel;
    if (group->fork.count)
        part->exec.stream = group->fork.stream[index];
    part->exec.error = NULL;
    part->exec.progress = exec->progress ? note_progress : NULL;
    part->exec.user = part;
}

/* Reports the progress of the parts until all have ended. */
static void wait_for_parts(struct group *group)
{
    pthread_mutex_lock(&group->lock);
    while (group->running) {
        uint64_t done;

        pthread_cond_wait(&group->changed, &group->lock);
        done = done_by_all(group);
        pthread_mutex_unlock(&group->lock);
        report_progress(group, done);
        pthread_mutex_lock(&group->lock);
    }
    pthread_mutex_unlock(&group->lock);
}

/* On the calling thread and on threads of the pool. */
static void take_parts(void *context, unsigned index, unsigned count)
{
    struct group *group = context;

    BASE_LOG_LABEL(group->label);
    (void)count;
    if (index)
        timed_join(group->timed);
    for (uint32_t i; (i = atomic_fetch_add(&group->next, 1)) < group->parts->devices->count;)
        compute_part(&group->part[i]);
    if (index)
        timed_part(group->timed);
    else
        wait_for_parts(group);
}

static void run_parts(struct group *group)
{
    const struct parts *parts = group->parts;
    const struct devices *devices = parts->devices;
    const bool is_quick = parts->exec->is_async && parts->only_enqueues;

    group->running = devices->count;
    for (uint32_t i = 0; i < devices->count; i++)
        init_part(group, i);
    base_thread_pool_run(
        device_threads(devices->device[0]), is_quick ? 1 : devices->count, take_parts, group);
}

pool_status parts_run(const struct parts *parts)
{
    struct group group = {.parts = parts,
        .caller = pthread_self(),
        .label = base_log_label(),
        .timed = timed_current()};
    pool_status status = base_cancel_create_child(parts->exec->cancel, &group.cancel);

    if (!status)
        status = fork_open(parts->call, parts->devices, parts->exec, parts->meet, &group.fork);
    if (status) {
        pool_cancel_destroy(&group.cancel);
        return status;
    }
    pthread_mutex_init(&group.lock, NULL);
    pthread_cond_init(&group.changed, NULL);
    run_parts(&group);
    pthread_cond_destroy(&group.changed);
    pthread_mutex_destroy(&group.lock);
    pool_cancel_destroy(&group.cancel);
    if (group.status)
        base_error_restore(&group.failure);
    else
        report_progress(&group, done_by_all(&group));
    return fork_close(&group.fork, group.status);
}
