/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processors that this process may use, which can be fewer than the machine has.
 */
#include "base/processors.h"

#include <sched.h>
#include <unistd.h>

unsigned base_processors(void)
{
    cpu_set_t allowed;
    long count;

    /* A set for 1024 processors is too small for the largest machines. */
    count = sched_getaffinity(0, sizeof(allowed), &allowed) ? sysconf(_SC_NPROCESSORS_ONLN)
                                                            : CPU_COUNT(&allowed);
    return count < 1 ? 1 : (unsigned)count;
}
