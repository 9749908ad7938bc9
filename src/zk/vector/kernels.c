/* SPDX-License-Identifier: Apache-2.0 */
/* The program of vectors over a field: see kernels.h. */
#include "zk/vector/kernels.h"

#include "zk/field/emit_field.h"

static const char *field_name(const void *field)
{
    return pool_field_name(field);
}

static pool_status generate_field(const void *field, char **text)
{
    return field_emit_generate(field, "fr", text);
}

const struct module_subject vector_subject = {
    .name = field_name, .sources = {{"fr.cuh", generate_field}}};

static const struct module_program_type program = {
    .file = "vector/vector.cu", .subject = &vector_subject};

struct module_program_key vector_key(const pool_field *field)
{
    return module_key_for(&program, field->fingerprint);
}

pool_status vector_load_programs(pool_device *device, const pool_field *field)
{
    const struct module_program_key key = vector_key(field);

    return module_load_keys(device, field, &key, 1);
}

pool_status vector_kernel(
    pool_device *device, const pool_field *field, const char *name, pool_kernel **kernel)
{
    const struct module_program_key key = vector_key(field);

    return module_find_kernel(device, field, &key, name, kernel);
}
