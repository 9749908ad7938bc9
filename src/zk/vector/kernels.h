/* SPDX-License-Identifier: Apache-2.0 */
/* The program of vectors over a field, see ptx/vector/vector.cu. */
#ifndef VECTOR_KERNELS_H
#define VECTOR_KERNELS_H

#include "zk/field/field.h"
#include "pool/module/program.h"

/* Programs whose only generated source is the arithmetic of a pool_field, "fr.cuh". */
extern const struct module_subject vector_subject;

struct module_program_key vector_key(const pool_field *field);

/* A kernel on a device; its program is compiled and loaded at the first call. */
pool_status vector_kernel(
    pool_device *device, const pool_field *field, const char *name, pool_kernel **kernel);

#endif
