/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From params to driver and devices: selects the real driver, the simulated one or the caller's
 * table, and resolves the device string. No other file makes this choice.
 */
#include "pool/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/log.h"
#include "base/math.h"
#include "base/settings.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "driver/sim/table/sim.h"
#include "driver/worker/worker.h"
#include "pool/device/device_spec.h"
#include "pool/device/pool.h"

/* The driver's devices, while the elements of the device string are resolved. */
struct visible_devices {
    struct driver *driver;
    int count;
    pool_device *devices; /* scratch: handle and identity only */
    struct pci_address *addresses;
    int is_read;      /* identities have been read */
    char unread[320]; /* about the first device that could not be identified, or "" */
    const struct device_parts *parts; /* of GPUs whose element of the string names none */
    struct chosen_gpu *chosen;
    size_t chosen_count;
};

/* A GPU that the pool is to have, and into which parts. */
struct chosen_gpu {
    int ordinal;
    const struct device_parts *parts;
    uint32_t contexts; /* of the caller's; 0: the pool makes its own */
};

/* A suffix for messages about devices that do not exist. */
static const char *visibility_hint(char *text, size_t size)
{
    const char *limited = base_env("CUDA_VISIBLE_DEVICES");

    text[0] = '\0';
    if (limited)
        snprintf(text, size,
            "; CUDA_VISIBLE_DEVICES=\"%.100s\" hides devices, and ordinals count what it leaves",
            limited);
    return text;
}

/* The device string to use. Adopted contexts determine the devices; their string is NULL, or "sim…"
 * for contexts of simulated devices. */
static const char *device_string_of(const pool_params *params)
{
    const char *text = params->devices;

    if (params->context_mode == POOL_CONTEXT_ADOPT)
        return text;
    if (!text) {
        text = base_setting(BASE_SETTING_DEVICES);
        if (text && params->driver &&
            (sim_spec_is_sim(text) || worker_spec_is_workers(text, NULL))) {
            base_log(POOL_LOG_WARN, "%s, \"%s\", is ignored: the program sets params.driver",
                base_setting_origin(BASE_SETTING_DEVICES).text, text);
            text = NULL;
        }
    }
    return text ? text : "all";
}

/* The opened driver holds the reference to the simulated devices. */
static pool_status open_simulated(const char *text, struct driver **driver)
{
    const pool_cuda_api *table;
    pool_status status = sim_open(text, &table);

    if (status)
        return status;
    status = driver_open_internal(table, "simulated", sim_close, driver);
    if (status)
        sim_close();
    return status;
}

#define LONGEST_SPIN_US 1000000 /* of the setting: beyond a second the worker may as well sleep */

/* The opened driver holds the reference to the workers. */
static pool_status open_workers(const pool_params *params, const char *text, struct driver **driver)
{
    const pool_cuda_api *table;
    uint64_t spin_us = 0;
    pool_status status =
        base_setting_number(BASE_SETTING_WORKER_SPIN_US, 0, LONGEST_SPIN_US, &spin_us);

    if (!status)
        status = worker_open(text, &table);
    if (status)
        return status;
    status = driver_open_internal(table, "worker processes", worker_close, driver);
    if (status) {
        worker_close();
        return status;
    }
    worker_set_spin(params->worker_spin_ns ? params->worker_spin_ns : spin_us * 1000);
    atomic_store(&(*driver)->explain_loss, worker_explain_loss);
    atomic_store(&(*driver)->end_process, worker_end);
    return POOL_OK;
}

static pool_status open_driver(
    const pool_params *params, const char *text, bool is_isolated, struct driver **driver)
{
    if (is_isolated)
        return open_workers(params, text, driver);
    if (!text || !sim_spec_is_sim(text))
        return driver_open(params->driver, driver);
    if (params->driver)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the devices \"%s\" are simulated, so params.driver must be NULL", text);
    return open_simulated(text, driver);
}

