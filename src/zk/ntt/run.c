/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs NTTs: enqueues the passes of one, or of a batch, in order; and the chunks of a call.
 */
#include "zk/ntt/ntt.h"

#include "base/status.h"
#include "pool/stream/phase.h"
#include "zk/operation/pipeline.h"
#include "zk/operation/slices.h"
#include "zk/vector/check.h"
#include "zk/vector/vector.h"

pool_status ntt_run_plan(const struct ntt_run *run, struct ntt_plan *plan)
{
    const struct chip chip = chip_of(run->target.device);
    const struct ntt_tuning tuning = ntt_tuning_for(&run->job, &chip);

    return ntt_plan_make(&tuning, &chip, &run->job, plan) ? POOL_OK : ntt_plan_fail(&run->job);
}

/* Where all passes but the last write. */
static CUdeviceptr intermediate_memory(const struct ntt_run *run, const struct ntt_plan *plan)
{
    if (ntt_plan_needs_workspace(plan, run->in == run->out, run->in_may_be_overwritten))
        return run->workspace;
    return plan->last_is_out_of_place ? run->in : run->out;
}

CUdeviceptr ntt_last_pass_scale(
    const struct ntt_run *run, const struct ntt_tables *tables, bool is_in_tables)
{
    bool is_inverse = run->direction == POOL_NTT_INVERSE && !is_in_tables;
    enum ntt_constant constant = NTT_INVERSE_SIZE;

    if (run->form_change > 0)
        constant = is_inverse ? NTT_INVERSE_SIZE_R : NTT_R;
    else if (run->form_change < 0)
        constant = is_inverse ? NTT_INVERSE_SIZE_INVERSE_R : NTT_INVERSE_R;
    else if (!is_inverse)
        return 0;
    return tables->address + (tables->layout.constants + constant) * run->target.field->bytes;
}

struct ntt_pass_args ntt_pass_args_of(const struct ntt_run *run, const struct ntt_pass *pass,
    const struct ntt_tables *tables, CUdeviceptr in, CUdeviceptr out, CUdeviceptr scale)
{
    const struct ntt_table_layout *layout = &tables->layout;
    const CUdeviceptr base = tables->address;
    const uint64_t bytes = run->target.field->bytes;
    /* The first pass multiplies every element by a low twiddle once; in an inverse NTT the entries
     * of that table include the factor 1/n. */
    bool is_scaled = pass->log_done == 0 && run->direction == POOL_NTT_INVERSE;
    bool needs_low = pass->log_done < layout->low_bits || pass->flags & NTT_COSET_INPUT;
    bool has_quotients = tables->quotients == NTT_ALL_QUOTIENTS;
    uint64_t high = has_quotients ? layout->shared_high : layout->twiddles_high;
    uint64_t low = is_scaled ? layout->twiddles_low_scaled : layout->twiddles_low;

    if (has_quotients)
        low = is_scaled ? layout->shared_low_scaled : layout->shared_low;
    return (struct ntt_pass_args){
        .in = in,
        .out = out,
        .stage_twiddles = base + layout->stage_twiddles * bytes,
        .twiddles_high = base + high * bytes,
        .twiddles_low = needs_low && layout->low_bits ? base + low * bytes : 0,
        .twiddles_low_unscaled =
            needs_low && layout->low_bits ? base + layout->twiddles_low * bytes : 0,
        .coset_high = base + layout->coset_high * bytes,
        .coset_low = layout->low_bits ? base + layout->coset_low * bytes : 0,
        .scale = scale,
        .quotients = layout->quotients - layout->stage_twiddles,
        .batch = run->job.batch,
        .sub_transforms = pass->sub_transforms,
        .log_size = run->job.log_size,
        .log_done = pass->log_done,
        .log_length = pass->log_length,
        .log_tile_width = pass->log_tile_width,
        .log_tile_inner = pass->log_tile_inner,
        .low_bits = layout->low_bits,
        .exponent_shift = pass->log_done,
        .flags = pass->flags | pass->log_in_warp << NTT_IN_WARP_SHIFT,
    };
}

