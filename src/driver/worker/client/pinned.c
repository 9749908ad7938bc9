/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pinned memory: blocks of the arena. A block is registered with the driver of each worker that
 * copies from or to it.
 */
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "driver/attributes.h"
#include "driver/worker/client/client.h"

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
    uint64_t mapped = base_round_up(bytes, CLIENT_PAGE), start = 0;
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
    if (block) { /* without `registered`, which other readers change */
        memcpy(copy, block, offsetof(struct client_block, registered));
        memset(copy->registered, 0, sizeof(copy->registered));
    }
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
        call_begin(&call, WORKER_UnpinArena, CLIENT_END);
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
