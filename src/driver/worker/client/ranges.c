/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses of device memory: which worker has them, and allocations outside of the addresses
 * that are reserved for a worker.
 */
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/math.h"
#include "driver/worker/client/client_calls.h"

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

static bool is_of_generation(
    const struct client_worker *worker, uint64_t address, unsigned generation)
{
    uint64_t part_bytes = worker->region_bytes / CLIENT_REGION_PARTS;

    return !part_bytes || !is_in_region(worker, address) ||
           (address - worker->region_base) / part_bytes == generation % CLIENT_REGION_PARTS;
}

bool client_address_is_present(const struct client_worker *worker, uint64_t address)
{
    return is_of_generation(worker, address, atomic_load(&worker->generation));
}

void call_address(struct client_call *call, struct client_worker *worker, uint64_t address)
{
    unsigned generation = atomic_load(&worker->generation);

    if (!is_of_generation(worker, address, generation))
        generation--; /* of an earlier process */
    call_worker(call, worker, generation);
}

bool client_range_is_present(const struct client_range *range)
{
    return range->generation == atomic_load(&client->workers[range->worker].generation);
}

static uint64_t first_page(const struct client_range *range)
{
    return range->base & ~(CLIENT_PAGE - 1);
}

static uint64_t end_page(const struct client_range *range)
{
    return base_round_up(range->base + range->bytes, CLIENT_PAGE);
}

/* Another range with bytes in the page; NULL: none. */
static const struct client_range *find_sharing(
    const struct client *owner, const struct client_range *range, uint64_t page)
{
    for (size_t i = 0; i < owner->range_count; i++) {
        const struct client_range *other = &owner->ranges[i];

        if (other != range && first_page(other) <= page && page < end_page(other))
            return other;
    }
    return NULL;
}

/* The driver places small allocations side by side: ranges share their outer pages, which stay
 * reserved for as long as one of them is there. Narrows [*start, *end) to the pages of this range
 * alone. */
static void leave_out_shared(
    const struct client *owner, const struct client_range *range, uint64_t *start, uint64_t *end)
{
    *start = first_page(range);
    *end = end_page(range);
    if (find_sharing(owner, range, *start))
        *start += CLIENT_PAGE;
    if (*start < *end && find_sharing(owner, range, *end - CLIENT_PAGE))
        *end -= CLIENT_PAGE;
}

/* Removes a range, and the reservation of its pages. */
static void remove_range(struct client *owner, size_t index)
{
    uint64_t start, end;

    leave_out_shared(owner, &owner->ranges[index], &start, &end);
    if (start < end)
        munmap((void *)(uintptr_t)start, (size_t)(end - start));
    owner->ranges[index] = owner->ranges[owner->range_count - 1];
    owner->range_count--;
}

void client_ranges_free(struct client *closing)
{
    while (closing->range_count)
        remove_range(closing, closing->range_count - 1);
    base_free(closing->ranges);
}

/* Forgets what ended processes had at these addresses. With the lock held. */
static void drop_ended(const struct client_range *added)
{
    for (size_t i = client->range_count; i-- > 0;) {
        const struct client_range *range = &client->ranges[i];

        if (!client_range_is_present(range) && first_page(range) < end_page(added) &&
            end_page(range) > first_page(added))
            remove_range(client, i);
    }
}

/* Whether nothing but memory of the same worker is in the pages of a range; reserves them. */
static bool reserve_pages(const struct client_range *added)
{
    const uint64_t outer[] = {first_page(added), end_page(added) - CLIENT_PAGE};
    uint64_t start, end;

    for (size_t i = 0; i < 2; i++) {
        const struct client_range *sharing = find_sharing(client, added, outer[i]);

        if (sharing && sharing->worker != added->worker)
            return false;
    }
    leave_out_shared(client, added, &start, &end);
    return start >= end || client_reserve(start, end - start) != MAP_FAILED;
}

/* Reserves the addresses of an allocation outside of the worker's region; false: they are in use.
 */
static bool add_range(unsigned worker, uint64_t base, uint64_t bytes)
{
    const struct client_range added = {
        base, bytes, worker, 0, atomic_load(&client->workers[worker].generation)};
    bool is_added = false;

    pthread_rwlock_wrlock(&client->memory_lock);
    drop_ended(&added);
    if (client->range_count == client->range_capacity) {
        size_t capacity = client->range_capacity ? client->range_capacity * 2 : 64;
        struct client_range *ranges = base_realloc(client->ranges, capacity, sizeof(*ranges));

        if (ranges) {
            client->ranges = ranges;
            client->range_capacity = capacity;
        }
    }
    if (client->range_count < client->range_capacity && reserve_pages(&added)) {
        client->ranges[client->range_count++] = added;
        is_added = true;
    }
    pthread_rwlock_unlock(&client->memory_lock);
    return is_added;
}

bool client_range_claim(const struct client_worker *worker, uint64_t address, uint64_t bytes)
{
    if (!address || is_in_region(worker, address))
        return true;
    /* What the worker says may be anything. */
    return address < UINT64_MAX - CLIENT_PAGE && bytes &&
           bytes < UINT64_MAX - CLIENT_PAGE - address &&
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
        remove_range(client, i);
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

    if (!code && client_in_ended_green())
        code = POOL_CU_CONTEXT_IS_DESTROYED;
    if (code || !address)
        return code;
    worker = client_address_worker(address);
    if (!worker)
        return POOL_CU_INVALID_VALUE;
    call_begin(&call, WORKER_MemFree, CLIENT_END);
    call_address(&call, worker, address);
    call_word(&call, address);
    code = call_run(&call);
    if (!code)
        client_range_release(worker, address);
    return code;
}
