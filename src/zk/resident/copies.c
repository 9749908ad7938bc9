/* SPDX-License-Identifier: Apache-2.0 */
/* The copies of an object: creation, eviction and release. */
#include "base/alloc.h"
#include "base/status.h"
#include "pool/memory/durable.h"
#include "zk/msm/bases.h"
#include "zk/resident/object.h"

pool_status resident_destroy_copy(struct resident_copy *copy)
{
    pool_status status =
        copy->bases ? pool_bases_destroy(&copy->bases) : pool_buffer_destroy(&copy->buffer);

    if (!copy->bases && !copy->buffer)
        base_free(copy);
    return status;
}

size_t resident_index(const pool_device *device)
{
    return (size_t)pool_device_index(device_gpu(device));
}

/* With the object's lock held. */
static void set_copy(pool_resident *resident, size_t index, struct resident_copy *copy)
{
    pool_device *gpu = resident->first;

    resident->slots[index].copy = copy;
    (void)pool_device_at(resident->pool, index, &gpu); /* it exists */
    for (pool_device *part = NULL; (part = device_next_part(gpu, part));)
        atomic_store_explicit(&resident->locality.has_copy[pool_device_index(part)], copy != NULL,
            memory_order_relaxed);
}

/* Called by the list of the device, which has taken the entry out. */
static void evict_copy(struct memory_resident *entry)
{
    struct resident_copy *copy = (struct resident_copy *)entry;
    struct pool_resident *owner = copy->owner;
    struct base_error_copy first;

    pthread_mutex_lock(&owner->lock);
    if (owner->slots[copy->index].copy == copy)
        set_copy(owner, copy->index, NULL);
    pthread_mutex_unlock(&owner->lock);
    base_error_save(&first);
    (void)resident_destroy_copy(copy);
    base_error_restore(&first);
}

/* Work of the source may still be enqueued, and other threads use the copy on other streams. */
static pool_status run_source(
    const pool_resident *resident, const pool_exec *exec, pool_buffer **buffer)
{
    pool_stream *stream = exec->stream;
    pool_status status = resident->source(resident->user, exec, buffer);

    if (status && pool_last_error()->status != status)
        return base_fail(status < 0 ? status : POOL_ERR_INTERNAL,
            "the source of \"%s\" returned %s without a message", resident->name,
            pool_status_name(status));
    if (!status && !stream)
        status = pool_stream_default(exec->device, &stream);
    return status ? status : pool_stream_synchronize(stream);
}

static pool_status create_object(
    const pool_resident *resident, const pool_exec *exec, struct resident_copy *copy)
{
    if (resident->source)
        return run_source(resident, exec, &copy->buffer);
    if (resident->path)
        return pool_bases_load(&resident->bases, exec, resident->path, &copy->bases);
    return pool_bases_create(&resident->bases, exec, &resident->points, &copy->bases);
}

/* The memory below a copy. */
static pool_buffer *buffer_of(const struct resident_copy *copy)
{
    return copy->bases ? copy->bases->buffer : copy->buffer;
}

static pool_status check_object(
    const pool_resident *resident, const pool_exec *exec, const struct resident_copy *copy)
{
    if (!buffer_of(copy))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the source of \"%s\" returned success and no buffer", resident->name);
    if (!device_is_same_gpu(pool_buffer_device(buffer_of(copy)), exec->device))
        return base_fail(POOL_ERR_WRONG_DEVICE,
            "the source of \"%s\" returned a buffer of device %d; it is needed on device %d",
            resident->name, pool_device_ordinal(pool_buffer_device(buffer_of(copy))),
            pool_device_ordinal(exec->device));
    return POOL_OK;
}

/* Creates the copy and adds it to the device's list, with one user. */
static pool_status load_copy(
    pool_resident *resident, size_t index, const pool_exec *exec, struct resident_copy **copy)
{
    struct resident_copy *made = base_calloc(1, sizeof(*made));
    struct base_error_copy first;
    pool_status status;

    if (!made)
        return base_fail_memory("a copy of a resident object");
    status = create_object(resident, exec, made);
    if (!status)
        status = check_object(resident, exec, made);
    if (status)
        goto destroy;
    made->owner = resident;
    made->index = index;
    made->entry = (struct memory_resident){.device = exec->device,
        .kind = made->bases ? "bases" : "buffer",
        .name = resident->name,
        .buffer = buffer_of(made),
        .bytes = pool_buffer_bytes(buffer_of(made)),
        .is_pinned = (resident->flags & POOL_RESIDENT_PINNED) != 0,
        .evict = evict_copy};
    memory_buffer_set_owner(buffer_of(made), DEVICE_DEPENDENT_COPY, resident->name);
    memory_seal(buffer_of(made));
    memory_detach_budget(buffer_of(made)); /* the use is charged, the copy outlives the lease */
    status = memory_resident_add(&made->entry, false);
    if (status)
        goto destroy;
    *copy = made;
    return POOL_OK;
destroy:
    base_error_save(&first);
    (void)resident_destroy_copy(made);
    base_error_restore(&first);
    return status;
}

/*
 * With the lock held: the device's copy with one more user, or NULL and the right to create it
 * (is_loading is set). Waits for other threads that create it; after their failure this thread
 * tries by itself.
 */
static struct resident_copy *use_or_begin_loading(pool_resident *resident, size_t index)
{
    struct resident_slot *slot = &resident->slots[index];

    for (;;) {
        if (slot->copy && memory_resident_use(&slot->copy->entry, false))
            return slot->copy;
        set_copy(resident, index, NULL); /* none, or it is being evicted */
        if (!slot->is_loading)
            break;
        pthread_cond_wait(&resident->changed, &resident->lock);
    }
    slot->is_loading = true;
    return NULL;
}

pool_status resident_get_copy(
    pool_resident *resident, size_t index, const pool_exec *exec, struct resident_copy **copy)
{
    struct resident_slot *slot = &resident->slots[index];
    struct resident_copy *found;
    pool_status status = POOL_OK;

    pthread_mutex_lock(&resident->lock);
    found = use_or_begin_loading(resident, index);
    pthread_mutex_unlock(&resident->lock);
    if (!found) {
        status = load_copy(resident, index, exec, &found);
        pthread_mutex_lock(&resident->lock);
        slot->is_loading = false;
        if (!status) {
            set_copy(resident, index, found);
            slot->loads++;
            atomic_store(&resident->bytes, found->entry.bytes);
        }
        pthread_cond_broadcast(&resident->changed);
        pthread_mutex_unlock(&resident->lock);
    }
    if (!status)
        *copy = found;
    return status;
}

pool_status resident_release_copy(pool_resident *resident, pool_device *device, uint32_t *users)
{
    size_t index = resident_index(device);
    struct resident_copy *copy;
    bool is_evicting = false;

    /* In one section with the check, so that no thread opens a use in between, and no eviction
     * frees the copy. */
    pthread_mutex_lock(&resident->lock);
    copy = resident->slots[index].copy;
    *users = copy ? memory_resident_users(&copy->entry) : 0;
    if (!*users) {
        is_evicting = copy && !memory_resident_remove(&copy->entry);
        set_copy(resident, index, NULL);
    }
    pthread_mutex_unlock(&resident->lock);
    if (*users)
        return POOL_OK;
    memory_resident_wait(device);
    return copy && !is_evicting ? resident_destroy_copy(copy) : POOL_OK;
}
