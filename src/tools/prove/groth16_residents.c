/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stays on the devices from one proof to the next, and the device memory of a proof.
 */
#include <stdio.h>

#include "groth16_prover.h"

const char *const groth16_sections[GROTH16_MSMS] = {"A", "B1", "B2", "C", "H"};

/* The precomputation of a section's points. Those in G1 get the same multiples, as one joint MSM
 * takes them together: for MSMs of as many terms as the longest of them has. C has no points for
 * the public signals, and gets infinity there, so that its scalars are those of A and B1. */
static pool_status get_points(const pool_file *key, int which, uint32_t factor,
    pool_file_section *section, pool_bases_params *bases)
{
    pool_file_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_file_get_info(key, &info);

    *section = (pool_file_section){.struct_size = sizeof(*section)};
    if (!status)
        status = pool_file_get_section(key, groth16_sections[which], section);
    *bases = (pool_bases_params){.struct_size = sizeof(*bases),
        .curve = section->curve,
        .layout = section->layout,
        .precompute_factor = factor,
        .leading_infinities = which == GROTH16_C ? info.variables - section->span.count : 0,
        .planned_terms = info.variables > info.domain_size ? info.variables : info.domain_size};
    return status;
}

static pool_status register_points(device_pool *pool, const pool_file *key, int which,
    const struct groth16_residents_params *params, uint32_t factor, pool_resident **made)
{
    pool_file_section section;
    pool_bases_params bases;
    char label[POOL_RESIDENT_NAME_BYTES];
    pool_status status = get_points(key, which, factor, &section, &bases);

    if (status)
        return status;
    snprintf(label, sizeof(label), "%.50s %s", params->name, groth16_sections[which]);
    const pool_resident_params resident = {
        .struct_size = sizeof(resident), .name = label, .bases = &bases, .points = &section.span};
    return pool_resident_create(pool, &resident, made);
}

/* ---- multiples ------------------------------------------------------------------------------- */

/* Of all points of the key with so many multiples. */
static pool_status points_bytes(
    const pool_file *key, pool_device *device, uint32_t factor, uint64_t *bytes)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_status status = POOL_OK;

    *bytes = 0;
    for (int i = 0; i < GROTH16_MSMS && !status; i++) {
        pool_file_section section;
        pool_bases_params bases;
        uint64_t of_section = 0, at_a_time;

        status = get_points(key, i, factor, &section, &bases);
        if (!status)
            status =
                pool_bases_create_workspace(&bases, &exec, &section.span, &of_section, &at_a_time);
        *bytes += of_section;
    }
    return status;
}

/* A quarter of what the library may hold on the smallest of the devices that can be used. */
static uint64_t default_bytes(device_pool *pool)
{
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < pool_device_count(pool); i++) {
        pool_memory_info memory = {.struct_size = sizeof(memory)};
        pool_device *device = NULL;
        uint64_t bytes;

        if (pool_device_at(pool, i, &device) || pool_memory_get_info(device, &memory))
            continue;
        bytes = memory.total_bytes;
        if (memory.memory_limit && memory.memory_limit < bytes)
            bytes = memory.memory_limit;
        least = bytes < least ? bytes : least;
    }
    return least == UINT64_MAX ? 0 : least / 4;
}

/* The most multiples whose memory is within the bound; without any the points are registered also
 * where they take more. */
static pool_status choose_factor(device_pool *pool, const pool_file *key,
    const struct groth16_residents_params *params, uint32_t *factor)
{
    static const uint32_t factors[] = {POOL_PRECOMPUTE_AUTO, 8, 6, 4, 3, 2};
    const uint64_t most = params->max_bytes ? params->max_bytes : default_bytes(pool);
    pool_device *first = NULL;
    pool_status status = POOL_OK;

    *factor = params->precompute_factor;
    if (*factor)
        return POOL_OK;
    *factor = 1;
    status = pool_device_at(pool, 0, &first);
    for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]) && !status; i++) {
        uint64_t bytes = 0;

        status = points_bytes(key, first, factors[i], &bytes);
        if (status == POOL_ERR_INVALID_ARGUMENT) { /* more multiples than bases can have */
            status = POOL_OK;
            continue;
        }
        if (!status && bytes <= most) {
            *factor = factors[i];
            break;
        }
    }
    return status;
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
    uint32_t factor = 1;
    pool_status status = pool_file_get_info(key, &info);

    *residents = (struct groth16_residents){0};
    if (!status)
        status = choose_factor(pool, key, params, &factor);
    for (int i = 0; !status && i < GROTH16_MSMS; i++)
        status = register_points(pool, key, i, params, factor, &residents->points[i]);
    if (!status)
        status = register_matrices(pool, key, params, &residents->matrices);
    if (!status)
        status = groth16_modules_create(&residents->modules);
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
    status = groth16_modules_destroy(&residents->modules);
    first = first ? first : status;
    return first;
}

