/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generated functions that the hand-written ones of the same names call.
 */
#ifndef WORKER_CLIENT_CALLS_H
#define WORKER_CLIENT_CALLS_H

#include "driver/worker/client/client.h"

pool_cu_result remote_MemAlloc(CUdeviceptr *address, size_t bytes);
pool_cu_result remote_MemFree(CUdeviceptr address);
pool_cu_result remote_MemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes);
pool_cu_result remote_MemcpyDtoDAsync(
    CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
pool_cu_result remote_MemAllocFromPoolAsync(
    CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream);
pool_cu_result remote_MemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment,
    CUdeviceptr wanted, unsigned long long flags);
pool_cu_result remote_MemAddressFree(CUdeviceptr address, size_t bytes);
pool_cu_result remote_MemUnmap(CUdeviceptr address, size_t bytes);
pool_cu_result remote_IpcCloseMemHandle(CUdeviceptr address);
pool_cu_result remote_StreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);

#endif
