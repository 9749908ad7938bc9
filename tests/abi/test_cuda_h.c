/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's declarations of the driver's functions and structs against cuda.h and
 * cudaTypedefs.h, symbol by symbol. The compiler checks nearly all of it; at run time this list is
 * compared with the library's.
 */
/* Leaves the names of functions as they are exported and declares their older versions too. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include <devicepool/driver.h>

#include "driver/attributes.h"

/* Structs of the ABI: same size, same members at the same offsets. */
#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #ours)
#define SAME_MEMBER(ours, member, theirs, their_member)                                            \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, their_member) &&                     \
                       sizeof(((ours *)0)->member) == sizeof(((theirs *)0)->their_member),         \
        #ours "." #member)

SAME_SIZE(pool_cu_result, CUresult);
SAME_SIZE(pool_cu_enum, CUdevice_attribute);
SAME_SIZE(pool_cu_uuid, CUuuid);
SAME_MEMBER(pool_cu_uuid, bytes, CUuuid, bytes);
SAME_SIZE(pool_cu_ipc_handle, CUipcMemHandle);
SAME_SIZE(pool_cu_ipc_handle, CUipcEventHandle);
SAME_MEMBER(pool_cu_ipc_handle, bytes, CUipcMemHandle, reserved);
SAME_SIZE(pool_cu_mem_location, CUmemLocation);
SAME_MEMBER(pool_cu_mem_location, type, CUmemLocation, type);
SAME_MEMBER(pool_cu_mem_location, id, CUmemLocation, id);
SAME_SIZE(pool_cu_mem_pool_props, CUmemPoolProps);
SAME_MEMBER(pool_cu_mem_pool_props, allocation_type, CUmemPoolProps, allocType);
SAME_MEMBER(pool_cu_mem_pool_props, handle_types, CUmemPoolProps, handleTypes);
SAME_MEMBER(pool_cu_mem_pool_props, location, CUmemPoolProps, location);
SAME_MEMBER(
    pool_cu_mem_pool_props, win32_security_attributes, CUmemPoolProps, win32SecurityAttributes);
SAME_MEMBER(pool_cu_mem_pool_props, max_size, CUmemPoolProps, maxSize);
SAME_MEMBER(pool_cu_mem_pool_props, usage, CUmemPoolProps, usage);
SAME_MEMBER(pool_cu_mem_pool_props, reserved, CUmemPoolProps, reserved);
SAME_SIZE(pool_cu_mem_access, CUmemAccessDesc);
SAME_MEMBER(pool_cu_mem_access, location, CUmemAccessDesc, location);
SAME_MEMBER(pool_cu_mem_access, flags, CUmemAccessDesc, flags);
SAME_SIZE(pool_cu_mem_allocation_prop, CUmemAllocationProp);
SAME_MEMBER(pool_cu_mem_allocation_prop, type, CUmemAllocationProp, type);
SAME_MEMBER(pool_cu_mem_allocation_prop, handle_types, CUmemAllocationProp, requestedHandleTypes);
SAME_MEMBER(pool_cu_mem_allocation_prop, location, CUmemAllocationProp, location);
SAME_MEMBER(pool_cu_mem_allocation_prop, win32_metadata, CUmemAllocationProp, win32HandleMetaData);
SAME_MEMBER(
    pool_cu_mem_allocation_prop, compression, CUmemAllocationProp, allocFlags.compressionType);
SAME_MEMBER(pool_cu_mem_allocation_prop, gpu_direct_rdma, CUmemAllocationProp,
    allocFlags.gpuDirectRDMACapable);
