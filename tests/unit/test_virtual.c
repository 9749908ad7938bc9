/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of addresses and physical memory, on the mock, on simulated devices, in worker processes
 * and on real ones; a second process imports what the first one has exported.
 */
#include "support/memory.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GIB (UINT64_C(1) << 30)

extern char **environ;

static const char *self, *device_argument = "mock";
static unsigned char bytes_of[1 << 16];

static uint64_t granularity_of(pool_device *device)
{
    uint64_t bytes = 0;

    assert_ok(pool_virtual_granularity(device, &bytes));
    assert_true(bytes >= 4096 && !(bytes & (bytes - 1)));
    return bytes;
}

static pool_memory_info info_of(pool_device *device)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_memory_get_info(device, &info));
    return info;
}

static void refused(pool_status status, pool_status expected, const char *text)
{
    if (status != expected || !strstr(pool_last_error()->message, text))
        fail_msg(
            "%s, \"%s\" is not in: %s", pool_status_name(status), text, pool_last_error()->message);
}

/* A pattern in the first and the last bytes of the mapped memory, through a buffer. */
static void write_at(pool_range *range, uint64_t offset, uint64_t bytes, uint32_t seed)
{
    pool_buffer *buffer = NULL;

    assert_ok(pool_range_buffer(range, offset, bytes, &buffer));
    memory_pattern(bytes_of, sizeof(bytes_of), seed);
    assert_ok(pool_copy_to_device(buffer, 0, bytes_of, sizeof(bytes_of), NULL));
    assert_ok(pool_copy_to_device(buffer, bytes - 100, bytes_of, 100, NULL));
    assert_ok(pool_buffer_destroy(&buffer));
}

static void check_at(pool_range *range, uint64_t offset, uint64_t bytes, uint32_t seed)
{
    pool_buffer *buffer = NULL;

    assert_ok(pool_range_buffer(range, offset, bytes, &buffer));
    memset(bytes_of, 0, sizeof(bytes_of));
    assert_ok(pool_copy_to_host(bytes_of, buffer, 0, sizeof(bytes_of), NULL));
    memory_check_pattern(bytes_of, sizeof(bytes_of), seed);
    assert_ok(pool_copy_to_host(bytes_of, buffer, bytes - 100, 100, NULL));
    memory_check_pattern(bytes_of, 100, seed);
    assert_ok(pool_buffer_destroy(&buffer));
}

/* ---- one process ----------------------------------------------------------------------------- */

/* As in docs/examples/growing_buffer.c. */
static pool_status grow(pool_range *range, uint64_t bytes, pool_buffer **buffer)
{
    uint64_t mapped = pool_range_mapped_bytes(range);
    pool_physical *more = NULL;
    pool_buffer *grown = NULL;
    pool_status status = POOL_OK;

    if (bytes > mapped) {
        status = pool_physical_create(pool_range_device(range), bytes - mapped, 0, &more);
        if (!status)
            status = pool_range_map(range, mapped, more);
        pool_physical_destroy(&more); /* the mapping keeps the memory */
    }
    if (!status)
        status = pool_range_buffer(range, 0, bytes, &grown);
    if (status)
        return status;
    pool_buffer_destroy(buffer);
    *buffer = grown;
    return POOL_OK;
}

