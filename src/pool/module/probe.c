/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probing a device: a kernel whose results the host computes as well runs on every multiprocessor,
 * with arithmetic, shared memory, a barrier and atomics; fills and a copy go before and after it.
 * Its PTX is in this file, so that a probe needs neither NVRTC nor a cache.
 *
 * On a device that hangs any driver call may block. The calls are therefore made by a thread of
 * the probe's own, which the caller leaves behind when its time is over.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/params.h"
#include "base/status.h"
#include "base/thread.h"
#include "driver/cleanup.h"
#include "pool/memory/memory.h"
#include "pool/module/module.h"
#include "pool/module/registry.h"

enum { PROBE_THREADS = 128, PROBE_BLOCKS_PER_MULTIPROCESSOR = 2, PROBE_ROUNDS = 64 };

#define PROBE_MULTIPLIER 1664525u
#define PROBE_INCREMENT 1013904223u
#define PROBE_HIGH 2654435761u

/*
 * out[i] = own + 3 * other, where own is the thread's value after the rounds and other the one of
 * the thread at the other end of its block; out[count] is the sum of all own values.
 */
static const char probe_ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry devicepool_probe(.param .u64 out, .param .u32 seed, .param .u32 rounds,\n"
    "    .param .u32 count)\n{\n"
    "\t.reg .u64 %base, %at, %offset;\n\t.reg .u32 %t, %n, %b, %i, %x, %y, %r, %m, %s, %a;\n"
    "\t.reg .pred %p;\n\t.shared .align 4 .b8 values[512];\n"
    "\tld.param.u64 %base, [out];\n\tld.param.u32 %x, [seed];\n\tld.param.u32 %r, [rounds];\n"
    "\tmov.u32 %t, %tid.x;\n\tmov.u32 %n, %ntid.x;\n\tmov.u32 %b, %ctaid.x;\n"
    "\tmad.lo.u32 %i, %b, %n, %t;\n\txor.b32 %x, %x, %i;\n"
    "again:\n\tmad.lo.u32 %x, %x, 1664525, 1013904223;\n\tshr.u32 %y, %x, 13;\n"
    "\txor.b32 %x, %x, %y;\n\tmul.hi.u32 %y, %x, 2654435761;\n\tadd.u32 %x, %x, %y;\n"
    "\tsub.u32 %r, %r, 1;\n\tsetp.ne.u32 %p, %r, 0;\n\t@%p bra again;\n"
    "\tmov.u32 %s, values;\n\tshl.b32 %a, %t, 2;\n\tadd.u32 %a, %a, %s;\n"
    "\tst.shared.u32 [%a], %x;\n\tbar.sync 0;\n"
    "\tsub.u32 %m, %n, %t;\n\tsub.u32 %m, %m, 1;\n\tshl.b32 %a, %m, 2;\n\tadd.u32 %a, %a, %s;\n"
    "\tld.shared.u32 %y, [%a];\n\tmad.lo.u32 %y, %y, 3, %x;\n"
    "\tmul.wide.u32 %offset, %i, 4;\n\tadd.u64 %at, %base, %offset;\n"
    "\tst.global.u32 [%at], %y;\n"
    "\tld.param.u32 %m, [count];\n\tmul.wide.u32 %offset, %m, 4;\n\tadd.u64 %at, %base, %offset;\n"
    "\tred.global.add.u32 [%at], %x;\n\tret;\n}\n";

/* Shared by the caller and the probe's thread; the last of them frees it. */
struct probe {
    pool_device *device;
    unsigned quarantines; /* of the device when the probe began */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_done, is_left; /* guarded by lock: the thread has ended; the caller has gone */
    pool_status status;
    struct base_error_copy error;
};

static void free_probe(struct probe *probe)
{
    pthread_cond_destroy(&probe->changed);
    pthread_mutex_destroy(&probe->lock);
    base_free(probe);
}

static struct probe *new_probe(pool_device *device)
{
    struct probe *probe = base_calloc(1, sizeof(*probe));
    pthread_condattr_t attributes;

    if (!probe)
        return NULL;
    probe->device = device;
    probe->quarantines = device_quarantines(device);
    pthread_mutex_init(&probe->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&probe->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return probe;
}

/* The kernel of the device's resident module, which the first probe loads. */
static pool_status find_kernel(pool_device *device, pool_kernel **kernel)
{
    struct module_key digest;
    pool_module *module = NULL;
    pool_status status = base_sha256_of(probe_ptx, sizeof(probe_ptx), digest.bytes);

    if (!status)
        status = module_registry_find_digest(device, &digest, &module);
    if (!status && !module) {
        status = pool_module_load(device, probe_ptx, sizeof(probe_ptx) - 1, &module);
        if (status)
            return status;
        status = module_registry_add(device, &digest, &module);
        if (status) {
            struct base_error_copy first;

            base_error_save(&first);
            pool_module_destroy(&module);
            base_error_restore(&first);
        }
    }
    return status ? status : pool_kernel_get(module, "devicepool_probe", kernel);
}

static uint32_t thread_value(uint32_t seed, uint32_t index)
{
    uint32_t x = seed ^ index;

    for (int i = 0; i < PROBE_ROUNDS; i++) {
        x = x * PROBE_MULTIPLIER + PROBE_INCREMENT;
        x ^= x >> 13;
        x += (uint32_t)((uint64_t)x * PROBE_HIGH >> 32);
    }
    return x;
}

/* Fails with DEVICE_UNUSABLE and the first difference. */
static pool_status compare(
    const pool_device *device, const uint32_t *results, uint32_t count, uint32_t seed)
{
    uint32_t own[PROBE_THREADS], sum = 0, wrong = 0, first = 0, expected_first = 0;

    for (uint32_t block = 0; block < count; block += PROBE_THREADS) {
        for (uint32_t i = 0; i < PROBE_THREADS; i++) {
            own[i] = thread_value(seed, block + i);
            sum += own[i];
        }
        for (uint32_t i = 0; i < PROBE_THREADS; i++) {
            uint32_t expected = own[i] + 3 * own[PROBE_THREADS - 1 - i];

            if (results[block + i] != expected && wrong++ == 0) {
                first = block + i;
                expected_first = expected;
            }
        }
    }
    if (results[count] != sum && wrong++ == 0) {
        first = count;
        expected_first = sum;
    }
    if (!wrong)
        return POOL_OK;
    return base_fail(POOL_ERR_DEVICE_UNUSABLE,
        "device %d (%s): a probe computed %u wrong results of %u; the first is at %u: 0x%08x "
        "instead of 0x%08x",
        pool_device_ordinal(device), pool_device_uuid(device), wrong, count + 1, first,
        results[first], expected_first);
}

static uint32_t result_count(const pool_device *device)
{
    return PROBE_BLOCKS_PER_MULTIPROCESSOR * (uint32_t)device_properties(device)->multiprocessors *
           PROBE_THREADS;
}

/* Device memory for the results and their sum: a resource of the device, like the module. */
static pool_status create_memory(pool_device *device, void **object)
{
    CUdeviceptr address = 0;
    pool_status status = DRIVER_CALL(device_driver(device),
        MemAlloc(&address, ((size_t)result_count(device) + 1) * sizeof(uint32_t)));

    if (!status)
        *object = (void *)(uintptr_t)address;
    return status;
}

static void destroy_memory(pool_device *device, void *object, int driver_alive)
{
    if (driver_alive)
        (void)DRIVER_CLEANUP(device_driver(device), MemFree((CUdeviceptr)(uintptr_t)object));
}

static const struct device_resource_type memory_type = {.name = "the memory of probes",
    .create = create_memory,
    .destroy = destroy_memory,
    .renew = create_memory};

/* Every result gets a value that it will not have, the sum its start. */
static pool_status fill(
    pool_device *device, CUdeviceptr address, uint32_t count, uint32_t value, CUstream stream)
{
    struct device_scope scope;
    pool_status status = device_enter(device, &scope);

    if (status)
        return status;
    status = DRIVER_CALL(scope.driver, MemsetD32Async(address, value, count, stream));
    if (!status)
        status = DRIVER_CALL(
            scope.driver, MemsetD32Async(address + count * sizeof(uint32_t), 0, 1, stream));
    return device_leave(&scope, status);
}

static pool_status read_results(
    pool_device *device, CUdeviceptr address, uint32_t *results, uint32_t count, CUstream stream)
{
    const struct memory_transfer transfer = {.host = (unsigned char *)results,
        .device = address,
        .bytes = ((uint64_t)count + 1) * sizeof(*results),
        .stream = stream};
    struct device_memory *memory;
    struct device_scope scope;
    pool_status status = device_enter(device, &scope);

    if (status)
        return status;
    status = memory_of(&scope, &memory);
    if (!status)
        status = memory_copy_pageable(memory, &transfer, 1);
    return device_leave(&scope, status);
}

static pool_status run_kernel(pool_device *device, CUdeviceptr address, uint32_t *results)
{
    uint32_t count = result_count(device), seed = (uint32_t)base_clock_ns(), rounds = PROBE_ROUNDS;
    const pool_launch_shape shape = {.struct_size = sizeof(shape),
        .grid = {count / PROBE_THREADS, 1, 1},
        .block = {PROBE_THREADS, 1, 1},
        .argument_count = 4};
    void *arguments[] = {&address, &seed, &rounds, &count};
    pool_kernel *kernel = NULL;
    pool_stream *stream = NULL; /* the kernel may be that of another part of the GPU */
    CUstream handle = NULL;     /* not NULL in a part, whose driver's default is another stream */
    pool_status status = find_kernel(device, &kernel);

    if (!status)
        status = pool_stream_default(device, &stream);
    if (!status)
        status = stream_handle_of_work(stream, device, &handle);
    if (!status)
        status = fill(device, address, count, ~seed, handle);
    if (!status)
        status = pool_launch(kernel, &shape, arguments, stream);
    if (!status)
        status = read_results(device, address, results, count, handle);
    return status ? status : compare(device, results, count, seed);
}

static pool_status run_probe(pool_device *device)
{
    uint32_t *results = base_calloc((size_t)result_count(device) + 1, sizeof(*results));
    void *memory = NULL;
    pool_status status = results ? POOL_OK : base_fail_memory("the results of a probe");

    if (!status)
        status = device_resource_get(device, &memory_type, &memory);
    if (!status)
        status = run_kernel(device, (CUdeviceptr)(uintptr_t)memory, results);
    base_free(results);
    return status;
}

static void *probe_main(void *argument)
{
    struct probe *probe = argument;
    pool_device *device = probe->device;
    pool_status status = run_probe(device), quarantined;
    bool is_left;

    base_error_save(&probe->error);
    /* Also when the caller has gone: the device computes wrong results. */
    if (status == POOL_ERR_DEVICE_UNUSABLE && device_state(device) != POOL_DEVICE_UNUSABLE &&
        device_enter_quarantine(device, probe->error.message, &quarantined))
        device_report(device, probe->error.message);
    pthread_mutex_lock(&probe->lock);
    is_left = probe->is_left;
    if (!status && !is_left)
        device_set_probed(device, probe->quarantines);
    probe->status = status;
    probe->is_done = true;
    device_end_probe(device);
    pthread_cond_signal(&probe->changed);
    pthread_mutex_unlock(&probe->lock);
    if (is_left)
        free_probe(probe);
    return NULL;
}

/* Waits for the probe's thread, at most until `end`. false: it is left behind. */
static bool wait_for(struct probe *probe, uint64_t timeout_ns)
{
    uint64_t now = base_clock_ns();
    uint64_t end = timeout_ns < INT64_MAX - now ? now + timeout_ns : INT64_MAX;
    const struct timespec until = {
        .tv_sec = (time_t)(end / 1000000000u), .tv_nsec = (long)(end % 1000000000u)};
    int error = 0;
    bool is_done;

    pthread_mutex_lock(&probe->lock);
    while (!probe->is_done && !error)
        error = pthread_cond_timedwait(&probe->changed, &probe->lock, &until);
    is_done = probe->is_done;
    probe->is_left = !is_done;
    pthread_mutex_unlock(&probe->lock);
    return is_done;
}

pool_status pool_device_probe(pool_device *device, uint64_t timeout_ns)
{
    struct probe *probe;
    pthread_t thread;
    pool_status status;

    if (!device)
        return base_fail_null("pool_device_probe", "device");
    status = device_check(device, DEVICE_USE_CALLS);
    if (status)
        return status;
    if (!device_begin_probe(device))
        return base_fail(POOL_ERR_BUSY,
            "pool_device_probe: an earlier probe of device %d (%s) has not ended",
            pool_device_ordinal(device), pool_device_uuid(device));
    probe = new_probe(device);
    if (!probe || !base_thread_start(&thread, probe_main, probe)) {
        device_end_probe(device);
        if (probe)
            free_probe(probe);
        return base_fail_memory("a thread for a probe");
    }
    if (!wait_for(probe, timeout_ns)) {
        pthread_detach(thread);
        return base_fail(POOL_ERR_TIMEOUT,
            "pool_device_probe: device %d (%s) has not answered after %.3f s: it hangs, or other "
            "work keeps it busy",
            pool_device_ordinal(device), pool_device_uuid(device), (double)timeout_ns / 1e9);
    }
    pthread_join(thread, NULL);
    status = probe->status;
    if (status)
        base_error_restore(&probe->error);
    free_probe(probe);
    return status;
}
