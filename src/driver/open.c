/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and closing drivers: one struct driver per caller's table and one for libcuda, each
 * shared by all its users.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/status.h"
#include "driver/internal.h"

/* Serialises opening. It is not the state lock, because cuInit can take a second. */
static struct base_lock open_lock = BASE_LOCK_INIT;

static struct driver *drivers; /* guarded by the state lock */

struct driver *driver_find(const pool_cuda_api *table)
{
    struct driver *driver = drivers;

    while (driver && driver->source != table)
        driver = driver->next;
    return driver;
}

/* Adds a reference to the open driver of `table`; NULL if it is not open. */
static struct driver *reference_open(const pool_cuda_api *table)
{
    struct driver *driver;

    driver_state_lock();
    driver = driver_find(table);
    if (driver)
        driver->references++;
    driver_state_unlock();
    return driver;
}

/* The status for a result of cuInit. */
static pool_status init_status(pool_cu_result code)
{
    switch (code) {
    case POOL_CU_NOT_INITIALIZED:
        return POOL_ERR_FORKED; /* a parent process had initialised the driver */
    case POOL_CU_NO_DEVICE:
    case POOL_CU_INVALID_DEVICE:
    case POOL_CU_DEVICE_UNAVAILABLE:
    case POOL_CU_DEVICE_NOT_LICENSED:
    case POOL_CU_SYSTEM_NOT_READY:
    case POOL_CU_MPS_CONNECTION_FAILED:
    case POOL_CU_MPS_RPC_FAILURE:
    case POOL_CU_MPS_SERVER_NOT_READY:
    case POOL_CU_MPS_MAX_CLIENTS_REACHED:
        return POOL_ERR_NO_DEVICE;
    case POOL_CU_SYSTEM_DRIVER_MISMATCH:
    case POOL_CU_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    case POOL_CU_UNKNOWN:
        return POOL_ERR_NO_DRIVER;
    default:
        return driver_status_of(code);
    }
}

/* The last failure of cuInit of libcuda. Guarded by open_lock. */
static struct {
    pool_cu_result code; /* SUCCESS: none */
    unsigned generation; /* of the process in which it failed */
    uint8_t state[BASE_SHA256_BYTES];
} failed;

/*
 * Whether the code stays the same as long as the host does. Some drivers (CUDA 12.4) leave four
 * descriptors behind at every cuInit without a device, so that a process that tries again and again
 * would run out of them. Other codes, such as that of a fabric manager or an MPS server that is
 * starting, are of things that cannot be seen from here, so that cuInit has to be called again.
 */
static bool is_lasting(pool_cu_result code)
{
    return code == POOL_CU_NO_DEVICE || code == POOL_CU_INVALID_DEVICE ||
           code == POOL_CU_OPERATING_SYSTEM || code == POOL_CU_SYSTEM_DRIVER_MISMATCH ||
           code == POOL_CU_COMPAT_NOT_SUPPORTED_ON_DEVICE;
}

/* cuInit, unless it has failed and nothing has changed since. `remark` is for the message. */
static pool_cu_result init(struct driver *driver, const char **remark)
{
    uint8_t state[BASE_SHA256_BYTES];
    pool_cu_result code;

    *remark = "";
    if (driver->source) /* a caller's table */
        return driver->api.Init(0);
    if (failed.code && driver_host_state(driver, state) &&
        memcmp(state, failed.state, sizeof(state)) == 0) {
        *remark = "; cuInit is not called again before something changes";
        return failed.code;
    }
    if (failed.code && failed.generation != driver->generation)
        *remark = "; cuInit had failed in the parent process, start another program (exec)";
    code = driver->api.Init(0);
    if (is_lasting(code) && driver_host_state(driver, failed.state)) {
        failed.code = code;
        failed.generation = driver->generation;
    }
    return code;
}

