/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans the work of a Poseidon operation on a device: chunks of items in host memory, and the
 * kernel and number of blocks of a launch. Pure: sizes and the properties of a chip in, plan out.
 */
#ifndef POSEIDON_PLAN_H
#define POSEIDON_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool/tuning/chip.h"
#include "pool/tuning/rates.h"

enum poseidon_kernel {
    POSEIDON_PERMUTE,
    POSEIDON_CONVERT,
    POSEIDON_HASH,
    POSEIDON_MERKLE_LEVEL,
    POSEIDON_SPONGE,
    POSEIDON_ROWS,
    POSEIDON_GATHER,
    POSEIDON_PERMUTE_2THREAD,
    POSEIDON_HASH_2THREAD,
    POSEIDON_MERKLE_LEVEL_2THREAD,
    POSEIDON_KERNEL_COUNT
};

/* The items of an operation. */
struct poseidon_job {
    uint64_t count;
    uint64_t multiple; /* a chunk's items are a multiple of this, the last chunk's excepted */
    size_t in_bytes;   /* per item */
    size_t out_bytes;  /* 0: the operation writes no items of its own */
    bool in_is_on_host;
    bool out_is_on_host;
    uint64_t check_answers; /* of a check, at most one per item; 0: no check */
    uint64_t common_bytes;  /* of device memory, besides the copies of chunks */
};

enum { POSEIDON_SLOTS = 3 };

struct poseidon_chunk_plan {
    uint64_t chunk_items;
    uint64_t chunk_count; /* 0 for no items */
    uint32_t slots;       /* chunks in progress at a time: 1, on the call's own stream, up to 3 */
    uint64_t bytes;       /* of device memory */
};

/* False when the smallest chunk, with which plan->bytes are needed, exceeds `limit`. */
bool poseidon_plan_chunks(const struct poseidon_tuning *tuning, const struct poseidon_job *job,
    uint64_t limit, struct poseidon_chunk_plan *plan);

/* Subtrees of a tree over several devices, per device: their parts then differ by at most 1/64 and
 * the top, which one device builds, is a small part of a large tree. */
enum { POSEIDON_SUBTREES = 64 };

/* cost.c: the predicted seconds in which `devices` equal devices build a tree of circom-bn254-t3
 * from leaves on the devices. */
double poseidon_tree_cost(
    const struct chip_rates *rates, uint64_t leaves, uint32_t arity, uint32_t devices);

struct poseidon_launch_plan {
    enum poseidon_kernel kernel;
    uint64_t blocks;
};

/* The launch of `kernel` for `count` items; can_share: the parameter set has kernels with two
 * threads per state. */
struct poseidon_launch_plan poseidon_plan_launch(const struct poseidon_tuning *tuning,
    const struct chip *chip, enum poseidon_kernel kernel, bool can_share, uint64_t count);

#endif
