/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs transforms that are split over devices. Each device has two regions for its elements: FIRST,
 * to which columns are uploaded and in which the results appear, and SECOND, in which the rows that
 * it transforms arrive. All work is enqueued on the devices' streams; events order it across
 * devices.
 */
#include "ntt/split.h"

#include <stdio.h>

#include "base/math.h"
#include "base/status.h"
#include "memory/memory.h"
#include "pool/counters.h"
#include "stream/phase.h"
#include "stream/stream.h"
#include "vector/check.h"

enum { FIRST, SECOND, REGIONS };
/* READY: other devices may write to the device's regions. SENT: it has written to theirs. UPLOADED:
 * a chunk of columns. */
enum { READY, SENT, UPLOADED, EVENTS };

struct split_device {
    pool_exec exec;
    struct exec_target target;
    pool_span in; /* the device's shard, if the span is sharded */
    pool_span out;
    CUdeviceptr region[REGIONS];
    pool_buffer *scratch[REGIONS]; /* NULL for a region that is the shard of the output */
    pool_buffer *view[REGIONS];    /* of the regions, for copies */
    struct stream_set *set;        /* the events, and the stream of uploads */
    struct device_operation operation;
    bool is_counted;
};

struct split_run {
    const struct ntt_call *call;
    struct ntt_split plan;
    uint32_t count;              /* of devices */
    uint64_t local;              /* elements per device */
    pool_ntt_domain *of_columns; /* of the transforms of columns: 2^log_rows points */
    pool_ntt_domain *of_rows;
    bool is_direct;     /* every device can address the memory of every other */
    bool uploads_2d;    /* several rows are copied at once */
    bool downloads_2d;  /* runs of rows are copied to their places, otherwise collected before */
    uint64_t transform; /* of the batch, in progress */
    struct split_device device[NTT_SPLIT_DEVICES];
};

static uint64_t element_bytes(const struct split_run *run)
{
    return run->call->target.field->bytes;
}

static bool is_on_host(const pool_span *span)
{
    return span->space == POOL_MEMORY_HOST;
}

/* ---- opening --------------------------------------------------------------------------------- */

static pool_status check_shard(
    const struct split_run *run, uint32_t index, const pool_span *shard, const char *name)
{
    const struct exec_target *target = &run->device[index].target;
    uint64_t wanted = run->call->params.batch * run->local;
    char what[64];

    snprintf(what, sizeof(what), "shard %u of the %s", index, name);
    if (shard->count != wanted)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_ntt: the %s has %llu elements; %llu transforms of 2^%u points over %u devices "
            "have %llu on each",
            what, (unsigned long long)shard->count, (unsigned long long)run->call->params.batch,
            run->plan.log_size, run->count, (unsigned long long)wanted);
    if (!memory_elements_are_packed(target->field, shard))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_ntt: the %s must be packed and aligned for a transform over several devices",
            what);
    return memory_elements_check(target, shard, what);
}

static pool_status check_shards(struct split_run *run, uint32_t index)
{
    const struct ntt_call *call = run->call;
    struct split_device *device = &run->device[index];
    pool_status status = POOL_OK;

    if (!is_on_host(&call->in)) {
        device->in = ((const pool_span *)call->in.data)[index];
        status = check_shard(run, index, &device->in, "input");
    }
    if (!status && !is_on_host(&call->out)) {
        device->out = ((const pool_span *)call->out.data)[index];
        status = check_shard(run, index, &device->out, "output");
    }
    if (!status && !is_on_host(&call->in) && !is_on_host(&call->out))
        status = memory_elements_check_overlap(device->target.field, &device->in, &device->out, 1);
    return status;
}

static pool_status open_region(struct split_run *run, struct split_device *device, int region)
{
    uint64_t bytes = run->local * element_bytes(run);
    pool_status status =
        memory_scratch(&device->target, bytes, &device->scratch[region], &device->region[region]);

    return status ? status
                  : pool_buffer_adopt(device->target.device, device->region[region], bytes,
                        &device->view[region]);
}

