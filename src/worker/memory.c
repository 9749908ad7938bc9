/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory that is shared with the workers, and the addresses of their devices' memory.
 *
 * Pinned memory is allocated in an arena: one sparse memfd, which this process and every worker
 * have mapped. A block is registered with the driver of each worker that copies from or to it.
 *
 * Every address of device memory is reserved in this process as well: the reservation is what keeps
 * the addresses of workers apart from each other and from host memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "worker/client_calls.h"

#define PAGE UINT64_C(4096)
/*
 * Where the arena and the regions of simulated devices are, if the addresses are free: away from
 * where the kernel, sanitizers and the driver place mappings. The second set is for
 * ThreadSanitizer, which leaves little. Virtual memory is away from them, too.
 */
static const struct {
    uint64_t arena, region, region_stride, virtual, virtual_stride;
} layouts[] = {
    {UINT64_C(0x670000000000), UINT64_C(0x680000000000), UINT64_C(1) << 40,
        UINT64_C(0x420000000000), UINT64_C(1) << 38},
    {UINT64_C(0x7e8000000000), UINT64_C(0x7e9000000000), UINT64_C(1) << 36,
        UINT64_C(0x7ef000000000), UINT64_C(1) << 35},
};
/* Stream-ordered pools of a worker start here; each next worker's are moved up by the stride. */
#define POOL_BASE UINT64_C(0x300000000)
#define POOL_STRIDE (UINT64_C(4) << 40)

/* --- mappings --------------------------------------------------------------------------------- */

/* At the address or not at all. Only as a hint: for a fixed address that it must not use,
 * ThreadSanitizer asks the kernel for address 0, which root can have. */
static void *map_at(uint64_t base, uint64_t bytes, int protection, int flags, int descriptor)
{
    void *mapped = mmap(
        (void *)(uintptr_t)base, (size_t)bytes, protection, flags | MAP_NORESERVE, descriptor, 0);

    if (mapped != MAP_FAILED && (uint64_t)(uintptr_t)mapped != base) {
        munmap(mapped, (size_t)bytes);
        return MAP_FAILED;
    }
    return mapped;
}

