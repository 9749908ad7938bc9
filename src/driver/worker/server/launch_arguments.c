/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What launches have besides plain arguments; the executors of host functions and of a query with
 * one.
 */
#include <string.h>

#include "driver/attributes.h"
#include "driver/worker/server/server.h"

void execution_arguments(struct execution *execution, struct server_arguments *arguments)
{
    const struct worker_layout *layout = execution->layout;
    uint64_t how = execution_word(execution), bytes;
    /* The message is this process's private copy. */
    unsigned char *data = (unsigned char *)(uintptr_t)execution_bytes(execution, &bytes);

    arguments->given = arguments->given_extra = NULL;
    if (how > WORKER_ARGUMENTS_BUFFER)
        execution->is_malformed = true;
    if (how == WORKER_ARGUMENTS_EACH && layout) {
        if (layout->count > WORKER_MAX_PARAMETERS || layout->bytes != bytes) {
            execution->is_malformed = true;
            return;
        }
        for (uint32_t i = 0; i < layout->count; i++) {
            arguments->each[i] = data;
            data += worker_parameter_bytes(layout->sizes[i]);
        }
        arguments->given = arguments->each;
    } else if (how == WORKER_ARGUMENTS_BUFFER) {
        arguments->extra_bytes = (size_t)bytes;
        arguments->extra[0] = (void *)DRIVER_LAUNCH_PARAM_BUFFER_POINTER;
        arguments->extra[1] = data;
        arguments->extra[2] = (void *)DRIVER_LAUNCH_PARAM_BUFFER_SIZE;
        arguments->extra[3] = &arguments->extra_bytes;
        arguments->extra[4] = (void *)DRIVER_LAUNCH_PARAM_END;
        arguments->given_extra = arguments->extra;
    }
}

static void read_attributes(
    struct execution *execution, pool_cu_launch_attribute *attributes, uint64_t count)
{
    if (count > WORKER_ATTRIBUTES)
        execution->is_malformed = true;
    for (uint64_t i = 0; i < count && !execution->is_malformed; i++) {
        attributes[i].id = (pool_cu_enum)execution_word(execution);
        if (!execution_struct(execution, &attributes[i].value, sizeof(attributes[i].value)))
            execution->is_malformed = true;
    }
}

const pool_cu_launch_config *execution_config(
    struct execution *execution, struct server_config *room)
{
    pool_cu_launch_config *config = &room->config;
    uint64_t has_config = execution_word(execution), count = execution_word(execution);
    uint64_t has_attributes = execution_word(execution);

    memset(room, 0, sizeof(*room));
    if (has_attributes)
        read_attributes(execution, room->attributes, count);
    config->attribute_count = (unsigned)count;
    config->attributes = has_attributes ? room->attributes : NULL;
    for (int i = 0; i < 3; i++)
        config->grid[i] = (unsigned)execution_word(execution);
    for (int i = 0; i < 3; i++)
        config->block[i] = (unsigned)execution_word(execution);
    config->dynamic_shared_bytes = (unsigned)execution_word(execution);
    config->stream = execution_handle(execution, WORKER_STREAM);
    return has_config ? config : NULL;
}

/* The driver may ask for any block size; the message has the sizes for multiples of 32. */
static _Thread_local const uint64_t *shared_sizes;

static size_t shared_of_block(int block_size)
{
    unsigned index = block_size <= 0 ? 0 : ((unsigned)block_size + 31) / 32;

    return (size_t)shared_sizes[index < 32 ? index : 32];
}

pool_cu_result server_OccupancyMaxPotentialBlockSize(struct execution *execution)
{
    uint64_t has_grid = execution_word(execution), has_block = execution_word(execution);
    CUfunction function = execution_handle(execution, WORKER_KERNEL);
    size_t dynamic_shared_bytes = (size_t)execution_word(execution);
    int limit = (int)execution_word(execution);
    uint64_t has_sizes = execution_word(execution), bytes;
    const void *sizes = execution_bytes(execution, &bytes);
    int min_grid = 0, block = 0;
    pool_cu_result code;

    if (has_sizes && bytes != 33 * sizeof(uint64_t))
        execution->is_malformed = true;
    code = execution_check(execution);
    if (code)
        return code;
    shared_sizes = sizes;
    code = execution->server->api->OccupancyMaxPotentialBlockSize(has_grid ? &min_grid : NULL,
        has_block ? &block : NULL, function, has_sizes ? shared_of_block : NULL,
        dynamic_shared_bytes, limit);
    execution_reply(execution, (uint64_t)min_grid);
    execution_reply(execution, (uint64_t)block);
    return code;
}

pool_cu_result server_LaunchHostFunc(struct execution *execution)
{
    CUstream stream = execution_handle(execution, WORKER_STREAM);
    uint64_t token = execution_word(execution);
    pool_cu_result code = execution_check(execution);

    if (code)
        return code;
    return token ? server_launch_host_call(execution, stream, token)
                 : execution->server->api->LaunchHostFunc(stream, NULL, NULL);
}
