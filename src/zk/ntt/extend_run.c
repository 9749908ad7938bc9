/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes low-degree extensions chunk by chunk: the inverse transforms, the spread over the cosets
 * and the remaining passes of the forward transforms. plan_extend.c says where their results are.
 */
#include "zk/ntt/extend.h"

#include "base/math.h"
#include "pool/stream/phase.h"
#include "zk/operation/slices.h"
#include "zk/vector/check.h"
#include "zk/vector/vector.h"

/* The extension of a chunk. */
struct extension {
    const struct ntt_extend_call *call;
    const struct pipeline_chunk *chunk;
    struct ntt_extend_plan plan;
};

static CUdeviceptr device_address(const pool_span *span)
{
    return (CUdeviceptr)(uintptr_t)span->data;
}

static CUdeviceptr address_of(const struct extension *extension, enum ntt_extend_place place)
{
    const struct ntt_extend_call *call = extension->call;
    const struct pipeline_chunk *chunk = extension->chunk;
    const uint64_t points = chunk->count << (call->job.log_size - call->job.log_blowup);
    CUdeviceptr kept = call->coefficients ? device_address(call->coefficients) : 0;

    switch (place) {
    case NTT_EXTEND_NOWHERE:
        break;
    case NTT_EXTEND_IN:
        return device_address(&chunk->in[0]);
    case NTT_EXTEND_KEPT:
        /* Its buffer has been allocated, so that it has an address. */
        if (call->operands.coefficients_are_on_host)
            (void)pool_buffer_address(call->kept[chunk->slot], &kept);
        return kept;
    case NTT_EXTEND_OUT:
        return device_address(&chunk->out);
    case NTT_EXTEND_OUT_TAIL:
        return device_address(&chunk->out) + points * call->frame.target.field->bytes;
    case NTT_EXTEND_COEFFICIENTS:
        return chunk->scratch;
    case NTT_EXTEND_WORKSPACE:
        return chunk->scratch + extension->plan.coefficients_bytes;
    }
    return 0;
}

static pool_form coefficients_form(const struct ntt_extend_call *call)
{
    return call->operands.keeps_coefficients ? call->coefficients->form : call->in->form;
}

static pool_status check_input(const struct extension *extension)
{
    const struct ntt_extend_call *call = extension->call;
    const pool_field *field = call->frame.target.field;
    const struct pipeline_chunk *chunk = extension->chunk;
    const uint32_t log_points = call->job.log_size - call->job.log_blowup;
    const struct vector_items items = {.address = device_address(&chunk->in[0]),
        .stride = field->bytes,
        .count = chunk->count << log_points,
        .elements = 1,
        .first = (call->first + chunk->first) << log_points,
        .what = "input"};

    return call->frame.exec.checks ? vector_check_elements(&chunk->target, field, &items) : POOL_OK;
}

/* Coefficients of the caller's whose memory the results take. */
static pool_status copy_coefficients(const struct extension *extension)
{
    const struct ntt_extend_call *call = extension->call;
    const uint64_t points = extension->chunk->count << (call->job.log_size - call->job.log_blowup);
    const pool_span from = {
        .data = extension->chunk->in[0].data, .count = points, .space = POOL_MEMORY_DEVICE};
    pool_span to = from;

    to.data = (void *)(uintptr_t)address_of(extension, NTT_EXTEND_COEFFICIENTS);
    return vector_copy(&extension->chunk->target, &from, &to);
}

static pool_status enqueue_inverse(const struct extension *extension)
{
    const struct ntt_extend_call *call = extension->call;
    const struct ntt_extend_plan *plan = &extension->plan;
    const struct ntt_run run = {.target = extension->chunk->target,
        .domain = call->columns_domain,
        .direction = POOL_NTT_INVERSE,
        .job = plan->inverse,
        .form_change = (int)coefficients_form(call) - (int)call->in->form,
        .in = address_of(extension, NTT_EXTEND_IN),
        .out = address_of(extension, plan->coefficients),
        .workspace = address_of(extension, plan->workspace[POOL_NTT_INVERSE]),
        .in_may_be_overwritten = call->operands.in_is_on_host || call->operands.out_begins_with_in};

    return ntt_run_enqueue(&run, &plan->passes[POOL_NTT_INVERSE]);
}

