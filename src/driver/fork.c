/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fork detection. CUDA does not work in a forked child, so a driver remembers the generation of the
 * process that opened it. A fork handler increments it; the process id detects children that were
 * created without the handlers (vfork, clone).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/lock.h"
#include "driver/internal.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
atomic_uint driver_fork_count; /* changes only after driver_open has installed the handlers */
static atomic_int owner;       /* process id that `driver_fork_count` belongs to */

static void enter_child(void)
{
    atomic_store(&owner, (int)getpid());
    atomic_fetch_add(&driver_fork_count, 1);
}

static void install_handler(void)
{
    atomic_store(&owner, (int)getpid());
    pthread_atfork(NULL, NULL, enter_child);
}

void driver_fork_check(void)
{
    int before;

    pthread_once(&once, install_handler);
    before = atomic_load(&owner);
    if (before != (int)getpid() && atomic_compare_exchange_strong(&owner, &before, (int)getpid())) {
        enter_child();
        base_locks_reinit();
    }
}
