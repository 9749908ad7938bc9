/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enqueues the stages of an MSM in the order of the algorithm: per chunk the sort (sort.c), affine
 * passes where the plan has them (affine.c), the accumulation (accumulate.c);
 * then the bucket reduction and the combination of the window sums. Runs the chunks of a call: host
 * memory is uploaded while the previous chunk is computed; bases are converted and operands checked
 * before their products are added.
 */
#include "base/math.h"
#include "base/status.h"
#include "pool/stream/phase.h"
#include "pool/tuning/rates.h"
#include "zk/msm/call.h"
#include "zk/operation/pipeline.h"

enum {
    /* Additions of a thread that take as long as joining a node. */
    QUAD_COST = 4,
    TREE_LEVELS = 6, /* a block has a quad for T and one for Q of each of 32 nodes */
    QUAD_LANES = 4,
};

/* Infinity is all zeros. */
pool_status msm_run_clear(const struct msm_run *run)
{
    const struct msm_plan *plan = run->plan;

    if (plan->small.parts)
        return POOL_OK; /* its kernels know the empty buckets */
    return memory_clear_words(run->device, run->stream, run->workspace + plan->buckets_at,
        plan->buckets * 4 * plan->job.coordinate_words);
}

/* Adds the products of a chunk to the buckets, which are cleared before the first chunk. */
static pool_status add_products(struct msm_run *run, const struct msm_chunk_operands *chunk)
{
    pool_status status = run->chunks == 0 ? msm_run_clear(run) : POOL_OK;
    struct phase phase;

    if (!status && chunk->count > 0) {
        phase_begin(&phase, run->device, run->stream, "msm", "sort");
        status = phase_end(&phase, msm_run_sort(run, chunk));
    }
    if (!status && chunk->count > 0)
        status = msm_run_accumulate(run, chunk);
    if (!status)
        run->chunks++;
    return status;
}

/* ---- accumulation ---------------------------------------------------------------------------- */

pool_status msm_run_accumulate(const struct msm_run *run, const struct msm_chunk_operands *chunk)
{
    const struct msm_plan *plan = run->plan;
    const struct msm_entry_list list = {
        .entries = run->workspace + plan->entries_at,
        .bucket_offsets = run->workspace + plan->bucket_offsets_at,
        .bases = chunk->bases,
        .base_stride = chunk->base_stride,
        .max_entries = chunk->count * plan->job.batch * plan->windows,
        .adds_to_buckets = run->chunks > 0,
    };

    struct phase phase;

    if (plan->small.parts) {
        phase_begin(&phase, run->device, run->stream, "msm", "accumulate");
        return phase_end(&phase, msm_small_accumulate(run, chunk));
    }
    return plan->affine.passes ? msm_run_affine(run, chunk) : msm_run_accumulate_list(run, &list);
}

/* ---- bucket reduction ------------------------------------------------------------------------ */

/* Of additions of points in XYZZ coordinates. */
double msm_reduce_seconds(const struct msm_run *run, double additions)
{
    enum { PRODUCTS = 14 };

    return msm_seconds(run, (double)PRODUCTS * additions, 0);
}

static pool_status reduce_segments(const struct msm_run *run)
{
    const struct msm_plan *plan = run->plan;
    struct msm_reduce_segments_args args = {
        .buckets = run->workspace + plan->buckets_at,
        .pairs = run->workspace + plan->scratch_at,
        .count = plan->buckets >> plan->log_segment,
        .log_segment = plan->log_segment,
    };
    struct msm_launch launch = {
        .kernel = MSM_REDUCE_SEGMENTS,
        .blocks = base_ceil_div(args.count, MSM_SEGMENT_THREADS),
        .threads = MSM_SEGMENT_THREADS,
        .args = &args,
        .args_bytes = sizeof(args),
        .first_block = &args.first_block,
    };
    const double seconds = msm_reduce_seconds(run, 2 * (double)plan->buckets);
    const uint64_t additions = (UINT64_C(1) << plan->log_segment) - 1; /* per segment */
    const uint64_t slice = base_max(chip_slice(additions, seconds, msm_slice_ns(run)), 1);
    uint64_t first = 0;
    pool_status status;

    do {
        args.slice_first = (unsigned)first;
        args.slice_buckets = (unsigned)base_min(slice, additions - first);
        args.doublings = first + slice >= additions ? plan->log_segment : 0;
        launch.seconds = seconds * args.slice_buckets / (double)base_max(additions, 1);
        status = msm_enqueue(run, &launch);
        first += slice;
    } while (first < additions && !status);
    return status;
}

