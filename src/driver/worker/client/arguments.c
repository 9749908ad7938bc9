/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments that mean something else in the worker, and results that do here: devices in
 * structures, contexts, addresses, pinned memory.
 */
#include <string.h>

#include "driver/attributes.h"
#include "driver/worker/client/client_calls.h"

static void fail(struct client_call *call, pool_cu_result code)
{
    if (!call->code)
        call->code = code;
}

/* --- devices ---------------------------------------------------------------------------------- */

static bool is_device(const pool_cu_mem_location *location)
{
    return location->type == DRIVER_MEM_LOCATION_TYPE_DEVICE && location->id >= 0 &&
           (unsigned)location->id < client->count;
}

void call_props(
    struct client_call *call, const void *props, size_t size, const pool_cu_mem_location *location)
{
    bool is_own = location && is_device(location);
    struct client_worker *worker = &client->workers[is_own ? location->id : 0];

    call_worker(call, worker, atomic_load(&worker->generation));
    call_word(call, is_own);
    call_bytes(call, props, props ? size : 0);
}

/* Access for another worker's device would be of no use, as no peer access is possible. */
void call_access(struct client_call *call, const pool_cu_mem_access *access, size_t count)
{
    if (count > WORKER_MAX_DEVICES) {
        fail(call, POOL_CU_INVALID_VALUE);
        return;
    }
    call_word(call, access != NULL);
    call_word(call, count);
    for (size_t i = 0; access && i < count; i++) {
        bool is_own = call->worker && access[i].location.id == call->worker->ordinal;

        if (is_device(&access[i].location) && call->worker && !is_own)
            fail(call, POOL_CU_PEER_ACCESS_UNSUPPORTED);
        call_word(call, is_own);
        call_bytes(call, &access[i], sizeof(access[i]));
    }
}

/* --- contexts --------------------------------------------------------------------------------- */

/* Whether there is a current context and `peer` lives in another worker: the kernels of one worker
 * cannot access the memory of another. */
static bool is_of_another_worker(CUcontext peer)
{
    CUcontext current = client_current();
    struct client_worker *worker;
    unsigned number;

    return current && peer && !client_context_find(peer, &worker, &number) &&
           worker->ordinal != (int)client_handle_read(current).worker;
}

void call_peer(struct client_call *call, CUcontext peer)
{
    if (is_of_another_worker(peer))
        fail(call, call->function == WORKER_CtxEnablePeerAccess ? POOL_CU_PEER_ACCESS_UNSUPPORTED
                                                                : POOL_CU_PEER_ACCESS_NOT_ENABLED);
    else
        call_context(call, peer);
}

void call_result_context(struct client_call *call, CUcontext *context)
{
    uint64_t number = call_result(call);

    if (context)
        *context = number && number <= WORKER_CONTEXTS
                       ? client_context_handle(call->worker, (unsigned)number - 1)
                       : NULL;
}

void call_result_handle_of(struct client_call *call, enum worker_kind kind, void **handle)
{
    uint64_t id = call_result(call);

    if (handle)
        *handle = id ? client_handle_make(
                           kind, (unsigned)call->worker->ordinal, call->generation, (uint32_t)id)
                     : NULL;
}

/* --- multiprocessors -------------------------------------------------------------------------- */

/* The last bytes of a resource, which drivers leave alone, say here whose it is: ordinal + 1. */
static unsigned char *owner_of(pool_cu_dev_resource *resource)
{
    return &resource->oversize[sizeof(resource->oversize) - 1];
}

void call_resource(struct client_call *call, const pool_cu_dev_resource *resource)
{
    struct client_worker *worker;
    pool_cu_dev_resource copy;
    unsigned owner;

    if (!resource) {
        call_worker(call, &client->workers[0], atomic_load(&client->workers[0].generation));
        call_bytes(call, NULL, 0);
        return;
    }
    copy = *resource;
    owner = *owner_of(&copy);
    *owner_of(&copy) = 0;
    /* One that is nobody's is refused by any driver. */
    worker = &client->workers[owner && owner <= client->count ? owner - 1 : 0];
    call_worker(call, worker, atomic_load(&worker->generation));
    if (call->worker != worker)
        fail(call, POOL_CU_INVALID_RESOURCE_CONFIGURATION);
    call_bytes(call, &copy, sizeof(copy));
}

void call_resources(struct client_call *call, const pool_cu_dev_resource *resources, unsigned count)
{
    call_word(call, resources != NULL);
    call_word(call, count);
    if (count > WORKER_RESOURCES)
        fail(call, POOL_CU_NOT_SUPPORTED);
    for (unsigned i = 0; resources && i < count && !call->code; i++)
        call_resource(call, &resources[i]);
    call_worker(call, &client->workers[0], atomic_load(&client->workers[0].generation));
}

void call_groups(
    struct client_call *call, const pool_cu_dev_resource *groups, const unsigned *count)
{
    call_word(call, groups != NULL);
    call_word(call, count != NULL);
    call_word(call, !count ? 0 : groups && *count > WORKER_RESOURCES ? WORKER_RESOURCES : *count);
}

void call_result_resource(struct client_call *call, pool_cu_dev_resource *resource)
{
    call_result_bytes(call, resource, sizeof(*resource));
    if (resource && resource->type)
        *owner_of(resource) = (unsigned char)(call->worker->ordinal + 1);
}

void call_result_groups(struct client_call *call, pool_cu_dev_resource *groups, unsigned *count)
{
    unsigned found = (unsigned)call_result(call);

    if (groups && found > *count)
        found = *count;
    for (unsigned i = 0; groups && i < found; i++)
        call_result_resource(call, &groups[i]);
    *count = found;
}

/* --- memory ----------------------------------------------------------------------------------- */

void call_owned(struct client_call *call, uint64_t address)
{
    struct client_worker *worker = client_address_worker(address);

    if (worker)
        call_address(call, worker, address);
    else
        fail(call, POOL_CU_INVALID_VALUE);
    call_word(call, address);
}

void call_pinned(struct client_call *call, void *memory)
{
    struct client_worker *worker;
    uint64_t offset = 0;
    pool_cu_result code = client_current_worker(&worker);

    if (!code)
        code = client_find_pinned(memory, 1, &offset) ? client_register_block(worker, offset)
                                                      : POOL_CU_INVALID_VALUE;
    if (code)
        fail(call, code);
    call_word(call, offset);
}

/* --- attributes of memory pools --------------------------------------------------------------- */

size_t call_attribute_bytes(pool_cu_enum attribute)
{
    if (attribute < DRIVER_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
        attribute > DRIVER_MEMPOOL_ATTR_USED_MEM_HIGH)
        return 0;
    return attribute <= DRIVER_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES ? sizeof(int)
                                                                              : sizeof(uint64_t);
}

uint64_t call_load(const void *value, size_t bytes)
{
    uint64_t word = 0;

    if (value)
        memcpy(&word, value, bytes);
    return word;
}

void call_store(void *value, size_t bytes, uint64_t word)
{
    if (value)
        memcpy(value, &word, bytes);
}