/* A pass reads and writes every element, which is multiplied in half of its butterflies, and by a
 * twiddle between passes. */
double ntt_pass_seconds(
    const struct exec_target *target, const struct ntt_job *job, const struct ntt_pass *pass)
{
    const double elements = (double)(job->batch << job->log_size);

    return slices_seconds(target->device, job->words, elements * (pass->log_length / 2.0 + 1),
        elements * 2 * job->words * sizeof(uint32_t));
}

static pool_status enqueue_pass(const struct ntt_run *run, const struct ntt_pass *pass,
    const struct ntt_tables *tables, CUdeviceptr in, CUdeviceptr out, CUdeviceptr scale)
{
    const bool by_length = tables->tuning.by_length;
    const struct ntt_build build = ntt_build_of_length(&tables->tuning, pass->log_length);
    struct ntt_pass_args args = ntt_pass_args_of(run, pass, tables, in, out, scale);
    struct ntt_word_args word = tables->word;
    void *arguments[] = {&args, &word};
    static const size_t sizes[] = {sizeof(args), sizeof(word)};
    struct module_launch launch = {.kernel = tables->kernel,
        .blocks = pass->blocks,
        .threads = pass->threads,
        .shared_bytes = pass->shared_bytes,
        .count = by_length ? 2 : 1,
        .arguments = arguments,
        .sizes = sizes,
        .stream = run->target.stream,
        .pdl = pass->log_done != 0 && (run->follows_kernel || !(pass->flags & NTT_COSET_INPUT)),
        .seconds = ntt_pass_seconds(&run->target, &run->job, pass),
        .first_block = &args.first_block};
    pool_status status = POOL_OK;

    if (by_length)
        status = ntt_pass_kernel(run->target.device, run->target.field, &build, &launch.kernel);
    return status ? status : slices_launch(run->target.slices, run->target.slice_ns, &launch);
}

/* The name of a phase; no built-in tuning needs more than four passes. */
static const char *name_of_pass(uint32_t index)
{
    static const char *const names[] = {"pass 1", "pass 2", "pass 3", "pass 4", "later passes"};

    return names[index < 4 ? index : 4];
}

