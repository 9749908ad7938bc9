/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that this process could still use on its host.
 */
#ifndef BASE_HOST_MEMORY_H
#define BASE_HOST_MEMORY_H

#include <stdint.h>

/*
 * The smaller of MemAvailable, which includes the page cache that an allocation would reclaim, and
 * of what the memory cgroups of the process leave, of version 1 or 2. 0: not known. `root` is
 * prepended to the paths of /proc and /sys, for tests; "" otherwise. Reads a few small files.
 */
uint64_t base_host_available(const char *root);

#endif
