/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches of kernels and queries about them: functions of the client that write the
 * arguments of a kernel into a message.
 */
#include <string.h>

#include "driver/attributes.h"
#include "driver/worker/client/client_calls.h"

/* Appends the bytes of the arguments, each at a multiple of 8. */
static pool_cu_result write_each(struct client_call *call, CUfunction function, void **arguments)
{
    const struct worker_layout *layout = client_kernel_layout(call, function);

    if (!layout) {
        call_word(call, WORKER_ARGUMENTS_NONE);
        call_word(call, 0);
        return POOL_CU_SUCCESS; /* the worker will refuse the handle */
    }
    if (layout->count == WORKER_LAYOUT_UNKNOWN)
        return POOL_CU_NOT_SUPPORTED;
    call_word(call, WORKER_ARGUMENTS_EACH);
    if (call->count + 1 + layout->bytes / 8 > WORKER_MESSAGE_BYTES / 8)
        return POOL_CU_NOT_SUPPORTED;
    call_word(call, layout->bytes);
    for (uint32_t i = 0; i < layout->count; i++) {
        size_t words = (size_t)(worker_parameter_bytes(layout->sizes[i]) / 8);

        if (!arguments[i])
            return POOL_CU_INVALID_VALUE;
        if (words)
            call->message.words[call->count + words - 1] = 0;
        memcpy(call->message.words + call->count, arguments[i], layout->sizes[i]);
        call->count += words;
    }
    return POOL_CU_SUCCESS;
}

static pool_cu_result write_arguments(
    struct client_call *call, CUfunction function, void **arguments, void **extra)
{
    const void *buffer = NULL;
    size_t bytes = 0;

    if (arguments && extra)
        return POOL_CU_INVALID_VALUE;
    if (arguments)
        return write_each(call, function, arguments);
    for (; extra && (uintptr_t)*extra != DRIVER_LAUNCH_PARAM_END; extra += 2) {
        if ((uintptr_t)*extra == DRIVER_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if ((uintptr_t)*extra == DRIVER_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = *(const size_t *)extra[1];
        else
            return POOL_CU_INVALID_VALUE;
    }
    call_word(call, buffer ? WORKER_ARGUMENTS_BUFFER : WORKER_ARGUMENTS_NONE);
    call_bytes(call, buffer, buffer ? bytes : 0);
    return POOL_CU_SUCCESS;
}

struct launch {
    CUfunction function;
    unsigned grid[3], block[3], dynamic_shared_bytes;
    CUstream stream;
    void **arguments, **extra;
};

static pool_cu_result write_launch(struct client_call *call, const struct launch *launch)
{
    call_handle(call, WORKER_KERNEL, launch->function);
    for (int i = 0; i < 3; i++)
        call_word(call, launch->grid[i]);
    for (int i = 0; i < 3; i++)
        call_word(call, launch->block[i]);
    call_word(call, launch->dynamic_shared_bytes);
    call_handle(call, WORKER_STREAM, launch->stream);
    return write_arguments(call, launch->function, launch->arguments, launch->extra);
}

static pool_cu_result run_launch(enum worker_function function, const struct launch *launch)
{
    struct client_call call;
    pool_cu_result code;

    call_begin(&call, function, CLIENT_POST);
    code = write_launch(&call, launch);
    return code ? code : call_run(&call);
}

pool_cu_result client_cu_LaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
    unsigned int grid_z, unsigned int block_x, unsigned int block_y, unsigned int block_z,
    unsigned int dynamic_shared_bytes, CUstream stream, void **arguments, void **extra)
{
    struct launch launch = {function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
        dynamic_shared_bytes, stream, arguments, extra};
    pool_cu_result code = call_check();

    return code ? code : run_launch(WORKER_LaunchKernel, &launch);
}

pool_cu_result client_cu_LaunchCooperativeKernel(CUfunction function, unsigned int grid_x,
    unsigned int grid_y, unsigned int grid_z, unsigned int block_x, unsigned int block_y,
    unsigned int block_z, unsigned int dynamic_shared_bytes, CUstream stream, void **arguments)
{
    struct launch launch = {function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
        dynamic_shared_bytes, stream, arguments, NULL};
    pool_cu_result code = call_check();

    return code ? code : run_launch(WORKER_LaunchCooperativeKernel, &launch);
}

/* A launch with attributes, of which a message has at most 8. */
static pool_cu_result write_extended(struct client_call *call, const pool_cu_launch_config *config,
    CUfunction function, void **arguments, void **extra)
{
    static const pool_cu_launch_config none;
    const pool_cu_launch_config *given = config ? config : &none;
    struct launch launch = {.function = function,
        .dynamic_shared_bytes = given->dynamic_shared_bytes,
        .stream = given->stream,
        .arguments = arguments,
        .extra = extra};
    unsigned count = given->attributes ? given->attribute_count : 0;

    memcpy(launch.grid, given->grid, sizeof(launch.grid));
    memcpy(launch.block, given->block, sizeof(launch.block));
    call_word(call, config != NULL);
    call_word(call, given->attribute_count);
    call_word(call, given->attributes != NULL);
    for (unsigned i = 0; i < count; i++) {
        call_word(call, given->attributes[i].id);
        call_bytes(call, &given->attributes[i].value, sizeof(given->attributes[i].value));
    }
    return write_launch(call, &launch);
}

static pool_cu_result check_extended(const pool_cu_launch_config *config)
{
    pool_cu_result code = call_check();

    if (code)
        return code;
    return config && config->attributes && config->attribute_count > 8 ? POOL_CU_NOT_SUPPORTED
                                                                       : POOL_CU_SUCCESS;
}

pool_cu_result client_cu_LaunchKernelEx(
    const pool_cu_launch_config *config, CUfunction function, void **arguments, void **extra)
{
    struct client_call call;
    pool_cu_result code = check_extended(config);

    if (code)
        return code;
    call_begin(&call, WORKER_LaunchKernelEx, CLIENT_POST);
    code = write_extended(&call, config, function, arguments, extra);
    return code ? code : call_run(&call);
}

static pool_cu_result ask_clusters(
    enum worker_function name, int *value, CUfunction function, const pool_cu_launch_config *config)
{
    struct client_call call;
    pool_cu_result code = check_extended(config);

