/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executors of host memory in the arena and of the attributes of addresses.
 */
#include "driver/attributes.h"
#include "driver/worker/server/server.h"

pool_cu_result server_PinArena(struct execution *execution)
{
    uint64_t offset = execution_word(execution), bytes = execution_word(execution);
    unsigned flags = (unsigned)execution_word(execution);
    bool is_stage;
    void *memory = execution_host(execution, offset, bytes, &is_stage);
    pool_cu_result code;

    if (is_stage)
        execution->is_malformed = true;
    code = execution_check(execution);
    return code ? code : execution->server->api->MemHostRegister(memory, (size_t)bytes, flags);
}

pool_cu_result server_UnpinArena(struct execution *execution)
{
    uint64_t offset = execution_word(execution);
    bool is_stage;
    void *memory = execution_host(execution, offset, 0, &is_stage);
    pool_cu_result code;

    if (is_stage)
        execution->is_malformed = true;
    code = execution_check(execution);
    return code ? code : execution->server->api->MemHostUnregister(memory);
}

/* The values of attributes that name something of this process. */
static uint64_t translate_attribute(
    struct execution *execution, pool_cu_enum attribute, uint64_t value)
{
    struct server *server = execution->server;
    uint64_t arena = (uint64_t)(uintptr_t)server->arena;

    switch (attribute) {
    case DRIVER_POINTER_ATTRIBUTE_CONTEXT:
        return server_context_number(server, (const void *)(uintptr_t)value);
    case DRIVER_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return value
                   ? server_handle_of(server, WORKER_MEMORY_POOL, (const void *)(uintptr_t)value, 0)
                   : 0;
    case DRIVER_POINTER_ATTRIBUTE_HOST_POINTER:
        return value >= arena && value - arena < server->arena_bytes
                   ? value - arena + server->client_arena
                   : value;
    default:
        return value;
    }
}

pool_cu_result server_PointerGetAttribute(struct execution *execution)
{
    uint64_t has_value = execution_word(execution);
    pool_cu_enum attribute = (pool_cu_enum)execution_word(execution);
    CUdeviceptr address = execution_word(execution);
    uint64_t value[8] = {0};
    pool_cu_result code = execution_check(execution);

    if (!code)
        code = execution->server->api->PointerGetAttribute(
            has_value ? value : NULL, attribute, address);
    execution_reply(execution, code ? 0 : translate_attribute(execution, attribute, value[0]));
    return code;
}

#define ATTRIBUTES 64u

pool_cu_result server_PointerGetAttributes(struct execution *execution)
{
    CUdeviceptr address = execution_word(execution);
    uint64_t count = execution_word(execution);
    pool_cu_enum attributes[ATTRIBUTES];
    uint64_t stored[ATTRIBUTES][8] = {{0}};
    void *values[ATTRIBUTES];
    pool_cu_result code;

    if (count > ATTRIBUTES)
        execution->is_malformed = true;
    for (uint64_t i = 0; i < count && !execution->is_malformed; i++) {
        uint64_t word = execution_word(execution);

        attributes[i] = (pool_cu_enum)word;
        values[i] = word >> 32 ? NULL : stored[i]; /* the upper half: the caller passed NULL */
    }
    code = execution_check(execution);
    if (code)
        return code;
    code =
        execution->server->api->PointerGetAttributes((unsigned)count, attributes, values, address);
    for (uint64_t i = 0; i < count && !code; i++)
        execution_reply(execution, translate_attribute(execution, attributes[i], stored[i][0]));
    return code;
}
