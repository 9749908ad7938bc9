/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs transforms that are split over devices. Each device has two regions for its elements: FIRST,
 * in which the columns are transformed and the results appear, and SECOND, which the exchange
 * writes. All work is enqueued on the devices' streams; events order it across devices.
 */
#include "ntt/split.h"

#include <stdio.h>

#include "base/status.h"
#include "memory/memory.h"
#include "pool/counters.h"
#include "stream/phase.h"
#include "stream/stream.h"
#include "vector/check.h"

enum { FIRST, SECOND, REGIONS };
enum { READY, SENT, EVENTS };

struct split_device {
    pool_exec exec;
    struct exec_target target;
    pool_span in; /* the device's shard, if the span is sharded */
    pool_span out;
    CUdeviceptr region[REGIONS];
    pool_buffer *scratch[REGIONS]; /* NULL for a region that is the shard of the output */
    pool_buffer *view[REGIONS];    /* of the regions, for copies */
    struct stream_set *events;
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
    uint64_t transform; /* of the batch, in progress */
    struct split_device device[NTT_EXCHANGE_DEVICES];
};

static uint64_t element_bytes(const struct split_run *run)
{
    return run->call->target.field->bytes;
}

static bool is_on_host(const pool_span *span)
{
    return span->space == POOL_MEMORY_HOST;
}

/* The output's shard cannot take the columns if they are gathered from the same memory. */
static bool has_own_first_region(const struct ntt_call *call, bool takes_reversed, uint32_t index)
{
    const pool_span *in = call->in.data, *out = call->out.data;

    if (is_on_host(&call->out))
        return true;
    return takes_reversed && !is_on_host(&call->in) && in[index].data == out[index].data;
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
    status = stream_set_take(device->target.device, 0, EVENTS, &device->events);
    if (!status && has_own_first_region(run->call, run->plan.takes_reversed, index))
        status = open_region(run, device, FIRST);
    return status ? status : open_region(run, device, SECOND);
}

