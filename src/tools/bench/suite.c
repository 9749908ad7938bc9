/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures of rows, smaller sizes for tests, and compilation before the measurements.
 */
#include "suite.h"

#include <stdatomic.h>
#include <string.h>

const char *suite_unit_name(enum suite_unit unit)
{
    static const char *const names[] = {"ms", "ns", "M/s", "GB/s", "s"};

    return names[unit];
}

bool suite_is_rate(enum suite_unit unit)
{
    return unit == SUITE_MILLIONS || unit == SUITE_GIGABYTES;
}

double suite_figure(const struct suite_row *row, const struct bench_run *run)
{
    const double seconds = run->timing.median;

    if (!(seconds > 0))
        return 0;
    switch (row->unit) {
    case SUITE_MS:
        return seconds * 1e3;
    case SUITE_NS:
        return seconds * 1e9 / run->units;
    case SUITE_MILLIONS:
        return run->units / seconds * 1e-6;
    case SUITE_GIGABYTES:
        return run->units / seconds * 1e-9;
    default:
        return seconds;
    }
}

bool suite_is_apart(const struct suite_row *row)
{
    return strcmp(row->group, "start") == 0 || strcmp(row->group, "first") == 0;
}

void suite_scale(const struct suite_row *row, uint32_t log, struct bench_case *spec)
{
    enum { FEW = 2 };

    *spec = row->spec;
    if (log >= 63)
        return;
    if (spec->size > UINT64_C(1) << log)
        spec->size = UINT64_C(1) << log;
    if (spec->batch > FEW)
        spec->batch = FEW;
    if (spec->precompute_factor == POOL_PRECOMPUTE_ALL)
        spec->precompute_factor = FEW;
}

/* ---- compilation ----------------------------------------------------------------------------- */

struct compilation {
    device_pool *pool;
    pool_device *device;
    const struct bench_case *specs;
    const bool *is_selected;
    bool (*is_over)(void);
    atomic_size_t next;
};

static pool_status compile_transforms(
    const struct bench_operation *operation, const struct bench_case *spec, pool_device *device)
{
    const uint32_t log_blowup = operation == &bench_extend ? spec->log_blowup : 0;
    pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = pool_field_by_name(spec->subject),
        .log_size = (uint32_t)__builtin_ctzll(spec->size) + log_blowup};
    pool_ntt_extend_params extension = {.struct_size = sizeof(extension),
        .log_blowup = log_blowup,
        .order = spec->order,
        .batch = spec->batch};
    pool_status status = pool_ntt_domain_create(&domain, &extension.domain);

    if (!status)
        status = operation == &bench_extend
                     ? pool_ntt_extend_warm_up(&extension,
                           &(pool_exec){.struct_size = sizeof(pool_exec), .device = device})
                     : pool_ntt_warm_up(extension.domain,
                           &(pool_exec){.struct_size = sizeof(pool_exec), .device = device});
    pool_ntt_domain_destroy(&extension.domain);
    return status;
}

/* A call of the operation compiles what it launches; large numbers of states use other kernels than
 * small ones, from fewer on than MAX_STATES. */
static void call_once(const struct compilation *compilation, size_t index)
{
    enum { MAX_STATES = 1 << 15 };
    struct bench_run run = {.operation = suite_rows[index].operation,
        .spec = compilation->specs[index],
        .pool = compilation->pool,
        .device = compilation->device};
    pool_status status;

    if (run.spec.size > MAX_STATES)
        run.spec.size = MAX_STATES;
    status = bench_begin(&run);
    if (!status)
        status = bench_call(&run);
    bench_end(&run, status);
}

static void compile_row(const struct compilation *compilation, size_t index)
{
    const struct bench_operation *operation = suite_rows[index].operation;
    const struct bench_case *spec = &compilation->specs[index];

    if (operation == &bench_msm)
        (void)pool_msm_warm_up(pool_curve_by_name(spec->subject),
            &(pool_exec){.struct_size = sizeof(pool_exec), .device = compilation->device});
    else if (operation == &bench_ntt || operation == &bench_extend)
        (void)compile_transforms(operation, spec, compilation->device);
    else if (operation == &bench_poseidon || operation == &bench_tree ||
             operation == &bench_commit || operation == &bench_fold || operation == &bench_evaluate)
        call_once(compilation, index);
}

/* An earlier row compiles the same for the subject. */
static bool is_compiled(const struct compilation *compilation, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (compilation->is_selected[i] && suite_rows[i].operation == suite_rows[index].operation &&
            strcmp(suite_rows[i].spec.subject, suite_rows[index].spec.subject) == 0 &&
            (suite_rows[i].operation == &bench_msm ||
                compilation->specs[i].size == compilation->specs[index].size))
            return true;
    return false;
}

static void *compile_rows(void *argument)
{
    struct compilation *compilation = argument;

    for (size_t i; !compilation->is_over() &&
                   (i = atomic_fetch_add(&compilation->next, 1)) < suite_row_count;)
        if (compilation->is_selected[i] && suite_rows[i].operation &&
            !suite_is_apart(&suite_rows[i]) && !is_compiled(compilation, i)) {
            bench_report_progress();
            compile_row(compilation, i);
        }
    return NULL;
}

void suite_compile(device_pool *pool, pool_device *device, const struct bench_case *specs,
    const bool *is_selected, bool (*is_over)(void))
{
    enum { MAX_THREADS = 16 };
    struct compilation compilation = {.pool = pool,
        .device = device,
        .specs = specs,
        .is_selected = is_selected,
        .is_over = is_over};

    bench_run_threads(bench_processors(MAX_THREADS), 0, compile_rows, &compilation);
}