static pool_status list_devices(struct visible_devices *visible)
{
    struct driver *driver = visible->driver;
    char hint[256];
    pool_status status = DRIVER_CALL(driver, DeviceGetCount(&visible->count));

    if (status)
        return status;
    if (visible->count <= 0)
        return base_fail(POOL_ERR_NO_DEVICE, "the driver reports no device%s",
            visibility_hint(hint, sizeof(hint)));
    visible->devices =
        base_aligned_calloc(CACHE_LINE, (size_t)visible->count * sizeof(*visible->devices));
    visible->addresses = base_calloc((size_t)visible->count, sizeof(*visible->addresses));
    if (!visible->devices || !visible->addresses)
        return base_fail_memory("the list of devices");
    for (int i = 0; i < visible->count && !status; i++) {
        visible->devices[i].driver = driver;
        status = DRIVER_CALL_FOR(driver, DeviceGet(&visible->devices[i].handle, i), "device %d", i);
    }
    return status;
}

/* Only for strings with UUIDs or addresses; a device that cannot be identified never matches. */
static pool_status read_identities(struct visible_devices *visible)
{
    for (int i = 0; i < visible->count && !visible->is_read; i++) {
        pool_status status = device_read_identity(&visible->devices[i]);

        if (pool_status_class(status) == POOL_CLASS_PROCESS)
            return status;
        if (status && !visible->unread[0])
            snprintf(visible->unread, sizeof(visible->unread),
                "; device %d could not be identified: %.240s", i, pool_last_error()->message);
        if (status ||
            !pci_address_parse(visible->devices[i].properties.pci, &visible->addresses[i]))
            visible->addresses[i] = (struct pci_address){-1, -1, -1, -1};
    }
    visible->is_read = 1;
    return POOL_OK;
}

static int matches(
    const struct visible_devices *visible, const struct device_selector *selector, int ordinal)
{
    const pool_device *device = &visible->devices[ordinal];

    switch (selector->kind) {
    case DEVICE_SELECT_ALL:
        return 1;
    case DEVICE_SELECT_ORDINALS:
        return ordinal >= selector->first && ordinal <= selector->last;
    case DEVICE_SELECT_UUID:
        return device->is_named && device_has_uuid(device, selector->text);
    case DEVICE_SELECT_PCI:
        return pci_address_matches(&selector->pci, &visible->addresses[ordinal]);
    }
    return 0;
}

static pool_status add_gpu(
    struct visible_devices *visible, const struct device_selector *selector, int ordinal)
{
    const struct device_parts *parts = selector->parts.count ? &selector->parts : visible->parts;

    for (size_t i = 0; i < visible->chosen_count; i++)
        if (visible->chosen[i].ordinal == ordinal)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "device %d is named twice in the device string, the second time by \"%s\"", ordinal,
                selector->text);
    visible->chosen[visible->chosen_count++] =
        (struct chosen_gpu){.ordinal = ordinal, .parts = parts};
    return POOL_OK;
}

static pool_status add_matching(
    struct visible_devices *visible, const struct device_selector *selector)
{
    int is_single = selector->kind == DEVICE_SELECT_UUID || selector->kind == DEVICE_SELECT_PCI;
    int found = 0, last = -1;
    char hint[256];
    pool_status status = is_single ? read_identities(visible) : POOL_OK;

    if (!status && selector->kind == DEVICE_SELECT_ORDINALS && selector->last >= visible->count)
        return base_fail(POOL_ERR_NOT_FOUND,
            "there is no device %d (\"%s\"): the driver reports %d, from 0 to %d%s", selector->last,
            selector->text, visible->count, visible->count - 1,
            visibility_hint(hint, sizeof(hint)));
    for (int i = 0; i < visible->count && !status; i++) {
        if (!matches(visible, selector, i))
            continue;
        if (is_single && found++)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "\"%s\" matches more than one device, %d (%s) and %d (%s): use a longer one%s",
                selector->text, last, visible->devices[last].properties.uuid, i,
                visible->devices[i].properties.uuid,
                selector->kind == DEVICE_SELECT_PCI ? ", or name MIG instances by UUID" : "");
        last = i;
        status = add_gpu(visible, selector, i);
    }
    if (!status && last < 0)
        return base_fail(POOL_ERR_NOT_FOUND, "none of the driver's %d devices matches \"%s\"%s%s",
            visible->count, selector->text, visibility_hint(hint, sizeof(hint)), visible->unread);
    return status;
}

