/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trips of one transform, or of a batch, enqueued in order.
 */
#include "ntt/ntt.h"

#include "base/status.h"

/* The kernel's argument: struct ntt_pass of ptx/ntt/pass.cuh. */
struct pass_argument {
    CUdeviceptr in;
    CUdeviceptr out;
    CUdeviceptr roots;
    CUdeviceptr high;
    CUdeviceptr low;
    CUdeviceptr plain_low;
    CUdeviceptr coset_high;
    CUdeviceptr coset_low;
    CUdeviceptr scale;
    uint64_t batch;
    uint64_t columns;
    uint32_t log_size;
    uint32_t before;
    uint32_t bits;
    uint32_t log_columns;
    uint32_t lower_columns;
    uint32_t low_bits;
    uint32_t power_shift;
    uint32_t flags;
};

pool_status ntt_run_plan(const struct ntt_run *run, struct ntt_plan *plan)
{
    struct ntt_chip chip = ntt_chip_of(run->place.device);
    struct ntt_tuning tuning = ntt_tuning_on(run->place.device, &run->job);

    if (!ntt_plan_make(&tuning, &chip, &run->job, plan))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%llu transforms of 2^%u points need more blocks than a launch can have",
            (unsigned long long)run->job.batch, run->job.log_size);
    return POOL_OK;
}

bool ntt_run_needs_workspace(
    const struct ntt_plan *plan, int is_in_place, int in_may_be_overwritten)
{
    if (plan->needs_other_in && plan->needs_other_out)
        return true;
    if (plan->needs_other_in)
        return is_in_place;
    /* Input that may be overwritten serves where the output does not. */
    return plan->needs_other_out && (is_in_place || !in_may_be_overwritten);
}

/* Memory between the trips. */
static CUdeviceptr middle_of(const struct ntt_run *run, const struct ntt_plan *plan)
{
    if (ntt_run_needs_workspace(plan, run->in == run->out, run->in_may_be_overwritten))
        return run->workspace;
    return plan->needs_other_out ? run->in : run->out;
}

/* The factor of the last trip: 1/n where no table has it, and a change of form. */
static CUdeviceptr scale_of(
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
    return tables->address + (tables->layout.constants + constant) * run->place.field->bytes;
}

static pool_status enqueue(const struct ntt_run *run, const struct ntt_trip *trip,
    const struct pass_argument *argument, pool_kernel *kernel)
{
    void *arguments[] = {(void *)(uintptr_t)argument};
    static const size_t sizes[] = {sizeof(struct pass_argument)};
    struct ntt_launch launch = {.kernel = kernel,
        .blocks = trip->blocks,
        .threads = trip->threads,
        .shared_bytes = trip->shared_bytes,
        .count = 1,
        .arguments = arguments,
        .sizes = sizes,
        .stream = run->place.stream,
        .starts_early = trip->before != 0};

    return ntt_enqueue(&launch);
}

static void describe(const struct ntt_run *run, const struct ntt_tables *tables,
    const struct ntt_trip *trip, struct pass_argument *argument)
{
    const struct ntt_table_layout *layout = &tables->layout;
    uint64_t bytes = run->place.field->bytes;
    bool needs_low = trip->before < layout->low_bits;
    /* The first trip multiplies everything by a low power once: there the tables bring 1/n. */
    uint64_t low =
        trip->before == 0 && run->direction == POOL_NTT_INVERSE ? layout->low_scaled : layout->low;

    argument->roots = tables->address + layout->roots * bytes;
    argument->high = tables->address + layout->high * bytes;
    argument->low = needs_low ? tables->address + low * bytes : 0;
    argument->plain_low = needs_low ? tables->address + layout->low * bytes : 0;
    argument->coset_high = tables->address + layout->coset_high * bytes;
    argument->coset_low = layout->low_bits ? tables->address + layout->coset_low * bytes : 0;
    argument->batch = run->job.batch;
    argument->columns = trip->columns;
    argument->log_size = run->job.log_size;
    argument->before = trip->before;
    argument->bits = trip->bits;
    argument->log_columns = trip->log_columns;
    argument->lower_columns = trip->lower_columns;
    argument->low_bits = layout->low_bits;
    argument->power_shift = trip->before;
    argument->flags = trip->flags;
}

pool_status ntt_run_enqueue(const struct ntt_run *run, const struct ntt_plan *plan)
{
    struct ntt_tuning tuning = ntt_tuning_on(run->place.device, &run->job);
    const struct ntt_tables *tables = NULL;
    CUdeviceptr middle = middle_of(run, plan);
    pool_status status =
        ntt_tables_get(run->domain, run->place.stream, run->direction, &tuning, &tables);

    for (uint32_t i = 0; !status && i < plan->count; i++) {
        bool is_last = i + 1 == plan->count;
        bool is_in_tables = plan->count > 1 && tables->layout.low_bits != 0;
        struct pass_argument argument = {.in = i == 0 ? run->in : middle,
            .out = is_last ? run->out : middle,
            .scale = is_last ? scale_of(run, tables, is_in_tables) : 0};

        describe(run, tables, &plan->trip[i], &argument);
        status = enqueue(run, &plan->trip[i], &argument, tables->kernel);
    }
    return status;
}