/* Whether all stores of an exchange can be direct. */
static pool_status link_devices(struct split_run *run)
{
    struct device_memory *memory, *peer;
    pool_status status = POOL_OK;

    run->is_direct = true;
    for (uint32_t i = 0; i < run->count * run->count && !status && run->is_direct; i++) {
        pool_device *to = run->device[i / run->count].target.device;
        pool_device *from = run->device[i % run->count].target.device;
        int direct = 1;

        if (to == from)
            continue;
        status = memory_of_both(to, from, &memory, &peer);
        if (!status)
            status = memory_grant_access(memory, peer, &direct);
        run->is_direct = direct != 0;
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
    return status ? status : link_devices(run);
}

/* After a failure, too, no work may still use the regions of other devices or the caller's memory.
 */
static pool_status close_run(struct split_run *run, pool_status status)
{
    for (uint32_t i = 0; i < run->count; i++)
        if (run->device[i].target.stream)
            status = exec_target_end(&run->device[i].target, 0, status);
    for (uint32_t i = 0; i < run->count; i++) {
        struct split_device *device = &run->device[i];

        for (int region = 0; region < REGIONS; region++) {
            status = memory_scratch_free(&device->target, &device->view[region], status);
            status = memory_scratch_free(&device->target, &device->scratch[region], status);
        }
        if (device->events)
            stream_set_return(device->events);
    }
    for (uint32_t i = run->count; i-- > 0;)
        if (run->device[i].is_counted)
            (void)device_operation_end(&run->device[i].operation, status);
    return status;
}

/* ---- one device's steps ---------------------------------------------------------------------- */

static pool_status upload(struct split_run *run, struct split_device *device, int region,
    uint64_t to, uint64_t from, uint64_t count)
{
    const pool_span *in = &run->call->in;
    const uint64_t bytes = element_bytes(run);
    const struct vector_items items = {.address = device->region[region] + to * bytes,
        .stride = bytes,
        .count = count,
        .elements = 1,
        .first = from,
        .what = "input"};
    pool_status status = pool_copy_to_device(device->view[region], to * bytes,
        (const uint8_t *)in->data + from * bytes, count * bytes, device->target.stream);

    return status || !run->call->exec.checks
               ? status
               : vector_check_elements(&device->target, device->target.field, &items);
}

/* Bit-reversed input is contiguous; of natural input each row of the matrix has a run of columns.
 */
static pool_status upload_input(struct split_run *run, uint32_t index)
{
    const struct ntt_split *plan = &run->plan;
    struct split_device *device = &run->device[index];
    const uint64_t first = run->transform << plan->log_size;
    const uint64_t columns = UINT64_C(1) << (plan->log_columns - plan->log_devices);
    pool_status status = POOL_OK;

    if (plan->takes_reversed)
        return upload(run, device, SECOND, 0, first + index * run->local, run->local);
    for (uint64_t row = 0; row < UINT64_C(1) << plan->log_rows && !status; row++)
        status = upload(run, device, FIRST, row * columns,
            first + (row << plan->log_columns) + index * columns, columns);
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
    struct ntt_plan plan;
    pool_status status;

    transforms->target = device->target;
    status = ntt_run_plan(transforms, &plan);
    return status ? status : ntt_run_enqueue(transforms, &plan);
}

/* The regions of the transform that is computed now, where they are parts of a shard. */
static CUdeviceptr part_of(const struct split_run *run, const pool_span *shard)
{
    return (CUdeviceptr)(uintptr_t)shard->data + run->transform * run->local * element_bytes(run);
}

static pool_status compute_columns(void *user, uint32_t index, const pool_exec *exec)
{
    struct split_run *run = user;
    struct split_device *device = &run->device[index];
    const bool uploads = is_on_host(&run->call->in);
    struct ntt_run columns = {.domain = run->of_columns,
        .direction = run->call->params.direction,
        .job = run->plan.columns_job,
        .in_may_be_overwritten = uploads};
    pool_status status;

    (void)exec;
    if (uploads) {
        columns.in = device->region[run->plan.takes_reversed ? SECOND : FIRST];
        status = upload_input(run, index);
    } else {
        columns.in = part_of(run, &device->in);
        status = check_shard_elements(run, index, columns.in);
    }
    columns.out = device->region[FIRST];
    if (!status)
        status = enqueue_transforms(device, &columns);
    return status ? status : pool_event_record(device->events->event[READY], device->target.stream);
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
    pool_status status = enqueue_transforms(device, &rows);

    return status ? status : pool_event_record(device->events->event[READY], device->target.stream);
}

static pool_status download(void *user, uint32_t index, const pool_exec *exec)
{
    struct split_run *run = user;
    const uint64_t bytes = element_bytes(run);
    struct split_device *device = &run->device[index];
    uint64_t first = (run->transform << run->plan.log_size) + index * run->local;

    (void)exec;
    return pool_copy_to_host((uint8_t *)run->call->out.data + first * bytes,
        device->view[run->plan.collects ? SECOND : FIRST], 0, run->local * bytes,
        device->target.stream);
}

/* ---- exchanges ------------------------------------------------------------------------------- */

static void pack_list(unsigned *packed, const uint8_t *list)
{
    for (uint32_t i = 0; i < NTT_EXCHANGE_BITS; i++)
        packed[i / 4] |= (unsigned)list[i] << 8 * (i % 4);
}

static uint64_t move_device_bits(
    const struct ntt_exchange *exchange, const uint8_t *list, uint32_t index)
{
    uint64_t result = 0;

    for (uint32_t i = 0; i < exchange->log_devices; i++)
        result |= (uint64_t)(index >> i & 1) << list[i];
    return result;
}

static struct ntt_exchange_args args_of(
    const struct split_run *run, const struct ntt_exchange *exchange, uint32_t index)
{
    struct ntt_exchange_args args = {
        .first_logical = move_device_bits(exchange, exchange->device_logical, index),
        .first_to = move_device_bits(exchange, exchange->device_to, index),
        .log_tile = exchange->log_tile,
        .log_blocks = exchange->log_local - exchange->log_tile,
        .log_local = exchange->log_local,
        .log_columns = run->plan.log_columns};

    for (uint32_t i = 0; i < NTT_EXCHANGE_LOG_TILE; i++) {
        args.read[i] = exchange->read[i];
        args.read_logical[i] = exchange->read_logical[i];
        args.slot[i] = exchange->slot[i];
        args.write_to[i] = exchange->write_to[i];
    }
    pack_list(args.block[0], exchange->block_read);
    pack_list(args.block[1], exchange->block_logical);
    pack_list(args.block[2], exchange->block_to);
    return args;
}

/* The tables of the whole transform, and a coset's factors that the parts leave out. */
static void set_twiddles(
    const struct split_run *run, const struct ntt_tables *tables, struct ntt_exchange_args *args)
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
        args->flags = NTT_EXCHANGE_COSET_OF_ROWS;
}

static pool_status launch_exchange(
    const struct split_device *device, struct ntt_exchange_args *args)
{
    static const size_t sizes[] = {sizeof(*args)};
    void *arguments[] = {args};
    struct module_launch launch = {.blocks = UINT64_C(1) << args->log_blocks,
        .threads = 1u << args->log_tile,
        .count = 1,
        .arguments = arguments,
        .sizes = sizes,
        .stream = device->target.stream};
    pool_status status =
        ntt_exchange_kernel(device->target.device, device->target.field, &launch.kernel);

    return status ? status : module_launch_enqueue(&launch);
}

