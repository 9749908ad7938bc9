/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_msm_joint and its forecast: arguments, checks and plan. Several MSMs are one computation:
 * each list of scalars is sorted once, the bases of all of its terms are added to the buckets of
 * their results, and the buckets of all results are reduced together.
 */
#include "zk/msm/joint.h"

#include <stdio.h>
#include <string.h>

#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"

enum { ALIGNMENT = 256, MIN_CHUNK_COUNT = 1 << 10 };

static const struct base_struct joint_params_type = BASE_STRUCT(pool_msm_joint_params);

void pool_msm_joint_params_init(pool_msm_joint_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

/* The index of a base's multiple is that of the base plus a multiple of the count. */
bool msm_joint_shares_sort(const pool_msm_term *term, const pool_msm_term *other)
{
    const pool_span *a = &term->scalars, *b = &other->scalars;

    return a->data == b->data && a->count == b->count && a->stride == b->stride &&
           a->form == b->form && a->space == b->space &&
           (term->bases->factor == 1 || term->bases->count == other->bases->count);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static pool_status check_same_curve(const struct msm_joint_call *call, uint32_t index)
{
    const struct pool_bases *first = call->terms[0].bases, *bases = call->terms[index].bases;

    return memcmp(bases->curve->fingerprint, first->curve->fingerprint,
               sizeof(first->curve->fingerprint)) == 0
               ? POOL_OK
               : base_fail(POOL_ERR_INVALID_ARGUMENT,
                     "%s: `terms[%u].bases` are points of %s and those of `terms[0]` of %s",
                     call->msm.frame.name, index, bases->curve->name, first->curve->name);
}

/* Multiples are taken by the windows of all terms alike. */
static pool_status check_same_multiples(const struct msm_joint_call *call, uint32_t index)
{
    const struct pool_bases *first = call->terms[0].bases, *bases = call->terms[index].bases;

    if (bases->factor == first->factor &&
        (bases->factor == 1 ||
            (bases->window_bits == first->window_bits && bases->bucket_sets == first->bucket_sets)))
        return POOL_OK;
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "%s: `terms[%u].bases` have %u multiples for windows of %u bits and those of `terms[0]` %u "
        "for %u; create them with the same `window_bits` or `planned_terms`",
        call->msm.frame.name, index, bases->factor, bases->window_bits, first->factor,
        first->window_bits);
}

static pool_status check_bases(const struct msm_joint_call *call, uint32_t index)
{
    const pool_msm_term *term = &call->terms[index];
    pool_status status;

    if (!term->bases)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `terms[%u].bases` must not be NULL",
            call->msm.frame.name, index);
    status = check_same_curve(call, index);
    if (!status)
        status = check_same_multiples(call, index);
    if (!status && !device_is_same_gpu(term->bases->device, call->terms[0].bases->device))
        status = base_fail(POOL_ERR_WRONG_DEVICE,
            "%s: `terms[%u].bases` are on device %d and those of `terms[0]` on device %d",
            call->msm.frame.name, index, pool_device_ordinal(term->bases->device),
            pool_device_ordinal(call->terms[0].bases->device));
    return status;
}

static pool_status check_params(const struct msm_joint_call *call)
{
    const pool_msm_joint_params *params = &call->params;
    const char *name = call->msm.frame.name;
    pool_status status = base_check_ranges(name, {"count", call->count, 1, POOL_MSM_MAX_TERMS},
        {"result_layout", params->result_layout, 0, POOL_POINT_XYZZ});

    if (!status && params->window_bits)
        status = base_check_ranges(
            name, {"window_bits", params->window_bits, MSM_MIN_WINDOW_BITS, MSM_MAX_WINDOW_BITS});
    if (!status && (call->msm.frame.exec.checks & POOL_CHECK_REDUCE) && params->scalar_bits)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `scalar_bits`; it must be 0 where scalars are reduced",
            name, params->scalar_bits);
    return status;
}

/* The terms' device, or, of the parts of a GPU, that of the call. */
static pool_status set_device(struct msm_joint_call *call)
{
    pool_device *device = call->terms[0].bases->device;
    pool_exec *exec = &call->msm.frame.exec;
    pool_device *of_stream = pool_stream_device(exec->stream);

    if (!exec->device)
        exec->device = of_stream && device_is_same_gpu(of_stream, device) ? of_stream : device;
    return device_is_same_gpu(exec->device, device)
               ? POOL_OK
               : base_fail(POOL_ERR_WRONG_DEVICE,
                     "%s: `terms[0].bases` are on device %d and `device` is %d",
                     call->msm.frame.name, pool_device_ordinal(device),
                     pool_device_ordinal(exec->device));
}

