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

pool_cu_result mock_cu_Init(unsigned int flags)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_Init, MOCK_ANYTIME, -1, "u", flags))
        return call.code;
    if (flags != 0)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (call.mock->device_count == 0)
        return mock_leave(&call, POOL_CU_NO_DEVICE);
    if (call.mock->sticky && call.mock->sticky_everywhere)
        return mock_leave(&call, call.mock->sticky);
    call.mock->initialised = true;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_DriverGetVersion(int *version)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_DriverGetVersion, MOCK_ANYTIME, -1, ""))
        return call.code;
    if (!version)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    *version = call.mock->version;
    return mock_leave(&call, POOL_CU_SUCCESS);
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

pool_cu_result mock_cu_GetErrorName(pool_cu_result error, const char **name)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_GetErrorName, MOCK_ANYTIME, -1, "u", error))
        return call.code;
    if (!name)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    *name = error_name(error);
    return mock_leave(&call, *name ? POOL_CU_SUCCESS : POOL_CU_INVALID_VALUE);
}

pool_cu_result mock_cu_GetErrorString(pool_cu_result error, const char **text)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_GetErrorString, MOCK_ANYTIME, -1, "u", error))
        return call.code;
    if (!text)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    *text = error_name(error) ? "an error made by the mock driver" : NULL;
    return mock_leave(&call, *text ? POOL_CU_SUCCESS : POOL_CU_INVALID_VALUE);
}

pool_cu_result mock_cu_DeviceGetCount(int *count)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_DeviceGetCount, MOCK_QUERY, -1, ""))
        return call.code;
    if (!count)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    *count = call.mock->device_count;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_DeviceGet(CUdevice *device, int ordinal)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_DeviceGet, MOCK_QUERY, ordinal, "i", ordinal))
        return call.code;
    if (!device)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (ordinal < 0 || ordinal >= call.mock->device_count)
        return mock_leave(&call, POOL_CU_INVALID_DEVICE);
    *device = ordinal;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

/* The device of a query that writes to `out`; NULL: *code is the result. */
static struct mock_device *query_device(
    struct mock_call *call, CUdevice device, const void *out, pool_cu_result *code)
{
    *code = !out ? POOL_CU_INVALID_VALUE : POOL_CU_INVALID_DEVICE;
    if (!out || device < 0 || device >= call->mock->device_count)
        return NULL;
    *code = POOL_CU_SUCCESS;
    return &call->mock->devices[device];
}

pool_cu_result mock_cu_DeviceGetName(char *name, int size, CUdevice device)
{
    struct mock_call call;
    pool_cu_result code;

    if (!mock_enter(&call, MOCK_FN_DeviceGetName, MOCK_QUERY, device, "i", device))
        return call.code;
    struct mock_device *of = query_device(&call, device, name, &code);
    if (of && size <= 0)
        code = POOL_CU_INVALID_VALUE;
    else if (of)
        snprintf(name, (size_t)size, "%s", of->name);
    return mock_leave(&call, code);
}

pool_cu_result mock_cu_DeviceGetUuid(pool_cu_uuid *uuid, CUdevice device)
{
    struct mock_call call;
    pool_cu_result code;

    if (!mock_enter(&call, MOCK_FN_DeviceGetUuid, MOCK_QUERY, device, "i", device))
        return call.code;
    struct mock_device *of = query_device(&call, device, uuid, &code);
    if (of)
        *uuid = of->uuid;
    return mock_leave(&call, code);
}

pool_cu_result mock_cu_DeviceGetUuidV2(pool_cu_uuid *uuid, CUdevice device)
{
    struct mock_call call;
    pool_cu_result code;

    if (!mock_enter(&call, MOCK_FN_DeviceGetUuidV2, MOCK_QUERY, device, "i", device))
        return call.code;
    struct mock_device *of = query_device(&call, device, uuid, &code);
    if (of)
        *uuid = of->instance;
    return mock_leave(&call, code);
}

pool_cu_result mock_cu_DeviceTotalMem(size_t *bytes, CUdevice device)
{
    struct mock_call call;
    pool_cu_result code;

    if (!mock_enter(&call, MOCK_FN_DeviceTotalMem, MOCK_QUERY, device, "i", device))
        return call.code;
    struct mock_device *of = query_device(&call, device, bytes, &code);
    if (of)
        *bytes = of->total;
    return mock_leave(&call, code);
}

