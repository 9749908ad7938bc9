/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads powers of tau. Section 1: size of the prime, prime, power, power of the ceremony. Sections
 * 2 to 6: tau^i in G1 (2^(power + 1) - 1 points) and G2 (2^power), alpha tau^i, beta tau^i, beta in
 * G2. Section 7 has the contributions. Prepared files have the first four in Lagrange form as
 * sections 12 to 15, each for all sizes 2^0 ... 2^power, the first also for 2^(power + 1).
 */
#include <inttypes.h>

#include "zk/curve/curve.h"
#include "zk/formats/formats.h"

enum {
    HEADER = 1,
    TAU_G1 = 2,
    TAU_G2 = 3,
    ALPHA_TAU_G1 = 4,
    BETA_TAU_G1 = 5,
    BETA_G2 = 6,
    CONTRIBUTIONS = 7,
    LAGRANGE_G1 = 12,
    LAGRANGE_G2 = 13,
    LAGRANGE_ALPHA = 14,
    LAGRANGE_BETA = 15,
    REQUIRED = 1u << HEADER | 1u << TAU_G1 | 1u << TAU_G2 | 1u << ALPHA_TAU_G1 | 1u << BETA_TAU_G1 |
               1u << BETA_G2,
    KNOWN = REQUIRED | 1u << CONTRIBUTIONS | 1u << LAGRANGE_G1 | 1u << LAGRANGE_G2 |
            1u << LAGRANGE_ALPHA | 1u << LAGRANGE_BETA,
};

static pool_status read_header(pool_file *file, const struct formats_container *container)
{
    struct formats_reader reader = formats_open_reader(file, &container->sections[HEADER]);
    uint64_t prime[FIELD_MAX_LIMBS];
    uint32_t element_bytes = formats_read_prime(&reader, prime);
    uint64_t offset = reader.at;
    uint32_t power = formats_read_u32(&reader, "the power");
    uint32_t ceremony_power = formats_read_u32(&reader, "the ceremony's power");
    pool_status status = formats_close_reader(&reader);

    if (!status)
        status = formats_set_curves(file, prime, element_bytes);
    if (status)
        return status;
    if (power > FORMATS_MAX_POWER)
        return formats_fail_data(
            file, offset, "unsupported power %u; it must be at most %d", power, FORMATS_MAX_POWER);
    file->info.power = power;
    file->info.ceremony_power = ceremony_power;
    return POOL_OK;
}

struct array {
    const char *name;
    uint32_t type;
    uint32_t group; /* 0: G1, 1: G2 */
    uint64_t count;
    uint32_t levels;
};

static pool_status add_array(
    pool_file *file, const struct formats_container *container, const struct array *array)
{
    const struct formats_container_section *section = &container->sections[array->type];
    const pool_curve *curve = file->info.curves[array->group];
    pool_status status = formats_check_section(
        file, section, 0, array->count, pool_point_bytes(curve, POOL_POINT_AFFINE), array->name);

    if (!status)
        formats_add_points(file, array->name, curve, section->offset, array->count)->levels =
            array->levels;
    return status;
}

pool_status formats_read_ptau(pool_file *file)
{
    struct formats_container container;
    pool_status status = formats_read_container(file, 1, REQUIRED, KNOWN, &container);
    const struct formats_container_section *lagrange;
    uint32_t levels;
    uint64_t n;

    if (!status)
        status = read_header(file, &container);
    if (status)
        return status;
    n = UINT64_C(1) << file->info.power;
    lagrange = &container.sections[LAGRANGE_G1];
    /* Files of the first tools lack the basis of 2^(power + 1) points. */
    levels = file->info.power + 1;
    if (lagrange->bytes > (2 * n - 1) * pool_point_bytes(file->info.curves[0], POOL_POINT_AFFINE))
        levels++;
    const struct array arrays[] = {
        {"tauG1", TAU_G1, 0, 2 * n - 1, 0},
        {"tauG2", TAU_G2, 1, n, 0},
        {"alphaTauG1", ALPHA_TAU_G1, 0, n, 0},
        {"betaTauG1", BETA_TAU_G1, 0, n, 0},
        {"betaG2", BETA_G2, 1, 1, 0},
        {"lagrange", LAGRANGE_G1, 0, (UINT64_C(1) << levels) - 1, levels},
        {"lagrangeG2", LAGRANGE_G2, 1, 2 * n - 1, file->info.power + 1},
        {"lagrangeAlpha", LAGRANGE_ALPHA, 0, 2 * n - 1, file->info.power + 1},
        {"lagrangeBeta", LAGRANGE_BETA, 0, 2 * n - 1, file->info.power + 1},
    };
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]) && !status; i++) {
        if (container.sections[arrays[i].type].present)
            status = add_array(file, &container, &arrays[i]);
    }
    return status;
}
