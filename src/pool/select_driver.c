/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From params to driver and devices: selects the real driver, the simulated one or the caller's
 * table, and resolves the device string. No other file makes this choice.
 */
#include "pool/source.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/log.h"
#include "base/status.h"
#include "driver/sim/table/sim.h"
#include "driver/worker/worker.h"
#include "pool/device/device_spec.h"
#include "pool/device/pool.h"

#define DEVICES_VARIABLE "DEVICEPOOL_DEVICES"

/* The driver's devices, while the elements of the device string are resolved. */
struct visible_devices {
    struct driver *driver;
    int count;
    pool_device *devices; /* scratch: handle and identity only */
    struct pci_address *addresses;
    int is_read;      /* identities have been read */
    char unread[320]; /* about the first device that could not be identified, or "" */
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
        text = base_env(DEVICES_VARIABLE);
        if (text && params->driver &&
            (sim_spec_is_sim(text) || worker_spec_is_workers(text, NULL))) {
            base_log(POOL_LOG_WARN,
                DEVICES_VARIABLE "=\"%s\" is ignored: the program sets params.driver", text);
            text = NULL;
        }
    }
    return text && (params->devices || *text) ? text : "all";
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

/* The opened driver holds the reference to the workers. */
static pool_status open_workers(const char *text, struct driver **driver)
{
    const pool_cuda_api *table;
    pool_status status = worker_open(text, &table);

    if (status)
        return status;
    status = driver_open_internal(table, "worker processes", worker_close, driver);
    if (status) {
        worker_close();
        return status;
    }
    atomic_store(&(*driver)->explain_loss, worker_explain_loss);
    atomic_store(&(*driver)->end_process, worker_end);
    return POOL_OK;
}

static pool_status open_driver(
    const pool_params *params, const char *text, bool is_isolated, struct driver **driver)
{
    if (is_isolated)
        return open_workers(text, driver);
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

static pool_status add_device(
    struct device_source *source, const struct device_selector *selector, int ordinal)
{
    for (size_t i = 0; i < source->count; i++)
        if (source->ordinals[i] == ordinal)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "device %d is named twice in the device string, the second time by \"%s\"", ordinal,
                selector->text);
    source->ordinals[source->count++] = ordinal;
    return POOL_OK;
}

static pool_status add_matching(struct device_source *source, struct visible_devices *visible,
    const struct device_selector *selector)
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
        status = add_device(source, selector, i);
    }
    if (!status && last < 0)
        return base_fail(POOL_ERR_NOT_FOUND, "none of the driver's %d devices matches \"%s\"%s%s",
            visible->count, selector->text, visibility_hint(hint, sizeof(hint)), visible->unread);
    return status;
}

/* The device of a context that the caller created. */
static pool_status device_of_context(
    const struct visible_devices *visible, CUcontext context, CUdevice *handle)
{
    struct driver *driver = visible->driver;
    pool_status status, popped;
    int is_off;

    if (!context)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_create: contexts must not contain NULL");
    status = DRIVER_CALL(driver, CtxPushCurrent(context));
    if (status)
        return status;
    status = DRIVER_CALL(driver, CtxGetDevice(handle));
    popped = device_context_pop(driver, context, &is_off);
    return status ? status : popped;
}

static pool_status select_by_context(
    struct device_source *source, const struct visible_devices *visible, const pool_params *params)
{
    struct device_selector selector = {.text = "another context of it"};
    pool_status status = POOL_OK;

    for (size_t i = 0; i < params->context_count && !status; i++) {
        CUdevice handle = -1;
        int ordinal = 0;

        status = device_of_context(visible, params->contexts[i], &handle);
        while (ordinal < visible->count && visible->devices[ordinal].handle != handle)
            ordinal++;
        if (!status && ordinal == visible->count)
            status = base_fail(POOL_ERR_NOT_FOUND,
                "pool_create: contexts[%zu] belongs to no device that the driver reports", i);
        if (!status)
            status = add_device(source, &selector, ordinal);
    }
    return status;
}

static pool_status select_devices(const pool_params *params,
    const struct device_selector *selectors, size_t count, struct device_source *source)
{
    struct visible_devices visible = {.driver = source->driver};
    size_t most;
    pool_status status = list_devices(&visible);

    if (status)
        goto out;
    most = (size_t)visible.count;
    source->ordinals = base_calloc(most, sizeof(*source->ordinals));
    source->handles = base_calloc(most, sizeof(*source->handles));
    if (!source->ordinals || !source->handles) {
        status = base_fail_memory("the list of devices");
        goto out;
    }
    if (params->context_mode == POOL_CONTEXT_ADOPT)
        status = select_by_context(source, &visible, params);
    for (size_t i = 0; i < count && !status; i++)
        status = add_matching(source, &visible, &selectors[i]);
    for (size_t i = 0; i < source->count && !status; i++)
        source->handles[i] = visible.devices[source->ordinals[i]].handle;
out:
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

/* All of them at the same time. One that does not start leaves its device unusable. */
static void start_workers(const struct device_source *source)
{
    struct base_error_copy first;

    base_error_save(&first);
    (void)worker_start(source->ordinals, source->count);
    base_error_restore(&first);
}

pool_status device_source_open(const pool_params *params, struct device_source *source)
{
    const char *text = device_string_of(params);
    bool is_isolated = worker_spec_is_workers(text, &text);
    struct device_selector *selectors = NULL;
    struct device_source opened = {0};
    size_t count = 0;
    pool_status status = POOL_OK;

    if (params->isolation == POOL_ISOLATION_WORKERS)
        is_isolated = true;
    if (is_isolated)
        status = check_isolation(params);
    /* A malformed string is reported before the driver is started, which can take a second. */
    if (!status && text && params->context_mode != POOL_CONTEXT_ADOPT)
        status = device_spec_parse(sim_spec_is_sim(text) ? "all" : text, &selectors, &count);
    if (!status)
        status = open_driver(params, text, is_isolated, &opened.driver);
    if (!status)
        status = select_devices(params, selectors, count, &opened);
    opened.is_isolated = is_isolated;
    if (!status && is_isolated && !params->lazy)
        start_workers(&opened);
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
    base_free(source->ordinals);
    base_free(source->handles);
    source->ordinals = NULL;
    source->handles = NULL;
}
