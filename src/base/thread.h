/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the library's threads.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/*
 * Starts a thread with all signals blocked, because signal handlers belong on the program's own
 * threads. The thread must be joined or detached; false: it could not be started.
 */
bool base_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
