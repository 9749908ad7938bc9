/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process-wide locks. In a child of fork() they are reinitialised, because the thread that
 * held one may not exist in the child.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <pthread.h>
#include <stdatomic.h>

#include <devicepool/status.h>

/*
 * The fork handlers do not acquire the locks, because the driver itself forks (it starts
 * nvidia-modprobe) while a thread of the library may hold locks. The data that such a lock guards
 * must therefore be consistent at every moment: changed by single stores, or repaired by `reinit`,
 * which runs in the child and must not call anything that locks.
 */
struct base_lock {
    pthread_mutex_t mutex; /* for pthread_cond_wait as well */
    void (*reinit)(void);  /* may be NULL */
    struct base_lock *next;
    atomic_int is_listed;
};

#define BASE_LOCK_INIT                                                                             \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER                                                         \
    }
#define BASE_LOCK_INIT_REINIT(function)                                                            \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .reinit = (function)                                   \
    }

void base_lock(struct base_lock *lock);
void base_unlock(struct base_lock *lock);

/* An object that the process creates at its first use and never destroys. */
struct base_once {
    struct base_lock lock; /* = BASE_LOCK_INIT */
    atomic_int is_made;    /* set last, under the lock */
};

/* Calls `make` unless it has succeeded before; one thread at a time, other threads wait. */
pool_status base_make_once(struct base_once *once, pool_status (*make)(void));

/* Reinitialises the locks in a child that was created without the fork handlers. */
void base_locks_reinit(void);

#endif
