/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The permutation of each item of a span.
 */
#include "poseidon/permutation.cuh"

extern "C" __global__ void __launch_bounds__(POSEIDON_BLOCK)
    POSEIDON_KERNEL(permute)(const poseidon_args args)
{
    unsigned long long index;
    if (!thread_has_item(args, &index))
        return;
    const unsigned char *in = args.in + index * args.in_stride;
    unsigned char *out = args.out + index * args.out_stride;
    fr elements[POSEIDON_WIDTH], state[POSEIDON_WIDTH];
    load_elements<POSEIDON_WIDTH>(elements, in, args.in_is_aligned, args.in_is_converted);
#pragma unroll
    for (int i = 0; i < POSEIDON_WIDTH; i++)
        state[state_index(i)] = elements[i];
    permute(state);
    if (!thread_stores_item(args))
        return;
#pragma unroll
    for (int i = 0; i < POSEIDON_WIDTH; i++)
        elements[i] = state[state_index(i)];
    store_elements<POSEIDON_WIDTH>(out, elements, args.out_is_aligned, args.out_is_converted);
}
