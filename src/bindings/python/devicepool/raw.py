# Written by src/bindings/generate.py from the headers: do not edit.
"""The whole API of libdevicepool for ctypes; the names are those of C."""
from ctypes import (CDLL, CFUNCTYPE, POINTER, Structure, Union, c_char, c_char_p, c_double, c_int8, c_int16,
                    c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)

VERSION = "0.1.0"

POOL_OK = 0
POOL_ERR_INVALID_ARGUMENT = -1
POOL_ERR_OUT_OF_HOST_MEMORY = -2
POOL_ERR_OUT_OF_DEVICE_MEMORY = -3
POOL_ERR_NOT_FOUND = -4
POOL_ERR_NOT_BOUND = -5
POOL_ERR_WRONG_DEVICE = -6
POOL_ERR_BUSY = -7
POOL_ERR_NOT_READY = -8
POOL_ERR_TIMEOUT = -9
POOL_ERR_CANCELLED = -10
POOL_ERR_UNSUPPORTED = -11
POOL_ERR_COMPILE = -12
POOL_ERR_BAD_IMAGE = -13
POOL_ERR_BAD_DATA = -14
POOL_ERR_IO = -15
POOL_ERR_UNBALANCED = -16
POOL_ERR_DRIVER = -17
POOL_ERR_DEVICE_UNUSABLE = -100
POOL_ERR_DEVICE_LOST = -101
POOL_ERR_NO_DRIVER = -200
POOL_ERR_DRIVER_TOO_OLD = -201
POOL_ERR_NO_DEVICE = -202
POOL_ERR_NO_COMPILER = -203
POOL_ERR_PROCESS_POISONED = -300
POOL_ERR_FORKED = -301
POOL_ERR_SHUTDOWN = -302
POOL_ERR_INTERNAL = -400
POOL_CLASS_NONE = 0
POOL_CLASS_CALL = 1
POOL_CLASS_DEVICE = 2
POOL_CLASS_HOST = 3
POOL_CLASS_PROCESS = 4
POOL_CLASS_INTERNAL = 5
POOL_TEXT_PLAIN = 0
POOL_TEXT_JSON = 1
POOL_CU_SUCCESS = 0
POOL_CU_INVALID_VALUE = 1
POOL_CU_OUT_OF_MEMORY = 2
POOL_CU_NOT_INITIALIZED = 3
POOL_CU_DEINITIALIZED = 4
POOL_CU_PROFILER_DISABLED = 5
POOL_CU_PROFILER_NOT_INITIALIZED = 6
POOL_CU_PROFILER_ALREADY_STARTED = 7
POOL_CU_PROFILER_ALREADY_STOPPED = 8
POOL_CU_STUB_LIBRARY = 34
POOL_CU_CALL_REQUIRES_NEWER_DRIVER = 36
POOL_CU_DEVICE_UNAVAILABLE = 46
POOL_CU_NO_DEVICE = 100
POOL_CU_INVALID_DEVICE = 101
POOL_CU_DEVICE_NOT_LICENSED = 102
POOL_CU_INVALID_IMAGE = 200
POOL_CU_INVALID_CONTEXT = 201
POOL_CU_CONTEXT_ALREADY_CURRENT = 202
POOL_CU_MAP_FAILED = 205
POOL_CU_UNMAP_FAILED = 206
POOL_CU_ARRAY_IS_MAPPED = 207
POOL_CU_ALREADY_MAPPED = 208
POOL_CU_NO_BINARY_FOR_GPU = 209
POOL_CU_ALREADY_ACQUIRED = 210
POOL_CU_NOT_MAPPED = 211
POOL_CU_NOT_MAPPED_AS_ARRAY = 212
POOL_CU_NOT_MAPPED_AS_POINTER = 213
POOL_CU_ECC_UNCORRECTABLE = 214
POOL_CU_UNSUPPORTED_LIMIT = 215
POOL_CU_CONTEXT_ALREADY_IN_USE = 216
POOL_CU_PEER_ACCESS_UNSUPPORTED = 217
POOL_CU_INVALID_PTX = 218
POOL_CU_INVALID_GRAPHICS_CONTEXT = 219
POOL_CU_NVLINK_UNCORRECTABLE = 220
POOL_CU_JIT_COMPILER_NOT_FOUND = 221
POOL_CU_UNSUPPORTED_PTX_VERSION = 222
POOL_CU_JIT_COMPILATION_DISABLED = 223
POOL_CU_UNSUPPORTED_EXEC_AFFINITY = 224
POOL_CU_UNSUPPORTED_DEVSIDE_SYNC = 225
POOL_CU_CONTAINED = 226
POOL_CU_INVALID_SOURCE = 300
POOL_CU_FILE_NOT_FOUND = 301
POOL_CU_SHARED_OBJECT_SYMBOL_NOT_FOUND = 302
POOL_CU_SHARED_OBJECT_INIT_FAILED = 303
POOL_CU_OPERATING_SYSTEM = 304
POOL_CU_INVALID_HANDLE = 400
POOL_CU_ILLEGAL_STATE = 401
POOL_CU_LOSSY_QUERY = 402
POOL_CU_NOT_FOUND = 500
POOL_CU_NOT_READY = 600
POOL_CU_ILLEGAL_ADDRESS = 700
POOL_CU_LAUNCH_OUT_OF_RESOURCES = 701
POOL_CU_LAUNCH_TIMEOUT = 702
POOL_CU_LAUNCH_INCOMPATIBLE_TEXTURING = 703
POOL_CU_PEER_ACCESS_ALREADY_ENABLED = 704
POOL_CU_PEER_ACCESS_NOT_ENABLED = 705
POOL_CU_PRIMARY_CONTEXT_ACTIVE = 708
POOL_CU_CONTEXT_IS_DESTROYED = 709
POOL_CU_ASSERT = 710
POOL_CU_TOO_MANY_PEERS = 711
POOL_CU_HOST_MEMORY_ALREADY_REGISTERED = 712
POOL_CU_HOST_MEMORY_NOT_REGISTERED = 713
POOL_CU_HARDWARE_STACK_ERROR = 714
POOL_CU_ILLEGAL_INSTRUCTION = 715
POOL_CU_MISALIGNED_ADDRESS = 716
POOL_CU_INVALID_ADDRESS_SPACE = 717
POOL_CU_INVALID_PC = 718
POOL_CU_LAUNCH_FAILED = 719
POOL_CU_COOPERATIVE_LAUNCH_TOO_LARGE = 720
POOL_CU_TENSOR_MEMORY_LEAK = 721
POOL_CU_NOT_PERMITTED = 800
POOL_CU_NOT_SUPPORTED = 801
POOL_CU_SYSTEM_NOT_READY = 802
POOL_CU_SYSTEM_DRIVER_MISMATCH = 803
POOL_CU_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804
POOL_CU_MPS_CONNECTION_FAILED = 805
POOL_CU_MPS_RPC_FAILURE = 806
POOL_CU_MPS_SERVER_NOT_READY = 807
POOL_CU_MPS_MAX_CLIENTS_REACHED = 808
POOL_CU_MPS_MAX_CONNECTIONS_REACHED = 809
POOL_CU_MPS_CLIENT_TERMINATED = 810
POOL_CU_CDP_NOT_SUPPORTED = 811
POOL_CU_CDP_VERSION_MISMATCH = 812
POOL_CU_STREAM_CAPTURE_UNSUPPORTED = 900
POOL_CU_STREAM_CAPTURE_INVALIDATED = 901
POOL_CU_STREAM_CAPTURE_MERGE = 902
POOL_CU_STREAM_CAPTURE_UNMATCHED = 903
POOL_CU_STREAM_CAPTURE_UNJOINED = 904
POOL_CU_STREAM_CAPTURE_ISOLATION = 905
POOL_CU_STREAM_CAPTURE_IMPLICIT = 906
POOL_CU_CAPTURED_EVENT = 907
POOL_CU_STREAM_CAPTURE_WRONG_THREAD = 908
POOL_CU_TIMEOUT = 909
POOL_CU_GRAPH_EXEC_UPDATE_FAILURE = 910
POOL_CU_EXTERNAL_DEVICE = 911
POOL_CU_INVALID_CLUSTER_SIZE = 912
POOL_CU_FUNCTION_NOT_LOADED = 913
POOL_CU_INVALID_RESOURCE_TYPE = 914
POOL_CU_INVALID_RESOURCE_CONFIGURATION = 915
POOL_CU_KEY_ROTATION = 916
POOL_CU_UNKNOWN = 999
POOL_CU_CODE_MAX = 2147483647
POOL_CU_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1
POOL_CU_ATTRIBUTE_MAX_BLOCK_DIM_X = 2
POOL_CU_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3
POOL_CU_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4
POOL_CU_ATTRIBUTE_MAX_GRID_DIM_X = 5
POOL_CU_ATTRIBUTE_MAX_GRID_DIM_Y = 6
POOL_CU_ATTRIBUTE_MAX_GRID_DIM_Z = 7
POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8
POOL_CU_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9
POOL_CU_ATTRIBUTE_WARP_SIZE = 10
POOL_CU_ATTRIBUTE_MAX_PITCH = 11
POOL_CU_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12
POOL_CU_ATTRIBUTE_CLOCK_RATE = 13
POOL_CU_ATTRIBUTE_TEXTURE_ALIGNMENT = 14
POOL_CU_ATTRIBUTE_GPU_OVERLAP = 15
POOL_CU_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16
POOL_CU_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = 17
POOL_CU_ATTRIBUTE_INTEGRATED = 18
POOL_CU_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19
POOL_CU_ATTRIBUTE_COMPUTE_MODE = 20
POOL_CU_ATTRIBUTE_SURFACE_ALIGNMENT = 30
POOL_CU_ATTRIBUTE_CONCURRENT_KERNELS = 31
POOL_CU_ATTRIBUTE_ECC_ENABLED = 32
POOL_CU_ATTRIBUTE_PCI_BUS_ID = 33
POOL_CU_ATTRIBUTE_PCI_DEVICE_ID = 34
POOL_CU_ATTRIBUTE_MEMORY_CLOCK_RATE = 36
POOL_CU_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37
POOL_CU_ATTRIBUTE_L2_CACHE_SIZE = 38
POOL_CU_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39
POOL_CU_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40
POOL_CU_ATTRIBUTE_UNIFIED_ADDRESSING = 41
POOL_CU_ATTRIBUTE_PCI_DOMAIN_ID = 50
POOL_CU_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT = 51
POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
POOL_CU_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED = 78
POOL_CU_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED = 79
POOL_CU_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED = 80
POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81
POOL_CU_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82
POOL_CU_ATTRIBUTE_MANAGED_MEMORY = 83
POOL_CU_ATTRIBUTE_MULTI_GPU_BOARD = 84
POOL_CU_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID = 85
POOL_CU_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED = 86
POOL_CU_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO = 87
POOL_CU_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88
POOL_CU_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89
POOL_CU_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED = 90
POOL_CU_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91
POOL_CU_ATTRIBUTE_COOPERATIVE_LAUNCH = 95
POOL_CU_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH = 96
POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
POOL_CU_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES = 98
POOL_CU_ATTRIBUTE_HOST_REGISTER_SUPPORTED = 99
POOL_CU_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 100
POOL_CU_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST = 101
POOL_CU_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED = 102
POOL_CU_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103
POOL_CU_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106
POOL_CU_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED = 107
POOL_CU_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE = 108
POOL_CU_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE = 109
POOL_CU_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED = 110
POOL_CU_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111
POOL_CU_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED = 113
POOL_CU_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115
POOL_CU_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED = 116
POOL_CU_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS = 117
POOL_CU_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING = 118
POOL_CU_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES = 119
POOL_CU_ATTRIBUTE_CLUSTER_LAUNCH = 120
POOL_CU_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS = 122
POOL_CU_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR = 123
POOL_CU_ATTRIBUTE_DMA_BUF_SUPPORTED = 124
POOL_CU_ATTRIBUTE_IPC_EVENT_SUPPORTED = 125
POOL_CU_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT = 126
POOL_CU_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED = 128
POOL_CU_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS = 129
POOL_CU_ATTRIBUTE_NUMA_CONFIG = 130
POOL_CU_ATTRIBUTE_NUMA_ID = 131
POOL_CU_ATTRIBUTE_MULTICAST_SUPPORTED = 132
POOL_CU_ATTRIBUTE_MPS_ENABLED = 133
POOL_CU_ATTRIBUTE_HOST_NUMA_ID = 134
POOL_CU_ATTRIBUTE_GPU_PCI_DEVICE_ID = 139
POOL_CU_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID = 140
POOL_CU_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 141
POOL_CU_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED = 142
POOL_CU_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED = 143
POOL_CU_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED = 144
POOL_CU_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 145
POOL_CU_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED = 146
POOL_CU_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED = 147
POOL_CU_ATTRIBUTE_LIMIT = 2147483647
POOL_CUDA_PTX_ONLY = 1
POOL_CUDA_ISOLATED_DEVICES = 2
POOL_DEVICE_READY = 0
POOL_DEVICE_UNUSABLE = 1
POOL_DEVICE_POISONED = 2
POOL_DEVICE_DRAINING = 3
POOL_DEVICE_QUARANTINED = 4
POOL_DEVICE_ABANDONED = 5
POOL_LIMIT_STACK = 0
POOL_LIMIT_PRINTF = 1
POOL_LIMIT_HEAP = 2
POOL_CONTEXT_PRIMARY = 0
POOL_CONTEXT_OWN = 1
POOL_CONTEXT_ADOPT = 2
POOL_ISOLATION_NONE = 0
POOL_ISOLATION_WORKERS = 1
POOL_POLICY_ROUND_ROBIN = 0
POOL_POLICY_MOST_FREE = 1
POOL_POLICY_LEAST_LOADED = 2
POOL_POLICY_SCORE = 3
POOL_SETTING_DEFAULT = 0
POOL_SETTING_FILE = 1
POOL_SETTING_ENVIRONMENT = 2
POOL_STREAM_BLOCKING = 1
POOL_EVENT_TIMING = 1
POOL_EVENT_SLEEP = 2
POOL_EVENT_SHAREABLE = 4
POOL_LEASE_SECRET = 1
POOL_FORM_STANDARD = 0
POOL_FORM_MONTGOMERY = 1
POOL_MEMORY_HOST = 0
POOL_MEMORY_DEVICE = 1
POOL_MEMORY_SHARDED = 2
POOL_CHECK_NONE = 0
POOL_CHECK_CANONICAL = 1
POOL_CHECK_ON_CURVE = 2
POOL_CHECK_SUBGROUP = 6
POOL_CHECK_REDUCE = 8
POOL_BUFFER_ZEROED = 1
POOL_BUFFER_SECRET = 2
POOL_BUFFER_DURABLE = 4
POOL_BUFFER_SHAREABLE = 8
POOL_PINNED_SECRET = 1
POOL_PINNED_WRITE_COMBINED = 2
POOL_LITTLE_ENDIAN = 0
POOL_BIG_ENDIAN = 1
POOL_DECIMAL = 0
POOL_HEXADECIMAL = 1
POOL_NTT_FORWARD = 0
POOL_NTT_INVERSE = 1
POOL_NTT_NN = 0
POOL_NTT_NR = 1
POOL_NTT_RN = 2
POOL_NTT_RR = 3
POOL_NTT_ROWS = 0
POOL_NTT_COLUMNS = 1
POOL_POSEIDON = 0
POOL_POSEIDON2 = 1
POOL_SPONGE_ADD = 0
POOL_SPONGE_OVERWRITE = 1
POOL_SPONGE_PAD_NONE = 0
POOL_SPONGE_PAD_10 = 1
POOL_SPONGE_PAD_ZERO = 2
POOL_MATRIX_COLUMNS = 0
POOL_MATRIX_ROWS = 1
POOL_POINT_AFFINE = 0
POOL_POINT_AFFINE_FLAG = 1
POOL_POINT_JACOBIAN = 2
POOL_POINT_PROJECTIVE = 3
POOL_POINT_XYZZ = 4
POOL_ENCODING_ZCASH_COMPRESSED = 0
POOL_ENCODING_ZCASH_UNCOMPRESSED = 1
POOL_ENCODING_EIP196 = 2
POOL_ENCODING_EIP2537 = 3
POOL_ENCODING_GNARK_COMPRESSED = 4
POOL_ENCODING_ARKWORKS_COMPRESSED = 5
POOL_ENCODING_ARKWORKS_UNCOMPRESSED = 6
POOL_FILE_ANY = 0
POOL_FILE_RAW = 1
POOL_FILE_PTAU = 2
POOL_FILE_ZKEY = 3
POOL_FILE_WTNS = 4
POOL_FILE_R1CS = 5
POOL_FILE_KZG = 6
POOL_FILE_POINTS = 0
POOL_FILE_ELEMENTS = 1
POOL_FILE_COEFFICIENTS = 2
POOL_LOG_NONE = 0
POOL_LOG_ERROR = 1
POOL_LOG_WARN = 2
POOL_LOG_INFO = 3
POOL_LOG_DEBUG = 4
POOL_METRICS_PROMETHEUS = 0
POOL_METRICS_JSON = 1
POOL_IMAGE_CUBIN = 0
POOL_IMAGE_PTX = 1
POOL_RESIDENT_PINNED = 1
POOL_SIM_REPORT_UNINITIALISED = 1
POOL_SIM_REPORT_BARRIER = 2
POOL_SIM_REPORT_LEAK = 4
POOL_SIM_REPORT_RACES = 8
POOL_SIM_REPORT_PROFILE = 16
POOL_SIM_REPORT_UNWRITTEN = 32
POOL_TRACE_OPERATION = 0
POOL_TRACE_PHASE = 1
POOL_TRACE_COPY = 2
POOL_TRACE_COMPILE = 3
POOL_TRACE_LOAD = 4
POOL_TRACE_LEASE_WAIT = 5
POOL_TUNING_DEFAULT = 0
POOL_TUNING_FILE = 1
POOL_TUNING_GIVEN = 2
POOL_VECTOR_ADD = 0
POOL_VECTOR_SUB = 1
POOL_VECTOR_MUL = 2
POOL_VECTOR_SCALE = 3
POOL_VECTOR_INVERSE = 4
POOL_VECTOR_BIT_REVERSE = 5
POOL_VECTOR_TRANSPOSE = 6
POOL_VECTOR_POWERS = 7
POOL_VECTOR_EVALUATE = 8
POOL_PHYSICAL_EXPORTABLE = 1
POOL_UUID_TEXT = 48
POOL_PCI_TEXT = 24
POOL_MAX_RATE = 68719476736
POOL_ECNTT_MAX_LOG_SIZE = 32
POOL_FIELD_MAX_BITS = 768
POOL_FIELD_MAX_BYTES = 96
POOL_FINGERPRINT_BYTES = 32
POOL_FIELD_STRING_BYTES = 240
POOL_FRI_MAX_ARITY = 8
POOL_FILE_COEFFICIENT_ELEMENT = 12
POOL_LEASE_AGING_NS = 60000000000
POOL_LEASE_PRIORITY_MAX = 1000
POOL_LEASE_LABEL_BYTES = 64
POOL_LEASE_SLOTS = 4
POOL_WAIT_FOREVER = 18446744073709551615
POOL_CARVEOUT_DEFAULT = -1
POOL_CACHE_KEY_TEXT = 65
POOL_PRECOMPUTE_ALL = 4294967295
POOL_PRECOMPUTE_AUTO = 4294967294
POOL_AFFINE_NONE = 4294967295
POOL_MSM_MAX_TERMS = 64
POOL_NTT_MAX_LOG_SIZE = 40
POOL_NTT_MAX_LOG_BLOWUP = 4
POOL_SLICE_NS = 2000000
POOL_SHARED_SLICE_NS = 500000
POOL_POSEIDON_MAX_WIDTH = 64
POOL_RESIDENT_NAME_BYTES = 64
POOL_SIM_CLASSES = 10
POOL_VERSION_MAJOR = 0
POOL_VERSION_MINOR = 1
POOL_VERSION_PATCH = 0
POOL_VERSION_NUMBER = 100


