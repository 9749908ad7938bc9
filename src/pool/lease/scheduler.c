/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's state machine; scheduler.h has its rules.
 */
#include "pool/lease/scheduler.h"

#include <stddef.h>
#include <string.h>

void scheduler_init(
    struct scheduler *scheduler, struct scheduler_device *devices, uint32_t count, uint64_t aging)
{
    memset(scheduler, 0, sizeof(*scheduler));
    scheduler->devices = devices;
    scheduler->device_count = count;
    scheduler->aging = aging;
}

/* --- the queue -------------------------------------------------------------------------------- */

static void clear_head(struct scheduler *scheduler)
{
    for (uint32_t i = 0; scheduler->head && i < scheduler->device_count; i++)
        scheduler->devices[i].is_earmarked = false;
    scheduler->head = NULL;
}

/* The keys are unequal or the requests stand in the order of their submission. */
static void enqueue(struct scheduler *scheduler, struct scheduler_request *request)
{
    struct scheduler_request *before = scheduler->last;

    while (before && before->key > request->key)
        before = before->previous;
    request->previous = before;
    request->next = before ? before->next : scheduler->first;
    if (request->next)
        request->next->previous = request;
    else
        scheduler->last = request;
    if (before)
        before->next = request;
    else
        scheduler->first = request;
    scheduler->waiting++;
    request->decision = SCHEDULER_WAITING;
}

static void dequeue(struct scheduler *scheduler, struct scheduler_request *request)
{
    if (request->previous)
        request->previous->next = request->next;
    else
        scheduler->first = request->next;
    if (request->next)
        request->next->previous = request->previous;
    else
        scheduler->last = request->previous;
    scheduler->waiting--;
    request->next = request->previous = NULL;
    if (scheduler->head == request)
        clear_head(scheduler);
}

/* Takes a request from the queue and puts it on the list of decisions. */
static void decide(struct scheduler *scheduler, struct scheduler_request *request,
    enum scheduler_decision decision)
{
    dequeue(scheduler, request);
    request->decision = decision;
    if (scheduler->decided_last)
        scheduler->decided_last->next = request;
    else
        scheduler->decided = request;
    scheduler->decided_last = request;
}

struct scheduler_request *scheduler_take_decided(struct scheduler *scheduler)
{
    struct scheduler_request *oldest = scheduler->decided;

    if (!oldest)
        return NULL;
    scheduler->decided = oldest->next;
    if (!scheduler->decided)
        scheduler->decided_last = NULL;
    oldest->next = NULL;
    return oldest;
}

/* --- which devices can serve a request ----------------------------------------------------------
 */

static uint32_t rank_of(const struct scheduler_request *request, uint32_t device)
{
    return request->ranks ? request->ranks[device] : 0;
}

/* Where the reserved bytes of a device are counted. */
static struct scheduler_device *account_of(struct scheduler_device *device)
{
    return device->account ? device->account : device;
}

static bool share_memory(const struct scheduler_device *one, const struct scheduler_device *other)
{
    return one == other || (one->account && one->account == other->account);
}

static bool is_possible(
    const struct scheduler *scheduler, const struct scheduler_request *request, uint32_t index)
{
    const struct scheduler_device *device = &scheduler->devices[index];

    return rank_of(request, index) != SCHEDULER_EXCLUDED && device->state != SCHEDULER_LOST &&
           device->limit_bytes >= request->bytes && device->slots >= request->slots;
}

/* Of devices that share memory as many count as it suffices for. */
uint32_t scheduler_possible_devices(
    const struct scheduler *scheduler, const struct scheduler_request *request)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < scheduler->device_count; i++) {
        const struct scheduler_device *device = &scheduler->devices[i];
        uint64_t before = 0;

        if (!is_possible(scheduler, request, i))
            continue;
        for (uint32_t j = 0; j < i; j++)
            before +=
                share_memory(device, &scheduler->devices[j]) && is_possible(scheduler, request, j);
        count += !request->bytes || before < device->limit_bytes / request->bytes;
    }
    return count;
}

