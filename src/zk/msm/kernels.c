/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of an MSM on a device: their programs, compiled at the first use and found by the
 * curve's fingerprint afterwards.
 */
#include "zk/msm/msm.h"

#include <assert.h>

#include "base/parallel.h"
#include "base/text.h"
#include "pool/module/program.h"
#include "pool/stream/stream.h"
#include "pool/tuning/rates.h"
#include "pool/tuning/tuning.h"
#include "zk/curve/emit_curve.h"
#include "zk/field/emit_field.h"
#include "zk/operation/slices.h"

/*
 * Those that every MSM needs come first, and of these and of the others those that take longest to
 * compile, so that they are started first. A kernel that takes long is a program of its own: it is
 * compiled beside the others, and not at all for a call that does not launch it.
 */
enum program {
    REDUCE_TREE,
    REDUCE_SEGMENTS,
    BUCKET_MERGE,
    ACCUMULATE,
    DIGITS,
    SORT_PARTITION,
    SORT_BUCKETS,
    WINDOW_COMBINE,
    CHECK_BASES,
    CONVERT_BASES,
    DOUBLE_BASES,
    CHECK_SCALARS,
    COPY_STRIDED,
    SPLIT_SCALARS,
    MAP_BASES,
    SMALL_SORT,
    SMALL_ACCUMULATE,
    SMALL_REDUCE,
    AFFINE_GROUPS,
    AFFINE_PASSES,
};

static const char *curve_name(const void *curve)
{
    return pool_curve_name(curve);
}

static pool_status generate_curve(const void *curve, char **text)
{
    return curve_emit_of(curve, text);
}

static pool_status generate_scalar_field(const void *curve, char **text)
{
    return field_emit_generate(((const pool_curve *)curve)->scalar_field, "fr", text);
}

static const struct module_subject curve_subject = {
    .name = curve_name, .sources = {{"curve.cuh", generate_curve}}};

/* Curves with the same scalar field, as G1 and G2, have the same programs. */
static const struct module_subject scalar_subject = {
    .name = curve_name, .sources = {{"fr.cuh", generate_scalar_field}}};

/* All curves share the programs without a subject. */
static const struct module_program_type programs[MSM_PROGRAMS] = {
    [REDUCE_TREE] = {.file = "msm/reduce_tree.cu", .subject = &curve_subject},
    [REDUCE_SEGMENTS] = {.file = "msm/reduce_segments.cu", .subject = &curve_subject},
    [BUCKET_MERGE] = {.file = "msm/bucket_merge.cu", .subject = &curve_subject},
    [ACCUMULATE] = {.file = "msm/accumulate.cu",
        .subject = &curve_subject,
        .defines = {"MSM_ACCUMULATE_THREADS", "MSM_ACCUMULATE_BLOCKS"}},
    [DIGITS] = {.file = "msm/digits.cu", .subject = &scalar_subject},
    [SORT_PARTITION] = {.file = "msm/sort_partition.cu"},
    [SORT_BUCKETS] = {.file = "msm/sort_buckets.cu"},
    [WINDOW_COMBINE] = {.file = "msm/window_combine.cu", .subject = &curve_subject},
    [CHECK_BASES] = {.file = "msm/check_bases.cu", .subject = &curve_subject},
    [CONVERT_BASES] = {.file = "msm/convert_bases.cu", .subject = &curve_subject},
    [DOUBLE_BASES] = {.file = "msm/double_bases.cu", .subject = &curve_subject},
    [CHECK_SCALARS] = {.file = "msm/check_scalars.cu", .subject = &scalar_subject},
    [COPY_STRIDED] = {.file = "msm/copy_strided.cu"},
    [SPLIT_SCALARS] = {.file = "msm/split_scalars.cu", .subject = &scalar_subject},
    [MAP_BASES] = {.file = "msm/map_bases.cu", .subject = &curve_subject},
    [SMALL_SORT] = {.file = "msm/small_sort.cu", .subject = &scalar_subject},
    [SMALL_ACCUMULATE] = {.file = "msm/small_accumulate.cu", .subject = &curve_subject},
    [SMALL_REDUCE] = {.file = "msm/small_reduce.cu", .subject = &curve_subject},
    [AFFINE_GROUPS] = {.file = "msm/affine_groups.cu"},
    [AFFINE_PASSES] = {.file = "msm/affine_passes.cu",
        .subject = &curve_subject,
        .defines = {"MSM_AFFINE_BLOCKS"}},
};

static_assert(sizeof(programs) / sizeof(programs[0]) == AFFINE_PASSES + 1, "MSM_PROGRAMS");
static_assert(MSM_PROGRAMS - MSM_AFFINE_PROGRAMS == AFFINE_GROUPS, "MSM_AFFINE_PROGRAMS");
static_assert(AFFINE_GROUPS - MSM_SMALL_PROGRAMS == SMALL_SORT, "MSM_SMALL_PROGRAMS");
static_assert(MSM_REQUIRED_PROGRAMS == SORT_BUCKETS + 1, "MSM_REQUIRED_PROGRAMS");

