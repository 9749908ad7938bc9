/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory through the table of driver functions: on simulated devices, the mock and workers
 * alike, and what of it outlives a worker.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <devicepool.h>
#include <devicepool/mock.h>

#include "driver/driver.h"
#include "left_behind.h"
#include "driver/sim/table/sim.h"
#include "support/assert.h"
#include "driver/worker/worker.h"

static const pool_cuda_api *cu;

#define CODE(expected, call) assert_int_equal(cu->call, expected)
#define MIB ((size_t)1 << 20)

enum { DESCRIPTOR = 1, READ_WRITE = 3 };

static const pool_cu_mem_allocation_prop exportable = {
    .type = 1, .handle_types = DESCRIPTOR, .location = {1, 0}};
static const pool_cu_mem_access access_own = {{1, 0}, READ_WRITE};

/* ---- drivers -----------------------------------------------------------------------------------
 */

static pool_mock *mock;

static void open_simulated(void)
{
    assert_ok(sim_open("sim:2,mem=1G", &cu));
}

static void close_simulated(void)
{
    uint64_t leaks = 1;

    sim_close();
    assert_ok(pool_sim_leaks(POOL_TEXT_PLAIN, &leaks, NULL));
    assert_int_equal(leaks, 0);
}

static void open_mock(void)
{
    const pool_mock_params params = {
        .struct_size = sizeof(params), .devices = 2, .memory_bytes = UINT64_C(1) << 30};

    assert_ok(pool_mock_create(&mock, &params));
    cu = pool_mock_table(mock);
}

static void close_mock(void)
{
    assert_string_equal(pool_mock_leaks(mock), "");
    pool_mock_destroy(&mock);
}

static void open_workers(void)
{
    assert_ok(worker_open("sim:2,mem=1G", &cu));
}

static const struct {
    void (*open)(void);
    void (*close)(void);
} drivers[] = {
    {open_simulated, close_simulated}, {open_mock, close_mock}, {open_workers, worker_close}};

static CUcontext enter(CUdevice device)
{
    CUcontext context = NULL;

    CODE(0, DevicePrimaryCtxRetain(&context, device));
    CODE(0, CtxPushCurrent(context));
    return context;
}

static void leave(CUdevice device)
{
    CODE(0, CtxPopCurrent(NULL));
    CODE(0, DevicePrimaryCtxRelease(device));
}

static void on_each_driver(void (*body)(void))
{
    for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
        struct left_behind before = look();

        drivers[i].open();
        CODE(0, Init(0));
        (void)enter(0);
        body();
        leave(0);
        drivers[i].close();
        assert_nothing_left(before);
    }
}

/* ---- memory ------------------------------------------------------------------------------------
 */

struct mapped {
    CUmemGenericAllocationHandle allocation;
    CUdeviceptr address;
    size_t bytes;
};

static void map_memory(struct mapped *mapped)
{
    CODE(0, MemMap(mapped->address, mapped->bytes, 0, mapped->allocation, 0));
    CODE(0, MemSetAccess(mapped->address, mapped->bytes, &access_own, 1));
}

static struct mapped create(size_t bytes)
{
    struct mapped made = {.bytes = bytes};

    CODE(0, MemCreate(&made.allocation, bytes, &exportable, 0));
    CODE(0, MemAddressReserve(&made.address, bytes, 0, 0, 0));
    map_memory(&made);
    return made;
}

static void destroy(const struct mapped *mapped)
{
    CODE(0, MemUnmap(mapped->address, mapped->bytes));
    CODE(0, MemAddressFree(mapped->address, mapped->bytes));
    CODE(0, MemRelease(mapped->allocation));
}

static int export(const struct mapped *mapped)
{
    int descriptor = -1;

    CODE(0, MemExportToShareableHandle(&descriptor, mapped->allocation, DESCRIPTOR, 0));
    assert_true(descriptor >= 0);
    assert_int_equal(fcntl(descriptor, F_GETFD), FD_CLOEXEC);
    return descriptor;
}