static pool_status open_device(struct split_run *run, uint32_t index)
{
    struct split_device *device = &run->device[index];
    pool_status status = exec_target_init(&device->target, &device->exec);

    device->target.field = run->call->target.field;
    if (!status)
        status = check_shards(run, index);
    if (status)
        return status;
    device_operation_begin(&device->operation, device->target.device, "ntt",
        device->target.field->name, run->call->params.batch * run->local);
    device->is_counted = true;
    status =
        stream_set_take(device->target.device, is_on_host(&run->call->in), EVENTS, &device->set);
    if (!status && is_on_host(&run->call->out))
        status = open_region(run, device, FIRST);
    return status ? status : open_region(run, device, SECOND);
}

/* Whether all stores of an exchange can be direct. */
static pool_status link_devices(struct split_run *run)
{
    pool_status status = POOL_OK;

    run->is_direct = true;
    for (uint32_t i = 0; i < run->count * run->count && !status && run->is_direct; i++)
        status = memory_link(run->device[i / run->count].target.device,
            run->device[i % run->count].target.device, &run->is_direct);
    return status;
}

static pool_status host_kind(
    const struct split_run *run, const pool_span *span, enum memory_kind *kind)
{
    struct device_scope scope;
    pool_status status = device_enter(run->device[0].target.device, &scope);

    return status ? status
                  : device_leave(&scope, memory_kind_of(scope.driver, span->data,
                                             span->count * element_bytes(run), kind));
}

/* Copies of pageable memory in many short rows would be slow. */
static pool_status find_host_copies(struct split_run *run)
{
    const struct ntt_split *plan = &run->plan;
    const pool_span *spans[] = {&run->call->in, &run->call->out};
    const bool is_natural[] = {!plan->takes_reversed, !plan->gives_reversed};
    const uint64_t pitch[] = {
        element_bytes(run) << plan->log_columns, element_bytes(run) << plan->log_rows};
    bool *copies[] = {&run->uploads_2d, &run->downloads_2d};
    enum memory_kind kind;
    pool_status status = POOL_OK;

    for (int i = 0; i < 2 && !status; i++) {
        if (!is_on_host(spans[i]) || !is_natural[i] || pitch[i] > INT32_MAX)
            continue;
        status = host_kind(run, spans[i], &kind);
        *copies[i] = !status && kind != MEMORY_PAGEABLE;
    }
    return status;
}

static pool_status open_run(struct split_run *run)
{
    const struct ntt_call *call = run->call;
    pool_status status =
        ntt_domain_power(call->params.domain, run->plan.log_rows, &run->of_columns);

    if (!status)
        status = ntt_domain_power(call->params.domain, run->plan.log_columns, &run->of_rows);
    for (uint32_t i = 0; i < run->count && !status; i++)
        status = open_device(run, i);
    if (!status)
        status = link_devices(run);
    return status ? status : find_host_copies(run);
}

/* After a failure, too, no work may still use the regions of other devices or the caller's memory.
 */
static pool_status close_run(struct split_run *run, pool_status status)
{
    for (uint32_t i = 0; i < run->count; i++) {
        struct exec_target target = run->device[i].target;

        if (target.stream)
            status = exec_target_end(&target, 0, status);
        if (!run->device[i].set || !is_on_host(&run->call->in))
            continue;
        target.stream = run->device[i].set->stream[0];
        status = exec_target_end(&target, 0, status);
    }
    for (uint32_t i = 0; i < run->count; i++) {
        struct split_device *device = &run->device[i];

        for (int region = 0; region < REGIONS; region++) {
            status = memory_scratch_free(&device->target, &device->view[region], status);
            status = memory_scratch_free(&device->target, &device->scratch[region], status);
        }
        if (device->set)
            stream_set_return(device->set);
    }
    for (uint32_t i = run->count; i-- > 0;)
        if (run->device[i].is_counted)
            (void)device_operation_end(&run->device[i].operation, status);
    return status;
}

