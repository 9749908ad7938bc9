/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The constant properties of a device, read once when the pool is created. The queries are cheap
 * and need no context.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/attributes.h"
#include "pool/device/pool.h"

/* Reads an attribute; `fallback` if the driver does not know it. Fails only with class PROCESS. */
static pool_status read_attribute(
    pool_device *device, pool_cu_enum attribute, int fallback, int *value)
{
    pool_cu_result code = device->driver->api.DeviceGetAttribute(value, attribute, device->handle);

    if (code == POOL_CU_SUCCESS)
        return POOL_OK;
    *value = fallback;
    if (driver_code_class(code) == POOL_CLASS_CALL && code != POOL_CU_UNKNOWN &&
        code != DRIVER_CODE_LOST)
        return POOL_OK;
    return DRIVER_CHECK_FOR(device->driver, code, "cuDeviceGetAttribute",
        "attribute %d of device %d", (int)attribute, device->handle);
}

/* The NUMA node from sysfs, for drivers that do not report it (before CUDA 12.4). */
static int read_numa_node(const char *pci)
{
    char path[64], line[16] = "";
    FILE *file;
    int node = -1;

    for (const char *at = pci; *at; at++)
        if (!isxdigit((unsigned char)*at) && *at != ':' && *at != '.')
            return -1;
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/numa_node", pci);
    file = fopen(path, "re");
    if (!file)
        return -1;
    if (fgets(line, sizeof(line), file))
        node = (int)strtol(line, NULL, 10);
    fclose(file);
    return node < 0 ? -1 : node;
}

static pool_status read_attributes(pool_device *device)
{
    pool_device_info *properties = &device->properties;
    int l2 = 0, block = 0, optin = 0, whole = 0;
    const struct {
        pool_cu_enum attribute;
        int fallback;
        int *value;
    } attributes[] = {
        {POOL_CU_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0, &properties->multiprocessors},
        {POOL_CU_ATTRIBUTE_CLOCK_RATE, 0, &properties->clock_khz},
        {POOL_CU_ATTRIBUTE_MEMORY_CLOCK_RATE, 0, &properties->memory_clock_khz},
        {POOL_CU_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 0, &properties->memory_bus_bits},
        {POOL_CU_ATTRIBUTE_L2_CACHE_SIZE, 0, &l2},
        {POOL_CU_ATTRIBUTE_ECC_ENABLED, 0, &properties->ecc},
        {POOL_CU_ATTRIBUTE_MPS_ENABLED, 0, &properties->mps},
        {POOL_CU_ATTRIBUTE_HOST_NUMA_ID, -1, &properties->numa_node},
        {POOL_CU_ATTRIBUTE_INTEGRATED, 0, &properties->integrated},
        {POOL_CU_ATTRIBUTE_COMPUTE_MODE, 0, &properties->compute_mode},
        {POOL_CU_ATTRIBUTE_WARP_SIZE, 32, &properties->warp_size},
        {POOL_CU_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0, &properties->max_threads_per_block},
        {POOL_CU_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 0,
            &properties->max_threads_per_multiprocessor},
        {POOL_CU_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 0,
            &properties->max_blocks_per_multiprocessor},
        {POOL_CU_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 0,
            &properties->registers_per_multiprocessor},
        {POOL_CU_ATTRIBUTE_ASYNC_ENGINE_COUNT, 0, &properties->copy_engines},
        {POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 0, &block},
        {POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0, &optin},
        {POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 0, &whole},
        {POOL_CU_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0, &properties->memory_pools},
        {POOL_CU_ATTRIBUTE_COOPERATIVE_LAUNCH, 0, &properties->cooperative_launch},
        {POOL_CU_ATTRIBUTE_CLUSTER_LAUNCH, 0, &device->has_clusters},
    };

    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
        pool_status status = read_attribute(
            device, attributes[i].attribute, attributes[i].fallback, attributes[i].value);

        if (status)
            return status;
    }
    properties->l2_bytes = (uint64_t)l2;
    properties->shared_bytes_per_block = (uint64_t)block;
    properties->shared_bytes_per_block_optin = (uint64_t)(optin > block ? optin : block);
    properties->shared_bytes_per_multiprocessor = (uint64_t)whole;
    return POOL_OK;
}

pool_status device_read_properties(pool_device *device)
{
    struct driver *driver = device->driver;
    pool_device_info *properties = &device->properties;
    size_t total = 0;
    pool_status status;

    /* Compilation and planning need these, so their failure is an error. */
    DRIVER_TRY_FOR(driver, status, out,
        DeviceGetAttribute(
            &properties->compute_major, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device->handle),
        "compute capability of device %d", device->handle);
    DRIVER_TRY_FOR(driver, status, out,
        DeviceGetAttribute(
            &properties->compute_minor, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device->handle),
        "compute capability of device %d", device->handle);
    DRIVER_TRY_FOR(
        driver, status, out, DeviceTotalMem(&total, device->handle), "device %d", device->handle);
    properties->total_bytes = total;
    status = read_attributes(device);
    if (status)
        goto out;
    if (device->part.multiprocessors) /* else of the whole device, or of a context of the caller */
        properties->multiprocessors = (int32_t)device->part.multiprocessors;
    if (properties->numa_node < 0)
        properties->numa_node = read_numa_node(properties->pci);
out:
    return status;
}