class pool_error(Structure):
    SIZE = 32


class pool_error_slot(Structure):
    SIZE = 1232


class pool_cu_uuid(Structure):
    SIZE = 16


class pool_cu_mem_location(Structure):
    SIZE = 8


class pool_cu_mem_pool_props(Structure):
    SIZE = 88


class pool_cu_mem_access(Structure):
    SIZE = 12


class pool_cu_mem_allocation_prop(Structure):
    SIZE = 32


class pool_cu_ipc_handle(Structure):
    SIZE = 64


class pool_cu_copy_side(Structure):
    SIZE = 56


class pool_cu_copy_2d(Structure):
    SIZE = 128


class pool_cu_launch_attribute_value(Union):
    SIZE = 64


class pool_cu_launch_attribute(Structure):
    SIZE = 72


class pool_cu_launch_config(Structure):
    SIZE = 56


class pool_cu_graph_update(Structure):
    SIZE = 24


class pool_cu_dev_resource(Structure):
    SIZE = 144


class pool_cuda_api(Structure):
    SIZE = 1104


class pool_device_info(Structure):
    SIZE = 616


class pool_peer_info(Structure):
    SIZE = 24


class pool_component(Structure):
    SIZE = 1288


class pool_host_info(Structure):
    SIZE = 2584


class pool_fault_kernel(Structure):
    SIZE = 40


class pool_fault(Structure):
    SIZE = 56


class pool_params(Structure):
    SIZE = 200


class pool_candidate(Structure):
    SIZE = 64


class pool_pick(Structure):
    SIZE = 48


class pool_health_info(Structure):
    SIZE = 1152


class pool_setting(Structure):
    SIZE = 56


class pool_stream_params(Structure):
    SIZE = 16


class pool_shared_event(Structure):
    SIZE = 64


class pool_request(Structure):
    SIZE = 96


class pool_lease_info(Structure):
    SIZE = 128


class pool_lease_usage(Structure):
    SIZE = 40


class pool_lease_counts(Structure):
    SIZE = 56


class pool_span(Structure):
    SIZE = 32


class pool_buffer_params(Structure):
    SIZE = 40


class pool_shared_buffer(Structure):
    SIZE = 80


class pool_pitched(Structure):
    SIZE = 32


class pool_memory_info(Structure):
    SIZE = 200


class pool_exec(Structure):
    SIZE = 136


class pool_field_params(Structure):
    SIZE = 40


class pool_ntt_domain_params(Structure):
    SIZE = 48


class pool_ntt_params(Structure):
    SIZE = 40


class pool_ntt_extend_params(Structure):
    SIZE = 40


class pool_poseidon_params(Structure):
    SIZE = 144


class pool_poseidon_sponge_params(Structure):
    SIZE = 40


class pool_merkle_params(Structure):
    SIZE = 40


class pool_merkle_shape(Structure):
    SIZE = 40


class pool_matrix(Structure):
    SIZE = 48


class pool_matrix_commit_params(Structure):
    SIZE = 40


class pool_matrix_commit_shape(Structure):
    SIZE = 48


class pool_extension(Structure):
    SIZE = 72


class pool_curve_params(Structure):
    SIZE = 120


class pool_point_format(Structure):
    SIZE = 16


class pool_ecntt_params(Structure):
    SIZE = 56


class pool_fri_fold_params(Structure):
    SIZE = 48


class pool_matrix_evaluate_params(Structure):
    SIZE = 32


class pool_file_params(Structure):
    SIZE = 40


class pool_file_info(Structure):
    SIZE = 160


class pool_file_section(Structure):
    SIZE = 96


class pool_log_record(Structure):
    SIZE = 48


class pool_module_header(Structure):
    SIZE = 16


class pool_module_arithmetic(Structure):
    SIZE = 32


class pool_module_params(Structure):
    SIZE = 120


class pool_kernel_info(Structure):
    SIZE = 64


class pool_launch_shape(Structure):
    SIZE = 80


class pool_cache_entry(Structure):
    SIZE = 176


class pool_pack_info(Structure):
    SIZE = 1064


class pool_pack_params(Structure):
    SIZE = 80


class pool_bases_params(Structure):
    SIZE = 48


class pool_msm_params(Structure):
    SIZE = 80


class pool_msm_term(Structure):
    SIZE = 56


class pool_msm_joint_params(Structure):
    SIZE = 24


class pool_resident_params(Structure):
    SIZE = 72


class pool_resident_info(Structure):
    SIZE = 112


class pool_sim_fault(Structure):
    SIZE = 1168


class pool_sim_kernel_stats(Structure):
    SIZE = 144


class pool_trace_event(Structure):
    SIZE = 72


class pool_tuning_info(Structure):
    SIZE = 528


class pool_tuning_number(Structure):
    SIZE = 48


pool_cu_host_function = CFUNCTYPE(None, c_void_p)
pool_cu_block_to_shared = CFUNCTYPE(c_uint64, c_int32)
pool_fault_hook = CFUNCTYPE(None, c_void_p, POINTER(pool_fault))
pool_params_host_memory = CFUNCTYPE(c_uint64, c_void_p)
pool_device_visitor = CFUNCTYPE(c_int32, c_void_p, c_void_p)
pool_pick_filter = CFUNCTYPE(c_int32, c_void_p, POINTER(pool_candidate))
pool_pick_score = CFUNCTYPE(c_double, c_void_p, POINTER(pool_candidate))
pool_task = CFUNCTYPE(c_int32, c_void_p, c_void_p)
pool_host_task = CFUNCTYPE(None, c_void_p)
pool_grant_hook = CFUNCTYPE(None, c_void_p, c_void_p)
pool_exec_progress = CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)
pool_log_callback = CFUNCTYPE(None, c_void_p, POINTER(pool_log_record))
pool_cache_visitor = CFUNCTYPE(c_int32, c_void_p, POINTER(pool_cache_entry))
pool_pack_progress = CFUNCTYPE(c_int32, c_void_p, c_char_p, c_uint64)
pool_resident_source = CFUNCTYPE(c_int32, c_void_p, POINTER(pool_exec), POINTER(c_void_p))
pool_sim_kernel_visitor = CFUNCTYPE(c_int32, c_void_p, POINTER(pool_sim_kernel_stats))
pool_trace_hook = CFUNCTYPE(None, c_void_p, POINTER(pool_trace_event))
pool_tuning_visitor = CFUNCTYPE(c_int32, c_void_p, POINTER(pool_tuning_number))

pool_error._fields_ = [
    ("status", c_int32),
    ("driver_code", c_int32),
    ("driver_name", c_char_p),
    ("call", c_char_p),
    ("message", c_char_p),
]

pool_error_slot._fields_ = [
    ("struct_size", c_uint64),
    ("status", c_int32),
    ("driver_code", c_int32),
    ("driver_name", c_char * 64),
    ("call", c_char * 128),
    ("message", c_char * 1024),
]

pool_cu_uuid._fields_ = [
    ("bytes", c_char * 16),
]

pool_cu_mem_location._fields_ = [
    ("type", c_uint32),
    ("id", c_int32),
]

pool_cu_mem_pool_props._fields_ = [
    ("allocation_type", c_uint32),
    ("handle_types", c_uint32),
    ("location", pool_cu_mem_location),
    ("win32_security_attributes", c_void_p),
    ("max_size", c_uint64),
    ("usage", c_uint16),
    ("reserved", c_uint8 * 54),
]

pool_cu_mem_access._fields_ = [
    ("location", pool_cu_mem_location),
    ("flags", c_uint32),
]

pool_cu_mem_allocation_prop._fields_ = [
    ("type", c_uint32),
    ("handle_types", c_uint32),
    ("location", pool_cu_mem_location),
    ("win32_metadata", c_void_p),
    ("compression", c_uint8),
    ("gpu_direct_rdma", c_uint8),
    ("usage", c_uint16),
    ("reserved", c_uint8 * 4),
]

pool_cu_ipc_handle._fields_ = [
    ("bytes", c_char * 64),
]

