/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of matrices. A thread hashes a row: where columns are stored one after another, the threads
 * of a warp read adjacent elements of a column, so that the matrix needs no transposed copy.
 */
#include "poseidon/permutation.cuh"
#include "poseidon/rows_args.h"

/* An element of two or of a multiple of four words is one load where its address allows. */
__device__ __forceinline__ fr load_row_element(
    const unsigned char *from, unsigned is_aligned, unsigned is_converted)
{
#if FR_WORDS == 2
    if (is_aligned) {
        unsigned long long words = *(const unsigned long long *)from;
        fr element = {{(unsigned)words, (unsigned)(words >> 32)}};
        return is_converted ? fr_mul(element, poseidon_to_device_form()) : element;
    }
#endif
    return load_element(from, is_aligned, is_converted);
}

__device__ __forceinline__ fr *state_of_row(
    const poseidon_rows_args &args, unsigned long long row, int element)
{
    return (fr *)args.states + element * args.state_rows + row;
}

__device__ __forceinline__ void load_state(
    fr *state, const poseidon_rows_args &args, unsigned long long row)
{
#pragma unroll
    for (int i = 0; i < POSEIDON_WIDTH; i++)
        state[i] = args.is_first ? fr_zero() : *state_of_row(args, row, i);
}

/* The digest, or the state for the next launch. */
__device__ __forceinline__ void store_result(
    const fr *state, const poseidon_rows_args &args, unsigned long long row)
{
    if (!args.out) {
#pragma unroll
        for (int i = 0; i < POSEIDON_WIDTH; i++)
            *state_of_row(args, row, i) = fr_reduce(state[i]);
        return;
    }
    unsigned char *out = args.out + row * args.out_stride;
    for (unsigned i = 0; i < args.digest_elements; i++)
        store_element(out + i * sizeof(fr), select_element(state, POSEIDON_INPUT_INDEX + i),
            args.out_is_aligned, args.out_is_converted);
}

/*
 * Block b has the columns from b * rate - position on; a block's elements replace those of the
 * state. Whole blocks are followed by a permutation, and the last block of a complete row in any
 * case.
 */
extern "C" __global__ void __launch_bounds__(POSEIDON_BLOCK)
    poseidon_rows(const poseidon_rows_args args)
{
    unsigned long long row = item_of_thread(args.first_block);
    if (row >= args.rows)
        return;
    const unsigned char *in = args.in + row * args.row_stride;
    long long column = -(long long)args.position;
    unsigned long long elements = args.position + args.columns;
    unsigned long long permutations =
        (elements + (args.out ? args.rate - 1 : 0)) / args.rate * args.is_permuted;
    fr state[POSEIDON_WIDTH];
    load_state(state, args, row);
#pragma unroll 1
    for (unsigned long long block = 0;; block++) {
        CONVERSION_LOOP
        for (int i = 0; i + POSEIDON_INPUT_INDEX < POSEIDON_WIDTH; i++)
            if (i < args.rate && (unsigned long long)(column + i) < args.columns)
                state[state_index(POSEIDON_INPUT_INDEX + i)] =
                    load_row_element(in + (column + i) * args.column_stride, args.in_is_aligned,
                        args.in_is_converted);
        if (block == permutations)
            break;
        permute(state);
        column += args.rate;
    }
    store_result(state, args, row);
}

extern "C" __global__ void __launch_bounds__(POSEIDON_BLOCK)
    poseidon_gather(const poseidon_gather_args args)
{
    unsigned long long item = item_of_thread(args.first_block);
    if (item >= args.count * args.columns)
        return;
    unsigned long long query = item / args.columns, column = item % args.columns;
    unsigned long long row = (args.indices[query] >> args.shift) ^ args.is_sibling;
    store_element(args.out + query * args.out_stride + column * sizeof(fr),
        load_element(
            args.in + row * args.row_stride + column * args.column_stride, 0, args.in_is_converted),
        0, args.out_is_converted);
}
