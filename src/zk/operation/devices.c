/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of a job and the items of their parts: see devices.h. */
#include "zk/operation/devices.h"

#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/device/device.h"
#include "pool/memory/scratch.h"

/* Weights of devices are fractions of this. */
#define WEIGHT_ONE (UINT64_C(1) << 20)

static pool_status check_device(
    const char *call, const struct devices *devices, pool_device *device)
{
    const uint32_t index = devices->count;

    if (!device)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%s: `devices[%u]` must not be NULL", call, index);
    if (index && device_pool_of(device) != device_pool_of(devices->device[0]))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `devices[%u]` belongs to another pool than `devices[0]`", call, index);
    for (uint32_t i = 0; i < index; i++)
        if (devices->device[i] == device)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: `devices[%u]` and `devices[%u]` are both device %d", call, i, index,
                pool_device_ordinal(device));
    return device_check(device, DEVICE_USE_CALLS);
}

pool_status devices_read(const char *call, const pool_exec *exec, struct devices *devices)
{
    uint32_t most = EXEC_MAX_DEVICES;
    pool_status status;

    devices->count = 0;
    if (!exec->devices)
        most = (uint32_t)base_min(most, pool_lease_device_count(exec->lease));
    if (!most)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `lease` has been released", call);
    status = base_check_ranges(call, {"device_count", exec->device_count, 1, most});
    while (!status && devices->count < exec->device_count) {
        pool_device *device = exec->devices ? exec->devices[devices->count] : NULL;

        if (!exec->devices)
            status = pool_lease_device(exec->lease, devices->count, &device);
        if (!status)
            status = check_device(call, devices, device);
        if (status)
            break;
        devices->device[devices->count] = device;
        devices->rate[devices->count] = device_rate(device);
        devices->count++;
    }
    return status;
}

pool_status devices_read_for_shards(
    const char *call, const pool_exec *exec, struct devices *devices)
{
    return exec->device_count
               ? devices_read(call, exec, devices)
               : base_fail(POOL_ERR_INVALID_ARGUMENT,
                     "%s: unsupported value 0 for `device_count`; levels have shards over several "
                     "devices",
                     call);
}

pool_exec devices_exec(const struct devices *devices, const pool_exec *exec, uint32_t index)
{
    pool_exec part = *exec;

    part.device = devices->device[index];
    part.devices = NULL;
    part.device_count = 0;
    part.stream = index ? NULL : exec->stream;
    part.workspace = exec->workspaces ? exec->workspaces[index] : NULL;
    part.workspaces = NULL;
    part.workspace_count = 0;
    return part;
}

static pool_status check_workspace(
    const char *call, uint32_t index, pool_device *device, pool_buffer *given, uint64_t needed)
{
    CUdeviceptr address = 0;
    pool_status status;

    if (!given && !needed)
        return POOL_OK;
    if (!given)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `workspaces[%u]` must not be NULL; device %d needs %llu bytes", call, index,
            pool_device_ordinal(device), (unsigned long long)needed);
    status = pool_buffer_address(given, &address);
    if (status)
        return status;
    if (!device_is_same_gpu(pool_buffer_device(given), device))
        return base_fail(POOL_ERR_WRONG_DEVICE,
            "%s: `workspaces[%u]` is memory of device %d; that of device %d is required", call,
            index, pool_device_ordinal(pool_buffer_device(given)), pool_device_ordinal(device));
    if (pool_buffer_bytes(given) < needed)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `workspaces[%u]` has %llu bytes; device %d needs %llu", call, index,
            (unsigned long long)pool_buffer_bytes(given), pool_device_ordinal(device),
            (unsigned long long)needed);
    if (address % MEMORY_SCRATCH_ALIGNMENT)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `workspaces[%u]` is not aligned to %d bytes", call, index,
            MEMORY_SCRATCH_ALIGNMENT);
    return POOL_OK;
}

