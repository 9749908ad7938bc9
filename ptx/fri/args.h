/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments of the kernels of fri.cu and rows.cu. Elements are arrays of words, those of the base
 * field of up to two words.
 */
#ifndef PTX_FRI_ARGS_H
#define PTX_FRI_ARGS_H

#include "base/args.h"

#define FRI_BASE_WORDS 2
#define FRI_WORDS 4
#define FRI_MAX_LOG_ARITY 3
#define FRI_POWERS 32

/* Inverses of the points of a coset s w^i: factors for s^-1 w^-i, with (w^-1)^(2^k) for each k. */
struct fri_points {
    unsigned shift[FRI_BASE_WORDS]; /* s^-1 */
    unsigned powers[FRI_POWERS][FRI_BASE_WORDS];
};

/* fri_fold2, fri_fold4 and fri_fold8: one thread per result. */
struct fri_fold_args {
    DEVICE_POINTER(const unsigned) in;
    DEVICE_POINTER(unsigned) out;
    unsigned long long first; /* the index of out[0] among all results */
    unsigned long long count;
    struct fri_points points;
    unsigned challenge[FRI_MAX_LOG_ARITY][FRI_WORDS]; /* its 2^l-th powers */
    unsigned zeta[4]
                 [FRI_BASE_WORDS];  /* powers of w^-M for M results, a root of order 2^log_arity */
    unsigned scale[FRI_BASE_WORDS]; /* 2^-log_arity */
    unsigned log_count;             /* of all results */
    unsigned is_reversed;
    unsigned first_block; /* of a launch of some of the blocks */
};

/* fri_denominators: out[i] = z / x_i - 1 for the points x_i in either order. */
struct fri_denominators_args {
    DEVICE_POINTER(unsigned) out;
    struct fri_points points;
    unsigned z[FRI_WORDS];
    unsigned log_count;
    unsigned is_reversed;
    unsigned first_block;
};

/*
 * fri_dot: partial[c segments + s] = the sum over the rows r of segment s of m(r, c) weights[r].
 * Strides are in words. A block has 256 threads for 2^log_lanes columns.
 */
struct fri_dot_args {
    DEVICE_POINTER(const unsigned) matrix;
    DEVICE_POINTER(const unsigned) weights;
    DEVICE_POINTER(unsigned) partial;
    unsigned long long row_stride;
    unsigned long long column_stride;
    unsigned long long rows;
    unsigned long long segment_rows;
    unsigned columns;
    unsigned segments;
    unsigned log_lanes;
    unsigned first_block;
};

/* matrix_bit_reverse: items of `words` words; strides are in words. */
struct matrix_rows_args {
    DEVICE_POINTER(const unsigned) in;
    DEVICE_POINTER(unsigned) out;
    unsigned long long in_row_stride, in_column_stride;
    unsigned long long out_row_stride, out_column_stride;
    unsigned long long words;
    unsigned long long columns;
    unsigned log_rows;
    unsigned first_block;
};

#endif