/* ---- one device's steps ---------------------------------------------------------------------- */

/* Work that `later` gets from now on starts after the work that `earlier` has. */
static pool_status order_streams(pool_event *event, pool_stream *earlier, pool_stream *later)
{
    pool_status status = pool_event_record(event, earlier);

    return status ? status : pool_stream_wait_event(later, event);
}

static pool_status check_uploaded(
    struct split_run *run, struct split_device *device, uint64_t to, uint64_t from, uint64_t count)
{
    const uint64_t bytes = element_bytes(run);
    const struct vector_items items = {.address = device->region[FIRST] + to * bytes,
        .stride = bytes,
        .count = count,
        .elements = 1,
        .first = from,
        .what = "input"};

    return vector_check_elements(&device->target, device->target.field, &items);
}

/* Elements of the chunk of columns from `first` on: `rows` runs of `count` of them, `pitch` apart
 * in host memory from element `from` on and `to_pitch` in FIRST from `to` on. */
struct upload {
    uint64_t rows, count, from, from_pitch, to, to_pitch;
};

/* Bit-reversed columns are contiguous; of natural ones each row of the matrix has a run. */
static struct upload upload_of(
    const struct split_run *run, uint32_t index, uint64_t first, uint64_t count)
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
    struct split_run *run, struct split_device *device, const struct upload *upload)
{
    const uint64_t bytes = element_bytes(run);
    const uint8_t *from = (const uint8_t *)run->call->in.data + upload->from * bytes;
    const pool_pitched host = {
        .host = (void *)(uintptr_t)from, .pitch = upload->from_pitch * bytes};
    const pool_pitched rows = {.buffer = device->view[FIRST],
        .offset = upload->to * bytes,
        .pitch = upload->to_pitch * bytes};
    pool_status status = POOL_OK;

    if (run->uploads_2d)
        return pool_copy_2d(
            &rows, &host, upload->count * bytes, upload->rows, device->set->stream[0]);
    for (uint64_t row = 0; row < upload->rows && !status; row++)
        status = pool_copy_to_device(device->view[FIRST], rows.offset + row * rows.pitch,
            from + row * host.pitch, upload->count * bytes, device->set->stream[0]);
    return status;
}

static pool_status upload_columns(
    struct split_run *run, uint32_t index, uint64_t first, uint64_t count)
{
    struct split_device *device = &run->device[index];
    const struct upload upload = upload_of(run, index, first, count);
    pool_status status = copy_rows_to_device(run, device, &upload);

    if (!status)
        status = order_streams(
            device->set->event[UPLOADED], device->set->stream[0], device->target.stream);
    for (uint64_t row = 0; row < upload.rows && !status && run->call->exec.checks; row++)
        status = check_uploaded(run, device, upload.to + row * upload.to_pitch,
            upload.from + row * upload.from_pitch, upload.count);
    return status;
}

static pool_status check_shard_elements(struct split_run *run, uint32_t index, CUdeviceptr address)
{
    struct split_device *device = &run->device[index];
    char what[64];
    const struct vector_items items = {.address = address,
        .stride = element_bytes(run),
        .count = run->local,
        .elements = 1,
        .first = run->transform * run->local,
        .what = what};

    snprintf(what, sizeof(what), "shard %u of the input", index);
    return run->call->exec.checks
               ? vector_check_elements(&device->target, device->target.field, &items)
               : POOL_OK;
}

static pool_status enqueue_transforms(const struct split_device *device, struct ntt_run *transforms)
{
    struct device_scope scope;
    struct ntt_plan plan;
    pool_status status;

    transforms->target = device->target;
    status = ntt_run_plan(transforms, &plan);
    if (!status)
        status = device_enter(device->target.device, &scope);
    return status ? status : device_leave(&scope, ntt_run_enqueue(transforms, &plan));
}

