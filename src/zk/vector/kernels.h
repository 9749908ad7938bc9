/* SPDX-License-Identifier: Apache-2.0 */
/* The program of vectors over a field, see ptx/vector/vector.cu. */
#ifndef VECTOR_KERNELS_H
#define VECTOR_KERNELS_H

#include "pool/module/program.h"
#include "zk/field/field.h"

/* Programs whose only generated source is the arithmetic of a pool_field, "fr.cuh". */
extern const struct module_subject vector_subject;

struct module_program_key vector_key(const pool_field *field);

/* Compiles and loads the program on a device. */
pool_status vector_load_programs(pool_device *device, const pool_field *field);

/* A kernel on a device; its program is compiled and loaded at the first call. */
pool_status vector_kernel(
    pool_device *device, const pool_field *field, const char *name, pool_kernel **kernel);

enum { VECTOR_POWERS_OF_TWO = 64 }; /* b^(2^0) ... b^(2^63) of a base b */

/* powers.c: base^(2^i) for i < VECTOR_POWERS_OF_TWO, in the form that kernels compute with. */
void vector_pack_powers_of_two(const pool_field *field, void *packed, const uint64_t *base);

#endif
