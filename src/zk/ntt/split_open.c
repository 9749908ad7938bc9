/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and closes the run of a transform that is split over devices: shards, regions, streams and
 * events.
 */
#include <stdio.h>

#include "base/status.h"
#include "zk/ntt/split_run.h"

static pool_status check_shard(
    const struct ntt_split_run *run, uint32_t index, const pool_span *shard, const char *name)
{
    const struct exec_target *target = &run->device[index].of_call.target;
    uint64_t wanted = run->call->params.batch * run->local;
    char what[64];

    snprintf(what, sizeof(what), "shard %u of the %s", index, name);
    if (shard->count != wanted)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_ntt: the %s has %llu elements; %llu transforms of 2^%u points over %u devices "
            "have %llu on each",
            what, (unsigned long long)shard->count, (unsigned long long)run->call->params.batch,
            run->plan.log_size, run->count, (unsigned long long)wanted);
    if (!elements_are_packed(target->field, shard))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_ntt: the %s must be packed and aligned for a transform over several devices",
            what);
    return elements_check(target, shard, what);
}

static pool_status check_shards(struct ntt_split_run *run, uint32_t index)
{
    const struct ntt_call *call = run->call;
    struct ntt_split_device *device = &run->device[index];
    pool_status status = POOL_OK;

    if (!ntt_split_is_on_host(call->in)) {
        device->in = ((const pool_span *)call->in->data)[index];
        status = check_shard(run, index, &device->in, "input");
    }
    if (!status && !ntt_split_is_on_host(call->out)) {
        device->out = ((const pool_span *)call->out->data)[index];
        status = check_shard(run, index, &device->out, "output");
    }
    if (!status && !ntt_split_is_on_host(call->in) && !ntt_split_is_on_host(call->out))
        status = elements_check_overlap(device->of_call.target.field, &device->in, &device->out, 1);
    return status;
}

static pool_status open_region(
    struct ntt_split_run *run, struct ntt_split_device *device, int region)
{
    uint64_t bytes = run->local * ntt_split_element_bytes(run);
    pool_status status = scratch_allocate(
        &device->of_call.target, bytes, &device->scratch[region], &device->region[region]);

    return status ? status
                  : pool_buffer_adopt(device->of_call.target.device, device->region[region], bytes,
                        &device->view[region]);
}

uint64_t ntt_split_bytes_of_device(const struct ntt_call *call, const struct ntt_split *plan)
{
    const uint64_t regions =
        ntt_split_is_on_host(call->out) ? NTT_SPLIT_REGIONS : NTT_SPLIT_REGIONS - 1;

    return regions * memory_scratch_bytes((uint64_t)call->frame.target.field->bytes
                                          << (plan->log_size - plan->log_devices)) +
           (call->frame.exec.checks ? memory_scratch_bytes(sizeof(uint64_t)) : 0);
}

static pool_status open_device(struct ntt_split_run *run, uint32_t index)
{
    struct ntt_split_device *device = &run->device[index];
    const struct exec_target *target = &device->of_call.target;
    pool_status status = operation_device_open(run->division, &run->fork, index,
        ntt_split_bytes_of_device(run->call, &run->plan), run->call->params.batch * run->local,
        &device->of_call);

    if (!status)
        status = check_shards(run, index);
    if (!status)
        status = stream_set_take(target->device, target->stream,
            ntt_split_is_on_host(run->call->in), NTT_SPLIT_EVENTS, &device->set);
    if (!status && ntt_split_is_on_host(run->call->out))
        status = open_region(run, device, NTT_SPLIT_FIRST);
    return status ? status : open_region(run, device, NTT_SPLIT_SECOND);
}

/* Whether all stores of an exchange can be direct. */
static pool_status link_devices(struct ntt_split_run *run)
{
    pool_status status = POOL_OK;

    run->is_direct = true;
    for (uint32_t i = 0; i < run->count * run->count && !status && run->is_direct; i++)
        status = memory_link(run->device[i / run->count].of_call.target.device,
            run->device[i % run->count].of_call.target.device, &run->is_direct);
    return status;
}

static pool_status host_kind(
    const struct ntt_split_run *run, const pool_span *span, enum memory_kind *kind)
{
    return memory_find_kind(run->device[0].of_call.target.device, span->data,
        span->count * ntt_split_element_bytes(run), kind);
}

/* Copies of pageable memory in many short rows would be slow. */
static pool_status find_host_copies(struct ntt_split_run *run)
{
    const struct ntt_split *plan = &run->plan;
    const pool_span *spans[] = {run->call->in, run->call->out};
    const bool is_natural[] = {!plan->takes_reversed, !plan->gives_reversed};
    const uint64_t pitch[] = {ntt_split_element_bytes(run) << plan->log_columns,
        ntt_split_element_bytes(run) << plan->log_rows};
    bool *copies[] = {&run->uploads_2d, &run->downloads_2d};
    enum memory_kind kind;
    pool_status status = POOL_OK;

    for (int i = 0; i < 2 && !status; i++) {
        if (!ntt_split_is_on_host(spans[i]) || !is_natural[i] || pitch[i] > INT32_MAX)
            continue;
        status = host_kind(run, spans[i], &kind);
        *copies[i] = !status && kind != MEMORY_PAGEABLE;
    }
    return status;
}

pool_status ntt_split_open(struct ntt_split_run *run)
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

/* Unless the call is asynchronous, and after a failure in any case, no work may still use the
 * regions of other devices or the caller's memory. Uploads precede work of the device's stream. */
pool_status ntt_split_close(struct ntt_split_run *run, pool_status status)
{
    const int is_async = run->call->frame.exec.is_async;

    for (uint32_t i = 0; i < run->count; i++) {
        struct exec_target target = run->device[i].of_call.target;

        if (target.stream)
            status = exec_target_end(&target, is_async, status);
        if (!run->device[i].set || !ntt_split_is_on_host(run->call->in))
            continue;
        target.stream = run->device[i].set->stream[0];
        status = exec_target_end(&target, is_async, status);
    }
    for (uint32_t i = 0; i < run->count; i++) {
        struct ntt_split_device *device = &run->device[i];

        for (int region = 0; region < NTT_SPLIT_REGIONS; region++) {
            status = scratch_free(&device->of_call.target, &device->view[region], status);
            status = scratch_free(&device->of_call.target, &device->scratch[region], status);
        }
        if (device->set)
            stream_set_return(device->set);
    }
    for (uint32_t i = run->count; i-- > 0;)
        operation_device_close(&run->device[i].of_call, status);
    return status;
}