/* Whether the device could serve the request if it had no leases. */
static bool is_attainable(
    const struct scheduler *scheduler, const struct scheduler_request *request, uint32_t index)
{
    const struct scheduler_device *device = &scheduler->devices[index];

    return rank_of(request, index) != SCHEDULER_EXCLUDED && device->state == SCHEDULER_READY &&
           device->capacity_bytes >= request->bytes && device->slots >= request->slots;
}

/* What the devices that have been chosen for the request take of the memory that they share with
 * this one. */
static uint64_t taken_by_chosen(const struct scheduler *scheduler,
    const struct scheduler_request *request, uint32_t chosen, const struct scheduler_device *device)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < chosen; i++)
        if (share_memory(&scheduler->devices[request->granted[i]], device))
            bytes += request->bytes;
    return bytes;
}

/* Whether the head needs the memory of the device, for this one or for one that shares it. */
static bool is_memory_earmarked(
    const struct scheduler *scheduler, const struct scheduler_device *device)
{
    bool is_earmarked = device->is_earmarked;

    for (uint32_t i = 0; i < scheduler->device_count && !is_earmarked; i++)
        is_earmarked =
            scheduler->devices[i].is_earmarked && share_memory(device, &scheduler->devices[i]);
    return is_earmarked;
}

/* Whether the device has what the request asks for. Backfill takes nothing that the head lacks. */
static bool can_serve(const struct scheduler *scheduler, const struct scheduler_request *request,
    uint32_t index, bool is_backfill, uint32_t chosen)
{
    const struct scheduler_device *device = &scheduler->devices[index];
    const struct scheduler_request *head = scheduler->head;
    uint64_t taken = taken_by_chosen(scheduler, request, chosen, device);
    uint64_t bytes = scheduler_free_bytes(device);
    uint32_t slots = scheduler_free_slots(device);

    bytes -= taken < bytes ? taken : bytes;
    if (device->state != SCHEDULER_READY || rank_of(request, index) == SCHEDULER_EXCLUDED ||
        bytes < request->bytes || slots < request->slots)
        return false;
    if (!is_backfill || !is_memory_earmarked(scheduler, device))
        return true;
    return (!device->is_earmarked || slots - request->slots >= head->slots) &&
           (!request->bytes || bytes - request->bytes >= head->bytes);
}

/* --- the choice ---------------------------------------------------------------------------------
 */

/* What decides between devices that can serve a request; smaller comes first, member by member. */
struct preference {
    uint64_t rank;
    uint64_t load;
    uint64_t used;  /* the complement of the free bytes */
    uint64_t turns; /* until it is the device's turn */
};

static struct preference preference_of(
    const struct scheduler *scheduler, const struct scheduler_request *request, uint32_t index)
{
    const struct scheduler_device *device = &scheduler->devices[index];
    struct preference preference = {.rank = rank_of(request, index),
        .turns = index + (index < scheduler->turn ? scheduler->device_count : 0) - scheduler->turn};

    switch (request->policy) {
    case SCHEDULER_ROUND_ROBIN:
        return preference;
    case SCHEDULER_MOST_FREE:
        preference.load = request->bytes ? 0 : device->reserved_slots;
        break;
    case SCHEDULER_LEAST_LOADED:
        preference.load = (uint64_t)device->reserved_slots + device->load;
        break;
    }
    preference.used = UINT64_MAX - scheduler_free_bytes(device);
    return preference;
}

static bool is_preferred(const struct preference *a, const struct preference *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank;
    if (a->load != b->load)
        return a->load < b->load;
    if (a->used != b->used)
        return a->used < b->used;
    return a->turns < b->turns;
}

static bool is_chosen(const struct scheduler_request *request, uint32_t count, uint32_t device)
{
    for (uint32_t i = 0; i < count; i++)
        if (request->granted[i] == device)
            return true;
    return false;
}

/* Inserts the device into the ascending list. */
static void add_chosen(struct scheduler_request *request, uint32_t count, uint32_t device)
{
    while (count && request->granted[count - 1] > device) {
        request->granted[count] = request->granted[count - 1];
        count--;
    }
    request->granted[count] = device;
}

