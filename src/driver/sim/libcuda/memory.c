/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation, copies and fills beside those of the table.
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "driver/attributes.h"
#include "driver/sim/libcuda/functions.h"
#include "driver/sim/table/sim.h"

#define PITCH 512u /* what rows of cuMemAllocPitch begin at a multiple of */

pool_cu_result cuMemAllocHost_v2(void **memory, size_t bytes)
{
    return libcuda_table()->MemHostAlloc(memory, bytes, 0);
}

/* Threads of the host read and write all memory of simulated devices. */
pool_cu_result cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags)
{
    if (flags != 1 && flags != 2) /* CU_MEM_ATTACH_GLOBAL, _HOST */
        return POOL_CU_INVALID_VALUE;
    return libcuda_table()->MemAlloc(address, bytes);
}

pool_cu_result cuMemAllocPitch_v2(
    CUdeviceptr *address, size_t *pitch, size_t width_bytes, size_t height, unsigned int item_bytes)
{
    size_t rounded = (width_bytes + PITCH - 1) / PITCH * PITCH, bytes;

    if (!pitch || !width_bytes || !height || rounded < width_bytes ||
        (item_bytes != 4 && item_bytes != 8 && item_bytes != 16) ||
        __builtin_mul_overflow(rounded, height, &bytes))
        return POOL_CU_INVALID_VALUE;
    *pitch = rounded;
    return libcuda_table()->MemAlloc(address, bytes);
}

/* ---- hints about managed memory: checked, without effect ------------------------------------- */

static pool_cu_result check_range(CUdeviceptr address, size_t bytes)
{
    CUdeviceptr base = 0;
    size_t size = 0;

    if (!bytes || libcuda_table()->MemGetAddressRange(&base, &size, address))
        return POOL_CU_INVALID_VALUE;
    return address - base + bytes > size ? POOL_CU_INVALID_VALUE : POOL_CU_SUCCESS;
}

pool_cu_result cuMemAdvise(CUdeviceptr address, size_t bytes, pool_cu_enum advice, CUdevice device)
{
    (void)device;
    return advice < 1 || advice > 6 ? POOL_CU_INVALID_VALUE : check_range(address, bytes);
}

pool_cu_result cuMemAdvise_v2(
    CUdeviceptr address, size_t bytes, pool_cu_enum advice, pool_cu_mem_location location)
{
    return cuMemAdvise(address, bytes, advice, location.id);
}

pool_cu_result cuMemPrefetchAsync(
    CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream)
{
    (void)device;
    (void)stream;
    return check_range(address, bytes);
}

pool_cu_result cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes,
    pool_cu_mem_location location, unsigned int flags, CUstream stream)
{
    return flags ? POOL_CU_INVALID_VALUE : cuMemPrefetchAsync(address, bytes, location.id, stream);
}

/* ---- the memory pool of a device ------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    CUmemoryPool pools[SIM_MAX_DEVICES]; /* NULL until the first use */
} default_pools = {.lock = PTHREAD_MUTEX_INITIALIZER};

pool_cu_result cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    const pool_cu_mem_pool_props props = {.allocation_type = DRIVER_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = DRIVER_MEM_LOCATION_TYPE_DEVICE, .id = device}};
    pool_cu_result code = POOL_CU_SUCCESS;
    int ordinal;

    if (!pool)
        return POOL_CU_INVALID_VALUE;
    code = libcuda_table()->DeviceGet(&ordinal, device);
    if (code)
        return code;
    pthread_mutex_lock(&default_pools.lock);
    if (!default_pools.pools[device])
        code = libcuda_table()->MemPoolCreate(&default_pools.pools[device], &props);
    *pool = default_pools.pools[device];
    pthread_mutex_unlock(&default_pools.lock);
    return code;
}

pool_cu_result cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    return cuDeviceGetDefaultMemPool(pool, device);
}

static pool_cu_result allocate_async(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    CUmemoryPool pool = NULL;
    CUdevice device = -1;
    pool_cu_result code = libcuda_table()->CtxGetDevice(&device);

    if (!code)
        code = cuDeviceGetDefaultMemPool(&pool, device);
    return code ? code : libcuda_table()->MemAllocFromPoolAsync(address, bytes, pool, stream);
}

/* ---- copies: the address says where the memory is -------------------------------------------- */

static bool is_on_device(CUdeviceptr address)
{
    unsigned int type = 0;

    return !libcuda_table()->PointerGetAttribute(
               &type, DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE, address) &&
           type == DRIVER_MEMORYTYPE_DEVICE;
}

