/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set's kernels: their generated text, and what they are launched with. Shared by codegen.c,
 * kernels.c and device_ops.c.
 */
#ifndef POSEIDON_LAUNCH_H
#define POSEIDON_LAUNCH_H

#include <devicepool/module.h>

#include "module/program.h"
#include "poseidon/poseidon.h"

/* Threads a block: small, so that states of up to 180 registers a thread fill a multiprocessor's
 * 65536 with little left over. */
enum { POSEIDON_BLOCK = 64 };
enum { POSEIDON_MISSING_WORDS = 64, POSEIDON_TAG_WORDS = 24 };

/* Byte for byte struct items of ptx/poseidon/items.cuh. */
struct poseidon_items {
    uint64_t in;
    uint64_t out;
    uint64_t in_stride;
    uint64_t out_stride;
    uint64_t count;
    uint64_t children;
    uint32_t in_convert;
    uint32_t out_convert;
    uint32_t in_aligned;
    uint32_t out_aligned;
    uint32_t elements;
    uint32_t arity;
    uint32_t rate;
    uint32_t squeezed;
    uint32_t overwrites;
    uint32_t is_padded;
    uint32_t tag[POSEIDON_TAG_WORDS];
    uint32_t missing[POSEIDON_MISSING_WORDS];
};

enum poseidon_kernel {
    POSEIDON_PERMUTE,
    POSEIDON_COPY,
    POSEIDON_HASH,
    POSEIDON_ROW,
    POSEIDON_SPONGE,
    POSEIDON_PAIR_PERMUTE,
    POSEIDON_PAIR_HASH,
    POSEIDON_PAIR_ROW,
    POSEIDON_KERNEL_COUNT
};

/* codegen.c: set.cuh of a set; to be freed with base_free. */
pool_status poseidon_text(const pool_poseidon *set, char **text);
/* An element's limbs (Montgomery) as the device's words. */
void poseidon_device_words(const pool_field *field, uint32_t *words, const uint64_t *limbs);

/* kernels.c */
/* Up to this many items a multiprocessor two threads share a state; tests set it. */
extern uint32_t poseidon_pairs_below;
struct poseidon_program;
void poseidon_program_free(struct poseidon_program *program);
/* Every program of a set, the same on every chip. */
pool_status poseidon_each_program(const pool_poseidon *set, module_program_visit visit, void *user);
pool_status poseidon_launch(const pool_poseidon *set, pool_device *device, pool_stream *stream,
    enum poseidon_kernel kernel, const struct poseidon_items *items);

/* self_test.c: the first time that a device has this program of the set, its known answer there. */
pool_status poseidon_prove(const pool_poseidon *set, pool_device *device,
    const struct module_key *key, int file, pool_module *module);

#endif