/*
 * A block joins up to 2^TREE_LEVELS pairs to one, with half of its lanes idle after each level. As
 * long as there are more pairs than the chip has lanes for, a launch therefore joins one level.
 */
static pool_status reduce_tree(const struct msm_run *run)
{
    const struct msm_plan *plan = run->plan;
    uint32_t levels = plan->window_bits - 1 - plan->log_segment;
    uint64_t resident_nodes = (uint64_t)chip_of(run->device).multiprocessors << (TREE_LEVELS - 1);
    pool_status status = POOL_OK;

    for (uint32_t done = 0; !status && done < levels;) {
        uint32_t remaining = levels - done < TREE_LEVELS ? levels - done : TREE_LEVELS;
        uint64_t nodes = plan->buckets >> (plan->log_segment + done + 1);
        uint32_t joined = nodes > resident_nodes ? 1 : remaining;
        bool is_last = done + joined == levels;
        struct msm_reduce_tree_args args = {
            .pairs = run->workspace + plan->scratch_at,
            .levels_done = done,
            .levels = joined,
            .log_pairs = remaining,
            .window_sums = is_last ? run->workspace + plan->window_sums_at : 0,
        };
        const struct msm_launch launch = {
            .kernel = MSM_REDUCE_TREE,
            .blocks = plan->buckets >> (plan->log_segment + done + remaining),
            .threads = MSM_TREE_THREADS,
            .args = &args,
            .args_bytes = sizeof(args),
            .first_block = &args.first_block,
            .seconds = msm_reduce_seconds(run, (double)QUAD_COST * (double)nodes),
        };

        status = msm_enqueue(run, &launch);
        done += joined;
    }
    return status;
}

pool_status msm_run_reduce(const struct msm_run *run)
{
    struct phase phase;
    pool_status status;

    phase_begin(&phase, run->device, run->stream, "msm", "reduce");
    if (run->plan->small.parts)
        return phase_end(&phase, msm_small_reduce(run));
    status = reduce_segments(run);
    return phase_end(&phase, status ? status : reduce_tree(run));
}

/* ---- window combination ---------------------------------------------------------------------- */

pool_status msm_run_combine(const struct msm_run *run, const struct msm_target *target)
{
    const struct msm_plan *plan = run->plan;
    const pool_field *field = run->curve->coordinates.field;
    bool is_standard = (field->flags & FIELD_DEVICE_STANDARD) != 0;
    const uint64_t one[FIELD_MAX_LIMBS] = {1};
    struct msm_window_combine_args args = {
        .window_sums = run->workspace + plan->window_sums_at,
        .results = target->results,
        .result_stride = target->stride / sizeof(uint32_t),
        .batch = plan->job.batch,
        .sets_per_msm = plan->sets_per_msm,
        .doublings = plan->window_bits,
        .layout = target->layout,
        .converts = is_standard != (target->form == POOL_FORM_STANDARD),
    };
    struct phase phase;
    const struct msm_launch launch = {
        .kernel = MSM_WINDOW_COMBINE,
        .blocks = base_ceil_div(plan->job.batch, MSM_COMBINE_THREADS / QUAD_LANES),
        .threads = MSM_COMBINE_THREADS,
        .args = &args,
        .args_bytes = sizeof(args),
        .first_block = &args.first_block,
        .seconds = msm_reduce_seconds(run,
            (double)QUAD_COST * (double)(plan->job.batch * plan->sets_per_msm * plan->window_bits)),
    };

    /* The kernel's product with R in standard form, or with 1 in Montgomery form, converts. */
    for (uint32_t i = 0; args.converts && i < field->words; i++)
        args.factor[i] = field_word(is_standard ? field->one : one, i);
    phase_begin(&phase, run->device, run->stream, "msm", "combine");
    return phase_end(&phase, msm_enqueue(run, &launch));
}

/* ---- chunks of a call ------------------------------------------------------------------------ */