static void test_growing_buffer(void **state)
{
    pool_device *device = memory_device(0);
    uint64_t unit = granularity_of(device), before = info_of(device).used_bytes;
    CUdeviceptr first = 0, address = 0;
    pool_range *range = NULL;
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_range_reserve(device, 64 * unit + 1, &range));
    assert_int_equal(pool_range_bytes(range), 65 * unit);
    assert_ptr_equal(pool_range_device(range), device);
    assert_ok(pool_range_address(range, &first));
    assert_true(first && first % unit == 0);
    assert_int_equal(pool_range_mapped_bytes(range), 0);
    assert_int_equal(info_of(device).used_bytes, before);
    for (uint64_t step = 1; step <= 4; step++) {
        uint64_t bytes = 3 * step * unit - 1000 * step;

        assert_ok(grow(range, bytes, &buffer));
        assert_int_equal(pool_range_mapped_bytes(range), 3 * step * unit);
        assert_int_equal(info_of(device).used_bytes, before + 3 * step * unit);
        assert_int_equal(info_of(device).physical_bytes, 3 * step * unit);
        assert_int_equal(pool_buffer_bytes(buffer), bytes);
        assert_ok(pool_buffer_address(buffer, &address));
        assert_int_equal(address, first);
        memory_pattern(bytes_of, 5000, (uint32_t)step);
        assert_ok(pool_copy_to_device(buffer, bytes - 5000, bytes_of, 5000, NULL));
        for (uint64_t earlier = 1; earlier <= step; earlier++) {
            assert_ok(pool_copy_to_host(
                bytes_of, buffer, 3 * earlier * unit - 1000 * earlier - 5000, 5000, NULL));
            memory_check_pattern(bytes_of, 5000, (uint32_t)earlier);
        }
    }
    /* The whole extent is one buffer for fills, copies and slices across the mappings. */
    assert_ok(pool_buffer_fill8(buffer, unit, 7 * unit, 9, NULL));
    assert_ok(pool_copy_to_host(bytes_of, buffer, 3 * unit - 100, 200, NULL));
    assert_true(memory_all(bytes_of, 200, 9));
    refused(pool_range_destroy(&range), POOL_ERR_BUSY, "1 buffer of the range still exists");
    refused(pool_destroy(&memory_pool), POOL_ERR_BUSY, "5 ranges and physical allocations");
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_range_destroy(&range));
    assert_null(range);
    assert_int_equal(info_of(device).used_bytes, before);
    assert_int_equal(info_of(device).physical_bytes, 0);
    assert_ok(pool_range_destroy(&range));
    assert_ok(pool_range_destroy(NULL));
}

/* The contents belong to the memory, not to the addresses, and can be mapped twice. */
static void test_mappings(void **state)
{
    pool_device *device = memory_device(0);
    uint64_t unit = granularity_of(device);
    CUmemGenericAllocationHandle handle = 0;
    pool_physical *first = NULL, *second = NULL;
    pool_range *range = NULL;

    (void)state;
    assert_ok(pool_physical_create(device, 2 * unit, 0, &first));
    assert_ok(pool_physical_create(device, 1, POOL_PHYSICAL_EXPORTABLE, &second));
    assert_int_equal(pool_physical_bytes(first), 2 * unit);
    assert_int_equal(pool_physical_bytes(second), unit);
    assert_ptr_equal(pool_physical_device(first), device);
    assert_status(pool_physical_handle(first, &handle), memory_raw_status());
    assert_true(handle || memory_raw_status());
    assert_ok(pool_range_reserve(device, 8 * unit, &range));
    assert_ok(pool_range_map(range, 4 * unit, first));
    assert_ok(pool_range_map(range, 0, second));
    write_at(range, 4 * unit, 2 * unit, 7);
    write_at(range, 0, unit, 8);
    assert_ok(pool_range_map(range, 6 * unit, first));
    check_at(range, 6 * unit, 2 * unit, 7);
    write_at(range, 6 * unit, 2 * unit, 9);
    check_at(range, 4 * unit, 2 * unit, 9);
    assert_ok(pool_range_unmap(range, 4 * unit, 4 * unit));
    assert_int_equal(pool_range_mapped_bytes(range), unit);
    assert_ok(pool_range_map(range, unit, first));
    check_at(range, unit, 2 * unit, 9);
    check_at(range, 0, unit, 8);
    /* Without a handle the memory lives as long as its mapping. */
    assert_ok(pool_physical_destroy(&first));
    assert_ok(pool_physical_destroy(&second));
    assert_null(first);
    check_at(range, unit, 2 * unit, 9);
    assert_int_equal(info_of(device).physical_bytes, 3 * unit);
    assert_ok(pool_range_unmap(range, unit, 2 * unit));
    assert_int_equal(info_of(device).physical_bytes, unit);
    assert_ok(pool_range_unmap(range, 0, 8 * unit)); /* with gaps */
    assert_ok(pool_range_unmap(range, 0, 8 * unit)); /* nothing is mapped */
    assert_int_equal(info_of(device).physical_bytes, 0);
    assert_ok(pool_range_destroy(&range));
}

static void test_refused_mappings(void **state)
{
    pool_device *device = memory_device(0);
    uint64_t unit = granularity_of(device);
    pool_physical *physical = NULL;
    pool_range *range = NULL;
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_physical_create(device, 2 * unit, 0, &physical));
    assert_ok(pool_range_reserve(device, 4 * unit, &range));
