/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the simulated driver: accounting, strict ranges, copies, pinned memory, pools, leaks.
 */
#include "driver.h"

#include <sys/mman.h>

#define MIB ((size_t)1 << 20)

static size_t free_now(void)
{
    size_t free_bytes = 0, total = 0;

    assert_int_equal(cu->MemGetInfo(&free_bytes, &total), 0);
    return free_bytes;
}

static void test_alloc(void **state)
{
    CUdeviceptr one = 0, two = 0, range = 0;
    size_t before, bytes = 0;

    (void)state;
    assert_int_equal(sim_driver_table()->MemAlloc(&one, 4), 3);
    sim_begin("sim");
    assert_int_equal(cu->MemAlloc(&one, 4), 201);
    sim_close();
    sim_begin_context("sim:mem=1G");
    before = free_now();
    assert_int_equal(cu->MemAlloc(&one, 0), 1);
    assert_int_equal(cu->MemAlloc(NULL, 4), 1);
    assert_int_equal(cu->MemAlloc(&one, 1), 0);
    assert_int_equal(cu->MemAlloc(&two, 1000), 0);
    assert_int_equal(one % 256, 0);
    assert_int_equal(two % 256, 0);
    assert_int_equal(before - free_now(), 256 + 1024);
    /* Even allocations that fill their rounded size are followed by a guard zone. */
    CUdeviceptr row[8];
    for (int at = 0; at < 8; at++)
        assert_int_equal(cu->MemAlloc(&row[at], 256), 0);
    for (int at = 0; at < 8; at++) {
        assert_int_equal(cu->MemsetD8(row[at] + 256, 0, 1), 1);
        assert_int_equal(cu->MemsetD8(row[at] - 1, 0, 1), 1);
        assert_int_equal(cu->MemFree(row[at]), 0);
    }
    assert_int_equal(cu->MemGetAddressRange(&range, &bytes, two + 999), 0);
    assert_true(range == two && bytes == 1000);
    assert_int_equal(cu->MemGetAddressRange(&range, &bytes, two + 1000), 500);
    assert_int_equal(cu->MemFree(two + 1), 1);
    assert_int_equal(cu->MemFree(12345), 1);
    assert_int_equal(cu->MemFree(0), 0);
    assert_int_equal(cu->MemFree(two), 0);
    assert_int_equal(cu->MemFree(two), 1);
    assert_int_equal(cu->MemFree(one), 0);
    assert_int_equal(free_now(), before);
    sim_end_context();
}

/* Of the host's pages between two addresses. */
static size_t count_resident(uint64_t from, uint64_t to)
{
    const uint64_t first = from / 4096 * 4096, count = (to + 4095 - first) / 4096;
    unsigned char *pages = malloc(count);
    size_t resident = 0;

    assert_non_null(pages);
    assert_int_equal(mincore((void *)(uintptr_t)first, to - first, pages), 0);
    for (size_t i = 0; i < count; i++)
        resident += pages[i] & 1;
    free(pages);
    return resident;
}

/* Freed memory goes back to the host, also where allocations share pages with their neighbours. */
static void test_freed_pages(void **state)
{
    enum { MOST = 600 };
    static const size_t sizes[] = {1, 600, 4096, 4097, 70000};
    CUdeviceptr all[MOST];
    uint64_t from, to;

    (void)state;
    sim_begin_context("sim:mem=1G");
    for (size_t size = 0; size < sizeof(sizes) / sizeof(*sizes); size++) {
        for (int order = 0; order < 3; order++) {
            for (int i = 0; i < MOST; i++) {
                assert_int_equal(cu->MemAlloc(&all[i], sizes[size]), 0);
                assert_int_equal(cu->MemsetD8(all[i], 1, sizes[size]), 0);
            }
            from = all[0];
            to = all[MOST - 1] + sizes[size];
            assert_true(to > from); /* the range was passed through once at most */
            assert_true(count_resident(from, to) >= MOST * sizes[size] / 4096);
            for (int i = 0; i < MOST; i++) /* upwards, downwards, the odd ones last */
                assert_int_equal(cu->MemFree(all[order == 0   ? i
                                                 : order == 1 ? MOST - 1 - i
                                                              : i * 2 % MOST + i * 2 / MOST]),
                    0);
            assert_int_equal(count_resident(from, to), 0);
        }
    }
    sim_end_context();
}

