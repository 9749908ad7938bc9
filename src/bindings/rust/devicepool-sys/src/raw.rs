// Written by src/bindings/generate.py from the headers: do not edit.
//! The whole API of libdevicepool; the names are those of C.
use core::ffi::c_void;
use core::marker::{PhantomData, PhantomPinned};
#[allow(unused_imports)]
use std::os::raw::{c_char, c_int, c_schar, c_short, c_uchar, c_uint, c_ulonglong, c_ushort};

pub type CUdevice = c_int;
pub type CUdeviceptr = c_ulonglong;
pub type CUcontext = *mut c_void;
pub type CUmodule = *mut c_void;
pub type CUfunction = *mut c_void;
pub type CUstream = *mut c_void;
pub type CUevent = *mut c_void;
pub type CUmemoryPool = *mut c_void;
pub type CUmemGenericAllocationHandle = c_ulonglong;
pub type CUgraph = *mut c_void;
pub type CUgraphExec = *mut c_void;
pub type CUgreenCtx = *mut c_void;
pub type CUdevResourceDesc = *mut c_void;
pub type pool_cu_result = c_uint;
pub type pool_cu_enum = c_uint;

#[repr(C)]
pub struct pool_cancel {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_device {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct device_pool {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_stream {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_event {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_lease {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_ticket {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_buffer {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_pinned {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_field {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_ntt_domain {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_poseidon {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_curve {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_file {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_graph {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_module {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_kernel {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_bases {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_resident {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_resident_use {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_tuning {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_physical {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct pool_range {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

pub type pool_status = i32;
pub const POOL_OK: pool_status = 0;
pub const POOL_ERR_INVALID_ARGUMENT: pool_status = -1;
pub const POOL_ERR_OUT_OF_HOST_MEMORY: pool_status = -2;
pub const POOL_ERR_OUT_OF_DEVICE_MEMORY: pool_status = -3;
pub const POOL_ERR_NOT_FOUND: pool_status = -4;
pub const POOL_ERR_NOT_BOUND: pool_status = -5;
pub const POOL_ERR_WRONG_DEVICE: pool_status = -6;
pub const POOL_ERR_BUSY: pool_status = -7;
pub const POOL_ERR_NOT_READY: pool_status = -8;
pub const POOL_ERR_TIMEOUT: pool_status = -9;
pub const POOL_ERR_CANCELLED: pool_status = -10;
pub const POOL_ERR_UNSUPPORTED: pool_status = -11;
pub const POOL_ERR_COMPILE: pool_status = -12;
pub const POOL_ERR_BAD_IMAGE: pool_status = -13;
pub const POOL_ERR_BAD_DATA: pool_status = -14;
pub const POOL_ERR_IO: pool_status = -15;
pub const POOL_ERR_UNBALANCED: pool_status = -16;
pub const POOL_ERR_DRIVER: pool_status = -17;
pub const POOL_ERR_DEVICE_UNUSABLE: pool_status = -100;
pub const POOL_ERR_DEVICE_LOST: pool_status = -101;
pub const POOL_ERR_NO_DRIVER: pool_status = -200;
pub const POOL_ERR_DRIVER_TOO_OLD: pool_status = -201;
pub const POOL_ERR_NO_DEVICE: pool_status = -202;
pub const POOL_ERR_NO_COMPILER: pool_status = -203;
pub const POOL_ERR_PROCESS_POISONED: pool_status = -300;
pub const POOL_ERR_FORKED: pool_status = -301;
pub const POOL_ERR_SHUTDOWN: pool_status = -302;
pub const POOL_ERR_INTERNAL: pool_status = -400;

pub type pool_error_class = u32;
pub const POOL_CLASS_NONE: pool_error_class = 0;
pub const POOL_CLASS_CALL: pool_error_class = 1;
pub const POOL_CLASS_DEVICE: pool_error_class = 2;
pub const POOL_CLASS_HOST: pool_error_class = 3;
pub const POOL_CLASS_PROCESS: pool_error_class = 4;
pub const POOL_CLASS_INTERNAL: pool_error_class = 5;

pub type pool_text_format = u32;
pub const POOL_TEXT_PLAIN: pool_text_format = 0;
pub const POOL_TEXT_JSON: pool_text_format = 1;

pub type pool_cu_code = u32;
pub const POOL_CU_SUCCESS: pool_cu_code = 0;
pub const POOL_CU_INVALID_VALUE: pool_cu_code = 1;
pub const POOL_CU_OUT_OF_MEMORY: pool_cu_code = 2;
pub const POOL_CU_NOT_INITIALIZED: pool_cu_code = 3;
pub const POOL_CU_DEINITIALIZED: pool_cu_code = 4;
pub const POOL_CU_PROFILER_DISABLED: pool_cu_code = 5;
pub const POOL_CU_PROFILER_NOT_INITIALIZED: pool_cu_code = 6;
pub const POOL_CU_PROFILER_ALREADY_STARTED: pool_cu_code = 7;
pub const POOL_CU_PROFILER_ALREADY_STOPPED: pool_cu_code = 8;
pub const POOL_CU_STUB_LIBRARY: pool_cu_code = 34;
pub const POOL_CU_CALL_REQUIRES_NEWER_DRIVER: pool_cu_code = 36;
pub const POOL_CU_DEVICE_UNAVAILABLE: pool_cu_code = 46;
pub const POOL_CU_NO_DEVICE: pool_cu_code = 100;
pub const POOL_CU_INVALID_DEVICE: pool_cu_code = 101;
pub const POOL_CU_DEVICE_NOT_LICENSED: pool_cu_code = 102;
pub const POOL_CU_INVALID_IMAGE: pool_cu_code = 200;
pub const POOL_CU_INVALID_CONTEXT: pool_cu_code = 201;
pub const POOL_CU_CONTEXT_ALREADY_CURRENT: pool_cu_code = 202;
pub const POOL_CU_MAP_FAILED: pool_cu_code = 205;
pub const POOL_CU_UNMAP_FAILED: pool_cu_code = 206;
pub const POOL_CU_ARRAY_IS_MAPPED: pool_cu_code = 207;
pub const POOL_CU_ALREADY_MAPPED: pool_cu_code = 208;
pub const POOL_CU_NO_BINARY_FOR_GPU: pool_cu_code = 209;
pub const POOL_CU_ALREADY_ACQUIRED: pool_cu_code = 210;
pub const POOL_CU_NOT_MAPPED: pool_cu_code = 211;
pub const POOL_CU_NOT_MAPPED_AS_ARRAY: pool_cu_code = 212;
pub const POOL_CU_NOT_MAPPED_AS_POINTER: pool_cu_code = 213;
pub const POOL_CU_ECC_UNCORRECTABLE: pool_cu_code = 214;
pub const POOL_CU_UNSUPPORTED_LIMIT: pool_cu_code = 215;
pub const POOL_CU_CONTEXT_ALREADY_IN_USE: pool_cu_code = 216;
pub const POOL_CU_PEER_ACCESS_UNSUPPORTED: pool_cu_code = 217;
pub const POOL_CU_INVALID_PTX: pool_cu_code = 218;
pub const POOL_CU_INVALID_GRAPHICS_CONTEXT: pool_cu_code = 219;
pub const POOL_CU_NVLINK_UNCORRECTABLE: pool_cu_code = 220;
pub const POOL_CU_JIT_COMPILER_NOT_FOUND: pool_cu_code = 221;
pub const POOL_CU_UNSUPPORTED_PTX_VERSION: pool_cu_code = 222;
pub const POOL_CU_JIT_COMPILATION_DISABLED: pool_cu_code = 223;
pub const POOL_CU_UNSUPPORTED_EXEC_AFFINITY: pool_cu_code = 224;
pub const POOL_CU_UNSUPPORTED_DEVSIDE_SYNC: pool_cu_code = 225;
pub const POOL_CU_CONTAINED: pool_cu_code = 226;
pub const POOL_CU_INVALID_SOURCE: pool_cu_code = 300;
pub const POOL_CU_FILE_NOT_FOUND: pool_cu_code = 301;
pub const POOL_CU_SHARED_OBJECT_SYMBOL_NOT_FOUND: pool_cu_code = 302;
pub const POOL_CU_SHARED_OBJECT_INIT_FAILED: pool_cu_code = 303;
pub const POOL_CU_OPERATING_SYSTEM: pool_cu_code = 304;
pub const POOL_CU_INVALID_HANDLE: pool_cu_code = 400;
pub const POOL_CU_ILLEGAL_STATE: pool_cu_code = 401;
pub const POOL_CU_LOSSY_QUERY: pool_cu_code = 402;
pub const POOL_CU_NOT_FOUND: pool_cu_code = 500;
pub const POOL_CU_NOT_READY: pool_cu_code = 600;
pub const POOL_CU_ILLEGAL_ADDRESS: pool_cu_code = 700;
pub const POOL_CU_LAUNCH_OUT_OF_RESOURCES: pool_cu_code = 701;
pub const POOL_CU_LAUNCH_TIMEOUT: pool_cu_code = 702;
pub const POOL_CU_LAUNCH_INCOMPATIBLE_TEXTURING: pool_cu_code = 703;
pub const POOL_CU_PEER_ACCESS_ALREADY_ENABLED: pool_cu_code = 704;
pub const POOL_CU_PEER_ACCESS_NOT_ENABLED: pool_cu_code = 705;
pub const POOL_CU_PRIMARY_CONTEXT_ACTIVE: pool_cu_code = 708;
pub const POOL_CU_CONTEXT_IS_DESTROYED: pool_cu_code = 709;
pub const POOL_CU_ASSERT: pool_cu_code = 710;
pub const POOL_CU_TOO_MANY_PEERS: pool_cu_code = 711;
pub const POOL_CU_HOST_MEMORY_ALREADY_REGISTERED: pool_cu_code = 712;
pub const POOL_CU_HOST_MEMORY_NOT_REGISTERED: pool_cu_code = 713;
pub const POOL_CU_HARDWARE_STACK_ERROR: pool_cu_code = 714;
pub const POOL_CU_ILLEGAL_INSTRUCTION: pool_cu_code = 715;
pub const POOL_CU_MISALIGNED_ADDRESS: pool_cu_code = 716;
pub const POOL_CU_INVALID_ADDRESS_SPACE: pool_cu_code = 717;
pub const POOL_CU_INVALID_PC: pool_cu_code = 718;
pub const POOL_CU_LAUNCH_FAILED: pool_cu_code = 719;
pub const POOL_CU_COOPERATIVE_LAUNCH_TOO_LARGE: pool_cu_code = 720;
pub const POOL_CU_TENSOR_MEMORY_LEAK: pool_cu_code = 721;
pub const POOL_CU_NOT_PERMITTED: pool_cu_code = 800;
pub const POOL_CU_NOT_SUPPORTED: pool_cu_code = 801;
pub const POOL_CU_SYSTEM_NOT_READY: pool_cu_code = 802;
pub const POOL_CU_SYSTEM_DRIVER_MISMATCH: pool_cu_code = 803;
pub const POOL_CU_COMPAT_NOT_SUPPORTED_ON_DEVICE: pool_cu_code = 804;
pub const POOL_CU_MPS_CONNECTION_FAILED: pool_cu_code = 805;
pub const POOL_CU_MPS_RPC_FAILURE: pool_cu_code = 806;
pub const POOL_CU_MPS_SERVER_NOT_READY: pool_cu_code = 807;
pub const POOL_CU_MPS_MAX_CLIENTS_REACHED: pool_cu_code = 808;
pub const POOL_CU_MPS_MAX_CONNECTIONS_REACHED: pool_cu_code = 809;
pub const POOL_CU_MPS_CLIENT_TERMINATED: pool_cu_code = 810;
pub const POOL_CU_CDP_NOT_SUPPORTED: pool_cu_code = 811;
pub const POOL_CU_CDP_VERSION_MISMATCH: pool_cu_code = 812;
pub const POOL_CU_STREAM_CAPTURE_UNSUPPORTED: pool_cu_code = 900;
pub const POOL_CU_STREAM_CAPTURE_INVALIDATED: pool_cu_code = 901;
pub const POOL_CU_STREAM_CAPTURE_MERGE: pool_cu_code = 902;
pub const POOL_CU_STREAM_CAPTURE_UNMATCHED: pool_cu_code = 903;
pub const POOL_CU_STREAM_CAPTURE_UNJOINED: pool_cu_code = 904;
pub const POOL_CU_STREAM_CAPTURE_ISOLATION: pool_cu_code = 905;
pub const POOL_CU_STREAM_CAPTURE_IMPLICIT: pool_cu_code = 906;
pub const POOL_CU_CAPTURED_EVENT: pool_cu_code = 907;
pub const POOL_CU_STREAM_CAPTURE_WRONG_THREAD: pool_cu_code = 908;
pub const POOL_CU_TIMEOUT: pool_cu_code = 909;
pub const POOL_CU_GRAPH_EXEC_UPDATE_FAILURE: pool_cu_code = 910;
pub const POOL_CU_EXTERNAL_DEVICE: pool_cu_code = 911;
pub const POOL_CU_INVALID_CLUSTER_SIZE: pool_cu_code = 912;
pub const POOL_CU_FUNCTION_NOT_LOADED: pool_cu_code = 913;
pub const POOL_CU_INVALID_RESOURCE_TYPE: pool_cu_code = 914;
pub const POOL_CU_INVALID_RESOURCE_CONFIGURATION: pool_cu_code = 915;
pub const POOL_CU_KEY_ROTATION: pool_cu_code = 916;
pub const POOL_CU_UNKNOWN: pool_cu_code = 999;
pub const POOL_CU_CODE_MAX: pool_cu_code = 2147483647;

pub type pool_cu_attribute = u32;
pub const POOL_CU_ATTRIBUTE_MAX_THREADS_PER_BLOCK: pool_cu_attribute = 1;
pub const POOL_CU_ATTRIBUTE_MAX_BLOCK_DIM_X: pool_cu_attribute = 2;
pub const POOL_CU_ATTRIBUTE_MAX_BLOCK_DIM_Y: pool_cu_attribute = 3;
pub const POOL_CU_ATTRIBUTE_MAX_BLOCK_DIM_Z: pool_cu_attribute = 4;
pub const POOL_CU_ATTRIBUTE_MAX_GRID_DIM_X: pool_cu_attribute = 5;
pub const POOL_CU_ATTRIBUTE_MAX_GRID_DIM_Y: pool_cu_attribute = 6;
pub const POOL_CU_ATTRIBUTE_MAX_GRID_DIM_Z: pool_cu_attribute = 7;
pub const POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: pool_cu_attribute = 8;
pub const POOL_CU_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: pool_cu_attribute = 9;
pub const POOL_CU_ATTRIBUTE_WARP_SIZE: pool_cu_attribute = 10;
pub const POOL_CU_ATTRIBUTE_MAX_PITCH: pool_cu_attribute = 11;
pub const POOL_CU_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: pool_cu_attribute = 12;
pub const POOL_CU_ATTRIBUTE_CLOCK_RATE: pool_cu_attribute = 13;
pub const POOL_CU_ATTRIBUTE_TEXTURE_ALIGNMENT: pool_cu_attribute = 14;
pub const POOL_CU_ATTRIBUTE_GPU_OVERLAP: pool_cu_attribute = 15;
pub const POOL_CU_ATTRIBUTE_MULTIPROCESSOR_COUNT: pool_cu_attribute = 16;
pub const POOL_CU_ATTRIBUTE_KERNEL_EXEC_TIMEOUT: pool_cu_attribute = 17;
pub const POOL_CU_ATTRIBUTE_INTEGRATED: pool_cu_attribute = 18;
pub const POOL_CU_ATTRIBUTE_CAN_MAP_HOST_MEMORY: pool_cu_attribute = 19;
pub const POOL_CU_ATTRIBUTE_COMPUTE_MODE: pool_cu_attribute = 20;
pub const POOL_CU_ATTRIBUTE_SURFACE_ALIGNMENT: pool_cu_attribute = 30;
pub const POOL_CU_ATTRIBUTE_CONCURRENT_KERNELS: pool_cu_attribute = 31;
pub const POOL_CU_ATTRIBUTE_ECC_ENABLED: pool_cu_attribute = 32;
pub const POOL_CU_ATTRIBUTE_PCI_BUS_ID: pool_cu_attribute = 33;
pub const POOL_CU_ATTRIBUTE_PCI_DEVICE_ID: pool_cu_attribute = 34;
pub const POOL_CU_ATTRIBUTE_MEMORY_CLOCK_RATE: pool_cu_attribute = 36;
pub const POOL_CU_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: pool_cu_attribute = 37;
pub const POOL_CU_ATTRIBUTE_L2_CACHE_SIZE: pool_cu_attribute = 38;
pub const POOL_CU_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: pool_cu_attribute = 39;
pub const POOL_CU_ATTRIBUTE_ASYNC_ENGINE_COUNT: pool_cu_attribute = 40;
pub const POOL_CU_ATTRIBUTE_UNIFIED_ADDRESSING: pool_cu_attribute = 41;
pub const POOL_CU_ATTRIBUTE_PCI_DOMAIN_ID: pool_cu_attribute = 50;
pub const POOL_CU_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT: pool_cu_attribute = 51;
pub const POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: pool_cu_attribute = 75;
pub const POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: pool_cu_attribute = 76;
pub const POOL_CU_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED: pool_cu_attribute = 78;
pub const POOL_CU_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED: pool_cu_attribute = 79;
pub const POOL_CU_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED: pool_cu_attribute = 80;
pub const POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: pool_cu_attribute = 81;
pub const POOL_CU_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: pool_cu_attribute = 82;
pub const POOL_CU_ATTRIBUTE_MANAGED_MEMORY: pool_cu_attribute = 83;
pub const POOL_CU_ATTRIBUTE_MULTI_GPU_BOARD: pool_cu_attribute = 84;
pub const POOL_CU_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID: pool_cu_attribute = 85;
pub const POOL_CU_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED: pool_cu_attribute = 86;
pub const POOL_CU_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: pool_cu_attribute = 87;
pub const POOL_CU_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS: pool_cu_attribute = 88;
pub const POOL_CU_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS: pool_cu_attribute = 89;
pub const POOL_CU_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED: pool_cu_attribute = 90;
pub const POOL_CU_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: pool_cu_attribute = 91;
pub const POOL_CU_ATTRIBUTE_COOPERATIVE_LAUNCH: pool_cu_attribute = 95;
pub const POOL_CU_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH: pool_cu_attribute = 96;
pub const POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: pool_cu_attribute = 97;
pub const POOL_CU_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES: pool_cu_attribute = 98;
pub const POOL_CU_ATTRIBUTE_HOST_REGISTER_SUPPORTED: pool_cu_attribute = 99;
pub const POOL_CU_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES: pool_cu_attribute = 100;
pub const POOL_CU_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST: pool_cu_attribute = 101;
pub const POOL_CU_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED: pool_cu_attribute = 102;
pub const POOL_CU_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED: pool_cu_attribute = 103;
pub const POOL_CU_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: pool_cu_attribute = 106;
pub const POOL_CU_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED: pool_cu_attribute = 107;
pub const POOL_CU_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE: pool_cu_attribute = 108;
pub const POOL_CU_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE: pool_cu_attribute = 109;
pub const POOL_CU_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED: pool_cu_attribute = 110;
pub const POOL_CU_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: pool_cu_attribute = 111;
pub const POOL_CU_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED: pool_cu_attribute = 113;
pub const POOL_CU_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: pool_cu_attribute = 115;
pub const POOL_CU_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED: pool_cu_attribute = 116;
pub const POOL_CU_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS: pool_cu_attribute = 117;
pub const POOL_CU_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING: pool_cu_attribute = 118;
pub const POOL_CU_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES: pool_cu_attribute = 119;
pub const POOL_CU_ATTRIBUTE_CLUSTER_LAUNCH: pool_cu_attribute = 120;
pub const POOL_CU_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS: pool_cu_attribute = 122;
pub const POOL_CU_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR: pool_cu_attribute = 123;
pub const POOL_CU_ATTRIBUTE_DMA_BUF_SUPPORTED: pool_cu_attribute = 124;
pub const POOL_CU_ATTRIBUTE_IPC_EVENT_SUPPORTED: pool_cu_attribute = 125;
pub const POOL_CU_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT: pool_cu_attribute = 126;
pub const POOL_CU_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED: pool_cu_attribute = 128;
pub const POOL_CU_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS: pool_cu_attribute = 129;
pub const POOL_CU_ATTRIBUTE_NUMA_CONFIG: pool_cu_attribute = 130;
pub const POOL_CU_ATTRIBUTE_NUMA_ID: pool_cu_attribute = 131;
pub const POOL_CU_ATTRIBUTE_MULTICAST_SUPPORTED: pool_cu_attribute = 132;
pub const POOL_CU_ATTRIBUTE_MPS_ENABLED: pool_cu_attribute = 133;
pub const POOL_CU_ATTRIBUTE_HOST_NUMA_ID: pool_cu_attribute = 134;
pub const POOL_CU_ATTRIBUTE_GPU_PCI_DEVICE_ID: pool_cu_attribute = 139;
pub const POOL_CU_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID: pool_cu_attribute = 140;
pub const POOL_CU_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: pool_cu_attribute = 141;
pub const POOL_CU_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED: pool_cu_attribute = 142;
pub const POOL_CU_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED: pool_cu_attribute = 143;
pub const POOL_CU_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED: pool_cu_attribute = 144;
pub const POOL_CU_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: pool_cu_attribute = 145;
pub const POOL_CU_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED: pool_cu_attribute = 146;
pub const POOL_CU_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED: pool_cu_attribute = 147;
pub const POOL_CU_ATTRIBUTE_LIMIT: pool_cu_attribute = 2147483647;

pub type pool_cuda_flag = u32;
pub const POOL_CUDA_PTX_ONLY: pool_cuda_flag = 1;
pub const POOL_CUDA_ISOLATED_DEVICES: pool_cuda_flag = 2;

pub type pool_device_state = u32;
pub const POOL_DEVICE_READY: pool_device_state = 0;
pub const POOL_DEVICE_UNUSABLE: pool_device_state = 1;
pub const POOL_DEVICE_POISONED: pool_device_state = 2;
pub const POOL_DEVICE_DRAINING: pool_device_state = 3;
pub const POOL_DEVICE_QUARANTINED: pool_device_state = 4;
pub const POOL_DEVICE_ABANDONED: pool_device_state = 5;

pub type pool_limit = u32;
pub const POOL_LIMIT_STACK: pool_limit = 0;
pub const POOL_LIMIT_PRINTF: pool_limit = 1;
pub const POOL_LIMIT_HEAP: pool_limit = 2;

pub type pool_context_mode = u32;
pub const POOL_CONTEXT_PRIMARY: pool_context_mode = 0;
pub const POOL_CONTEXT_OWN: pool_context_mode = 1;
pub const POOL_CONTEXT_ADOPT: pool_context_mode = 2;

pub type pool_isolation = u32;
pub const POOL_ISOLATION_NONE: pool_isolation = 0;
pub const POOL_ISOLATION_WORKERS: pool_isolation = 1;

pub type pool_policy = u32;
pub const POOL_POLICY_ROUND_ROBIN: pool_policy = 0;
pub const POOL_POLICY_MOST_FREE: pool_policy = 1;
pub const POOL_POLICY_LEAST_LOADED: pool_policy = 2;
pub const POOL_POLICY_SCORE: pool_policy = 3;

pub type pool_setting_source = u32;
pub const POOL_SETTING_DEFAULT: pool_setting_source = 0;
pub const POOL_SETTING_FILE: pool_setting_source = 1;
pub const POOL_SETTING_ENVIRONMENT: pool_setting_source = 2;

pub type pool_stream_flag = u32;
pub const POOL_STREAM_BLOCKING: pool_stream_flag = 1;

pub type pool_event_flag = u32;
pub const POOL_EVENT_TIMING: pool_event_flag = 1;
pub const POOL_EVENT_SLEEP: pool_event_flag = 2;
pub const POOL_EVENT_SHAREABLE: pool_event_flag = 4;

pub type pool_lease_flag = u32;
pub const POOL_LEASE_SECRET: pool_lease_flag = 1;

pub type pool_form = u32;
pub const POOL_FORM_STANDARD: pool_form = 0;
pub const POOL_FORM_MONTGOMERY: pool_form = 1;

pub type pool_memory_space = u32;
pub const POOL_MEMORY_HOST: pool_memory_space = 0;
pub const POOL_MEMORY_DEVICE: pool_memory_space = 1;
pub const POOL_MEMORY_SHARDED: pool_memory_space = 2;

pub type pool_check_flag = u32;
pub const POOL_CHECK_NONE: pool_check_flag = 0;
pub const POOL_CHECK_CANONICAL: pool_check_flag = 1;
pub const POOL_CHECK_ON_CURVE: pool_check_flag = 2;
pub const POOL_CHECK_SUBGROUP: pool_check_flag = 6;
pub const POOL_CHECK_REDUCE: pool_check_flag = 8;

pub type pool_buffer_flag = u32;
pub const POOL_BUFFER_ZEROED: pool_buffer_flag = 1;
pub const POOL_BUFFER_SECRET: pool_buffer_flag = 2;
pub const POOL_BUFFER_DURABLE: pool_buffer_flag = 4;
pub const POOL_BUFFER_SHAREABLE: pool_buffer_flag = 8;

pub type pool_pinned_flag = u32;
pub const POOL_PINNED_SECRET: pool_pinned_flag = 1;
pub const POOL_PINNED_WRITE_COMBINED: pool_pinned_flag = 2;

pub type pool_byte_order = u32;
pub const POOL_LITTLE_ENDIAN: pool_byte_order = 0;
pub const POOL_BIG_ENDIAN: pool_byte_order = 1;

pub type pool_radix = u32;
pub const POOL_DECIMAL: pool_radix = 0;
pub const POOL_HEXADECIMAL: pool_radix = 1;

pub type pool_ntt_direction = u32;
pub const POOL_NTT_FORWARD: pool_ntt_direction = 0;
pub const POOL_NTT_INVERSE: pool_ntt_direction = 1;

pub type pool_ntt_order = u32;
pub const POOL_NTT_NN: pool_ntt_order = 0;
pub const POOL_NTT_NR: pool_ntt_order = 1;
pub const POOL_NTT_RN: pool_ntt_order = 2;
pub const POOL_NTT_RR: pool_ntt_order = 3;

pub type pool_ntt_layout = u32;
pub const POOL_NTT_ROWS: pool_ntt_layout = 0;
pub const POOL_NTT_COLUMNS: pool_ntt_layout = 1;

pub type pool_poseidon_kind = u32;
pub const POOL_POSEIDON: pool_poseidon_kind = 0;
pub const POOL_POSEIDON2: pool_poseidon_kind = 1;

pub type pool_sponge_mode = u32;
pub const POOL_SPONGE_ADD: pool_sponge_mode = 0;
pub const POOL_SPONGE_OVERWRITE: pool_sponge_mode = 1;

pub type pool_sponge_padding = u32;
pub const POOL_SPONGE_PAD_NONE: pool_sponge_padding = 0;
pub const POOL_SPONGE_PAD_10: pool_sponge_padding = 1;
pub const POOL_SPONGE_PAD_ZERO: pool_sponge_padding = 2;

pub type pool_matrix_layout = u32;
pub const POOL_MATRIX_COLUMNS: pool_matrix_layout = 0;
pub const POOL_MATRIX_ROWS: pool_matrix_layout = 1;

pub type pool_point_layout = u32;
pub const POOL_POINT_AFFINE: pool_point_layout = 0;
pub const POOL_POINT_AFFINE_FLAG: pool_point_layout = 1;
pub const POOL_POINT_JACOBIAN: pool_point_layout = 2;
pub const POOL_POINT_PROJECTIVE: pool_point_layout = 3;
pub const POOL_POINT_XYZZ: pool_point_layout = 4;

pub type pool_encoding = u32;
pub const POOL_ENCODING_ZCASH_COMPRESSED: pool_encoding = 0;
pub const POOL_ENCODING_ZCASH_UNCOMPRESSED: pool_encoding = 1;
pub const POOL_ENCODING_EIP196: pool_encoding = 2;
pub const POOL_ENCODING_EIP2537: pool_encoding = 3;
pub const POOL_ENCODING_GNARK_COMPRESSED: pool_encoding = 4;
pub const POOL_ENCODING_ARKWORKS_COMPRESSED: pool_encoding = 5;
pub const POOL_ENCODING_ARKWORKS_UNCOMPRESSED: pool_encoding = 6;

pub type pool_file_kind = u32;
pub const POOL_FILE_ANY: pool_file_kind = 0;
pub const POOL_FILE_RAW: pool_file_kind = 1;
pub const POOL_FILE_PTAU: pool_file_kind = 2;
pub const POOL_FILE_ZKEY: pool_file_kind = 3;
pub const POOL_FILE_WTNS: pool_file_kind = 4;
pub const POOL_FILE_R1CS: pool_file_kind = 5;
pub const POOL_FILE_KZG: pool_file_kind = 6;

pub type pool_file_item = u32;
pub const POOL_FILE_POINTS: pool_file_item = 0;
pub const POOL_FILE_ELEMENTS: pool_file_item = 1;
pub const POOL_FILE_COEFFICIENTS: pool_file_item = 2;

pub type pool_log_level = u32;
pub const POOL_LOG_NONE: pool_log_level = 0;
pub const POOL_LOG_ERROR: pool_log_level = 1;
pub const POOL_LOG_WARN: pool_log_level = 2;
pub const POOL_LOG_INFO: pool_log_level = 3;
pub const POOL_LOG_DEBUG: pool_log_level = 4;

pub type pool_metrics_format = u32;
pub const POOL_METRICS_PROMETHEUS: pool_metrics_format = 0;
pub const POOL_METRICS_JSON: pool_metrics_format = 1;

pub type pool_image_form = u32;
pub const POOL_IMAGE_CUBIN: pool_image_form = 0;
pub const POOL_IMAGE_PTX: pool_image_form = 1;

pub type pool_resident_flag = u32;
pub const POOL_RESIDENT_PINNED: pool_resident_flag = 1;

pub type pool_sim_report = u32;
pub const POOL_SIM_REPORT_UNINITIALISED: pool_sim_report = 1;
pub const POOL_SIM_REPORT_BARRIER: pool_sim_report = 2;
pub const POOL_SIM_REPORT_LEAK: pool_sim_report = 4;
pub const POOL_SIM_REPORT_RACES: pool_sim_report = 8;
pub const POOL_SIM_REPORT_PROFILE: pool_sim_report = 16;
pub const POOL_SIM_REPORT_UNWRITTEN: pool_sim_report = 32;

pub type pool_trace_kind = u32;
pub const POOL_TRACE_OPERATION: pool_trace_kind = 0;
pub const POOL_TRACE_PHASE: pool_trace_kind = 1;
pub const POOL_TRACE_COPY: pool_trace_kind = 2;
pub const POOL_TRACE_COMPILE: pool_trace_kind = 3;
pub const POOL_TRACE_LOAD: pool_trace_kind = 4;
pub const POOL_TRACE_LEASE_WAIT: pool_trace_kind = 5;

pub type pool_tuning_source = u32;
pub const POOL_TUNING_DEFAULT: pool_tuning_source = 0;
pub const POOL_TUNING_FILE: pool_tuning_source = 1;
pub const POOL_TUNING_GIVEN: pool_tuning_source = 2;

pub type pool_vector_operation = u32;
pub const POOL_VECTOR_ADD: pool_vector_operation = 0;
pub const POOL_VECTOR_SUB: pool_vector_operation = 1;
pub const POOL_VECTOR_MUL: pool_vector_operation = 2;
pub const POOL_VECTOR_SCALE: pool_vector_operation = 3;
pub const POOL_VECTOR_INVERSE: pool_vector_operation = 4;
pub const POOL_VECTOR_BIT_REVERSE: pool_vector_operation = 5;
pub const POOL_VECTOR_TRANSPOSE: pool_vector_operation = 6;
pub const POOL_VECTOR_POWERS: pool_vector_operation = 7;
pub const POOL_VECTOR_EVALUATE: pool_vector_operation = 8;

pub type pool_physical_flag = u32;
pub const POOL_PHYSICAL_EXPORTABLE: pool_physical_flag = 1;

pub const POOL_UUID_TEXT: i32 = 48;
pub const POOL_PCI_TEXT: i32 = 24;
pub const POOL_MAX_RATE: u64 = 68719476736;
pub const POOL_ECNTT_MAX_LOG_SIZE: i32 = 32;
pub const POOL_FIELD_MAX_BITS: i32 = 768;
pub const POOL_FIELD_MAX_BYTES: i32 = 96;
pub const POOL_FINGERPRINT_BYTES: i32 = 32;
pub const POOL_FIELD_STRING_BYTES: i32 = 240;
pub const POOL_FRI_MAX_ARITY: i32 = 8;
pub const POOL_FILE_COEFFICIENT_ELEMENT: i32 = 12;
pub const POOL_LEASE_AGING_NS: u64 = 60000000000;
pub const POOL_LEASE_PRIORITY_MAX: i32 = 1000;
pub const POOL_LEASE_LABEL_BYTES: i32 = 64;
pub const POOL_LEASE_SLOTS: i32 = 4;
pub const POOL_WAIT_FOREVER: u64 = 18446744073709551615;
pub const POOL_CARVEOUT_DEFAULT: i32 = -1;
pub const POOL_CACHE_KEY_TEXT: i32 = 65;
pub const POOL_PRECOMPUTE_ALL: u32 = 4294967295;
pub const POOL_PRECOMPUTE_AUTO: u32 = 4294967294;
pub const POOL_AFFINE_NONE: u32 = 4294967295;
pub const POOL_MSM_MAX_TERMS: i32 = 64;
pub const POOL_NTT_MAX_LOG_SIZE: i32 = 40;
pub const POOL_NTT_MAX_LOG_BLOWUP: i32 = 4;
pub const POOL_SLICE_NS: u64 = 2000000;
pub const POOL_SHARED_SLICE_NS: u64 = 500000;
pub const POOL_POSEIDON_MAX_WIDTH: i32 = 64;
pub const POOL_RESIDENT_NAME_BYTES: i32 = 64;
pub const POOL_SIM_CLASSES: i32 = 10;
pub const POOL_VERSION_MAJOR: i32 = 0;
pub const POOL_VERSION_MINOR: i32 = 1;
pub const POOL_VERSION_PATCH: i32 = 0;
pub const POOL_VERSION_NUMBER: i32 = 100;

pub type pool_cu_host_function = Option<unsafe extern "C" fn(user: *mut c_void)>;

pub type pool_cu_block_to_shared = Option<unsafe extern "C" fn(block_size: c_int) -> usize>;

pub type pool_cuda_api_Init = Option<unsafe extern "C" fn(flags: c_uint) -> pool_cu_result>;

pub type pool_cuda_api_DriverGetVersion = Option<unsafe extern "C" fn(version: *mut c_int) -> pool_cu_result>;

pub type pool_cuda_api_GetErrorName = Option<unsafe extern "C" fn(error: pool_cu_result, name: *mut *const c_char) -> pool_cu_result>;

pub type pool_cuda_api_GetErrorString = Option<unsafe extern "C" fn(error: pool_cu_result, text: *mut *const c_char) -> pool_cu_result>;

pub type pool_cuda_api_DeviceGet = Option<unsafe extern "C" fn(device: *mut CUdevice, ordinal: c_int) -> pool_cu_result>;

pub type pool_cuda_api_DeviceGetCount = Option<unsafe extern "C" fn(count: *mut c_int) -> pool_cu_result>;

pub type pool_cuda_api_DeviceGetName = Option<unsafe extern "C" fn(name: *mut c_char, size: c_int, device: CUdevice) -> pool_cu_result>;

pub type pool_cuda_api_DeviceGetUuid = Option<unsafe extern "C" fn(uuid: *mut pool_cu_uuid, device: CUdevice) -> pool_cu_result>;

pub type pool_cuda_api_DeviceGetUuidV2 = Option<unsafe extern "C" fn(uuid: *mut pool_cu_uuid, device: CUdevice) -> pool_cu_result>;

pub type pool_cuda_api_DeviceTotalMem = Option<unsafe extern "C" fn(bytes: *mut usize, device: CUdevice) -> pool_cu_result>;

pub type pool_cuda_api_DeviceGetAttribute = Option<unsafe extern "C" fn(value: *mut c_int, attribute: pool_cu_enum, device: CUdevice) -> pool_cu_result>;

pub type pool_cuda_api_DeviceGetPCIBusId = Option<unsafe extern "C" fn(text: *mut c_char, size: c_int, device: CUdevice) -> pool_cu_result>;

pub type pool_cuda_api_DeviceGetByPCIBusId = Option<unsafe extern "C" fn(device: *mut CUdevice, text: *const c_char) -> pool_cu_result>;

pub type pool_cuda_api_DeviceCanAccessPeer = Option<unsafe extern "C" fn(can_access: *mut c_int, device: CUdevice, peer: CUdevice) -> pool_cu_result>;

pub type pool_cuda_api_DeviceGetP2PAttribute = Option<unsafe extern "C" fn(value: *mut c_int, attribute: pool_cu_enum, source: CUdevice, destination: CUdevice) -> pool_cu_result>;

pub type pool_cuda_api_DevicePrimaryCtxRetain = Option<unsafe extern "C" fn(context: *mut CUcontext, device: CUdevice) -> pool_cu_result>;

pub type pool_cuda_api_DevicePrimaryCtxRelease = Option<unsafe extern "C" fn(device: CUdevice) -> pool_cu_result>;

pub type pool_cuda_api_DevicePrimaryCtxGetState = Option<unsafe extern "C" fn(device: CUdevice, flags: *mut c_uint, active: *mut c_int) -> pool_cu_result>;

pub type pool_cuda_api_CtxCreate = Option<unsafe extern "C" fn(context: *mut CUcontext, flags: c_uint, device: CUdevice) -> pool_cu_result>;

pub type pool_cuda_api_CtxDestroy = Option<unsafe extern "C" fn(context: CUcontext) -> pool_cu_result>;

pub type pool_cuda_api_CtxPushCurrent = Option<unsafe extern "C" fn(context: CUcontext) -> pool_cu_result>;

pub type pool_cuda_api_CtxPopCurrent = Option<unsafe extern "C" fn(context: *mut CUcontext) -> pool_cu_result>;

pub type pool_cuda_api_CtxSetCurrent = Option<unsafe extern "C" fn(context: CUcontext) -> pool_cu_result>;

pub type pool_cuda_api_CtxGetCurrent = Option<unsafe extern "C" fn(context: *mut CUcontext) -> pool_cu_result>;

pub type pool_cuda_api_CtxGetDevice = Option<unsafe extern "C" fn(device: *mut CUdevice) -> pool_cu_result>;

pub type pool_cuda_api_CtxSynchronize = Option<unsafe extern "C" fn() -> pool_cu_result>;

pub type pool_cuda_api_CtxGetFlags = Option<unsafe extern "C" fn(flags: *mut c_uint) -> pool_cu_result>;

pub type pool_cuda_api_CtxGetApiVersion = Option<unsafe extern "C" fn(context: CUcontext, version: *mut c_uint) -> pool_cu_result>;

pub type pool_cuda_api_CtxGetLimit = Option<unsafe extern "C" fn(value: *mut usize, limit: pool_cu_enum) -> pool_cu_result>;

pub type pool_cuda_api_CtxSetLimit = Option<unsafe extern "C" fn(limit: pool_cu_enum, value: usize) -> pool_cu_result>;

pub type pool_cuda_api_CtxGetStreamPriorityRange = Option<unsafe extern "C" fn(least: *mut c_int, greatest: *mut c_int) -> pool_cu_result>;

pub type pool_cuda_api_CtxEnablePeerAccess = Option<unsafe extern "C" fn(peer: CUcontext, flags: c_uint) -> pool_cu_result>;

pub type pool_cuda_api_CtxDisablePeerAccess = Option<unsafe extern "C" fn(peer: CUcontext) -> pool_cu_result>;

pub type pool_cuda_api_MemGetInfo = Option<unsafe extern "C" fn(free_bytes: *mut usize, total_bytes: *mut usize) -> pool_cu_result>;

pub type pool_cuda_api_MemAlloc = Option<unsafe extern "C" fn(address: *mut CUdeviceptr, bytes: usize) -> pool_cu_result>;

pub type pool_cuda_api_MemFree = Option<unsafe extern "C" fn(address: CUdeviceptr) -> pool_cu_result>;

pub type pool_cuda_api_MemGetAddressRange = Option<unsafe extern "C" fn(base: *mut CUdeviceptr, bytes: *mut usize, address: CUdeviceptr) -> pool_cu_result>;

pub type pool_cuda_api_MemHostAlloc = Option<unsafe extern "C" fn(memory: *mut *mut c_void, bytes: usize, flags: c_uint) -> pool_cu_result>;

pub type pool_cuda_api_MemFreeHost = Option<unsafe extern "C" fn(memory: *mut c_void) -> pool_cu_result>;

pub type pool_cuda_api_MemHostRegister = Option<unsafe extern "C" fn(memory: *mut c_void, bytes: usize, flags: c_uint) -> pool_cu_result>;

pub type pool_cuda_api_MemHostUnregister = Option<unsafe extern "C" fn(memory: *mut c_void) -> pool_cu_result>;

pub type pool_cuda_api_MemHostGetDevicePointer = Option<unsafe extern "C" fn(address: *mut CUdeviceptr, memory: *mut c_void, flags: c_uint) -> pool_cu_result>;

pub type pool_cuda_api_MemcpyHtoD = Option<unsafe extern "C" fn(to: CUdeviceptr, from: *const c_void, bytes: usize) -> pool_cu_result>;

pub type pool_cuda_api_MemcpyDtoH = Option<unsafe extern "C" fn(to: *mut c_void, from: CUdeviceptr, bytes: usize) -> pool_cu_result>;

pub type pool_cuda_api_MemcpyDtoD = Option<unsafe extern "C" fn(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> pool_cu_result>;

pub type pool_cuda_api_MemcpyPeer = Option<unsafe extern "C" fn(to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, bytes: usize) -> pool_cu_result>;

pub type pool_cuda_api_MemcpyHtoDAsync = Option<unsafe extern "C" fn(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_MemcpyDtoHAsync = Option<unsafe extern "C" fn(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_MemcpyDtoDAsync = Option<unsafe extern "C" fn(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_MemcpyPeerAsync = Option<unsafe extern "C" fn(to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, bytes: usize, stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_MemsetD8 = Option<unsafe extern "C" fn(to: CUdeviceptr, value: c_uchar, count: usize) -> pool_cu_result>;

pub type pool_cuda_api_MemsetD16 = Option<unsafe extern "C" fn(to: CUdeviceptr, value: c_ushort, count: usize) -> pool_cu_result>;

pub type pool_cuda_api_MemsetD32 = Option<unsafe extern "C" fn(to: CUdeviceptr, value: c_uint, count: usize) -> pool_cu_result>;

pub type pool_cuda_api_MemsetD8Async = Option<unsafe extern "C" fn(to: CUdeviceptr, value: c_uchar, count: usize, stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_MemsetD16Async = Option<unsafe extern "C" fn(to: CUdeviceptr, value: c_ushort, count: usize, stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_MemsetD32Async = Option<unsafe extern "C" fn(to: CUdeviceptr, value: c_uint, count: usize, stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_PointerGetAttribute = Option<unsafe extern "C" fn(value: *mut c_void, attribute: pool_cu_enum, address: CUdeviceptr) -> pool_cu_result>;

pub type pool_cuda_api_MemPoolCreate = Option<unsafe extern "C" fn(pool: *mut CUmemoryPool, props: *const pool_cu_mem_pool_props) -> pool_cu_result>;

pub type pool_cuda_api_MemPoolDestroy = Option<unsafe extern "C" fn(pool: CUmemoryPool) -> pool_cu_result>;

pub type pool_cuda_api_MemPoolTrimTo = Option<unsafe extern "C" fn(pool: CUmemoryPool, keep_bytes: usize) -> pool_cu_result>;

pub type pool_cuda_api_MemPoolSetAttribute = Option<unsafe extern "C" fn(pool: CUmemoryPool, attribute: pool_cu_enum, value: *mut c_void) -> pool_cu_result>;

pub type pool_cuda_api_MemPoolGetAttribute = Option<unsafe extern "C" fn(pool: CUmemoryPool, attribute: pool_cu_enum, value: *mut c_void) -> pool_cu_result>;

pub type pool_cuda_api_MemPoolSetAccess = Option<unsafe extern "C" fn(pool: CUmemoryPool, access: *const pool_cu_mem_access, count: usize) -> pool_cu_result>;

pub type pool_cuda_api_MemAllocFromPoolAsync = Option<unsafe extern "C" fn(address: *mut CUdeviceptr, bytes: usize, pool: CUmemoryPool, stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_MemFreeAsync = Option<unsafe extern "C" fn(address: CUdeviceptr, stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_ModuleLoadData = Option<unsafe extern "C" fn(module: *mut CUmodule, image: *const c_void) -> pool_cu_result>;

pub type pool_cuda_api_ModuleLoadDataEx = Option<unsafe extern "C" fn(module: *mut CUmodule, image: *const c_void, count: c_uint, options: *mut pool_cu_enum, values: *mut *mut c_void) -> pool_cu_result>;

pub type pool_cuda_api_ModuleUnload = Option<unsafe extern "C" fn(module: CUmodule) -> pool_cu_result>;

pub type pool_cuda_api_ModuleGetFunction = Option<unsafe extern "C" fn(function: *mut CUfunction, module: CUmodule, name: *const c_char) -> pool_cu_result>;

pub type pool_cuda_api_ModuleGetGlobal = Option<unsafe extern "C" fn(address: *mut CUdeviceptr, bytes: *mut usize, module: CUmodule, name: *const c_char) -> pool_cu_result>;

pub type pool_cuda_api_FuncGetAttribute = Option<unsafe extern "C" fn(value: *mut c_int, attribute: pool_cu_enum, function: CUfunction) -> pool_cu_result>;

pub type pool_cuda_api_FuncSetAttribute = Option<unsafe extern "C" fn(function: CUfunction, attribute: pool_cu_enum, value: c_int) -> pool_cu_result>;

pub type pool_cuda_api_FuncSetCacheConfig = Option<unsafe extern "C" fn(function: CUfunction, config: pool_cu_enum) -> pool_cu_result>;

pub type pool_cuda_api_FuncGetParamInfo = Option<unsafe extern "C" fn(function: CUfunction, index: usize, offset: *mut usize, bytes: *mut usize) -> pool_cu_result>;

pub type pool_cuda_api_OccupancyMaxActiveBlocksPerMultiprocessor = Option<unsafe extern "C" fn(blocks: *mut c_int, function: CUfunction, block_size: c_int, dynamic_shared_bytes: usize) -> pool_cu_result>;

pub type pool_cuda_api_OccupancyMaxPotentialBlockSize = Option<unsafe extern "C" fn(min_grid_size: *mut c_int, block_size: *mut c_int, function: CUfunction, shared_of: pool_cu_block_to_shared, dynamic_shared_bytes: usize, block_size_limit: c_int) -> pool_cu_result>;

pub type pool_cuda_api_LaunchKernel = Option<unsafe extern "C" fn(function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint, dynamic_shared_bytes: c_uint, stream: CUstream, arguments: *mut *mut c_void, extra: *mut *mut c_void) -> pool_cu_result>;

pub type pool_cuda_api_LaunchCooperativeKernel = Option<unsafe extern "C" fn(function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint, dynamic_shared_bytes: c_uint, stream: CUstream, arguments: *mut *mut c_void) -> pool_cu_result>;

pub type pool_cuda_api_LaunchHostFunc = Option<unsafe extern "C" fn(stream: CUstream, function: pool_cu_host_function, user: *mut c_void) -> pool_cu_result>;

pub type pool_cuda_api_StreamCreateWithPriority = Option<unsafe extern "C" fn(stream: *mut CUstream, flags: c_uint, priority: c_int) -> pool_cu_result>;

pub type pool_cuda_api_StreamDestroy = Option<unsafe extern "C" fn(stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_StreamSynchronize = Option<unsafe extern "C" fn(stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_StreamQuery = Option<unsafe extern "C" fn(stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_StreamWaitEvent = Option<unsafe extern "C" fn(stream: CUstream, event: CUevent, flags: c_uint) -> pool_cu_result>;

pub type pool_cuda_api_StreamGetPriority = Option<unsafe extern "C" fn(stream: CUstream, priority: *mut c_int) -> pool_cu_result>;

pub type pool_cuda_api_StreamGetFlags = Option<unsafe extern "C" fn(stream: CUstream, flags: *mut c_uint) -> pool_cu_result>;

pub type pool_cuda_api_StreamGetCtx = Option<unsafe extern "C" fn(stream: CUstream, context: *mut CUcontext) -> pool_cu_result>;

pub type pool_cuda_api_EventCreate = Option<unsafe extern "C" fn(event: *mut CUevent, flags: c_uint) -> pool_cu_result>;

pub type pool_cuda_api_EventDestroy = Option<unsafe extern "C" fn(event: CUevent) -> pool_cu_result>;

pub type pool_cuda_api_EventRecord = Option<unsafe extern "C" fn(event: CUevent, stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_EventQuery = Option<unsafe extern "C" fn(event: CUevent) -> pool_cu_result>;

pub type pool_cuda_api_EventSynchronize = Option<unsafe extern "C" fn(event: CUevent) -> pool_cu_result>;

pub type pool_cuda_api_EventElapsedTime = Option<unsafe extern "C" fn(milliseconds: *mut f32, start: CUevent, end: CUevent) -> pool_cu_result>;

pub type pool_cuda_api_PointerGetAttributes = Option<unsafe extern "C" fn(count: c_uint, attributes: *mut pool_cu_enum, values: *mut *mut c_void, address: CUdeviceptr) -> pool_cu_result>;

pub type pool_cuda_api_LaunchKernelEx = Option<unsafe extern "C" fn(config: *const pool_cu_launch_config, function: CUfunction, arguments: *mut *mut c_void, extra: *mut *mut c_void) -> pool_cu_result>;

pub type pool_cuda_api_DevicePrimaryCtxSetFlags = Option<unsafe extern "C" fn(device: CUdevice, flags: c_uint) -> pool_cu_result>;

pub type pool_cuda_api_ProfilerStart = Option<unsafe extern "C" fn() -> pool_cu_result>;

pub type pool_cuda_api_ProfilerStop = Option<unsafe extern "C" fn() -> pool_cu_result>;

pub type pool_cuda_api_Memcpy2DAsync = Option<unsafe extern "C" fn(copy: *const pool_cu_copy_2d, stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_OccupancyMaxPotentialClusterSize = Option<unsafe extern "C" fn(blocks: *mut c_int, function: CUfunction, config: *const pool_cu_launch_config) -> pool_cu_result>;

pub type pool_cuda_api_OccupancyMaxActiveClusters = Option<unsafe extern "C" fn(clusters: *mut c_int, function: CUfunction, config: *const pool_cu_launch_config) -> pool_cu_result>;

pub type pool_cuda_api_MemGetAllocationGranularity = Option<unsafe extern "C" fn(bytes: *mut usize, prop: *const pool_cu_mem_allocation_prop, option: pool_cu_enum) -> pool_cu_result>;

pub type pool_cuda_api_MemAddressReserve = Option<unsafe extern "C" fn(address: *mut CUdeviceptr, bytes: usize, alignment: usize, wanted: CUdeviceptr, flags: c_ulonglong) -> pool_cu_result>;

pub type pool_cuda_api_MemAddressFree = Option<unsafe extern "C" fn(address: CUdeviceptr, bytes: usize) -> pool_cu_result>;

pub type pool_cuda_api_MemCreate = Option<unsafe extern "C" fn(allocation: *mut CUmemGenericAllocationHandle, bytes: usize, prop: *const pool_cu_mem_allocation_prop, flags: c_ulonglong) -> pool_cu_result>;

pub type pool_cuda_api_MemRelease = Option<unsafe extern "C" fn(allocation: CUmemGenericAllocationHandle) -> pool_cu_result>;

pub type pool_cuda_api_MemMap = Option<unsafe extern "C" fn(address: CUdeviceptr, bytes: usize, offset: usize, allocation: CUmemGenericAllocationHandle, flags: c_ulonglong) -> pool_cu_result>;

pub type pool_cuda_api_MemUnmap = Option<unsafe extern "C" fn(address: CUdeviceptr, bytes: usize) -> pool_cu_result>;

pub type pool_cuda_api_MemSetAccess = Option<unsafe extern "C" fn(address: CUdeviceptr, bytes: usize, access: *const pool_cu_mem_access, count: usize) -> pool_cu_result>;

pub type pool_cuda_api_MemExportToShareableHandle = Option<unsafe extern "C" fn(shareable: *mut c_void, allocation: CUmemGenericAllocationHandle, r#type: pool_cu_enum, flags: c_ulonglong) -> pool_cu_result>;

pub type pool_cuda_api_MemImportFromShareableHandle = Option<unsafe extern "C" fn(allocation: *mut CUmemGenericAllocationHandle, shareable: *mut c_void, r#type: pool_cu_enum) -> pool_cu_result>;

pub type pool_cuda_api_StreamBeginCapture = Option<unsafe extern "C" fn(stream: CUstream, mode: pool_cu_enum) -> pool_cu_result>;

pub type pool_cuda_api_StreamEndCapture = Option<unsafe extern "C" fn(stream: CUstream, graph: *mut CUgraph) -> pool_cu_result>;

pub type pool_cuda_api_GraphInstantiateWithFlags = Option<unsafe extern "C" fn(exec: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong) -> pool_cu_result>;

pub type pool_cuda_api_GraphExecUpdate = Option<unsafe extern "C" fn(exec: CUgraphExec, graph: CUgraph, result: *mut pool_cu_graph_update) -> pool_cu_result>;

pub type pool_cuda_api_GraphLaunch = Option<unsafe extern "C" fn(exec: CUgraphExec, stream: CUstream) -> pool_cu_result>;

pub type pool_cuda_api_GraphExecDestroy = Option<unsafe extern "C" fn(exec: CUgraphExec) -> pool_cu_result>;

pub type pool_cuda_api_GraphDestroy = Option<unsafe extern "C" fn(graph: CUgraph) -> pool_cu_result>;

pub type pool_cuda_api_IpcGetMemHandle = Option<unsafe extern "C" fn(handle: *mut pool_cu_ipc_handle, address: CUdeviceptr) -> pool_cu_result>;

pub type pool_cuda_api_IpcOpenMemHandle = Option<unsafe extern "C" fn(address: *mut CUdeviceptr, handle: pool_cu_ipc_handle, flags: c_uint) -> pool_cu_result>;

pub type pool_cuda_api_IpcCloseMemHandle = Option<unsafe extern "C" fn(address: CUdeviceptr) -> pool_cu_result>;

pub type pool_cuda_api_IpcGetEventHandle = Option<unsafe extern "C" fn(handle: *mut pool_cu_ipc_handle, event: CUevent) -> pool_cu_result>;

pub type pool_cuda_api_IpcOpenEventHandle = Option<unsafe extern "C" fn(event: *mut CUevent, handle: pool_cu_ipc_handle) -> pool_cu_result>;

pub type pool_cuda_api_CtxGetId = Option<unsafe extern "C" fn(context: CUcontext, id: *mut c_ulonglong) -> pool_cu_result>;

pub type pool_cuda_api_DeviceGetDevResource = Option<unsafe extern "C" fn(device: CUdevice, resource: *mut pool_cu_dev_resource, r#type: pool_cu_enum) -> pool_cu_result>;

pub type pool_cuda_api_DevSmResourceSplitByCount = Option<unsafe extern "C" fn(groups: *mut pool_cu_dev_resource, count: *mut c_uint, input: *const pool_cu_dev_resource, remaining: *mut pool_cu_dev_resource, flags: c_uint, min_count: c_uint) -> pool_cu_result>;

pub type pool_cuda_api_DevResourceGenerateDesc = Option<unsafe extern "C" fn(desc: *mut CUdevResourceDesc, resources: *mut pool_cu_dev_resource, count: c_uint) -> pool_cu_result>;

pub type pool_cuda_api_GreenCtxCreate = Option<unsafe extern "C" fn(green: *mut CUgreenCtx, desc: CUdevResourceDesc, device: CUdevice, flags: c_uint) -> pool_cu_result>;

pub type pool_cuda_api_GreenCtxDestroy = Option<unsafe extern "C" fn(green: CUgreenCtx) -> pool_cu_result>;

pub type pool_cuda_api_CtxFromGreenCtx = Option<unsafe extern "C" fn(context: *mut CUcontext, green: CUgreenCtx) -> pool_cu_result>;

pub type pool_cuda_api_GreenCtxStreamCreate = Option<unsafe extern "C" fn(stream: *mut CUstream, green: CUgreenCtx, flags: c_uint, priority: c_int) -> pool_cu_result>;

pub type pool_cuda_api_GreenCtxGetDevResource = Option<unsafe extern "C" fn(green: CUgreenCtx, resource: *mut pool_cu_dev_resource, r#type: pool_cu_enum) -> pool_cu_result>;

pub type pool_cuda_api_CtxGetDevResource = Option<unsafe extern "C" fn(context: CUcontext, resource: *mut pool_cu_dev_resource, r#type: pool_cu_enum) -> pool_cu_result>;

pub type pool_cuda_api_StreamGetGreenCtx = Option<unsafe extern "C" fn(stream: CUstream, green: *mut CUgreenCtx) -> pool_cu_result>;

pub type pool_cuda_api_GreenCtxRecordEvent = Option<unsafe extern "C" fn(green: CUgreenCtx, event: CUevent) -> pool_cu_result>;

pub type pool_cuda_api_GreenCtxWaitEvent = Option<unsafe extern "C" fn(green: CUgreenCtx, event: CUevent) -> pool_cu_result>;

pub type pool_fault_hook = Option<unsafe extern "C" fn(user: *mut c_void, fault: *const pool_fault)>;

pub type pool_params_host_memory = Option<unsafe extern "C" fn(user: *mut c_void) -> u64>;

pub type pool_device_visitor = Option<unsafe extern "C" fn(user: *mut c_void, device: *mut pool_device) -> c_int>;

pub type pool_pick_filter = Option<unsafe extern "C" fn(user: *mut c_void, candidate: *const pool_candidate) -> c_int>;

pub type pool_pick_score = Option<unsafe extern "C" fn(user: *mut c_void, candidate: *const pool_candidate) -> f64>;

pub type pool_task = Option<unsafe extern "C" fn(device: *mut pool_device, arg: *mut c_void) -> pool_status>;

pub type pool_host_task = Option<unsafe extern "C" fn(user: *mut c_void)>;

pub type pool_grant_hook = Option<unsafe extern "C" fn(user: *mut c_void, ticket: *mut pool_ticket)>;

pub type pool_exec_progress = Option<unsafe extern "C" fn(user: *mut c_void, done: u64, total: u64)>;

pub type pool_log_callback = Option<unsafe extern "C" fn(user: *mut c_void, record: *const pool_log_record)>;

pub type pool_cache_visitor = Option<unsafe extern "C" fn(user: *mut c_void, entry: *const pool_cache_entry) -> c_int>;

pub type pool_pack_progress = Option<unsafe extern "C" fn(user: *mut c_void, subject: *const c_char, programs: u64) -> c_int>;

pub type pool_resident_source = Option<unsafe extern "C" fn(user: *mut c_void, exec: *const pool_exec, buffer: *mut *mut pool_buffer) -> pool_status>;

pub type pool_sim_kernel_visitor = Option<unsafe extern "C" fn(user: *mut c_void, stats: *const pool_sim_kernel_stats) -> c_int>;

pub type pool_trace_hook = Option<unsafe extern "C" fn(user: *mut c_void, event: *const pool_trace_event)>;

pub type pool_tuning_visitor = Option<unsafe extern "C" fn(user: *mut c_void, number: *const pool_tuning_number) -> c_int>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_error {
    pub status: pool_status,
    pub driver_code: c_int,
    pub driver_name: *const c_char,
    pub call: *const c_char,
    pub message: *const c_char,
}
impl Default for pool_error {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_error_slot {
    pub struct_size: usize,
    pub status: pool_status,
    pub driver_code: i32,
    pub driver_name: [c_char; 64],
    pub call: [c_char; 128],
    pub message: [c_char; 1024],
}
impl Default for pool_error_slot {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_uuid {
    pub bytes: [c_char; 16],
}
impl Default for pool_cu_uuid {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_mem_location {
    pub r#type: pool_cu_enum,
    pub id: c_int,
}
impl Default for pool_cu_mem_location {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_mem_pool_props {
    pub allocation_type: pool_cu_enum,
    pub handle_types: pool_cu_enum,
    pub location: pool_cu_mem_location,
    pub win32_security_attributes: *mut c_void,
    pub max_size: usize,
    pub usage: c_ushort,
    pub reserved: [c_uchar; 54],
}
impl Default for pool_cu_mem_pool_props {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_mem_access {
    pub location: pool_cu_mem_location,
    pub flags: pool_cu_enum,
}
impl Default for pool_cu_mem_access {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_mem_allocation_prop {
    pub r#type: pool_cu_enum,
    pub handle_types: pool_cu_enum,
    pub location: pool_cu_mem_location,
    pub win32_metadata: *mut c_void,
    pub compression: c_uchar,
    pub gpu_direct_rdma: c_uchar,
    pub usage: c_ushort,
    pub reserved: [c_uchar; 4],
}
impl Default for pool_cu_mem_allocation_prop {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_ipc_handle {
    pub bytes: [c_char; 64],
}
impl Default for pool_cu_ipc_handle {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_copy_side {
    pub x_bytes: usize,
    pub y: usize,
    pub memory_type: pool_cu_enum,
    pub host: *mut c_void,
    pub device: CUdeviceptr,
    pub array: *mut c_void,
    pub pitch: usize,
}
impl Default for pool_cu_copy_side {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_copy_2d {
    pub from: pool_cu_copy_side,
    pub to: pool_cu_copy_side,
    pub width_bytes: usize,
    pub height: usize,
}
impl Default for pool_cu_copy_2d {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union pool_cu_launch_attribute_value {
    pub bytes: [c_char; 64],
    pub pointer: *mut c_void,
    pub number: c_int,
    pub cluster: [c_uint; 3],
}
impl Default for pool_cu_launch_attribute_value {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_launch_attribute {
    pub id: pool_cu_enum,
    pub padding: [c_char; 4],
    pub value: pool_cu_launch_attribute_value,
}
impl Default for pool_cu_launch_attribute {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_launch_config {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub dynamic_shared_bytes: c_uint,
    pub stream: CUstream,
    pub attributes: *mut pool_cu_launch_attribute,
    pub attribute_count: c_uint,
}
impl Default for pool_cu_launch_config {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_graph_update {
    pub result: pool_cu_enum,
    pub error_node: *mut c_void,
    pub error_from_node: *mut c_void,
}
impl Default for pool_cu_graph_update {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_dev_resource {
    pub r#type: pool_cu_enum,
    pub internal: [c_uchar; 92],
    pub sm_count: c_uint,
    pub min_partition: c_uint,
    pub sm_alignment: c_uint,
    pub oversize: [c_uchar; 36],
}
impl Default for pool_cu_dev_resource {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cuda_api {
    pub struct_size: usize,
    pub flags: u64,
    pub Init: pool_cuda_api_Init,
    pub DriverGetVersion: pool_cuda_api_DriverGetVersion,
    pub GetErrorName: pool_cuda_api_GetErrorName,
    pub GetErrorString: pool_cuda_api_GetErrorString,
    pub DeviceGet: pool_cuda_api_DeviceGet,
    pub DeviceGetCount: pool_cuda_api_DeviceGetCount,
    pub DeviceGetName: pool_cuda_api_DeviceGetName,
    pub DeviceGetUuid: pool_cuda_api_DeviceGetUuid,
    pub DeviceGetUuidV2: pool_cuda_api_DeviceGetUuidV2,
    pub DeviceTotalMem: pool_cuda_api_DeviceTotalMem,
    pub DeviceGetAttribute: pool_cuda_api_DeviceGetAttribute,
    pub DeviceGetPCIBusId: pool_cuda_api_DeviceGetPCIBusId,
    pub DeviceGetByPCIBusId: pool_cuda_api_DeviceGetByPCIBusId,
    pub DeviceCanAccessPeer: pool_cuda_api_DeviceCanAccessPeer,
    pub DeviceGetP2PAttribute: pool_cuda_api_DeviceGetP2PAttribute,
    pub DevicePrimaryCtxRetain: pool_cuda_api_DevicePrimaryCtxRetain,
    pub DevicePrimaryCtxRelease: pool_cuda_api_DevicePrimaryCtxRelease,
    pub DevicePrimaryCtxGetState: pool_cuda_api_DevicePrimaryCtxGetState,
    pub CtxCreate: pool_cuda_api_CtxCreate,
    pub CtxDestroy: pool_cuda_api_CtxDestroy,
    pub CtxPushCurrent: pool_cuda_api_CtxPushCurrent,
    pub CtxPopCurrent: pool_cuda_api_CtxPopCurrent,
    pub CtxSetCurrent: pool_cuda_api_CtxSetCurrent,
    pub CtxGetCurrent: pool_cuda_api_CtxGetCurrent,
    pub CtxGetDevice: pool_cuda_api_CtxGetDevice,
    pub CtxSynchronize: pool_cuda_api_CtxSynchronize,
    pub CtxGetFlags: pool_cuda_api_CtxGetFlags,
    pub CtxGetApiVersion: pool_cuda_api_CtxGetApiVersion,
    pub CtxGetLimit: pool_cuda_api_CtxGetLimit,
    pub CtxSetLimit: pool_cuda_api_CtxSetLimit,
    pub CtxGetStreamPriorityRange: pool_cuda_api_CtxGetStreamPriorityRange,
    pub CtxEnablePeerAccess: pool_cuda_api_CtxEnablePeerAccess,
    pub CtxDisablePeerAccess: pool_cuda_api_CtxDisablePeerAccess,
    pub MemGetInfo: pool_cuda_api_MemGetInfo,
    pub MemAlloc: pool_cuda_api_MemAlloc,
    pub MemFree: pool_cuda_api_MemFree,
    pub MemGetAddressRange: pool_cuda_api_MemGetAddressRange,
    pub MemHostAlloc: pool_cuda_api_MemHostAlloc,
    pub MemFreeHost: pool_cuda_api_MemFreeHost,
    pub MemHostRegister: pool_cuda_api_MemHostRegister,
    pub MemHostUnregister: pool_cuda_api_MemHostUnregister,
    pub MemHostGetDevicePointer: pool_cuda_api_MemHostGetDevicePointer,
    pub MemcpyHtoD: pool_cuda_api_MemcpyHtoD,
    pub MemcpyDtoH: pool_cuda_api_MemcpyDtoH,
    pub MemcpyDtoD: pool_cuda_api_MemcpyDtoD,
    pub MemcpyPeer: pool_cuda_api_MemcpyPeer,
    pub MemcpyHtoDAsync: pool_cuda_api_MemcpyHtoDAsync,
    pub MemcpyDtoHAsync: pool_cuda_api_MemcpyDtoHAsync,
    pub MemcpyDtoDAsync: pool_cuda_api_MemcpyDtoDAsync,
    pub MemcpyPeerAsync: pool_cuda_api_MemcpyPeerAsync,
    pub MemsetD8: pool_cuda_api_MemsetD8,
    pub MemsetD16: pool_cuda_api_MemsetD16,
    pub MemsetD32: pool_cuda_api_MemsetD32,
    pub MemsetD8Async: pool_cuda_api_MemsetD8Async,
    pub MemsetD16Async: pool_cuda_api_MemsetD16Async,
    pub MemsetD32Async: pool_cuda_api_MemsetD32Async,
    pub PointerGetAttribute: pool_cuda_api_PointerGetAttribute,
    pub MemPoolCreate: pool_cuda_api_MemPoolCreate,
    pub MemPoolDestroy: pool_cuda_api_MemPoolDestroy,
    pub MemPoolTrimTo: pool_cuda_api_MemPoolTrimTo,
    pub MemPoolSetAttribute: pool_cuda_api_MemPoolSetAttribute,
    pub MemPoolGetAttribute: pool_cuda_api_MemPoolGetAttribute,
    pub MemPoolSetAccess: pool_cuda_api_MemPoolSetAccess,
    pub MemAllocFromPoolAsync: pool_cuda_api_MemAllocFromPoolAsync,
    pub MemFreeAsync: pool_cuda_api_MemFreeAsync,
    pub ModuleLoadData: pool_cuda_api_ModuleLoadData,
    pub ModuleLoadDataEx: pool_cuda_api_ModuleLoadDataEx,
    pub ModuleUnload: pool_cuda_api_ModuleUnload,
    pub ModuleGetFunction: pool_cuda_api_ModuleGetFunction,
    pub ModuleGetGlobal: pool_cuda_api_ModuleGetGlobal,
    pub FuncGetAttribute: pool_cuda_api_FuncGetAttribute,
    pub FuncSetAttribute: pool_cuda_api_FuncSetAttribute,
    pub FuncSetCacheConfig: pool_cuda_api_FuncSetCacheConfig,
    pub FuncGetParamInfo: pool_cuda_api_FuncGetParamInfo,
    pub OccupancyMaxActiveBlocksPerMultiprocessor: pool_cuda_api_OccupancyMaxActiveBlocksPerMultiprocessor,
    pub OccupancyMaxPotentialBlockSize: pool_cuda_api_OccupancyMaxPotentialBlockSize,
    pub LaunchKernel: pool_cuda_api_LaunchKernel,
    pub LaunchCooperativeKernel: pool_cuda_api_LaunchCooperativeKernel,
    pub LaunchHostFunc: pool_cuda_api_LaunchHostFunc,
    pub StreamCreateWithPriority: pool_cuda_api_StreamCreateWithPriority,
    pub StreamDestroy: pool_cuda_api_StreamDestroy,
    pub StreamSynchronize: pool_cuda_api_StreamSynchronize,
    pub StreamQuery: pool_cuda_api_StreamQuery,
    pub StreamWaitEvent: pool_cuda_api_StreamWaitEvent,
    pub StreamGetPriority: pool_cuda_api_StreamGetPriority,
    pub StreamGetFlags: pool_cuda_api_StreamGetFlags,
    pub StreamGetCtx: pool_cuda_api_StreamGetCtx,
    pub EventCreate: pool_cuda_api_EventCreate,
    pub EventDestroy: pool_cuda_api_EventDestroy,
    pub EventRecord: pool_cuda_api_EventRecord,
    pub EventQuery: pool_cuda_api_EventQuery,
    pub EventSynchronize: pool_cuda_api_EventSynchronize,
    pub EventElapsedTime: pool_cuda_api_EventElapsedTime,
    pub PointerGetAttributes: pool_cuda_api_PointerGetAttributes,
    pub LaunchKernelEx: pool_cuda_api_LaunchKernelEx,
    pub DevicePrimaryCtxSetFlags: pool_cuda_api_DevicePrimaryCtxSetFlags,
    pub ProfilerStart: pool_cuda_api_ProfilerStart,
    pub ProfilerStop: pool_cuda_api_ProfilerStop,
    pub Memcpy2DAsync: pool_cuda_api_Memcpy2DAsync,
    pub OccupancyMaxPotentialClusterSize: pool_cuda_api_OccupancyMaxPotentialClusterSize,
    pub OccupancyMaxActiveClusters: pool_cuda_api_OccupancyMaxActiveClusters,
    pub MemGetAllocationGranularity: pool_cuda_api_MemGetAllocationGranularity,
    pub MemAddressReserve: pool_cuda_api_MemAddressReserve,
    pub MemAddressFree: pool_cuda_api_MemAddressFree,
    pub MemCreate: pool_cuda_api_MemCreate,
    pub MemRelease: pool_cuda_api_MemRelease,
    pub MemMap: pool_cuda_api_MemMap,
    pub MemUnmap: pool_cuda_api_MemUnmap,
    pub MemSetAccess: pool_cuda_api_MemSetAccess,
    pub MemExportToShareableHandle: pool_cuda_api_MemExportToShareableHandle,
    pub MemImportFromShareableHandle: pool_cuda_api_MemImportFromShareableHandle,
    pub StreamBeginCapture: pool_cuda_api_StreamBeginCapture,
    pub StreamEndCapture: pool_cuda_api_StreamEndCapture,
    pub GraphInstantiateWithFlags: pool_cuda_api_GraphInstantiateWithFlags,
    pub GraphExecUpdate: pool_cuda_api_GraphExecUpdate,
    pub GraphLaunch: pool_cuda_api_GraphLaunch,
    pub GraphExecDestroy: pool_cuda_api_GraphExecDestroy,
    pub GraphDestroy: pool_cuda_api_GraphDestroy,
    pub IpcGetMemHandle: pool_cuda_api_IpcGetMemHandle,
    pub IpcOpenMemHandle: pool_cuda_api_IpcOpenMemHandle,
    pub IpcCloseMemHandle: pool_cuda_api_IpcCloseMemHandle,
    pub IpcGetEventHandle: pool_cuda_api_IpcGetEventHandle,
    pub IpcOpenEventHandle: pool_cuda_api_IpcOpenEventHandle,
    pub CtxGetId: pool_cuda_api_CtxGetId,
    pub DeviceGetDevResource: pool_cuda_api_DeviceGetDevResource,
    pub DevSmResourceSplitByCount: pool_cuda_api_DevSmResourceSplitByCount,
    pub DevResourceGenerateDesc: pool_cuda_api_DevResourceGenerateDesc,
    pub GreenCtxCreate: pool_cuda_api_GreenCtxCreate,
    pub GreenCtxDestroy: pool_cuda_api_GreenCtxDestroy,
    pub CtxFromGreenCtx: pool_cuda_api_CtxFromGreenCtx,
    pub GreenCtxStreamCreate: pool_cuda_api_GreenCtxStreamCreate,
    pub GreenCtxGetDevResource: pool_cuda_api_GreenCtxGetDevResource,
    pub CtxGetDevResource: pool_cuda_api_CtxGetDevResource,
    pub StreamGetGreenCtx: pool_cuda_api_StreamGetGreenCtx,
    pub GreenCtxRecordEvent: pool_cuda_api_GreenCtxRecordEvent,
    pub GreenCtxWaitEvent: pool_cuda_api_GreenCtxWaitEvent,
}
impl Default for pool_cuda_api {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_device_info {
    pub struct_size: usize,
    pub index: u32,
    pub ordinal: i32,
    pub uuid: [c_char; 48],
    pub pci: [c_char; 24],
    pub name: [c_char; 128],
    pub compute_major: i32,
    pub compute_minor: i32,
    pub multiprocessors: i32,
    pub clock_khz: i32,
    pub memory_clock_khz: i32,
    pub memory_bus_bits: i32,
    pub l2_bytes: u64,
    pub total_bytes: u64,
    pub free_bytes: u64,
    pub ecc: i32,
    pub mps: i32,
    pub mig: i32,
    pub numa_node: i32,
    pub integrated: i32,
    pub compute_mode: i32,
    pub warp_size: i32,
    pub max_threads_per_block: i32,
    pub max_threads_per_multiprocessor: i32,
    pub max_blocks_per_multiprocessor: i32,
    pub registers_per_multiprocessor: i32,
    pub copy_engines: i32,
    pub shared_bytes_per_block: u64,
    pub shared_bytes_per_block_optin: u64,
    pub shared_bytes_per_multiprocessor: u64,
    pub memory_pools: i32,
    pub cooperative_launch: i32,
    pub has_context: i32,
    pub state: pool_device_state,
    pub reason: [c_char; 256],
    pub partition: i32,
    pub partitions: i32,
}
impl Default for pool_device_info {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_peer_info {
    pub struct_size: usize,
    pub access: i32,
    pub native_atomics: i32,
    pub performance_rank: i32,
}
impl Default for pool_peer_info {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_component {
    pub status: pool_status,
    pub version: i32,
    pub path: [c_char; 256],
    pub message: [c_char; 1024],
}
impl Default for pool_component {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_host_info {
    pub struct_size: usize,
    pub driver: pool_component,
    pub compiler: pool_component,
}
impl Default for pool_host_info {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_fault_kernel {
    pub device: *mut pool_device,
    pub ordinal: i32,
    pub launches: u32,
    pub name: *const c_char,
    pub stream: CUstream,
    pub label: *const c_char,
}
impl Default for pool_fault_kernel {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_fault {
    pub error_class: pool_error_class,
    pub driver_code: c_int,
    pub driver_name: *const c_char,
    pub message: *const c_char,
    pub device: *mut pool_device,
    pub shown_on: *mut pool_device,
    pub kernels: *const pool_fault_kernel,
    pub kernel_count: usize,
}
impl Default for pool_fault {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_params {
    pub struct_size: usize,
    pub devices: *const c_char,
    pub min_devices: u32,
    pub context_mode: pool_context_mode,
    pub context_flags: u32,
    pub lazy: i32,
    pub contexts: *const CUcontext,
    pub context_count: usize,
    pub fault_hook: pool_fault_hook,
    pub fault_user: *mut c_void,
    pub driver: *const pool_cuda_api,
    pub memory_limit: u64,
    pub memory_limit_percent: u32,
    pub slots: u32,
    pub memory_headroom: u64,
    pub stall_timeout_ns: u64,
    pub status_socket: *const c_char,
    pub isolation: pool_isolation,
    pub tuning: *const pool_tuning,
    pub host_memory: pool_params_host_memory,
    pub host_memory_user: *mut c_void,
    pub urgent_classes: [i32; 3],
    pub background_classes: [i32; 2],
    pub shared_multiprocessors: u32,
    pub slice_ns: u64,
    pub partitions: *const u32,
    pub partition_count: u32,
    pub worker_spin_ns: u64,
}
impl Default for pool_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_candidate {
    pub device: *mut pool_device,
    pub free_bytes: u64,
    pub total_bytes: u64,
    pub bindings: u32,
    pub calls: u32,
    pub busy_streams: u32,
    pub unfinished: u64,
    pub reserved_bytes: u64,
    pub leases: u32,
}
impl Default for pool_candidate {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_pick {
    pub struct_size: usize,
    pub policy: pool_policy,
    pub min_free_bytes: u64,
    pub filter: pool_pick_filter,
    pub score: pool_pick_score,
    pub user: *mut c_void,
}
impl Default for pool_pick {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_health_info {
    pub struct_size: usize,
    pub harmed: pool_error_class,
    pub devices: u32,
    pub usable_devices: u32,
    pub bindings: u32,
    pub driver_code: i32,
    pub driver_name: [c_char; 64],
    pub first_cause: [c_char; 1024],
    pub fault_unix_time: u64,
    pub fault_device: i32,
    pub fault_shown_on: i32,
    pub draining_devices: u32,
    pub quarantined_devices: u32,
    pub abandoned_devices: u32,
    pub stalled_devices: u32,
}
impl Default for pool_health_info {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_setting {
    pub struct_size: usize,
    pub name: *const c_char,
    pub value: *const c_char,
    pub fallback: *const c_char,
    pub meaning: *const c_char,
    pub source: pool_setting_source,
    pub line: u32,
    pub file: *const c_char,
}
impl Default for pool_setting {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_stream_params {
    pub struct_size: usize,
    pub priority: i32,
    pub flags: u32,
}
impl Default for pool_stream_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_shared_event {
    pub handle: [c_uchar; 64],
}
impl Default for pool_shared_event {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_request {
    pub struct_size: usize,
    pub bytes: u64,
    pub slots: u32,
    pub devices: u32,
    pub pick: *const pool_pick,
    pub device: *mut pool_device,
    pub near_resident: *const pool_resident,
    pub priority: i32,
    pub flags: u32,
    pub timeout_ns: u64,
    pub duration_ns: u64,
    pub cancel: *mut pool_cancel,
    pub label: *const c_char,
    pub error: *mut pool_error_slot,
}
impl Default for pool_request {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_lease_info {
    pub struct_size: usize,
    pub bytes: u64,
    pub slots: u32,
    pub devices: u32,
    pub priority: i32,
    pub flags: u32,
    pub waited_ns: u64,
    pub held_ns: u64,
    pub duration_ns: u64,
    pub is_overdue: i32,
    pub level: i32,
    pub label: [c_char; 64],
}
impl Default for pool_lease_info {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_lease_usage {
    pub struct_size: usize,
    pub device: *mut pool_device,
    pub limit_bytes: u64,
    pub used_bytes: u64,
    pub peak_bytes: u64,
}
impl Default for pool_lease_usage {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_lease_counts {
    pub struct_size: usize,
    pub leases: u32,
    pub overdue: u32,
    pub waiting: u32,
    pub reserved: u32,
    pub longest_wait_ns: u64,
    pub granted: u64,
    pub failed: u64,
    pub became_overdue: u64,
}
impl Default for pool_lease_counts {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_span {
    pub data: *mut c_void,
    pub count: u64,
    pub stride: u64,
    pub form: pool_form,
    pub space: pool_memory_space,
}
impl Default for pool_span {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_buffer_params {
    pub struct_size: usize,
    pub bytes: u64,
    pub flags: u32,
    pub stream: *mut pool_stream,
    pub lease: *mut pool_lease,
}
impl Default for pool_buffer_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_shared_buffer {
    pub handle: [c_uchar; 64],
    pub offset: u64,
    pub bytes: u64,
}
impl Default for pool_shared_buffer {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_pitched {
    pub buffer: *mut pool_buffer,
    pub offset: u64,
    pub host: *mut c_void,
    pub pitch: u64,
}
impl Default for pool_pitched {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_memory_info {
    pub struct_size: usize,
    pub free_bytes: u64,
    pub total_bytes: u64,
    pub used_bytes: u64,
    pub used_high_water_bytes: u64,
    pub reserved_bytes: u64,
    pub reserved_high_water_bytes: u64,
    pub release_threshold: u64,
    pub pinned_bytes: u64,
    pub staging_bytes: u64,
    pub quarantined_bytes: u64,
    pub buffers: u64,
    pub memory_pool: i32,
    pub pinned_deferred_bytes: u64,
    pub memory_limit: u64,
    pub memory_headroom: u64,
    pub available_bytes: u64,
    pub lease_reserved_bytes: u64,
    pub lease_charged_bytes: u64,
    pub leases: u64,
    pub pinned_unused_bytes: u64,
    pub pinned_threshold: u64,
    pub pinned_allocations: u64,
    pub pinned_reuses: u64,
    pub physical_bytes: u64,
}
impl Default for pool_memory_info {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_exec {
    pub struct_size: usize,
    pub device: *mut pool_device,
    pub stream: *mut pool_stream,
    pub is_async: i32,
    pub on_host: i32,
    pub checks: u32,
    pub reserved: u32,
    pub workspace: *mut pool_buffer,
    pub memory_limit: u64,
    pub cancel: *mut pool_cancel,
    pub progress: pool_exec_progress,
    pub user: *mut c_void,
    pub lease: *mut pool_lease,
    pub devices: *const *mut pool_device,
    pub device_count: u32,
    pub workspace_count: u32,
    pub workspaces: *const *mut pool_buffer,
    pub timeout_ns: u64,
    pub error: *mut pool_error_slot,
    pub slice_ns: u64,
}
impl Default for pool_exec {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_field_params {
    pub struct_size: usize,
    pub modulus: *const c_char,
    pub name: *const c_char,
    pub generator: *const c_char,
    pub root: *const c_char,
}
impl Default for pool_field_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_ntt_domain_params {
    pub struct_size: usize,
    pub field: *const pool_field,
    pub log_size: u32,
    pub reserved: u32,
    pub convention: *const c_char,
    pub root: *const c_char,
    pub coset: *const c_char,
}
impl Default for pool_ntt_domain_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_ntt_params {
    pub struct_size: usize,
    pub domain: *mut pool_ntt_domain,
    pub direction: pool_ntt_direction,
    pub coset: i32,
    pub order: pool_ntt_order,
    pub layout: pool_ntt_layout,
    pub batch: u64,
}
impl Default for pool_ntt_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_ntt_extend_params {
    pub struct_size: usize,
    pub domain: *mut pool_ntt_domain,
    pub log_blowup: u32,
    pub from_coefficients: i32,
    pub order: pool_ntt_order,
    pub layout: pool_ntt_layout,
    pub batch: u64,
}
impl Default for pool_ntt_extend_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_poseidon_params {
    pub struct_size: usize,
    pub name: *const c_char,
    pub field: *const pool_field,
    pub kind: pool_poseidon_kind,
    pub width: u32,
    pub alpha: u32,
    pub full_rounds: u32,
    pub partial_rounds: u32,
    pub partial_index: u32,
    pub form: pool_form,
    pub round_constants: *const c_void,
    pub round_constant_count: usize,
    pub mds: *const c_void,
    pub mds_count: usize,
    pub internal_diagonal: *const c_void,
    pub internal_diagonal_count: usize,
    pub max_inputs: u32,
    pub input_index: u32,
    pub rate: u32,
    pub domain_tag_index: u32,
    pub domain_tag: *const c_void,
    pub output_index: u32,
    pub digest_elements: u32,
    pub feed_forward: i32,
}
impl Default for pool_poseidon_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_poseidon_sponge_params {
    pub struct_size: usize,
    pub elements: u32,
    pub output_elements: u32,
    pub rate: u32,
    pub mode: pool_sponge_mode,
    pub padding: pool_sponge_padding,
    pub domain_tag: *const c_void,
}
impl Default for pool_poseidon_sponge_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_merkle_params {
    pub struct_size: usize,
    pub arity: u32,
    pub leaf_elements: u32,
    pub height: u32,
    pub kept_levels: u32,
    pub leaf_mode: pool_sponge_mode,
    pub padding: *const c_void,
}
impl Default for pool_merkle_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_merkle_shape {
    pub struct_size: usize,
    pub height: u32,
    pub first_level: u32,
    pub digest_count: u64,
    pub path_count: u64,
    pub bytes: u64,
}
impl Default for pool_merkle_shape {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_matrix {
    pub span: pool_span,
    pub height: u64,
    pub width: u32,
    pub layout: pool_matrix_layout,
}
impl Default for pool_matrix {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_matrix_commit_params {
    pub struct_size: usize,
    pub set: *const pool_poseidon,
    pub row_set: *const pool_poseidon,
    pub keeps_short_rows: i32,
    pub cap_height: u32,
    pub kept_levels: u32,
    pub reserved: u32,
}
impl Default for pool_matrix_commit_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_matrix_commit_shape {
    pub struct_size: usize,
    pub height: u32,
    pub first_level: u32,
    pub digest_count: u64,
    pub cap_count: u64,
    pub row_elements: u64,
    pub bytes: u64,
}
impl Default for pool_matrix_commit_shape {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_extension {
    pub params: *const pool_ntt_extend_params,
    pub trace: pool_span,
    pub extended: pool_span,
}
impl Default for pool_extension {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_curve_params {
    pub struct_size: usize,
    pub field: *const pool_field,
    pub a: [*const c_char; 2],
    pub b: [*const c_char; 2],
    pub generator_x: [*const c_char; 2],
    pub generator_y: [*const c_char; 2],
    pub order: *const c_char,
    pub cofactor: *const c_char,
    pub nonresidue: i32,
    pub reserved: u32,
    pub scalar_field: *const pool_field,
    pub name: *const c_char,
}
impl Default for pool_curve_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_point_format {
    pub layout: pool_point_layout,
    pub form: pool_form,
    pub stride: u64,
}
impl Default for pool_point_format {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_ecntt_params {
    pub struct_size: usize,
    pub curve: *const pool_curve,
    pub domain: *mut pool_ntt_domain,
    pub direction: pool_ntt_direction,
    pub coset: i32,
    pub order: pool_ntt_order,
    pub layout: pool_ntt_layout,
    pub batch: u64,
    pub point_layout: pool_point_layout,
    pub result_layout: pool_point_layout,
}
impl Default for pool_ecntt_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_fri_fold_params {
    pub struct_size: usize,
    pub field: *const pool_field,
    pub domain: *const pool_ntt_domain,
    pub log_folded: u32,
    pub log_arity: u32,
    pub is_bit_reversed: i32,
    pub on_subgroup: i32,
    pub challenge: *const c_void,
}
impl Default for pool_fri_fold_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_matrix_evaluate_params {
    pub struct_size: usize,
    pub field: *const pool_field,
    pub domain: *const pool_ntt_domain,
    pub is_bit_reversed: i32,
    pub on_subgroup: i32,
}
impl Default for pool_matrix_evaluate_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_file_params {
    pub struct_size: usize,
    pub kind: pool_file_kind,
    pub layout: pool_point_layout,
    pub form: pool_form,
    pub trusted: u32,
    pub curve: *const pool_curve,
    pub field: *const pool_field,
}
impl Default for pool_file_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_file_info {
    pub struct_size: usize,
    pub kind: pool_file_kind,
    pub version: u32,
    pub bytes: u64,
    pub sections: u64,
    pub field: *const pool_field,
    pub curves: [*const pool_curve; 2],
    pub power: u32,
    pub ceremony_power: u32,
    pub domain_size: u64,
    pub variables: u64,
    pub public_signals: u64,
    pub outputs: u64,
    pub public_inputs: u64,
    pub private_inputs: u64,
    pub labels: u64,
    pub constraints: u64,
    pub convention: *const c_char,
    pub custom_gates: u64,
    pub custom_gate_uses: u64,
    pub unknown_sections: u64,
}
impl Default for pool_file_info {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_file_section {
    pub struct_size: usize,
    pub name: *const c_char,
    pub item: pool_file_item,
    pub layout: pool_point_layout,
    pub curve: *const pool_curve,
    pub field: *const pool_field,
    pub span: pool_span,
    pub offset: u64,
    pub levels: u32,
    pub reserved: u32,
    pub convention: *const c_char,
}
impl Default for pool_file_section {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_log_record {
    pub struct_size: usize,
    pub level: pool_log_level,
    pub device: i32,
    pub message: *const c_char,
    pub lease: *const c_char,
    pub call: *const c_char,
    pub code: i32,
}
impl Default for pool_log_record {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_module_header {
    pub name: *const c_char,
    pub text: *const c_char,
}
impl Default for pool_module_header {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_module_arithmetic {
    pub prefix: *const c_char,
    pub field: *const pool_field,
    pub curve: *const pool_curve,
    pub poseidon: *const pool_poseidon,
}
impl Default for pool_module_arithmetic {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_module_params {
    pub struct_size: usize,
    pub source: *const c_char,
    pub name: *const c_char,
    pub headers: *const pool_module_header,
    pub header_count: usize,
    pub defines: *const *const c_char,
    pub define_count: usize,
    pub options: *const *const c_char,
    pub option_count: usize,
    pub no_cache: i32,
    pub cancel: *mut pool_cancel,
    pub arithmetic: *const pool_module_arithmetic,
    pub arithmetic_count: usize,
    pub names: *const *const c_char,
    pub name_count: usize,
}
impl Default for pool_module_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_kernel_info {
    pub struct_size: usize,
    pub max_threads_per_block: i32,
    pub registers: i32,
    pub static_shared_bytes: u64,
    pub max_dynamic_shared_bytes: u64,
    pub local_bytes: u64,
    pub constant_bytes: u64,
    pub ptx_version: i32,
    pub binary_version: i32,
    pub parameter_count: i32,
}
impl Default for pool_kernel_info {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_launch_shape {
    pub struct_size: usize,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared_bytes: u64,
    pub cooperative: i32,
    pub argument_count: u32,
    pub argument_bytes: *const usize,
    pub pdl: i32,
    pub priority: i32,
    pub cluster: [u32; 3],
}
impl Default for pool_launch_shape {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cache_entry {
    pub struct_size: usize,
    pub key: [c_char; 65],
    pub name: [c_char; 64],
    pub bytes: u64,
    pub created_unix_time: u64,
    pub compute_capability: i32,
    pub is_ptx: i32,
    pub valid: i32,
}
impl Default for pool_cache_entry {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_pack_info {
    pub struct_size: usize,
    pub path: [c_char; 512],
    pub compute_capability: i32,
    pub compiler_version: i32,
    pub entries: u64,
    pub bytes: u64,
    pub is_used: i32,
    pub reason: [c_char; 512],
}
impl Default for pool_pack_info {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_pack_params {
    pub struct_size: usize,
    pub compute_capability: i32,
    pub form: i32,
    pub fields: *const *const pool_field,
    pub field_count: usize,
    pub curves: *const *const pool_curve,
    pub curve_count: usize,
    pub sets: *const *mut pool_poseidon,
    pub set_count: usize,
    pub progress: pool_pack_progress,
    pub user: *mut c_void,
}
impl Default for pool_pack_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_bases_params {
    pub struct_size: usize,
    pub curve: *const pool_curve,
    pub layout: pool_point_layout,
    pub precompute_factor: u32,
    pub window_bits: u32,
    pub scalar_bits: u32,
    pub planned_terms: u64,
    pub leading_infinities: u64,
}
impl Default for pool_bases_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_msm_params {
    pub struct_size: usize,
    pub curve: *const pool_curve,
    pub bases: *mut pool_bases,
    pub first_base: u64,
    pub point_layout: pool_point_layout,
    pub result_layout: pool_point_layout,
    pub batch: u64,
    pub shared_bases: i32,
    pub scalar_bits: u32,
    pub window_bits: u32,
    pub device_bases: *const *mut pool_bases,
    pub replicated_bases: i32,
    pub affine_passes: u32,
}
impl Default for pool_msm_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_msm_term {
    pub bases: *mut pool_bases,
    pub first_base: u64,
    pub scalars: pool_span,
    pub result: u64,
}
impl Default for pool_msm_term {
    /// All zeros.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let made: Self = unsafe { core::mem::zeroed() };
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_msm_joint_params {
    pub struct_size: usize,
    pub result_layout: pool_point_layout,
    pub scalar_bits: u32,
    pub window_bits: u32,
}
impl Default for pool_msm_joint_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_resident_params {
    pub struct_size: usize,
    pub name: *const c_char,
    pub flags: u32,
    pub reserved: u32,
    pub bases: *const pool_bases_params,
    pub points: *const pool_span,
    pub path: *const c_char,
    pub source: pool_resident_source,
    pub user: *mut c_void,
    pub bytes: u64,
}
impl Default for pool_resident_params {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_resident_info {
    pub struct_size: usize,
    pub name: [c_char; 64],
    pub is_resident: i32,
    pub users: u32,
    pub bytes: u64,
    pub loads: u64,
    pub idle_ns: u64,
    pub survivals: u64,
}
impl Default for pool_resident_info {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_sim_fault {
    pub struct_size: usize,
    pub driver_code: i32,
    pub device: i32,
    pub kind: [c_char; 40],
    pub kernel: [c_char; 256],
    pub block: [u32; 3],
    pub thread: [u32; 3],
    pub line: u32,
    pub space: [c_char; 16],
    pub address: u64,
    pub bytes: u32,
    pub is_write: i32,
    pub nearest_address: u64,
    pub nearest_bytes: u64,
    pub text: [c_char; 512],
    pub source_line: u32,
    pub source_file: [c_char; 256],
}
impl Default for pool_sim_fault {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_sim_kernel_stats {
    pub struct_size: usize,
    pub kernel: *const c_char,
    pub device: i32,
    pub launches: u64,
    pub blocks: u64,
    pub threads: u64,
    pub warp_instructions: u64,
    pub lane_instructions: u64,
    pub lanes_by_class: [u64; 10],
}
impl Default for pool_sim_kernel_stats {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_trace_event {
    pub struct_size: usize,
    pub is_end: i32,
    pub kind: pool_trace_kind,
    pub id: u64,
    pub parent: u64,
    pub time_ns: u64,
    pub name: *const c_char,
    pub subject: *const c_char,
    pub device: i32,
    pub status: pool_status,
    pub items: u64,
}
impl Default for pool_trace_event {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_tuning_info {
    pub struct_size: usize,
    pub source: pool_tuning_source,
    pub changed: u32,
    pub path: [c_char; 256],
    pub message: [c_char; 256],
}
impl Default for pool_tuning_info {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_tuning_number {
    pub struct_size: usize,
    pub name: *const c_char,
    pub value: u32,
    pub default_value: u32,
    pub min: u32,
    pub max: u32,
    pub candidates: *const u32,
    pub candidate_count: u32,
}
impl Default for pool_tuning_number {
    /// All zeros, and the size.
    fn default() -> Self {
        // All members are integers, pointers, options of functions: zeros are valid.
        let mut made: Self = unsafe { core::mem::zeroed() };
        made.struct_size = core::mem::size_of::<Self>();
        made
    }
}

extern "C" {
    pub fn pool_version_number() -> c_int;
    pub fn pool_version_text() -> *const c_char;
    pub fn pool_status_name(status: pool_status) -> *const c_char;
    pub fn pool_status_text(status: pool_status) -> *const c_char;
    pub fn pool_status_class(status: pool_status) -> pool_error_class;
    pub fn pool_error_class_name(error_class: pool_error_class) -> *const c_char;
    pub fn pool_last_error() -> *const pool_error;
    pub fn pool_error_read(slot: *mut pool_error_slot) -> pool_status;
    pub fn pool_error_set(status: pool_status, message: *const c_char) -> pool_status;
    pub fn pool_text_free(text: *mut *mut c_char);
    pub fn pool_cancel_create(cancel: *mut *mut pool_cancel) -> pool_status;
    pub fn pool_cancel_request(cancel: *mut pool_cancel);
    pub fn pool_cancel_requested(cancel: *const pool_cancel) -> c_int;
    pub fn pool_cancel_destroy(cancel: *mut *mut pool_cancel);
    pub fn pool_device_get_info(device: *mut pool_device, info: *mut pool_device_info) -> pool_status;
    pub fn pool_device_describe(device: *mut pool_device, format: pool_text_format, text: *mut *mut c_char) -> pool_status;
    pub fn pool_device_get_peer(from: *mut pool_device, to: *mut pool_device, info: *mut pool_peer_info) -> pool_status;
    pub fn pool_device_index(device: *const pool_device) -> c_int;
    pub fn pool_device_ordinal(device: *const pool_device) -> c_int;
    pub fn pool_device_gpu(device: *mut pool_device) -> *mut pool_device;
    pub fn pool_device_partition(device: *const pool_device) -> c_int;
    pub fn pool_device_uuid(device: *const pool_device) -> *const c_char;
    pub fn pool_device_handle(device: *mut pool_device, handle: *mut CUdevice) -> pool_status;
    pub fn pool_device_context(device: *mut pool_device, context: *mut CUcontext) -> pool_status;
    pub fn pool_device_get_limit(device: *mut pool_device, limit: pool_limit, bytes: *mut u64) -> pool_status;
    pub fn pool_device_set_limit(device: *mut pool_device, limit: pool_limit, bytes: u64) -> pool_status;
    pub fn pool_device_get_rate(device: *mut pool_device, rate: *mut u64) -> pool_status;
    pub fn pool_device_set_rate(device: *mut pool_device, rate: u64) -> pool_status;
    pub fn pool_measure_rates(pool: *mut device_pool) -> pool_status;
    pub fn pool_profiler_start(device: *mut pool_device) -> pool_status;
    pub fn pool_profiler_stop(device: *mut pool_device) -> pool_status;
    pub fn pool_device_drain(device: *mut pool_device) -> pool_status;
    pub fn pool_device_wait_drained(device: *mut pool_device, timeout_ns: u64) -> pool_status;
    pub fn pool_device_resume(device: *mut pool_device) -> pool_status;
    pub fn pool_device_quarantine(device: *mut pool_device, reason: *const c_char) -> pool_status;
    pub fn pool_device_probe(device: *mut pool_device, timeout_ns: u64) -> pool_status;
    pub fn pool_device_abandon(device: *mut pool_device, reason: *const c_char) -> pool_status;
    pub fn pool_device_readmit(device: *mut pool_device) -> pool_status;
    pub fn pool_host_get_info(info: *mut pool_host_info) -> pool_status;
    pub fn pool_device_get_compiler(device: *mut pool_device, compiler: *mut pool_component) -> pool_status;
    pub fn pool_params_init(params: *mut pool_params, struct_size: usize);
    pub fn pool_create(pool: *mut *mut device_pool, params: *const pool_params) -> pool_status;
    pub fn pool_retain(pool: *mut device_pool) -> *mut device_pool;
    pub fn pool_destroy(pool: *mut *mut device_pool) -> pool_status;
    pub fn pool_device_count(pool: *const device_pool) -> usize;
    pub fn pool_usable_count(pool: *const device_pool) -> usize;
    pub fn pool_device_at(pool: *mut device_pool, index: usize, device: *mut *mut pool_device) -> pool_status;
    pub fn pool_device_by_ordinal(pool: *mut device_pool, ordinal: c_int, device: *mut *mut pool_device) -> pool_status;
    pub fn pool_device_by_uuid(pool: *mut device_pool, uuid: *const c_char, device: *mut *mut pool_device) -> pool_status;
    pub fn pool_device_by_pci(pool: *mut device_pool, address: *const c_char, device: *mut *mut pool_device) -> pool_status;
    pub fn pool_device_each(pool: *mut device_pool, visit: pool_device_visitor, user: *mut c_void, answer: *mut c_int) -> pool_status;
    pub fn pool_describe(pool: *mut device_pool, format: pool_text_format, text: *mut *mut c_char) -> pool_status;
    pub fn pool_next_device(pool: *mut device_pool, device: *mut *mut pool_device) -> pool_status;
    pub fn pool_best_device(pool: *mut device_pool, device: *mut *mut pool_device) -> pool_status;
    pub fn pool_pick_device(pool: *mut device_pool, pick: *const pool_pick, device: *mut *mut pool_device) -> pool_status;
    pub fn pool_bind(device: *mut pool_device) -> pool_status;
    pub fn pool_unbind(device: *mut pool_device) -> pool_status;
    pub fn pool_bound_device(pool: *mut device_pool, device: *mut *mut pool_device) -> pool_status;
    pub fn pool_check_device(pool: *mut device_pool, ordinal: c_int) -> pool_status;
    pub fn pool_run_on(device: *mut pool_device, task: pool_task, arg: *mut c_void) -> pool_status;
    pub fn pool_pointer_device(pool: *mut device_pool, ptr: *const c_void, device: *mut *mut pool_device) -> pool_status;
    pub fn pool_get_health(pool: *mut device_pool, info: *mut pool_health_info) -> pool_status;
    pub fn pool_setting_at(index: usize, setting: *mut pool_setting) -> pool_status;
    pub fn pool_setting_by_name(name: *const c_char, setting: *mut pool_setting) -> pool_status;
    pub fn pool_stream_params_init(params: *mut pool_stream_params, struct_size: usize);
    pub fn pool_stream_get_priority_range(device: *mut pool_device, least: *mut i32, most_urgent: *mut i32) -> pool_status;
    pub fn pool_stream_create(device: *mut pool_device, params: *const pool_stream_params, stream: *mut *mut pool_stream) -> pool_status;
    pub fn pool_stream_adopt(device: *mut pool_device, handle: CUstream, stream: *mut *mut pool_stream) -> pool_status;
    pub fn pool_stream_default(device: *mut pool_device, stream: *mut *mut pool_stream) -> pool_status;
    pub fn pool_stream_destroy(stream: *mut *mut pool_stream) -> pool_status;
    pub fn pool_stream_device(stream: *const pool_stream) -> *mut pool_device;
    pub fn pool_stream_handle(stream: *const pool_stream, handle: *mut CUstream) -> pool_status;
    pub fn pool_stream_get_priority(stream: *const pool_stream, priority: *mut i32) -> pool_status;
    pub fn pool_stream_get_flags(stream: *const pool_stream, flags: *mut u32) -> pool_status;
    pub fn pool_stream_query(stream: *mut pool_stream) -> pool_status;
    pub fn pool_stream_synchronize(stream: *mut pool_stream) -> pool_status;
    pub fn pool_stream_wait(stream: *mut pool_stream, timeout_ns: u64) -> pool_status;
    pub fn pool_device_synchronize(device: *mut pool_device) -> pool_status;
    pub fn pool_device_wait(device: *mut pool_device, timeout_ns: u64) -> pool_status;
    pub fn pool_stream_wait_event(stream: *mut pool_stream, event: *mut pool_event) -> pool_status;
    pub fn pool_stream_fork(stream: *mut pool_stream, streams: *const *mut pool_stream, count: usize) -> pool_status;
    pub fn pool_stream_join(stream: *mut pool_stream, streams: *const *mut pool_stream, count: usize) -> pool_status;
    pub fn pool_stream_call(stream: *mut pool_stream, function: pool_host_task, user: *mut c_void) -> pool_status;
    pub fn pool_event_create(device: *mut pool_device, flags: u32, event: *mut *mut pool_event) -> pool_status;
    pub fn pool_event_share(event: *mut pool_event, shared: *mut pool_shared_event) -> pool_status;
    pub fn pool_event_open(device: *mut pool_device, shared: *const pool_shared_event, event: *mut *mut pool_event) -> pool_status;
    pub fn pool_event_destroy(event: *mut *mut pool_event) -> pool_status;
    pub fn pool_event_device(event: *const pool_event) -> *mut pool_device;
    pub fn pool_event_handle(event: *const pool_event, handle: *mut CUevent) -> pool_status;
    pub fn pool_event_record(event: *mut pool_event, stream: *mut pool_stream) -> pool_status;
    pub fn pool_event_query(event: *mut pool_event) -> pool_status;
    pub fn pool_event_synchronize(event: *mut pool_event) -> pool_status;
    pub fn pool_event_wait(event: *mut pool_event, timeout_ns: u64) -> pool_status;
    pub fn pool_event_elapsed(start: *mut pool_event, end: *mut pool_event, milliseconds: *mut f64) -> pool_status;
    pub fn pool_request_init(request: *mut pool_request, struct_size: usize);
    pub fn pool_acquire(pool: *mut device_pool, request: *const pool_request, lease: *mut *mut pool_lease) -> pool_status;
    pub fn pool_acquire_async(pool: *mut device_pool, request: *const pool_request, hook: pool_grant_hook, user: *mut c_void, ticket: *mut *mut pool_ticket) -> pool_status;
    pub fn pool_ticket_fd(ticket: *mut pool_ticket, fd: *mut c_int) -> pool_status;
    pub fn pool_ticket_take(ticket: *mut pool_ticket, lease: *mut *mut pool_lease) -> pool_status;
    pub fn pool_ticket_destroy(ticket: *mut *mut pool_ticket) -> pool_status;
    pub fn pool_release(lease: *mut *mut pool_lease) -> pool_status;
    pub fn pool_lease_device_count(lease: *const pool_lease) -> u32;
    pub fn pool_lease_device(lease: *const pool_lease, index: u32, device: *mut *mut pool_device) -> pool_status;
    pub fn pool_lease_stream(lease: *mut pool_lease, index: u32, stream: *mut *mut pool_stream) -> pool_status;
    pub fn pool_lease_get_info(lease: *const pool_lease, info: *mut pool_lease_info) -> pool_status;
    pub fn pool_lease_get_usage(lease: *const pool_lease, index: u32, usage: *mut pool_lease_usage) -> pool_status;
    pub fn pool_get_lease_counts(pool: *mut device_pool, counts: *mut pool_lease_counts) -> pool_status;
    pub fn pool_buffer_params_init(params: *mut pool_buffer_params, struct_size: usize);
    pub fn pool_buffer_create(device: *mut pool_device, params: *const pool_buffer_params, buffer: *mut *mut pool_buffer) -> pool_status;
    pub fn pool_buffer_alloc(device: *mut pool_device, bytes: u64, buffer: *mut *mut pool_buffer) -> pool_status;
    pub fn pool_buffer_zeroed(device: *mut pool_device, bytes: u64, buffer: *mut *mut pool_buffer) -> pool_status;
    pub fn pool_buffer_from_host(device: *mut pool_device, data: *const c_void, bytes: u64, buffer: *mut *mut pool_buffer) -> pool_status;
    pub fn pool_buffer_adopt(device: *mut pool_device, address: CUdeviceptr, bytes: u64, buffer: *mut *mut pool_buffer) -> pool_status;
    pub fn pool_buffer_slice(parent: *mut pool_buffer, offset: u64, bytes: u64, slice: *mut *mut pool_buffer) -> pool_status;
    pub fn pool_buffer_destroy(buffer: *mut *mut pool_buffer) -> pool_status;
    pub fn pool_buffer_destroy_on(buffer: *mut *mut pool_buffer, stream: *mut pool_stream) -> pool_status;
    pub fn pool_buffer_share(buffer: *mut pool_buffer, shared: *mut pool_shared_buffer) -> pool_status;
    pub fn pool_buffer_open(device: *mut pool_device, shared: *const pool_shared_buffer, buffer: *mut *mut pool_buffer) -> pool_status;
    pub fn pool_buffer_address(buffer: *const pool_buffer, address: *mut CUdeviceptr) -> pool_status;
    pub fn pool_buffer_bytes(buffer: *const pool_buffer) -> u64;
    pub fn pool_buffer_flags(buffer: *const pool_buffer) -> u32;
    pub fn pool_buffer_device(buffer: *const pool_buffer) -> *mut pool_device;
    pub fn pool_buffer_span(buffer: *const pool_buffer, offset: u64, count: u64, form: pool_form, span: *mut pool_span) -> pool_status;
    pub fn pool_buffer_fill8(buffer: *mut pool_buffer, offset: u64, count: u64, value: u8, stream: *mut pool_stream) -> pool_status;
    pub fn pool_buffer_fill16(buffer: *mut pool_buffer, offset: u64, count: u64, value: u16, stream: *mut pool_stream) -> pool_status;
    pub fn pool_buffer_fill32(buffer: *mut pool_buffer, offset: u64, count: u64, value: u32, stream: *mut pool_stream) -> pool_status;
    pub fn pool_copy_to_device(to: *mut pool_buffer, offset: u64, from: *const c_void, bytes: u64, stream: *mut pool_stream) -> pool_status;
    pub fn pool_copy_to_host(to: *mut c_void, from: *const pool_buffer, offset: u64, bytes: u64, stream: *mut pool_stream) -> pool_status;
    pub fn pool_copy_device(to: *mut pool_buffer, to_offset: u64, from: *const pool_buffer, from_offset: u64, bytes: u64, stream: *mut pool_stream) -> pool_status;
    pub fn pool_copy_2d(to: *const pool_pitched, from: *const pool_pitched, row_bytes: u64, rows: u64, stream: *mut pool_stream) -> pool_status;
    pub fn pool_device_enable_peer(device: *mut pool_device, peer: *mut pool_device) -> pool_status;
    pub fn pool_pinned_create(device: *mut pool_device, bytes: u64, flags: u32, pinned: *mut *mut pool_pinned) -> pool_status;
    pub fn pool_pinned_register(device: *mut pool_device, data: *mut c_void, bytes: u64, flags: u32, pinned: *mut *mut pool_pinned) -> pool_status;
    pub fn pool_pinned_destroy(pinned: *mut *mut pool_pinned) -> pool_status;
    pub fn pool_pinned_data(pinned: *const pool_pinned) -> *mut c_void;
    pub fn pool_pinned_bytes(pinned: *const pool_pinned) -> u64;
    pub fn pool_pinned_flags(pinned: *const pool_pinned) -> u32;
    pub fn pool_pinned_device(pinned: *const pool_pinned) -> *mut pool_device;
    pub fn pool_memory_get_info(device: *mut pool_device, info: *mut pool_memory_info) -> pool_status;
    pub fn pool_memory_reset_high_water(device: *mut pool_device) -> pool_status;
    pub fn pool_memory_set_threshold(device: *mut pool_device, bytes: u64) -> pool_status;
    pub fn pool_pinned_set_threshold(device: *mut pool_device, bytes: u64) -> pool_status;
    pub fn pool_memory_trim(device: *mut pool_device, keep_bytes: u64) -> pool_status;
    pub fn pool_memory_handle(device: *mut pool_device, handle: *mut CUmemoryPool) -> pool_status;
    pub fn pool_memory_adopt(device: *mut pool_device, handle: CUmemoryPool) -> pool_status;
    pub fn pool_exec_init(exec: *mut pool_exec, struct_size: usize);
    pub fn pool_field_count() -> usize;
    pub fn pool_field_at(index: usize) -> *const pool_field;
    pub fn pool_field_by_name(name: *const c_char) -> *const pool_field;
    pub fn pool_field_params_init(params: *mut pool_field_params, struct_size: usize);
    pub fn pool_field_create(params: *const pool_field_params, field: *mut *mut pool_field) -> pool_status;
    pub fn pool_field_retain(field: *const pool_field) -> *mut pool_field;
    pub fn pool_field_destroy(field: *mut *mut pool_field);
    pub fn pool_field_name(field: *const pool_field) -> *const c_char;
    pub fn pool_field_bits(field: *const pool_field) -> u32;
    pub fn pool_field_element_bytes(field: *const pool_field) -> usize;
    pub fn pool_field_two_adicity(field: *const pool_field) -> u32;
    pub fn pool_field_degree(field: *const pool_field) -> u32;
    pub fn pool_field_base(field: *const pool_field) -> *const pool_field;
    pub fn pool_field_fingerprint(field: *const pool_field, fingerprint: *mut u8) -> pool_status;
    pub fn pool_field_modulus(field: *const pool_field, modulus: *mut c_void) -> pool_status;
    pub fn pool_field_generator(field: *const pool_field, form: pool_form, generator: *mut c_void) -> pool_status;
    pub fn pool_field_root_of_unity(field: *const pool_field, convention: *const c_char, log2_order: u32, form: pool_form, root: *mut c_void) -> pool_status;
    pub fn pool_field_parse(field: *const pool_field, string: *const c_char, form: pool_form, element: *mut c_void) -> pool_status;
    pub fn pool_field_format(field: *const pool_field, form: pool_form, element: *const c_void, radix: pool_radix, string: *mut c_char, bytes: usize, needed: *mut usize) -> pool_status;
    pub fn pool_field_check(field: *const pool_field, elements: *const c_void, count: usize, first_bad: *mut usize) -> pool_status;
    pub fn pool_field_to_montgomery(field: *const pool_field, standard: *const c_void, count: usize, montgomery: *mut c_void) -> pool_status;
    pub fn pool_field_from_montgomery(field: *const pool_field, montgomery: *const c_void, count: usize, standard: *mut c_void) -> pool_status;
    pub fn pool_field_from_bytes(field: *const pool_field, value_bytes: usize, byte_order: pool_byte_order, values: *const u8, count: usize, form: pool_form, elements: *mut c_void) -> pool_status;
    pub fn pool_field_to_bytes(field: *const pool_field, form: pool_form, elements: *const c_void, count: usize, value_bytes: usize, byte_order: pool_byte_order, values: *mut u8) -> pool_status;
    pub fn pool_field_reduce_bytes(field: *const pool_field, value_bytes: usize, byte_order: pool_byte_order, values: *const u8, count: usize, form: pool_form, elements: *mut c_void) -> pool_status;
    pub fn pool_random_scalars(field: *const pool_field, seed: u64, count: usize, form: pool_form, elements: *mut c_void) -> pool_status;
    pub fn pool_ntt_domain_params_init(params: *mut pool_ntt_domain_params, struct_size: usize);
    pub fn pool_ntt_domain_create(params: *const pool_ntt_domain_params, domain: *mut *mut pool_ntt_domain) -> pool_status;
    pub fn pool_ntt_domain_retain(domain: *mut pool_ntt_domain) -> *mut pool_ntt_domain;
    pub fn pool_ntt_domain_destroy(domain: *mut *mut pool_ntt_domain) -> pool_status;
    pub fn pool_ntt_domain_field(domain: *const pool_ntt_domain) -> *const pool_field;
    pub fn pool_ntt_domain_log_size(domain: *const pool_ntt_domain) -> u32;
    pub fn pool_ntt_domain_root(domain: *const pool_ntt_domain, form: pool_form, root: *mut c_void) -> pool_status;
    pub fn pool_ntt_domain_coset(domain: *const pool_ntt_domain, form: pool_form, coset: *mut c_void) -> pool_status;
    pub fn pool_ntt_domain_power(domain: *mut pool_ntt_domain, log_size: u32, power: *mut *mut pool_ntt_domain) -> pool_status;
    pub fn pool_ntt_domain_bytes(domain: *const pool_ntt_domain, device: *mut pool_device, bytes: *mut u64) -> pool_status;
    pub fn pool_ntt_params_init(params: *mut pool_ntt_params, struct_size: usize);
    pub fn pool_ntt(params: *const pool_ntt_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span) -> pool_status;
    pub fn pool_ntt_workspace(params: *const pool_ntt_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_ntt_warm_up(domain: *mut pool_ntt_domain, exec: *const pool_exec) -> pool_status;
    pub fn pool_ntt_extend_params_init(params: *mut pool_ntt_extend_params, struct_size: usize);
    pub fn pool_ntt_extend(params: *const pool_ntt_extend_params, exec: *const pool_exec, r#in: *const pool_span, coefficients: *const pool_span, out: *const pool_span) -> pool_status;
    pub fn pool_ntt_extend_workspace(params: *const pool_ntt_extend_params, exec: *const pool_exec, r#in: *const pool_span, coefficients: *const pool_span, out: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_ntt_extend_warm_up(params: *const pool_ntt_extend_params, exec: *const pool_exec) -> pool_status;
    pub fn pool_poseidon_count() -> usize;
    pub fn pool_poseidon_name_at(index: usize) -> *const c_char;
    pub fn pool_poseidon_by_name(name: *const c_char, set: *mut *mut pool_poseidon) -> pool_status;
    pub fn pool_poseidon_params_init(params: *mut pool_poseidon_params, struct_size: usize);
    pub fn pool_poseidon_create(params: *const pool_poseidon_params, set: *mut *mut pool_poseidon) -> pool_status;
    pub fn pool_poseidon_retain(set: *mut pool_poseidon) -> *mut pool_poseidon;
    pub fn pool_poseidon_destroy(set: *mut *mut pool_poseidon);
    pub fn pool_poseidon_name(set: *const pool_poseidon) -> *const c_char;
    pub fn pool_poseidon_field(set: *const pool_poseidon) -> *const pool_field;
    pub fn pool_poseidon_width(set: *const pool_poseidon) -> u32;
    pub fn pool_poseidon_max_inputs(set: *const pool_poseidon) -> u32;
    pub fn pool_poseidon_rate(set: *const pool_poseidon) -> u32;
    pub fn pool_poseidon_digest_elements(set: *const pool_poseidon) -> u32;
    pub fn pool_poseidon_fingerprint(set: *const pool_poseidon, fingerprint: *mut u8) -> pool_status;
    pub fn pool_poseidon_warm_up(set: *const pool_poseidon, exec: *const pool_exec) -> pool_status;
    pub fn pool_poseidon_permute(set: *const pool_poseidon, exec: *const pool_exec, states: *const pool_span, results: *const pool_span) -> pool_status;
    pub fn pool_poseidon_permute_workspace(set: *const pool_poseidon, exec: *const pool_exec, states: *const pool_span, results: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_poseidon_hash(set: *const pool_poseidon, exec: *const pool_exec, inputs: *const pool_span, elements: u32, digests: *const pool_span) -> pool_status;
    pub fn pool_poseidon_hash_workspace(set: *const pool_poseidon, exec: *const pool_exec, inputs: *const pool_span, elements: u32, digests: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_poseidon_sponge_params_init(params: *mut pool_poseidon_sponge_params, struct_size: usize);
    pub fn pool_poseidon_sponge(set: *const pool_poseidon, exec: *const pool_exec, params: *const pool_poseidon_sponge_params, messages: *const pool_span, results: *const pool_span) -> pool_status;
    pub fn pool_poseidon_sponge_workspace(set: *const pool_poseidon, exec: *const pool_exec, params: *const pool_poseidon_sponge_params, messages: *const pool_span, results: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_merkle_params_init(params: *mut pool_merkle_params, struct_size: usize);
    pub fn pool_merkle_get_shape(set: *const pool_poseidon, params: *const pool_merkle_params, leaves: u64, shape: *mut pool_merkle_shape) -> pool_status;
    pub fn pool_poseidon_merkle_build(set: *const pool_poseidon, exec: *const pool_exec, params: *const pool_merkle_params, leaves: *const pool_span, levels: *const pool_span) -> pool_status;
    pub fn pool_poseidon_merkle_build_workspace(set: *const pool_poseidon, exec: *const pool_exec, params: *const pool_merkle_params, leaves: *const pool_span, levels: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_poseidon_merkle_shards(set: *const pool_poseidon, exec: *const pool_exec, params: *const pool_merkle_params, leaves: *const pool_span, digests: *mut u64) -> pool_status;
    pub fn pool_poseidon_merkle_open(set: *const pool_poseidon, exec: *const pool_exec, params: *const pool_merkle_params, leaf_count: u64, leaves: *const pool_span, levels: *const pool_span, index: u64, path: *const pool_span) -> pool_status;
    pub fn pool_poseidon_merkle_open_workspace(set: *const pool_poseidon, exec: *const pool_exec, params: *const pool_merkle_params, leaf_count: u64, leaves: *const pool_span, levels: *const pool_span, index: u64, path: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_poseidon_merkle_verify(set: *const pool_poseidon, params: *const pool_merkle_params, form: pool_form, root: *const c_void, leaf: *const c_void, index: u64, path: *const c_void, is_member: *mut i32) -> pool_status;
    pub fn pool_matrix_commit_params_init(params: *mut pool_matrix_commit_params, struct_size: usize);
    pub fn pool_matrix_commit_get_shape(params: *const pool_matrix_commit_params, matrices: *const pool_matrix, count: u32, shape: *mut pool_matrix_commit_shape) -> pool_status;
    pub fn pool_matrix_commit(params: *const pool_matrix_commit_params, exec: *const pool_exec, matrices: *const pool_matrix, count: u32, levels: *const pool_span) -> pool_status;
    pub fn pool_matrix_commit_workspace(params: *const pool_matrix_commit_params, exec: *const pool_exec, matrices: *const pool_matrix, count: u32, levels: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_matrix_commit_shards(params: *const pool_matrix_commit_params, exec: *const pool_exec, matrices: *const pool_matrix, count: u32, digests: *mut u64) -> pool_status;
    pub fn pool_extend_commit(params: *const pool_matrix_commit_params, exec: *const pool_exec, extensions: *const pool_extension, count: u32, levels: *const pool_span) -> pool_status;
    pub fn pool_extend_commit_workspace(params: *const pool_matrix_commit_params, exec: *const pool_exec, extensions: *const pool_extension, count: u32, levels: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_matrix_commit_warm_up(params: *const pool_matrix_commit_params, exec: *const pool_exec) -> pool_status;
    pub fn pool_matrix_open(params: *const pool_matrix_commit_params, exec: *const pool_exec, matrices: *const pool_matrix, count: u32, levels: *const pool_span, indices: *const u64, index_count: u64, rows: *const pool_span, paths: *const pool_span) -> pool_status;
    pub fn pool_matrix_open_workspace(params: *const pool_matrix_commit_params, exec: *const pool_exec, matrices: *const pool_matrix, count: u32, levels: *const pool_span, index_count: u64, rows: *const pool_span, paths: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_matrix_verify(params: *const pool_matrix_commit_params, form: pool_form, matrices: *const pool_matrix, count: u32, cap: *const c_void, index: u64, row: *const c_void, path: *const c_void, is_member: *mut i32) -> pool_status;
    pub fn pool_curve_count() -> usize;
    pub fn pool_curve_at(index: usize) -> *const pool_curve;
    pub fn pool_curve_by_name(name: *const c_char) -> *const pool_curve;
    pub fn pool_curve_params_init(params: *mut pool_curve_params, struct_size: usize);
    pub fn pool_curve_create(params: *const pool_curve_params, curve: *mut *mut pool_curve) -> pool_status;
    pub fn pool_curve_retain(curve: *const pool_curve) -> *mut pool_curve;
    pub fn pool_curve_destroy(curve: *mut *mut pool_curve);
    pub fn pool_curve_name(curve: *const pool_curve) -> *const c_char;
    pub fn pool_curve_base_field(curve: *const pool_curve) -> *const pool_field;
    pub fn pool_curve_scalar_field(curve: *const pool_curve) -> *const pool_field;
    pub fn pool_curve_degree(curve: *const pool_curve) -> u32;
    pub fn pool_curve_coordinate_bytes(curve: *const pool_curve) -> usize;
    pub fn pool_curve_fingerprint(curve: *const pool_curve, fingerprint: *mut u8) -> pool_status;
    pub fn pool_curve_cofactor(curve: *const pool_curve, bytes: usize, cofactor: *mut u8) -> pool_status;
    pub fn pool_point_bytes(curve: *const pool_curve, layout: pool_point_layout) -> usize;
    pub fn pool_points_check(curve: *const pool_curve, format: *const pool_point_format, points: *const c_void, count: usize, checks: u32, first_bad: *mut usize) -> pool_status;
    pub fn pool_points_convert(curve: *const pool_curve, from_format: *const pool_point_format, from: *const c_void, count: usize, checks: u32, to_format: *const pool_point_format, to: *mut c_void) -> pool_status;
    pub fn pool_encoding_bytes(curve: *const pool_curve, encoding: pool_encoding) -> usize;
    pub fn pool_points_encode(curve: *const pool_curve, format: *const pool_point_format, points: *const c_void, count: usize, encoding: pool_encoding, stride: usize, encoded: *mut u8) -> pool_status;
    pub fn pool_points_decode(curve: *const pool_curve, encoding: pool_encoding, stride: usize, encoded: *const u8, count: usize, checks: u32, format: *const pool_point_format, points: *mut c_void) -> pool_status;
    pub fn pool_point_add(curve: *const pool_curve, format: *const pool_point_format, p: *const c_void, q: *const c_void, sum: *mut c_void) -> pool_status;
    pub fn pool_point_mul(curve: *const pool_curve, format: *const pool_point_format, p: *const c_void, scalar: *const u8, scalar_bytes: usize, product: *mut c_void) -> pool_status;
    pub fn pool_point_equal(curve: *const pool_curve, p_format: *const pool_point_format, p: *const c_void, q_format: *const pool_point_format, q: *const c_void, is_equal: *mut i32) -> pool_status;
    pub fn pool_curve_generator(curve: *const pool_curve, format: *const pool_point_format, point: *mut c_void) -> pool_status;
    pub fn pool_random_points(curve: *const pool_curve, seed: u64, count: usize, format: *const pool_point_format, points: *mut c_void, scalars: *mut c_void) -> pool_status;
    pub fn pool_ecntt_params_init(params: *mut pool_ecntt_params, struct_size: usize);
    pub fn pool_ecntt(params: *const pool_ecntt_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span) -> pool_status;
    pub fn pool_ecntt_workspace(params: *const pool_ecntt_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_ecntt_warm_up(curve: *const pool_curve, exec: *const pool_exec) -> pool_status;
    pub fn pool_fri_fold_params_init(params: *mut pool_fri_fold_params, struct_size: usize);
    pub fn pool_fri_fold(params: *const pool_fri_fold_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span) -> pool_status;
    pub fn pool_fri_fold_workspace(params: *const pool_fri_fold_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_fri_layer(field: *const pool_field, layer: *const pool_span, log_arity: u32, is_bit_reversed: i32, matrices: *mut pool_matrix, count: *mut u32) -> pool_status;
    pub fn pool_fri_fold_commit(params: *const pool_fri_fold_params, next_log_arity: u32, commit: *const pool_matrix_commit_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span, levels: *const pool_span) -> pool_status;
    pub fn pool_fri_fold_commit_workspace(params: *const pool_fri_fold_params, next_log_arity: u32, commit: *const pool_matrix_commit_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span, levels: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_matrix_evaluate_params_init(params: *mut pool_matrix_evaluate_params, struct_size: usize);
    pub fn pool_matrix_evaluate(params: *const pool_matrix_evaluate_params, exec: *const pool_exec, matrix: *const pool_matrix, points: *const c_void, count: u32, values: *mut c_void) -> pool_status;
    pub fn pool_matrix_evaluate_workspace(params: *const pool_matrix_evaluate_params, exec: *const pool_exec, matrix: *const pool_matrix, count: u32, bytes: *mut u64) -> pool_status;
    pub fn pool_matrix_bit_reverse(field: *const pool_field, exec: *const pool_exec, r#in: *const pool_matrix, out: *const pool_matrix) -> pool_status;
    pub fn pool_fri_warm_up(field: *const pool_field, exec: *const pool_exec) -> pool_status;
    pub fn pool_file_kind_name(kind: pool_file_kind) -> *const c_char;
    pub fn pool_file_params_init(params: *mut pool_file_params, struct_size: usize);
    pub fn pool_file_open(path: *const c_char, params: *const pool_file_params, file: *mut *mut pool_file) -> pool_status;
    pub fn pool_file_destroy(file: *mut *mut pool_file);
    pub fn pool_file_get_info(file: *const pool_file, info: *mut pool_file_info) -> pool_status;
    pub fn pool_file_get_section(file: *const pool_file, name: *const c_char, section: *mut pool_file_section) -> pool_status;
    pub fn pool_file_section_at(file: *const pool_file, index: u64, section: *mut pool_file_section) -> pool_status;
    pub fn pool_stream_begin_capture(stream: *mut pool_stream) -> pool_status;
    pub fn pool_stream_end_capture(stream: *mut pool_stream, graph: *mut *mut pool_graph) -> pool_status;
    pub fn pool_graph_launch(graph: *mut pool_graph, stream: *mut pool_stream) -> pool_status;
    pub fn pool_graph_update(graph: *mut pool_graph, stream: *mut pool_stream) -> pool_status;
    pub fn pool_graph_destroy(graph: *mut *mut pool_graph) -> pool_status;
    pub fn pool_graph_device(graph: *const pool_graph) -> *mut pool_device;
    pub fn pool_log_set(callback: pool_log_callback, user: *mut c_void, level: pool_log_level);
    pub fn pool_log_write(level: pool_log_level, message: *const c_char);
    pub fn pool_metrics(pool: *mut device_pool, format: pool_metrics_format, text: *mut *mut c_char) -> pool_status;
    pub fn pool_set_phase_timing(pool: *mut device_pool, level: i32) -> pool_status;
    pub fn pool_module_compile(device: *mut pool_device, params: *const pool_module_params, module: *mut *mut pool_module) -> pool_status;
    pub fn pool_module_build(params: *const pool_module_params, compute_capability: i32, form: pool_image_form, image: *mut *mut c_void, size: *mut usize) -> pool_status;
    pub fn pool_image_free(image: *mut *mut c_void);
    pub fn pool_module_load(device: *mut pool_device, image: *const c_void, size: usize, module: *mut *mut pool_module) -> pool_status;
    pub fn pool_module_load_file(device: *mut pool_device, path: *const c_char, module: *mut *mut pool_module) -> pool_status;
    pub fn pool_module_destroy(module: *mut *mut pool_module) -> pool_status;
    pub fn pool_module_device(module: *const pool_module) -> *mut pool_device;
    pub fn pool_module_symbol(module: *const pool_module, expression: *const c_char) -> *const c_char;
    pub fn pool_module_variable(module: *mut pool_module, name: *const c_char, address: *mut CUdeviceptr, bytes: *mut u64) -> pool_status;
    pub fn pool_module_handle(module: *mut pool_module, handle: *mut CUmodule) -> pool_status;
    pub fn pool_kernel_handle(kernel: *mut pool_kernel, handle: *mut CUfunction) -> pool_status;
    pub fn pool_kernel_get(module: *mut pool_module, name: *const c_char, kernel: *mut *mut pool_kernel) -> pool_status;
    pub fn pool_kernel_get_info(kernel: *mut pool_kernel, info: *mut pool_kernel_info) -> pool_status;
    pub fn pool_kernel_get_parameter(kernel: *mut pool_kernel, index: usize, offset: *mut u64, bytes: *mut u64) -> pool_status;
    pub fn pool_kernel_set_carveout(kernel: *mut pool_kernel, percent: i32) -> pool_status;
    pub fn pool_kernel_get_carveout(kernel: *mut pool_kernel, percent: *mut i32) -> pool_status;
    pub fn pool_kernel_get_occupancy(kernel: *mut pool_kernel, block_threads: u32, dynamic_shared_bytes: u64, blocks_per_multiprocessor: *mut u32) -> pool_status;
    pub fn pool_kernel_get_best_block(kernel: *mut pool_kernel, dynamic_shared_bytes: u64, block_threads: *mut u32, blocks: *mut u32) -> pool_status;
    pub fn pool_kernel_get_clusters(kernel: *mut pool_kernel, shape: *const pool_launch_shape, largest: *mut u32, resident: *mut u32) -> pool_status;
    pub fn pool_launch_shape_for(n: u64, shape: *mut pool_launch_shape) -> pool_status;
    pub fn pool_launch(kernel: *mut pool_kernel, shape: *const pool_launch_shape, arguments: *mut *mut c_void, stream: *mut pool_stream) -> pool_status;
    pub fn pool_warm_up(pool: *mut device_pool, exec: *const pool_exec, modules: *const pool_module_params, count: usize) -> pool_status;
    pub fn pool_cache_directory(path: *mut c_char, size: usize) -> pool_status;
    pub fn pool_cache_each(visit: pool_cache_visitor, user: *mut c_void) -> pool_status;
    pub fn pool_cache_verify(kept: *mut u64, deleted: *mut u64) -> pool_status;
    pub fn pool_cache_clear(deleted: *mut u64) -> pool_status;
    pub fn pool_pack_at(index: usize, info: *mut pool_pack_info) -> pool_status;
    pub fn pool_pack_build(directory: *const c_char, params: *const pool_pack_params, info: *mut pool_pack_info) -> pool_status;
    pub fn pool_pack_cache(directory: *const c_char, compute_capability: i32, info: *mut pool_pack_info, left_out: *mut u64) -> pool_status;
    pub fn pool_pack_unpack(path: *const c_char, info: *mut pool_pack_info) -> pool_status;
    pub fn pool_pack_verify(path: *const c_char, info: *mut pool_pack_info) -> pool_status;
    pub fn pool_bases_params_init(params: *mut pool_bases_params, struct_size: usize);
    pub fn pool_bases_create(params: *const pool_bases_params, exec: *const pool_exec, points: *const pool_span, bases: *mut *mut pool_bases) -> pool_status;
    pub fn pool_bases_create_workspace(params: *const pool_bases_params, exec: *const pool_exec, points: *const pool_span, bases_bytes: *mut u64, bytes: *mut u64) -> pool_status;
    pub fn pool_bases_load_workspace(params: *const pool_bases_params, exec: *const pool_exec, path: *const c_char, bases_bytes: *mut u64, bytes: *mut u64) -> pool_status;
    pub fn pool_bases_retain(bases: *mut pool_bases) -> *mut pool_bases;
    pub fn pool_bases_destroy(bases: *mut *mut pool_bases) -> pool_status;
    pub fn pool_bases_curve(bases: *const pool_bases) -> *const pool_curve;
    pub fn pool_bases_device(bases: *const pool_bases) -> *mut pool_device;
    pub fn pool_bases_count(bases: *const pool_bases) -> u64;
    pub fn pool_bases_bytes(bases: *const pool_bases) -> u64;
    pub fn pool_bases_precompute_factor(bases: *const pool_bases) -> u32;
    pub fn pool_bases_window_bits(bases: *const pool_bases) -> u32;
    pub fn pool_bases_fingerprint(bases: *mut pool_bases, fingerprint: *mut u8) -> pool_status;
    pub fn pool_bases_find(device: *mut pool_device, fingerprint: *const u8, factor: u32, bases: *mut *mut pool_bases) -> pool_status;
    pub fn pool_bases_save(bases: *mut pool_bases, path: *const c_char) -> pool_status;
    pub fn pool_bases_load(params: *const pool_bases_params, exec: *const pool_exec, path: *const c_char, bases: *mut *mut pool_bases) -> pool_status;
    pub fn pool_msm_params_init(params: *mut pool_msm_params, struct_size: usize);
    pub fn pool_msm(params: *const pool_msm_params, exec: *const pool_exec, points: *const pool_span, scalars: *const pool_span, results: *const pool_span) -> pool_status;
    pub fn pool_msm_workspace(params: *const pool_msm_params, exec: *const pool_exec, points: *const pool_span, scalars: *const pool_span, results: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_msm_joint_params_init(params: *mut pool_msm_joint_params, struct_size: usize);
    pub fn pool_msm_joint(params: *const pool_msm_joint_params, exec: *const pool_exec, terms: *const pool_msm_term, count: u32, results: *const pool_span) -> pool_status;
    pub fn pool_msm_joint_workspace(params: *const pool_msm_joint_params, exec: *const pool_exec, terms: *const pool_msm_term, count: u32, results: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_msm_warm_up(curve: *const pool_curve, exec: *const pool_exec) -> pool_status;
    pub fn pool_resident_params_init(params: *mut pool_resident_params, struct_size: usize);
    pub fn pool_resident_create(pool: *mut device_pool, params: *const pool_resident_params, resident: *mut *mut pool_resident) -> pool_status;
    pub fn pool_resident_destroy(resident: *mut *mut pool_resident) -> pool_status;
    pub fn pool_resident_open(resident: *mut pool_resident, exec: *const pool_exec, r#use: *mut *mut pool_resident_use) -> pool_status;
    pub fn pool_resident_close(r#use: *mut *mut pool_resident_use) -> pool_status;
    pub fn pool_resident_bases(r#use: *const pool_resident_use) -> *mut pool_bases;
    pub fn pool_resident_buffer(r#use: *const pool_resident_use) -> *mut pool_buffer;
    pub fn pool_resident_open_workspace(resident: *const pool_resident, exec: *const pool_exec, bytes: *mut u64) -> pool_status;
    pub fn pool_resident_msm_workspace(resident: *const pool_resident, params: *const pool_msm_params, exec: *const pool_exec, scalars: *const pool_span, results: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_resident_msm_joint_workspace(residents: *const *mut pool_resident, params: *const pool_msm_joint_params, exec: *const pool_exec, terms: *const pool_msm_term, count: u32, results: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_resident_bytes(resident: *const pool_resident) -> u64;
    pub fn pool_resident_evict(resident: *mut pool_resident, device: *mut pool_device) -> pool_status;
    pub fn pool_resident_get_info(resident: *mut pool_resident, device: *mut pool_device, info: *mut pool_resident_info) -> pool_status;
    pub fn pool_sim_set_faults(rules: *const c_char) -> pool_status;
    pub fn pool_sim_resume() -> pool_status;
    pub fn pool_sim_set_reports(reports: u32) -> pool_status;
    pub fn pool_sim_get_last_fault(fault: *mut pool_sim_fault) -> pool_status;
    pub fn pool_sim_class_name(index: u32) -> *const c_char;
    pub fn pool_sim_kernel_stats_each(visit: pool_sim_kernel_visitor, user: *mut c_void) -> pool_status;
    pub fn pool_sim_kernel_stats_reset() -> pool_status;
    pub fn pool_sim_kernel_stats_text(format: pool_text_format, text: *mut *mut c_char) -> pool_status;
    pub fn pool_sim_profile_text(format: pool_text_format, text: *mut *mut c_char) -> pool_status;
    pub fn pool_sim_leaks(format: pool_text_format, count: *mut u64, text: *mut *mut c_char) -> pool_status;
    pub fn pool_trace_set(hook: pool_trace_hook, user: *mut c_void);
    pub fn pool_device_get_tuning(device: *mut pool_device, info: *mut pool_tuning_info) -> pool_status;
    pub fn pool_tuning_create(device: *mut pool_device, tuning: *mut *mut pool_tuning) -> pool_status;
    pub fn pool_tuning_destroy(tuning: *mut *mut pool_tuning);
    pub fn pool_tuning_set(tuning: *mut pool_tuning, name: *const c_char, value: u32) -> pool_status;
    pub fn pool_tuning_get(tuning: *const pool_tuning, name: *const c_char, value: *mut u32) -> pool_status;
    pub fn pool_tuning_each(tuning: *const pool_tuning, visit: pool_tuning_visitor, user: *mut c_void) -> pool_status;
    pub fn pool_tuning_path(device: *mut pool_device, path: *mut c_char, size: usize) -> pool_status;
    pub fn pool_tuning_write(tuning: *const pool_tuning, path: *const c_char) -> pool_status;
    pub fn pool_tuning_read(path: *const c_char, tuning: *mut *mut pool_tuning) -> pool_status;
    pub fn pool_vector_add(field: *const pool_field, exec: *const pool_exec, a: *const pool_span, b: *const pool_span, out: *const pool_span) -> pool_status;
    pub fn pool_vector_sub(field: *const pool_field, exec: *const pool_exec, a: *const pool_span, b: *const pool_span, out: *const pool_span) -> pool_status;
    pub fn pool_vector_mul(field: *const pool_field, exec: *const pool_exec, a: *const pool_span, b: *const pool_span, out: *const pool_span) -> pool_status;
    pub fn pool_vector_scale(field: *const pool_field, exec: *const pool_exec, scalar: *const c_void, a: *const pool_span, out: *const pool_span) -> pool_status;
    pub fn pool_vector_inverse(field: *const pool_field, exec: *const pool_exec, a: *const pool_span, out: *const pool_span) -> pool_status;
    pub fn pool_vector_bit_reverse(field: *const pool_field, exec: *const pool_exec, a: *const pool_span, out: *const pool_span) -> pool_status;
    pub fn pool_vector_transpose(field: *const pool_field, exec: *const pool_exec, rows: u64, columns: u64, a: *const pool_span, out: *const pool_span) -> pool_status;
    pub fn pool_vector_powers(field: *const pool_field, exec: *const pool_exec, base: *const c_void, out: *const pool_span) -> pool_status;
    pub fn pool_vector_evaluate(field: *const pool_field, exec: *const pool_exec, a: *const pool_span, point: *const c_void, value: *mut c_void) -> pool_status;
    pub fn pool_vector_workspace(field: *const pool_field, exec: *const pool_exec, operation: pool_vector_operation, a: *const pool_span, b: *const pool_span, out: *const pool_span, bytes: *mut u64) -> pool_status;
    pub fn pool_vector_warm_up(field: *const pool_field, exec: *const pool_exec) -> pool_status;
    pub fn pool_virtual_granularity(device: *mut pool_device, bytes: *mut u64) -> pool_status;
    pub fn pool_physical_create(device: *mut pool_device, bytes: u64, flags: u32, physical: *mut *mut pool_physical) -> pool_status;
    pub fn pool_physical_export(physical: *mut pool_physical, descriptor: *mut c_int) -> pool_status;
    pub fn pool_physical_import(device: *mut pool_device, descriptor: c_int, bytes: u64, physical: *mut *mut pool_physical) -> pool_status;
    pub fn pool_physical_destroy(physical: *mut *mut pool_physical) -> pool_status;
    pub fn pool_physical_bytes(physical: *const pool_physical) -> u64;
    pub fn pool_physical_device(physical: *const pool_physical) -> *mut pool_device;
    pub fn pool_physical_handle(physical: *const pool_physical, handle: *mut CUmemGenericAllocationHandle) -> pool_status;
    pub fn pool_range_reserve(device: *mut pool_device, bytes: u64, range: *mut *mut pool_range) -> pool_status;
    pub fn pool_range_map(range: *mut pool_range, offset: u64, physical: *mut pool_physical) -> pool_status;
    pub fn pool_range_unmap(range: *mut pool_range, offset: u64, bytes: u64) -> pool_status;
    pub fn pool_range_grant_access(range: *mut pool_range, devices: *const *mut pool_device, count: usize) -> pool_status;
    pub fn pool_range_buffer(range: *mut pool_range, offset: u64, bytes: u64, buffer: *mut *mut pool_buffer) -> pool_status;
    pub fn pool_range_destroy(range: *mut *mut pool_range) -> pool_status;
    pub fn pool_range_address(range: *const pool_range, address: *mut CUdeviceptr) -> pool_status;
    pub fn pool_range_bytes(range: *const pool_range) -> u64;
    pub fn pool_range_device(range: *const pool_range) -> *mut pool_device;
    pub fn pool_range_mapped_bytes(range: *const pool_range) -> u64;
}