pool_cu_copy_side._fields_ = [
    ("x_bytes", c_uint64),
    ("y", c_uint64),
    ("memory_type", c_uint32),
    ("host", c_void_p),
    ("device", c_uint64),
    ("array", c_void_p),
    ("pitch", c_uint64),
]

pool_cu_copy_2d._fields_ = [
    ("from", pool_cu_copy_side),
    ("to", pool_cu_copy_side),
    ("width_bytes", c_uint64),
    ("height", c_uint64),
]

pool_cu_launch_attribute_value._fields_ = [
    ("bytes", c_char * 64),
    ("pointer", c_void_p),
    ("number", c_int32),
    ("cluster", c_uint32 * 3),
]

pool_cu_launch_attribute._fields_ = [
    ("id", c_uint32),
    ("padding", c_char * 4),
    ("value", pool_cu_launch_attribute_value),
]

pool_cu_launch_config._fields_ = [
    ("grid", c_uint32 * 3),
    ("block", c_uint32 * 3),
    ("dynamic_shared_bytes", c_uint32),
    ("stream", c_void_p),
    ("attributes", POINTER(pool_cu_launch_attribute)),
    ("attribute_count", c_uint32),
]

pool_cu_graph_update._fields_ = [
    ("result", c_uint32),
    ("error_node", c_void_p),
    ("error_from_node", c_void_p),
]

pool_cu_dev_resource._fields_ = [
    ("type", c_uint32),
    ("internal", c_uint8 * 92),
    ("sm_count", c_uint32),
    ("min_partition", c_uint32),
    ("sm_alignment", c_uint32),
    ("oversize", c_uint8 * 36),
]

pool_cuda_api._fields_ = [
    ("struct_size", c_uint64),
    ("flags", c_uint64),
    ("Init", c_void_p),
    ("DriverGetVersion", c_void_p),
    ("GetErrorName", c_void_p),
    ("GetErrorString", c_void_p),
    ("DeviceGet", c_void_p),
    ("DeviceGetCount", c_void_p),
    ("DeviceGetName", c_void_p),
    ("DeviceGetUuid", c_void_p),
    ("DeviceGetUuidV2", c_void_p),
    ("DeviceTotalMem", c_void_p),
    ("DeviceGetAttribute", c_void_p),
    ("DeviceGetPCIBusId", c_void_p),
    ("DeviceGetByPCIBusId", c_void_p),
    ("DeviceCanAccessPeer", c_void_p),
    ("DeviceGetP2PAttribute", c_void_p),
    ("DevicePrimaryCtxRetain", c_void_p),
    ("DevicePrimaryCtxRelease", c_void_p),
    ("DevicePrimaryCtxGetState", c_void_p),
    ("CtxCreate", c_void_p),
    ("CtxDestroy", c_void_p),
    ("CtxPushCurrent", c_void_p),
    ("CtxPopCurrent", c_void_p),
    ("CtxSetCurrent", c_void_p),
    ("CtxGetCurrent", c_void_p),
    ("CtxGetDevice", c_void_p),
    ("CtxSynchronize", c_void_p),
    ("CtxGetFlags", c_void_p),
    ("CtxGetApiVersion", c_void_p),
    ("CtxGetLimit", c_void_p),
    ("CtxSetLimit", c_void_p),
    ("CtxGetStreamPriorityRange", c_void_p),
    ("CtxEnablePeerAccess", c_void_p),
    ("CtxDisablePeerAccess", c_void_p),
    ("MemGetInfo", c_void_p),
    ("MemAlloc", c_void_p),
    ("MemFree", c_void_p),
    ("MemGetAddressRange", c_void_p),
    ("MemHostAlloc", c_void_p),
    ("MemFreeHost", c_void_p),
    ("MemHostRegister", c_void_p),
    ("MemHostUnregister", c_void_p),
    ("MemHostGetDevicePointer", c_void_p),
    ("MemcpyHtoD", c_void_p),
    ("MemcpyDtoH", c_void_p),
    ("MemcpyDtoD", c_void_p),
    ("MemcpyPeer", c_void_p),
    ("MemcpyHtoDAsync", c_void_p),
    ("MemcpyDtoHAsync", c_void_p),
    ("MemcpyDtoDAsync", c_void_p),
    ("MemcpyPeerAsync", c_void_p),
    ("MemsetD8", c_void_p),
    ("MemsetD16", c_void_p),
    ("MemsetD32", c_void_p),
    ("MemsetD8Async", c_void_p),
    ("MemsetD16Async", c_void_p),
    ("MemsetD32Async", c_void_p),
    ("PointerGetAttribute", c_void_p),
    ("MemPoolCreate", c_void_p),
    ("MemPoolDestroy", c_void_p),
    ("MemPoolTrimTo", c_void_p),
    ("MemPoolSetAttribute", c_void_p),
    ("MemPoolGetAttribute", c_void_p),
    ("MemPoolSetAccess", c_void_p),
    ("MemAllocFromPoolAsync", c_void_p),
    ("MemFreeAsync", c_void_p),
    ("ModuleLoadData", c_void_p),
    ("ModuleLoadDataEx", c_void_p),
    ("ModuleUnload", c_void_p),
    ("ModuleGetFunction", c_void_p),
    ("ModuleGetGlobal", c_void_p),
    ("FuncGetAttribute", c_void_p),
    ("FuncSetAttribute", c_void_p),
    ("FuncSetCacheConfig", c_void_p),
    ("FuncGetParamInfo", c_void_p),
    ("OccupancyMaxActiveBlocksPerMultiprocessor", c_void_p),
    ("OccupancyMaxPotentialBlockSize", c_void_p),
    ("LaunchKernel", c_void_p),
    ("LaunchCooperativeKernel", c_void_p),
    ("LaunchHostFunc", c_void_p),
    ("StreamCreateWithPriority", c_void_p),
    ("StreamDestroy", c_void_p),
    ("StreamSynchronize", c_void_p),
    ("StreamQuery", c_void_p),
    ("StreamWaitEvent", c_void_p),
    ("StreamGetPriority", c_void_p),
    ("StreamGetFlags", c_void_p),
    ("StreamGetCtx", c_void_p),
    ("EventCreate", c_void_p),
    ("EventDestroy", c_void_p),
    ("EventRecord", c_void_p),
    ("EventQuery", c_void_p),
    ("EventSynchronize", c_void_p),
    ("EventElapsedTime", c_void_p),
    ("PointerGetAttributes", c_void_p),
    ("LaunchKernelEx", c_void_p),
    ("DevicePrimaryCtxSetFlags", c_void_p),
    ("ProfilerStart", c_void_p),
    ("ProfilerStop", c_void_p),
    ("Memcpy2DAsync", c_void_p),
    ("OccupancyMaxPotentialClusterSize", c_void_p),
    ("OccupancyMaxActiveClusters", c_void_p),
    ("MemGetAllocationGranularity", c_void_p),
    ("MemAddressReserve", c_void_p),
    ("MemAddressFree", c_void_p),
    ("MemCreate", c_void_p),
    ("MemRelease", c_void_p),
    ("MemMap", c_void_p),
    ("MemUnmap", c_void_p),
    ("MemSetAccess", c_void_p),
    ("MemExportToShareableHandle", c_void_p),
    ("MemImportFromShareableHandle", c_void_p),
    ("StreamBeginCapture", c_void_p),
    ("StreamEndCapture", c_void_p),
    ("GraphInstantiateWithFlags", c_void_p),
    ("GraphExecUpdate", c_void_p),
    ("GraphLaunch", c_void_p),
    ("GraphExecDestroy", c_void_p),
    ("GraphDestroy", c_void_p),
    ("IpcGetMemHandle", c_void_p),
    ("IpcOpenMemHandle", c_void_p),
    ("IpcCloseMemHandle", c_void_p),
    ("IpcGetEventHandle", c_void_p),
    ("IpcOpenEventHandle", c_void_p),
    ("CtxGetId", c_void_p),
    ("DeviceGetDevResource", c_void_p),
    ("DevSmResourceSplitByCount", c_void_p),
    ("DevResourceGenerateDesc", c_void_p),
    ("GreenCtxCreate", c_void_p),
    ("GreenCtxDestroy", c_void_p),
    ("CtxFromGreenCtx", c_void_p),
    ("GreenCtxStreamCreate", c_void_p),
    ("GreenCtxGetDevResource", c_void_p),
    ("CtxGetDevResource", c_void_p),
    ("StreamGetGreenCtx", c_void_p),
    ("GreenCtxRecordEvent", c_void_p),
    ("GreenCtxWaitEvent", c_void_p),
]

pool_device_info._fields_ = [
    ("struct_size", c_uint64),
    ("index", c_uint32),
    ("ordinal", c_int32),
    ("uuid", c_char * 48),
    ("pci", c_char * 24),
    ("name", c_char * 128),
    ("compute_major", c_int32),
    ("compute_minor", c_int32),
    ("multiprocessors", c_int32),
    ("clock_khz", c_int32),
    ("memory_clock_khz", c_int32),
    ("memory_bus_bits", c_int32),
    ("l2_bytes", c_uint64),
    ("total_bytes", c_uint64),
    ("free_bytes", c_uint64),
    ("ecc", c_int32),
    ("mps", c_int32),
    ("mig", c_int32),
    ("numa_node", c_int32),
    ("integrated", c_int32),
    ("compute_mode", c_int32),
    ("warp_size", c_int32),
    ("max_threads_per_block", c_int32),
    ("max_threads_per_multiprocessor", c_int32),
    ("max_blocks_per_multiprocessor", c_int32),
    ("registers_per_multiprocessor", c_int32),
    ("copy_engines", c_int32),
    ("shared_bytes_per_block", c_uint64),
    ("shared_bytes_per_block_optin", c_uint64),
    ("shared_bytes_per_multiprocessor", c_uint64),
    ("memory_pools", c_int32),
    ("cooperative_launch", c_int32),
    ("has_context", c_int32),
    ("state", c_uint32),
    ("reason", c_char * 256),
    ("partition", c_int32),
    ("partitions", c_int32),
]

pool_peer_info._fields_ = [
    ("struct_size", c_uint64),
    ("access", c_int32),
    ("native_atomics", c_int32),
    ("performance_rank", c_int32),
]

pool_component._fields_ = [
    ("status", c_int32),
    ("version", c_int32),
    ("path", c_char * 256),
    ("message", c_char * 1024),
]

pool_host_info._fields_ = [
    ("struct_size", c_uint64),
    ("driver", pool_component),
    ("compiler", pool_component),
]

pool_fault_kernel._fields_ = [
    ("device", c_void_p),
    ("ordinal", c_int32),
    ("launches", c_uint32),
    ("name", c_char_p),
    ("stream", c_void_p),
    ("label", c_char_p),
]

pool_fault._fields_ = [
    ("error_class", c_uint32),
    ("driver_code", c_int32),
    ("driver_name", c_char_p),
    ("message", c_char_p),
    ("device", c_void_p),
    ("shown_on", c_void_p),
    ("kernels", POINTER(pool_fault_kernel)),
    ("kernel_count", c_uint64),
]

pool_params._fields_ = [
    ("struct_size", c_uint64),
    ("devices", c_char_p),
    ("min_devices", c_uint32),
    ("context_mode", c_uint32),
    ("context_flags", c_uint32),
    ("lazy", c_int32),
    ("contexts", POINTER(c_void_p)),
    ("context_count", c_uint64),
    ("fault_hook", pool_fault_hook),
    ("fault_user", c_void_p),
    ("driver", POINTER(pool_cuda_api)),
    ("memory_limit", c_uint64),
    ("memory_limit_percent", c_uint32),
    ("slots", c_uint32),
    ("memory_headroom", c_uint64),
    ("stall_timeout_ns", c_uint64),
    ("status_socket", c_char_p),
    ("isolation", c_uint32),
    ("tuning", c_void_p),
    ("host_memory", pool_params_host_memory),
    ("host_memory_user", c_void_p),
    ("urgent_classes", c_int32 * 3),
    ("background_classes", c_int32 * 2),
    ("shared_multiprocessors", c_uint32),
    ("slice_ns", c_uint64),
    ("partitions", POINTER(c_uint32)),
    ("partition_count", c_uint32),
    ("worker_spin_ns", c_uint64),
]

pool_candidate._fields_ = [
    ("device", c_void_p),
    ("free_bytes", c_uint64),
    ("total_bytes", c_uint64),
    ("bindings", c_uint32),
    ("calls", c_uint32),
    ("busy_streams", c_uint32),
    ("unfinished", c_uint64),
    ("reserved_bytes", c_uint64),
    ("leases", c_uint32),
]

pool_pick._fields_ = [
    ("struct_size", c_uint64),
    ("policy", c_uint32),
    ("min_free_bytes", c_uint64),
    ("filter", pool_pick_filter),
    ("score", pool_pick_score),
    ("user", c_void_p),
]

pool_health_info._fields_ = [
    ("struct_size", c_uint64),
    ("harmed", c_uint32),
    ("devices", c_uint32),
    ("usable_devices", c_uint32),
    ("bindings", c_uint32),
    ("driver_code", c_int32),
    ("driver_name", c_char * 64),
    ("first_cause", c_char * 1024),
    ("fault_unix_time", c_uint64),
    ("fault_device", c_int32),
    ("fault_shown_on", c_int32),
    ("draining_devices", c_uint32),
    ("quarantined_devices", c_uint32),
    ("abandoned_devices", c_uint32),
    ("stalled_devices", c_uint32),
]

pool_setting._fields_ = [
    ("struct_size", c_uint64),
    ("name", c_char_p),
    ("value", c_char_p),
    ("fallback", c_char_p),
    ("meaning", c_char_p),
    ("source", c_uint32),
    ("line", c_uint32),
    ("file", c_char_p),
]

pool_stream_params._fields_ = [
    ("struct_size", c_uint64),
    ("priority", c_int32),
    ("flags", c_uint32),
]

pool_shared_event._fields_ = [
    ("handle", c_uint8 * 64),
]