static size_t page_table_kib(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    size_t kib = 0;

    assert_non_null(status);
    while (fgets(line, sizeof(line), status))
        (void)sscanf(line, "VmPTE: %zu", &kib);
    fclose(status);
    assert_true(kib > 0);
    return kib;
}

/* Addresses are passed through; the page tables of those behind are freed. 4 GiB have 8 MiB. */
static void test_page_tables(void **state)
{
    static const size_t sizes[] = {MIB, MIB - 1, 100 * MIB + 1};
    size_t before;

    (void)state;
    sim_begin_context("sim:mem=1G");
    before = page_table_kib();
    for (size_t size = 0; size < sizeof(sizes) / sizeof(*sizes); size++) {
        CUdeviceptr kept = 0, freed;

        for (size_t passed = 0; passed < 4096 * MIB; passed += sizes[size]) {
            assert_int_equal(cu->MemAlloc(&freed, sizes[size]), 0);
            assert_int_equal(cu->MemsetD8(freed, 1, sizes[size] / 8), 0);
            if (kept)
                assert_int_equal(cu->MemFree(kept), 0);
            kept = freed;
        }
        assert_int_equal(cu->MemFree(kept), 0);
        assert_true(page_table_kib() < before + 1500);
    }
    sim_end_context();
}

/* What a neighbour in the same page holds survives a free. */
static void test_neighbours(void **state)
{
    unsigned char values[4097], back[4097];
    CUdeviceptr all[9];

    (void)state;
    sim_begin_context("sim:mem=1G");
    for (int i = 0; i < 9; i++) {
        memset(values, i + 1, sizeof(values));
        assert_int_equal(cu->MemAlloc(&all[i], 4097), 0);
        assert_int_equal(cu->MemcpyHtoD(all[i], values, 4097), 0);
    }
    for (int i = 0; i < 9; i += 2)
        assert_int_equal(cu->MemFree(all[i]), 0);
    for (int i = 1; i < 9; i += 2) {
        memset(values, i + 1, sizeof(values));
        assert_int_equal(cu->MemcpyDtoH(back, all[i], 4097), 0);
        assert_memory_equal(back, values, 4097);
        assert_int_equal(cu->MemFree(all[i]), 0);
    }
    sim_end_context();
}

static void test_out_of_memory(void **state)
{
    CUdeviceptr all = 0, more = 77;
    size_t before;

    (void)state;
    sim_begin_context("sim:mem=1G,free=512M");
    before = free_now();
    assert_int_equal(before, 512 * MIB - 64 * MIB);
    assert_int_equal(cu->MemAlloc(&more, before + 1), 2);
    assert_int_equal(cu->MemAlloc(&more, SIZE_MAX), 2);
    assert_int_equal(more, 77);
    assert_int_equal(cu->MemAlloc(&all, before), 0);
    assert_int_equal(free_now(), 0);
    assert_int_equal(cu->MemAlloc(&more, 1), 2);
    assert_int_equal(cu->MemFree(all), 0);
    assert_int_equal(cu->MemAlloc(&more, before / 2), 0);
    assert_int_equal(cu->MemFree(more), 0);
    /* Far more bytes than the address range holds, one allocation at a time: addresses are reused.
     */
    for (int round = 0; round < 40; round++) {
        assert_int_equal(cu->MemAlloc(&all, before), 0);
        assert_int_equal(cu->MemFree(all), 0);
    }
    sim_end_context();
}

