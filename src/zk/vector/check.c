/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements below the modulus: see check.h. The kernel checks one strided vector per launch and
 * stores the least index of an element that is too large. Packed items are one vector; items with
 * gaps are one vector per position within an item, or one per item where those are fewer.
 */
#include "zk/vector/check.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "zk/vector/vector.h"

/* How items are cut into vectors: element j of vector i is element i * step + j * pitch of all. */
struct cut {
    uint64_t vectors;
    uint64_t count;    /* elements of a vector */
    uint64_t distance; /* bytes from one vector's start to the next one's */
    uint64_t stride;   /* bytes from one element of a vector to the next one */
    uint64_t step;
    uint64_t pitch;
};

static struct cut cut_items(const pool_field *field, const struct vector_items *items)
{
    if (items->stride == items->elements * field->bytes)
        return (struct cut){.vectors = 1,
            .count = items->count * items->elements,
            .stride = field->bytes,
            .pitch = 1};
    if (items->elements <= items->count)
        return (struct cut){.vectors = items->elements,
            .count = items->count,
            .distance = field->bytes,
            .stride = items->stride,
            .step = 1,
            .pitch = items->elements};
    return (struct cut){.vectors = items->count,
        .count = items->elements,
        .distance = items->stride,
        .stride = field->bytes,
        .step = items->elements,
        .pitch = 1};
}

static pool_status launch_checks(const struct exec_target *target, const struct vector_items *items,
    const struct cut *cut, CUdeviceptr answers)
{
    static const size_t sizes[] = {16, 8, 8, 4};
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < cut->vectors && !status; i++) {
        struct vector_arg vector = {items->address + i * cut->distance, cut->stride / 4};
        CUdeviceptr answer = answers + i * sizeof(uint64_t);
        uint64_t count = cut->count;
        unsigned first_block = 0;
        void *arguments[] = {&vector, &count, &answer, &first_block};
        struct module_launch launch = {.count = 4,
            .arguments = arguments,
            .sizes = sizes,
            .seconds = vector_seconds(target, count, 0, 1),
            .first_block = &first_block};

        status = vector_launch(target, "vector_check", count, &launch);
    }
    return status;
}

/* Every answer starts as the largest number and stays so where all elements are below. */
static pool_status find_first(const struct exec_target *target, const struct vector_items *items,
    const struct cut *cut, uint64_t *found)
{
    uint64_t bytes = cut->vectors * sizeof(*found);
    pool_buffer *scratch = NULL;
    CUdeviceptr answers = 0;
    pool_status status = scratch_allocate(target, bytes, &scratch, &answers);

    if (!status)
        status = pool_buffer_fill32(scratch, 0, cut->vectors * 2, UINT32_MAX, target->stream);
    if (!status)
        status = launch_checks(target, items, cut, answers);
    if (!status)
        status = pool_copy_to_host(found, scratch, 0, bytes, target->stream);
    if (!status)
        status = pool_stream_synchronize(target->stream);
    return scratch_free(target, &scratch, status);
}

pool_status vector_report_element(
    const pool_field *field, const struct vector_items *items, uint64_t item, uint64_t element)
{
    if ((items->whole_elements ? items->whole_elements : items->elements) == 1)
        return base_fail(POOL_ERR_BAD_DATA, "element %llu of the %s is not below the modulus of %s",
            (unsigned long long)(items->first + item), items->what, field->name);
    return base_fail(POOL_ERR_BAD_DATA,
        "element %llu of item %llu of the %s is not below the modulus of %s",
        (unsigned long long)(items->first_element + element),
        (unsigned long long)(items->first + item), items->what, field->name);
}

pool_status vector_check_elements(
    const struct exec_target *target, const pool_field *field, const struct vector_items *items)
{
    struct exec_target of_field = *target;
    struct cut cut = cut_items(field, items);
    uint64_t first = UINT64_MAX, *found;
    pool_status status;

    if (!items->count || !items->elements)
        return POOL_OK;
    of_field.field = field;
    found = base_calloc((size_t)cut.vectors, sizeof(*found));
    if (!found)
        return base_fail_memory("the answers of a check");
    status = find_first(&of_field, items, &cut, found);
    for (uint64_t i = 0; i < cut.vectors && !status; i++)
        if (found[i] != UINT64_MAX && i * cut.step + found[i] * cut.pitch < first)
            first = i * cut.step + found[i] * cut.pitch;
    base_free(found);
    if (status || first == UINT64_MAX)
        return status;
    return vector_report_element(field, items, first / items->elements, first % items->elements);
}

pool_status vector_load_scalar(
    const pool_field *field, const void *packed, const char *name, uint64_t *limbs)
{
    memset(limbs, 0, FIELD_MAX_LIMBS * sizeof(*limbs));
    if (!packed)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: the scalar must not be NULL", name);
    field_load(field, limbs, packed);
    if (!field_is_canonical(field, limbs))
        return base_fail(
            POOL_ERR_BAD_DATA, "%s: a number is not below the modulus of %s", name, field->name);
    field_to_montgomery(field, limbs, limbs);
    return POOL_OK;
}
