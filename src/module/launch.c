/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: checks first, then one driver call.
 */
#include "module/module.h"

#include <string.h>

#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "stream/stream.h"

/* Threads per block in pool_launch_shape_for: enough to hide latency, and allowed, on every chip.
 */
#define SHAPE_BLOCK 256u

static const struct base_struct shape_type = BASE_STRUCT(pool_launch_shape);

pool_status pool_launch_shape_for(uint64_t n, pool_launch_shape *shape)
{
    uint64_t blocks = base_ceil_div(n, SHAPE_BLOCK);

    pool_launch_shape made = {.grid = {1, 1, 1}, .block = {SHAPE_BLOCK, 1, 1}};
    pool_status status = base_struct_check(&shape_type, "pool_launch_shape_for", "shape", shape);

    if (status)
        return status;
    if (blocks > INT32_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_launch_shape_for: %llu items need more than 2^31-1 blocks of %u threads; let "
            "each "
            "thread process several items",
            (unsigned long long)n, SHAPE_BLOCK);
    if (blocks)
        made.grid[0] = (uint32_t)blocks;
    base_struct_write(&shape_type, &made, shape);
    return POOL_OK;
}

static pool_status check_arguments(
    const struct pool_kernel *kernel, const pool_launch_shape *shape, void **arguments)
{
    if (shape->argument_count && !arguments)
        return base_fail_null("pool_launch", "arguments");
    for (uint32_t i = 0; i < shape->argument_count; i++)
        if (!arguments[i])
            return base_fail(
                POOL_ERR_INVALID_ARGUMENT, "pool_launch: `arguments[%u]` must not be NULL", i);
    if (kernel->parameter_count < 0)
        return POOL_OK;
    if (shape->argument_count != (uint32_t)kernel->parameter_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_launch: kernel \"%s\" takes %d arguments, shape.argument_count is %u",
            kernel->name, kernel->parameter_count, shape->argument_count);
    for (uint32_t i = 0; shape->argument_bytes && i < shape->argument_count; i++)
        if (shape->argument_bytes[i] != kernel->parameter_bytes[i])
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_launch: argument %u of kernel \"%s\" has %s, %zu were given", i, kernel->name,
                base_size_text(kernel->parameter_bytes[i]).text, shape->argument_bytes[i]);
    return POOL_OK;
}

static pool_status check_shape(const struct pool_kernel *kernel, const pool_launch_shape *shape)
{
    uint64_t threads = (uint64_t)shape->block[0] * shape->block[1];

    if (shape->cooperative && shape->pdl)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_launch: kernel \"%s\" cannot be cooperative and use programmatic dependent "
            "launch",
            kernel->name);
    if (shape->priority && !device_driver(kernel->module->device)->api.LaunchKernelEx)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_launch: a priority of a launch needs cuLaunchKernelEx, which this driver lacks");
    if (threads > UINT32_MAX)
        threads = UINT32_MAX;
    threads *= shape->block[2];
    if (threads > (uint64_t)kernel->max_threads)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_launch: kernel \"%s\" allows %d threads per block, the shape has %u x %u x %u",
            kernel->name, kernel->max_threads, shape->block[0], shape->block[1], shape->block[2]);
    if (shape->dynamic_shared_bytes > kernel->max_dynamic_shared_bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_launch: kernel \"%s\" can have %llu bytes of dynamic shared memory on this "
            "device, the shape asks for %llu",
            kernel->name, (unsigned long long)kernel->max_dynamic_shared_bytes,
            (unsigned long long)shape->dynamic_shared_bytes);
    return POOL_OK;
}

/* Raises the kernel's limit of dynamic shared memory, which by default is 48 KiB. */
static pool_status raise_shared_limit(
    struct driver *driver, struct pool_kernel *kernel, uint64_t bytes)
{
    pool_status status;

    if (bytes <= atomic_load_explicit(&kernel->allowed_dynamic_shared_bytes, memory_order_relaxed))
        return POOL_OK;
    /* Set to the maximum, so that racing threads cannot lower each other's limit. */
    status = DRIVER_CALL_FOR(driver,
        FuncSetAttribute(kernel->function, DRIVER_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            (int)kernel->max_dynamic_shared_bytes),
        "kernel \"%s\", %s of dynamic shared memory", kernel->name,
        base_size_text(kernel->max_dynamic_shared_bytes).text);
    if (!status)
        atomic_store_explicit(&kernel->allowed_dynamic_shared_bytes,
            kernel->max_dynamic_shared_bytes, memory_order_relaxed);
    return status;
}

