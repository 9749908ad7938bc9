/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of driver functions. Every CUDA call of the library goes through such a table, which
 * libcuda, the simulated driver or a mock fills. Programs need this header only to run a pool on
 * their own driver (pool_params.driver), as unit tests do.
 *
 * The types are the driver's ABI without cuda.h: handles have the types of cuda.h (both headers can
 * be included in either order), enumerations are passed as unsigned int, and the few structs have
 * other names and the same layout.
 */
#ifndef DEVICEPOOL_DRIVER_H
#define DEVICEPOOL_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef __cuda_cuda_h__
/* Handles, with the types of cuda.h. */
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
#endif
#if !defined(__cuda_cuda_h__) || CUDA_VERSION < 12040
typedef struct CUgreenCtx_st *CUgreenCtx;
typedef struct CUdevResourceDesc_st *CUdevResourceDesc;
#endif

/* CUresult, enumerations and callbacks, with the ABI's types. */
typedef unsigned int pool_cu_result;
typedef unsigned int pool_cu_enum; /* any of the driver's enumerations as an argument */
typedef void (*pool_cu_host_function)(void *user);
typedef size_t (*pool_cu_block_to_shared)(int block_size);

/* CUuuid. */
typedef struct pool_cu_uuid {
    char bytes[16];
} pool_cu_uuid;

/* CUmemLocation. */
typedef struct pool_cu_mem_location {
    pool_cu_enum type; /* 1: device */
    int id;
} pool_cu_mem_location;

/* CUmemPoolProps. */
typedef struct pool_cu_mem_pool_props {
    pool_cu_enum allocation_type; /* 1: pinned */
    pool_cu_enum handle_types;
    pool_cu_mem_location location;
    void *win32_security_attributes;
    size_t max_size;
    unsigned short usage;
    unsigned char reserved[54];
} pool_cu_mem_pool_props;

/* CUmemAccessDesc. */
typedef struct pool_cu_mem_access {
    pool_cu_mem_location location;
    pool_cu_enum flags; /* 0: none, 1: read, 3: read and write */
} pool_cu_mem_access;

/* CUmemAllocationProp. */
typedef struct pool_cu_mem_allocation_prop {
    pool_cu_enum type;         /* 1: pinned */
    pool_cu_enum handle_types; /* 1: POSIX file descriptor */
    pool_cu_mem_location location;
    void *win32_metadata;
    unsigned char compression;
    unsigned char gpu_direct_rdma;
    unsigned short usage;
    unsigned char reserved[4];
} pool_cu_mem_allocation_prop;

/* CUipcMemHandle and CUipcEventHandle. */
typedef struct pool_cu_ipc_handle {
    char bytes[64];
} pool_cu_ipc_handle;

/* One side of CUDA_MEMCPY2D: host memory if memory_type is 1, device memory if it is 2. */
typedef struct pool_cu_copy_side {
    size_t x_bytes;
    size_t y;
    pool_cu_enum memory_type;
    void *host; /* of the source: only read */
    CUdeviceptr device;
    void *array; /* not used */
    size_t pitch;
} pool_cu_copy_side;

/* CUDA_MEMCPY2D: `height` rows of `width_bytes` bytes, which begin `pitch` bytes apart. */
typedef struct pool_cu_copy_2d {
    pool_cu_copy_side from;
    pool_cu_copy_side to;
    size_t width_bytes;
    size_t height;
} pool_cu_copy_2d;

/* CUlaunchAttribute. */
typedef struct pool_cu_launch_attribute {
    pool_cu_enum id; /* 2: cooperative, 4: cluster dimension, 6: programmatic stream
                      * serialization, 8: priority */
    char padding[4];
    union {
        char bytes[64];
        void *pointer;
        int number;              /* ids 2 and 6: 0 or 1; 8: the priority */
        unsigned int cluster[3]; /* id 4: blocks in x, y, z */
    } value;
} pool_cu_launch_attribute;

/* CUlaunchConfig. */
typedef struct pool_cu_launch_config {
    unsigned int grid[3];
    unsigned int block[3];
    unsigned int dynamic_shared_bytes;
    CUstream stream;
    pool_cu_launch_attribute *attributes;
    unsigned int attribute_count;
} pool_cu_launch_config;

/* CUgraphExecUpdateResultInfo. */
typedef struct pool_cu_graph_update {
    pool_cu_enum result; /* 0: updated; else why not */
    void *error_node;
    void *error_from_node;
} pool_cu_graph_update;

/* CUdevResource: some multiprocessors of a device, or what a context has of them. */
typedef struct pool_cu_dev_resource {
    pool_cu_enum type;          /* 1: multiprocessors; 0: none */
    unsigned char internal[92]; /* the driver's */
    unsigned int sm_count;      /* multiprocessors */
    unsigned int min_partition; /* the fewest that a part may have; 0: an old driver */
    unsigned int sm_alignment;  /* a part has a multiple of this many; 0: an old driver */
    unsigned char oversize[36];
} pool_cu_dev_resource;

/*
 * Result codes of CUDA 13.0: X(name, code, class). The class is the largest thing that the code
 * harms; pool_status_class returns it for a failure with that cause.
 */
