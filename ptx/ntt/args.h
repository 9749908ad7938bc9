/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The argument of the kernel in pass.cu, as the host fills it and the kernel reads it.
 *
 * A pass computes `sub_transforms` transforms of 2^log_length points each, all of which differ in
 * the same log_length bits of their index.
 */
#ifndef PTX_NTT_ARGS_H
#define PTX_NTT_ARGS_H

#include "base/args.h"

#define NTT_REVERSED_INPUT 1u /* first pass: the input is in bit-reversed order */
#define NTT_NATURAL_OUTPUT 2u /* last pass: the output is in natural order */
#define NTT_INTERLEAVED 4u    /* element i of transform t of the batch is at i batch + t */
/* First pass: multiplies coefficient j by g^j; behind log_done bits, in pass_word.cu, it reads
 * 2^log_size >> log_done coefficients per transform and spreads them over all cosets. */
#define NTT_COSET_INPUT 8u
#define NTT_COSET_OUTPUT 16u    /* last pass: multiplies coefficient j by g^-j */
#define NTT_LOAD_REGISTERS 32u  /* loads to registers directly, not through shared memory */
#define NTT_LOAD_TRANSPOSED 64u /* neighbouring threads load from neighbouring sub-transforms */
#define NTT_STORE_TRANSPOSED 128u
#define NTT_STORE_REGISTERS 256u    /* stores from registers directly */
#define NTT_TRIGGERS_DEPENDENT 512u /* the next pass may start while this one drains (PDL) */
#define NTT_STORE_INTERLEAVED 1024u /* stores interleaved; NTT_INTERLEAVED is how it loads */
#define NTT_STORE_NEIGHBOURS 2048u  /* a thread's outputs, from registers, are neighbours */
#define NTT_STORE_SECTORS 4096u     /* two threads store an element of 8 words together */
/* Above the flags: the largest log_distance of stages that exchange points within warps only. */
#define NTT_IN_WARP_SHIFT 16u

struct ntt_pass_args {
    DEVICE_POINTER(const fr) in;
    DEVICE_POINTER(fr) out;
    DEVICE_POINTER(const fr) stage_twiddles; /* see ntt_stage_twiddles in tables.cu */
    DEVICE_POINTER(const fr) twiddles_high;  /* w^(i 2^low_bits) */
    DEVICE_POINTER(const fr) twiddles_low;   /* w^i for i < 2^low_bits; null when low_bits is 0 */
    /* twiddles_low without the scale factor that a first pass's table includes. */
    DEVICE_POINTER(const fr) twiddles_low_unscaled;
    DEVICE_POINTER(const fr) coset_high; /* the same tables for the coset generator */
    DEVICE_POINTER(const fr) coset_low;
    DEVICE_POINTER(const fr) scale; /* last pass: factor of all outputs, or null */
    /* With NTT_QUOTIENTS: elements from a twiddle, which is in standard form, to its quotient. */
    unsigned long long quotients;
    unsigned long long batch;
    unsigned long long sub_transforms; /* of the whole batch */
    unsigned log_size;
    unsigned log_done;       /* index bits that earlier passes have transformed */
    unsigned log_length;     /* of a sub-transform */
    unsigned log_tile_width; /* sub-transforms of a tile */
    unsigned log_tile_inner; /* bits of their index below the local index in the tile's layout */
    unsigned low_bits;       /* of an exponent: the index in the low tables */
    unsigned exponent_shift; /* from exponents of this pass's root to those of the tables' root */
    unsigned flags;
    unsigned first_block; /* of a launch of some of the blocks */
};

#endif