/* With the context current: whether it exists. A green one that has been destroyed can be made
 * current and names its device all the same. */
static pool_status check_exists(struct driver *driver, size_t index)
{
    size_t free_bytes, total_bytes;
    pool_cu_result code = driver->api.MemGetInfo(&free_bytes, &total_bytes);

    if (code == POOL_CU_CONTEXT_IS_DESTROYED || code == POOL_CU_INVALID_CONTEXT)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "pool_create: contexts[%zu] has been destroyed", index);
    return driver_check(driver, code, "cuMemGetInfo");
}

/* With the context current: the one that memory which is allocated in it belongs to, of a green one
 * the primary context. */
static pool_status read_memory_context(struct driver *driver, CUcontext *context)
{
    pool_cu_enum question = DRIVER_POINTER_ATTRIBUTE_CONTEXT;
    void *answer = context;
    CUdeviceptr address = 0;
    pool_status status = DRIVER_CALL(driver, MemAlloc(&address, 1));

    if (status)
        return status;
    status = DRIVER_CALL(driver, PointerGetAttributes(1, &question, &answer, address));
    (void)DRIVER_CLEANUP(driver, MemFree(address));
    return status;
}

/* A context that the caller created. */
struct given_context {
    CUdevice handle;
    CUcontext memory_context; /* NULL: not asked for */
};

static pool_status read_inside(
    struct driver *driver, size_t index, bool asks_for_memory, struct given_context *given)
{
    pool_status status = DRIVER_CALL(driver, CtxGetDevice(&given->handle));

    if (!status)
        status = check_exists(driver, index);
    return status || !asks_for_memory ? status
                                      : read_memory_context(driver, &given->memory_context);
}

static pool_status read_context(struct driver *driver, const pool_params *params, size_t index,
    bool asks_for_memory, struct given_context *given)
{
    CUcontext context = params->contexts[index];
    pool_status status, popped;
    int is_off;

    *given = (struct given_context){.handle = -1};
    if (!context)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_create: contexts must not contain NULL");
    status = DRIVER_CALL(driver, CtxPushCurrent(context));
    if (status)
        return status;
    status = read_inside(driver, index, asks_for_memory, given);
    popped = device_context_pop(driver, context, &is_off);
    return status ? status : popped;
}

/* Several contexts of a GPU are its parts, which have its memory in common. */
static pool_status add_part(
    struct visible_devices *visible, const pool_params *params, size_t index, int ordinal)
{
    struct chosen_gpu *gpu = &visible->chosen[visible->chosen_count - 1];
    struct given_context before, given;
    pool_status status = POOL_OK;

    for (size_t i = 0; i < index; i++)
        if (params->contexts[i] == params->contexts[index])
            status = base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_create: contexts[%zu] and contexts[%zu] are the same", i, index);
    if (!status && gpu->contexts == DEVICE_PARTS_MAX)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: device %d has more than %d of the contexts", ordinal, DEVICE_PARTS_MAX);
    if (!status)
        status = read_context(visible->driver, params, index - 1, true, &before);
    if (!status)
        status = read_context(visible->driver, params, index, true, &given);
    if (!status && before.memory_context != given.memory_context)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: contexts[%zu] and contexts[%zu] are of device %d and do not share "
            "memory: "
            "several contexts of a device must be green ones of one primary context",
            index - 1, index, ordinal);
    gpu->contexts += !status;
    return status;
}

static pool_status add_context(
    struct visible_devices *visible, const pool_params *params, size_t index, int ordinal)
{
    for (size_t i = 0; i < visible->chosen_count; i++) {
        if (visible->chosen[i].ordinal != ordinal)
            continue;
        if (i + 1 == visible->chosen_count)
            return add_part(visible, params, index, ordinal);
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: contexts[%zu] is another one of device %d: the contexts of a device must "
            "follow one another",
            index, ordinal);
    }
    visible->chosen[visible->chosen_count++] =
        (struct chosen_gpu){.ordinal = ordinal, .parts = visible->parts, .contexts = 1};
    return POOL_OK;
}

