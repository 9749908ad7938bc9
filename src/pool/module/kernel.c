/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels: looked up by name once, their attributes read once.
 */
#include "pool/module/module.h"

#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "driver/work.h"

static pool_status read_attribute(
    struct driver *driver, const struct pool_kernel *kernel, pool_cu_enum which, int *value)
{
    return DRIVER_CALL_FOR(driver, FuncGetAttribute(value, which, kernel->function),
        "attribute %d of kernel \"%s\"", (int)which, kernel->name);
}

/* Queries one parameter after the other until the driver reports that there is none. */
static pool_status read_parameters(struct driver *driver, struct pool_kernel *kernel)
{
    pool_cu_result code = POOL_CU_SUCCESS;
    size_t count = 0;

    kernel->parameter_count = -1;
    if (!driver->api.FuncGetParamInfo)
        return POOL_OK;
    while (count < MODULE_MAX_PARAMETERS && !code) {
        code = driver->api.FuncGetParamInfo(kernel->function, count,
            &kernel->parameter_offset[count], &kernel->parameter_bytes[count]);
        count += code == POOL_CU_SUCCESS;
    }
    if (code == POOL_CU_INVALID_VALUE)
        kernel->parameter_count = (int)count;
    else if (code && code != POOL_CU_NOT_SUPPORTED)
        return DRIVER_CHECK_FOR(driver, code, "cuFuncGetParamInfo",
            "parameter %zu of kernel \"%s\"", count, kernel->name);
    return POOL_OK;
}

static pool_status read_attributes(struct device_scope *scope, struct pool_kernel *kernel)
{
    uint64_t optin = device_properties(scope->device)->shared_bytes_per_block_optin;
    int static_shared = 0;
    int dynamic_shared = 0;
    int ptx_version = 0;
    pool_status status;

    status = read_attribute(
        scope->driver, kernel, DRIVER_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &kernel->max_threads);
    if (!status)
        status = read_attribute(
            scope->driver, kernel, DRIVER_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &static_shared);
    if (!status)
        status = read_attribute(scope->driver, kernel,
            DRIVER_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &dynamic_shared);
    if (!status)
        status =
            read_attribute(scope->driver, kernel, DRIVER_FUNC_ATTRIBUTE_PTX_VERSION, &ptx_version);
    if (status)
        return status;
    kernel->supports_pdl = scope->driver->api.LaunchKernelEx != NULL && ptx_version >= 90 &&
                           device_properties(scope->device)->compute_major >= 9;
    kernel->static_shared_bytes = (uint64_t)static_shared;
    kernel->max_dynamic_shared_bytes =
        optin > kernel->static_shared_bytes ? optin - kernel->static_shared_bytes : 0;
    atomic_init(&kernel->allowed_dynamic_shared_bytes, (uint64_t)dynamic_shared);
    atomic_init(&kernel->allows_large_clusters, false);
    return read_parameters(scope->driver, kernel);
}

/* Between module_begin_use and module_end_use, with the module's lock held. */
static pool_status create_kernel(
    struct device_scope *scope, pool_module *module, const char *name, struct pool_kernel **kernel)
{
    struct pool_kernel *made = base_calloc(sizeof(*made) + strlen(name) + 1, 1);
    pool_status status;

    if (!made)
        return base_fail_memory("a kernel");
    made->module = module;
    memcpy(made->name, name, strlen(name) + 1);
    made->work_name = driver_work_name(device_work(module->device), name);
    if (!made->work_name) {
        base_free(made);
        return base_fail_memory("a kernel");
    }
    status = DRIVER_CALL_FOR(scope->driver,
        ModuleGetFunction(&made->function, module->handle, module_symbol_of(module, name)),
        "\"%s\"", name);
    if (status == POOL_ERR_NOT_FOUND)
        base_fail(status,
            "the module has no kernel \"%s\"; in C++ source it must be extern \"C\" __global__, or "
            "one of params.names",
            name);
    if (!status)
        status = read_attributes(scope, made);
    if (status) {
        base_free(made);
        return status;
    }
    made->next = module->kernels;
    module->kernels = made;
    *kernel = made;
    return POOL_OK;
}

/* With the module's lock held; NULL: no thread has asked for it yet. */
static struct pool_kernel *find_kernel(const pool_module *module, const char *name)
{
    struct pool_kernel *found = module->kernels;