static pool_status read_joint(void *user)
{
    struct msm_joint_call *call = user;
    pool_status status = check_params(call);

    for (uint32_t i = 0; i < call->count && !status; i++)
        status = check_bases(call, i);
    if (status)
        return status;
    call->msm.curve = call->terms[0].bases->curve;
    call->msm.params = (pool_msm_params){.struct_size = sizeof(call->msm.params),
        .batch = call->msm.results->count,
        .result_layout = call->params.result_layout,
        .scalar_bits = call->params.scalar_bits};
    status = set_device(call);
    return status ? status
                  : base_check_ranges(
                        call->msm.frame.name, {"scalar_bits", call->params.scalar_bits, 0,
                                                  8 * call->msm.curve->scalar_field->bytes});
}

static void set_items(void *user)
{
    struct msm_joint_call *call = user;
    const pool_curve *curve = call->msm.curve;

    call->msm.frame.subject = curve->name;
    call->msm.frame.items = 0;
    for (uint32_t i = 0; i < call->count; i++)
        call->msm.frame.items += call->terms[i].scalars.count;
    call->msm.frame.item[0] =
        (struct span_item){.bytes = pool_point_bytes(curve, call->params.result_layout),
            .kind = "points",
            .name = curve->name};
}

static bool list_scalars(const void *user, uint32_t index, struct operation_operand *operand)
{
    const struct msm_joint_call *call = user;
    const pool_field *order;

    if (index >= call->count)
        return false;
    order = call->msm.curve->scalar_field;
    operand->span = &call->terms[index].scalars;
    operand->item =
        (struct span_item){.bytes = order->bytes, .kind = "elements", .name = order->name};
    (void)snprintf(operand->name, sizeof(operand->name), "terms[%u].scalars", index);
    return true;
}

static pool_device *device_of_terms(const void *user)
{
    const struct msm_joint_call *call = user;

    return call->terms && call->count && call->count <= POOL_MSM_MAX_TERMS && call->terms[0].bases
               ? call->terms[0].bases->device
               : NULL;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static pool_status check_term(const struct msm_joint_call *call, uint32_t index)
{
    const pool_msm_term *term = &call->terms[index];
    const struct pool_bases *bases = term->bases;
    const uint64_t bytes = call->msm.curve->scalar_field->bytes;

    if (term->scalars.space == POOL_MEMORY_SHARDED)
        return base_fail(POOL_ERR_UNSUPPORTED, "%s: `terms[%u].scalars` must not be sharded",
            call->msm.frame.name, index);
    if (term->result >= call->msm.results->count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `terms[%u].result` is %llu; the span of results has room for %llu points",
            call->msm.frame.name, index, (unsigned long long)term->result,
            (unsigned long long)call->msm.results->count);
    if (term->first_base > bases->count || term->scalars.count > bases->count - term->first_base)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: %llu bases from %llu on are more than the %llu of `terms[%u].bases`",
            call->msm.frame.name, (unsigned long long)term->scalars.count,
            (unsigned long long)term->first_base, (unsigned long long)bases->count, index);
    if (spans_overlap(call->msm.results, call->msm.frame.item[0].bytes, &term->scalars, bytes))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the results overlap `terms[%u].scalars` in memory", call->msm.frame.name, index);
    return call->msm.frame.is_forecast ? POOL_OK : msm_bases_check(bases);
}

static struct msm_job job_of(const struct msm_joint_call *call, uint64_t longest)
{
    const struct pool_bases *bases = call->terms[0].bases;
    const pool_field *order = call->msm.curve->scalar_field;
    const bool is_precomputed = bases->factor > 1;

    return (struct msm_job){.coordinate_words = call->msm.curve->coordinates.bytes / 4,
        .scalar_words = order->words,
        .order_bits = order->bits,
        .scalar_bits = call->params.scalar_bits,
        .count = longest,
        .chunk_count = longest,
        .batch = 1,
        .results = call->msm.results->count,
        .precompute_factor = bases->factor,
        .sets_per_msm = is_precomputed ? bases->bucket_sets : 0,
        .window_bits = is_precomputed ? bases->window_bits : call->params.window_bits,
        .affine_passes =
            msm_curve_has_origin(call->msm.curve) || call->msm.frame.memory.omits_optional
                ? POOL_AFFINE_NONE
                : 0};
}

