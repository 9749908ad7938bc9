/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of a device: round robin, most free memory, least loaded, or the caller's score.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/device/pool.h"

/* Candidates that fit on the stack; for a pool with more devices a pick allocates host memory. */
#define CANDIDATES_ON_STACK 32

/*
 * Wraps the round-robin counter to below the set's limit. The limit is a multiple of the set's
 * count, so the order of the devices continues as if the counter never wrapped.
 */
static void wrap_counter(device_pool *pool, const struct device_set *set)
{
    uint64_t number = atomic_load_explicit(&pool->counter, memory_order_relaxed);

    while (number >= set->limit &&
           !atomic_compare_exchange_weak_explicit(&pool->counter, &number, number - set->limit,
               memory_order_relaxed, memory_order_relaxed))
        ;
}

static pool_status next_device_checked(
    device_pool *pool, const struct device_set *set, uint64_t number, pool_device **device)
{
    if (!set->count) {
        pool_status status = device_pool_check(pool, DEVICE_USE_DRIVER);

        return status ? status : device_pool_none_usable(pool);
    }
    wrap_counter(pool, set);
    *device = set->devices[number % set->count];
    return POOL_OK;
}

/* The general path: any number of devices, some of which may be unusable. */
static pool_status next_device_of_set(device_pool *pool, pool_device **device)
{
    const struct device_set *published = atomic_load_explicit(&pool->usable, memory_order_acquire);
    const struct device_set set = *published; /* before the addition, see below */
    uint64_t number;

    atomic_signal_fence(memory_order_seq_cst);
    number = atomic_fetch_add_explicit(&pool->counter, 1, memory_order_relaxed);
    if (__builtin_expect(number >= set.limit, 0))
        return next_device_checked(pool, published, number, device);
    *device = set.devices[(unsigned __int128)(number * set.reciprocal) * set.count >> 64];
    return POOL_OK;
}

/*
 * One atomic addition and no division; ready_set.c describes the remainder by multiplication. A
 * poisoned process and unusable devices need no check here, because they publish another set; an
 * empty set has limit 0. Loads do not start before an atomic addition has completed, so the path
 * that most hosts take has no load after it: that determines how long a thread holds the counter's
 * cache line while others wait for it.
 */
pool_status pool_next_device(device_pool *pool, pool_device **device)
{
    unsigned count;

    if (!pool || !device)
        return base_check_pointers("pool_next_device", {"pool", pool}, {"device", device});
    if (__builtin_expect(pool->generation != driver_fork_generation(), 0))
        return device_pool_check(pool, DEVICE_USE_HOST);
    count = atomic_load_explicit(&pool->whole_count, memory_order_relaxed);
    if (__builtin_expect(!count, 0))
        return next_device_of_set(pool, device);
    *device = pool->devices +
              ((unsigned)atomic_fetch_add_explicit(&pool->counter, 1, memory_order_relaxed) &
                  (count - 1));
    return POOL_OK;
}

/*
 * Counts that the device was chosen, so that choices made before the job has allocated its memory
 * take it into account. Returns 0 if another thread has chosen the device since its count was
 * `seen`; the choice is then repeated, at most CHOICES_MAX times.
 */
#define CHOICES_MAX 16

static int count_choice(pool_device *chosen, unsigned seen, int choice)
{
    if (choice < CHOICES_MAX)
        return atomic_compare_exchange_strong_explicit(
            &chosen->chosen, &seen, seen + 1, memory_order_relaxed, memory_order_relaxed);
    atomic_fetch_add_explicit(&chosen->chosen, 1, memory_order_relaxed);
    return 1;
}

/* The device with the largest share, among equal ones by round robin; NULL if the set is empty. */
static pool_device *largest_share(const struct device_set *set, uint64_t number, unsigned *seen)
{
    pool_device *best = NULL;
    uint64_t most = 0;
    uint32_t equals = 0, skip;
    unsigned chosen;

    for (uint32_t i = 0; i < set->count; i++) {
        uint64_t share = device_share(set->devices[i], &chosen);

        if (!best || share > most) {
            best = set->devices[i];
            most = share;
            equals = 0;
            *seen = chosen;
        }
        equals += share == most;
    }
    skip = equals > 1 ? (uint32_t)(number % equals) : 0;
    for (uint32_t i = 0; skip && i < set->count; i++)
        if (device_share(set->devices[i], &chosen) == most && set->devices[i] != best &&
            --skip == 0) {
            best = set->devices[i];
            *seen = chosen;
        }
    return best;
}

