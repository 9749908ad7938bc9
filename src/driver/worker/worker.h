/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices in processes of their own, for the layers above: a table of driver functions that run in
 * worker processes. A worker owns one device; what happens to it harms nothing else.
 */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <devicepool/driver.h>
#include <devicepool/status.h>

/* Whether a device string selects workers, "workers:…"; *rest is what follows the colon. */
bool worker_spec_is_workers(const char *devices, const char **rest);

/*
 * Prepares the workers of a device string without "workers:": "all", "0,2" or "sim:…"; or adds a
 * reference if they exist for the same devices. Nothing is started before the first call that
 * needs a worker, but with the real driver one that lists the devices. POOL_ERR_BUSY if the process
 * has workers for other devices. Each success must be balanced by one worker_close; the last one
 * ends all processes.
 */
pool_status worker_open(const char *devices, const pool_cuda_api **table);
void worker_close(void);

/* Starts the workers of these devices at the same time; the first failure. */
pool_status worker_start(const int *ordinals, size_t count);

/*
 * How long threads of the workers spin for a message before they sleep: for at least `spin_ns`
 * until the last worker_close, as many threads of each worker as a quarter of the processors, at
 * least one; the others and by default all for some microseconds.
 */
void worker_set_spin(uint64_t spin_ns);

/* The calling thread will use the device soon: wakes the thread of its worker that executes this
 * thread's calls. Any thread; a no-op where the thread has not used the device yet. */
void worker_wake(int ordinal);

/* What is known of a device's worker. */
enum worker_state {
    WORKER_STATE_ABSENT, /* not started yet */
    WORKER_STATE_STARTING,
    WORKER_STATE_RUNNING,
    WORKER_STATE_LOST,  /* has ended or must end; a replacement will be started */
    WORKER_STATE_FAILED /* could not be started, or failed too often: `cause` says why */
};

struct worker_status {
    enum worker_state state;
    pid_t pid;           /* 0: none */
    unsigned generation; /* counts the processes that were ready; 0: none yet */
    unsigned losses;     /* processes that ended unexpectedly */
    uint64_t ready_unix_time;
    /* Copied from devices of other workers, by device memory and by pinned memory. */
    uint64_t window_bytes, pinned_bytes;
    char cause[1024]; /* of the last loss or failure, or "" */
};

/* Any thread; false: there is no such worker. */
bool worker_get_status(int ordinal, struct worker_status *status);

/* The cause of the last loss, for struct driver; ordinal -1: of the device whose loss made the last
 * call of this thread fail. */
void worker_explain_loss(int ordinal, char *text, size_t size);

/* Ends the process of a device, as after a fault, because of `cause`. */
void worker_end(int ordinal, const char *cause);

/* Has a process of a lost worker started now, also where too many in a row have ended; their losses
 * count no more. No-op unless a process has run before and none runs now. */
void worker_restart(int ordinal);

/*
 * Called on the supervisor's thread when a worker is lost, is ready again, or has failed for good;
 * with no lock held. One listener per `user`; worker_unlisten returns when it does not run any
 * more.
 */
typedef void (*worker_listener)(void *user, int ordinal, enum worker_state state);
pool_status worker_listen(worker_listener listener, void *user);
void worker_unlisten(worker_listener listener, void *user);

/* For a listener, of a worker that is lost: its process has done work, so that the replacement is
 * not delayed by those that it has followed. */
void worker_skip_pause(int ordinal);

#endif