/* The regions of the transform that is computed now, where they are parts of a shard. */
static CUdeviceptr part_of(const struct split_run *run, const pool_span *shard)
{
    return (CUdeviceptr)(uintptr_t)shard->data + run->transform * run->local * element_bytes(run);
}

/* The tables of the whole transform, and a coset's factors that the parts leave out. */
static void set_twiddles(
    const struct split_run *run, const struct ntt_tables *tables, struct ntt_split_args *args)
{
    const struct ntt_table_layout *layout = &tables->layout;
    const uint64_t bytes = element_bytes(run);

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

/* Where a device stores its columns: to each destination's SECOND, or, without peer access, to the
 * blocks of its own SECOND, which are copied to them. */
static struct ntt_split_args split_args_of(const struct split_run *run, uint32_t index)
{
    struct ntt_split_args args = ntt_split_args_of(&run->plan, index, run->is_direct);
    const uint64_t block = run->local / run->count * element_bytes(run);

    for (uint32_t i = 0; i < run->count; i++)
        args.out[i] = run->is_direct ? run->device[i].region[SECOND]
                                     : run->device[index].region[SECOND] + i * block;
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
        .stream = columns->target.stream};
    struct phase phase;
    pool_status status = ntt_split_kernel(columns->target.device, field, &build, &launch.kernel);

    if (status)
        return status;
    phase_begin(&phase, columns->target.device, columns->target.stream, "ntt", "columns");
    return phase_end(&phase, module_launch_enqueue(&launch));
}

/* Inside device_enter. */
static pool_status enqueue_columns(struct split_run *run, uint32_t index,
    const struct ntt_run *columns, uint64_t first, const struct ntt_plan *plan)
{
    const struct ntt_call *call = run->call;
    const struct chip chip = chip_of(columns->target.device);
    const struct ntt_tuning tuning = ntt_tuning_for(&columns->job, &chip);
    const struct ntt_tuning whole_tuning = ntt_tuning_for(&call->job, &chip);
    struct ntt_split_args split = split_args_of(run, index);
    struct ntt_tables *tables = NULL, *whole = NULL;
    pool_status status = ntt_tables_get(
        columns->domain, columns->target.stream, columns->direction, &tuning, &tables);

    if (!status)
        status = ntt_tables_get(
            call->params.domain, columns->target.stream, columns->direction, &whole_tuning, &whole);
    if (!status) {
        struct ntt_pass_args pass = ntt_pass_args_of(columns, &plan->pass[0], tables, columns->in,
            0, ntt_last_pass_scale(columns, tables, false));

        pass.batch = run->plan.columns_job.batch; /* the distance of elements */
        split.first_transform = first;
        set_twiddles(run, whole, &split);
        status = launch_columns(columns, plan, &pass, &split);
    }
    ntt_tables_release(whole);
    ntt_tables_release(tables);
    return status;
}

/* Transforms `count` columns from `first` on; `in` is where the first column of the device is. */
static pool_status transform_columns(
    struct split_run *run, uint32_t index, CUdeviceptr in, uint64_t first, uint64_t count)
{
    const struct ntt_split *plan = &run->plan;
    const uint64_t from = plan->takes_reversed ? first << plan->log_rows : first;
    struct ntt_run columns = {.target = run->device[index].target,
        .domain = run->of_columns,
        .direction = run->call->params.direction,
        .job = plan->columns_job,
        .in = in + from * element_bytes(run)};
    struct device_scope scope;
    struct ntt_plan pass;
    pool_status status;

    columns.job.batch = count;
    status = ntt_run_plan(&columns, &pass);
    if (!status)
        status = device_enter(columns.target.device, &scope);
    return status ? status
                  : device_leave(&scope, enqueue_columns(run, index, &columns, first, &pass));
}