    while (found && strcmp(found->name, name) != 0)
        found = found->next;
    return found;
}

static pool_status find_or_create_kernel(
    struct device_scope *scope, pool_module *module, const char *name, struct pool_kernel **kernel)
{
    pool_status status = module_begin_use(scope, module);

    if (status)
        return status;
    pthread_mutex_lock(&module->lock);
    *kernel = find_kernel(module, name);
    if (!*kernel)
        status = create_kernel(scope, module, name, kernel);
    pthread_mutex_unlock(&module->lock);
    module_end_use(module);
    return status;
}

pool_status pool_kernel_get(pool_module *module, const char *name, pool_kernel **kernel)
{
    struct device_scope scope;
    struct pool_kernel *found;
    pool_status status;

    status = base_check_pointers(
        "pool_kernel_get", {"module", module}, {"name", name}, {"kernel", kernel});
    if (status)
        return status;
    status = device_check(module->device, DEVICE_USE_HOST);
    if (!status)
        status = module_check(module);
    if (status)
        return status;
    pthread_mutex_lock(&module->lock);
    found = find_kernel(module, name);
    pthread_mutex_unlock(&module->lock);
    if (!found) {
        status = device_enter(module->device, &scope);
        if (!status)
            status = device_leave(&scope, find_or_create_kernel(&scope, module, name, &found));
    }
    if (!status)
        *kernel = found;
    return status;
}

pool_status pool_kernel_handle(pool_kernel *kernel, CUfunction *handle)
{
    pool_status status =
        base_check_pointers("pool_kernel_handle", {"kernel", kernel}, {"handle", handle});
    if (!status)
        status = device_check_raw(kernel->module->device, __func__);
    if (status)
        return status;
    *handle = kernel->function;
    return POOL_OK;
}

static pool_status fill_info(
    struct driver *driver, const struct pool_kernel *kernel, pool_kernel_info *info)
{
    int local = 0;
    int constant = 0;
    pool_status status;

    info->max_threads_per_block = kernel->max_threads;
    info->static_shared_bytes = kernel->static_shared_bytes;
    info->max_dynamic_shared_bytes = kernel->max_dynamic_shared_bytes;
    info->parameter_count = kernel->parameter_count;
    status = read_attribute(driver, kernel, DRIVER_FUNC_ATTRIBUTE_NUM_REGS, &info->registers);
    if (!status)
        status = read_attribute(driver, kernel, DRIVER_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &local);
    if (!status)
        status = read_attribute(driver, kernel, DRIVER_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &constant);
    if (!status)
        status =
            read_attribute(driver, kernel, DRIVER_FUNC_ATTRIBUTE_PTX_VERSION, &info->ptx_version);
    if (!status)
        status = read_attribute(
            driver, kernel, DRIVER_FUNC_ATTRIBUTE_BINARY_VERSION, &info->binary_version);
    info->local_bytes = (uint64_t)local;
    info->constant_bytes = (uint64_t)constant;
    return status;
}

pool_status pool_kernel_get_info(pool_kernel *kernel, pool_kernel_info *info)
{
    static const struct base_struct type = BASE_STRUCT(pool_kernel_info);
    pool_kernel_info facts = {0};
    struct device_scope scope;
    pool_status status = kernel ? base_struct_check(&type, "pool_kernel_get_info", "info", info)
                                : base_fail_null("pool_kernel_get_info", "kernel");

    if (!status)
        status = module_check(kernel->module);
    if (!status)
        status = device_enter(kernel->module->device, &scope);
    if (status)
        return status;
    status = device_leave(&scope, fill_info(scope.driver, kernel, &facts));
    if (status)
        return status;
    base_struct_write(&type, &facts, info);
    return POOL_OK;
}

pool_status pool_kernel_set_carveout(pool_kernel *kernel, int32_t percent)
{
    struct device_scope scope;
    pool_status status = base_check_pointers("pool_kernel_set_carveout", {"kernel", kernel});

    if (!status)
        status = base_check_ranges(
            "pool_kernel_set_carveout", {"percent", percent, POOL_CARVEOUT_DEFAULT, 100});
    if (!status)
        status = module_check(kernel->module);
    if (!status)
        status = device_enter(kernel->module->device, &scope);
    if (status)
        return status;
    return device_leave(
        &scope, DRIVER_CALL_FOR(scope.driver,
                    FuncSetAttribute(kernel->function,
                        DRIVER_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent),
                    "kernel \"%s\", carve-out %d", kernel->name, percent));
}

