/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: checks and records.
 */
#include "driver/mock/mock.h"

#include <stdlib.h>
#include <string.h>

/* Attributes of cuLaunchKernelEx. */
enum {
    LAUNCH_IGNORE = 0,
    LAUNCH_COOPERATIVE = 2,
    LAUNCH_CLUSTER = 4,
    LAUNCH_EARLY = 6,
    LAUNCH_PRIORITY = 8
};

#define LAUNCH_PARAM_BUFFER_POINTER 1u
#define LAUNCH_PARAM_BUFFER_SIZE 2u

static pool_cu_result check_cluster(
    const int *device, const struct mock_function *function, const pool_mock_launch *launch)
{
    uint64_t blocks = 1;

    if (!launch->cluster[0])
        return POOL_CU_SUCCESS;
    if (!device[120])
        return POOL_CU_NOT_SUPPORTED;
    for (int i = 0; i < 3; i++) {
        if (launch->cluster[i] == 0 || launch->grid[i] % launch->cluster[i])
            return POOL_CU_INVALID_CLUSTER_SIZE;
        blocks *= launch->cluster[i];
    }
    return blocks > (uint64_t)mock_largest_cluster(function) ? POOL_CU_INVALID_CLUSTER_SIZE
                                                             : POOL_CU_SUCCESS;
}

static pool_cu_result check_shape(
    const int *device, const struct mock_function *function, const pool_mock_launch *launch)
{
    uint64_t threads = 1;

    for (int i = 0; i < 3; i++) {
        if (launch->grid[i] == 0 || launch->grid[i] > (unsigned)device[5 + i])
            return POOL_CU_INVALID_VALUE;
        if (launch->block[i] == 0 || launch->block[i] > (unsigned)device[2 + i])
            return POOL_CU_INVALID_VALUE;
        threads *= launch->block[i];
    }
    if (threads > (unsigned)device[1])
        return POOL_CU_INVALID_VALUE;
    if (launch->dynamic_shared_bytes > (unsigned)function->max_dynamic_shared)
        return POOL_CU_INVALID_VALUE;
    if (threads > function->kernel->max_threads)
        return POOL_CU_LAUNCH_OUT_OF_RESOURCES;
    int fit = mock_blocks_that_fit(device, function, (int)threads, launch->dynamic_shared_bytes);
    if (fit == 0)
        return POOL_CU_LAUNCH_OUT_OF_RESOURCES;
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    if (launch->cooperative && blocks > (uint64_t)fit * (uint64_t)device[16])
        return POOL_CU_COOPERATIVE_LAUNCH_TOO_LARGE;
    return check_cluster(device, function, launch);
}

/* Copies the argument values from the array of pointers or from the packed buffer of `extra`. */
static bool copy_arguments(struct mock_record *record, const struct mock_kernel *kernel,
    void **arguments, const unsigned char *packed)
{
    size_t total = 0;
    size_t used = 0;
    size_t offset = 0;

    for (uint32_t i = 0; i < kernel->argument_count; i++)
        total += kernel->argument_bytes[i] + 15;
    record->values = aligned_alloc(16, (total + 31) / 16 * 16);
    if (!record->values)
        return false;
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        size_t size = kernel->argument_bytes[i];
        size_t align = size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;

        offset = (offset + align - 1) / align * align;
        used = (used + 15) / 16 * 16;
        memcpy(record->values + used, arguments ? arguments[i] : packed + offset, size);
        record->arguments[i] = record->values + used;
        record->argument_bytes[i] = (uint32_t)size;
        used += size;
        offset += size;
    }
    return true;
}

/* The packed arguments of the `extra` list; NULL when there are none. */
static const unsigned char *packed_arguments(void **extra)
{
    const unsigned char *packed = NULL;

    for (size_t i = 0; extra && extra[i] && i < 8; i += 2)
        if ((uintptr_t)extra[i] == LAUNCH_PARAM_BUFFER_POINTER)
            packed = extra[i + 1];
    return packed;
}

static pool_cu_result check_arguments(
    const struct mock_kernel *kernel, void **arguments, const unsigned char *packed)
{
    if (kernel->argument_count == 0 || packed)
        return POOL_CU_SUCCESS;
    for (uint32_t i = 0; i < kernel->argument_count; i++)
        if (!arguments || !arguments[i])
            return POOL_CU_INVALID_VALUE;
    return POOL_CU_SUCCESS;
}

static struct mock_record *new_record(pool_mock *mock, const struct mock_kernel *kernel,
    const pool_mock_launch *launch, void **arguments, const unsigned char *packed)
{
    struct mock_record *record;

    if (!mock->records)
        mock->records = calloc(MOCK_LAUNCHES, sizeof(*mock->records));
    if (!mock->records)
        return NULL;
    record = &mock->records[mock->launch_count % MOCK_LAUNCHES];
    free(record->name);
    free(record->values);
    memset(record, 0, sizeof(*record));
    record->launch = *launch;
    record->name = strdup(kernel->name);
    if (!record->name || !copy_arguments(record, kernel, arguments, packed))
        return NULL;
    record->launch.kernel = record->name;
    record->launch.argument_count = kernel->argument_count;
    record->launch.arguments = record->arguments;
    record->launch.argument_bytes = record->argument_bytes;
    return record;
}

/*
 * Runs the effect outside the lock, on a copy of the record that later launches do not overwrite.
 */
static pool_cu_result run_effect(
    struct mock_call *call, const struct mock_kernel *kernel, const struct mock_record *record)
{
    struct mock_record own = *record;
    pool_mock_effect effect = kernel->effect;
    void *user = kernel->user;
    pool_cu_result code = POOL_CU_SUCCESS;

