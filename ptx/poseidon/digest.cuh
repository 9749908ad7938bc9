/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state before and the digest after the permutation of a fixed-length hash.
 */
#ifndef PTX_POSEIDON_DIGEST_CUH
#define PTX_POSEIDON_DIGEST_CUH

#include "poseidon/permutation.cuh"

/* The state before the input is written: the domain tag, and zeros elsewhere. */
__device__ __forceinline__ void init_state(fr *state)
{
#pragma unroll
    for (int i = 0; i < POSEIDON_WIDTH; i++)
        state[i] = fr_zero();
    state[state_index(POSEIDON_DOMAIN_TAG_INDEX)] = poseidon_domain_tag();
}

/* Converts the first `count` inputs in the state to the device's form. */
__device__ __forceinline__ void convert_inputs(fr *state, unsigned count)
{
    CONVERSION_LOOP
    for (int i = 0; i < POSEIDON_MAX_INPUTS; i++)
        if (i < count) {
            fr *input = state + state_index(POSEIDON_INPUT_INDEX + i);
            *input = fr_mul(*input, poseidon_to_device_form());
        }
}

/* Writes the elements of an item to the state. */
__device__ __forceinline__ void load_inputs(fr *state, const unsigned char *in, unsigned elements,
    unsigned is_aligned, unsigned is_converted)
{
#pragma unroll
    for (int i = 0; i < POSEIDON_MAX_INPUTS; i++)
        if (i < elements)
            state[state_index(POSEIDON_INPUT_INDEX + i)] =
                load_words(in + i * sizeof(fr), is_aligned);
    if (is_converted)
        convert_inputs(state, elements);
}

/* Permutes the state and stores the digest. */
__device__ __forceinline__ void permute_and_store_digest(
    fr *state, unsigned char *out, const poseidon_args &args)
{
#if POSEIDON_FEED_FORWARD
    fr before[POSEIDON_DIGEST_ELEMENTS];
#pragma unroll
    for (int i = 0; i < POSEIDON_DIGEST_ELEMENTS; i++)
        before[i] = state[state_index(POSEIDON_OUTPUT_INDEX + i)];
#endif
    permute(state);
    if (!thread_stores_item(args))
        return;
    fr digest[POSEIDON_DIGEST_ELEMENTS];
#pragma unroll
    for (int i = 0; i < POSEIDON_DIGEST_ELEMENTS; i++) {
        digest[i] = state[state_index(POSEIDON_OUTPUT_INDEX + i)];
#if POSEIDON_FEED_FORWARD
        digest[i] = fr_add_lazy(digest[i], before[i]);
#endif
    }
    store_elements<POSEIDON_DIGEST_ELEMENTS>(
        out, digest, args.out_is_aligned, args.out_is_converted);
}

#endif
