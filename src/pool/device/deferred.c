/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entering a device to destroy something, and deferred releases. cuMemFreeHost and cuModuleUnload
 * block until all work of the device has finished, so while a kernel runs that does not end they
 * would never return. Resources freed while work is unfinished are listed here and released when
 * the devices are idle. Destroying the pool releases whatever is left.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "driver/cleanup.h"
#include "driver/work.h"
#include "pool/device/pool.h"
#include "pool/device/release.h"

enum device_release device_enter_to_destroy(
    pool_device *device, struct device_scope *scope, pool_status *status)
{
    *status = POOL_OK;
    if (!device_usable(device, DEVICE_USE_RELEASE))
        return DEVICE_RELEASE_HOST_ONLY;
    *status = device_enter_to_release(device, scope);
    if (*status == POOL_ERR_SHUTDOWN) /* every later call of the driver returns the same */
        *status = device_enter_to_release(device, scope);
    if (!*status)
        return DEVICE_RELEASE_ENTERED;
    if (device_refusal(device, DEVICE_USE_RELEASE) == POOL_ERR_DEVICE_LOST) {
        *status = POOL_OK; /* what is to be released has ended with its process or context */
        return DEVICE_RELEASE_HOST_ONLY;
    }
    return pool_status_class(*status) == POOL_CLASS_PROCESS ? DEVICE_RELEASE_HOST_ONLY
                                                            : DEVICE_RELEASE_RETAIN;
}

enum device_release device_enter_to_destroy_object(
    pool_device *device, unsigned renewals, struct device_scope *scope, pool_status *status)
{
    enum device_release release = device_enter_to_destroy(device, scope, status);

    /* While the thread is inside, the number does not change. */
    if (release != DEVICE_RELEASE_ENTERED || device_renewals(device) == renewals)
        return release;
    *status = device_leave(scope, POOL_OK);
    return DEVICE_RELEASE_HOST_ONLY;
}

struct device_deferred *device_deferred_new(
    const pool_device *device, enum device_deferred_kind kind)
{
    struct device_deferred *created = base_calloc(1, sizeof(*created));

    if (created) {
        created->kind = kind;
        created->abandoned = device ? atomic_load(&device->pool->abandoned) : 0;
    }
    return created;
}

void device_deferred_free(struct device_deferred *deferred)
{
    if (deferred)
        base_free(deferred->marks);
    base_free(deferred);
}

static void prepend_deferred(pool_device *device, struct device_deferred *deferred)
{
    pthread_mutex_lock(&device->deferred_lock);
    deferred->next = device->deferred;
    device->deferred = deferred;
    pthread_mutex_unlock(&device->deferred_lock);
}

void device_defer(pool_device *device, struct device_deferred *deferred)
{
    struct base_error_copy first;

    base_error_save(&first);
    deferred->is_marked =
        !device_pool_marks(device, deferred->abandoned, &deferred->marks, &deferred->mark_count);
    base_error_restore(&first);
    prepend_deferred(device, deferred);
}

void device_defer_orphan(pool_device *device, enum device_deferred_kind kind, void *handle)
{
    struct device_deferred *orphan = device_deferred_new(device, kind);

    if (!orphan)
        return; /* destroying the context releases it */
    orphan->handle = handle;
    prepend_deferred(device, orphan);
}

/* Whether all work that was unfinished when the release was deferred has finished. */
static int is_unused(const struct device_deferred *deferred)
{
    for (uint32_t i = 0; i < deferred->mark_count; i++)
        if (!driver_mark_is_reached(deferred->marks[i]))
            return 0;
    return deferred->is_marked;
}

static pool_status release_one(
    pool_device *device, struct driver *driver, const struct device_deferred *deferred)
{
    const uint64_t start = base_clock_ns();

    if (deferred->is_secret)
        base_wipe(deferred->handle, (size_t)deferred->bytes);
    switch (deferred->kind) {
    case DEVICE_DEFERRED_STREAM:
        return DRIVER_CLEANUP(driver, StreamDestroy(deferred->handle));
    case DEVICE_DEFERRED_EVENT:
        return DRIVER_CLEANUP(driver, EventDestroy(deferred->handle));
    case DEVICE_DEFERRED_GRAPH:
        return DRIVER_CLEANUP(driver, GraphExecDestroy(deferred->handle));
    case DEVICE_DEFERRED_PINNED:
        return device_count_wait(device, COUNTER_WAIT_FREE_PINNED, start,
            DRIVER_CLEANUP(driver, MemFreeHost(deferred->handle)));
    case DEVICE_DEFERRED_REGISTERED:
        return device_count_wait(device, COUNTER_WAIT_UNREGISTER, start,
            DRIVER_CLEANUP(driver, MemHostUnregister(deferred->handle)));
    case DEVICE_DEFERRED_MODULE:
        return device_count_wait(device, COUNTER_WAIT_UNLOAD, start,
            DRIVER_CLEANUP(driver, ModuleUnload(deferred->handle)));
    }
    return POOL_OK;
}