/* A coefficient becomes 2^log_blowup elements, each by a product. */
static double spread_seconds(const struct extension *extension, double coefficients)
{
    const pool_field *field = extension->call->frame.target.field;
    const double elements = coefficients * (double)(UINT64_C(1) << extension->call->job.log_blowup);

    return slices_seconds(extension->chunk->target.device, field->words,
        elements + 4 * coefficients, (elements + coefficients) * field->bytes);
}

static pool_status launch_spread(const struct extension *extension, const struct ntt_tables *tables)
{
    const struct ntt_extend_call *call = extension->call;
    const struct ntt_extend_plan *plan = &extension->plan;
    const struct ntt_table_layout *layout = &tables->layout;
    const CUdeviceptr base = tables->address;
    const uint64_t bytes = call->frame.target.field->bytes;
    const bool has_low = layout->low_bits != 0;
    struct ntt_extend_args args = {.in = address_of(extension, plan->coefficients),
        .out = address_of(extension, plan->spread),
        .twiddles_high = base + layout->twiddles_high * bytes,
        .twiddles_low = has_low ? base + layout->twiddles_low * bytes : 0,
        .coset_high = base + layout->coset_high * bytes,
        .coset_low = has_low ? base + layout->coset_low * bytes : 0,
        .batch = extension->chunk->count,
        .log_points = call->job.log_size - call->job.log_blowup,
        .log_blowup = call->job.log_blowup,
        .low_bits = layout->low_bits};
    void *arguments[] = {&args};
    static const size_t sizes[] = {sizeof(args)};
    struct module_launch launch = {.threads = NTT_EXTEND_THREADS,
        .count = 1,
        .arguments = arguments,
        .sizes = sizes,
        .stream = extension->chunk->target.stream,
        .first_block = &args.first_block};
    pool_status status =
        ntt_extend_kernel(call->frame.target.device, call->frame.target.field, &launch.kernel);

    args.count = args.batch << args.log_points;
    if (call->job.layout == POOL_NTT_COLUMNS)
        args.flags |= NTT_INTERLEAVED;
    if (!plan->inverts && plan->inverse.order == POOL_NTT_RN)
        args.flags |= NTT_REVERSED_INPUT;
    launch.blocks = base_ceil_div(args.count, NTT_EXTEND_THREADS);
    launch.seconds = spread_seconds(extension, (double)args.count);
    return status ? status
                  : slices_launch(extension->chunk->target.slices,
                        extension->chunk->target.slice_ns, &launch);
}

static pool_status enqueue_spread(const struct extension *extension)
{
    const struct ntt_extend_call *call = extension->call;
    const struct exec_target *target = &extension->chunk->target;
    const struct chip chip = chip_of(target->device);
    const struct ntt_tuning tuning = ntt_tuning_for(&extension->plan.forward, &chip);
    struct ntt_tables *tables = NULL;
    struct phase phase;
    pool_status status =
        ntt_tables_get(call->params.domain, target->stream, POOL_NTT_FORWARD, &tuning, &tables);

    if (status)
        return status;
    phase_begin(&phase, target->device, target->stream, "ntt", "extend");
    status = phase_end(&phase, launch_spread(extension, tables));
    ntt_tables_release(tables);
    return status;
}

static pool_status enqueue_forward(const struct extension *extension)
{
    const struct ntt_extend_call *call = extension->call;
    const struct ntt_extend_plan *plan = &extension->plan;
    /* Then the first pass reads the coefficients, and all but the last write where they spread. */
    const bool is_fused = plan->spreads && !plan->spreads_apart;
    const struct ntt_run run = {.target = extension->chunk->target,
        .domain = call->params.domain,
        .direction = POOL_NTT_FORWARD,
        .job = plan->forward,
        .form_change = (int)call->out->form - (int)coefficients_form(call),
        .in = address_of(extension, is_fused ? plan->coefficients : plan->spread),
        .out = address_of(extension, NTT_EXTEND_OUT),
        .workspace =
            address_of(extension, is_fused ? plan->spread : plan->workspace[POOL_NTT_FORWARD]),
        .in_may_be_overwritten =
            plan->spreads_apart ||
            (!plan->spreads && plan->coefficients == NTT_EXTEND_IN && call->operands.in_is_on_host),
        .follows_kernel = plan->inverts || plan->spreads_apart};

    return ntt_run_enqueue(&run, &plan->passes[POOL_NTT_FORWARD]);
}

