/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs independent tasks on several threads. NVRTC compiles a program on one thread, so several
 * programs are compiled on several threads.
 */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>

#include <devicepool/status.h>

#include "base/thread_pool.h"

/* Compilations at once: one for each processor that the process may use, at most 16: NVRTC
 * takes some 100 MiB for a program. */
unsigned base_parallel_threads(void);

struct base_parallel {
    size_t count;
    pool_status (*task)(void *user, size_t index); /* on any thread; leaves no context current */
    void *user;
    bool tries_all; /* later tasks are also started after a failure */
};

/*
 * Runs tasks 0 to count - 1, started in that order by the calling thread and threads of the pool,
 * on base_parallel_threads() threads at most, which log with the calling thread's label (log.h).
 * Returns when all started tasks have ended, with the status of the first failed one, which is then
 * the calling thread's last error.
 */
pool_status base_parallel_run(struct base_thread_pool *threads, const struct base_parallel *job);

#endif
