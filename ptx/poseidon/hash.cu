/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-length hashes of the items of a span.
 */
#include "poseidon/digest.cuh"

extern "C" __global__ void __launch_bounds__(POSEIDON_BLOCK)
    POSEIDON_KERNEL(hash)(const poseidon_args args)
{
    unsigned long long index;
    if (!thread_has_item(args, &index))
        return;
    const unsigned char *in = args.in + index * args.in_stride;
    fr state[POSEIDON_WIDTH];
    init_state(state);
    load_inputs(state, in, args.elements, args.in_is_aligned, args.in_is_converted);
    permute_and_store_digest(state, args.out + index * args.out_stride, args);
}
