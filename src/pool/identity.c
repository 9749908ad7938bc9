/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The identity of a device: UUID (of the MIG instance if it is one), PCI address, name. Ordinals
 * are positions, not identities.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "driver/attributes.h"
#include "pool/device/device_spec.h"
#include "pool/device/pool.h"

static void write_uuid(const pool_cu_uuid *uuid, int is_mig, char text[POOL_UUID_TEXT])
{
    char *at = text + snprintf(text, POOL_UUID_TEXT, "%s", is_mig ? "MIG-" : "GPU-");

    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        at += snprintf(at, 3, "%02x", (unsigned char)uuid->bytes[i]);
    }
}

/*
 * The newer call returns the UUID of a MIG instance, the older one that of its GPU. The name of an
 * instance contains " MIG ".
 */
static pool_status read_uuid(pool_device *device)
{
    struct driver *driver = device->driver;
    pool_cu_uuid whole = {{0}}, uuid;
    char text[POOL_UUID_TEXT] = "";
    int is_mig = strstr(device->properties.name, " MIG ") != NULL;
    pool_status status =
        DRIVER_CALL_FOR(driver, DeviceGetUuid(&whole, device->handle), "device %d", device->handle);

    if (status)
        return status;
    uuid = whole;
    if (driver->api.DeviceGetUuidV2) {
        status = DRIVER_CALL_FOR(
            driver, DeviceGetUuidV2(&uuid, device->handle), "device %d", device->handle);
        if (status)
            return status;
        is_mig |= memcmp(&uuid, &whole, sizeof(uuid)) != 0;
    }
    write_uuid(&whole, 0, device->gpu_uuid);
    write_uuid(&uuid, is_mig, text);
    /* A fault that another pool of the driver finds meanwhile names the device. */
    if (device->pool)
        pthread_mutex_lock(&device->pool->state_lock);
    memcpy(device->properties.uuid, text, sizeof(text));
    if (device->pool)
        pthread_mutex_unlock(&device->pool->state_lock);
    device->properties.mig = is_mig;
    return POOL_OK;
}

pool_status device_read_identity(pool_device *device)
{
    struct driver *driver = device->driver;
    pool_device_info *properties = &device->properties;
    pool_status status;

    if (device->is_named)
        return POOL_OK;
    DRIVER_TRY_FOR(driver, status, out,
        DeviceGetName(properties->name, (int)sizeof(properties->name), device->handle), "device %d",
        device->handle);
    properties->name[sizeof(properties->name) - 1] = '\0';
    status = read_uuid(device);
    if (status)
        goto out;
    DRIVER_TRY_FOR(driver, status, out,
        DeviceGetPCIBusId(properties->pci, (int)sizeof(properties->pci), device->handle),
        "device %d", device->handle);
    properties->pci[sizeof(properties->pci) - 1] = '\0';
    for (char *at = properties->pci; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    device->is_named = 1;
out:
    return status;
}
