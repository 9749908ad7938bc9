/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enqueues a transform of points: the digits of the factors once per call; per chunk the upload,
 * the check, the load, a launch per stage, the store and the download.
 *
 * Forward stages divide x^(2h) - y into x^h - z and x^h + z with z^2 = y, from h = n/2 down to 1:
 * block i of a stage multiplies by z = (g w^(i reversed))^h, so that all butterflies of a block
 * have the same factor, a coset costs no additional multiplications but those by 1 that it
 * replaces, and results are in bit-reversed order. The inverse stages undo them. Its factor 1/n is
 * pushed through the stages: a sum and a difference are scaled where both points are, so that what
 * is left after each stage are the first points of its blocks. It costs log2 n + 1 multiplications
 * instead of n.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "pool/stream/phase.h"
#include "zk/ecntt/ecntt.h"
#include "zk/operation/slices.h"

/* Multiplications that kernels are predicted by: of a factor's powers and digits, of a point that
 * is loaded or, with its part of an inversion, stored, and of a doubling and an addition. */
enum {
    FACTOR_PRODUCTS = 64,
    LOAD_PRODUCTS = 4,
    STORE_PRODUCTS = 32,
    DOUBLING_PRODUCTS = 9,
    ADDITION_PRODUCTS = 14
};

/* A launch of a thread per item, whose only argument is a struct. */
struct ecntt_launch {
    uint64_t threads;
    void *args;
    size_t bytes;
    unsigned *first_block; /* of the args */
    double products;       /* in the field of the coordinates, of all threads */
};

static pool_status launch(
    const struct ecntt_call *call, pool_kernel *kernel, const struct ecntt_launch *one)
{
    const struct exec_target *target = &call->frame.target;
    void *arguments[] = {one->args};
    const struct module_launch launched = {.kernel = kernel,
        .blocks = base_ceil_div(one->threads, ECNTT_THREADS),
        .threads = ECNTT_THREADS,
        .count = 1,
        .arguments = arguments,
        .sizes = &one->bytes,
        .stream = target->stream,
        .seconds = slices_seconds(
            target->device, (uint32_t)call->params.curve->coordinates.bytes / 4, one->products, 0),
        .first_block = one->first_block};

    return slices_launch(target->slices, target->slice_ns, &launched);
}

static pool_status launch_points(
    const struct ecntt_call *call, enum ecntt_kernel name, const struct ecntt_launch *one)
{
    pool_kernel *kernel = NULL;
    pool_status status =
        ecntt_kernel_get(call->frame.target.device, call->params.curve, name, &kernel);

    return status ? status : launch(call, kernel, one);
}

/* ---- factors --------------------------------------------------------------------------------- */

static pool_status enqueue_factors(const struct ecntt_call *call)
{
    const pool_ntt_domain *domain = call->params.domain;
    const pool_field *order = call->params.curve->scalar_field;
    struct ecntt_factors_args args = {.digits = call->frame.address + call->plan.digits_at,
        .count = call->plan.factors,
        .table = call->plan.table,
        .log_size = call->job.log_size,
        .has_coset = call->job.has_coset,
        .windows = call->plan.windows,
        .halves = call->plan.halves};
    const struct ecntt_launch one = {.threads = args.count,
        .args = &args,
        .bytes = sizeof(args),
        .first_block = &args.first_block,
        .products = (double)FACTOR_PRODUCTS * (double)args.count};
    pool_kernel *kernel = NULL;
    struct phase phase;
    pool_status status;

    if (!call->plan.factors)
        return POOL_OK;
    field_store_for_device(order, args.root, domain->root[call->params.direction]);
    field_store_for_device(order, args.coset, domain->coset[call->params.direction]);
    field_store_for_device(order, args.scale, domain->inverse_size);
    if (call->endomorphism)
        msm_lattice_of(call->params.curve->scalar_field, call->endomorphism, &args.lattice);
    status = ecntt_factors_kernel(call->frame.target.device, call->params.curve, &kernel);
    if (status)
        return status;
    phase_begin(&phase, call->frame.target.device, call->frame.target.stream, "ecntt", "factors");
    return phase_end(&phase, launch(call, kernel, &one));
}

/* ---- the stages of a chunk ------------------------------------------------------------------- */

/* Forward transforms take natural order to bit-reversed order, inverse ones the other way. */
static struct ecntt_layout layout_of(
    const struct ecntt_call *call, const struct pipeline_chunk *chunk, bool is_output)
{
    const pool_ntt_order order = call->params.order;
    const bool given = is_output ? order == POOL_NTT_NR || order == POOL_NTT_RR
                                 : order == POOL_NTT_RN || order == POOL_NTT_RR;

    return (struct ecntt_layout){.transforms = chunk->count >> call->job.log_size,
        .log_size = call->job.log_size,
        .is_interleaved = call->job.is_interleaved,
        .is_reversed = given != (is_output != call->job.is_inverse)};
}

