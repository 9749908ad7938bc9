/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of device memory: the sum modulo 2^64 of its 64-bit words, each mixed with its place
 * by the output function of SplitMix64, so that a changed, moved or zeroed word changes it. It
 * recognises memory that was overwritten by accident; it is no cryptographic hash.
 *
 * The kernel's PTX is in this file, so that a digest needs neither NVRTC nor a cache.
 */
#include "base/math.h"
#include "base/status.h"
#include "driver/cleanup.h"
#include "pool/memory/durable.h"

enum { THREADS = 256, BLOCKS_PER_MULTIPROCESSOR = 8, ITEM_BYTES = 16 };

#define MIX(x)                                                                                     \
    "\tshr.u64 %k, " x ", 30;\n\txor.b64 " x ", " x ", %k;\n"                                      \
    "\tmul.lo.u64 " x ", " x ", 0xbf58476d1ce4e5b9;\n"                                             \
    "\tshr.u64 %k, " x ", 27;\n\txor.b64 " x ", " x ", %k;\n"                                      \
    "\tmul.lo.u64 " x ", " x ", 0x94d049bb133111eb;\n"                                             \
    "\tshr.u64 %k, " x ", 31;\n\txor.b64 " x ", " x ", %k;\n\tadd.u64 %sum, %sum, " x ";\n"

/* Each thread reads two words at a time; word i is added to (i + 1) times the golden ratio. */
static const char digest_ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry devicepool_digest(.param .u64 data, .param .u64 items, .param .u64 out)\n{\n"
    "\t.reg .u64 %data, %items, %out, %i, %step, %at, %x, %y, %k, %sum;\n"
    "\t.reg .u32 %t, %b, %n;\n\t.reg .pred %p;\n"
    "\tld.param.u64 %data, [data];\n\tld.param.u64 %items, [items];\n\tld.param.u64 %out, [out];\n"
    "\tmov.u32 %t, %tid.x;\n\tmov.u32 %b, %ctaid.x;\n\tmov.u32 %n, %ntid.x;\n"
    "\tmul.wide.u32 %i, %b, %n;\n\tcvt.u64.u32 %at, %t;\n\tadd.u64 %i, %i, %at;\n"
    "\tmov.u32 %b, %nctaid.x;\n\tmul.wide.u32 %step, %b, %n;\n\tmov.u64 %sum, 0;\n"
    "again:\n\tsetp.ge.u64 %p, %i, %items;\n\t@%p bra done;\n"
    "\tshl.b64 %at, %i, 4;\n\tadd.u64 %at, %at, %data;\n\tld.global.v2.u64 {%x, %y}, [%at];\n"
    "\tmul.lo.u64 %k, %i, 0x3c6ef372fe94f82a;\n\tadd.u64 %k, %k, 0x9e3779b97f4a7c15;\n"
    "\tadd.u64 %x, %x, %k;\n\tadd.u64 %k, %k, 0x9e3779b97f4a7c15;\n\tadd.u64 %y, %y, %k;\n" MIX(
        "%x") MIX("%y") "\tadd.u64 %i, %i, %step;\n\tbra again;\n"
                        "done:\n\tred.global.add.u64 [%out], %sum;\n\tret;\n}\n";

/* With the lock held. */
static pool_status load(struct device_memory *memory, struct memory_digester *digester)
{
    struct driver *driver = memory->driver;
    pool_status status = POOL_OK;

    if (digester->function)
        return POOL_OK;
    DRIVER_TRY(driver, status, out, ModuleLoadData(&digester->module, digest_ptx));
    DRIVER_TRY(driver, status, unload, MemAlloc(&digester->result, sizeof(uint64_t)));
    DRIVER_TRY(driver, status, free_result,
        ModuleGetFunction(&digester->function, digester->module, "devicepool_digest"));
    return POOL_OK;
free_result:
    digester->function = NULL;
    DRIVER_CLEANUP_QUIETLY(driver, MemFree(digester->result));
unload:
    DRIVER_CLEANUP_QUIETLY(driver, ModuleUnload(digester->module));
out:
    return status;
}

/* With the lock held. */
static pool_status compute(struct device_memory *memory, const struct memory_digester *digester,
    CUdeviceptr address, uint64_t items, uint64_t *digest)
{
    int32_t multiprocessors = device_properties(memory->device)->multiprocessors;
    uint64_t most = BLOCKS_PER_MULTIPROCESSOR * (uint64_t)multiprocessors;
    uint64_t blocks = base_max(base_min(base_ceil_div(items, THREADS), most), 1);
    CUdeviceptr result = digester->result;
    void *arguments[] = {&address, &items, &result};
    CUstream stream = memory->alloc_order;
    const struct memory_transfer transfer = {.host = (unsigned char *)digest,
        .device = result,
        .bytes = sizeof(*digest),
        .stream = stream};
    struct driver *driver = memory->driver;
    pool_status status =
        DRIVER_CALL(driver, MemsetD32Async(result, 0, sizeof(*digest) / sizeof(uint32_t), stream));

    if (!status)
        status = DRIVER_CALL(driver, LaunchKernel(digester->function, (unsigned)blocks, 1, 1,
                                         THREADS, 1, 1, 0, stream, arguments, NULL));
    return status ? status : memory_copy_pageable(memory, &transfer, 1);
}

pool_status memory_digest(
    struct device_memory *memory, CUdeviceptr address, uint64_t bytes, uint64_t *digest)
{
    struct memory_digester *digester = &memory->digester;
    pool_status status;

    pthread_mutex_lock(&digester->lock);
    status = load(memory, digester);
    if (!status)
        status = compute(
            memory, digester, address, base_round_up(bytes, ITEM_BYTES) / ITEM_BYTES, digest);
    pthread_mutex_unlock(&digester->lock);
    return status;
}

void memory_digest_free(struct device_memory *memory, int driver_alive)
{
    struct memory_digester *digester = &memory->digester;

    if (driver_alive && digester->function) {
        (void)DRIVER_CLEANUP(memory->driver, MemFree(digester->result));
        (void)DRIVER_CLEANUP(memory->driver, ModuleUnload(digester->module));
    }
    digester->function = NULL;
}
