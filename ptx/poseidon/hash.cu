/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes of fixed length: of items, and of the children of a tree's nodes.
 */
#include "poseidon/permutation.cuh"

__device__ __forceinline__ fr words_element(const unsigned *words)
{
    fr element;
#pragma unroll
    for (int i = 0; i < FR_WORDS; i++)
        element.word[i] = words[i];
    return element;
}

/* The state before the permutation has the tag and zeros where there is no input. */
__device__ __forceinline__ void state_start(fr *state)
{
#pragma unroll
    for (int i = 0; i < POSEIDON_WIDTH; i++)
        state[i] = fr_zero();
    state[inner(POSEIDON_TAG_LANE)] = poseidon_tag();
}

__device__ __forceinline__ void hash_out(fr *state, unsigned char *out, const items &run)
{
#if POSEIDON_FEED_FORWARD
    fr before[POSEIDON_DIGEST];
#pragma unroll
    for (int i = 0; i < POSEIDON_DIGEST; i++)
        before[i] = state[inner(POSEIDON_OUTPUT_LANE + i)];
#endif
    permute(state);
    if (!item_is_stored(run))
        return;
#pragma unroll
    for (int i = 0; i < POSEIDON_DIGEST; i++) {
        fr element = state[inner(POSEIDON_OUTPUT_LANE + i)];
#if POSEIDON_FEED_FORWARD
        element = fr_add_lazy(element, before[i]);
#endif
        element_out(out + i * sizeof(fr), element, run.out_aligned, run.out_convert);
    }
}

extern "C" __global__ void __launch_bounds__(ITEM_BLOCK) POSEIDON_KERNEL(hash)(const items run)
{
    unsigned long long index;
    if (!item_begin(run, &index))
        return;
    const unsigned char *in = run.in + index * run.in_stride;
    fr state[POSEIDON_WIDTH];
    state_start(state);
#pragma unroll
    for (int i = 0; i < POSEIDON_INPUTS; i++)
        if (i < run.elements)
            state[inner(POSEIDON_INPUT_LANE + i)] =
                element_in(in + i * sizeof(fr), run.in_aligned, run.in_convert);
    hash_out(state, run.out + index * run.out_stride, run);
}

/* Node `index` of a row from its children, in_stride apart; `children` of them are there. */
extern "C" __global__ void __launch_bounds__(ITEM_BLOCK) POSEIDON_KERNEL(row)(const items run)
{
    unsigned long long index;
    if (!item_begin(run, &index))
        return;
    unsigned long long first = index * run.arity;
    fr state[POSEIDON_WIDTH];
    state_start(state);
#pragma unroll
    for (int i = 0; i < POSEIDON_INPUTS; i++) {
        unsigned child = i / POSEIDON_DIGEST;
        unsigned part = i % POSEIDON_DIGEST;
        if (child >= run.arity)
            continue;
        if (first + child < run.children)
            state[inner(POSEIDON_INPUT_LANE + i)] =
                element_in(run.in + (first + child) * run.in_stride + part * sizeof(fr),
                    run.in_aligned, run.in_convert);
        else
            state[inner(POSEIDON_INPUT_LANE + i)] = words_element(run.missing + part * FR_WORDS);
    }
    hash_out(state, run.out + index * run.out_stride, run);
}