static struct ecntt_digits digits_of(const struct ecntt_call *call)
{
    struct ecntt_digits digits = {.digits = call->frame.address + call->plan.digits_at,
        .count = call->plan.factors,
        .windows = call->plan.windows,
        .halves = call->plan.halves};

    if (call->endomorphism)
        field_store_for_device(
            call->params.curve->coordinates.field, digits.beta, call->endomorphism->beta);
    return digits;
}

static pool_status enqueue_load(const struct ecntt_call *call, const struct pipeline_chunk *chunk,
    const struct msm_input_bases *input)
{
    struct ecntt_load_args args = {.input = *input,
        .layout = layout_of(call, chunk, false),
        .points = call->frame.address + call->plan.points_at};
    const struct ecntt_launch one = {.threads = chunk->count,
        .args = &args,
        .bytes = sizeof(args),
        .first_block = &args.first_block,
        .products = (double)LOAD_PRODUCTS * (double)chunk->count};
    struct phase phase;

    phase_begin(&phase, call->frame.target.device, call->frame.target.stream, "ecntt", "load");
    return phase_end(&phase, launch_points(call, ECNTT_KERNEL_LOAD, &one));
}

static pool_status launch_stage(const struct ecntt_call *call, struct ecntt_stage_args *args)
{
    const double per_window =
        DOUBLING_PRODUCTS * ECNTT_WINDOW_BITS + ADDITION_PRODUCTS * call->plan.halves;
    const double per_butterfly =
        call->plan.windows * per_window + (ECNTT_MULTIPLES + 1) * ADDITION_PRODUCTS;
    const struct ecntt_launch one = {.threads = args->count,
        .args = args,
        .bytes = sizeof(*args),
        .first_block = &args->first_block,
        .products = (double)args->count * per_butterfly};

    return launch_points(call, ECNTT_KERNEL_STAGE, &one);
}

static pool_status enqueue_stage(
    const struct ecntt_call *call, const struct pipeline_chunk *chunk, uint32_t log_half)
{
    const uint64_t blocks = (uint64_t)1 << (call->job.log_size - 1 - log_half);
    struct ecntt_stage_args args = {.points = call->frame.address + call->plan.points_at,
        .digits = digits_of(call),
        .count = chunk->count / 2,
        .first = call->job.has_coset ? blocks : 0,
        .step = call->job.is_inverse ? ECNTT_INVERSE : ECNTT_FORWARD,
        .log_size = call->job.log_size,
        .log_half = log_half,
        .skips_block_0 = !call->job.has_coset};

    args.scaled = call->plan.table + args.first;
    return launch_stage(call, &args);
}

/* Factor 0 of the second table is 1/n. */
static pool_status enqueue_scale(const struct ecntt_call *call, const struct pipeline_chunk *chunk)
{
    struct ecntt_stage_args args = {.points = call->frame.address + call->plan.points_at,
        .digits = digits_of(call),
        .count = chunk->count >> call->job.log_size,
        .scaled = call->plan.table,
        .step = ECNTT_SCALE,
        .log_size = call->job.log_size};

    return launch_stage(call, &args);
}

static pool_status enqueue_stages(const struct ecntt_call *call, const struct pipeline_chunk *chunk)
{
    const uint32_t stages = call->job.log_size;
    struct phase phase;
    pool_status status = POOL_OK;

    if (!stages)
        return POOL_OK;
    phase_begin(&phase, call->frame.target.device, call->frame.target.stream, "ecntt", "stages");
    for (uint32_t i = 0; i < stages && !status; i++)
        status = enqueue_stage(call, chunk, call->job.is_inverse ? i : stages - 1 - i);
    if (!status && call->job.is_inverse)
        status = enqueue_scale(call, chunk);
    return phase_end(&phase, status);
}

/* A thread's inversion costs as much as some 400 multiplications, and a thread has up to
 * ECNTT_SHARE points; fewer where the chip would otherwise be idle. */
static uint64_t store_threads(uint64_t points)
{
    enum { IDLE_BELOW = 1 << 14, MIN_SHARE = 4 };
    uint64_t threads = base_ceil_div(points, ECNTT_SHARE);

    return threads < IDLE_BELOW ? base_ceil_div(points, MIN_SHARE) : threads;
}