static pool_status init_failure(struct driver *driver, pool_cu_result code, const char *remark)
{
    const char *hint = driver_code_hint(code);
    char module[64];
    int version = 0, needed = driver_needed_version();

    if (code == POOL_CU_STUB_LIBRARY && driver->library)
        return driver_stub_failure(driver->path);
    driver->api.DriverGetVersion(&version);
    driver_kernel_module_version(module, sizeof(module));
    return base_fail_driver(init_status(code), (int)code, driver_code_name(code), "cuInit",
        "cuInit of %s failed: %s (%u)%s%s (driver for CUDA %d.%d, needed CUDA %d.%d, kernel module "
        "%s%s)",
        driver->path, driver_code_name(code), code, hint[0] ? ": " : "", hint, version / 1000,
        version % 1000 / 10, needed / 1000, needed % 1000 / 10, module[0] ? module : "not loaded",
        remark);
}

static pool_status initialise(struct driver *driver)
{
    const char *remark;
    pool_cu_result code = init(driver, &remark);
    pool_status status;

    if (code != POOL_CU_SUCCESS) {
        status = init_failure(driver, code, remark);
        /* The stub has the real library's name, so it is unloaded before that can be loaded. */
        if (code == POOL_CU_STUB_LIBRARY)
            driver_library_unload(driver);
        return status;
    }
    code = driver->api.DriverGetVersion(&driver->version);
    if (code != POOL_CU_SUCCESS)
        return base_fail_driver(driver_status_of(code), (int)code, driver_code_name(code),
            "cuDriverGetVersion", "%s does not report its version: %s (%u)", driver->path,
            driver_code_name(code), code);
    return POOL_OK;
}

static pool_status create_driver(
    const pool_cuda_api *table, const char *name, void (*release)(void), struct driver **created)
{
    struct driver *driver = base_calloc(1, sizeof(*driver));
    pool_status status;

    if (!driver)
        return base_fail_memory("a driver");
    driver->source = table;
    driver->generation = driver_fork_generation();
    driver->references = 1;
    status = table ? driver_table_copy(driver, table) : driver_library_load(driver);
    if (name)
        snprintf(driver->path, sizeof(driver->path), "%s", name);
    if (!status)
        status = initialise(driver);
    if (status) {
        base_free(driver);
        return status;
    }
    driver->release = release;
    driver_state_lock();
    driver->next = drivers;
    drivers = driver;
    driver_state_unlock();
    *created = driver;
    return POOL_OK;
}

/* libcuda is never unloaded, because a fault that poisoned it lasts as long as the process. */
static int is_permanent(const struct driver *driver)
{
    return !driver->source;
}

static void close_reference(struct driver *closing)
{
    struct driver **link = &drivers;

    if (!closing)
        return;
    driver_fork_check();
    driver_state_lock();
    if (--closing->references == 0 && !is_permanent(closing)) {
        while (*link && *link != closing)
            link = &(*link)->next;
        if (*link)
            *link = closing->next;
    } else {
        closing = NULL;
    }
    driver_state_unlock();
    base_free(closing);
}

pool_status driver_open(const pool_cuda_api *table, struct driver **driver)
{
    return driver_open_internal(table, NULL, NULL, driver);
}

pool_status driver_open_internal(
    const pool_cuda_api *table, const char *name, void (*release)(void), struct driver **driver)
{
    struct driver *found;
    pool_status status;
    int is_new;

    driver_fork_check();
    base_lock(&open_lock);
    found = reference_open(table);
    is_new = !found;
    status = found ? driver_usable(found) : create_driver(table, name, release, &found);
    base_unlock(&open_lock);
    if (status) {
        close_reference(found);
        return status;
    }
    if (is_new)
        base_log(POOL_LOG_INFO, "driver %s for CUDA %d.%d", found->path, found->version / 1000,
            found->version % 1000 / 10);
    *driver = found;
    return POOL_OK;
}

void driver_close(struct driver **driver)
{
    struct driver *closing = driver ? *driver : NULL;
    void (*release)(void) = closing ? closing->release : NULL;

    if (!closing)
        return;
    *driver = NULL;
    close_reference(closing);
    if (release)
        release();
}
