/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver and the compiler that are installed on the host.
 */
#include <devicepool/host.h>

#include <stdio.h>
#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "driver/driver.h"
#include "driver/nvrtc.h"

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

static void report_compiler(pool_component *component)
{
    char reason[DRIVER_NVRTC_REASON];
    const struct nvrtc *nvrtc = driver_nvrtc_find(reason, sizeof(reason));

    if (!nvrtc) {
        component->status = POOL_ERR_NO_COMPILER;
        snprintf(component->message, sizeof(component->message), "%.*s",
            (int)sizeof(component->message) - 1, reason);
        return;
    }
    component->version = nvrtc->version;
    snprintf(component->path, sizeof(component->path), "%s", nvrtc->path);
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
    report_compiler(&found.compiler);
    base_error_restore(&before); /* a missing component is a result, not an error */
    base_struct_write(&type, &found, info);
    return POOL_OK;
}
