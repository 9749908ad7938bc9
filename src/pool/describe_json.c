/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool, or one device, as JSON. The names are those of the structs' members.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "base/alloc.h"
#include "base/status.h"
#include "pool/device/pool.h"
#include "pool/module/compiler.h"

/*
 * Sizes are JSON numbers: a double represents integers up to 2^53 exactly, which is eight thousand
 * times the memory of the largest device.
 */
static int add_number(cJSON *object, const char *name, double value)
{
    return cJSON_AddNumberToObject(object, name, value) != NULL;
}

static int add_text(cJSON *object, const char *name, const char *value)
{
    return cJSON_AddStringToObject(object, name, value) != NULL;
}

static int add_flag(cJSON *object, const char *name, int value)
{
    return cJSON_AddBoolToObject(object, name, value != 0) != NULL;
}

/* A new object at the end of the array; NULL when memory has run out. */
static cJSON *add_object(cJSON *array)
{
    cJSON *object = cJSON_CreateObject();

    if (object && cJSON_AddItemToArray(array, object))
        return object;
    cJSON_Delete(object);
    return NULL;
}

static int fill_device(cJSON *object, const pool_device_info *info)
{
    return add_number(object, "index", info->index) &&
           add_number(object, "ordinal", info->ordinal) && add_text(object, "uuid", info->uuid) &&
           add_text(object, "pci", info->pci) && add_text(object, "name", info->name) &&
           add_text(object, "state", device_state_name(info->state)) &&
           add_text(object, "reason", info->reason) &&
           add_number(object, "compute_major", info->compute_major) &&
           add_number(object, "compute_minor", info->compute_minor) &&
           add_number(object, "multiprocessors", info->multiprocessors) &&
           add_number(object, "partition", info->partition) &&
           add_number(object, "partitions", info->partitions) &&
           add_number(object, "clock_khz", info->clock_khz) &&
           add_number(object, "memory_clock_khz", info->memory_clock_khz) &&
           add_number(object, "memory_bus_bits", info->memory_bus_bits) &&
           add_number(object, "l2_bytes", (double)info->l2_bytes) &&
           add_number(object, "total_bytes", (double)info->total_bytes) &&
           add_number(object, "free_bytes", (double)info->free_bytes) &&
           add_flag(object, "has_context", info->has_context) &&
           add_flag(object, "ecc", info->ecc) && add_flag(object, "mps", info->mps) &&
           add_flag(object, "mig", info->mig) && add_number(object, "numa_node", info->numa_node) &&
           add_flag(object, "integrated", info->integrated) &&
           add_number(object, "compute_mode", info->compute_mode) &&
           add_number(object, "warp_size", info->warp_size) &&
           add_number(object, "max_threads_per_block", info->max_threads_per_block) &&
           add_number(
               object, "max_threads_per_multiprocessor", info->max_threads_per_multiprocessor) &&
           add_number(
               object, "max_blocks_per_multiprocessor", info->max_blocks_per_multiprocessor) &&
           add_number(object, "registers_per_multiprocessor", info->registers_per_multiprocessor) &&
           add_number(object, "copy_engines", info->copy_engines) &&
           add_number(object, "shared_bytes_per_block", (double)info->shared_bytes_per_block) &&
           add_number(object, "shared_bytes_per_block_optin",
               (double)info->shared_bytes_per_block_optin) &&
           add_number(object, "shared_bytes_per_multiprocessor",
               (double)info->shared_bytes_per_multiprocessor) &&
           add_flag(object, "memory_pools", info->memory_pools) &&
           add_flag(object, "cooperative_launch", info->cooperative_launch);
}

/* The account of the device's memory; no limit is null. */
static int fill_account(cJSON *object, const pool_device *device)
{
    struct device_account_info account;

    device_account_read(device, &account);
    return (account.limit == UINT64_MAX
                   ? cJSON_AddNullToObject(object, "memory_limit") != NULL
                   : add_number(object, "memory_limit", (double)account.limit)) &&
           add_number(object, "memory_headroom", (double)account.headroom) &&
           add_number(object, "used_bytes", (double)account.used) &&
           add_number(object, "held_bytes", (double)account.held) &&
           add_number(object, "available_bytes", (double)account.available) &&
           add_number(object, "lease_reserved_bytes", (double)account.reserved) &&
           add_number(object, "lease_charged_bytes", (double)account.charged) &&
           add_number(object, "leases", account.leases);
}

/* The list of resident objects; NULL when memory has run out. */
struct resident_array {
    cJSON *array;
};