static void *reserve(uint64_t base, uint64_t bytes)
{
    return map_at(base, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void *map_arena(const struct client *opened, uint64_t base)
{
    return map_at(base, opened->arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened->arena);
}

/* As much as the host has: the arena occupies what is allocated in it. */
static uint64_t host_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    uint64_t bytes = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;

    return base_max(base_round_up(bytes, UINT64_C(1) << 30), UINT64_C(4) << 30);
}

static bool open_region(struct client *opened, struct client_worker *worker, size_t layout)
{
    uint64_t stride = layouts[layout].region_stride;

    worker->region_base = layouts[layout].region + (uint64_t)worker->ordinal * stride;
    worker->region_bytes =
        base_min(stride, CLIENT_REGION_PARTS * (opened->device_bytes * 2 + (UINT64_C(128) << 20)));
    return worker->region_bytes / CLIENT_REGION_PARTS >=
               opened->device_bytes + (UINT64_C(64) << 20) &&
           reserve(worker->region_base, worker->region_bytes) != MAP_FAILED;
}

static void close_regions(struct client *opened)
{
    for (unsigned i = 0; i < opened->count; i++) {
        if (opened->is_simulated && opened->workers[i].region_bytes)
            munmap((void *)(uintptr_t)opened->workers[i].region_base,
                (size_t)opened->workers[i].region_bytes);
        opened->workers[i].region_bytes = 0;
    }
}

static bool open_regions(struct client *opened, size_t layout)
{
    for (unsigned i = 0; i < opened->count; i++) {
        if (open_region(opened, &opened->workers[i], layout))
            continue;
        opened->workers[i].region_bytes = 0;
        close_regions(opened);
        return false;
    }
    return true;
}

/* Without these addresses there is no virtual memory. */
static void reserve_virtual(struct client *opened, size_t layout)
{
    uint64_t bytes = layouts[layout].virtual_stride;

    for (unsigned i = 0; i < opened->count; i++) {
        uint64_t base = layouts[layout].virtual + i * bytes;

        if (reserve(base, bytes) == MAP_FAILED)
            continue;
        opened->workers[i].virtual_base = base;
        opened->workers[i].virtual_bytes = bytes;
    }
}

static void release_virtual(struct client *closing)
{
    for (unsigned i = 0; i < closing->count; i++)
        if (closing->workers[i].virtual_bytes)
            munmap((void *)(uintptr_t)closing->workers[i].virtual_base,
                (size_t)closing->workers[i].virtual_bytes);
}

/* The pools of all workers in one reservation. Without it addresses are still told apart by the
 * current context; only that host memory could have the same ones. */
static void reserve_pools(struct client *opened)
{
    uint64_t bytes = opened->count * POOL_STRIDE;

    if (reserve(POOL_BASE, bytes) == MAP_FAILED)
        return;
    opened->reserved_base = POOL_BASE;
    opened->reserved_bytes = bytes;
    for (unsigned i = 0; i < opened->count; i++) {
        opened->workers[i].region_base = POOL_BASE + i * POOL_STRIDE;
        opened->workers[i].region_bytes = POOL_STRIDE;
    }
}

pool_status client_arena_open(struct client *opened)
{
    void *mapped = MAP_FAILED;

    opened->arena_bytes = host_bytes();
    opened->arena =
        client_move_up(memfd_create("devicepool pinned memory", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (opened->arena < 0 || ftruncate(opened->arena, (off_t)opened->arena_bytes) ||
        fcntl(opened->arena, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return base_fail(POOL_ERR_OUT_OF_HOST_MEMORY,
            "the memory that is shared with worker processes cannot be created: %s",
            strerror(errno));
    for (size_t i = 0; i < 2 && mapped == MAP_FAILED; i++) {
        mapped = map_arena(opened, layouts[i].arena);
        if (mapped != MAP_FAILED && opened->is_simulated && !open_regions(opened, i)) {
            munmap(mapped, (size_t)opened->arena_bytes);
            mapped = MAP_FAILED;
        }
        if (mapped != MAP_FAILED)
            reserve_virtual(opened, i);
    }
    if (mapped == MAP_FAILED)
        return base_fail(POOL_ERR_OUT_OF_HOST_MEMORY,
            "no addresses are free for the memory of %u worker processes (limits of address "
            "space: ulimit -v)",
            opened->count);
    opened->arena_base = mapped;
    if (!opened->is_simulated)
        reserve_pools(opened);
    return POOL_OK;
}

void client_arena_close(struct client *closing)
{
    close_regions(closing);
    release_virtual(closing);
    if (closing->reserved_bytes)
        munmap((void *)(uintptr_t)closing->reserved_base, (size_t)closing->reserved_bytes);
    for (size_t i = 0; i < closing->range_count; i++)
        munmap((void *)(uintptr_t)(closing->ranges[i].base & ~(PAGE - 1)),
            (size_t)closing->ranges[i].mapped_bytes);
    base_free(closing->ranges);
    base_free(closing->blocks);
    if (closing->arena_base)
        munmap(closing->arena_base, (size_t)closing->arena_bytes);
    if (closing->arena >= 0)
        close(closing->arena);
}

/* --- blocks of the arena ---------------------------------------------------------------------- */

/* The number of blocks that start at or below the offset; memory_lock held. */
static size_t blocks_up_to(uint64_t offset)
{
    size_t low = 0, high = client->block_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (client->blocks[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct client_block *block_at(uint64_t offset)
{
    size_t count = blocks_up_to(offset);
    struct client_block *block = count ? &client->blocks[count - 1] : NULL;

    return block && offset - block->offset < block->bytes ? block : NULL;
}

/* Inserts a block of whole pages into the first gap that fits it; memory_lock held for writing. */
static struct client_block *insert_block(uint64_t bytes)
{
    uint64_t mapped = base_round_up(bytes, PAGE), start = 0;
    size_t at;

    if (client->block_count == client->block_capacity) {
        size_t capacity = client->block_capacity ? client->block_capacity * 2 : 64;
        struct client_block *blocks = base_realloc(client->blocks, capacity, sizeof(*blocks));

        if (!blocks)
            return NULL;
        client->blocks = blocks;
        client->block_capacity = capacity;
    }
    for (at = 0; at < client->block_count; at++) {
        if (client->blocks[at].offset - start >= mapped)
            break;
        start = client->blocks[at].offset + client->blocks[at].mapped_bytes;
    }
    if (mapped > client->arena_bytes - start)
        return NULL;
    memmove(&client->blocks[at + 1], &client->blocks[at],
        (client->block_count - at) * sizeof(client->blocks[0]));
    client->block_count++;
    client->blocks[at] = (struct client_block){
        .offset = start, .bytes = bytes, .mapped_bytes = mapped, .id = ++client->next_block_id};
    return &client->blocks[at];
}

/* The pages go back to the host; they hold nothing when they are used again. */
static void remove_block(uint64_t offset)
{
    size_t at;
    uint64_t mapped;

    pthread_rwlock_wrlock(&client->memory_lock);
    at = blocks_up_to(offset) - 1;
    mapped = client->blocks[at].mapped_bytes;
    (void)fallocate(
        client->arena, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)mapped);
    client->block_count--;
    memmove(&client->blocks[at], &client->blocks[at + 1],
        (client->block_count - at) * sizeof(client->blocks[0]));
    pthread_rwlock_unlock(&client->memory_lock);
}

static bool is_in_arena(const void *memory, uint64_t *offset)
{
    uint64_t address = (uint64_t)(uintptr_t)memory, base = (uint64_t)(uintptr_t)client->arena_base;

    *offset = address - base;
    return address >= base && *offset < client->arena_bytes;
}

bool client_find_pinned(const void *memory, size_t bytes, uint64_t *offset)
{
    const struct client_block *block;
    bool is_pinned = false;

    if (!is_in_arena(memory, offset))
        return false;
    pthread_rwlock_rdlock(&client->memory_lock);
    block = block_at(*offset);
    is_pinned = block && bytes <= block->bytes - (*offset - block->offset);
    pthread_rwlock_unlock(&client->memory_lock);
    return is_pinned;
}

bool client_copy_block(uint64_t offset, struct client_block *copy)
{
    const struct client_block *block;

    pthread_rwlock_rdlock(&client->memory_lock);
    block = block_at(offset);
    if (block)
        *copy = *block;
    pthread_rwlock_unlock(&client->memory_lock);
    return block != NULL;
}

uint64_t client_arena_borrow(uint64_t bytes)
{
    const struct client_block *block;
    uint64_t offset = UINT64_MAX;

    pthread_rwlock_wrlock(&client->memory_lock);
    block = insert_block(base_max(bytes, 1));
    if (block)
        offset = block->offset;
    pthread_rwlock_unlock(&client->memory_lock);
    if (offset != UINT64_MAX && fallocate(client->arena, 0, (off_t)offset, (off_t)bytes)) {
        remove_block(offset);
        return UINT64_MAX;
    }
    return offset;
}

void client_arena_return(uint64_t offset, uint64_t bytes)
{
    (void)bytes;
    remove_block(offset);
}

pool_cu_result client_register_block(struct client_worker *worker, uint64_t offset)
{
    const unsigned how = DRIVER_MEMHOSTREGISTER_PORTABLE | DRIVER_MEMHOSTREGISTER_DEVICEMAP;
    uint32_t generation = atomic_load(&worker->generation) + 1;
    struct client_block *block;
    struct client_call call;
    pool_cu_result code = POOL_CU_SUCCESS;

    pthread_rwlock_rdlock(&client->memory_lock);
    block = block_at(offset);
    if (block &&
        __atomic_load_n(&block->registered[worker->ordinal], __ATOMIC_ACQUIRE) != generation) {
        call_begin(&call, WORKER_PinArena, CLIENT_WAIT);
        call_word(&call, block->offset);
        call_word(&call, block->bytes);
        call_word(&call, how);
        code = call_run(&call);
        /* Another thread may have registered it at the same time. */
        if (code == POOL_CU_HOST_MEMORY_ALREADY_REGISTERED)
            code = POOL_CU_SUCCESS;
        if (!code)
            __atomic_store_n(&block->registered[worker->ordinal], generation, __ATOMIC_RELEASE);
    }
    pthread_rwlock_unlock(&client->memory_lock);
    return code;
}

pool_cu_result client_cu_MemHostAlloc(void **memory, size_t bytes, unsigned int flags)
{
    const unsigned known = DRIVER_MEMHOSTALLOC_PORTABLE | DRIVER_MEMHOSTALLOC_DEVICEMAP |
                           DRIVER_MEMHOSTALLOC_WRITECOMBINED;
    struct client_worker *worker;
    struct client_block *block;
    uint64_t offset;
    pool_cu_result code = client_current_worker(&worker);

    if (code)
        return code;
    if (!memory || flags & ~known)
        return POOL_CU_INVALID_VALUE;
    if (bytes == 0) {
        *memory = NULL;
        return POOL_CU_SUCCESS;
    }
    /* The pages are allocated by this thread, whose memory policy decides on the NUMA node. */
    offset = bytes <= client->arena_bytes ? client_arena_borrow(bytes) : UINT64_MAX;
    if (offset == UINT64_MAX)
        return POOL_CU_OUT_OF_MEMORY;
    code = client_register_block(worker, offset);
    if (code) {
        remove_block(offset);
        return code;
    }
    pthread_rwlock_wrlock(&client->memory_lock);
    block = block_at(offset);
    block->context = client_current();
    block->flags = flags | DRIVER_MEMHOSTALLOC_DEVICEMAP;
    pthread_rwlock_unlock(&client->memory_lock);
    *memory = client->arena_base + offset;
    return POOL_CU_SUCCESS;
}

/* In every worker that knows the block: waits for what uses it. */
static pool_cu_result unregister_block(const struct client_block *block)
{
    pool_cu_result code = POOL_CU_SUCCESS;

    for (unsigned i = 0; i < client->count; i++) {
        struct client_worker *worker = &client->workers[i];
        unsigned generation = atomic_load(&worker->generation);
        struct client_call call;
        pool_cu_result unpinned;

        if (block->registered[i] != generation + 1 || !client_worker_runs(worker))
            continue;
        call_begin(&call, WORKER_UnpinArena, CLIENT_WAIT);
        call_worker(&call, worker, generation);
        call_word(&call, block->offset);
        unpinned = call_run(&call);
        code = code ? code : unpinned;
    }
    return code;
}

pool_cu_result client_cu_MemFreeHost(void *memory)
{
    struct client_block *block, copy = {0};
    uint64_t offset;
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (!client_current())
        return POOL_CU_INVALID_CONTEXT;
    if (!memory)
        return POOL_CU_SUCCESS;
    if (!is_in_arena(memory, &offset))
        return POOL_CU_INVALID_VALUE;
    pthread_rwlock_wrlock(&client->memory_lock);
    block = block_at(offset);
    if (block && block->offset == offset && block->context && !block->is_freeing) {
        block->is_freeing = true;
        copy = *block;
    }
    pthread_rwlock_unlock(&client->memory_lock);
    if (!copy.bytes)
        return POOL_CU_INVALID_VALUE;
    code = unregister_block(&copy);
    remove_block(offset);
    return code;
}

/* Memory of this process is not shared with the workers, so they cannot register it. */
pool_cu_result client_cu_MemHostRegister(void *memory, size_t bytes, unsigned int flags)
{
    const unsigned known = DRIVER_MEMHOSTREGISTER_PORTABLE | DRIVER_MEMHOSTREGISTER_DEVICEMAP | 4 |
                           DRIVER_MEMHOSTREGISTER_READ_ONLY;
    uint64_t offset;
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (!client_current())
        return POOL_CU_INVALID_CONTEXT;
    if (!memory || !bytes || flags & ~known || bytes > UINT64_MAX - (uint64_t)(uintptr_t)memory)
        return POOL_CU_INVALID_VALUE;
    return is_in_arena(memory, &offset) ? POOL_CU_HOST_MEMORY_ALREADY_REGISTERED
                                        : POOL_CU_NOT_SUPPORTED;
}

pool_cu_result client_cu_MemHostUnregister(void *memory)
{
    uint64_t offset;
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (!client_current())
        return POOL_CU_INVALID_CONTEXT;
    return !memory || is_in_arena(memory, &offset) ? POOL_CU_INVALID_VALUE
                                                   : POOL_CU_HOST_MEMORY_NOT_REGISTERED;
}

pool_cu_result client_cu_MemHostGetDevicePointer(
    CUdeviceptr *address, void *memory, unsigned int flags)
{
    struct client_worker *worker;
    struct client_call call;
    uint64_t offset;
    pool_cu_result code = client_current_worker(&worker);

    if (code)
        return code;
    if (!client_find_pinned(memory, 1, &offset))
        return POOL_CU_INVALID_VALUE;
    code = client_register_block(worker, offset);
    if (code)
        return code;
    call_begin(&call, WORKER_MemHostGetDevicePointer, CLIENT_WAIT);
    call_word(&call, address != NULL);
    call_word(&call, offset);
    call_word(&call, flags);
    code = call_run(&call);
    if (!code && address)
        *address = call_result(&call);
    return code;
}

/* --- addresses of device memory --------------------------------------------------------------- */

struct client_worker *client_address_worker(uint64_t address)
{
    struct client_worker *found = NULL;

    for (unsigned i = 0; i < client->count; i++)
        if (address - client->workers[i].region_base < client->workers[i].region_bytes ||
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

    if (part_bytes && address - worker->region_base < worker->region_bytes &&
        (address - worker->region_base) / part_bytes != generation % CLIENT_REGION_PARTS)
        generation--; /* of an earlier process */
    call_worker(call, worker, generation);
}

static bool is_in_region(const struct client_worker *worker, uint64_t address)
{
    return address - worker->region_base < worker->region_bytes;
}

static bool is_of_present_process(const struct client_range *range)
{
    return range->generation == atomic_load(&client->workers[range->worker].generation);
}

/* Forgets what ended processes had at these addresses. With the lock held. */
static void drop_ended(uint64_t start, uint64_t end)
{
    for (size_t i = client->range_count; i-- > 0;) {
        struct client_range *range = &client->ranges[i];
        uint64_t base = range->base & ~(PAGE - 1);

        if (is_of_present_process(range) || base >= end || base + range->mapped_bytes <= start)
            continue;
        munmap((void *)(uintptr_t)base, (size_t)range->mapped_bytes);
        *range = client->ranges[--client->range_count];
    }
}

/* Reserves the addresses of an allocation outside of the worker's region; false: they are in use.
 */
static bool add_range(unsigned worker, uint64_t base, uint64_t bytes)
{
    uint64_t start = base & ~(PAGE - 1), end = base_round_up(base + bytes, PAGE);
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
    if (client->range_count < client->range_capacity && reserve(start, end - start) != MAP_FAILED) {
        client->ranges[client->range_count++] = (struct client_range){
            base, bytes, end - start, worker, 0, atomic_load(&client->workers[worker].generation)};
        is_added = true;
    }
    pthread_rwlock_unlock(&client->memory_lock);
    return is_added;
}

static void remove_range(uint64_t base)
{
    pthread_rwlock_wrlock(&client->memory_lock);
    for (size_t i = 0; i < client->range_count; i++) {
        if (client->ranges[i].base != base)
            continue;
        munmap((void *)(uintptr_t)(base & ~(PAGE - 1)), (size_t)client->ranges[i].mapped_bytes);
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
        if (!*address || is_in_region(worker, *address) ||
            add_range((unsigned)worker->ordinal, *address, bytes))
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
        if (!*address || is_in_region(worker, *address) ||
            add_range((unsigned)worker->ordinal, *address, bytes))
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
    if (!code && !is_in_region(worker, address))
        remove_range(address);
    return code;
}

/* --- memory of other processes ---------------------------------------------------------------- */

/* Memory that is opened again has the same address. `change`: 1, or -1, which fails where it is
 * open once; false also where it is not open. */
static bool reopen_range(unsigned worker, uint64_t base, int change)
{
    bool is_open = false;

    pthread_rwlock_wrlock(&client->memory_lock);
    for (size_t i = 0; i < client->range_count && !is_open; i++) {
        struct client_range *range = &client->ranges[i];

        is_open = range->base == base && range->worker == worker && is_of_present_process(range) &&
                  (change > 0 || range->opened);
        if (is_open)
            range->opened += (unsigned)change;
    }
    pthread_rwlock_unlock(&client->memory_lock);
    return is_open;
}

pool_cu_result client_cu_IpcOpenMemHandle(
    CUdeviceptr *address, pool_cu_ipc_handle handle, unsigned int flags)
{
    struct client_worker *worker;
    struct client_call call;
    uint64_t opened, bytes;
    pool_cu_result code = client_current_worker(&worker);

    if (code)
        return code;
    call_begin(&call, WORKER_IpcOpenMemHandle, CLIENT_WAIT);
    call_word(&call, address != NULL);
    call_bytes(&call, &handle, sizeof(handle));
    call_word(&call, flags);
    code = call_run(&call);
    if (code || !address)
        return code;
    opened = call_result(&call);
    bytes = call_result(&call);
    if (!is_in_region(worker, opened) && !reopen_range((unsigned)worker->ordinal, opened, 1) &&
        !add_range((unsigned)worker->ordinal, opened, bytes)) {
        (void)remote_IpcCloseMemHandle(opened);
        return POOL_CU_OUT_OF_MEMORY;
    }
    *address = opened;
    return POOL_CU_SUCCESS;
}

pool_cu_result client_cu_IpcCloseMemHandle(CUdeviceptr address)
{
    struct client_worker *worker;
    struct client_call call;
    pool_cu_result code = call_check();

    if (code)
        return code;
    worker = client_address_worker(address);
    if (!worker)
        return POOL_CU_INVALID_VALUE;
    call_begin(&call, WORKER_IpcCloseMemHandle, CLIENT_WAIT);
    call_address(&call, worker, address);
    call_word(&call, address);
    code = call_run(&call);
    if (!code && !is_in_region(worker, address) &&
        !reopen_range((unsigned)worker->ordinal, address, -1))
        remove_range(address);
    return code;
}

pool_cu_result client_cu_IpcOpenEventHandle(CUevent *event, pool_cu_ipc_handle handle)
{
    struct client_worker *worker;
    struct client_call call;
    pool_cu_result code = client_current_worker(&worker);

    if (code)
        return code;
    call_begin(&call, WORKER_IpcOpenEventHandle, CLIENT_WAIT);
    call_word(&call, event != NULL);
    call_bytes(&call, &handle, sizeof(handle));
    code = call_run(&call);
    if (!code && event)
        *event = call_result_handle(&call, WORKER_EVENT);
    return code;
}
