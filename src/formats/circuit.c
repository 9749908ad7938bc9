/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Witnesses and the facts of constraint systems. Both begin with the prime in section 1. A witness
 * has its values in section 2; a constraint system its constraints there, and a label of 8 bytes
 * for each wire in section 3.
 */
#include <inttypes.h>

#include "base/text.h"
#include "formats/formats.h"

enum {
    HEADER = 1,
    VALUES = 2,
    CONSTRAINTS = 2,
    LABELS = 3,
    LEAST_CONSTRAINT = 12, /* bytes: three linear combinations of no terms */
    LABEL_BYTES = 8,
};

pool_status formats_read_wtns(pool_file *file)
{
    struct formats_container container;
    struct formats_reader reader;
    uint64_t prime[FIELD_MAX_LIMBS];
    uint32_t width;
    pool_status status = formats_read_container(file, 2, 1u << HEADER | 1u << VALUES, &container);

    if (status)
        return status;
    reader = formats_reader_of(file, &container.chunks[HEADER]);
    width = formats_take_prime(&reader, prime);
    file->info.variables = formats_take32(&reader, "the number of values");
    status = formats_reader_end(&reader);
    if (!status)
        status = formats_set_field(file, prime, width);
    if (!status)
        status = formats_check_chunk(
            file, &container.chunks[VALUES], 0, file->info.variables, width, "values");
    if (!status)
        formats_add(file, "values", POOL_FILE_ELEMENTS, container.chunks[VALUES].offset,
            file->info.variables, width);
    return status;
}

static void take_counts(pool_file_info *info, struct formats_reader *reader)
{
    info->variables = formats_take32(reader, "the number of wires");
    info->outputs = formats_take32(reader, "the number of outputs");
    info->public_inputs = formats_take32(reader, "the number of public inputs");
    info->private_inputs = formats_take32(reader, "the number of private inputs");
    info->labels = formats_take64(reader, "the number of labels");
    info->constraints = formats_take32(reader, "the number of constraints");
    info->public_signals = info->outputs + info->public_inputs;
}

static pool_status check_counts(const pool_file *file, const struct formats_container *container)
{
    const pool_file_info *info = &file->info;
    const struct formats_chunk *constraints = &container->chunks[CONSTRAINTS];

    if (info->public_signals + info->private_inputs >= info->variables)
        return formats_wrong(file, container->chunks[HEADER].offset,
            "%" PRIu64 " outputs and inputs among %" PRIu64 " wires, one of which is constant",
            info->public_signals + info->private_inputs, info->variables);
    if (info->constraints > constraints->bytes / LEAST_CONSTRAINT)
        return formats_wrong(file, constraints->offset,
            "the section of constraints has %" PRIu64 " byte%s, too few for %" PRIu64,
            constraints->bytes, base_plural(constraints->bytes), info->constraints);
    if (!container->chunks[LABELS].present)
        return POOL_OK;
    return formats_check_chunk(
        file, &container->chunks[LABELS], 0, info->variables, LABEL_BYTES, "labels");
}

pool_status formats_read_r1cs(pool_file *file)
{
    struct formats_container container;
    struct formats_reader reader;
    uint64_t prime[FIELD_MAX_LIMBS];
    uint32_t width;
    pool_status status =
        formats_read_container(file, 1, 1u << HEADER | 1u << CONSTRAINTS, &container);

    if (status)
        return status;
    reader = formats_reader_of(file, &container.chunks[HEADER]);
    width = formats_take_prime(&reader, prime);
    take_counts(&file->info, &reader);
    status = formats_reader_end(&reader);
    if (!status)
        status = formats_set_field(file, prime, width);
    return status ? status : check_counts(file, &container);
}
