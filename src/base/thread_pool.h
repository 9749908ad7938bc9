/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of threads that several callers share: compilations, staged copies, parts of jobs over
 * several devices; another one for launches of simulated devices. A run takes idle threads or
 * starts new ones, and its caller works as well.
 */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

#include <stdbool.h>

struct base_thread_pool;

/* `index` is 0 on the caller's thread and below `count` on all threads of the run. */
typedef void (*base_thread_pool_work)(void *context, unsigned index, unsigned count);

/*
 * A pool of at most `limit` threads, the one of a caller included; 0: one per processor. Threads
 * start when a run needs them and wait for the next one, with all signals blocked. False: out of
 * memory.
 */
bool base_thread_pool_create(unsigned limit, struct base_thread_pool **pool);
/* Joins the threads and sets the pointer to NULL; a pointer to NULL is a no-op. */
void base_thread_pool_destroy(struct base_thread_pool **pool);

/* Frees a pool whose threads a fork has left in the parent process. */
void base_thread_pool_forget(struct base_thread_pool **pool);

/*
 * Runs the work on up to `wanted` threads, the caller's included, and returns when the last one is
 * done. On fewer threads where others use those of the pool or none can be started, and on the
 * caller's alone if the pool is NULL: the work must not need more. Any thread, also one of the
 * pool.
 */
void base_thread_pool_run(
    struct base_thread_pool *pool, unsigned wanted, base_thread_pool_work work, void *context);

#endif
