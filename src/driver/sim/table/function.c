/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries and settings of kernels: attributes, parameters, occupancy.
 */
#include "driver/sim/table/function.h"

/* ---- sizes ----------------------------------------------------------------------------------- */

static int round_up(int value, int step)
{
    return (value + step - 1) / step * step;
}

/*
 * Warps that a multiprocessor must hold at once by the kernel's launch bounds; 0 without bounds.
 * As in ptxas, a bound of 1024 threads counts although no block is larger, a number of blocks has
 * no effect without a bound on their threads, and a bound that the chip cannot meet is ignored.
 */
static int warps_by_launch_bounds(const struct sim_kernel *kernel, const struct sim_chip *chip)
{
    const uint32_t most = (uint32_t)chip->threads_per_multiprocessor;
    const uint32_t threads = kernel->bound_threads;
    uint32_t blocks = kernel->min_blocks;

    if (threads == 0 || threads > most)
        return 0;
    if (blocks == 0 || blocks > (uint32_t)chip->blocks_per_multiprocessor ||
        blocks > most / threads)
        blocks = 1;
    return (int)((threads + SIM_WARP - 1) / SIM_WARP * blocks);
}

/* Registers per thread as ptxas would allocate them: launch bounds cause spilling. */
static int registers_per_thread(const struct sim_kernel *kernel, const struct sim_chip *chip)
{
    int count = kernel->register_count ? (int)kernel->register_count : 1;
    int warps = round_up(warps_by_launch_bounds(kernel, chip), SIM_WARP_UNIT);

    if (warps) {
        int block = round_up(((int)kernel->bound_threads + SIM_WARP - 1) / SIM_WARP, SIM_WARP_UNIT);
        int most = SIM_REGISTERS / (warps * SIM_WARP) / 8 * 8;
        int per_block = chip->registers_per_block / (block * SIM_WARP) / 8 * 8;

        count = count < most ? count : most;
        count = count < per_block ? count : per_block;
    }
    return count < SIM_REGISTERS_PER_THREAD ? count : SIM_REGISTERS_PER_THREAD;
}

/* Warps whose registers fit into those of a multiprocessor or of a block. */
static int warps_by_registers(int register_count, int registers)
{
    int warp = round_up(register_count * SIM_WARP, SIM_REGISTER_UNIT);

    return registers / warp / SIM_WARP_UNIT * SIM_WARP_UNIT;
}

static const struct sim_chip *chip_of(const struct sim_function_object *function)
{
    return sim_state.devices[function->module->context->device].chip;
}

int sim_function_registers(const struct sim_function_object *function)
{
    return registers_per_thread(function->kernel, chip_of(function));
}

int sim_function_max_threads(const struct sim_function_object *function)
{
    const struct sim_kernel *kernel = function->kernel;
    const struct sim_chip *chip = chip_of(function);
    int by_registers =
        warps_by_registers(registers_per_thread(kernel, chip), chip->registers_per_block) *
        SIM_WARP;
    int most = (int)kernel->max_threads;

    return most < by_registers ? most : by_registers;
}

static int take_less(int blocks, int fit, const char *what, const char **limit)
{
    if (fit >= blocks)
        return blocks;
    *limit = what;
    return fit;
}

static int count_blocks(const struct sim_kernel *kernel, const struct sim_chip *chip,
    int block_size, uint64_t dynamic_shared, const char **limit)
{
    const uint64_t most_shared = (uint64_t)chip->shared_per_block_optin;
    int blocks = chip->blocks_per_multiprocessor, fit;

    *limit = "blocks";

    /* .maxntid has no effect here, as on a GPU; the launch fails instead. */
    if (block_size > SIM_BLOCK_THREADS || dynamic_shared > most_shared ||
        dynamic_shared + kernel->shared_bytes > most_shared)
        return 0;
    const int warps = (block_size + SIM_WARP - 1) / SIM_WARP;
    fit = chip->threads_per_multiprocessor / SIM_WARP / warps;
    blocks = take_less(blocks, fit, "threads", limit);
    fit = warps_by_registers(registers_per_thread(kernel, chip), SIM_REGISTERS) /
          round_up(warps, SIM_WARP_UNIT);
    if (warps_by_registers(registers_per_thread(kernel, chip), SIM_REGISTERS) >= warps && fit == 0)
        fit = 1;
    blocks = take_less(blocks, fit, "registers", limit);
    int shared = (int)dynamic_shared + (int)kernel->shared_bytes + chip->shared_reserved_per_block;
    shared = round_up(shared, chip->shared_unit);
    fit = shared ? chip->shared_per_multiprocessor / shared : blocks;
    return take_less(blocks, fit, "shared memory", limit);
}