static void test_copies_are_checked(void **state)
{
    uint8_t host[300], back[300];
    CUdeviceptr memory = 0, other = 0;

    (void)state;
    sim_begin_context("sim");
    for (size_t at = 0; at < sizeof(host); at++)
        host[at] = (uint8_t)(at * 7);
    assert_int_equal(cu->MemAlloc(&memory, 300), 0);
    assert_int_equal(cu->MemAlloc(&other, 300), 0);
    assert_int_equal(cu->MemcpyHtoD(memory, host, 300), 0);
    assert_int_equal(cu->MemcpyHtoD(memory, host, 301), 1);
    assert_int_equal(cu->MemcpyHtoD(memory + 1, host, 300), 1);
    assert_int_equal(cu->MemcpyHtoD(memory - 1, host, 1), 1);
    assert_int_equal(cu->MemcpyHtoD(memory, NULL, 1), 1);
    assert_int_equal(cu->MemcpyHtoD(memory, NULL, 0), 0);
    assert_int_equal(cu->MemcpyHtoD((CUdeviceptr)(uintptr_t)host, host, 4), 1);
    assert_int_equal(cu->MemcpyHtoD(memory, (void *)(uintptr_t)other, 4), 1);
    assert_int_equal(cu->MemcpyDtoD(other + 5, memory, 295), 0);
    assert_int_equal(cu->MemcpyDtoD(other + 5, memory, 296), 1);
    assert_int_equal(cu->MemcpyDtoH(back, other + 5, 296), 1);
    assert_int_equal(cu->MemcpyDtoH(back, other + 5, 295), 0);
    assert_memory_equal(back, host, 295);
    assert_int_equal(cu->MemsetD8(memory, 0xab, 300), 0);
    assert_int_equal(cu->MemsetD8(memory, 0xab, 301), 1);
    assert_int_equal(cu->MemsetD16(memory + 2, 0x1234, 149), 0);
    assert_int_equal(cu->MemsetD16(memory + 1, 0x1234, 2), 1);
    assert_int_equal(cu->MemsetD16(memory, 0x1234, 151), 1);
    assert_int_equal(cu->MemsetD32(memory + 4, 0xdeadbeef, 2), 0);
    assert_int_equal(cu->MemsetD32(memory + 2, 0xdeadbeef, 2), 1);
    assert_int_equal(cu->MemsetD32(memory, 0, SIZE_MAX / 2), 1);
    assert_int_equal(cu->MemcpyDtoH(back, memory, 16), 0);
    assert_memory_equal(
        back, "\xab\xab\x34\x12\xef\xbe\xad\xde\xef\xbe\xad\xde\x34\x12\x34\x12", 16);
    assert_int_equal(cu->MemFree(other), 0);
    assert_int_equal(cu->MemcpyDtoH(back, other, 1), 1);
    /* Fresh memory holds nothing that a program could rely on. */
    assert_int_equal(cu->MemAlloc(&other, 300), 0);
    assert_int_equal(cu->MemcpyDtoH(back, other, 300), 0);
    memset(host, 0, sizeof(host));
    assert_memory_not_equal(back, host, 300);
    assert_int_equal(cu->MemFree(other), 0);
    assert_int_equal(cu->MemFree(memory), 0);
    sim_end_context();
}

