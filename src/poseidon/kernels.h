/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of a parameter set: their generated source and their launch.
 */
#ifndef POSEIDON_KERNELS_H
#define POSEIDON_KERNELS_H

#include <devicepool/module.h>

#include "module/program.h"
#include "poseidon/args.h"
#include "poseidon/poseidon.h"

enum poseidon_kernel {
    POSEIDON_PERMUTE,
    POSEIDON_CONVERT,
    POSEIDON_HASH,
    POSEIDON_MERKLE_LEVEL,
    POSEIDON_SPONGE,
    POSEIDON_PERMUTE_2THREAD,
    POSEIDON_HASH_2THREAD,
    POSEIDON_MERKLE_LEVEL_2THREAD,
    POSEIDON_KERNEL_COUNT
};

/* codegen.c: parameters.cuh of a parameter set; the caller frees it with base_free. */
pool_status poseidon_generate(const pool_poseidon *set, char **source);
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
    enum poseidon_kernel kernel, const struct poseidon_args *args);

/* self_test.c: the first time that a device has this program of the set, its known answer there. */
pool_status poseidon_prove(const pool_poseidon *set, pool_device *device,
    const struct module_key *key, int file, pool_module *module);

#endif
