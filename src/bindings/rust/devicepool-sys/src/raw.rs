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

/// A cancellation request, which is permanent: calls that were passed the object return POOL_ERR_CANCELLED as
/// soon as they can. Any thread, also a signal handler, may request and query it. It must outlive the calls
/// that use it.
#[repr(C)]
pub struct pool_cancel {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A device of a pool. It belongs to its pool and is valid until that pool is destroyed. Any thread may use
/// it at any time.
#[repr(C)]
pub struct pool_device {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A set of devices with one context each. Any thread may use it at any time.
#[repr(C)]
pub struct device_pool {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A queue of work on one device. Any thread may use it, also several concurrently, whose work is then
/// enqueued in some order; only its destruction must not race with another use.
#[repr(C)]
pub struct pool_stream {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A position in a stream. Any thread may use it; a wait refers to the last record enqueued before it. Only
/// its destruction must not race with another use.
#[repr(C)]
pub struct pool_event {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Bytes and slots that are reserved on one or several devices, from the grant to pool_release. Any thread
/// may use a lease, several at once too; only its release must not race with another use. It belongs to its
/// pool. A released lease is recognised in every call until at least 256 others have been released after it.
#[repr(C)]
pub struct pool_lease {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A request without a thread that waits for it. Any thread may use it; only its destruction must not race
/// with another use.
#[repr(C)]
pub struct pool_ticket {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A prime field and all constants derived from its modulus, or an extension. Immutable: any number of
/// threads may use one at once. Built-in fields are never freed; created ones count references.
#[repr(C)]
pub struct pool_field {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A range of device memory: allocated, adopted, or a slice of another buffer. Any thread may use it, several
/// at once too; only freeing it must not race with another use of the same handle.
#[repr(C)]
pub struct pool_buffer {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Page-locked host memory, allocated or registered. Thread-safety as for pool_buffer.
#[repr(C)]
pub struct pool_pinned {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A multiplicative subgroup of order 2^log_size with a coset generator. Immutable: any number of threads may
/// use it concurrently, on any devices. Its tables of twiddles are computed on a device at the first use
/// there, or by pool_ntt_warm_up, and stay until the domain is destroyed.
#[repr(C)]
pub struct pool_ntt_domain {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A parameter set, with a reference count. Any number of threads may use one concurrently.
#[repr(C)]
pub struct pool_poseidon {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A curve with its fields, generator and cofactor. Immutable: any number of threads may use one at once.
/// Built-in curves are never freed; created ones count references.
#[repr(C)]
pub struct pool_curve {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// An open file. Immutable: any number of threads may use one at once.
#[repr(C)]
pub struct pool_file {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// An instantiated graph of one device. Any thread may launch it, also several concurrently: its launches are
/// executed one after another. Its update and its destruction must not race with another use.
#[repr(C)]
pub struct pool_graph {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A loaded module: code and variables on one device. Any thread may use it. It must be destroyed before its
/// pool; work launched from it may be unfinished then.
#[repr(C)]
pub struct pool_module {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A kernel of a module. It belongs to the module and is valid until that is destroyed. Any thread.
#[repr(C)]
pub struct pool_kernel {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Base points in a device's memory, in the format that the kernels read, so that a service loads its
/// structured reference string once per device; optionally with precomputed multiples, which make every MSM
/// over them cheaper. Immutable: any number of threads may use one concurrently. It is reference-counted, and
/// its pool cannot be destroyed while it exists.
#[repr(C)]
pub struct pool_bases {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A registered object of a pool. Any thread may use it. It must be destroyed before its pool.
#[repr(C)]
pub struct pool_resident {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// The use of an object on one device: while it is open the copy is not evicted. One thread at a time.
#[repr(C)]
pub struct pool_resident_use {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A complete set of numbers, and the chip that they belong to: its name, compute capability and number of
/// multiprocessors, and the version of the driver. One thread at a time may use it.
#[repr(C)]
pub struct pool_tuning {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Physical memory of a device. Any thread may use it, several at once too; only its destruction must not
/// race with another use of the handle. It must be destroyed before its pool.
#[repr(C)]
pub struct pool_physical {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Reserved addresses of a device. Thread-safety as for pool_physical.
#[repr(C)]
pub struct pool_range {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// 0 is success, failures are negative. They are grouped by the largest thing that is harmed, so that a
/// service can decide by `pool_status_class` alone: fail the job, stop using the device, report the host to
/// the operator, or leave the process.
pub type pool_status = i32;
pub const POOL_OK: pool_status = 0;
/// NULL, a wrong size, an invalid combination
pub const POOL_ERR_INVALID_ARGUMENT: pool_status = -1;
/// malloc or pinned host memory
pub const POOL_ERR_OUT_OF_HOST_MEMORY: pool_status = -2;
/// the message has requested, free and reserved bytes
pub const POOL_ERR_OUT_OF_DEVICE_MEMORY: pool_status = -3;
/// no such device, kernel, symbol, file or entry
pub const POOL_ERR_NOT_FOUND: pool_status = -4;
/// the calling thread has no device of the pool bound
pub const POOL_ERR_NOT_BOUND: pool_status = -5;
/// another device is bound, or memory of another device
pub const POOL_ERR_WRONG_DEVICE: pool_status = -6;
/// still in use: threads hold a binding, handles exist
pub const POOL_ERR_BUSY: pool_status = -7;
/// asynchronous work is unfinished
pub const POOL_ERR_NOT_READY: pool_status = -8;
/// a deadline passed
pub const POOL_ERR_TIMEOUT: pool_status = -9;
/// requested by the caller
pub const POOL_ERR_CANCELLED: pool_status = -10;
/// this driver, chip or build cannot do it
pub const POOL_ERR_UNSUPPORTED: pool_status = -11;
/// an error in the source; the message has the log
pub const POOL_ERR_COMPILE: pool_status = -12;
/// PTX or cubin that this device cannot load
pub const POOL_ERR_BAD_IMAGE: pool_status = -13;
/// a file or an encoding that violates its format
pub const POOL_ERR_BAD_DATA: pool_status = -14;
/// a file operation failed
pub const POOL_ERR_IO: pool_status = -15;
/// unbind without bind, or another context is on top
pub const POOL_ERR_UNBALANCED: pool_status = -16;
/// another driver error that harms only this call
pub const POOL_ERR_DRIVER: pool_status = -17;
/// no context, or lost; its info has the reason
pub const POOL_ERR_DEVICE_UNUSABLE: pool_status = -100;
/// its worker process or context has ended; docs/errors.md
pub const POOL_ERR_DEVICE_LOST: pool_status = -101;
/// libcuda.so.1 is missing or is the toolkit's stub
pub const POOL_ERR_NO_DRIVER: pool_status = -200;
/// a required function is missing
pub const POOL_ERR_DRIVER_TOO_OLD: pool_status = -201;
/// the driver works but reports no usable device
pub const POOL_ERR_NO_DEVICE: pool_status = -202;
/// NVRTC is missing or does not support this chip
pub const POOL_ERR_NO_COMPILER: pool_status = -203;
/// a sticky fault; the message has its first cause
pub const POOL_ERR_PROCESS_POISONED: pool_status = -300;
/// the pool was created before fork(); create one after exec
pub const POOL_ERR_FORKED: pool_status = -301;
/// the driver shuts down at process exit
pub const POOL_ERR_SHUTDOWN: pool_status = -302;
/// A violated invariant of the library: please report it.
pub const POOL_ERR_INTERNAL: pool_status = -400;

/// The largest thing that a failure harms.
pub type pool_error_class = u32;
pub const POOL_CLASS_NONE: pool_error_class = 0;
pub const POOL_CLASS_CALL: pool_error_class = 1;
pub const POOL_CLASS_DEVICE: pool_error_class = 2;
pub const POOL_CLASS_HOST: pool_error_class = 3;
pub const POOL_CLASS_PROCESS: pool_error_class = 4;
pub const POOL_CLASS_INTERNAL: pool_error_class = 5;

/// Check flags for elements, scalars and points, combined by |. An invalid item fails the operation with
/// POOL_ERR_BAD_DATA; the message has the index of the first one. Functions accept the flags that apply to
/// their data; others fail with POOL_ERR_INVALID_ARGUMENT.
pub type pool_check_flag = u32;
pub const POOL_CHECK_NONE: pool_check_flag = 0;
/// elements are below the modulus, scalars below the order
pub const POOL_CHECK_CANONICAL: pool_check_flag = 1;
/// points: canonical coordinates and the curve's equation
pub const POOL_CHECK_ON_CURVE: pool_check_flag = 2;
/// points: order * P = infinity; includes POOL_CHECK_ON_CURVE
pub const POOL_CHECK_SUBGROUP: pool_check_flag = 6;
/// scalars only: reduced modulo the order instead of checked
pub const POOL_CHECK_REDUCE: pool_check_flag = 8;

/// The CUresults of the list above by name.
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

/// The device attributes of the list above by name.
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

/// Flags of a table, combined by |.
pub type pool_cuda_flag = u32;
/// The driver accepts PTX only: modules are compiled to PTX, never to machine code.
pub const POOL_CUDA_PTX_ONLY: pool_cuda_flag = 1;
/// Each device is in a process of its own: a sticky fault harms that device only.
pub const POOL_CUDA_ISOLATED_DEVICES: pool_cuda_flag = 2;

/// The format of a description.
pub type pool_text_format = u32;
/// for people; not meant to be parsed
pub const POOL_TEXT_PLAIN: pool_text_format = 0;
/// one JSON value; members are only ever added
pub const POOL_TEXT_JSON: pool_text_format = 1;

/// Whether a device can be used now.
pub type pool_device_state = u32;
pub const POOL_DEVICE_READY: pool_device_state = 0;
/// Its context could not be created, or a call reported the device as lost; permanent. The cause is in
/// pool_device_info.reason.
pub const POOL_DEVICE_UNUSABLE: pool_device_state = 1;
/// the process had a sticky fault and cannot use any device
pub const POOL_DEVICE_POISONED: pool_device_state = 2;
/// pool_device_drain: not chosen and not leased any more; existing uses continue.
pub const POOL_DEVICE_DRAINING: pool_device_state = 3;
/// Suspected of wrong results or of failing soon: not chosen and not leased until a probe has succeeded and
/// pool_device_resume was called; existing uses continue.
pub const POOL_DEVICE_QUARANTINED: pool_device_state = 4;
/// pool_device_abandon: given up for good, with everything on it, because it hangs.
pub const POOL_DEVICE_ABANDONED: pool_device_state = 5;

/// Limits of a device's context, in bytes.
pub type pool_limit = u32;
/// stack of each thread of a kernel
pub const POOL_LIMIT_STACK: pool_limit = 0;
/// the buffer of printf in kernels
pub const POOL_LIMIT_PRINTF: pool_limit = 1;
/// malloc in kernels
pub const POOL_LIMIT_HEAP: pool_limit = 2;

/// The contexts that the pool uses.
pub type pool_context_mode = u32;
/// the device's primary context, shared with the CUDA runtime and libraries
pub const POOL_CONTEXT_PRIMARY: pool_context_mode = 0;
/// a context that the pool creates and pool_destroy destroys
pub const POOL_CONTEXT_OWN: pool_context_mode = 1;
/// the caller's contexts, pool_params.contexts; the pool never destroys them
pub const POOL_CONTEXT_ADOPT: pool_context_mode = 2;

/// Where a pool's driver calls run.
pub type pool_isolation = u32;
/// in this process; "workers:" of a device string still holds
pub const POOL_ISOLATION_NONE: pool_isolation = 0;
/// in a process for each device
pub const POOL_ISOLATION_WORKERS: pool_isolation = 1;

/// How pool_pick_device chooses among the devices that pass the filter.
pub type pool_policy = u32;
pub const POOL_POLICY_ROUND_ROBIN: pool_policy = 0;
/// most free memory, like pool_best_device
pub const POOL_POLICY_MOST_FREE: pool_policy = 1;
/// The smallest load: the number of leases, or of calls in progress and streams with unfinished work if that
/// is larger; among equal devices the fewest unfinished launches and copies, then most free memory. Only work
/// that is enqueued through the library counts; bindings do not.
pub const POOL_POLICY_LEAST_LOADED: pool_policy = 2;
/// the highest result of `score`
pub const POOL_POLICY_SCORE: pool_policy = 3;

/// Flags of a stream.
pub type pool_stream_flag = u32;
/// ordered with the device's default stream
pub const POOL_STREAM_BLOCKING: pool_stream_flag = 1;

/// Flags of an event, combined by |.
pub type pool_event_flag = u32;
/// for pool_event_elapsed; records without it are cheaper
pub const POOL_EVENT_TIMING: pool_event_flag = 1;
/// pool_event_synchronize blocks instead of spinning
pub const POOL_EVENT_SLEEP: pool_event_flag = 2;
/// for pool_event_share; not with POOL_EVENT_TIMING
pub const POOL_EVENT_SHAREABLE: pool_event_flag = 4;

/// Flags of a request.
pub type pool_lease_flag = u32;
/// all memory allocated under the lease is overwritten when freed
pub const POOL_LEASE_SECRET: pool_lease_flag = 1;

/// How an element x is represented in memory.
pub type pool_form = u32;
/// x itself
pub const POOL_FORM_STANDARD: pool_form = 0;
/// x * R mod p
pub const POOL_FORM_MONTGOMERY: pool_form = 1;

/// Byte order of serialised values; elements in memory are always little-endian.
pub type pool_byte_order = u32;
pub const POOL_LITTLE_ENDIAN: pool_byte_order = 0;
pub const POOL_BIG_ENDIAN: pool_byte_order = 1;

/// The base of a formatted number.
pub type pool_radix = u32;
pub const POOL_DECIMAL: pool_radix = 0;
pub const POOL_HEXADECIMAL: pool_radix = 1;

/// The memory space of a span.
pub type pool_memory_space = u32;
/// any host memory, pageable or pinned
pub const POOL_MEMORY_HOST: pool_memory_space = 0;
/// memory of the device that the operation runs on
pub const POOL_MEMORY_DEVICE: pool_memory_space = 1;
/// For operations over several devices: `data` is an array of spans in POOL_MEMORY_DEVICE, the i-th one in
/// memory of the i-th device, all in the same form. Their counts add up to `count`; `stride` is 0. The
/// operation says which items each device has.
pub const POOL_MEMORY_SHARDED: pool_memory_space = 2;

/// Flags of a buffer, combined by |.
pub type pool_buffer_flag = u32;
/// all zeros before anything enqueued later can see it
pub const POOL_BUFFER_ZEROED: pool_buffer_flag = 1;
/// overwritten before it is released or reused, see above
pub const POOL_BUFFER_SECRET: pool_buffer_flag = 2;
/// For buffers of resident objects (resident.h) on devices in worker processes: the memory outlives the
/// process of its device. It is an allocation of its own, of a multiple of 2 MiB, and destroying the buffer
/// waits for the device's work. Ordinary memory on other devices, where the driver cannot export memory, and
/// with POOL_BUFFER_SECRET.
pub const POOL_BUFFER_DURABLE: pool_buffer_flag = 4;
/// For pool_buffer_share: an allocation of its own, of a multiple of 2 MiB, so that other processes see no
/// other memory. Creating it ignores the order of `stream`, and destroying it waits for the device's work.
/// Not durable.
pub const POOL_BUFFER_SHAREABLE: pool_buffer_flag = 8;

/// Flags of pinned memory, combined by |.
pub type pool_pinned_flag = u32;
/// overwritten before it is released or reused
pub const POOL_PINNED_SECRET: pool_pinned_flag = 1;
/// for pool_pinned_create: slow for the host to read
pub const POOL_PINNED_WRITE_COMBINED: pool_pinned_flag = 2;

/// Forward: from coefficients to values. Inverse: from values to coefficients.
pub type pool_ntt_direction = u32;
pub const POOL_NTT_FORWARD: pool_ntt_direction = 0;
pub const POOL_NTT_INVERSE: pool_ntt_direction = 1;

/// Order of input and output: natural, or bit-reversed (element i at the index whose log_size bits are those
/// of i reversed).
pub type pool_ntt_order = u32;
/// natural to natural
pub const POOL_NTT_NN: pool_ntt_order = 0;
/// natural to bit-reversed; the fastest
pub const POOL_NTT_NR: pool_ntt_order = 1;
/// bit-reversed to natural
pub const POOL_NTT_RN: pool_ntt_order = 2;
/// bit-reversed to bit-reversed
pub const POOL_NTT_RR: pool_ntt_order = 3;

/// The layout of a batch in memory.
pub type pool_ntt_layout = u32;
/// one transform after another
pub const POOL_NTT_ROWS: pool_ntt_layout = 0;
/// interleaved: element i of transform t has the index i * batch + t
pub const POOL_NTT_COLUMNS: pool_ntt_layout = 1;

/// POSEIDON: each round adds t constants, applies the S-box x^alpha to every state element (full round) or to
/// one (partial round), and multiplies the state by the MDS matrix. POSEIDON2: the external layer is applied
/// once before the first round; partial rounds add one constant and multiply by J + diag(internal_diagonal),
/// where J is all ones.
pub type pool_poseidon_kind = u32;
pub const POOL_POSEIDON: pool_poseidon_kind = 0;
pub const POOL_POSEIDON2: pool_poseidon_kind = 1;

/// How a block is absorbed into the rate elements of the state.
pub type pool_sponge_mode = u32;
/// the block is added to them
pub const POOL_SPONGE_ADD: pool_sponge_mode = 0;
/// the block replaces them; a short last block leaves the rest
pub const POOL_SPONGE_OVERWRITE: pool_sponge_mode = 1;

/// What follows the last element of a message.
pub type pool_sponge_padding = u32;
/// nothing; an empty message is not permuted
pub const POOL_SPONGE_PAD_NONE: pool_sponge_padding = 0;
/// always a 1, then zeros up to a whole block
pub const POOL_SPONGE_PAD_10: pool_sponge_padding = 1;
/// zeros up to a whole block; an empty message is a block of zeros
pub const POOL_SPONGE_PAD_ZERO: pool_sponge_padding = 2;

/// How a matrix is stored.
pub type pool_matrix_layout = u32;
/// one column after another, as POOL_NTT_ROWS stores columns
pub const POOL_MATRIX_COLUMNS: pool_matrix_layout = 0;
/// one row after another, as POOL_NTT_COLUMNS does
pub const POOL_MATRIX_ROWS: pool_matrix_layout = 1;

/// Coordinate system of points in memory, and the order of their coordinates.
pub type pool_point_layout = u32;
/// x, y; infinity is all zeros (gnark, snarkjs, zkey, ICICLE, EIPs)
pub const POOL_POINT_AFFINE: pool_point_layout = 0;
/// x, y, one byte that is 1 for infinity, padding to 8 (arkworks)
pub const POOL_POINT_AFFINE_FLAG: pool_point_layout = 1;
/// X, Y, Z with x = X/Z^2, y = Y/Z^3; infinity is Z = 0 (gnark, arkworks)
pub const POOL_POINT_JACOBIAN: pool_point_layout = 2;
/// X, Y, Z with x = X/Z, y = Y/Z; infinity is Z = 0 (ICICLE)
pub const POOL_POINT_PROJECTIVE: pool_point_layout = 3;
/// X, Y, ZZ, ZZZ with x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2; infinity is ZZ = 0
pub const POOL_POINT_XYZZ: pool_point_layout = 4;

/// Serialised points as other systems exchange them.
pub type pool_encoding = u32;
/// zcash's BLS12-381 form (also c-kzg, consensus-specs, IETF BLS): x big-endian, over an extension c1 before
/// c0; the top three bits of the first byte are flags: compressed, infinity, y is the larger of y and -y. Any
/// curve whose modulus leaves three bits unused.
pub const POOL_ENCODING_ZCASH_COMPRESSED: pool_encoding = 0;
/// x, y with the same flags; the third must be 0
pub const POOL_ENCODING_ZCASH_UNCOMPRESSED: pool_encoding = 1;
/// x, y big-endian, 32 bytes per element, c1 before c0 (EIP-197); infinity is zeros
pub const POOL_ENCODING_EIP196: pool_encoding = 2;
/// x, y big-endian, 64 bytes per element, c0 before c1; infinity is zeros
pub const POOL_ENCODING_EIP2537: pool_encoding = 3;
/// gnark-crypto: zcash's form if the modulus leaves three bits unused; if it leaves two, as that of BN254
/// does, the top two bits of the first byte are 10 and 11 for the smaller and the larger of y and -y, and 01
/// for infinity. Its uncompressed forms are POOL_ENCODING_ZCASH_UNCOMPRESSED and, for BN254,
/// POOL_ENCODING_EIP196.
pub const POOL_ENCODING_GNARK_COMPRESSED: pool_encoding = 4;
/// arkworks' CanonicalSerialize: x little-endian, over an extension c0 before c1. In the last byte, which is
/// an extra one if the modulus leaves fewer than two bits unused, bit 7 means that y is the larger of y and
/// -y, bit 6 means infinity. Any curve; ark-bls12-381 has written zcash's form since 0.4.
pub const POOL_ENCODING_ARKWORKS_COMPRESSED: pool_encoding = 5;
/// x, y with the same flags
pub const POOL_ENCODING_ARKWORKS_UNCOMPRESSED: pool_encoding = 6;

/// The format of a file.
pub type pool_file_kind = u32;
/// pool_file_open: determined by the first bytes
pub const POOL_FILE_ANY: pool_file_kind = 0;
/// one array without a header; never detected, must be requested
pub const POOL_FILE_RAW: pool_file_kind = 1;
/// powers of tau, version 1
pub const POOL_FILE_PTAU: pool_file_kind = 2;
/// Groth16 proving key, version 1
pub const POOL_FILE_ZKEY: pool_file_kind = 3;
/// witness, versions 1 and 2
pub const POOL_FILE_WTNS: pool_file_kind = 4;
/// constraint system, version 1; its header only
pub const POOL_FILE_R1CS: pool_file_kind = 5;
/// trusted_setup.txt of c-kzg or trusted_setup_4096.json of consensus-specs
pub const POOL_FILE_KZG: pool_file_kind = 6;

/// What the items of a section are.
pub type pool_file_item = u32;
/// of `curve`, in `layout`
pub const POOL_FILE_POINTS: pool_file_item = 0;
/// of `field`
pub const POOL_FILE_ELEMENTS: pool_file_item = 1;
/// Entries of a zkey's matrices A and B: three 32-bit little-endian numbers, which are the matrix (0: A, 1:
/// B), the constraint (a row below domain_size) and the signal (a column below variables); then one element
/// of `field`, which is the entry times R^2. That is the Montgomery form of the entry times R, so its product
/// with a signal in standard form is the Montgomery form of entry times signal. The numbers are not checked
/// on opening.
pub const POOL_FILE_COEFFICIENTS: pool_file_item = 2;

/// The severity of a message; a level includes those before it.
pub type pool_log_level = u32;
pub const POOL_LOG_NONE: pool_log_level = 0;
/// a failure, logged once by the function that knows its cause
pub const POOL_LOG_ERROR: pool_log_level = 1;
/// a problem with which the call continues
pub const POOL_LOG_WARN: pool_log_level = 2;
/// devices found, contexts created, modules compiled
pub const POOL_LOG_INFO: pool_log_level = 3;
/// further detail for diagnosis
pub const POOL_LOG_DEBUG: pool_log_level = 4;

/// How pool_metrics writes.
pub type pool_metrics_format = u32;
/// text exposition format 0.0.4, as Prometheus scrapes it
pub const POOL_METRICS_PROMETHEUS: pool_metrics_format = 0;
/// {"metrics": [{"name", "type", "unit", "help", "samples"}]}
pub const POOL_METRICS_JSON: pool_metrics_format = 1;

/// What an image is.
pub type pool_image_form = u32;
/// machine code of one chip
pub const POOL_IMAGE_CUBIN: pool_image_form = 0;
/// for that compute capability and every later one
pub const POOL_IMAGE_PTX: pool_image_form = 1;

/// Flags of a resident object.
pub type pool_resident_flag = u32;
/// copies are never evicted
pub const POOL_RESIDENT_PINNED: pool_resident_flag = 1;

/// Checks that can be enabled for the launches that follow, combined by |.
pub type pool_sim_report = u32;
/// reads of shared memory that no thread has written
pub const POOL_SIM_REPORT_UNINITIALISED: pool_sim_report = 1;
/// barriers that only some threads of a warp reach
pub const POOL_SIM_REPORT_BARRIER: pool_sim_report = 2;
/// log live objects when the last pool is destroyed
pub const POOL_SIM_REPORT_LEAK: pool_sim_report = 4;

/// What a range covers.
pub type pool_trace_kind = u32;
/// a call of an operation: "msm", "ntt", "vector", "poseidon", "merkle", "bases"
pub const POOL_TRACE_OPERATION: pool_trace_kind = 0;
/// a stage of an operation being enqueued: "sort", "accumulate"
pub const POOL_TRACE_PHASE: pool_trace_kind = 1;
/// a copy between host and device: "upload", "download"
pub const POOL_TRACE_COPY: pool_trace_kind = 2;
/// "compile": NVRTC is running
pub const POOL_TRACE_COMPILE: pool_trace_kind = 3;
/// "load": the driver loads a module
pub const POOL_TRACE_LOAD: pool_trace_kind = 4;
/// "lease wait": pool_acquire waits; no range where it need not
pub const POOL_TRACE_LEASE_WAIT: pool_trace_kind = 5;

/// Where the numbers of a device come from.
pub type pool_tuning_source = u32;
pub const POOL_TUNING_DEFAULT: pool_tuning_source = 0;
pub const POOL_TUNING_FILE: pool_tuning_source = 1;
/// pool_params.tuning
pub const POOL_TUNING_GIVEN: pool_tuning_source = 2;

/// The functions above.
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

/// Flags of physical memory.
pub type pool_physical_flag = u32;
/// for pool_physical_export
pub const POOL_PHYSICAL_EXPORTABLE: pool_physical_flag = 1;

/// of the key of an entry, with the NUL
pub const POOL_CACHE_KEY_TEXT: i32 = 65;
/// "GPU-01234567-89ab-cdef-0123-456789abcdef" or "MIG-…", with the NUL
pub const POOL_UUID_TEXT: i32 = 48;
/// "0000:06:00.0", with the NUL
pub const POOL_PCI_TEXT: i32 = 24;
/// of pool_device_set_rate
pub const POOL_MAX_RATE: u64 = 68719476736;
/// The maximum log_size of a transform of points.
pub const POOL_ECNTT_MAX_LOG_SIZE: i32 = 32;
/// Largest supported modulus, and the size of its elements.
pub const POOL_FIELD_MAX_BITS: i32 = 768;
/// Largest supported modulus, and the size of its elements.
pub const POOL_FIELD_MAX_BYTES: i32 = 96;
/// Size of the fingerprint of a field or curve.
pub const POOL_FINGERPRINT_BYTES: i32 = 32;
/// Enough for every formatted element, including the terminating NUL.
pub const POOL_FIELD_STRING_BYTES: i32 = 240;
/// At most this many matrices are a layer.
pub const POOL_FRI_MAX_ARITY: i32 = 8;
/// bytes from an entry's start to its element
pub const POOL_FILE_COEFFICIENT_ELEMENT: i32 = 12;
/// a minute: one class of priority
pub const POOL_LEASE_AGING_NS: u64 = 60000000000;
/// priorities are -1000 to 1000
pub const POOL_LEASE_PRIORITY_MAX: i32 = 1000;
/// of a label, with its end
pub const POOL_LEASE_LABEL_BYTES: i32 = 64;
/// of each device, where pool_params.slots is 0
pub const POOL_LEASE_SLOTS: i32 = 4;
/// pool_request.timeout_ns: no deadline
pub const POOL_WAIT_FOREVER: u64 = 18446744073709551615;
/// The carve-out that leaves the choice to the driver.
pub const POOL_CARVEOUT_DEFAULT: i32 = -1;
/// Values of pool_bases_params.precompute_factor: as many multiples as there are windows.
pub const POOL_PRECOMPUTE_ALL: u32 = 4294967295;
/// The factor that was tuned for the device's chip (tuning.h); by default POOL_PRECOMPUTE_ALL.
pub const POOL_PRECOMPUTE_AUTO: u32 = 4294967294;
/// value of pool_msm_params.affine_passes
pub const POOL_AFFINE_NONE: u32 = 4294967295;
/// The maximum log_size of a transform; the field's two-adicity may be smaller.
pub const POOL_NTT_MAX_LOG_SIZE: i32 = 40;
/// The maximum log_blowup of an extension.
pub const POOL_NTT_MAX_LOG_BLOWUP: i32 = 4;
/// the default of pool_params.slice_ns
pub const POOL_SLICE_NS: u64 = 2000000;
/// of a parameter set: state elements
pub const POOL_POSEIDON_MAX_WIDTH: i32 = 64;
/// of a name, with its end
pub const POOL_RESIDENT_NAME_BYTES: i32 = 64;
/// of instructions, see pool_sim_class_name
pub const POOL_SIM_CLASSES: i32 = 10;
/// Version of the headers with which a program is compiled.
pub const POOL_VERSION_MAJOR: i32 = 0;
/// Version of the headers with which a program is compiled.
pub const POOL_VERSION_MINOR: i32 = 1;
/// Version of the headers with which a program is compiled.
pub const POOL_VERSION_PATCH: i32 = 0;
/// Version of the headers with which a program is compiled.
pub const POOL_VERSION_NUMBER: i32 = 100;

/// Calls `visit` for each entry, including damaged ones, until it returns non-zero.
pub type pool_cache_visitor = Option<unsafe extern "C" fn(user: *mut c_void, entry: *const pool_cache_entry) -> c_int>;

/// any of the driver's enumerations as an argument
pub type pool_cu_host_function = Option<unsafe extern "C" fn(user: *mut c_void)>;

/// any of the driver's enumerations as an argument
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

/// Runs on the thread that detected the fault, once for the process's first sticky fault and once for each
/// device that becomes unusable, also during pool_create; when a probe finds wrong results; and when a device
/// makes no progress (stall_timeout_ns), on the pool's own thread. It may call pool_get_health and the
/// functions of status.h, and must not block.
pub type pool_fault_hook = Option<unsafe extern "C" fn(user: *mut c_void, fault: *const pool_fault)>;

pub type pool_params_host_memory = Option<unsafe extern "C" fn(user: *mut c_void) -> u64>;

/// Calls `visit` for each device in order until it returns non-zero. *answer receives the last returned
/// value, unless `answer` is NULL.
pub type pool_device_visitor = Option<unsafe extern "C" fn(user: *mut c_void, device: *mut pool_device) -> c_int>;

pub type pool_pick_filter = Option<unsafe extern "C" fn(user: *mut c_void, candidate: *const pool_candidate) -> c_int>;

pub type pool_pick_score = Option<unsafe extern "C" fn(user: *mut c_void, candidate: *const pool_candidate) -> f64>;

/// Binds the device, runs the task, unbinds, and returns the task's status or the failure of bind or unbind.
/// Bindings that the task has left are removed too (POOL_ERR_UNBALANCED, unless the task itself failed).
pub type pool_task = Option<unsafe extern "C" fn(device: *mut pool_device, arg: *mut c_void) -> pool_status>;

/// Enqueues a call of `function`, which the driver makes on one of its threads after the work before it. The
/// function must be quick and must not call the library or CUDA. It is not called when earlier work on the
/// stream has failed.
pub type pool_host_task = Option<unsafe extern "C" fn(user: *mut c_void)>;

/// Called once for each ticket, when its request has been granted or has failed, on a thread of the library
/// and outside its locks, possibly before pool_acquire_async has returned. It may call pool_ticket_take and
/// pool_ticket_destroy and enqueue work, but must not wait: other tickets are delayed meanwhile.
pub type pool_grant_hook = Option<unsafe extern "C" fn(user: *mut c_void, ticket: *mut pool_ticket)>;

pub type pool_exec_progress = Option<unsafe extern "C" fn(user: *mut c_void, done: u64, total: u64)>;

/// The record and its strings are valid during the call only. The callback runs on any thread, also on
/// several concurrently. Failures are logged where they are found, which can be under a lock of the library.
/// The callback must therefore not call the library, nor wait for a thread that may be in a call of it, nor
/// take a lock that a thread holds while it calls the library; nor may it fork, leave by longjmp or an
/// exception, or end its thread.
pub type pool_log_callback = Option<unsafe extern "C" fn(user: *mut c_void, record: *const pool_log_record)>;

/// A source of the caller's: allocates a buffer on exec->device and fills it, by work that is done when it
/// returns or enqueued on exec->stream. The buffer is the object's from then on. Called on the thread that
/// needs the copy, for different devices at once too; it must not use the object itself.
pub type pool_resident_source = Option<unsafe extern "C" fn(user: *mut c_void, exec: *const pool_exec, buffer: *mut *mut pool_buffer) -> pool_status>;

/// Calls `visit` for each kernel and device in order of first launch until it returns non-zero. The visitor
/// must not call functions of the library. POOL_ERR_NOT_FOUND without a simulated driver.
pub type pool_sim_kernel_visitor = Option<unsafe extern "C" fn(user: *mut c_void, stats: *const pool_sim_kernel_stats) -> c_int>;

/// Called on the thread that does the work, on several threads at once. It must be fast and must not call
/// functions of the library.
pub type pool_trace_hook = Option<unsafe extern "C" fn(user: *mut c_void, event: *const pool_trace_event)>;

/// Calls `visit` for each number, in the order of the file, until it returns non-zero.
pub type pool_tuning_visitor = Option<unsafe extern "C" fn(user: *mut c_void, number: *const pool_tuning_number) -> c_int>;

/// Detail of the last failure on the calling thread. `message` says what was attempted, why it failed and, if
/// known, what to do. `call` is the driver function with its relevant values, "cuMemAlloc(2 GiB)", or "" when
/// no driver call was the cause. `driver_code` is the CUresult (0 when no driver call was the cause) and
/// `driver_name` its name.
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

/// A copy of such a detail in memory of the caller, for callers whose results are read by another thread, as
/// in bindings with asynchronous calls. `error` of a pool_exec or a pool_request names one that the call
/// fills when it fails; after a success the contents mean nothing. Longer texts are cut.
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

/// One entry. `valid` is 0 if its digest does not match; only `key` and `bytes` are set then.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cache_entry {
    pub struct_size: usize,
    /// hexadecimal; also the file's name
    pub key: [c_char; 65],
    /// of the module, pool_module_params.name
    pub name: [c_char; 64],
    /// of the file
    pub bytes: u64,
    /// seconds
    pub created_unix_time: u64,
    /// 90 is sm_90; 0: for any chip
    pub compute_capability: i32,
    /// 1: PTX, 0: machine code
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

/// CUuuid.
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

/// CUmemLocation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_mem_location {
    /// 1: device
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

/// CUmemPoolProps.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_mem_pool_props {
    /// 1: pinned
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

/// CUmemAccessDesc.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_mem_access {
    pub location: pool_cu_mem_location,
    /// 0: none, 1: read, 3: read and write
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

/// CUmemAllocationProp.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_mem_allocation_prop {
    /// 1: pinned
    pub r#type: pool_cu_enum,
    /// 1: POSIX file descriptor
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

/// CUipcMemHandle and CUipcEventHandle.
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

/// One side of CUDA_MEMCPY2D: host memory if memory_type is 1, device memory if it is 2.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_copy_side {
    pub x_bytes: usize,
    pub y: usize,
    pub memory_type: pool_cu_enum,
    /// of the source: only read
    pub host: *mut c_void,
    pub device: CUdeviceptr,
    /// not used
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

/// CUDA_MEMCPY2D: `height` rows of `width_bytes` bytes, which begin `pitch` bytes apart.
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
    /// ids 2 and 6: 0 or 1; 8: the priority
    pub number: c_int,
    /// id 4: blocks in x, y, z
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

/// CUlaunchAttribute.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_launch_attribute {
    /// 2: cooperative, 4: cluster dimension, 6: programmatic stream serialization, 8: priority
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

/// CUlaunchConfig.
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

/// CUgraphExecUpdateResultInfo.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_graph_update {
    /// 0: updated; else why not
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

/// CUdevResource: some multiprocessors of a device, or what a context has of them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cu_dev_resource {
    /// 1: multiprocessors; 0: none
    pub r#type: pool_cu_enum,
    /// the driver's
    pub internal: [c_uchar; 92],
    /// multiprocessors
    pub sm_count: c_uint,
    /// the fewest that a part may have; 0: an old driver
    pub min_partition: c_uint,
    /// a part has a multiple of this many; 0: an old driver
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

/// The table. `struct_size` is sizeof(pool_cuda_api) in the code that filled it; entries beyond it and NULL
/// entries are missing functions. The table and the functions must outlive every pool that is created with
/// it. They are called by any thread.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_cuda_api {
    pub struct_size: usize,
    /// POOL_CUDA_PTX_ONLY, POOL_CUDA_ISOLATED_DEVICES
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

/// Properties and state of a device. Sizes are in bytes, clocks in kHz. A member that the driver does not
/// report is 0, or -1 where 0 would be a value (numa_node). Set struct_size before the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_device_info {
    pub struct_size: usize,
    /// index in the pool
    pub index: u32,
    /// index in the driver's list, after CUDA_VISIBLE_DEVICES; not an identity
    pub ordinal: i32,
    pub uuid: [c_char; 48],
    /// domain:bus:device.function
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
    /// sampled by this call; 0 while a lazy device has no context
    pub free_bytes: u64,
    /// 1: enabled
    pub ecc: i32,
    /// 1: through a Multi-Process Service daemon
    pub mps: i32,
    /// 1: a MIG instance
    pub mig: i32,
    /// of the nearest host memory; -1: unknown
    pub numa_node: i32,
    /// 1: shares the host's memory
    pub integrated: i32,
    /// 0: default, 2: prohibited, 3: exclusive process
    pub compute_mode: i32,
    pub warp_size: i32,
    pub max_threads_per_block: i32,
    pub max_threads_per_multiprocessor: i32,
    pub max_blocks_per_multiprocessor: i32,
    pub registers_per_multiprocessor: i32,
    pub copy_engines: i32,
    /// without opting in
    pub shared_bytes_per_block: u64,
    /// the maximum, with opting in
    pub shared_bytes_per_block_optin: u64,
    pub shared_bytes_per_multiprocessor: u64,
    /// 1: stream-ordered allocation
    pub memory_pools: i32,
    /// 1: supported
    pub cooperative_launch: i32,
    /// 0: lazy and not used yet
    pub has_context: i32,
    pub state: pool_device_state,
    /// why it is not READY, or ""
    pub reason: [c_char; 256],
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

/// Peer access from one device to another of the same pool, from the driver's P2P attributes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_peer_info {
    pub struct_size: usize,
    /// 1: `from` can address memory of `to`
    pub access: i32,
    /// 1: atomics over the link
    pub native_atomics: i32,
    /// the driver's rank of the link; 0 is best
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

/// A kernel that had been launched through the library and was not known to have finished when a sticky fault
/// showed: since it was launched no wait, query or event of its stream has succeeded.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_fault_kernel {
    /// NULL: of another pool of the process
    pub device: *mut pool_device,
    /// of the device
    pub ordinal: i32,
    /// of this kernel on this stream
    pub launches: u32,
    pub name: *const c_char,
    /// NULL: the default stream
    pub stream: CUstream,
    /// of the lease that it was launched for; "": none
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

/// The argument of a fault hook. Strings and kernels are valid during the call only.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_fault {
    /// DEVICE or PROCESS
    pub error_class: pool_error_class,
    pub driver_code: c_int,
    pub driver_name: *const c_char,
    /// a description of the first cause
    pub message: *const c_char,
    /// The device whose work or state caused the fault; NULL when that is not certain. A sticky fault shows
    /// at the next driver call on any device. The device is certain if, among the devices of all pools of the
    /// process, it is the only one with an unfinished kernel that was launched through the library. The
    /// library does not know of kernels launched in other ways.
    pub device: *mut pool_device,
    /// where the failing call ran; NULL: unknown
    pub shown_on: *mut pool_device,
    /// launched and not known to have finished
    pub kernels: *const pool_fault_kernel,
    /// for DEVICE only of a device that makes no progress
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

/// Zero is the default of every member but struct_size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_params {
    pub struct_size: usize,
    /// The devices and their order, a comma-separated list of: "all"; ordinals and ranges, "0,2-3"; "GPU-" or
    /// "MIG-" and a unique prefix of a UUID; a complete UUID; "MIG-GPU-…/1/2", as old drivers name a MIG
    /// instance, if one of that GPU is visible; a PCI address, "0000:06:00.0". Or "sim" or
    /// "sim:4,mem=24G,cc=90" for simulated devices. "workers:" in front of any of these: each device in a
    /// process of its own, see `isolation`. NULL: the environment variable DEVICEPOOL_DEVICES, or "all" if
    /// that is not set. Ordinals count the devices that CUDA_VISIBLE_DEVICES leaves visible. Naming a device
    /// twice and a prefix of several UUIDs are errors.
    pub devices: *const c_char,
    /// fewer usable devices fail the call; 0 means 1
    pub min_devices: u32,
    pub context_mode: pool_context_mode,
    /// CU_CTX_… flags of the contexts; 0: the driver's default. A primary context gets them before it becomes
    /// active (cuDevicePrimaryCtxSetFlags); if the process uses it already with other flags, pool_create
    /// returns POOL_ERR_BUSY and names both. Must be 0 for POOL_CONTEXT_ADOPT.
    pub context_flags: u32,
    /// 1: create each context at the first use of its device, once for all threads. A device whose context
    /// cannot be created is unusable from then on, for the reason in its info.
    pub lazy: i32,
    /// For POOL_CONTEXT_ADOPT: one per device. `devices` must be NULL, or the "sim…" of the simulated devices
    /// that the contexts belong to.
    pub contexts: *const CUcontext,
    pub context_count: usize,
    pub fault_hook: pool_fault_hook,
    pub fault_user: *mut c_void,
    /// NULL: libcuda.so.1 (or the simulated driver for "sim")
    pub driver: *const pool_cuda_api,
    /// The most that the library may hold of each device's memory: buffers, workspaces, resident data, and
    /// what its memory pool keeps unused. In bytes, or in per cent of the device's memory (1 … 100); one of
    /// them at most. Both 0: the environment variable DEVICEPOOL_MEMORY_LIMIT ("24G", "512M", "80%"), and
    /// when that is not set no limit. UINT64_MAX bytes: no limit, whatever the environment says. Contexts and
    /// loaded kernels do not count.
    pub memory_limit: u64,
    pub memory_limit_percent: u32,
    /// How many leases of one slot each device can have at one time, 1 to 65536; 0: 4, which is
    /// POOL_LEASE_SLOTS of lease.h.
    pub slots: u32,
    /// Bytes of each device's free memory that leases cannot reserve, for what contexts and kernels take
    /// later; 0: 1/64 of the device's memory, at most 512 MiB.
    pub memory_headroom: u64,
    /// A device with unfinished work whose streams have made no progress for this long is stalled: the fault
    /// hook is called once with class DEVICE, and pool_get_health counts it and reports harm until it makes
    /// progress again. While a lease on a device is overdue (pool_request.duration_ns) the time is a second
    /// at most. 0: devices are watched only while a lease on them is overdue. Progress is seen where waits
    /// and queries of the library succeed, and when a stream is idle, so the time must be longer than a
    /// stream is ever kept busy without such a wait. A thread of the library looks four times within it.
    pub stall_timeout_ns: u64,
    /// The path of a Unix socket that the pool opens, with mode 0600, and that exists as long as the pool: it
    /// writes a snapshot of the pool as JSON to each client of this user or of root, and closes the
    /// connection. `devicepool top` shows it; docs/metrics.md describes it. The process holds a lock on the
    /// file PATH.lock beside it for as long; its forked children have neither. A socket that an ended process
    /// of this user has left is replaced. NULL: none. Errors: POOL_ERR_BUSY when a process has the lock or
    /// the socket, POOL_ERR_INVALID_ARGUMENT when it is no path of a socket or names something else,
    /// POOL_ERR_IO.
    pub status_socket: *const c_char,
    /// POOL_ISOLATION_WORKERS: each device is used by a process of its own, so that a fault, a hang or the
    /// death of that process harms this device only; see docs/workers.md. The same as "workers:" in front of
    /// `devices`, "workers:all" or "workers:sim:4". POOL_CONTEXT_ADOPT and `driver` are not possible then
    /// (POOL_ERR_UNSUPPORTED). POOL_ERR_NOT_FOUND: the program devicepool-worker is not installed.
    pub isolation: pool_isolation,
    /// The tuned numbers of all devices, see tuning.h; the pool copies them. POOL_ERR_UNSUPPORTED: they
    /// belong to another chip or driver, or the devices are of several kinds (numbers for every chip are not
    /// refused). POOL_ERR_INVALID_ARGUMENT: they contradict each other. NULL: those of the file that
    /// DEVICEPOOL_TUNING names, or, when that is not set, of the file for this chip in the cache directory.
    /// With DEVICEPOOL_TUNING=off, without a file, and where a file is damaged, of another version of the
    /// library, of another chip or driver, or the devices are of several kinds, the defaults are used; a file
    /// that is not used is logged once as a warning, with the reason.
    pub tuning: *const pool_tuning,
    /// For integrated devices, which share the memory of the host: the bytes that are available there, read
    /// at each sample of the free memory instead of the driver's number, which leaves out the page cache that
    /// an allocation reclaims. Any thread; it must not block. A result of 0: not known, the driver's number
    /// counts. NULL: the smaller of MemAvailable of /proc/meminfo and of what the process's memory cgroups
    /// leave. All integrated devices of a pool share one account: what a lease reserves on one of them is
    /// missing on the others, and `memory_limit` is that of the account.
    pub host_memory: pool_params_host_memory,
    pub host_memory_user: *mut c_void,
    /// From which classes of leases (pool_request.priority) on their streams are more or less urgent on the
    /// device than those of class 0 and of calls without a lease, which have the middle one of the driver's
    /// priorities. Streams of classes from urgent_classes[0] up are one level more urgent, from [1] up two,
    /// from [2] up three; those from background_classes[0] down one level less, from [1] down two. Priorities
    /// of CUDA are 0, the least urgent, to -5: level 0 is -2. A driver with fewer has fewer levels. All 0: 1,
    /// 10, 100 and -1, -100. INVALID_ARGUMENT: an urgent class below 1, a background class above -1, or one
    /// that is closer to 0 than the one before.
    pub urgent_classes: [i32; 3],
    pub background_classes: [i32; 2],
    /// While a device is shared, kernels that would fill each multiprocessor with one block leave this many
    /// free, so that a short job starts at once; at most half of a device's. A device is shared while several
    /// leases are held on it, and for a second after one was granted beside others. A lease of all slots, and
    /// UINT32_MAX: none. 0: a sixteenth, 8 of 132.
    pub shared_multiprocessors: u32,
    /// The longest time in nanoseconds that one launch of the library should fill a device, so that other
    /// jobs on it get their turn: longer kernels are cut. Predicted from the rates of the chips that were
    /// measured, not enforced. 0: POOL_SLICE_NS, 2 ms. UINT64_MAX: no limit. pool_exec.slice_ns replaces it
    /// for one call. docs/scheduling.md says which kernels are cut.
    pub slice_ns: u64,
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

/// The state of a device for the filter and score callbacks; memory and work are recent samples.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_candidate {
    pub device: *mut pool_device,
    pub free_bytes: u64,
    pub total_bytes: u64,
    /// held by all threads
    pub bindings: u32,
    /// of the library that are in progress on it
    pub calls: u32,
    /// with unfinished work of the library, at most one millisecond ago
    pub busy_streams: u32,
    /// launches, copies and fills on these streams not known to have finished
    pub unfinished: u64,
    /// by leases; free_bytes is what they leave
    pub reserved_bytes: u64,
    /// held that include the device
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

/// Zero is the default of every member but struct_size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_pick {
    pub struct_size: usize,
    pub policy: pool_policy,
    /// devices with less are excluded
    pub min_free_bytes: u64,
    /// Returns 0 to exclude a device; NULL: no filter. Must not call the library.
    pub filter: pool_pick_filter,
    /// For POOL_POLICY_SCORE; NaN excludes a device. Equal scores are chosen round robin. Must not call the
    /// library.
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

/// The health of a pool.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_health_info {
    pub struct_size: usize,
    /// NONE, PROCESS, or DEVICE: some are unusable, quarantined, abandoned or stalled.
    pub harmed: pool_error_class,
    pub devices: u32,
    /// READY
    pub usable_devices: u32,
    /// held by all threads on devices that are not abandoned
    pub bindings: u32,
    /// of the first sticky fault, else 0
    pub driver_code: i32,
    pub driver_name: [c_char; 64],
    /// The call, its code, where it showed, and the unfinished kernels of each device; "" while there is no
    /// fault.
    pub first_cause: [c_char; 1024],
    /// seconds, of the first sticky fault; 0 while there is none
    pub fault_unix_time: u64,
    /// index of the device that caused it; -1: not certain, or no fault
    pub fault_device: i32,
    /// index of the device where it showed; -1: not known, or no fault
    pub fault_shown_on: i32,
    /// these three: devices in that state of pool_device_state
    pub draining_devices: u32,
    pub quarantined_devices: u32,
    pub abandoned_devices: u32,
    /// with unfinished work and no progress, see stall_timeout_ns
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

/// Zero is the default of every member but struct_size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_stream_params {
    pub struct_size: usize,
    /// As in CUDA: lower is more urgent. Values outside the range of pool_stream_get_priority_range are
    /// clamped to it, so that 1 is the least urgent one. 0: that of leases of class 0, the middle of the
    /// range (-2 of 0 to -5).
    pub priority: i32,
    /// POOL_STREAM_…
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

/// The driver's handle of an event (CUipcEventHandle), to be sent to another process as it is.
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

/// Zero is the default of every member but struct_size; NULL stands for all defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_request {
    pub struct_size: usize,
    /// of device memory, on each device; 0: the lease may allocate none
    pub bytes: u64,
    /// of each device; 0: 1
    pub slots: u32,
    /// how many, granted all at once; 0: 1
    pub devices: u32,
    /// How the devices are chosen among those with enough free bytes and slots. NULL: most free memory,
    /// equals round robin. A filter and a score are called once for each device, on the calling thread and
    /// before the request waits; devices that they leave out are never granted.
    pub pick: *const pool_pick,
    /// only this one; excludes `pick` and `devices` above 1
    pub device: *mut pool_device,
    /// Devices that have a copy of this object when the request is made come before all others. NULL: no
    /// preference.
    pub near_resident: *const pool_resident,
    /// The class: higher ones are granted first, and their streams are more urgent on the device
    /// (pool_params.urgent_classes). -POOL_LEASE_PRIORITY_MAX to POOL_LEASE_PRIORITY_MAX
    pub priority: i32,
    /// POOL_LEASE_…
    pub flags: u32,
    /// how long to wait; 0: not at all; POOL_WAIT_FOREVER
    pub timeout_ns: u64,
    /// The lease is overdue once it is held longer than that: it is logged and counted, and its devices are
    /// watched for progress (pool_params.stall_timeout_ns). 0: never
    pub duration_ns: u64,
    /// ends the wait; it must outlive the call, or the ticket. NULL: none
    pub cancel: *mut pool_cancel,
    /// For messages, logs and metrics; copied. At most 63 bytes of UTF-8 without control characters. NULL: ""
    pub label: *const c_char,
    /// Filled when pool_acquire or pool_acquire_async fails, and when pool_ticket_take returns that the
    /// request of its ticket has failed: it must then outlive the ticket. See status.h. NULL: none.
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

/// What a lease is. Set struct_size before the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_lease_info {
    pub struct_size: usize,
    /// reserved on each device
    pub bytes: u64,
    /// of each device
    pub slots: u32,
    pub devices: u32,
    pub priority: i32,
    pub flags: u32,
    /// from the request to the grant
    pub waited_ns: u64,
    /// since the grant
    pub held_ns: u64,
    /// as requested; 0: none
    pub duration_ns: u64,
    /// 1: held longer than that
    pub is_overdue: i32,
    /// Of its streams: 0 as calls without a lease, 1 to 3 more urgent, -1 and -2 less; see
    /// pool_params.urgent_classes.
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

/// What a lease uses of one of its devices. Set struct_size before the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_lease_usage {
    pub struct_size: usize,
    pub device: *mut pool_device,
    /// pool_lease_info.bytes
    pub limit_bytes: u64,
    /// of buffers and scratch allocated under the lease
    pub used_bytes: u64,
    /// the most that were used at one time
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

/// What the scheduler of a pool is doing. Set struct_size before the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_lease_counts {
    pub struct_size: usize,
    /// held
    pub leases: u32,
    /// of these
    pub overdue: u32,
    /// requests
    pub waiting: u32,
    /// 0
    pub reserved: u32,
    /// of a request that waits now
    pub longest_wait_ns: u64,
    /// requests since the pool was created
    pub granted: u64,
    /// requests that ended without a lease: deadlines, cancels, faults
    pub failed: u64,
    /// leases since the pool was created, as the monitor found them
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

/// A custom field. Numbers are strings: decimal, or hexadecimal after "0x".
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_field_params {
    /// sizeof(pool_field_params)
    pub struct_size: usize,
    /// an odd prime of at most POOL_FIELD_MAX_BITS bits; required
    pub modulus: *const c_char,
    /// up to 63 characters; NULL: "custom"
    pub name: *const c_char,
    /// NULL: the smallest quadratic non-residue, which suffices for the roots of unity
    pub generator: *const c_char,
    /// primitive 2^s-th root of unity, s the two-adicity; NULL: generator^((p - 1) / 2^s)
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

/// A plain value that owns nothing; operations copy it. Inputs are only read. Items must not overlap; input
/// and output may be the same memory only where the operation says so.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_span {
    /// first item: a host pointer, or a device address cast to a pointer; may be NULL when count is 0.
    /// POOL_MEMORY_SHARDED: an array of pool_span
    pub data: *mut c_void,
    /// items
    pub count: u64,
    /// bytes between the starts of adjacent items; 0: packed
    pub stride: u64,
    /// of the field elements inside
    pub form: pool_form,
    /// of `data`
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

/// Zero is the default of every member but struct_size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_buffer_params {
    pub struct_size: usize,
    /// 0 is a valid, empty buffer whose address is 0
    pub bytes: u64,
    /// POOL_BUFFER_…
    pub flags: u32,
    /// NULL: the memory can be used on any stream when the call returns. A stream: the memory can be used by
    /// work that is enqueued later on that stream (or ordered after it by an event), and the call does not
    /// wait unless the device is full.
    pub stream: *mut pool_stream,
    /// The memory is charged to the budget that the lease has on the device, until it is freed or the lease
    /// is released; the buffer may outlive the lease. POOL_LEASE_SECRET implies POOL_BUFFER_SECRET. NULL: no
    /// lease. Errors: POOL_ERR_OUT_OF_DEVICE_MEMORY (beyond the budget), POOL_ERR_WRONG_DEVICE (a device that
    /// the lease does not have).
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

/// A buffer's memory by which another process can open it; 80 bytes without pointers, to be sent as they are.
/// Who has them can read and write the memory, and all of the allocation that the buffer is a part of.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_shared_buffer {
    /// the driver's: CUipcMemHandle
    pub handle: [c_uchar; 64],
    /// of the buffer in the allocation
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

/// One side of a 2-D copy: rows that begin `pitch` bytes apart, in a buffer from its byte `offset` on, or,
/// where `buffer` is NULL, in host memory at `host`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_pitched {
    pub buffer: *mut pool_buffer,
    /// of the first row; 0 for host memory
    pub offset: u64,
    /// of the source: only read; must be NULL if there is a buffer
    pub host: *mut c_void,
    /// at least the bytes of a row; 0: those
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

/// A device's memory, all in bytes. Set struct_size before the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_memory_info {
    pub struct_size: usize,
    /// of all processes, as the driver reports it
    pub free_bytes: u64,
    pub total_bytes: u64,
    /// in buffers of the library
    pub used_bytes: u64,
    /// maximum since the start or the last reset
    pub used_high_water_bytes: u64,
    /// allocated from the device for buffers, used or unused
    pub reserved_bytes: u64,
    pub reserved_high_water_bytes: u64,
    /// unused bytes above this are released to the device
    pub release_threshold: u64,
    /// pinned through this device
    pub pinned_bytes: u64,
    /// pinned, for copies of pageable memory
    pub staging_bytes: u64,
    /// secrets that could not be overwritten, see above
    pub quarantined_bytes: u64,
    /// handles, including slices and adopted buffers
    pub buffers: u64,
    /// 1: stream-ordered, 0: plain allocations
    pub memory_pool: i32,
    /// freed pinned memory that unfinished work may still use
    pub pinned_deferred_bytes: u64,
    /// of what the library may hold (pool_params); 0: none
    pub memory_limit: u64,
    /// free bytes that leases cannot reserve
    pub memory_headroom: u64,
    /// that further leases can reserve
    pub available_bytes: u64,
    /// by living leases, whether used or not
    pub lease_reserved_bytes: u64,
    /// the part of used_bytes that is charged to living leases
    pub lease_charged_bytes: u64,
    /// living ones that include the device
    pub leases: u64,
    /// freed and kept for reuse
    pub pinned_unused_bytes: u64,
    /// of freed pinned memory that is kept
    pub pinned_threshold: u64,
    /// how often the driver allocated pinned memory
    pub pinned_allocations: u64,
    /// how often freed pinned memory was reused instead
    pub pinned_reuses: u64,
    /// the part of used_bytes in pool_physicals (virtual.h)
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

/// Zero is the default of every member but struct_size; a NULL pool_exec means all defaults. The call copies
/// the struct. An operation's comment says which members it does not support: values other than the default
/// fail with POOL_ERR_UNSUPPORTED, unsupported flags of `checks` with POOL_ERR_INVALID_ARGUMENT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_exec {
    pub struct_size: usize,
    /// NULL: the device of an MSM's bases, else the device that the calling thread has bound.
    pub device: *mut pool_device,
    /// of that device; NULL: its default stream
    pub stream: *mut pool_stream,
    /// 0: the results are complete when the call returns. 1: the work is enqueued on `stream`. Device memory
    /// and pinned host memory must then stay valid until the stream has completed the work, and only then are
    /// results there valid. Pageable host memory has been read, and results in it are written, when the call
    /// returns: those calls wait for the device. The first use of a field, curve, domain or parameter set on
    /// a device, which compiles its kernels, and checks block with 1 as well. Faults of the device are
    /// reported by the stream. After a failure of the call itself no enqueued work accesses the caller's
    /// memory any more.
    pub is_async: i32,
    /// 1: computed in C on the host, without a device; all spans must be in host memory. Poseidon only. The
    /// library never chooses this itself.
    pub on_host: i32,
    /// POOL_CHECK_… of the inputs; POOL_CHECK_NONE: none. Checks block.
    pub checks: u32,
    /// 0
    pub reserved: u32,
    /// Device memory for intermediate results, none of it in an input or output: as many bytes as the
    /// operation's ..._workspace function reports without a lease for the same params, spans, checks and
    /// memory_limit, unless its comment asks for less, aligned to 256 bytes. The budget of a lease does not
    /// limit the chunks of a call with a workspace. It must stay valid until the stream has completed the
    /// work. NULL: allocated in the order of the stream and freed again.
    pub workspace: *mut pool_buffer,
    /// Bytes of device memory that the call may allocate, besides spans and workspace; 0: no limit. Smaller
    /// limits lead to smaller chunks; POOL_ERR_OUT_OF_DEVICE_MEMORY when the smallest chunk needs more.
    /// Kernels and tables, which stay on the device, do not count.
    pub memory_limit: u64,
    /// Examined before each chunk; POOL_ERR_CANCELLED once requested. Results written so far are incomplete.
    /// NULL: none.
    pub cancel: *mut pool_cancel,
    /// Called on the calling thread after each chunk, the last time with done == total. `done` is the amount
    /// of work that has been enqueued or, with is_async 0, may have been completed, in items of the
    /// operation. It must not use `stream`. NULL: none.
    pub progress: pool_exec_progress,
    pub user: *mut c_void,
    /// The lease that the call runs under: its device memory is charged to the lease's budget and limited by
    /// it, as if `memory_limit` were what is left of the budget. `device` NULL is then the lease's first
    /// device, `stream` NULL the lease's stream of the device. NULL: no lease. Errors: POOL_ERR_WRONG_DEVICE
    /// for a device that the lease does not have, POOL_ERR_INVALID_ARGUMENT for a lease that has been
    /// released.
    pub lease: *mut pool_lease,
    /// One job over several devices of a pool: the `device_count` devices of `devices`, or, where that is
    /// NULL, the first ones of `lease`; 0: one device. The library divides the job, runs each part on its
    /// device's default stream (or the lease's stream of that device) and combines the results. Spans are in
    /// host memory, of which each device transfers its own part, or POOL_MEMORY_SHARDED. `memory_limit` holds
    /// for each device. A failure on one device ends the parts of the others and is the call's. `device` and
    /// `workspace` must be NULL, on_host 0. docs/several-devices.md says how each operation is divided; the
    /// others fail with POOL_ERR_UNSUPPORTED.
    pub devices: *const *mut pool_device,
    /// at most 64
    pub device_count: u32,
    /// of `workspaces`: device_count, or 0
    pub workspace_count: u32,
    /// A workspace for each of the devices, in their order, with the bytes that the operation's ..._workspace
    /// function reports for it without a lease: the call then allocates nothing on any device but kernels and
    /// tables, and the budget of a lease does not limit it. NULL for a device that needs none.
    /// POOL_ERR_WRONG_DEVICE: memory of another device. POOL_ERR_INVALID_ARGUMENT: another count, a workspace
    /// that is missing, too small, not aligned to 256 bytes, or that overlaps a span. NULL, with
    /// workspace_count 0: allocated and freed again.
    pub workspaces: *const *mut pool_buffer,
    /// The call returns after this time, and 0.2 s that it has to end by itself, although a call of the
    /// driver does not return: POOL_ERR_TIMEOUT. The work is done by a thread of the library, which is
    /// cancelled at the deadline. If it does not end, it is left behind: the device in whose call it is gets
    /// quarantined (pool_device_probe and pool_device_resume take it into service again, pool_device_abandon
    /// gives it up), or its worker process is ended; other devices are not affected. The memory of spans,
    /// objects, and whatever else the copied structs point to must then stay valid until
    /// pool_device_wait_drained has succeeded, as with is_async; handles that the call would have returned
    /// are destroyed. `progress` is called on the calling thread, and not after the return. 0: none.
    /// Functions that only report sizes ignore it.
    pub timeout_ns: u64,
    /// Filled when the call fails, with what pool_last_error is then; see status.h. NULL: none.
    pub error: *mut pool_error_slot,
    /// The longest time that one launch of this call should fill a device; UINT64_MAX: no limit. 0: that of
    /// the pool, pool_params.slice_ns.
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

/// Zero is the default of every member but struct_size and field. Numbers are strings in standard form:
/// decimal, or hexadecimal after "0x".
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_ntt_domain_params {
    pub struct_size: usize,
    /// retained by the domain
    pub field: *const pool_field,
    pub log_size: u32,
    /// 0
    pub reserved: u32,
    /// of the root of unity, see pool_field_root_of_unity; NULL: the field's root
    pub convention: *const c_char,
    /// any primitive 2^log_size-th root of unity, instead of a convention
    pub root: *const c_char,
    /// coset generator g; NULL: the field's generator
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

/// Zero is the default of every member but struct_size and domain.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_ntt_params {
    pub struct_size: usize,
    pub domain: *mut pool_ntt_domain,
    pub direction: pool_ntt_direction,
    /// 1: on the domain's coset
    pub coset: i32,
    pub order: pool_ntt_order,
    pub layout: pool_ntt_layout,
    /// number of transforms; 0: 1
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

/// Zero is the default of every member but struct_size and domain.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_ntt_extend_params {
    pub struct_size: usize,
    /// of the results: root w of order N = 2^log_size and generator g
    pub domain: *mut pool_ntt_domain,
    /// b: a column has n = N / 2^b elements; at most log_size and POOL_NTT_MAX_LOG_BLOWUP.
    pub log_blowup: u32,
    /// 1: the input has coefficients; 0: values at the powers of w^(2^b).
    pub from_coefficients: i32,
    /// of the n elements of the input and the N of the output
    pub order: pool_ntt_order,
    /// of input, coefficients and output
    pub layout: pool_ntt_layout,
    /// number of columns; 0: 1
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

/// A custom parameter set. Elements are packed field elements in `form`; arrays are copied. Zero is the
/// default of every member that is not marked as required. t stands for width, state elements have the
/// indices 0 … t - 1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_poseidon_params {
    pub struct_size: usize,
    /// up to 63 characters; NULL: "custom"
    pub name: *const c_char,
    /// required; the set holds a reference
    pub field: *const pool_field,
    pub kind: pool_poseidon_kind,
    /// required, 2 … POOL_POSEIDON_MAX_WIDTH
    pub width: u32,
    /// required: odd, 3 … 255, coprime to p - 1
    pub alpha: u32,
    /// Required, 2 … 128: half before and half after the partial rounds. Even, except for kind POOL_POSEIDON
    /// without partial rounds.
    pub full_rounds: u32,
    /// up to 1024
    pub partial_rounds: u32,
    /// the state element with the S-box in partial rounds
    pub partial_index: u32,
    /// of all elements below
    pub form: pool_form,
    /// Required, round by round. POSEIDON: t per round, (full_rounds + partial_rounds) * t. POSEIDON2: t per
    /// full round and one per partial round, full_rounds * t + partial_rounds. In both cases t more are final
    /// constants, added after the last linear layer. A round that adds no constants has zeros.
    pub round_constants: *const c_void,
    pub round_constant_count: usize,
    /// Required: t * t, row-major, invertible. POSEIDON: the MDS matrix; POSEIDON2: the matrix of the
    /// external layer. The state becomes mds * state.
    pub mds: *const c_void,
    pub mds_count: usize,
    /// POSEIDON2: t, required; J + diag must be invertible
    pub internal_diagonal: *const c_void,
    pub internal_diagonal_count: usize,
    /// the most elements of a fixed-length hash; 0: t - 1
    pub max_inputs: u32,
    /// first input; 0 stands for 1 unless max_inputs is given
    pub input_index: u32,
    /// elements of a sponge's block, from input_index on; 0: max_inputs
    pub rate: u32,
    /// the state element that holds the domain tag
    pub domain_tag_index: u32,
    /// one element; NULL: 0. Must be 0 if an input has its index
    pub domain_tag: *const c_void,
    /// first element of the digest
    pub output_index: u32,
    /// 0: 1
    pub digest_elements: u32,
    /// 1: adds the state before the permutation to the one after it
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

/// Zero is the default of every member but struct_size and `elements`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_poseidon_sponge_params {
    pub struct_size: usize,
    /// of each message
    pub elements: u32,
    /// of each result; 0: the elements of a digest
    pub output_elements: u32,
    /// 0: the set's
    pub rate: u32,
    pub mode: pool_sponge_mode,
    pub padding: pool_sponge_padding,
    /// The initial value of the state element domain_tag_index, in standard form and host memory; NULL: 0.
    /// Must be 0 if that element is within the rate.
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

/// A Merkle tree. Level 0 holds the leaves' digests: a leaf of as many elements as a digest is its own
/// digest; any other is hashed by a sponge with the set's rate, the domain tag 0, no padding and `leaf_mode`.
/// Each node of level i + 1 is the fixed-length hash of its `arity` children. The tree has up to arity^height
/// leaves. `padding` is the digest of absent leaves, so that the padding node of level i, which stands for a
/// subtree without leaves, is the root of a tree of height i whose leaves are all padding. Zero is the
/// default of every member but struct_size and `arity`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_merkle_params {
    pub struct_size: usize,
    /// 2 … 16; arity digests must fit the set's max_inputs
    pub arity: u32,
    /// 0: the elements of a digest
    pub leaf_elements: u32,
    /// 0: the smallest for the number of leaves
    pub height: u32,
    /// levels that are stored, counted from the root; 0: all height + 1
    pub kept_levels: u32,
    pub leaf_mode: pool_sponge_mode,
    /// one digest in standard form and host memory; NULL: zeros
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

/// A level stores only nodes with a leaf in their subtree: level i has ceil(leaves / arity^i).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_merkle_shape {
    pub struct_size: usize,
    pub height: u32,
    /// the lowest kept level; 0 if all are kept
    pub first_level: u32,
    /// of all kept levels, the items of the `levels` span
    pub digest_count: u64,
    /// digests of an opening, height * (arity - 1)
    pub path_count: u64,
    /// of all kept levels, packed
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

/// A plain value that owns nothing, like its span.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_matrix {
    /// POOL_MATRIX_COLUMNS: `width` items, columns of `height` elements; POOL_MATRIX_ROWS: `height` items,
    /// rows of `width` elements. The stride is from one item to the next.
    pub span: pool_span,
    /// rows: a power of two, at most 2^40
    pub height: u64,
    /// elements of a row, at least 1
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

/// The tree. With H the greatest height, level 0 has H digests, level i has H / 2^i. The digest of a row is
/// that of a sponge with the set's rate whose blocks overwrite the state elements, without padding; the rows
/// of matrices of equal height are one row, in the order of the matrices. Level 0 has the digests of the
/// tallest matrices' rows. A node of the next level is the fixed-length hash c(l, r) of the two digests below
/// it, and where matrices have as many rows as the level has nodes, node j is c(c(l, r), d) with the digest d
/// of their row j. Plonky3's names are PaddingFreeSponge and TruncatedPermutation. Zero is the default of
/// every member but struct_size and `set`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_matrix_commit_params {
    pub struct_size: usize,
    /// hashes two digests
    pub set: *const pool_poseidon,
    /// Hashes rows, as Plonky3's configurations do with a wider permutation; of the same field and digest
    /// size. NULL: `set`.
    pub row_set: *const pool_poseidon,
    /// 1: a row of at most a digest's elements is not hashed: its digest is the row, followed by zeros, as in
    /// plonky2.
    pub keeps_short_rows: i32,
    /// The tree ends with the level of 2^cap_height digests, plonky2's cap; 0: with the root. No matrix may
    /// have fewer rows.
    pub cap_height: u32,
    /// levels that are stored, counted from the cap; 0: all
    pub kept_levels: u32,
    /// 0
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

/// The sizes of a commitment. Set struct_size before the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_matrix_commit_shape {
    pub struct_size: usize,
    /// of the tree: the levels above level 0, digests of a path
    pub height: u32,
    /// the lowest kept level; 0 if all are kept
    pub first_level: u32,
    /// of all kept levels, the items of the `levels` span
    pub digest_count: u64,
    /// of the last level: its digests are the last of that span
    pub cap_count: u64,
    /// of an opening: the sum of all widths
    pub row_elements: u64,
    /// of all kept levels, packed
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

/// A plain value: the low-degree extension of columns, and where it is stored.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_extension {
    /// As for pool_ntt_extend: the domain of the extended columns, blow-up, order, columns (batch). The
    /// layout must be POOL_NTT_ROWS.
    pub params: *const pool_ntt_extend_params,
    /// the input of pool_ntt_extend
    pub trace: pool_span,
    /// Its output, a matrix of 2^log_size rows in the layout POOL_MATRIX_COLUMNS. With count 0 the extended
    /// columns are not kept.
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

/// A custom curve. Numbers are strings: decimal, or hexadecimal after "0x". A coordinate is {c0, c1}; c1 is
/// used over an extension only, and NULL means 0 there.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_curve_params {
    /// sizeof(pool_curve_params)
    pub struct_size: usize,
    /// of the coordinates; p > 3; required
    pub field: *const pool_field,
    /// NULL: 0
    pub a: [*const c_char; 2],
    /// NULL: 0
    pub b: [*const c_char; 2],
    /// required
    pub generator_x: [*const c_char; 2],
    /// required
    pub generator_y: [*const c_char; 2],
    /// of the generator: an odd prime; required without scalar_field
    pub order: *const c_char,
    /// NULL: computed where the order determines it, else unknown
    pub cofactor: *const c_char,
    /// 0: coordinates in `field`; else in F[u] / (u^2 - nonresidue)
    pub nonresidue: i32,
    /// 0
    pub reserved: u32,
    /// Of modulus `order`, to choose its root of unity. NULL: created from `order`.
    pub scalar_field: *const pool_field,
    /// up to 63 characters; NULL: "custom"
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

/// Layout, form of the coordinates, and stride in bytes. All zeros, and a NULL format: packed affine points
/// in standard form. The library writes infinity as (0, 0), (0, 0, 1), (1, 1, 0), (0, 1, 0) and (1, 1, 0, 0)
/// in the five layouts. In POOL_POINT_AFFINE, (0, 0) always means infinity: the point (0, 0) of order two,
/// which curves with b = 0 have, is not representable in that layout and is refused.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_point_format {
    pub layout: pool_point_layout,
    pub form: pool_form,
    /// 0: packed, pool_point_bytes apart
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

/// Zero is the default of every member but struct_size, curve and domain.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_ecntt_params {
    pub struct_size: usize,
    /// of the points
    pub curve: *const pool_curve,
    /// Of elements modulo the curve's order. Its tables on devices are not used.
    pub domain: *mut pool_ntt_domain,
    pub direction: pool_ntt_direction,
    /// 1: on the domain's coset
    pub coset: i32,
    pub order: pool_ntt_order,
    /// of the batch
    pub layout: pool_ntt_layout,
    /// number of transforms; 0: 1
    pub batch: u64,
    pub point_layout: pool_point_layout,
    /// form and stride are those of the spans
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

/// Zero is the default of every member but struct_size, field, domain, log_arity and challenge.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_fri_fold_params {
    pub struct_size: usize,
    /// of the values: an extension
    pub field: *const pool_field,
    /// Over its base field: the points of the first layer.
    pub domain: *const pool_ntt_domain,
    /// The values are at the 2^log_folded-th powers of the domain's points: the sum of log_arity of the folds
    /// before.
    pub log_folded: u32,
    /// a fold by 2^log_arity: 1, 2 or 3
    pub log_arity: u32,
    /// 1: values and results are in bit-reversed order; 0: natural
    pub is_bit_reversed: i32,
    /// 1: the domain is the subgroup; 0: the coset g <w>
    pub on_subgroup: i32,
    /// one element of `field`, in host memory, in standard form
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

/// Zero is the default of every member but struct_size and field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_matrix_evaluate_params {
    pub struct_size: usize,
    /// of points and values: an extension of the elements' field
    pub field: *const pool_field,
    /// The columns are values at its points, as many as the matrix has rows. NULL: they are coefficients,
    /// that of x^0 first, in natural order.
    pub domain: *const pool_ntt_domain,
    /// 1: values are in bit-reversed order; 0: natural
    pub is_bit_reversed: i32,
    /// 1: the domain is the subgroup; 0: the coset g <w>
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

/// Zero is the default of every member but struct_size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_file_params {
    pub struct_size: usize,
    /// a file of another kind is refused
    pub kind: pool_file_kind,
    /// Raw files have points of `curve` or, if that is NULL, elements of `field`. Retained.
    pub layout: pool_point_layout,
    pub form: pool_form,
    /// 1: do not check that the groups of a KZG setup are one, see below
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

/// The properties in the header. Those that the kind does not have are 0 or NULL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_file_info {
    pub struct_size: usize,
    pub kind: pool_file_kind,
    /// of the format
    pub version: u32,
    /// size of the file
    pub bytes: u64,
    /// that pool_file_section_at returns
    pub sections: u64,
    /// of scalars; borrowed from the file
    pub field: *const pool_field,
    /// G1 and G2; of a raw file its curve
    pub curves: [*const pool_curve; 2],
    /// ptau: 2^power points
    pub power: u32,
    /// ptau: of the ceremony of which it is a part
    pub ceremony_power: u32,
    /// zkey: of its transforms, a power of two
    pub domain_size: u64,
    /// zkey, wtns, r1cs: wires, including the constant one
    pub variables: u64,
    /// zkey, r1cs: outputs and public inputs
    pub public_signals: u64,
    /// r1cs
    pub outputs: u64,
    /// r1cs
    pub public_inputs: u64,
    /// r1cs; also those that circom has removed from the wires
    pub private_inputs: u64,
    /// r1cs
    pub labels: u64,
    /// r1cs
    pub constraints: u64,
    /// Of the roots of unity that the file's sections were made with, for pool_ntt_domain_params. NULL: the
    /// field's. Static.
    pub convention: *const c_char,
    /// listed
    pub custom_gates: u64,
    /// in the circuit
    pub custom_gate_uses: u64,
    /// ptau, zkey, wtns, r1cs: sections of a type that the format does not have; their content is not used
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

/// A section: the type of its items and where they are.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_file_section {
    pub struct_size: usize,
    /// owned by the file; without a level
    pub name: *const c_char,
    pub item: pool_file_item,
    /// of points
    pub layout: pool_point_layout,
    /// of points, else NULL
    pub curve: *const pool_curve,
    /// of elements and coefficients; for points the scalar field
    pub field: *const pool_field,
    /// read-only host memory of any alignment; stride is never 0
    pub span: pool_span,
    /// of the first item in the file; 0 if it was decoded
    pub offset: u64,
    /// number of consecutive Lagrange bases, see below; else 0
    pub levels: u32,
    pub reserved: u32,
    /// as in pool_file_info
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

/// The driver or the compiler: `status` is POOL_OK if it is usable, otherwise `message` has the reason.
/// Versions are numbered as in CUDA: 13000 is 13.0. `path` is the loaded library file. For a usable compiler
/// `message` says why newer ones that were found are not used, or is empty.
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

/// The installed components.
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

/// A message and what it is about. The library sets every member; struct_size is that of the library, which
/// may have further members at the end. No pointer is NULL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_log_record {
    pub struct_size: usize,
    pub level: pool_log_level,
    /// ordinal of the device that the thread is working on; -1: none
    pub device: i32,
    /// without a newline; ends with the lease's label unless it quotes it
    pub message: *const c_char,
    /// label of the lease on whose behalf the thread works: of pool_exec.lease during an operation, of the
    /// lease that a buffer or stream is created under, of a request that fails; "" for none
    pub lease: *const c_char,
    /// the driver call that failed, with its arguments, or ""
    pub call: *const c_char,
    /// its CUresult, or 0
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

/// A header in memory that the source can include by this name; it takes precedence over files of that name.
/// Files are searched for in the directories of `-I` options and in the CUDA toolkit's include directories;
/// the cache's key covers every file that a source can include (docs/compiler.md).
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

/// The library's arithmetic for a kernel: with the prefix "fr" the source can `#include "fr.cuh"` and call
/// fr_mul, fr_add, …, generated for exactly this modulus as for the library's own kernels. docs/kernels.md
/// lists what each header defines. Exactly one of the three pointers is set; it is not needed after the call.
/// A prefix has up to 16 lower-case letters, digits and underscores, begins with a letter, and is unique
/// among the entries.
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

/// Zero is the default of every member but struct_size and source.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_module_params {
    pub struct_size: usize,
    /// CUDA C++; kernels are found by name when declared extern "C"
    pub source: *const c_char,
    /// for messages and logs; quoted includes are searched for in its directory; NULL: "kernel.cu"
    pub name: *const c_char,
    pub headers: *const pool_module_header,
    pub header_count: usize,
    /// "NAME" or "NAME=VALUE"
    pub defines: *const *const c_char,
    pub define_count: usize,
    /// Further NVRTC options. Of those that set one value the last one counts. One of the library,
    /// --std=c++17 and --gpu-architecture=<the device's chip>, only applies if it is not among them.
    pub options: *const *const c_char,
    pub option_count: usize,
    /// 1: neither read nor write the disk cache
    pub no_cache: i32,
    pub cancel: *mut pool_cancel,
    /// headers that the library generates
    pub arithmetic: *const pool_module_arithmetic,
    pub arithmetic_count: usize,
    /// Name expressions, as C++ writes them: "scale<float, 4>", "app::kernel". Kernels, and the address of
    /// __device__ and __constant__ variables as "&app::table", which need not be extern "C"; templates are
    /// instantiated for them. pool_kernel_get and pool_module_variable find them by exactly this string.
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

/// Properties of a kernel on its device, as the driver reports them. Sizes are bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_kernel_info {
    pub struct_size: usize,
    pub max_threads_per_block: i32,
    pub registers: i32,
    pub static_shared_bytes: u64,
    /// the maximum per launch on this device
    pub max_dynamic_shared_bytes: u64,
    /// per thread; includes spilled registers
    pub local_bytes: u64,
    pub constant_bytes: u64,
    /// 90 is 9.0
    pub ptx_version: i32,
    /// 90 is sm_90
    pub binary_version: i32,
    /// -1: unknown to the driver (before CUDA 12.4)
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

/// Shape of a launch. A zero dimension counts as 1; zero is the default of every other member.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_launch_shape {
    pub struct_size: usize,
    /// blocks in x, y, z
    pub grid: [u32; 3],
    /// threads per block in x, y, z
    pub block: [u32; 3],
    /// more than 48 KB is opted in automatically
    pub dynamic_shared_bytes: u64,
    /// 1: all blocks run at once and may synchronise as a grid
    pub cooperative: i32,
    /// entries of `arguments` in pool_launch
    pub argument_count: u32,
    /// NULL, or the size of each, to be checked
    pub argument_bytes: *const usize,
    /// 1: programmatic dependent launch, see above
    pub pdl: i32,
    /// The driver's priority of this launch's blocks; 0: the stream's, on default streams level 0. Drivers
    /// since CUDA 11.7 (POOL_ERR_UNSUPPORTED); no effect on simulated devices.
    pub priority: i32,
    /// Blocks per thread-block cluster in x, y, z; all zero: no clusters. The grid is a multiple of it in
    /// every dimension. More than 8 blocks, which not every device can run, are opted in automatically.
    /// Compute capability 9.0 and CUDA 11.8; POOL_ERR_UNSUPPORTED elsewhere and on simulated devices, which
    /// execute neither barriers nor distributed shared memory of clusters.
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

/// Zero is the default of every member but struct_size and curve.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_bases_params {
    pub struct_size: usize,
    /// required; the handle holds a reference
    pub curve: *const pool_curve,
    /// of the given points
    pub layout: pool_point_layout,
    /// The number of stored multiples of each base, itself included: 2^(j s) P for j < factor, where s
    /// depends on the window bits. Memory grows, and the number of bucket sets shrinks, by the factor. 0 and
    /// 1: the bases alone. POOL_PRECOMPUTE_ALL, or any factor above the number of windows: one multiple per
    /// window, so that one bucket set remains. No more multiples are stored than the resulting bucket sets
    /// use; pool_bases_precompute_factor reports their number.
    pub precompute_factor: u32,
    /// Of MSMs over precomputed bases; 0: chosen from count, factor and chip. Must be 0 without precomputed
    /// multiples, and so must scalar_bits.
    pub window_bits: u32,
    /// of the scalars of these MSMs, see pool_msm_params; 0: of the order
    pub scalar_bits: u32,
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

/// Zero is the default of every member but struct_size and, without `bases`, curve.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_msm_params {
    pub struct_size: usize,
    pub curve: *const pool_curve,
    /// NULL: the points are a span
    pub bases: *mut pool_bases,
    /// index in `bases` of the base of scalar 0; 0 without `bases`
    pub first_base: u64,
    /// of the span of points; 0 with `bases`
    pub point_layout: pool_point_layout,
    /// the result span has form and stride
    pub result_layout: pool_point_layout,
    /// number of MSMs; 0: 1
    pub batch: u64,
    /// 0: each MSM has its own points, consecutive in the span or in `bases`. 1: all MSMs use the same
    /// points.
    pub shared_bases: i32,
    /// Scalars are below 2^scalar_bits; 0: below the order; at most the bits of an element in memory. Fewer
    /// bits take less time. The caller must ensure the bound or request POOL_CHECK_CANONICAL, which checks
    /// it; with POOL_CHECK_REDUCE it must be 0.
    pub scalar_bits: u32,
    /// 2 … 24; 0: chosen from sizes, chip and memory
    pub window_bits: u32,
    /// With exec->device_count: bases on each device, in the order of the devices, instead of `bases`.
    /// Together they are the points, device by device; with replicated_bases 1 each device has all of them.
    /// NULL: the points are a span.
    pub device_bases: *const *mut pool_bases,
    pub replicated_bases: i32,
    /// How many times neighbouring points of a bucket are added in pairs, in affine coordinates with shared
    /// inversions, before the others are added one by one; each pass halves the points. 0: chosen from curve
    /// and sizes. 1, 2: so many, where the memory that the call may use without evicting resident objects
    /// suffices, and else none. POOL_AFFINE_NONE: none. Curves with b = 0 have none. The result is the same.
    /// See docs/msm.md.
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

/// Zero is the default of every member but struct_size. Exactly one of `points`, `path` and `source` is
/// given.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_resident_params {
    pub struct_size: usize,
    /// for messages, metrics and descriptions; at most 63 bytes, copied
    pub name: *const c_char,
    /// POOL_RESIDENT_…
    pub flags: u32,
    /// 0
    pub reserved: u32,
    /// Bases. `bases` are the params of pool_bases_create and pool_bases_load, copied; the curve is retained.
    /// The points are a span in host memory, which must stay valid and unchanged until the object is
    /// destroyed, or a file that pool_bases_save wrote.
    pub bases: *const pool_bases_params,
    pub points: *const pool_span,
    pub path: *const c_char,
    /// A buffer of `bytes` bytes from the caller's own source.
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

/// A copy on a device. Set struct_size before the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_resident_info {
    pub struct_size: usize,
    pub name: [c_char; 64],
    /// 1: the device has a copy
    pub is_resident: i32,
    /// open uses on the device
    pub users: u32,
    /// of the copy; 0: none
    pub bytes: u64,
    /// copies that have been loaded there since the registration
    pub loads: u64,
    /// since its last use; 0: in use, or no copy
    pub idle_ns: u64,
    /// how often this copy has outlived the process of its device
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

/// A description of the first fault. Strings are "" and numbers 0 where they do not apply.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_sim_fault {
    pub struct_size: usize,
    /// the sticky CUresult; 0: there was no fault
    pub driver_code: i32,
    /// ordinal, -1: none
    pub device: i32,
    /// "out of bounds", "misaligned", "trap", "injected" …
    pub kind: [c_char; 40],
    pub kernel: [c_char; 256],
    pub block: [u32; 3],
    pub thread: [u32; 3],
    /// line of the module's PTX; the first is 1
    pub line: u32,
    /// "global", "shared", "local" or ""
    pub space: [c_char; 16],
    /// of the access; an offset for shared and local memory
    pub address: u64,
    /// of the access
    pub bytes: u32,
    pub is_write: i32,
    /// the allocation nearest to it
    pub nearest_address: u64,
    pub nearest_bytes: u64,
    /// complete description in sentences
    pub text: [c_char; 512],
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

/// What a kernel has executed since the driver's start or the last pool_sim_kernel_stats_reset. The numbers
/// depend only on the kernel, its arguments and the launch shape, not on the host or its speed, unless the
/// kernel's control flow depends on which block runs first.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_sim_kernel_stats {
    pub struct_size: usize,
    /// valid during the visitor's call
    pub kernel: *const c_char,
    /// ordinal
    pub device: i32,
    /// completed launches
    pub launches: u64,
    pub blocks: u64,
    pub threads: u64,
    pub warp_instructions: u64,
    /// one per active lane of a warp instruction
    pub lane_instructions: u64,
    /// see pool_sim_class_name
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

/// The begin or the end of a range. Ranges of one thread nest. An operation that is asynchronous ends when
/// its work is enqueued. The strings live for the call only.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_trace_event {
    pub struct_size: usize,
    /// 0: the range begins; 1: it ends
    pub is_end: i32,
    /// the same at begin and end, like id, parent, name, subject, device
    pub kind: pool_trace_kind,
    /// of the range, unique in the process; never 0
    pub id: u64,
    /// the range of this thread that encloses it; 0: none
    pub parent: u64,
    /// CLOCK_MONOTONIC
    pub time_ns: u64,
    /// see pool_trace_kind
    pub name: *const c_char,
    /// field, curve, parameter set, module or lease label; "" when none
    pub subject: *const c_char,
    /// the device's ordinal; -1: none
    pub device: i32,
    /// of the range, at its end; POOL_OK at its begin
    pub status: pool_status,
    /// scalars, elements, states, bytes of a copy; 0 when not known
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

/// Where the tuning of a device comes from. Set struct_size before the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_tuning_info {
    pub struct_size: usize,
    pub source: pool_tuning_source,
    /// numbers that are not the defaults
    pub changed: u32,
    /// of the file that was read or refused; "": none
    pub path: [c_char; 256],
    /// why a file was not used, or ""
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

/// A number. The name is "msm.8.window_bits.20": operation, words of an element or coordinate, what it is,
/// log2 of the size; it is valid during the visit only.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pool_tuning_number {
    pub struct_size: usize,
    pub name: *const c_char,
    pub value: u32,
    pub default_value: u32,
    pub min: u32,
    pub max: u32,
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
    /// Version of the library with which a program runs, as POOL_VERSION_NUMBER and as a string, "0.1.0". The
    /// string is static. Any thread.
    pub fn pool_version_number() -> c_int;
    /// Version of the library with which a program runs, as POOL_VERSION_NUMBER and as a string, "0.1.0". The
    /// string is static. Any thread.
    pub fn pool_version_text() -> *const c_char;
    /// "POOL_ERR_TIMEOUT" and so on; "POOL_ERR_?" for an unknown value. Static. Any thread.
    pub fn pool_status_name(status: pool_status) -> *const c_char;
    /// One sentence that explains the status. Static. Any thread.
    pub fn pool_status_text(status: pool_status) -> *const c_char;
    /// The class of a status; INTERNAL for an unknown value. Any thread.
    pub fn pool_status_class(status: pool_status) -> pool_error_class;
    /// "call", "device", "host", "process", "internal" or "none". Static. Any thread.
    pub fn pool_error_class_name(error_class: pool_error_class) -> *const c_char;
    /// Detail of the calling thread's last failure; never NULL. It belongs to the thread and is valid until
    /// that thread's next failing call or its exit; success does not clear it. Before any failure the status
    /// is 0 and the strings are empty. If there is no host memory for the detail of a thread's first failure,
    /// it consists of the status and pool_status_text.
    pub fn pool_last_error() -> *const pool_error;
    /// Copies pool_last_error of the calling thread. POOL_ERR_INVALID_ARGUMENT: NULL, or a struct_size that
    /// is not valid. Any thread.
    pub fn pool_error_read(slot: *mut pool_error_slot) -> pool_status;
    /// Records a failure of the calling thread as the library does with its own: pool_last_error has the
    /// status and a copy of `message`, which is logged as an error. Returns `status`. For libraries that are
    /// built on this one. POOL_ERR_INVALID_ARGUMENT, recorded too, for a NULL message or a status that is not
    /// negative. Any thread.
    pub fn pool_error_set(status: pool_status, message: *const c_char) -> pool_status;
    /// Writes the directory that is or would be used to `path`, which has `size` bytes. If the cache is
    /// disabled the status is POOL_ERR_UNSUPPORTED and the message says why.
    pub fn pool_cache_directory(path: *mut c_char, size: usize) -> pool_status;
    /// Calls `visit` for each entry, including damaged ones, until it returns non-zero.
    pub fn pool_cache_each(visit: pool_cache_visitor, user: *mut c_void) -> pool_status;
    /// Reads every entry and deletes the damaged ones. *kept and *deleted receive the number of intact and of
    /// deleted entries; either pointer may be NULL.
    pub fn pool_cache_verify(kept: *mut u64, deleted: *mut u64) -> pool_status;
    /// Deletes every entry; *deleted, unless NULL, receives their number.
    pub fn pool_cache_clear(deleted: *mut u64) -> pool_status;
    /// Creates an object without a request. The caller destroys it. POOL_ERR_OUT_OF_HOST_MEMORY.
    pub fn pool_cancel_create(cancel: *mut *mut pool_cancel) -> pool_status;
    /// Requests cancellation; NULL is a no-op. Async-signal-safe.
    pub fn pool_cancel_request(cancel: *mut pool_cancel);
    /// 1 if cancellation has been requested, else 0; 0 for NULL.
    pub fn pool_cancel_requested(cancel: *const pool_cancel) -> c_int;
    /// Frees the object and sets *cancel to NULL; NULL or a pointer to NULL is a no-op.
    pub fn pool_cancel_destroy(cancel: *mut *mut pool_cancel);
    /// Frees a text that a function of the library allocated and sets *text to NULL; NULL and a pointer to
    /// NULL are no-ops.
    pub fn pool_text_free(text: *mut *mut c_char);
    /// Fills `info`, whose struct_size must be set. Creates no context. Any thread.
    pub fn pool_device_get_info(device: *mut pool_device, info: *mut pool_device_info) -> pool_status;
    /// Describes the device: what pool_device_get_info reports, and what it uses as a context. In JSON it is
    /// the object of the device in pool_describe's list. The caller frees *text with pool_text_free.
    pub fn pool_device_describe(device: *mut pool_device, format: pool_text_format, text: *mut *mut c_char) -> pool_status;
    /// Fills `info`, whose struct_size must be set. POOL_ERR_INVALID_ARGUMENT for devices of different pools.
    /// Any thread.
    pub fn pool_device_get_peer(from: *mut pool_device, to: *mut pool_device, info: *mut pool_peer_info) -> pool_status;
    /// The index in the pool and the driver's ordinal; -1 for NULL.
    pub fn pool_device_index(device: *const pool_device) -> c_int;
    /// The index in the pool and the driver's ordinal; -1 for NULL.
    pub fn pool_device_ordinal(device: *const pool_device) -> c_int;
    /// "GPU-…" or "MIG-…"; "" for NULL. Belongs to the device.
    pub fn pool_device_uuid(device: *const pool_device) -> *const c_char;
    /// Raw handles with the types of cuda.h, for code that calls the driver or the runtime API itself on the
    /// bound context. The context remains owned by the pool (or, if adopted, by its creator): do not destroy
    /// it. pool_device_context creates the context of a lazy device. POOL_ERR_UNSUPPORTED for a device in a
    /// worker process, as of every function that gives or takes a raw handle; but the ordinal that
    /// pool_device_handle gives is that of the pool's table of driver functions there.
    pub fn pool_device_handle(device: *mut pool_device, handle: *mut CUdevice) -> pool_status;
    /// Raw handles with the types of cuda.h, for code that calls the driver or the runtime API itself on the
    /// bound context. The context remains owned by the pool (or, if adopted, by its creator): do not destroy
    /// it. pool_device_context creates the context of a lazy device. POOL_ERR_UNSUPPORTED for a device in a
    /// worker process, as of every function that gives or takes a raw handle; but the ordinal that
    /// pool_device_handle gives is that of the pool's table of driver functions there.
    pub fn pool_device_context(device: *mut pool_device, context: *mut CUcontext) -> pool_status;
    /// The limit in effect, and a change of it. A limit belongs to the context, a primary one therefore to
    /// all of the process. The driver may round a value, and refuses one that is too large (POOL_ERR_DRIVER);
    /// the heap's limit cannot be changed any more once a module was loaded that uses it. On simulated
    /// devices only the stack's limit has an effect.
    pub fn pool_device_get_limit(device: *mut pool_device, limit: pool_limit, bytes: *mut u64) -> pool_status;
    /// The limit in effect, and a change of it. A limit belongs to the context, a primary one therefore to
    /// all of the process. The driver may round a value, and refuses one that is too large (POOL_ERR_DRIVER);
    /// the heap's limit cannot be changed any more once a module was loaded that uses it. On simulated
    /// devices only the stack's limit has an effect.
    pub fn pool_device_set_limit(device: *mut pool_device, limit: pool_limit, bytes: u64) -> pool_status;
    /// How fast a device computes, relative to the other devices of its pool: what can be divided freely of a
    /// job over several devices (exec.h) is divided in proportion. The rate is multiprocessors times the
    /// clock rate in kHz until it is set, or measured by pool_measure_rates. 0 sets it back to that. Rates
    /// that were set compare with each other only. A call reads them when it begins: what ..._workspace and
    /// ..._shards functions report holds for the rates of their time, so rates are set before.
    /// POOL_ERR_INVALID_ARGUMENT: more than POOL_MAX_RATE. Any thread.
    pub fn pool_device_get_rate(device: *mut pool_device, rate: *mut u64) -> pool_status;
    /// How fast a device computes, relative to the other devices of its pool: what can be divided freely of a
    /// job over several devices (exec.h) is divided in proportion. The rate is multiprocessors times the
    /// clock rate in kHz until it is set, or measured by pool_measure_rates. 0 sets it back to that. Rates
    /// that were set compare with each other only. A call reads them when it begins: what ..._workspace and
    /// ..._shards functions report holds for the rates of their time, so rates are set before.
    /// POOL_ERR_INVALID_ARGUMENT: more than POOL_MAX_RATE. Any thread.
    pub fn pool_device_set_rate(device: *mut pool_device, rate: u64) -> pool_status;
    /// Starts and stops the collection of a profiler that was started with its collection off, as `nsys
    /// profile --capture-range=cudaProfilerApi` and `ncu --profile-from-start off` do. Without a profiler,
    /// and on simulated devices, there is no effect. POOL_ERR_UNSUPPORTED: the driver's table has no such
    /// function.
    pub fn pool_profiler_start(device: *mut pool_device) -> pool_status;
    /// Starts and stops the collection of a profiler that was started with its collection off, as `nsys
    /// profile --capture-range=cudaProfilerApi` and `ncu --profile-from-start off` do. Without a profiler,
    /// and on simulated devices, there is no effect. POOL_ERR_UNSUPPORTED: the driver's table has no such
    /// function.
    pub fn pool_profiler_stop(device: *mut pool_device) -> pool_status;
    /// Taking a device out of service and into service again. All of these may be called by any thread at any
    /// time, POOL_ERR_DEVICE_UNUSABLE: the device is lost or abandoned.
    pub fn pool_device_drain(device: *mut pool_device) -> pool_status;
    /// Waits until no lease includes the device, no call of the library is in progress on it and all of its
    /// streams have finished; UINT64_MAX waits without limit. POOL_ERR_TIMEOUT: the message says what
    /// remains. POOL_ERR_INVALID_ARGUMENT: the device is neither draining nor quarantined.
    pub fn pool_device_wait_drained(device: *mut pool_device, timeout_ns: u64) -> pool_status;
    /// Makes a device that is draining or quarantined READY again; on a ready one a no-op. A quarantined
    /// device is refused with POOL_ERR_BUSY unless pool_device_probe has succeeded since it was quarantined.
    pub fn pool_device_resume(device: *mut pool_device) -> pool_status;
    /// Takes a suspected device out of service; `reason` is copied, up to 255 bytes, and must not be empty.
    pub fn pool_device_quarantine(device: *mut pool_device, reason: *const c_char) -> pool_status;
    /// Runs a kernel with known results on all multiprocessors and compares them. The work is done by a
    /// thread of the library, so that the call returns in time on a device that hangs as well, and on the
    /// device's default stream. The first probe of a device loads a module and allocates up to 1 MiB of
    /// device memory, which stay until the pool is destroyed. Errors: POOL_ERR_TIMEOUT: no answer within
    /// `timeout_ns`; the device hangs, or other work keeps it busy. POOL_ERR_BUSY: an earlier probe has not
    /// ended. POOL_ERR_DEVICE_UNUSABLE: a result is wrong, and the device is now quarantined (the fault hook
    /// is called), or it was lost before. Others as for pool_launch. Until a probe that was left behind ends,
    /// pool_destroy fails with POOL_ERR_BUSY, unless the device is abandoned.
    pub fn pool_device_probe(device: *mut pool_device, timeout_ns: u64) -> pool_status;
    /// Gives a device up that hangs: a kernel on it does not end, or a driver call does not return. From then
    /// on no driver call is made on it. Calls that name it fail with POOL_ERR_DEVICE_UNUSABLE; destructors of
    /// its objects free host memory only, at once; its memory, streams and modules are leaked on purpose,
    /// until the process ends. The other devices continue to work. Pinned memory of every device of the pool
    /// is reused but not returned any more, because that would wait for the hung work; pool_destroy leaks the
    /// pool's host memory and returns within seconds. A thread that is inside a driver call on the device
    /// stays there. `reason` is copied and must not be empty.
    pub fn pool_device_abandon(device: *mut pool_device, reason: *const c_char) -> pool_status;
    /// Has a device that is lost (POOL_ERR_DEVICE_LOST) taken into service again now: also one that the
    /// library has given up because too many of its worker processes have ended in a row, which its reason
    /// says. Another process is started at once, and earlier losses count no more; a device whose context was
    /// destroyed gets a new one. Returns without waiting: the device is READY, and pool_usable_count counts
    /// it, once it has been probed; docs/workers.md says what keeps it out of service. No-op for a device
    /// that accepts calls. POOL_ERR_DEVICE_UNUSABLE: it is unusable for another reason or abandoned, and only
    /// a new pool or process can use it. Any thread.
    pub fn pool_device_readmit(device: *mut pool_device) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_params_init(params: *mut pool_params, struct_size: usize);
    /// Creates a pool; params may be NULL. Devices that cannot be used are part of the pool, with the reason
    /// (pool_device_get_info, pool_describe), but are never chosen. Blocks while the driver creates contexts
    /// (about 130 ms each). The caller destroys the pool. Errors: POOL_ERR_NO_DRIVER,
    /// POOL_ERR_DRIVER_TOO_OLD, POOL_ERR_NO_DEVICE (fewer usable devices than min_devices),
    /// POOL_ERR_DEVICE_LOST (the same because worker processes have ended meanwhile), POOL_ERR_NOT_FOUND (a
    /// named device does not exist), POOL_ERR_INVALID_ARGUMENT, POOL_ERR_OUT_OF_HOST_MEMORY. Any thread.
    pub fn pool_create(pool: *mut *mut device_pool, params: *const pool_params) -> pool_status;
    /// Adds a reference and returns `pool`; NULL returns NULL. For independent parts of a program that share
    /// a pool: each calls pool_destroy for its own reference, in any order, and the last call destroys the
    /// pool. The fault hook and the caller's objects in pool_params (driver, contexts) are used until then.
    /// The caller must hold a reference while it calls this.
    pub fn pool_retain(pool: *mut device_pool) -> *mut device_pool;
    /// Releases a reference and sets *pool to NULL; NULL and a pointer to NULL are no-ops. While others hold
    /// references that is all, also if bindings, buffers, streams and modules exist: their owner is one of
    /// the others, and the pool and its devices stay valid. The last reference destroys the pool. That is
    /// refused with POOL_ERR_BUSY, and the pool and the reference remain, while threads hold a binding or
    /// buffers, streams or modules of the pool exist; the message counts them. Work that is still enqueued
    /// ends first, as the driver waits for it: a kernel that never ends keeps this from returning. After a
    /// sticky fault, in a forked child and during process exit only host memory is freed.
    pub fn pool_destroy(pool: *mut *mut device_pool) -> pool_status;
    /// The number of all devices of the pool, and of its usable devices. Any thread.
    pub fn pool_device_count(pool: *const device_pool) -> usize;
    /// The number of all devices of the pool, and of its usable devices. Any thread.
    pub fn pool_usable_count(pool: *const device_pool) -> usize;
    /// A device by index (0 … count-1, in the order of `devices`), ordinal, unique prefix of a UUID ("GPU-"
    /// may be omitted), or PCI address "0000:06:00.0" (domain and function may be omitted). Unusable devices
    /// are found too. POOL_ERR_NOT_FOUND when there is none, POOL_ERR_INVALID_ARGUMENT when several devices
    /// match or the address is malformed.
    pub fn pool_device_at(pool: *mut device_pool, index: usize, device: *mut *mut pool_device) -> pool_status;
    /// A device by index (0 … count-1, in the order of `devices`), ordinal, unique prefix of a UUID ("GPU-"
    /// may be omitted), or PCI address "0000:06:00.0" (domain and function may be omitted). Unusable devices
    /// are found too. POOL_ERR_NOT_FOUND when there is none, POOL_ERR_INVALID_ARGUMENT when several devices
    /// match or the address is malformed.
    pub fn pool_device_by_ordinal(pool: *mut device_pool, ordinal: c_int, device: *mut *mut pool_device) -> pool_status;
    /// A device by index (0 … count-1, in the order of `devices`), ordinal, unique prefix of a UUID ("GPU-"
    /// may be omitted), or PCI address "0000:06:00.0" (domain and function may be omitted). Unusable devices
    /// are found too. POOL_ERR_NOT_FOUND when there is none, POOL_ERR_INVALID_ARGUMENT when several devices
    /// match or the address is malformed.
    pub fn pool_device_by_uuid(pool: *mut device_pool, uuid: *const c_char, device: *mut *mut pool_device) -> pool_status;
    /// A device by index (0 … count-1, in the order of `devices`), ordinal, unique prefix of a UUID ("GPU-"
    /// may be omitted), or PCI address "0000:06:00.0" (domain and function may be omitted). Unusable devices
    /// are found too. POOL_ERR_NOT_FOUND when there is none, POOL_ERR_INVALID_ARGUMENT when several devices
    /// match or the address is malformed.
    pub fn pool_device_by_pci(pool: *mut device_pool, address: *const c_char, device: *mut *mut pool_device) -> pool_status;
    /// Calls `visit` for each device in order until it returns non-zero. *answer receives the last returned
    /// value, unless `answer` is NULL.
    pub fn pool_device_each(pool: *mut device_pool, visit: pool_device_visitor, user: *mut c_void, answer: *mut c_int) -> pool_status;
    /// Describes the pool: driver, compiler, devices with their states, and the peer access between them. The
    /// caller frees *text with pool_text_free.
    pub fn pool_describe(pool: *mut device_pool, format: pool_text_format, text: *mut *mut c_char) -> pool_status;
    /// Choice of a usable device. `pool_next_device` is round robin: one relaxed atomic addition, no lock;
    /// unusable devices are skipped without favouring their neighbours. `pool_best_device` chooses the device
    /// with most free memory: the bytes that the driver reports, sampled at most every 10 ms, plus the unused
    /// bytes of the library's memory pool, within the memory limit, less what leases have reserved. The total
    /// counts as free on a lazy device without a context. The free memory of a device that was chosen n times
    /// in the last 10 to 20 ms is divided by n + 1, so that concurrent threads do not all choose the same
    /// device before their allocations are visible; equal devices are chosen round robin. Both return
    /// POOL_ERR_NO_DEVICE when no device is usable, and neither creates a context.
    pub fn pool_next_device(pool: *mut device_pool, device: *mut *mut pool_device) -> pool_status;
    /// Choice of a usable device. `pool_next_device` is round robin: one relaxed atomic addition, no lock;
    /// unusable devices are skipped without favouring their neighbours. `pool_best_device` chooses the device
    /// with most free memory: the bytes that the driver reports, sampled at most every 10 ms, plus the unused
    /// bytes of the library's memory pool, within the memory limit, less what leases have reserved. The total
    /// counts as free on a lazy device without a context. The free memory of a device that was chosen n times
    /// in the last 10 to 20 ms is divided by n + 1, so that concurrent threads do not all choose the same
    /// device before their allocations are visible; equal devices are chosen round robin. Both return
    /// POOL_ERR_NO_DEVICE when no device is usable, and neither creates a context.
    pub fn pool_best_device(pool: *mut device_pool, device: *mut *mut pool_device) -> pool_status;
    /// Chooses a device by policy and filter; `pick` may be NULL, which means round robin.
    /// POOL_ERR_NO_DEVICE: no device is usable; POOL_ERR_NOT_FOUND: none passes the filter. Any thread.
    pub fn pool_pick_device(pool: *mut device_pool, pick: *const pool_pick, device: *mut *mut pool_device) -> pool_status;
    /// Bind pushes the device's context on the calling thread's stack; unbind pops it, which restores the
    /// context that was current before. Pairs nest, also over several devices and pools. Unbind requires the
    /// device that this thread bound last: for another one, or when a context of other code is on top, it
    /// fails with POOL_ERR_UNBALANCED and changes nothing. With any other result the binding has been
    /// removed, also after a sticky fault (POOL_ERR_PROCESS_POISONED) and when the driver's pop fails. The
    /// bindings of a thread that exits are removed.
    pub fn pool_bind(device: *mut pool_device) -> pool_status;
    /// Bind pushes the device's context on the calling thread's stack; unbind pops it, which restores the
    /// context that was current before. Pairs nest, also over several devices and pools. Unbind requires the
    /// device that this thread bound last: for another one, or when a context of other code is on top, it
    /// fails with POOL_ERR_UNBALANCED and changes nothing. With any other result the binding has been
    /// removed, also after a sticky fault (POOL_ERR_PROCESS_POISONED) and when the driver's pop fails. The
    /// bindings of a thread that exits are removed.
    pub fn pool_unbind(device: *mut pool_device) -> pool_status;
    /// The device of `pool` whose context is current on this thread; POOL_ERR_NOT_BOUND when none is.
    pub fn pool_bound_device(pool: *mut device_pool, device: *mut *mut pool_device) -> pool_status;
    /// POOL_OK when the device with that ordinal is bound, else NOT_BOUND or WRONG_DEVICE.
    pub fn pool_check_device(pool: *mut device_pool, ordinal: c_int) -> pool_status;
    /// Binds the device, runs the task, unbinds, and returns the task's status or the failure of bind or
    /// unbind. Bindings that the task has left are removed too (POOL_ERR_UNBALANCED, unless the task itself
    /// failed).
    pub fn pool_run_on(device: *mut pool_device, task: pool_task, arg: *mut c_void) -> pool_status;
    /// The device of `pool` to which the device memory at `ptr` belongs; POOL_ERR_NOT_FOUND for host memory
    /// and for memory of other devices.
    pub fn pool_pointer_device(pool: *mut device_pool, ptr: *const c_void, device: *mut *mut pool_device) -> pool_status;
    /// Fills `info`, whose struct_size must be set, without a driver call. Returns POOL_OK also when the
    /// process is poisoned, which `info` reports; in a forked child it fails with POOL_ERR_FORKED. Any
    /// thread.
    pub fn pool_get_health(pool: *mut device_pool, info: *mut pool_health_info) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_stream_params_init(params: *mut pool_stream_params, struct_size: usize);
    /// The least and the most urgent priority of the device; both 0 where it has none.
    pub fn pool_stream_get_priority_range(device: *mut pool_device, least: *mut i32, most_urgent: *mut i32) -> pool_status;
    /// Creates a stream; params may be NULL. The caller destroys it with pool_stream_destroy before the pool
    /// is destroyed. Errors: INVALID_ARGUMENT (NULL, unknown flag), and those of every device call
    /// (status.h).
    pub fn pool_stream_create(device: *mut pool_device, params: *const pool_stream_params, stream: *mut *mut pool_stream) -> pool_status;
    /// Wraps a stream that the caller created; the handles 0, 1 and 2 (default, legacy, per thread) are
    /// allowed; 2 means, in each call, the default stream of the calling thread. The stream must belong to
    /// the device's context (POOL_ERR_WRONG_DEVICE) and outlive the wrapper; destroying the wrapper does not
    /// destroy it.
    pub fn pool_stream_adopt(device: *mut pool_device, handle: CUstream, stream: *mut *mut pool_stream) -> pool_status;
    /// The device's default stream as an object, for calls that would wait if stream were NULL. It belongs to
    /// the device: pool_stream_destroy fails for it.
    pub fn pool_stream_default(device: *mut pool_device, stream: *mut *mut pool_stream) -> pool_status;
    /// Destroys the stream and sets *stream to NULL; NULL or a pointer to NULL is a no-op. Does not wait: the
    /// driver finishes work that is still enqueued, and memory freed later by pool_buffer_destroy is not
    /// reused before that work is done. A driver error is returned, and the object is destroyed nevertheless,
    /// unless *stream is still set: then the device's context could not be entered and the call can be
    /// repeated. After a sticky fault, in a forked child and during process exit only host memory is freed.
    /// POOL_ERR_INVALID_ARGUMENT for a default stream.
    pub fn pool_stream_destroy(stream: *mut *mut pool_stream) -> pool_status;
    /// The stream's device; NULL for NULL.
    pub fn pool_stream_device(stream: *const pool_stream) -> *mut pool_device;
    /// The raw handle, for code that calls the driver or the runtime API itself.
    pub fn pool_stream_handle(stream: *const pool_stream, handle: *mut CUstream) -> pool_status;
    /// Priority and flags as the driver reports them.
    pub fn pool_stream_get_priority(stream: *const pool_stream, priority: *mut i32) -> pool_status;
    /// Priority and flags as the driver reports them.
    pub fn pool_stream_get_flags(stream: *const pool_stream, flags: *mut u32) -> pool_status;
    /// POOL_OK when all work is done, else POOL_ERR_NOT_READY, which is not logged.
    pub fn pool_stream_query(stream: *mut pool_stream) -> pool_status;
    /// Waits until all work that was enqueued before the call is done. Returns POOL_ERR_PROCESS_POISONED when
    /// a kernel has faulted.
    pub fn pool_stream_synchronize(stream: *mut pool_stream) -> pool_status;
    /// Waits at most `timeout_ns` nanoseconds, then returns POOL_ERR_TIMEOUT; 0 queries once. Does not hang
    /// when a kernel does: it polls the driver, at first without pauses, then with pauses that grow to 0.2
    /// ms.
    pub fn pool_stream_wait(stream: *mut pool_stream, timeout_ns: u64) -> pool_status;
    /// Waits until all work of the device's context is done that was enqueued before the call: on every
    /// stream, the caller's own included. Returns POOL_ERR_PROCESS_POISONED when a kernel has faulted.
    pub fn pool_device_synchronize(device: *mut pool_device) -> pool_status;
    /// Waits as pool_stream_wait does, for the work on the device's default stream and on all its
    /// pool_streams; the driver cannot be queried about streams that were not adopted. While other threads
    /// enqueue work without a pause it may return POOL_ERR_TIMEOUT although what was enqueued before the call
    /// is done.
    pub fn pool_device_wait(device: *mut pool_device, timeout_ns: u64) -> pool_status;
    /// Makes later work on `stream` wait for the event's last record; does not block. The event may belong to
    /// another device of the same driver. Waiting for an event that was never recorded is a no-op.
    pub fn pool_stream_wait_event(stream: *mut pool_stream, event: *mut pool_event) -> pool_status;
    /// Fork: later work on each of the `count` streams waits for what has been enqueued on `stream`. Join:
    /// later work on `stream` waits for what has been enqueued on each of them. Neither blocks. The streams
    /// may belong to other devices of the same driver; `stream` itself among them is a no-op, as is count 0.
    /// All are checked before anything is enqueued.
    pub fn pool_stream_fork(stream: *mut pool_stream, streams: *const *mut pool_stream, count: usize) -> pool_status;
    /// Fork: later work on each of the `count` streams waits for what has been enqueued on `stream`. Join:
    /// later work on `stream` waits for what has been enqueued on each of them. Neither blocks. The streams
    /// may belong to other devices of the same driver; `stream` itself among them is a no-op, as is count 0.
    /// All are checked before anything is enqueued.
    pub fn pool_stream_join(stream: *mut pool_stream, streams: *const *mut pool_stream, count: usize) -> pool_status;
    /// Enqueues a call of `function`, which the driver makes on one of its threads after the work before it.
    /// The function must be quick and must not call the library or CUDA. It is not called when earlier work
    /// on the stream has failed.
    pub fn pool_stream_call(stream: *mut pool_stream, function: pool_host_task, user: *mut c_void) -> pool_status;
    /// Creates an event. The caller destroys it before the pool is destroyed. POOL_ERR_UNSUPPORTED for
    /// POOL_EVENT_SHAREABLE where the driver has no such events.
    pub fn pool_event_create(device: *mut pool_device, flags: u32, event: *mut *mut pool_event) -> pool_status;
    /// Fills `shared` for an event of POOL_EVENT_SHAREABLE, by which another process opens it: its streams
    /// and threads can then wait for this one's records, and the reverse: a wait is for the last record that
    /// any of the processes had made when the wait was called. The event must exist while the other one does.
    /// Errors: INVALID_ARGUMENT (not shareable), UNSUPPORTED.
    pub fn pool_event_share(event: *mut pool_event, shared: *mut pool_shared_event) -> pool_status;
    /// Opens an event that another process has shared, on the same device; destroyed by pool_event_destroy.
    /// Errors: INVALID_ARGUMENT, UNSUPPORTED, DRIVER.
    pub fn pool_event_open(device: *mut pool_device, shared: *const pool_shared_event, event: *mut *mut pool_event) -> pool_status;
    /// Destroys the event and sets *event to NULL; NULL or a pointer to NULL is a no-op. Waits that are
    /// already enqueued are not affected.
    pub fn pool_event_destroy(event: *mut *mut pool_event) -> pool_status;
    /// The event's device; NULL for NULL.
    pub fn pool_event_device(event: *const pool_event) -> *mut pool_device;
    /// The raw handle.
    pub fn pool_event_handle(event: *const pool_event, handle: *mut CUevent) -> pool_status;
    /// Records the event on a stream of its device (NULL: the default stream).
    pub fn pool_event_record(event: *mut pool_event, stream: *mut pool_stream) -> pool_status;
    /// POOL_OK when the last record is done or there is none, else POOL_ERR_NOT_READY (not logged).
    pub fn pool_event_query(event: *mut pool_event) -> pool_status;
    /// Waits for the last record.
    pub fn pool_event_synchronize(event: *mut pool_event) -> pool_status;
    /// Waits at most `timeout_ns` nanoseconds, as pool_stream_wait does.
    pub fn pool_event_wait(event: *mut pool_event, timeout_ns: u64) -> pool_status;
    /// Milliseconds between two records of events with POOL_EVENT_TIMING of one device. Errors:
    /// INVALID_ARGUMENT (no timing, or never recorded), WRONG_DEVICE, NOT_READY (not logged).
    pub fn pool_event_elapsed(start: *mut pool_event, end: *mut pool_event, milliseconds: *mut f64) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_request_init(request: *mut pool_request, struct_size: usize);
    /// Waits until what `request` asks for is reserved. The caller releases the lease with pool_release. A
    /// thread that holds a lease and waits for another one can wait for itself: ask for several devices in
    /// one request, or set a deadline. Errors: TIMEOUT not granted in time (not logged where timeout_ns is
    /// 0); the message says what was free and how many requests were ahead CANCELLED `cancel` was requested
    /// OUT_OF_DEVICE_MEMORY more bytes than enough devices have: no wait helps, the message says what would
    /// be possible INVALID_ARGUMENT more slots or devices than the pool has, or members that exclude each
    /// other NOT_FOUND fewer devices passed `pick` than are requested NO_DEVICE fewer devices are usable than
    /// are requested, also when devices fail while the request waits
    pub fn pool_acquire(pool: *mut device_pool, request: *const pool_request, lease: *mut *mut pool_lease) -> pool_status;
    /// Makes the same request without waiting. `hook` may be NULL; then pool_ticket_fd and pool_ticket_take
    /// report the decision. The caller destroys the ticket with pool_ticket_destroy. Requests that can never
    /// be granted fail here, as with pool_acquire.
    pub fn pool_acquire_async(pool: *mut device_pool, request: *const pool_request, hook: pool_grant_hook, user: *mut c_void, ticket: *mut *mut pool_ticket) -> pool_status;
    /// A file descriptor (an eventfd) that is readable once the request has been decided, for poll and epoll.
    /// It belongs to the ticket and is closed by pool_ticket_destroy. POOL_ERR_IO when the process has no
    /// descriptor left.
    pub fn pool_ticket_fd(ticket: *mut pool_ticket, fd: *mut c_int) -> pool_status;
    /// The lease of a granted request, which is the caller's from then on. NOT_READY (not logged) while the
    /// request waits; INVALID_ARGUMENT when the lease has been taken; else the failure of the request, as of
    /// pool_acquire.
    pub fn pool_ticket_take(ticket: *mut pool_ticket, lease: *mut *mut pool_lease) -> pool_status;
    /// Ends the wait if the request still waits, releases a granted lease that was not taken, and sets
    /// *ticket to NULL; NULL and a pointer to NULL are no-ops. Waits for a hook of this ticket that is
    /// running on another thread; afterwards it is not called any more.
    pub fn pool_ticket_destroy(ticket: *mut *mut pool_ticket) -> pool_status;
    /// Returns the reservation and sets *lease to NULL; NULL and a pointer to NULL are no-ops. Any thread may
    /// do it. It does not wait and makes no driver call: work that is still enqueued continues, so release
    /// when the job's results are there. Buffers that were allocated under the lease stay valid. Works on
    /// devices that failed and after a sticky fault too. INVALID_ARGUMENT for a lease that has been released.
    pub fn pool_release(lease: *mut *mut pool_lease) -> pool_status;
    /// The number of devices; 0 for NULL and for a released lease.
    pub fn pool_lease_device_count(lease: *const pool_lease) -> u32;
    /// The index-th device, in the order of the pool; INVALID_ARGUMENT beyond the last.
    pub fn pool_lease_device(lease: *const pool_lease, index: u32, device: *mut *mut pool_device) -> pool_status;
    /// The lease's stream of its index-th device, whose priority follows from the lease's class as requested;
    /// waiting (POOL_LEASE_AGING_NS) changes the order of grants only. It is created at the first call and
    /// belongs to the pool: it must not be used after the release and cannot be destroyed by the caller.
    /// Streams are reused by later leases, never while a previous lease's work on them is unfinished.
    pub fn pool_lease_stream(lease: *mut pool_lease, index: u32, stream: *mut *mut pool_stream) -> pool_status;
    /// Makes no driver call.
    pub fn pool_lease_get_info(lease: *const pool_lease, info: *mut pool_lease_info) -> pool_status;
    /// Of the index-th device; makes no driver call.
    pub fn pool_lease_get_usage(lease: *const pool_lease, index: u32, usage: *mut pool_lease_usage) -> pool_status;
    /// Makes no driver call; POOL_OK also after a sticky fault.
    pub fn pool_get_lease_counts(pool: *mut device_pool, counts: *mut pool_lease_counts) -> pool_status;
    /// Enumerate the built-in prime fields, in a fixed order. `pool_field_at` returns NULL past the end. The
    /// fields are static. Any thread.
    pub fn pool_field_count() -> usize;
    /// Enumerate the built-in prime fields, in a fixed order. `pool_field_at` returns NULL past the end. The
    /// fields are static. Any thread.
    pub fn pool_field_at(index: usize) -> *const pool_field;
    /// Returns the built-in field of that name, or NULL with POOL_ERR_NOT_FOUND as the thread's last error.
    /// Scalar fields of curves end in _fr, base fields in _fq: bn254_fr, bn254_fq, bls12_381_fr,
    /// bls12_381_fq, bls12_377_fr, bls12_377_fq, bw6_761_fr, bw6_761_fq, pallas_fr, pallas_fq, vesta_fr,
    /// vesta_fq, grumpkin_fr, grumpkin_fq, secp256k1_fr, secp256k1_fq; and goldilocks, babybear, koalabear,
    /// mersenne31, stark252. Two names of one modulus return one field. Extensions are goldilocks_x2, x^2 - 7
    /// (plonky2), babybear_x4, x^4 - 11, and koalabear_x4, x^4 - 3 (Plonky3). The fields are static. Any
    /// thread.
    pub fn pool_field_by_name(name: *const c_char) -> *const pool_field;
    /// Initialises params to defaults; struct_size is the caller's sizeof, see version.h. C callers may use a
    /// designated initialiser. NULL is a no-op.
    pub fn pool_field_params_init(params: *mut pool_field_params, struct_size: usize);
    /// Checks that the modulus is prime and derives every constant. The test is Baillie-PSW, which no known
    /// composite passes, followed by Miller-Rabin rounds whose bases are derived from the modulus, which a
    /// composite that was not constructed against this library passes with a probability below 2^-64. A given
    /// generator must be a quadratic non-residue, and its order must be divisible by all prime factors of p -
    /// 1 below 2^16; larger factors are not checked. A given root must have order 2^s exactly. Copies all
    /// strings. Takes milliseconds and does not block. Fails with POOL_ERR_INVALID_ARGUMENT, whose message
    /// names the member at fault, or POOL_ERR_OUT_OF_HOST_MEMORY. The caller owns one reference.
    pub fn pool_field_create(params: *const pool_field_params, field: *mut *mut pool_field) -> pool_status;
    /// Adds a reference, which pool_field_destroy releases. Built-in fields are not counted. Returns NULL for
    /// NULL.
    pub fn pool_field_retain(field: *const pool_field) -> *mut pool_field;
    /// Releases a reference, frees the field with the last one, and sets *field to NULL. NULL or a pointer to
    /// NULL is a no-op.
    pub fn pool_field_destroy(field: *mut *mut pool_field);
    /// Properties. Return 0 or an empty string for NULL. Any thread.
    pub fn pool_field_name(field: *const pool_field) -> *const c_char;
    /// Properties. Return 0 or an empty string for NULL. Any thread.
    pub fn pool_field_bits(field: *const pool_field) -> u32;
    /// Properties. Return 0 or an empty string for NULL. Any thread.
    pub fn pool_field_element_bytes(field: *const pool_field) -> usize;
    /// Properties. Return 0 or an empty string for NULL. Any thread. (largest s with 2^s dividing p - 1)
    pub fn pool_field_two_adicity(field: *const pool_field) -> u32;
    /// The coordinates of an element: 1 for a prime field. pool_field_bits is that of the number of elements
    /// of the field.
    pub fn pool_field_degree(field: *const pool_field) -> u32;
    /// The field of the coordinates; `field` itself if it is a prime field, NULL for NULL.
    pub fn pool_field_base(field: *const pool_field) -> *const pool_field;
    /// SHA-256 over modulus, generator and root, or over the base field's, d and w: equal if and only if the
    /// fields compute the same.
    pub fn pool_field_fingerprint(field: *const pool_field, fingerprint: *mut u8) -> pool_status;
    /// Write each one element; the modulus is written as an integer.
    pub fn pool_field_modulus(field: *const pool_field, modulus: *mut c_void) -> pool_status;
    /// Write each one element; the modulus is written as an integer.
    pub fn pool_field_generator(field: *const pool_field, form: pool_form, generator: *mut c_void) -> pool_status;
    /// Writes the primitive root of unity of order 2^log2_order, with log2_order up to the two-adicity. A
    /// `convention` of NULL selects the field's root; a name selects the root of another system where that
    /// differs. All are powers of g^((p - 1) / 2^s) with g bn254_fr 5 (gnark, arkworks, snarkjs, icicle),
    /// "halo2" 7; bls12_381_fr 7 (gnark, arkworks, c-kzg, sppark), "icicle" and "snarkjs" 5; bls12_377_fr 22;
    /// bls12_377_fq 15; pallas_fq, vesta_fq 5; secp256k1_fr 7; stark252 3; koalabear 3; babybear 31;
    /// goldilocks 7, "plonky2" 14293326489335486720. POOL_ERR_NOT_FOUND for an unknown convention,
    /// POOL_ERR_INVALID_ARGUMENT when log2_order exceeds the two-adicity.
    pub fn pool_field_root_of_unity(field: *const pool_field, convention: *const c_char, log2_order: u32, form: pool_form, root: *mut c_void) -> pool_status;
    /// Parses a decimal or "0x" hexadecimal number below the modulus. POOL_ERR_BAD_DATA for any other string.
    pub fn pool_field_parse(field: *const pool_field, string: *const c_char, form: pool_form, element: *mut c_void) -> pool_status;
    /// Formats an element as a string that pool_field_parse accepts: decimal digits, or "0x" and lower-case
    /// hexadecimal digits, without leading zeros. `string` has room for `bytes` bytes. Unless `needed` is
    /// NULL, it receives the size of the formatted string, including its terminating NUL, which is at most
    /// POOL_FIELD_STRING_BYTES for every field. With `string` NULL and `bytes` 0 only that is computed.
    /// POOL_ERR_INVALID_ARGUMENT when `bytes` is too small (`needed` is written, `string` is not),
    /// POOL_ERR_BAD_DATA when the element is not below the modulus. Time depends on the value.
    pub fn pool_field_format(field: *const pool_field, form: pool_form, element: *const c_void, radix: pool_radix, string: *mut c_char, bytes: usize, needed: *mut usize) -> pool_status;
    /// Checks that each of `count` packed elements is below the modulus. POOL_ERR_BAD_DATA when one is not;
    /// *first_bad receives its index unless first_bad is NULL.
    pub fn pool_field_check(field: *const pool_field, elements: *const c_void, count: usize, first_bad: *mut usize) -> pool_status;
    /// Convert `count` packed elements between standard and Montgomery form, in place when both pointers are
    /// equal; other overlaps are not allowed. POOL_ERR_BAD_DATA when an element is not below the modulus;
    /// nothing is written then.
    pub fn pool_field_to_montgomery(field: *const pool_field, standard: *const c_void, count: usize, montgomery: *mut c_void) -> pool_status;
    /// Convert `count` packed elements between standard and Montgomery form, in place when both pointers are
    /// equal; other overlaps are not allowed. POOL_ERR_BAD_DATA when an element is not below the modulus;
    /// nothing is written then.
    pub fn pool_field_from_montgomery(field: *const pool_field, montgomery: *const c_void, count: usize, standard: *mut c_void) -> pool_status;
    /// Convert serialised values of `value_bytes` bytes each (any size in which the values fit; 32 for most
    /// scalar fields) to packed elements and back. The values are in standard form, the elements in the given
    /// form. Input and output must not overlap. pool_field_from_bytes fails with POOL_ERR_BAD_DATA for a
    /// value that is not below the modulus and writes nothing then; pool_field_to_bytes with
    /// POOL_ERR_INVALID_ARGUMENT when the modulus does not fit in `value_bytes`.
    pub fn pool_field_from_bytes(field: *const pool_field, value_bytes: usize, byte_order: pool_byte_order, values: *const u8, count: usize, form: pool_form, elements: *mut c_void) -> pool_status;
    /// Convert serialised values of `value_bytes` bytes each (any size in which the values fit; 32 for most
    /// scalar fields) to packed elements and back. The values are in standard form, the elements in the given
    /// form. Input and output must not overlap. pool_field_from_bytes fails with POOL_ERR_BAD_DATA for a
    /// value that is not below the modulus and writes nothing then; pool_field_to_bytes with
    /// POOL_ERR_INVALID_ARGUMENT when the modulus does not fit in `value_bytes`.
    pub fn pool_field_to_bytes(field: *const pool_field, form: pool_form, elements: *const c_void, count: usize, value_bytes: usize, byte_order: pool_byte_order, values: *mut u8) -> pool_status;
    /// Like pool_field_from_bytes, but reduces each value modulo p, whatever its size: for digests that are
    /// reduced to field elements, and for scalars that are multiplied by points of order p (as ecMul of
    /// EIP-196 does). For a modulus of more than 8 bits, time depends on the field, `value_bytes` and `count`
    /// only.
    pub fn pool_field_reduce_bytes(field: *const pool_field, value_bytes: usize, byte_order: pool_byte_order, values: *const u8, count: usize, form: pool_form, elements: *mut c_void) -> pool_status;
    /// Generates `count` uniform elements; element i depends on the seed, i and the field only. For tests and
    /// measurements; not for secrets.
    pub fn pool_random_scalars(field: *const pool_field, seed: u64, count: usize, form: pool_form, elements: *mut c_void) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_buffer_params_init(params: *mut pool_buffer_params, struct_size: usize);
    /// Allocates a buffer from the device's memory pool; its address is a multiple of 256. The caller frees
    /// it with pool_buffer_destroy. When the device is full, the call waits for pending frees on `stream` and
    /// by pool_buffer_destroy, releases unused pool memory and tries once more, then returns
    /// POOL_ERR_OUT_OF_DEVICE_MEMORY with the requested, free and reserved bytes in the message. The short
    /// forms: no flags, zeroed, and a copy of `bytes` host bytes at `data` (done when the call returns).
    /// Without driver support for memory pools the library uses plain allocations.
    pub fn pool_buffer_create(device: *mut pool_device, params: *const pool_buffer_params, buffer: *mut *mut pool_buffer) -> pool_status;
    /// Allocates a buffer from the device's memory pool; its address is a multiple of 256. The caller frees
    /// it with pool_buffer_destroy. When the device is full, the call waits for pending frees on `stream` and
    /// by pool_buffer_destroy, releases unused pool memory and tries once more, then returns
    /// POOL_ERR_OUT_OF_DEVICE_MEMORY with the requested, free and reserved bytes in the message. The short
    /// forms: no flags, zeroed, and a copy of `bytes` host bytes at `data` (done when the call returns).
    /// Without driver support for memory pools the library uses plain allocations.
    pub fn pool_buffer_alloc(device: *mut pool_device, bytes: u64, buffer: *mut *mut pool_buffer) -> pool_status;
    /// Allocates a buffer from the device's memory pool; its address is a multiple of 256. The caller frees
    /// it with pool_buffer_destroy. When the device is full, the call waits for pending frees on `stream` and
    /// by pool_buffer_destroy, releases unused pool memory and tries once more, then returns
    /// POOL_ERR_OUT_OF_DEVICE_MEMORY with the requested, free and reserved bytes in the message. The short
    /// forms: no flags, zeroed, and a copy of `bytes` host bytes at `data` (done when the call returns).
    /// Without driver support for memory pools the library uses plain allocations.
    pub fn pool_buffer_zeroed(device: *mut pool_device, bytes: u64, buffer: *mut *mut pool_buffer) -> pool_status;
    /// Allocates a buffer from the device's memory pool; its address is a multiple of 256. The caller frees
    /// it with pool_buffer_destroy. When the device is full, the call waits for pending frees on `stream` and
    /// by pool_buffer_destroy, releases unused pool memory and tries once more, then returns
    /// POOL_ERR_OUT_OF_DEVICE_MEMORY with the requested, free and reserved bytes in the message. The short
    /// forms: no flags, zeroed, and a copy of `bytes` host bytes at `data` (done when the call returns).
    /// Without driver support for memory pools the library uses plain allocations.
    pub fn pool_buffer_from_host(device: *mut pool_device, data: *const c_void, bytes: u64, buffer: *mut *mut pool_buffer) -> pool_status;
    /// Wraps device memory that the caller allocated through the driver or the runtime, or a part of it. It
    /// must outlive the buffer and is not freed with it. Errors: INVALID_ARGUMENT (not device memory, or the
    /// range goes beyond its allocation), WRONG_DEVICE.
    pub fn pool_buffer_adopt(device: *mut pool_device, address: CUdeviceptr, bytes: u64, buffer: *mut *mut pool_buffer) -> pool_status;
    /// A view of `bytes` bytes from `offset` of `parent` (itself possibly a slice). It holds a reference to
    /// the memory: parent and slices can be destroyed in any order, the last one frees the memory. A slice of
    /// 0 bytes at the very end is allowed.
    pub fn pool_buffer_slice(parent: *mut pool_buffer, offset: u64, bytes: u64, slice: *mut *mut pool_buffer) -> pool_status;
    /// Frees a buffer or slice and sets *buffer to NULL; NULL or a pointer to NULL is a no-op. Safe while
    /// work is unfinished: the memory is reused only after all work that has been enqueued on the default
    /// stream and on any pool_stream of the device. Work on raw streams that the library does not know (see
    /// pool_stream_adopt) must have finished. Does not wait, except where the driver has no memory pools.
    /// Errors as for pool_stream_destroy.
    pub fn pool_buffer_destroy(buffer: *mut *mut pool_buffer) -> pool_status;
    /// Frees a buffer or slice and sets *buffer to NULL; NULL or a pointer to NULL is a no-op. Safe while
    /// work is unfinished: the memory is reused only after all work that has been enqueued on the default
    /// stream and on any pool_stream of the device. Work on raw streams that the library does not know (see
    /// pool_stream_adopt) must have finished. Does not wait, except where the driver has no memory pools.
    /// Errors as for pool_stream_destroy.
    pub fn pool_buffer_destroy_on(buffer: *mut *mut pool_buffer, stream: *mut pool_stream) -> pool_status;
    /// Fills `shared` for a buffer that was created with POOL_BUFFER_SHAREABLE, for a slice of one, or for an
    /// adopted one whose memory came from cuMemAlloc. The buffer must exist until every process has destroyed
    /// what it opened. Errors: INVALID_ARGUMENT (not shareable, empty), UNSUPPORTED (by the driver; on
    /// simulated devices also memory that is no multiple of 2 MiB).
    pub fn pool_buffer_share(buffer: *mut pool_buffer, shared: *mut pool_shared_buffer) -> pool_status;
    /// A buffer of memory that another process has shared, on the device that it belongs to or one that can
    /// address it. It does not count as used memory. pool_buffer_destroy waits for the device's work and
    /// closes it; work of the two processes is ordered only by shared events and by messages between them. A
    /// process cannot open its own memory; with devices in worker processes, a device can open that of
    /// another worker, too. Errors: INVALID_ARGUMENT, UNSUPPORTED, DRIVER.
    pub fn pool_buffer_open(device: *mut pool_device, shared: *const pool_shared_buffer, buffer: *mut *mut pool_buffer) -> pool_status;
    /// The address for kernels and raw driver calls, the size, the flags, the device (0 or NULL for NULL).
    pub fn pool_buffer_address(buffer: *const pool_buffer, address: *mut CUdeviceptr) -> pool_status;
    /// The address for kernels and raw driver calls, the size, the flags, the device (0 or NULL for NULL).
    pub fn pool_buffer_bytes(buffer: *const pool_buffer) -> u64;
    /// The address for kernels and raw driver calls, the size, the flags, the device (0 or NULL for NULL).
    pub fn pool_buffer_flags(buffer: *const pool_buffer) -> u32;
    /// The address for kernels and raw driver calls, the size, the flags, the device (0 or NULL for NULL).
    pub fn pool_buffer_device(buffer: *const pool_buffer) -> *mut pool_device;
    /// Fills `span` for an operation: `count` packed items of form `form`, starting at byte `offset` of the
    /// buffer. The span is valid as long as the buffer. Operations check the extent of the items, whose size
    /// they know; this function only checks `offset` (POOL_ERR_INVALID_ARGUMENT).
    pub fn pool_buffer_span(buffer: *const pool_buffer, offset: u64, count: u64, form: pool_form, span: *mut pool_span) -> pool_status;
    /// Writes `count` copies of a value of 8, 16 or 32 bits, starting at byte `offset`. The buffer's address
    /// plus the offset must be a multiple of the value's size (POOL_ERR_INVALID_ARGUMENT).
    pub fn pool_buffer_fill8(buffer: *mut pool_buffer, offset: u64, count: u64, value: u8, stream: *mut pool_stream) -> pool_status;
    /// Writes `count` copies of a value of 8, 16 or 32 bits, starting at byte `offset`. The buffer's address
    /// plus the offset must be a multiple of the value's size (POOL_ERR_INVALID_ARGUMENT).
    pub fn pool_buffer_fill16(buffer: *mut pool_buffer, offset: u64, count: u64, value: u16, stream: *mut pool_stream) -> pool_status;
    /// Writes `count` copies of a value of 8, 16 or 32 bits, starting at byte `offset`. The buffer's address
    /// plus the offset must be a multiple of the value's size (POOL_ERR_INVALID_ARGUMENT).
    pub fn pool_buffer_fill32(buffer: *mut pool_buffer, offset: u64, count: u64, value: u32, stream: *mut pool_stream) -> pool_status;
    /// Copies `bytes` host bytes at `from` to the buffer `to`, starting at its byte `offset`. Pinned or
    /// registered `from`: with a stream the copy is only enqueued, and `from` must stay valid until it is
    /// done. Pageable memory goes through pinned staging buffers, or, up to 64 KiB, through the driver's:
    /// when it returns `from` can be modified, and with a stream it waits only for free staging buffers, of
    /// which short copies have their own. A copy from pageable memory to a secret buffer waits until it is
    /// done.
    pub fn pool_copy_to_device(to: *mut pool_buffer, offset: u64, from: *const c_void, bytes: u64, stream: *mut pool_stream) -> pool_status;
    /// Copies `bytes` bytes at byte `offset` of `from` to host memory at `to`. Pinned or registered `to`:
    /// with a stream the copy is only enqueued. Pageable memory goes through pinned staging buffers: the
    /// bytes are written when the call returns, also with a stream, and it waits for no other stream.
    pub fn pool_copy_to_host(to: *mut c_void, from: *const pool_buffer, offset: u64, bytes: u64, stream: *mut pool_stream) -> pool_status;
    /// Copies between buffers of one device or of two. The ranges may overlap: the result is as if the source
    /// were read completely first. `stream` belongs to either device. Between devices the driver copies
    /// directly where the hardware supports it, else through host memory.
    pub fn pool_copy_device(to: *mut pool_buffer, to_offset: u64, from: *const pool_buffer, from_offset: u64, bytes: u64, stream: *mut pool_stream) -> pool_status;
    /// Copies `rows` rows of `row_bytes` bytes, 0 of either being a no-op; at least one side is a buffer, and
    /// two are of one device (POOL_ERR_WRONG_DEVICE). Source and destination rows must not overlap. The copy
    /// is enqueued on `stream`; with NULL the call waits until it is done. Pageable memory has been read or
    /// written when the call returns. Pitches are below 2^31. POOL_ERR_UNSUPPORTED: the driver's table has no
    /// cuMemcpy2DAsync.
    pub fn pool_copy_2d(to: *const pool_pitched, from: *const pool_pitched, row_bytes: u64, rows: u64, stream: *mut pool_stream) -> pool_status;
    /// Lets kernels and copies on `device` address memory of `peer`: present and future allocations of its
    /// memory pool, and plain allocations. Errors: UNSUPPORTED when the hardware cannot, WRONG_DEVICE for a
    /// device of another driver. Repeating the call is a no-op. Valid as long as the pool.
    pub fn pool_device_enable_peer(device: *mut pool_device, peer: *mut pool_device) -> pool_status;
    /// Page-locked host memory, usable with every device of the driver. pool_pinned_register locks memory
    /// that the caller owns, which must outlive the handle. Both can take long (about 0.3 ms per MB). Errors:
    /// INVALID_ARGUMENT (0 bytes, an overlap with registered memory), OUT_OF_HOST_MEMORY.
    pub fn pool_pinned_create(device: *mut pool_device, bytes: u64, flags: u32, pinned: *mut *mut pool_pinned) -> pool_status;
    /// Page-locked host memory, usable with every device of the driver. pool_pinned_register locks memory
    /// that the caller owns, which must outlive the handle. Both can take long (about 0.3 ms per MB). Errors:
    /// INVALID_ARGUMENT (0 bytes, an overlap with registered memory), OUT_OF_HOST_MEMORY.
    pub fn pool_pinned_register(device: *mut pool_device, data: *mut c_void, bytes: u64, flags: u32, pinned: *mut *mut pool_pinned) -> pool_status;
    /// Frees allocated memory or unregisters registered memory, and sets *pinned to NULL; NULL or a pointer
    /// to NULL is a no-op. Allocated memory may still be in use by work that was enqueued through the library
    /// on any device of the pool: it is kept for later allocations (pool_pinned_set_threshold) and reused
    /// when that work has finished, and the function does not wait. Registered memory may be freed by the
    /// caller after the call, so it must not be in use, and the driver may wait for all work of the device.
    /// Errors as for pool_stream_destroy.
    pub fn pool_pinned_destroy(pinned: *mut *mut pool_pinned) -> pool_status;
    /// The memory, its size, flags and device; NULL or 0 for NULL. Memory of pool_pinned_create has ended
    /// with a context that another part of the process has destroyed: its address is NULL then.
    pub fn pool_pinned_data(pinned: *const pool_pinned) -> *mut c_void;
    /// The memory, its size, flags and device; NULL or 0 for NULL. Memory of pool_pinned_create has ended
    /// with a context that another part of the process has destroyed: its address is NULL then.
    pub fn pool_pinned_bytes(pinned: *const pool_pinned) -> u64;
    /// The memory, its size, flags and device; NULL or 0 for NULL. Memory of pool_pinned_create has ended
    /// with a context that another part of the process has destroyed: its address is NULL then.
    pub fn pool_pinned_flags(pinned: *const pool_pinned) -> u32;
    /// The memory, its size, flags and device; NULL or 0 for NULL. Memory of pool_pinned_create has ended
    /// with a context that another part of the process has destroyed: its address is NULL then.
    pub fn pool_pinned_device(pinned: *const pool_pinned) -> *mut pool_device;
    /// Fills `info`, whose struct_size is set; queries the driver for free and reserved bytes.
    pub fn pool_memory_get_info(device: *mut pool_device, info: *mut pool_memory_info) -> pool_status;
    /// Resets both high-water marks to the bytes that are used and reserved now; of a pool of the caller
    /// (pool_memory_adopt) only the first.
    pub fn pool_memory_reset_high_water(device: *mut pool_device) -> pool_status;
    /// Sets how many unused bytes the device's pool retains for later buffers; the default UINT64_MAX retains
    /// all. POOL_ERR_UNSUPPORTED without memory pools, and for a pool of the caller's, whose threshold the
    /// caller sets.
    pub fn pool_memory_set_threshold(device: *mut pool_device, bytes: u64) -> pool_status;
    /// How many bytes of freed pinned memory the device keeps for later allocations of pinned memory and of
    /// staging buffers; the default is 256 MiB. More is released when the devices are idle.
    pub fn pool_pinned_set_threshold(device: *mut pool_device, bytes: u64) -> pool_status;
    /// Releases unused memory to the device until at most `keep_bytes` (for a pool of the caller: or its
    /// release threshold) are reserved or nothing is unused, frees idle staging buffers, and performs
    /// deferred frees of pinned memory and deferred unloads of modules. Waits for pending frees, and with
    /// them for the work that they wait for.
    pub fn pool_memory_trim(device: *mut pool_device, keep_bytes: u64) -> pool_status;
    /// The raw memory pool of the device, for callers that allocate from it themselves: the library's, which
    /// still owns it, or the one of pool_memory_adopt. POOL_ERR_UNSUPPORTED without memory pools.
    pub fn pool_memory_handle(device: *mut pool_device, handle: *mut CUmemoryPool) -> pool_status;
    /// Allocates the device's later buffers, workspaces and resident data from a memory pool of the caller's,
    /// which must outlive them and the device_pool; NULL returns to the library's own pool. Memory that
    /// exists stays in the pool that it came from. The library neither destroys the pool nor changes its
    /// attributes, and trims it down to its release threshold at most; devices that may address this device's
    /// memory (pool_device_enable_peer) are granted access to it. Allocates and frees one byte to find out
    /// the pool's device. Errors: WRONG_DEVICE; INVALID_ARGUMENT for a handle that the driver refuses or a
    /// pool of host memory; UNSUPPORTED without memory pools.
    pub fn pool_memory_adopt(device: *mut pool_device, handle: CUmemoryPool) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_exec_init(exec: *mut pool_exec, struct_size: usize);
    /// Measures the rates (device.h) of all devices of a pool that are POOL_DEVICE_READY, one after another,
    /// and sets them: Poseidon permutations over a field of 256 bits, whose duration, as that of most kernels
    /// of MSMs and transforms, is the one of their multiplications. Jobs over devices of different speed are
    /// then divided by what was measured. Blocks for some milliseconds per device, at the first call also
    /// until the kernel is compiled; some MiB are allocated for the time. No other work should run on the
    /// devices meanwhile. The rates keep their sum, so that they compare with those of the devices that were
    /// not measured. After a failure no rate has changed. Any thread.
    pub fn pool_measure_rates(pool: *mut device_pool) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_ntt_domain_params_init(params: *mut pool_ntt_domain_params, struct_size: usize);
    /// Creates a domain without using a device. The caller owns one reference. POOL_ERR_INVALID_ARGUMENT: no
    /// field, log_size above the field's two-adicity or POOL_NTT_MAX_LOG_SIZE, a root whose order is not
    /// 2^log_size, coset 0, both root and convention set. POOL_ERR_BAD_DATA: a string that is not a number,
    /// or a number that is not below the modulus. POOL_ERR_NOT_FOUND: an unknown convention.
    pub fn pool_ntt_domain_create(params: *const pool_ntt_domain_params, domain: *mut *mut pool_ntt_domain) -> pool_status;
    /// Adds a reference, which pool_ntt_domain_destroy releases. Returns NULL for NULL.
    pub fn pool_ntt_domain_retain(domain: *mut pool_ntt_domain) -> *mut pool_ntt_domain;
    /// Releases a reference, frees the domain and its tables on all devices with the last one, and sets
    /// *domain to NULL. NULL or a pointer to NULL is a no-op. Work that is already enqueued is not affected.
    /// A pool cannot be destroyed while a domain has tables on its devices.
    pub fn pool_ntt_domain_destroy(domain: *mut *mut pool_ntt_domain) -> pool_status;
    /// Properties. Return 0 or NULL for NULL. Root and coset generator are single elements. Any thread.
    pub fn pool_ntt_domain_field(domain: *const pool_ntt_domain) -> *const pool_field;
    /// Properties. Return 0 or NULL for NULL. Root and coset generator are single elements. Any thread.
    pub fn pool_ntt_domain_log_size(domain: *const pool_ntt_domain) -> u32;
    /// Properties. Return 0 or NULL for NULL. Root and coset generator are single elements. Any thread.
    pub fn pool_ntt_domain_root(domain: *const pool_ntt_domain, form: pool_form, root: *mut c_void) -> pool_status;
    /// Properties. Return 0 or NULL for NULL. Root and coset generator are single elements. Any thread.
    pub fn pool_ntt_domain_coset(domain: *const pool_ntt_domain, form: pool_form, coset: *mut c_void) -> pool_status;
    /// The device memory that the domain's tables take on a device after pool_ntt_warm_up: an upper bound for
    /// calls without it, which compute only the tables that they use. Smaller domains that pool_ntt_extend
    /// and transforms over several devices derive from this one do not count. Tables are not charged to
    /// leases, and are evicted when their memory is needed and no call uses them. Of `exec` cancel, device,
    /// lease and timeout_ns.
    pub fn pool_ntt_domain_bytes(domain: *const pool_ntt_domain, device: *mut pool_device, bytes: *mut u64) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_ntt_params_init(params: *mut pool_ntt_params, struct_size: usize);
    /// Transforms batch * 2^log_size elements from `in` to `out`. Each may be in host or device memory,
    /// packed or strided, in either form; different forms cost one multiplication per element and no further
    /// pass over memory. `out` may be exactly `in` (same data, same stride); any other overlap is an error.
    /// Batches of rows in host memory pass through the device in chunks; a single transform or a batch of
    /// columns must fit in device memory as a whole. The first use of a field on a device compiles its
    /// kernels and the first use of a domain computes its tables there; both block, also with is_async.
    pub fn pool_ntt(params: *const pool_ntt_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span) -> pool_status;
    /// The exact number of device bytes that pool_ntt allocates for these spans, params and exec: at most
    /// exec->memory_limit, unless that is 0. Of the spans' data only the addresses are compared; they may be
    /// NULL, and two in device memory are then the same memory. Kernels and the domain's tables
    /// (pool_ntt_domain_bytes) do not count. 0 is a valid result. Requires exec->device, or a device that the
    /// calling thread has bound; with exec->device_count it sets bytes[i] for device i.
    pub fn pool_ntt_workspace(params: *const pool_ntt_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Compiles the kernels of the domain's field and computes its tables on a device, so that no later call
    /// waits for them: for both directions, for single transforms and for batches, which may use different
    /// kernels. In a pool of several devices it compiles the kernel of transforms over several of them as
    /// well, whose other tables the first call computes. Blocks. `device` NULL: the one that the calling
    /// thread has bound.
    pub fn pool_ntt_warm_up(domain: *mut pool_ntt_domain, exec: *const pool_exec) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_ntt_extend_params_init(params: *mut pool_ntt_extend_params, struct_size: usize);
    /// The low-degree extension of a batch of columns, as STARK provers commit to it: for each column the
    /// polynomial of degree below n whose values at 1, v, v^2, ... with v = w^(2^b) are the column, evaluated
    /// at g w^k for all k < N. These points are the 2^b cosets g w^c <v>. In bit-reversed order the results
    /// of a coset are adjacent: those of coset c begin at n times c bit-reversed, and are in bit-reversed
    /// order themselves.
    pub fn pool_ntt_extend(params: *const pool_ntt_extend_params, exec: *const pool_exec, r#in: *const pool_span, coefficients: *const pool_span, out: *const pool_span) -> pool_status;
    /// The exact number of device bytes that pool_ntt_extend allocates for these arguments: at most
    /// exec->memory_limit, unless that is 0. Of the spans' data only the addresses are compared, as in
    /// pool_ntt_workspace, but spans without data are never the same memory. Requires exec->device, or a
    /// device that the calling thread has bound; with exec->device_count it sets bytes[i] for device i.
    pub fn pool_ntt_extend_workspace(params: *const pool_ntt_extend_params, exec: *const pool_exec, r#in: *const pool_span, coefficients: *const pool_span, out: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Compiles the kernels and computes the tables of extensions with these params, of any order, layout and
    /// batch, so that no later call waits for them: those of the domain forward, and those of the columns'
    /// domain, which belongs to it, in the other direction. Blocks. Of `exec` cancel, device, lease and
    /// timeout_ns.
    pub fn pool_ntt_extend_warm_up(params: *const pool_ntt_extend_params, exec: *const pool_exec) -> pool_status;
    /// The number of built-in parameter sets, and their names: static strings, NULL past the end. Any thread.
    /// circom-bn254-t2 … -t17 circomlib, circomlibjs, light-poseidon: 1 … 16 inputs neptune-bls12_381-arity2
    /// 4 8 11 16 24 36, each also with -strengthened eip5988-bn254-t3 -t5, eip5988-bls12_381-t3 -t5 the
    /// reference permutations orchard-pallas-t3 zcash Orchard (P128Pow5T3), hashing two elements
    /// horizen-bn254-t3 horizen-bls12_381-t2 -t3 horizen-pallas-t3 horizen-vesta-t3 horizen-goldilocks-t12
    /// the Poseidon function of HorizenLabs/poseidon2 jmagan-bls12_381-t2 … -t17 npm poseidon-bls12381: 1 …
    /// 16 inputs plonky2-goldilocks-t12 plonky3-goldilocks-t8 -t12 plonky3-babybear-t16 -t24
    /// plonky3-koalabear-t16 -t24 plonky3-mersenne31-t16 starknet-stark252-t3 mina-kimchi-pallas-t3
    /// mina-legacy-pallas-t3 Mina, over the base field of Pallas poseidon2-horizen-bn254-t2 -t3 -t4
    /// poseidon2-horizen-bls12_381-t2 -t3 -t4 poseidon2-taceo-bn254-t8 -t12 -t16 crate taceo-poseidon2
    /// poseidon2-horizen-pallas-t3 poseidon2-horizen-vesta-t3 poseidon2-horizen-goldilocks-t8 -t12
    /// poseidon2-horizen-babybear-t24 (RISC Zero's) poseidon2-plonky3-goldilocks-t8 -t12 -t16
    /// poseidon2-plonky3-babybear-t16 -t24 poseidon2-plonky3-koalabear-t16 -t24
    /// poseidon2-plonky3-mersenne31-t16 -t24
    pub fn pool_poseidon_count() -> usize;
    /// The number of built-in parameter sets, and their names: static strings, NULL past the end. Any thread.
    /// circom-bn254-t2 … -t17 circomlib, circomlibjs, light-poseidon: 1 … 16 inputs neptune-bls12_381-arity2
    /// 4 8 11 16 24 36, each also with -strengthened eip5988-bn254-t3 -t5, eip5988-bls12_381-t3 -t5 the
    /// reference permutations orchard-pallas-t3 zcash Orchard (P128Pow5T3), hashing two elements
    /// horizen-bn254-t3 horizen-bls12_381-t2 -t3 horizen-pallas-t3 horizen-vesta-t3 horizen-goldilocks-t12
    /// the Poseidon function of HorizenLabs/poseidon2 jmagan-bls12_381-t2 … -t17 npm poseidon-bls12381: 1 …
    /// 16 inputs plonky2-goldilocks-t12 plonky3-goldilocks-t8 -t12 plonky3-babybear-t16 -t24
    /// plonky3-koalabear-t16 -t24 plonky3-mersenne31-t16 starknet-stark252-t3 mina-kimchi-pallas-t3
    /// mina-legacy-pallas-t3 Mina, over the base field of Pallas poseidon2-horizen-bn254-t2 -t3 -t4
    /// poseidon2-horizen-bls12_381-t2 -t3 -t4 poseidon2-taceo-bn254-t8 -t12 -t16 crate taceo-poseidon2
    /// poseidon2-horizen-pallas-t3 poseidon2-horizen-vesta-t3 poseidon2-horizen-goldilocks-t8 -t12
    /// poseidon2-horizen-babybear-t24 (RISC Zero's) poseidon2-plonky3-goldilocks-t8 -t12 -t16
    /// poseidon2-plonky3-babybear-t16 -t24 poseidon2-plonky3-koalabear-t16 -t24
    /// poseidon2-plonky3-mersenne31-t16 -t24
    pub fn pool_poseidon_name_at(index: usize) -> *const c_char;
    /// The built-in parameter set of that name, which is computed at its first use (milliseconds) and stays.
    /// The caller owns one reference. POOL_ERR_NOT_FOUND, POOL_ERR_OUT_OF_HOST_MEMORY.
    pub fn pool_poseidon_by_name(name: *const c_char, set: *mut *mut pool_poseidon) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_poseidon_params_init(params: *mut pool_poseidon_params, struct_size: usize);
    /// Validates the definition (sizes, elements below p, alpha coprime to p - 1, matrices invertible,
    /// indices within the state) and derives the forms in which devices and the host compute. Whether the
    /// function is secure is for its author to say. POOL_ERR_INVALID_ARGUMENT names the member,
    /// POOL_ERR_BAD_DATA an element that is not below p. The caller owns one reference.
    pub fn pool_poseidon_create(params: *const pool_poseidon_params, set: *mut *mut pool_poseidon) -> pool_status;
    /// Adds a reference and returns `set`; NULL returns NULL.
    pub fn pool_poseidon_retain(set: *mut pool_poseidon) -> *mut pool_poseidon;
    /// Releases a reference and sets *set to NULL. NULL and a pointer to NULL: no-op.
    pub fn pool_poseidon_destroy(set: *mut *mut pool_poseidon);
    /// Properties of a parameter set. Any thread. NULL returns an empty string, NULL or 0.
    pub fn pool_poseidon_name(set: *const pool_poseidon) -> *const c_char;
    /// Properties of a parameter set. Any thread. NULL returns an empty string, NULL or 0.
    pub fn pool_poseidon_field(set: *const pool_poseidon) -> *const pool_field;
    /// Properties of a parameter set. Any thread. NULL returns an empty string, NULL or 0.
    pub fn pool_poseidon_width(set: *const pool_poseidon) -> u32;
    /// The most elements of a fixed-length hash.
    pub fn pool_poseidon_max_inputs(set: *const pool_poseidon) -> u32;
    /// The rate of a sponge.
    pub fn pool_poseidon_rate(set: *const pool_poseidon) -> u32;
    /// The elements of a fixed-length hash's digest and of a tree's node.
    pub fn pool_poseidon_digest_elements(set: *const pool_poseidon) -> u32;
    /// SHA-256 of the whole definition, without the name.
    pub fn pool_poseidon_fingerprint(set: *const pool_poseidon, fingerprint: *mut u8) -> pool_status;
    /// Compiles the set's kernels for a device and tests them, so that no later call has to wait for that.
    /// Blocks. Of `exec` cancel, device, lease and timeout_ns.
    pub fn pool_poseidon_warm_up(set: *const pool_poseidon, exec: *const pool_exec) -> pool_status;
    /// Permutes states->count states of t elements each. Both spans may be the same memory.
    pub fn pool_poseidon_permute(set: *const pool_poseidon, exec: *const pool_exec, states: *const pool_span, results: *const pool_span) -> pool_status;
    /// The device memory that pool_poseidon_permute allocates, see above.
    pub fn pool_poseidon_permute_workspace(set: *const pool_poseidon, exec: *const pool_exec, states: *const pool_span, results: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Computes one digest per item of `inputs`. An item has `elements` elements, 1 … the set's max_inputs;
    /// the state elements of absent inputs are 0.
    pub fn pool_poseidon_hash(set: *const pool_poseidon, exec: *const pool_exec, inputs: *const pool_span, elements: u32, digests: *const pool_span) -> pool_status;
    /// The device memory that pool_poseidon_hash allocates, see above.
    pub fn pool_poseidon_hash_workspace(set: *const pool_poseidon, exec: *const pool_exec, inputs: *const pool_span, elements: u32, digests: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_poseidon_sponge_params_init(params: *mut pool_poseidon_sponge_params, struct_size: usize);
    /// Absorbs each message in blocks of `rate` elements, with a permutation after each block, then squeezes
    /// `output_elements` elements, with a permutation after each `rate` of them.
    pub fn pool_poseidon_sponge(set: *const pool_poseidon, exec: *const pool_exec, params: *const pool_poseidon_sponge_params, messages: *const pool_span, results: *const pool_span) -> pool_status;
    /// The device memory that pool_poseidon_sponge allocates, see above.
    pub fn pool_poseidon_sponge_workspace(set: *const pool_poseidon, exec: *const pool_exec, params: *const pool_poseidon_sponge_params, messages: *const pool_span, results: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_merkle_params_init(params: *mut pool_merkle_params, struct_size: usize);
    /// Fills `shape`, whose struct_size is set, for a tree of that many leaves.
    pub fn pool_merkle_get_shape(set: *const pool_poseidon, params: *const pool_merkle_params, leaves: u64, shape: *mut pool_merkle_shape) -> pool_status;
    /// Builds the tree of leaves->count leaves, at least 1, and writes the kept levels from the lowest one to
    /// the root, digest_count items in all.
    pub fn pool_poseidon_merkle_build(set: *const pool_poseidon, exec: *const pool_exec, params: *const pool_merkle_params, leaves: *const pool_span, levels: *const pool_span) -> pool_status;
    /// The device memory that pool_poseidon_merkle_build allocates, see above.
    pub fn pool_poseidon_merkle_build_workspace(set: *const pool_poseidon, exec: *const pool_exec, params: *const pool_merkle_params, leaves: *const pool_span, levels: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Sets digests[i] to the number of digests in shard i of `levels` where the levels of a tree over
    /// several devices stay there (POOL_MEMORY_SHARDED). exec->device_count must not be 0. Each device has
    /// the kept levels of its subtrees from the lowest one to the level of their roots, which is the same on
    /// all devices; the first device has the levels above that behind them, up to the root. The division
    /// follows the devices and `leaves`, a span in host memory or sharded; its data is not read (except for
    /// the array of shards) and may be NULL. Errors: those of pool_poseidon_merkle_build_workspace for these
    /// arguments.
    pub fn pool_poseidon_merkle_shards(set: *const pool_poseidon, exec: *const pool_exec, params: *const pool_merkle_params, leaves: *const pool_span, digests: *mut u64) -> pool_status;
    /// Writes the opening of leaf `index`: the siblings on its path to the root, level by level, in each
    /// level the arity - 1 others in their order. `path` has path_count digests in host memory. `levels` is
    /// the result of pool_poseidon_merkle_build for `leaf_count` leaves. If the lowest levels were not kept,
    /// `leaves` must be the same leaves, so that the leaf's subtree can be built again; otherwise it may be
    /// NULL. Blocks until the path is written. With exec->device_count, the devices of the build in their
    /// order, levels are in host memory or sharded as they were built; leaves that were sharded must then be
    /// passed in any case. Subtrees are built by the devices that have their leaves, from host memory by the
    /// first one.
    pub fn pool_poseidon_merkle_open(set: *const pool_poseidon, exec: *const pool_exec, params: *const pool_merkle_params, leaf_count: u64, leaves: *const pool_span, levels: *const pool_span, index: u64, path: *const pool_span) -> pool_status;
    /// The device memory that pool_poseidon_merkle_open allocates, see above.
    pub fn pool_poseidon_merkle_open_workspace(set: *const pool_poseidon, exec: *const pool_exec, params: *const pool_merkle_params, leaf_count: u64, leaves: *const pool_span, levels: *const pool_span, index: u64, path: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Sets *is_member to 1 if `leaf` (leaf_elements elements) is leaf `index` of a tree with that root, else
    /// to 0. Everything is in host memory and in `form` and is computed on the host. The params' `height`
    /// must not be 0; an index of arity^height or more is not a member.
    pub fn pool_poseidon_merkle_verify(set: *const pool_poseidon, params: *const pool_merkle_params, form: pool_form, root: *const c_void, leaf: *const c_void, index: u64, path: *const c_void, is_member: *mut i32) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_matrix_commit_params_init(params: *mut pool_matrix_commit_params, struct_size: usize);
    /// Fills `shape`, whose struct_size is set. Of the matrices' spans nothing is read. Any thread.
    pub fn pool_matrix_commit_get_shape(params: *const pool_matrix_commit_params, matrices: *const pool_matrix, count: u32, shape: *mut pool_matrix_commit_shape) -> pool_status;
    /// Commits to `count` matrices, 1 … 4096: writes the kept levels, from the lowest one to the cap,
    /// digest_count items of the set's digest_elements elements each. Matrices and levels may be in host or
    /// device memory and in either form. Matrices in host memory pass through the device in chunks of up to
    /// 32 MiB of columns or rows, those in device memory are read in place. Row i of the tree is row i in
    /// memory: POOL_NTT_NR and POOL_NTT_RR write rows in the bit-reversed order that Plonky3 and plonky2
    /// commit to.
    pub fn pool_matrix_commit(params: *const pool_matrix_commit_params, exec: *const pool_exec, matrices: *const pool_matrix, count: u32, levels: *const pool_span) -> pool_status;
    /// The exact number of device bytes that pool_matrix_commit allocates for these arguments: at most
    /// exec->memory_limit, unless that is 0. The spans' data may be NULL; a device is not needed. With
    /// exec->device_count it sets bytes[i] for device i; the array of shards is read, but not their data.
    pub fn pool_matrix_commit_workspace(params: *const pool_matrix_commit_params, exec: *const pool_exec, matrices: *const pool_matrix, count: u32, levels: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Sets digests[i] to the number of digests in shard i of `levels` where the levels of a commitment over
    /// several devices stay there (POOL_MEMORY_SHARDED). exec->device_count must not be 0. Each device has
    /// the kept levels of its subtrees from the lowest one to the level of their roots, which is the same on
    /// all devices; the first device has the levels above that behind them, up to the cap. The division
    /// follows the devices' rates, the heights, and the shards of rows: for pool_extend_commit `matrices` are
    /// the extensions' heights and widths, with spans in host memory. The data of spans is not read (except
    /// for the array of shards) and may be NULL. Errors: those of pool_matrix_commit_workspace for these
    /// arguments. Any thread.
    pub fn pool_matrix_commit_shards(params: *const pool_matrix_commit_params, exec: *const pool_exec, matrices: *const pool_matrix, count: u32, digests: *mut u64) -> pool_status;
    /// Extends columns and commits to the extensions, `count` matrices in the order of the extensions:
    /// pool_ntt_extend and pool_matrix_commit in one call. Where the trace or the extension is in host
    /// memory, or the extension is not kept, columns pass through the device in chunks of up to 32 MiB; the
    /// next chunk is uploaded and extended while one is hashed. Otherwise a matrix is extended as a whole. Of
    /// `exec` the same members are used as for pool_matrix_commit; the check applies to the traces. Progress
    /// counts elements of the extensions and nodes above level 0. With exec->device_count columns are dealt
    /// out over the devices, as by pool_ntt_extend, and all have been extended before rows are hashed:
    /// extensions that are not kept need device memory until then.
    pub fn pool_extend_commit(params: *const pool_matrix_commit_params, exec: *const pool_exec, extensions: *const pool_extension, count: u32, levels: *const pool_span) -> pool_status;
    /// The exact number of device bytes that pool_extend_commit allocates for these arguments: at most
    /// exec->memory_limit, unless that is 0. The spans' data may be NULL, a kept extension is one with a
    /// count. Requires exec->device, or a device that the calling thread has bound; with exec->device_count
    /// it sets bytes[i] for device i. Tables of the domains do not count.
    pub fn pool_extend_commit_workspace(params: *const pool_matrix_commit_params, exec: *const pool_exec, extensions: *const pool_extension, count: u32, levels: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Compiles the kernels of both sets for a device, so that no later call waits for them. Blocks. Of
    /// `exec` cancel, device, lease and timeout_ns.
    pub fn pool_matrix_commit_warm_up(params: *const pool_matrix_commit_params, exec: *const pool_exec) -> pool_status;
    /// Opens rows. Index i of the tallest matrices is row i >> k of a matrix with 2^k times fewer rows. For
    /// each index `rows` receives the row of every matrix, in the order of the matrices: one item of
    /// row_elements elements per index. `paths` receives the sibling on each level from 0 on: `height` items,
    /// digests, per index, one index after another. Both are in host memory, in either form. `levels` is the
    /// result of pool_matrix_commit for the same matrices. If the lowest levels were not kept, the subtree of
    /// each index is built again from the matrices. Blocks until rows and paths are written. Of `exec`
    /// device, stream, workspace (of the bytes that pool_matrix_open_workspace reports), memory_limit, lease,
    /// cancel, devices and workspaces are used; is_async must be 0. With exec->device_count matrices and
    /// levels are where pool_matrix_commit takes them, and shards of rows begin with subtrees that are built
    /// again: otherwise POOL_ERR_UNSUPPORTED.
    pub fn pool_matrix_open(params: *const pool_matrix_commit_params, exec: *const pool_exec, matrices: *const pool_matrix, count: u32, levels: *const pool_span, indices: *const u64, index_count: u64, rows: *const pool_span, paths: *const pool_span) -> pool_status;
    /// The device memory that pool_matrix_open allocates, as pool_matrix_commit_workspace reports it.
    pub fn pool_matrix_open_workspace(params: *const pool_matrix_commit_params, exec: *const pool_exec, matrices: *const pool_matrix, count: u32, levels: *const pool_span, index_count: u64, rows: *const pool_span, paths: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Sets *is_member to 1 if `row` (row_elements elements) and `path` (`height` digests) open the
    /// commitment `cap` (cap_count digests) at `index`, else to 0. Everything is packed, in host memory and
    /// in `form`, and is computed on the host. Of the matrices only height and width are read.
    /// POOL_ERR_BAD_DATA for an element that is not below p; an index that is not below the greatest height
    /// is not a member. Any thread.
    pub fn pool_matrix_verify(params: *const pool_matrix_commit_params, form: pool_form, matrices: *const pool_matrix, count: u32, cap: *const c_void, index: u64, row: *const c_void, path: *const c_void, is_member: *mut i32) -> pool_status;
    /// Enumerate the built-in curves, in a fixed order. `pool_curve_at` returns NULL past the end. The curves
    /// are static. Any thread.
    pub fn pool_curve_count() -> usize;
    /// Enumerate the built-in curves, in a fixed order. `pool_curve_at` returns NULL past the end. The curves
    /// are static. Any thread.
    pub fn pool_curve_at(index: usize) -> *const pool_curve;
    /// Returns the built-in curve of that name, or NULL with POOL_ERR_NOT_FOUND as the thread's last error:
    /// bn254_g1, bn254_g2, bls12_381_g1, bls12_381_g2, bls12_377_g1, bls12_377_g2, bw6_761_g1, bw6_761_g2,
    /// pallas, vesta, grumpkin, secp256k1. The curves are static. Any thread.
    pub fn pool_curve_by_name(name: *const c_char) -> *const pool_curve;
    /// Initialises params to defaults; struct_size is the caller's sizeof, see version.h. C callers may use a
    /// designated initialiser. NULL is a no-op.
    pub fn pool_curve_params_init(params: *mut pool_curve_params, struct_size: usize);
    /// Checks that the discriminant is not zero, that the generator is on the curve and is not the point at
    /// infinity, that the order is prime and annihilates the generator, and that order * cofactor is within
    /// Hasse's bounds. Copies all strings and holds references to the fields. Takes milliseconds and does not
    /// block. Fails with POOL_ERR_INVALID_ARGUMENT, whose message names the condition violated, or
    /// POOL_ERR_OUT_OF_HOST_MEMORY. The caller owns one reference.
    pub fn pool_curve_create(params: *const pool_curve_params, curve: *mut *mut pool_curve) -> pool_status;
    /// Adds a reference, which pool_curve_destroy releases. Built-in curves are not counted. Returns NULL for
    /// NULL.
    pub fn pool_curve_retain(curve: *const pool_curve) -> *mut pool_curve;
    /// Releases a reference, frees the curve with the last one, and sets *curve to NULL. NULL or a pointer to
    /// NULL is a no-op.
    pub fn pool_curve_destroy(curve: *mut *mut pool_curve);
    /// Properties. Fields are borrowed from the curve. Return NULL, 0 or an empty string for NULL. Any
    /// thread.
    pub fn pool_curve_name(curve: *const pool_curve) -> *const c_char;
    /// Properties. Fields are borrowed from the curve. Return NULL, 0 or an empty string for NULL. Any
    /// thread.
    pub fn pool_curve_base_field(curve: *const pool_curve) -> *const pool_field;
    /// Properties. Fields are borrowed from the curve. Return NULL, 0 or an empty string for NULL. Any
    /// thread. (its modulus is the order)
    pub fn pool_curve_scalar_field(curve: *const pool_curve) -> *const pool_field;
    /// its modulus is the order (1, or 2 over an extension)
    pub fn pool_curve_degree(curve: *const pool_curve) -> u32;
    /// 1, or 2 over an extension
    pub fn pool_curve_coordinate_bytes(curve: *const pool_curve) -> usize;
    /// SHA-256 over fields, coefficients and generator: equal if and only if the curves compute the same.
    pub fn pool_curve_fingerprint(curve: *const pool_curve, fingerprint: *mut u8) -> pool_status;
    /// Writes the cofactor as `bytes` little-endian bytes. POOL_ERR_NOT_FOUND when it is unknown,
    /// POOL_ERR_INVALID_ARGUMENT when it does not fit.
    pub fn pool_curve_cofactor(curve: *const pool_curve, bytes: usize, cofactor: *mut u8) -> pool_status;
    /// Returns the packed size of a point, or 0 for an unknown layout or a NULL curve.
    pub fn pool_point_bytes(curve: *const pool_curve, layout: pool_point_layout) -> usize;
    /// Checks `count` points: `checks` is POOL_CHECK_ON_CURVE, POOL_CHECK_SUBGROUP, or, as the functions here
    /// always check that coordinates are below the modulus, POOL_CHECK_CANONICAL or POOL_CHECK_NONE.
    /// POOL_ERR_BAD_DATA for the first bad point; *first_bad receives its index unless first_bad is NULL.
    pub fn pool_points_check(curve: *const pool_curve, format: *const pool_point_format, points: *const c_void, count: usize, checks: u32, first_bad: *mut usize) -> pool_status;
    /// Converts points from one format to another and checks them. Input and output may be the same memory
    /// only if layout and stride are the same. POOL_ERR_BAD_DATA names the first bad point; nothing is
    /// written then.
    pub fn pool_points_convert(curve: *const pool_curve, from_format: *const pool_point_format, from: *const c_void, count: usize, checks: u32, to_format: *const pool_point_format, to: *mut c_void) -> pool_status;
    /// Returns the size of an encoded point, or 0 when the encoding is not defined for the curve.
    pub fn pool_encoding_bytes(curve: *const pool_curve, encoding: pool_encoding) -> usize;
    /// Encode and decode `count` points. Encoded points are `stride` bytes apart; 0 means packed, and the
    /// gaps between them are neither read nor written. Decoding is strict: it refuses coordinates that are
    /// not below the modulus, wrong flags, an infinity that is not all zeros, padding that is not zero, an x
    /// without a y, and what `checks` rejects. POOL_ERR_BAD_DATA then, with the index of the first bad point
    /// in the message, and nothing is written. POOL_ERR_UNSUPPORTED when the encoding is not defined for the
    /// curve, POOL_ERR_INVALID_ARGUMENT for a stride smaller than an encoded point.
    pub fn pool_points_encode(curve: *const pool_curve, format: *const pool_point_format, points: *const c_void, count: usize, encoding: pool_encoding, stride: usize, encoded: *mut u8) -> pool_status;
    /// Encode and decode `count` points. Encoded points are `stride` bytes apart; 0 means packed, and the
    /// gaps between them are neither read nor written. Decoding is strict: it refuses coordinates that are
    /// not below the modulus, wrong flags, an infinity that is not all zeros, padding that is not zero, an x
    /// without a y, and what `checks` rejects. POOL_ERR_BAD_DATA then, with the index of the first bad point
    /// in the message, and nothing is written. POOL_ERR_UNSUPPORTED when the encoding is not defined for the
    /// curve, POOL_ERR_INVALID_ARGUMENT for a stride smaller than an encoded point.
    pub fn pool_points_decode(curve: *const pool_curve, encoding: pool_encoding, stride: usize, encoded: *const u8, count: usize, checks: u32, format: *const pool_point_format, points: *mut c_void) -> pool_status;
    /// Point addition, scalar multiplication and comparison on the host, one point at a time: for checking
    /// results, not for speed, and not for secrets (time depends on values). The scalar is `scalar_bytes`
    /// little-endian bytes in standard form and need not be below the order. Points are checked to be on the
    /// curve. The result may be written over an argument.
    pub fn pool_point_add(curve: *const pool_curve, format: *const pool_point_format, p: *const c_void, q: *const c_void, sum: *mut c_void) -> pool_status;
    /// Point addition, scalar multiplication and comparison on the host, one point at a time: for checking
    /// results, not for speed, and not for secrets (time depends on values). The scalar is `scalar_bytes`
    /// little-endian bytes in standard form and need not be below the order. Points are checked to be on the
    /// curve. The result may be written over an argument.
    pub fn pool_point_mul(curve: *const pool_curve, format: *const pool_point_format, p: *const c_void, scalar: *const u8, scalar_bytes: usize, product: *mut c_void) -> pool_status;
    /// Point addition, scalar multiplication and comparison on the host, one point at a time: for checking
    /// results, not for speed, and not for secrets (time depends on values). The scalar is `scalar_bytes`
    /// little-endian bytes in standard form and need not be below the order. Points are checked to be on the
    /// curve. The result may be written over an argument.
    pub fn pool_point_equal(curve: *const pool_curve, p_format: *const pool_point_format, p: *const c_void, q_format: *const pool_point_format, q: *const c_void, is_equal: *mut i32) -> pool_status;
    /// Writes the generator in the given format.
    pub fn pool_curve_generator(curve: *const pool_curve, format: *const pool_point_format, point: *mut c_void) -> pool_status;
    /// Generates `count` points of the generator's subgroup; point i depends on the seed, i and the curve
    /// only. Unless `scalars` is NULL it receives `count` packed elements of the scalar field in standard
    /// form such that point i is scalar i times the generator. Points are sums of two entries of small random
    /// tables: cheap to generate, and equivalent to independent points for tests and measurements; not for
    /// secrets.
    pub fn pool_random_points(curve: *const pool_curve, seed: u64, count: usize, format: *const pool_point_format, points: *mut c_void, scalars: *mut c_void) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_ecntt_params_init(params: *mut pool_ecntt_params, struct_size: usize);
    /// Transforms batch * 2^log_size points from `in` to `out`. Each may be in host or device memory, packed
    /// or strided by a multiple of 4 bytes, in every layout of curve.h and either form. Results are
    /// normalised: in all layouts their coordinates are affine ones, with Z, ZZ and ZZZ equal to 1 or, for
    /// infinity, as curve.h says. `out` may be exactly `in` (same data, same stride); any other overlap is an
    /// error. All four orders take the same time.
    pub fn pool_ecntt(params: *const pool_ecntt_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span) -> pool_status;
    /// The exact number of device bytes that pool_ecntt uses for these spans, params and exec: the size of
    /// its workspace, at most exec->memory_limit, unless that is 0. The spans' data is not read and may be
    /// NULL, but for the array of shards. Requires exec->device, or a device that the calling thread has
    /// bound; with exec->device_count writes one number per device.
    pub fn pool_ecntt_workspace(params: *const pool_ecntt_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Compiles the curve's kernels for a device, those of checks included, so that no later call waits for
    /// the compiler. Blocks. Of `exec` cancel, device, lease and timeout_ns.
    pub fn pool_ecntt_warm_up(curve: *const pool_curve, exec: *const pool_exec) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_fri_fold_params_init(params: *mut pool_fri_fold_params, struct_size: usize);
    /// Folds the values of a polynomial f: with f(x) = sum over j < k = 2^log_arity of x^j f_j(x^k), the
    /// results are the values of sum_j challenge^j f_j at the k-th powers of the points (Ben-Sasson and
    /// others, FRI, 2018). A fold by 8 is three folds by 2 with the challenge, its square and its fourth
    /// power; so are plonky2's and Plonky3's, which interpolate.
    pub fn pool_fri_fold(params: *const pool_fri_fold_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span) -> pool_status;
    /// The exact number of device bytes that pool_fri_fold allocates for these arguments: at most
    /// exec->memory_limit, unless that is 0. The spans' data may be NULL; a device is not needed.
    pub fn pool_fri_fold_workspace(params: *const pool_fri_fold_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span, bytes: *mut u64) -> pool_status;
    /// A layer as matrices for pool_matrix_commit, pool_matrix_open and pool_matrix_verify: row i of the tree
    /// has the 2^log_arity values that one fold makes result i from. In bit-reversed order that is one
    /// matrix, whose rows are adjacent values, Plonky3's and plonky2's; in natural order 2^log_arity matrices
    /// of one value per row, for which `matrices` has space. `layer` has a power of two of packed elements of
    /// `field`; its data may be NULL. log_arity is at most 3; 0 has one value per row. Any thread.
    pub fn pool_fri_layer(field: *const pool_field, layer: *const pool_span, log_arity: u32, is_bit_reversed: i32, matrices: *mut pool_matrix, count: *mut u32) -> pool_status;
    /// pool_fri_fold, and pool_matrix_commit to the results as a layer for a fold by 2^next_log_arity. The
    /// set is over the base field of params->field. A call whose results are in host memory is not
    /// asynchronous. Progress is that of the fold and then that of the commitment. The errors are those of
    /// both functions; what can be refused is refused before the fold.
    pub fn pool_fri_fold_commit(params: *const pool_fri_fold_params, next_log_arity: u32, commit: *const pool_matrix_commit_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span, levels: *const pool_span) -> pool_status;
    /// Likewise the most device bytes that it has allocated at a time.
    pub fn pool_fri_fold_commit_workspace(params: *const pool_fri_fold_params, next_log_arity: u32, commit: *const pool_matrix_commit_params, exec: *const pool_exec, r#in: *const pool_span, out: *const pool_span, levels: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_matrix_evaluate_params_init(params: *mut pool_matrix_evaluate_params, struct_size: usize);
    /// Evaluates all columns of a matrix at `count` points z, at least 1 and at most 64: value c of point k,
    /// at index k width + c of `values`, is that of column c. Points and values are packed elements of
    /// params->field in host memory, in standard form. Values at points x_i of the domain, N of them with the
    /// shift s, are interpolated by the barycentric formula (Berrut, Trefethen, "Barycentric Lagrange
    /// Interpolation", SIAM Review 46, 2004), for a coset p(z) = ((z / s)^N - 1) / N * sum_i p(x_i) x_i / (z
    /// - x_i); the factors of the sum are computed once for all columns.
    pub fn pool_matrix_evaluate(params: *const pool_matrix_evaluate_params, exec: *const pool_exec, matrix: *const pool_matrix, points: *const c_void, count: u32, values: *mut c_void) -> pool_status;
    /// The exact number of device bytes that it allocates, as pool_fri_fold_workspace reports it.
    pub fn pool_matrix_evaluate_workspace(params: *const pool_matrix_evaluate_params, exec: *const pool_exec, matrix: *const pool_matrix, count: u32, bytes: *mut u64) -> pool_status;
    /// Row i of `in` becomes row reverse(i) of `out`, which has the same height, width and layout, the same
    /// form, and is exactly `in` or does not overlap it. Both are in memory of the device. Of `exec` device,
    /// stream, is_async and lease are used; nothing is allocated. Any field. Any thread.
    pub fn pool_matrix_bit_reverse(field: *const pool_field, exec: *const pool_exec, r#in: *const pool_matrix, out: *const pool_matrix) -> pool_status;
    /// Compiles the kernels of this header for a device, so that no later call waits for that. Blocks. Of
    /// `exec` cancel, device, lease and timeout_ns.
    pub fn pool_fri_warm_up(field: *const pool_field, exec: *const pool_exec) -> pool_status;
    /// Returns "ptau", "zkey" and so on, or "?" for an unknown value. Static.
    pub fn pool_file_kind_name(kind: pool_file_kind) -> *const c_char;
    /// Initialises params to defaults; struct_size is the caller's sizeof, see version.h. NULL is a no-op.
    pub fn pool_file_params_init(params: *mut pool_file_params, struct_size: usize);
    /// Opens a file, reads its header and checks every count, offset and length against its size. Sections
    /// may be in any order; unknown ones are skipped and logged (POOL_LOG_INFO). Points of a KZG setup are
    /// decoded into memory that the file owns, which takes half a second for 4096 points; they are on their
    /// curve then. `params` may be NULL. The caller destroys the file.
    pub fn pool_file_open(path: *const c_char, params: *const pool_file_params, file: *mut *mut pool_file) -> pool_status;
    /// Unmaps the file and sets *file to NULL. Sections, names and fields of it become invalid. NULL or a
    /// pointer to NULL is a no-op.
    pub fn pool_file_destroy(file: *mut *mut pool_file);
    /// Fills `info`, whose struct_size is set by the caller.
    pub fn pool_file_get_info(file: *const pool_file, info: *mut pool_file_info) -> pool_status;
    /// Finds a section by name:
    pub fn pool_file_get_section(file: *const pool_file, name: *const c_char, section: *mut pool_file_section) -> pool_status;
    /// Returns a section by index, below pool_file_info.sections, in the order above.
    pub fn pool_file_section_at(file: *const pool_file, index: u64, section: *mut pool_file_section) -> pool_status;
    /// Begins to capture the stream. Streams that wait for an event of the capture (pool_stream_fork,
    /// pool_stream_wait_event) become part of it until it ends; work of before the capture is executed as
    /// usual. Other streams and threads are not affected; pool_device_synchronize fails with POOL_ERR_BUSY
    /// meanwhile. Errors: INVALID_ARGUMENT (the stream is being captured, belongs to a lease, is a default
    /// stream, or was created with POOL_STREAM_BLOCKING), UNSUPPORTED (the driver has no graphs).
    pub fn pool_stream_begin_capture(stream: *mut pool_stream) -> pool_status;
    /// Ends the capture that began on the stream, and instantiates the graph, which the caller destroys with
    /// pool_graph_destroy before the pool. With `graph` NULL the capture is abandoned. The capture is over
    /// also after a failure, unless the driver could not end it: then the call can be repeated. Like other
    /// calls that wait, it also reports the failure of work that was enqueued before. Errors:
    /// INVALID_ARGUMENT (no capture began on this stream; a stream of the capture was not joined),
    /// UNSUPPORTED (a call of the capture was refused).
    pub fn pool_stream_end_capture(stream: *mut pool_stream, graph: *mut *mut pool_graph) -> pool_status;
    /// Enqueues the graph's work on a stream of its device; NULL is the default stream. Does not wait.
    /// Errors: WRONG_DEVICE, UNSUPPORTED (the stream is being captured).
    pub fn pool_graph_launch(graph: *mut pool_graph, stream: *mut pool_stream) -> pool_status;
    /// Ends the capture that began on the stream and replaces the graph's arguments and addresses by the
    /// captured ones; launches that are already enqueued are not affected. INVALID_ARGUMENT if the captured
    /// work differs in number, kind or order: the graph is then as before. Other errors as of
    /// pool_stream_end_capture; UNSUPPORTED if the driver is older than CUDA 12.
    pub fn pool_graph_update(graph: *mut pool_graph, stream: *mut pool_stream) -> pool_status;
    /// Destroys the graph and sets *graph to NULL; NULL or a pointer to NULL is a no-op. Launches that are
    /// enqueued are completed. A driver error is returned, and the object is destroyed nevertheless, unless
    /// *graph is still set: then the device's context could not be entered and the call can be repeated.
    pub fn pool_graph_destroy(graph: *mut *mut pool_graph) -> pool_status;
    /// The graph's device; NULL for NULL.
    pub fn pool_graph_device(graph: *const pool_graph) -> *mut pool_device;
    /// Fills `info`, whose struct_size must be set. Loads the libraries unless they are loaded already and
    /// initialises the driver (up to a second). The compiler is the newest NVRTC that compiles a trivial
    /// kernel which the driver loads on its first device; without a device, the newest that compiles it.
    /// Unless the disk cache has the result, this takes a tenth of a second, and a context is created on that
    /// device and released. Returns POOL_OK also when a component is missing, which `info` reports. Any
    /// thread.
    pub fn pool_host_get_info(info: *mut pool_host_info) -> pool_status;
    /// The compiler of the device's kernels: the newest NVRTC whose code the device's driver loads, tried as
    /// by pool_host_get_info. Returns POOL_OK also when there is none, with the status POOL_ERR_NO_COMPILER
    /// and the reason in `compiler`: the library then uses its prebuilt PTX. Fails as other calls do when the
    /// device cannot be used. Any thread.
    pub fn pool_device_get_compiler(device: *mut pool_device, compiler: *mut pool_component) -> pool_status;
    /// Sets the process's callback and the highest level that it receives; NULL disables logging. Any thread.
    /// A call in progress on another thread may still invoke the previous callback.
    pub fn pool_log_set(callback: pool_log_callback, user: *mut c_void, level: pool_log_level);
    /// Passes a message to the callback, if the level is enabled: for libraries above this one. NULL or a
    /// level that does not exist: no-op. Any thread.
    pub fn pool_log_write(level: pool_log_level, message: *const c_char);
    /// Every metric of the pool in one text, which the caller frees with pool_text_free. Names, units and
    /// labels are listed in docs/metrics.md; durations are seconds, sizes bytes, and counters count from the
    /// creation of the pool (compiler and cache: of the process). No driver call is made, except that phases
    /// are collected where pool_set_phase_timing is on; so it also works after a fault, when it reports the
    /// fault. Any thread. POOL_ERR_FORKED in a child process.
    pub fn pool_metrics(pool: *mut device_pool, format: pool_metrics_format, text: *mut *mut c_char) -> pool_status;
    /// 1: the phases of MSM and NTT are timed on the device (devicepool_phase_seconds_total), which costs two
    /// events per phase, some 2 microseconds of the enqueuing thread. 0, the default: they are not. Any
    /// thread, at any time; operations in progress may finish as they began.
    pub fn pool_set_phase_timing(pool: *mut device_pool, is_on: i32) -> pool_status;
    /// Compiles for exactly this device's chip, or takes the binary from the cache in memory or on disk
    /// (cache.h), and loads it. Blocks while NVRTC compiles; threads that need the same binary wait for one
    /// compilation. The caller destroys the module. Errors: POOL_ERR_COMPILE (the message has NVRTC's log
    /// with numbered source lines), POOL_ERR_NO_COMPILER, POOL_ERR_CANCELLED, POOL_ERR_BAD_IMAGE (the driver
    /// is older than NVRTC).
    pub fn pool_module_compile(device: *mut pool_device, params: *const pool_module_params, module: *mut *mut pool_module) -> pool_status;
    /// Compiles without a device or a driver, for files that pool_module_load_file and other programs load:
    /// for chips of `compute_capability` (90 is 9.0). The image comes from the same caches as
    /// pool_module_compile's; *size does not include the NUL that follows it. Name expressions follow it as
    /// comments, so that a loaded image has them too. The caller frees *image with pool_image_free. Errors:
    /// as pool_module_compile, and POOL_ERR_UNSUPPORTED if NVRTC does not know the chip.
    pub fn pool_module_build(params: *const pool_module_params, compute_capability: i32, form: pool_image_form, image: *mut *mut c_void, size: *mut usize) -> pool_status;
    /// Frees the image and sets *image to NULL; NULL or a pointer to NULL is a no-op.
    pub fn pool_image_free(image: *mut *mut c_void);
    /// Loads PTX (`size` with or without the NUL), a cubin or a fatbin. The image is not needed after the
    /// call. The caller destroys the module. The message of POOL_ERR_BAD_IMAGE has the driver's JIT log.
    pub fn pool_module_load(device: *mut pool_device, image: *const c_void, size: usize, module: *mut *mut pool_module) -> pool_status;
    /// The same for a file. POOL_ERR_IO.
    pub fn pool_module_load_file(device: *mut pool_device, path: *const c_char, module: *mut *mut pool_module) -> pool_status;
    /// Unloads the module, destroys its kernels and sets *module to NULL; NULL or a pointer to NULL is a
    /// no-op. The driver's unload blocks until all work of the device has finished; this function does not:
    /// while work is unfinished, or the context cannot be entered, the unload is deferred until the device is
    /// idle, to pool_memory_trim or to pool_destroy. A driver error is returned, and the module is destroyed
    /// nevertheless.
    pub fn pool_module_destroy(module: *mut *mut pool_module) -> pool_status;
    /// The module's device; NULL for NULL.
    pub fn pool_module_device(module: *const pool_module) -> *mut pool_device;
    /// The symbol of a name expression that the module was compiled with, for the driver's own functions; it
    /// lives as long as the module. NULL for other names and for a NULL argument.
    pub fn pool_module_symbol(module: *const pool_module, expression: *const c_char) -> *const c_char;
    /// Address and size in bytes of a __device__ or __constant__ variable.
    pub fn pool_module_variable(module: *mut pool_module, name: *const c_char, address: *mut CUdeviceptr, bytes: *mut u64) -> pool_status;
    /// Raw handles with the types of cuda.h.
    pub fn pool_module_handle(module: *mut pool_module, handle: *mut CUmodule) -> pool_status;
    /// Raw handles with the types of cuda.h.
    pub fn pool_kernel_handle(kernel: *mut pool_kernel, handle: *mut CUfunction) -> pool_status;
    /// Finds a kernel by its name or name expression; the same name returns the same object.
    /// POOL_ERR_NOT_FOUND.
    pub fn pool_kernel_get(module: *mut pool_module, name: *const c_char, kernel: *mut *mut pool_kernel) -> pool_status;
    /// Fills `info`, whose struct_size must be set.
    pub fn pool_kernel_get_info(kernel: *mut pool_kernel, info: *mut pool_kernel_info) -> pool_status;
    /// Offset and size of a parameter in bytes; POOL_ERR_UNSUPPORTED before CUDA 12.4, POOL_ERR_NOT_FOUND
    /// past the last one.
    pub fn pool_kernel_get_parameter(kernel: *mut pool_kernel, index: usize, offset: *mut u64, bytes: *mut u64) -> pool_status;
    /// The share of a multiprocessor's on-chip memory that the kernel would like as shared memory, in
    /// percent, the rest being L1 cache; POOL_CARVEOUT_DEFAULT leaves it to the driver. A hint: the driver
    /// takes the next larger configuration, and what the launch needs in any case. Large dynamic shared
    /// memory needs no call: pool_launch opts in.
    pub fn pool_kernel_set_carveout(kernel: *mut pool_kernel, percent: i32) -> pool_status;
    /// The share of a multiprocessor's on-chip memory that the kernel would like as shared memory, in
    /// percent, the rest being L1 cache; POOL_CARVEOUT_DEFAULT leaves it to the driver. A hint: the driver
    /// takes the next larger configuration, and what the launch needs in any case. Large dynamic shared
    /// memory needs no call: pool_launch opts in.
    pub fn pool_kernel_get_carveout(kernel: *mut pool_kernel, percent: *mut i32) -> pool_status;
    /// The number of blocks of that size that are resident on a multiprocessor at once.
    pub fn pool_kernel_get_occupancy(kernel: *mut pool_kernel, block_threads: u32, dynamic_shared_bytes: u64, blocks_per_multiprocessor: *mut u32) -> pool_status;
    /// The block size with the most resident threads, and the number of blocks that then fill the device.
    pub fn pool_kernel_get_best_block(kernel: *mut pool_kernel, dynamic_shared_bytes: u64, block_threads: *mut u32, blocks: *mut u32) -> pool_status;
    /// Clusters of a launch with this block and these bytes of shared memory, whatever the grid: the number
    /// of blocks of the largest possible cluster, and how many clusters of `shape->cluster` are resident on
    /// the whole device at once (0: such a launch cannot start). Either output may be NULL.
    /// POOL_ERR_UNSUPPORTED as for pool_launch_shape.cluster. Any thread.
    pub fn pool_kernel_get_clusters(kernel: *mut pool_kernel, shape: *const pool_launch_shape, largest: *mut u32, resident: *mut u32) -> pool_status;
    /// Fills `shape`, whose struct_size must be set, for one thread per item: blocks of 256 threads in x.
    /// POOL_ERR_INVALID_ARGUMENT above 2^31−1 blocks. The shape for n = 0 has one block; the kernel must
    /// compare each thread's index with n in any case.
    pub fn pool_launch_shape_for(n: u64, shape: *mut pool_launch_shape) -> pool_status;
    /// Enqueues the kernel on `stream` (NULL: the device's default stream) with `arguments`, an array of
    /// pointers to each argument's value; the values are copied before the call returns. If the driver
    /// reports a kernel's parameters, a wrong number or size of arguments fails with
    /// POOL_ERR_INVALID_ARGUMENT before anything runs. Does not wait; a fault of the kernel shows at a later
    /// call. A stream of another device: POOL_ERR_WRONG_DEVICE. Any thread.
    pub fn pool_launch(kernel: *mut pool_kernel, shape: *const pool_launch_shape, arguments: *mut *mut c_void, stream: *mut pool_stream) -> pool_status;
    /// Compiles and loads modules on every usable device of the pool, in parallel, before the first job needs
    /// them; a later pool_module_compile with the same params finds the binary. The modules stay loaded until
    /// the pool is destroyed or the device has no memory left. Blocks. After a failure the other modules are
    /// still compiled; the first failure is returned. `exec` as for other warm-ups (exec.h), but `device`
    /// NULL, and `exec` NULL, stand for all usable devices.
    pub fn pool_warm_up(pool: *mut device_pool, exec: *const pool_exec, modules: *const pool_module_params, count: usize) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_bases_params_init(params: *mut pool_bases_params, struct_size: usize);
    /// Copies points to a device, converts them and computes the precomputed multiples. Of `exec` it uses
    /// device, stream, checks (POOL_CHECK_ON_CURVE, POOL_CHECK_SUBGROUP), cancel and progress (in points).
    /// Blocks until the bases are complete. Points in host memory are copied in chunks. The caller owns one
    /// reference. Errors: POOL_ERR_INVALID_ARGUMENT (no curve, a stride smaller than a point, misaligned
    /// device memory, unsupported values, count times factor above 2^31 - 1), POOL_ERR_BAD_DATA (a check
    /// failed), POOL_ERR_OUT_OF_DEVICE_MEMORY, POOL_ERR_CANCELLED, POOL_ERR_NOT_BOUND, POOL_ERR_COMPILE, and
    /// those of every device call (status.h).
    pub fn pool_bases_create(params: *const pool_bases_params, exec: *const pool_exec, points: *const pool_span, bases: *mut *mut pool_bases) -> pool_status;
    /// The exact device memory that pool_bases_create and pool_bases_load take with the same arguments:
    /// *bases_bytes until the bases are destroyed (pool_bases_bytes), *bytes at most at a time, the bases
    /// included. The points' data is not read and may be NULL; of a file the header is read. Kernels do not
    /// count. pool_bases_create_workspace requires exec->device, or a device that the calling thread has
    /// bound. Errors: those of the call for the same arguments.
    pub fn pool_bases_create_workspace(params: *const pool_bases_params, exec: *const pool_exec, points: *const pool_span, bases_bytes: *mut u64, bytes: *mut u64) -> pool_status;
    /// The exact device memory that pool_bases_create and pool_bases_load take with the same arguments:
    /// *bases_bytes until the bases are destroyed (pool_bases_bytes), *bytes at most at a time, the bases
    /// included. The points' data is not read and may be NULL; of a file the header is read. Kernels do not
    /// count. pool_bases_create_workspace requires exec->device, or a device that the calling thread has
    /// bound. Errors: those of the call for the same arguments.
    pub fn pool_bases_load_workspace(params: *const pool_bases_params, exec: *const pool_exec, path: *const c_char, bases_bytes: *mut u64, bytes: *mut u64) -> pool_status;
    /// Adds a reference, which pool_bases_destroy releases. Returns NULL for NULL.
    pub fn pool_bases_retain(bases: *mut pool_bases) -> *mut pool_bases;
    /// Releases a reference, frees the memory with the last one, and sets *bases to NULL. The memory is
    /// reused only after the MSMs that are already enqueued. NULL or a pointer to NULL is a no-op.
    pub fn pool_bases_destroy(bases: *mut *mut pool_bases) -> pool_status;
    /// Properties. Return NULL or 0 for NULL. Curve and device are borrowed. Any thread.
    pub fn pool_bases_curve(bases: *const pool_bases) -> *const pool_curve;
    /// Properties. Return NULL or 0 for NULL. Curve and device are borrowed. Any thread.
    pub fn pool_bases_device(bases: *const pool_bases) -> *mut pool_device;
    /// Properties. Return NULL or 0 for NULL. Curve and device are borrowed. Any thread.
    pub fn pool_bases_count(bases: *const pool_bases) -> u64;
    /// Properties. Return NULL or 0 for NULL. Curve and device are borrowed. Any thread. (of device memory)
    pub fn pool_bases_bytes(bases: *const pool_bases) -> u64;
    /// of device memory (as stored)
    pub fn pool_bases_precompute_factor(bases: *const pool_bases) -> u32;
    /// as stored (0 without precomputed multiples)
    pub fn pool_bases_window_bits(bases: *const pool_bases) -> u32;
    /// SHA-256 over the curve's fingerprint, the count and the affine points in standard form: the same for
    /// the same points, independent of their original layout and of the precompute factor. The first call
    /// copies the points back and blocks; the result is stored.
    pub fn pool_bases_fingerprint(bases: *mut pool_bases, fingerprint: *mut u8) -> pool_status;
    /// Finds existing bases on the device by fingerprint and precompute factor, and adds a reference. Only
    /// bases whose fingerprint has been computed or was loaded from a file are found. POOL_ERR_NOT_FOUND
    /// otherwise.
    pub fn pool_bases_find(device: *mut pool_device, fingerprint: *const u8, factor: u32, bases: *mut *mut pool_bases) -> pool_status;
    /// Save writes the bases and their precomputed multiples to a file. An existing file is replaced only
    /// when the new one is complete; until then that is named `path`.<16 random hexadecimal digits>.part. A
    /// process that is killed leaves this file, which the next save to the same path deletes. Blocks.
    pub fn pool_bases_save(bases: *mut pool_bases, path: *const c_char) -> pool_status;
    /// Save writes the bases and their precomputed multiples to a file. An existing file is replaced only
    /// when the new one is complete; until then that is named `path`.<16 random hexadecimal digits>.part. A
    /// process that is killed leaves this file, which the next save to the same path deletes. Blocks.
    pub fn pool_bases_load(params: *const pool_bases_params, exec: *const pool_exec, path: *const c_char, bases: *mut *mut pool_bases) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_msm_params_init(params: *mut pool_msm_params, struct_size: usize);
    /// results[b] = sum over i < n of scalars[b n + i] * points[b n + i] (points[i] with shared_bases) for b
    /// < batch, where n = scalars->count / batch. The result for n = 0 is infinity.
    pub fn pool_msm(params: *const pool_msm_params, exec: *const pool_exec, points: *const pool_span, scalars: *const pool_span, results: *const pool_span) -> pool_status;
    /// The exact number of device bytes that pool_msm uses for these spans, params and exec when they are
    /// available: the size of its workspace. exec->memory_limit bounds it, unless that is 0. The spans' data
    /// is not read and may be NULL. With exec->device_count it sets bytes[i] for device i. For bases that no
    /// device has yet see pool_resident_msm_workspace (resident.h).
    pub fn pool_msm_workspace(params: *const pool_msm_params, exec: *const pool_exec, points: *const pool_span, scalars: *const pool_span, results: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Compiles the curve's kernels for a device, in parallel if the process may use several processors, so
    /// that no later call waits for the compiler, unless it requests affine passes. Blocks. Of `exec` cancel,
    /// device, lease and timeout_ns.
    pub fn pool_msm_warm_up(curve: *const pool_curve, exec: *const pool_exec) -> pool_status;
    /// Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op.
    pub fn pool_resident_params_init(params: *mut pool_resident_params, struct_size: usize);
    /// Registers an object. Nothing is read or allocated on a device yet. Errors: INVALID_ARGUMENT,
    /// OUT_OF_HOST_MEMORY.
    pub fn pool_resident_create(pool: *mut device_pool, params: *const pool_resident_params, resident: *mut *mut pool_resident) -> pool_status;
    /// Releases all copies and sets *resident to NULL; NULL and a pointer to NULL are no-ops. Refused with
    /// POOL_ERR_BUSY while a use is open.
    pub fn pool_resident_destroy(resident: *mut *mut pool_resident) -> pool_status;
    /// Opens a use on exec->device (NULL: the first device of exec->lease, else the device that the thread
    /// has bound), loading the copy if the device has none; threads that ask at once wait for one load. Only
    /// `device`, `stream`, `lease`, `checks` (of bases), `cancel` and `progress` of `exec` are used. Under a
    /// lease the bytes of the copy are charged to its budget for as long as the use is open, whether they had
    /// to be loaded or not, so a request asks for the bytes of what its job uses besides its workspace
    /// (pool_resident_bytes); copies that are POOL_RESIDENT_PINNED are not charged once they are loaded.
    /// Errors: OUT_OF_DEVICE_MEMORY, those of the source.
    pub fn pool_resident_open(resident: *mut pool_resident, exec: *const pool_exec, r#use: *mut *mut pool_resident_use) -> pool_status;
    /// Closes the use and sets *use to NULL; NULL and a pointer to NULL are no-ops. Work that uses the copy
    /// may still be enqueued: its memory is only released after that work.
    pub fn pool_resident_close(r#use: *mut *mut pool_resident_use) -> pool_status;
    /// The copy; it belongs to the object and is valid until the use is closed. NULL where the object is of
    /// the other sort.
    pub fn pool_resident_bases(r#use: *const pool_resident_use) -> *mut pool_bases;
    /// The copy; it belongs to the object and is valid until the use is closed. NULL where the object is of
    /// the other sort.
    pub fn pool_resident_buffer(r#use: *const pool_resident_use) -> *mut pool_buffer;
    /// The most device memory that pool_resident_open with the same `exec` charges to its lease at a time,
    /// where the copy has to be loaded: pool_resident_bytes, and scratch memory for the conversion and the
    /// checks of bases. `exec` needs no lease. Of a file the header is read.
    pub fn pool_resident_open_workspace(resident: *const pool_resident, exec: *const pool_exec, bytes: *mut u64) -> pool_status;
    /// pool_msm_workspace for MSMs over the object's bases, whether a device has a copy of them or not.
    /// params->bases must be NULL. POOL_ERR_INVALID_ARGUMENT: the object is not bases.
    pub fn pool_resident_msm_workspace(resident: *const pool_resident, params: *const pool_msm_params, exec: *const pool_exec, scalars: *const pool_span, results: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Device memory that a copy takes; for bases from a file 0 until the first copy has been loaded.
    pub fn pool_resident_bytes(resident: *const pool_resident) -> u64;
    /// Releases the copy on a device now. POOL_ERR_BUSY while it is in use; no-op where there is none.
    pub fn pool_resident_evict(resident: *mut pool_resident, device: *mut pool_device) -> pool_status;
    /// A copy on a device. Set struct_size before the call.
    pub fn pool_resident_get_info(resident: *mut pool_resident, device: *mut pool_device, info: *mut pool_resident_info) -> pool_status;
    /// Makes driver calls fail. `rules` replaces all earlier rules and restarts their counters; NULL and ""
    /// remove them. Rules that are set before the first simulated pool apply to it; otherwise the environment
    /// variable DEVICEPOOL_SIM_FAULTS supplies them. Rules are separated by ';', and spaces are allowed
    /// around every part:
    pub fn pool_sim_set_faults(rules: *const c_char) -> pool_status;
    /// Completes all work that hangs because of a fault rule.
    pub fn pool_sim_resume() -> pool_status;
    /// Sets the enabled checks (0: none), as `report=` of the device string does. A finding of the first two
    /// ends the launch with CUDA_ERROR_LAUNCH_FAILED, which is sticky as always, and is described by
    /// pool_sim_get_last_fault. POOL_ERR_NOT_FOUND while there is no simulated driver.
    pub fn pool_sim_set_reports(reports: u32) -> pool_status;
    /// Fills `fault`, whose struct_size must be set. The fault is available until the simulated driver starts
    /// again, also after the last pool was destroyed.
    pub fn pool_sim_get_last_fault(fault: *mut pool_sim_fault) -> pool_status;
    /// The name of an instruction class: "integer", "multiply", "float", "global", "shared", "local",
    /// "atomic", "warp", "barrier", "control" for 0 … POOL_SIM_CLASSES-1, else "?". Static.
    pub fn pool_sim_class_name(index: u32) -> *const c_char;
    /// Calls `visit` for each kernel and device in order of first launch until it returns non-zero. The
    /// visitor must not call functions of the library. POOL_ERR_NOT_FOUND without a simulated driver.
    pub fn pool_sim_kernel_stats_each(visit: pool_sim_kernel_visitor, user: *mut c_void) -> pool_status;
    /// Sets all counts to 0. POOL_ERR_NOT_FOUND without a simulated driver.
    pub fn pool_sim_kernel_stats_reset() -> pool_status;
    /// The same as a table or as JSON. The caller frees *text with pool_text_free.
    pub fn pool_sim_kernel_stats_text(format: pool_text_format, text: *mut *mut c_char) -> pool_status;
    /// Lists all live objects: contexts, allocations, pinned and registered host memory, streams, events,
    /// modules, memory pools. *count (may be NULL) receives their number, *text (may be NULL) a list, which
    /// the caller frees with pool_text_free. After the last pool was destroyed the list shows what was alive
    /// at that moment: the leaks.
    pub fn pool_sim_leaks(format: pool_text_format, count: *mut u64, text: *mut *mut c_char) -> pool_status;
    /// Sets the process's hook; NULL removes it. Any thread, at any time. A range that has begun without the
    /// hook ends without it, but the previous hook may still be running on other threads when this returns.
    /// Without a hook and a profiler a range costs one load.
    pub fn pool_trace_set(hook: pool_trace_hook, user: *mut c_void);
    /// Fills `info`, whose struct_size must be set. No driver call. Any thread.
    pub fn pool_device_get_tuning(device: *mut pool_device, info: *mut pool_tuning_info) -> pool_status;
    /// Creates a copy of the numbers that a device uses, for its chip. NULL: the defaults, for every chip; as
    /// pool_params.tuning they turn tuned numbers off. The caller destroys it.
    pub fn pool_tuning_create(device: *mut pool_device, tuning: *mut *mut pool_tuning) -> pool_status;
    /// Sets *tuning to NULL; NULL and a pointer to NULL are no-ops. Pools have their own copy.
    pub fn pool_tuning_destroy(tuning: *mut *mut pool_tuning);
    /// Changes or reads a number. POOL_ERR_NOT_FOUND: no number has this name. POOL_ERR_INVALID_ARGUMENT: the
    /// value is not between min and max of the number.
    pub fn pool_tuning_set(tuning: *mut pool_tuning, name: *const c_char, value: u32) -> pool_status;
    /// Changes or reads a number. POOL_ERR_NOT_FOUND: no number has this name. POOL_ERR_INVALID_ARGUMENT: the
    /// value is not between min and max of the number.
    pub fn pool_tuning_get(tuning: *const pool_tuning, name: *const c_char, value: *mut u32) -> pool_status;
    /// Calls `visit` for each number, in the order of the file, until it returns non-zero.
    pub fn pool_tuning_each(tuning: *const pool_tuning, visit: pool_tuning_visitor, user: *mut c_void) -> pool_status;
    /// Writes the path of the file that pool_create reads for the device's chip to `path`, which has `size`
    /// bytes, whether it exists or not: that of the environment variable DEVICEPOOL_TUNING, or one in the
    /// cache directory. POOL_ERR_UNSUPPORTED, and the message says why: DEVICEPOOL_TUNING=off, or the cache
    /// is disabled.
    pub fn pool_tuning_path(device: *mut pool_device, path: *mut c_char, size: usize) -> pool_status;
    /// Write replaces the file at `path` in one step: there is never a part of a file. NULL: the file that
    /// DEVICEPOOL_TUNING names, or the one in the cache directory, which is created. Read accepts what write
    /// wrote and nothing else. POOL_ERR_INVALID_ARGUMENT: the numbers are for every chip, or contradict each
    /// other. POOL_ERR_BAD_DATA: the file is damaged. POOL_ERR_UNSUPPORTED: another version of the library
    /// wrote it; or, for write without a path, the cache is disabled. POOL_ERR_NOT_FOUND, POOL_ERR_IO.
    pub fn pool_tuning_write(tuning: *const pool_tuning, path: *const c_char) -> pool_status;
    /// Write replaces the file at `path` in one step: there is never a part of a file. NULL: the file that
    /// DEVICEPOOL_TUNING names, or the one in the cache directory, which is created. Read accepts what write
    /// wrote and nothing else. POOL_ERR_INVALID_ARGUMENT: the numbers are for every chip, or contradict each
    /// other. POOL_ERR_BAD_DATA: the file is damaged. POOL_ERR_UNSUPPORTED: another version of the library
    /// wrote it; or, for write without a path, the cache is disabled. POOL_ERR_NOT_FOUND, POOL_ERR_IO.
    pub fn pool_tuning_read(path: *const c_char, tuning: *mut *mut pool_tuning) -> pool_status;
    /// Element by element: out[i] = a[i] + b[i], a[i] - b[i], a[i] b[i].
    pub fn pool_vector_add(field: *const pool_field, exec: *const pool_exec, a: *const pool_span, b: *const pool_span, out: *const pool_span) -> pool_status;
    /// Element by element: out[i] = a[i] + b[i], a[i] - b[i], a[i] b[i].
    pub fn pool_vector_sub(field: *const pool_field, exec: *const pool_exec, a: *const pool_span, b: *const pool_span, out: *const pool_span) -> pool_status;
    /// Element by element: out[i] = a[i] + b[i], a[i] - b[i], a[i] b[i].
    pub fn pool_vector_mul(field: *const pool_field, exec: *const pool_exec, a: *const pool_span, b: *const pool_span, out: *const pool_span) -> pool_status;
    /// out[i] = scalar a[i]. `scalar` is one element in host memory, in standard form.
    pub fn pool_vector_scale(field: *const pool_field, exec: *const pool_exec, scalar: *const c_void, a: *const pool_span, out: *const pool_span) -> pool_status;
    /// out[i] = 1 / a[i]; the inverse of 0 is 0.
    pub fn pool_vector_inverse(field: *const pool_field, exec: *const pool_exec, a: *const pool_span, out: *const pool_span) -> pool_status;
    /// out[reverse(i)] = a[i]; the count must be a power of two. Both spans must have the same form, here and
    /// for the transpose (POOL_ERR_INVALID_ARGUMENT).
    pub fn pool_vector_bit_reverse(field: *const pool_field, exec: *const pool_exec, a: *const pool_span, out: *const pool_span) -> pool_status;
    /// out[c rows + r] = a[r columns + c]: transposes a row-major matrix of `rows` rows. Not in place.
    pub fn pool_vector_transpose(field: *const pool_field, exec: *const pool_exec, rows: u64, columns: u64, a: *const pool_span, out: *const pool_span) -> pool_status;
    /// out[i] = base^i for all i. `base` is one element in host memory, in standard form.
    pub fn pool_vector_powers(field: *const pool_field, exec: *const pool_exec, base: *const c_void, out: *const pool_span) -> pool_status;
    /// value = a[0] + a[1] point + a[2] point^2 + ..., or 0 if `a` has no elements. `point` and `value` are
    /// single elements in host memory, in standard form. Waits for the result also with is_async.
    pub fn pool_vector_evaluate(field: *const pool_field, exec: *const pool_exec, a: *const pool_span, point: *const c_void, value: *mut c_void) -> pool_status;
    /// The exact number of device bytes that a call of the operation's function with these spans and exec
    /// allocates: at most exec->memory_limit, unless that is 0. Spans that the function does not have are
    /// NULL, and `b` is `a` where the call passes one span as both. The spans' data is not read and may be
    /// NULL; a device is not needed. Kernels that the first call loads do not count. Errors: those of the
    /// call for its spans and exec.
    pub fn pool_vector_workspace(field: *const pool_field, exec: *const pool_exec, operation: pool_vector_operation, a: *const pool_span, b: *const pool_span, out: *const pool_span, bytes: *mut u64) -> pool_status;
    /// Compiles the field's vector kernels for a device, so that no later call waits for that. Blocks. Of
    /// `exec` cancel, device, lease and timeout_ns.
    pub fn pool_vector_warm_up(field: *const pool_field, exec: *const pool_exec) -> pool_status;
    /// The granularity of sizes and offsets on the device, in bytes; a power of two.
    pub fn pool_virtual_granularity(device: *mut pool_device, bytes: *mut u64) -> pool_status;
    /// Allocates at least `bytes` bytes of the device's memory, with undefined contents. When the device is
    /// full or the memory limit is reached, unused memory is released and resident objects are evicted as for
    /// a buffer. Errors: INVALID_ARGUMENT (0 bytes, an unknown flag), OUT_OF_DEVICE_MEMORY, UNSUPPORTED.
    pub fn pool_physical_create(device: *mut pool_device, bytes: u64, flags: u32, physical: *mut *mut pool_physical) -> pool_status;
    /// A POSIX file descriptor of memory that was created with POOL_PHYSICAL_EXPORTABLE, for another process
    /// (by SCM_RIGHTS or fork) or for another pool. It is close-on-exec; the caller closes it. The memory
    /// exists as long as a descriptor, a handle or a mapping does, in any process. Who has the descriptor can
    /// read and write the memory. Errors: INVALID_ARGUMENT (not exportable).
    pub fn pool_physical_export(physical: *mut pool_physical, descriptor: *mut c_int) -> pool_status;
    /// Memory that was exported by the same kind of driver. `device` is the device that it was created on, as
    /// this process numbers it, and `bytes` is its pool_physical_bytes: the driver reports neither. The
    /// descriptor stays the caller's and can be closed after the call. Errors: INVALID_ARGUMENT (no
    /// descriptor of exported memory).
    pub fn pool_physical_import(device: *mut pool_device, descriptor: c_int, bytes: u64, physical: *mut *mut pool_physical) -> pool_status;
    /// Destroys the handle and sets *physical to NULL; NULL or a pointer to NULL is a no-op. The memory is
    /// released when it is mapped nowhere any more. Errors as for pool_stream_destroy.
    pub fn pool_physical_destroy(physical: *mut *mut pool_physical) -> pool_status;
    /// The size and the device; 0 or NULL for NULL.
    pub fn pool_physical_bytes(physical: *const pool_physical) -> u64;
    /// The size and the device; 0 or NULL for NULL.
    pub fn pool_physical_device(physical: *const pool_physical) -> *mut pool_device;
    /// The raw handle, which the library releases.
    pub fn pool_physical_handle(physical: *const pool_physical, handle: *mut CUmemGenericAllocationHandle) -> pool_status;
    /// Reserves at least `bytes` bytes of addresses, without memory: far more than the device has is no
    /// problem. Errors: INVALID_ARGUMENT (0 bytes), OUT_OF_DEVICE_MEMORY (no such range of addresses is
    /// free), UNSUPPORTED.
    pub fn pool_range_reserve(device: *mut pool_device, bytes: u64, range: *mut *mut pool_range) -> pool_status;
    /// Maps all of `physical` at byte `offset` of the range. The range's device, and the devices of
    /// pool_range_grant_access, can read and write it when the call returns. The same memory may be mapped
    /// several times. Memory of another device can be mapped if the range's device can address it
    /// (pool_device_get_peer). Errors: INVALID_ARGUMENT (`offset` is no multiple of the granularity, beyond
    /// the range, or mapped already), WRONG_DEVICE (of another driver), UNSUPPORTED.
    pub fn pool_range_map(range: *mut pool_range, offset: u64, physical: *mut pool_physical) -> pool_status;
    /// Ends the mappings in the `bytes` bytes from `offset`, which are multiples of the granularity; a
    /// mapping must not be partly inside. Waits for the work of the devices that can address the range. Work
    /// on raw streams that the library does not know must have finished. Errors: BUSY (a buffer of
    /// pool_range_buffer overlaps these addresses; nothing was unmapped), INVALID_ARGUMENT.
    pub fn pool_range_unmap(range: *mut pool_range, offset: u64, bytes: u64) -> pool_status;
    /// Lets further devices address the range: its present and later mappings. The range's own device always
    /// can. Valid until the range is destroyed; a device that has access already is a no-op, as is count 0.
    /// Errors: UNSUPPORTED (a device cannot address memory that is mapped, or is in another worker process),
    /// WRONG_DEVICE (of another driver). After a failure no device was added.
    pub fn pool_range_grant_access(range: *mut pool_range, devices: *const *mut pool_device, count: usize) -> pool_status;
    /// A buffer of the mapped addresses from `offset`, in whole bytes. It does not own memory: destroying it
    /// is cheap and does not wait, and while it exists its addresses cannot be unmapped. Buffers of a range
    /// may overlap; one of more bytes takes the place of a smaller one when the range has grown. Errors:
    /// INVALID_ARGUMENT (beyond the range, not mapped).
    pub fn pool_range_buffer(range: *mut pool_range, offset: u64, bytes: u64, buffer: *mut *mut pool_buffer) -> pool_status;
    /// Ends all mappings, as pool_range_unmap does, releases the addresses and sets *range to NULL; NULL or a
    /// pointer to NULL is a no-op. POOL_ERR_BUSY while a buffer of the range exists. If the driver fails to
    /// wait for the work or to unmap, the range remains (*range is not NULL) and the call can be repeated.
    /// After a sticky fault, in a forked child, for a lost device and at process exit only host memory is
    /// freed.
    pub fn pool_range_destroy(range: *mut *mut pool_range) -> pool_status;
    /// The first address, for kernels and raw driver calls; the size; the device (0 or NULL for NULL).
    pub fn pool_range_address(range: *const pool_range, address: *mut CUdeviceptr) -> pool_status;
    /// The first address, for kernels and raw driver calls; the size; the device (0 or NULL for NULL).
    pub fn pool_range_bytes(range: *const pool_range) -> u64;
    /// The first address, for kernels and raw driver calls; the size; the device (0 or NULL for NULL).
    pub fn pool_range_device(range: *const pool_range) -> *mut pool_device;
    /// The bytes that are mapped; 0 for NULL and in a forked child.
    pub fn pool_range_mapped_bytes(range: *const pool_range) -> u64;
}