/* The terms of an MSM over a section's points: C has the infinities of get_points, too. */
static pool_status count_terms(const pool_file *key, int which,
    const struct groth16_residents *residents, pool_file_section *section, uint64_t *count)
{
    pool_file_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_file_get_info(key, &info);

    *section = (pool_file_section){.struct_size = sizeof(*section)};
    if (!status)
        status = pool_file_get_section(key, groth16_sections[which], section);
    *count = residents && which == GROTH16_C ? info.variables : section->span.count;
    return status;
}

/* ---- the device memory of a proof ------------------------------------------------------------ */

/* Of one MSM of `count` terms, its bases included where they are resident. */
static pool_status msm_bytes(const pool_file_section *section, const pool_resident *points,
    uint64_t count, const pool_exec *exec, uint64_t *bytes)
{
    const pool_span scalars = {.count = count}, result = {.count = 1};
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

/* Of the joint MSM in G1 over resident points, which are all in use then. */
static pool_status joint_bytes(const pool_file *key, const struct groth16_residents *residents,
    const pool_exec *exec, uint64_t *bytes)
{
    const uint32_t all = UINT32_MAX;
    const pool_msm_joint_params params = {.struct_size = sizeof(params)};
    pool_msm_term terms[GROTH16_MSMS] = {{.result = 0}};
    pool_resident *points[GROTH16_MSMS];
    pool_span results = {.count = 0};
    uint64_t resident = 0, scratch = 0;
    uint32_t count = 0;
    pool_status status = POOL_OK;

    for (int i = 0; i < GROTH16_MSMS && !status; i++) {
        pool_file_section section;
        uint64_t loading = 0, held, terms_of_section = 0;

        if (i == GROTH16_B2)
            continue;
        status = count_terms(key, i, residents, &section, &terms_of_section);
        if (!status)
            status = pool_resident_open_workspace(residents->points[i], exec, &loading);
        held = pool_resident_bytes(residents->points[i]);
        loading = loading > held ? loading - held : 0; /* of this device, held of the first one */
        scratch = loading > scratch ? loading : scratch;
        resident += pool_resident_bytes(residents->points[i]);
        points[count] = residents->points[i];
        terms[count].scalars = (pool_span){.count = terms_of_section, .space = POOL_MEMORY_DEVICE};
        terms[count].result = groth16_joint_result(all, (enum groth16_msm)i, results.count);
        results.count = terms[count++].result + 1;
    }
    if (!status)
        status =
            pool_resident_msm_joint_workspace(points, &params, exec, terms, count, &results, bytes);
    *bytes = resident + (*bytes > scratch ? *bytes : scratch);
    return status;
}

static pool_status all_msm_bytes(const pool_file *key, const struct groth16_residents *residents,
    const pool_exec *exec, uint64_t *bytes)
{
    uint64_t of_g1 = 0, of_g2 = 0;
    pool_status status = POOL_OK;

    for (int i = 0; !status && i < GROTH16_MSMS; i++) {
        pool_file_section section;
        uint64_t of_msm = 0, terms = 0;

        status = count_terms(key, i, residents, &section, &terms);
        if (!status)
            status =
                msm_bytes(&section, residents ? residents->points[i] : NULL, terms, exec, &of_msm);
        if (i == GROTH16_B2)
            of_g2 = of_msm;
        else
            of_g1 = of_msm > of_g1 ? of_msm : of_g1;
    }
    if (!status && residents) {
        uint64_t joint = 0;

        status = joint_bytes(key, residents, exec, &joint);
        of_g1 = joint > of_g1 ? joint : of_g1;
    }
    *bytes = of_g1 + of_g2;
    return status;
}

pool_status groth16_device_bytes(const pool_file *key, const struct groth16_residents *residents,
    pool_device *device, uint64_t *bytes)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_file_section section = {.struct_size = sizeof(section)};
    pool_file_info info = {.struct_size = sizeof(info)};
    uint64_t elements = 0, msms = 0, matrices = 0;
    pool_status status = pool_file_get_info(key, &info);

    if (!status)
        status = pool_file_get_section(key, "coefficients", &section);
    if (!status)
        status = groth16_matrices_bytes(key, &matrices);
    if (!status)
        status = all_msm_bytes(key, residents, &exec, &msms);
    /* The witness, the vectors A w, B w and C w, and scratch for the transforms or, without a
     * compiler, for the products of the matrices' entries. */
    elements = info.variables + 6 * info.domain_size + 3 * section.span.count;
    if (!status)
        *bytes = msms + matrices + elements * pool_field_element_bytes(info.field);
    return status;
}