    if (code)
        return code;
    call_begin(&call, name, CLIENT_WAIT);
    call_word(&call, value != NULL);
    code = write_extended(&call, config, function, NULL, NULL);
    if (!code)
        code = call_run(&call);
    if (!code && value)
        *value = (int)call_result(&call);
    return code;
}

pool_cu_result client_cu_OccupancyMaxPotentialClusterSize(
    int *blocks, CUfunction function, const pool_cu_launch_config *config)
{
    return ask_clusters(WORKER_OccupancyMaxPotentialClusterSize, blocks, function, config);
}

pool_cu_result client_cu_OccupancyMaxActiveClusters(
    int *clusters, CUfunction function, const pool_cu_launch_config *config)
{
    return ask_clusters(WORKER_OccupancyMaxActiveClusters, clusters, function, config);
}

pool_cu_result client_cu_OccupancyMaxPotentialBlockSize(int *min_grid_size, int *block_size,
    CUfunction function, pool_cu_block_to_shared shared_of, size_t dynamic_shared_bytes,
    int block_size_limit)
{
    struct client_call call;
    uint64_t sizes[33] = {0};
    int grid, block;
    pool_cu_result code = call_check();

    if (code)
        return code;
    /* The driver tries multiples of the warp size. */
    for (int i = 1; shared_of && i <= 32; i++)
        sizes[i] = shared_of(32 * i);
    call_begin(&call, WORKER_OccupancyMaxPotentialBlockSize, CLIENT_WAIT);
    call_word(&call, min_grid_size != NULL);
    call_word(&call, block_size != NULL);
    call_handle(&call, WORKER_KERNEL, function);
    call_word(&call, dynamic_shared_bytes);
    call_word(&call, (uint64_t)(int64_t)block_size_limit);
    call_word(&call, shared_of != NULL);
    call_bytes(&call, sizes, shared_of ? sizeof(sizes) : 0);
    code = call_run(&call);
    if (code)
        return code;
    grid = (int)call_result(&call);
    block = (int)call_result(&call);
    if (min_grid_size)
        *min_grid_size = grid;
    if (block_size)
        *block_size = block;
    return POOL_CU_SUCCESS;
}