#define REFUSED(call, text) refused(call, POOL_ERR_INVALID_ARGUMENT, text)
    REFUSED(pool_range_map(range, unit / 2, physical), "no multiple of the granularity");
    REFUSED(pool_range_map(range, 3 * unit, physical), "beyond the range");
    REFUSED(pool_range_map(range, UINT64_MAX - unit + 1, physical), "beyond the range");
    REFUSED(pool_range_map(NULL, 0, physical), "range must not be NULL");
    REFUSED(pool_range_map(range, 0, NULL), "physical must not be NULL");
    assert_ok(pool_range_map(range, unit, physical));
    REFUSED(pool_range_map(range, 0, physical), "mapped already");
    REFUSED(pool_range_map(range, unit, physical), "mapped already");
    REFUSED(pool_range_map(range, 2 * unit, physical), "mapped already");
    REFUSED(pool_range_unmap(range, unit, unit), "only partly inside");
    REFUSED(pool_range_unmap(range, 2 * unit, unit), "only partly inside");
    REFUSED(pool_range_unmap(range, 1, unit), "no multiple");
    REFUSED(pool_range_unmap(range, unit, unit + 1), "no multiple");
    REFUSED(pool_range_unmap(range, 0, 5 * unit), "beyond the range");
    REFUSED(pool_range_buffer(range, 0, unit, &buffer), "no memory is mapped at offset 0");
    REFUSED(pool_range_buffer(range, unit, 2 * unit + 1, &buffer), "no memory is mapped at offset");
    REFUSED(pool_range_buffer(range, 4 * unit, 1, &buffer), "beyond the range");
    REFUSED(pool_range_buffer(range, unit, unit, NULL), "buffer must not be NULL");
    assert_null(buffer);
    /* A buffer keeps its addresses mapped, and those only. */
    assert_ok(pool_range_buffer(range, 2 * unit + 5, 10, &buffer));
    refused(pool_range_unmap(range, 0, 4 * unit), POOL_ERR_BUSY, "a buffer of 10 bytes");
    assert_ok(pool_range_unmap(range, 3 * unit, unit));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_range_buffer(range, 2 * unit, 0, &buffer)); /* an empty one */
    assert_ok(pool_range_unmap(range, 0, 4 * unit));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_range_destroy(&range));
    assert_ok(pool_physical_destroy(&physical));

    REFUSED(pool_physical_create(device, 0, 0, &physical), "`bytes` must not be 0");
    REFUSED(pool_physical_create(device, UINT64_MAX, 0, &physical), "`bytes` must not be above");
    REFUSED(pool_physical_create(device, unit, 2, &physical), "flags");
    REFUSED(pool_physical_create(NULL, unit, 0, &physical), "device must not be NULL");
    REFUSED(pool_physical_create(device, unit, 0, NULL), "physical must not be NULL");
    REFUSED(pool_range_reserve(device, 0, &range), "`bytes` must not be 0");
    REFUSED(pool_range_reserve(device, unit, NULL), "range must not be NULL");
    REFUSED(pool_virtual_granularity(device, NULL), "bytes must not be NULL");
#undef REFUSED
    refused(pool_physical_create(device, info_of(device).total_bytes + unit, 0, &physical),
        POOL_ERR_OUT_OF_DEVICE_MEMORY, "out of memory");
    assert_null(physical);
    assert_null(range);
}

static void pause_20_ms(void *user)
{
    (void)user;
    usleep(20000);
}

/* What was enqueued is done before the memory is unmapped. */
static void test_unmap_waits(void **state)
{
    pool_device *device = memory_device(0);
    uint64_t unit = granularity_of(device);
    pool_stream *stream = NULL;
    pool_physical *physical = NULL;
    pool_range *range = NULL;
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_physical_create(device, unit, 0, &physical));
    assert_ok(pool_range_reserve(device, unit, &range));
    for (uint8_t round = 1; round < 4; round++) {
        assert_ok(pool_range_map(range, 0, physical));
        assert_ok(pool_range_buffer(range, 0, unit, &buffer));
        assert_ok(pool_stream_call(stream, pause_20_ms, NULL));
        assert_ok(pool_buffer_fill8(buffer, 0, unit, round, stream));
        assert_ok(pool_buffer_destroy(&buffer));
        assert_ok(pool_range_unmap(range, 0, unit));
        assert_ok(pool_range_map(range, 0, physical));
        assert_ok(pool_range_buffer(range, 0, unit, &buffer));
        assert_ok(pool_copy_to_host(bytes_of, buffer, unit - 1000, 1000, NULL));
        assert_true(memory_all(bytes_of, 1000, round));
        assert_ok(pool_buffer_destroy(&buffer));
        assert_ok(pool_range_unmap(range, 0, unit));
    }
    assert_ok(pool_physical_destroy(&physical));
    assert_ok(pool_range_destroy(&range));
    assert_ok(pool_stream_destroy(&stream));
}