/* Copies host items from `first` on to offset `at` of the workspace. */
static void copy_items(const struct msm_call *call, struct pipeline_chunk *slot,
    const pool_span *span, uint64_t item_bytes, uint64_t first, uint64_t count, uint64_t at)
{
    uint64_t stride = span_stride(span, item_bytes);

    if (span->space != POOL_MEMORY_DEVICE && count)
        pipeline_upload(slot, call->frame.block, at, (const uint8_t *)span->data + first * stride,
            (count - 1) * stride + item_bytes);
}

/* The index of a chunk's first point in the span, or after first_base in the handle. */
static uint64_t first_base(const struct msm_call *call, const struct msm_chunk *chunk)
{
    return (call->job.shares_bases ? 0 : chunk->msm * call->job.msm.count) + chunk->first;
}

static uint64_t first_scalar(const struct msm_call *call, const struct msm_chunk *chunk)
{
    return chunk->msm * call->job.msm.count + chunk->first;
}

/* Whether the points of this chunk have not been uploaded and converted yet. */
static bool needs_bases(const struct msm_call *call, const struct msm_chunk *chunk)
{
    return call->job.has_bases_span && (chunk->index == 1 || !call->plan.uploads_bases_once);
}

static uint32_t base_slot(const struct msm_call *call, uint32_t slot)
{
    return call->plan.uploads_bases_once ? 0 : slot;
}

static bool set_next_chunk(void *user, struct pipeline_chunk *slot)
{
    struct msm_call *call = user;
    struct msm_chunk *chunk = &call->last;
    bool has_chunk = msm_chunk_next(&call->job, &call->plan, chunk);

    call->chunks[slot->slot] = *chunk;
    slot->first = first_scalar(call, chunk);
    slot->count = chunk->msms * chunk->count;
    return has_chunk;
}

static pool_status upload_chunk(void *user, struct pipeline_chunk *slot)
{
    const struct msm_call *call = user;
    const struct msm_chunk *chunk = &call->chunks[slot->slot];

    copy_items(call, slot, call->scalars, call->curve->scalar_field->bytes, slot->first,
        slot->count, call->plan.scalars_at[slot->slot]);
    if (needs_bases(call, chunk))
        copy_items(call, slot, call->points,
            pool_point_bytes(call->curve, call->params.point_layout), first_base(call, chunk),
            msm_chunk_bases(&call->job, chunk), call->plan.bases_at[base_slot(call, slot->slot)]);
    return POOL_OK;
}

static struct msm_check_result check_result(const struct msm_call *call, uint64_t first_index)
{
    return (struct msm_check_result){.buffer = call->frame.block,
        .offset = call->plan.check_at,
        .address = call->frame.address + call->plan.check_at,
        .first_index = first_index};
}

/* Converts and checks the points of a span. */
static pool_status prepare_span(
    struct msm_call *call, uint32_t slot, struct msm_chunk_operands *operands)
{
    const struct msm_chunk *chunk = &call->chunk;
    struct msm_input_bases input = call->input;
    const struct msm_check_result result =
        check_result(call, call->first_point + first_base(call, chunk));
    bool converts = call->job.converts_bases;
    pool_status status = POOL_OK;

    input.count = msm_chunk_bases(&call->job, chunk);
    if (call->job.bases_on_host)
        input.data = call->frame.address + call->plan.bases_at[base_slot(call, slot)];
    else
        input.data += first_base(call, chunk) * call->job.base_stride;
    operands->bases = converts ? call->frame.address + call->plan.converted_at : input.data;
    operands->base_stride = converts ? msm_affine_bytes(call->curve) : call->job.base_stride;
    operands->base_batch_stride = call->job.shares_bases ? 0 : call->job.msm.count;
    if (!needs_bases(call, chunk))
        return POOL_OK;
    if (converts)
        status = msm_convert_bases(&call->run, &input, operands->bases);
    if (!status)
        status = msm_check_bases(&call->run, &input, &result, operands->bases,
            operands->base_stride, call->frame.exec.checks);
    return status;
}

static void use_handle(const struct msm_call *call, struct msm_chunk_operands *operands)
{
    const struct pool_bases *bases = call->params.bases;

    operands->bases = bases->address;
    operands->base_stride = msm_affine_bytes(call->curve);
    operands->first_base = call->params.first_base + first_base(call, &call->chunk);
    operands->base_batch_stride = call->job.shares_bases ? 0 : call->job.msm.count;
    operands->multiple_stride = bases->count;
}

