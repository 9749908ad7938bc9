/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Initialisation and devices: properties set by the test, and the driver's queries.
 */
#include "driver/mock/mock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- properties set by the test -------------------------------------------------------------- */

struct mock_device *mock_device_lock(pool_mock *mock, int device, const char *who)
{
    if (!mock)
        return NULL;
    pthread_mutex_lock(&mock->lock);
    if (device >= 0 && device < mock->device_count)
        return &mock->devices[device];
    mock_misuse(mock, POOL_ERR_NOT_FOUND, "%s: there is no device %d", who, device);
    pthread_mutex_unlock(&mock->lock);
    return NULL;
}

pool_status pool_mock_set_free_memory(pool_mock *mock, int device, uint64_t free_bytes)
{
    struct mock_device *of = mock_device_lock(mock, device, "pool_mock_set_free_memory");
    pool_status status = POOL_OK;

    if (!of)
        return POOL_ERR_NOT_FOUND;
    if (free_bytes > of->total)
        status = mock_misuse(mock, POOL_ERR_INVALID_ARGUMENT,
            "pool_mock_set_free_memory: device %d has only %llu byte%s", device,
            (unsigned long long)of->total, mock_plural(of->total));
    else
        of->foreign = (int64_t)(of->total - free_bytes) - (int64_t)of->used;
    pthread_mutex_unlock(&mock->lock);
    return status;
}

pool_status pool_mock_set_memory(pool_mock *mock, int device, uint64_t total_bytes)
{
    struct mock_device *of = mock_device_lock(mock, device, "pool_mock_set_memory");

    if (!of)
        return POOL_ERR_NOT_FOUND;
    of->total = total_bytes;
    of->foreign = 0;
    pthread_mutex_unlock(&mock->lock);
    return POOL_OK;
}

pool_status pool_mock_set_name(pool_mock *mock, int device, const char *name)
{
    struct mock_device *of = mock_device_lock(mock, device, "pool_mock_set_name");

    if (!of)
        return POOL_ERR_NOT_FOUND;
    snprintf(of->name, sizeof(of->name), "%s", name ? name : "");
    pthread_mutex_unlock(&mock->lock);
    return POOL_OK;
}

pool_status pool_mock_set_uuid(pool_mock *mock, int device, const void *uuid, const void *instance)
{
    if (!uuid)
        return POOL_ERR_INVALID_ARGUMENT;
    struct mock_device *of = mock_device_lock(mock, device, "pool_mock_set_uuid");
    if (!of)
        return POOL_ERR_NOT_FOUND;
    memcpy(of->uuid.bytes, uuid, sizeof(of->uuid.bytes));
    memcpy(of->instance.bytes, instance ? instance : uuid, sizeof(of->instance.bytes));
    pthread_mutex_unlock(&mock->lock);
    return POOL_OK;
}

pool_status pool_mock_set_pci(
    pool_mock *mock, int device, unsigned domain, unsigned bus, unsigned slot)
{
    struct mock_device *of = mock_device_lock(mock, device, "pool_mock_set_pci");

    if (!of)
        return POOL_ERR_NOT_FOUND;
    of->attributes[POOL_CU_ATTRIBUTE_PCI_DOMAIN_ID] = (int)domain;
    of->attributes[POOL_CU_ATTRIBUTE_PCI_BUS_ID] = (int)bus;
    of->attributes[POOL_CU_ATTRIBUTE_PCI_DEVICE_ID] = (int)slot;
    pthread_mutex_unlock(&mock->lock);
    return POOL_OK;
}

pool_status pool_mock_set_attribute(pool_mock *mock, int device, pool_cu_enum attribute, int value)
{
    struct mock_device *of = mock_device_lock(mock, device, "pool_mock_set_attribute");
    pool_status status = POOL_OK;

    if (!of)
        return POOL_ERR_NOT_FOUND;
    if (attribute < 1 || attribute >= MOCK_ATTRIBUTES)
        status = mock_misuse(mock, POOL_ERR_INVALID_ARGUMENT,
            "pool_mock_set_attribute: there is no attribute %u", attribute);
    else
        of->attributes[attribute] = value;
    pthread_mutex_unlock(&mock->lock);
    return status;
}

pool_status pool_mock_set_host_memory(pool_mock *mock, uint64_t available_bytes)
{
    if (!mock)
        return POOL_ERR_INVALID_ARGUMENT;
    pthread_mutex_lock(&mock->lock);
    mock->host_memory = available_bytes;
    pthread_mutex_unlock(&mock->lock);
    return POOL_OK;
}

uint64_t pool_mock_host_memory(void *mock)
{
    pool_mock *of = mock;
    uint64_t bytes;

    pthread_mutex_lock(&of->lock);
    bytes = of->host_memory;
    pthread_mutex_unlock(&of->lock);
    return bytes;
}

pool_status pool_mock_set_peer(pool_mock *mock, int from, int to, int access, int atomics, int rank)
{
    struct mock_device *of = mock_device_lock(mock, from, "pool_mock_set_peer");
    pool_status status = POOL_OK;

    if (!of)
        return POOL_ERR_NOT_FOUND;
    if (to < 0 || to >= mock->device_count || to == from)
        status = mock_misuse(
            mock, POOL_ERR_NOT_FOUND, "pool_mock_set_peer: %d is no other device of the mock", to);
    else
        of->peers[to] = (struct mock_peer){access, atomics, rank};
    pthread_mutex_unlock(&mock->lock);
    return status;
}

