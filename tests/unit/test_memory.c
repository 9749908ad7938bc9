/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers on the mock, on simulated devices and on real ones: the behaviour that all drivers have
 * in common.
 */
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

#include "driver/attributes.h"

#define MIB ((size_t)1 << 20)

static void test_nulls(void **state)
{
    pool_device *device = memory_device(0);
    pool_buffer_params params = {.struct_size = sizeof(params), .bytes = 8};
    pool_buffer *buffer = NULL, *other = NULL;
    pool_pinned *pinned = NULL;
    CUdeviceptr address;
    CUmemoryPool handle;
    char byte = 0;

    (void)state;
    pool_buffer_params_init(NULL, 64);
    assert_ok(pool_buffer_alloc(device, 8, &buffer));
#define REFUSED(call) assert_status((call), POOL_ERR_INVALID_ARGUMENT)
    REFUSED(pool_buffer_create(NULL, &params, &other));
    REFUSED(pool_buffer_create(device, NULL, &other));
    REFUSED(pool_buffer_create(device, &params, NULL));
    REFUSED(pool_buffer_alloc(NULL, 8, &other));
    REFUSED(pool_buffer_alloc(device, 8, NULL));
    REFUSED(pool_buffer_zeroed(NULL, 8, &other));
    REFUSED(pool_buffer_zeroed(device, 8, NULL));
    REFUSED(pool_buffer_from_host(NULL, &byte, 1, &other));
    REFUSED(pool_buffer_from_host(device, NULL, 1, &other));
    REFUSED(pool_buffer_from_host(device, &byte, 1, NULL));
    REFUSED(pool_buffer_adopt(NULL, 1, 1, &other));
    REFUSED(pool_buffer_adopt(device, 0, 1, &other));
    REFUSED(pool_buffer_adopt(device, 1, 0, &other));
    REFUSED(pool_buffer_adopt(device, 1, 1, NULL));
    REFUSED(pool_buffer_slice(NULL, 0, 1, &other));
    REFUSED(pool_buffer_slice(buffer, 0, 1, NULL));
    REFUSED(pool_buffer_address(NULL, &address));
    REFUSED(pool_buffer_address(buffer, NULL));
    REFUSED(pool_buffer_fill8(NULL, 0, 1, 0, NULL));
    REFUSED(pool_buffer_fill16(NULL, 0, 1, 0, NULL));
    REFUSED(pool_buffer_fill32(NULL, 0, 1, 0, NULL));
    REFUSED(pool_copy_to_device(NULL, 0, &byte, 1, NULL));
    REFUSED(pool_copy_to_device(buffer, 0, NULL, 1, NULL));
    REFUSED(pool_copy_to_host(NULL, buffer, 0, 1, NULL));
    REFUSED(pool_copy_to_host(&byte, NULL, 0, 1, NULL));
    REFUSED(pool_copy_device(NULL, 0, buffer, 0, 1, NULL));
    REFUSED(pool_copy_device(buffer, 0, NULL, 0, 1, NULL));
    REFUSED(pool_device_enable_peer(NULL, device));
    REFUSED(pool_device_enable_peer(device, NULL));
    REFUSED(pool_pinned_create(NULL, 1, 0, &pinned));
    REFUSED(pool_pinned_create(device, 0, 0, &pinned));
    REFUSED(pool_pinned_create(device, 1, 0, NULL));
    REFUSED(pool_pinned_register(NULL, &byte, 1, 0, &pinned));
    REFUSED(pool_pinned_register(device, NULL, 1, 0, &pinned));
    REFUSED(pool_pinned_register(device, &byte, 0, 0, &pinned));
    REFUSED(pool_pinned_register(device, &byte, UINT64_MAX, 0, &pinned));
    REFUSED(pool_pinned_register(device, &byte, 1, 0, NULL));
    REFUSED(pool_memory_get_info(NULL, &(pool_memory_info){.struct_size = sizeof(size_t)}));
    REFUSED(pool_memory_get_info(device, NULL));
    REFUSED(pool_memory_reset_high_water(NULL));
    REFUSED(pool_memory_set_threshold(NULL, 0));
    REFUSED(pool_pinned_set_threshold(NULL, 0));
    REFUSED(pool_memory_trim(NULL, 0));
    REFUSED(pool_memory_handle(NULL, &handle));
    REFUSED(pool_memory_handle(device, NULL));
    REFUSED(pool_memory_adopt(NULL, NULL));
    /* Wrong sizes and flags. */
    params.flags = 1u << 31;
    REFUSED(pool_buffer_create(device, &params, &other));
    params.flags = 0;
    params.struct_size = 3;
    REFUSED(pool_buffer_create(device, &params, &other));
    REFUSED(pool_pinned_create(device, 1, 1u << 31, &pinned));
    REFUSED(pool_pinned_register(device, &byte, 1, POOL_PINNED_WRITE_COMBINED, &pinned));
#undef REFUSED
    assert_null(other);
    assert_null(pinned);
    assert_ok(pool_buffer_destroy(NULL));
    assert_ok(pool_buffer_destroy(&other));
    assert_ok(pool_buffer_destroy_on(NULL, NULL));
    assert_ok(pool_buffer_destroy_on(&other, NULL));
    assert_ok(pool_pinned_destroy(NULL));
    assert_ok(pool_pinned_destroy(&pinned));
    assert_int_equal(pool_buffer_bytes(NULL), 0);
    assert_int_equal(pool_buffer_flags(NULL), 0);
    assert_null(pool_buffer_device(NULL));
    assert_null(pool_pinned_data(NULL));
    assert_int_equal(pool_pinned_bytes(NULL), 0);
    assert_null(pool_pinned_device(NULL));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_null(buffer);
}

