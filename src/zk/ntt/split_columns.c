/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first step of a transform that is split over devices: columns are uploaded, or are in a
 * shard, and their pass stores them in the memory of the devices that transform their rows.
 */
#include <stdio.h>

#include "base/math.h"
#include "pool/stream/phase.h"
#include "pool/stream/stream.h"
#include "zk/ntt/split_run.h"
#include "zk/operation/pipeline.h"
#include "zk/operation/slices.h"
#include "zk/vector/check.h"

static pool_status check_uploaded(struct ntt_split_run *run, struct ntt_split_device *device,
    uint64_t to, uint64_t from, uint64_t count)
{
    const uint64_t bytes = ntt_split_element_bytes(run);
    const struct vector_items items = {.address = device->region[NTT_SPLIT_FIRST] + to * bytes,
        .stride = bytes,
        .count = count,
        .elements = 1,
        .first = from,
        .what = "input"};

    return vector_check_elements(&device->of_call.target, device->of_call.target.field, &items);
}

/* Elements of the chunk of columns from `first` on: `rows` runs of `count` of them, `pitch` apart
 * in host memory from element `from` on and `to_pitch` in NTT_SPLIT_FIRST from `to` on. */
struct upload {
    uint64_t rows, count, from, from_pitch, to, to_pitch;
};

/* Bit-reversed columns are contiguous; of natural ones each row of the matrix has a run. */
static struct upload upload_of(
    const struct ntt_split_run *run, uint32_t index, uint64_t first, uint64_t count)
{
    const struct ntt_split *plan = &run->plan;
    const uint64_t transform = run->transform << plan->log_size;
    const uint64_t columns = plan->columns_job.batch;

    if (plan->takes_reversed)
        return (struct upload){.rows = 1,
            .count = count << plan->log_rows,
            .from = transform + index * run->local + (first << plan->log_rows),
            .to = first << plan->log_rows};
    return (struct upload){.rows = UINT64_C(1) << plan->log_rows,
        .count = count,
        .from = transform + index * columns + first,
        .from_pitch = UINT64_C(1) << plan->log_columns,
        .to = first,
        .to_pitch = columns};
}

static pool_status copy_rows_to_device(
    struct ntt_split_run *run, struct ntt_split_device *device, const struct upload *upload)
{
    const uint64_t bytes = ntt_split_element_bytes(run);
    const uint8_t *from = (const uint8_t *)run->call->in->data + upload->from * bytes;
    const pool_pitched host = {
        .host = (void *)(uintptr_t)from, .pitch = upload->from_pitch * bytes};
    const pool_pitched rows = {.buffer = device->view[NTT_SPLIT_FIRST],
        .offset = upload->to * bytes,
        .pitch = upload->to_pitch * bytes};
    pool_status status = POOL_OK;

    if (run->uploads_2d)
        return pool_copy_2d(
            &rows, &host, upload->count * bytes, upload->rows, device->set->stream[0]);
    for (uint64_t row = 0; row < upload->rows && !status; row++)
        status = pool_copy_to_device(device->view[NTT_SPLIT_FIRST], rows.offset + row * rows.pitch,
            from + row * host.pitch, upload->count * bytes, device->set->stream[0]);
    return status;
}

static pool_status upload_columns(
    struct ntt_split_run *run, uint32_t index, uint64_t first, uint64_t count)
{
    struct ntt_split_device *device = &run->device[index];
    const struct upload upload = upload_of(run, index, first, count);
    pool_status status = copy_rows_to_device(run, device, &upload);

    if (!status)
        status = pipeline_order_streams(device->set->event[NTT_SPLIT_UPLOADED],
            device->set->stream[0], device->of_call.target.stream);
    for (uint64_t row = 0; row < upload.rows && !status && run->call->frame.exec.checks; row++)
        status = check_uploaded(run, device, upload.to + row * upload.to_pitch,
            upload.from + row * upload.from_pitch, upload.count);
    return status;
}