/* ---- two devices ----------------------------------------------------------------------------- */

/* Adds n to the 32 words that `to` points to. */
static const char kernel_text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry add(.param .u64 to, .param .u32 n)\n"
    "{ .reg .b64 a; .reg .b32 b, c; ld.param.u64 a, [to]; ld.param.u32 b, [n];"
    " atom.global.add.u32 c, [a], b; ret; }\n";

/* A kernel of `device` writes at the address. */
static void add_on(pool_device *device, CUdeviceptr address, uint32_t value)
{
    pool_launch_shape shape = {
        .struct_size = sizeof(shape), .grid = {1, 1, 1}, .block = {32, 1, 1}, .argument_count = 2};
    void *arguments[] = {&address, &value};
    pool_module *module = NULL;
    pool_kernel *kernel;

    assert_ok(pool_module_load(device, kernel_text, sizeof(kernel_text), &module));
    assert_ok(pool_kernel_get(module, "add", &kernel));
    assert_ok(pool_launch(kernel, &shape, arguments, NULL));
    assert_ok(pool_device_synchronize(device));
    assert_ok(pool_module_destroy(&module));
}

static void test_access(void **state)
{
    pool_device *device = memory_device(0), *other, *both[3];
    uint64_t unit = granularity_of(device);
    pool_physical *physical = NULL, *foreign = NULL;
    pool_range *range = NULL;
    pool_buffer *buffer = NULL;
    pool_peer_info peer = {.struct_size = sizeof(peer)};
    CUdeviceptr address = 0;
    uint32_t value = 0;

    (void)state;
    if (pool_device_count(memory_pool) < 2)
        skip();
    other = memory_device(1);
    both[0] = device;
    both[1] = both[2] = other;
    assert_ok(pool_range_reserve(device, 4 * unit, &range));
    assert_ok(pool_physical_create(device, unit, 0, &physical));
    assert_ok(pool_physical_create(other, unit, 0, &foreign));
    assert_ok(pool_range_map(range, 0, physical));
    assert_ok(pool_range_grant_access(range, NULL, 0));
    assert_ok(pool_range_grant_access(range, &device, 1));
    assert_status(pool_range_grant_access(range, NULL, 1), POOL_ERR_INVALID_ARGUMENT);
    both[1] = NULL;
    assert_status(pool_range_grant_access(range, both, 2), POOL_ERR_INVALID_ARGUMENT);
    both[1] = other;
    assert_ok(pool_device_get_peer(other, device, &peer));
    if (!strncmp(device_argument, "workers", 7) || !peer.access) {
        refused(pool_range_grant_access(range, both, 3), POOL_ERR_UNSUPPORTED, "cannot address");
        refused(pool_range_map(range, unit, foreign), POOL_ERR_UNSUPPORTED, "cannot address");
    } else {
        assert_ok(pool_range_grant_access(range, both, 3));
        assert_ok(pool_range_map(range, unit, foreign)); /* access is given here, too */
        write_at(range, unit, unit, 3);
        check_at(range, unit, unit, 3);
        assert_ok(pool_range_buffer(range, 0, 2 * unit, &buffer));
        assert_ok(pool_buffer_fill8(buffer, 0, 2 * unit, 0, NULL));
        if (!memory_mock) {
            assert_ok(pool_range_address(range, &address));
            for (uint64_t at = 0; at < 2; at++) {
                add_on(device, address + at * unit, 5);
                add_on(other, address + at * unit, 7);
                assert_ok(pool_copy_to_host(&value, buffer, at * unit, sizeof(value), NULL));
                assert_int_equal(value, 32 * (5 + 7));
            }
        }
        assert_ok(pool_buffer_destroy(&buffer));
    }
    assert_ok(pool_range_destroy(&range));
    assert_ok(pool_physical_destroy(&foreign));
    assert_ok(pool_physical_destroy(&physical));
}

