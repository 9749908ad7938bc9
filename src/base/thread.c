/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the library's threads.
 */
#include "base/thread.h"

#include <signal.h>

bool base_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before))
        return false;
    failed = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed;
}
