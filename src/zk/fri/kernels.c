/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of ptx/fri and what their arguments have in common.
 */
#include <string.h>

#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/fri/fri.h"
#include "zk/operation/slices.h"
#include "zk/vector/kernels.h"

/* Of memory per word, whose neighbours are those of another row. */
enum { BLOCK = 256, REVERSAL_BYTES = 16 };

static const struct module_program_type program = {
    .file = "fri/fri.cu", .subject = &vector_subject};
static const struct module_program_type rows_program = {.file = "fri/rows.cu"};

static pool_status enqueue(const struct exec_target *target, const struct module_program_key *key,
    const char *name, struct module_launch *launch)
{
    pool_status status =
        module_find_kernel(target->device, target->field, key, name, &launch->kernel);

    launch->stream = target->stream;
    return status ? status : slices_launch(target->slices, target->slice_ns, launch);
}

pool_status fri_launch(const struct exec_target *target, const char *name, uint64_t blocks,
    const struct fri_cut *cut, void *arguments, size_t size)
{
    const struct module_program_key key = module_key_for(&program, target->field->fingerprint);
    struct module_launch launch = {.blocks = blocks,
        .threads = BLOCK,
        .count = 1,
        .arguments = &arguments,
        .sizes = &size,
        .seconds = cut->seconds,
        .first_block = cut->first_block};

    return enqueue(target, &key, name, &launch);
}

pool_status fri_launch_items(const struct exec_target *target, const char *name, uint64_t items,
    const struct fri_cut *cut, void *arguments, size_t size)
{
    return fri_launch(target, name, base_ceil_div(items, BLOCK), cut, arguments, size);
}

pool_status fri_launch_rows(
    const struct exec_target *target, uint64_t items, struct matrix_rows_args *args)
{
    const struct module_program_key key = module_key_for(&rows_program, NULL);
    static const size_t size = sizeof(*args);
    void *arguments = args;
    struct module_launch launch = {.blocks = base_ceil_div(items, BLOCK),
        .threads = BLOCK,
        .count = 1,
        .arguments = &arguments,
        .sizes = &size,
        .seconds = slices_seconds(target->device, 1, 0, (double)REVERSAL_BYTES * (double)items),
        .first_block = &args->first_block};

    return enqueue(target, &key, "matrix_bit_reverse", &launch);
}

pool_status fri_check_field(
    const char *call, const pool_field *field, const pool_ntt_domain *domain)
{
    if (!field)
        return base_fail_null(call, "params->field");
    if (!field->base)
        return base_fail(
            POOL_ERR_UNSUPPORTED, "%s: the field %s is no extension", call, field->name);
    if (domain && memcmp(domain->field->fingerprint, field->base->fingerprint,
                      sizeof(field->fingerprint)) != 0)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the domain is over %s, the coordinates of %s are in %s", call, domain->field->name,
            field->name, field->base->name);
    return POOL_OK;
}

void fri_store_points(
    const pool_ntt_domain *domain, uint32_t log_folded, bool on_subgroup, struct fri_points *points)
{
    const pool_field *field = domain->field;
    uint64_t value[FIELD_MAX_LIMBS];

    memset(points, 0, sizeof(*points));
    if (on_subgroup)
        field_set_one(field, value);
    else
        field_square_times(field, value, domain->coset[POOL_NTT_INVERSE], log_folded);
    field_store_for_device(field, points->shift, value);
    field_square_times(field, value, domain->root[POOL_NTT_INVERSE], log_folded);
    for (uint32_t i = 0; i < FRI_POWERS; i++) {
        field_store_for_device(field, points->powers[i], value);
        field_sqr(field, value, value);
    }
}

pool_status fri_each_program(const pool_field *field, module_program_visit visit, void *user)
{
    const struct module_program_key keys[] = {vector_key(field),
        module_key_for(&program, field->fingerprint), module_key_for(&rows_program, NULL)};
    pool_status status = POOL_OK;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !status; i++)
        status = module_program_generate(field, &keys[i], visit, user);
    return status;
}

pool_status fri_load_programs(pool_device *device, const pool_field *field)
{
    const struct module_program_key keys[] = {
        module_key_for(&program, field->fingerprint), module_key_for(&rows_program, NULL)};

    return module_load_keys(device, field, keys, 2);
}
