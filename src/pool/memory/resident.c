/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of a device's resident objects: see resident.h.
 */
#include "pool/memory/resident.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/text.h"
#include "pool/memory/durable.h"
#include "pool/stream/stream.h"

struct resident_list {
    pthread_mutex_t lock;
    pthread_cond_t evicted;        /* an eviction has finished */
    struct memory_resident *first; /* least recently used */
    struct memory_resident *last;
    unsigned evicting; /* entries whose `evict` is running */
    struct memory_resident_counts counts;
};

static pool_status create_list(pool_device *device, void **object)
{
    struct resident_list *list = base_calloc(1, sizeof(*list));

    (void)device;
    if (!list)
        return base_fail_memory("the list of resident objects");
    pthread_mutex_init(&list->lock, NULL);
    pthread_cond_init(&list->evicted, NULL);
    *object = list;
    return POOL_OK;
}

/* The owners' objects keep the pool alive, so the list is empty or the process is lost. */
static void destroy_list(pool_device *device, void *object, int driver_alive)
{
    struct resident_list *list = object;

    (void)driver_alive;
    if (device_usable(device, DEVICE_USE_HOST))
        pthread_cond_destroy(&list->evicted);
    device_lock_destroy(device, &list->lock);
    base_free(list);
}

/* Least recently used first. */
static void each_entry(void *object, device_resident_visitor visit, void *user)
{
    struct resident_list *list = object;

    pthread_mutex_lock(&list->lock);
    for (const struct memory_resident *at = list->first; at; at = at->next) {
        struct device_resident resident = {.kind = at->kind,
            .name = at->name,
            .bytes = at->bytes,
            .users = at->users,
            .survivals = at->survivals,
            .is_pinned = at->is_pinned};

        if (at->is_code)
            resident.users += atomic_load(&at->launches) & ~MEMORY_RESIDENT_EVICTED;
        visit(user, &resident);
    }
    pthread_mutex_unlock(&list->lock);
}

static void lose_entries(pool_device *device, void *object);
static pool_status renew_entries(pool_device *device, void **object);
static pool_status restore_entries(pool_device *device, void *object);

static const struct device_resource_type list_type = {.name = "resident objects",
    .is_of_gpu = true,
    .create = create_list,
    .destroy = destroy_list,
    .each_resident = each_entry,
    .lose = lose_entries,
    .renew = renew_entries,
    .restore = restore_entries};

static struct resident_list *list_of(pool_device *device)
{
    return device_resource_find(device, &list_type);
}

static bool is_idle(const struct memory_resident *entry)
{
    return !entry->users && !entry->is_pinned;
}

/* With the lock held. */
static void unlink_entry(struct resident_list *list, struct memory_resident *entry)
{
    *(entry->previous ? &entry->previous->next : &list->first) = entry->next;
    *(entry->next ? &entry->next->previous : &list->last) = entry->previous;
    entry->next = entry->previous = NULL;
}

/* With the lock held: as the most recently used one. */
static void append_entry(struct resident_list *list, struct memory_resident *entry)
{
    entry->used_at = base_clock_coarse_ns();
    entry->previous = list->last;
    entry->next = NULL;
    *(list->last ? &list->last->next : &list->first) = entry;
    list->last = entry;
}

/* Memory that leases may count on: it can be evicted, or all users have reserved its bytes. */
static bool is_evictable(const struct memory_resident *entry)
{
    return !entry->outside_users && !entry->is_pinned && !entry->is_code;
}

/* With the lock held: changes users, and the account if the memory becomes evictable or ceases to
 * be. */
static void change_users(
    struct resident_list *list, struct memory_resident *entry, bool is_leased, int change)
{
    bool was_evictable = is_evictable(entry), was_idle = is_idle(entry);

    entry->users += (uint32_t)change;
    if (!is_leased)
        entry->outside_users += (uint32_t)change;
    if (is_evictable(entry) != was_evictable)
        device_account_evictable(
            entry->device, was_evictable ? -(int64_t)entry->bytes : (int64_t)entry->bytes);
    if (is_idle(entry) != was_idle)
        list->counts.idle_bytes += was_idle ? -entry->bytes : entry->bytes;
}

pool_status memory_resident_add(struct memory_resident *entry, bool is_leased)
{
    struct resident_list *list;
    void *object;
    pool_status status = device_resource_get(entry->device, &list_type, &object);

    if (status)
        return status;
    list = object;
    entry->users = entry->outside_users = 1;
    entry->is_evicting = false;
    pthread_mutex_lock(&list->lock);
    append_entry(list, entry);
    if (is_leased) {
        change_users(list, entry, true, 1);
        change_users(list, entry, false, -1);
    }
    list->counts.bytes += entry->bytes;
    list->counts.objects++;
    list->counts.loads++;
    pthread_mutex_unlock(&list->lock);
    return POOL_OK;
}

