/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads witnesses and the headers of constraint systems. Section 1 of both begins with the prime.
 * Section 2 has the values of a witness or the constraints of a system, whose section 3 has a label
 * of 8 bytes per wire. Systems with custom gates have two more sections: 4 lists the gates, 5 their
 * uses.
 */
#include <inttypes.h>

#include "base/log.h"
#include "base/text.h"
#include "zk/formats/formats.h"

enum {
    HEADER = 1,
    VALUES = 2,
    CONSTRAINTS = 2,
    LABELS = 3,
    GATES = 4,
    GATE_USES = 5,
    MIN_CONSTRAINT_BYTES = 12, /* three empty linear combinations */
    LABEL_BYTES = 8,
    MIN_GATE_BYTES = 5, /* an empty name and the number of parameters */
    MIN_USE_BYTES = 8,  /* a gate and the number of its signals */
};

pool_status formats_read_wtns(pool_file *file)
{
    struct formats_container container;
    struct formats_reader reader;
    uint64_t prime[FIELD_MAX_LIMBS];
    uint32_t element_bytes;
    const uint32_t sections = 1u << HEADER | 1u << VALUES;
    pool_status status = formats_read_container(file, 2, sections, sections, &container);

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

/* Reads the number that an optional section of items of at least `min_bytes` begins with. */
static pool_status read_gate_count(pool_file *file, const struct formats_container_section *section,
    uint64_t min_bytes, const char *what, uint64_t *count)
{
    struct formats_reader reader;

    if (!section->present)
        return POOL_OK;
    reader = formats_open_reader(file, section);
    *count = formats_read_u32(&reader, what);
    if (!reader.status && *count > (reader.end - reader.at) / min_bytes)
        return formats_fail_data(file, section->offset,
            "the section has %" PRIu64 " bytes, too few for %s, %" PRIu64, section->bytes, what,
            *count);
    return reader.status;
}

/* Custom gates are no constraints of rank 1, and a program that uses the constraints must know of
 * them. */
static pool_status read_gates(pool_file *file, const struct formats_container *container)
{
    pool_file_info *info = &file->info;
    pool_status status = read_gate_count(file, &container->sections[GATES], MIN_GATE_BYTES,
        "the number of custom gates", &info->custom_gates);

    if (!status)
        status = read_gate_count(file, &container->sections[GATE_USES], MIN_USE_BYTES,
            "the number of uses of custom gates", &info->custom_gate_uses);
    if (!status && (info->custom_gates || info->custom_gate_uses))
        base_log(POOL_LOG_INFO,
            "%s: %" PRIu64 " custom gate%s with %" PRIu64
            " use%s, which Groth16 cannot express: a key made from the constraints alone does not "
            "enforce them",
            file->path, info->custom_gates, base_plural(info->custom_gates), info->custom_gate_uses,
            base_plural(info->custom_gate_uses));
    return status;
}

pool_status formats_read_r1cs(pool_file *file)
{
    struct formats_container container;
    struct formats_reader reader;
    uint64_t prime[FIELD_MAX_LIMBS];
    uint32_t element_bytes;
    const uint32_t required = 1u << HEADER | 1u << CONSTRAINTS;
    const uint32_t known = required | 1u << LABELS | 1u << GATES | 1u << GATE_USES;
    pool_status status = formats_read_container(file, 1, required, known, &container);

    if (status)
        return status;
    reader = formats_open_reader(file, &container.sections[HEADER]);
    element_bytes = formats_read_prime(&reader, prime);
    read_counts(&file->info, &reader);
    status = formats_close_reader(&reader);
    if (!status)
        status = formats_set_field(file, prime, element_bytes);
    if (!status)
        status = check_counts(file, &container);
    return status ? status : read_gates(file, &container);
}
