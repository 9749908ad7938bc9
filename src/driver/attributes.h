/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of the driver's ABI by name, for every room that asks for an attribute, passes a flag or
 * fills a struct: DRIVER_ and then cuda.h's name without its CU_ (CU_STREAM_NON_BLOCKING is
 * DRIVER_STREAM_NON_BLOCKING). tests/abi compares each with cuda.h. X(name, value).
 */
#ifndef DRIVER_ATTRIBUTES_H
#define DRIVER_ATTRIBUTES_H

/* cuDeviceGetAttribute. */
#define DRIVER_DEVICE_ATTRIBUTES(X)                                                                \
    X(DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                                                   \
    X(DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2)                                                         \
    X(DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 3)                                                         \
    X(DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 4)                                                         \
    X(DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5)                                                          \
    X(DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 6)                                                          \
    X(DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 7)                                                          \
    X(DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)                                             \
    X(DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 9)                                                   \
    X(DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                                              \
    X(DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 12)                                                \
    X(DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                                             \
    X(DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                   \
    X(DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 17)                                                    \
    X(DEVICE_ATTRIBUTE_INTEGRATED, 18)                                                             \
    X(DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 19)                                                    \
    X(DEVICE_ATTRIBUTE_COMPUTE_MODE, 20)                                                           \
    X(DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 31)                                                     \
    X(DEVICE_ATTRIBUTE_ECC_ENABLED, 32)                                                            \
    X(DEVICE_ATTRIBUTE_PCI_BUS_ID, 33)                                                             \
    X(DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 34)                                                          \
    X(DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                                                      \
    X(DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37)                                                \
    X(DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                                          \
    X(DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39)                                         \
    X(DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 40)                                                     \
    X(DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41)                                                     \
    X(DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 50)                                                          \
    X(DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                               \
    X(DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                               \
    X(DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 78)                                            \
    X(DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 79)                                              \
    X(DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 80)                                               \
    X(DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)                                   \
    X(DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 82)                                       \
    X(DEVICE_ATTRIBUTE_MANAGED_MEMORY, 83)                                                         \
    X(DEVICE_ATTRIBUTE_MULTI_GPU_BOARD, 84)                                                        \
    X(DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID, 85)                                               \
    X(DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 86)                                           \
    X(DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 88)                                                 \
    X(DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 89)                                              \
    X(DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 90)                                           \
    X(DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 91)                                \
    X(DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 95)                                                     \
    X(DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH, 96)                                        \
    X(DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                                      \
    X(DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, 98)                                                \
    X(DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 99)                                                \
    X(DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 100)                          \
    X(DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, 101)                                   \
    X(DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, 102)                                  \
    X(DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 103)                           \
    X(DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 106)                                         \
    X(DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, 107)                                         \
    X(DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, 108)                                          \
    X(DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 109)                                         \
    X(DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 110)                               \
    X(DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 111)                                      \
    X(DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, 113)                                     \
    X(DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115)                                                \
    X(DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, 116)                                             \
    X(DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, 117)                                  \
    X(DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING, 118)                                       \
    X(DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, 119)                                        \
    X(DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 120)                                                        \
    X(DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 122)                                         \
    X(DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 123)                                         \
    X(DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 124)                                                     \
    X(DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 125)                                                   \
    X(DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, 126)                                                 \
    X(DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 128)                                          \
    X(DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, 129)                                             \
    X(DEVICE_ATTRIBUTE_NUMA_CONFIG, 130)                                                           \
    X(DEVICE_ATTRIBUTE_NUMA_ID, 131)                                                               \
    X(DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 132)                                                   \
    X(DEVICE_ATTRIBUTE_MPS_ENABLED, 133)                                                           \
    X(DEVICE_ATTRIBUTE_HOST_NUMA_ID, 134)                                                          \
    X(DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID, 139)                                                     \
    X(DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID, 140)                                                  \
    X(DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 141)                         \
    X(DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED, 142)                                      \
    X(DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED, 143)                                     \
    X(DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED, 144)                                           \
    X(DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 145)                              \
    X(DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED, 146)                                          \
    X(DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED, 147)

/* cuDeviceGetP2PAttribute. */
#define DRIVER_P2P_ATTRIBUTES(X)                                                                   \
    X(DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 1)                                                    \
    X(DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 2)                                                    \
    X(DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 3)                                             \
    X(DEVICE_P2P_ATTRIBUTE_ACCESS_ACCESS_SUPPORTED, 4)                                             \
    X(DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED, 5)

/* cuFuncGetAttribute, cuFuncSetAttribute. */
#define DRIVER_FUNC_ATTRIBUTES(X)                                                                  \
    X(FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                                                     \
    X(FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                                         \
    X(FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 2)                                                          \
    X(FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                                                          \
    X(FUNC_ATTRIBUTE_NUM_REGS, 4)                                                                  \
    X(FUNC_ATTRIBUTE_PTX_VERSION, 5)                                                               \
    X(FUNC_ATTRIBUTE_BINARY_VERSION, 6)                                                            \
    X(FUNC_ATTRIBUTE_CACHE_MODE_CA, 7)                                                             \
    X(FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                                             \
    X(FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 9)

/* cuFuncSetCacheConfig. */
#define DRIVER_FUNC_CACHES(X)                                                                      \
    X(FUNC_CACHE_PREFER_NONE, 0)                                                                   \
    X(FUNC_CACHE_PREFER_SHARED, 1)                                                                 \
    X(FUNC_CACHE_PREFER_L1, 2)                                                                     \
    X(FUNC_CACHE_PREFER_EQUAL, 3)

/* cuPointerGetAttribute. */
#define DRIVER_POINTER_ATTRIBUTES(X)                                                               \
    X(POINTER_ATTRIBUTE_CONTEXT, 1)                                                                \
    X(POINTER_ATTRIBUTE_MEMORY_TYPE, 2)                                                            \
    X(POINTER_ATTRIBUTE_DEVICE_POINTER, 3)                                                         \
    X(POINTER_ATTRIBUTE_HOST_POINTER, 4)                                                           \
    X(POINTER_ATTRIBUTE_BUFFER_ID, 7)                                                              \
    X(POINTER_ATTRIBUTE_IS_MANAGED, 8)                                                             \
    X(POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9)                                                         \
    X(POINTER_ATTRIBUTE_RANGE_START_ADDR, 11)                                                      \
    X(POINTER_ATTRIBUTE_RANGE_SIZE, 12)                                                            \
    X(POINTER_ATTRIBUTE_MAPPED, 13)                                                                \
    X(POINTER_ATTRIBUTE_MEMPOOL_HANDLE, 17)

/* cuMemPoolGetAttribute, cuMemPoolSetAttribute: the first three are int, the others uint64_t. */
#define DRIVER_MEMPOOL_ATTRIBUTES(X)                                                               \
    X(MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, 1)                                             \
    X(MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 2)                                                   \
    X(MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, 3)                                           \
    X(MEMPOOL_ATTR_RELEASE_THRESHOLD, 4)                                                           \
    X(MEMPOOL_ATTR_RESERVED_MEM_CURRENT, 5)                                                        \
    X(MEMPOOL_ATTR_RESERVED_MEM_HIGH, 6)                                                           \
    X(MEMPOOL_ATTR_USED_MEM_CURRENT, 7)                                                            \
    X(MEMPOOL_ATTR_USED_MEM_HIGH, 8)

/* cuModuleLoadDataEx. */
#define DRIVER_JIT_OPTIONS(X)                                                                      \
    X(JIT_MAX_REGISTERS, 0)                                                                        \
    X(JIT_THREADS_PER_BLOCK, 1)                                                                    \
    X(JIT_WALL_TIME, 2)                                                                            \
    X(JIT_INFO_LOG_BUFFER, 3)                                                                      \
    X(JIT_INFO_LOG_BUFFER_SIZE_BYTES, 4)                                                           \
    X(JIT_ERROR_LOG_BUFFER, 5)                                                                     \
    X(JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                                                          \
    X(JIT_OPTIMIZATION_LEVEL, 7)                                                                   \
    X(JIT_TARGET_FROM_CUCONTEXT, 8)                                                                \
    X(JIT_TARGET, 9)                                                                               \
    X(JIT_FALLBACK_STRATEGY, 10)                                                                   \
    X(JIT_GENERATE_DEBUG_INFO, 11)                                                                 \
    X(JIT_LOG_VERBOSE, 12)                                                                         \
    X(JIT_GENERATE_LINE_INFO, 13)                                                                  \
    X(JIT_CACHE_MODE, 14)                                                                          \
    X(JIT_MIN_CTA_PER_SM, 31)                                                                      \
    X(JIT_MAX_THREADS_PER_BLOCK, 32)                                                               \
    X(JIT_OVERRIDE_DIRECTIVE_VALUES, 33)

/* cuCtxGetLimit, cuCtxSetLimit. */
#define DRIVER_LIMITS(X)                                                                           \
    X(LIMIT_STACK_SIZE, 0)                                                                         \
    X(LIMIT_PRINTF_FIFO_SIZE, 1)                                                                   \
    X(LIMIT_MALLOC_HEAP_SIZE, 2)                                                                   \
    X(LIMIT_DEV_RUNTIME_SYNC_DEPTH, 3)                                                             \
    X(LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 4)                                                   \
    X(LIMIT_MAX_L2_FETCH_GRANULARITY, 5)                                                           \
    X(LIMIT_PERSISTING_L2_CACHE_SIZE, 6)                                                           \
    X(LIMIT_SHMEM_SIZE, 7)

/* cuLaunchKernelEx. */
#define DRIVER_LAUNCH_ATTRIBUTES(X)                                                                \
    X(LAUNCH_ATTRIBUTE_IGNORE, 0)                                                                  \
    X(LAUNCH_ATTRIBUTE_COOPERATIVE, 2)                                                             \
    X(LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 6)

/* Flags of contexts, streams, events, pinned and registered host memory. */
#define DRIVER_FLAGS(X)                                                                            \
    X(CTX_SCHED_AUTO, 0)                                                                           \
    X(CTX_SCHED_SPIN, 1)                                                                           \
    X(CTX_SCHED_YIELD, 2)                                                                          \
    X(CTX_SCHED_BLOCKING_SYNC, 4)                                                                  \
    X(CTX_SCHED_MASK, 7)                                                                           \
    X(CTX_MAP_HOST, 8)                                                                             \
    X(CTX_COREDUMP_ENABLE, 32)                                                                     \
    X(CTX_USER_COREDUMP_ENABLE, 64)                                                                \
    X(CTX_SYNC_MEMOPS, 128)                                                                        \
    X(CTX_FLAGS_MASK, 255)                                                                         \
    X(STREAM_DEFAULT, 0)                                                                           \
    X(STREAM_NON_BLOCKING, 1)                                                                      \
    X(EVENT_DEFAULT, 0)                                                                            \
    X(EVENT_BLOCKING_SYNC, 1)                                                                      \
    X(EVENT_DISABLE_TIMING, 2)                                                                     \
    X(EVENT_INTERPROCESS, 4)                                                                       \
    X(MEMHOSTALLOC_PORTABLE, 1)                                                                    \
    X(MEMHOSTALLOC_DEVICEMAP, 2)                                                                   \
    X(MEMHOSTALLOC_WRITECOMBINED, 4)                                                               \
    X(MEMHOSTREGISTER_PORTABLE, 1)                                                                 \
    X(MEMHOSTREGISTER_DEVICEMAP, 2)                                                                \
    X(MEMHOSTREGISTER_READ_ONLY, 8)

/* Values that attributes and structs take. */
#define DRIVER_VALUES(X)                                                                           \
    X(MEMORYTYPE_HOST, 1)                                                                          \
    X(MEMORYTYPE_DEVICE, 2)                                                                        \
    X(MEMORYTYPE_ARRAY, 3)                                                                         \
    X(MEMORYTYPE_UNIFIED, 4)                                                                       \
    X(COMPUTEMODE_DEFAULT, 0)                                                                      \
    X(COMPUTEMODE_PROHIBITED, 2)                                                                   \
    X(COMPUTEMODE_EXCLUSIVE_PROCESS, 3)                                                            \
    X(MEM_ALLOCATION_TYPE_PINNED, 1)                                                               \
    X(MEM_HANDLE_TYPE_NONE, 0)                                                                     \
    X(MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1)                                                    \
    X(MEM_LOCATION_TYPE_DEVICE, 1)                                                                 \
    X(MEM_LOCATION_TYPE_HOST, 2)                                                                   \
    X(MEM_ACCESS_FLAGS_PROT_NONE, 0)                                                               \
    X(MEM_ACCESS_FLAGS_PROT_READ, 1)                                                               \
    X(MEM_ACCESS_FLAGS_PROT_READWRITE, 3)                                                          \
    X(SHAREDMEM_CARVEOUT_DEFAULT, -1)                                                              \
    X(SHAREDMEM_CARVEOUT_MAX_SHARED, 100)                                                          \
    X(SHAREDMEM_CARVEOUT_MAX_L1, 0)                                                                \
    X(PREFER_PTX, 0)                                                                               \
    X(PREFER_BINARY, 1)                                                                            \
    X(GET_PROC_ADDRESS_DEFAULT, 0)                                                                 \
    X(GET_PROC_ADDRESS_SUCCESS, 0)                                                                 \
    X(GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, 1)                                                        \
    X(GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, 2)

/* All of them, for the test that compares them with cuda.h. */
#define DRIVER_CONSTANTS(X)                                                                        \
    DRIVER_DEVICE_ATTRIBUTES(X)                                                                    \
    DRIVER_P2P_ATTRIBUTES(X)                                                                       \
    DRIVER_FUNC_ATTRIBUTES(X)                                                                      \
    DRIVER_FUNC_CACHES(X)                                                                          \
    DRIVER_POINTER_ATTRIBUTES(X)                                                                   \
    DRIVER_MEMPOOL_ATTRIBUTES(X)                                                                   \
    DRIVER_JIT_OPTIONS(X)                                                                          \
    DRIVER_LIMITS(X)                                                                               \
    DRIVER_LAUNCH_ATTRIBUTES(X)                                                                    \
    DRIVER_FLAGS(X)                                                                                \
    DRIVER_VALUES(X)

enum driver_constant {
#define DRIVER_CONSTANT(name, value) DRIVER_##name = value,
    DRIVER_CONSTANTS(DRIVER_CONSTANT)
#undef DRIVER_CONSTANT
};

#endif
