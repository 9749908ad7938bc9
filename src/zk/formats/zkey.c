/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads Groth16 proving keys. Section 1: the proof system. Section 2: primes, numbers of variables
 * and public signals, domain size, alpha and beta in G1, beta and gamma in G2, delta in G1 and G2.
 * 3: IC; 4: the entries of A and B; 5: A; 6 and 7: B in G1 and G2; 8: C; 9: H. 10: the
 * contributions.
 */
#include <inttypes.h>
#include <string.h>

#include "base/math.h"
#include "zk/curve/curve.h"
#include "zk/formats/formats.h"

enum {
    PROTOCOL = 1,
    HEADER = 2,
    IC = 3,
    COEFFICIENTS = 4,
    POINTS_A = 5,
    POINTS_B1 = 6,
    POINTS_B2 = 7,
    POINTS_C = 8,
    POINTS_H = 9,
    CONTRIBUTIONS = 10,
    REQUIRED = 1u << PROTOCOL | 1u << HEADER | 1u << IC | 1u << COEFFICIENTS | 1u << POINTS_A |
               1u << POINTS_B1 | 1u << POINTS_B2 | 1u << POINTS_C | 1u << POINTS_H,
    KNOWN = REQUIRED | 1u << CONTRIBUTIONS,
    GROTH16 = 1,
    PLONK = 2,
    FFLONK = 10,
};

static pool_status check_protocol(pool_file *file)
{
    struct formats_container container;
    struct formats_reader reader;
    uint32_t protocol;
    pool_status status = formats_read_container(file, 1, 1u << PROTOCOL, 0, &container);

    if (status)
        return status;
    reader = formats_open_reader(file, &container.sections[PROTOCOL]);
    protocol = formats_read_u32(&reader, "the proof system");
    status = formats_close_reader(&reader);
    if (status)
        return status;
    if (protocol != GROTH16)
        return formats_fail_unsupported(file,
            "a key of proof system %u%s; only Groth16 (1) is supported", protocol,
            protocol == PLONK    ? " (PLONK)"
            : protocol == FFLONK ? " (FFLONK)"
                                 : "");
    return POOL_OK;
}

/* Reads the primes, which must be those of one pairing. */
static pool_status read_curves(pool_file *file, struct formats_reader *reader)
{
    uint64_t base[FIELD_MAX_LIMBS], scalar[FIELD_MAX_LIMBS];
    uint32_t base_bytes = formats_read_prime(reader, base);
    uint64_t offset = reader->at;
    uint32_t scalar_bytes = formats_read_prime(reader, scalar);
    const pool_field *field;
    pool_status status = reader->status;

    if (!status)
        status = formats_set_curves(file, base, base_bytes);
    if (status)
        return status;
    field = file->info.field;
    if (scalar_bytes != field->bytes || memcmp(scalar, field->modulus, sizeof(scalar)))
        return formats_fail_data(
            file, offset, "the second prime is not the order of %s", file->info.curves[0]->name);
    return POOL_OK;
}

static pool_status read_counts(pool_file *file, struct formats_reader *reader)
{
    uint64_t offset = reader->at;
    uint64_t variables = formats_read_u32(reader, "the number of variables");
    uint64_t public_signals = formats_read_u32(reader, "the number of public signals");
    uint64_t domain_size = formats_read_u32(reader, "the domain's size");

    if (reader->status)
        return reader->status;
    if (public_signals >= variables)
        return formats_fail_data(file, offset,
            "%" PRIu64 " public signals among %" PRIu64 " variables, one of which is constant",
            public_signals, variables);
    if (!base_is_power_of_two(domain_size))
        return formats_fail_data(
            file, offset + 8, "the domain's size %" PRIu64 " is not a power of two", domain_size);
    file->info.variables = variables;
    file->info.public_signals = public_signals;
    file->info.domain_size = domain_size;
    return POOL_OK;
}

/* Adds the points of the header as sections of one point each. */
static pool_status add_single_points(pool_file *file, struct formats_reader *reader)
{
    static const struct {
        const char *name;
        uint32_t group; /* 0: G1, 1: G2 */
    } points[] = {
        {"alpha1", 0}, {"beta1", 0}, {"beta2", 1}, {"gamma2", 1}, {"delta1", 0}, {"delta2", 1}};

    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        const pool_curve *curve = file->info.curves[points[i].group];
        uint64_t offset = reader->at;

        if (formats_read_bytes(
                reader, NULL, pool_point_bytes(curve, POOL_POINT_AFFINE), points[i].name))
            formats_add_points(file, points[i].name, curve, offset, 1);
    }
    return formats_close_reader(reader);
}

static pool_status add_points(pool_file *file, const struct formats_container_section *section,
    const char *name, uint32_t group, uint64_t count)
{
    const pool_curve *curve = file->info.curves[group];
    pool_status status = formats_check_section(
        file, section, 0, count, pool_point_bytes(curve, POOL_POINT_AFFINE), name);

    if (!status)
        formats_add_points(file, name, curve, section->offset, count);
    return status;
}

/* Their number precedes them. */
static pool_status add_coefficients(
    pool_file *file, const struct formats_container_section *section)
{
    struct formats_reader reader = formats_open_reader(file, section);
    uint64_t count = formats_read_u32(&reader, "the number of coefficients");
    uint64_t stride = POOL_FILE_COEFFICIENT_ELEMENT + file->info.field->bytes;
    pool_status status = reader.status;

    if (!status)
        status = formats_check_section(file, section, 4, count, stride, "coefficients");
    if (!status)
        formats_add_section(file, "coefficients", POOL_FILE_COEFFICIENTS, reader.at, count, stride);
    return status;
}

static pool_status add_arrays(pool_file *file, const struct formats_container *container)
{
    const struct formats_container_section *sections = container->sections;
    uint64_t variables = file->info.variables;
    uint64_t public_signals = file->info.public_signals;
    pool_status status = add_points(file, &sections[IC], "IC", 0, public_signals + 1);

    if (!status)
        status = add_points(file, &sections[POINTS_A], "A", 0, variables);
    if (!status)
        status = add_points(file, &sections[POINTS_B1], "B1", 0, variables);
    if (!status)
        status = add_points(file, &sections[POINTS_B2], "B2", 1, variables);
    if (!status)
        status = add_points(file, &sections[POINTS_C], "C", 0, variables - public_signals - 1);
    if (!status)
        status = add_points(file, &sections[POINTS_H], "H", 0, file->info.domain_size);
    return status ? status : add_coefficients(file, &sections[COEFFICIENTS]);
}

pool_status formats_read_zkey(pool_file *file)
{
    struct formats_container container;
    struct formats_reader reader;
    pool_status status = check_protocol(file);

    if (!status)
        status = formats_read_container(file, 1, REQUIRED, KNOWN, &container);
    if (status)
        return status;
    reader = formats_open_reader(file, &container.sections[HEADER]);
    status = read_curves(file, &reader);
    if (!status)
        status = read_counts(file, &reader);
    if (!status)
        status = add_single_points(file, &reader);
    return status ? status : add_arrays(file, &container);
}
