/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads witnesses and the headers of constraint systems. Section 1 of both begins with the prime.
 * Section 2 has the values of a witness or the constraints of a system, whose section 3 has a label
 * of 8 bytes per wire.
 */
#include <inttypes.h>

#include "base/text.h"
#include "zk/formats/formats.h"

enum {
    HEADER = 1,
    VALUES = 2,
    CONSTRAINTS = 2,
    LABELS = 3,
    MIN_CONSTRAINT_BYTES = 12, /* three empty linear combinations */
    LABEL_BYTES = 8,
};

pool_status formats_read_wtns(pool_file *file)
{
    struct formats_container container;
    struct formats_reader reader;
    uint64_t prime[FIELD_MAX_LIMBS];
    uint32_t element_bytes;
    pool_status status = formats_read_container(file, 2, 1u << HEADER | 1u << VALUES, &container);

    if (status)
        return status;
    reader = formats_open_reader(file, &container.sections[HEADER]);
    element_bytes = formats_read_prime(&reader, prime);
    file->info.variables = formats_read_u32(&reader, "the number of values");
    status = formats_close_reader(&reader);
    if (!status)
        status = formats_set_field(file, prime, element_bytes);
    if (!status)
        status = formats_check_section(
            file, &container.sections[VALUES], 0, file->info.variables, element_bytes, "values");
    if (!status)
        formats_add_section(file, "values", POOL_FILE_ELEMENTS, container.sections[VALUES].offset,
            file->info.variables, element_bytes);
    return status;
}

static void read_counts(pool_file_info *info, struct formats_reader *reader)
{
    info->variables = formats_read_u32(reader, "the number of wires");
    info->outputs = formats_read_u32(reader, "the number of outputs");
    info->public_inputs = formats_read_u32(reader, "the number of public inputs");
    info->private_inputs = formats_read_u32(reader, "the number of private inputs");
    info->labels = formats_read_u64(reader, "the number of labels");
    info->constraints = formats_read_u32(reader, "the number of constraints");
    info->public_signals = info->outputs + info->public_inputs;
}

static pool_status check_counts(const pool_file *file, const struct formats_container *container)
{
    const pool_file_info *info = &file->info;
    const struct formats_container_section *constraints = &container->sections[CONSTRAINTS];

    /* The number of private inputs includes those that circom 2 has removed from the wires. */
    if (info->public_signals >= info->variables)
        return formats_fail_data(file, container->sections[HEADER].offset,
            "%" PRIu64 " outputs and public inputs among %" PRIu64
            " wires, one of which is constant",
            info->public_signals, info->variables);
    if (info->constraints > constraints->bytes / MIN_CONSTRAINT_BYTES)
        return formats_fail_data(file, constraints->offset,
            "the section of constraints has %" PRIu64 " byte%s, too few for %" PRIu64,
            constraints->bytes, base_plural(constraints->bytes), info->constraints);
    if (!container->sections[LABELS].present)
        return POOL_OK;
    return formats_check_section(
        file, &container->sections[LABELS], 0, info->variables, LABEL_BYTES, "labels");
}

pool_status formats_read_r1cs(pool_file *file)
{
    struct formats_container container;
    struct formats_reader reader;
    uint64_t prime[FIELD_MAX_LIMBS];
    uint32_t element_bytes;
    pool_status status =
        formats_read_container(file, 1, 1u << HEADER | 1u << CONSTRAINTS, &container);

    if (status)
        return status;
    reader = formats_open_reader(file, &container.sections[HEADER]);
    element_bytes = formats_read_prime(&reader, prime);
    read_counts(&file->info, &reader);
    status = formats_close_reader(&reader);
    if (!status)
        status = formats_set_field(file, prime, element_bytes);
    return status ? status : check_counts(file, &container);
}
