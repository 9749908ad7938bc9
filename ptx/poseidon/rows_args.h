/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of the kernels that hash and gather the rows of matrices. Strides are in bytes.
 */
#ifndef PTX_POSEIDON_ROWS_ARGS_H
#define PTX_POSEIDON_ROWS_ARGS_H

#include "base/args.h"

/* poseidon_rows: one sponge per row absorbs `columns` more elements. */
struct poseidon_rows_args {
    DEVICE_POINTER(const unsigned char) in; /* the first of these elements of the first row */
    /* The sponges' states between launches, in the device's form: element k of row r at the index
     * k * state_rows + r. 0 where one launch absorbs everything. */
    DEVICE_POINTER(unsigned char) states;
    DEVICE_POINTER(unsigned char) out; /* digests; 0: the rows are not complete */
    unsigned long long row_stride;
    unsigned long long column_stride;
    unsigned long long out_stride;
    unsigned long long state_rows;
    unsigned long long rows;
    unsigned long long columns;
    unsigned position; /* elements that the present block has already */
    unsigned rate;
    unsigned digest_elements;
    unsigned is_first;    /* 1: the states are zero */
    unsigned is_permuted; /* 0: the digest is the absorbed block, followed by zeros */
    unsigned in_is_converted;
    unsigned out_is_converted;
    unsigned in_is_aligned; /* 1: addresses of elements are multiples of 8 or 16, see rows.cu */
    unsigned out_is_aligned;
    unsigned first_block; /* of a launch of some of the blocks, as below */
};

/* poseidon_gather: `count` rows of `columns` elements. */
struct poseidon_gather_args {
    DEVICE_POINTER(const unsigned char) in;
    DEVICE_POINTER(const unsigned long long) indices;
    DEVICE_POINTER(unsigned char) out;
    unsigned long long row_stride;
    unsigned long long column_stride;
    unsigned long long out_stride;
    unsigned long long count;
    unsigned long long columns;
    unsigned shift; /* row (index >> shift) ^ is_sibling */
    unsigned is_sibling;
    unsigned in_is_converted;
    unsigned out_is_converted;
    unsigned first_block;
};

#endif
