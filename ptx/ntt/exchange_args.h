/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The argument of the kernel in exchange.cu, as the host fills it and the kernel reads it.
 *
 * Bits of an index are moved one by one: entry i of a list, a byte, says which bit of the result the
 * i-th bit becomes.
 */
#ifndef PTX_NTT_EXCHANGE_ARGS_H
#define PTX_NTT_EXCHANGE_ARGS_H

#include "base/args.h"

#define NTT_EXCHANGE_LOG_TILE 8
#define NTT_EXCHANGE_LOG_DEVICES 4
#define NTT_EXCHANGE_DEVICES (1 << NTT_EXCHANGE_LOG_DEVICES)
#define NTT_EXCHANGE_BITS 40

#define NTT_EXCHANGE_COSET_OF_ROWS 1u /* the coset's exponent is the row, not the column */

struct ntt_exchange_args {
    DEVICE_POINTER(const fr) in;
    DEVICE_POINTER(fr) out[NTT_EXCHANGE_DEVICES]; /* in the memory of each destination */
    DEVICE_POINTER(const fr) twiddles_high;       /* null: no twiddles; see ntt_pass_args */
    DEVICE_POINTER(const fr) twiddles_low;
    DEVICE_POINTER(const fr) coset_high; /* null: no coset */
    DEVICE_POINTER(const fr) coset_low;
    unsigned long long first_logical; /* what the device's own bits contribute */
    unsigned long long first_to;
    unsigned log_tile;    /* of the threads of a block, one per element */
    unsigned log_blocks;  /* of the launch */
    unsigned log_local;   /* bits of `to` below the destination */
    unsigned log_columns; /* bits of the logical index below the row */
    unsigned low_bits;    /* of an exponent: its index in the low tables */
    unsigned flags;
    unsigned char read[NTT_EXCHANGE_LOG_TILE];         /* a thread's bits: where it loads */
    unsigned char read_logical[NTT_EXCHANGE_LOG_TILE]; /* which row and column that is */
    unsigned char slot[NTT_EXCHANGE_LOG_TILE];         /* whose element it stores */
    unsigned char write_to[NTT_EXCHANGE_LOG_TILE];     /* where it stores */
    /* A block's bits: where it loads, which row and column, where it stores. */
    unsigned block[3][NTT_EXCHANGE_BITS / 4]; /* four bytes per entry, the lowest first */
};

#endif