pool_cu_result mock_cu_DeviceGetAttribute(int *value, pool_cu_enum attribute, CUdevice device)
{
    struct mock_call call;
    pool_cu_result code;

    if (!mock_enter(&call, MOCK_FN_DeviceGetAttribute, MOCK_QUERY, device, "ui", attribute, device))
        return call.code;
    struct mock_device *of = query_device(&call, device, value, &code);
    if (of && (attribute < 1 || attribute >= MOCK_ATTRIBUTES))
        code = POOL_CU_INVALID_VALUE;
    else if (of)
        *value = of->attributes[attribute];
    return mock_leave(&call, code);
}

pool_cu_result mock_cu_DeviceGetPCIBusId(char *text, int size, CUdevice device)
{
    struct mock_call call;
    pool_cu_result code;

    if (!mock_enter(&call, MOCK_FN_DeviceGetPCIBusId, MOCK_QUERY, device, "i", device))
        return call.code;
    struct mock_device *of = query_device(&call, device, text, &code);
    if (of && size < 13)
        code = POOL_CU_INVALID_VALUE;
    else if (of)
        snprintf(text, (size_t)size, "%04X:%02X:%02X.0",
            (unsigned)of->attributes[POOL_CU_ATTRIBUTE_PCI_DOMAIN_ID],
            (unsigned)of->attributes[POOL_CU_ATTRIBUTE_PCI_BUS_ID],
            (unsigned)of->attributes[POOL_CU_ATTRIBUTE_PCI_DEVICE_ID]);
    return mock_leave(&call, code);
}

pool_cu_result mock_cu_DeviceGetByPCIBusId(CUdevice *device, const char *text)
{
    struct mock_call call;
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned slot = 0;

    if (!mock_enter(&call, MOCK_FN_DeviceGetByPCIBusId, MOCK_QUERY, -1, "s", text))
        return call.code;
    if (!device || !text)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
        domain = 0;
        if (sscanf(text, "%x:%x", &bus, &slot) != 2)
            return mock_leave(&call, POOL_CU_INVALID_VALUE);
    }
    for (int i = 0; i < call.mock->device_count; i++) {
        const int *has = call.mock->devices[i].attributes;

        if ((unsigned)has[50] == domain && (unsigned)has[33] == bus && (unsigned)has[34] == slot) {
            *device = i;
            return mock_leave(&call, POOL_CU_SUCCESS);
        }
    }
    return mock_leave(&call, POOL_CU_INVALID_DEVICE);
}

pool_cu_result mock_cu_DeviceCanAccessPeer(int *can_access, CUdevice device, CUdevice peer)
{
    struct mock_call call;
    pool_cu_result code;

    if (!mock_enter(&call, MOCK_FN_DeviceCanAccessPeer, MOCK_QUERY, device, "ii", device, peer))
        return call.code;
    struct mock_device *of = query_device(&call, device, can_access, &code);
    if (of && !query_device(&call, peer, can_access, &code))
        of = NULL;
    if (of)
        *can_access = device == peer ? 0 : of->peers[peer].access;
    return mock_leave(&call, code);
}

pool_cu_result mock_cu_DeviceGetP2PAttribute(
    int *value, pool_cu_enum attribute, CUdevice source, CUdevice destination)
{
    struct mock_call call;
    pool_cu_result code;

    if (!mock_enter(&call, MOCK_FN_DeviceGetP2PAttribute, MOCK_QUERY, source, "uii", attribute,
            source, destination))
        return call.code;
    struct mock_device *of = query_device(&call, source, value, &code);
    if (of && (!query_device(&call, destination, value, &code) || source == destination)) {
        code = POOL_CU_INVALID_DEVICE;
        of = NULL;
    }
    if (!of)
        return mock_leave(&call, code);
    const struct mock_peer *peer = &of->peers[destination];
    const int values[] = {0, peer->rank, peer->access, peer->atomics, peer->access, 0};
    if (attribute < 1 || attribute > 5)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    *value = values[attribute];
    return mock_leave(&call, POOL_CU_SUCCESS);
}
