/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's table of driver objects. A message names an object by its slot and by how often the
 * slot has been reused, so that a stale or made-up handle is found out before the driver sees it.
 *
 * Slots change with the server's lock held and are read without it, on the path of every launch. A
 * slot is filled before its handle is published, and its handle is taken back before it changes, so
 * that a reader who finds the same handle before and after has read one object. What orders the use
 * of an object and its destruction by another thread is the client's matter, as it is with a driver
 * in the process itself.
 */
#include "base/alloc.h"
#include "driver/worker/server/server.h"

_Static_assert(SERVER_CHUNK *SERVER_CHUNKS < WORKER_INDEX_MASK - WORKER_FIRST_INDEX,
    "every index fits a handle");

void server_init(struct server *server, const pool_cuda_api *api, CUdevice device)
{
    *server = (struct server){.api = api, .device = device, .passing = -1};
    pthread_mutex_init(&server->lock, NULL);
    worker_layouts_init(&server->layouts);
}

void server_free(struct server *server)
{
    for (unsigned i = 0; i < SERVER_CHUNKS; i++)
        base_free(server->chunks[i]);
    worker_layouts_free(&server->layouts);
    pthread_mutex_destroy(&server->lock);
}

static struct server_slot *slot_at(struct server *server, unsigned index)
{
    return &server->chunks[index / SERVER_CHUNK][index % SERVER_CHUNK];
}

/* The slot that the handle names, which may be another object's by now; NULL: there is none. */
static struct server_slot *slot_of(struct server *server, uint64_t handle)
{
    uint64_t index = (handle & WORKER_INDEX_MASK) - WORKER_FIRST_INDEX;

    if (!handle || handle > UINT32_MAX ||
        index >= atomic_load_explicit(&server->slot_count, memory_order_acquire))
        return NULL;
    return slot_at(server, (unsigned)index);
}

static bool has_handle(const struct server_slot *slot, uint64_t handle)
{
    return atomic_load_explicit(&slot->handle, memory_order_acquire) == handle;
}

/* --- reading ---------------------------------------------------------------------------------- */

bool server_find(
    struct server *server, enum worker_kind kind, uint64_t handle, struct server_object *found)
{
    struct server_slot *slot = slot_of(server, handle);

    *found = (struct server_object){0};
    if (!slot || !has_handle(slot, handle) ||
        atomic_load_explicit(&slot->kind, memory_order_acquire) != kind)
        return false;
    *found = (struct server_object){.handle = (uint32_t)handle,
        .kind = kind,
        .object = atomic_load_explicit(&slot->object, memory_order_acquire),
        .context = atomic_load_explicit(&slot->context, memory_order_acquire),
        .module = atomic_load_explicit(&slot->module, memory_order_acquire),
        .layout = atomic_load_explicit(&slot->layout, memory_order_acquire),
        .failure = &slot->failure};
    if (has_handle(slot, handle))
        return true;
    *found = (struct server_object){0};
    return false;
}

/* Called with the lock held. */
static uint32_t find_handle(
    struct server *server, enum worker_kind kind, const void *object, uint32_t module)
{
    unsigned count = atomic_load_explicit(&server->slot_count, memory_order_relaxed);

    for (unsigned i = 0; i < count; i++) {
        const struct server_slot *slot = slot_at(server, i);

        if (atomic_load_explicit(&slot->kind, memory_order_relaxed) == kind &&
            atomic_load_explicit(&slot->object, memory_order_relaxed) == object &&
            atomic_load_explicit(&slot->module, memory_order_relaxed) == module)
            return atomic_load_explicit(&slot->handle, memory_order_relaxed);
    }
    return 0;
}

uint32_t server_handle_of(
    struct server *server, enum worker_kind kind, const void *object, uint32_t module)
{
    uint32_t handle;

    pthread_mutex_lock(&server->lock);
    handle = find_handle(server, kind, object, module);
    pthread_mutex_unlock(&server->lock);
    return handle;
}

/* --- changes, with the lock held -------------------------------------------------------------- */

