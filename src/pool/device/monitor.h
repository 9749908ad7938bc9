/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor: one thread per pool that runs tasks at the times that they ask for, such as
 * time-outs of waiting requests, samples for those who wait, and the watchdog. The thread is
 * started when the first task has a time to run at; a pool without such tasks has no thread.
 *
 * A task may call the driver, and a driver call can block for ever. Stopping therefore waits only
 * for a limited time; then the thread is detached, and whatever its task uses must never be freed.
 */
#ifndef POOL_MONITOR_H
#define POOL_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include <devicepool/pool.h>

/* Times are those of base_clock_ns. */
#define MONITOR_NEVER UINT64_MAX

struct monitor;

/*
 * A task, in memory of the layer that owns it; `run` and `user` are set by the owner, the rest is
 * zeroed and private. `run` is called on the monitor's thread, with no lock held, and returns the
 * time at which it is to run again (MONITOR_NEVER: when it is scheduled next). It may schedule and
 * remove tasks, itself included. It never runs twice at the same time.
 */
struct monitor_task {
    uint64_t (*run)(void *user, uint64_t now_ns);
    void *user;
    uint64_t due_ns; /* guarded by the monitor's lock, as is the rest */
    bool is_listed;
    bool is_running;
    struct monitor_task *next;
};

/* The pool's monitor, which exists as long as the pool. */
struct monitor *device_pool_monitor(device_pool *pool);

/*
 * Runs the task at `due_ns` at the latest: an earlier time that it already has stays. Starts the
 * thread if necessary, and otherwise only wakes it if it would sleep too long. Fails if the thread
 * cannot be started, and then the task is not scheduled. Without effect, and POOL_OK, once the
 * monitor is stopped for good.
 */
pool_status monitor_schedule(struct monitor *monitor, struct monitor_task *task, uint64_t due_ns);

/*
 * After this the task is not run any more and its memory may be freed. Waits for a run that is in
 * progress, at most `timeout_ns`; false: it has not returned until then, and the task and
 * everything it uses must never be freed. On the monitor's own thread it does not wait.
 */
bool monitor_remove(struct monitor *monitor, struct monitor_task *task, uint64_t timeout_ns);

/* Whether the calling thread is the monitor's: what it calls must not wait for the monitor. */
bool monitor_is_current(struct monitor *monitor);

/* --- for pool/create.c and destroy.c --- */

/* Allocates the monitor; starts no thread. */
pool_status monitor_create(struct monitor **monitor);

/* Tells the thread to end and waits at most `timeout_ns` for a task that is running; false: it is
 * still running. */
bool monitor_await_end(struct monitor *monitor, uint64_t timeout_ns);

/*
 * Ends the thread, waiting at most `timeout_ns` for a task that is running. false: the thread is
 * detached, and the monitor and everything that its tasks use must never be freed.
 */
bool monitor_stop(struct monitor *monitor, uint64_t timeout_ns);

/* Undoes a monitor_stop that returned true: the tasks run again. */
pool_status monitor_restart(struct monitor *monitor);

/* Frees a monitor that is stopped, or that was created before a fork. NULL is a no-op. */
void monitor_free(struct monitor *monitor);

#endif