/* The best devices that can serve the request, into request->granted; false: there are too few. */
static bool choose_devices(
    const struct scheduler *scheduler, struct scheduler_request *request, bool is_backfill)
{
    for (uint32_t count = 0; count < request->devices; count++) {
        struct preference best_preference = {0}, preference;
        uint32_t best = UINT32_MAX;

        for (uint32_t i = 0; i < scheduler->device_count; i++) {
            if (!can_serve(scheduler, request, i, is_backfill, count) ||
                is_chosen(request, count, i))
                continue;
            preference = preference_of(scheduler, request, i);
            if (best == UINT32_MAX || is_preferred(&preference, &best_preference)) {
                best_preference = preference;
                best = i;
            }
        }
        if (best == UINT32_MAX)
            return false;
        add_chosen(request, count, best);
    }
    return true;
}

/* Chooses and reserves, on all devices or on none. */
static bool grant(struct scheduler *scheduler, struct scheduler_request *request, bool is_backfill)
{
    if (!choose_devices(scheduler, request, is_backfill))
        return false;
    for (uint32_t i = 0; i < request->devices; i++) {
        struct scheduler_device *device = &scheduler->devices[request->granted[i]];

        account_of(device)->reserved_bytes += request->bytes;
        device->reserved_slots += request->slots;
        scheduler->turn = request->granted[i] + 1;
    }
    if (scheduler->turn == scheduler->device_count)
        scheduler->turn = 0;
    return true;
}

/* --- the head and its devices -------------------------------------------------------------------
 */

/* Whether the request lacks less on `device` than on `other`. */
static bool lacks_less(const struct scheduler *scheduler, const struct scheduler_request *request,
    uint32_t device, uint32_t other)
{
    const struct scheduler_device *its = &scheduler->devices[device];
    const struct scheduler_device *others = &scheduler->devices[other];
    uint64_t bytes = scheduler_free_bytes(its), other_bytes = scheduler_free_bytes(others);
    uint32_t slots = scheduler_free_slots(its), other_slots = scheduler_free_slots(others);

    bytes = bytes < request->bytes ? request->bytes - bytes : 0;
    other_bytes = other_bytes < request->bytes ? request->bytes - other_bytes : 0;
    slots = slots < request->slots ? request->slots - slots : 0;
    other_slots = other_slots < request->slots ? request->slots - other_slots : 0;
    return bytes != other_bytes ? bytes < other_bytes : slots < other_slots;
}

static uint32_t count_attainable(
    const struct scheduler *scheduler, const struct scheduler_request *request)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < scheduler->device_count; i++)
        count += is_attainable(scheduler, request, i);
    return count;
}

/* Earmarks devices for the head until there are as many as it asks for. */
static void earmark_devices(struct scheduler *scheduler)
{
    const struct scheduler_request *head = scheduler->head;
    uint32_t count = 0;

    for (uint32_t i = 0; i < scheduler->device_count; i++) {
        struct scheduler_device *device = &scheduler->devices[i];
        bool is_wanted = is_attainable(scheduler, head, i);

        device->is_earmarked = is_wanted && (device->is_earmarked || scheduler->is_head_aged);
        count += device->is_earmarked;
    }
    for (; count < head->devices; count++) {
        uint32_t best = UINT32_MAX;

        for (uint32_t i = 0; i < scheduler->device_count; i++)
            if (is_attainable(scheduler, head, i) && !scheduler->devices[i].is_earmarked &&
                (best == UINT32_MAX || lacks_less(scheduler, head, i, best)))
                best = i;
        scheduler->devices[best].is_earmarked = true;
    }
}

/* A request that waits becomes the head; earmarks of the same head stay where they are. */
static void set_head(
    struct scheduler *scheduler, const struct scheduler_request *request, uint64_t now)
{
    if (scheduler->head != request) {
        clear_head(scheduler);
        scheduler->is_head_aged = false;
    }
    scheduler->head = request;
    if (now >= request->submitted + scheduler->aging)
        scheduler->is_head_aged = true;
    earmark_devices(scheduler);
}

/* --- events -------------------------------------------------------------------------------------
 */

