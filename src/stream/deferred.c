/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is given back to the driver later. cuMemFreeHost and cuModuleUnload wait for all work of the
 * device, so beside a kernel that does not end they would never return. What is freed while work is
 * unfinished is put aside here and given back when the devices are idle. The pool's end gives back
 * whatever is left.
 */
#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "driver/work.h"
#include "stream/stream.h"

struct stream_deferred *stream_deferred_new(enum stream_deferred_kind kind)
{
    struct stream_deferred *made = base_calloc(1, sizeof(*made));

    if (made)
        made->kind = kind;
    return made;
}

void stream_deferred_free(struct stream_deferred *deferred)
{
    if (deferred)
        base_free(deferred->marks);
    base_free(deferred);
}

static void put_aside(struct stream_registry *registry, struct stream_deferred *deferred)
{
    pthread_mutex_lock(&registry->lock);
    deferred->next = registry->deferred;
    registry->deferred = deferred;
    pthread_mutex_unlock(&registry->lock);
}

void stream_defer(struct stream_registry *registry, struct stream_deferred *deferred)
{
    struct base_error_copy first;

    base_error_save(&first);
    deferred->is_marked = !device_pool_marks(
        registry->default_stream.device, &deferred->marks, &deferred->mark_count);
    base_error_restore(&first);
    put_aside(registry, deferred);
}

void stream_keep_orphan(
    struct stream_registry *registry, enum stream_deferred_kind kind, void *handle)
{
    struct stream_deferred *orphan = stream_deferred_new(kind);

    if (!orphan)
        return; /* the context's end takes it */
    orphan->handle = handle;
    put_aside(registry, orphan);
}

/* Whether all work that was unfinished when it was put aside has finished. */
static int is_unused(const struct stream_deferred *deferred)
{
    for (uint32_t i = 0; i < deferred->mark_count; i++)
        if (!driver_mark_is_reached(deferred->marks[i]))
            return 0;
    return deferred->is_marked;
}

static pool_status give_back(struct driver *driver, const struct stream_deferred *deferred)
{
    if (deferred->is_secret)
        base_wipe(deferred->handle, (size_t)deferred->bytes);
    switch (deferred->kind) {
    case STREAM_DEFERRED_STREAM:
        return STREAM_UNDO(driver, StreamDestroy(deferred->handle));
    case STREAM_DEFERRED_EVENT:
        return STREAM_UNDO(driver, EventDestroy(deferred->handle));
    case STREAM_DEFERRED_PINNED:
        return STREAM_UNDO(driver, MemFreeHost(deferred->handle));
    case STREAM_DEFERRED_REGISTERED:
        return STREAM_UNDO(driver, MemHostUnregister(deferred->handle));
    case STREAM_DEFERRED_MODULE:
        return STREAM_UNDO(driver, ModuleUnload(deferred->handle));
    }
    return POOL_OK;
}

static struct stream_deferred *take_all(struct stream_registry *registry)
{
    struct stream_deferred *list;

    pthread_mutex_lock(&registry->lock);
    list = registry->deferred;
    registry->deferred = NULL;
    pthread_mutex_unlock(&registry->lock);
    return list;
}

/* Whether giving it back now waits for nothing, or for nothing that has been going on since. */
static int may_go(const struct stream_deferred *deferred, int device_idle, int pool_idle, int waits)
{
    int is_idle = deferred->kind == STREAM_DEFERRED_MODULE ? device_idle : pool_idle;

    return is_idle || (waits && is_unused(deferred));
}

void stream_give_back(struct stream_registry *registry, int waits)
{
    pool_device *device = registry->default_stream.device;
    struct driver *driver = device_driver(device);
    struct stream_deferred *next, *list = take_all(registry);
    struct base_error_copy first;
    int device_idle, pool_idle;

    if (!list)
        return;
    base_error_save(&first);
    pool_idle = !device_pool_is_idle(device);
    device_idle = pool_idle || !device_is_idle(device);
    for (struct stream_deferred *at = list; at; at = next) {
        next = at->next;
        if (may_go(at, device_idle, pool_idle, waits) && !give_back(driver, at))
            stream_deferred_free(at);
        else
            put_aside(registry, at);
    }
    base_error_restore(&first);
}

void stream_give_back_all(struct stream_registry *registry, int driver_alive)
{
    struct driver *driver = device_driver(registry->default_stream.device);

    while (registry->deferred) {
        struct stream_deferred *at = registry->deferred;

        registry->deferred = at->next;
        if (driver_alive && !stream_driver_lost(driver))
            (void)give_back(driver, at);
        else if (at->is_secret && !stream_is_forked(registry))
            base_wipe(at->handle, (size_t)at->bytes);
        stream_deferred_free(at);
    }
}

struct stream_deferred *stream_reuse_pinned(
    struct stream_registry *registry, uint64_t bytes, uint32_t flags)
{
    struct stream_deferred **best = NULL, *found = NULL;

    pthread_mutex_lock(&registry->lock);
    for (struct stream_deferred **at = &registry->deferred; *at; at = &(*at)->next) {
        const struct stream_deferred *one = *at;

        if (one->kind == STREAM_DEFERRED_PINNED && one->flags == flags && one->bytes >= bytes &&
            one->bytes / 2 <= bytes && (!best || one->bytes < (*best)->bytes) && is_unused(one))
            best = at;
    }
    if (best) {
        found = *best;
        *best = found->next;
    }
    pthread_mutex_unlock(&registry->lock);
    if (found && found->is_secret)
        base_wipe(found->handle, (size_t)found->bytes);
    return found;
}

uint64_t stream_deferred_pinned_bytes(struct stream_registry *registry)
{
    uint64_t bytes = 0;

    pthread_mutex_lock(&registry->lock);
    for (const struct stream_deferred *at = registry->deferred; at; at = at->next)
        bytes += at->kind == STREAM_DEFERRED_PINNED ? at->bytes : 0;
    pthread_mutex_unlock(&registry->lock);
    return bytes;
}
