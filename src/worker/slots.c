/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's table of driver objects. A message names an object by its slot and by how often the
 * slot has been reused, so that a stale or made-up handle is found out before the driver sees it.
 */
#include "base/alloc.h"
#include "worker/server.h"

_Static_assert(SERVER_CHUNK *SERVER_CHUNKS < WORKER_INDEX_MASK - WORKER_FIRST_INDEX,
    "every index fits a handle");

void server_init(struct server *server, const pool_cuda_api *api, CUdevice device)
{
    *server = (struct server){.api = api, .device = device, .passing = -1};
    pthread_mutex_init(&server->lock, NULL);
}

void server_free(struct server *server)
{
    unsigned count = atomic_load(&server->slot_count);

    for (unsigned i = 0; i < count; i++)
        base_free(server->chunks[i / SERVER_CHUNK][i % SERVER_CHUNK].layout);
    for (unsigned i = 0; i < SERVER_CHUNKS; i++)
        base_free(server->chunks[i]);
    pthread_mutex_destroy(&server->lock);
}

static struct server_slot *slot_at(struct server *server, unsigned index)
{
    return &server->chunks[index / SERVER_CHUNK][index % SERVER_CHUNK];
}

/* A free slot and its index; called with the lock held. */
static struct server_slot *allocate_slot(struct server *server, unsigned *index)
{
    unsigned count = atomic_load_explicit(&server->slot_count, memory_order_relaxed);
    struct server_slot *slot;

    if (server->first_free) {
        *index = server->first_free - 1;
        slot = slot_at(server, *index);
        server->first_free = slot->next_free;
        return slot;
    }
    if (count == SERVER_CHUNK * SERVER_CHUNKS)
        return NULL;
    if (count % SERVER_CHUNK == 0) {
        server->chunks[count / SERVER_CHUNK] = base_calloc(SERVER_CHUNK, sizeof(*slot));
        if (!server->chunks[count / SERVER_CHUNK])
            return NULL;
    }
    *index = count;
    atomic_store_explicit(&server->slot_count, count + 1, memory_order_release);
    return slot_at(server, count);
}

uint32_t server_add(struct server *server, enum worker_kind kind, void *object, unsigned context,
    struct server_slot **added)
{
    struct server_slot *slot;
    unsigned index, handle = 0;

    pthread_mutex_lock(&server->lock);
    slot = allocate_slot(server, &index);
    if (slot) {
        slot->kind = kind;
        slot->object = object;
        slot->context = context;
        slot->module = NULL;
        slot->layout = NULL;
        atomic_store_explicit(&slot->failure, 0, memory_order_relaxed);
        handle = (slot->serial << WORKER_INDEX_BITS) | (index + WORKER_FIRST_INDEX);
        atomic_store_explicit(&slot->handle, handle, memory_order_release);
        if (added)
            *added = slot;
    }
    pthread_mutex_unlock(&server->lock);
    return handle;
}

struct server_slot *server_find(struct server *server, enum worker_kind kind, uint64_t handle)
{
    uint64_t index = (handle & WORKER_INDEX_MASK) - WORKER_FIRST_INDEX;
    struct server_slot *slot;

    if (!handle || handle > UINT32_MAX ||
        index >= atomic_load_explicit(&server->slot_count, memory_order_acquire))
        return NULL;
    slot = slot_at(server, (unsigned)index);
    if (atomic_load_explicit(&slot->handle, memory_order_acquire) != handle || slot->kind != kind)
        return NULL;
    return slot;
}

struct server_slot *server_find_object(struct server *server, enum worker_kind kind,
    const void *object, const struct server_slot *module)
{
    unsigned count = atomic_load_explicit(&server->slot_count, memory_order_acquire);
    struct server_slot *found = NULL;

    pthread_mutex_lock(&server->lock);
    for (unsigned i = 0; i < count && !found; i++) {
        struct server_slot *slot = slot_at(server, i);

        if (atomic_load_explicit(&slot->handle, memory_order_relaxed) && slot->kind == kind &&
            slot->object == object && slot->module == module)
            found = slot;
    }
    pthread_mutex_unlock(&server->lock);
    return found;
}

/* Called with the lock held. */
static void release_slot(struct server *server, struct server_slot *slot)
{
    unsigned handle = atomic_load_explicit(&slot->handle, memory_order_relaxed);

    if (!handle)
        return;
    atomic_store_explicit(&slot->handle, 0, memory_order_release);
    base_free(slot->layout);
    slot->layout = NULL;
    slot->kind = WORKER_FREE;
    slot->serial = (slot->serial + 1) & (UINT32_MAX >> WORKER_INDEX_BITS);
    slot->next_free = server->first_free;
    server->first_free = (handle & WORKER_INDEX_MASK) - WORKER_FIRST_INDEX + 1;
}

void server_remove(struct server *server, struct server_slot *slot)
{
    pthread_mutex_lock(&server->lock);
    release_slot(server, slot);
    pthread_mutex_unlock(&server->lock);
}

void server_remove_kernels(struct server *server, const struct server_slot *module)
{
    unsigned count = atomic_load_explicit(&server->slot_count, memory_order_acquire);

    pthread_mutex_lock(&server->lock);
    for (unsigned i = 0; i < count; i++) {
        struct server_slot *slot = slot_at(server, i);

        if (slot->kind == WORKER_KERNEL && slot->module == module)
            release_slot(server, slot);
    }
    pthread_mutex_unlock(&server->lock);
}

void server_remove_context(struct server *server, unsigned number)
{
    unsigned count = atomic_load_explicit(&server->slot_count, memory_order_acquire);

    pthread_mutex_lock(&server->lock);
    for (unsigned i = 0; i < count; i++) {
        struct server_slot *slot = slot_at(server, i);

        if (slot->kind != WORKER_FREE && slot->kind != WORKER_MEMORY_POOL &&
            slot->kind != WORKER_ALLOCATION && slot->context == number)
            release_slot(server, slot);
    }
    atomic_store(&server->contexts[number].object, NULL);
    atomic_fetch_add(&server->contexts[number].epoch, 1);
    atomic_store(&server->contexts[number].failure, 0);
    pthread_mutex_unlock(&server->lock);
}
