/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process-wide locks, which are reinitialised in a forked child: each is added to a list when it is
 * first acquired, and the fork handler reinitialises all locks of the list.
 */
#include "base/lock.h"

static pthread_once_t handlers = PTHREAD_ONCE_INIT;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct base_lock *locks; /* guarded by list_lock; locks are never removed */

void base_locks_reinit(void)
{
    list_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    for (struct base_lock *lock = locks; lock; lock = lock->next) {
        lock->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        if (lock->reinit)
            lock->reinit();
    }
}

static void install_handler(void)
{
    pthread_atfork(NULL, NULL, base_locks_reinit);
}

/* A child may be forked between any two of these steps; the lock is then in the list although
 * is_listed is 0. */
static void add_to_list(struct base_lock *added)
{
    const struct base_lock *at;

    pthread_once(&handlers, install_handler);
    pthread_mutex_lock(&list_lock);
    for (at = locks; at && at != added;)
        at = at->next;
    if (!at) {
        added->next = locks;
        atomic_signal_fence(memory_order_seq_cst);
        locks = added;
    }
    atomic_store_explicit(&added->is_listed, 1, memory_order_release);
    pthread_mutex_unlock(&list_lock);
}

void base_lock(struct base_lock *lock)
{
    if (!atomic_load_explicit(&lock->is_listed, memory_order_acquire))
        add_to_list(lock);
    pthread_mutex_lock(&lock->mutex);
}

void base_unlock(struct base_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

pool_status base_make_once(struct base_once *once, pool_status (*make)(void))
{
    pool_status status = POOL_OK;

    if (atomic_load_explicit(&once->is_made, memory_order_acquire))
        return POOL_OK;
    base_lock(&once->lock);
    if (!atomic_load_explicit(&once->is_made, memory_order_relaxed)) {
        status = make();
        if (!status)
            atomic_store_explicit(&once->is_made, 1, memory_order_release);
    }
    base_unlock(&once->lock);
    return status;
}