SAME_MEMBER(pool_cu_mem_allocation_prop, usage, CUmemAllocationProp, allocFlags.usage);
SAME_MEMBER(pool_cu_mem_allocation_prop, reserved, CUmemAllocationProp, allocFlags.reserved);
SAME_SIZE(pool_cu_launch_attribute, CUlaunchAttribute);
SAME_MEMBER(pool_cu_launch_attribute, id, CUlaunchAttribute, id);
SAME_MEMBER(pool_cu_launch_attribute, value, CUlaunchAttribute, value);
SAME_SIZE(pool_cu_launch_config, CUlaunchConfig);
SAME_MEMBER(pool_cu_launch_config, dynamic_shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME_MEMBER(pool_cu_launch_config, stream, CUlaunchConfig, hStream);
SAME_MEMBER(pool_cu_launch_config, attributes, CUlaunchConfig, attrs);
SAME_MEMBER(pool_cu_launch_config, attribute_count, CUlaunchConfig, numAttrs);

SAME_SIZE(pool_cu_copy_2d, CUDA_MEMCPY2D);
SAME_MEMBER(pool_cu_copy_2d, from.x_bytes, CUDA_MEMCPY2D, srcXInBytes);
SAME_MEMBER(pool_cu_copy_2d, from.y, CUDA_MEMCPY2D, srcY);
SAME_MEMBER(pool_cu_copy_2d, from.memory_type, CUDA_MEMCPY2D, srcMemoryType);
SAME_MEMBER(pool_cu_copy_2d, from.host, CUDA_MEMCPY2D, srcHost);
SAME_MEMBER(pool_cu_copy_2d, from.device, CUDA_MEMCPY2D, srcDevice);
SAME_MEMBER(pool_cu_copy_2d, from.array, CUDA_MEMCPY2D, srcArray);
SAME_MEMBER(pool_cu_copy_2d, from.pitch, CUDA_MEMCPY2D, srcPitch);
SAME_MEMBER(pool_cu_copy_2d, to.x_bytes, CUDA_MEMCPY2D, dstXInBytes);
SAME_MEMBER(pool_cu_copy_2d, to.memory_type, CUDA_MEMCPY2D, dstMemoryType);
SAME_MEMBER(pool_cu_copy_2d, to.host, CUDA_MEMCPY2D, dstHost);
SAME_MEMBER(pool_cu_copy_2d, to.device, CUDA_MEMCPY2D, dstDevice);
SAME_MEMBER(pool_cu_copy_2d, to.pitch, CUDA_MEMCPY2D, dstPitch);
SAME_MEMBER(pool_cu_copy_2d, width_bytes, CUDA_MEMCPY2D, WidthInBytes);
SAME_MEMBER(pool_cu_copy_2d, height, CUDA_MEMCPY2D, Height);
SAME_SIZE(pool_cu_graph_update, CUgraphExecUpdateResultInfo);
SAME_MEMBER(pool_cu_graph_update, result, CUgraphExecUpdateResultInfo, result);
SAME_MEMBER(pool_cu_graph_update, error_node, CUgraphExecUpdateResultInfo, errorNode);
SAME_MEMBER(pool_cu_graph_update, error_from_node, CUgraphExecUpdateResultInfo, errorFromNode);

SAME_SIZE(pool_cu_dev_resource, CUdevResource);
SAME_MEMBER(pool_cu_dev_resource, type, CUdevResource, type);
SAME_MEMBER(pool_cu_dev_resource, internal, CUdevResource, _internal_padding);
SAME_MEMBER(pool_cu_dev_resource, sm_count, CUdevResource, sm.smCount);
SAME_MEMBER(pool_cu_dev_resource, min_partition, CUdevResource, sm.minSmPartitionSize);
SAME_MEMBER(pool_cu_dev_resource, sm_alignment, CUdevResource, sm.smCoscheduledAlignment);

/* Callbacks. */
_Static_assert(__builtin_types_compatible_p(pool_cu_host_function, CUhostFn), "host function");
_Static_assert(__builtin_types_compatible_p(pool_cu_block_to_shared, CUoccupancyB2DSize), "B2D");

/* Result codes by name. tests/abi/cuda_codes.py looks for codes that we lack. */
#define CUDA_ERROR_SUCCESS CUDA_SUCCESS
#define SAME_CODE(name, code, harms) _Static_assert((int)CUDA_ERROR_##name == (code), #name);
POOL_CU_RESULTS(SAME_CODE)

/* Attributes, options, flags and values by name. */
#define SAME_CONSTANT(name, value)                                                                 \
    _Static_assert((int)CU_##name == (int)DRIVER_##name && (int)CU_##name == (value), #name);
DRIVER_CONSTANTS(SAME_CONSTANT)
#define SAME_ATTRIBUTE(name, number)                                                               \
    _Static_assert((int)CU_DEVICE_ATTRIBUTE_##name == (number), #name);
POOL_CU_ATTRIBUTES(SAME_ATTRIBUTE)

/*
 * Function types as POOL_CUDA_FUNCTIONS writes them, with our struct names standing for cuda.h's
 * own. (The structs themselves are compared above.)
 */
#define pool_cu_uuid CUuuid
#define pool_cu_mem_pool_props CUmemPoolProps
#define pool_cu_mem_access CUmemAccessDesc
#define pool_cu_mem_allocation_prop CUmemAllocationProp
#define pool_cu_launch_config CUlaunchConfig
#define pool_cu_copy_2d CUDA_MEMCPY2D
#define pool_cu_graph_update CUgraphExecUpdateResultInfo
#define pool_cu_ipc_handle CUipcMemHandle
#define pool_cu_dev_resource CUdevResource
#define OUR_TYPE(field, symbol, suffix, version, need, parameters)                                 \
    typedef pool_cu_result(*our_##field) parameters;
POOL_CUDA_FUNCTIONS(OUR_TYPE)
#undef pool_cu_uuid
#undef pool_cu_mem_pool_props
#undef pool_cu_ipc_handle
#undef pool_cu_dev_resource
#undef pool_cu_mem_access
#undef pool_cu_mem_allocation_prop
#undef pool_cu_launch_config
#undef pool_cu_copy_2d
#undef pool_cu_graph_update

/* X(field, exported symbol, the type that cuGetProcAddress gives at our version). */
#define EXPORTS(X)                                                                                 \
    X(Init, cuInit, PFN_cuInit_v2000)                                                              \
    X(DriverGetVersion, cuDriverGetVersion, PFN_cuDriverGetVersion_v2020)                          \
    X(GetErrorName, cuGetErrorName, PFN_cuGetErrorName_v6000)                                      \
    X(GetErrorString, cuGetErrorString, PFN_cuGetErrorString_v6000)                                \
    X(DeviceGet, cuDeviceGet, PFN_cuDeviceGet_v2000)                                               \
    X(DeviceGetCount, cuDeviceGetCount, PFN_cuDeviceGetCount_v2000)                                \
    X(DeviceGetName, cuDeviceGetName, PFN_cuDeviceGetName_v2000)                                   \
    X(DeviceGetUuid, cuDeviceGetUuid, PFN_cuDeviceGetUuid_v9020)                                   \
    X(DeviceGetUuidV2, cuDeviceGetUuid_v2, PFN_cuDeviceGetUuid_v11040)                             \
    X(DeviceTotalMem, cuDeviceTotalMem_v2, PFN_cuDeviceTotalMem_v3020)                             \
    X(DeviceGetAttribute, cuDeviceGetAttribute, PFN_cuDeviceGetAttribute_v2000)                    \
    X(DeviceGetPCIBusId, cuDeviceGetPCIBusId, PFN_cuDeviceGetPCIBusId_v4010)                       \
    X(DeviceGetByPCIBusId, cuDeviceGetByPCIBusId, PFN_cuDeviceGetByPCIBusId_v4010)                 \
    X(DeviceCanAccessPeer, cuDeviceCanAccessPeer, PFN_cuDeviceCanAccessPeer_v4000)                 \
    X(DeviceGetP2PAttribute, cuDeviceGetP2PAttribute, PFN_cuDeviceGetP2PAttribute_v8000)           \
    X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, PFN_cuDevicePrimaryCtxRetain_v7000)        \
    X(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, PFN_cuDevicePrimaryCtxRelease_v11000) \
    X(DevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, PFN_cuDevicePrimaryCtxGetState_v7000)  \
    X(CtxCreate, cuCtxCreate_v2, PFN_cuCtxCreate_v3020)                                            \
    X(CtxDestroy, cuCtxDestroy_v2, PFN_cuCtxDestroy_v4000)                                         \
    X(CtxPushCurrent, cuCtxPushCurrent_v2, PFN_cuCtxPushCurrent_v4000)                             \
    X(CtxPopCurrent, cuCtxPopCurrent_v2, PFN_cuCtxPopCurrent_v4000)                                \
    X(CtxSetCurrent, cuCtxSetCurrent, PFN_cuCtxSetCurrent_v4000)                                   \
    X(CtxGetCurrent, cuCtxGetCurrent, PFN_cuCtxGetCurrent_v4000)                                   \
    X(CtxGetDevice, cuCtxGetDevice, PFN_cuCtxGetDevice_v2000)                                      \
    X(CtxSynchronize, cuCtxSynchronize, PFN_cuCtxSynchronize_v2000)                                \
    X(CtxGetFlags, cuCtxGetFlags, PFN_cuCtxGetFlags_v7000)                                         \
    X(CtxGetApiVersion, cuCtxGetApiVersion, PFN_cuCtxGetApiVersion_v3020)                          \
    X(CtxGetLimit, cuCtxGetLimit, PFN_cuCtxGetLimit_v3010)                                         \
    X(CtxSetLimit, cuCtxSetLimit, PFN_cuCtxSetLimit_v3010)                                         \
    X(CtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange,                                      \
        PFN_cuCtxGetStreamPriorityRange_v5050)                                                     \
    X(CtxEnablePeerAccess, cuCtxEnablePeerAccess, PFN_cuCtxEnablePeerAccess_v4000)                 \
    X(CtxDisablePeerAccess, cuCtxDisablePeerAccess, PFN_cuCtxDisablePeerAccess_v4000)              \
    X(MemGetInfo, cuMemGetInfo_v2, PFN_cuMemGetInfo_v3020)                                         \
    X(MemAlloc, cuMemAlloc_v2, PFN_cuMemAlloc_v3020)                                               \
    X(MemFree, cuMemFree_v2, PFN_cuMemFree_v3020)                                                  \
    X(MemGetAddressRange, cuMemGetAddressRange_v2, PFN_cuMemGetAddressRange_v3020)                 \
    X(MemHostAlloc, cuMemHostAlloc, PFN_cuMemHostAlloc_v2020)                                      \
    X(MemFreeHost, cuMemFreeHost, PFN_cuMemFreeHost_v2000)                                         \
    X(MemHostRegister, cuMemHostRegister_v2, PFN_cuMemHostRegister_v6050)                          \
    X(MemHostUnregister, cuMemHostUnregister, PFN_cuMemHostUnregister_v4000)                       \
    X(MemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, PFN_cuMemHostGetDevicePointer_v3020)  \
    X(MemcpyHtoD, cuMemcpyHtoD_v2, PFN_cuMemcpyHtoD_v3020)                                         \
    X(MemcpyDtoH, cuMemcpyDtoH_v2, PFN_cuMemcpyDtoH_v3020)                                         \
    X(MemcpyDtoD, cuMemcpyDtoD_v2, PFN_cuMemcpyDtoD_v3020)                                         \
    X(MemcpyPeer, cuMemcpyPeer, PFN_cuMemcpyPeer_v4000)                                            \
    X(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, PFN_cuMemcpyHtoDAsync_v3020)                          \
    X(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, PFN_cuMemcpyDtoHAsync_v3020)                          \
    X(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, PFN_cuMemcpyDtoDAsync_v3020)                          \
    X(MemcpyPeerAsync, cuMemcpyPeerAsync, PFN_cuMemcpyPeerAsync_v4000)                             \
    X(MemsetD8, cuMemsetD8_v2, PFN_cuMemsetD8_v3020)                                               \
    X(MemsetD16, cuMemsetD16_v2, PFN_cuMemsetD16_v3020)                                            \
    X(MemsetD32, cuMemsetD32_v2, PFN_cuMemsetD32_v3020)                                            \
    X(MemsetD8Async, cuMemsetD8Async, PFN_cuMemsetD8Async_v3020)                                   \
    X(MemsetD16Async, cuMemsetD16Async, PFN_cuMemsetD16Async_v3020)                                \
    X(MemsetD32Async, cuMemsetD32Async, PFN_cuMemsetD32Async_v3020)                                \
    X(PointerGetAttribute, cuPointerGetAttribute, PFN_cuPointerGetAttribute_v4000)                 \
    X(MemPoolCreate, cuMemPoolCreate, PFN_cuMemPoolCreate_v11020)                                  \
    X(MemPoolDestroy, cuMemPoolDestroy, PFN_cuMemPoolDestroy_v11020)                               \
    X(MemPoolTrimTo, cuMemPoolTrimTo, PFN_cuMemPoolTrimTo_v11020)                                  \
    X(MemPoolSetAttribute, cuMemPoolSetAttribute, PFN_cuMemPoolSetAttribute_v11020)                \
    X(MemPoolGetAttribute, cuMemPoolGetAttribute, PFN_cuMemPoolGetAttribute_v11020)                \
    X(MemPoolSetAccess, cuMemPoolSetAccess, PFN_cuMemPoolSetAccess_v11020)                         \
    X(MemAllocFromPoolAsync, cuMemAllocFromPoolAsync, PFN_cuMemAllocFromPoolAsync_v11020)          \
    X(MemFreeAsync, cuMemFreeAsync, PFN_cuMemFreeAsync_v11020)                                     \
    X(ModuleLoadData, cuModuleLoadData, PFN_cuModuleLoadData_v2000)                                \
    X(ModuleLoadDataEx, cuModuleLoadDataEx, PFN_cuModuleLoadDataEx_v2010)                          \
    X(ModuleUnload, cuModuleUnload, PFN_cuModuleUnload_v2000)                                      \
    X(ModuleGetFunction, cuModuleGetFunction, PFN_cuModuleGetFunction_v2000)                       \
    X(ModuleGetGlobal, cuModuleGetGlobal_v2, PFN_cuModuleGetGlobal_v3020)                          \
    X(FuncGetAttribute, cuFuncGetAttribute, PFN_cuFuncGetAttribute_v2020)                          \
    X(FuncSetAttribute, cuFuncSetAttribute, PFN_cuFuncSetAttribute_v9000)                          \
    X(FuncSetCacheConfig, cuFuncSetCacheConfig, PFN_cuFuncSetCacheConfig_v3000)                    \
    X(FuncGetParamInfo, cuFuncGetParamInfo, PFN_cuFuncGetParamInfo_v12040)                         \
    X(OccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor,      \
        PFN_cuOccupancyMaxActiveBlocksPerMultiprocessor_v6050)                                     \
    X(OccupancyMaxPotentialBlockSize, cuOccupancyMaxPotentialBlockSize,                            \
        PFN_cuOccupancyMaxPotentialBlockSize_v6050)                                                \
    X(LaunchKernel, cuLaunchKernel, PFN_cuLaunchKernel_v4000)                                      \
    X(LaunchCooperativeKernel, cuLaunchCooperativeKernel, PFN_cuLaunchCooperativeKernel_v9000)     \
    X(LaunchHostFunc, cuLaunchHostFunc, PFN_cuLaunchHostFunc_v10000)                               \
    X(StreamCreateWithPriority, cuStreamCreateWithPriority, PFN_cuStreamCreateWithPriority_v5050)  \
    X(StreamDestroy, cuStreamDestroy_v2, PFN_cuStreamDestroy_v4000)                                \
    X(StreamSynchronize, cuStreamSynchronize, PFN_cuStreamSynchronize_v2000)                       \
    X(StreamQuery, cuStreamQuery, PFN_cuStreamQuery_v2000)                                         \
    X(StreamWaitEvent, cuStreamWaitEvent, PFN_cuStreamWaitEvent_v3020)                             \
    X(StreamGetPriority, cuStreamGetPriority, PFN_cuStreamGetPriority_v5050)                       \
    X(StreamGetFlags, cuStreamGetFlags, PFN_cuStreamGetFlags_v5050)                                \
    X(StreamGetCtx, cuStreamGetCtx, PFN_cuStreamGetCtx_v9020)                                      \
    X(EventCreate, cuEventCreate, PFN_cuEventCreate_v2000)                                         \
    X(EventDestroy, cuEventDestroy_v2, PFN_cuEventDestroy_v4000)                                   \
    X(EventRecord, cuEventRecord, PFN_cuEventRecord_v2000)                                         \
    X(EventQuery, cuEventQuery, PFN_cuEventQuery_v2000)                                            \
    X(EventSynchronize, cuEventSynchronize, PFN_cuEventSynchronize_v2000)                          \
    X(EventElapsedTime, cuEventElapsedTime, PFN_cuEventElapsedTime_v2000)                          \
    X(PointerGetAttributes, cuPointerGetAttributes, PFN_cuPointerGetAttributes_v7000)              \
    X(LaunchKernelEx, cuLaunchKernelEx, PFN_cuLaunchKernelEx_v11060)                               \
    X(DevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2,                                     \
        PFN_cuDevicePrimaryCtxSetFlags_v11000)                                                     \
    X(ProfilerStart, cuProfilerStart, PFN_cuProfilerStart_v4000)                                   \
    X(ProfilerStop, cuProfilerStop, PFN_cuProfilerStop_v4000)                                      \
    X(Memcpy2DAsync, cuMemcpy2DAsync_v2, PFN_cuMemcpy2DAsync_v3020)                                \
    X(OccupancyMaxPotentialClusterSize, cuOccupancyMaxPotentialClusterSize,                        \
        PFN_cuOccupancyMaxPotentialClusterSize_v11070)                                             \
    X(OccupancyMaxActiveClusters, cuOccupancyMaxActiveClusters,                                    \
        PFN_cuOccupancyMaxActiveClusters_v11070)                                                   \
    X(MemGetAllocationGranularity, cuMemGetAllocationGranularity,                                  \
        PFN_cuMemGetAllocationGranularity_v10020)                                                  \
    X(MemAddressReserve, cuMemAddressReserve, PFN_cuMemAddressReserve_v10020)                      \
    X(MemAddressFree, cuMemAddressFree, PFN_cuMemAddressFree_v10020)                               \
    X(MemCreate, cuMemCreate, PFN_cuMemCreate_v10020)                                              \
    X(MemRelease, cuMemRelease, PFN_cuMemRelease_v10020)                                           \
    X(MemMap, cuMemMap, PFN_cuMemMap_v10020)                                                       \
    X(MemUnmap, cuMemUnmap, PFN_cuMemUnmap_v10020)                                                 \
    X(MemSetAccess, cuMemSetAccess, PFN_cuMemSetAccess_v10020)                                     \
    X(MemExportToShareableHandle, cuMemExportToShareableHandle,                                    \
        PFN_cuMemExportToShareableHandle_v10020)                                                   \
    X(MemImportFromShareableHandle, cuMemImportFromShareableHandle,                                \
        PFN_cuMemImportFromShareableHandle_v10020)                                                 \
    X(StreamBeginCapture, cuStreamBeginCapture_v2, PFN_cuStreamBeginCapture_v10010)                \
    X(StreamEndCapture, cuStreamEndCapture, PFN_cuStreamEndCapture_v10000)                         \
    X(GraphInstantiateWithFlags, cuGraphInstantiateWithFlags,                                      \
        PFN_cuGraphInstantiateWithFlags_v11040)                                                    \
    X(GraphExecUpdate, cuGraphExecUpdate_v2, PFN_cuGraphExecUpdate_v12000)                         \
    X(GraphLaunch, cuGraphLaunch, PFN_cuGraphLaunch_v10000)                                        \
    X(GraphExecDestroy, cuGraphExecDestroy, PFN_cuGraphExecDestroy_v10000)                         \
    X(GraphDestroy, cuGraphDestroy, PFN_cuGraphDestroy_v10000)                                     \
    X(IpcGetMemHandle, cuIpcGetMemHandle, PFN_cuIpcGetMemHandle_v4010)                             \
    X(IpcOpenMemHandle, cuIpcOpenMemHandle_v2, PFN_cuIpcOpenMemHandle_v11000)                      \
    X(IpcCloseMemHandle, cuIpcCloseMemHandle, PFN_cuIpcCloseMemHandle_v4010)                       \
    X(IpcGetEventHandle, cuIpcGetEventHandle, PFN_cuIpcGetEventHandle_v4010)                       \
    X(IpcOpenEventHandle, cuIpcOpenEventHandle, PFN_cuIpcOpenEventHandle_v4010)                    \
    X(CtxGetId, cuCtxGetId, PFN_cuCtxGetId_v12000)                                                 \
    X(DeviceGetDevResource, cuDeviceGetDevResource, PFN_cuDeviceGetDevResource_v12040)             \
    X(DevSmResourceSplitByCount, cuDevSmResourceSplitByCount,                                      \
        PFN_cuDevSmResourceSplitByCount_v12040)                                                    \
    X(DevResourceGenerateDesc, cuDevResourceGenerateDesc, PFN_cuDevResourceGenerateDesc_v12040)    \
    X(GreenCtxCreate, cuGreenCtxCreate, PFN_cuGreenCtxCreate_v12040)                               \
    X(GreenCtxDestroy, cuGreenCtxDestroy, PFN_cuGreenCtxDestroy_v12040)                            \
    X(CtxFromGreenCtx, cuCtxFromGreenCtx, PFN_cuCtxFromGreenCtx_v12040)                            \
    X(GreenCtxStreamCreate, cuGreenCtxStreamCreate, PFN_cuGreenCtxStreamCreate_v12050)             \
    X(GreenCtxGetDevResource, cuGreenCtxGetDevResource, PFN_cuGreenCtxGetDevResource_v12040)       \
    X(CtxGetDevResource, cuCtxGetDevResource, PFN_cuCtxGetDevResource_v12040)                      \
    X(StreamGetGreenCtx, cuStreamGetGreenCtx, PFN_cuStreamGetGreenCtx_v12040)                      \
    X(GreenCtxRecordEvent, cuGreenCtxRecordEvent, PFN_cuGreenCtxRecordEvent_v12040)                \
    X(GreenCtxWaitEvent, cuGreenCtxWaitEvent, PFN_cuGreenCtxWaitEvent_v12040)

/* cuda.h has two types of the same layout, where the library has pool_cu_ipc_handle. */
typedef pool_cu_result (*ipc_get_event_handle)(CUipcEventHandle *handle, CUevent event);
typedef pool_cu_result (*ipc_open_event_handle)(CUevent *event, CUipcEventHandle handle);
#define our_IpcGetEventHandle ipc_get_event_handle
#define our_IpcOpenEventHandle ipc_open_event_handle

#define SAME_PROTOTYPE(field, exported, typed)                                                     \
    _Static_assert(__builtin_types_compatible_p(our_##field, __typeof__(&exported)), #exported);   \
    _Static_assert(__builtin_types_compatible_p(our_##field, typed), #typed);
EXPORTS(SAME_PROTOTYPE)

static const struct expected {
    const char *field;
    const char *exported;
    const char *typed;
} expected[] = {
#define EXPECTED(field, exported, typed) {#field, #exported, #typed},
    EXPORTS(EXPECTED)};

static const struct declared {
    const char *field;
    const char *symbol;
    const char *suffix;
    int version;
} declared[] = {
#define DECLARED(field, symbol, suffix, version, need, parameters)                                 \
    {#field, symbol, suffix, version},
    POOL_CUDA_FUNCTIONS(DECLARED)};

/* The strings that the loader looks up are those whose types were compared above. */
static void test_lookup_strings(void **state)
{
    char text[160];

    (void)state;
    assert_int_equal(
        sizeof(expected) / sizeof(expected[0]), sizeof(declared) / sizeof(declared[0]));
    for (size_t i = 0; i < sizeof(declared) / sizeof(declared[0]); i++) {
        assert_string_equal(declared[i].field, expected[i].field);
        snprintf(text, sizeof(text), "%s%s", declared[i].symbol, declared[i].suffix);
        assert_string_equal(text, expected[i].exported);
        snprintf(text, sizeof(text), "PFN_%s_v%d", declared[i].symbol, declared[i].version);
        assert_string_equal(text, expected[i].typed);
    }
}

/* The table has no member besides the list and no padding: its layout is the list's order. */
static void test_table_layout(void **state)
{
    size_t offset = offsetof(pool_cuda_api, Init);

    (void)state;
#define IN_ORDER(field, symbol, suffix, version, need, parameters)                                 \
    assert_int_equal(offsetof(pool_cuda_api, field), offset);                                      \
    offset += sizeof(void *);
    POOL_CUDA_FUNCTIONS(IN_ORDER)
    assert_int_equal(sizeof(pool_cuda_api), offset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookup_strings),
        cmocka_unit_test(test_table_layout),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