pool_request._fields_ = [
    ("struct_size", c_uint64),
    ("bytes", c_uint64),
    ("slots", c_uint32),
    ("devices", c_uint32),
    ("pick", POINTER(pool_pick)),
    ("device", c_void_p),
    ("near_resident", c_void_p),
    ("priority", c_int32),
    ("flags", c_uint32),
    ("timeout_ns", c_uint64),
    ("duration_ns", c_uint64),
    ("cancel", c_void_p),
    ("label", c_char_p),
    ("error", POINTER(pool_error_slot)),
]

pool_lease_info._fields_ = [
    ("struct_size", c_uint64),
    ("bytes", c_uint64),
    ("slots", c_uint32),
    ("devices", c_uint32),
    ("priority", c_int32),
    ("flags", c_uint32),
    ("waited_ns", c_uint64),
    ("held_ns", c_uint64),
    ("duration_ns", c_uint64),
    ("is_overdue", c_int32),
    ("level", c_int32),
    ("label", c_char * 64),
]

pool_lease_usage._fields_ = [
    ("struct_size", c_uint64),
    ("device", c_void_p),
    ("limit_bytes", c_uint64),
    ("used_bytes", c_uint64),
    ("peak_bytes", c_uint64),
]

pool_lease_counts._fields_ = [
    ("struct_size", c_uint64),
    ("leases", c_uint32),
    ("overdue", c_uint32),
    ("waiting", c_uint32),
    ("reserved", c_uint32),
    ("longest_wait_ns", c_uint64),
    ("granted", c_uint64),
    ("failed", c_uint64),
    ("became_overdue", c_uint64),
]

pool_span._fields_ = [
    ("data", c_void_p),
    ("count", c_uint64),
    ("stride", c_uint64),
    ("form", c_uint32),
    ("space", c_uint32),
]

pool_buffer_params._fields_ = [
    ("struct_size", c_uint64),
    ("bytes", c_uint64),
    ("flags", c_uint32),
    ("stream", c_void_p),
    ("lease", c_void_p),
]

pool_shared_buffer._fields_ = [
    ("handle", c_uint8 * 64),
    ("offset", c_uint64),
    ("bytes", c_uint64),
]

pool_pitched._fields_ = [
    ("buffer", c_void_p),
    ("offset", c_uint64),
    ("host", c_void_p),
    ("pitch", c_uint64),
]

pool_memory_info._fields_ = [
    ("struct_size", c_uint64),
    ("free_bytes", c_uint64),
    ("total_bytes", c_uint64),
    ("used_bytes", c_uint64),
    ("used_high_water_bytes", c_uint64),
    ("reserved_bytes", c_uint64),
    ("reserved_high_water_bytes", c_uint64),
    ("release_threshold", c_uint64),
    ("pinned_bytes", c_uint64),
    ("staging_bytes", c_uint64),
    ("quarantined_bytes", c_uint64),
    ("buffers", c_uint64),
    ("memory_pool", c_int32),
    ("pinned_deferred_bytes", c_uint64),
    ("memory_limit", c_uint64),
    ("memory_headroom", c_uint64),
    ("available_bytes", c_uint64),
    ("lease_reserved_bytes", c_uint64),
    ("lease_charged_bytes", c_uint64),
    ("leases", c_uint64),
    ("pinned_unused_bytes", c_uint64),
    ("pinned_threshold", c_uint64),
    ("pinned_allocations", c_uint64),
    ("pinned_reuses", c_uint64),
    ("physical_bytes", c_uint64),
]

pool_exec._fields_ = [
    ("struct_size", c_uint64),
    ("device", c_void_p),
    ("stream", c_void_p),
    ("is_async", c_int32),
    ("on_host", c_int32),
    ("checks", c_uint32),
    ("reserved", c_uint32),
    ("workspace", c_void_p),
    ("memory_limit", c_uint64),
    ("cancel", c_void_p),
    ("progress", pool_exec_progress),
    ("user", c_void_p),
    ("lease", c_void_p),
    ("devices", POINTER(c_void_p)),
    ("device_count", c_uint32),
    ("workspace_count", c_uint32),
    ("workspaces", POINTER(c_void_p)),
    ("timeout_ns", c_uint64),
    ("error", POINTER(pool_error_slot)),
    ("slice_ns", c_uint64),
]

pool_field_params._fields_ = [
    ("struct_size", c_uint64),
    ("modulus", c_char_p),
    ("name", c_char_p),
    ("generator", c_char_p),
    ("root", c_char_p),
]

pool_ntt_domain_params._fields_ = [
    ("struct_size", c_uint64),
    ("field", c_void_p),
    ("log_size", c_uint32),
    ("reserved", c_uint32),
    ("convention", c_char_p),
    ("root", c_char_p),
    ("coset", c_char_p),
]

pool_ntt_params._fields_ = [
    ("struct_size", c_uint64),
    ("domain", c_void_p),
    ("direction", c_uint32),
    ("coset", c_int32),
    ("order", c_uint32),
    ("layout", c_uint32),
    ("batch", c_uint64),
]

pool_ntt_extend_params._fields_ = [
    ("struct_size", c_uint64),
    ("domain", c_void_p),
    ("log_blowup", c_uint32),
    ("from_coefficients", c_int32),
    ("order", c_uint32),
    ("layout", c_uint32),
    ("batch", c_uint64),
]

pool_poseidon_params._fields_ = [
    ("struct_size", c_uint64),
    ("name", c_char_p),
    ("field", c_void_p),
    ("kind", c_uint32),
    ("width", c_uint32),
    ("alpha", c_uint32),
    ("full_rounds", c_uint32),
    ("partial_rounds", c_uint32),
    ("partial_index", c_uint32),
    ("form", c_uint32),
    ("round_constants", c_void_p),
    ("round_constant_count", c_uint64),
    ("mds", c_void_p),
    ("mds_count", c_uint64),
    ("internal_diagonal", c_void_p),
    ("internal_diagonal_count", c_uint64),
    ("max_inputs", c_uint32),
    ("input_index", c_uint32),
    ("rate", c_uint32),
    ("domain_tag_index", c_uint32),
    ("domain_tag", c_void_p),
    ("output_index", c_uint32),
    ("digest_elements", c_uint32),
    ("feed_forward", c_int32),
]

pool_poseidon_sponge_params._fields_ = [
    ("struct_size", c_uint64),
    ("elements", c_uint32),
    ("output_elements", c_uint32),
    ("rate", c_uint32),
    ("mode", c_uint32),
    ("padding", c_uint32),
    ("domain_tag", c_void_p),
]

pool_merkle_params._fields_ = [
    ("struct_size", c_uint64),
    ("arity", c_uint32),
    ("leaf_elements", c_uint32),
    ("height", c_uint32),
    ("kept_levels", c_uint32),
    ("leaf_mode", c_uint32),
    ("padding", c_void_p),
]

pool_merkle_shape._fields_ = [
    ("struct_size", c_uint64),
    ("height", c_uint32),
    ("first_level", c_uint32),
    ("digest_count", c_uint64),
    ("path_count", c_uint64),
    ("bytes", c_uint64),
]

pool_matrix._fields_ = [
    ("span", pool_span),
    ("height", c_uint64),
    ("width", c_uint32),
    ("layout", c_uint32),
]

pool_matrix_commit_params._fields_ = [
    ("struct_size", c_uint64),
    ("set", c_void_p),
    ("row_set", c_void_p),
    ("keeps_short_rows", c_int32),
    ("cap_height", c_uint32),
    ("kept_levels", c_uint32),
    ("reserved", c_uint32),
]

pool_matrix_commit_shape._fields_ = [
    ("struct_size", c_uint64),
    ("height", c_uint32),
    ("first_level", c_uint32),
    ("digest_count", c_uint64),
    ("cap_count", c_uint64),
    ("row_elements", c_uint64),
    ("bytes", c_uint64),
]

pool_extension._fields_ = [
    ("params", POINTER(pool_ntt_extend_params)),
    ("trace", pool_span),
    ("extended", pool_span),
]

pool_curve_params._fields_ = [
    ("struct_size", c_uint64),
    ("field", c_void_p),
    ("a", c_char_p * 2),
    ("b", c_char_p * 2),
    ("generator_x", c_char_p * 2),
    ("generator_y", c_char_p * 2),
    ("order", c_char_p),
    ("cofactor", c_char_p),
    ("nonresidue", c_int32),
    ("reserved", c_uint32),
    ("scalar_field", c_void_p),
    ("name", c_char_p),
]

pool_point_format._fields_ = [
    ("layout", c_uint32),
    ("form", c_uint32),
    ("stride", c_uint64),
]

pool_ecntt_params._fields_ = [
    ("struct_size", c_uint64),
    ("curve", c_void_p),
    ("domain", c_void_p),
    ("direction", c_uint32),
    ("coset", c_int32),
    ("order", c_uint32),
    ("layout", c_uint32),
    ("batch", c_uint64),
    ("point_layout", c_uint32),
    ("result_layout", c_uint32),
]

pool_fri_fold_params._fields_ = [
    ("struct_size", c_uint64),
    ("field", c_void_p),
    ("domain", c_void_p),
    ("log_folded", c_uint32),
    ("log_arity", c_uint32),
    ("is_bit_reversed", c_int32),
    ("on_subgroup", c_int32),
    ("challenge", c_void_p),
]

pool_matrix_evaluate_params._fields_ = [
    ("struct_size", c_uint64),
    ("field", c_void_p),
    ("domain", c_void_p),
    ("is_bit_reversed", c_int32),
    ("on_subgroup", c_int32),
]

pool_file_params._fields_ = [
    ("struct_size", c_uint64),
    ("kind", c_uint32),
    ("layout", c_uint32),
    ("form", c_uint32),
    ("trusted", c_uint32),
    ("curve", c_void_p),
    ("field", c_void_p),
]

pool_file_info._fields_ = [
    ("struct_size", c_uint64),
    ("kind", c_uint32),
    ("version", c_uint32),
    ("bytes", c_uint64),
    ("sections", c_uint64),
    ("field", c_void_p),
    ("curves", c_void_p * 2),
    ("power", c_uint32),
    ("ceremony_power", c_uint32),
    ("domain_size", c_uint64),
    ("variables", c_uint64),
    ("public_signals", c_uint64),
    ("outputs", c_uint64),
    ("public_inputs", c_uint64),
    ("private_inputs", c_uint64),
    ("labels", c_uint64),
    ("constraints", c_uint64),
    ("convention", c_char_p),
    ("custom_gates", c_uint64),
    ("custom_gate_uses", c_uint64),
    ("unknown_sections", c_uint64),
]

pool_file_section._fields_ = [
    ("struct_size", c_uint64),
    ("name", c_char_p),
    ("item", c_uint32),
    ("layout", c_uint32),
    ("curve", c_void_p),
    ("field", c_void_p),
    ("span", pool_span),
    ("offset", c_uint64),
    ("levels", c_uint32),
    ("reserved", c_uint32),
    ("convention", c_char_p),
]

pool_log_record._fields_ = [
    ("struct_size", c_uint64),
    ("level", c_uint32),
    ("device", c_int32),
    ("message", c_char_p),
    ("lease", c_char_p),
    ("call", c_char_p),
    ("code", c_int32),
]

pool_module_header._fields_ = [
    ("name", c_char_p),
    ("text", c_char_p),
]

pool_module_arithmetic._fields_ = [
    ("prefix", c_char_p),
    ("field", c_void_p),
    ("curve", c_void_p),
    ("poseidon", c_void_p),
]

pool_module_params._fields_ = [
    ("struct_size", c_uint64),
    ("source", c_char_p),
    ("name", c_char_p),
    ("headers", POINTER(pool_module_header)),
    ("header_count", c_uint64),
    ("defines", POINTER(c_char_p)),
    ("define_count", c_uint64),
    ("options", POINTER(c_char_p)),
    ("option_count", c_uint64),
    ("no_cache", c_int32),
    ("cancel", c_void_p),
    ("arithmetic", POINTER(pool_module_arithmetic)),
    ("arithmetic_count", c_uint64),
    ("names", POINTER(c_char_p)),
    ("name_count", c_uint64),
]

pool_kernel_info._fields_ = [
    ("struct_size", c_uint64),
    ("max_threads_per_block", c_int32),
    ("registers", c_int32),
    ("static_shared_bytes", c_uint64),
    ("max_dynamic_shared_bytes", c_uint64),
    ("local_bytes", c_uint64),
    ("constant_bytes", c_uint64),
    ("ptx_version", c_int32),
    ("binary_version", c_int32),
    ("parameter_count", c_int32),
]

pool_launch_shape._fields_ = [
    ("struct_size", c_uint64),
    ("grid", c_uint32 * 3),
    ("block", c_uint32 * 3),
    ("dynamic_shared_bytes", c_uint64),
    ("cooperative", c_int32),
    ("argument_count", c_uint32),
    ("argument_bytes", POINTER(c_uint64)),
    ("pdl", c_int32),
    ("priority", c_int32),
    ("cluster", c_uint32 * 3),
]

pool_cache_entry._fields_ = [
    ("struct_size", c_uint64),
    ("key", c_char * 65),
    ("name", c_char * 64),
    ("bytes", c_uint64),
    ("created_unix_time", c_uint64),
    ("compute_capability", c_int32),
    ("is_ptx", c_int32),
    ("valid", c_int32),
]

pool_pack_info._fields_ = [
    ("struct_size", c_uint64),
    ("path", c_char * 512),
    ("compute_capability", c_int32),
    ("compiler_version", c_int32),
    ("entries", c_uint64),
    ("bytes", c_uint64),
    ("is_used", c_int32),
    ("reason", c_char * 512),
]

pool_pack_params._fields_ = [
    ("struct_size", c_uint64),
    ("compute_capability", c_int32),
    ("form", c_int32),
    ("fields", POINTER(c_void_p)),
    ("field_count", c_uint64),
    ("curves", POINTER(c_void_p)),
    ("curve_count", c_uint64),
    ("sets", POINTER(c_void_p)),
    ("set_count", c_uint64),
    ("progress", pool_pack_progress),
    ("user", c_void_p),
]

