/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conversion of digests between forms and strides.
 */
#include "poseidon/item.cuh"

extern "C" __global__ void __launch_bounds__(POSEIDON_BLOCK)
    poseidon_convert(const poseidon_args args)
{
    unsigned long long index = item_of_thread(args.first_block);
    if (index >= args.count)
        return;
    fr digest[POSEIDON_DIGEST_ELEMENTS];
    load_elements<POSEIDON_DIGEST_ELEMENTS>(
        digest, args.in + index * args.in_stride, args.in_is_aligned, args.in_is_converted);
    store_elements<POSEIDON_DIGEST_ELEMENTS>(
        args.out + index * args.out_stride, digest, args.out_is_aligned, args.out_is_converted);
}