static void *host(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

pool_cu_result cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    const pool_cuda_api *cu = libcuda_table();
    pool_cu_result code;

    if (is_on_device(to))
        return is_on_device(from) ? cu->MemcpyDtoD(to, from, bytes)
                                  : cu->MemcpyHtoD(to, host(from), bytes);
    if (is_on_device(from))
        return cu->MemcpyDtoH(host(to), from, bytes);
    code = cu->StreamSynchronize(NULL);
    if (!code)
        memmove(host(to), host(from), bytes);
    return code;
}

static pool_cu_result copy_async(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    const pool_cuda_api *cu = libcuda_table();
    pool_cu_result code;

    if (is_on_device(to))
        return is_on_device(from) ? cu->MemcpyDtoDAsync(to, from, bytes, stream)
                                  : cu->MemcpyHtoDAsync(to, host(from), bytes, stream);
    if (is_on_device(from))
        return cu->MemcpyDtoHAsync(host(to), from, bytes, stream);
    code = cu->StreamSynchronize(stream);
    if (!code)
        memmove(host(to), host(from), bytes);
    return code;
}

pool_cu_result cuMemcpy2D_v2(const pool_cu_copy_2d *copy)
{
    pool_cu_result code = libcuda_table()->Memcpy2DAsync(copy, NULL);

    return code ? code : libcuda_table()->StreamSynchronize(NULL);
}

pool_cu_result cuMemcpy2DUnaligned_v2(const pool_cu_copy_2d *copy)
{
    return cuMemcpy2D_v2(copy);
}

/* ---- fills of rows --------------------------------------------------------------------------- */

static pool_cu_result fill_rows(CUdeviceptr to, size_t pitch, unsigned int value,
    unsigned int item_bytes, size_t width, size_t height, CUstream stream)
{
    const pool_cuda_api *cu = libcuda_table();
    pool_cu_result code = POOL_CU_SUCCESS;

    if (height > 1 && pitch / item_bytes < width)
        return POOL_CU_INVALID_VALUE;
    for (size_t row = 0; row < height && !code; row++, to += pitch) {
        if (item_bytes == 1)
            code = cu->MemsetD8Async(to, (unsigned char)value, width, stream);
        else if (item_bytes == 2)
            code = cu->MemsetD16Async(to, (unsigned short)value, width, stream);
        else
            code = cu->MemsetD32Async(to, value, width, stream);
    }
    return code;
}

/* The call that waits, the one that does not, and that one with the thread's default stream. */
#define FILL_ROWS(name, type, item_bytes)                                                          \
    pool_cu_result name##_v2(                                                                      \
        CUdeviceptr to, size_t pitch, type value, size_t width, size_t height)                     \
    {                                                                                              \
        pool_cu_result code = fill_rows(to, pitch, value, item_bytes, width, height, NULL);        \
                                                                                                   \
        return code ? code : libcuda_table()->StreamSynchronize(NULL);                             \
    }                                                                                              \
    pool_cu_result name##Async(                                                                    \
        CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, CUstream stream)    \
    {                                                                                              \
        return fill_rows(to, pitch, value, item_bytes, width, height, stream);                     \
    }                                                                                              \
    pool_cu_result name##Async_ptsz(                                                               \
        CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, CUstream stream)    \
    {                                                                                              \
        return fill_rows(                                                                          \
            to, pitch, value, item_bytes, width, height, libcuda_thread_stream(stream));           \
    }
FILL_ROWS(cuMemsetD2D8, unsigned char, 1)
FILL_ROWS(cuMemsetD2D16, unsigned short, 2)
FILL_ROWS(cuMemsetD2D32, unsigned int, 4)

/* ---- the two functions of each call on a stream ---------------------------------------------- */

pool_cu_result cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    return allocate_async(address, bytes, stream);
}

pool_cu_result cuMemAllocAsync_ptsz(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    return allocate_async(address, bytes, libcuda_thread_stream(stream));
}

pool_cu_result cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return copy_async(to, from, bytes, stream);
}

pool_cu_result cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return copy_async(to, from, bytes, libcuda_thread_stream(stream));
}

pool_cu_result cuMemPrefetchAsync_ptsz(
    CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream)
{
    return cuMemPrefetchAsync(address, bytes, device, stream);
}

pool_cu_result cuMemPrefetchAsync_v2_ptsz(CUdeviceptr address, size_t bytes,
    pool_cu_mem_location location, unsigned int flags, CUstream stream)
{
    return cuMemPrefetchAsync_v2(address, bytes, location, flags, stream);
}

/* The second names of calls that wait. */
#define MORE(exported, name, version)
#define THREAD MORE
#define WAITS(exported, name, version)                                                             \
    LIBCUDA_EXPORT extern __typeof__(exported) exported##_ptds __attribute__((alias(#exported)));
#include "driver/sim/libcuda/more.def"
#undef MORE
#undef THREAD
#undef WAITS