pool_bases_params._fields_ = [
    ("struct_size", c_uint64),
    ("curve", c_void_p),
    ("layout", c_uint32),
    ("precompute_factor", c_uint32),
    ("window_bits", c_uint32),
    ("scalar_bits", c_uint32),
    ("planned_terms", c_uint64),
    ("leading_infinities", c_uint64),
]

pool_msm_params._fields_ = [
    ("struct_size", c_uint64),
    ("curve", c_void_p),
    ("bases", c_void_p),
    ("first_base", c_uint64),
    ("point_layout", c_uint32),
    ("result_layout", c_uint32),
    ("batch", c_uint64),
    ("shared_bases", c_int32),
    ("scalar_bits", c_uint32),
    ("window_bits", c_uint32),
    ("device_bases", POINTER(c_void_p)),
    ("replicated_bases", c_int32),
    ("affine_passes", c_uint32),
]

pool_msm_term._fields_ = [
    ("bases", c_void_p),
    ("first_base", c_uint64),
    ("scalars", pool_span),
    ("result", c_uint64),
]

pool_msm_joint_params._fields_ = [
    ("struct_size", c_uint64),
    ("result_layout", c_uint32),
    ("scalar_bits", c_uint32),
    ("window_bits", c_uint32),
]

pool_resident_params._fields_ = [
    ("struct_size", c_uint64),
    ("name", c_char_p),
    ("flags", c_uint32),
    ("reserved", c_uint32),
    ("bases", POINTER(pool_bases_params)),
    ("points", POINTER(pool_span)),
    ("path", c_char_p),
    ("source", pool_resident_source),
    ("user", c_void_p),
    ("bytes", c_uint64),
]

pool_resident_info._fields_ = [
    ("struct_size", c_uint64),
    ("name", c_char * 64),
    ("is_resident", c_int32),
    ("users", c_uint32),
    ("bytes", c_uint64),
    ("loads", c_uint64),
    ("idle_ns", c_uint64),
    ("survivals", c_uint64),
]

pool_sim_fault._fields_ = [
    ("struct_size", c_uint64),
    ("driver_code", c_int32),
    ("device", c_int32),
    ("kind", c_char * 40),
    ("kernel", c_char * 256),
    ("block", c_uint32 * 3),
    ("thread", c_uint32 * 3),
    ("line", c_uint32),
    ("space", c_char * 16),
    ("address", c_uint64),
    ("bytes", c_uint32),
    ("is_write", c_int32),
    ("nearest_address", c_uint64),
    ("nearest_bytes", c_uint64),
    ("text", c_char * 512),
    ("source_line", c_uint32),
    ("source_file", c_char * 256),
]

pool_sim_kernel_stats._fields_ = [
    ("struct_size", c_uint64),
    ("kernel", c_char_p),
    ("device", c_int32),
    ("launches", c_uint64),
    ("blocks", c_uint64),
    ("threads", c_uint64),
    ("warp_instructions", c_uint64),
    ("lane_instructions", c_uint64),
    ("lanes_by_class", c_uint64 * 10),
]

pool_trace_event._fields_ = [
    ("struct_size", c_uint64),
    ("is_end", c_int32),
    ("kind", c_uint32),
    ("id", c_uint64),
    ("parent", c_uint64),
    ("time_ns", c_uint64),
    ("name", c_char_p),
    ("subject", c_char_p),
    ("device", c_int32),
    ("status", c_int32),
    ("items", c_uint64),
]

pool_tuning_info._fields_ = [
    ("struct_size", c_uint64),
    ("source", c_uint32),
    ("changed", c_uint32),
    ("path", c_char * 256),
    ("message", c_char * 256),
]

pool_tuning_number._fields_ = [
    ("struct_size", c_uint64),
    ("name", c_char_p),
    ("value", c_uint32),
    ("default_value", c_uint32),
    ("min", c_uint32),
    ("max", c_uint32),
    ("candidates", POINTER(c_uint32)),
    ("candidate_count", c_uint32),
]

