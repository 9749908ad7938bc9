/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's result codes: name, class, corresponding pool_status, and an explanation. A pure
 * table that makes no driver call.
 */
#include <stddef.h>

#include "driver/internal.h"

/* SHUTDOWN is a class of this list only; its codes belong to class PROCESS. */
#define POOL_CLASS_SHUTDOWN POOL_CLASS_PROCESS

/* The status of most codes of a class. */
#define STATUS_NONE POOL_OK
#define STATUS_CALL POOL_ERR_DRIVER
#define STATUS_DEVICE POOL_ERR_DEVICE_UNUSABLE
#define STATUS_HOST POOL_ERR_NO_DRIVER
#define STATUS_PROCESS POOL_ERR_PROCESS_POISONED
#define STATUS_SHUTDOWN POOL_ERR_SHUTDOWN

static const struct code_row {
    pool_cu_result code;
    pool_error_class harms;
    pool_status status;
    const char *name;
} code_rows[] = {
#define ROW(name, code, harms) {code, POOL_CLASS_##harms, STATUS_##harms, "CUDA_ERROR_" #name},
    POOL_CU_RESULTS(ROW)
#undef ROW
};

/* Codes with a more specific status than their class's. */
static const struct exact_row {
    pool_cu_code code;
    pool_status status;
} exact_rows[] = {
    {POOL_CU_INVALID_VALUE, POOL_ERR_INVALID_ARGUMENT},
    {POOL_CU_OUT_OF_MEMORY, POOL_ERR_OUT_OF_DEVICE_MEMORY},
    {POOL_CU_CALL_REQUIRES_NEWER_DRIVER, POOL_ERR_DRIVER_TOO_OLD},
    {POOL_CU_INVALID_IMAGE, POOL_ERR_BAD_IMAGE},
    {POOL_CU_NO_BINARY_FOR_GPU, POOL_ERR_BAD_IMAGE},
    {POOL_CU_UNSUPPORTED_LIMIT, POOL_ERR_UNSUPPORTED},
    {POOL_CU_PEER_ACCESS_UNSUPPORTED, POOL_ERR_UNSUPPORTED},
    {POOL_CU_INVALID_PTX, POOL_ERR_BAD_IMAGE},
    {POOL_CU_JIT_COMPILER_NOT_FOUND, POOL_ERR_UNSUPPORTED},
    {POOL_CU_UNSUPPORTED_PTX_VERSION, POOL_ERR_BAD_IMAGE},
    {POOL_CU_JIT_COMPILATION_DISABLED, POOL_ERR_UNSUPPORTED},
    {POOL_CU_UNSUPPORTED_EXEC_AFFINITY, POOL_ERR_UNSUPPORTED},
    {POOL_CU_UNSUPPORTED_DEVSIDE_SYNC, POOL_ERR_BAD_IMAGE},
    {POOL_CU_INVALID_SOURCE, POOL_ERR_BAD_IMAGE},
    {POOL_CU_FILE_NOT_FOUND, POOL_ERR_NOT_FOUND},
    {POOL_CU_SHARED_OBJECT_SYMBOL_NOT_FOUND, POOL_ERR_NOT_FOUND},
    {POOL_CU_INVALID_HANDLE, POOL_ERR_INVALID_ARGUMENT},
    {POOL_CU_NOT_FOUND, POOL_ERR_NOT_FOUND},
    {POOL_CU_NOT_READY, POOL_ERR_NOT_READY},
    {POOL_CU_LAUNCH_OUT_OF_RESOURCES, POOL_ERR_INVALID_ARGUMENT},
    {POOL_CU_COOPERATIVE_LAUNCH_TOO_LARGE, POOL_ERR_INVALID_ARGUMENT},
    {POOL_CU_NOT_SUPPORTED, POOL_ERR_UNSUPPORTED},
    {POOL_CU_CDP_NOT_SUPPORTED, POOL_ERR_UNSUPPORTED},
    {POOL_CU_CDP_VERSION_MISMATCH, POOL_ERR_BAD_IMAGE},
    {POOL_CU_STREAM_CAPTURE_UNSUPPORTED, POOL_ERR_UNSUPPORTED},
    {POOL_CU_TIMEOUT, POOL_ERR_TIMEOUT},
    {POOL_CU_INVALID_CLUSTER_SIZE, POOL_ERR_INVALID_ARGUMENT},
    {POOL_CU_INVALID_RESOURCE_TYPE, POOL_ERR_INVALID_ARGUMENT},
    {POOL_CU_INVALID_RESOURCE_CONFIGURATION, POOL_ERR_INVALID_ARGUMENT},
};