pool_status devices_check_workspaces(
    const char *call, const struct devices *devices, const pool_exec *exec, const uint64_t *needed)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; exec->workspaces && i < devices->count && !status; i++)
        status = check_workspace(call, i, devices->device[i], exec->workspaces[i], needed[i]);
    return status;
}

/* ---- items ----------------------------------------------------------------------------------- */

void devices_split(
    const struct devices *devices, uint64_t total, uint64_t multiple, uint64_t *first)
{
    const uint64_t units = base_ceil_div(total, multiple);
    uint64_t all = 0, before = 0;

    for (uint32_t i = 0; i < devices->count; i++)
        all += devices->rate[i];
    for (uint32_t i = 0; i < devices->count; i++) {
        uint64_t weight = before * WEIGHT_ONE / all;
        uint64_t unit = units / WEIGHT_ONE * weight +
                        (units % WEIGHT_ONE * weight + WEIGHT_ONE / 2) / WEIGHT_ONE;

        first[i] = base_min(unit * multiple, total);
        before += devices->rate[i];
    }
    first[devices->count] = total;
}

static const pool_span *shards_of(const pool_span *span)
{
    return span->data;
}

static pool_status check_shard(
    const char *call, const pool_span *span, uint32_t index, const char *name)
{
    const pool_span *shard = &shards_of(span)[index];

    if (shard->space != POOL_MEMORY_DEVICE)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %d for `space` of shard %u of `%s`; it must be "
            "POOL_MEMORY_DEVICE",
            call, (int)shard->space, index, name);
    if (shard->form != span->form)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `form` of shard %u of `%s` is %d, that of the span is %d; they must be equal",
            call, index, name, (int)shard->form, (int)span->form);
    return POOL_OK;
}

static pool_status check_shards(
    const char *call, const struct devices *devices, const pool_span *span, const char *name)
{
    uint64_t count = 0;
    pool_status status = POOL_OK;

    if (!span->data)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `data` of `%s`, an array of shards, must not be NULL", call, name);
    if (span->stride)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %llu for `stride` of `%s`; it must be 0, each shard has its own",
            call, (unsigned long long)span->stride, name);
    for (uint32_t i = 0; i < devices->count && !status; i++) {
        status = check_shard(call, span, i, name);
        if (!status && __builtin_add_overflow(count, shards_of(span)[i].count, &count))
            status = base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: the shards of `%s` have more than 2^64 items", call, name);
    }
    if (!status && count != span->count)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `count` of `%s` is %llu; its %u shards have %llu items", call, name,
            (unsigned long long)span->count, devices->count, (unsigned long long)count);
    return status;
}

pool_status devices_check_span(
    const char *call, const struct devices *devices, const pool_span *span, const char *name)
{
    if (span->space == POOL_MEMORY_SHARDED)
        return check_shards(call, devices, span, name);
    if (span->space == POOL_MEMORY_HOST)
        return POOL_OK;
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "%s: unsupported value %d for `space` of `%s`; with `device_count` %u it must be "
        "POOL_MEMORY_HOST or POOL_MEMORY_SHARDED",
        call, (int)span->space, name, devices->count);
}

void devices_divide(
    const struct devices *devices, const pool_span *span, uint64_t multiple, uint64_t *first)
{
    if (span->space != POOL_MEMORY_SHARDED) {
        devices_split(devices, span->count, multiple, first);
        return;
    }
    first[0] = 0;
    for (uint32_t i = 0; i < devices->count; i++)
        first[i + 1] = first[i] + shards_of(span)[i].count;
}

pool_span devices_part(
    const pool_span *span, uint64_t item_bytes, uint32_t index, const uint64_t *first)
{
    pool_span part = *span;

    if (span->space == POOL_MEMORY_SHARDED)
        return shards_of(span)[index];
    part.count = first[index + 1] - first[index];
    if (part.data && first[index])
        part.data =
            (uint8_t *)span->data + first[index] * (span->stride ? span->stride : item_bytes);
    return part;
}
