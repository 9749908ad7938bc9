/* SPDX-License-Identifier: Apache-2.0 */
/* The program of vectors over a field, see ptx/vector/vector.cu. */
#ifndef VECTOR_KERNELS_H
#define VECTOR_KERNELS_H

#include "field/field.h"
#include "module/program.h"

struct module_program_key vector_key(const pool_field *field);

/* The module_generator's function; the subject is a field. */
pool_status vector_generate(const void *subject, const struct module_program_key *key,
    module_program_visit visit, void *user);

/* A kernel on a device; its program is compiled and loaded at the first call. */
pool_status vector_kernel(
    pool_device *device, const pool_field *field, const char *name, pool_kernel **kernel);

#endif