# What a function returns, and its parameters.
FUNCTIONS = {
    # ()
    "pool_version_number": (c_int32, []),
    # ()
    "pool_version_text": (c_char_p, []),
    # (status)
    "pool_status_name": (c_char_p, [c_int32]),
    # (status)
    "pool_status_text": (c_char_p, [c_int32]),
    # (status)
    "pool_status_class": (c_uint32, [c_int32]),
    # (error_class)
    "pool_error_class_name": (c_char_p, [c_uint32]),
    # ()
    "pool_last_error": (POINTER(pool_error), []),
    # (slot)
    "pool_error_read": (c_int32, [POINTER(pool_error_slot)]),
    # (status, message)
    "pool_error_set": (c_int32, [c_int32, c_char_p]),
    # (text)
    "pool_text_free": (None, [POINTER(c_char_p)]),
    # (cancel)
    "pool_cancel_create": (c_int32, [POINTER(c_void_p)]),
    # (cancel)
    "pool_cancel_request": (None, [c_void_p]),
    # (cancel)
    "pool_cancel_requested": (c_int32, [c_void_p]),
    # (cancel)
    "pool_cancel_destroy": (None, [POINTER(c_void_p)]),
    # (device, info)
    "pool_device_get_info": (c_int32, [c_void_p, POINTER(pool_device_info)]),
    # (device, format, text)
    "pool_device_describe": (c_int32, [c_void_p, c_uint32, POINTER(c_char_p)]),
    # (from, to, info)
    "pool_device_get_peer": (c_int32, [c_void_p, c_void_p, POINTER(pool_peer_info)]),
    # (device)
    "pool_device_index": (c_int32, [c_void_p]),
    # (device)
    "pool_device_ordinal": (c_int32, [c_void_p]),
    # (device)
    "pool_device_gpu": (c_void_p, [c_void_p]),
    # (device)
    "pool_device_partition": (c_int32, [c_void_p]),
    # (device)
    "pool_device_uuid": (c_char_p, [c_void_p]),
    # (device, handle)
    "pool_device_handle": (c_int32, [c_void_p, POINTER(c_int32)]),
    # (device, context)
    "pool_device_context": (c_int32, [c_void_p, POINTER(c_void_p)]),
    # (device, limit, bytes)
    "pool_device_get_limit": (c_int32, [c_void_p, c_uint32, POINTER(c_uint64)]),
    # (device, limit, bytes)
    "pool_device_set_limit": (c_int32, [c_void_p, c_uint32, c_uint64]),
    # (device, rate)
    "pool_device_get_rate": (c_int32, [c_void_p, POINTER(c_uint64)]),
    # (device, rate)
    "pool_device_set_rate": (c_int32, [c_void_p, c_uint64]),
    # (pool)
    "pool_measure_rates": (c_int32, [c_void_p]),
    # (device)
    "pool_profiler_start": (c_int32, [c_void_p]),
    # (device)
    "pool_profiler_stop": (c_int32, [c_void_p]),
    # (device)
    "pool_device_drain": (c_int32, [c_void_p]),
    # (device, timeout_ns)
    "pool_device_wait_drained": (c_int32, [c_void_p, c_uint64]),
    # (device)
    "pool_device_resume": (c_int32, [c_void_p]),
    # (device, reason)
    "pool_device_quarantine": (c_int32, [c_void_p, c_char_p]),
    # (device, timeout_ns)
    "pool_device_probe": (c_int32, [c_void_p, c_uint64]),
    # (device, reason)
    "pool_device_abandon": (c_int32, [c_void_p, c_char_p]),
    # (device)
    "pool_device_readmit": (c_int32, [c_void_p]),
    # (info)
    "pool_host_get_info": (c_int32, [POINTER(pool_host_info)]),
    # (device, compiler)
    "pool_device_get_compiler": (c_int32, [c_void_p, POINTER(pool_component)]),
    # (params, struct_size)
    "pool_params_init": (None, [POINTER(pool_params), c_uint64]),
    # (pool, params)
    "pool_create": (c_int32, [POINTER(c_void_p), POINTER(pool_params)]),
    # (pool)
    "pool_retain": (c_void_p, [c_void_p]),
    # (pool)
    "pool_destroy": (c_int32, [POINTER(c_void_p)]),
    # (pool)
    "pool_device_count": (c_uint64, [c_void_p]),
    # (pool)
    "pool_usable_count": (c_uint64, [c_void_p]),
    # (pool, index, device)
    "pool_device_at": (c_int32, [c_void_p, c_uint64, POINTER(c_void_p)]),
    # (pool, ordinal, device)
    "pool_device_by_ordinal": (c_int32, [c_void_p, c_int32, POINTER(c_void_p)]),
    # (pool, uuid, device)
    "pool_device_by_uuid": (c_int32, [c_void_p, c_char_p, POINTER(c_void_p)]),
    # (pool, address, device)
    "pool_device_by_pci": (c_int32, [c_void_p, c_char_p, POINTER(c_void_p)]),
    # (pool, visit, user, answer)
    "pool_device_each": (c_int32, [c_void_p, pool_device_visitor, c_void_p, POINTER(c_int32)]),
    # (pool, format, text)
    "pool_describe": (c_int32, [c_void_p, c_uint32, POINTER(c_char_p)]),
    # (pool, device)
    "pool_next_device": (c_int32, [c_void_p, POINTER(c_void_p)]),
    # (pool, device)
    "pool_best_device": (c_int32, [c_void_p, POINTER(c_void_p)]),
    # (pool, pick, device)
    "pool_pick_device": (c_int32, [c_void_p, POINTER(pool_pick), POINTER(c_void_p)]),
    # (device)
    "pool_bind": (c_int32, [c_void_p]),
    # (device)
    "pool_unbind": (c_int32, [c_void_p]),
    # (pool, device)
    "pool_bound_device": (c_int32, [c_void_p, POINTER(c_void_p)]),
    # (pool, ordinal)
    "pool_check_device": (c_int32, [c_void_p, c_int32]),
    # (device, task, arg)
    "pool_run_on": (c_int32, [c_void_p, pool_task, c_void_p]),
    # (pool, ptr, device)
    "pool_pointer_device": (c_int32, [c_void_p, c_void_p, POINTER(c_void_p)]),
    # (pool, info)
    "pool_get_health": (c_int32, [c_void_p, POINTER(pool_health_info)]),
    # (index, setting)
    "pool_setting_at": (c_int32, [c_uint64, POINTER(pool_setting)]),
    # (name, setting)
    "pool_setting_by_name": (c_int32, [c_char_p, POINTER(pool_setting)]),
    # (params, struct_size)
    "pool_stream_params_init": (None, [POINTER(pool_stream_params), c_uint64]),
    # (device, least, most_urgent)
    "pool_stream_get_priority_range": (c_int32, [c_void_p, POINTER(c_int32), POINTER(c_int32)]),
    # (device, params, stream)
    "pool_stream_create": (c_int32, [c_void_p, POINTER(pool_stream_params), POINTER(c_void_p)]),
    # (device, handle, stream)
    "pool_stream_adopt": (c_int32, [c_void_p, c_void_p, POINTER(c_void_p)]),
    # (device, stream)
    "pool_stream_default": (c_int32, [c_void_p, POINTER(c_void_p)]),
    # (stream)
    "pool_stream_destroy": (c_int32, [POINTER(c_void_p)]),
    # (stream)
    "pool_stream_device": (c_void_p, [c_void_p]),
    # (stream, handle)
    "pool_stream_handle": (c_int32, [c_void_p, POINTER(c_void_p)]),
    # (stream, priority)
    "pool_stream_get_priority": (c_int32, [c_void_p, POINTER(c_int32)]),
    # (stream, flags)
    "pool_stream_get_flags": (c_int32, [c_void_p, POINTER(c_uint32)]),
    # (stream)
    "pool_stream_query": (c_int32, [c_void_p]),
    # (stream)
    "pool_stream_synchronize": (c_int32, [c_void_p]),
    # (stream, timeout_ns)
    "pool_stream_wait": (c_int32, [c_void_p, c_uint64]),
    # (device)
    "pool_device_synchronize": (c_int32, [c_void_p]),
    # (device, timeout_ns)
    "pool_device_wait": (c_int32, [c_void_p, c_uint64]),
    # (stream, event)
    "pool_stream_wait_event": (c_int32, [c_void_p, c_void_p]),
    # (stream, streams, count)
    "pool_stream_fork": (c_int32, [c_void_p, POINTER(c_void_p), c_uint64]),
    # (stream, streams, count)
    "pool_stream_join": (c_int32, [c_void_p, POINTER(c_void_p), c_uint64]),
    # (stream, function, user)
    "pool_stream_call": (c_int32, [c_void_p, pool_host_task, c_void_p]),
    # (device, flags, event)
    "pool_event_create": (c_int32, [c_void_p, c_uint32, POINTER(c_void_p)]),
    # (event, shared)
    "pool_event_share": (c_int32, [c_void_p, POINTER(pool_shared_event)]),
    # (device, shared, event)
    "pool_event_open": (c_int32, [c_void_p, POINTER(pool_shared_event), POINTER(c_void_p)]),
    # (event)
    "pool_event_destroy": (c_int32, [POINTER(c_void_p)]),
    # (event)
    "pool_event_device": (c_void_p, [c_void_p]),
    # (event, handle)
    "pool_event_handle": (c_int32, [c_void_p, POINTER(c_void_p)]),
    # (event, stream)
    "pool_event_record": (c_int32, [c_void_p, c_void_p]),
    # (event)
    "pool_event_query": (c_int32, [c_void_p]),
    # (event)
    "pool_event_synchronize": (c_int32, [c_void_p]),
    # (event, timeout_ns)
    "pool_event_wait": (c_int32, [c_void_p, c_uint64]),
    # (start, end, milliseconds)
    "pool_event_elapsed": (c_int32, [c_void_p, c_void_p, POINTER(c_double)]),
    # (request, struct_size)
    "pool_request_init": (None, [POINTER(pool_request), c_uint64]),
    # (pool, request, lease)
    "pool_acquire": (c_int32, [c_void_p, POINTER(pool_request), POINTER(c_void_p)]),
    # (pool, request, hook, user, ticket)
    "pool_acquire_async": (c_int32, [c_void_p, POINTER(pool_request), pool_grant_hook, c_void_p, POINTER(c_void_p)]),
    # (ticket, fd)
    "pool_ticket_fd": (c_int32, [c_void_p, POINTER(c_int32)]),
    # (ticket, lease)
    "pool_ticket_take": (c_int32, [c_void_p, POINTER(c_void_p)]),
    # (ticket)
    "pool_ticket_destroy": (c_int32, [POINTER(c_void_p)]),
    # (lease)
    "pool_release": (c_int32, [POINTER(c_void_p)]),
    # (lease)
    "pool_lease_device_count": (c_uint32, [c_void_p]),
    # (lease, index, device)
    "pool_lease_device": (c_int32, [c_void_p, c_uint32, POINTER(c_void_p)]),
    # (lease, index, stream)
    "pool_lease_stream": (c_int32, [c_void_p, c_uint32, POINTER(c_void_p)]),
    # (lease, info)
    "pool_lease_get_info": (c_int32, [c_void_p, POINTER(pool_lease_info)]),
    # (lease, index, usage)
    "pool_lease_get_usage": (c_int32, [c_void_p, c_uint32, POINTER(pool_lease_usage)]),
    # (pool, counts)
    "pool_get_lease_counts": (c_int32, [c_void_p, POINTER(pool_lease_counts)]),
    # (params, struct_size)
    "pool_buffer_params_init": (None, [POINTER(pool_buffer_params), c_uint64]),
    # (device, params, buffer)
    "pool_buffer_create": (c_int32, [c_void_p, POINTER(pool_buffer_params), POINTER(c_void_p)]),
    # (device, bytes, buffer)
    "pool_buffer_alloc": (c_int32, [c_void_p, c_uint64, POINTER(c_void_p)]),
    # (device, bytes, buffer)
    "pool_buffer_zeroed": (c_int32, [c_void_p, c_uint64, POINTER(c_void_p)]),
    # (device, data, bytes, buffer)
    "pool_buffer_from_host": (c_int32, [c_void_p, c_void_p, c_uint64, POINTER(c_void_p)]),
    # (device, address, bytes, buffer)
    "pool_buffer_adopt": (c_int32, [c_void_p, c_uint64, c_uint64, POINTER(c_void_p)]),
    # (parent, offset, bytes, slice)
    "pool_buffer_slice": (c_int32, [c_void_p, c_uint64, c_uint64, POINTER(c_void_p)]),
    # (buffer)
    "pool_buffer_destroy": (c_int32, [POINTER(c_void_p)]),
    # (buffer, stream)
    "pool_buffer_destroy_on": (c_int32, [POINTER(c_void_p), c_void_p]),
    # (buffer, shared)
    "pool_buffer_share": (c_int32, [c_void_p, POINTER(pool_shared_buffer)]),
    # (device, shared, buffer)
    "pool_buffer_open": (c_int32, [c_void_p, POINTER(pool_shared_buffer), POINTER(c_void_p)]),
    # (buffer, address)
    "pool_buffer_address": (c_int32, [c_void_p, POINTER(c_uint64)]),
    # (buffer)
    "pool_buffer_bytes": (c_uint64, [c_void_p]),
    # (buffer)
    "pool_buffer_flags": (c_uint32, [c_void_p]),
    # (buffer)
    "pool_buffer_device": (c_void_p, [c_void_p]),
    # (buffer, offset, count, form, span)
    "pool_buffer_span": (c_int32, [c_void_p, c_uint64, c_uint64, c_uint32, POINTER(pool_span)]),
    # (buffer, offset, count, value, stream)
    "pool_buffer_fill8": (c_int32, [c_void_p, c_uint64, c_uint64, c_uint8, c_void_p]),
    # (buffer, offset, count, value, stream)
    "pool_buffer_fill16": (c_int32, [c_void_p, c_uint64, c_uint64, c_uint16, c_void_p]),
    # (buffer, offset, count, value, stream)
    "pool_buffer_fill32": (c_int32, [c_void_p, c_uint64, c_uint64, c_uint32, c_void_p]),
    # (to, offset, from, bytes, stream)
    "pool_copy_to_device": (c_int32, [c_void_p, c_uint64, c_void_p, c_uint64, c_void_p]),
    # (to, from, offset, bytes, stream)
    "pool_copy_to_host": (c_int32, [c_void_p, c_void_p, c_uint64, c_uint64, c_void_p]),
    # (to, to_offset, from, from_offset, bytes, stream)
    "pool_copy_device": (c_int32, [c_void_p, c_uint64, c_void_p, c_uint64, c_uint64, c_void_p]),
    # (to, from, row_bytes, rows, stream)
    "pool_copy_2d": (c_int32, [POINTER(pool_pitched), POINTER(pool_pitched), c_uint64, c_uint64, c_void_p]),
    # (device, peer)
    "pool_device_enable_peer": (c_int32, [c_void_p, c_void_p]),
    # (device, bytes, flags, pinned)
    "pool_pinned_create": (c_int32, [c_void_p, c_uint64, c_uint32, POINTER(c_void_p)]),
    # (device, data, bytes, flags, pinned)
    "pool_pinned_register": (c_int32, [c_void_p, c_void_p, c_uint64, c_uint32, POINTER(c_void_p)]),
    # (pinned)
    "pool_pinned_destroy": (c_int32, [POINTER(c_void_p)]),
    # (pinned)
    "pool_pinned_data": (c_void_p, [c_void_p]),
    # (pinned)
    "pool_pinned_bytes": (c_uint64, [c_void_p]),
    # (pinned)
    "pool_pinned_flags": (c_uint32, [c_void_p]),
    # (pinned)
    "pool_pinned_device": (c_void_p, [c_void_p]),
    # (device, info)
    "pool_memory_get_info": (c_int32, [c_void_p, POINTER(pool_memory_info)]),
    # (device)
    "pool_memory_reset_high_water": (c_int32, [c_void_p]),
    # (device, bytes)
    "pool_memory_set_threshold": (c_int32, [c_void_p, c_uint64]),
    # (device, bytes)
    "pool_pinned_set_threshold": (c_int32, [c_void_p, c_uint64]),
    # (device, keep_bytes)
    "pool_memory_trim": (c_int32, [c_void_p, c_uint64]),
    # (device, handle)
    "pool_memory_handle": (c_int32, [c_void_p, POINTER(c_void_p)]),
    # (device, handle)
    "pool_memory_adopt": (c_int32, [c_void_p, c_void_p]),
    # (exec, struct_size)
    "pool_exec_init": (None, [POINTER(pool_exec), c_uint64]),
    # ()
    "pool_field_count": (c_uint64, []),
    # (index)
    "pool_field_at": (c_void_p, [c_uint64]),
    # (name)
    "pool_field_by_name": (c_void_p, [c_char_p]),
    # (params, struct_size)
    "pool_field_params_init": (None, [POINTER(pool_field_params), c_uint64]),
    # (params, field)
    "pool_field_create": (c_int32, [POINTER(pool_field_params), POINTER(c_void_p)]),
    # (field)
    "pool_field_retain": (c_void_p, [c_void_p]),
    # (field)
    "pool_field_destroy": (None, [POINTER(c_void_p)]),
    # (field)
    "pool_field_name": (c_char_p, [c_void_p]),
    # (field)
    "pool_field_bits": (c_uint32, [c_void_p]),
    # (field)
    "pool_field_element_bytes": (c_uint64, [c_void_p]),
    # (field)
    "pool_field_two_adicity": (c_uint32, [c_void_p]),
    # (field)
    "pool_field_degree": (c_uint32, [c_void_p]),
    # (field)
    "pool_field_base": (c_void_p, [c_void_p]),
    # (field, fingerprint)
    "pool_field_fingerprint": (c_int32, [c_void_p, c_void_p]),
    # (field, modulus)
    "pool_field_modulus": (c_int32, [c_void_p, c_void_p]),
    # (field, form, generator)
    "pool_field_generator": (c_int32, [c_void_p, c_uint32, c_void_p]),
    # (field, convention, log2_order, form, root)
    "pool_field_root_of_unity": (c_int32, [c_void_p, c_char_p, c_uint32, c_uint32, c_void_p]),
    # (field, string, form, element)
    "pool_field_parse": (c_int32, [c_void_p, c_char_p, c_uint32, c_void_p]),
    # (field, form, element, radix, string, bytes, needed)
    "pool_field_format": (c_int32, [c_void_p, c_uint32, c_void_p, c_uint32, c_void_p, c_uint64, POINTER(c_uint64)]),
    # (field, elements, count, first_bad)
    "pool_field_check": (c_int32, [c_void_p, c_void_p, c_uint64, POINTER(c_uint64)]),
    # (field, standard, count, montgomery)
    "pool_field_to_montgomery": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p]),
    # (field, montgomery, count, standard)
    "pool_field_from_montgomery": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p]),
    # (field, value_bytes, byte_order, values, count, form, elements)
    "pool_field_from_bytes": (c_int32, [c_void_p, c_uint64, c_uint32, c_void_p, c_uint64, c_uint32, c_void_p]),
    # (field, form, elements, count, value_bytes, byte_order, values)
    "pool_field_to_bytes": (c_int32, [c_void_p, c_uint32, c_void_p, c_uint64, c_uint64, c_uint32, c_void_p]),
    # (field, value_bytes, byte_order, values, count, form, elements)
    "pool_field_reduce_bytes": (c_int32, [c_void_p, c_uint64, c_uint32, c_void_p, c_uint64, c_uint32, c_void_p]),
    # (field, seed, count, form, elements)
    "pool_random_scalars": (c_int32, [c_void_p, c_uint64, c_uint64, c_uint32, c_void_p]),
    # (params, struct_size)
    "pool_ntt_domain_params_init": (None, [POINTER(pool_ntt_domain_params), c_uint64]),
    # (params, domain)
    "pool_ntt_domain_create": (c_int32, [POINTER(pool_ntt_domain_params), POINTER(c_void_p)]),
    # (domain)
    "pool_ntt_domain_retain": (c_void_p, [c_void_p]),
    # (domain)
    "pool_ntt_domain_destroy": (c_int32, [POINTER(c_void_p)]),
    # (domain)
    "pool_ntt_domain_field": (c_void_p, [c_void_p]),
    # (domain)
    "pool_ntt_domain_log_size": (c_uint32, [c_void_p]),
    # (domain, form, root)
    "pool_ntt_domain_root": (c_int32, [c_void_p, c_uint32, c_void_p]),
    # (domain, form, coset)
    "pool_ntt_domain_coset": (c_int32, [c_void_p, c_uint32, c_void_p]),
    # (domain, log_size, power)
    "pool_ntt_domain_power": (c_int32, [c_void_p, c_uint32, POINTER(c_void_p)]),
    # (domain, device, bytes)
    "pool_ntt_domain_bytes": (c_int32, [c_void_p, c_void_p, POINTER(c_uint64)]),
    # (params, struct_size)
    "pool_ntt_params_init": (None, [POINTER(pool_ntt_params), c_uint64]),
    # (params, exec, in, out)
    "pool_ntt": (c_int32, [POINTER(pool_ntt_params), POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span)]),
    # (params, exec, in, out, bytes)
    "pool_ntt_workspace": (c_int32, [POINTER(pool_ntt_params), POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span), POINTER(c_uint64)]),
    # (domain, exec)
    "pool_ntt_warm_up": (c_int32, [c_void_p, POINTER(pool_exec)]),
    # (params, struct_size)
    "pool_ntt_extend_params_init": (None, [POINTER(pool_ntt_extend_params), c_uint64]),
    # (params, exec, in, coefficients, out)
    "pool_ntt_extend": (c_int32, [POINTER(pool_ntt_extend_params), POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span), POINTER(pool_span)]),
    # (params, exec, in, coefficients, out, bytes)
    "pool_ntt_extend_workspace": (c_int32, [POINTER(pool_ntt_extend_params), POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span), POINTER(pool_span), POINTER(c_uint64)]),
    # (params, exec)
    "pool_ntt_extend_warm_up": (c_int32, [POINTER(pool_ntt_extend_params), POINTER(pool_exec)]),
    # ()
    "pool_poseidon_count": (c_uint64, []),
    # (index)
    "pool_poseidon_name_at": (c_char_p, [c_uint64]),
    # (name, set)
    "pool_poseidon_by_name": (c_int32, [c_char_p, POINTER(c_void_p)]),
    # (params, struct_size)
    "pool_poseidon_params_init": (None, [POINTER(pool_poseidon_params), c_uint64]),
    # (params, set)
    "pool_poseidon_create": (c_int32, [POINTER(pool_poseidon_params), POINTER(c_void_p)]),
    # (set)
    "pool_poseidon_retain": (c_void_p, [c_void_p]),
    # (set)
    "pool_poseidon_destroy": (None, [POINTER(c_void_p)]),
    # (set)
    "pool_poseidon_name": (c_char_p, [c_void_p]),
    # (set)
    "pool_poseidon_field": (c_void_p, [c_void_p]),
    # (set)
    "pool_poseidon_width": (c_uint32, [c_void_p]),
    # (set)
    "pool_poseidon_max_inputs": (c_uint32, [c_void_p]),
    # (set)
    "pool_poseidon_rate": (c_uint32, [c_void_p]),
    # (set)
    "pool_poseidon_digest_elements": (c_uint32, [c_void_p]),
    # (set, fingerprint)
    "pool_poseidon_fingerprint": (c_int32, [c_void_p, c_void_p]),
    # (set, exec)
    "pool_poseidon_warm_up": (c_int32, [c_void_p, POINTER(pool_exec)]),
    # (set, exec, states, results)
    "pool_poseidon_permute": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span)]),
    # (set, exec, states, results, bytes)
    "pool_poseidon_permute_workspace": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span), POINTER(c_uint64)]),
    # (set, exec, inputs, elements, digests)
    "pool_poseidon_hash": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_span), c_uint32, POINTER(pool_span)]),
    # (set, exec, inputs, elements, digests, bytes)
    "pool_poseidon_hash_workspace": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_span), c_uint32, POINTER(pool_span), POINTER(c_uint64)]),
    # (params, struct_size)
    "pool_poseidon_sponge_params_init": (None, [POINTER(pool_poseidon_sponge_params), c_uint64]),
    # (set, exec, params, messages, results)
    "pool_poseidon_sponge": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_poseidon_sponge_params), POINTER(pool_span), POINTER(pool_span)]),
    # (set, exec, params, messages, results, bytes)
    "pool_poseidon_sponge_workspace": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_poseidon_sponge_params), POINTER(pool_span), POINTER(pool_span), POINTER(c_uint64)]),
    # (params, struct_size)
    "pool_merkle_params_init": (None, [POINTER(pool_merkle_params), c_uint64]),
    # (set, params, leaves, shape)
    "pool_merkle_get_shape": (c_int32, [c_void_p, POINTER(pool_merkle_params), c_uint64, POINTER(pool_merkle_shape)]),
    # (set, exec, params, leaves, levels)
    "pool_poseidon_merkle_build": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_merkle_params), POINTER(pool_span), POINTER(pool_span)]),
    # (set, exec, params, leaves, levels, bytes)
    "pool_poseidon_merkle_build_workspace": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_merkle_params), POINTER(pool_span), POINTER(pool_span), POINTER(c_uint64)]),
    # (set, exec, params, leaves, digests)
    "pool_poseidon_merkle_shards": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_merkle_params), POINTER(pool_span), POINTER(c_uint64)]),
    # (set, exec, params, leaf_count, leaves, levels, index, path)
    "pool_poseidon_merkle_open": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_merkle_params), c_uint64, POINTER(pool_span), POINTER(pool_span), c_uint64, POINTER(pool_span)]),
    # (set, exec, params, leaf_count, leaves, levels, index, path, bytes)
    "pool_poseidon_merkle_open_workspace": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_merkle_params), c_uint64, POINTER(pool_span), POINTER(pool_span), c_uint64, POINTER(pool_span), POINTER(c_uint64)]),
    # (set, params, form, root, leaf, index, path, is_member)
    "pool_poseidon_merkle_verify": (c_int32, [c_void_p, POINTER(pool_merkle_params), c_uint32, c_void_p, c_void_p, c_uint64, c_void_p, POINTER(c_int32)]),
    # (params, struct_size)
    "pool_matrix_commit_params_init": (None, [POINTER(pool_matrix_commit_params), c_uint64]),
    # (params, matrices, count, shape)
    "pool_matrix_commit_get_shape": (c_int32, [POINTER(pool_matrix_commit_params), POINTER(pool_matrix), c_uint32, POINTER(pool_matrix_commit_shape)]),
    # (params, exec, matrices, count, levels)
    "pool_matrix_commit": (c_int32, [POINTER(pool_matrix_commit_params), POINTER(pool_exec), POINTER(pool_matrix), c_uint32, POINTER(pool_span)]),
    # (params, exec, matrices, count, levels, bytes)
    "pool_matrix_commit_workspace": (c_int32, [POINTER(pool_matrix_commit_params), POINTER(pool_exec), POINTER(pool_matrix), c_uint32, POINTER(pool_span), POINTER(c_uint64)]),
    # (params, exec, matrices, count, digests)
    "pool_matrix_commit_shards": (c_int32, [POINTER(pool_matrix_commit_params), POINTER(pool_exec), POINTER(pool_matrix), c_uint32, POINTER(c_uint64)]),
    # (params, exec, extensions, count, levels)
    "pool_extend_commit": (c_int32, [POINTER(pool_matrix_commit_params), POINTER(pool_exec), POINTER(pool_extension), c_uint32, POINTER(pool_span)]),
    # (params, exec, extensions, count, levels, bytes)
    "pool_extend_commit_workspace": (c_int32, [POINTER(pool_matrix_commit_params), POINTER(pool_exec), POINTER(pool_extension), c_uint32, POINTER(pool_span), POINTER(c_uint64)]),
    # (params, exec)
    "pool_matrix_commit_warm_up": (c_int32, [POINTER(pool_matrix_commit_params), POINTER(pool_exec)]),
    # (params, exec, matrices, count, levels, indices, index_count, rows, paths)
    "pool_matrix_open": (c_int32, [POINTER(pool_matrix_commit_params), POINTER(pool_exec), POINTER(pool_matrix), c_uint32, POINTER(pool_span), POINTER(c_uint64), c_uint64, POINTER(pool_span), POINTER(pool_span)]),
    # (params, exec, matrices, count, levels, index_count, rows, paths, bytes)
    "pool_matrix_open_workspace": (c_int32, [POINTER(pool_matrix_commit_params), POINTER(pool_exec), POINTER(pool_matrix), c_uint32, POINTER(pool_span), c_uint64, POINTER(pool_span), POINTER(pool_span), POINTER(c_uint64)]),
    # (params, form, matrices, count, cap, index, row, path, is_member)
    "pool_matrix_verify": (c_int32, [POINTER(pool_matrix_commit_params), c_uint32, POINTER(pool_matrix), c_uint32, c_void_p, c_uint64, c_void_p, c_void_p, POINTER(c_int32)]),
    # ()
    "pool_curve_count": (c_uint64, []),
    # (index)
    "pool_curve_at": (c_void_p, [c_uint64]),
    # (name)
    "pool_curve_by_name": (c_void_p, [c_char_p]),
    # (params, struct_size)
    "pool_curve_params_init": (None, [POINTER(pool_curve_params), c_uint64]),
    # (params, curve)
    "pool_curve_create": (c_int32, [POINTER(pool_curve_params), POINTER(c_void_p)]),
    # (curve)
    "pool_curve_retain": (c_void_p, [c_void_p]),
    # (curve)
    "pool_curve_destroy": (None, [POINTER(c_void_p)]),
    # (curve)
    "pool_curve_name": (c_char_p, [c_void_p]),
    # (curve)
    "pool_curve_base_field": (c_void_p, [c_void_p]),
    # (curve)
    "pool_curve_scalar_field": (c_void_p, [c_void_p]),
    # (curve)
    "pool_curve_degree": (c_uint32, [c_void_p]),
    # (curve)
    "pool_curve_coordinate_bytes": (c_uint64, [c_void_p]),
    # (curve, fingerprint)
    "pool_curve_fingerprint": (c_int32, [c_void_p, c_void_p]),
    # (curve, bytes, cofactor)
    "pool_curve_cofactor": (c_int32, [c_void_p, c_uint64, c_void_p]),
    # (curve, layout)
    "pool_point_bytes": (c_uint64, [c_void_p, c_uint32]),
    # (curve, format, points, count, checks, first_bad)
    "pool_points_check": (c_int32, [c_void_p, POINTER(pool_point_format), c_void_p, c_uint64, c_uint32, POINTER(c_uint64)]),
    # (curve, from_format, from, count, checks, to_format, to)
    "pool_points_convert": (c_int32, [c_void_p, POINTER(pool_point_format), c_void_p, c_uint64, c_uint32, POINTER(pool_point_format), c_void_p]),
    # (curve, encoding)
    "pool_encoding_bytes": (c_uint64, [c_void_p, c_uint32]),
    # (curve, format, points, count, encoding, stride, encoded)
    "pool_points_encode": (c_int32, [c_void_p, POINTER(pool_point_format), c_void_p, c_uint64, c_uint32, c_uint64, c_void_p]),
    # (curve, encoding, stride, encoded, count, checks, format, points)
    "pool_points_decode": (c_int32, [c_void_p, c_uint32, c_uint64, c_void_p, c_uint64, c_uint32, POINTER(pool_point_format), c_void_p]),
    # (curve, format, p, q, sum)
    "pool_point_add": (c_int32, [c_void_p, POINTER(pool_point_format), c_void_p, c_void_p, c_void_p]),
    # (curve, format, p, scalar, scalar_bytes, product)
    "pool_point_mul": (c_int32, [c_void_p, POINTER(pool_point_format), c_void_p, c_void_p, c_uint64, c_void_p]),
    # (curve, p_format, p, q_format, q, is_equal)
    "pool_point_equal": (c_int32, [c_void_p, POINTER(pool_point_format), c_void_p, POINTER(pool_point_format), c_void_p, POINTER(c_int32)]),
    # (curve, format, point)
    "pool_curve_generator": (c_int32, [c_void_p, POINTER(pool_point_format), c_void_p]),
    # (curve, seed, count, format, points, scalars)
    "pool_random_points": (c_int32, [c_void_p, c_uint64, c_uint64, POINTER(pool_point_format), c_void_p, c_void_p]),
    # (params, struct_size)
    "pool_ecntt_params_init": (None, [POINTER(pool_ecntt_params), c_uint64]),
    # (params, exec, in, out)
    "pool_ecntt": (c_int32, [POINTER(pool_ecntt_params), POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span)]),
    # (params, exec, in, out, bytes)
    "pool_ecntt_workspace": (c_int32, [POINTER(pool_ecntt_params), POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span), POINTER(c_uint64)]),
    # (curve, exec)
    "pool_ecntt_warm_up": (c_int32, [c_void_p, POINTER(pool_exec)]),
    # (params, struct_size)
    "pool_fri_fold_params_init": (None, [POINTER(pool_fri_fold_params), c_uint64]),
    # (params, exec, in, out)
    "pool_fri_fold": (c_int32, [POINTER(pool_fri_fold_params), POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span)]),
    # (params, exec, in, out, bytes)
    "pool_fri_fold_workspace": (c_int32, [POINTER(pool_fri_fold_params), POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span), POINTER(c_uint64)]),
    # (field, layer, log_arity, is_bit_reversed, matrices, count)
    "pool_fri_layer": (c_int32, [c_void_p, POINTER(pool_span), c_uint32, c_int32, POINTER(pool_matrix), POINTER(c_uint32)]),
    # (params, next_log_arity, commit, exec, in, out, levels)
    "pool_fri_fold_commit": (c_int32, [POINTER(pool_fri_fold_params), c_uint32, POINTER(pool_matrix_commit_params), POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span), POINTER(pool_span)]),
    # (params, next_log_arity, commit, exec, in, out, levels, bytes)
    "pool_fri_fold_commit_workspace": (c_int32, [POINTER(pool_fri_fold_params), c_uint32, POINTER(pool_matrix_commit_params), POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span), POINTER(pool_span), POINTER(c_uint64)]),
    # (params, struct_size)
    "pool_matrix_evaluate_params_init": (None, [POINTER(pool_matrix_evaluate_params), c_uint64]),
    # (params, exec, matrix, points, count, values)
    "pool_matrix_evaluate": (c_int32, [POINTER(pool_matrix_evaluate_params), POINTER(pool_exec), POINTER(pool_matrix), c_void_p, c_uint32, c_void_p]),
    # (params, exec, matrix, count, bytes)
    "pool_matrix_evaluate_workspace": (c_int32, [POINTER(pool_matrix_evaluate_params), POINTER(pool_exec), POINTER(pool_matrix), c_uint32, POINTER(c_uint64)]),
    # (field, exec, in, out)
    "pool_matrix_bit_reverse": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_matrix), POINTER(pool_matrix)]),
    # (field, exec)
    "pool_fri_warm_up": (c_int32, [c_void_p, POINTER(pool_exec)]),
    # (kind)
    "pool_file_kind_name": (c_char_p, [c_uint32]),
    # (params, struct_size)
    "pool_file_params_init": (None, [POINTER(pool_file_params), c_uint64]),
    # (path, params, file)
    "pool_file_open": (c_int32, [c_char_p, POINTER(pool_file_params), POINTER(c_void_p)]),
    # (file)
    "pool_file_destroy": (None, [POINTER(c_void_p)]),
    # (file, info)
    "pool_file_get_info": (c_int32, [c_void_p, POINTER(pool_file_info)]),
    # (file, name, section)
    "pool_file_get_section": (c_int32, [c_void_p, c_char_p, POINTER(pool_file_section)]),
    # (file, index, section)
    "pool_file_section_at": (c_int32, [c_void_p, c_uint64, POINTER(pool_file_section)]),
    # (stream)
    "pool_stream_begin_capture": (c_int32, [c_void_p]),
    # (stream, graph)
    "pool_stream_end_capture": (c_int32, [c_void_p, POINTER(c_void_p)]),
    # (graph, stream)
    "pool_graph_launch": (c_int32, [c_void_p, c_void_p]),
    # (graph, stream)
    "pool_graph_update": (c_int32, [c_void_p, c_void_p]),
    # (graph)
    "pool_graph_destroy": (c_int32, [POINTER(c_void_p)]),
    # (graph)
    "pool_graph_device": (c_void_p, [c_void_p]),
    # (callback, user, level)
    "pool_log_set": (None, [pool_log_callback, c_void_p, c_uint32]),
    # (level, message)
    "pool_log_write": (None, [c_uint32, c_char_p]),
    # (pool, format, text)
    "pool_metrics": (c_int32, [c_void_p, c_uint32, POINTER(c_char_p)]),
    # (pool, level)
    "pool_set_phase_timing": (c_int32, [c_void_p, c_int32]),
    # (device, params, module)
    "pool_module_compile": (c_int32, [c_void_p, POINTER(pool_module_params), POINTER(c_void_p)]),
    # (params, compute_capability, form, image, size)
    "pool_module_build": (c_int32, [POINTER(pool_module_params), c_int32, c_uint32, POINTER(c_void_p), POINTER(c_uint64)]),
    # (image)
    "pool_image_free": (None, [POINTER(c_void_p)]),
    # (device, image, size, module)
    "pool_module_load": (c_int32, [c_void_p, c_void_p, c_uint64, POINTER(c_void_p)]),
    # (device, path, module)
    "pool_module_load_file": (c_int32, [c_void_p, c_char_p, POINTER(c_void_p)]),
    # (module)
    "pool_module_destroy": (c_int32, [POINTER(c_void_p)]),
    # (module)
    "pool_module_device": (c_void_p, [c_void_p]),
    # (module, expression)
    "pool_module_symbol": (c_char_p, [c_void_p, c_char_p]),
    # (module, name, address, bytes)
    "pool_module_variable": (c_int32, [c_void_p, c_char_p, POINTER(c_uint64), POINTER(c_uint64)]),
    # (module, handle)
    "pool_module_handle": (c_int32, [c_void_p, POINTER(c_void_p)]),
    # (kernel, handle)
    "pool_kernel_handle": (c_int32, [c_void_p, POINTER(c_void_p)]),
    # (module, name, kernel)
    "pool_kernel_get": (c_int32, [c_void_p, c_char_p, POINTER(c_void_p)]),
    # (kernel, info)
    "pool_kernel_get_info": (c_int32, [c_void_p, POINTER(pool_kernel_info)]),
    # (kernel, index, offset, bytes)
    "pool_kernel_get_parameter": (c_int32, [c_void_p, c_uint64, POINTER(c_uint64), POINTER(c_uint64)]),
    # (kernel, percent)
    "pool_kernel_set_carveout": (c_int32, [c_void_p, c_int32]),
    # (kernel, percent)
    "pool_kernel_get_carveout": (c_int32, [c_void_p, POINTER(c_int32)]),
    # (kernel, block_threads, dynamic_shared_bytes, blocks_per_multiprocessor)
    "pool_kernel_get_occupancy": (c_int32, [c_void_p, c_uint32, c_uint64, POINTER(c_uint32)]),
    # (kernel, dynamic_shared_bytes, block_threads, blocks)
    "pool_kernel_get_best_block": (c_int32, [c_void_p, c_uint64, POINTER(c_uint32), POINTER(c_uint32)]),
    # (kernel, shape, largest, resident)
    "pool_kernel_get_clusters": (c_int32, [c_void_p, POINTER(pool_launch_shape), POINTER(c_uint32), POINTER(c_uint32)]),
    # (n, shape)
    "pool_launch_shape_for": (c_int32, [c_uint64, POINTER(pool_launch_shape)]),
    # (kernel, shape, arguments, stream)
    "pool_launch": (c_int32, [c_void_p, POINTER(pool_launch_shape), POINTER(c_void_p), c_void_p]),
    # (pool, exec, modules, count)
    "pool_warm_up": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_module_params), c_uint64]),
    # (path, size)
    "pool_cache_directory": (c_int32, [c_void_p, c_uint64]),
    # (visit, user)
    "pool_cache_each": (c_int32, [pool_cache_visitor, c_void_p]),
    # (kept, deleted)
    "pool_cache_verify": (c_int32, [POINTER(c_uint64), POINTER(c_uint64)]),
    # (deleted)
    "pool_cache_clear": (c_int32, [POINTER(c_uint64)]),
    # (index, info)
    "pool_pack_at": (c_int32, [c_uint64, POINTER(pool_pack_info)]),
    # (directory, params, info)
    "pool_pack_build": (c_int32, [c_char_p, POINTER(pool_pack_params), POINTER(pool_pack_info)]),
    # (directory, compute_capability, info, left_out)
    "pool_pack_cache": (c_int32, [c_char_p, c_int32, POINTER(pool_pack_info), POINTER(c_uint64)]),
    # (path, info)
    "pool_pack_unpack": (c_int32, [c_char_p, POINTER(pool_pack_info)]),
    # (path, info)
    "pool_pack_verify": (c_int32, [c_char_p, POINTER(pool_pack_info)]),
    # (params, struct_size)
    "pool_bases_params_init": (None, [POINTER(pool_bases_params), c_uint64]),
    # (params, exec, points, bases)
    "pool_bases_create": (c_int32, [POINTER(pool_bases_params), POINTER(pool_exec), POINTER(pool_span), POINTER(c_void_p)]),
    # (params, exec, points, bases_bytes, bytes)
    "pool_bases_create_workspace": (c_int32, [POINTER(pool_bases_params), POINTER(pool_exec), POINTER(pool_span), POINTER(c_uint64), POINTER(c_uint64)]),
    # (params, exec, path, bases_bytes, bytes)
    "pool_bases_load_workspace": (c_int32, [POINTER(pool_bases_params), POINTER(pool_exec), c_char_p, POINTER(c_uint64), POINTER(c_uint64)]),
    # (bases)
    "pool_bases_retain": (c_void_p, [c_void_p]),
    # (bases)
    "pool_bases_destroy": (c_int32, [POINTER(c_void_p)]),
    # (bases)
    "pool_bases_curve": (c_void_p, [c_void_p]),
    # (bases)
    "pool_bases_device": (c_void_p, [c_void_p]),
    # (bases)
    "pool_bases_count": (c_uint64, [c_void_p]),
    # (bases)
    "pool_bases_bytes": (c_uint64, [c_void_p]),
    # (bases)
    "pool_bases_precompute_factor": (c_uint32, [c_void_p]),
    # (bases)
    "pool_bases_window_bits": (c_uint32, [c_void_p]),
    # (bases, fingerprint)
    "pool_bases_fingerprint": (c_int32, [c_void_p, c_void_p]),
    # (device, fingerprint, factor, bases)
    "pool_bases_find": (c_int32, [c_void_p, c_void_p, c_uint32, POINTER(c_void_p)]),
    # (bases, path)
    "pool_bases_save": (c_int32, [c_void_p, c_char_p]),
    # (params, exec, path, bases)
    "pool_bases_load": (c_int32, [POINTER(pool_bases_params), POINTER(pool_exec), c_char_p, POINTER(c_void_p)]),
    # (params, struct_size)
    "pool_msm_params_init": (None, [POINTER(pool_msm_params), c_uint64]),
    # (params, exec, points, scalars, results)
    "pool_msm": (c_int32, [POINTER(pool_msm_params), POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span), POINTER(pool_span)]),
    # (params, exec, points, scalars, results, bytes)
    "pool_msm_workspace": (c_int32, [POINTER(pool_msm_params), POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span), POINTER(pool_span), POINTER(c_uint64)]),
    # (params, struct_size)
    "pool_msm_joint_params_init": (None, [POINTER(pool_msm_joint_params), c_uint64]),
    # (params, exec, terms, count, results)
    "pool_msm_joint": (c_int32, [POINTER(pool_msm_joint_params), POINTER(pool_exec), POINTER(pool_msm_term), c_uint32, POINTER(pool_span)]),
    # (params, exec, terms, count, results, bytes)
    "pool_msm_joint_workspace": (c_int32, [POINTER(pool_msm_joint_params), POINTER(pool_exec), POINTER(pool_msm_term), c_uint32, POINTER(pool_span), POINTER(c_uint64)]),
    # (curve, exec)
    "pool_msm_warm_up": (c_int32, [c_void_p, POINTER(pool_exec)]),
    # (params, struct_size)
    "pool_resident_params_init": (None, [POINTER(pool_resident_params), c_uint64]),
    # (pool, params, resident)
    "pool_resident_create": (c_int32, [c_void_p, POINTER(pool_resident_params), POINTER(c_void_p)]),
    # (resident)
    "pool_resident_destroy": (c_int32, [POINTER(c_void_p)]),
    # (resident, exec, use)
    "pool_resident_open": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(c_void_p)]),
    # (use)
    "pool_resident_close": (c_int32, [POINTER(c_void_p)]),
    # (use)
    "pool_resident_bases": (c_void_p, [c_void_p]),
    # (use)
    "pool_resident_buffer": (c_void_p, [c_void_p]),
    # (resident, exec, bytes)
    "pool_resident_open_workspace": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(c_uint64)]),
    # (resident, params, exec, scalars, results, bytes)
    "pool_resident_msm_workspace": (c_int32, [c_void_p, POINTER(pool_msm_params), POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span), POINTER(c_uint64)]),
    # (residents, params, exec, terms, count, results, bytes)
    "pool_resident_msm_joint_workspace": (c_int32, [POINTER(c_void_p), POINTER(pool_msm_joint_params), POINTER(pool_exec), POINTER(pool_msm_term), c_uint32, POINTER(pool_span), POINTER(c_uint64)]),
    # (resident)
    "pool_resident_bytes": (c_uint64, [c_void_p]),
    # (resident, device)
    "pool_resident_evict": (c_int32, [c_void_p, c_void_p]),
    # (resident, device, info)
    "pool_resident_get_info": (c_int32, [c_void_p, c_void_p, POINTER(pool_resident_info)]),
    # (rules)
    "pool_sim_set_faults": (c_int32, [c_char_p]),
    # ()
    "pool_sim_resume": (c_int32, []),
    # (reports)
    "pool_sim_set_reports": (c_int32, [c_uint32]),
    # (fault)
    "pool_sim_get_last_fault": (c_int32, [POINTER(pool_sim_fault)]),
    # (index)
    "pool_sim_class_name": (c_char_p, [c_uint32]),
    # (visit, user)
    "pool_sim_kernel_stats_each": (c_int32, [pool_sim_kernel_visitor, c_void_p]),
    # ()
    "pool_sim_kernel_stats_reset": (c_int32, []),
    # (format, text)
    "pool_sim_kernel_stats_text": (c_int32, [c_uint32, POINTER(c_char_p)]),
    # (format, text)
    "pool_sim_profile_text": (c_int32, [c_uint32, POINTER(c_char_p)]),
    # (format, count, text)
    "pool_sim_leaks": (c_int32, [c_uint32, POINTER(c_uint64), POINTER(c_char_p)]),
    # (hook, user)
    "pool_trace_set": (None, [pool_trace_hook, c_void_p]),
    # (device, info)
    "pool_device_get_tuning": (c_int32, [c_void_p, POINTER(pool_tuning_info)]),
    # (device, tuning)
    "pool_tuning_create": (c_int32, [c_void_p, POINTER(c_void_p)]),
    # (tuning)
    "pool_tuning_destroy": (None, [POINTER(c_void_p)]),
    # (tuning, name, value)
    "pool_tuning_set": (c_int32, [c_void_p, c_char_p, c_uint32]),
    # (tuning, name, value)
    "pool_tuning_get": (c_int32, [c_void_p, c_char_p, POINTER(c_uint32)]),
    # (tuning, visit, user)
    "pool_tuning_each": (c_int32, [c_void_p, pool_tuning_visitor, c_void_p]),
    # (device, path, size)
    "pool_tuning_path": (c_int32, [c_void_p, c_void_p, c_uint64]),
    # (tuning, path)
    "pool_tuning_write": (c_int32, [c_void_p, c_char_p]),
    # (path, tuning)
    "pool_tuning_read": (c_int32, [c_char_p, POINTER(c_void_p)]),
    # (field, exec, a, b, out)
    "pool_vector_add": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span), POINTER(pool_span)]),
    # (field, exec, a, b, out)
    "pool_vector_sub": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span), POINTER(pool_span)]),
    # (field, exec, a, b, out)
    "pool_vector_mul": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span), POINTER(pool_span)]),
    # (field, exec, scalar, a, out)
    "pool_vector_scale": (c_int32, [c_void_p, POINTER(pool_exec), c_void_p, POINTER(pool_span), POINTER(pool_span)]),
    # (field, exec, a, out)
    "pool_vector_inverse": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span)]),
    # (field, exec, a, out)
    "pool_vector_bit_reverse": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_span), POINTER(pool_span)]),
    # (field, exec, rows, columns, a, out)
    "pool_vector_transpose": (c_int32, [c_void_p, POINTER(pool_exec), c_uint64, c_uint64, POINTER(pool_span), POINTER(pool_span)]),
    # (field, exec, base, out)
    "pool_vector_powers": (c_int32, [c_void_p, POINTER(pool_exec), c_void_p, POINTER(pool_span)]),
    # (field, exec, a, point, value)
    "pool_vector_evaluate": (c_int32, [c_void_p, POINTER(pool_exec), POINTER(pool_span), c_void_p, c_void_p]),
    # (field, exec, operation, a, b, out, bytes)
    "pool_vector_workspace": (c_int32, [c_void_p, POINTER(pool_exec), c_uint32, POINTER(pool_span), POINTER(pool_span), POINTER(pool_span), POINTER(c_uint64)]),
    # (field, exec)
    "pool_vector_warm_up": (c_int32, [c_void_p, POINTER(pool_exec)]),
    # (device, bytes)
    "pool_virtual_granularity": (c_int32, [c_void_p, POINTER(c_uint64)]),
    # (device, bytes, flags, physical)
    "pool_physical_create": (c_int32, [c_void_p, c_uint64, c_uint32, POINTER(c_void_p)]),
    # (physical, descriptor)
    "pool_physical_export": (c_int32, [c_void_p, POINTER(c_int32)]),
    # (device, descriptor, bytes, physical)
    "pool_physical_import": (c_int32, [c_void_p, c_int32, c_uint64, POINTER(c_void_p)]),
    # (physical)
    "pool_physical_destroy": (c_int32, [POINTER(c_void_p)]),
    # (physical)
    "pool_physical_bytes": (c_uint64, [c_void_p]),
    # (physical)
    "pool_physical_device": (c_void_p, [c_void_p]),
    # (physical, handle)
    "pool_physical_handle": (c_int32, [c_void_p, POINTER(c_uint64)]),
    # (device, bytes, range)
    "pool_range_reserve": (c_int32, [c_void_p, c_uint64, POINTER(c_void_p)]),
    # (range, offset, physical)
    "pool_range_map": (c_int32, [c_void_p, c_uint64, c_void_p]),
    # (range, offset, bytes)
    "pool_range_unmap": (c_int32, [c_void_p, c_uint64, c_uint64]),
    # (range, devices, count)
    "pool_range_grant_access": (c_int32, [c_void_p, POINTER(c_void_p), c_uint64]),
    # (range, offset, bytes, buffer)
    "pool_range_buffer": (c_int32, [c_void_p, c_uint64, c_uint64, POINTER(c_void_p)]),
    # (range)
    "pool_range_destroy": (c_int32, [POINTER(c_void_p)]),
    # (range, address)
    "pool_range_address": (c_int32, [c_void_p, POINTER(c_uint64)]),
    # (range)
    "pool_range_bytes": (c_uint64, [c_void_p]),
    # (range)
    "pool_range_device": (c_void_p, [c_void_p]),
    # (range)
    "pool_range_mapped_bytes": (c_uint64, [c_void_p]),
}


def load(path):
    """The library at `path`, all of its functions declared."""
    library = CDLL(path)
    for name, (result, parameters) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = parameters
    return library
