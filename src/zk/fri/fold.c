/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_fri_fold: values, in host or device memory, folded by 2, 4 or 8.
 */
#include <string.h>

#include "base/log.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/device/counters.h"
#include "zk/fri/fri.h"
#include "zk/operation/pipeline.h"
#include "zk/operation/timeout.h"
#include "zk/vector/check.h"
#include "zk/vector/vector.h"

static const struct base_struct fold_params_type = BASE_STRUCT(pool_fri_fold_params);

void pool_fri_fold_params_init(pool_fri_fold_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

struct fold {
    const char *name;
    pool_fri_fold_params params;
    pool_exec exec;
    const pool_span *in, *out;
    struct exec_target target;
    struct fri_fold_args args;
    uint32_t log_count;  /* of the results */
    uint64_t item_bytes; /* of the values of a result */
    uint64_t chunk;      /* results of a chunk */
    uint64_t bytes;      /* of device memory */
};

/* A chunk's copies in device memory, and the answer of a check. */
static uint64_t chunk_bytes(const struct fold *fold, uint64_t results)
{
    uint64_t bytes = fold->exec.checks ? memory_scratch_bytes(sizeof(uint64_t)) : 0;

    if (fold->in->space == POOL_MEMORY_HOST)
        bytes += memory_scratch_bytes(results * fold->item_bytes);
    if (fold->out->space == POOL_MEMORY_HOST)
        bytes += memory_scratch_bytes(results * fold->params.field->bytes);
    return bytes;
}

/* Values in natural order are one chunk: those of a result are far apart. */
static pool_status plan(struct fold *fold)
{
    const uint64_t all = UINT64_C(1) << fold->log_count, limit = exec_limit(&fold->exec);
    const bool is_copied =
        fold->in->space == POOL_MEMORY_HOST || fold->out->space == POOL_MEMORY_HOST;

    fold->chunk = all;
    if (fold->params.is_bit_reversed && is_copied) {
        fold->chunk = base_min(all, tuning_of_any_chip()->vector.chunk_bytes / fold->item_bytes);
        while (fold->chunk > 1 && chunk_bytes(fold, fold->chunk) > limit)
            fold->chunk /= 2;
    }
    fold->bytes = chunk_bytes(fold, fold->chunk);
    return fold->bytes <= limit ? POOL_OK : exec_fail_limit(fold->name, limit, fold->bytes);
}

static pool_status check_span(
    const struct fold *fold, const pool_span *span, uint32_t log_count, const char *what)
{
    const pool_field *field = fold->params.field;
    const struct span_item item = {field->bytes, "elements", field->name};
    pool_status status =
        span ? span_check_shape(span, &item, what) : base_fail_null(fold->name, what);

    if (!status && span->count != UINT64_C(1) << log_count)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `%s` has %llu elements, not 2^%u",
            fold->name, what, (unsigned long long)span->count, (unsigned)log_count);
    if (!status && span_stride(span, field->bytes) != field->bytes)
        status = base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%s: the elements of `%s` are not packed", fold->name, what);
    return status;
}

static pool_status check_params(const char *call, const pool_fri_fold_params *params)
{
    uint32_t log_size;
    pool_status status = fri_check_field(call, params->field, params->domain);

    if (!status && !params->domain)
        status = base_fail_null(call, "params->domain");
    if (!status && !params->challenge)
        status = base_fail_null(call, "params->challenge");
    if (status)
        return status;
    log_size = params->domain->log_size;
    status = base_check_ranges(call, {"log_arity", params->log_arity, 1, FRI_MAX_LOG_ARITY},
        {"log_folded", params->log_folded, 0, log_size},
        {"is_bit_reversed", params->is_bit_reversed, 0, 1},
        {"on_subgroup", params->on_subgroup, 0, 1});
    if (!status && params->log_arity > log_size - params->log_folded)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: 2^%u values cannot be folded by 2^%u",
            call, (unsigned)(log_size - params->log_folded), (unsigned)params->log_arity);
    return status;
}

/* The kernel's constants; the fields of the call's memory are set per chunk. */
static pool_status store_constants(struct fold *fold)
{
    const pool_fri_fold_params *params = &fold->params;
    const pool_field *field = params->field, *base = field->base;
    struct fri_fold_args *args = &fold->args;
    uint64_t value[FIELD_MAX_LIMBS], step[FIELD_MAX_LIMBS];
    pool_status status = vector_load_scalar(field, params->challenge, fold->name, value);

    if (status)
        return status;
    for (uint32_t i = 0; i < params->log_arity; i++) {
        fri_store(field, args->challenge[i], value);
        field_sqr(field, value, value);
    }
    fri_store_points(params->domain, params->log_folded, params->on_subgroup, &args->points);
    fri_square(
        base, step, params->domain->root[POOL_NTT_INVERSE], params->log_folded + fold->log_count);
    field_set_one(base, value);
    for (uint32_t i = 0; i < 4; i++) {
        fri_store(base, args->zeta[i], value);
        field_mul(base, value, value, step);
    }
    field_set_one(base, value);
    for (uint32_t i = 0; i < params->log_arity; i++)
        field_halve(base, value, value);
    fri_store(base, args->scale, value);
    args->log_count = fold->log_count;
    args->is_reversed = (unsigned)params->is_bit_reversed;
    return POOL_OK;
}