    own.name = strdup(record->name);
    void **none = NULL;
    own.values = NULL;
    if (!own.name || !copy_arguments(&own, kernel,
                         record->launch.argument_count ? (void **)record->arguments : none, NULL)) {
        free(own.name);
        return POOL_CU_OUT_OF_MEMORY;
    }
    own.launch.kernel = own.name;
    own.launch.arguments = own.arguments;
    own.launch.argument_bytes = own.argument_bytes;
    pthread_mutex_unlock(&call->mock->lock);
    mock_guest_begin();
    code = effect(user, &own.launch);
    mock_guest_end();
    pthread_mutex_lock(&call->mock->lock);
    free(own.name);
    free(own.values);
    return code;
}

static pool_cu_result launch_on(struct mock_call *call, const struct mock_function *function,
    struct mock_stream *stream, pool_mock_launch *launch, void **arguments, void **extra)
{
    const unsigned char *packed = packed_arguments(extra);
    pool_cu_result code;

    if (function->object.context != call->context || stream->object.context != call->context)
        return POOL_CU_INVALID_HANDLE;
    code = check_shape(mock_function_device(call, function), function, launch);
    if (code == POOL_CU_SUCCESS && arguments && extra)
        code = POOL_CU_INVALID_VALUE;
    if (code == POOL_CU_SUCCESS)
        code = check_arguments(function->kernel, arguments, packed);
    if (code)
        return code;
    launch->device = call->device;
    launch->stream = call->stream;
    mock_stream_work(call, stream);
    if (call->is_captured)
        return POOL_CU_SUCCESS;
    struct mock_kernel *kernel = function->kernel;
    struct mock_record *record = new_record(call->mock, kernel, launch, arguments, packed);
    if (!record)
        return POOL_CU_OUT_OF_MEMORY;
    call->mock->launch_count++;
    kernel->launches++;
    return kernel->effect ? run_effect(call, kernel, record) : POOL_CU_SUCCESS;
}

pool_cu_result mock_do_LaunchKernel(struct mock_call *call, struct mock_function *function,
    unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
    unsigned int block_y, unsigned int block_z, unsigned int dynamic_shared_bytes,
    struct mock_stream *stream, void **arguments, void **extra)
{
    pool_mock_launch launch = {.grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .dynamic_shared_bytes = dynamic_shared_bytes};

    return launch_on(call, function, stream, &launch, arguments, extra);
}

pool_cu_result mock_do_LaunchCooperativeKernel(struct mock_call *call,
    struct mock_function *function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
    unsigned int block_x, unsigned int block_y, unsigned int block_z,
    unsigned int dynamic_shared_bytes, struct mock_stream *stream, void **arguments)
{
    pool_mock_launch launch = {.grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .dynamic_shared_bytes = dynamic_shared_bytes,
        .cooperative = 1};

    return launch_on(call, function, stream, &launch, arguments, NULL);
}

pool_cu_result mock_read_launch_attributes(
    const pool_cu_launch_config *config, pool_mock_launch *launch)
{
    if (config->attribute_count && !config->attributes)
        return POOL_CU_INVALID_VALUE;
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const pool_cu_launch_attribute *attribute = &config->attributes[i];

        if (attribute->id == LAUNCH_COOPERATIVE)
            launch->cooperative = attribute->value.number;
        else if (attribute->id == LAUNCH_EARLY)
            launch->pdl = attribute->value.number;
        else if (attribute->id == LAUNCH_CLUSTER)
            memcpy(launch->cluster, attribute->value.cluster, sizeof(launch->cluster));
        else if (attribute->id == LAUNCH_PRIORITY)
            launch->priority = attribute->value.number;
        else if (attribute->id != LAUNCH_IGNORE)
            return POOL_CU_INVALID_VALUE;
    }
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_LaunchKernelEx(struct mock_call *call, const pool_cu_launch_config *config,
    struct mock_function *function, void **arguments, void **extra)
{
    pool_mock_launch launch = {.grid = {config->grid[0], config->grid[1], config->grid[2]},
        .block = {config->block[0], config->block[1], config->block[2]},
        .dynamic_shared_bytes = config->dynamic_shared_bytes};
    pool_cu_result code = mock_read_launch_attributes(config, &launch);
    struct mock_stream *stream = mock_object_get(call, config->stream, MOCK_STREAM, &code);

    return code ? code : launch_on(call, function, stream, &launch, arguments, extra);
}

/* ---- records --------------------------------------------------------------------------------- */

uint64_t pool_mock_launches(pool_mock *mock, const char *kernel)
{
    uint64_t count = 0;

    if (!mock)
        return 0;
    pthread_mutex_lock(&mock->lock);
    if (!kernel)
        count = mock->launch_count;
    for (size_t i = 0; kernel && i < mock->kernel_count; i++)
        if (strcmp(mock->kernels[i]->name, kernel) == 0)
            count = mock->kernels[i]->launches;
    pthread_mutex_unlock(&mock->lock);
    return count;
}

pool_status pool_mock_get_launch(pool_mock *mock, uint64_t index, pool_mock_launch *launch)
{
    if (!mock || !launch)
        return POOL_ERR_INVALID_ARGUMENT;
    pthread_mutex_lock(&mock->lock);
    bool kept = index < mock->launch_count && mock->launch_count - index <= MOCK_LAUNCHES;
    if (kept)
        *launch = mock->records[index % MOCK_LAUNCHES].launch;
    pthread_mutex_unlock(&mock->lock);
    return kept ? POOL_OK : POOL_ERR_NOT_FOUND;
}