static pool_status check_shard_elements(
    struct ntt_split_run *run, uint32_t index, CUdeviceptr address)
{
    struct ntt_split_device *device = &run->device[index];
    char what[64];
    const struct vector_items items = {.address = address,
        .stride = ntt_split_element_bytes(run),
        .count = run->local,
        .elements = 1,
        .first = run->transform * run->local,
        .what = what};

    snprintf(what, sizeof(what), "shard %u of the input", index);
    return run->call->frame.exec.checks ? vector_check_elements(&device->of_call.target,
                                              device->of_call.target.field, &items)
                                        : POOL_OK;
}

/* The tables of the whole transform, and a coset's factors that the parts leave out. */
static void set_twiddles(
    const struct ntt_split_run *run, const struct ntt_tables *tables, struct ntt_split_args *args)
{
    const struct ntt_table_layout *layout = &tables->layout;
    const uint64_t bytes = ntt_split_element_bytes(run);

    args->low_bits = layout->low_bits;
    args->twiddles_high = tables->address + layout->twiddles_high * bytes;
    args->twiddles_low = layout->low_bits ? tables->address + layout->twiddles_low * bytes : 0;
    if (!run->call->params.coset)
        return;
    args->coset_high = tables->address + layout->coset_high * bytes;
    args->coset_low = layout->low_bits ? tables->address + layout->coset_low * bytes : 0;
    if (run->call->params.direction == POOL_NTT_INVERSE)
        args->flags |= NTT_SPLIT_COSET_OF_ROWS;
}

/* Where a device stores its columns: to each destination's NTT_SPLIT_SECOND, or, without peer
 * access, to the blocks of its own NTT_SPLIT_SECOND, which are copied to them. */
static struct ntt_split_args split_args_of(const struct ntt_split_run *run, uint32_t index)
{
    struct ntt_split_args args = ntt_split_args_of(&run->plan, index, run->is_direct);
    const uint64_t block = run->local / run->count * ntt_split_element_bytes(run);

    for (uint32_t i = 0; i < run->count; i++)
        args.out[i] = run->is_direct ? run->device[i].region[NTT_SPLIT_SECOND]
                                     : run->device[index].region[NTT_SPLIT_SECOND] + i * block;
    return args;
}

static pool_status launch_columns(const struct ntt_run *columns, const struct ntt_plan *plan,
    struct ntt_pass_args *pass, struct ntt_split_args *split)
{
    static const size_t sizes[] = {sizeof(*pass), sizeof(*split)};
    const pool_field *field = columns->target.field;
    const struct chip chip = chip_of(columns->target.device);
    const struct ntt_tuning tuning = ntt_tuning_for(&columns->job, &chip);
    const struct ntt_build build = ntt_build_of(
        field, columns->domain->root[columns->direction], columns->domain->log_size, &tuning);
    void *arguments[] = {pass, split};
    struct module_launch launch = {.blocks = plan->pass[0].blocks,
        .threads = plan->pass[0].threads,
        .shared_bytes = plan->pass[0].shared_bytes,
        .count = 2,
        .arguments = arguments,
        .sizes = sizes,
        .stream = columns->target.stream,
        .seconds = ntt_pass_seconds(&columns->target, &columns->job, &plan->pass[0]),
        .first_block = &pass->first_block};
    struct phase phase;
    pool_status status = ntt_split_kernel(columns->target.device, field, &build, &launch.kernel);

    if (status)
        return status;
    phase_begin(&phase, columns->target.device, columns->target.stream, "ntt", "columns");
    return phase_end(
        &phase, slices_launch(columns->target.slices, columns->target.slice_ns, &launch));
}

/* Columns of a device from `first` on. */
struct columns {
    struct ntt_split_run *run;
    uint32_t index;
    uint64_t first;
    struct ntt_run transforms;
};