static pool_status select_by_context(struct visible_devices *visible, const pool_params *params)
{
    pool_status status = POOL_OK;

    for (size_t i = 0; i < params->context_count && !status; i++) {
        struct given_context given;
        int ordinal = 0;

        status = read_context(visible->driver, params, i, false, &given);
        while (ordinal < visible->count && visible->devices[ordinal].handle != given.handle)
            ordinal++;
        if (!status && ordinal == visible->count)
            status = base_fail(POOL_ERR_NOT_FOUND,
                "pool_create: contexts[%zu] belongs to no device that the driver reports", i);
        if (!status)
            status = add_context(visible, params, i, ordinal);
    }
    return status;
}

/* All of them at the same time. One that does not start leaves its device unusable. */
static void start_workers(const struct visible_devices *visible)
{
    int *ordinals = base_calloc(visible->chosen_count, sizeof(*ordinals));
    struct base_error_copy first;

    if (!ordinals)
        return; /* each starts at its first use */
    for (size_t i = 0; i < visible->chosen_count; i++)
        ordinals[i] = visible->chosen[i].ordinal;
    base_error_save(&first);
    (void)worker_start(ordinals, visible->chosen_count);
    base_error_restore(&first);
    base_free(ordinals);
}

/* 0: it is one device. */
static uint32_t parts_of(const struct chosen_gpu *gpu)
{
    return gpu->contexts > 1 ? gpu->contexts : gpu->parts->count;
}

/* Makes a device of each part of the GPUs. */
static pool_status add_devices(struct device_source *source, const struct visible_devices *visible)
{
    struct device_part split[DEVICE_PARTS_MAX] = {0};
    size_t count = 0;

    for (size_t i = 0; i < visible->chosen_count; i++)
        count += base_max(parts_of(&visible->chosen[i]), 1);
    source->entries = base_calloc(count, sizeof(*source->entries));
    if (!source->entries)
        return base_fail_memory("the list of devices");
    for (size_t i = 0; i < visible->chosen_count; i++) {
        const struct chosen_gpu *gpu = &visible->chosen[i];
        const CUdevice handle = visible->devices[gpu->ordinal].handle;
        struct device_parts *wanted = NULL;
        pool_status status =
            gpu->parts->count ? device_split(source->driver, handle, gpu->parts, split) : POOL_OK;

        if (status)
            return status;
        if (gpu->parts->count) {
            wanted = base_calloc(1, sizeof(*wanted));
            if (!wanted)
                return base_fail_memory("the parts of a device");
            *wanted = *gpu->parts;
        }
        for (uint32_t number = 0; number < base_max(parts_of(gpu), 1); number++)
            source->entries[source->count++] = (struct device_source_entry){.ordinal = gpu->ordinal,
                .handle = handle,
                .number = number,
                .parts = parts_of(gpu),
                .part = split[number],
                .wanted = number ? NULL : wanted};
    }
    return POOL_OK;
}

static pool_status select_devices(const pool_params *params, const struct device_parts *parts,
    const struct device_selector *selectors, size_t count, struct device_source *source)
{
    struct visible_devices visible = {.driver = source->driver, .parts = parts};
    pool_status status = list_devices(&visible);

    if (status)
        goto out;
    visible.chosen = base_calloc((size_t)visible.count, sizeof(*visible.chosen));
    if (!visible.chosen) {
        status = base_fail_memory("the list of devices");
        goto out;
    }
    if (params->context_mode == POOL_CONTEXT_ADOPT)
        status = select_by_context(&visible, params);
    for (size_t i = 0; i < count && !status; i++)
        status = add_matching(&visible, &selectors[i]);
    if (!status && source->is_isolated && !params->lazy)
        start_workers(&visible);
    if (!status)
        status = add_devices(source, &visible);
out:
    base_free(visible.chosen);
    base_free(visible.devices);
    base_free(visible.addresses);
    return status;
}