void device_capture_begins(pool_device *device)
{
    pthread_mutex_lock(&device->gpu->capture_lock);
    device->gpu->captures++;
    pthread_mutex_unlock(&device->gpu->capture_lock);
}

void device_capture_ended(pool_device *device)
{
    pthread_mutex_lock(&device->gpu->capture_lock);
    device->gpu->captures--;
    pthread_mutex_unlock(&device->gpu->capture_lock);
}

/* The driver waits for the work of all devices before it releases these. */
static int is_host_memory(const struct device_deferred *deferred)
{
    return deferred->kind == DEVICE_DEFERRED_PINNED || deferred->kind == DEVICE_DEFERRED_REGISTERED;
}

/* What waits for all work stays in the list while a stream is captured. */
static pool_status release_beside_captures(
    pool_device *device, struct driver *driver, const struct device_deferred *deferred)
{
    pool_status status;

    if (!is_host_memory(deferred) && deferred->kind != DEVICE_DEFERRED_MODULE)
        return release_one(device, driver, deferred);
    pthread_mutex_lock(&device->gpu->capture_lock);
    status = device->gpu->captures ? POOL_ERR_NOT_READY : release_one(device, driver, deferred);
    pthread_mutex_unlock(&device->gpu->capture_lock);
    return status;
}

static struct device_deferred *detach_list(pool_device *device)
{
    struct device_deferred *list;

    pthread_mutex_lock(&device->deferred_lock);
    list = device->deferred;
    device->deferred = NULL;
    pthread_mutex_unlock(&device->deferred_lock);
    return list;
}

/* What a pass over the list knows. */
struct release_pass {
    struct driver *driver;
    enum device_release_extent extent;
    int device_idle;
    int pool_idle;
    int may_block;       /* a device of the pool is abandoned */
    uint64_t keep_bytes; /* of pinned memory, that may still be kept */
};

/* Pinned memory is kept for reuse, the latest freed first. Otherwise: whether the release does not
 * block, or only on work that was enqueued later. */
static int can_release(struct release_pass *pass, const struct device_deferred *deferred)
{
    int is_idle = deferred->kind == DEVICE_DEFERRED_MODULE ? pass->device_idle : pass->pool_idle;

    if (deferred->kind == DEVICE_DEFERRED_PINNED && deferred->is_marked &&
        deferred->bytes <= pass->keep_bytes) {
        pass->keep_bytes -= deferred->bytes;
        return 0;
    }
    if (pass->may_block && is_host_memory(deferred))
        return 0;
    return is_idle || (pass->extent == DEVICE_RELEASE_ALL && is_unused(deferred));
}

static void wipe_unused(struct device_deferred *deferred)
{
    if (!deferred->is_secret || !is_unused(deferred))
        return;
    base_wipe(deferred->handle, (size_t)deferred->bytes);
    deferred->is_secret = 0;
}

/* Behind those that were deferred meanwhile, which are later ones. */
static void append_list(pool_device *device, struct device_deferred *list)
{
    struct device_deferred **end;

    pthread_mutex_lock(&device->deferred_lock);
    for (end = &device->deferred; *end; end = &(*end)->next)
        ;
    *end = list;
    pthread_mutex_unlock(&device->deferred_lock);
}

/* The first failure, unless it only means that there is unfinished work. */
static pool_status first_failure(pool_status first, pool_status status)
{
    return first || status == POOL_ERR_NOT_READY ? first : status;
}