/* Moves the elements of `from` on device `index`; `to` is the address on each destination. */
static pool_status enqueue_exchange(struct split_run *run, const struct ntt_exchange *exchange,
    uint32_t index, bool is_scaled, CUdeviceptr from, const CUdeviceptr *to)
{
    const struct split_device *device = &run->device[index];
    const struct chip chip = chip_of(device->target.device);
    const struct ntt_tuning tuning = ntt_tuning_for(&run->call->job, &chip);
    struct ntt_exchange_args args = args_of(run, exchange, index);
    struct ntt_tables *tables = NULL;
    struct phase phase;
    pool_status status = POOL_OK;

    args.in = from;
    for (uint32_t i = 0; i < run->count; i++)
        args.out[i] = to[i];
    if (is_scaled)
        status = ntt_tables_get(run->call->params.domain, device->target.stream,
            run->call->params.direction, &tuning, &tables);
    if (status)
        return status;
    if (tables)
        set_twiddles(run, tables, &args);
    phase_begin(&phase, device->target.device, device->target.stream, "ntt", "exchange");
    status = phase_end(&phase, launch_exchange(device, &args));
    ntt_tables_release(tables);
    return status;
}

/* Work that device `index` gets from now on starts after `event` of all devices. */
static pool_status wait_for_all(struct split_run *run, uint32_t index, int event)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < run->count && !status; i++)
        if (i != index)
            status = pool_stream_wait_event(
                run->device[index].target.stream, run->device[i].events->event[event]);
    return status;
}

static pool_status record(struct split_run *run, uint32_t index, int event)
{
    return pool_event_record(
        run->device[index].events->event[event], run->device[index].target.stream);
}

static CUdeviceptr first_region(const struct split_run *run, uint32_t index, bool is_result)
{
    const struct split_device *device = &run->device[index];

    return is_result ? output_region(run, device) : device->region[FIRST];
}

/* Stores from FIRST to every SECOND. READY: a device has computed FIRST and does not use SECOND. */
static pool_status exchange_directly(
    struct split_run *run, const struct ntt_exchange *exchange, bool is_collection)
{
    CUdeviceptr to[NTT_EXCHANGE_DEVICES];
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < run->count; i++)
        to[i] = run->device[i].region[SECOND];
    for (uint32_t i = 0; i < run->count && !status; i++) {
        status = wait_for_all(run, i, READY);
        if (!status)
            status = enqueue_exchange(
                run, exchange, i, !is_collection, first_region(run, i, is_collection), to);
        if (!status)
            status = record(run, i, SENT);
    }
    return status;
}

/* Block `to` of SECOND becomes block `from` of FIRST on the other device. */
static pool_status copy_blocks(struct split_run *run, uint32_t from)
{
    const uint64_t bytes = run->local / run->count * element_bytes(run);
    struct split_device *source = &run->device[from];
    pool_status status = wait_for_all(run, from, READY);

    for (uint32_t to = 0; to < run->count && !status; to++)
        status = pool_copy_device(run->device[to].view[FIRST], from * bytes, source->view[SECOND],
            to * bytes, bytes, source->target.stream);
    return status ? status : record(run, from, SENT);
}

/* Without peer access: the driver stages the copies of blocks through pinned memory. */
static pool_status exchange_by_copies(
    struct split_run *run, const struct ntt_exchanges *exchanges, bool is_collection)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < run->count && !status; i++) {
        CUdeviceptr to[NTT_EXCHANGE_DEVICES] = {0};

        to[i] = run->device[i].region[SECOND];
        status = enqueue_exchange(
            run, &exchanges->gather, i, !is_collection, first_region(run, i, is_collection), to);
        if (!status)
            status = record(run, i, READY);
    }
    for (uint32_t i = 0; i < run->count && !status; i++)
        status = copy_blocks(run, i);
    for (uint32_t i = 0; i < run->count && !status; i++) {
        CUdeviceptr to[NTT_EXCHANGE_DEVICES] = {0};

        to[i] = run->device[i].region[SECOND];
        status = wait_for_all(run, i, SENT);
        if (!status)
            status = enqueue_exchange(
                run, &exchanges->distribute, i, false, run->device[i].region[FIRST], to);
    }
    return status;
}

static pool_status exchange(
    struct split_run *run, const struct ntt_exchanges *exchanges, bool is_collection)
{
    return run->is_direct ? exchange_directly(run, &exchanges->direct, is_collection)
                          : exchange_by_copies(run, exchanges, is_collection);
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
    pool_status status = set_first_regions(run);

    if (!status)
        status = each_device(run, &run->call->in, devices, compute_columns);
    if (!status)
        status = exchange(run, &run->plan.exchange, false);
    for (uint32_t i = 0; i < run->count && !status; i++) {
        if (run->is_direct)
            status = wait_for_all(run, i, SENT);
        if (!status)
            status = compute_rows(run, &run->device[i]);
    }
    if (!status && run->plan.collects)
        status = exchange(run, &run->plan.collect, true);
    for (uint32_t i = 0; i < run->count && !status && run->plan.collects && run->is_direct; i++)
        status = wait_for_all(run, i, SENT);
    if (!status && is_on_host(&run->call->out))
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

static uint64_t bytes_of_device(
    const struct ntt_call *call, const struct ntt_split *plan, uint32_t index)
{
    const uint64_t regions = 1 + has_own_first_region(call, plan->takes_reversed, index);

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
        uint64_t bytes = bytes_of_device(run->call, &run->plan, i);
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
        bytes[i] = i >> log_devices ? 0 : bytes_of_device(&one, &plan, i);
    return POOL_OK;
}
