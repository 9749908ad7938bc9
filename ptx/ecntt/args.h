/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments of the kernels of a transform of points, as the host fills them and the kernels read
 * them, and the constants that both sides need. In the order of the algorithm.
 *
 * A transform computes in an array of XYZZ points at `points`, one transform after the other. The
 * forward stages take it from natural to bit-reversed order, the inverse ones back. Each stage
 * multiplies points by factors, which are digits in memory. `first_block` is the first of the
 * blocks that a launch has, where a kernel is cut into several launches.
 */
#ifndef PTX_ECNTT_ARGS_H
#define PTX_ECNTT_ARGS_H

#include "msm/args.h"

#define ECNTT_THREADS 128
#define ECNTT_WINDOW_BITS 4
#define ECNTT_MULTIPLES 8 /* of a point: digits are at most 2^(ECNTT_WINDOW_BITS - 1) */
#define ECNTT_SHARE 32    /* points that share an inversion, at most */

/* ---- factors.cu ------------------------------------------------------------------------------ */

/*
 * Factor i of stage s with 2^s blocks belongs to block i. Without a coset all stages share one
 * table, w^(i reversed) for i < 2^(log_size - 1). With a coset the table of stage s begins at 2^s
 * and has (g w^(i reversed))^(2^(log_size - 1 - s)); entry 0 is 1. A second table of the same
 * length has the same factors times `scale`.
 */
struct ecntt_factors_args {
    DEVICE_POINTER(signed char) digits; /* [half][window][factor] */
    unsigned long long count;           /* factors of all tables */
    unsigned long long table;           /* factors of a table */
    unsigned log_size;
    unsigned has_coset;
    unsigned windows;
    unsigned halves; /* 2: split by `lattice` */
    unsigned root[MSM_MAX_WORDS];
    unsigned coset[MSM_MAX_WORDS];
    unsigned scale[MSM_MAX_WORDS];
    struct msm_lattice lattice;
    unsigned first_block;
};

/* ---- points.cu ------------------------------------------------------------------------------- */

/* The digits of factors, and the endomorphism (x, y) to (beta x, y) of their second halves. */
struct ecntt_digits {
    DEVICE_POINTER(const signed char) digits;
    unsigned long long count;
    unsigned windows;
    unsigned halves;
    unsigned beta[MSM_MAX_WORDS];
};

/* The caller's points of `transforms` transforms, those of a batch in rows or interleaved. */
struct ecntt_layout {
    unsigned long long transforms;
    unsigned log_size;
    unsigned is_interleaved;
    unsigned is_reversed; /* 1: the caller's index is the internal one with its bits reversed */
};

struct ecntt_load_args {
    struct msm_input_bases input;
    struct ecntt_layout layout;
    DEVICE_POINTER(struct xyzz) points;
    unsigned first_block;
};

enum ecntt_step {
    ECNTT_FORWARD, /* (a, b) to (a + f b, a - f b) */
    ECNTT_INVERSE, /* (a, b) to (a + b, f (a - b)) */
    ECNTT_SCALE    /* point 0 of each transform times f */
};

struct ecntt_stage_args {
    DEVICE_POINTER(struct xyzz) points;
    struct ecntt_digits digits;
    unsigned long long count;  /* butterflies, or transforms of ECNTT_SCALE */
    unsigned long long first;  /* factor of block 0 */
    unsigned long long scaled; /* factor of block 0 for the first butterfly of a block; inverse */
    unsigned step;             /* enum ecntt_step */
    unsigned log_size;
    unsigned log_half;      /* a and b are 2^log_half points apart */
    unsigned skips_block_0; /* 1: its factor `first` is 1 */
    unsigned first_block;
};

struct ecntt_store_args {
    DEVICE_POINTER(const struct xyzz) points;
    struct ecntt_layout layout;
    DEVICE_POINTER(unsigned) out;
    unsigned long long stride; /* in 32-bit words */
    unsigned long long count;
    unsigned point_layout;          /* pool_point_layout */
    unsigned converts;              /* 1: coordinates are multiplied by `factor` */
    unsigned factor[MSM_MAX_WORDS]; /* to the form in memory */
    unsigned blocks;                /* of all launches */
    unsigned first_block;
};

#endif
