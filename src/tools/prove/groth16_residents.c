/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stays on the devices from one proof to the next, and the device memory of a proof.
 */
#include <stdio.h>

#include "groth16_prover.h"

const char *const groth16_sections[GROTH16_MSMS] = {"A", "B1", "B2", "C", "H"};

static pool_status register_points(device_pool *pool, const pool_file *key, int which,
    const struct groth16_residents_params *params, pool_resident **made)
{
    pool_file_section section = {.struct_size = sizeof(section)};
    char label[POOL_RESIDENT_NAME_BYTES];
    pool_status status = pool_file_get_section(key, groth16_sections[which], &section);

    if (status)
        return status;
    snprintf(label, sizeof(label), "%.50s %s", params->name, groth16_sections[which]);
    const pool_bases_params bases = {.struct_size = sizeof(bases),
        .curve = section.curve,
        .layout = section.layout,
        .precompute_factor = params->precompute_factor};
    const pool_resident_params resident = {
        .struct_size = sizeof(resident), .name = label, .bases = &bases, .points = &section.span};
    return pool_resident_create(pool, &resident, made);
}

static pool_status register_matrices(device_pool *pool, const pool_file *key,
    const struct groth16_residents_params *params, pool_resident **made)
{
    char label[POOL_RESIDENT_NAME_BYTES];
    pool_resident_params resident = {.struct_size = sizeof(resident),
        .name = label,
        .source = groth16_load_matrices,
        .user = (void *)(uintptr_t)key};
    pool_status status = groth16_matrices_bytes(key, &resident.bytes);

    snprintf(label, sizeof(label), "%.50s matrices", params->name);
    return status ? status : pool_resident_create(pool, &resident, made);
}

pool_status groth16_residents_create(struct groth16_residents *residents, device_pool *pool,
    const pool_file *key, const struct groth16_residents_params *params)
{
    pool_file_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_file_get_info(key, &info);

    *residents = (struct groth16_residents){0};
    for (int i = 0; !status && i < GROTH16_MSMS; i++)
        status = register_points(pool, key, i, params, &residents->points[i]);
    if (!status)
        status = register_matrices(pool, key, params, &residents->matrices);
    if (!status)
        status = groth16_create_domain(&info, &residents->domain);
    if (status)
        groth16_residents_destroy(residents);
    return status;
}

pool_status groth16_residents_destroy(struct groth16_residents *residents)
{
    pool_status first = pool_ntt_domain_destroy(&residents->domain), status;

    for (int i = 0; i < GROTH16_MSMS; i++) {
        status = pool_resident_destroy(&residents->points[i]);
        first = first ? first : status;
    }
    status = pool_resident_destroy(&residents->matrices);
    first = first ? first : status;
    return first;
}

/* Of one MSM, its bases included where they are resident. */
static pool_status msm_bytes(const pool_file_section *section, const pool_resident *points,
    const pool_exec *exec, uint64_t *bytes)
{
    const pool_span scalars = {.count = section->span.count}, result = {.count = 1};
    pool_msm_params params = {.struct_size = sizeof(params)};
    uint64_t workspace = 0, loading = 0;
    pool_status status;

    if (!points) {
        params.curve = section->curve;
        params.point_layout = section->layout;
        return pool_msm_workspace(&params, exec, &section->span, &scalars, &result, bytes);
    }
    status = pool_resident_open_workspace(points, exec, &loading);
    if (!status)
        status = pool_resident_msm_workspace(points, &params, exec, &scalars, &result, &workspace);
    workspace += pool_resident_bytes(points);
    *bytes = workspace > loading ? workspace : loading;
    return status;
}

pool_status groth16_device_bytes(const pool_file *key, const struct groth16_residents *residents,
    pool_device *device, uint64_t *bytes)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_file_section section = {.struct_size = sizeof(section)};
    pool_file_info info = {.struct_size = sizeof(info)};
    uint64_t elements = 0, largest_msm = 0, beside = 0, matrices = 0;
    pool_status status = pool_file_get_info(key, &info);

    if (!status)
        status = pool_file_get_section(key, "coefficients", &section);
    if (!status)
        status = groth16_matrices_bytes(key, &matrices);
    /* The witness, the vectors A w, B w and C w, and scratch for the transforms or, without a
     * compiler, for the products of the matrices' entries. */
    elements = info.variables + 6 * info.domain_size + 3 * section.span.count;
    for (int i = 0; !status && i < GROTH16_MSMS; i++) {
        uint64_t of_msm = 0;

        status = pool_file_get_section(key, groth16_sections[i], &section);
        if (!status)
            status = msm_bytes(&section, residents ? residents->points[i] : NULL, &exec, &of_msm);
        if (i == GROTH16_B2)
            beside = of_msm;
        else
            largest_msm = of_msm > largest_msm ? of_msm : largest_msm;
    }
    if (!status)
        *bytes = largest_msm + beside + matrices + elements * pool_field_element_bytes(info.field);
    return status;
}
