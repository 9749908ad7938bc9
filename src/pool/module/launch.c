/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: checks first, then one driver call.
 */
#include "pool/module/module.h"

#include <string.h>

#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "pool/stream/capture.h"
#include "pool/stream/phase.h"
#include "pool/stream/stream.h"

/* Threads per block in pool_launch_shape_for: enough to hide latency, and allowed, on every chip.
 */
#define SHAPE_BLOCK 256u

/* Clusters of at most this many blocks run on every device that has clusters. */
#define PORTABLE_CLUSTER 8u

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

static pool_status check_cluster(
    const char *call, const struct pool_kernel *kernel, const pool_launch_shape *shape)
{
    for (int i = 0; i < 3; i++)
        if (shape->grid[i] % shape->cluster[i])
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: kernel \"%s\": the grid, %u x %u x %u blocks, is no multiple of the cluster, "
                "%u x %u x %u blocks",
                call, kernel->name, shape->grid[0], shape->grid[1], shape->grid[2],
                shape->cluster[0], shape->cluster[1], shape->cluster[2]);
    return POOL_OK;
}

static pool_status check_shape(
    const char *call, const struct pool_kernel *kernel, const pool_launch_shape *shape)
{
    uint64_t threads = (uint64_t)shape->block[0] * shape->block[1];

    if (shape->cooperative && shape->pdl)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: kernel \"%s\" cannot be cooperative and use programmatic dependent launch", call,
            kernel->name);
    if (shape->priority && !device_driver(kernel->module->device)->api.LaunchKernelEx)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "%s: a priority of a launch needs cuLaunchKernelEx, which this driver lacks", call);
    if (threads > UINT32_MAX)
        threads = UINT32_MAX;
    threads *= shape->block[2];
    if (threads > (uint64_t)kernel->max_threads)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: kernel \"%s\" allows %d threads per block, the shape has %u x %u x %u", call,
            kernel->name, kernel->max_threads, shape->block[0], shape->block[1], shape->block[2]);
    if (shape->dynamic_shared_bytes > kernel->max_dynamic_shared_bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: kernel \"%s\" can have %llu bytes of dynamic shared memory on this device, the "
            "shape asks for %llu",
            call, kernel->name, (unsigned long long)kernel->max_dynamic_shared_bytes,
            (unsigned long long)shape->dynamic_shared_bytes);
    return shape->cluster[0] ? check_cluster(call, kernel, shape) : POOL_OK;
}

pool_status module_raise_shared_limit(
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

/* Whether the device has clusters, for the public function `call`. */
static pool_status check_clusters_exist(const struct device_scope *scope, const char *call)
{
    if (!scope->driver->api.LaunchKernelEx)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "%s: thread-block clusters need cuLaunchKernelEx, which this driver lacks", call);
    if (!device_has_clusters(scope->device))
        return base_fail(POOL_ERR_UNSUPPORTED,
            "%s: device %d (%s) has no thread-block clusters: GPUs of compute capability 9.0 and "
            "newer have them; simulated devices execute neither cluster barriers nor distributed "
            "shared memory",
            call, pool_device_ordinal(scope->device), device_properties(scope->device)->name);
    return POOL_OK;
}

/* Allows clusters of a size that not every device can run. */
static pool_status allow_cluster(
    struct driver *driver, struct pool_kernel *kernel, const pool_launch_shape *shape)
{
    uint64_t blocks = (uint64_t)shape->cluster[0] * shape->cluster[1];
    pool_status status;