/* What belongs to the caller's process does not exist in a worker's. */
static pool_status check_isolation(const pool_params *params)
{
    if (params->driver)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_create: `driver` must be NULL with worker processes, which open the driver "
            "themselves");
    if (params->context_mode == POOL_CONTEXT_ADOPT)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_create: POOL_CONTEXT_ADOPT is not possible with worker processes: a context of "
            "the caller's process cannot be used in another process");
    return POOL_OK;
}

/* A device string of simulated devices, and which of them the pool has, as a list: "sim:4/2" as
 * "sim:4" and "all/2", "sim:4@0,2/2" as "sim:4" and "0,2/2". */
struct simulated_spec {
    char devices[1024];
    char list[1024];
};

static pool_status read_simulated(const char *text, struct simulated_spec *spec)
{
    const size_t length = strcspn(text, "@/");
    const bool is_chosen = text[length] == '@';

    if (length >= sizeof(spec->devices) || strlen(text + length) + 4 > sizeof(spec->list))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the device string \"%.20s…\" is too long: simulated devices have at most %zu bytes, "
            "and as many behind \"@\" or \"/\"",
            text, sizeof(spec->devices) - 1);
    snprintf(spec->devices, sizeof(spec->devices), "%.*s", (int)length, text);
    snprintf(
        spec->list, sizeof(spec->list), "%s%s", is_chosen ? "" : "all", text + length + is_chosen);
    return POOL_OK;
}

static bool has_parts(
    const struct device_parts *parts, const struct device_selector *selectors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (selectors[i].parts.count)
            return true;
    return parts->count;
}

/* Parts are green contexts, which belong to primary ones. */
static pool_status check_parts(const pool_params *params)
{
    if (params->context_mode == POOL_CONTEXT_ADOPT)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: with POOL_CONTEXT_ADOPT the contexts determine the devices: `partitions` "
            "and parts in `devices` are not possible");
    if (params->context_mode == POOL_CONTEXT_OWN)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_create: parts of a GPU have its primary context in common; POOL_CONTEXT_OWN is "
            "not possible with them");
    return POOL_OK;
}

pool_status device_source_open(const pool_params *params, struct device_source *source)
{
    const char *text = device_string_of(params), *list;
    bool is_isolated = worker_spec_is_workers(text, &text);
    struct device_selector *selectors = NULL;
    struct device_source opened = {0};
    struct simulated_spec simulated;
    struct device_parts parts;
    size_t count = 0;
    pool_status status = device_parts_read(params, &parts);

    if (params->isolation == POOL_ISOLATION_WORKERS)
        is_isolated = true;
    if (!status && is_isolated)
        status = check_isolation(params);
    list = text;
    if (!status && text && sim_spec_is_sim(text)) {
        status = read_simulated(text, &simulated);
        text = simulated.devices;
        list = simulated.list;
    }
    /* A malformed string is reported before the driver is started, which can take a second. */
    if (!status && list)
        status = device_spec_parse(list, &selectors, &count);
    /* The program's parts precede those of the setting. */
    for (size_t i = 0; !status && i < count && !params->devices && parts.count; i++)
        selectors[i].parts = (struct device_parts){0};
    if (!status && has_parts(&parts, selectors, count))
        status = check_parts(params);
    if (params->context_mode == POOL_CONTEXT_ADOPT)
        count = 0;
    if (!status)
        status = open_driver(params, text, is_isolated, &opened.driver);
    opened.is_isolated = is_isolated;
    if (!status)
        status = select_devices(params, &parts, selectors, count, &opened);
    base_free(selectors);
    if (status) {
        device_source_close(&opened);
        return status;
    }
    *source = opened;
    return POOL_OK;
}

void device_source_close(struct device_source *source)
{
    driver_close(&source->driver);
    for (size_t i = 0; i < source->count; i++)
        base_free(source->entries[i].wanted);
    source->count = 0;
    base_free(source->entries);
    source->entries = NULL;
}