pool_status device_release_deferred(pool_device *device, enum device_release_extent extent)
{
    struct release_pass pass = {.driver = device_driver(device), .extent = extent};
    struct device_deferred *list = detach_list(device), **at = &list;
    struct base_error_copy detail; /* of `first` */
    pool_status status, first = POOL_OK;

    if (!list)
        return POOL_OK;
    status = device_pool_is_idle(device);
    pass.pool_idle = !status;
    first = first_failure(first, status);
    if (status == POOL_ERR_NOT_READY) /* after a failure its detail stays the thread's last one */
        status = device_is_idle(device);
    pass.device_idle = !status;
    pass.may_block = device_may_block(device);
    first = first_failure(first, status);
    base_error_save(&detail);
    if (extent == DEVICE_RELEASE_EXCESS)
        pass.keep_bytes = atomic_load_explicit(&device->pinned_threshold, memory_order_relaxed);
    while (*at) {
        struct device_deferred *deferred = *at;

        status = can_release(&pass, deferred)
                     ? release_beside_captures(device, pass.driver, deferred)
                     : POOL_ERR_NOT_READY;
        if (first_failure(first, status) != first)
            base_error_save(&detail);
        first = first_failure(first, status);
        if (!status) {
            *at = deferred->next;
            device_deferred_free(deferred);
        } else {
            wipe_unused(deferred);
            at = &deferred->next;
        }
    }
    append_list(device, list);
    if (first)
        base_error_restore(&detail);
    return first;
}

void device_try_release_deferred(pool_device *device)
{
    struct base_error_copy first;

    base_error_save(&first);
    (void)device_release_deferred(device, DEVICE_RELEASE_EXCESS);
    base_error_restore(&first);
}

void device_release_all_deferred(pool_device *device, int driver_alive)
{
    struct driver *driver = device_driver(device);

    while (device->deferred) {
        struct device_deferred *at = device->deferred;

        device->deferred = at->next;
        if (driver_alive && !driver_is_poisoned(driver) &&
            !(is_host_memory(at) && device_may_block(device)))
            (void)release_one(device, driver, at);
        else if (at->is_secret && device_usable(device, DEVICE_USE_HOST) &&
                 (at->kind != DEVICE_DEFERRED_PINNED || !device_has_lost_context(device)))
            base_wipe(at->handle, (size_t)at->bytes);
        device_deferred_free(at);
    }
}

struct device_deferred *device_reuse_deferred_pinned(
    pool_device *device, uint64_t bytes, uint32_t flags)
{
    struct device_deferred **best = NULL, *found = NULL;

    pthread_mutex_lock(&device->deferred_lock);
    for (struct device_deferred **at = &device->deferred; *at; at = &(*at)->next) {
        const struct device_deferred *one = *at;

        if (one->kind == DEVICE_DEFERRED_PINNED && one->flags == flags && one->bytes >= bytes &&
            one->bytes / 2 <= bytes && (!best || one->bytes < (*best)->bytes) && is_unused(one))
            best = at;
    }
    if (best) {
        found = *best;
        *best = found->next;
    }
    pthread_mutex_unlock(&device->deferred_lock);
    if (!found)
        return NULL;
    if (found->is_secret)
        base_wipe(found->handle, (size_t)found->bytes);
    base_free(found->marks); /* the block is deferred again when it is destroyed again */
    found->marks = NULL;
    found->mark_count = 0;
    found->is_secret = 0;
    found->abandoned = atomic_load(&device->pool->abandoned); /* these do not use it */
    return found;
}

struct device_pinned_bytes device_deferred_pinned_bytes(pool_device *device)
{
    struct device_pinned_bytes bytes = {0};

    pthread_mutex_lock(&device->deferred_lock);
    for (const struct device_deferred *at = device->deferred; at; at = at->next) {
        if (at->kind != DEVICE_DEFERRED_PINNED)
            continue;
        if (is_unused(at))
            bytes.unused += at->bytes;
        else
            bytes.deferred += at->bytes;
    }
    pthread_mutex_unlock(&device->deferred_lock);
    return bytes;
}

bool device_has_deferred_pinned(pool_device *device)
{
    struct device_pinned_bytes bytes = device_deferred_pinned_bytes(device);

    return bytes.unused || bytes.deferred;
}

void device_set_pinned_threshold(pool_device *device, uint64_t bytes)
{
    atomic_store_explicit(&device->pinned_threshold, bytes, memory_order_relaxed);
}

uint64_t device_pinned_threshold(const pool_device *device)
{
    return atomic_load_explicit(&device->pinned_threshold, memory_order_relaxed);
}