/* Multiples for short scalars lack those that longer scalars need. */
static pool_status check_multiples(const struct msm_joint_call *call)
{
    const struct pool_bases *bases = call->terms[0].bases;
    const struct msm_job job = job_of(call, 0);
    uint32_t windows;

    if (bases->factor == 1)
        return POOL_OK;
    if (call->params.window_bits && call->params.window_bits != bases->window_bits)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `window_bits`; the bases are precomputed for %u",
            call->msm.frame.name, call->params.window_bits, bases->window_bits);
    windows = msm_plan_windows(&job, bases->window_bits);
    if (windows > bases->factor * bases->bucket_sets)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "scalars of %u bits have %u windows of %u bits; the bases are precomputed for %u",
            call->params.scalar_bits ? call->params.scalar_bits
                                     : call->msm.curve->scalar_field->bits,
            windows, bases->window_bits, bases->factor * bases->bucket_sets);
    return POOL_OK;
}

static pool_status check_call(void *user)
{
    const struct msm_joint_call *call = user;
    const uint64_t results = call->msm.results->count;
    pool_status status = POOL_OK;

    if (!results || results > call->count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the span of results has room for %llu points; it must be 1 to %u, the number of "
            "terms",
            call->msm.frame.name, (unsigned long long)results, call->count);
    for (uint32_t i = 0; i < call->count && !status; i++)
        status = check_term(call, i);
    return status ? status : check_multiples(call);
}

/* ---- plan ------------------------------------------------------------------------------------ */

/* Scalars of a term, at most. The plan depends on nothing that a forecast does not know. */
static uint64_t longest_of(const struct msm_joint_call *call)
{
    uint64_t longest = 0;

    for (uint32_t i = 0; i < call->count; i++)
        longest = base_max(longest, call->terms[i].scalars.count);
    return longest;
}

/* Of a chunk of any term whose scalars are in host memory, gaps between them included. */
static uint64_t upload_bytes(const struct msm_joint_call *call)
{
    const uint64_t bytes = call->msm.curve->scalar_field->bytes;
    uint64_t most = 0;

    for (uint32_t i = 0; i < call->count; i++) {
        pool_span chunk = call->terms[i].scalars;

        chunk.count = base_min(chunk.count, call->max_chunk);
        if (chunk.space == POOL_MEMORY_HOST)
            most = base_max(most, span_extent(&chunk, bytes));
    }
    return most;
}

/* Lays out what results.c writes, as for one sub-batch. */
static uint64_t lay_out_results(struct msm_joint_call *call, uint64_t at)
{
    const pool_exec *exec = &call->msm.frame.exec;
    struct msm_chunk_job *job = &call->msm.job;
    struct msm_chunk_plan *plan = &call->msm.plan;

    job->results_on_host = call->msm.results->space == POOL_MEMORY_HOST;
    job->combines_on_host = !exec->is_async && call->msm.params.batch <= MSM_HOST_COMBINES;
    job->result_bytes = call->msm.frame.item[0].bytes;
    plan->is_one_sub_batch = true;
    plan->writes_directly = !job->results_on_host && !job->combines_on_host;
    plan->results_at = at;
    if (!plan->writes_directly && !(job->combines_on_host && job->results_on_host))
        at += base_round_up(call->msm.params.batch * job->result_bytes, ALIGNMENT);
    plan->check_at = at;
    return at + ((exec->checks & POOL_CHECK_CANONICAL) ? ALIGNMENT : 0);
}

/* Plans chunks of at most `max_chunk` scalars. */
static pool_status plan_chunks(
    struct msm_joint_call *call, uint64_t longest, uint32_t affine_passes)
{
    const struct chip chip = chip_of(call->msm.frame.target.device);
    struct msm_job job = job_of(call, longest);
    pool_status status;
    uint64_t at, bytes;