/* A launch with attributes. */
static pool_cu_result enqueue_extended(const struct driver *driver,
    const struct pool_kernel *kernel, const pool_launch_shape *shape, void **arguments,
    CUstream stream)
{
    pool_cu_launch_attribute attributes[3] = {{.id = DRIVER_LAUNCH_ATTRIBUTE_IGNORE}};
    pool_cu_launch_config config = {.grid = {shape->grid[0], shape->grid[1], shape->grid[2]},
        .block = {shape->block[0], shape->block[1], shape->block[2]},
        .dynamic_shared_bytes = (unsigned)shape->dynamic_shared_bytes,
        .stream = stream,
        .attributes = attributes};

    if (shape->pdl && kernel->supports_pdl)
        attributes[config.attribute_count++] = (pool_cu_launch_attribute){
            .id = DRIVER_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value.number = 1};
    if (shape->cooperative)
        attributes[config.attribute_count++] = (pool_cu_launch_attribute){
            .id = DRIVER_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.number = 1};
    if (shape->priority)
        attributes[config.attribute_count++] = (pool_cu_launch_attribute){
            .id = DRIVER_LAUNCH_ATTRIBUTE_PRIORITY, .value.number = shape->priority};
    return driver->api.LaunchKernelEx(&config, kernel->function, arguments, NULL);
}

static pool_cu_result enqueue(const struct driver *driver, const struct pool_kernel *kernel,
    const pool_launch_shape *shape, void **arguments, CUstream stream, const char **call)
{
    unsigned shared = (unsigned)shape->dynamic_shared_bytes;

    *call = "cuLaunchKernelEx";
    if (shape->priority || (shape->pdl && kernel->supports_pdl))
        return enqueue_extended(driver, kernel, shape, arguments, stream);
    *call = "cuLaunchCooperativeKernel";
    if (shape->cooperative)
        return driver->api.LaunchCooperativeKernel(kernel->function, shape->grid[0], shape->grid[1],
            shape->grid[2], shape->block[0], shape->block[1], shape->block[2], shared, stream,
            arguments);
    *call = "cuLaunchKernel";
    return driver->api.LaunchKernel(kernel->function, shape->grid[0], shape->grid[1],
        shape->grid[2], shape->block[0], shape->block[1], shape->block[2], shared, stream,
        arguments, NULL);
}

/* The launch is recorded before it is made, because its kernel may fault immediately. */
static pool_status launch_inside(struct device_scope *scope, struct pool_kernel *kernel,
    const pool_launch_shape *shape, void **arguments, pool_stream *stream)
{
    struct driver_queue *queue = stream_queue_on(stream, scope->device);
    struct driver_ticket ticket;
    const char *call;
    pool_cu_result code;
    pool_status status = module_begin_use(scope, kernel->module);

    if (status)
        return status;
    status = raise_shared_limit(scope->driver, kernel, shape->dynamic_shared_bytes);
    if (status) {
        module_end_use(kernel->module);
        return status;
    }
    driver_work_launch(device_work(scope->device), queue, kernel->work_name, &ticket);
    code = enqueue(scope->driver, kernel, shape, arguments, stream ? stream->handle : NULL, &call);
    if (__builtin_expect(code != POOL_CU_SUCCESS, 0))
        driver_work_failed(&ticket);
    driver_work_returned(queue);
    module_end_use(kernel->module);
    return DRIVER_CHECK_FOR(scope->driver, code, call,
        "\"%s\", %u x %u x %u blocks of %u x %u x %u threads", kernel->name, shape->grid[0],
        shape->grid[1], shape->grid[2], shape->block[0], shape->block[1], shape->block[2]);
}

static pool_status copy_shape(const pool_launch_shape *given, pool_launch_shape *shape)
{
    pool_status status = base_struct_read(&shape_type, "pool_launch", "shape", given, shape);

    if (!status)
        status = base_check_ranges(
            "pool_launch", {"cooperative", shape->cooperative, 0, 1}, {"pdl", shape->pdl, 0, 1});
    if (status)
        return status;
    for (int i = 0; i < 3; i++) {
        shape->grid[i] += !shape->grid[i];
        shape->block[i] += !shape->block[i];
    }
    return POOL_OK;
}

pool_status pool_launch(
    pool_kernel *kernel, const pool_launch_shape *shape, void **arguments, pool_stream *stream)
{
    struct device_scope scope;
    pool_launch_shape copy;
    CUstream handle = NULL;
    pool_status status;

    if (!kernel)
        return base_fail_null("pool_launch", "kernel");
    status = copy_shape(shape, &copy);
    if (!status)
        status = check_shape(kernel, &copy);
    if (!status)
        status = check_arguments(kernel, &copy, arguments);
    if (!status)
        status = stream_handle_on(stream, kernel->module->device, &handle);
    if (!status)
        status = device_enter(kernel->module->device, &scope);
    if (status)
        return status;
    return device_leave(&scope, launch_inside(&scope, kernel, &copy, arguments, stream));
}