static void add_resident(void *user, const struct device_resident *resident)
{
    struct resident_array *list = user;
    cJSON *object = list->array ? add_object(list->array) : NULL;

    if (!object || !add_text(object, "kind", resident->kind) ||
        !add_text(object, "name", resident->name) ||
        !add_number(object, "bytes", (double)resident->bytes) ||
        !add_number(object, "users", resident->users) ||
        !add_number(object, "survivals", resident->survivals) ||
        !add_flag(object, "pinned", resident->is_pinned))
        list->array = NULL;
}

/* What stays in the device's memory between jobs, least recently used first. */
static int fill_residents(cJSON *object, const pool_device *device)
{
    struct resident_array list = {cJSON_AddArrayToObject(object, "residents")};

    if (list.array)
        device_each_resident(device, add_resident, &list);
    return list.array != NULL;
}

/* The worker process; null: this process uses the device itself. */
static int fill_worker(cJSON *object, const pool_device *device)
{
    struct device_worker worker;
    cJSON *member;

    if (!device_read_worker(device, &worker))
        return cJSON_AddNullToObject(object, "worker") != NULL;
    member = cJSON_AddObjectToObject(object, "worker");
    return member && add_number(member, "pid", (double)worker.pid) &&
           add_number(member, "generation", (double)worker.generation) &&
           add_number(member, "restarts", (double)worker.restarts) &&
           add_text(member, "state", device_worker_state_name(worker.state)) &&
           add_text(member, "cause", worker.cause);
}

static int fill_devices(cJSON *root, const device_pool *pool, const struct pool_snapshot *snapshot)
{
    cJSON *devices = cJSON_AddArrayToObject(root, "devices");

    for (size_t i = 0; devices && i < snapshot->count; i++) {
        cJSON *object = add_object(devices);

        if (!object || !fill_device(object, &snapshot->devices[i]) ||
            !fill_account(object, &pool->devices[i]) ||
            !fill_residents(object, &pool->devices[i]) || !fill_worker(object, &pool->devices[i]))
            return 0;
    }
    return devices != NULL;
}

/* One row per device; null where the query failed, and for a device and itself. */
static int fill_peers(cJSON *root, const struct pool_snapshot *snapshot)
{
    cJSON *rows = cJSON_AddArrayToObject(root, "peers");
    size_t count = snapshot->count;

    for (size_t from = 0; rows && snapshot->peers && from < count; from++) {
        cJSON *row = cJSON_CreateArray();

        if (!row || !cJSON_AddItemToArray(rows, row)) {
            cJSON_Delete(row);
            return 0;
        }
        for (size_t to = 0; to < count; to++) {
            const pool_peer_info *peer = &snapshot->peers[from * count + to];
            cJSON *object = from == to ? cJSON_CreateNull() : cJSON_CreateObject();

            if (!object || !cJSON_AddItemToArray(row, object)) {
                cJSON_Delete(object);
                return 0;
            }
            if (from != to && !(add_flag(object, "access", peer->access) &&
                                  add_flag(object, "native_atomics", peer->native_atomics) &&
                                  add_number(object, "performance_rank", peer->performance_rank)))
                return 0;
        }
    }
    return rows != NULL;
}

/* That of the first device; nothing is tried. */
static int fill_compiler(cJSON *root, const device_pool *pool)
{
    pool_component found = {.status = POOL_ERR_NO_COMPILER};
    cJSON *compiler = cJSON_AddObjectToObject(root, "compiler");

    if (pool->count && module_compiler_report(&pool->devices[0], false, &found))
        return 0;
    return compiler && add_text(compiler, "path", found.path) &&
           add_number(compiler, "version", found.version) &&
           add_text(compiler, "message", found.message);
}

/* The pack of the first device's chip; `used` is false where none can be. */
static int fill_pack(cJSON *root, pool_device *device)
{
    pool_component found = {.status = POOL_ERR_NOT_FOUND};
    cJSON *pack = cJSON_AddObjectToObject(root, "machine_code");

    if (device && module_pack_report(device, &found))
        return 0;
    return pack && add_flag(pack, "used", !found.status) && add_text(pack, "path", found.path) &&
           add_number(pack, "compiler_version", found.version) &&
           add_text(pack, "message", found.message);
}

/* An index in the pool, or null. */
static int add_index(cJSON *object, const char *name, int index)
{
    return index < 0 ? cJSON_AddNullToObject(object, name) != NULL
                     : add_number(object, name, index);
}

