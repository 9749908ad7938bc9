/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many states through the permutation; and elements from one form and layout to
 * another.
 */
#include "poseidon/permutation.cuh"

extern "C" __global__ void __launch_bounds__(ITEM_BLOCK)
    POSEIDON_KERNEL(permute)(const items run)
{
    unsigned long long index;
    if (!item_begin(run, &index))
        return;
    const unsigned char *in = run.in + index * run.in_stride;
    unsigned char *out = run.out + index * run.out_stride;
    fr state[POSEIDON_WIDTH];
#pragma unroll
    for (int i = 0; i < POSEIDON_WIDTH; i++)
        state[inner(i)] = element_in(in + i * sizeof(fr), run.in_aligned, run.in_convert);
    permute(state);
    if (!item_is_stored(run))
        return;
#pragma unroll
    for (int i = 0; i < POSEIDON_WIDTH; i++)
        element_out(out + i * sizeof(fr), state[inner(i)], run.out_aligned, run.out_convert);
}

#if POSEIDON_THREADS == 1
/* Item by item, `elements` elements each. */
extern "C" __global__ void __launch_bounds__(ITEM_BLOCK) poseidon_copy(const items run)
{
    unsigned long long index = item_index();
    if (index >= run.count)
        return;
    const unsigned char *in = run.in + index * run.in_stride;
    unsigned char *out = run.out + index * run.out_stride;
    for (unsigned i = 0; i < run.elements; i++)
        element_out(out + i * sizeof(fr),
            element_in(in + i * sizeof(fr), run.in_aligned, run.in_convert), run.out_aligned,
            run.out_convert);
}
#endif