pool_status pool_kernel_get_carveout(pool_kernel *kernel, int32_t *percent)
{
    struct device_scope scope;
    int value = 0;
    pool_status status =
        base_check_pointers("pool_kernel_get_carveout", {"kernel", kernel}, {"percent", percent});

    if (!status)
        status = module_check(kernel->module);
    if (!status)
        status = device_enter(kernel->module->device, &scope);
    if (status)
        return status;
    status =
        device_leave(&scope, read_attribute(scope.driver, kernel,
                                 DRIVER_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &value));
    if (!status)
        *percent = value;
    return status;
}

pool_status pool_kernel_get_parameter(
    pool_kernel *kernel, size_t index, uint64_t *offset, uint64_t *bytes)
{
    pool_status status = base_check_pointers(
        "pool_kernel_get_parameter", {"kernel", kernel}, {"offset", offset}, {"bytes", bytes});
    if (status)
        return status;
    if (kernel->parameter_count < 0)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_kernel_get_parameter: the driver reports no parameters of \"%s\"; drivers of "
            "CUDA 12.4 and newer do",
            kernel->name);
    if (index >= (size_t)kernel->parameter_count)
        return base_fail(POOL_ERR_NOT_FOUND,
            "pool_kernel_get_parameter: unsupported value %zu for `index`: kernel \"%s\" has %d "
            "parameters",
            index, kernel->name, kernel->parameter_count);
    *offset = kernel->parameter_offset[index];
    *bytes = kernel->parameter_bytes[index];
    return POOL_OK;
}

pool_status pool_kernel_get_occupancy(pool_kernel *kernel, uint32_t block_threads,
    uint64_t dynamic_shared_bytes, uint32_t *blocks_per_multiprocessor)
{
    struct device_scope scope;
    pool_status status;
    int blocks = 0;

    status = base_check_pointers("pool_kernel_get_occupancy", {"kernel", kernel},
        {"blocks_per_multiprocessor", blocks_per_multiprocessor});
    if (!status)
        status = base_check_ranges(
            "pool_kernel_get_occupancy", {"block_threads", block_threads, 1, INT32_MAX});
    if (!status)
        status = module_check(kernel->module);
    if (!status)
        status = device_enter(kernel->module->device, &scope);
    if (status)
        return status;
    if (dynamic_shared_bytes <= kernel->max_dynamic_shared_bytes) /* else there is none */
        status = module_raise_shared_limit(scope.driver, kernel, dynamic_shared_bytes);
    if (!status)
        status = DRIVER_CALL_FOR(scope.driver,
            OccupancyMaxActiveBlocksPerMultiprocessor(
                &blocks, kernel->function, (int)block_threads, (size_t)dynamic_shared_bytes),
            "kernel \"%s\"", kernel->name);
    status = device_leave(&scope, status);
    if (!status)
        *blocks_per_multiprocessor = (uint32_t)blocks;
    return status;
}

pool_status pool_kernel_get_best_block(
    pool_kernel *kernel, uint64_t dynamic_shared_bytes, uint32_t *block_threads, uint32_t *blocks)
{
    struct device_scope scope;
    pool_status status;
    int threads = 0;
    int grid = 0;

    status = base_check_pointers("pool_kernel_get_best_block", {"kernel", kernel},
        {"block_threads", block_threads}, {"blocks", blocks});
    if (!status)
        status = module_check(kernel->module);
    if (!status)
        status = device_enter(kernel->module->device, &scope);
    if (status)
        return status;
    status = DRIVER_CALL_FOR(scope.driver,
        OccupancyMaxPotentialBlockSize(
            &grid, &threads, kernel->function, NULL, (size_t)dynamic_shared_bytes, 0),
        "kernel \"%s\"", kernel->name);
    status = device_leave(&scope, status);
    if (status)
        return status;
    *block_threads = (uint32_t)threads;
    *blocks = (uint32_t)grid;
    return POOL_OK;
}
