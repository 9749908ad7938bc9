/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of an MSM on a device: their programs, compiled at the first use and found by the
 * curve's fingerprint afterwards.
 */
#include "msm/msm.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/text.h"
#include "curve/emit_curve.h"
#include "field/emit_field.h"
#include "module/program.h"
#include "module/registry.h"
#include "stream/stream.h"

enum program {
    DIGITS,
    SORT_PARTITION,
    SORT_BUCKETS,
    ACCUMULATE,
    BUCKET_MERGE,
    BUCKET_REDUCE,
    WINDOW_COMBINE,
    BASES,
    CHECK,
};

static const struct {
    const char *file;
    bool uses_curve;  /* includes curve.cuh or fr.cuh; all curves share the others */
    bool is_required; /* by every MSM */
    bool has_bounds;  /* is compiled with the launch bounds of the accumulation */
} programs[MSM_PROGRAMS] = {
    [DIGITS] = {"msm/digits.cu", .uses_curve = true, .is_required = true},
    [SORT_PARTITION] = {"msm/sort_partition.cu", .is_required = true},
    [SORT_BUCKETS] = {"msm/sort_buckets.cu", .is_required = true},
    [ACCUMULATE] = {"msm/accumulate.cu", .uses_curve = true, .is_required = true,
        .has_bounds = true},
    [BUCKET_MERGE] = {"msm/bucket_merge.cu", .uses_curve = true, .is_required = true},
    [BUCKET_REDUCE] = {"msm/bucket_reduce.cu", .uses_curve = true, .is_required = true},
    [WINDOW_COMBINE] = {"msm/window_combine.cu", .uses_curve = true, .is_required = true},
    [BASES] = {"msm/bases.cu", .uses_curve = true},
    [CHECK] = {"msm/check.cu", .uses_curve = true},
};

static_assert(sizeof(programs) / sizeof(programs[0]) == CHECK + 1, "MSM_PROGRAMS");

static const struct {
    enum program program;
    const char *name;
} kernels[] = {
    [MSM_DIGITS_16] = {DIGITS, "msm_digits_16"},
    [MSM_DIGITS_32] = {DIGITS, "msm_digits_32"},
    [MSM_SORT_PARTITION] = {SORT_PARTITION, "msm_sort_partition"},
    [MSM_SORT_PARTITION_BATCH] = {SORT_PARTITION, "msm_sort_partition_batch"},
    [MSM_SORT_BUCKETS] = {SORT_BUCKETS, "msm_sort_buckets"},
    [MSM_SORT_OVERSIZED] = {SORT_BUCKETS, "msm_sort_oversized"},
    [MSM_ACCUMULATE] = {ACCUMULATE, "msm_accumulate"},
    [MSM_BUCKET_MERGE] = {BUCKET_MERGE, "msm_bucket_merge"},
    [MSM_REDUCE_SEGMENTS] = {BUCKET_REDUCE, "msm_reduce_segments"},
    [MSM_REDUCE_TREE] = {BUCKET_REDUCE, "msm_reduce_tree"},
    [MSM_WINDOW_COMBINE] = {WINDOW_COMBINE, "msm_window_combine"},
    [MSM_CONVERT_BASES] = {BASES, "msm_convert_bases"},
    [MSM_DOUBLE_BASES] = {BASES, "msm_double_bases"},
    [MSM_COPY_STRIDED] = {BASES, "msm_copy_strided"},
    [MSM_CHECK_BASES] = {CHECK, "msm_check_bases"},
    [MSM_CHECK_SCALARS] = {CHECK, "msm_check_scalars"},
};

/* Generates the sources of a program and passes it to `visit`. */
static pool_status visit_program(
    const pool_curve *curve, enum program program, module_program_visit visit, void *user)
{
    struct msm_accumulate_bounds bounds =
        msm_accumulate_bounds_for((uint32_t)(curve->coordinates.bytes / sizeof(uint32_t)));
    char threads[40], blocks[40], *curve_source = NULL, *scalar_source = NULL;
    pool_status status = curve_emit_of(curve, &curve_source);

    snprintf(threads, sizeof(threads), "MSM_ACCUMULATE_THREADS=%u", bounds.threads);
    snprintf(blocks, sizeof(blocks), "MSM_ACCUMULATE_BLOCKS=%u", bounds.blocks);
    if (!status)
        status = field_emit_generate(curve->scalar_field, "fr", &scalar_source);
    const pool_module_header sources[] = {{"curve.cuh", curve_source}, {"fr.cuh", scalar_source}};
    const char *const defines[] = {threads, blocks};
    const struct module_program visited = {.file = programs[program].file,
        .subject = pool_curve_name(curve),
        .texts = sources,
        .text_count = programs[program].uses_curve ? 2 : 0,
        .defines = defines,
        .define_count = programs[program].has_bounds ? 2 : 0};
    if (!status)
        status = visit(user, &visited);
    base_free(curve_source);
    base_free(scalar_source);
    return status;
}

