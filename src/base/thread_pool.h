/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of persistent threads for work that is too short to start threads for, such as the
 * launches of the simulated devices. It serves one caller at a time.
 */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

#include <stdbool.h>

struct base_thread_pool;

/* `index` is 0 on the caller's thread and unique among the threads of one run. */
typedef void (*base_thread_pool_work)(void *context, unsigned index);

/* `count` threads including the caller's; 0: one per processor. Fewer when they cannot be started.
 * False: out of memory. */
bool base_thread_pool_create(unsigned count, struct base_thread_pool **pool);
/* Joins the threads and sets the pointer to NULL; a pointer to NULL is a no-op. */
void base_thread_pool_destroy(struct base_thread_pool **pool);

/* Frees a pool whose threads a fork has left in the parent process. */
void base_thread_pool_forget(struct base_thread_pool **pool);

/* Reserves up to `wanted` threads for one base_thread_pool_run and returns their number, including
 * the caller's; 1 when the pool is in use or NULL. */
unsigned base_thread_pool_acquire(struct base_thread_pool *pool, unsigned wanted);
/* Runs the work on all acquired threads, returns when the last one is done, and releases them. */
void base_thread_pool_run(
    struct base_thread_pool *pool, unsigned count, base_thread_pool_work work, void *context);

#endif
