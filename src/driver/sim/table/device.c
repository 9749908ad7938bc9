/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the simulated driver for initialisation, versions, error names and device
 * properties.
 */
#include <stdio.h>
#include <string.h>

#include "driver/sim/table/state.h"

#define FIRST_PCI_BUS 0x10
#define PCI_STRING_BYTES 13 /* "0000:10:00.0" with its terminating NUL */

static bool is_device(CUdevice device)
{
    return device >= 0 && (uint32_t)device < sim_state.config.device_count;
}

pool_cu_result sim_cu_Init(unsigned int flags)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_Init, SIM_NEED_NOTHING, -1);

    if (code)
        return code;
    if (flags)
        return sim_leave(POOL_CU_INVALID_VALUE);
    /* While no pool has simulated devices open, there are none. */
    if (sim_state.references == 0 || !sim_state.config.device_count)
        return sim_leave(POOL_CU_NO_DEVICE);
    sim_state.is_initialised = true;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_DriverGetVersion(int *version)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_DriverGetVersion, SIM_NEED_NOTHING, -1);

    if (code)
        return code;
    if (!version)
        return sim_leave(POOL_CU_INVALID_VALUE);
    *version = (int)(sim_state.references ? sim_state.config.driver_version : SIM_DRIVER_VERSION);
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_GetErrorName(pool_cu_result error, const char **name)
{
    if (!name)
        return POOL_CU_INVALID_VALUE;
    switch (error) {
    case POOL_CU_SUCCESS:
        *name = "CUDA_SUCCESS";
        return POOL_CU_SUCCESS;
#define CODE(text, code, harms)                                                                    \
    case code + (code == 0 ? 100000 : 0): /* code 0 is handled above */                                         \
        *name = "CUDA_ERROR_" #text;                                                               \
        return POOL_CU_SUCCESS;
        POOL_CU_RESULTS(CODE)
#undef CODE
    default:
        *name = NULL;
        return POOL_CU_INVALID_VALUE;
    }
}

pool_cu_result sim_cu_GetErrorString(pool_cu_result error, const char **text)
{
    static const struct {
        pool_cu_result code;
        const char *text;
    } texts[] = {
        {0, "no error"},
        {1, "invalid argument"},
        {2, "out of memory"},
        {3, "initialization error"},
        {4, "driver shutting down"},
        {101, "invalid device ordinal"},
        {200, "device kernel image is invalid"},
        {201, "invalid device context"},
        {209, "no kernel image is available for execution on the device"},
        {218, "a PTX JIT compilation failed"},
        {222, "the provided PTX was compiled with an unsupported toolchain."},
        {400, "invalid resource handle"},
        {500, "named symbol not found"},
        {600, "device not ready"},
        {700, "an illegal memory access was encountered"},
        {701, "too many resources requested for launch"},
        {702, "the launch timed out and was terminated"},
        {709, "context is destroyed"},
        {710, "device-side assert triggered"},
        {716, "misaligned address"},
        {719, "unspecified launch failure"},
        {720, "too many blocks in cooperative launch"},
        {800, "operation not permitted"},
        {801, "operation not supported"},
    };

    if (!text)
        return POOL_CU_INVALID_VALUE;
    for (size_t at = 0; at < sizeof(texts) / sizeof(texts[0]); at++) {
        if (texts[at].code == error) {
            *text = texts[at].text;
            return POOL_CU_SUCCESS;
        }
    }
    return sim_cu_GetErrorName(error, text);
}

pool_cu_result sim_cu_DeviceGet(CUdevice *device, int ordinal)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_DeviceGet, SIM_NEED_INIT, ordinal);

    if (code)
        return code;
    if (!device)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (!is_device(ordinal))
        return sim_leave(POOL_CU_INVALID_DEVICE);
    *device = ordinal;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_DeviceGetCount(int *count)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_DeviceGetCount, SIM_NEED_INIT, -1);

    if (code)
        return code;
    if (!count)
        return sim_leave(POOL_CU_INVALID_VALUE);
    *count = (int)sim_state.config.device_count;
    return sim_leave(POOL_CU_SUCCESS);
}

/* Begins a device query that writes its result to `out`. */
static pool_cu_result enter_device_query(
    struct sim_call *call, enum sim_driver_function function, CUdevice device, const void *out)
{
    pool_cu_result code = sim_enter(call, function, SIM_NEED_INIT, device);

    if (code)
        return code;
    if (!out)
        return sim_leave(POOL_CU_INVALID_VALUE);
    return is_device(device) ? POOL_CU_SUCCESS : sim_leave(POOL_CU_INVALID_DEVICE);
}