static pool_status enqueue_store(const struct ecntt_call *call, const struct pipeline_chunk *chunk)
{
    const pool_field *field = call->params.curve->coordinates.field;
    const int exponent = (int)call->out->form - field_device_degree(field);
    uint64_t stride = span_stride(call->out, call->job.out_bytes);
    uint64_t power[FIELD_MAX_LIMBS];
    struct ecntt_store_args args = {.points = call->frame.address + call->plan.points_at,
        .layout = layout_of(call, chunk, true),
        .out = (CUdeviceptr)(uintptr_t)call->out->data + chunk->first * stride,
        .stride = stride / 4,
        .count = chunk->count,
        .point_layout = call->params.result_layout,
        .converts = exponent != 0};
    const struct ecntt_launch one = {.threads = store_threads(args.count),
        .args = &args,
        .bytes = sizeof(args),
        .first_block = &args.first_block,
        .products = (double)STORE_PRODUCTS * (double)args.count};
    struct phase phase;

    args.blocks = (unsigned)base_ceil_div(one.threads, ECNTT_THREADS);

    if (call->job.out_is_on_host) {
        args.out = call->frame.address + call->plan.staging_at;
        args.stride = call->job.out_bytes / 4;
    }
    field_power_of_r(field, power, exponent);
    field_store_for_device(field, args.factor, power);
    phase_begin(&phase, call->frame.target.device, call->frame.target.stream, "ecntt", "store");
    return phase_end(&phase, launch_points(call, ECNTT_KERNEL_STORE, &one));
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static pool_status upload(void *user, struct pipeline_chunk *chunk)
{
    const struct ecntt_call *call = user;

    if (!call->job.in_is_on_host)
        return POOL_OK;
    return pool_copy_to_device(call->frame.block, call->plan.staging_at,
        (const uint8_t *)call->in->data + chunk->first * call->job.in_stride,
        (chunk->count - 1) * call->job.in_stride + call->job.in_bytes, chunk->target.stream);
}

/* The affine points that the check reads are where the load writes afterwards. */
static pool_status check_points(const struct ecntt_call *call, const struct pipeline_chunk *chunk,
    const struct msm_input_bases *input)
{
    const pool_curve *curve = call->params.curve;
    const struct msm_run run = {.device = call->frame.target.device,
        .stream = call->frame.target.stream,
        .curve = curve,
        .slices = call->frame.target.slices,
        .share = {.slice_ns = call->frame.target.slice_ns}};
    const struct msm_check_result result = {.buffer = call->frame.block,
        .offset = call->plan.check_at,
        .address = call->frame.address + call->plan.check_at,
        .first_index = call->first + chunk->first};
    const CUdeviceptr bases = call->frame.address + call->plan.points_at;
    pool_status status;

    if (!call->frame.exec.checks)
        return POOL_OK;
    status = msm_convert_bases(&run, input, bases);
    return status ? status
                  : msm_check_bases(&run, input, &result, bases, msm_affine_bytes(curve),
                        call->frame.exec.checks);
}

static pool_status compute(void *user, struct pipeline_chunk *chunk)
{
    const struct ecntt_call *call = user;
    struct msm_input_bases input;
    pool_status status;

    msm_input_bases_init(&input, call->params.curve, call->in, call->params.point_layout);
    input.count = chunk->count;
    if (call->job.in_is_on_host)
        input.data = call->frame.address + call->plan.staging_at;
    else
        input.data += chunk->first * call->job.in_stride;
    status = check_points(call, chunk, &input);
    if (!status)
        status = enqueue_load(call, chunk, &input);
    if (!status)
        status = enqueue_stages(call, chunk);
    return status ? status : enqueue_store(call, chunk);
}

/* Waits, and leaves the bytes between strided results unchanged. */
static pool_status download_strided(
    const struct ecntt_call *call, const struct pipeline_chunk *chunk, uint8_t *to, uint64_t stride)
{
    const uint64_t item = call->job.out_bytes, bytes = chunk->count * item;
    uint8_t *packed = base_calloc((size_t)bytes, 1);
    pool_status status;

    if (!packed)
        return base_fail_memory("results for strided memory");
    status = pool_copy_to_host(
        packed, call->frame.block, call->plan.staging_at, bytes, chunk->target.stream);
    if (!status)
        status = pool_stream_synchronize(chunk->target.stream);
    for (uint64_t i = 0; !status && i < chunk->count; i++)
        memcpy(to + i * stride, packed + i * item, item);
    base_free(packed);
    return status;
}

static pool_status download(void *user, struct pipeline_chunk *chunk)
{
    const struct ecntt_call *call = user;
    const uint64_t stride = span_stride(call->out, call->job.out_bytes);
    uint8_t *to = (uint8_t *)call->out->data + chunk->first * stride;

    if (!call->job.out_is_on_host)
        return POOL_OK;
    if (stride != call->job.out_bytes)
        return download_strided(call, chunk, to, stride);
    return pool_copy_to_host(to, call->frame.block, call->plan.staging_at,
        chunk->count * call->job.out_bytes, chunk->target.stream);
}

pool_status ecntt_run(void *user)
{
    struct ecntt_call *call = user;
    const struct pipeline pipeline = {.target = call->frame.target,
        .progress = &call->frame.progress,
        .weight = 1,
        .count = call->in->count,
        .chunk_items = call->plan.transforms << call->job.log_size,
        .slots = 1,
        .upload = upload,
        .compute = compute,
        .download = download,
        .user = call};
    pool_status status = enqueue_factors(call);

    return status ? status : pipeline_run(&pipeline);
}