pool_status pool_best_device(device_pool *pool, pool_device **device)
{
    const struct device_set *set;
    pool_device *best;
    unsigned seen = 0;
    int choice = 0;
    uint64_t number;
    pool_status status;

    status = base_check_pointers("pool_best_device", {"pool", pool}, {"device", device});
    if (status)
        return status;
    status = device_pool_check(pool, DEVICE_USE_DRIVER);
    if (!status)
        status = device_pool_sample(pool);
    if (status)
        return status;
    set = atomic_load_explicit(&pool->usable, memory_order_acquire);
    /* Equal devices are chosen in turn: unused devices of one model have the same share. */
    number = atomic_fetch_add_explicit(&pool->tie_counter, 1, memory_order_relaxed);
    do {
        best = largest_share(set, number, &seen);
    } while (best && !count_choice(best, seen, choice++));
    if (!best)
        return next_device_checked(pool, set, 0, device);
    *device = best;
    return POOL_OK;
}

/* The properties of a candidate that the caller does not see. */
struct rank {
    double score;
    uint64_t share; /* of free memory, by device_share */
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* What competes for the device: its leases, which will have work, or the calls in progress and the
 * streams with work, which leases may have as well. */
static uint64_t load_of(const pool_candidate *candidate)
{
    return base_max((uint64_t)candidate->calls + candidate->busy_streams, candidate->leases);
}

/* The length of the queues says less. Bindings say nothing: no operation needs one. */
static int compare_load(const pool_candidate *a, const struct rank *a_rank, const pool_candidate *b,
    const struct rank *b_rank)
{
    int order = compare_numbers(load_of(b), load_of(a));

    if (!order)
        order = compare_numbers(b->unfinished, a->unfinished);
    return order ? order : compare_numbers(a_rank->share, b_rank->share);
}

/* 1 if `a` is preferred to `b`, -1 if `b` is preferred, 0 if they are equal. */
static int compare_candidates(pool_policy policy, const pool_candidate *a,
    const struct rank *a_rank, const pool_candidate *b, const struct rank *b_rank)
{
    switch (policy) {
    case POOL_POLICY_SCORE:
        return (a_rank->score > b_rank->score) - (a_rank->score < b_rank->score);
    case POOL_POLICY_LEAST_LOADED:
        return compare_load(a, a_rank, b, b_rank);
    case POOL_POLICY_MOST_FREE:
        return compare_numbers(a_rank->share, b_rank->share);
    case POOL_POLICY_ROUND_ROBIN:
        break;
    }
    return 0;
}

/* Scratch arrays of one pick. */
struct candidate_list {
    pool_candidate *candidates;
    unsigned *chosen;   /* the count of each candidate when it was listed */
    uint32_t *bindings; /* by index in the pool */
};

pool_candidate device_candidate(const pool_device *device, uint32_t bindings)
{
    struct driver_load load = driver_work_load(&device->work);

    return (pool_candidate){
        .device = (pool_device *)device,
        .free_bytes = device_net_free(device),
        .total_bytes = device->properties.total_bytes,
        .bindings = bindings,
        .calls = atomic_load_explicit(&device->calls, memory_order_relaxed),
        .busy_streams = load.streams,
        .unfinished = load.items,
        .reserved_bytes = device_reserved(device),
        .leases = device_leases(device),
    };
}

/* Lists the best of the candidates that pass the filter and returns their number. */
static uint32_t list_best_candidates(
    const struct device_set *set, const pool_pick *pick, const struct candidate_list *list)
{
    pool_candidate *candidates = list->candidates;
    struct rank best = {0};
    uint32_t count = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        pool_device *device = set->devices[i];
        unsigned chosen;
        struct rank rank = {.share = device_share(device, &chosen)};
        pool_candidate candidate =
            device_candidate(device, list->bindings[device->properties.index]);
        int order;

        if (candidate.free_bytes < pick->min_free_bytes ||
            (pick->filter && !pick->filter(pick->user, &candidate)))
            continue;
        if (pick->policy == POOL_POLICY_SCORE) {
            rank.score = pick->score(pick->user, &candidate);
            if (isnan(rank.score))
                continue;
        }
        order =
            count ? compare_candidates(pick->policy, &candidate, &rank, &candidates[0], &best) : 1;
        if (order > 0) {
            count = 0;
            best = rank;
        }
        if (order >= 0) {
            list->chosen[count] = chosen;
            candidates[count++] = candidate;
        }
    }
    return count;
}

