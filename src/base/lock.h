/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The locks that the whole process shares. In a child of fork() they are free again: whoever held
 * one there may be a thread that the child does not have.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <pthread.h>
#include <stdatomic.h>

#include <devicepool/status.h>

/*
 * Nothing is locked before a fork, because the driver itself forks (it starts nvidia-modprobe)
 * while a thread of ours may hold locks. So what such a lock guards has to be whole at every
 * moment: changed by single stores, or made whole by `renew`, which runs in the child and may call
 * nothing that locks.
 */
struct base_lock {
    pthread_mutex_t mutex; /* for pthread_cond_wait as well */
    void (*renew)(void);   /* may be NULL */
    struct base_lock *next;
    atomic_int is_listed;
};

#define BASE_LOCK_INIT                                                                             \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER                                                         \
    }
#define BASE_LOCK_INIT_RENEW(function)                                                             \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .renew = (function)                                    \
    }

void base_lock(struct base_lock *lock);
void base_unlock(struct base_lock *lock);

/* What the process makes at its first use and keeps for good. */
struct base_once {
    struct base_lock lock; /* = BASE_LOCK_INIT */
    atomic_int is_made;    /* set last, under the lock */
};

/* Calls `make` unless it has succeeded before; one thread at a time, the others wait for it. */
pool_status base_make_once(struct base_once *once, pool_status (*make)(void));

/* What happens in a child of fork(), for children that were made past the fork handlers. */
void base_locks_renew(void);

#endif
