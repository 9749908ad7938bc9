/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of permute.cu and hash.cu with two threads a state, for launches that do not fill the
 * chip: then what counts is how long one state takes.
 */
#define POSEIDON_THREADS 2
#define POSEIDON_KERNEL(name) poseidon_pair_##name

#include "poseidon/permute.cu"
#include "poseidon/hash.cu"