static CUmemGenericAllocationHandle import(int descriptor)
{
    CUmemGenericAllocationHandle allocation = 0;

    CODE(0, MemImportFromShareableHandle(&allocation, (void *)(intptr_t)descriptor, DESCRIPTOR));
    return allocation;
}

static void fill(CUdeviceptr address, size_t bytes, unsigned seed)
{
    for (size_t at = 0; at < bytes; at += MIB)
        CODE(0, MemsetD32(address + at, seed + (unsigned)(at / MIB), MIB / 4));
    CODE(0, CtxSynchronize());
}

static void assert_filled(CUdeviceptr address, size_t bytes, unsigned seed)
{
    uint32_t first, last;

    for (size_t at = 0; at < bytes; at += MIB) {
        CODE(0, MemcpyDtoH(&first, address + at, 4));
        CODE(0, MemcpyDtoH(&last, address + at + MIB - 4, 4));
        assert_int_equal(first, seed + (unsigned)(at / MIB));
        assert_int_equal(last, seed + (unsigned)(at / MIB));
    }
}

static void test_life_on(void)
{
    size_t before, after, total, granularity = 0;
    pool_cu_enum attributes[] = {9, 2, 11};
    uint64_t start = 0;
    unsigned type = 9;
    int ordinal = -1;
    void *values[] = {&ordinal, &type, &start};
    struct mapped memory;

    CODE(0, MemGetAllocationGranularity(&granularity, &exportable, 0));
    assert_int_equal(granularity, 2 * MIB);
    CODE(0, MemGetInfo(&before, &total));
    memory = create(6 * MIB);
    CODE(0, MemGetInfo(&after, &total));
    assert_int_equal(before - after, 6 * MIB);
    fill(memory.address, memory.bytes, 7);
    assert_filled(memory.address, memory.bytes, 7);
    CODE(0, PointerGetAttributes(3, attributes, values, memory.address + 5 * MIB));
    assert_int_equal(ordinal, 0);
    assert_int_equal(type, 2);
    assert_int_equal(start, memory.address);
    /* The contents belong to the allocation, not to the addresses. */
    CODE(0, MemUnmap(memory.address, memory.bytes));
    CODE(1, MemcpyDtoH(&type, memory.address, 4));
    map_memory(&memory);
    assert_filled(memory.address, memory.bytes, 7);
    destroy(&memory);
    CODE(0, MemGetInfo(&after, &total));
    assert_int_equal(before, after);
}

static void test_life(void **state)
{
    (void)state;
    on_each_driver(test_life_on);
}