bool memory_resident_use(struct memory_resident *entry, bool is_leased)
{
    struct resident_list *list = list_of(entry->device);
    bool is_there;

    pthread_mutex_lock(&list->lock);
    is_there = !entry->is_evicting;
    if (is_there) {
        change_users(list, entry, is_leased, 1);
        unlink_entry(list, entry);
        append_entry(list, entry);
    }
    pthread_mutex_unlock(&list->lock);
    return is_there;
}

void memory_resident_unuse(struct memory_resident *entry, bool is_leased)
{
    struct resident_list *list = list_of(entry->device);

    pthread_mutex_lock(&list->lock);
    change_users(list, entry, is_leased, -1);
    entry->used_at = base_clock_coarse_ns();
    pthread_mutex_unlock(&list->lock);
}

uint32_t memory_resident_users(const struct memory_resident *entry)
{
    uint32_t users;
    uint64_t idle_ns;

    memory_resident_read_use(entry, &users, &idle_ns);
    return users;
}

void memory_resident_read_use(
    const struct memory_resident *entry, uint32_t *users, uint64_t *idle_ns)
{
    struct resident_list *list = list_of(entry->device);

    pthread_mutex_lock(&list->lock);
    *users = entry->users;
    *idle_ns = entry->users ? 0 : base_clock_coarse_ns() - entry->used_at;
    pthread_mutex_unlock(&list->lock);
}

/* With the lock held: the entry leaves the list and its counts. */
static void take_out(struct resident_list *list, struct memory_resident *entry)
{
    if (is_evictable(entry))
        device_account_evictable(entry->device, -(int64_t)entry->bytes);
    if (is_idle(entry))
        list->counts.idle_bytes -= entry->bytes;
    unlink_entry(list, entry);
    list->counts.bytes -= entry->bytes;
    list->counts.objects--;
}

bool memory_resident_remove(struct memory_resident *entry)
{
    struct resident_list *list = list_of(entry->device);
    bool is_there;

    pthread_mutex_lock(&list->lock);
    is_there = !entry->is_evicting;
    entry->is_removed = true;
    if (is_there)
        take_out(list, entry);
    pthread_mutex_unlock(&list->lock);
    return is_there;
}

void memory_resident_wait(pool_device *device)
{
    struct resident_list *list = list_of(device);

    if (!list)
        return;
    pthread_mutex_lock(&list->lock);
    while (list->evicting)
        pthread_cond_wait(&list->evicted, &list->lock);
    pthread_mutex_unlock(&list->lock);
}

/* Which objects are evicted. */
enum victims { VICTIMS_DATA, VICTIMS_DATA_AND_CODE, VICTIMS_LOST, VICTIMS_ENDED };

/* With the lock held: code that no launch is using, and that from now on none begins to use. Code
 * that was launched meanwhile moves to its place in the order of use instead. */
static bool claim_code(
    struct resident_list *list, struct memory_resident *entry, enum victims victims)
{
    unsigned none = 0;

    if (atomic_exchange_explicit(&entry->is_recent, false, memory_order_relaxed)) {
        unlink_entry(list, entry);
        append_entry(list, entry);
        return false;
    }
    if (!atomic_compare_exchange_strong(&entry->launches, &none, MEMORY_RESIDENT_EVICTED))
        return false;
    /* It may have been captured since the list looked for graphs: launches take no lock. */
    if (victims == VICTIMS_ENDED || !stream_has_graphs(entry->device))
        return true;
    atomic_fetch_and(&entry->launches, ~MEMORY_RESIDENT_EVICTED);
    return false;
}

static bool is_victim(const struct memory_resident *entry, enum victims victims)
{
    if (entry->is_lost || entry->is_evicting)
        return false;
    if (victims == VICTIMS_LOST) /* pinned ones are lost, too */
        return !entry->users && !entry->is_code;
    return is_idle(entry) && (!entry->is_code || victims != VICTIMS_DATA);
}

/* With the lock held: the least recently used object without users; NULL: none. */
static struct memory_resident *find_victim(struct resident_list *list, enum victims victims)
{
    struct memory_resident *at = list->first, *next;

    /* Entries that move to the end are examined a second time. */
    for (uint64_t looks = 2 * list->counts.objects; at && looks; at = next, looks--) {
        next = at->next;
        if (!is_victim(at, victims))
            continue;
        if (!at->is_code || claim_code(list, at, victims))
            return at;
        next = next ? next : list->last;
    }
    return NULL;
}