static pool_status upload_and_transform(struct split_run *run, uint32_t index)
{
    struct split_device *device = &run->device[index];
    const uint64_t columns = run->plan.columns_job.batch;
    const bool in_chunks = run->uploads_2d || run->plan.takes_reversed;
    const uint64_t chunk = in_chunks ? run->plan.chunk : columns;
    pool_status status =
        order_streams(device->set->event[UPLOADED], device->target.stream, device->set->stream[0]);

    for (uint64_t first = 0; first < columns && !status; first += chunk) {
        const uint64_t count = base_min(chunk, columns - first);

        status = upload_columns(run, index, first, count);
        if (!status)
            status = transform_columns(run, index, device->region[FIRST], first, count);
    }
    return status;
}

/* Work that device `index` gets from now on starts after `event` of all devices. */
static pool_status wait_for_all(struct split_run *run, uint32_t index, int event)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < run->count && !status; i++)
        if (i != index)
            status = pool_stream_wait_event(
                run->device[index].target.stream, run->device[i].set->event[event]);
    return status;
}

static pool_status record(struct split_run *run, uint32_t index, int event)
{
    return pool_event_record(
        run->device[index].set->event[event], run->device[index].target.stream);
}

static pool_status compute_columns(void *user, uint32_t index, const pool_exec *exec)
{
    struct split_run *run = user;
    const struct split_device *device = &run->device[index];
    pool_status status = run->is_direct ? wait_for_all(run, index, READY) : POOL_OK;

    (void)exec;
    if (!status && is_on_host(&run->call->in)) {
        status = upload_and_transform(run, index);
    } else if (!status) {
        const CUdeviceptr in = part_of(run, &device->in);

        status = check_shard_elements(run, index, in);
        if (!status)
            status = transform_columns(run, index, in, 0, run->plan.columns_job.batch);
    }
    return status ? status : record(run, index, run->is_direct ? SENT : READY);
}

static CUdeviceptr output_region(const struct split_run *run, const struct split_device *device)
{
    return is_on_host(&run->call->out) ? device->region[FIRST] : part_of(run, &device->out);
}

static pool_status compute_rows(struct split_run *run, struct split_device *device)
{
    struct ntt_run rows = {.domain = run->of_rows,
        .direction = run->call->params.direction,
        .job = run->plan.rows_job,
        .form_change = (int)run->call->out.form - (int)run->call->in.form,
        .in = device->region[SECOND],
        .out = output_region(run, device),
        .in_may_be_overwritten = 1};

    return enqueue_transforms(device, &rows);
}

static pool_status download(void *user, uint32_t index, const pool_exec *exec)
{
    struct split_run *run = user;
    const struct ntt_split *plan = &run->plan;
    const uint64_t bytes = element_bytes(run), first = run->transform << plan->log_size;
    const uint64_t rows = UINT64_C(1) << plan->log_rows >> plan->log_devices;
    struct split_device *device = &run->device[index];
    uint8_t *out = (uint8_t *)run->call->out.data + first * bytes;
    const pool_pitched from = {.buffer = device->view[FIRST]};
    const pool_pitched to = {.host = out + index * rows * bytes, .pitch = bytes << plan->log_rows};

    (void)exec;
    if (run->downloads_2d)
        return pool_copy_2d(
            &to, &from, rows * bytes, UINT64_C(1) << plan->log_columns, device->target.stream);
    return pool_copy_to_host(out + index * run->local * bytes, device->view[FIRST], 0,
        run->local * bytes, device->target.stream);
}

/* ---- exchanges by copies --------------------------------------------------------------------- */

/* Block `to` of a region becomes block `from` of the other region of device `to`. */
static pool_status copy_blocks(struct split_run *run, int region, uint32_t from)
{
    const uint64_t bytes = run->local / run->count * element_bytes(run);
    struct split_device *source = &run->device[from];
    pool_status status = wait_for_all(run, from, READY);

    for (uint32_t to = 0; to < run->count && !status; to++)
        status = pool_copy_device(run->device[to].view[!region], from * bytes, source->view[region],
            to * bytes, bytes, source->target.stream);
    return status ? status : record(run, from, SENT);
}

