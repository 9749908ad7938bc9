/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitions of a GPU by its driver: see split.h.
 */
#include "pool/device/split.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"

#define RESOURCE_MULTIPROCESSORS 1u /* CU_DEV_RESOURCE_TYPE_SM */

static pool_status check_driver(const struct driver *driver)
{
    const pool_cuda_api *api = &driver->api;

    if (api->DeviceGetDevResource && api->DevSmResourceSplitByCount &&
        api->DevResourceGenerateDesc && api->GreenCtxCreate && api->GreenCtxDestroy &&
        api->CtxFromGreenCtx)
        return POOL_OK;
    return base_fail(POOL_ERR_UNSUPPORTED,
        "partitions of multiprocessors need a driver for CUDA 12.4 or newer (550), which has green "
        "contexts (cuGreenCtxCreate); this one is for CUDA %d.%d",
        driver->version / 1000, driver->version % 1000 / 10);
}

/* The multiprocessors of a part for which `wanted` are requested; 0: there is none. */
static uint32_t size_of_group(
    const struct driver *driver, const pool_cu_dev_resource *all, uint32_t wanted)
{
    pool_cu_dev_resource group = {0};
    unsigned count = 1;

    /* A size that the chip does not have is a result. */
    if (driver->api.DevSmResourceSplitByCount(&group, &count, all, NULL, 0, wanted) || !count)
        return 0;
    return group.sm_count;
}

/* Asked by splits, as drivers before CUDA 13 do not report it. */
static pool_status read_granularity(struct driver *driver, CUdevice handle,
    pool_cu_dev_resource *all, struct device_granularity *chip)
{
    uint32_t next;
    pool_status status = DRIVER_CALL_FOR(
        driver, DeviceGetDevResource(handle, all, RESOURCE_MULTIPROCESSORS), "device %d", handle);

    if (status)
        return status;
    chip->multiprocessors = all->sm_count;
    chip->fewest = size_of_group(driver, all, 1);
    if (!chip->fewest)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "the %u multiprocessors of device %d cannot be partitioned", all->sm_count, handle);
    next = size_of_group(driver, all, chip->fewest + 1);
    chip->step = next > chip->fewest ? next - chip->fewest : chip->fewest;
    return POOL_OK;
}

static pool_status describe_part(
    struct driver *driver, pool_cu_dev_resource *groups, uint32_t count, struct device_part *part)
{
    part->multiprocessors = 0;
    for (uint32_t i = 0; i < count; i++)
        part->multiprocessors += groups[i].sm_count;
    return DRIVER_CALL_FOR(driver, DevResourceGenerateDesc(&part->desc, groups, count),
        "%u multiprocessors", part->multiprocessors);
}

/* One split, as parts of different splits overlap: into groups that have `unit` multiprocessors
 * each, behind which comes what is left. */
static pool_status split_into_units(struct driver *driver, const pool_cu_dev_resource *all,
    uint32_t unit, pool_cu_dev_resource *groups, uint32_t *count)
{
    pool_cu_dev_resource rest = {0};
    pool_status status = DRIVER_CALL_FOR(driver,
        DevSmResourceSplitByCount(groups, count, all, &rest, 0, unit), "%u multiprocessors", unit);

    if (!status && rest.sm_count)
        groups[(*count)++] = rest;
    return status;
}

static bool are_equal(const uint32_t *sizes, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (sizes[i] != sizes[0])
            return false;
    return true;
}

/* The sizes are those of device_parts_round. Where all parts but the last have one size, each of
 * them is a group, else several. */
static pool_status split_by_size(struct driver *driver, const pool_cu_dev_resource *all,
    const struct device_granularity *chip, const uint32_t *sizes, uint32_t parts,
    struct device_part *split)
{
    const bool is_simple = are_equal(sizes, parts - 1);
    const uint32_t unit = is_simple ? sizes[0] : chip->fewest;
    uint32_t count = is_simple ? parts - 1 : all->sm_count / unit, at = 0;
    pool_cu_dev_resource *groups = base_calloc(count + 1, sizeof(*groups));
    pool_status status;

    if (!groups)
        return base_fail_memory("the parts of a device");
    status = split_into_units(driver, all, unit, groups, &count);
    for (uint32_t i = 0; i < parts && !status; i++) {
        const uint32_t taken = i + 1 < parts ? sizes[i] / unit : count - at;

        status = describe_part(driver, groups + at, taken, &split[i]);
        at += taken;
        if (!status && split[i].multiprocessors != sizes[i])
            status = base_fail(POOL_ERR_INTERNAL,
                "the driver has made a part of %u multiprocessors where %u were expected",
                split[i].multiprocessors, sizes[i]);
    }
    base_free(groups);
    return status;
}

pool_status device_split(struct driver *driver, CUdevice handle, const struct device_parts *parts,
    struct device_part split[DEVICE_PARTS_MAX])
{
    struct device_granularity chip;
    pool_cu_dev_resource all = {0};
    uint32_t sizes[DEVICE_PARTS_MAX];
    char name[32];
    pool_status status = check_driver(driver);

    if (!status)
        status = read_granularity(driver, handle, &all, &chip);
    if (status)
        return status;
    /* Several sizes are made of groups of the smallest one. */
    if (!parts->is_equal && !are_equal(parts->sizes, parts->count - 1))
        chip.step = chip.fewest;
    snprintf(name, sizeof(name), "device %d", (int)handle);
    status = device_parts_round(parts, &chip, name, sizes);
    return status ? status : split_by_size(driver, &all, &chip, sizes, parts->count, split);
}

pool_status device_count_of_context(struct driver *driver, CUcontext context, uint32_t *count)
{
    pool_cu_dev_resource has = {0};
    pool_status status = POOL_OK;

    if (driver->api.CtxGetDevResource)
        status = DRIVER_CALL(driver, CtxGetDevResource(context, &has, RESOURCE_MULTIPROCESSORS));
    *count = status ? 0 : has.sm_count;
    return status;
}
