/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions: their attributes, parameters and occupancy.
 */
#include "driver/mock/mock.h"

enum {
    FUNC_MAX_THREADS = 0,
    FUNC_SHARED = 1,
    FUNC_CONST = 2,
    FUNC_LOCAL = 3,
    FUNC_REGISTERS = 4,
    FUNC_PTX_VERSION = 5,
    FUNC_BINARY_VERSION = 6,
    FUNC_CACHE_MODE = 7,
    FUNC_MAX_DYNAMIC_SHARED = 8,
    FUNC_CARVEOUT = 9,
    FUNC_LARGE_CLUSTERS = 14
};

const int *mock_function_device(const struct mock_call *call, const struct mock_function *function)
{
    return call->mock->devices[function->object.device].attributes;
}

/* ---- attributes ------------------------------------------------------------------------------ */

pool_cu_result mock_do_FuncGetAttribute(
    struct mock_call *call, int *value, pool_cu_enum attribute, struct mock_function *function)
{
    const int *device = mock_function_device(call, function);
    int binary = device[75] * 10 + device[76];
    const int values[] = {(int)function->kernel->max_threads, (int)function->kernel->shared_bytes,
        0, (int)function->kernel->local_bytes, (int)function->kernel->registers, binary, binary, 0,
        function->max_dynamic_shared, function->carveout, 0, 0, 0, 0,
        function->allows_large_clusters};
    if (attribute >= sizeof(values) / sizeof(values[0]))
        return POOL_CU_INVALID_VALUE;
    *value = values[attribute];
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_FuncSetAttribute(
    struct mock_call *call, struct mock_function *function, pool_cu_enum attribute, int value)
{
    int most = mock_function_device(call, function)[97] - (int)function->kernel->shared_bytes;
    if (attribute == FUNC_MAX_DYNAMIC_SHARED && value >= 0 && value <= most)
        function->max_dynamic_shared = value;
    else if (attribute == FUNC_CARVEOUT && value >= -1 && value <= 100)
        function->carveout = value;
    else if (attribute == FUNC_LARGE_CLUSTERS && (value == 0 || value == 1))
        function->allows_large_clusters = value;
    else
        return POOL_CU_INVALID_VALUE;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_FuncSetCacheConfig(
    struct mock_call *call, struct mock_function *function, pool_cu_enum config)
{
    (void)call;
    (void)function;
    return config > 3 ? POOL_CU_INVALID_VALUE : POOL_CU_SUCCESS;
}

pool_cu_result mock_do_FuncGetParamInfo(struct mock_call *call, struct mock_function *function,
    size_t index, size_t *offset, size_t *bytes)
{
    size_t at = 0;

    (void)call;
    if (index >= function->kernel->argument_count)
        return POOL_CU_INVALID_VALUE;
    for (size_t i = 0; i <= index; i++) {
        size_t size = function->kernel->argument_bytes[i];
        size_t align = size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;

        at = (at + align - 1) / align * align;
        if (i < index)
            at += size;
    }
    *offset = at;
    if (bytes)
        *bytes = function->kernel->argument_bytes[index];
    return POOL_CU_SUCCESS;
}

/* ---- occupancy ------------------------------------------------------------------------------- */

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

int mock_blocks_that_fit(
    const int *device, const struct mock_function *function, int threads, size_t dynamic)
{
    int warps = (threads + 31) / 32;
    int registers = (int)(function->kernel->registers + 7) / 8 * 8 * 32 * warps;
    size_t shared = function->kernel->shared_bytes + dynamic + (size_t)device[111];
    int blocks = min_int(device[106], device[39] / (warps * 32));

    if (threads > (int)function->kernel->max_threads || threads > device[1])
        return 0;
    if (dynamic > (size_t)function->max_dynamic_shared)
        return 0;
    blocks = min_int(blocks, device[82] / registers);
    return min_int(blocks, (int)((size_t)device[81] / shared));
}

pool_cu_result mock_do_OccupancyMaxActiveBlocksPerMultiprocessor(struct mock_call *call,
    int *blocks, struct mock_function *function, int block_size, size_t dynamic_shared_bytes)
{
    if (block_size <= 0)
        return POOL_CU_INVALID_VALUE;
    *blocks = mock_blocks_that_fit(
        mock_function_device(call, function), function, block_size, dynamic_shared_bytes);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_OccupancyMaxPotentialBlockSize(struct mock_call *call, int *min_grid_size,
    int *block_size, struct mock_function *function, pool_cu_block_to_shared shared_of,
    size_t dynamic_shared_bytes, int block_size_limit)
{
    int best_threads = 0;
    int best_blocks = 0;

    if (block_size_limit < 0)
        return POOL_CU_INVALID_VALUE;
    const int *device = mock_function_device(call, function);
    int most = min_int((int)function->kernel->max_threads, device[1]);
    if (block_size_limit > 0)
        most = min_int(most, block_size_limit);
    for (int threads = most; threads > 0; threads = (threads - 1) / 32 * 32) {
        size_t dynamic = shared_of ? shared_of(threads) : dynamic_shared_bytes;
        int blocks = mock_blocks_that_fit(device, function, threads, dynamic);

        if (blocks * threads > best_blocks * best_threads) {
            best_threads = threads;
            best_blocks = blocks;
        }
    }
    *block_size = best_threads;
    *min_grid_size = best_blocks * device[16];
    return POOL_CU_SUCCESS;
}

int mock_largest_cluster(const struct mock_function *function)
{
    return function->allows_large_clusters ? 16 : 8;
}

/* The clusters of `config`: of `*largest` blocks at most, and how many are resident at once. */
static pool_cu_result count_clusters(struct mock_call *call, const struct mock_function *function,
    const pool_cu_launch_config *config, int *largest, int *resident)
{
    pool_mock_launch launch = {0};
    uint64_t blocks = 1, threads = 1;
    pool_cu_result code = mock_read_launch_attributes(config, &launch);

    if (code)
        return code;
    const int *device = mock_function_device(call, function);
    for (int i = 0; i < 3; i++) {
        blocks *= launch.cluster[i] ? launch.cluster[i] : 1;
        threads *= config->block[i];
    }
    int fit = threads > 1024 ? 0
                             : mock_blocks_that_fit(
                                   device, function, (int)threads, config->dynamic_shared_bytes);
    *largest = fit ? mock_largest_cluster(function) : 0;
    *resident =
        blocks > (uint64_t)*largest ? 0 : (int)((uint64_t)fit * (uint64_t)device[16] / blocks);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_OccupancyMaxPotentialClusterSize(struct mock_call *call, int *blocks,
    struct mock_function *function, const pool_cu_launch_config *config)
{
    int resident;

    return count_clusters(call, function, config, blocks, &resident);
}

pool_cu_result mock_do_OccupancyMaxActiveClusters(struct mock_call *call, int *clusters,
    struct mock_function *function, const pool_cu_launch_config *config)
{
    int largest;

    return count_clusters(call, function, config, &largest, clusters);
}