/* The kernels that were unfinished when the first fault showed; empty while there is none. */
static int fill_unfinished(cJSON *root, device_pool *pool, int is_poisoned)
{
    const struct driver_fault *fault = &pool->driver->fault;
    cJSON *list = cJSON_AddArrayToObject(root, "unfinished");
    char stream[24];

    for (unsigned i = 0; list && is_poisoned && i < fault->kernel_count; i++) {
        const struct driver_fault_kernel *kernel = &fault->kernels[i];
        cJSON *object = add_object(list);

        snprintf(stream, sizeof(stream), "0x%llx", (unsigned long long)(uintptr_t)kernel->stream);
        if (!(object && add_number(object, "ordinal", kernel->device) &&
                add_text(object, "kernel", kernel->name) &&
                add_number(object, "launches", kernel->launches) &&
                add_text(object, "stream", stream) && add_text(object, "label", kernel->label)))
            return 0;
    }
    return list != NULL;
}

static int fill_tuning(cJSON *root, const device_pool *pool)
{
    static const char *const sources[] = {[POOL_TUNING_DEFAULT] = "default",
        [POOL_TUNING_FILE] = "file",
        [POOL_TUNING_GIVEN] = "given"};
    const pool_tuning_info *info = &pool->tuning_info;
    cJSON *tuning = cJSON_AddObjectToObject(root, "tuning");

    return tuning && add_text(tuning, "source", sources[info->source]) &&
           add_number(tuning, "changed", info->changed) && add_text(tuning, "path", info->path) &&
           add_text(tuning, "message", info->message);
}

static int fill_classes(cJSON *levels, const char *name, const int32_t *classes, int count)
{
    cJSON *array = cJSON_CreateIntArray(classes, count);

    if (array && cJSON_AddItemToObject(levels, name, array))
        return 1;
    cJSON_Delete(array);
    return 0;
}

/* The classes of leases at which the level of their streams changes, from level 0 outwards. */
static int fill_levels(cJSON *root, const device_pool *pool)
{
    cJSON *levels = cJSON_AddObjectToObject(root, "levels");

    return levels &&
           fill_classes(levels, "urgent_classes", pool->levels.urgent, DEVICE_MAX_LEVEL) &&
           fill_classes(levels, "background_classes", pool->levels.background, -DEVICE_MIN_LEVEL);
}

static int fill_pool(cJSON *root, device_pool *pool)
{
    pool_health_info health = {.struct_size = sizeof(health)};
    cJSON *driver = cJSON_AddObjectToObject(root, "driver");

    pool_get_health(pool, &health);
    return driver && add_text(driver, "path", pool->driver->path) &&
           add_number(driver, "version", pool->driver->version) && fill_compiler(root, pool) &&
           fill_pack(root, pool->count ? &pool->devices[0] : NULL) && fill_tuning(root, pool) &&
           fill_levels(root, pool) &&
           add_text(root, "context_mode", device_context_mode_name(pool->context_mode)) &&
           add_flag(root, "lazy", pool->is_lazy) &&
           add_text(root, "harmed", pool_error_class_name(health.harmed)) &&
           add_text(root, "first_cause", health.first_cause) &&
           add_index(root, "fault_device", health.fault_device) &&
           add_index(root, "fault_shown_on", health.fault_shown_on) &&
           fill_unfinished(root, pool, health.harmed == POOL_CLASS_PROCESS) &&
           add_number(root, "bindings", health.bindings) &&
           add_number(root, "usable_devices", health.usable_devices);
}

/* Prints `root` if it is complete, and deletes it. */
static pool_status print_and_delete(cJSON *root, bool is_complete, const char *what, char **text)
{
    char *printed = is_complete ? cJSON_Print(root) : NULL;
    char *copy = printed ? base_strdup(printed) : NULL;

    cJSON_Delete(root);
    cJSON_free(printed);
    if (!copy)
        return base_fail_memory(what);
    *text = copy;
    return POOL_OK;
}

pool_status device_pool_write_json(
    device_pool *pool, const struct pool_snapshot *snapshot, char **text)
{
    cJSON *root = cJSON_CreateObject();
    bool is_complete = root && fill_pool(root, pool) && fill_devices(root, pool, snapshot) &&
                       fill_peers(root, snapshot);

    return print_and_delete(root, is_complete, "the description of the pool", text);
}

pool_status device_write_json(const pool_device *device, const pool_device_info *info, char **text)
{
    cJSON *root = cJSON_CreateObject();

    return print_and_delete(root,
        root && fill_device(root, info) && fill_account(root, device) &&
            fill_residents(root, device) && fill_worker(root, device),
        "the description of a device", text);
}
