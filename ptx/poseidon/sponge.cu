/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sponge per thread: absorbs `elements` elements in blocks of `rate`, squeezes
 * `output_elements`.
 */
#include "poseidon/permutation.cuh"

/* Element `index` of the padded message; *is_present is 0 beyond the end of an unpadded one. */
__device__ __forceinline__ fr message_element(
    const poseidon_args &args, const unsigned char *in, unsigned long long index, int *is_present)
{
    *is_present = index < args.elements || args.padding;
    if (index < args.elements)
        return load_element(in + index * sizeof(fr), args.in_is_aligned, args.in_is_converted);
    return index == args.elements && args.padding == POSEIDON_PAD_10 ? fr_one() : fr_zero();
}

__device__ __forceinline__ void absorb_block(
    fr *state, const poseidon_args &args, const unsigned char *in, unsigned long long absorbed)
{
    CONVERSION_LOOP
    for (int i = 0; i + POSEIDON_INPUT_INDEX < POSEIDON_WIDTH; i++) {
        int is_present = 0;
        fr *rate_element = state + state_index(POSEIDON_INPUT_INDEX + i);
        if (i >= args.rate)
            continue;
        fr element = message_element(args, in, absorbed + i, &is_present);
        if (!args.overwrites)
            *rate_element = fr_add_lazy(*rate_element, element);
        else if (is_present)
            *rate_element = element;
    }
}

extern "C" __global__ void __launch_bounds__(POSEIDON_BLOCK)
    poseidon_sponge(const poseidon_args args)
{
    unsigned long long index = item_of_thread(args.first_block);
    if (index >= args.count)
        return;
    const unsigned char *in = args.in + index * args.in_stride;
    unsigned char *out = args.out + index * args.out_stride;
    unsigned long long absorbed = 0;
    unsigned squeezed = 0;
    fr state[POSEIDON_WIDTH];
#pragma unroll
    for (int i = 0; i < POSEIDON_WIDTH; i++)
        state[i] = fr_zero();
#pragma unroll
    for (int i = 0; i < FR_WORDS; i++)
        state[state_index(POSEIDON_DOMAIN_TAG_INDEX)].word[i] = args.domain_tag[i];
        /* Absorbing and squeezing share one loop, so that the code has one permutation. */
#pragma unroll 1
    for (;;) {
        if (absorbed < args.input_count) {
            absorb_block(state, args, in, absorbed);
            absorbed += args.rate;
        } else {
            unsigned ready = min(args.output_elements - squeezed, args.rate);
            for (unsigned i = 0; i < ready; i++)
                store_element(out + (squeezed + i) * sizeof(fr),
                    select_element(state, POSEIDON_INPUT_INDEX + i), args.out_is_aligned,
                    args.out_is_converted);
            squeezed += ready;
            if (squeezed == args.output_elements)
                return;
        }
        permute(state);
    }
}