/* A free slot and its index; NULL: no memory is left. */
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

/* Each store is a release: a reader who sees it sees that the former handle is gone. */
static void fill_slot(struct server_slot *slot, const struct server_object *object)
{
    atomic_store_explicit(&slot->kind, object->kind, memory_order_release);
    atomic_store_explicit(&slot->object, object->object, memory_order_release);
    atomic_store_explicit(&slot->context, object->context, memory_order_release);
    atomic_store_explicit(&slot->module, object->module, memory_order_release);
    atomic_store_explicit(&slot->layout, object->layout, memory_order_release);
    atomic_store_explicit(&slot->failure, 0, memory_order_release);
    atomic_store_explicit(&slot->handle, object->handle, memory_order_release);
}

static void release_slot(struct server *server, struct server_slot *slot)
{
    const struct server_object none = {.kind = WORKER_FREE};
    unsigned handle = atomic_load_explicit(&slot->handle, memory_order_relaxed);

    if (!handle)
        return;
    atomic_store_explicit(&slot->handle, 0, memory_order_relaxed);
    fill_slot(slot, &none);
    slot->serial = (slot->serial + 1) & (UINT32_MAX >> WORKER_INDEX_BITS);
    slot->next_free = server->first_free;
    server->first_free = (handle & WORKER_INDEX_MASK) - WORKER_FIRST_INDEX + 1;
}

static bool add_object(struct server *server, struct server_object *object)
{
    struct server_slot *slot;
    unsigned index;

    if (object->module) {
        object->handle = find_handle(server, object->kind, object->object, object->module);
        if (object->handle)
            return true;
        slot = slot_of(server, object->module);
        if (!slot || !has_handle(slot, object->module))
            return false;
    }
    slot = allocate_slot(server, &index);
    if (!slot)
        return false;
    object->handle = (slot->serial << WORKER_INDEX_BITS) | (index + WORKER_FIRST_INDEX);
    fill_slot(slot, object);
    return true;
}

/* --- changes ---------------------------------------------------------------------------------- */

bool server_add(struct server *server, struct server_object *object)
{
    bool is_added;

    pthread_mutex_lock(&server->lock);
    is_added = add_object(server, object);
    pthread_mutex_unlock(&server->lock);
    return is_added;
}

void server_remove(struct server *server, uint32_t handle)
{
    struct server_slot *slot;
    unsigned count;

    pthread_mutex_lock(&server->lock);
    slot = slot_of(server, handle);
    if (slot && has_handle(slot, handle)) {
        bool is_module = atomic_load_explicit(&slot->kind, memory_order_relaxed) == WORKER_MODULE;

        release_slot(server, slot);
        count = is_module ? atomic_load_explicit(&server->slot_count, memory_order_relaxed) : 0;
        for (unsigned i = 0; i < count; i++)
            if (atomic_load_explicit(&slot_at(server, i)->module, memory_order_relaxed) == handle)
                release_slot(server, slot_at(server, i));
    }
    pthread_mutex_unlock(&server->lock);
}

/* Memory pools and allocations belong to the device. */
static bool ends_with_context(const struct server_slot *slot, unsigned number)
{
    unsigned kind = atomic_load_explicit(&slot->kind, memory_order_relaxed);

    return kind != WORKER_FREE && kind != WORKER_MEMORY_POOL && kind != WORKER_ALLOCATION &&
           atomic_load_explicit(&slot->context, memory_order_relaxed) == number;
}

void server_remove_context(struct server *server, unsigned number)
{
    unsigned count;

    pthread_mutex_lock(&server->lock);
    count = atomic_load_explicit(&server->slot_count, memory_order_relaxed);
    for (unsigned i = 0; i < count; i++)
        if (ends_with_context(slot_at(server, i), number))
            release_slot(server, slot_at(server, i));
    atomic_store(&server->contexts[number].object, NULL);
    atomic_fetch_add(&server->contexts[number].epoch, 1);
    atomic_store(&server->contexts[number].failure, 0);
    pthread_mutex_unlock(&server->lock);
}