static pool_status enqueue_columns(void *user)
{
    struct columns *work = user;
    struct ntt_split_run *run = work->run;
    const struct ntt_run *columns = &work->transforms;
    const struct ntt_call *call = run->call;
    const struct chip chip = chip_of(columns->target.device);
    const struct ntt_tuning tuning = ntt_tuning_for(&columns->job, &chip);
    const struct ntt_tuning whole_tuning = ntt_tuning_for(&call->job, &chip);
    struct ntt_split_args split = split_args_of(run, work->index);
    struct ntt_tables *tables = NULL, *whole = NULL;
    struct ntt_plan plan;
    pool_status status = ntt_run_plan(columns, &plan);

    if (!status)
        status = ntt_tables_get(
            columns->domain, columns->target.stream, columns->direction, &tuning, &tables);
    if (!status)
        status = ntt_tables_get(
            call->params.domain, columns->target.stream, columns->direction, &whole_tuning, &whole);
    if (!status) {
        struct ntt_pass_args pass = ntt_pass_args_of(columns, &plan.pass[0], tables, columns->in, 0,
            ntt_last_pass_scale(columns, tables, false));

        pass.batch = run->plan.columns_job.batch; /* the distance of elements */
        split.first_transform = work->first;
        set_twiddles(run, whole, &split);
        status = launch_columns(columns, &plan, &pass, &split);
    }
    ntt_tables_release(whole);
    ntt_tables_release(tables);
    return status;
}

/* Transforms `count` columns from `first` on; `in` is where the first column of the device is. */
static pool_status transform_columns(
    struct ntt_split_run *run, uint32_t index, CUdeviceptr in, uint64_t first, uint64_t count)
{
    const struct ntt_split *plan = &run->plan;
    const uint64_t from = plan->takes_reversed ? first << plan->log_rows : first;
    struct columns columns = {.run = run,
        .index = index,
        .first = first,
        .transforms = {.target = run->device[index].of_call.target,
            .domain = run->of_columns,
            .direction = run->call->params.direction,
            .job = plan->columns_job,
            .in = in + from * ntt_split_element_bytes(run)}};

    columns.transforms.job.batch = count;
    return operation_enqueue(&columns.transforms.target, enqueue_columns, &columns);
}

static pool_status upload_and_transform(struct ntt_split_run *run, uint32_t index)
{
    struct ntt_split_device *device = &run->device[index];
    const uint64_t columns = run->plan.columns_job.batch;
    const bool in_chunks = run->uploads_2d || run->plan.takes_reversed;
    const uint64_t chunk = in_chunks ? run->plan.chunk : columns;
    pool_status status = pipeline_order_streams(device->set->event[NTT_SPLIT_UPLOADED],
        device->of_call.target.stream, device->set->stream[0]);

    for (uint64_t first = 0; first < columns && !status; first += chunk) {
        const uint64_t count = base_min(chunk, columns - first);

        status = upload_columns(run, index, first, count);
        if (!status)
            status = transform_columns(run, index, device->region[NTT_SPLIT_FIRST], first, count);
    }
    return status;
}

pool_status ntt_split_columns(void *user, uint32_t index, const pool_exec *exec)
{
    struct ntt_split_run *run = user;
    const struct ntt_split_device *device = &run->device[index];
    pool_status status = run->is_direct ? ntt_split_wait(run, index, NTT_SPLIT_READY) : POOL_OK;

    (void)exec;
    if (!status && ntt_split_is_on_host(run->call->in)) {
        status = upload_and_transform(run, index);
    } else if (!status) {
        const CUdeviceptr in = ntt_split_part_of(run, &device->in);

        status = check_shard_elements(run, index, in);
        if (!status)
            status = transform_columns(run, index, in, 0, run->plan.columns_job.batch);
    }
    return status ? status
                  : ntt_split_record(run, index, run->is_direct ? NTT_SPLIT_SENT : NTT_SPLIT_READY);
}
