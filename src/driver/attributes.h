/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for numbers of the driver's ABI: attributes, flags and other values. DRIVER_ replaces the
 * CU_ of cuda.h's name: CU_STREAM_NON_BLOCKING is DRIVER_STREAM_NON_BLOCKING. Device attributes are
 * public: POOL_CU_ATTRIBUTE_… of <devicepool/driver.h>. tests/abi compares each with cuda.h.
 * X(name, value).
 */
#ifndef DRIVER_ATTRIBUTES_H
#define DRIVER_ATTRIBUTES_H

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
    X(FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 9)                                          \
    X(FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 14)

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
    X(LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 4)                                                       \
    X(LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 6)                                       \
    X(LAUNCH_ATTRIBUTE_PRIORITY, 8)

/* Flags of contexts, streams, events, pinned and registered host memory. */
#define DRIVER_FLAGS(X)                                                                            \
    X(CTX_SCHED_AUTO, 0)                                                                           \
    X(CTX_SCHED_SPIN, 1)                                                                           \
    X(CTX_SCHED_YIELD, 2)                                                                          \
    X(CTX_SCHED_BLOCKING_SYNC, 4)                                                                  \
    X(CTX_SCHED_MASK, 7)                                                                           \
    X(CTX_MAP_HOST, 8)                                                                             \
    X(CTX_LMEM_RESIZE_TO_MAX, 16)                                                                  \
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
    X(IPC_MEM_LAZY_ENABLE_PEER_ACCESS, 1)                                                          \
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
    X(MEM_ALLOC_GRANULARITY_MINIMUM, 0)                                                            \
    X(MEM_ALLOC_GRANULARITY_RECOMMENDED, 1)                                                        \
    X(MEM_LOCATION_TYPE_DEVICE, 1)                                                                 \
    X(MEM_LOCATION_TYPE_HOST, 2)                                                                   \
    X(MEM_ACCESS_FLAGS_PROT_NONE, 0)                                                               \
    X(MEM_ACCESS_FLAGS_PROT_READ, 1)                                                               \
    X(MEM_ACCESS_FLAGS_PROT_READWRITE, 3)                                                          \
    X(SHAREDMEM_CARVEOUT_DEFAULT, -1)                                                              \
    X(SHAREDMEM_CARVEOUT_MAX_SHARED, 100)                                                          \
    X(SHAREDMEM_CARVEOUT_MAX_L1, 0)                                                                \
    X(STREAM_CAPTURE_MODE_RELAXED, 2)                                                              \
    X(PREFER_PTX, 0)                                                                               \
    X(PREFER_BINARY, 1)                                                                            \
    X(GET_PROC_ADDRESS_DEFAULT, 0)                                                                 \
    X(GET_PROC_ADDRESS_SUCCESS, 0)                                                                 \
    X(GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, 1)                                                        \
    X(GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, 2)

/* All of them, for the test that compares them with cuda.h. */
#define DRIVER_CONSTANTS(X)                                                                        \
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

/* Of cuGraphInstantiate, from CUDA 11.7 on, as cuLaunchKernelEx nearly is (11.8); cuda.h has it as
 * CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY. */
enum driver_graph_flag { DRIVER_GRAPH_USE_NODE_PRIORITY = 8 };

/* In the `extra` argument of launches; cuda.h has pointers of these values. */
enum driver_launch_param {
    DRIVER_LAUNCH_PARAM_END,
    DRIVER_LAUNCH_PARAM_BUFFER_POINTER,
    DRIVER_LAUNCH_PARAM_BUFFER_SIZE
};

#endif