/* ---- two processes --------------------------------------------------------------------------- */

static void test_import(void **state)
{
    pool_device *device = memory_device(0);
    uint64_t unit = granularity_of(device), used;
    pool_physical *physical = NULL, *imported = NULL;
    pool_range *range = NULL;
    int descriptor = -1, plain = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)state;
    assert_ok(pool_range_reserve(device, 4 * unit, &range));
    assert_ok(pool_physical_create(device, 2 * unit, POOL_PHYSICAL_EXPORTABLE, &physical));
    assert_ok(pool_range_map(range, 0, physical));
    write_at(range, 0, 2 * unit, 21);
    assert_ok(pool_physical_export(physical, &descriptor));
    assert_int_equal(fcntl(descriptor, F_GETFD), FD_CLOEXEC);
    used = info_of(device).used_bytes;
    assert_ok(pool_physical_import(device, descriptor, 2 * unit, &imported));
    assert_int_equal(pool_physical_bytes(imported), 2 * unit);
    assert_int_equal(info_of(device).used_bytes, used); /* it was counted before */
    assert_ok(pool_range_map(range, 2 * unit, imported));
    check_at(range, 2 * unit, 2 * unit, 21);
    write_at(range, 2 * unit, 2 * unit, 22);
    check_at(range, 0, 2 * unit, 22);
    /* The descriptor keeps it alive. */
    assert_ok(pool_range_unmap(range, 0, 4 * unit));
    assert_ok(pool_physical_destroy(&physical));
    assert_ok(pool_physical_destroy(&imported));
    assert_ok(pool_physical_import(device, descriptor, 2 * unit, &imported));
    close(descriptor);
    assert_ok(pool_range_map(range, 0, imported));
    assert_ok(pool_physical_destroy(&imported));
    check_at(range, 0, 2 * unit, 22);
    assert_ok(pool_range_destroy(&range));

    refused(pool_physical_import(device, -1, unit, &imported), POOL_ERR_INVALID_ARGUMENT,
        "-1 is no open file descriptor");
    refused(pool_physical_import(device, descriptor, unit, &imported), POOL_ERR_INVALID_ARGUMENT,
        "no open file descriptor");
    refused(pool_physical_import(device, plain, unit + 1, &imported), POOL_ERR_INVALID_ARGUMENT,
        "no multiple of the granularity");
    assert_int_not_equal(pool_physical_import(device, plain, unit, &imported), POOL_OK);
    assert_null(imported);
    close(plain);
    assert_ok(pool_physical_create(device, unit, 0, &physical));
    refused(pool_physical_export(physical, &descriptor), POOL_ERR_INVALID_ARGUMENT,
        "POOL_PHYSICAL_EXPORTABLE");
    refused(pool_physical_export(physical, NULL), POOL_ERR_INVALID_ARGUMENT, "must not be NULL");
    assert_ok(pool_physical_destroy(&physical));
}

/* In a process of its own: reads pattern 30 and writes pattern 31. */
static int import_here(int descriptor, uint64_t bytes)
{
    pool_physical *physical = NULL;
    pool_range *range = NULL;

    if (memory_set_up(NULL))
        return 1;
    assert_ok(pool_physical_import(memory_device(0), descriptor, bytes, &physical));
    close(descriptor);
    assert_ok(pool_range_reserve(memory_device(0), bytes, &range));
    assert_ok(pool_range_map(range, 0, physical));
    assert_ok(pool_physical_destroy(&physical));
    check_at(range, 0, bytes, 30);
    write_at(range, 0, bytes, 31);
    assert_ok(pool_range_destroy(&range));
    return memory_tear_down(NULL) ? 1 : 0;
}