static uint64_t evict(
    pool_device *device, struct resident_list *list, uint64_t bytes, enum victims victims)
{
    uint64_t released = 0;

    pthread_mutex_lock(&list->lock);
    while (released < bytes) {
        struct memory_resident *victim = NULL;

        /* A graph has the addresses of tables and kernels that its capture used. */
        if (victims == VICTIMS_LOST || victims == VICTIMS_ENDED || !stream_has_graphs(device))
            victim = find_victim(list, victims);
        if (!victim)
            break;
        take_out(list, victim);
        victim->is_evicting = true;
        list->evicting++;
        if (victims == VICTIMS_LOST) {
            list->counts.losses++;
        } else {
            list->counts.evictions++;
            list->counts.evicted_bytes += victim->bytes;
        }
        released += victim->bytes;
        pthread_mutex_unlock(&list->lock);
        base_log(POOL_LOG_INFO, "device %d: %s %s, %s, is %s", pool_device_ordinal(device),
            victim->kind, victim->name, base_size_text(victim->bytes).text,
            victims == VICTIMS_LOST ? "lost with the device" : "evicted");
        victim->evict(victim);
        pthread_mutex_lock(&list->lock);
        list->evicting--;
        pthread_cond_broadcast(&list->evicted);
    }
    pthread_mutex_unlock(&list->lock);
    return released;
}

uint64_t memory_resident_evict(pool_device *device, uint64_t bytes, bool with_code)
{
    struct resident_list *list = list_of(device);

    if (!list)
        return 0;
    return evict(device, list, bytes, with_code ? VICTIMS_DATA_AND_CODE : VICTIMS_DATA);
}

/*
 * Objects in sealed memory wait for the next process; those that a process was verifying when it
 * was lost may have been the cause. Others that nobody uses are released, and restored from their
 * sources at their next use.
 */
static void lose_entries(pool_device *device, void *object)
{
    struct resident_list *list = object;
    unsigned used = 0;

    pthread_mutex_lock(&list->lock);
    for (struct memory_resident *at = list->first; at; at = at->next) {
        at->is_lost = at->buffer && memory_is_sealed(at->buffer) && !at->is_suspect;
        used += at->users && !at->is_code;
    }
    pthread_mutex_unlock(&list->lock);
    device_set_uses(device, used);
    (void)evict(device, list, UINT64_MAX, VICTIMS_LOST);
}

/* With the lock held, which is released meanwhile. */
static void release_lost(struct resident_list *list, struct memory_resident *entry)
{
    take_out(list, entry);
    list->counts.losses++;
    pthread_mutex_unlock(&list->lock);
    entry->evict(entry);
    pthread_mutex_lock(&list->lock);
}

/*
 * With the lock held: what was verified is used again or, if its contents have changed or its owner
 * has removed it meanwhile, released; `is_lost`: the device was lost again. False: it has changed
 * and an open use keeps it, so that the process must not serve.
 */
static bool end_verification(
    struct resident_list *list, struct memory_resident *entry, bool is_lost, bool is_same)
{
    bool is_changed = !is_lost && !is_same, is_kept = true;

    entry->is_evicting = false;
    entry->is_lost = entry->is_suspect = is_lost;
    if (entry->is_removed || (is_changed && !entry->users)) {
        entry->is_evicting = true;
        release_lost(list, entry);
    } else if (is_changed) {
        is_kept = false;
    } else if (!is_lost) {
        entry->survivals++;
        list->counts.survivals++;
    }
    list->evicting--;
    pthread_cond_broadcast(&list->evicted);
    return is_kept;
}

/* With the lock held. */
static struct memory_resident *find_lost(const struct resident_list *list)
{
    struct memory_resident *at = list->first;

    while (at && !at->is_lost)
        at = at->next;
    return at;
}

/* While it is verified, an object counts as being evicted, so that its owner waits. */
static pool_status restore_entries(pool_device *device, void *object)
{
    struct resident_list *list = object;
    struct memory_resident *entry;
    pool_status status = POOL_OK;
    bool may_serve = true;

    pthread_mutex_lock(&list->lock);
    while (!status && may_serve && (entry = find_lost(list))) {
        bool is_same = false;

        entry->is_lost = entry->is_removed = false;
        entry->is_evicting = entry->is_suspect = true;
        list->evicting++;
        pthread_mutex_unlock(&list->lock);
        status = memory_verify(entry->buffer, &is_same);
        if (!status && !is_same)
            base_log(POOL_LOG_WARN,
                "device %d: %s %s, %s, has changed when the process of the device was lost, and "
                "will be loaded again",
                pool_device_ordinal(device), entry->kind, entry->name,
                base_size_text(entry->bytes).text);
        pthread_mutex_lock(&list->lock);
        may_serve = end_verification(list, entry, status != POOL_OK, is_same);
    }
    pthread_mutex_unlock(&list->lock);
    return may_serve ? status
                     : base_fail(POOL_ERR_BUSY,
                           "a resident object has changed in device memory and is still in use");
}

/* Code is loaded again at its next launch. Where one was recent, it is found the second time. */
static pool_status renew_entries(pool_device *device, void **object)
{
    (void)evict(device, *object, UINT64_MAX, VICTIMS_ENDED);
    return POOL_OK;
}

void memory_resident_read(pool_device *device, struct memory_resident_counts *counts)
{
    struct resident_list *list = list_of(device);

    *counts = (struct memory_resident_counts){0};
    if (!list)
        return;
    pthread_mutex_lock(&list->lock);
    *counts = list->counts;
    pthread_mutex_unlock(&list->lock);
}
