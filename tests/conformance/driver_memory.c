/* SPDX-License-Identifier: Apache-2.0 */
/* Transcript: allocations, copies and fills, host memory, pointer attributes, memory pools. */
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

enum { SIZE = 4 << 20 };

static unsigned char own[8192] __attribute__((aligned(4096)));

static void allocations(void)
{
    CUdeviceptr address = 0, base = 0, other = 0;
    size_t bytes = 0, total = 0;

    SAY(MemAlloc(&address, 0));
    SAY(MemAlloc(NULL, 16));
    SAY(MemAlloc(&address, (size_t)1 << 50));
    SAY(MemAlloc(&address, SIZE_MAX));
    SAY(MemGetInfo(&bytes, &total));
    VALUE(bytes <= total);
    SAY(MemAlloc(&address, total));
    SAY(MemAlloc(&address, total + 1));
    SAY(MemAlloc(&address, 1000));
    VALUE(address % 256);
    SAY(MemGetAddressRange(&base, &bytes, address + 77));
    VALUE(base == address);
    VALUE(bytes);
    SAY(MemGetAddressRange(NULL, &bytes, address));
    SAY(MemGetAddressRange(&base, NULL, address));
    SAY(MemGetAddressRange(&base, &bytes, 0x1234));
    SAY(MemGetAddressRange(&base, &bytes, 0));
    SAY(MemGetAddressRange(&base, &bytes, (CUdeviceptr)(uintptr_t)own));
    SAY(MemFree(address + 256));
    SAY(MemFree(address));
    SAY(MemFree(address));
    SAY(MemFree(0));
    SAY(MemFree(0x1234));
    SAY(MemFree((CUdeviceptr)(uintptr_t)own));
    SAY(MemAlloc(&address, SIZE));
    SAY(MemAlloc(&other, 1));
    VALUE(other != address);
    SAY(MemGetAddressRange(&base, &bytes, other));
    VALUE(bytes);
    SAY(MemFree(other));
    SAY(MemFree(address));
}

static void copies(void)
{
    CUdeviceptr address = 0, far = 0;
    unsigned char data[64], back[64];

    for (unsigned i = 0; i < sizeof(data); i++)
        data[i] = (unsigned char)(i * 7);
    QUIET(MemAlloc(&address, SIZE));
    far = address + ((CUdeviceptr)1 << 40);
    SAY(MemcpyHtoD(address, data, 64));
    SAY(MemcpyHtoD(address, data, 0));
    SAY(MemcpyHtoD(address, NULL, 0));
    SAY(MemcpyHtoD(0, data, 64));
    SAY(MemcpyHtoD(0, data, 0));
    SAY(MemcpyHtoD(0x1234, data, 64));
    SAY(MemcpyHtoD(far, data, 64));
    SAY(MemcpyDtoH(back, address, 64));
    VALUE(memcmp(back, data, 64));
    SAY(MemcpyDtoH(back, 0, 64));
    SAY(MemcpyDtoH(back, far, 64));
    SAY(MemcpyDtoD(address + 1000, address, 64));
    SAY(MemcpyDtoH(back, address + 1001, 63));
    VALUE(memcmp(back, data + 1, 63));
    SAY(MemcpyDtoD(far, address, 64));
    SAY(MemcpyDtoD(address, far, 64));
    SAY(MemcpyDtoD(address, 0, 64));
    SAY(MemcpyHtoDAsync(far, data, 64, NULL));
    SAY(MemcpyDtoHAsync(back, far, 64, NULL));
    SAY(MemcpyDtoDAsync(address, far, 64, NULL));
    SAY(CtxSynchronize());
    SAY(MemsetD8(address, 7, 16));
    SAY(MemsetD8(address, 7, 0));
    SAY(MemsetD16(address + 1, 7, 16));
    SAY(MemsetD16(address + 2, 0x1234, 8));
    SAY(MemsetD32(address + 2, 7, 16));
    SAY(MemsetD32(address + 32, 0xdeadbeef, 2));
    SAY(MemsetD8(far, 7, 16));
    SAY(MemsetD32(0, 7, 16));
    SAY(MemsetD32Async(far, 7, 16, NULL));
    SAY(MemcpyDtoH(back, address, 40));
    VALUE(back[1]);
    VALUE(back[2]);
    VALUE(back[3]);
    VALUE(back[35]);
    SAY(MemcpyPeer(address, primary, address + 4096, primary, 64));
    SAY(MemcpyPeerAsync(address, primary, far, primary, 64, NULL));
    SAY(MemFree(address));
    SAY(MemcpyHtoD(address, data, 64));
}

static void host_memory(void)
{
    CUdeviceptr address = 0;
    void *host = NULL;

    SAY(MemHostAlloc(&host, 0, 0));
    VALUE(host != NULL);
    SAY(MemHostAlloc(NULL, 16, 0));
    SAY(MemHostAlloc(&host, 4096, 0x80));
    SAY(MemHostAlloc(&host, (size_t)1 << 50, 0));
    SAY(MemHostAlloc(&host, 4096, 3));
    SAY(MemHostGetDevicePointer(&address, host, 0));
    VALUE(address != 0);
    SAY(MemHostGetDevicePointer(&address, host, 1));
    SAY(MemHostGetDevicePointer(&address, own, 0));
    SAY(MemHostGetDevicePointer(NULL, host, 0));
    SAY(MemFreeHost((char *)host + 16));
    SAY(MemFreeHost(host));
    SAY(MemFreeHost(host));
    SAY(MemFreeHost(NULL));
    SAY(MemFreeHost(own));
    SAY(MemHostUnregister(own));
    SAY(MemHostUnregister(NULL));
    SAY(MemHostRegister(own, 0, 0));
    SAY(MemHostRegister(NULL, 4096, 0));
    SAY(MemHostRegister(own, sizeof(own), 0x100));
    SAY(MemHostRegister(own, sizeof(own), 0));
    SAY(MemHostRegister(own, sizeof(own), 0));
    SAY(MemHostRegister(own + 4096, 4096, 0));
    SAY(MemHostUnregister(own + 4096));
    SAY(MemFreeHost(own));
    SAY(MemHostUnregister(own));
    SAY(MemHostUnregister(own));
}

