/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts, modules, streams and queries beside those of the table.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "driver/attributes.h"
#include "driver/sim/libcuda/functions.h"

/* ---- devices and contexts -------------------------------------------------------------------- */

pool_cu_result cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    pool_cu_result code = libcuda_table()->DeviceGetAttribute(
        major, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);

    return code ? code
                : libcuda_table()->DeviceGetAttribute(
                      minor, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

/* Without execution affinity and green contexts: the params must be absent. */
pool_cu_result cuCtxCreate_v3(
    CUcontext *context, void *params, int count, unsigned int flags, CUdevice device)
{
    if (params || count)
        return POOL_CU_NOT_SUPPORTED;
    return libcuda_table()->CtxCreate(context, flags, device);
}

pool_cu_result cuCtxCreate_v4(CUcontext *context, void *params, unsigned int flags, CUdevice device)
{
    return cuCtxCreate_v3(context, params, 0, flags, device);
}

/* Runs a call with another context current, or with the current one for NULL. */
static pool_cu_result enter(CUcontext context)
{
    return context ? libcuda_table()->CtxPushCurrent(context) : POOL_CU_SUCCESS;
}

static pool_cu_result leave(CUcontext context, pool_cu_result code)
{
    CUcontext popped;

    if (context)
        libcuda_table()->CtxPopCurrent(&popped);
    return code;
}

pool_cu_result cuCtxGetDevice_v2(CUdevice *device, CUcontext context)
{
    pool_cu_result code = enter(context);

    return code ? code : leave(context, libcuda_table()->CtxGetDevice(device));
}

pool_cu_result cuCtxSynchronize_v2(CUcontext context)
{
    pool_cu_result code = enter(context);

    return code ? code : leave(context, libcuda_table()->CtxSynchronize());
}

/* Preferences, which devices are free to ignore: checked, without effect. */
static pool_cu_result check_preference(pool_cu_enum value, pool_cu_enum most)
{
    CUdevice device;
    pool_cu_result code = libcuda_table()->CtxGetDevice(&device);

    if (code)
        return code;
    return value > most ? POOL_CU_INVALID_VALUE : POOL_CU_SUCCESS;
}

pool_cu_result cuCtxSetCacheConfig(pool_cu_enum config)
{
    return check_preference(config, DRIVER_FUNC_CACHE_PREFER_EQUAL);
}

pool_cu_result cuCtxGetCacheConfig(pool_cu_enum *config)
{
    if (!config)
        return POOL_CU_INVALID_VALUE;
    *config = 0;
    return check_preference(0, 0);
}

pool_cu_result cuCtxSetSharedMemConfig(pool_cu_enum config)
{
    return check_preference(config, 2);
}

pool_cu_result cuCtxGetSharedMemConfig(pool_cu_enum *config)
{
    if (!config)
        return POOL_CU_INVALID_VALUE;
    *config = 1; /* banks of four bytes */
    return check_preference(0, 0);
}

pool_cu_result cuFuncSetSharedMemConfig(CUfunction function, pool_cu_enum config)
{
    (void)function;
    return check_preference(config, 2);
}

/* ---- modules --------------------------------------------------------------------------------- */

pool_cu_result libcuda_read_file(const char *path, char **image)
{
    FILE *file;
    char *text = NULL;
    long size = -1;

    if (!path)
        return POOL_CU_INVALID_VALUE;
    file = fopen(path, "rbe");
    if (!file)
        return POOL_CU_FILE_NOT_FOUND;
    if (!fseek(file, 0, SEEK_END))
        size = ftell(file);
    if (size >= 0 && !fseek(file, 0, SEEK_SET))
        text = base_calloc((size_t)size + 1, 1);
    if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
        base_free(text);
        text = NULL;
    }
    fclose(file);
    *image = text;
    return text ? POOL_CU_SUCCESS : size < 0 ? POOL_CU_FILE_NOT_FOUND : POOL_CU_OUT_OF_MEMORY;
}

