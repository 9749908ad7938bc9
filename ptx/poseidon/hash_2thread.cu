/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel of hash.cu with two threads per state, for launches that do not fill the chip, where
 * the latency of one permutation decides.
 */
#define POSEIDON_THREADS_PER_STATE 2
#define POSEIDON_KERNEL(name) poseidon_##name##_2thread

#include "poseidon/hash.cu"