static pool_status compute_chunk(void *user, struct pipeline_chunk *chunk)
{
    const struct ntt_extend_call *call = user;
    const struct chip chip = chip_of(chunk->target.device);
    struct extension extension = {.call = call, .chunk = chunk};
    struct ntt_extend_job job = call->job;
    pool_status status;

    job.batch = chunk->count;
    if (!ntt_extend_plan_make(&chip, &job, &call->operands, &extension.plan))
        return ntt_plan_fail(&extension.plan.forward);
    status = check_input(&extension);
    if (!status && extension.plan.copies)
        status = copy_coefficients(&extension);
    if (!status && extension.plan.inverts)
        status = enqueue_inverse(&extension);
    if (!status && extension.plan.spreads_apart)
        status = enqueue_spread(&extension);
    return status ? status : enqueue_forward(&extension);
}

/* Memory for the coefficients of the slot's chunks, which are downloaded from there. */
static pool_status allocate_kept(void *user, struct pipeline_chunk *chunk)
{
    struct ntt_extend_call *call = user;
    const uint64_t points = call->chunks.columns << (call->job.log_size - call->job.log_blowup);
    CUdeviceptr address;

    if (call->kept[chunk->slot])
        return POOL_OK;
    return operation_scratch(&call->frame, &chunk->target, points * call->frame.target.field->bytes,
        &call->kept[chunk->slot], &address);
}

static pool_status download_kept(void *user, struct pipeline_chunk *chunk)
{
    const struct ntt_extend_call *call = user;
    const uint64_t column = (uint64_t)call->frame.target.field->bytes
                            << (call->job.log_size - call->job.log_blowup);

    return pool_copy_to_host((uint8_t *)call->coefficients->data + chunk->first * column,
        call->kept[chunk->slot], 0, chunk->count * column, chunk->target.stream);
}

/* The columns are the pipeline's items. */
static pool_span columns_of(const struct ntt_extend_call *call, const pool_span *span)
{
    pool_span columns = *span;

    columns.count = call->params.batch;
    columns.stride = 0;
    return columns;
}

pool_status ntt_extend_find_columns(struct ntt_extend_call *call)
{
    pool_ntt_domain *domain = call->params.domain;

    call->columns_domain = domain;
    return call->params.log_blowup
               ? ntt_domain_power(
                     domain, domain->log_size - call->params.log_blowup, &call->columns_domain)
               : POOL_OK;
}

pool_status ntt_extend_run(void *user)
{
    struct ntt_extend_call *call = user;
    const uint64_t column = (uint64_t)call->frame.target.field->bytes << call->job.log_size;
    const bool downloads =
        call->operands.keeps_coefficients && call->operands.coefficients_are_on_host;
    const pool_span in = columns_of(call, call->in), out = columns_of(call, call->out);
    const struct pipeline pipeline = {.target = call->frame.target,
        .progress = &call->frame.progress,
        .weight = UINT64_C(1) << call->job.log_size,
        .count = call->params.batch,
        .chunk_items = call->chunks.columns,
        .slots = call->chunks.slots,
        .in = {{&in, column >> call->job.log_blowup, false}},
        .out = {&out, column, false},
        .scratch_bytes = call->chunks.scratch_bytes,
        .upload = downloads ? allocate_kept : NULL,
        .compute = compute_chunk,
        .download = downloads ? download_kept : NULL,
        .user = call};
    pool_status status = ntt_extend_find_columns(call);

    return status ? status : pipeline_run(&pipeline);
}
