/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Independent tasks run by several threads. NVRTC compiles a program on one thread, so several
 * programs are compiled by several threads.
 */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>

#include <devicepool/status.h>

/* Compilations at once: one for each processor that the process may use, at most 8, because NVRTC
 * takes up to 1 GiB for a large curve. */
unsigned base_parallel_threads(void);

struct base_parallel {
    size_t count;
    pool_status (*task)(void *user, size_t index); /* any thread; gives its context back */
    void *user;
    bool tries_all; /* a failure does not keep the tasks after it from starting */
};

/*
 * Runs tasks 0 to count - 1, started in that order by the calling thread and as many others as
 * there are places and tasks for; fewer where threads cannot be had. Returns when all threads are
 * gone, with the failure of the first task that failed, which is then the calling thread's last
 * error.
 */
pool_status base_parallel_run(const struct base_parallel *job);

#endif