static pool_status prepare_scalars(
    struct msm_call *call, const struct pipeline_chunk *slot, struct msm_chunk_operands *operands)
{
    const struct msm_check_result result = check_result(call, call->first_scalar + slot->first);

    operands->scalars =
        call->job.scalars_on_host
            ? call->frame.address + call->plan.scalars_at[slot->slot]
            : (CUdeviceptr)(uintptr_t)call->scalars->data + slot->first * call->job.scalar_stride;
    operands->scalar_stride = call->job.scalar_stride / 4;
    operands->scalar_batch_stride = call->job.msm.count;
    operands->scalar_form = call->scalars->form;
    operands->reduces = (call->frame.exec.checks & POOL_CHECK_REDUCE) != 0;
    if (!(call->frame.exec.checks & POOL_CHECK_CANONICAL))
        return POOL_OK;
    const struct msm_scalars scalars = {.data = operands->scalars,
        .stride = operands->scalar_stride,
        .count = slot->count,
        .form = operands->scalar_form,
        .bits = call->params.scalar_bits};
    return msm_check_scalars(&call->run, &scalars, &result);
}

static pool_status add_chunk(void *user, struct pipeline_chunk *slot)
{
    struct msm_call *call = user;
    struct msm_chunk_operands operands = {.count = call->chunks[slot->slot].count};
    pool_status status;

    call->chunk = call->chunks[slot->slot];
    if (msm_chunk_begins_sub_batch(&call->chunk)) {
        call->run.plan = msm_chunk_plan_of(&call->plan, &call->chunk);
        call->run.chunks = 0;
    }
    status = prepare_scalars(call, slot, &operands);
    if (!status && call->params.bases)
        use_handle(call, &operands);
    else if (!status)
        status = prepare_span(call, slot->slot, &operands);
    if (!status && call->job.msm.half_bits)
        status = msm_split_terms(&call->run, &operands, call->frame.address + call->plan.halves_at,
            call->frame.address + call->plan.mapped_at);
    return status ? status : add_products(&call->run, &operands);
}

static pool_status reduce_sub_batch(void *user, struct pipeline_chunk *slot)
{
    struct msm_call *call = user;
    pool_status status;

    (void)slot;
    if (!msm_chunk_ends_sub_batch(&call->job, &call->chunk))
        return POOL_OK;
    status = msm_run_reduce(&call->run);
    return status ? status : msm_results_store(call, &call->chunk);
}

static uint32_t extras_of(const struct msm_call *call)
{
    bool checks_bases = call->job.has_bases_span && (call->frame.exec.checks & POOL_CHECK_ON_CURVE);

    return (call->job.combines_on_host ? 0 : MSM_COMBINES_ON_DEVICE) |
           (call->job.converts_bases ? MSM_CONVERTS_BASES : 0) |
           (checks_bases ? MSM_CHECKS_BASES : 0) |
           (call->job.msm.half_bits ? MSM_SPLITS_TERMS : 0) |
           (call->plan.plans[0].affine.passes ? MSM_PASSES_AFFINE : 0) |
           (call->plan.plans[0].small.parts ? MSM_IS_SMALL : 0);
}

pool_status msm_call_run(void *user)
{
    struct msm_call *call = user;
    struct exec_target *target = &call->frame.target;
    const struct pipeline pipeline = {.target = *target,
        .progress = &call->frame.progress,
        .weight = 1,
        .next = set_next_chunk,
        .slots = call->plan.slots,
        .is_serial = true,
        .is_uploaded_ahead = true,
        .upload = upload_chunk,
        .compute = add_chunk,
        .finish = reduce_sub_batch,
        .user = call};
    pool_status status;

    call->last = (struct msm_chunk){0};
    call->run = (struct msm_run){.device = target->device,
        .stream = target->stream,
        .slices = target->slices,
        .curve = call->curve,
        .workspace = call->frame.address,
        .share = exec_share_of(&call->frame.exec, target->device),
        .extras = extras_of(call)};
    status = pipeline_run(&pipeline);
    return status ? status : msm_results_write(call);
}
