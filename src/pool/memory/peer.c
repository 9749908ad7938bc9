/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peer access: one device addresses the memory of another.
 */
#include "base/lock.h"
#include "base/params.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/memory/memory.h"

/* Guards all peer lists: a link belongs to two devices. Taken rarely, held briefly. */
static struct base_lock peer_lock = BASE_LOCK_INIT;
static pthread_cond_t peer_released = PTHREAD_COND_INITIALIZER; /* a peer_users has decreased */

/* Called with peer_lock held. */
static struct memory_peer *find_peer(struct device_memory *memory, const struct device_memory *peer)
{
    for (unsigned i = 0; i < memory->peer_count; i++)
        if (memory->peers[i].memory == peer)
            return &memory->peers[i];
    return NULL;
}

/* The entry of `peer`, which is added if necessary and must fit. Called with peer_lock held. */
static struct memory_peer *add_peer(struct device_memory *memory, struct device_memory *peer)
{
    struct memory_peer *entry = find_peer(memory, peer);

    if (!entry) {
        entry = &memory->peers[memory->peer_count++];
        *entry = (struct memory_peer){.memory = peer};
    }
    return entry;
}

/* Records in both lists that `peer` may address `memory`, and whether the library enabled it. */
static void add_link(struct device_memory *memory, struct device_memory *peer, int is_enabled_here)
{
    base_lock(&peer_lock);
    /* Both have an entry for the other one, or none has. */
    if (find_peer(memory, peer) ||
        (memory->peer_count < MEMORY_PEERS_MAX && peer->peer_count < MEMORY_PEERS_MAX)) {
        struct memory_peer *entry = add_peer(memory, peer);

        (void)add_peer(peer, memory);
        entry->is_accessible = 1;
        entry->is_enabled_here |= is_enabled_here;
    }
    base_unlock(&peer_lock);
}

/* Present and future memory of the pool. Inside device_enter of the memory's device. */
static pool_status grant_pool_access(struct device_memory *memory, CUdevice peer)
{
    pool_cu_mem_access access = {.location = {.type = DRIVER_MEM_LOCATION_TYPE_DEVICE, .id = peer},
        .flags = DRIVER_MEM_ACCESS_FLAGS_PROT_READWRITE};

    CUmemoryPool pool = atomic_load(&memory->pool);

    if (!pool || !memory->driver->api.MemPoolSetAccess)
        return POOL_OK;
    return DRIVER_CALL_FOR(
        memory->driver, MemPoolSetAccess(pool, &access, 1), "for device %d", peer);
}

pool_status memory_grant_pool_access(struct device_memory *memory)
{
    CUdevice peers[MEMORY_PEERS_MAX];
    unsigned count = 0;
    pool_status status = POOL_OK;

    base_lock(&peer_lock);
    for (unsigned i = 0; i < memory->peer_count; i++)
        if (memory->peers[i].is_accessible)
            peers[count++] = memory->peers[i].memory->handle;
    base_unlock(&peer_lock);
    for (unsigned i = 0; i < count && !status; i++)
        status = grant_pool_access(memory, peers[i]);
    return status;
}

/* Plain allocations. Other code of the process may have enabled it already. */
static pool_status enable_context_access(
    struct device_memory *memory, pool_device *peer, int *is_enabled_here)
{
    struct device_scope scope;
    pool_cu_result code;
    pool_status status = device_enter(peer, &scope);

    if (status)
        return status;
    code = scope.driver->api.CtxEnablePeerAccess(memory->context, 0);
    *is_enabled_here = !code;
    if (code == POOL_CU_TOO_MANY_PEERS || code == POOL_CU_PEER_ACCESS_UNSUPPORTED)
        status = POOL_ERR_UNSUPPORTED; /* a result, not a failure */
    else if (code != POOL_CU_PEER_ACCESS_ALREADY_ENABLED)
        status = DRIVER_CHECK_FOR(
            scope.driver, code, "cuCtxEnablePeerAccess", "to device %d", memory->handle);
    return device_leave(&scope, status);
}

static pool_status grant_access(
    struct device_memory *memory, struct device_memory *peer, int *is_enabled_here)
{
    struct device_scope scope;
    pool_status status = device_enter(memory->device, &scope);

    if (status)
        return status;
    status = device_leave(&scope, grant_pool_access(memory, peer->handle));
    return status ? status : enable_context_access(memory, peer->device, is_enabled_here);
}

pool_status memory_grant_access(
    struct device_memory *memory, struct device_memory *peer, int *direct)
{
    struct memory_peer *entry;
    CUmemoryPool pool;
    int can = 0, known, is_enabled_here = 0;
    pool_status status;