/* Column i of the block from device d becomes column i 2^shift + first[d] of the other region. */
static pool_status place_blocks(
    struct split_run *run, int region, uint32_t index, uint32_t shift, const uint64_t *first)
{
    const uint64_t block = run->local / run->count * element_bytes(run);
    const uint64_t column = element_bytes(run) << run->plan.log_rows >> run->plan.log_devices;
    struct split_device *device = &run->device[index];
    pool_status status = wait_for_all(run, index, SENT);

    for (uint32_t i = 0; i < run->count && !status; i++) {
        const pool_pitched from = {
            .buffer = device->view[region], .offset = i * block, .pitch = column};
        const pool_pitched to = {
            .buffer = device->view[!region], .offset = first[i] * column, .pitch = column << shift};

        status = pool_copy_2d(&to, &from, column, block / column, device->target.stream);
    }
    return status;
}

/* Exchanges the blocks of a region of all devices and places their columns in the same region. */
static pool_status exchange_blocks(
    struct split_run *run, int region, uint32_t shift, const uint64_t *first)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < run->count && !status; i++)
        status = copy_blocks(run, region, i);
    for (uint32_t i = 0; i < run->count && !status; i++)
        status = place_blocks(run, !region, i, shift, first);
    return status;
}

/* Without peer access the driver stages copies through pinned memory. */
static pool_status exchange_columns(struct split_run *run)
{
    uint64_t first[NTT_SPLIT_DEVICES];
    uint32_t shift = 0;

    for (uint32_t i = 0; i < run->count; i++) {
        const struct ntt_split_args args = ntt_split_args_of(&run->plan, i, true);

        first[i] = args.first_place;
        shift = args.place_shift;
    }
    return exchange_blocks(run, SECOND, shift, first);
}

/* Each device has the same rows of all columns, and gets all rows of some columns. */
static pool_status collect_results(struct split_run *run)
{
    uint64_t first[NTT_SPLIT_DEVICES];
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < run->count && !status; i++) {
        first[i] = i;
        status = record(run, i, READY);
    }
    return status ? status : exchange_blocks(run, FIRST, run->plan.log_devices, first);
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* Copies of pageable memory block their thread, so that each device gets one for them. */
static pool_status each_device(struct split_run *run, const pool_span *span,
    const struct memory_devices *devices,
    pool_status (*step)(void *user, uint32_t index, const pool_exec *exec))
{
    pool_exec exec = run->call->exec;
    const struct memory_parts parts = {
        .exec = &exec, .devices = devices, .compute = step, .user = run};
    pool_status status = POOL_OK;

    exec.progress = NULL;
    if (is_on_host(span))
        return memory_parts_run(&parts);
    for (uint32_t i = 0; i < run->count && !status; i++)
        status = step(run, i, NULL);
    return status;
}

/* Where the results and, unless that is scratch memory, the columns of this transform are. */
static pool_status set_first_regions(struct split_run *run)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < run->count && !status; i++) {
        struct split_device *device = &run->device[i];

        if (device->scratch[FIRST])
            continue;
        device->region[FIRST] = part_of(run, &device->out);
        status = memory_scratch_free(&device->target, &device->view[FIRST], POOL_OK);
        if (!status)
            status = pool_buffer_adopt(device->target.device, device->region[FIRST],
                run->local * element_bytes(run), &device->view[FIRST]);
    }
    return status;
}

static pool_status run_transform(struct split_run *run, const struct memory_devices *devices)
{
    const bool is_downloaded = is_on_host(&run->call->out);
    pool_status status = set_first_regions(run);

    for (uint32_t i = 0; i < run->count && !status && run->is_direct; i++)
        status = record(run, i, READY);
    if (!status)
        status = each_device(run, &run->call->in, devices, compute_columns);
    if (!status && !run->is_direct)
        status = exchange_columns(run);
    for (uint32_t i = 0; i < run->count && !status; i++) {
        if (run->is_direct)
            status = wait_for_all(run, i, SENT);
        if (!status)
            status = compute_rows(run, &run->device[i]);
    }
    if (!status && is_downloaded && !run->plan.gives_reversed && !run->downloads_2d)
        status = collect_results(run);
    if (!status && is_downloaded)
        status = each_device(run, &run->call->out, devices, download);
    return status;
}

