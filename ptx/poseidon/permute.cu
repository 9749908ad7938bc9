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
    fr state[POSEIDON_WIDTH];
    load_elements<POSEIDON_WIDTH>(state, in, args.in_is_aligned, args.in_is_converted);
    exchange_partial_element(state);
    permute(state);
    if (!thread_stores_item(args))
        return;
    exchange_partial_element(state);
    store_elements<POSEIDON_WIDTH>(out, state, args.out_is_aligned, args.out_is_converted);
}