#define POOL_CU_RESULTS(X)                                                                         \
    X(SUCCESS, 0, NONE)                                                                            \
    X(INVALID_VALUE, 1, CALL)                                                                      \
    X(OUT_OF_MEMORY, 2, CALL)                                                                      \
    X(NOT_INITIALIZED, 3, CALL)                                                                    \
    X(DEINITIALIZED, 4, SHUTDOWN)                                                                  \
    X(PROFILER_DISABLED, 5, CALL)                                                                  \
    X(PROFILER_NOT_INITIALIZED, 6, CALL)                                                           \
    X(PROFILER_ALREADY_STARTED, 7, CALL)                                                           \
    X(PROFILER_ALREADY_STOPPED, 8, CALL)                                                           \
    X(STUB_LIBRARY, 34, HOST)                                                                      \
    X(CALL_REQUIRES_NEWER_DRIVER, 36, HOST)                                                        \
    X(DEVICE_UNAVAILABLE, 46, DEVICE)                                                              \
    X(NO_DEVICE, 100, DEVICE)                                                                      \
    X(INVALID_DEVICE, 101, DEVICE)                                                                 \
    X(DEVICE_NOT_LICENSED, 102, DEVICE)                                                            \
    X(INVALID_IMAGE, 200, CALL)                                                                    \
    X(INVALID_CONTEXT, 201, CALL)                                                                  \
    X(CONTEXT_ALREADY_CURRENT, 202, CALL)                                                          \
    X(MAP_FAILED, 205, CALL)                                                                       \
    X(UNMAP_FAILED, 206, CALL)                                                                     \
    X(ARRAY_IS_MAPPED, 207, CALL)                                                                  \
    X(ALREADY_MAPPED, 208, CALL)                                                                   \
    X(NO_BINARY_FOR_GPU, 209, CALL)                                                                \
    X(ALREADY_ACQUIRED, 210, CALL)                                                                 \
    X(NOT_MAPPED, 211, CALL)                                                                       \
    X(NOT_MAPPED_AS_ARRAY, 212, CALL)                                                              \
    X(NOT_MAPPED_AS_POINTER, 213, CALL)                                                            \
    X(ECC_UNCORRECTABLE, 214, PROCESS)                                                             \
    X(UNSUPPORTED_LIMIT, 215, CALL)                                                                \
    X(CONTEXT_ALREADY_IN_USE, 216, CALL)                                                           \
    X(PEER_ACCESS_UNSUPPORTED, 217, CALL)                                                          \
    X(INVALID_PTX, 218, CALL)                                                                      \
    X(INVALID_GRAPHICS_CONTEXT, 219, CALL)                                                         \
    X(NVLINK_UNCORRECTABLE, 220, PROCESS)                                                          \
    X(JIT_COMPILER_NOT_FOUND, 221, CALL)                                                           \
    X(UNSUPPORTED_PTX_VERSION, 222, CALL)                                                          \
    X(JIT_COMPILATION_DISABLED, 223, CALL)                                                         \
    X(UNSUPPORTED_EXEC_AFFINITY, 224, CALL)                                                        \
    X(UNSUPPORTED_DEVSIDE_SYNC, 225, CALL)                                                         \
    X(CONTAINED, 226, PROCESS)                                                                     \
    X(INVALID_SOURCE, 300, CALL)                                                                   \
    X(FILE_NOT_FOUND, 301, CALL)                                                                   \
    X(SHARED_OBJECT_SYMBOL_NOT_FOUND, 302, CALL)                                                   \
    X(SHARED_OBJECT_INIT_FAILED, 303, CALL)                                                        \
    X(OPERATING_SYSTEM, 304, CALL)                                                                 \
    X(INVALID_HANDLE, 400, CALL)                                                                   \
    X(ILLEGAL_STATE, 401, CALL)                                                                    \
    X(LOSSY_QUERY, 402, CALL)                                                                      \
    X(NOT_FOUND, 500, CALL)                                                                        \
    X(NOT_READY, 600, CALL)                                                                        \
    X(ILLEGAL_ADDRESS, 700, PROCESS)                                                               \
    X(LAUNCH_OUT_OF_RESOURCES, 701, CALL)                                                          \
    X(LAUNCH_TIMEOUT, 702, PROCESS)                                                                \
    X(LAUNCH_INCOMPATIBLE_TEXTURING, 703, CALL)                                                    \
    X(PEER_ACCESS_ALREADY_ENABLED, 704, CALL)                                                      \
    X(PEER_ACCESS_NOT_ENABLED, 705, CALL)                                                          \
    X(PRIMARY_CONTEXT_ACTIVE, 708, CALL)                                                           \
    X(CONTEXT_IS_DESTROYED, 709, CALL)                                                             \
    X(ASSERT, 710, PROCESS)                                                                        \
    X(TOO_MANY_PEERS, 711, CALL)                                                                   \
    X(HOST_MEMORY_ALREADY_REGISTERED, 712, CALL)                                                   \
    X(HOST_MEMORY_NOT_REGISTERED, 713, CALL)                                                       \
    X(HARDWARE_STACK_ERROR, 714, PROCESS)                                                          \
    X(ILLEGAL_INSTRUCTION, 715, PROCESS)                                                           \
    X(MISALIGNED_ADDRESS, 716, PROCESS)                                                            \
    X(INVALID_ADDRESS_SPACE, 717, PROCESS)                                                         \
    X(INVALID_PC, 718, PROCESS)                                                                    \
    X(LAUNCH_FAILED, 719, PROCESS)                                                                 \
    X(COOPERATIVE_LAUNCH_TOO_LARGE, 720, CALL)                                                     \
    X(TENSOR_MEMORY_LEAK, 721, PROCESS)                                                            \
    X(NOT_PERMITTED, 800, CALL)                                                                    \
    X(NOT_SUPPORTED, 801, CALL)                                                                    \
    X(SYSTEM_NOT_READY, 802, DEVICE)                                                               \
    X(SYSTEM_DRIVER_MISMATCH, 803, DEVICE)                                                         \
    X(COMPAT_NOT_SUPPORTED_ON_DEVICE, 804, DEVICE)                                                 \
    X(MPS_CONNECTION_FAILED, 805, DEVICE)                                                          \
    X(MPS_RPC_FAILURE, 806, DEVICE)                                                                \
    X(MPS_SERVER_NOT_READY, 807, DEVICE)                                                           \
    X(MPS_MAX_CLIENTS_REACHED, 808, DEVICE)                                                        \
    X(MPS_MAX_CONNECTIONS_REACHED, 809, CALL)                                                      \
    X(MPS_CLIENT_TERMINATED, 810, PROCESS)                                                         \
    X(CDP_NOT_SUPPORTED, 811, CALL)                                                                \
    X(CDP_VERSION_MISMATCH, 812, CALL)                                                             \
    X(STREAM_CAPTURE_UNSUPPORTED, 900, CALL)                                                       \
    X(STREAM_CAPTURE_INVALIDATED, 901, CALL)                                                       \
    X(STREAM_CAPTURE_MERGE, 902, CALL)                                                             \
    X(STREAM_CAPTURE_UNMATCHED, 903, CALL)                                                         \
    X(STREAM_CAPTURE_UNJOINED, 904, CALL)                                                          \
    X(STREAM_CAPTURE_ISOLATION, 905, CALL)                                                         \
    X(STREAM_CAPTURE_IMPLICIT, 906, CALL)                                                          \
    X(CAPTURED_EVENT, 907, CALL)                                                                   \
    X(STREAM_CAPTURE_WRONG_THREAD, 908, CALL)                                                      \
    X(TIMEOUT, 909, CALL)                                                                          \
    X(GRAPH_EXEC_UPDATE_FAILURE, 910, CALL)                                                        \
    X(EXTERNAL_DEVICE, 911, PROCESS)                                                               \
    X(INVALID_CLUSTER_SIZE, 912, CALL)                                                             \
    X(FUNCTION_NOT_LOADED, 913, CALL)                                                              \
    X(INVALID_RESOURCE_TYPE, 914, CALL)                                                            \
    X(INVALID_RESOURCE_CONFIGURATION, 915, CALL)                                                   \
    X(KEY_ROTATION, 916, CALL)                                                                     \
    X(UNKNOWN, 999, CALL)

