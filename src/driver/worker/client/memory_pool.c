/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools: functions of the client with structures in their arguments.
 */
#include <string.h>

#include "driver/attributes.h"
#include "driver/worker/client/client_calls.h"

bool client_is_device(const pool_cu_mem_location *location)
{
    return location->type == DRIVER_MEM_LOCATION_TYPE_DEVICE && location->id >= 0 &&
           (unsigned)location->id < client->count;
}

/* Whether the location is the device of the call's worker, whose ordinal there may differ. */
void call_location(struct client_call *call, const pool_cu_mem_location *location, bool is_own)
{
    call_word(call, location->type);
    call_word(call, is_own);
    call_word(call, (uint64_t)(int64_t)location->id);
}

pool_cu_result call_accesses(
    struct client_call *call, const pool_cu_mem_access *access, size_t count, unsigned ordinal)
{
    if (count > WORKER_MAX_DEVICES)
        return POOL_CU_INVALID_VALUE;
    call_word(call, access != NULL);
    call_word(call, count);
    for (size_t i = 0; access && i < count; i++) {
        bool is_own = (unsigned)access[i].location.id == ordinal;

        if (client_is_device(&access[i].location) && !is_own)
            return POOL_CU_PEER_ACCESS_UNSUPPORTED;
        call_location(call, &access[i].location, is_own);
        call_word(call, access[i].flags);
    }
    return POOL_CU_SUCCESS;
}

pool_cu_result client_cu_MemPoolCreate(CUmemoryPool *pool, const pool_cu_mem_pool_props *props)
{
    static const pool_cu_mem_pool_props none;
    const pool_cu_mem_pool_props *given = props ? props : &none;
    bool is_own = props && client_is_device(&props->location);
    struct client_worker *worker = &client->workers[is_own ? props->location.id : 0];
    struct client_call call;
    pool_cu_result code = call_check();

    if (code)
        return code;
    call_begin(&call, WORKER_MemPoolCreate, CLIENT_WAIT);
    call_worker(&call, worker, atomic_load(&worker->generation));
    call_word(&call, pool != NULL);
    call_word(&call, props != NULL);
    call_word(&call, given->allocation_type);
    call_word(&call, given->handle_types);
    call_location(&call, &given->location, is_own);
    call_word(&call, given->max_size);
    call_word(&call, given->usage);
    code = call_run(&call);
    if (!code && pool)
        *pool = call_result_handle(&call, WORKER_MEMORY_POOL);
    return code;
}

static size_t attribute_bytes(pool_cu_enum attribute)
{
    if (attribute < DRIVER_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
        attribute > DRIVER_MEMPOOL_ATTR_USED_MEM_HIGH)
        return 0;
    return attribute <= DRIVER_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES ? sizeof(int)
                                                                              : sizeof(uint64_t);
}

pool_cu_result client_cu_MemPoolSetAttribute(CUmemoryPool pool, pool_cu_enum attribute, void *value)
{
    struct client_call call;
    uint64_t word = 0;
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (value)
        memcpy(&word, value, attribute_bytes(attribute));
    call_begin(&call, WORKER_MemPoolSetAttribute, CLIENT_WAIT);
    call_handle(&call, WORKER_MEMORY_POOL, pool);
    call_word(&call, attribute);
    call_word(&call, value != NULL);
    call_word(&call, word);
    return call_run(&call);
}

pool_cu_result client_cu_MemPoolGetAttribute(CUmemoryPool pool, pool_cu_enum attribute, void *value)
{
    struct client_call call;
    uint64_t word;
    pool_cu_result code = call_check();

    if (code)
        return code;
    call_begin(&call, WORKER_MemPoolGetAttribute, CLIENT_WAIT);
    call_handle(&call, WORKER_MEMORY_POOL, pool);
    call_word(&call, attribute);
    call_word(&call, value != NULL);
    code = call_run(&call);
    word = code ? 0 : call_result(&call);
    if (!code && value)
        memcpy(value, &word, attribute_bytes(attribute));
    return code;
}

/* Access for another worker's device would be of no use, as no peer access is. */
pool_cu_result client_cu_MemPoolSetAccess(
    CUmemoryPool pool, const pool_cu_mem_access *access, size_t count)
{
    struct client_handle handle = client_handle_read(pool);
    struct client_call call;
    pool_cu_result code = call_check();

    if (code)
        return code;
    call_begin(&call, WORKER_MemPoolSetAccess, CLIENT_WAIT);
    call_handle(&call, WORKER_MEMORY_POOL, pool);
    code = call_accesses(&call, access, count, handle.worker);
    return code ? code : call_run(&call);
}