/* What was never a handle is seen as such. */
static void test_foreign_handles(void **state)
{
    uint64_t words[64] = {0};
    pool_buffer *buffer = (pool_buffer *)words;
    pool_pinned *pinned = (pool_pinned *)words;
    CUdeviceptr address;

    (void)state;
    assert_status(pool_buffer_address(buffer, &address), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_copy_to_device(buffer, 0, words, 1, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_buffer_destroy(&buffer), POOL_ERR_INVALID_ARGUMENT);
    assert_ptr_equal(buffer, words);
    assert_status(pool_buffer_destroy_on(&buffer, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_pinned_destroy(&pinned), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_buffer_bytes(buffer), 0);
    assert_null(pool_buffer_device(buffer));
    assert_null(pool_pinned_data(pinned));
}

static void test_kinds_of_buffers(void **state)
{
    pool_device *device = memory_device(0);
    unsigned char data[1000], back[1000];
    pool_buffer *plain = NULL, *zeroed = NULL, *filled = NULL, *empty = NULL;
    CUdeviceptr address = 1;

    (void)state;
    memory_pattern(data, sizeof(data), 7);
    assert_ok(pool_buffer_alloc(device, 1000, &plain));
    assert_ok(pool_buffer_zeroed(device, 1000, &zeroed));
    assert_ok(pool_buffer_from_host(device, data, 1000, &filled));
    assert_ok(pool_buffer_zeroed(device, 0, &empty));
    assert_ok(pool_buffer_address(plain, &address));
    assert_true(address != 0 && address % 256 == 0);
    assert_int_equal(pool_buffer_bytes(plain), 1000);
    assert_int_equal(pool_buffer_flags(zeroed), POOL_BUFFER_ZEROED);
    assert_ptr_equal(pool_buffer_device(filled), device);
    assert_ok(pool_copy_to_host(back, zeroed, 0, 1000, NULL));
    assert_true(memory_all(back, 1000, 0));
    assert_ok(pool_copy_to_host(back, filled, 0, 1000, NULL));
    memory_check_pattern(back, 1000, 7);
    /* Nothing of nothing is fine, one byte of it is not. */
    assert_ok(pool_buffer_address(empty, &address));
    assert_true(address == 0);
    assert_ok(pool_copy_to_host(NULL, empty, 0, 0, NULL));
    assert_ok(pool_copy_to_device(empty, 0, NULL, 0, NULL));
    assert_ok(pool_buffer_fill8(empty, 0, 0, 1, NULL));
    assert_status(pool_buffer_fill8(empty, 0, 1, 1, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_buffer_destroy(&plain));
    assert_ok(pool_buffer_destroy(&zeroed));
    assert_ok(pool_buffer_destroy(&filled));
    assert_ok(pool_buffer_destroy(&empty));
}

static void test_impossible_size(void **state)
{
    pool_buffer *buffer = NULL;

    (void)state;
    assert_status(
        pool_buffer_alloc(memory_device(0), 1ull << 60, &buffer), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_null(buffer);
    assert_non_null(strstr(pool_last_error()->message, "1152921504606846976"));
    assert_non_null(strstr(pool_last_error()->message, "free"));
    assert_non_null(strstr(pool_last_error()->message, "reserved"));
}

static void test_slices(void **state)
{
    unsigned char data[256], back[256];
    pool_buffer *whole = NULL, *middle = NULL, *inner = NULL, *end = NULL, *bad = NULL;
    CUdeviceptr base, address;

    (void)state;
    memory_pattern(data, 256, 0);
    assert_ok(pool_buffer_from_host(memory_device(0), data, 256, &whole));
    assert_ok(pool_buffer_slice(whole, 64, 128, &middle));
    assert_ok(pool_buffer_slice(middle, 32, 96, &inner));
    assert_ok(pool_buffer_slice(whole, 256, 0, &end));
    assert_status(pool_buffer_slice(whole, 257, 0, &bad), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_buffer_slice(whole, 256, 1, &bad), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_buffer_slice(whole, 1, UINT64_MAX, &bad), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_buffer_slice(whole, UINT64_MAX, 2, &bad), POOL_ERR_INVALID_ARGUMENT);
    /* A slice ends where it ends, not where its parent does. */
    assert_status(pool_buffer_slice(middle, 64, 65, &bad), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_copy_to_host(back, middle, 0, 129, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_copy_to_host(back, inner, 96, 1, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(
        pool_copy_to_device(middle, UINT64_MAX, data, 2, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_null(bad);
    assert_ok(pool_buffer_address(whole, &base));
    assert_ok(pool_buffer_address(inner, &address));
    assert_true(address == base + 96);
    assert_int_equal(pool_buffer_bytes(inner), 96);
    /* The parent can go first. */
    assert_ok(pool_buffer_destroy(&whole));
    assert_ok(pool_buffer_destroy(&end));
    assert_ok(pool_copy_to_host(back, inner, 0, 96, NULL));
    memory_check_pattern(back, 96, 96);
    assert_ok(pool_buffer_fill8(middle, 127, 1, 0x5a, NULL));
    assert_ok(pool_copy_to_host(back, inner, 95, 1, NULL));
    assert_int_equal(back[0], 0x5a);
    assert_ok(pool_buffer_destroy(&middle));
    assert_ok(pool_buffer_destroy_on(&inner, NULL));
}

static void test_fills(void **state)
{
    pool_device *device = memory_device(0);
    pool_stream *stream = NULL;
    pool_buffer *buffer = NULL;
    union {
        uint8_t bytes[64];
        uint16_t halves[32];
        uint32_t words[16];
    } back;

    (void)state;
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_buffer_zeroed(device, 64, &buffer));
    assert_ok(pool_buffer_fill8(buffer, 1, 3, 0xab, NULL));
    assert_ok(pool_buffer_fill16(buffer, 4, 2, 0x1234, NULL));
    assert_ok(pool_buffer_fill32(buffer, 8, 14, 0xdeadbeef, stream));
    assert_ok(pool_stream_synchronize(stream));
    assert_ok(pool_copy_to_host(&back, buffer, 0, 64, NULL));
    assert_int_equal(back.bytes[0], 0);
    assert_int_equal(back.bytes[1], 0xab);
    assert_int_equal(back.bytes[3], 0xab);
    assert_int_equal(back.halves[2], 0x1234);
    assert_int_equal(back.halves[3], 0x1234);
    assert_int_equal(back.words[2], 0xdeadbeef);
    assert_int_equal(back.words[15], 0xdeadbeef);
    assert_status(pool_buffer_fill16(buffer, 1, 1, 0, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_buffer_fill32(buffer, 2, 1, 0, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_buffer_fill32(buffer, 0, 17, 0, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(
        pool_buffer_fill32(buffer, 0, 0x4000000000000001ull, 0, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_buffer_destroy_on(&buffer, stream));
    assert_ok(pool_stream_destroy(&stream));
}

static void test_adopt(void **state)
{
    pool_device *device = memory_device(0);
    const pool_cuda_api *api = memory_driver(device);
    unsigned char data[64], back[64];
    pool_buffer *buffer = NULL, *bad = NULL;
    CUdeviceptr address = 0;

    (void)state;
    assert_ok(pool_bind(device));
    assert_int_equal(api->MemAlloc(&address, 4096), 0);
    memory_pattern(data, 64, 1);
    assert_int_equal(api->MemcpyHtoD(address, data, 64), 0);
    assert_ok(pool_buffer_adopt(device, address, 4096, &buffer));
    assert_ok(pool_copy_to_host(back, buffer, 0, 64, NULL));
    memory_check_pattern(back, 64, 1);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_buffer_adopt(device, address + 4000, 96, &buffer));
    assert_ok(pool_buffer_destroy(&buffer));
    if (pool_device_count(memory_pool) > 1)
        assert_status(
            pool_buffer_adopt(memory_device(1), address, 64, &bad), POOL_ERR_WRONG_DEVICE);
    assert_null(bad);
    /* Still there: freeing the wrapper freed nothing. */
    assert_int_equal(api->MemcpyDtoH(back, address, 64), 0);
    assert_int_equal(api->MemFree(address), 0);
    assert_ok(pool_unbind(device));
}

static void test_statistics(void **state)
{
    pool_device *device = memory_device(0);
    pool_memory_info info = {.struct_size = sizeof(info)}, after = {.struct_size = sizeof(after)};
    pool_buffer *buffer = NULL, *slice = NULL;
    CUmemoryPool handle = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(device, 8 * MIB, &buffer));
    assert_ok(pool_buffer_slice(buffer, 0, 1, &slice));
    assert_ok(pool_memory_get_info(device, &info));
    assert_int_equal(info.struct_size, sizeof(info));
    assert_int_equal(info.used_bytes, 8 * MIB);
    assert_int_equal(info.buffers, 2);
    assert_true(info.reserved_bytes >= 8 * MIB);
    assert_true(info.free_bytes && info.free_bytes <= info.total_bytes);
    assert_true(info.memory_pool);
    assert_true(info.release_threshold == UINT64_MAX);
    assert_status(pool_memory_handle(device, &handle), memory_raw_status());
    assert_true(handle || memory_raw_status());
    assert_ok(pool_buffer_destroy(&slice));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_memory_get_info(device, &after));
    assert_int_equal(after.used_bytes, 0);
    assert_int_equal(after.used_high_water_bytes, 8 * MIB);
    assert_int_equal(after.buffers, 0);
    assert_true(after.reserved_bytes >= 8 * MIB); /* stays allocated */
    assert_ok(pool_memory_trim(device, 0));
    assert_ok(pool_memory_reset_high_water(device));
    assert_ok(pool_memory_get_info(device, &after));
    assert_int_equal(after.reserved_bytes, 0);
    assert_int_equal(after.used_high_water_bytes, 0);
    assert_int_equal(after.staging_bytes, 0);
    assert_ok(pool_memory_set_threshold(device, 0));
    assert_ok(pool_memory_get_info(device, &after));
    assert_int_equal(after.release_threshold, 0);
}

static CUmemoryPool create_pool(pool_device *device)
{
    const pool_cuda_api *api = memory_driver(device);
    pool_cu_mem_pool_props props = {.allocation_type = DRIVER_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = DRIVER_MEM_LOCATION_TYPE_DEVICE, .id = pool_device_ordinal(device)}};
    uint64_t keep_all = UINT64_MAX;
    CUmemoryPool handle = NULL;

    assert_int_equal(api->MemPoolCreate(&handle, &props), 0);
    assert_int_equal(
        api->MemPoolSetAttribute(handle, DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep_all), 0);
    return handle;
}

static uint64_t attribute_of(pool_device *device, CUmemoryPool handle, pool_cu_enum attribute)
{
    uint64_t value = 0;

    assert_int_equal(memory_driver(device)->MemPoolGetAttribute(handle, attribute, &value), 0);
    return value;
}

/* Allocations come from the caller's pool, which is neither trimmed below its threshold nor
 * destroyed. */
static void test_adopted_pool(void **state)
{
    pool_device *device = memory_device(0);
    pool_memory_info info = {.struct_size = sizeof(info)};
    CUmemoryPool mine = create_pool(device), own = NULL, handle = NULL;
    pool_buffer *before = NULL, *buffer = NULL;
    unsigned char *bytes = memory_host(8 * MIB);
    uint64_t four = 4 * MIB;

    (void)state;
    if (memory_raw_status()) {
        assert_status(pool_memory_adopt(device, mine), POOL_ERR_UNSUPPORTED);
        assert_ok(pool_memory_adopt(device, NULL));
        assert_int_equal(memory_driver(device)->MemPoolDestroy(mine), 0);
        free(bytes);
        return;
    }
    assert_ok(pool_memory_handle(device, &own));
    memory_pattern(bytes, 8 * MIB, 1);
    assert_ok(pool_buffer_from_host(device, bytes, 8 * MIB, &before));
    assert_ok(pool_memory_adopt(device, mine));
    assert_ok(pool_memory_handle(device, &handle));
    assert_ptr_equal(handle, mine);
    assert_ok(pool_buffer_alloc(device, 8 * MIB, &buffer));
    assert_true(attribute_of(device, mine, DRIVER_MEMPOOL_ATTR_USED_MEM_CURRENT) >= 8 * MIB);
    assert_ok(pool_copy_device(buffer, 0, before, 0, 8 * MIB, NULL));
    memset(bytes, 0, 8 * MIB);
    assert_ok(pool_copy_to_host(bytes, buffer, 0, 8 * MIB, NULL));
    memory_check_pattern(bytes, 8 * MIB, 1);
    assert_ok(pool_buffer_destroy(&before));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_memory_trim(device, 0));
    assert_ok(pool_memory_get_info(device, &info));
    assert_true(info.release_threshold == UINT64_MAX);
    assert_true(info.reserved_bytes >= 8 * MIB); /* the threshold of the caller's pool */
    assert_int_equal(attribute_of(device, own, DRIVER_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    /* The library does not change the pool; what the caller changes is reported. */
    assert_status(pool_memory_set_threshold(device, 0), POOL_ERR_UNSUPPORTED);
    assert_says("cuMemPoolSetAttribute");
    assert_ok(pool_memory_reset_high_water(device));
    assert_true(attribute_of(device, mine, DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD) == UINT64_MAX);
    assert_int_equal(memory_driver(device)->MemPoolSetAttribute(
                         mine, DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD, &four),
        0);
    assert_ok(pool_memory_get_info(device, &info));
    assert_int_equal(info.release_threshold, 4 * MIB);
    /* Back to the library's own pool. */
    assert_ok(pool_memory_adopt(device, NULL));
    assert_ok(pool_buffer_alloc(device, MIB, &buffer));
    assert_int_equal(attribute_of(device, mine, DRIVER_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    assert_ok(pool_memory_get_info(device, &info));
    assert_true(info.release_threshold == UINT64_MAX);
    assert_ok(pool_memory_set_threshold(device, UINT64_MAX));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_int_equal(memory_driver(device)->MemPoolDestroy(mine), 0);
    free(bytes);
}

static void test_adopted_pool_of_another_device(void **state)
{
    pool_device *device = memory_device(0);
    CUmemoryPool own = NULL, handle = NULL, other;

    (void)state;
    if (pool_device_count(memory_pool) < 2 || memory_raw_status())
        skip();
    other = create_pool(memory_device(1));
    assert_ok(pool_memory_handle(device, &own));
    assert_status(pool_memory_adopt(device, other), POOL_ERR_WRONG_DEVICE);
    assert_says("memory pool of device");
    assert_ok(pool_memory_handle(device, &handle));
    assert_ptr_equal(handle, own);
    assert_int_equal(attribute_of(device, other, DRIVER_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    assert_int_equal(memory_driver(device)->MemPoolDestroy(other), 0);
}

/* The driver below the pool of test_secrets, and the contents of memory when it was freed. */
static struct {
    pool_cuda_api below;
    unsigned char *bytes;
    int frees;
    int failed;
} watched;

static void look(CUdeviceptr address)
{
    watched.frees++;
    if (watched.below.CtxSynchronize() || watched.below.MemcpyDtoH(watched.bytes, address, MIB))
        watched.failed = 1;
}

static pool_cu_result look_and_free(CUdeviceptr address)
{
    look(address);
    return watched.below.MemFree(address);
}

static pool_cu_result look_and_free_async(CUdeviceptr address, CUstream stream)
{
    look(address);
    return watched.below.MemFreeAsync(address, stream);
}

/* A second pool on the same driver, whose frees pass by here. */
static device_pool *watched_pool(pool_cuda_api *table)
{
    pool_params params = {.struct_size = sizeof(params), .driver = table};
    device_pool *pool = NULL;

    watched.below = *memory_driver(memory_device(0));
    *table = watched.below;
    table->struct_size = sizeof(*table);
    table->MemFree = look_and_free;
    if (table->MemFreeAsync)
        table->MemFreeAsync = look_and_free_async;
    assert_ok(pool_create(&pool, &params));
    return pool;
}

/* A plain buffer goes with its bytes (so the look can see them), a secret one with none. */
static void test_secrets(void **state)
{
    static pool_cuda_api table;
    device_pool *pool = watched_pool(&table);
    pool_device *device = NULL;

    (void)state;
    watched.bytes = memory_host(MIB);
    assert_ok(pool_device_at(pool, 0, &device));
    for (int round = 0; round < 6; round++) {
        pool_buffer_params params = {.struct_size = sizeof(params),
            .bytes = MIB,
            .flags = round % 2 ? POOL_BUFFER_SECRET : 0};
        pool_buffer *buffer = NULL;

        if (round >= 4)
            assert_ok(pool_stream_create(device, NULL, &params.stream));
        watched.frees = watched.failed = 0;
        assert_ok(pool_buffer_create(device, &params, &buffer));
        assert_ok(pool_buffer_fill8(buffer, 0, MIB, 0x5e, params.stream));
        assert_ok(round < 2 ? pool_buffer_destroy(&buffer)
                            : pool_buffer_destroy_on(&buffer, params.stream));
        assert_int_equal(watched.frees, 1);
        assert_int_equal(watched.failed, 0);
        assert_true(memory_all(watched.bytes, MIB, round % 2 ? 0 : 0x5e));
        assert_ok(pool_stream_destroy(&params.stream));
    }
    assert_ok(pool_destroy(&pool));
    free(watched.bytes);
}

static void test_pool_is_busy(void **state)
{
    pool_buffer *buffer = NULL;
    pool_pinned *pinned = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(memory_device(0), 1, &buffer));
    assert_status(pool_destroy(&memory_pool), POOL_ERR_BUSY);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_pinned_create(memory_device(0), 1, 0, &pinned));
    assert_status(pool_destroy(&memory_pool), POOL_ERR_BUSY);
    assert_ok(pool_pinned_destroy(&pinned));
}

static void test_buffer_span(void **state)
{
    pool_buffer *buffer = NULL;
    pool_pinned *pinned = NULL;
    pool_span span = {.count = 7};
    CUdeviceptr address = 0;

    (void)state;
    assert_ok(pool_buffer_alloc(memory_device(0), 96, &buffer));
    assert_ok(pool_buffer_address(buffer, &address));
    assert_ok(pool_buffer_span(buffer, 32, 2, POOL_FORM_MONTGOMERY, &span));
    assert_ptr_equal(span.data, (void *)(uintptr_t)(address + 32));
    assert_int_equal(span.count, 2);
    assert_int_equal(span.stride, 0);
    assert_int_equal(span.form, POOL_FORM_MONTGOMERY);
    assert_int_equal(span.space, POOL_MEMORY_DEVICE);
    assert_ok(pool_buffer_span(buffer, 96, 0, POOL_FORM_STANDARD, &span));
    assert_status(
        pool_buffer_span(buffer, 97, 0, POOL_FORM_STANDARD, &span), POOL_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(pool_last_error()->message, "unsupported value 97 for `offset`"));
    assert_status(pool_buffer_span(buffer, 0, 0, (pool_form)7, &span), POOL_ERR_INVALID_ARGUMENT);
    assert_status(
        pool_buffer_span(NULL, 0, 0, POOL_FORM_STANDARD, &span), POOL_ERR_INVALID_ARGUMENT);
    assert_status(
        pool_buffer_span(buffer, 0, 0, POOL_FORM_STANDARD, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_pinned_create(memory_device(0), 64, POOL_PINNED_SECRET, &pinned));
    assert_int_equal(pool_pinned_flags(pinned), POOL_PINNED_SECRET);
    assert_int_equal(pool_pinned_flags(NULL), 0);
    assert_ok(pool_pinned_destroy(&pinned));
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, memory_set_up, memory_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_nulls),
        TEST(test_buffer_span),
        TEST(test_foreign_handles),
        TEST(test_kinds_of_buffers),
        TEST(test_impossible_size),
        TEST(test_slices),
        TEST(test_fills),
        TEST(test_adopt),
        TEST(test_statistics),
        TEST(test_adopted_pool),
        TEST(test_adopted_pool_of_another_device),
        TEST(test_secrets),
        TEST(test_pool_is_busy),
    };
    int skipped = memory_choose(argc, argv, "mock");

    return skipped ? skipped : cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