pool_cu_result sim_cu_DeviceGetName(char *name, int size, CUdevice device)
{
    struct sim_call call;
    pool_cu_result code = enter_device_query(&call, SIM_CU_DeviceGetName, device, name);

    if (code)
        return code;
    if (size <= 0)
        return sim_leave(POOL_CU_INVALID_VALUE);
    snprintf(name, (size_t)size, "%s", sim_config_of(device)->name);
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_DeviceGetUuid(pool_cu_uuid *uuid, CUdevice device)
{
    struct sim_call call;
    pool_cu_result code = enter_device_query(&call, SIM_CU_DeviceGetUuid, device, uuid);

    if (code)
        return code;
    sim_uuid(sim_config_of(device)->identity, uuid);
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_DeviceGetUuidV2(pool_cu_uuid *uuid, CUdevice device)
{
    struct sim_call call;
    pool_cu_result code = enter_device_query(&call, SIM_CU_DeviceGetUuidV2, device, uuid);

    if (code)
        return code;
    sim_uuid(sim_config_of(device)->identity, uuid);
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_DeviceTotalMem(size_t *bytes, CUdevice device)
{
    struct sim_call call;
    pool_cu_result code = enter_device_query(&call, SIM_CU_DeviceTotalMem, device, bytes);

    if (code)
        return code;
    *bytes = sim_config_of(device)->memory_bytes;
    return sim_leave(POOL_CU_SUCCESS);
}

/* Attributes that are the same on every chip. Textures, surfaces and other features that are not
 * simulated keep the sizes that current devices report. */
static bool common_attribute(pool_cu_enum attribute, int *value)
{
    static const int values[][2] = {{1, SIM_BLOCK_THREADS}, {2, 1024}, {3, 1024}, {4, 64},
        {5, 2147483647}, {6, 65535}, {7, 65535}, {8, SIM_SHARED_PER_BLOCK}, {9, SIM_CONSTANT_BYTES},
        {10, SIM_WARP}, {11, 2147483647}, {14, 512}, {15, 1}, {17, 0}, {18, 0}, {19, 1}, {20, 0},
        {21, 131072}, {22, 131072}, {23, 65536}, {24, 16384}, {25, 16384}, {26, 16384}, {27, 32768},
        {28, 32768}, {29, 2048}, {30, 512}, {31, 1}, {32, 0}, {34, 0}, {35, 0}, {40, 3}, {41, 1},
        {42, 32768}, {43, 2048}, {44, 0}, {45, 32768}, {46, 32768}, {47, 8192}, {48, 8192},
        {49, 32768}, {50, 0}, {51, 32}, {52, 32768}, {53, 32768}, {54, 2046}, {55, 32768},
        {56, 131072}, {57, 65536}, {58, 16384}, {59, 16384}, {60, 16384}, {61, 32768}, {62, 2048},
        {63, 32768}, {64, 32768}, {65, 2048}, {66, 32768}, {67, 32768}, {68, 2046}, {69, 268435456},
        {70, 131072}, {71, 65000}, {72, 2097120}, {73, 32768}, {74, 32768}, {77, 32768}, {78, 1},
        {79, 1}, {80, 1}, {82, SIM_REGISTERS}, {83, 0}, {84, 0}, {86, 0}, {88, 0}, {89, 0}, {90, 1},
        {91, 1}, {92, 0}, {93, 0}, {94, 0}, {95, 1}, {96, 0}, {98, 0}, {99, 1}, {100, 0}, {101, 0},
        {102, 1}, {103, 1}, {104, 0}, {105, 0}, {107, 0}, {108, 0}, {109, 0}, {110, 0}, {112, 0},
        {113, 0}, {114, 0}, {115, 1}, {116, 0}, {117, 0}, {118, 0}, {119, 0}, {120, 0}, {121, 0},
        {122, 0}, {123, 0}, {124, 0}, {125, 0}, {126, 1}, {127, 0}, {128, 0}, {129, 0}, {130, 0},
        {131, -1}, {132, 0}, {133, 0}, {134, -1}, {135, 0}, {136, 0}, {137, 0}, {138, 0}, {139, 0},
        {140, 0}, {141, 0}, {142, 0}, {143, 0}, {144, 0}, {145, 0}, {146, 0}, {147, 0}};

    for (size_t at = 0; at < sizeof(values) / sizeof(values[0]); at++) {
        if (values[at][0] == (int)attribute) {
            *value = values[at][1];
            return true;
        }
    }
    return false;
}

/* Attributes that differ by chip or device. */
static bool chip_attribute(pool_cu_enum attribute, CUdevice device, int *value)
{
    const struct sim_chip *chip = sim_state.devices[device].chip;
    const int identity = (int)sim_config_of(device)->identity;
    const int values[][2] = {
        {POOL_CU_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, chip->registers_per_block},
        {POOL_CU_ATTRIBUTE_CLOCK_RATE, chip->clock_khz},
        {POOL_CU_ATTRIBUTE_MULTIPROCESSOR_COUNT, (int)sim_config_of(device)->multiprocessors},
        {POOL_CU_ATTRIBUTE_MPS_ENABLED, sim_state.config.mps_percentage != 0},
        {POOL_CU_ATTRIBUTE_PCI_BUS_ID, FIRST_PCI_BUS + identity},
        {POOL_CU_ATTRIBUTE_MEMORY_CLOCK_RATE, chip->memory_clock_khz},
        {POOL_CU_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, chip->memory_bus_bits},
        {POOL_CU_ATTRIBUTE_L2_CACHE_SIZE, chip->l2_bytes},
        {POOL_CU_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, chip->threads_per_multiprocessor},
        {POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, (int)chip->capability / 10},
        {POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, (int)chip->capability % 10},
        {POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, chip->shared_per_multiprocessor},
        {POOL_CU_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID, identity},
        {POOL_CU_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, chip->single_to_double},
        {POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, chip->shared_per_block_optin},
        {POOL_CU_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, chip->blocks_per_multiprocessor},
        {POOL_CU_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, chip->shared_reserved_per_block},
    };

    for (size_t at = 0; at < sizeof(values) / sizeof(values[0]); at++) {
        if (values[at][0] == (int)attribute) {
            *value = values[at][1];
            return true;
        }
    }
    return false;
}

pool_cu_result sim_cu_DeviceGetAttribute(int *value, pool_cu_enum attribute, CUdevice device)
{
    struct sim_call call;
    pool_cu_result code = enter_device_query(&call, SIM_CU_DeviceGetAttribute, device, value);

    if (code)
        return code;
    if (chip_attribute(attribute, device, value) || common_attribute(attribute, value))
        return sim_leave(POOL_CU_SUCCESS);
    return sim_leave(POOL_CU_INVALID_VALUE);
}

pool_cu_result sim_cu_DeviceGetPCIBusId(char *text, int size, CUdevice device)
{
    struct sim_call call;
    pool_cu_result code = enter_device_query(&call, SIM_CU_DeviceGetPCIBusId, device, text);

    if (code)
        return code;
    if (size < PCI_STRING_BYTES)
        return sim_leave(POOL_CU_INVALID_VALUE);
    snprintf(text, (size_t)size, "0000:%02x:00.0",
        (FIRST_PCI_BUS + sim_config_of(device)->identity) & 0xffu);
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_DeviceGetByPCIBusId(CUdevice *device, const char *text)
{
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_DeviceGetByPCIBusId, SIM_NEED_INIT, -1);

    if (code)
        return code;
    if (!device || !text)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
        domain = function = 0;
        if (sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2)
            return sim_leave(POOL_CU_INVALID_VALUE);
    }
    for (int at = 0; !domain && !slot && !function && is_device(at); at++) {
        if (bus != FIRST_PCI_BUS + sim_config_of(at)->identity)
            continue;
        *device = at;
        return sim_leave(POOL_CU_SUCCESS);
    }
    return sim_leave(POOL_CU_INVALID_DEVICE);
}

pool_cu_result sim_cu_DeviceCanAccessPeer(int *can_access, CUdevice device, CUdevice peer)
{
    struct sim_call call;
    pool_cu_result code = enter_device_query(&call, SIM_CU_DeviceCanAccessPeer, device, can_access);

    if (code)
        return code;
    if (!is_device(peer))
        return sim_leave(POOL_CU_INVALID_DEVICE);
    *can_access = sim_are_peers(device, peer);
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_DeviceGetP2PAttribute(
    int *value, pool_cu_enum attribute, CUdevice source, CUdevice destination)
{
    struct sim_call call;
    pool_cu_result code = enter_device_query(&call, SIM_CU_DeviceGetP2PAttribute, source, value);

    if (code)
        return code;
    if (!is_device(destination) || source == destination)
        return sim_leave(POOL_CU_INVALID_DEVICE);
    switch (attribute) {
    case DRIVER_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case DRIVER_DEVICE_P2P_ATTRIBUTE_ACCESS_ACCESS_SUPPORTED:
    case DRIVER_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
        *value = 0;
        return sim_leave(POOL_CU_SUCCESS);
    case DRIVER_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case DRIVER_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
        *value = sim_are_peers(source, destination);
        return sim_leave(POOL_CU_SUCCESS);
    default:
        return sim_leave(POOL_CU_INVALID_VALUE);
    }
}
