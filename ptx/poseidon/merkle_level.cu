/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-length hashes of the children of each node of a Merkle tree's level. A level's kernel is
 * launched while that of the level below ends (PDL), since small levels take about as long as a
 * launch.
 */
#include "base/launch.cuh"
#include "poseidon/digest.cuh"

__device__ __forceinline__ fr element_from_words(const unsigned *words)
{
    fr element;
#pragma unroll
    for (int i = 0; i < FR_WORDS; i++)
        element.word[i] = words[i];
    return element;
}

/* Node `index` of a level is the hash of nodes arity * index to arity * index + arity - 1 of the
 * level below, which stores input_count nodes; the padding node stands for those beyond. */
extern "C" __global__ void __launch_bounds__(POSEIDON_BLOCK)
    POSEIDON_KERNEL(merkle_level)(const poseidon_args args)
{
    unsigned long long index;
    pdl_trigger();
    pdl_wait();
    if (!thread_has_item(args, &index))
        return;
    unsigned long long first = index * args.arity;
    fr state[POSEIDON_WIDTH];
    init_state(state);
#pragma unroll
    for (int child = 0; child < POSEIDON_MAX_INPUTS / POSEIDON_DIGEST_ELEMENTS; child++) {
        fr digest[POSEIDON_DIGEST_ELEMENTS];
        if (child >= args.arity)
            continue;
        if (first + child < args.input_count)
            load_elements<POSEIDON_DIGEST_ELEMENTS>(
                digest, args.in + (first + child) * args.in_stride, args.in_is_aligned, 0);
        else
#pragma unroll
            for (int i = 0; i < POSEIDON_DIGEST_ELEMENTS; i++)
                digest[i] = element_from_words(args.padding_node + i * FR_WORDS);
#pragma unroll
        for (int i = 0; i < POSEIDON_DIGEST_ELEMENTS; i++)
            state[state_index(POSEIDON_INPUT_INDEX + child * POSEIDON_DIGEST_ELEMENTS + i)] =
                digest[i];
    }
    /* The padding nodes, which are the last ones, are in the device's form. */
    if (args.in_is_converted)
        convert_inputs(
            state, (unsigned)min((unsigned long long)args.arity, args.input_count - first) *
                       POSEIDON_DIGEST_ELEMENTS);
    permute_and_store_digest(state, args.out + index * args.out_stride, args);
}
