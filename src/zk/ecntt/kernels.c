/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of transforms of points: that of a curve, and that of its scalar field, which
 * computes factors.
 */
#include "zk/ecntt/ecntt.h"

#include "zk/curve/emit_curve.h"
#include "zk/vector/kernels.h"

static const char *curve_name(const void *curve)
{
    return pool_curve_name(curve);
}

static pool_status generate_curve(const void *curve, char **text)
{
    return curve_emit_of(curve, text);
}

static const struct module_subject curve_subject = {
    .name = curve_name, .sources = {{"curve.cuh", generate_curve}}};

static const struct module_program_type points_program = {
    .file = "ecntt/points.cu", .subject = &curve_subject};
static const struct module_program_type factors_program = {
    .file = "ecntt/factors.cu", .subject = &vector_subject};

static const char *const kernel_names[] = {
    [ECNTT_KERNEL_LOAD] = "ecntt_load",
    [ECNTT_KERNEL_STAGE] = "ecntt_stage",
    [ECNTT_KERNEL_STORE] = "ecntt_store",
};

static struct module_program_key points_key(const pool_curve *curve)
{
    return module_key_for(&points_program, curve->fingerprint);
}

static struct module_program_key factors_key(const pool_curve *curve)
{
    return module_key_for(&factors_program, curve->scalar_field->fingerprint);
}

pool_status ecntt_each_program(const pool_curve *curve, module_program_visit visit, void *user)
{
    const struct module_program_key points = points_key(curve), factors = factors_key(curve);
    pool_status status = module_program_generate(curve, &points, visit, user);

    return status ? status : module_program_generate(curve->scalar_field, &factors, visit, user);
}

pool_status ecntt_kernel_get(
    pool_device *device, const pool_curve *curve, enum ecntt_kernel name, pool_kernel **kernel)
{
    const struct module_program_key key = points_key(curve);

    return module_find_kernel(device, curve, &key, kernel_names[name], kernel);
}

pool_status ecntt_factors_kernel(pool_device *device, const pool_curve *curve, pool_kernel **kernel)
{
    const struct module_program_key key = factors_key(curve);

    return module_find_kernel(device, curve->scalar_field, &key, "ecntt_factors", kernel);
}
