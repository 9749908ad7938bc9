/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress and cancellation of a call, as its pool_exec specifies.
 */
#ifndef POSEIDON_PROGRESS_H
#define POSEIDON_PROGRESS_H

#include <stdbool.h>

#include <devicepool/exec.h>

struct poseidon_progress {
    void (*callback)(void *user, uint64_t done, uint64_t total);
    void *user;
    const pool_cancel *cancel;
    uint64_t done;
    uint64_t reported; /* `done` at the last callback */
    uint64_t total;
    bool is_async; /* counts enqueued work; else completed work */
};

struct poseidon_progress poseidon_progress_of(const pool_exec *exec, uint64_t total);

/* Adds to `done` and reports it from time to time; POOL_ERR_CANCELLED once that was requested. */
pool_status poseidon_progress_add(struct poseidon_progress *progress, uint64_t amount);

/* The same for work enqueued on a stream, for which it waits unless the call is asynchronous. */
pool_status poseidon_progress_add_enqueued(
    struct poseidon_progress *progress, pool_stream *stream, uint64_t amount);

#endif
