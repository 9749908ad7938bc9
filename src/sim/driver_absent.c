/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the simulated driver answers about modules and kernels while the PTX machine is not part of
 * the build: CUDA_ERROR_NOT_SUPPORTED.
 */
#include "base/alloc.h"
#include "sim/driver_state.h"

pool_cu_result sim_cu_ModuleLoadData(CUmodule *module, const void *image)
{
    (void)module;
    (void)image;
    return POOL_CU_NOT_SUPPORTED;
}

pool_cu_result sim_cu_ModuleLoadDataEx(
    CUmodule *module, const void *image, unsigned int count, pool_cu_enum *options, void **values)
{
    (void)module;
    (void)image;
    (void)count;
    (void)options;
    (void)values;
    return POOL_CU_NOT_SUPPORTED;
}

pool_cu_result sim_cu_ModuleUnload(CUmodule module)
{
    (void)module;
    return POOL_CU_NOT_SUPPORTED;
}

pool_cu_result sim_cu_ModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    (void)function;
    (void)module;
    (void)name;
    return POOL_CU_NOT_SUPPORTED;
}

pool_cu_result sim_cu_ModuleGetGlobal(
    CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    (void)address;
    (void)bytes;
    (void)module;
    (void)name;
    return POOL_CU_NOT_SUPPORTED;
}

pool_cu_result sim_cu_FuncGetAttribute(int *value, pool_cu_enum attribute, CUfunction function)
{
    (void)value;
    (void)attribute;
    (void)function;
    return POOL_CU_NOT_SUPPORTED;
}

pool_cu_result sim_cu_FuncSetAttribute(CUfunction function, pool_cu_enum attribute, int value)
{
    (void)function;
    (void)attribute;
    (void)value;
    return POOL_CU_NOT_SUPPORTED;
}

pool_cu_result sim_cu_FuncSetCacheConfig(CUfunction function, pool_cu_enum config)
{
    (void)function;
    (void)config;
    return POOL_CU_NOT_SUPPORTED;
}

pool_cu_result sim_cu_FuncGetParamInfo(
    CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    (void)function;
    (void)index;
    (void)offset;
    (void)bytes;
    return POOL_CU_NOT_SUPPORTED;
}

pool_cu_result sim_cu_OccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, CUfunction function, int block_size, size_t dynamic_shared_bytes)
{
    (void)blocks;
    (void)function;
    (void)block_size;
    (void)dynamic_shared_bytes;
    return POOL_CU_NOT_SUPPORTED;
}

pool_cu_result sim_cu_OccupancyMaxPotentialBlockSize(int *min_grid_size, int *block_size,
    CUfunction function, pool_cu_block_to_shared shared_of, size_t dynamic_shared_bytes,
    int block_size_limit)
{
    (void)min_grid_size;
    (void)block_size;
    (void)function;
    (void)shared_of;
    (void)dynamic_shared_bytes;
    (void)block_size_limit;
    return POOL_CU_NOT_SUPPORTED;
}

pool_cu_result sim_cu_LaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
    unsigned int grid_z, unsigned int block_x, unsigned int block_y, unsigned int block_z,
    unsigned int dynamic_shared_bytes, CUstream stream, void **arguments, void **extra)
{
    (void)function;
    (void)grid_x;
    (void)grid_y;
    (void)grid_z;
    (void)block_x;
    (void)block_y;
    (void)block_z;
    (void)dynamic_shared_bytes;
    (void)stream;
    (void)arguments;
    (void)extra;
    return POOL_CU_NOT_SUPPORTED;
}

pool_cu_result sim_cu_LaunchCooperativeKernel(CUfunction function, unsigned int grid_x,
    unsigned int grid_y, unsigned int grid_z, unsigned int block_x, unsigned int block_y,
    unsigned int block_z, unsigned int dynamic_shared_bytes, CUstream stream, void **arguments)
{
    (void)function;
    (void)grid_x;
    (void)grid_y;
    (void)grid_z;
    (void)block_x;
    (void)block_y;
    (void)block_z;
    (void)dynamic_shared_bytes;
    (void)stream;
    (void)arguments;
    return POOL_CU_NOT_SUPPORTED;
}

void sim_module_free(struct sim_module *module)
{
    (void)module;
}

void sim_launch_execute(struct sim_context *context, struct sim_launch_work *work)
{
    (void)context;
    (void)work;
}

bool sim_workers_create(unsigned count, struct sim_workers **workers)
{
    (void)count;
    *workers = NULL;
    return true;
}

void sim_workers_destroy(struct sim_workers **workers)
{
    *workers = NULL;
}

const char *sim_class_name(enum sim_class instruction_class)
{
    (void)instruction_class;
    return "?";
}