static const struct module_kernel_type kernels[] = {
    [MSM_DIGITS_16] = {&programs[DIGITS], "msm_digits_16"},
    [MSM_DIGITS_32] = {&programs[DIGITS], "msm_digits_32"},
    [MSM_SORT_PARTITION] = {&programs[SORT_PARTITION], "msm_sort_partition"},
    [MSM_SORT_PARTITION_BATCH] = {&programs[SORT_PARTITION], "msm_sort_partition_batch"},
    [MSM_SORT_BUCKETS] = {&programs[SORT_BUCKETS], "msm_sort_buckets"},
    [MSM_SORT_OVERSIZED] = {&programs[SORT_BUCKETS], "msm_sort_oversized"},
    [MSM_ACCUMULATE] = {&programs[ACCUMULATE], "msm_accumulate"},
    [MSM_BUCKET_MERGE] = {&programs[BUCKET_MERGE], "msm_bucket_merge"},
    [MSM_REDUCE_SEGMENTS] = {&programs[REDUCE_SEGMENTS], "msm_reduce_segments"},
    [MSM_REDUCE_TREE] = {&programs[REDUCE_TREE], "msm_reduce_tree"},
    [MSM_WINDOW_COMBINE] = {&programs[WINDOW_COMBINE], "msm_window_combine"},
    [MSM_SMALL_SORT] = {&programs[SMALL_SORT], "msm_small_sort"},
    [MSM_SMALL_ACCUMULATE] = {&programs[SMALL_ACCUMULATE], "msm_small_accumulate"},
    [MSM_SMALL_REDUCE] = {&programs[SMALL_REDUCE], "msm_small_reduce"},
    [MSM_CONVERT_BASES] = {&programs[CONVERT_BASES], "msm_convert_bases"},
    [MSM_DOUBLE_BASES] = {&programs[DOUBLE_BASES], "msm_double_bases"},
    [MSM_COPY_STRIDED] = {&programs[COPY_STRIDED], "msm_copy_strided"},
    [MSM_CHECK_BASES] = {&programs[CHECK_BASES], "msm_check_bases"},
    [MSM_CHECK_SCALARS] = {&programs[CHECK_SCALARS], "msm_check_scalars"},
    [MSM_SPLIT_SCALARS] = {&programs[SPLIT_SCALARS], "msm_split_scalars"},
    [MSM_MAP_BASES] = {&programs[MAP_BASES], "msm_map_bases"},
    [MSM_AFFINE_COUNT_GROUPS] = {&programs[AFFINE_GROUPS], "msm_affine_count_groups"},
    [MSM_AFFINE_SCAN_GROUPS] = {&programs[AFFINE_GROUPS], "msm_affine_scan_groups"},
    [MSM_AFFINE_GROUP_OFFSETS] = {&programs[AFFINE_GROUPS], "msm_affine_group_offsets"},
    [MSM_AFFINE_PIECE_OFFSETS] = {&programs[AFFINE_GROUPS], "msm_affine_piece_offsets"},
    [MSM_AFFINE_PAD] = {&programs[AFFINE_GROUPS], "msm_affine_pad"},
    [MSM_AFFINE_PREFIXES_OF_ENTRIES] = {&programs[AFFINE_PASSES], "msm_affine_prefixes_of_entries"},
    [MSM_AFFINE_PREFIXES] = {&programs[AFFINE_PASSES], "msm_affine_prefixes"},
    [MSM_AFFINE_INVERT] = {&programs[AFFINE_PASSES], "msm_affine_invert"},
    [MSM_AFFINE_SUMS_OF_ENTRIES] = {&programs[AFFINE_PASSES], "msm_affine_sums_of_entries"},
    [MSM_AFFINE_SUMS_OF_ENTRIES_AHEAD] = {&programs[AFFINE_PASSES],
        "msm_affine_sums_of_entries_ahead"},
    [MSM_AFFINE_SUMS] = {&programs[AFFINE_PASSES], "msm_affine_sums"},
};

static struct module_program_key program_key(
    const pool_curve *curve, const struct module_program_type *program)
{
    const uint32_t words = (uint32_t)(curve->coordinates.bytes / sizeof(uint32_t));
    struct module_program_key key = module_key_for(program, curve->fingerprint);

    if (program == &programs[ACCUMULATE]) {
        struct msm_accumulate_bounds bounds = msm_accumulate_bounds_for(words);

        key.parameters[0] = bounds.threads;
        key.parameters[1] = bounds.blocks;
    }
    if (program == &programs[AFFINE_PASSES])
        key.parameters[0] = msm_affine_blocks_for(words);
    return key;
}

static bool is_of_small_plans(int program)
{
    return program >= SMALL_SORT && program < SMALL_SORT + MSM_SMALL_PROGRAMS;
}

static bool has_small_plans(const struct tuning *tuning, uint32_t coordinate_words)
{
    return tuning->msm[tuning_msm_width(coordinate_words)].small_max_terms > 0;
}

