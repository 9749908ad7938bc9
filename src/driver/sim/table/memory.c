/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map of all memory that devices can address, and the allocator of device memory.
 *
 * A device's addresses are a reserved range of host addresses that is larger than its memory:
 * allocations have guard zones between them, and freed ranges are reused only after the allocator
 * has passed through the whole range once, so that an access just beyond an allocation or to freed
 * memory is detected.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/math.h"
#include "driver/sim/table/state.h"

/* Minimum number of unallocated bytes after each allocation. */
#define GUARD 512u
/* New memory starts with a pattern instead of zeros, so that reads of uninitialised memory show;
 * only the first bytes are written, because writing all would commit the memory. */
#define PATTERN_BYTES 65536u
#define PATTERN 0xa5
#define PAGE 4096u
#define MAX_FREED 1024u
/* Addresses are passed through in pieces: the host's page tables of an empty one are freed, 128
 * KiB.
 */
#define PIECE (UINT64_C(64) << 20)

static struct {
    pthread_rwlock_t lock; /* writers also hold the state's lock */
    struct sim_allocation **items;
    size_t count, capacity;
    struct sim_range freed[MAX_FREED]; /* the most recent ones, a ring buffer */
    size_t freed_next;
} map = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* Index of the first allocation with a base above `address`. */
static size_t index_above(uint64_t address)
{
    size_t low = 0, high = map.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map.items[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether the bytes continue in the next mapping of virtual memory, without a gap. */
static bool continues(const struct sim_allocation *from, size_t next)
{
    return from->kind == SIM_MEMORY_MAPPED && next < map.count &&
           map.items[next]->kind == SIM_MEMORY_MAPPED && !map.items[next]->is_freeing &&
           map.items[next]->base == from->base + from->bytes;
}

struct sim_allocation *sim_memory_find(uint64_t address, uint64_t bytes)
{
    size_t next = index_above(address);
    struct sim_allocation *found = next ? map.items[next - 1] : NULL;
    uint64_t contained;

    if (!found || address - found->base >= found->bytes)
        return NULL;
    contained = found->bytes - (address - found->base);
    while (bytes > contained && continues(map.items[next - 1], next))
        contained += map.items[next++]->bytes;
    return bytes <= contained ? found : NULL;
}

struct sim_allocation *sim_memory_starting_at(uint64_t base)
{
    struct sim_allocation *found = sim_memory_find(base, 1);

    return found && found->base == base ? found : NULL;
}

bool sim_memory_overlaps(uint64_t base, uint64_t bytes)
{
    size_t at = index_above(base);

    if (at > 0 && base - map.items[at - 1]->base < map.items[at - 1]->bytes)
        return true;
    return at < map.count && map.items[at]->base - base < bytes;
}

void sim_memory_write_lock(void)
{
    pthread_rwlock_wrlock(&map.lock);
}

void sim_memory_write_unlock(void)
{
    pthread_rwlock_unlock(&map.lock);
}

size_t sim_memory_count(void)
{
    return map.count;
}

struct sim_allocation *sim_memory_item(size_t index)
{
    return map.items[index];
}

uint64_t sim_memory_free_bytes(int device)
{
    return sim_config_of(device)->memory_bytes - sim_state.devices[device].used_bytes;
}

static bool reserve_map_entry(void)
{
    if (map.count < map.capacity)
        return true;
    size_t capacity = map.capacity ? map.capacity * 2 : 256;
    pthread_rwlock_wrlock(&map.lock);
    struct sim_allocation **items =
        base_realloc(map.items, capacity, sizeof(struct sim_allocation *));
    if (items) {
        map.items = items;
        map.capacity = capacity;
    }
    pthread_rwlock_unlock(&map.lock);
    return items != NULL;
}

static void insert_into_map(struct sim_allocation *allocation)
{
    size_t at = index_above(allocation->base);

    allocation->id = ++sim_state.next_allocation_id;
    pthread_rwlock_wrlock(&map.lock);
    memmove(&map.items[at + 1], &map.items[at], (map.count - at) * sizeof(struct sim_allocation *));
    map.items[at] = allocation;
    map.count++;
    pthread_rwlock_unlock(&map.lock);
}

static void remove_from_map(struct sim_allocation *allocation)
{
    size_t at = index_above(allocation->base) - 1;

    pthread_rwlock_wrlock(&map.lock);
    map.count--;
    memmove(&map.items[at], &map.items[at + 1], (map.count - at) * sizeof(struct sim_allocation *));
    map.freed[map.freed_next++ % MAX_FREED] =
        (struct sim_range){allocation->base, allocation->bytes};
    pthread_rwlock_unlock(&map.lock);
}

static uint64_t fixed_base, fixed_bytes; /* of all devices; 0: anywhere */

void sim_reserve_at(uint64_t base, uint64_t bytes)
{
    fixed_base = base;
    fixed_bytes = bytes;
}

/* Reserves the device's address range, as large as the host permits. */
static bool reserve_region(struct sim_region *region, uint64_t memory)
{

    for (uint64_t times = 4; times > 0; times /= 2) {
        uint64_t bytes = memory * times + ((uint64_t)64 << 20);
        void *base;

        if (fixed_bytes && bytes > fixed_bytes)
            continue;
        base = mmap((void *)(uintptr_t)fixed_base, bytes, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (fixed_bytes ? MAP_FIXED_NOREPLACE : 0),
            -1, 0);
        if (base == MAP_FAILED)
            continue;
        madvise(base, bytes, MADV_DONTDUMP);
        *region = (struct sim_region){(uint64_t)(uintptr_t)base, bytes, (uint64_t)(uintptr_t)base};
        return true;
    }
    return false;
}

/* The first address between `from` and `end` with room for `bytes` and a guard zone; 0: none. */
static uint64_t find_free_range(uint64_t from, uint64_t end, uint64_t bytes, uint64_t align)
{
    uint64_t start = from;
    size_t at = index_above(from);

    if (at > 0 && map.items[at - 1]->base + map.items[at - 1]->bytes + GUARD > start)
        start = map.items[at - 1]->base + map.items[at - 1]->bytes + GUARD;
    for (;; at++) {
        uint64_t limit = at < map.count && map.items[at]->base < end ? map.items[at]->base : end;

        start = base_round_up(start, align);
        if (start < limit && limit - start >= bytes + GUARD)
            return start;
        if (limit == end)
            return 0;
        start = map.items[at]->base + map.items[at]->bytes + GUARD;
    }
}

void sim_memory_renew(uint64_t base, uint64_t bytes)
{
    void *start = (void *)(uintptr_t)base;

    (void)mmap(start, bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    (void)madvise(start, bytes, MADV_DONTDUMP);
}

/* Frees the page tables of the pieces that the range touches, if they are empty: not of the one in
 * which memory is allocated next. */
static void renew_pieces(const struct sim_region *region, uint64_t base, uint64_t bytes)
{
    const size_t above = index_above(base);
    uint64_t first = base / PIECE * PIECE, last = base_round_up(base + bytes, PIECE);

    first = base_max(first, base_round_up(region->base, PIECE));
    last = base_min(last, (region->base + region->bytes) / PIECE * PIECE);
    if (above > 0)
        first = base_max(
            first, base_round_up(map.items[above - 1]->base + map.items[above - 1]->bytes, PIECE));
    if (above < map.count)
        last = base_min(last, map.items[above]->base / PIECE * PIECE);
    if (region->cursor / PIECE * PIECE == first)
        first += PIECE;
    if (last > 0 && region->cursor / PIECE == last / PIECE - 1)
        last -= PIECE;
    if (first < last)
        sim_memory_renew(first, last - first);
}

static uint64_t allocate_range(struct sim_region *region, uint64_t bytes, uint64_t align)
{
    const uint64_t passed = region->cursor, end = region->base + region->bytes;
    uint64_t start = find_free_range(passed, end, bytes, align);

    if (!start)
        start = find_free_range(region->base + GUARD, end, bytes, align);
    if (!start)
        return 0;
    region->cursor = start + bytes + GUARD;
    if (start / PIECE != passed / PIECE)
        renew_pieces(region, passed, 1);
    return start;
}

pool_cu_result sim_memory_allocate(struct sim_context *context, enum sim_memory_kind kind,
    uint64_t bytes, uint64_t align, uint64_t charged, struct sim_allocation **out)
{
    struct sim_device *device = &sim_state.devices[context->device];
    const uint64_t memory = sim_config_of(context->device)->memory_bytes;
    struct sim_allocation *made;

    if (charged > sim_memory_free_bytes(context->device) || bytes > memory)
        return POOL_CU_OUT_OF_MEMORY;
    if (!reserve_map_entry() || (!device->region.bytes && !reserve_region(&device->region, memory)))
        return POOL_CU_OUT_OF_MEMORY;
    made = base_calloc(1, sizeof(*made));
    if (!made)
        return POOL_CU_OUT_OF_MEMORY;
    made->base = allocate_range(&device->region, bytes, base_max(align, SIM_ALIGNMENT));
    if (!made->base) {
        base_free(made);
        return POOL_CU_OUT_OF_MEMORY;
    }
    memset((void *)(uintptr_t)made->base, PATTERN, base_min(bytes, PATTERN_BYTES));
    made->bytes = bytes;
    made->charged = charged;
    made->kind = kind;
    made->device = context->device;
    made->context = context;
    sim_written_create(made);
    device->used_bytes += charged;
    insert_into_map(made);
    *out = made;
    return POOL_CU_SUCCESS;
}

pool_cu_result sim_memory_register(struct sim_context *context, enum sim_memory_kind kind,
    uint64_t base, uint64_t bytes, struct sim_allocation **out)
{
    struct sim_allocation *made = reserve_map_entry() ? base_calloc(1, sizeof(*made)) : NULL;

    if (!made)
        return POOL_CU_OUT_OF_MEMORY;
    made->base = base;
    made->bytes = bytes;
    made->kind = kind;
    made->device = context->device;
    made->context = context;
    insert_into_map(made);
    *out = made;
    return POOL_CU_SUCCESS;
}

pool_cu_result sim_memory_map(
    struct sim_physical *physical, int device, uint64_t base, uint64_t bytes)
{
    struct sim_allocation *made = reserve_map_entry() ? base_calloc(1, sizeof(*made)) : NULL;

    if (!made)
        return POOL_CU_OUT_OF_MEMORY;
    made->base = base;
    made->bytes = bytes;
    made->kind = SIM_MEMORY_MAPPED;
    made->device = device;
    made->physical = physical;
    insert_into_map(made);
    return POOL_CU_SUCCESS;
}

/* Returns the pages in which nothing else is allocated to the host, and overwrites the remaining
 * bytes. The allocation is not in the map any more. */
static void discard_contents(const struct sim_allocation *allocation)
{
    const uint64_t base = allocation->base, end = base + allocation->bytes;
    const size_t above = index_above(base);
    uint64_t first = base / PAGE * PAGE, last = base_round_up(end, PAGE);

    if (above > 0)
        first = base_max(
            first, base_round_up(map.items[above - 1]->base + map.items[above - 1]->bytes, PAGE));
    if (above < map.count)
        last = base_min(last, map.items[above]->base / PAGE * PAGE);
    if (last <= first) {
        memset((void *)(uintptr_t)base, PATTERN, allocation->bytes);
        return;
    }
    madvise((void *)(uintptr_t)first, last - first, MADV_DONTNEED);
    if (first > base)
        memset((void *)(uintptr_t)base, PATTERN, first - base);
    if (end > last)
        memset((void *)(uintptr_t)last, PATTERN, end - last);
}

void sim_memory_release(struct sim_allocation *allocation)
{
    remove_from_map(allocation);
    switch (allocation->kind) {
    case SIM_MEMORY_PINNED:
        munmap((void *)(uintptr_t)allocation->base, base_round_up(allocation->bytes, PAGE));
        break;
    case SIM_MEMORY_REGISTERED:
        break;
    case SIM_MEMORY_MAPPED:
        sim_physical_unmap(allocation->physical, allocation->base, allocation->bytes);
        break;
    default:
        if (allocation->is_shared)
            sim_shared_end(allocation);
        else
            discard_contents(allocation);
        renew_pieces(
            &sim_state.devices[allocation->device].region, allocation->base, allocation->bytes);
        sim_state.devices[allocation->device].used_bytes -= allocation->charged;
        if (allocation->pool)
            sim_memory_pool_release(allocation);
    }
    sim_written_free(allocation);
    base_free(allocation);
}

void sim_memory_release_context(struct sim_context *context)
{
    for (size_t at = map.count; at-- > 0;) {
        if (map.items[at]->context == context)
            sim_memory_release(map.items[at]);
    }
}

void sim_memory_reset(void)
{
    while (map.count > 0)
        sim_memory_release(map.items[map.count - 1]);
    for (int device = 0; device < SIM_MAX_DEVICES; device++) {
        struct sim_region *region = &sim_state.devices[device].region;

        if (region->bytes)
            munmap((void *)(uintptr_t)region->base, region->bytes);
        *region = (struct sim_region){0, 0, 0};
    }
    pthread_rwlock_wrlock(&map.lock);
    base_free(map.items);
    map.items = NULL;
    map.capacity = 0;
    memset(map.freed, 0, sizeof(map.freed));
    map.freed_next = 0;
    pthread_rwlock_unlock(&map.lock);
}

/* Whether kernels of `context` may access the allocation: the context's own memory, its peers'
 * memory, pinned memory, and pools that its device has access to. */
static bool may_access(const struct sim_context *context, const struct sim_allocation *allocation)
{
    if (allocation->kind == SIM_MEMORY_PINNED || allocation->kind == SIM_MEMORY_REGISTERED ||
        allocation->context == context)
        return true;
    if (allocation->pool)
        return allocation->pool->access >> context->device & 1;
    if (allocation->kind == SIM_MEMORY_MAPPED)
        return allocation->access >> context->device & 1;
    for (unsigned at = 0; at < context->peer_count; at++) {
        if (context->peers[at] == allocation->context)
            return true;
    }
    return false;
}

/* Distance in bytes between the address and the allocation; 0 inside. */
static uint64_t distance(const struct sim_allocation *allocation, uint64_t address)
{
    uint64_t end = allocation->base + allocation->bytes;

    if (address < allocation->base)
        return allocation->base - address;
    return address >= end ? address - end + 1 : 0;
}

bool sim_memory_resolve(void *context, uint64_t address, struct sim_range *range)
{
    const struct sim_allocation *near = NULL;
    bool is_inside = false;

    pthread_rwlock_rdlock(&map.lock);
    size_t at = index_above(address);
    if (at > 0)
        near = map.items[at - 1];
    if (at < map.count && (!near || distance(map.items[at], address) < distance(near, address)))
        near = map.items[at];
    *range = near ? (struct sim_range){near->base, near->bytes} : (struct sim_range){0, 0};
    if (near)
        is_inside = distance(near, address) == 0 && may_access(context, near);
    pthread_rwlock_unlock(&map.lock);
    return is_inside;
}

void sim_memory_find_written(void *context, uint64_t address, struct sim_written *written)
{
    (void)context;
    *written = (struct sim_written){.bytes = NULL};
    pthread_rwlock_rdlock(&map.lock);
    size_t at = index_above(address);
    const struct sim_allocation *found = at ? map.items[at - 1] : NULL;
    if (found && distance(found, address) == 0) {
        written->range = (struct sim_range){found->base, found->bytes};
        written->bytes = found->is_all_written ? NULL : found->written;
    }
    pthread_rwlock_unlock(&map.lock);
}

bool sim_memory_freed(uint64_t address, struct sim_range *range)
{
    bool is_found = false;

    pthread_rwlock_rdlock(&map.lock);
    for (size_t back = 0; back < MAX_FREED && !is_found; back++) {
        size_t at = (map.freed_next + MAX_FREED - 1 - back) % MAX_FREED;
        is_found = map.freed[at].size && address - map.freed[at].base < map.freed[at].size;
        if (is_found)
            *range = map.freed[at];
    }
    pthread_rwlock_unlock(&map.lock);
    return is_found;
}
