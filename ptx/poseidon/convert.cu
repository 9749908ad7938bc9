/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conversion of items between forms and strides.
 */
#include "poseidon/item.cuh"

/* Copies items of `elements` elements each. */
extern "C" __global__ void __launch_bounds__(POSEIDON_BLOCK)
    poseidon_convert(const poseidon_args args)
{
    unsigned long long index = item_of_thread();
    if (index >= args.count)
        return;
    const unsigned char *in = args.in + index * args.in_stride;
    unsigned char *out = args.out + index * args.out_stride;
    for (unsigned i = 0; i < args.elements; i++)
        store_element(out + i * sizeof(fr),
            load_element(in + i * sizeof(fr), args.in_is_aligned, args.in_is_converted),
            args.out_is_aligned, args.out_is_converted);
}