static const struct hint_row {
    pool_cu_code code;
    const char *text;
} hint_rows[] = {
    {POOL_CU_INVALID_VALUE, "the driver rejected an argument"},
    {POOL_CU_OUT_OF_MEMORY, "out of memory"},
    {POOL_CU_NOT_INITIALIZED, "the driver is not initialised in this process"},
    {POOL_CU_DEINITIALIZED, "the driver is shutting down because the process ends"},
    {POOL_CU_STUB_LIBRARY, "the library is the toolkit's stub for linking, not a driver"},
    {POOL_CU_CALL_REQUIRES_NEWER_DRIVER, "the installed driver is older than the call"},
    {POOL_CU_DEVICE_UNAVAILABLE,
        "the device is busy in exclusive mode, prohibited or in a bad state (nvidia-smi -q)"},
    {POOL_CU_NO_DEVICE, "no GPU is visible to this process: see nvidia-smi, CUDA_VISIBLE_DEVICES "
                        "and, in a container, the GPUs passed to it"},
    {POOL_CU_INVALID_DEVICE, "there is no such device, or it does not support the operation"},
    {POOL_CU_DEVICE_NOT_LICENSED, "the device has no licence (vGPU)"},
    {POOL_CU_INVALID_IMAGE,
        "this is neither PTX nor a cubin, or one of a newer compiler than the driver knows"},
    {POOL_CU_INVALID_CONTEXT, "no context is current on this thread, or it was destroyed"},
    {POOL_CU_NO_BINARY_FOR_GPU, "the image has no code for this chip"},
    {POOL_CU_ECC_UNCORRECTABLE, "device memory had an uncorrectable ECC error"},
    {POOL_CU_INVALID_PTX, "the driver's PTX compiler rejected the source"},
    {POOL_CU_NVLINK_UNCORRECTABLE, "NVLink had an uncorrectable error"},
    {POOL_CU_JIT_COMPILER_NOT_FOUND, "libnvidia-ptxjitcompiler is not installed with the driver"},
    {POOL_CU_UNSUPPORTED_PTX_VERSION, "the PTX is of a newer version than the driver knows"},
    {POOL_CU_JIT_COMPILATION_DISABLED, "compilation of PTX is disabled (CUDA_DISABLE_PTX_JIT)"},
    {POOL_CU_CONTAINED, "a contained memory error ended the process's work on the GPU"},
    {POOL_CU_INVALID_HANDLE, "a stream, event, module or function does not exist any more"},
    {POOL_CU_NOT_FOUND, "no such symbol"},
    {POOL_CU_OPERATING_SYSTEM, "a call of the operating system failed in the driver"},
    {POOL_CU_ILLEGAL_ADDRESS, "a kernel read or wrote memory that it does not own"},
    {POOL_CU_LAUNCH_OUT_OF_RESOURCES,
        "the launch needs more registers, threads or shared memory than the device has"},
    {POOL_CU_LAUNCH_TIMEOUT, "a kernel ran longer than the watchdog of the display allows"},
    {POOL_CU_ASSERT, "a device assert failed"},
    {POOL_CU_HARDWARE_STACK_ERROR, "a kernel corrupted its call stack"},
    {POOL_CU_ILLEGAL_INSTRUCTION, "a kernel executed an illegal instruction"},
    {POOL_CU_MISALIGNED_ADDRESS, "a kernel read or wrote at a misaligned address"},
    {POOL_CU_INVALID_ADDRESS_SPACE, "a kernel used an address of the wrong address space"},
    {POOL_CU_INVALID_PC, "a kernel jumped to an address without code"},
    {POOL_CU_LAUNCH_FAILED, "a kernel failed while it ran (trap, or a fault of the device)"},
    {POOL_CU_COOPERATIVE_LAUNCH_TOO_LARGE, "more blocks than fit on the device at once"},
    {POOL_CU_TENSOR_MEMORY_LEAK, "a kernel ended without freeing tensor memory"},
    {POOL_CU_NOT_PERMITTED, "the operation is not allowed for this user or in this state"},
    {POOL_CU_SYSTEM_NOT_READY,
        "the system is not ready: with NVSwitch the fabric manager service must run"},
    {POOL_CU_SYSTEM_DRIVER_MISMATCH, "libcuda and the kernel module have different versions: "
                                     "after a driver update reload the module or reboot"},
    {POOL_CU_COMPAT_NOT_SUPPORTED_ON_DEVICE,
        "the forward-compatibility libcuda does not work with this GPU: remove the cuda-compat "
        "package from the library path"},
    {POOL_CU_MPS_CONNECTION_FAILED, "the MPS daemon does not respond"},
    {POOL_CU_MPS_RPC_FAILURE, "the MPS daemon does not respond"},
    {POOL_CU_MPS_SERVER_NOT_READY, "the MPS server is not ready to take clients"},
    {POOL_CU_MPS_MAX_CLIENTS_REACHED, "the MPS server accepts no further client"},
    {POOL_CU_MPS_CLIENT_TERMINATED, "the MPS server ended this client"},
    {POOL_CU_EXTERNAL_DEVICE, "an external device that takes part in GPU work failed"},
    {POOL_CU_UNKNOWN, "the driver reports no cause; the kernel log (dmesg, NVRM: Xid) often does"},
};

static const struct code_row *find_row(pool_cu_result code)
{
    for (size_t i = 0; i < sizeof(code_rows) / sizeof(code_rows[0]); i++)
        if (code_rows[i].code == code)
            return &code_rows[i];
    return NULL;
}

const char *driver_code_name(pool_cu_result code)
{
    const struct code_row *row = find_row(code);

    if (code == POOL_CU_SUCCESS)
        return "CUDA_SUCCESS";
    return row ? row->name : "CUDA_ERROR_?";
}

pool_error_class driver_code_class(pool_cu_result code)
{
    const struct code_row *row = find_row(code);

    return row ? row->harms : POOL_CLASS_CALL;
}

pool_status driver_status_of(pool_cu_result code)
{
    const struct code_row *row = find_row(code);

    for (size_t i = 0; i < sizeof(exact_rows) / sizeof(exact_rows[0]); i++)
        if ((pool_cu_result)exact_rows[i].code == code)
            return exact_rows[i].status;
    return row ? row->status : POOL_ERR_DRIVER;
}

const char *driver_code_hint(pool_cu_result code)
{
    for (size_t i = 0; i < sizeof(hint_rows) / sizeof(hint_rows[0]); i++)
        if ((pool_cu_result)hint_rows[i].code == code)
            return hint_rows[i].text;
    return "";
}
