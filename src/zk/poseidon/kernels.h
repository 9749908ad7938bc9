/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of a parameter set: their generated source, their programs and their launch.
 */
#ifndef POSEIDON_KERNELS_H
#define POSEIDON_KERNELS_H

#include "pool/module/program.h"
#include "poseidon/args.h"
#include "poseidon/rows_args.h"
#include "zk/operation/operand.h"
#include "zk/poseidon/poseidon.h"

/* codegen.c: parameters.cuh of a parameter set; the caller frees it with base_free. */
pool_status poseidon_generate(const pool_poseidon *set, char **source);
/* An element's limbs in Montgomery form as words in the device's form. */
void poseidon_device_words(const pool_field *field, uint32_t *words, const uint64_t *limbs);

/* kernels.c */
/* fr_dot.cuh of a parameter set, a const pool_poseidon *; the caller frees it with base_free. */
pool_status poseidon_generate_dot_products(const void *set, char **source);
/* Calls `visit` with every program of a parameter set; they are the same on every chip. */
pool_status poseidon_each_program(const pool_poseidon *set, module_program_visit visit, void *user);
/* Enqueues `kernel`, or its form with two threads per state, for args->count items. */
pool_status poseidon_launch(const pool_poseidon *set, const struct exec_target *target,
    enum poseidon_kernel kernel, struct poseidon_args *args);
/* The same for the kernels of rows.cu, and their compilation. */
pool_status poseidon_launch_rows(
    const pool_poseidon *set, const struct exec_target *target, struct poseidon_rows_args *args);
pool_status poseidon_launch_gather(
    const pool_poseidon *set, const struct exec_target *target, struct poseidon_gather_args *args);
pool_status poseidon_warm_up_rows(const pool_poseidon *set, pool_device *device);

/*
 * self_test.c: the first call for a module computes a known answer with it; POOL_ERR_INTERNAL if it
 * is wrong. The program has `kernel`, named `name`: any but POSEIDON_GATHER.
 */
pool_status poseidon_self_test(
    const pool_poseidon *set, pool_module *module, enum poseidon_kernel kernel, const char *name);

#endif