pool_status msm_each_program(const pool_curve *curve, module_program_visit visit, void *user)
{
    pool_status status = POOL_OK;

    for (int i = 0; i < MSM_PROGRAMS && !status; i++)
        status = visit_program(curve, (enum program)i, visit, user);
    return status;
}

static struct module_program_key program_key(const pool_curve *curve, enum program program)
{
    struct module_program_key key = {.file = programs[program].file};

    if (programs[program].uses_curve)
        memcpy(key.fingerprint, curve->fingerprint, sizeof(key.fingerprint));
    return key;
}

struct program_list {
    pool_device *device;
    const pool_curve *curve;
    enum program programs[MSM_PROGRAMS];
};

static pool_status load_program(void *user, size_t index, bool only_ready, bool *is_loaded)
{
    const struct program_list *list = user;
    struct module_program_key key = program_key(list->curve, list->programs[index]);
    pool_module *module = NULL;
    struct module_building building = {
        .device = list->device, .module = &module, .only_ready = only_ready};
    pool_status status = module_registry_find(list->device, &key, &module);

    if (!status && !module) {
        status = visit_program(list->curve, list->programs[index], module_program_build, &building);
        if (!status && module)
            status = module_registry_alias(list->device, &key, module);
    }
    *is_loaded = module != NULL;
    return status;
}

pool_status msm_load_programs(pool_device *device, const pool_curve *curve)
{
    struct program_list list = {.device = device, .curve = curve};
    struct module_loading loading = {.count = MSM_PROGRAMS, .load = load_program, .user = &list};

    for (int i = 0; i < MSM_PROGRAMS; i++)
        list.programs[i] = (enum program)i;
    return module_load_programs(&loading);
}

/*
 * With a missing program, all programs that every MSM needs are loaded, and the conversion of bases
 * with their check: in parallel that takes little longer than the longest compilation. On a single
 * processor it would gain nothing.
 */
static pool_status load_with_others(
    pool_device *device, const pool_curve *curve, enum program missing)
{
    struct program_list list = {.device = device, .curve = curve};
    struct module_loading loading = {.load = load_program, .user = &list};
    bool is_parallel = base_parallel_threads() > 1;

    for (int i = 0; i < MSM_PROGRAMS; i++)
        if (i == (int)missing ||
            (is_parallel && (programs[i].is_required || (i == BASES && missing == CHECK))))
            list.programs[loading.count++] = (enum program)i;
    return module_load_programs(&loading);
}

pool_status msm_kernel_get(
    pool_device *device, const pool_curve *curve, enum msm_kernel name, pool_kernel **kernel)
{
    struct module_program_key key = program_key(curve, kernels[name].program);
    pool_module *module = NULL;
    pool_status status = module_registry_find(device, &key, &module);

    if (!status && !module) {
        status = load_with_others(device, curve, kernels[name].program);
        if (!status)
            status = module_registry_find(device, &key, &module);
    }
    return status ? status : pool_kernel_get(module, kernels[name].name, kernel);
}

pool_status msm_enqueue(const struct msm_run *run, const struct msm_launch *launch)
{
    void *arguments[] = {(void *)(uintptr_t)launch->args};
    pool_launch_shape shape = {.struct_size = sizeof(shape),
        .grid = {(uint32_t)launch->blocks, 1, 1},
        .block = {launch->threads, 1, 1},
        .dynamic_shared_bytes = launch->shared_bytes,
        .argument_count = 1,
        .argument_bytes = &launch->args_bytes,
        .pdl = 1};
    pool_kernel *kernel = NULL;

    if (launch->blocks > INT32_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%llu blocks are more than one launch can have",
            (unsigned long long)launch->blocks);
    pool_status status = msm_kernel_get(run->device, run->curve, launch->kernel, &kernel);
    return status ? status : pool_launch(kernel, &shape, arguments, run->stream);
}

pool_status msm_clear_words(const struct msm_run *run, CUdeviceptr words, uint64_t count)
{
    struct device_scope scope;
    CUstream handle = NULL;
    pool_status status = stream_handle_on(run->stream, run->device, &handle);

    if (!status)
        status = device_enter(run->device, &scope);
    if (status)
        return status;
    status = DRIVER_CALL_FOR(scope.driver, MemsetD32Async(words, 0, count, handle), "%s",
        base_size_text(count * 4).text);
    return device_leave(&scope, status);
}