    *direct = 0;
    base_lock(&peer_lock);
    entry = find_peer(memory, peer);
    known = entry && entry->is_accessible;
    base_unlock(&peer_lock);
    if (known) {
        *direct = 1;
        return POOL_OK;
    }
    status =
        DRIVER_CALL_FOR(memory->driver, DeviceCanAccessPeer(&can, peer->handle, memory->handle),
            "device %d, device %d", peer->handle, memory->handle);
    if (status || !can)
        return status;
    /* Two threads may do this at once; the driver reports the second one as already enabled. */
    do { /* repeated if pool_memory_adopt replaced the pool before it could see the link */
        pool = atomic_load(&memory->pool);
        status = grant_access(memory, peer, &is_enabled_here);
        if (!status || is_enabled_here)
            add_link(memory, peer, is_enabled_here);
    } while (!status && pool != atomic_load(&memory->pool));
    if (status)
        return status == POOL_ERR_UNSUPPORTED ? POOL_OK : status;
    *direct = 1;
    return POOL_OK;
}

/* Removes the entry; whether the library enabled the peer's access. Called with peer_lock held. */
static bool remove_peer(struct device_memory *memory, const struct device_memory *peer)
{
    struct memory_peer *entry = find_peer(memory, peer);
    bool is_enabled_here;

    if (!entry)
        return false; /* in a child that was forked while the link was added */
    is_enabled_here = entry->is_enabled_here;
    *entry = memory->peers[--memory->peer_count];
    return is_enabled_here;
}

static void disable_access(struct device_memory *memory, struct device_memory *peer)
{
    struct device_scope scope;

    if (device_usable(peer->device, DEVICE_USE_RELEASE) &&
        device_usable(memory->device, DEVICE_USE_RELEASE) &&
        !device_enter_to_release(peer->device, &scope))
        device_leave(&scope, DRIVER_CLEANUP(scope.driver, CtxDisablePeerAccess(memory->context)));
}

void memory_close_peers(struct device_memory *memory, int driver_alive)
{
    const bool is_forked = !device_usable(memory->device, DEVICE_USE_HOST);

    base_lock(&peer_lock);
    while (memory->peer_count) {
        struct device_memory *peer = memory->peers[0].memory;
        const bool was_readable = remove_peer(memory, peer),
                   was_reading = remove_peer(peer, memory);

        /* A device of another pool may be destroyed at the same time. */
        peer->peer_users++;
        base_unlock(&peer_lock);
        if (driver_alive && was_reading)
            disable_access(peer, memory);
        if (driver_alive && was_readable)
            disable_access(memory, peer);
        base_lock(&peer_lock);
        peer->peer_users--;
        if (!is_forked)
            pthread_cond_broadcast(&peer_released);
    }
    while (memory->peer_users && !is_forked)
        pthread_cond_wait(&peer_released, &peer_lock.mutex);
    base_unlock(&peer_lock);
}

/* The memory of both devices, each obtained inside its own context. */
pool_status memory_of_both(pool_device *first, pool_device *second,
    struct device_memory **first_memory, struct device_memory **second_memory)
{
    struct device_scope scope;
    pool_status status = device_enter(first, &scope);

    if (status)
        return status;
    status = device_leave(&scope, memory_of(&scope, first_memory));
    if (!status)
        status = device_enter(second, &scope);
    if (status)
        return status;
    return device_leave(&scope, memory_of(&scope, second_memory));
}

pool_status memory_link(pool_device *owner, pool_device *reader, bool *is_direct)
{
    struct device_memory *memory, *peer;
    int direct = 1;
    pool_status status = POOL_OK;

    bool is_other = !device_is_same_gpu(owner, reader);

    if (is_other)
        status = memory_of_both(owner, reader, &memory, &peer);
    if (!status && is_other)
        status = memory_grant_access(memory, peer, &direct);
    *is_direct = direct != 0;
    return status;
}

pool_status pool_device_enable_peer(pool_device *device, pool_device *peer)
{
    struct device_memory *memory, *addressed;
    int direct = 1;
    pool_status status;

    status = base_check_pointers("pool_device_enable_peer", {"device", device}, {"peer", peer});
    if (status)
        return status;
    if (device_is_same_gpu(device, peer))
        return POOL_OK;
    if (device_driver(device) != device_driver(peer))
        return base_fail(POOL_ERR_WRONG_DEVICE, "the devices belong to different drivers");
    status = memory_of_both(device, peer, &memory, &addressed);
    if (!status)
        status = memory_grant_access(addressed, memory, &direct);
    if (!status && !direct)
        status = base_fail(POOL_ERR_UNSUPPORTED, "device %d cannot address memory of device %d",
            pool_device_ordinal(device), pool_device_ordinal(peer));
    return status;
}