static void test_arguments_on(void)
{
    pool_cu_mem_allocation_prop prop = exportable;
    CUmemGenericAllocationHandle allocation = 0, other = 0;
    CUdeviceptr address = 0;
    int descriptor = -1;
    uint32_t value;

    CODE(1, MemCreate(&allocation, 0, &prop, 0));
    CODE(1, MemCreate(&allocation, 3 * MIB, &prop, 0));
    CODE(1, MemCreate(&allocation, 2 * MIB, NULL, 0));
    CODE(1, MemCreate(NULL, 2 * MIB, &prop, 0));
    CODE(1, MemCreate(&allocation, 2 * MIB, &prop, 1));
    CODE(2, MemCreate(&allocation, (size_t)4 << 30, &prop, 0));
    prop.handle_types = 2;
    CODE(801, MemCreate(&allocation, 2 * MIB, &prop, 0));
    prop.handle_types = 0;
    prop.location.id = 2;
    CODE(1, MemCreate(&allocation, 2 * MIB, &prop, 0));
    prop.location.id = 0;
    CODE(0, MemCreate(&allocation, 2 * MIB, &prop, 0));
    CODE(1, MemExportToShareableHandle(&descriptor, allocation, DESCRIPTOR, 0));
    assert_int_equal(descriptor, -1);
    CODE(1, MemAddressReserve(&address, 0, 0, 0, 0));
    CODE(1, MemAddressReserve(NULL, 2 * MIB, 0, 0, 0));
    CODE(1, MemAddressReserve(&address, 2 * MIB, 3, 0, 0));
    CODE(0, MemAddressReserve(&address, 4 * MIB, 0, 0, 0));
    CODE(1, MemMap(address, 4 * MIB, 0, allocation, 0));            /* more than there is */
    CODE(1, MemMap(address + 32 * MIB, 2 * MIB, 0, allocation, 0)); /* reserved in blocks of 32 */
    CODE(1, MemMap(address, MIB, 0, allocation, 0));
    CODE(1, MemSetAccess(address, 2 * MIB, &access_own, 1));
    CODE(0, MemMap(address + 2 * MIB, 2 * MIB, 0, allocation, 0));
    CODE(1, MemMap(address + 2 * MIB, 2 * MIB, 0, allocation, 0));
    CODE(1, MemAddressFree(address, 4 * MIB));
    CODE(1, MemUnmap(address, 4 * MIB));
    /* Released, but mapped. */
    CODE(0, MemRelease(allocation));
    assert_int_not_equal(cu->MemRelease(allocation), 0);
    assert_int_not_equal(cu->MemMap(address, 2 * MIB, 0, allocation, 0), 0);
    CODE(0, MemSetAccess(address + 2 * MIB, 2 * MIB, &access_own, 1));
    CODE(0, MemsetD32(address + 2 * MIB, 3, 1));
    CODE(0, MemcpyDtoH(&value, address + 2 * MIB, 4));
    assert_int_equal(value, 3);
    CODE(0, MemUnmap(address + 2 * MIB, 2 * MIB));
    CODE(1, MemAddressFree(address, 40 * MIB));
    CODE(0, MemAddressFree(address, 4 * MIB));
    CODE(1, MemAddressFree(address, 4 * MIB));
    /* Descriptors that are no memory. */
    CODE(1, MemImportFromShareableHandle(&other, (void *)(intptr_t)-1, DESCRIPTOR));
    descriptor = open("/dev/null", O_RDWR | O_CLOEXEC);
    CODE(1, MemImportFromShareableHandle(&other, (void *)(intptr_t)descriptor, DESCRIPTOR));
    close(descriptor);
    assert_int_equal(other, 0);
}

static void test_arguments(void **state)
{
    (void)state;
    on_each_driver(test_arguments_on);
}

static void test_export_on(void)
{
    struct mapped memory = create(4 * MIB), second = {.bytes = 4 * MIB};
    int descriptor;

    fill(memory.address, memory.bytes, 11);
    descriptor = export(&memory);
    second.allocation = import(descriptor);
    CODE(0, MemAddressReserve(&second.address, second.bytes, 0, 0, 0));
    map_memory(&second);
    assert_filled(second.address, second.bytes, 11);
    /* It is the same memory. */
    fill(second.address, second.bytes, 20);
    assert_filled(memory.address, memory.bytes, 20);
    destroy(&memory);
    assert_filled(second.address, second.bytes, 20);
    destroy(&second);
    /* The descriptor keeps it alive. */
    second.allocation = import(descriptor);
    close(descriptor);
    CODE(0, MemAddressReserve(&second.address, second.bytes, 0, 0, 0));
    map_memory(&second);
    assert_filled(second.address, second.bytes, 20);
    destroy(&second);
}

static void test_export(void **state)
{
    (void)state;
    on_each_driver(test_export_on);
}

/* ---- simulated devices -------------------------------------------------------------------------
 */

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 to, .param .u32 n)\n"
    "{ .reg .b64 a; .reg .b32 b, c; ld.param.u64 a, [to]; ld.param.u32 b, [n];"
    " atom.global.add.u32 c, [a], b; ret; }\n";