pool_status ntt_run_enqueue(const struct ntt_run *run, const struct ntt_plan *plan)
{
    const struct chip chip = chip_of(run->target.device);
    const struct ntt_tuning tuning = ntt_tuning_for(&run->job, &chip);
    struct ntt_tables *tables = NULL;
    CUdeviceptr intermediate = intermediate_memory(run, plan);
    struct phase phase;
    pool_status status =
        ntt_tables_get(run->domain, run->target.stream, run->direction, &tuning, &tables);

    for (uint32_t i = 0; !status && i < plan->count; i++) {
        bool is_last = i + 1 == plan->count;
        bool is_in_tables = plan->count > 1 && tables->layout.low_bits != 0;

        phase_begin(&phase, run->target.device, run->target.stream, "ntt", name_of_pass(i));
        status = enqueue_pass(run, &plan->pass[i], tables, i == 0 ? run->in : intermediate,
            is_last ? run->out : intermediate,
            is_last ? ntt_last_pass_scale(run, tables, is_in_tables) : 0);
        status = phase_end(&phase, status);
    }
    ntt_tables_release(tables);
    return status;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static pool_status check_input(const struct ntt_call *call, const struct pipeline_chunk *chunk)
{
    const pool_field *field = call->frame.target.field;
    const struct vector_items items = {.address = (CUdeviceptr)(uintptr_t)chunk->in[0].data,
        .stride = span_stride(&chunk->in[0], field->bytes),
        .count = chunk->count,
        .elements = 1,
        .first = call->first + chunk->first,
        .what = "input"};

    return call->frame.exec.checks ? vector_check_elements(&chunk->target, field, &items) : POOL_OK;
}

/* Scratch memory for the chunk's elements, packed. */
static pool_status allocate_packed(struct ntt_call *call, const struct pipeline_chunk *chunk,
    pool_buffer **buffer, pool_span *span)
{
    CUdeviceptr address;
    pool_status status = operation_scratch(&call->frame, &chunk->target,
        chunk->count * call->frame.target.field->bytes, buffer, &address);

    *span = (pool_span){
        .data = (void *)(uintptr_t)address, .count = chunk->count, .space = POOL_MEMORY_DEVICE};
    return status;
}

/* Strided or unaligned input becomes packed, unless its copy on the device already is. */
static pool_status pack_input(struct ntt_call *call, struct pipeline_chunk *chunk, pool_span *in)
{
    pool_status status;

    *in = chunk->in[0];
    if (call->operands.in_is_packed)
        return POOL_OK;
    status = allocate_packed(call, chunk, &chunk->result, in);
    return status ? status : vector_copy(&chunk->target, &chunk->in[0], in);
}

/* Where the last pass writes. */
static pool_status choose_output(struct ntt_call *call, const struct ntt_memory *memory,
    const struct pipeline_chunk *chunk, const pool_span *in, pool_span *out)
{
    pool_buffer *result;

    *out = chunk->out;
    if (memory->copies_output && !call->operands.out_is_on_host)
        return allocate_packed(call, chunk, &result, out);
    if (memory->packs_input && (call->operands.out_is_on_host || !call->operands.out_is_packed))
        *out = *in;
    return POOL_OK;
}

static pool_status compute_chunk(void *user, struct pipeline_chunk *chunk)
{
    struct ntt_call *call = user;
    struct ntt_run run = {.target = chunk->target,
        .domain = call->params.domain,
        .direction = call->params.direction,
        .form_change = (int)call->out->form - (int)call->in->form,
        .job = call->job};
    struct ntt_memory memory;
    struct ntt_plan plan;
    pool_span in = {0}, out = {0};
    pool_status status;

    run.job.batch = chunk->count >> run.job.log_size;
    status = ntt_run_plan(&run, &plan);
    memory = ntt_plan_memory(&plan, &run.job, &call->operands);
    if (!status)
        status = check_input(call, chunk);
    if (!status)
        status = pack_input(call, chunk, &in);
    if (!status)
        status = choose_output(call, &memory, chunk, &in, &out);
    if (status)
        return status;
    run.in = (CUdeviceptr)(uintptr_t)in.data;
    run.out = (CUdeviceptr)(uintptr_t)out.data;
    run.in_may_be_overwritten = memory.packs_input;
    run.workspace = chunk->scratch;
    if (call->operands.has_workspace)
        status = pool_buffer_address(call->frame.exec.workspace, &run.workspace);
    if (!status)
        status = ntt_run_enqueue(&run, &plan);
    if (!status && !call->operands.out_is_on_host && out.data != chunk->out.data)
        status = vector_copy(&chunk->target, &out, &chunk->out);
    return status;
}

pool_status ntt_call_run(void *user)
{
    struct ntt_call *call = user;
    const uint64_t bytes = call->frame.target.field->bytes;
    const struct ntt_operands *operands = &call->operands;
    const struct pipeline pipeline = {.target = call->frame.target,
        .progress = &call->frame.progress,
        .weight = 1,
        .count = call->in->count,
        .chunk_items = call->chunks.rows << call->job.log_size,
        .slots = call->chunks.slots,
        .in = {{call->in, bytes, false}},
        .out = {call->out, bytes, false},
        .is_in_place = operands->in_is_on_host || !operands->in_is_packed,
        .scratch_bytes = call->chunks.workspace_bytes,
        .compute = compute_chunk,
        .user = call};

    return pipeline_run(&pipeline);
}