static void attributes_of(const char *what, CUdeviceptr address)
{
    for (pool_cu_enum attribute = 1; attribute <= 20; attribute++) {
        uint64_t value[8] = {0};
        pool_cu_result code;

        if ((attribute > 4 && attribute < 8) || attribute == 10 || attribute == 14 ||
            attribute == 15 || attribute == 16 || attribute > 17) /* RDMA, IPC, virtual memory */
            continue;
        code = cu->PointerGetAttribute(value, attribute, address);
        printf("%s: attribute %u -> %u", what, attribute, code);
        if (!code && (attribute == 2 || attribute == 8 || attribute == 9 || attribute == 12 ||
                         attribute == 13))
            printf(": %u", (unsigned)value[0]);
        else if (!code && attribute == 1)
            printf(": %s", (CUcontext)(uintptr_t)value[0] == primary ? "primary" : "other");
        else if (!code && (attribute == 3 || attribute == 4 || attribute == 11))
            printf(": %+lld", value[0] ? (long long)(value[0] - address) : 0);
        printf("\n");
    }
}

static void pointers(void)
{
    CUdeviceptr address = 0;
    void *host = NULL;
    unsigned value;

    QUIET(MemAlloc(&address, SIZE));
    QUIET(MemHostAlloc(&host, 4096, 3));
    attributes_of("device", address);
    attributes_of("device + 100", address + 100);
    attributes_of("pinned", (CUdeviceptr)(uintptr_t)host);
    attributes_of("own", (CUdeviceptr)(uintptr_t)own);
    QUIET(MemHostRegister(own, sizeof(own), 2));
    attributes_of("registered", (CUdeviceptr)(uintptr_t)own);
    attributes_of("nowhere", 0x1234);
    attributes_of("zero", 0);
    SAY(PointerGetAttribute(NULL, 2, address));
    SAY(PointerGetAttribute(&value, 0, address));
    SAY(PointerGetAttribute(&value, 999, address));
    SAY(MemHostUnregister(own));
    SAY(MemFreeHost(host));
    SAY(MemFree(address));
    attributes_of("freed", address);
}

static void pools(void)
{
    pool_cu_mem_pool_props props = {.allocation_type = 1, .location = {1, 999}};
    pool_cu_mem_access access = {{1, 0}, 3};
    CUmemoryPool pool = NULL;
    CUdeviceptr address = 0, again = 0;
    uint64_t value = 1 << 20;
    size_t bytes = 0;

    SAY(MemPoolCreate(&pool, &props));
    props.location.id = 0;
    props.allocation_type = 0;
    SAY(MemPoolCreate(&pool, &props));
    props.allocation_type = 1;
    SAY(MemPoolCreate(NULL, &props));
    SAY(MemPoolCreate(&pool, &props));
    SAY(MemPoolSetAttribute(pool, 4, &value));
    value = 0;
    SAY(MemPoolGetAttribute(pool, 4, &value));
    VALUE(value);
    SAY(MemPoolGetAttribute(pool, 77, &value));
    SAY(MemPoolSetAttribute(pool, 77, &value));
    SAY(MemPoolSetAttribute(pool, 5, &value));
    SAY(MemPoolSetAccess(pool, &access, 1));
    access.flags = 0;
    SAY(MemPoolSetAccess(pool, &access, 1));
    SAY(MemAllocFromPoolAsync(&address, 0, pool, NULL));
    VALUE(address != 0);
    SAY(MemAllocFromPoolAsync(&address, (size_t)1 << 50, pool, NULL));
    SAY(MemAllocFromPoolAsync(&address, 1000, pool, NULL));
    SAY(MemGetAddressRange(&again, &bytes, address));
    VALUE(again == address);
    VALUE(bytes);
    SAY(MemPoolGetAttribute(pool, 7, &value));
    VALUE(value >= 1000);
    SAY(MemFreeAsync(address + 256, NULL));
    SAY(MemFreeAsync(0, NULL));
    SAY(MemFreeAsync(0x1234, NULL));
    SAY(MemFreeAsync(address, NULL));
    SAY(MemFreeAsync(address, NULL));
    SAY(StreamSynchronize(NULL));
    SAY(MemPoolTrimTo(pool, 0));
    SAY(MemPoolGetAttribute(pool, 5, &value));
    VALUE(value);
    SAY(MemAllocFromPoolAsync(&address, 1000, pool, NULL));
    SAY(MemFree(address));
    SAY(MemPoolDestroy(pool));
}

const struct section memory_sections[] = {{"allocations", allocations, 1}, {"copies", copies, 1},
    {"host memory", host_memory, 1}, {"pointers", pointers, 1}, {"memory pools", pools, 1},
    {NULL, NULL, 0}};
