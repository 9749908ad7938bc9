/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bit reversal of the rows of a matrix, one thread per word, so that neighbouring threads access
 * neighbouring words of a row that is stored as one.
 */
#include "fri/args.h"

typedef unsigned long long u64;

/* In place or from one matrix to another: a thread exchanges a pair of rows i <= reverse(i). */
extern "C" __global__ void matrix_bit_reverse(struct matrix_rows_args args)
{
    u64 thread = (u64)(args.first_block + blockIdx.x) * blockDim.x + threadIdx.x;
    u64 word = thread % args.words, item = thread / args.words;
    u64 row = item & ((1ull << args.log_rows) - 1), column = item >> args.log_rows;
    u64 other = (__brevll(row) >> 1) >> (63 - args.log_rows);
    if (column >= args.columns || other < row)
        return;
    const unsigned *in = args.in + column * args.in_column_stride + word;
    unsigned *out = args.out + column * args.out_column_stride + word;
    unsigned a = in[row * args.in_row_stride], b = in[other * args.in_row_stride];
    out[row * args.out_row_stride] = b;
    out[other * args.out_row_stride] = a;
}
