/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fork detection. CUDA does not work in a forked child, so a driver remembers the generation of the
 * process that opened it. Fork handlers count it up; the process id catches children that were made
 * past the handlers (vfork, clone).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "driver/internal.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
atomic_uint driver_fork_count; /* moves only once the handlers are installed, by driver_open */
static atomic_int owner;       /* process id that `driver_fork_count` belongs to */

/*
 * Nothing is locked before a fork: the driver itself forks (it starts nvidia-modprobe) while a
 * thread of ours may hold the locks. The child makes them new instead; what they guard is changed
 * by single pointer stores, so it is whole at every moment.
 */
static void enter_child(void)
{
    atomic_store(&owner, (int)getpid());
    atomic_fetch_add(&driver_fork_count, 1);
    driver_state_reset();
    driver_open_reset();
    driver_nvrtc_reset();
}

static void install(void)
{
    atomic_store(&owner, (int)getpid());
    pthread_atfork(NULL, NULL, enter_child);
}

void driver_fork_check(void)
{
    int before;

    pthread_once(&once, install);
    before = atomic_load(&owner);
    if (before != (int)getpid() && atomic_compare_exchange_strong(&owner, &before, (int)getpid()))
        enter_child();
}
