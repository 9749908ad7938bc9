/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executors of memory pools, and the locations of memory in messages.
 */
#include "driver/worker/server/server.h"

void execution_location(struct execution *execution, pool_cu_mem_location *location)
{
    uint64_t is_own;

    location->type = (pool_cu_enum)execution_word(execution);
    is_own = execution_word(execution);
    location->id = (int)execution_word(execution);
    if (is_own)
        location->id = execution->server->device;
}

uint64_t execution_accesses(
    struct execution *execution, pool_cu_mem_access *access, bool *has_access)
{
    uint64_t count;

    *has_access = execution_word(execution) != 0;
    count = execution_word(execution);
    if (count > WORKER_MAX_DEVICES)
        execution->is_malformed = true;
    for (uint64_t i = 0; *has_access && i < count && !execution->is_malformed; i++) {
        execution_location(execution, &access[i].location);
        access[i].flags = (pool_cu_enum)execution_word(execution);
    }
    return count;
}

pool_cu_result server_MemPoolCreate(struct execution *execution)
{
    uint64_t has_pool = execution_word(execution), has_props = execution_word(execution);
    pool_cu_mem_pool_props props = {0};
    CUmemoryPool pool = NULL;
    pool_cu_result code;

    props.allocation_type = (pool_cu_enum)execution_word(execution);
    props.handle_types = (pool_cu_enum)execution_word(execution);
    execution_location(execution, &props.location);
    props.max_size = (size_t)execution_word(execution);
    props.usage = (unsigned short)execution_word(execution);
    code = execution_check(execution);
    if (!code)
        code = EXECUTION_CALL(
            execution, MemPoolCreate, has_pool ? &pool : NULL, has_props ? &props : NULL);
    if (code)
        return code;
    code = execution_reply_new(execution, WORKER_MEMORY_POOL, pool);
    if (code)
        execution->server->api->MemPoolDestroy(pool);
    return code;
}

pool_cu_result server_MemPoolSetAttribute(struct execution *execution)
{
    CUmemoryPool pool = execution_handle(execution, WORKER_MEMORY_POOL);
    pool_cu_enum attribute = (pool_cu_enum)execution_word(execution);
    uint64_t has_value = execution_word(execution), value[8] = {execution_word(execution)};
    pool_cu_result code = execution_check(execution);

    return code ? code
                : EXECUTION_CALL(
                      execution, MemPoolSetAttribute, pool, attribute, has_value ? value : NULL);
}

pool_cu_result server_MemPoolGetAttribute(struct execution *execution)
{
    CUmemoryPool pool = execution_handle(execution, WORKER_MEMORY_POOL);
    pool_cu_enum attribute = (pool_cu_enum)execution_word(execution);
    uint64_t has_value = execution_word(execution), value[8] = {0};
    pool_cu_result code = execution_check(execution);

    if (!code)
        code = EXECUTION_CALL(
            execution, MemPoolGetAttribute, pool, attribute, has_value ? value : NULL);
    execution_reply(execution, value[0]);
    return code;
}

pool_cu_result server_MemPoolSetAccess(struct execution *execution)
{
    CUmemoryPool pool = execution_handle(execution, WORKER_MEMORY_POOL);
    pool_cu_mem_access access[WORKER_MAX_DEVICES] = {{{0, 0}, 0}};
    bool has_access;
    uint64_t count = execution_accesses(execution, access, &has_access);
    pool_cu_result code;

    code = execution_check(execution);
    return code ? code
                : EXECUTION_CALL(
                      execution, MemPoolSetAccess, pool, has_access ? access : NULL, (size_t)count);
}