int sim_function_blocks(
    const struct sim_function_object *function, int block_size, uint64_t dynamic_shared)
{
    const char *limit;

    return sim_function_occupancy(function, block_size, dynamic_shared, &limit);
}

int sim_function_occupancy(const struct sim_function_object *function, int block_size,
    uint64_t dynamic_shared, const char **limit)
{
    return count_blocks(function->kernel, chip_of(function), block_size, dynamic_shared, limit);
}

/* ---- the table's functions ------------------------------------------------------------------- */

pool_cu_result sim_function_enter(struct sim_call *call, enum sim_driver_function function,
    CUfunction handle, struct sim_function_object **object)
{
    pool_cu_result code = sim_enter(call, function, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    *object = sim_handle_get(SIM_HANDLE_KERNEL, handle);
    return *object ? POOL_CU_SUCCESS : sim_leave(POOL_CU_INVALID_HANDLE);
}

static int constant_bytes(const struct sim_program *program)
{
    uint64_t bytes = 0;

    for (size_t at = 0; at < sim_program_variable_count(program); at++) {
        const struct sim_variable *variable = sim_program_variable(program, at);
        bytes += variable->is_constant ? variable->size : 0;
    }
    return (int)bytes;
}

pool_cu_result sim_cu_FuncGetAttribute(int *value, pool_cu_enum attribute, CUfunction handle)
{
    struct sim_function_object *function;
    struct sim_call call;
    pool_cu_result code = sim_function_enter(&call, SIM_CU_FuncGetAttribute, handle, &function);

    if (code)
        return code;
    const struct sim_kernel *kernel = function->kernel;
    const struct sim_chip *chip = chip_of(function);
    const int values[] = {
        [DRIVER_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = sim_function_max_threads(function),
        [DRIVER_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = (int)kernel->shared_bytes,
        [DRIVER_FUNC_ATTRIBUTE_CONST_SIZE_BYTES] = constant_bytes(function->module->program),
        [DRIVER_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = (int)kernel->local_bytes,
        [DRIVER_FUNC_ATTRIBUTE_NUM_REGS] = registers_per_thread(kernel, chip),
        [DRIVER_FUNC_ATTRIBUTE_PTX_VERSION] = (int)sim_program_target(function->module->program),
        [DRIVER_FUNC_ATTRIBUTE_BINARY_VERSION] = (int)chip->capability,
        [DRIVER_FUNC_ATTRIBUTE_CACHE_MODE_CA] = 0,
        [DRIVER_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = function->max_dynamic_shared,
        [DRIVER_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = function->carveout,
        [15] = 0, /* 10 to 15 concern clusters, which are not simulated */
    };
    if (!value || attribute >= sizeof(values) / sizeof(values[0]))
        return sim_leave(POOL_CU_INVALID_VALUE);
    *value = values[attribute];
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_FuncSetAttribute(CUfunction handle, pool_cu_enum attribute, int value)
{
    struct sim_function_object *function;
    struct sim_call call;
    pool_cu_result code = sim_function_enter(&call, SIM_CU_FuncSetAttribute, handle, &function);

    if (code)
        return code;
    switch (attribute) {
    case DRIVER_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 ||
            value > chip_of(function)->shared_per_block_optin - (int)function->kernel->shared_bytes)
            return sim_leave(POOL_CU_INVALID_VALUE);
        function->max_dynamic_shared = value;
        return sim_leave(POOL_CU_SUCCESS);
    case DRIVER_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < DRIVER_SHAREDMEM_CARVEOUT_DEFAULT ||
            value > DRIVER_SHAREDMEM_CARVEOUT_MAX_SHARED)
            return sim_leave(POOL_CU_INVALID_VALUE);
        function->carveout = value;
        return sim_leave(POOL_CU_SUCCESS);
    default:
        return sim_leave(POOL_CU_INVALID_VALUE);
    }
}

pool_cu_result sim_cu_FuncSetCacheConfig(CUfunction handle, pool_cu_enum config)
{
    struct sim_function_object *function;
    struct sim_call call;
    pool_cu_result code = sim_function_enter(&call, SIM_CU_FuncSetCacheConfig, handle, &function);

    if (code)
        return code;
    return sim_leave(
        config > DRIVER_FUNC_CACHE_PREFER_EQUAL ? POOL_CU_INVALID_VALUE : POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_FuncGetParamInfo(
    CUfunction handle, size_t index, size_t *offset, size_t *bytes)
{
    struct sim_function_object *function;
    struct sim_call call;
    pool_cu_result code = sim_function_enter(&call, SIM_CU_FuncGetParamInfo, handle, &function);

    if (code)
        return code;
    if (!offset || index >= function->kernel->parameter_count)
        return sim_leave(POOL_CU_INVALID_VALUE);
    *offset = function->kernel->parameters[index].offset;
    if (bytes)
        *bytes = function->kernel->parameters[index].size;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_OccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, CUfunction handle, int block_size, size_t dynamic_shared_bytes)
{
    struct sim_function_object *function;
    struct sim_call call;
    pool_cu_result code = sim_function_enter(
        &call, SIM_CU_OccupancyMaxActiveBlocksPerMultiprocessor, handle, &function);

    if (code)
        return code;
    if (!blocks || block_size <= 0)
        return sim_leave(POOL_CU_INVALID_VALUE);
    *blocks = sim_function_blocks(function, block_size, dynamic_shared_bytes);
    return sim_leave(POOL_CU_SUCCESS);
}

/*
 * Finds the largest block size among those with the most resident threads. The callback belongs to
 * the program, so it is called without the lock, on a copy that remains valid whatever happens to
 * the module.
 */
static void find_best_block(const struct sim_kernel *kernel, const struct sim_chip *chip,
    pool_cu_block_to_shared shared_of, size_t dynamic_shared, int limit, int *blocks_out,
    int *block_out)
{
    int best_threads = 0;

    *blocks_out = *block_out = 0;
    for (int block = limit / SIM_WARP * SIM_WARP; block > 0; block -= SIM_WARP) {
        size_t shared = shared_of ? shared_of(block) : dynamic_shared;
        const char *resource;
        int blocks = count_blocks(kernel, chip, block, shared, &resource);

        if (blocks * block <= best_threads)
            continue;
        best_threads = blocks * block;
        *blocks_out = blocks;
        *block_out = block;
    }
}

pool_cu_result sim_cu_OccupancyMaxPotentialBlockSize(int *min_grid_size, int *block_size,
    CUfunction handle, pool_cu_block_to_shared shared_of, size_t dynamic_shared_bytes,
    int block_size_limit)
{
    struct sim_function_object *function;
    struct sim_call call;
    int blocks, block;
    pool_cu_result code =
        sim_function_enter(&call, SIM_CU_OccupancyMaxPotentialBlockSize, handle, &function);

    if (code)
        return code;
    if (!min_grid_size || !block_size || block_size_limit < 0)
        return sim_leave(POOL_CU_INVALID_VALUE);
    int limit = sim_function_max_threads(function);
    if (block_size_limit && block_size_limit < limit)
        limit = block_size_limit < SIM_WARP ? SIM_WARP : block_size_limit;
    const struct sim_kernel kernel = *function->kernel;
    const struct sim_chip *chip = chip_of(function);
    const int multiprocessors = (int)sim_config_of(call.context->device)->multiprocessors;
    sim_leave(POOL_CU_SUCCESS);
    find_best_block(&kernel, chip, shared_of, dynamic_shared_bytes, limit, &blocks, &block);
    *min_grid_size = blocks * multiprocessors;
    *block_size = block;
    return POOL_CU_SUCCESS;
}

/* Clusters are not simulated. */
pool_cu_result sim_cu_OccupancyMaxPotentialClusterSize(
    int *blocks, CUfunction handle, const pool_cu_launch_config *config)
{
    struct sim_function_object *function;
    struct sim_call call;
    pool_cu_result code =
        sim_function_enter(&call, SIM_CU_OccupancyMaxPotentialClusterSize, handle, &function);

    (void)blocks;
    (void)config;
    return code ? code : sim_leave(POOL_CU_NOT_SUPPORTED);
}

pool_cu_result sim_cu_OccupancyMaxActiveClusters(
    int *clusters, CUfunction handle, const pool_cu_launch_config *config)
{
    struct sim_function_object *function;
    struct sim_call call;
    pool_cu_result code =
        sim_function_enter(&call, SIM_CU_OccupancyMaxActiveClusters, handle, &function);

    (void)clusters;
    (void)config;
    return code ? code : sim_leave(POOL_CU_NOT_SUPPORTED);
}