/* Everything but the spans' data and the device. */
static pool_status read_call(struct fold *fold, const char *call,
    const pool_fri_fold_params *params, const pool_exec *exec, const pool_span *in,
    const pool_span *out)
{
    static const struct exec_rules rules = {
        .checks = POOL_CHECK_CANONICAL, .has_async = true, .has_memory_limit = true};
    uint32_t log_in;
    pool_status status = base_struct_read(&fold_params_type, call, "params", params, &fold->params);

    fold->name = call;
    if (!status)
        status = check_params(call, &fold->params);
    if (!status)
        status = exec_read(call, exec, &rules, &fold->exec);
    if (status)
        return status;
    fold->in = in;
    fold->out = out;
    log_in = fold->params.domain->log_size - fold->params.log_folded;
    fold->log_count = log_in - fold->params.log_arity;
    fold->item_bytes = (uint64_t)fold->params.field->bytes << fold->params.log_arity;
    fold->target.field = fold->params.field;
    status = check_span(fold, in, log_in, "in");
    if (!status)
        status = check_span(fold, out, fold->log_count, "out");
    if (!status && in->form != out->form)
        status =
            base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `in` and `out` have different forms", call);
    if (!status)
        status = store_constants(fold);
    return status ? status : plan(fold);
}

static pool_status check_values(struct fold *fold, const struct pipeline_chunk *chunk)
{
    const struct vector_items items = {.address = (CUdeviceptr)(uintptr_t)chunk->in[0].data,
        .stride = fold->params.field->bytes,
        .count = chunk->count << fold->params.log_arity,
        .elements = 1,
        .first = chunk->first << fold->params.log_arity,
        .what = "values"};

    return fold->exec.checks ? vector_check_elements(&fold->target, fold->params.field, &items)
                             : POOL_OK;
}

static pool_status compute(void *user, struct pipeline_chunk *chunk)
{
    static const char *const names[] = {"fri_fold2", "fri_fold4", "fri_fold8"};
    struct fold *fold = user;
    struct fri_fold_args *args = &fold->args;
    pool_status status = check_values(fold, chunk);

    args->in = (CUdeviceptr)(uintptr_t)chunk->in[0].data;
    args->out = (CUdeviceptr)(uintptr_t)chunk->out.data;
    args->first = chunk->first;
    args->count = chunk->count;
    return status ? status
                  : fri_launch_items(&fold->target, names[fold->params.log_arity - 1], chunk->count,
                        args, sizeof(*args));
}

static pool_status fold_on_device(struct fold *fold)
{
    const pool_field *field = fold->params.field;
    const uint64_t count = UINT64_C(1) << fold->log_count;
    struct progress progress = {.call = fold->name, .exec = &fold->exec, .total = count};
    pool_span items = *fold->in;
    struct pipeline pipeline = {.target = fold->target,
        .progress = &progress,
        .weight = 1,
        .count = count,
        .chunk_items = fold->chunk,
        .slots = 1,
        .in = {{&items, fold->item_bytes, false}},
        .out = {fold->out, field->bytes, false},
        .compute = compute,
        .user = fold};
    struct device_operation counted;
    pool_status status;

    items.count = count;
    items.stride = 0;
    device_operation_begin(&counted, fold->target.device, "fold", field->name, count);
    status = pipeline_run(&pipeline);
    return device_operation_end(
        &counted, exec_target_end(&fold->target, fold->exec.is_async, status));
}

static pool_status fri_fold_timed(void *const *a)
{
    return pool_fri_fold(a[0], a[1], a[2], a[3]);
}

pool_status pool_fri_fold(const pool_fri_fold_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(fri_fold_timed, NULL, TIMED_PARAMS(params), TIMED_EXEC(exec),
            TIMED_SPAN(in), TIMED_SPAN(out));
    EXEC_SCOPE(exec);
    struct fold fold = {0};
    pool_status status = read_call(&fold, __func__, params, exec, in, out);

    if (!status)
        status = exec_target_init(&fold.target, &fold.exec);
    if (!status)
        status = elements_check(&fold.target, in, "values");
    if (!status)
        status = elements_check(&fold.target, out, "result");
    if (!status)
        status = elements_check_overlap(fold.params.field, in, out, 0);
    return status ? status : fold_on_device(&fold);
}

pool_status pool_fri_fold_workspace(const pool_fri_fold_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out, uint64_t *bytes)
{
    EXEC_SCOPE(exec);
    struct fold fold = {0};
    pool_status status = bytes ? read_call(&fold, __func__, params, exec, in, out)
                               : base_fail_null(__func__, "bytes");

    if (!status)
        *bytes = fold.bytes;
    return status;
}
