/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second argument of the kernel in split.cu, as the host fills it and the kernel reads it: where
 * the results of a device's columns are stored, and which columns these are.
 */
#ifndef PTX_NTT_SPLIT_ARGS_H
#define PTX_NTT_SPLIT_ARGS_H

#include "base/args.h"

#define NTT_SPLIT_LOG_DEVICES 4
#define NTT_SPLIT_DEVICES (1 << NTT_SPLIT_LOG_DEVICES)

#define NTT_SPLIT_NATURAL_ROWS 1u     /* rows are in natural order, otherwise bit-reversed */
#define NTT_SPLIT_CYCLIC_ROWS 2u      /* the devices get rows in turn, otherwise blocks of rows */
#define NTT_SPLIT_REVERSED_COLUMNS 4u /* the transforms are columns in bit-reversed order */
#define NTT_SPLIT_COSET_OF_ROWS 8u    /* the coset's exponent is the row, not the column */

/* Transform t is, after its bits are reversed where that is the order, column
 * t 2^column_shift + first_column of the matrix, and is stored as column
 * t 2^place_shift + first_place at each destination. */
struct ntt_split_args {
    DEVICE_POINTER(fr) out[NTT_SPLIT_DEVICES]; /* in the memory of each destination */
    DEVICE_POINTER(const fr) twiddles_high;    /* of the whole transform, see ntt_pass_args */
    DEVICE_POINTER(const fr) twiddles_low;
    DEVICE_POINTER(const fr) coset_high; /* null: no coset */
    DEVICE_POINTER(const fr) coset_low;
    unsigned long long first_transform; /* of the launch */
    unsigned long long first_column;
    unsigned long long first_place;
    unsigned column_shift;
    unsigned place_shift;
    unsigned log_transforms; /* of the device */
    unsigned log_devices;
    unsigned low_bits; /* of an exponent: its index in the low tables */
    unsigned flags;
};

#endif
