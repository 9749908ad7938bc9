/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The argument of the kernel in pass.cu; src/ntt/ntt.h has the same struct in C.
 */
#define NTT_GATHER 1u       /* first trip: input is in bit-reversed order */
#define NTT_SCATTER 2u      /* last trip: output is in natural order */
#define NTT_COLUMNS 4u      /* a batch is interleaved: element i of transform t is at i batch + t */
#define NTT_COSET_IN 8u     /* first trip: coefficient j times g^j */
#define NTT_COSET_OUT 16u   /* last trip: coefficient j times g^-j */
#define NTT_LOAD_DIRECT 32u /* load to registers; without it to shared memory */
#define NTT_LOAD_ACROSS 64u /* neighbouring columns are neighbours in memory */
#define NTT_STORE_ACROSS 128u
#define NTT_STORE_DIRECT 256u /* from registers; without it through shared memory */
#define NTT_HANDS_ON 512u /* not all blocks find room at once: the next trip's may follow them */

struct ntt_pass {
    const fr *in;
    fr *out;
    const fr *roots;       /* [2^s + i]: w_(2^s)^i */
    const fr *high;        /* w^(i 2^low_bits) */
    const fr *low;         /* w^i below 2^low_bits; null where the powers are multiples of it */
    const fr *plain_low;   /* low without the factor that a first trip's low brings */
    const fr *coset_high;  /* the same of the coset's generator */
    const fr *coset_low;
    const fr *scale;       /* last trip: null, or what all outputs are multiplied by */
    unsigned long long batch;
    unsigned long long columns; /* of all transforms of the batch together */
    unsigned log_size;
    unsigned before;        /* bits of the index that earlier trips have done */
    unsigned bits;          /* of this trip */
    unsigned log_columns;   /* of a tile */
    unsigned lower_columns; /* how many bits of them are below the digit in the tile */
    unsigned low_bits;      /* of a power: the index into the low tables */
    unsigned power_shift;   /* powers of this trip's root to powers of the tables' */
    unsigned flags;
};
