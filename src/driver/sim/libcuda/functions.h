/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of more.def, under the names and with the parameters of cuda.h: what they do is
 * documented there. Each returns a code of the driver.
 */
#ifndef SIM_LIBCUDA_FUNCTIONS_H
#define SIM_LIBCUDA_FUNCTIONS_H

#include "driver/sim/libcuda/libcuda.h"

/* Objects of library.c. */
typedef struct libcuda_library *libcuda_library;
typedef struct libcuda_kernel *libcuda_kernel;
typedef void (*libcuda_stream_callback)(CUstream stream, pool_cu_result code, void *user);

/* The stream of a call in a program whose default stream is the thread's. */
static inline CUstream libcuda_thread_stream(CUstream stream)
{
    return stream ? stream : LIBCUDA_THREAD_STREAM;
}

/* Reads a file of an image, with a zero byte behind it; free *image with base_free. */
pool_cu_result libcuda_read_file(const char *path, char **image);

#pragma GCC visibility push(default)

/* memory.c */
pool_cu_result cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device);
pool_cu_result cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device);
pool_cu_result cuMemAdvise(CUdeviceptr address, size_t bytes, pool_cu_enum advice, CUdevice device);
pool_cu_result cuMemAdvise_v2(
    CUdeviceptr address, size_t bytes, pool_cu_enum advice, pool_cu_mem_location location);
pool_cu_result cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream);
pool_cu_result cuMemAllocAsync_ptsz(CUdeviceptr *address, size_t bytes, CUstream stream);
pool_cu_result cuMemAllocHost_v2(void **memory, size_t bytes);
pool_cu_result cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags);
pool_cu_result cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width_bytes,
    size_t height, unsigned int item_bytes);
pool_cu_result cuMemPrefetchAsync(
    CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream);
pool_cu_result cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes,
    pool_cu_mem_location location, unsigned int flags, CUstream stream);
pool_cu_result cuMemPrefetchAsync_ptsz(
    CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream);
pool_cu_result cuMemPrefetchAsync_v2_ptsz(CUdeviceptr address, size_t bytes,
    pool_cu_mem_location location, unsigned int flags, CUstream stream);
pool_cu_result cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
pool_cu_result cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
pool_cu_result cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
pool_cu_result cuMemcpy2D_v2(const pool_cu_copy_2d *copy);
pool_cu_result cuMemcpy2DUnaligned_v2(const pool_cu_copy_2d *copy);
pool_cu_result cuMemsetD2D8_v2(
    CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height);
pool_cu_result cuMemsetD2D16_v2(
    CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height);
pool_cu_result cuMemsetD2D32_v2(
    CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height);
pool_cu_result cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
    size_t height, CUstream stream);
pool_cu_result cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
    size_t height, CUstream stream);
pool_cu_result cuMemsetD2D32Async(
    CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height, CUstream stream);
pool_cu_result cuMemsetD2D8Async_ptsz(CUdeviceptr to, size_t pitch, unsigned char value,
    size_t width, size_t height, CUstream stream);
pool_cu_result cuMemsetD2D16Async_ptsz(CUdeviceptr to, size_t pitch, unsigned short value,
    size_t width, size_t height, CUstream stream);
pool_cu_result cuMemsetD2D32Async_ptsz(
    CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height, CUstream stream);

/* execution.c */
pool_cu_result cuCtxCreate_v3(
    CUcontext *context, void *params, int count, unsigned int flags, CUdevice device);
pool_cu_result cuCtxCreate_v4(
    CUcontext *context, void *params, unsigned int flags, CUdevice device);
pool_cu_result cuCtxGetCacheConfig(pool_cu_enum *config);
pool_cu_result cuCtxGetDevice_v2(CUdevice *device, CUcontext context);
pool_cu_result cuCtxGetSharedMemConfig(pool_cu_enum *config);
pool_cu_result cuCtxSetCacheConfig(pool_cu_enum config);
pool_cu_result cuCtxSetSharedMemConfig(pool_cu_enum config);
pool_cu_result cuCtxSynchronize_v2(CUcontext context);
pool_cu_result cuDeviceComputeCapability(int *major, int *minor, CUdevice device);
pool_cu_result cuEventElapsedTime_v2(float *milliseconds, CUevent begin, CUevent end);
pool_cu_result cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags);
pool_cu_result cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags);
pool_cu_result cuFuncSetSharedMemConfig(CUfunction function, pool_cu_enum config);
pool_cu_result cuModuleGetLoadingMode(pool_cu_enum *mode);
pool_cu_result cuModuleLoad(CUmodule *module, const char *path);
pool_cu_result cuModuleLoadFatBinary(CUmodule *module, const void *image);
pool_cu_result cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, CUfunction function, int block_size, size_t dynamic_bytes, unsigned int flags);
pool_cu_result cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid_size, int *block_size,
    CUfunction function, pool_cu_block_to_shared shared_of, size_t dynamic_bytes, int limit,
    unsigned int flags);
pool_cu_result cuStreamAddCallback(
    CUstream stream, libcuda_stream_callback function, void *user, unsigned int flags);
pool_cu_result cuStreamAddCallback_ptsz(
    CUstream stream, libcuda_stream_callback function, void *user, unsigned int flags);
pool_cu_result cuStreamCreate(CUstream *stream, unsigned int flags);
pool_cu_result cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *green);
pool_cu_result cuStreamGetCtx_v2_ptsz(CUstream stream, CUcontext *context, CUgreenCtx *green);

/* library.c */
pool_cu_result cuKernelGetAttribute(
    int *value, pool_cu_enum attribute, libcuda_kernel kernel, CUdevice device);
pool_cu_result cuKernelGetFunction(CUfunction *function, libcuda_kernel kernel);
pool_cu_result cuKernelGetLibrary(libcuda_library *library, libcuda_kernel kernel);
pool_cu_result cuKernelGetName(const char **name, libcuda_kernel kernel);
pool_cu_result cuKernelGetParamInfo(
    libcuda_kernel kernel, size_t index, size_t *offset, size_t *bytes);
pool_cu_result cuKernelSetAttribute(
    pool_cu_enum attribute, int value, libcuda_kernel kernel, CUdevice device);
pool_cu_result cuKernelSetCacheConfig(libcuda_kernel kernel, pool_cu_enum config, CUdevice device);
pool_cu_result cuLibraryGetGlobal(
    CUdeviceptr *address, size_t *bytes, libcuda_library library, const char *name);
pool_cu_result cuLibraryGetKernel(
    libcuda_kernel *kernel, libcuda_library library, const char *name);
pool_cu_result cuLibraryGetModule(CUmodule *module, libcuda_library library);
pool_cu_result cuLibraryLoadData(libcuda_library *library, const void *code, pool_cu_enum *options,
    void **values, unsigned int count, pool_cu_enum *library_options, void **library_values,
    unsigned int library_count);
pool_cu_result cuLibraryLoadFromFile(libcuda_library *library, const char *path,
    pool_cu_enum *options, void **values, unsigned int count, pool_cu_enum *library_options,
    void **library_values, unsigned int library_count);
pool_cu_result cuLibraryUnload(libcuda_library library);

/* lookup.c */
pool_cu_result cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags);
pool_cu_result cuGetProcAddress_v2(
    const char *symbol, void **function, int version, uint64_t flags, pool_cu_enum *found);
pool_cu_result cuGetExportTable(const void **table, const pool_cu_uuid *id);

#pragma GCC visibility pop

#endif