/* The CUresults of the list above by name. */
typedef enum pool_cu_code {
#define POOL_CU_CODE(name, code, harms) POOL_CU_##name = code,
    POOL_CU_RESULTS(POOL_CU_CODE)
#undef POOL_CU_CODE
        POOL_CU_CODE_MAX = 0x7fffffff
} pool_cu_code;

/*
 * Device attributes: X(name, number); the name in cuda.h is CU_DEVICE_ATTRIBUTE_ followed by
 * `name`. For cuDeviceGetAttribute and pool_mock_set_attribute.
 */
#define POOL_CU_ATTRIBUTES(X)                                                                      \
    X(MAX_THREADS_PER_BLOCK, 1)                                                                    \
    X(MAX_BLOCK_DIM_X, 2)                                                                          \
    X(MAX_BLOCK_DIM_Y, 3)                                                                          \
    X(MAX_BLOCK_DIM_Z, 4)                                                                          \
    X(MAX_GRID_DIM_X, 5)                                                                           \
    X(MAX_GRID_DIM_Y, 6)                                                                           \
    X(MAX_GRID_DIM_Z, 7)                                                                           \
    X(MAX_SHARED_MEMORY_PER_BLOCK, 8)                                                              \
    X(TOTAL_CONSTANT_MEMORY, 9)                                                                    \
    X(WARP_SIZE, 10)                                                                               \
    X(MAX_PITCH, 11)                                                                               \
    X(MAX_REGISTERS_PER_BLOCK, 12)                                                                 \
    X(CLOCK_RATE, 13)                                                                              \
    X(TEXTURE_ALIGNMENT, 14)                                                                       \
    X(GPU_OVERLAP, 15)                                                                             \
    X(MULTIPROCESSOR_COUNT, 16)                                                                    \
    X(KERNEL_EXEC_TIMEOUT, 17)                                                                     \
    X(INTEGRATED, 18)                                                                              \
    X(CAN_MAP_HOST_MEMORY, 19)                                                                     \
    X(COMPUTE_MODE, 20)                                                                            \
    X(SURFACE_ALIGNMENT, 30)                                                                       \
    X(CONCURRENT_KERNELS, 31)                                                                      \
    X(ECC_ENABLED, 32)                                                                             \
    X(PCI_BUS_ID, 33)                                                                              \
    X(PCI_DEVICE_ID, 34)                                                                           \
    X(MEMORY_CLOCK_RATE, 36)                                                                       \
    X(GLOBAL_MEMORY_BUS_WIDTH, 37)                                                                 \
    X(L2_CACHE_SIZE, 38)                                                                           \
    X(MAX_THREADS_PER_MULTIPROCESSOR, 39)                                                          \
    X(ASYNC_ENGINE_COUNT, 40)                                                                      \
    X(UNIFIED_ADDRESSING, 41)                                                                      \
    X(PCI_DOMAIN_ID, 50)                                                                           \
    X(TEXTURE_PITCH_ALIGNMENT, 51)                                                                 \
    X(COMPUTE_CAPABILITY_MAJOR, 75)                                                                \
    X(COMPUTE_CAPABILITY_MINOR, 76)                                                                \
    X(STREAM_PRIORITIES_SUPPORTED, 78)                                                             \
    X(GLOBAL_L1_CACHE_SUPPORTED, 79)                                                               \
    X(LOCAL_L1_CACHE_SUPPORTED, 80)                                                                \
    X(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)                                                    \
    X(MAX_REGISTERS_PER_MULTIPROCESSOR, 82)                                                        \
    X(MANAGED_MEMORY, 83)                                                                          \
    X(MULTI_GPU_BOARD, 84)                                                                         \
    X(MULTI_GPU_BOARD_GROUP_ID, 85)                                                                \
    X(HOST_NATIVE_ATOMIC_SUPPORTED, 86)                                                            \
    X(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 87)                                                   \
    X(PAGEABLE_MEMORY_ACCESS, 88)                                                                  \
    X(CONCURRENT_MANAGED_ACCESS, 89)                                                               \
    X(COMPUTE_PREEMPTION_SUPPORTED, 90)                                                            \
    X(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 91)                                                 \
    X(COOPERATIVE_LAUNCH, 95)                                                                      \
    X(COOPERATIVE_MULTI_DEVICE_LAUNCH, 96)                                                         \
    X(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                                                       \
    X(CAN_FLUSH_REMOTE_WRITES, 98)                                                                 \
    X(HOST_REGISTER_SUPPORTED, 99)                                                                 \
    X(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 100)                                           \
    X(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, 101)                                                    \
    X(VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, 102)                                                   \
    X(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 103)                                            \
    X(MAX_BLOCKS_PER_MULTIPROCESSOR, 106)                                                          \
    X(GENERIC_COMPRESSION_SUPPORTED, 107)                                                          \
    X(MAX_PERSISTING_L2_CACHE_SIZE, 108)                                                           \
    X(MAX_ACCESS_POLICY_WINDOW_SIZE, 109)                                                          \
    X(GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 110)                                                \
    X(RESERVED_SHARED_MEMORY_PER_BLOCK, 111)                                                       \
    X(READ_ONLY_HOST_REGISTER_SUPPORTED, 113)                                                      \
    X(MEMORY_POOLS_SUPPORTED, 115)                                                                 \
    X(GPU_DIRECT_RDMA_SUPPORTED, 116)                                                              \
    X(GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, 117)                                                   \
    X(GPU_DIRECT_RDMA_WRITES_ORDERING, 118)                                                        \
    X(MEMPOOL_SUPPORTED_HANDLE_TYPES, 119)                                                         \
    X(CLUSTER_LAUNCH, 120)                                                                         \
    X(CAN_USE_64_BIT_STREAM_MEM_OPS, 122)                                                          \
    X(CAN_USE_STREAM_WAIT_VALUE_NOR, 123)                                                          \
    X(DMA_BUF_SUPPORTED, 124)                                                                      \
    X(IPC_EVENT_SUPPORTED, 125)                                                                    \
    X(MEM_SYNC_DOMAIN_COUNT, 126)                                                                  \
    X(HANDLE_TYPE_FABRIC_SUPPORTED, 128)                                                           \
    X(UNIFIED_FUNCTION_POINTERS, 129)                                                              \
    X(NUMA_CONFIG, 130)                                                                            \
    X(NUMA_ID, 131)                                                                                \
    X(MULTICAST_SUPPORTED, 132)                                                                    \
    X(MPS_ENABLED, 133)                                                                            \
    X(HOST_NUMA_ID, 134)                                                                           \
    X(GPU_PCI_DEVICE_ID, 139)                                                                      \
    X(GPU_PCI_SUBSYSTEM_ID, 140)                                                                   \
    X(HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 141)                                          \
    X(HOST_NUMA_MEMORY_POOLS_SUPPORTED, 142)                                                       \
    X(HOST_NUMA_MULTINODE_IPC_SUPPORTED, 143)                                                      \
    X(HOST_MEMORY_POOLS_SUPPORTED, 144)                                                            \
    X(HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 145)                                               \
    X(HOST_ALLOC_DMA_BUF_SUPPORTED, 146)                                                           \
    X(ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED, 147)

/* The device attributes of the list above by name. */
typedef enum pool_cu_attribute {
#define POOL_CU_ATTRIBUTE(name, number) POOL_CU_ATTRIBUTE_##name = number,
    POOL_CU_ATTRIBUTES(POOL_CU_ATTRIBUTE)
#undef POOL_CU_ATTRIBUTE
        POOL_CU_ATTRIBUTE_LIMIT = 0x7fffffff
} pool_cu_attribute;

/*
 * Functions: X(field, symbol, suffix, version, need, parameters). `symbol` and `version` are passed
 * to cuGetProcAddress; in drivers without it, `symbol` with `suffix` is the exported name. A driver
 * without a NEEDED function is too old; without an EXTRA one only the features that use it are
 * disabled. The order is part of the ABI: new entries are appended.
 */
#define POOL_CUDA_FUNCTIONS(X)                                                                     \
    X(Init, "cuInit", "", 2000, NEEDED, (unsigned int flags))                                      \
    X(DriverGetVersion, "cuDriverGetVersion", "", 2020, NEEDED, (int *version))                    \
    X(GetErrorName, "cuGetErrorName", "", 6000, NEEDED, (pool_cu_result error, const char **name)) \
    X(GetErrorString, "cuGetErrorString", "", 6000, NEEDED,                                        \
        (pool_cu_result error, const char **text))                                                 \
    X(DeviceGet, "cuDeviceGet", "", 2000, NEEDED, (CUdevice * device, int ordinal))                \
    X(DeviceGetCount, "cuDeviceGetCount", "", 2000, NEEDED, (int *count))                          \
    X(DeviceGetName, "cuDeviceGetName", "", 2000, NEEDED, (char *name, int size, CUdevice device)) \
    X(DeviceGetUuid, "cuDeviceGetUuid", "", 9020, NEEDED, (pool_cu_uuid * uuid, CUdevice device))  \
    X(DeviceGetUuidV2, "cuDeviceGetUuid", "_v2", 11040, EXTRA,                                     \
        (pool_cu_uuid * uuid, CUdevice device))                                                    \
    X(DeviceTotalMem, "cuDeviceTotalMem", "_v2", 3020, NEEDED, (size_t * bytes, CUdevice device))  \
    X(DeviceGetAttribute, "cuDeviceGetAttribute", "", 2000, NEEDED,                                \
        (int *value, pool_cu_enum attribute, CUdevice device))                                     \
    X(DeviceGetPCIBusId, "cuDeviceGetPCIBusId", "", 4010, NEEDED,                                  \
        (char *text, int size, CUdevice device))                                                   \
    X(DeviceGetByPCIBusId, "cuDeviceGetByPCIBusId", "", 4010, NEEDED,                              \
        (CUdevice * device, const char *text))                                                     \
    X(DeviceCanAccessPeer, "cuDeviceCanAccessPeer", "", 4000, NEEDED,                              \
        (int *can_access, CUdevice device, CUdevice peer))                                         \
    X(DeviceGetP2PAttribute, "cuDeviceGetP2PAttribute", "", 8000, NEEDED,                          \
        (int *value, pool_cu_enum attribute, CUdevice source, CUdevice destination))               \
    X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", "", 7000, NEEDED,                        \
        (CUcontext * context, CUdevice device))                                                    \
    X(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease", "_v2", 11000, NEEDED,                  \
        (CUdevice device))                                                                         \
    X(DevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState", "", 7000, NEEDED,                    \
        (CUdevice device, unsigned int *flags, int *active))                                       \
    X(CtxCreate, "cuCtxCreate", "_v2", 3020, NEEDED,                                               \
        (CUcontext * context, unsigned int flags, CUdevice device))                                \
    X(CtxDestroy, "cuCtxDestroy", "_v2", 4000, NEEDED, (CUcontext context))                        \
    X(CtxPushCurrent, "cuCtxPushCurrent", "_v2", 4000, NEEDED, (CUcontext context))                \
    X(CtxPopCurrent, "cuCtxPopCurrent", "_v2", 4000, NEEDED, (CUcontext * context))                \
    X(CtxSetCurrent, "cuCtxSetCurrent", "", 4000, NEEDED, (CUcontext context))                     \
    X(CtxGetCurrent, "cuCtxGetCurrent", "", 4000, NEEDED, (CUcontext * context))                   \
    X(CtxGetDevice, "cuCtxGetDevice", "", 2000, NEEDED, (CUdevice * device))                       \
    X(CtxSynchronize, "cuCtxSynchronize", "", 2000, NEEDED, (void))                                \
    X(CtxGetFlags, "cuCtxGetFlags", "", 7000, NEEDED, (unsigned int *flags))                       \
    X(CtxGetApiVersion, "cuCtxGetApiVersion", "", 3020, NEEDED,                                    \
        (CUcontext context, unsigned int *version))                                                \
    X(CtxGetLimit, "cuCtxGetLimit", "", 3010, NEEDED, (size_t * value, pool_cu_enum limit))        \
    X(CtxSetLimit, "cuCtxSetLimit", "", 3010, NEEDED, (pool_cu_enum limit, size_t value))          \
    X(CtxGetStreamPriorityRange, "cuCtxGetStreamPriorityRange", "", 5050, NEEDED,                  \
        (int *least, int *greatest))                                                               \
    X(CtxEnablePeerAccess, "cuCtxEnablePeerAccess", "", 4000, NEEDED,                              \
        (CUcontext peer, unsigned int flags))                                                      \
    X(CtxDisablePeerAccess, "cuCtxDisablePeerAccess", "", 4000, NEEDED, (CUcontext peer))          \
    X(MemGetInfo, "cuMemGetInfo", "_v2", 3020, NEEDED,                                             \
        (size_t * free_bytes, size_t * total_bytes))                                               \
    X(MemAlloc, "cuMemAlloc", "_v2", 3020, NEEDED, (CUdeviceptr * address, size_t bytes))          \
    X(MemFree, "cuMemFree", "_v2", 3020, NEEDED, (CUdeviceptr address))                            \
    X(MemGetAddressRange, "cuMemGetAddressRange", "_v2", 3020, NEEDED,                             \
        (CUdeviceptr * base, size_t * bytes, CUdeviceptr address))                                 \
    X(MemHostAlloc, "cuMemHostAlloc", "", 2020, NEEDED,                                            \
        (void **memory, size_t bytes, unsigned int flags))                                         \
    X(MemFreeHost, "cuMemFreeHost", "", 2000, NEEDED, (void *memory))                              \
    X(MemHostRegister, "cuMemHostRegister", "_v2", 6050, NEEDED,                                   \
        (void *memory, size_t bytes, unsigned int flags))                                          \
    X(MemHostUnregister, "cuMemHostUnregister", "", 4000, NEEDED, (void *memory))                  \
    X(MemHostGetDevicePointer, "cuMemHostGetDevicePointer", "_v2", 3020, NEEDED,                   \
        (CUdeviceptr * address, void *memory, unsigned int flags))                                 \
    X(MemcpyHtoD, "cuMemcpyHtoD", "_v2", 3020, NEEDED,                                             \
        (CUdeviceptr to, const void *from, size_t bytes))                                          \
    X(MemcpyDtoH, "cuMemcpyDtoH", "_v2", 3020, NEEDED, (void *to, CUdeviceptr from, size_t bytes)) \
    X(MemcpyDtoD, "cuMemcpyDtoD", "_v2", 3020, NEEDED,                                             \
        (CUdeviceptr to, CUdeviceptr from, size_t bytes))                                          \
    X(MemcpyPeer, "cuMemcpyPeer", "", 4000, NEEDED,                                                \
        (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,           \
            size_t bytes))                                                                         \
    X(MemcpyHtoDAsync, "cuMemcpyHtoDAsync", "_v2", 3020, NEEDED,                                   \
        (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                         \
    X(MemcpyDtoHAsync, "cuMemcpyDtoHAsync", "_v2", 3020, NEEDED,                                   \
        (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                               \
    X(MemcpyDtoDAsync, "cuMemcpyDtoDAsync", "_v2", 3020, NEEDED,                                   \
        (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                         \
    X(MemcpyPeerAsync, "cuMemcpyPeerAsync", "", 4000, NEEDED,                                      \
        (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,           \
            size_t bytes, CUstream stream))                                                        \
    X(MemsetD8, "cuMemsetD8", "_v2", 3020, NEEDED,                                                 \
        (CUdeviceptr to, unsigned char value, size_t count))                                       \
    X(MemsetD16, "cuMemsetD16", "_v2", 3020, NEEDED,                                               \
        (CUdeviceptr to, unsigned short value, size_t count))                                      \
    X(MemsetD32, "cuMemsetD32", "_v2", 3020, NEEDED,                                               \
        (CUdeviceptr to, unsigned int value, size_t count))                                        \
    X(MemsetD8Async, "cuMemsetD8Async", "", 3020, NEEDED,                                          \
        (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))                      \
    X(MemsetD16Async, "cuMemsetD16Async", "", 3020, NEEDED,                                        \
        (CUdeviceptr to, unsigned short value, size_t count, CUstream stream))                     \
    X(MemsetD32Async, "cuMemsetD32Async", "", 3020, NEEDED,                                        \
        (CUdeviceptr to, unsigned int value, size_t count, CUstream stream))                       \
    X(PointerGetAttribute, "cuPointerGetAttribute", "", 4000, NEEDED,                              \
        (void *value, pool_cu_enum attribute, CUdeviceptr address))                                \
    X(MemPoolCreate, "cuMemPoolCreate", "", 11020, EXTRA,                                          \
        (CUmemoryPool * pool, const pool_cu_mem_pool_props *props))                                \
    X(MemPoolDestroy, "cuMemPoolDestroy", "", 11020, EXTRA, (CUmemoryPool pool))                   \
    X(MemPoolTrimTo, "cuMemPoolTrimTo", "", 11020, EXTRA, (CUmemoryPool pool, size_t keep_bytes))  \
    X(MemPoolSetAttribute, "cuMemPoolSetAttribute", "", 11020, EXTRA,                              \
        (CUmemoryPool pool, pool_cu_enum attribute, void *value))                                  \
    X(MemPoolGetAttribute, "cuMemPoolGetAttribute", "", 11020, EXTRA,                              \
        (CUmemoryPool pool, pool_cu_enum attribute, void *value))                                  \
    X(MemPoolSetAccess, "cuMemPoolSetAccess", "", 11020, EXTRA,                                    \
        (CUmemoryPool pool, const pool_cu_mem_access *access, size_t count))                       \
    X(MemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", "", 11020, EXTRA,                          \
        (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream))                 \
    X(MemFreeAsync, "cuMemFreeAsync", "", 11020, EXTRA, (CUdeviceptr address, CUstream stream))    \
    X(ModuleLoadData, "cuModuleLoadData", "", 2000, NEEDED,                                        \
        (CUmodule * module, const void *image))                                                    \
    X(ModuleLoadDataEx, "cuModuleLoadDataEx", "", 2010, NEEDED,                                    \
        (CUmodule * module, const void *image, unsigned int count, pool_cu_enum *options,          \
            void **values))                                                                        \
    X(ModuleUnload, "cuModuleUnload", "", 2000, NEEDED, (CUmodule module))                         \
    X(ModuleGetFunction, "cuModuleGetFunction", "", 2000, NEEDED,                                  \
        (CUfunction * function, CUmodule module, const char *name))                                \
    X(ModuleGetGlobal, "cuModuleGetGlobal", "_v2", 3020, NEEDED,                                   \
        (CUdeviceptr * address, size_t * bytes, CUmodule module, const char *name))                \
    X(FuncGetAttribute, "cuFuncGetAttribute", "", 2020, NEEDED,                                    \
        (int *value, pool_cu_enum attribute, CUfunction function))                                 \
    X(FuncSetAttribute, "cuFuncSetAttribute", "", 9000, NEEDED,                                    \
        (CUfunction function, pool_cu_enum attribute, int value))                                  \
    X(FuncSetCacheConfig, "cuFuncSetCacheConfig", "", 3000, NEEDED,                                \
        (CUfunction function, pool_cu_enum config))                                                \
    X(FuncGetParamInfo, "cuFuncGetParamInfo", "", 12040, EXTRA,                                    \
        (CUfunction function, size_t index, size_t * offset, size_t * bytes))                      \
    X(OccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor",    \
        "", 6050, NEEDED,                                                                          \
        (int *blocks, CUfunction function, int block_size, size_t dynamic_shared_bytes))           \
    X(OccupancyMaxPotentialBlockSize, "cuOccupancyMaxPotentialBlockSize", "", 6050, NEEDED,        \
        (int *min_grid_size, int *block_size, CUfunction function,                                 \
            pool_cu_block_to_shared shared_of, size_t dynamic_shared_bytes, int block_size_limit)) \
    X(LaunchKernel, "cuLaunchKernel", "", 4000, NEEDED,                                            \
        (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,       \
            unsigned int block_x, unsigned int block_y, unsigned int block_z,                      \
            unsigned int dynamic_shared_bytes, CUstream stream, void **arguments, void **extra))   \
    X(LaunchCooperativeKernel, "cuLaunchCooperativeKernel", "", 9000, NEEDED,                      \
        (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,       \
            unsigned int block_x, unsigned int block_y, unsigned int block_z,                      \
            unsigned int dynamic_shared_bytes, CUstream stream, void **arguments))                 \
    X(LaunchHostFunc, "cuLaunchHostFunc", "", 10000, NEEDED,                                       \
        (CUstream stream, pool_cu_host_function function, void *user))                             \
    X(StreamCreateWithPriority, "cuStreamCreateWithPriority", "", 5050, NEEDED,                    \
        (CUstream * stream, unsigned int flags, int priority))                                     \
    X(StreamDestroy, "cuStreamDestroy", "_v2", 4000, NEEDED, (CUstream stream))                    \
    X(StreamSynchronize, "cuStreamSynchronize", "", 2000, NEEDED, (CUstream stream))               \
    X(StreamQuery, "cuStreamQuery", "", 2000, NEEDED, (CUstream stream))                           \
    X(StreamWaitEvent, "cuStreamWaitEvent", "", 3020, NEEDED,                                      \
        (CUstream stream, CUevent event, unsigned int flags))                                      \
    X(StreamGetPriority, "cuStreamGetPriority", "", 5050, NEEDED,                                  \
        (CUstream stream, int *priority))                                                          \
    X(StreamGetFlags, "cuStreamGetFlags", "", 5050, NEEDED,                                        \
        (CUstream stream, unsigned int *flags))                                                    \
    X(StreamGetCtx, "cuStreamGetCtx", "", 9020, NEEDED, (CUstream stream, CUcontext * context))    \
    X(EventCreate, "cuEventCreate", "", 2000, NEEDED, (CUevent * event, unsigned int flags))       \
    X(EventDestroy, "cuEventDestroy", "_v2", 4000, NEEDED, (CUevent event))                        \
    X(EventRecord, "cuEventRecord", "", 2000, NEEDED, (CUevent event, CUstream stream))            \
    X(EventQuery, "cuEventQuery", "", 2000, NEEDED, (CUevent event))                               \
    X(EventSynchronize, "cuEventSynchronize", "", 2000, NEEDED, (CUevent event))                   \
    X(EventElapsedTime, "cuEventElapsedTime", "", 2000, NEEDED,                                    \
        (float *milliseconds, CUevent start, CUevent end))                                         \
    X(PointerGetAttributes, "cuPointerGetAttributes", "", 7000, NEEDED,                            \
        (unsigned int count, pool_cu_enum *attributes, void **values, CUdeviceptr address))        \
    X(LaunchKernelEx, "cuLaunchKernelEx", "", 11060, EXTRA,                                        \
        (const pool_cu_launch_config *config, CUfunction function, void **arguments,               \
            void **extra))                                                                         \
    X(DevicePrimaryCtxSetFlags, "cuDevicePrimaryCtxSetFlags", "_v2", 11000, EXTRA,                 \
        (CUdevice device, unsigned int flags))                                                     \
    X(ProfilerStart, "cuProfilerStart", "", 4000, EXTRA, (void))                                   \
    X(ProfilerStop, "cuProfilerStop", "", 4000, EXTRA, (void))                                     \
    X(Memcpy2DAsync, "cuMemcpy2DAsync", "_v2", 3020, EXTRA,                                        \
        (const pool_cu_copy_2d *copy, CUstream stream))                                            \
    X(OccupancyMaxPotentialClusterSize, "cuOccupancyMaxPotentialClusterSize", "", 11070, EXTRA,    \
        (int *blocks, CUfunction function, const pool_cu_launch_config *config))                   \
    X(OccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters", "", 11070, EXTRA,                \
        (int *clusters, CUfunction function, const pool_cu_launch_config *config))                 \
    X(MemGetAllocationGranularity, "cuMemGetAllocationGranularity", "", 10020, EXTRA,              \
        (size_t * bytes, const pool_cu_mem_allocation_prop *prop, pool_cu_enum option))            \
    X(MemAddressReserve, "cuMemAddressReserve", "", 10020, EXTRA,                                  \
        (CUdeviceptr * address, size_t bytes, size_t alignment, CUdeviceptr wanted,                \
            unsigned long long flags))                                                             \
    X(MemAddressFree, "cuMemAddressFree", "", 10020, EXTRA, (CUdeviceptr address, size_t bytes))   \
    X(MemCreate, "cuMemCreate", "", 10020, EXTRA,                                                  \
        (CUmemGenericAllocationHandle * allocation, size_t bytes,                                  \
            const pool_cu_mem_allocation_prop *prop, unsigned long long flags))                    \
    X(MemRelease, "cuMemRelease", "", 10020, EXTRA, (CUmemGenericAllocationHandle allocation))     \
    X(MemMap, "cuMemMap", "", 10020, EXTRA,                                                        \
        (CUdeviceptr address, size_t bytes, size_t offset,                                         \
            CUmemGenericAllocationHandle allocation, unsigned long long flags))                    \
    X(MemUnmap, "cuMemUnmap", "", 10020, EXTRA, (CUdeviceptr address, size_t bytes))               \
    X(MemSetAccess, "cuMemSetAccess", "", 10020, EXTRA,                                            \
        (CUdeviceptr address, size_t bytes, const pool_cu_mem_access *access, size_t count))       \
    X(MemExportToShareableHandle, "cuMemExportToShareableHandle", "", 10020, EXTRA,                \
        (void *shareable, CUmemGenericAllocationHandle allocation, pool_cu_enum type,              \
            unsigned long long flags))                                                             \
    X(MemImportFromShareableHandle, "cuMemImportFromShareableHandle", "", 10020, EXTRA,            \
        (CUmemGenericAllocationHandle * allocation, void *shareable, pool_cu_enum type))           \
    X(StreamBeginCapture, "cuStreamBeginCapture", "_v2", 10010, EXTRA,                             \
        (CUstream stream, pool_cu_enum mode))                                                      \
    X(StreamEndCapture, "cuStreamEndCapture", "", 10000, EXTRA,                                    \
        (CUstream stream, CUgraph * graph))                                                        \
    X(GraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", "", 11040, EXTRA,                  \
        (CUgraphExec * exec, CUgraph graph, unsigned long long flags))                             \
    X(GraphExecUpdate, "cuGraphExecUpdate", "_v2", 12000, EXTRA,                                   \
        (CUgraphExec exec, CUgraph graph, pool_cu_graph_update * result))                          \
    X(GraphLaunch, "cuGraphLaunch", "", 10000, EXTRA, (CUgraphExec exec, CUstream stream))         \
    X(GraphExecDestroy, "cuGraphExecDestroy", "", 10000, EXTRA, (CUgraphExec exec))                \
    X(GraphDestroy, "cuGraphDestroy", "", 10000, EXTRA, (CUgraph graph))                           \
    X(IpcGetMemHandle, "cuIpcGetMemHandle", "", 4010, EXTRA,                                       \
        (pool_cu_ipc_handle * handle, CUdeviceptr address))                                        \
    X(IpcOpenMemHandle, "cuIpcOpenMemHandle", "_v2", 11000, EXTRA,                                 \
        (CUdeviceptr * address, pool_cu_ipc_handle handle, unsigned int flags))                    \
    X(IpcCloseMemHandle, "cuIpcCloseMemHandle", "", 4010, EXTRA, (CUdeviceptr address))            \
    X(IpcGetEventHandle, "cuIpcGetEventHandle", "", 4010, EXTRA,                                   \
        (pool_cu_ipc_handle * handle, CUevent event))                                              \
    X(IpcOpenEventHandle, "cuIpcOpenEventHandle", "", 4010, EXTRA,                                 \
        (CUevent * event, pool_cu_ipc_handle handle))                                              \
    X(CtxGetId, "cuCtxGetId", "", 12000, EXTRA, (CUcontext context, unsigned long long *id))       \
    X(DeviceGetDevResource, "cuDeviceGetDevResource", "", 12040, EXTRA,                            \
        (CUdevice device, pool_cu_dev_resource * resource, pool_cu_enum type))                     \
    X(DevSmResourceSplitByCount, "cuDevSmResourceSplitByCount", "", 12040, EXTRA,                  \
        (pool_cu_dev_resource * groups, unsigned int *count, const pool_cu_dev_resource *input,    \
            pool_cu_dev_resource *remaining, unsigned int flags, unsigned int min_count))          \
    X(DevResourceGenerateDesc, "cuDevResourceGenerateDesc", "", 12040, EXTRA,                      \
        (CUdevResourceDesc * desc, pool_cu_dev_resource * resources, unsigned int count))          \
    X(GreenCtxCreate, "cuGreenCtxCreate", "", 12040, EXTRA,                                        \
        (CUgreenCtx * green, CUdevResourceDesc desc, CUdevice device, unsigned int flags))         \
    X(GreenCtxDestroy, "cuGreenCtxDestroy", "", 12040, EXTRA, (CUgreenCtx green))                  \
    X(CtxFromGreenCtx, "cuCtxFromGreenCtx", "", 12040, EXTRA,                                      \
        (CUcontext * context, CUgreenCtx green))                                                   \
    X(GreenCtxStreamCreate, "cuGreenCtxStreamCreate", "", 12050, EXTRA,                            \
        (CUstream * stream, CUgreenCtx green, unsigned int flags, int priority))                   \
    X(GreenCtxGetDevResource, "cuGreenCtxGetDevResource", "", 12040, EXTRA,                        \
        (CUgreenCtx green, pool_cu_dev_resource * resource, pool_cu_enum type))                    \
    X(CtxGetDevResource, "cuCtxGetDevResource", "", 12040, EXTRA,                                  \
        (CUcontext context, pool_cu_dev_resource * resource, pool_cu_enum type))                   \
    X(StreamGetGreenCtx, "cuStreamGetGreenCtx", "", 12040, EXTRA,                                  \
        (CUstream stream, CUgreenCtx * green))                                                     \
    X(GreenCtxRecordEvent, "cuGreenCtxRecordEvent", "", 12040, EXTRA,                              \
        (CUgreenCtx green, CUevent event))                                                         \
    X(GreenCtxWaitEvent, "cuGreenCtxWaitEvent", "", 12040, EXTRA, (CUgreenCtx green, CUevent event))

/* Flags of a table, combined by |. */
typedef enum pool_cuda_flag {
    /* The driver accepts PTX only: modules are compiled to PTX, never to machine code. */
    POOL_CUDA_PTX_ONLY = 1,
    /* Each device is in a process of its own: a sticky fault harms that device only. */
    POOL_CUDA_ISOLATED_DEVICES = 2
} pool_cuda_flag;

/*
 * The table. `struct_size` is sizeof(pool_cuda_api) in the code that filled it; entries beyond it
 * and NULL entries are missing functions. The table and the functions must outlive every pool that
 * is created with it. They are called by any thread.
 */
typedef struct pool_cuda_api {
    size_t struct_size;
    uint64_t flags; /* POOL_CUDA_PTX_ONLY, POOL_CUDA_ISOLATED_DEVICES */
#define POOL_CUDA_FIELD(field, symbol, suffix, version, need, parameters)                          \
    pool_cu_result(*field) parameters;
    POOL_CUDA_FUNCTIONS(POOL_CUDA_FIELD)
#undef POOL_CUDA_FIELD
} pool_cuda_api;

#ifdef __cplusplus
}
#endif

#endif
