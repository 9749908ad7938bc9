/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The argument of all Poseidon kernels, as the host fills it and the kernels read it. A kernel
 * computes one item of `out`, a state or a digest, per item of `in`, a state or a message. Members
 * that only one kernel reads are marked with its name. Strides are in bytes.
 */
#ifndef PTX_POSEIDON_ARGS_H
#define PTX_POSEIDON_ARGS_H

#include "base/args.h"

/* Threads per block. Few, so that states of up to 180 registers per thread leave little of a
 * multiprocessor's 65536 registers unused. */
#define POSEIDON_BLOCK 64
/* 32-bit words of the longest digest of a tree's node, and of the longest element. */
#define POSEIDON_NODE_WORDS 64
#define POSEIDON_ELEMENT_WORDS 24
/* The values of pool_sponge_padding but 0, no padding. */
#define POSEIDON_PAD_10 1
#define POSEIDON_PAD_ZERO 2

struct poseidon_args {
    DEVICE_POINTER(const unsigned char) in;
    DEVICE_POINTER(unsigned char) out;
    unsigned long long in_stride;
    unsigned long long out_stride;
    unsigned long long count; /* of output items */
    unsigned long long
        input_count;          /* merkle_level: nodes of the level below; sponge: elements of a
                                 message with padding, without zeros that fill its last block */
    unsigned in_is_converted; /* 1: elements of `in` are not in the device's form */
    unsigned out_is_converted;
    unsigned in_is_aligned; /* 1: address and stride are multiples of 16 */
    unsigned out_is_aligned;
    unsigned elements;        /* per input item */
    unsigned arity;           /* merkle_level */
    unsigned rate;            /* sponge */
    unsigned output_elements; /* sponge: per output item */
    unsigned overwrites;      /* sponge: 1: a block replaces the rate elements; 0: is added */
    unsigned padding;         /* sponge: 0 or one of the two below */
    unsigned domain_tag[POSEIDON_ELEMENT_WORDS];
    /* merkle_level: the digest that stands for a child without leaves. Both in the device's form.
     */
    unsigned padding_node[POSEIDON_NODE_WORDS];
    unsigned first_block; /* of a launch of some of the blocks */
};

#endif