    if ((blocks <= PORTABLE_CLUSTER && blocks * shape->cluster[2] <= PORTABLE_CLUSTER) ||
        atomic_load_explicit(&kernel->allows_large_clusters, memory_order_relaxed))
        return POOL_OK;
    status = DRIVER_CALL_FOR(driver,
        FuncSetAttribute(
            kernel->function, DRIVER_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
        "kernel \"%s\", clusters of more than %u blocks", kernel->name, PORTABLE_CLUSTER);
    if (!status)
        atomic_store_explicit(&kernel->allows_large_clusters, true, memory_order_relaxed);
    return status;
}

/* A launch as cuLaunchKernelEx takes it. */
struct extended_launch {
    pool_cu_launch_config config;
    pool_cu_launch_attribute attributes[4];
};

static void fill_extended(struct extended_launch *launch, const struct pool_kernel *kernel,
    const pool_launch_shape *shape, CUstream stream)
{
    pool_cu_launch_config *config = &launch->config;
    pool_cu_launch_attribute *attributes = launch->attributes;

    *launch = (struct extended_launch){
        .config = {.grid = {shape->grid[0], shape->grid[1], shape->grid[2]},
            .block = {shape->block[0], shape->block[1], shape->block[2]},
            .dynamic_shared_bytes = (unsigned)shape->dynamic_shared_bytes,
            .stream = stream,
            .attributes = attributes}};
    if (shape->pdl && kernel->supports_pdl)
        attributes[config->attribute_count++] = (pool_cu_launch_attribute){
            .id = DRIVER_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value.number = 1};
    if (shape->cooperative)
        attributes[config->attribute_count++] = (pool_cu_launch_attribute){
            .id = DRIVER_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.number = 1};
    if (shape->priority)
        attributes[config->attribute_count++] = (pool_cu_launch_attribute){
            .id = DRIVER_LAUNCH_ATTRIBUTE_PRIORITY, .value.number = shape->priority};
    if (shape->cluster[0])
        attributes[config->attribute_count++] =
            (pool_cu_launch_attribute){.id = DRIVER_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                .value.cluster = {shape->cluster[0], shape->cluster[1], shape->cluster[2]}};
}

static pool_cu_result enqueue_extended(const struct driver *driver,
    const struct pool_kernel *kernel, const pool_launch_shape *shape, void **arguments,
    CUstream stream)
{
    struct extended_launch launch;

    fill_extended(&launch, kernel, shape, stream);
    return driver->api.LaunchKernelEx(&launch.config, kernel->function, arguments, NULL);
}

static pool_cu_result enqueue(const struct driver *driver, const struct pool_kernel *kernel,
    const pool_launch_shape *shape, void **arguments, CUstream stream, const char **call)
{
    unsigned shared = (unsigned)shape->dynamic_shared_bytes;

    *call = "cuLaunchKernelEx";
    if (shape->priority || shape->cluster[0] || (shape->pdl && kernel->supports_pdl))
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

static pool_status raise_limits(
    struct device_scope *scope, struct pool_kernel *kernel, const pool_launch_shape *shape)
{
    pool_status status =
        module_raise_shared_limit(scope->driver, kernel, shape->dynamic_shared_bytes);

    if (status || !shape->cluster[0])
        return status;
    status = check_clusters_exist(scope, "pool_launch");
    return status ? status : allow_cluster(scope->driver, kernel, shape);
}

/* A default stream has the driver's least priority and cannot have another: the launch gets that of
 * calls without a lease, where the driver has priorities of launches. A launch that is captured
 * keeps the priority of its stream in the graph. */
static pool_status add_priority(
    struct device_scope *scope, const pool_stream *stream, pool_launch_shape *shape)
{
    if (shape->priority || !scope->driver->api.LaunchKernelEx)
        return POOL_OK;
    if (stream_is_default_handle(stream))
        return device_priority_of_level(scope->device, 0, &shape->priority);
    if (stream_capture_of(stream))
        shape->priority = stream->priority;
    return POOL_OK;
}

/* The launch is recorded before it is made, because its kernel may fault immediately. */
static pool_status launch_inside(struct device_scope *scope, struct pool_kernel *kernel,
    pool_launch_shape *shape, void **arguments, pool_stream *stream)
{
    struct driver_queue *queue = stream_queue_on(stream, scope->device);
    struct driver_ticket ticket;
    struct phase phase;
    const char *call;
    pool_cu_result code;
    pool_status status = module_begin_use(scope, kernel->module);

    if (status)
        return status;
    status = raise_limits(scope, kernel, shape);
    if (!status)
        status = add_priority(scope, stream, shape);
    if (status) {
        module_end_use(kernel->module);
        return status;
    }
    phase_begin_launch(&phase, scope->device, stream, kernel->name);
    driver_work_launch(device_work(scope->device), queue, kernel->work_name, &ticket);
    code = enqueue(scope->driver, kernel, shape, arguments,
        stream_handle_or_default(stream, scope->device), &call);
    if (__builtin_expect(code != POOL_CU_SUCCESS, 0))
        driver_work_failed(&ticket);
    driver_work_returned(queue);
    phase_end(&phase, code == POOL_CU_SUCCESS ? POOL_OK : POOL_ERR_DRIVER);
    module_end_use(kernel->module);
    return DRIVER_CHECK_FOR(scope->driver, code, call,
        "\"%s\", %u x %u x %u blocks of %u x %u x %u threads", kernel->name, shape->grid[0],
        shape->grid[1], shape->grid[2], shape->block[0], shape->block[1], shape->block[2]);
}

static pool_status copy_shape(
    const char *call, const pool_launch_shape *given, pool_launch_shape *shape)
{
    pool_status status = base_struct_read(&shape_type, call, "shape", given, shape);
    bool has_clusters;

    if (!status)
        status = base_check_ranges(
            call, {"cooperative", shape->cooperative, 0, 1}, {"pdl", shape->pdl, 0, 1});
    if (status)
        return status;
    has_clusters = shape->cluster[0] || shape->cluster[1] || shape->cluster[2];
    for (int i = 0; i < 3; i++) {
        shape->cluster[i] += has_clusters && !shape->cluster[i];
        shape->grid[i] += !shape->grid[i];
        shape->block[i] += !shape->block[i];
    }
    return POOL_OK;
}

pool_status pool_launch(
    pool_kernel *kernel, const pool_launch_shape *shape, void **arguments, pool_stream *stream)
{
    pool_device *device;
    struct device_scope scope;
    pool_launch_shape copy;
    CUstream handle = NULL;
    pool_status status;

    if (!kernel)
        return base_fail_null("pool_launch", "kernel");
    device = kernel->module->device;
    status = copy_shape("pool_launch", shape, &copy);
    if (!status)
        status = check_shape("pool_launch", kernel, &copy);
    if (!status)
        status = check_arguments(kernel, &copy, arguments);
    if (!status)
        status = stream_handle_of_work_on_gpu(stream, &device, &handle);
    if (!status)
        status = module_check(kernel->module);
    if (!status)
        status = device_enter(device, &scope);
    if (status)
        return status;
    return device_leave(&scope, launch_inside(&scope, kernel, &copy, arguments, stream));
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* Asks as if clusters of every size were to be launched: pool_launch allows them too. */
static pool_status ask_clusters(struct device_scope *scope, struct pool_kernel *kernel,
    const pool_launch_shape *shape, int *largest, int *resident)
{
    const pool_launch_shape large = {.cluster = {UINT32_MAX, 1, 1}};
    struct driver *driver = scope->driver;
    struct extended_launch launch;
    pool_status status = check_clusters_exist(scope, "pool_kernel_get_clusters");

    if (!status &&
        !(driver->api.OccupancyMaxPotentialClusterSize && driver->api.OccupancyMaxActiveClusters))
        status = base_fail(POOL_ERR_UNSUPPORTED,
            "pool_kernel_get_clusters: this driver lacks cuOccupancyMaxActiveClusters");
    if (!status)
        status = module_raise_shared_limit(driver, kernel, shape->dynamic_shared_bytes);
    if (!status)
        status = allow_cluster(driver, kernel, &large);
    fill_extended(&launch, kernel, shape, NULL);
    if (!status && largest)
        status = DRIVER_CALL_FOR(driver,
            OccupancyMaxPotentialClusterSize(largest, kernel->function, &launch.config),
            "kernel \"%s\"", kernel->name);
    if (!status && resident)
        status = DRIVER_CALL_FOR(driver,
            OccupancyMaxActiveClusters(resident, kernel->function, &launch.config),
            "kernel \"%s\", clusters of %u x %u x %u blocks", kernel->name, shape->cluster[0],
            shape->cluster[1], shape->cluster[2]);
    return status;
}

static pool_status ask_clusters_in_use(struct device_scope *scope, struct pool_kernel *kernel,
    const pool_launch_shape *shape, int *largest, int *resident)
{
    pool_status status = module_begin_use(scope, kernel->module);

    if (status)
        return status;
    status = ask_clusters(scope, kernel, shape, largest, resident);
    module_end_use(kernel->module);
    return status;
}

pool_status pool_kernel_get_clusters(
    pool_kernel *kernel, const pool_launch_shape *shape, uint32_t *largest, uint32_t *resident)
{
    static const char call[] = "pool_kernel_get_clusters";
    struct device_scope scope;
    pool_launch_shape copy;
    int most = 0, count = 0;
    pool_status status = base_check_pointers(call, {"kernel", kernel});

    if (!status)
        status = copy_shape(call, shape, &copy);
    if (!status && resident && !copy.cluster[0])
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `shape->cluster` must be set to count resident clusters", call);
    if (!status && copy.cluster[0]) /* the grid does not matter */
        memcpy(copy.grid, copy.cluster, sizeof(copy.grid));
    if (!status)
        status = check_shape(call, kernel, &copy);
    if (!status)
        status = module_check(kernel->module);
    if (!status)
        status = device_enter(kernel->module->device, &scope);
    if (status)
        return status;
    status = device_leave(&scope, ask_clusters_in_use(&scope, kernel, &copy, largest ? &most : NULL,
                                      resident ? &count : NULL));
    if (status)
        return status;
    if (largest)
        *largest = (uint32_t)most;
    if (resident)
        *resident = (uint32_t)count;
    return POOL_OK;
}