static pool_status pick_from_set(device_pool *pool, const struct device_set *set,
    const pool_pick *pick, const struct candidate_list *list, pool_device **device)
{
    atomic_uint_fast64_t *counter =
        pick->policy == POOL_POLICY_ROUND_ROBIN ? &pool->counter : &pool->tie_counter;
    /* The caller's score and filter are called once per device. */
    int choice = pick->filter || pick->score ? CHOICES_MAX : 0;
    uint64_t number = 0, at;
    uint32_t count;

    if (pick->filter || pick->score)
        device_pool_bindings(pool, list->bindings);
    do {
        count = list_best_candidates(set, pick, list);
        if (!count)
            return base_fail(POOL_ERR_NOT_FOUND,
                "pool_pick_device: none of the %u usable devices passed the filter (min_free_bytes "
                "is "
                "%llu)",
                (unsigned)set->count, (unsigned long long)pick->min_free_bytes);
        if (count > 1 && !number)
            number = 1 + atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
        at = count > 1 ? (number - 1) % count : 0;
    } while (!count_choice(list->candidates[at].device, list->chosen[at], choice++));
    *device = list->candidates[at].device;
    return POOL_OK;
}

static pool_status pick_from_large_set(
    device_pool *pool, const struct device_set *set, const pool_pick *pick, pool_device **device)
{
    struct candidate_list list = {
        .candidates = base_calloc(pool->count, sizeof(*list.candidates)),
        .chosen = base_calloc(pool->count, sizeof(*list.chosen)),
        .bindings = base_calloc(pool->count, sizeof(*list.bindings)),
    };
    pool_status status = list.candidates && list.chosen && list.bindings
                             ? pick_from_set(pool, set, pick, &list, device)
                             : base_fail_memory("the candidates of pool_pick_device");

    base_free(list.candidates);
    base_free(list.chosen);
    base_free(list.bindings);
    return status;
}

static pool_status check_pick(const pool_pick *given, pool_pick *pick)
{
    static const struct base_struct type = BASE_STRUCT(pool_pick);
    static const pool_pick none = {.struct_size = sizeof(none)};
    pool_status status =
        base_struct_read(&type, "pool_pick_device", "pick", given ? given : &none, pick);

    if (!status)
        status =
            base_check_ranges("pool_pick_device", {"policy", pick->policy, 0, POOL_POLICY_SCORE});
    if (status)
        return status;
    if (pick->policy == POOL_POLICY_SCORE && !pick->score)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_pick_device: POOL_POLICY_SCORE needs the score callback");
    return POOL_OK;
}

pool_status pool_pick_device(device_pool *pool, const pool_pick *given, pool_device **device)
{
    pool_candidate candidates[CANDIDATES_ON_STACK];
    uint32_t bindings[CANDIDATES_ON_STACK] = {0};
    unsigned chosen[CANDIDATES_ON_STACK];
    const struct device_set *set;
    pool_status status;
    pool_pick pick;

    status = base_check_pointers("pool_pick_device", {"pool", pool}, {"device", device});
    if (status)
        return status;
    status = check_pick(given, &pick);
    if (status)
        return status;
    if (pick.policy == POOL_POLICY_ROUND_ROBIN && !pick.filter && !pick.min_free_bytes)
        return pool_next_device(pool, device);
    status = device_pool_check(pool, DEVICE_USE_DRIVER);
    if (!status)
        status = device_pool_sample(pool);
    if (!status && (pick.policy == POOL_POLICY_LEAST_LOADED || pick.filter || pick.score))
        status = device_pool_poll_work(pool);
    if (status)
        return status;
    set = atomic_load_explicit(&pool->usable, memory_order_acquire);
    if (!set->count)
        return next_device_checked(pool, set, 0, device);
    if (pool->count > CANDIDATES_ON_STACK)
        return pick_from_large_set(pool, set, &pick, device);
    return pick_from_set(
        pool, set, &pick, &(struct candidate_list){candidates, chosen, bindings}, device);
}
