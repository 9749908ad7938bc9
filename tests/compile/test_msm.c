/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compile matrix of MSMs and of transforms of points: their kernels through NVRTC to machine
 * code for sm_80, sm_90 and sm_120, the sort's for scalar fields of every element size, the others
 * for curves whose coordinates have 8, 12 and 16 words, with what each may cost recorded in
 * msm_budgets.def and enforced. `test_compile_msm record` prints its lines again. Exit 77 without
 * NVRTC.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "budget.h"
#include "zk/curve/emit_curve.h"
#include "zk/msm/msm.h"

/* The kernels of sort_buckets.cu, sort_partition.cu and copy_strided.cu depend on no field and no
 * curve. */
static const struct {
    const char *subject;
    const char *file;
} programs[] = {
    {"babybear", "msm/digits.cu"},
    {"bn254_fr", "msm/digits.cu"},
    {"secp256k1_fr", "msm/digits.cu"},
    {"bls12_377_fq", "msm/digits.cu"},
    {"", "msm/sort_partition.cu"},
    {"", "msm/sort_buckets.cu"},
    {"bn254_g1", "msm/accumulate.cu"},
    {"bn254_g1", "msm/bucket_merge.cu"},
    {"bn254_g1", "msm/reduce_segments.cu"},
    {"bn254_g1", "msm/reduce_tree.cu"},
    {"bn254_g1", "msm/window_combine.cu"},
    {"bn254_fr", "msm/small_sort.cu"},
    {"bls12_377_fq", "msm/small_sort.cu"},
    {"bn254_g1", "msm/small_accumulate.cu"},
    {"bls12_381_g1", "msm/small_accumulate.cu"},
    {"bn254_g2", "msm/small_accumulate.cu"},
    {"bn254_g1", "msm/small_reduce.cu"},
    {"bls12_381_g1", "msm/small_reduce.cu"},
    {"bn254_g2", "msm/small_reduce.cu"},
    {"bn254_g1", "msm/convert_bases.cu"},
    {"bn254_g1", "msm/double_bases.cu"},
    {"bn254_g1", "msm/check_bases.cu"},
    {"bn254_fr", "msm/check_scalars.cu"},
    {"bn254_fr", "msm/split_scalars.cu"},
    {"bls12_377_fq", "msm/split_scalars.cu"},
    {"bn254_g1", "msm/map_bases.cu"},
    {"", "msm/copy_strided.cu"},
    {"bls12_381_g1", "msm/accumulate.cu"},
    {"bls12_381_g1", "msm/reduce_segments.cu"},
    {"bls12_381_g1", "msm/reduce_tree.cu"},
    {"bn254_g2", "msm/accumulate.cu"},
    {"bn254_g2", "msm/reduce_segments.cu"},
    {"bn254_g2", "msm/reduce_tree.cu"},
    {"bn254_fr", "ecntt/factors.cu"},
    {"bls12_377_fq", "ecntt/factors.cu"},
    {"bn254_g1", "ecntt/points.cu"},
    {"bls12_381_g1", "ecntt/points.cu"},
    {"bn254_g2", "ecntt/points.cu"},
    {"", "msm/affine_groups.cu"},
    {"bn254_g1", "msm/affine_passes.cu"},
    {"bls12_381_g1", "msm/affine_passes.cu"},
    {"bn254_g2", "msm/affine_passes.cu"},
};

static const struct budget budgets[] = {
#include "msm_budgets.def"
};

enum { BUDGETS = sizeof budgets / sizeof budgets[0] };

/* The file after the defines that it is compiled with. */
static char *whole_source(const char *file, const pool_curve *curve)
{
    const char *text = source_of(file);
    const uint32_t words = curve ? (uint32_t)(curve->coordinates.bytes / sizeof(uint32_t)) : 0;
    struct msm_accumulate_bounds shape = msm_accumulate_bounds_for(words);
    char *source =
        base_format("#define MSM_ACCUMULATE_THREADS %u\n#define MSM_ACCUMULATE_BLOCKS %u\n"
                    "#define MSM_AFFINE_BLOCKS %u\n%s",
            shape.threads, shape.blocks, msm_affine_blocks_for(words), text);

    if (!source)
        exit(1);
    return source;
}

static void check(struct budget_run *run, const char *subject, const char *file)
{
    const pool_curve *curve = *subject ? pool_curve_by_name(subject) : NULL;
    const pool_field *field = curve      ? curve->scalar_field
                              : *subject ? pool_field_by_name(subject)
                                         : NULL;
    char *text = whole_source(file, curve), *curve_text = NULL;
    char *field_text = field ? compiler_field_header(field, "fr") : NULL;
    if (curve && curve_emit_of(curve, &curve_text))
        exit(1);
    const struct compiler_header headers[] = {{"fr.cuh", field_text}, {"curve.cuh", curve_text}};
    const struct budget_source source = {.text = text,
        .headers = headers,
        .header_count = curve   ? 2
                        : field ? 1
                                : 0};

    budget_check(run, subject, file, &source);
    free(field_text);
    base_free(curve_text);
    base_free(text);
}

int main(int argc, char **argv)
{
    struct budget_run run = budget_start(budgets, BUDGETS, argc, argv);

    for (size_t p = 0; p < sizeof programs / sizeof programs[0]; p++)
        check(&run, programs[p].subject, programs[p].file);
    return budget_finish(&run);
}