/* While this is false no request can be granted. */
static bool has_free_slot(const struct scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->device_count; i++)
        if (scheduler->devices[i].state == SCHEDULER_READY &&
            scheduler_free_slots(&scheduler->devices[i]))
            return true;
    return false;
}

/*
 * Examines the queue in its order: requests are granted; the first that waits and could be served
 * becomes the head; those behind it are granted as backfill. Earmarks of the head before count only
 * if it is the head again, and then they stay where they are.
 */
static void examine_queue(struct scheduler *scheduler, uint64_t now)
{
    struct scheduler_request *next;
    bool has_head = false;

    for (struct scheduler_request *request = scheduler->first; request; request = next) {
        next = request->next;
        if (grant(scheduler, request, has_head)) {
            decide(scheduler, request, SCHEDULER_GRANTED);
        } else if (!has_head && count_attainable(scheduler, request) >= request->devices) {
            set_head(scheduler, request, now);
            has_head = true;
        }
        if (has_head && !has_free_slot(scheduler))
            return;
    }
    if (!has_head)
        clear_head(scheduler);
}

enum scheduler_decision scheduler_submit(
    struct scheduler *scheduler, struct scheduler_request *request, uint64_t now)
{
    const struct scheduler_request *head = scheduler->head;
    bool is_behind_head;

    request->submitted = now;
    request->key = (int64_t)now - request->priority * (int64_t)scheduler->aging;
    request->next = request->previous = NULL;
    if (scheduler_possible_devices(scheduler, request) < request->devices)
        return request->decision = SCHEDULER_REFUSED;
    is_behind_head = head && head->key <= request->key;
    if (is_behind_head && !scheduler->is_head_aged && now >= head->submitted + scheduler->aging)
        set_head(scheduler, head, now);
    if (grant(scheduler, request, is_behind_head))
        return request->decision = SCHEDULER_GRANTED;
    enqueue(scheduler, request);
    if (!is_behind_head)
        examine_queue(scheduler, now);
    return request->decision;
}

void scheduler_cancel(struct scheduler *scheduler, struct scheduler_request *request,
    enum scheduler_decision decision, uint64_t now)
{
    bool was_head = scheduler->head == request;

    if (request->decision != SCHEDULER_WAITING)
        return;
    dequeue(scheduler, request);
    request->decision = decision;
    if (was_head)
        examine_queue(scheduler, now);
}

void scheduler_expire(struct scheduler *scheduler, uint64_t now)
{
    const struct scheduler_request *head = scheduler->head;
    struct scheduler_request *next;

    for (struct scheduler_request *request = scheduler->first; request; request = next) {
        next = request->next;
        if (request->deadline != SCHEDULER_NEVER && request->deadline <= now)
            decide(scheduler, request, SCHEDULER_EXPIRED);
    }
    if (scheduler->head != head)
        examine_queue(scheduler, now);
}

void scheduler_release(struct scheduler *scheduler, struct scheduler_request *request, uint64_t now)
{
    for (uint32_t i = 0; i < request->devices; i++) {
        struct scheduler_device *device = &scheduler->devices[request->granted[i]];

        account_of(device)->reserved_bytes -= request->bytes;
        device->reserved_slots -= request->slots;
    }
    request->decision = SCHEDULER_NONE;
    if (scheduler->first)
        examine_queue(scheduler, now);
}

void scheduler_devices_changed(struct scheduler *scheduler, uint64_t now)
{
    struct scheduler_request *next;

    for (struct scheduler_request *request = scheduler->first; request; request = next) {
        next = request->next;
        if (scheduler_possible_devices(scheduler, request) < request->devices)
            decide(scheduler, request, SCHEDULER_REFUSED);
    }
    if (scheduler->first)
        examine_queue(scheduler, now);
}

uint64_t scheduler_next_deadline(const struct scheduler *scheduler)
{
    uint64_t earliest = SCHEDULER_NEVER;

    for (const struct scheduler_request *request = scheduler->first; request;
         request = request->next)
        if (request->deadline < earliest)
            earliest = request->deadline;
    return earliest;
}
