/* SPDX-License-Identifier: Apache-2.0 */
/* The program of vectors over a field: see kernels.h. */
#include "vector/kernels.h"

#include <string.h>

#include "base/alloc.h"
#include "field/emit_field.h"

struct module_program_key vector_key(const pool_field *field)
{
    struct module_program_key key = {.file = "vector/vector.cu"};

    memcpy(key.fingerprint, field->fingerprint, sizeof(key.fingerprint));
    return key;
}

pool_status vector_generate(const void *subject, const struct module_program_key *key,
    module_program_visit visit, void *user)
{
    char *field_source = NULL;
    pool_status status = field_emit_generate(subject, "fr", &field_source);

    if (status)
        return status;
    const pool_module_header source = {.name = "fr.cuh", .text = field_source};
    const struct module_program program = {.file = key->file,
        .subject = pool_field_name(subject),
        .texts = &source,
        .text_count = 1};
    status = visit(user, &program);
    base_free(field_source);
    return status;
}

pool_status vector_kernel(
    pool_device *device, const pool_field *field, const char *name, pool_kernel **kernel)
{
    const struct module_generator generator = {vector_generate, field};
    const struct module_program_key key = vector_key(field);

    return module_find_kernel(device, &generator, &key, name, kernel);
}