pool_cu_result cuModuleLoad(CUmodule *module, const char *path)
{
    char *image = NULL;
    pool_cu_result code = libcuda_read_file(path, &image);

    if (!code)
        code = libcuda_table()->ModuleLoadData(module, image);
    base_free(image);
    return code;
}

pool_cu_result cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return image ? libcuda_table()->ModuleLoadData(module, libcuda_image(image))
                 : POOL_CU_INVALID_VALUE;
}

pool_cu_result cuModuleGetLoadingMode(pool_cu_enum *mode)
{
    if (!mode)
        return POOL_CU_INVALID_VALUE;
    *mode = 1; /* CU_MODULE_EAGER_LOADING */
    return POOL_CU_SUCCESS;
}

/* ---- occupancy ------------------------------------------------------------------------------- */

pool_cu_result cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, CUfunction function, int block_size, size_t dynamic_bytes, unsigned int flags)
{
    if (flags > 1)
        return POOL_CU_INVALID_VALUE;
    return libcuda_table()->OccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, libcuda_function(function), block_size, dynamic_bytes);
}

pool_cu_result cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid_size, int *block_size,
    CUfunction function, pool_cu_block_to_shared shared_of, size_t dynamic_bytes, int limit,
    unsigned int flags)
{
    if (flags > 1)
        return POOL_CU_INVALID_VALUE;
    return libcuda_table()->OccupancyMaxPotentialBlockSize(
        min_grid_size, block_size, libcuda_function(function), shared_of, dynamic_bytes, limit);
}

/* ---- streams and events ---------------------------------------------------------------------- */

pool_cu_result cuStreamCreate(CUstream *stream, unsigned int flags)
{
    return libcuda_table()->StreamCreateWithPriority(stream, flags, 0);
}

pool_cu_result cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *green)
{
    pool_cu_result code = libcuda_table()->StreamGetCtx(stream, context);

    if (code || !green)
        return code;
    return libcuda_table()->StreamGetGreenCtx(stream, green);
}

pool_cu_result cuStreamGetCtx_v2_ptsz(CUstream stream, CUcontext *context, CUgreenCtx *green)
{
    return cuStreamGetCtx_v2(libcuda_thread_stream(stream), context, green);
}

pool_cu_result cuEventElapsedTime_v2(float *milliseconds, CUevent begin, CUevent end)
{
    return libcuda_table()->EventElapsedTime(milliseconds, begin, end);
}

static pool_cu_result record(CUevent event, CUstream stream, unsigned int flags)
{
    return flags ? POOL_CU_NOT_SUPPORTED /* CU_EVENT_RECORD_EXTERNAL, of graphs */
                 : libcuda_table()->EventRecord(event, stream);
}

pool_cu_result cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags)
{
    return record(event, stream, flags);
}

pool_cu_result cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags)
{
    return record(event, libcuda_thread_stream(stream), flags);
}

/* A callback as cuStreamAddCallback takes it, which is freed when it has been called. */
struct callback {
    libcuda_stream_callback function;
    void *user;
    CUstream stream;
};

static void call_back(void *user)
{
    struct callback callback = *(struct callback *)user;

    base_free(user);
    callback.function(callback.stream, POOL_CU_SUCCESS, callback.user);
}

static pool_cu_result add_callback(
    CUstream stream, libcuda_stream_callback function, void *user, unsigned int flags)
{
    struct callback *callback;
    pool_cu_result code;

    if (!function || flags)
        return POOL_CU_INVALID_VALUE;
    callback = base_calloc(1, sizeof(*callback));
    if (!callback)
        return POOL_CU_OUT_OF_MEMORY;
    *callback = (struct callback){function, user, stream};
    code = libcuda_table()->LaunchHostFunc(stream, call_back, callback);
    if (code)
        base_free(callback);
    return code;
}

pool_cu_result cuStreamAddCallback(
    CUstream stream, libcuda_stream_callback function, void *user, unsigned int flags)
{
    return add_callback(stream, function, user, flags);
}

pool_cu_result cuStreamAddCallback_ptsz(
    CUstream stream, libcuda_stream_callback function, void *user, unsigned int flags)
{
    return add_callback(libcuda_thread_stream(stream), function, user, flags);
}
