/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enqueues the passes of one NTT, or of a batch, in order.
 */
#include "ntt/ntt.h"

#include "base/status.h"

pool_status ntt_run_plan(const struct ntt_run *run, struct ntt_plan *plan)
{
    struct chip chip = chip_of(run->target.device);
    struct ntt_tuning tuning = ntt_tuning_on(run->target.device, &run->job);

    if (!ntt_plan_make(&tuning, &chip, &run->job, plan))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_ntt: %llu transforms of 2^%u points need more blocks than a launch can have; use "
            "a smaller batch",
            (unsigned long long)run->job.batch, run->job.log_size);
    return POOL_OK;
}

bool ntt_run_needs_workspace(
    const struct ntt_plan *plan, int is_in_place, int in_may_be_overwritten)
{
    if (plan->first_is_out_of_place && plan->last_is_out_of_place)
        return true;
    if (plan->first_is_out_of_place)
        return is_in_place;
    /* An input that may be overwritten serves as intermediate memory where the output cannot. */
    return plan->last_is_out_of_place && (is_in_place || !in_may_be_overwritten);
}

/* Where all passes but the last write. */
static CUdeviceptr intermediate_memory(const struct ntt_run *run, const struct ntt_plan *plan)
{
    if (ntt_run_needs_workspace(plan, run->in == run->out, run->in_may_be_overwritten))
        return run->workspace;
    return plan->last_is_out_of_place ? run->in : run->out;
}

/* The scale factor of the last pass: 1/n, unless the twiddle tables include it, and a change of
 * form. 0: none. */
static CUdeviceptr last_pass_scale(
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

static pool_status enqueue_pass(const struct ntt_run *run, const struct ntt_pass *pass,
    const struct ntt_tables *tables, CUdeviceptr in, CUdeviceptr out, CUdeviceptr scale)
{
    const struct ntt_table_layout *layout = &tables->layout;
    const CUdeviceptr base = tables->address;
    const uint64_t bytes = run->target.field->bytes;
    /* The first pass multiplies every element by a low twiddle once; in an inverse NTT the entries
     * of that table include the factor 1/n. */
    bool is_scaled = pass->log_done == 0 && run->direction == POOL_NTT_INVERSE;
    bool needs_low = pass->log_done < layout->low_bits;
    uint64_t low = is_scaled ? layout->twiddles_low_scaled : layout->twiddles_low;
    struct ntt_pass_args args = {
        .in = in,
        .out = out,
        .stage_twiddles = base + layout->stage_twiddles * bytes,
        .twiddles_high = base + layout->twiddles_high * bytes,
        .twiddles_low = needs_low ? base + low * bytes : 0,
        .twiddles_low_unscaled = needs_low ? base + layout->twiddles_low * bytes : 0,
        .coset_high = base + layout->coset_high * bytes,
        .coset_low = layout->low_bits ? base + layout->coset_low * bytes : 0,
        .scale = scale,
        .batch = run->job.batch,
        .sub_transforms = pass->sub_transforms,
        .log_size = run->job.log_size,
        .log_done = pass->log_done,
        .log_length = pass->log_length,
        .log_tile_width = pass->log_tile_width,
        .log_tile_inner = pass->log_tile_inner,
        .low_bits = layout->low_bits,
        .exponent_shift = pass->log_done,
        .flags = pass->flags,
    };
    void *arguments[] = {&args};
    static const size_t sizes[] = {sizeof(args)};
    struct module_launch launch = {.kernel = tables->kernel,
        .blocks = pass->blocks,
        .threads = pass->threads,
        .shared_bytes = pass->shared_bytes,
        .count = 1,
        .arguments = arguments,
        .sizes = sizes,
        .stream = run->target.stream,
        .pdl = pass->log_done != 0};

    return module_launch_enqueue(&launch);
}

pool_status ntt_run_enqueue(const struct ntt_run *run, const struct ntt_plan *plan)
{
    struct ntt_tuning tuning = ntt_tuning_on(run->target.device, &run->job);
    const struct ntt_tables *tables = NULL;
    CUdeviceptr intermediate = intermediate_memory(run, plan);
    pool_status status =
        ntt_tables_get(run->domain, run->target.stream, run->direction, &tuning, &tables);

    for (uint32_t i = 0; !status && i < plan->count; i++) {
        bool is_last = i + 1 == plan->count;
        bool is_in_tables = plan->count > 1 && tables->layout.low_bits != 0;

        status = enqueue_pass(run, &plan->pass[i], tables, i == 0 ? run->in : intermediate,
            is_last ? run->out : intermediate,
            is_last ? last_pass_scale(run, tables, is_in_tables) : 0);
    }
    return status;
}
