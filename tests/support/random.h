/* SPDX-License-Identifier: Apache-2.0 */
/* Reproducible pseudo-random numbers of no cryptographic quality: xorshift64*. */
#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

static inline uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
}

#endif