static void test_second_process(void **state)
{
    pool_device *device = memory_device(0);
    uint64_t bytes = 2 * granularity_of(device);
    char descriptor_text[16], bytes_text[32];
    char *arguments[] = {(char *)(uintptr_t)self, "--device", (char *)(uintptr_t)device_argument,
        "--import", descriptor_text, bytes_text, NULL};
    pool_physical *physical = NULL;
    pool_range *range = NULL;
    int descriptor = -1, inherited, status = 0;
    pid_t child = 0;

    (void)state;
    assert_ok(pool_range_reserve(device, bytes, &range));
    assert_ok(pool_physical_create(device, bytes, POOL_PHYSICAL_EXPORTABLE, &physical));
    assert_ok(pool_range_map(range, 0, physical));
    write_at(range, 0, bytes, 30);
    assert_ok(pool_physical_export(physical, &descriptor));
    inherited = dup(descriptor); /* not close-on-exec */
    snprintf(descriptor_text, sizeof(descriptor_text), "%d", inherited);
    snprintf(bytes_text, sizeof(bytes_text), "%llu", (unsigned long long)bytes);
    assert_int_equal(posix_spawn(&child, self, NULL, NULL, arguments, environ), 0);
    close(inherited);
    close(descriptor);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    check_at(range, 0, bytes, 31);
    assert_ok(pool_range_destroy(&range));
    assert_ok(pool_physical_destroy(&physical));
}

/* ---- drivers without --------------------------------------------------------------------------
 */

static void test_unsupported(void **state)
{
    pool_device *device = memory_device(0);
    pool_physical *physical = NULL;
    pool_range *range = NULL;
    uint64_t bytes = 5;

    (void)state;
    if (!memory_mock)
        skip();
    assert_ok(pool_destroy(&memory_pool));
    pool_mock_remove_function(memory_mock, "cuMemCreate");
    pool_params params = {.struct_size = sizeof(params), .driver = pool_mock_table(memory_mock)};
    assert_ok(pool_create(&memory_pool, &params));
    device = memory_device(0);
    refused(pool_virtual_granularity(device, &bytes), POOL_ERR_UNSUPPORTED, "no virtual memory");
    assert_int_equal(bytes, 5);
    refused(pool_range_reserve(device, 1, &range), POOL_ERR_UNSUPPORTED, "no virtual memory");
    refused(
        pool_physical_create(device, 1, 0, &physical), POOL_ERR_UNSUPPORTED, "no virtual memory");
    refused(
        pool_physical_import(device, 0, 1, &physical), POOL_ERR_UNSUPPORTED, "no virtual memory");
}

/* Physical memory counts against the limit, and evicts nothing that is needed. */
static void test_memory_limit(void **state)
{
    pool_params params = {.struct_size = sizeof(params), .memory_limit = 64 << 20};
    pool_physical *physical = NULL, *second = NULL;
    pool_buffer *buffer = NULL;
    pool_device *device;

    (void)state;
    if (!memory_mock)
        skip();
    assert_ok(pool_destroy(&memory_pool));
    params.driver = pool_mock_table(memory_mock);
    assert_ok(pool_create(&memory_pool, &params));
    device = memory_device(0);
    assert_ok(pool_physical_create(device, 40 << 20, 0, &physical));
    refused(pool_physical_create(device, 26 << 20, 0, &second), POOL_ERR_OUT_OF_DEVICE_MEMORY,
        "would exceed the memory limit");
    refused(pool_buffer_alloc(device, 26 << 20, &buffer), POOL_ERR_OUT_OF_DEVICE_MEMORY,
        "would exceed the memory limit");
    assert_ok(pool_physical_create(device, 24 << 20, 0, &second));
    assert_int_equal(info_of(device).available_bytes, 0);
    assert_int_equal(info_of(device).reserved_bytes, 64 << 20);
    assert_ok(pool_physical_destroy(&physical));
    assert_ok(pool_buffer_alloc(device, 26 << 20, &buffer));
    /* The driver's pool keeps the freed buffer, which is released for physical memory. */
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_physical_create(device, 40 << 20, 0, &physical));
    assert_ok(pool_physical_destroy(&physical));
    assert_ok(pool_physical_destroy(&second));
    assert_int_equal(info_of(device).used_bytes, 0);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, memory_set_up, memory_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_growing_buffer),
        TEST(test_mappings),
        TEST(test_refused_mappings),
        TEST(test_unmap_waits),
        TEST(test_access),
        TEST(test_import),
        TEST(test_second_process),
        TEST(test_unsupported),
        TEST(test_memory_limit),
    };
    int skipped;

    self = argv[0];
    if (argc > 2)
        device_argument = argv[2];
    skipped = memory_choose(argc < 3 ? argc : 3, argv, "mock");
    if (!skipped && argc == 6 && !strcmp(argv[3], "--import"))
        return import_here(atoi(argv[4]), strtoull(argv[5], NULL, 10));
    return skipped ? skipped : cmocka_run_group_tests_name("virtual", tests, NULL, NULL);
}
