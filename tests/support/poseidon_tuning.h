/* SPDX-License-Identifier: Apache-2.0 */
/* Other chunks or kernels than those of the device, for one parameter set at a time. */
#ifndef TESTS_SUPPORT_POSEIDON_TUNING_H
#define TESTS_SUPPORT_POSEIDON_TUNING_H

#include "zk/poseidon/poseidon.h"

/* 0 chunk bytes: the default. The set must not be in use. */
static inline void poseidon_tune(
    pool_poseidon *set, uint32_t chunk_bytes, uint32_t two_thread_states)
{
    static struct poseidon_tuning tuning;

    tuning = tuning_default()->poseidon;
    if (chunk_bytes)
        tuning.chunk_bytes = chunk_bytes;
    tuning.two_thread_states = two_thread_states;
    set->tuning = &tuning;
}

#endif
