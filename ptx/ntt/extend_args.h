/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The argument of the kernel in extend.cu, as the host fills it and the kernel reads it.
 */
#ifndef PTX_NTT_EXTEND_ARGS_H
#define PTX_NTT_EXTEND_ARGS_H

#include "ntt/args.h"

#define NTT_EXTEND_THREADS 256

struct ntt_extend_args {
    DEVICE_POINTER(const fr) in;            /* batch * 2^log_points coefficients */
    DEVICE_POINTER(fr) out;                 /* batch * 2^(log_points + log_blowup) elements */
    DEVICE_POINTER(const fr) twiddles_high; /* of the result's domain; see ntt_pass_args */
    DEVICE_POINTER(const fr) twiddles_low;
    DEVICE_POINTER(const fr) coset_high;
    DEVICE_POINTER(const fr) coset_low;
    unsigned long long batch;
    unsigned long long count; /* of the coefficients */
    unsigned log_points;
    unsigned log_blowup;
    unsigned low_bits; /* of an exponent: its index in the low tables */
    unsigned flags;    /* NTT_REVERSED_INPUT, NTT_INTERLEAVED */
    unsigned first_block;
};

#endif