    job.chunk_count = call->max_chunk;
    if (affine_passes)
        job.affine_passes = affine_passes;
    status = msm_plan_make(&chip, &job, &call->chunk_plan);
    if (status)
        return status;
    at = base_round_up(call->chunk_plan.bytes, ALIGNMENT);
    bytes = base_round_up(upload_bytes(call), ALIGNMENT);
    call->slots = bytes && (call->count > 1 || call->max_chunk < longest) ? 2 : 1;
    call->scalars_at[0] = at;
    call->scalars_at[1] = at + (call->slots - 1) * bytes;
    at += call->slots * bytes;
    call->msm.frame.memory.bytes = lay_out_results(call, at);
    call->msm.frame.memory.has_optional = call->chunk_plan.affine.passes > 0;
    return POOL_OK;
}

/* The longest chunks that fit, with affine passes or else without them. */
static pool_status plan_call(void *user, uint64_t limit)
{
    struct msm_joint_call *call = user;
    const uint64_t longest = longest_of(call);
    const uint64_t *bytes = &call->msm.frame.memory.bytes;

    call->max_chunk = longest;
    for (;;) {
        pool_status status = plan_chunks(call, longest, 0);

        if (!status && *bytes > limit && call->chunk_plan.affine.passes)
            status = plan_chunks(call, longest, POOL_AFFINE_NONE);
        if (!status && *bytes <= limit)
            break;
        if (call->max_chunk <= MIN_CHUNK_COUNT)
            return status ? status
                          : base_fail(POOL_ERR_OUT_OF_DEVICE_MEMORY,
                                "the smallest chunk of the joint MSM takes %s; the limit is %s",
                                base_size_text(*bytes).text, base_size_text(limit).text);
        call->max_chunk = base_max((call->max_chunk + 1) / 2, MIN_CHUNK_COUNT);
    }
    msm_plan_join_results(&call->chunk_plan, &call->all);
    return POOL_OK;
}

static pool_status restore_programs(void *user)
{
    return msm_call_restore(&((struct msm_joint_call *)user)->msm);
}

/* ---- public ---------------------------------------------------------------------------------- */

static const struct operation operation = {.counter = "msm",
    .call_bytes = sizeof(struct msm_joint_call),
    .rules = {.checks = POOL_CHECK_CANONICAL | POOL_CHECK_REDUCE,
        .has_async = true,
        .has_workspace = true,
        .has_memory_limit = true},
    .arguments = {{"params", offsetof(struct msm_joint_call, given), OPERATION_PARAMS,
                      .type = &joint_params_type,
                      .copy_at = offsetof(struct msm_joint_call, params)},
        {"terms", offsetof(struct msm_joint_call, terms), OPERATION_ARRAY,
            .copy_at = offsetof(struct msm_joint_call, count), .bytes = sizeof(pool_msm_term),
            .most = POOL_MSM_MAX_TERMS},
        {"results", offsetof(struct msm_joint_call, msm.results), OPERATION_SPAN,
            .operand = "span of results"}},
    .forecasts_by_chip = true,
    .takes_block = true,
    .device = device_of_terms,
    .list = list_scalars,
    .read = read_joint,
    .prepare = set_items,
    .check = check_call,
    .plan = plan_call,
    .restore = restore_programs,
    .run = msm_joint_run};

#define JOINT_CALL(its_name)                                                                       \
    {                                                                                              \
        .msm = {.frame = {.operation = &operation, .name = (its_name), .given = exec},             \
            .results = results},                                                                   \
        .given = params, .terms = terms, .count = count                                            \
    }

pool_status pool_msm_joint(const pool_msm_joint_params *params, const pool_exec *exec,
    const pool_msm_term *terms, uint32_t count, const pool_span *results)
{
    struct msm_joint_call call = JOINT_CALL(__func__);

    return operation_run(&call.msm.frame);
}

pool_status msm_joint_forecast(const char *name, const pool_msm_joint_params *params,
    const pool_exec *exec, const pool_msm_term *terms, uint32_t count, const pool_span *results,
    uint64_t *bytes)
{
    struct msm_joint_call call = JOINT_CALL(name);

    return operation_forecast(&call.msm.frame, bytes);
}

pool_status pool_msm_joint_workspace(const pool_msm_joint_params *params, const pool_exec *exec,
    const pool_msm_term *terms, uint32_t count, const pool_span *results, uint64_t *bytes)
{
    return msm_joint_forecast(__func__, params, exec, terms, count, results, bytes);
}