pool_status msm_each_program(const pool_curve *curve, module_program_visit visit, void *user)
{
    pool_status status = POOL_OK;

    for (int i = 0; i < MSM_PROGRAMS && !status; i++) {
        const struct module_program_key key = program_key(curve, &programs[i]);

        status = module_program_generate(curve, &key, visit, user);
    }
    return status;
}

pool_status msm_load_programs(pool_device *device, const pool_curve *curve)
{
    struct module_program_key keys[MSM_PROGRAMS];
    const struct chip chip = chip_of(device);
    const uint32_t words = (uint32_t)(curve->coordinates.bytes / sizeof(uint32_t));
    const bool is_affine = msm_affine_default_passes(&chip, words) > 0;
    const int end = MSM_PROGRAMS - (is_affine ? 0 : MSM_AFFINE_PROGRAMS);
    size_t count = 0;

    for (int i = 0; i < end; i++)
        if (!is_of_small_plans(i) || has_small_plans(chip_tuning(&chip), words))
            keys[count++] = program_key(curve, &programs[i]);
    return module_load_keys(device, curve, keys, count);
}

/* The calls that launch a program; 0: all of them, or it takes no time to compile. */
static const uint32_t extra_of[MSM_PROGRAMS] = {
    [WINDOW_COMBINE] = MSM_COMBINES_ON_DEVICE,
    [CHECK_BASES] = MSM_CHECKS_BASES,
    [CONVERT_BASES] = MSM_CONVERTS_BASES,
    [DOUBLE_BASES] = MSM_DOUBLES_BASES,
    [SPLIT_SCALARS] = MSM_SPLITS_TERMS,
    [MAP_BASES] = MSM_SPLITS_TERMS,
    [SMALL_SORT] = MSM_IS_SMALL,
    [SMALL_ACCUMULATE] = MSM_IS_SMALL,
    [SMALL_REDUCE] = MSM_IS_SMALL,
    [AFFINE_GROUPS] = MSM_PASSES_AFFINE,
    [AFFINE_PASSES] = MSM_PASSES_AFFINE,
};

/* Small plans have stages of their own. */
static bool is_required(int program, uint32_t extras)
{
    return program < MSM_REQUIRED_PROGRAMS && !(extras & MSM_IS_SMALL);
}

/*
 * With a missing program, all programs that every MSM needs are loaded, and those that this call
 * launches later: in parallel that takes little longer than the longest compilation. On a single
 * processor it would gain nothing.
 */
static pool_status load_with_others(pool_device *device, const pool_curve *curve,
    const struct module_program_type *missing, uint32_t extras)
{
    struct module_program_key keys[MSM_PROGRAMS];
    bool is_parallel = base_parallel_threads() > 1;
    size_t count = 0;

    for (int i = 0; i < MSM_PROGRAMS; i++)
        if (missing == &programs[i] ||
            (is_parallel && (is_required(i, extras) || (extra_of[i] & extras))))
            keys[count++] = program_key(curve, &programs[i]);
    return module_load_keys(device, curve, keys, count);
}

pool_status msm_kernel_get(pool_device *device, const pool_curve *curve, enum msm_kernel name,
    uint32_t extras, pool_kernel **kernel)
{
    const struct module_program_key key = program_key(curve, kernels[name].program);
    pool_module *module;
    pool_status status = module_registry_find(device, &key, &module);

    if (!status && !module) {
        status = load_with_others(device, curve, kernels[name].program, extras);
        if (!status)
            status = module_find_or_load(device, curve, &key, &module);
    }
    return status ? status : pool_kernel_get(module, kernels[name].name, kernel);
}

pool_status msm_restore_programs(pool_device *device, const pool_curve *curve)
{
    pool_status status = POOL_OK;

    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]) && !status; i++) {
        const struct module_program_key key = program_key(curve, kernels[i].program);
        pool_module *module = NULL;
        pool_kernel *kernel;

        status = module_registry_find(device, &key, &module);
        if (!status && module)
            status = pool_kernel_get(module, kernels[i].name, &kernel);
    }
    return status;
}

double msm_seconds(const struct msm_run *run, double products, double bytes)
{
    return slices_seconds(
        run->device, (uint32_t)(run->curve->coordinates.bytes / sizeof(uint32_t)), products, bytes);
}

uint64_t msm_slice_ns(const struct msm_run *run)
{
    return device_slice_ns(run->device, run->share.slice_ns);
}

pool_status msm_enqueue(const struct msm_run *run, const struct msm_launch *launch)
{
    void *arguments[] = {launch->args};
    struct module_launch enqueued = {.blocks = launch->blocks,
        .threads = launch->threads,
        .shared_bytes = launch->shared_bytes,
        .count = 1,
        .arguments = arguments,
        .sizes = &launch->args_bytes,
        .stream = run->stream,
        .pdl = 1,
        .seconds = launch->seconds,
        .first_block = launch->first_block};
    pool_status status =
        msm_kernel_get(run->device, run->curve, launch->kernel, run->extras, &enqueued.kernel);

    return status ? status : slices_launch(run->slices, run->share.slice_ns, &enqueued);
}