/* ---- driver functions ------------------------------------------------------------------------ */

pool_cu_result mock_do_Init(struct mock_call *call, unsigned int flags)
{
    if (flags != 0)
        return POOL_CU_INVALID_VALUE;
    if (call->mock->device_count == 0)
        return POOL_CU_NO_DEVICE;
    if (call->mock->sticky && call->mock->sticky_everywhere)
        return call->mock->sticky;
    call->mock->initialised = true;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_DriverGetVersion(struct mock_call *call, int *version)
{
    *version = call->mock->version;
    return POOL_CU_SUCCESS;
}

static const char *error_name(pool_cu_result error)
{
    static const struct {
        pool_cu_result code;
        const char *name;
    } rows[] = {
#define MOCK_ERROR_ROW(name, code, harms) {code, "CUDA_ERROR_" #name},
        POOL_CU_RESULTS(MOCK_ERROR_ROW)
#undef MOCK_ERROR_ROW
    };

    if (error == POOL_CU_SUCCESS)
        return "CUDA_SUCCESS";
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].code == error)
            return rows[i].name;
    return NULL;
}

pool_cu_result mock_do_GetErrorName(struct mock_call *call, pool_cu_result error, const char **name)
{
    (void)call;
    *name = error_name(error);
    return *name ? POOL_CU_SUCCESS : POOL_CU_INVALID_VALUE;
}

pool_cu_result mock_do_GetErrorString(
    struct mock_call *call, pool_cu_result error, const char **text)
{
    (void)call;
    *text = error_name(error) ? "an error made by the mock driver" : NULL;
    return *text ? POOL_CU_SUCCESS : POOL_CU_INVALID_VALUE;
}

pool_cu_result mock_do_DeviceGetCount(struct mock_call *call, int *count)
{
    *count = call->mock->device_count;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_DeviceGet(struct mock_call *call, CUdevice *device, int ordinal)
{
    (void)call;
    *device = ordinal;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_DeviceGetName(struct mock_call *call, char *name, int size, CUdevice device)
{
    if (size <= 0)
        return POOL_CU_INVALID_VALUE;
    snprintf(name, (size_t)size, "%s", call->mock->devices[device].name);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_DeviceGetUuid(struct mock_call *call, pool_cu_uuid *uuid, CUdevice device)
{
    *uuid = call->mock->devices[device].uuid;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_DeviceGetUuidV2(struct mock_call *call, pool_cu_uuid *uuid, CUdevice device)
{
    *uuid = call->mock->devices[device].instance;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_DeviceTotalMem(struct mock_call *call, size_t *bytes, CUdevice device)
{
    *bytes = call->mock->devices[device].total;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_DeviceGetAttribute(
    struct mock_call *call, int *value, pool_cu_enum attribute, CUdevice device)
{
    if (attribute < 1 || attribute >= MOCK_ATTRIBUTES)
        return POOL_CU_INVALID_VALUE;
    *value = call->mock->devices[device].attributes[attribute];
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_DeviceGetPCIBusId(
    struct mock_call *call, char *text, int size, CUdevice device)
{
    const int *has = call->mock->devices[device].attributes;

    if (size < 13)
        return POOL_CU_INVALID_VALUE;
    snprintf(text, (size_t)size, "%04X:%02X:%02X.0", (unsigned)has[POOL_CU_ATTRIBUTE_PCI_DOMAIN_ID],
        (unsigned)has[POOL_CU_ATTRIBUTE_PCI_BUS_ID],
        (unsigned)has[POOL_CU_ATTRIBUTE_PCI_DEVICE_ID]);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_DeviceGetByPCIBusId(
    struct mock_call *call, CUdevice *device, const char *text)
{
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned slot = 0;

    if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
        domain = 0;
        if (sscanf(text, "%x:%x", &bus, &slot) != 2)
            return POOL_CU_INVALID_VALUE;
    }
    for (int i = 0; i < call->mock->device_count; i++) {
        const int *has = call->mock->devices[i].attributes;

        if ((unsigned)has[50] == domain && (unsigned)has[33] == bus && (unsigned)has[34] == slot) {
            *device = i;
            return POOL_CU_SUCCESS;
        }
    }
    return POOL_CU_INVALID_DEVICE;
}

pool_cu_result mock_do_DeviceCanAccessPeer(
    struct mock_call *call, int *can_access, CUdevice device, CUdevice peer)
{
    *can_access = device == peer ? 0 : call->mock->devices[device].peers[peer].access;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_DeviceGetP2PAttribute(struct mock_call *call, int *value,
    pool_cu_enum attribute, CUdevice source, CUdevice destination)
{
    const struct mock_peer *peer = &call->mock->devices[source].peers[destination];
    const int values[] = {0, peer->rank, peer->access, peer->atomics, peer->access, 0};

    if (source == destination)
        return POOL_CU_INVALID_DEVICE;
    if (attribute < 1 || attribute > 5)
        return POOL_CU_INVALID_VALUE;
    *value = values[attribute];
    return POOL_CU_SUCCESS;
}
