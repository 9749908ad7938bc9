/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses of device memory: which worker has them, and allocations outside of the addresses
 * that are reserved for a worker.
 */
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/math.h"
#include "worker/client_calls.h"

static bool is_in_region(const struct client_worker *worker, uint64_t address)
{
    return address - worker->region_base < worker->region_bytes;
}

struct client_worker *client_address_worker(uint64_t address)
{
    struct client_worker *found = NULL;

    for (unsigned i = 0; i < client->count; i++)
        if (is_in_region(&client->workers[i], address) ||
            address - client->workers[i].virtual_base < client->workers[i].virtual_bytes)
            return &client->workers[i];
    if (!client->range_count)
        return NULL;
    pthread_rwlock_rdlock(&client->memory_lock);
    for (size_t i = 0; i < client->range_count && !found; i++)
        if (address - client->ranges[i].base < client->ranges[i].bytes)
            found = &client->workers[client->ranges[i].worker];
    pthread_rwlock_unlock(&client->memory_lock);
    return found;
}

void call_address(struct client_call *call, struct client_worker *worker, uint64_t address)
{
    unsigned generation = atomic_load(&worker->generation);
    uint64_t part_bytes = worker->region_bytes / CLIENT_REGION_PARTS;

    if (part_bytes && is_in_region(worker, address) &&
        (address - worker->region_base) / part_bytes != generation % CLIENT_REGION_PARTS)
        generation--; /* of an earlier process */
    call_worker(call, worker, generation);
}

bool client_range_is_present(const struct client_range *range)
{
    return range->generation == atomic_load(&client->workers[range->worker].generation);
}

static void unmap_range(const struct client_range *range)
{
    munmap((void *)(uintptr_t)(range->base & ~(CLIENT_PAGE - 1)), (size_t)range->mapped_bytes);
}

void client_ranges_free(struct client *closing)
{
    for (size_t i = 0; i < closing->range_count; i++)
        unmap_range(&closing->ranges[i]);
    base_free(closing->ranges);
}

/* Forgets what ended processes had at these addresses. With the lock held. */
static void drop_ended(uint64_t start, uint64_t end)
{
    for (size_t i = client->range_count; i-- > 0;) {
        struct client_range *range = &client->ranges[i];
        uint64_t base = range->base & ~(CLIENT_PAGE - 1);

        if (client_range_is_present(range) || base >= end || base + range->mapped_bytes <= start)
            continue;
        unmap_range(range);
        *range = client->ranges[--client->range_count];
    }
}

/* Reserves the addresses of an allocation outside of the worker's region; false: they are in use.
 */
static bool add_range(unsigned worker, uint64_t base, uint64_t bytes)
{
    uint64_t start = base & ~(CLIENT_PAGE - 1), end = base_round_up(base + bytes, CLIENT_PAGE);
    bool is_added = false;

    pthread_rwlock_wrlock(&client->memory_lock);
    drop_ended(start, end);
    if (client->range_count == client->range_capacity) {
        size_t capacity = client->range_capacity ? client->range_capacity * 2 : 64;
        struct client_range *ranges = base_realloc(client->ranges, capacity, sizeof(*ranges));

        if (ranges) {
            client->ranges = ranges;
            client->range_capacity = capacity;
        }
    }
    if (client->range_count < client->range_capacity &&
        client_reserve(start, end - start) != MAP_FAILED) {
        client->ranges[client->range_count++] = (struct client_range){
            base, bytes, end - start, worker, 0, atomic_load(&client->workers[worker].generation)};
        is_added = true;
    }
    pthread_rwlock_unlock(&client->memory_lock);
    return is_added;
}

bool client_range_claim(const struct client_worker *worker, uint64_t address, uint64_t bytes)
{
    return !address || is_in_region(worker, address) ||
           add_range((unsigned)worker->ordinal, address, bytes);
}

void client_range_release(const struct client_worker *worker, uint64_t address)
{
    if (is_in_region(worker, address))
        return;
    pthread_rwlock_wrlock(&client->memory_lock);
    for (size_t i = 0; i < client->range_count; i++) {
        if (client->ranges[i].base != address)
            continue;
        unmap_range(&client->ranges[i]);
        client->ranges[i] = client->ranges[--client->range_count];
        break;
    }
    pthread_rwlock_unlock(&client->memory_lock);
}

/* The driver of a worker may return addresses that are in use here; others are requested then,
 * while the first ones stay allocated. */
#define ADDRESS_TRIES 8

pool_cu_result client_cu_MemAlloc(CUdeviceptr *address, size_t bytes)
{
    CUdeviceptr rejected[ADDRESS_TRIES];
    unsigned tries = 0;
    pool_cu_result code;

    do {
        const struct client_worker *worker;

        code = remote_MemAlloc(address, bytes);
        if (code)
            break;
        worker = &client->workers[client_handle_read(client_current()).worker];
        if (client_range_claim(worker, *address, bytes))
            break;
        rejected[tries++] = *address;
        code = POOL_CU_OUT_OF_MEMORY;
    } while (tries < ADDRESS_TRIES);
    while (tries)
        (void)remote_MemFree(rejected[--tries]);
    return code;
}

pool_cu_result client_cu_MemAllocFromPoolAsync(
    CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    CUdeviceptr rejected[ADDRESS_TRIES];
    unsigned tries = 0;
    pool_cu_result code;

    do {
        const struct client_worker *worker;

        code = remote_MemAllocFromPoolAsync(address, bytes, pool, stream);
        if (code)
            break;
        worker = &client->workers[client_handle_read(pool).worker];
        if (client_range_claim(worker, *address, bytes))
            break;
        rejected[tries++] = *address;
        code = POOL_CU_OUT_OF_MEMORY;
    } while (tries < ADDRESS_TRIES);
    while (tries)
        (void)client_cu_MemFreeAsync(rejected[--tries], stream);
    return code;
}

pool_cu_result client_cu_MemFree(CUdeviceptr address)
{
    struct client_worker *worker;
    struct client_call call;
    pool_cu_result code = call_check();

    if (code || !address)
        return code;
    worker = client_address_worker(address);
    if (!worker)
        return POOL_CU_INVALID_VALUE;
    call_begin(&call, WORKER_MemFree, CLIENT_WAIT);
    call_address(&call, worker, address);
    call_word(&call, address);
    code = call_run(&call);
    if (!code)
        client_range_release(worker, address);
    return code;
}