static pool_status run_transforms(struct split_run *run, const struct memory_devices *devices)
{
    const struct ntt_call *call = run->call;
    struct memory_progress progress = {
        .call = "pool_ntt", .exec = &call->exec, .total = call->in.count};
    pool_status status = POOL_OK;

    for (; run->transform < call->params.batch && !status; run->transform++) {
        status = memory_progress_add(&progress, 0);
        if (!status)
            status = run_transform(run, devices);
        for (uint32_t i = 0; i < run->count && !status && memory_progress_waits(&progress); i++)
            status = pool_stream_synchronize(run->device[i].target.stream);
        if (!status)
            status = memory_progress_add(&progress, UINT64_C(1) << run->plan.log_size);
    }
    return status;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void plan_call(const struct ntt_call *call, const struct memory_devices *devices,
    uint32_t log_devices, struct ntt_split *plan)
{
    const struct chip chip = chip_of(devices->device[0]);

    ntt_split_make(
        &chip, &call->job, log_devices, is_on_host(&call->in), is_on_host(&call->out), plan);
}

static uint64_t bytes_of_device(const struct ntt_call *call, const struct ntt_split *plan)
{
    const uint64_t regions = is_on_host(&call->out) ? REGIONS : REGIONS - 1;

    return (regions * call->target.field->bytes) << (plan->log_size - plan->log_devices);
}

/* The members that plans of transforms and of their parts need; the batch is divided in time. */
static struct ntt_call call_of_one(const struct ntt_call *call)
{
    struct ntt_call one = *call;
    const bool is_inverse = call->params.direction == POOL_NTT_INVERSE;

    one.job = (struct ntt_job){.words = call->target.field->words,
        .log_size = call->params.domain->log_size,
        .batch = 1,
        .order = call->params.order,
        .coset_in = call->params.coset && !is_inverse,
        .coset_out = call->params.coset && is_inverse,
        .tuning = call->params.domain->tuning};
    return one;
}

static pool_status read_execs(struct split_run *run, const struct memory_devices *devices)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < run->count && !status; i++) {
        const pool_exec exec = memory_devices_exec(devices, &run->call->exec, i);
        uint64_t bytes = bytes_of_device(run->call, &run->plan);
        uint64_t limit;

        status = memory_exec_read("pool_ntt", &exec, &ntt_exec_rules, &run->device[i].exec);
        limit = status ? 0 : memory_exec_limit(&run->device[i].exec);
        if (!status && bytes > limit)
            status = memory_exec_fail_limit("pool_ntt", limit, bytes);
    }
    return status;
}

pool_status ntt_split_run(
    const struct ntt_call *call, const struct memory_devices *devices, uint32_t log_devices)
{
    const struct ntt_call one = call_of_one(call);
    struct memory_devices used = *devices;
    struct split_run run = {.call = &one,
        .count = 1u << log_devices,
        .local = UINT64_C(1) << (one.job.log_size - log_devices)};
    pool_status status;

    used.count = run.count;
    plan_call(&one, &used, log_devices, &run.plan);
    status = read_execs(&run, &used);
    if (!status)
        status = open_run(&run);
    if (!status)
        status = run_transforms(&run, &used);
    return close_run(&run, status);
}

pool_status ntt_split_workspace(const struct ntt_call *call, const struct memory_devices *devices,
    uint32_t log_devices, uint64_t *bytes)
{
    const struct ntt_call one = call_of_one(call);
    struct ntt_split plan;

    plan_call(&one, devices, log_devices, &plan);
    for (uint32_t i = 0; i < devices->count; i++)
        bytes[i] = i >> log_devices ? 0 : bytes_of_device(&one, &plan);
    return POOL_OK;
}
