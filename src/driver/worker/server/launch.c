/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executors of launches, of kernels and of host functions.
 */
#include <string.h>

#include "driver/attributes.h"
#include "driver/worker/server/server.h"

/* A launch as a message has it. */
struct launch {
    CUfunction function;
    unsigned grid[3], block[3], dynamic_shared_bytes;
    CUstream stream;
    void *arguments[WORKER_MAX_PARAMETERS]; /* into the message */
    void **given;                           /* NULL: the caller passed none */
    void *extra[5];
    void **given_extra;
    size_t extra_bytes;
};

/* Pointers to the arguments in the message, whose bytes must be exactly the kernel's. */
static void read_arguments(
    struct execution *execution, const struct worker_layout *layout, struct launch *launch)
{
    uint64_t how = execution_word(execution), bytes;
    /* The message is this process's private copy. */
    unsigned char *data = (unsigned char *)(uintptr_t)execution_bytes(execution, &bytes);

    launch->given = launch->given_extra = NULL;
    if (how > WORKER_ARGUMENTS_BUFFER)
        execution->is_malformed = true;
    if (how == WORKER_ARGUMENTS_EACH && layout) {
        if (layout->count > WORKER_MAX_PARAMETERS || layout->bytes != bytes) {
            execution->is_malformed = true;
            return;
        }
        for (uint32_t i = 0; i < layout->count; i++) {
            launch->arguments[i] = data;
            data += worker_parameter_bytes(layout->sizes[i]);
        }
        launch->given = launch->arguments;
    } else if (how == WORKER_ARGUMENTS_BUFFER) {
        launch->extra_bytes = (size_t)bytes;
        launch->extra[0] = (void *)DRIVER_LAUNCH_PARAM_BUFFER_POINTER;
        launch->extra[1] = data;
        launch->extra[2] = (void *)DRIVER_LAUNCH_PARAM_BUFFER_SIZE;
        launch->extra[3] = &launch->extra_bytes;
        launch->extra[4] = (void *)DRIVER_LAUNCH_PARAM_END;
        launch->given_extra = launch->extra;
    }
}

static void read_launch(struct execution *execution, struct launch *launch)
{
    const struct worker_layout *layout;

    launch->function = execution_handle(execution, WORKER_KERNEL);
    layout = execution->object.layout;
    for (int i = 0; i < 3; i++)
        launch->grid[i] = (unsigned)execution_word(execution);
    for (int i = 0; i < 3; i++)
        launch->block[i] = (unsigned)execution_word(execution);
    launch->dynamic_shared_bytes = (unsigned)execution_word(execution);
    launch->stream = execution_handle(execution, WORKER_STREAM);
    read_arguments(execution, layout, launch);
}

pool_cu_result server_LaunchKernel(struct execution *execution)
{
    struct launch launch;
    pool_cu_result code;

    read_launch(execution, &launch);
    code = execution_check(execution);
    return code ? code
                : execution->server->api->LaunchKernel(launch.function, launch.grid[0],
                      launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
                      launch.block[2], launch.dynamic_shared_bytes, launch.stream, launch.given,
                      launch.given_extra);
}

pool_cu_result server_LaunchCooperativeKernel(struct execution *execution)
{
    struct launch launch;
    pool_cu_result code;

    read_launch(execution, &launch);
    code = execution_check(execution);
    return code ? code
                : execution->server->api->LaunchCooperativeKernel(launch.function, launch.grid[0],
                      launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
                      launch.block[2], launch.dynamic_shared_bytes, launch.stream, launch.given);
}

#define ATTRIBUTES 8u

/* A launch with attributes, as cuLaunchKernelEx takes it. */
struct extended {
    struct launch launch;
    pool_cu_launch_config config;
    pool_cu_launch_attribute attributes[ATTRIBUTES];
    const pool_cu_launch_config *given; /* NULL: the caller passed none */
};

static void read_extended(struct execution *execution, struct extended *extended)
{
    uint64_t has_config = execution_word(execution), count = execution_word(execution);
    uint64_t has_attributes = execution_word(execution);
    pool_cu_launch_attribute *attributes = extended->attributes;
    pool_cu_launch_config *config = &extended->config;

    memset(extended, 0, sizeof(*extended));
    for (uint64_t i = 0; has_attributes && i < count && !execution->is_malformed; i++) {
        uint64_t bytes;
        const void *value;

        if (i == ATTRIBUTES) {
            execution->is_malformed = true;
            break;
        }
        attributes[i].id = (pool_cu_enum)execution_word(execution);
        value = execution_bytes(execution, &bytes);
        if (bytes != sizeof(attributes[i].value))
            execution->is_malformed = true;
        else
            memcpy(&attributes[i].value, value, sizeof(attributes[i].value));
    }
    read_launch(execution, &extended->launch);
    config->attribute_count = (unsigned)count;
    config->attributes = has_attributes ? attributes : NULL;
    memcpy(config->grid, extended->launch.grid, sizeof(config->grid));
    memcpy(config->block, extended->launch.block, sizeof(config->block));
    config->dynamic_shared_bytes = extended->launch.dynamic_shared_bytes;
    config->stream = extended->launch.stream;
    extended->given = has_config ? config : NULL;
}

pool_cu_result server_LaunchKernelEx(struct execution *execution)
{
    const pool_cuda_api *api = execution->server->api;
    struct extended extended;
    pool_cu_result code;

    read_extended(execution, &extended);
    code = execution_check(execution);
    if (code)
        return code;
    return api->LaunchKernelEx ? api->LaunchKernelEx(extended.given, extended.launch.function,
                                     extended.launch.given, extended.launch.given_extra)
                               : POOL_CU_NOT_SUPPORTED;
}

static pool_cu_result ask_clusters(struct execution *execution,
    pool_cu_result (*ask)(int *, CUfunction, const pool_cu_launch_config *))
{
    uint64_t has_value = execution_word(execution);
    struct extended extended;
    pool_cu_result code;
    int value = 0;

    read_extended(execution, &extended);
    code = execution_check(execution);
    if (code)
        return code;
    code = ask ? ask(has_value ? &value : NULL, extended.launch.function, extended.given)
               : POOL_CU_NOT_SUPPORTED;
    execution_reply(execution, (uint64_t)value);
    return code;
}

pool_cu_result server_OccupancyMaxPotentialClusterSize(struct execution *execution)
{
    return ask_clusters(execution, execution->server->api->OccupancyMaxPotentialClusterSize);
}

pool_cu_result server_OccupancyMaxActiveClusters(struct execution *execution)
{
    return ask_clusters(execution, execution->server->api->OccupancyMaxActiveClusters);
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