static pool_cu_result add(CUdeviceptr address, uint32_t value)
{
    void *arguments[] = {&address, &value};
    CUfunction function;
    CUmodule module;
    pool_cu_result code;

    CODE(0, ModuleLoadData(&module, ptx));
    CODE(0, ModuleGetFunction(&function, module, "add"));
    CODE(0, LaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    code = cu->CtxSynchronize();
    (void)cu->ModuleUnload(module);
    return code;
}

/* A kernel needs access, and reaches no byte beyond the mapping. */
static void test_kernels(void **state)
{
    struct mapped memory;
    uint32_t value = 1;

    (void)state;
    for (int wrong = 0; wrong < 3; wrong++) {
        open_simulated();
        CODE(0, Init(0));
        (void)enter(0);
        memory = create(2 * MIB);
        CODE(0, MemsetD32(memory.address, 5, 1));
        assert_int_equal(add(memory.address, 2), 0);
        CODE(0, MemcpyDtoH(&value, memory.address, 4));
        assert_int_equal(value, 5 + 32 * 2);
        if (wrong == 0) {
            destroy(&memory);
            leave(0);
            close_simulated();
            continue;
        }
        if (wrong == 1) {
            CODE(0, MemUnmap(memory.address, memory.bytes));
            CODE(0, MemMap(memory.address, memory.bytes, 0, memory.allocation, 0));
        }
        assert_int_equal(
            add(memory.address + (wrong == 2 ? memory.bytes : 0), 1), POOL_CU_ILLEGAL_ADDRESS);
        (void)cu->CtxPopCurrent(NULL);
        sim_close();
    }
}

/* A memfd that only looks like memory of a simulated device. */
static void test_forged_descriptors(void **state)
{
    struct mapped memory;
    CUmemGenericAllocationHandle other = 0;
    int forged = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING), genuine;
    char page[4096];

    (void)state;
    open_simulated();
    CODE(0, Init(0));
    (void)enter(0);
    memory = create(2 * MIB);
    genuine = export(&memory);
    assert_int_equal(pread(genuine, page, sizeof(page), (off_t)(2 * MIB)), sizeof(page));
    assert_int_equal(ftruncate(forged, (off_t)(2 * MIB)), 0);
    assert_int_equal(pwrite(forged, page, sizeof(page), (off_t)(2 * MIB)), sizeof(page));
    /* It could be truncated while it is mapped. */
    CODE(1, MemImportFromShareableHandle(&other, (void *)(intptr_t)forged, DESCRIPTOR));
    page[8] ^= 1; /* another size */
    assert_int_equal(pwrite(forged, page, sizeof(page), (off_t)(2 * MIB)), sizeof(page));
    assert_int_equal(fcntl(forged, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    CODE(1, MemImportFromShareableHandle(&other, (void *)(intptr_t)forged, DESCRIPTOR));
    close(forged);
    close(genuine);
    destroy(&memory);
    leave(0);
    close_simulated();
}

/* ---- the end of a worker -----------------------------------------------------------------------
 */

static void kill_and_wait(int ordinal, unsigned generation)
{
    struct worker_status status;

    assert_true(worker_get_status(ordinal, &status));
    assert_int_equal(kill(status.pid, SIGKILL), 0);
    do {
        usleep(2000);
        assert_true(worker_get_status(ordinal, &status));
    } while (status.generation < generation || status.state != WORKER_STATE_RUNNING);
}

/* What was exported is there for the replacement, at the same address. */
static void test_survives(void **state)
{
    struct left_behind before = look();
    CUmemGenericAllocationHandle lost;
    struct mapped memory, other;
    CUdeviceptr wanted;
    int descriptor;

    (void)state;
    open_workers();
    CODE(0, Init(0));
    (void)enter(0);
    memory = create(4 * MIB);
    fill(memory.address, memory.bytes, 40);
    descriptor = export(&memory);
    for (unsigned generation = 2; generation < 7; generation++) {
        kill_and_wait(0, generation);
        lost = memory.allocation;
        CODE(DRIVER_CODE_LOST, MemMap(memory.address, memory.bytes, 0, lost, 0));
        CODE(DRIVER_CODE_LOST, MemExportToShareableHandle(&(int){0}, lost, DESCRIPTOR, 0));
        CODE(0, MemRelease(lost));
        CODE(0, CtxPopCurrent(NULL));
        (void)enter(0);
        other = create(2 * MIB); /* of the replacement: elsewhere */
        assert_true(other.address >= memory.address + memory.bytes ||
                    other.address + other.bytes <= memory.address);
        wanted = memory.address;
        memory.allocation = import(descriptor);
        CODE(0, MemAddressReserve(&memory.address, memory.bytes, 0, wanted, 0));
        assert_int_equal(memory.address, wanted);
        map_memory(&memory);
        assert_filled(memory.address, memory.bytes, 40);
        destroy(&other);
    }
    /* An address that is in use is given to nobody else. */
    CODE(0, MemAddressReserve(&wanted, memory.bytes, 0, memory.address, 0));
    assert_int_not_equal(wanted, memory.address);
    CODE(0, MemAddressFree(wanted, memory.bytes));
    close(descriptor);
    destroy(&memory);
    leave(0);
    worker_close();
    assert_nothing_left(before);
}

/* Each device's memory has addresses of its own, and is exported by its own process. */
static void test_devices(void **state)
{
    struct left_behind before = look();
    pool_cu_mem_allocation_prop prop = exportable;
    pool_cu_mem_access own = access_own;
    CUmemGenericAllocationHandle allocations[2];
    CUdeviceptr addresses[2];
    int descriptors[2];

    (void)state;
    open_workers();
    CODE(0, Init(0));
    for (CUdevice device = 0; device < 2; device++) {
        prop.location.id = own.location.id = device;
        (void)enter(device);
        CODE(0, MemCreate(&allocations[device], 2 * MIB, &prop, 0));
        CODE(0, MemAddressReserve(&addresses[device], 2 * MIB, 0, 0, 0));
        CODE(0, MemMap(addresses[device], 2 * MIB, 0, allocations[device], 0));
        CODE(0, MemSetAccess(addresses[device], 2 * MIB, &own, 1));
        fill(addresses[device], 2 * MIB, 100 * (unsigned)device);
        CODE(0,
            MemExportToShareableHandle(&descriptors[device], allocations[device], DESCRIPTOR, 0));
    }
    assert_int_not_equal(addresses[0], addresses[1]);
    /* Another worker's device cannot be given access, nor its memory be mapped. */
    CODE(217, MemSetAccess(addresses[1], 2 * MIB, &access_own, 1));
    assert_int_not_equal(cu->MemMap(addresses[0], 2 * MIB, 0, allocations[1], 0), 0);
    for (CUdevice device = 2; device-- > 0;) {
        assert_filled(addresses[device], 2 * MIB, 100 * (unsigned)device);
        close(descriptors[device]);
        leave(device);
    }
    worker_close(); /* with everything */
    assert_nothing_left(before);
}

/* The handles of a lost device can only be destroyed; then it comes back into service. */
static void test_lost_handles(void **state)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "workers:sim:1"};
    pool_buffer *buffer = NULL, *later = NULL;
    pool_physical *physical = NULL;
    struct worker_status status;
    pool_range *range = NULL;
    device_pool *pool = NULL;
    pool_device *device;
    uint32_t value = 0;

    (void)state;
    assert_ok(pool_create(&pool, &params));
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_range_reserve(device, 8 * MIB, &range));
    assert_ok(pool_physical_create(device, 2 * MIB, POOL_PHYSICAL_EXPORTABLE, &physical));
    assert_ok(pool_range_map(range, 0, physical));
    assert_ok(pool_range_buffer(range, 0, 2 * MIB, &buffer));
    assert_true(worker_get_status(pool_device_ordinal(device), &status));
    assert_int_equal(kill(status.pid, SIGKILL), 0);
    while (pool_copy_to_host(&value, buffer, 0, sizeof(value), NULL) != POOL_ERR_DEVICE_LOST)
        usleep(1000);
    assert_status(pool_range_map(range, 4 * MIB, physical), POOL_ERR_DEVICE_LOST);
    assert_status(pool_range_destroy(&range), POOL_ERR_BUSY);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_range_destroy(&range));
    assert_ok(pool_physical_destroy(&physical));
    while (pool_buffer_alloc(device, 4096, &later))
        usleep(1000);
    assert_ok(pool_buffer_destroy(&later));
    assert_ok(pool_physical_create(device, 2 * MIB, 0, &physical));
    assert_ok(pool_physical_destroy(&physical));
    assert_ok(pool_destroy(&pool));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_export),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_forged_descriptors),
        cmocka_unit_test(test_survives),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_lost_handles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
