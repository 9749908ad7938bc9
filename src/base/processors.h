/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many threads of a process can run at once.
 */
#ifndef BASE_PROCESSORS_H
#define BASE_PROCESSORS_H

/* The processors that the calling thread, and threads that it starts, may use; at least 1. */
unsigned base_processors(void);

#endif
