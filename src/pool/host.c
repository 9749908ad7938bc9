/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver and the compiler that are installed on the host, and the compiler of a device.
 */
#include <devicepool/device.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <devicepool/pool.h>

#include "base/params.h"
#include "base/status.h"
#include "driver/driver.h"
#include "pool/module/compiler.h"

static void note_failure(pool_component *component, pool_status status)
{
    component->status = status;
    snprintf(component->message, sizeof(component->message), "%s", pool_last_error()->message);
}

static void report_driver(pool_component *component)
{
    struct driver *driver;
    pool_status status = driver_open(NULL, &driver);

    if (status) {
        note_failure(component, status);
        return;
    }
    component->version = driver->version;
    snprintf(component->path, sizeof(component->path), "%s", driver->path);
    driver_close(&driver);
}

/* A pool of the first device for the trial of the compiler, NULL where there is none. It creates a
 * context only if the compiler has to be tried. */
static device_pool *open_first_device(void)
{
    const pool_params params = {
        .struct_size = sizeof(params), .devices = "0", .lazy = 1, .status_socket = ""};
    device_pool *pool = NULL;

    return pool_create(&pool, &params) ? NULL : pool;
}

static void report_compiler(bool has_driver, pool_component *component)
{
    device_pool *pool = has_driver ? open_first_device() : NULL;
    pool_device *device = NULL;
    pool_status status = POOL_ERR_NO_DEVICE;

    if (pool && !pool_device_at(pool, 0, &device))
        status = module_compiler_report(device, true, component);
    if (status) /* the compiler by itself */
        status = module_compiler_report(NULL, true, component);
    if (status)
        note_failure(component, status);
    pool_destroy(&pool);
}

pool_status pool_device_get_compiler(pool_device *device, pool_component *compiler)
{
    pool_component found;
    pool_status status =
        base_check_pointers("pool_device_get_compiler", {"device", device}, {"compiler", compiler});

    if (!status)
        status = driver_usable(device_driver(device));
    if (!status)
        status = module_compiler_report(device, true, &found);
    if (!status)
        *compiler = found;
    return status;
}

pool_status pool_host_get_info(pool_host_info *info)
{
    static const struct base_struct type = BASE_STRUCT(pool_host_info);
    struct base_error_copy before;
    pool_host_info found = {0};
    pool_status status = base_struct_check(&type, "pool_host_get_info", "info", info);

    if (status)
        return status;
    base_error_save(&before);
    report_driver(&found.driver);
    report_compiler(!found.driver.status, &found.compiler);
    base_error_restore(&before); /* a missing component is a result, not an error */
    base_struct_write(&type, &found, info);
    return POOL_OK;
}