/* More than the host has; less under tools that cannot give out such addresses. */
static void test_big_memory_is_lazy(void **state)
{
    size_t gib = 60;
    void *probe =
        mmap(NULL, (gib + 5) << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CUdeviceptr memory = 0, far;
    uint64_t word = 42, back = 0;

    (void)state;
    if (probe == MAP_FAILED)
        gib = 3;
    else
        munmap(probe, (gib + 5) << 30);
    sim_begin_context(gib == 60 ? "sim:mem=64G" : "sim:mem=4G");
    assert_int_equal(cu->MemAlloc(&memory, gib << 30), 0);
    far = memory + ((uint64_t)(gib - 1) << 30);
    assert_int_equal(cu->MemcpyHtoD(far, &word, sizeof(word)), 0);
    assert_int_equal(cu->MemcpyDtoH(&back, far, sizeof(back)), 0);
    assert_int_equal(back, 42);
    assert_int_equal(cu->MemFree(memory), 0);
    sim_end_context();
}

static void test_pinned_and_registered(void **state)
{
    static char heap[8192];
    void *pinned = NULL;
    CUdeviceptr memory = 0, alias = 0;
    unsigned type = 0;

    (void)state;
    sim_begin_context("sim");
    assert_int_equal(cu->MemHostAlloc(&pinned, 0, 0), 0);
    assert_int_equal(cu->MemHostAlloc(&pinned, 100, 8), 1);
    assert_int_equal(cu->MemHostAlloc(&pinned, 5000, 3), 0);
    memset(pinned, 'p', 5000);
    assert_int_equal(cu->MemHostGetDevicePointer(&alias, pinned, 0), 0);
    assert_true(alias == (CUdeviceptr)(uintptr_t)pinned);
    assert_int_equal(cu->MemHostGetDevicePointer(&alias, pinned, 1), 1);
    assert_int_equal(cu->MemHostGetDevicePointer(&alias, heap, 0), 1);
    assert_int_equal(cu->MemAlloc(&memory, 5000), 0);
    assert_int_equal(cu->MemcpyDtoD(memory, alias, 5000), 0);
    assert_int_equal(cu->MemcpyDtoH(heap, memory, 5000), 0);
    assert_int_equal(heap[4999], 'p');
    assert_int_equal(cu->PointerGetAttribute(&type, 2, alias + 10), 0);
    assert_int_equal(type, 1);
    assert_int_equal(cu->MemFree(alias), 1);
    assert_int_equal(cu->MemFreeHost(heap), 1);
    assert_int_equal(cu->MemHostRegister(heap, sizeof(heap), 0x10), 1);
    assert_int_equal(cu->MemHostRegister(heap, sizeof(heap), 8), 801);
    assert_int_equal(cu->MemHostRegister(NULL, 10, 0), 1);
    assert_int_equal(cu->MemHostUnregister(heap), 713);
    assert_int_equal(cu->MemHostRegister(heap, sizeof(heap), 1), 0);
    assert_int_equal(cu->MemHostRegister(heap + 100, 10, 0), 712);
    assert_int_equal(cu->MemHostRegister(pinned, 10, 0), 712);
    assert_int_equal(cu->MemHostGetDevicePointer(&alias, heap + 8, 0), 0);
    assert_int_equal(cu->MemHostUnregister(heap + 1), 1);
    assert_int_equal(cu->MemHostUnregister(pinned), 713);
    assert_int_equal(cu->MemHostUnregister(heap), 0);
    assert_int_equal(cu->MemFreeHost(pinned), 0);
    assert_int_equal(cu->MemFreeHost(pinned), 1);
    assert_int_equal(cu->MemFree(memory), 0);
    sim_end_context();
}

static void test_pointer_attributes(void **state)
{
    CUcontext context = sim_begin_context("sim:2"), owner = NULL;
    CUdeviceptr memory = 0, address = 0;
    unsigned long long id = 0;
    unsigned value = 9;
    size_t bytes = 0;
    int local = 0, ordinal = -1;

    (void)state;
    assert_int_equal(cu->MemAlloc(&memory, 777), 0);
    assert_int_equal(cu->PointerGetAttribute(&owner, 1, memory + 776), 0);
    assert_ptr_equal(owner, context);
    assert_int_equal(cu->PointerGetAttribute(&value, 2, memory), 0);
    assert_int_equal(value, 2);
    assert_int_equal(cu->PointerGetAttribute(&address, 3, memory + 5), 0);
    assert_true(address == memory + 5);
    assert_int_equal(cu->PointerGetAttribute(&address, 4, memory), 1);
    assert_int_equal(cu->PointerGetAttribute(&id, 7, memory), 0);
    assert_true(id > 0);
    assert_int_equal(cu->PointerGetAttribute(&value, 8, memory), 0);
    assert_int_equal(value, 0);
    assert_int_equal(cu->PointerGetAttribute(&ordinal, 9, memory), 0);
    assert_int_equal(ordinal, 0);
    assert_int_equal(cu->PointerGetAttribute(&address, 11, memory + 5), 0);
    assert_true(address == memory);
    assert_int_equal(cu->PointerGetAttribute(&bytes, 12, memory), 0);
    assert_int_equal(bytes, 777);
    assert_int_equal(cu->PointerGetAttribute(&value, 2, (CUdeviceptr)(uintptr_t)&local), 1);
    assert_int_equal(cu->PointerGetAttribute(&value, 2, memory + 777), 1);
    assert_int_equal(cu->PointerGetAttribute(&value, 99, memory), 1);
    assert_int_equal(cu->PointerGetAttribute(NULL, 2, memory), 1);
    assert_int_equal(cu->MemFree(memory), 0);
    assert_int_equal(cu->PointerGetAttribute(&value, 2, memory), 1);
    sim_end_context();
}

static void test_peer_copies(void **state)
{
    CUcontext first = sim_begin_context("sim:2"), second = NULL;
    CUdeviceptr here = 0, there = 0;
    int value = 1234, back = 0;

    (void)state;
    assert_int_equal(cu->MemAlloc(&here, 64), 0);
    assert_int_equal(cu->CtxCreate(&second, 0, 1), 0);
    assert_int_equal(cu->MemAlloc(&there, 64), 0);
    assert_int_equal(cu->MemcpyHtoD(there, &value, 4), 0);
    assert_int_equal(cu->MemcpyPeer(here, first, there, second, 4), 0);
    assert_int_equal(cu->MemcpyPeer(here, second, there, first, 4), 1);
    assert_int_equal(cu->MemcpyPeer(here, first, there, second, 65), 1);
    assert_int_equal(cu->MemcpyPeer(here, NULL, there, second, 4), 201);
    assert_int_equal(cu->MemcpyPeerAsync(here, first, there, second, 4, NULL), 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(cu->MemcpyDtoH(&back, here, 4), 0);
    assert_int_equal(back, 1234);
    assert_int_equal(cu->CtxDestroy(second), 0); /* its memory goes with it */
    assert_int_equal(cu->MemcpyDtoH(&back, there, 4), 1);
    assert_int_equal(cu->MemFree(here), 0);
    sim_end_context();
}

static void test_pools(void **state)
{
    pool_cu_mem_pool_props props = {.allocation_type = 1, .location = {1, 0}};
    pool_cu_mem_access access = {{1, 1}, 3};
    uint64_t threshold = 64 * MIB, number = 0;
    CUdeviceptr one = 0, two = 0;
    CUmemoryPool pool = NULL, other = NULL;
    size_t before;
    int flag = 0;

    (void)state;
    sim_begin_context("sim:2,mem=1G");
    before = free_now();
    props.location.id = 7;
    assert_int_equal(cu->MemPoolCreate(&pool, &props), 1);
    props.location.id = 0;
    props.handle_types = 1;
    assert_int_equal(cu->MemPoolCreate(&pool, &props), 801);
    props.handle_types = 0;
    assert_int_equal(cu->MemPoolCreate(&pool, &props), 0);
    props.max_size = 8 * MIB;
    assert_int_equal(cu->MemPoolCreate(&other, &props), 0);
    assert_int_equal(cu->MemPoolGetAttribute(pool, 1, &flag), 0);
    assert_int_equal(flag, 1);
    assert_int_equal(cu->MemPoolSetAttribute(pool, 4, &threshold), 0);
    assert_int_equal(cu->MemPoolSetAttribute(pool, 5, &threshold), 1);
    assert_int_equal(cu->MemPoolGetAttribute(pool, 9, &number), 1);
    assert_int_equal(cu->MemPoolGetAttribute((CUmemoryPool)(uintptr_t)64, 4, &number), 1);
    assert_int_equal(cu->MemAllocFromPoolAsync(&one, 0, pool, NULL), 0);
    assert_int_equal(cu->MemAllocFromPoolAsync(&one, 10 * MIB, pool, NULL), 0);
    assert_int_equal(cu->MemAllocFromPoolAsync(&two, 100 * MIB, pool, NULL), 0);
    assert_int_equal(before - free_now(), 110 * MIB);
    assert_int_equal(cu->MemPoolGetAttribute(pool, 7, &number), 0);
    assert_int_equal(number, 110 * MIB);
    assert_int_equal(cu->MemFreeAsync(two + 256, NULL), 1);
    assert_int_equal(cu->MemFreeAsync(two, NULL), 0);
    assert_int_equal(cu->MemFreeAsync(two, NULL), 1);
    assert_int_equal(cu->MemsetD8(two, 0, 1), 1); /* freed for every caller now */
    assert_int_equal(cu->StreamSynchronize(NULL), 0);
    assert_int_equal(cu->MemPoolGetAttribute(pool, 5, &number), 0);
    assert_int_equal(number, 64 * MIB); /* the threshold stays */
    assert_int_equal(cu->MemPoolGetAttribute(pool, 6, &number), 0);
    assert_int_equal(number, 110 * MIB);
    assert_int_equal(cu->MemPoolTrimTo(pool, 0), 0);
    assert_int_equal(cu->MemPoolGetAttribute(pool, 5, &number), 0);
    assert_int_equal(number, 10 * MIB); /* what is in use stays */
    number = 0;
    assert_int_equal(cu->MemPoolSetAttribute(pool, 8, &number), 0);
    assert_int_equal(cu->MemPoolGetAttribute(pool, 8, &number), 0);
    assert_int_equal(number, 10 * MIB);
    assert_int_equal(cu->MemAllocFromPoolAsync(&two, 9 * MIB, other, NULL), 2);
    assert_int_equal(cu->MemAllocFromPoolAsync(&two, 2000 * MIB, pool, NULL), 2);
    assert_int_equal(cu->MemAllocFromPoolAsync(&two, 8 * MIB, other, NULL), 0);
    assert_int_equal(cu->MemPoolSetAccess(pool, &access, 1), 0);
    access.location.id = 5;
    assert_int_equal(cu->MemPoolSetAccess(pool, &access, 1), 101);
    assert_int_equal(cu->MemFree(two), 0); /* the synchronous function may free it too */
    assert_int_equal(cu->MemPoolDestroy(other), 0);
    assert_int_equal(cu->MemPoolDestroy(other), 1);
    assert_int_equal(cu->MemPoolDestroy(pool), 0); /* `one` lives on */
    assert_int_equal(cu->MemsetD8(one, 1, 10 * MIB), 0);
    assert_int_equal(cu->MemFreeAsync(one, NULL), 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(free_now(), before);
    assert_int_equal(cu->MemAlloc(&one, 4), 0);
    assert_int_equal(cu->MemFreeAsync(one, NULL), 1); /* not of a pool: strictly refused */
    assert_int_equal(cu->MemFree(one), 0);
    sim_end_context();
}

static void test_leaks(void **state)
{
    CUcontext context = NULL;
    CUdeviceptr memory = 0;
    CUstream stream = NULL;
    CUevent event = NULL;
    uint64_t count = 0;
    void *pinned = NULL;
    char *text = NULL;

    (void)state;
    sim_begin("sim:2");
    assert_int_equal(cu->CtxCreate(&context, 0, 1), 0);
    assert_int_equal(cu->MemAlloc(&memory, 4321), 0);
    assert_int_equal(cu->MemHostAlloc(&pinned, 99, 0), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&stream, 0, 0), 0);
    assert_int_equal(cu->EventCreate(&event, 0), 0);
    assert_int_equal(pool_sim_leaks(POOL_TEXT_PLAIN, &count, &text), POOL_OK);
    assert_int_equal(count, 5);
    assert_non_null(strstr(text, "device memory of 4321 bytes"));
    assert_non_null(strstr(text, "pinned host memory of 99 bytes"));
    pool_text_free(&text);
    assert_int_equal(cu->EventDestroy(event), 0);
    assert_int_equal(pool_sim_leaks(POOL_TEXT_PLAIN, &count, NULL), POOL_OK);
    assert_int_equal(count, 4);
    sim_close();
    assert_int_equal(pool_sim_leaks(POOL_TEXT_JSON, &count, &text), POOL_OK);
    assert_int_equal(count, 4);
    assert_non_null(strstr(text, "{\"kind\":\"device memory\",\"device\":1,\"bytes\":4321"));
    assert_non_null(strstr(text, "\"kind\":\"stream\""));
    pool_text_free(&text);
    sim_begin("sim:2");
    sim_close();
    assert_int_equal(pool_sim_leaks(POOL_TEXT_PLAIN, &count, &text), POOL_OK);
    assert_int_equal(count, 0);
    assert_string_equal(text, "nothing\n");
    pool_text_free(&text);
}

static _Atomic int leak_lines;

static void log_line(void *user, const pool_log_record *record)
{
    (void)user;
    if (record->level == POOL_LOG_WARN && strstr(record->message, "left behind: ") &&
        strstr(record->message, "device memory"))
        leak_lines++;
}

static void test_leak_log(void **state)
{
    CUdeviceptr memory = 0;

    (void)state;
    pool_log_set(log_line, NULL, POOL_LOG_WARN);
    for (int with = 0; with < 2; with++) {
        sim_begin_context(with ? "sim:report=leak" : "sim");
        assert_int_equal(cu->MemAlloc(&memory, 4321), 0);
        sim_close();
        assert_int_equal(leak_lines, with);
    }
    pool_log_set(NULL, NULL, POOL_LOG_WARN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc),
        cmocka_unit_test(test_freed_pages),
        cmocka_unit_test(test_page_tables),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_copies_are_checked),
        cmocka_unit_test(test_big_memory_is_lazy),
        cmocka_unit_test(test_pinned_and_registered),
        cmocka_unit_test(test_pointer_attributes),
        cmocka_unit_test(test_peer_copies),
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_leaks),
        cmocka_unit_test(test_leak_log),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
