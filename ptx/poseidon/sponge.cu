/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sponges, one a thread: `elements` absorbed by blocks of `rate`, `squeezed` given.
 */
#include "poseidon/permutation.cuh"

/* Element `at` of the padded message; *is_there 0 where an unpadded one has ended. */
__device__ __forceinline__ fr message_element(
    const items &run, const unsigned char *in, unsigned long long at, int *is_there)
{
    *is_there = at < run.elements || run.is_padded;
    if (at < run.elements)
        return element_in(in + at * sizeof(fr), run.in_aligned, run.in_convert);
    return at == run.elements && run.is_padded ? fr_one() : fr_zero();
}

__device__ __forceinline__ void absorb(
    fr *state, const items &run, const unsigned char *in, unsigned long long done)
{
#pragma unroll
    for (int i = 0; i + POSEIDON_INPUT_LANE < POSEIDON_WIDTH; i++) {
        int is_there = 0;
        fr *lane = state + inner(POSEIDON_INPUT_LANE + i);
        if (i >= run.rate)
            continue;
        fr element = message_element(run, in, done + i, &is_there);
        if (!run.overwrites)
            *lane = fr_add_lazy(*lane, element);
        else if (is_there)
            *lane = element;
    }
}

extern "C" __global__ void __launch_bounds__(ITEM_BLOCK) poseidon_sponge(const items run)
{
    unsigned long long index = item_index();
    if (index >= run.count)
        return;
    const unsigned char *in = run.in + index * run.in_stride;
    unsigned char *out = run.out + index * run.out_stride;
    unsigned long long length = (unsigned long long)run.elements + run.is_padded;
    unsigned long long absorbed = 0;
    unsigned squeezed = 0;
    fr state[POSEIDON_WIDTH];
#pragma unroll
    for (int i = 0; i < POSEIDON_WIDTH; i++)
        state[i] = fr_zero();
#pragma unroll
    for (int i = 0; i < FR_WORDS; i++)
        state[inner(POSEIDON_TAG_LANE)].word[i] = run.tag[i];
        /* One loop, so that there is one permutation in the code. */
#pragma unroll 1
    for (;;) {
        if (absorbed < length) {
            absorb(state, run, in, absorbed);
            absorbed += run.rate;
        } else {
            unsigned ready = min(run.squeezed - squeezed, run.rate);
            for (unsigned i = 0; i < ready; i++)
                element_out(out + (squeezed + i) * sizeof(fr),
                    lane_get(state, POSEIDON_INPUT_LANE + i), run.out_aligned, run.out_convert);
            squeezed += ready;
            if (squeezed == run.squeezed)
                return;
        }
        permute(state);
    }
}
