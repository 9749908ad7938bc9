/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing a device: round robin, most free memory, least loaded, the caller's score.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "pool/pool.h"

/* Candidates that fit on the stack; a pool with more devices takes host memory for a pick. */
#define CANDIDATES_ON_STACK 32

/*
 * Brings the turn counter back below the set's limit. The limit is a multiple of the set's count,
 * so the order of the devices goes on as if the counter had no end.
 */
static void fold_turn(device_pool *pool, const struct device_set *set)
{
    uint64_t turn = atomic_load_explicit(&pool->turn, memory_order_relaxed);

    while (turn >= set->limit && !atomic_compare_exchange_weak_explicit(&pool->turn, &turn,
                                     turn - set->limit, memory_order_relaxed, memory_order_relaxed))
        ;
}

static pool_status next_slowly(
    device_pool *pool, const struct device_set *set, uint64_t turn, pool_device **device)
{
    if (!set->count) {
        pool_status status = device_pool_check(pool);

        return status ? status : device_pool_none_usable(pool);
    }
    fold_turn(pool, set);
    *device = set->devices[turn % set->count];
    return POOL_OK;
}

/* The general way: any number of devices, some of them lost. */
static pool_status next_of_set(device_pool *pool, pool_device **device)
{
    const struct device_set *published = atomic_load_explicit(&pool->usable, memory_order_acquire);
    const struct device_set set = *published; /* before the addition, see below */
    uint64_t turn;

    atomic_signal_fence(memory_order_seq_cst);
    turn = atomic_fetch_add_explicit(&pool->turn, 1, memory_order_relaxed);
    if (__builtin_expect(turn >= set.limit, 0))
        return next_slowly(pool, published, turn, device);
    *device = set.devices[(unsigned __int128)(turn * set.reciprocal) * set.count >> 64];
    return POOL_OK;
}

/*
 * One atomic addition and no division: see usable.c for the remainder by multiplication. Poison and
 * the loss of devices need no check here, they publish another set; an empty one has limit 0.
 * Loads do not start before an atomic addition is through, so the way of most hosts needs none
 * after it: that decides how long a thread keeps the counter's line while others wait for it.
 */
pool_status pool_next_device(device_pool *pool, pool_device **device)
{
    unsigned count;

    if (!pool || !device)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_next_device: pool or device is NULL");
    if (__builtin_expect(pool->generation != driver_fork_generation(), 0))
        return device_pool_refusal(pool);
    count = atomic_load_explicit(&pool->whole_count, memory_order_relaxed);
    if (__builtin_expect(!count, 0))
        return next_of_set(pool, device);
    *device =
        pool->devices +
        ((unsigned)atomic_fetch_add_explicit(&pool->turn, 1, memory_order_relaxed) & (count - 1));
    return POOL_OK;
}

void device_pool_set_turn(device_pool *pool, uint64_t turn)
{
    atomic_store(&pool->turn, turn);
}

pool_status pool_best_device(device_pool *pool, pool_device **device)
{
    const struct device_set *set;
    pool_device *best = NULL;
    uint64_t most = 0;
    uint32_t equals = 0;
    pool_status status;

    if (!pool || !device)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_best_device: pool or device is NULL");
    status = device_pool_check(pool);
    if (!status)
        status = device_pool_sample(pool);
    if (status)
        return status;
    set = atomic_load_explicit(&pool->usable, memory_order_acquire);
    for (uint32_t i = 0; i < set->count; i++) {
        uint64_t bytes = device_net_free(set->devices[i]);

        if (!best || bytes > most) {
            best = set->devices[i];
            most = bytes;
            equals = 1;
        } else if (bytes == most) {
            equals++;
        }
    }
    if (!best)
        return next_slowly(pool, set, 0, device);
    if (equals > 1) {
        /* Equals go round robin: fresh devices of one kind all have the same. */
        uint32_t skip =
            (uint32_t)atomic_fetch_add_explicit(&pool->tie_turn, 1, memory_order_relaxed) % equals;

        for (uint32_t i = 0; i < set->count; i++)
            if (device_net_free(set->devices[i]) == most && skip-- == 0) {
                best = set->devices[i];
                break;
            }
    }
    *device = best;
    return POOL_OK;
}

/* Whether `a` is chosen before `b`: 1, after it: -1, or they are equal: 0. */
static int compare(pool_policy policy, const pool_candidate *a, double a_score,
    const pool_candidate *b, double b_score)
{
    switch (policy) {
    case POOL_POLICY_SCORE:
        return (a_score > b_score) - (a_score < b_score);
    case POOL_POLICY_LEAST_LOADED:
        if (a->bindings != b->bindings)
            return a->bindings < b->bindings ? 1 : -1;
        return (a->free_bytes > b->free_bytes) - (a->free_bytes < b->free_bytes);
    case POOL_POLICY_MOST_FREE:
        return (a->free_bytes > b->free_bytes) - (a->free_bytes < b->free_bytes);
    case POOL_POLICY_ROUND_ROBIN:
        break;
    }
    return 0;
}

/* Scratch of one pick. */
struct pick_room {
    pool_candidate *candidates;
    uint32_t *bindings; /* by position in the pool */
};

/* The candidates that pass the filter, best ones only; how many. */
static uint32_t gather(
    const struct device_set *set, const pool_pick *pick, const struct pick_room *room)
{
    pool_candidate *kept = room->candidates;
    double best_score = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        pool_device *device = set->devices[i];
        pool_candidate candidate = {
            .device = device,
            .free_bytes = device_net_free(device),
            .total_bytes = device->facts.total_bytes,
            .bindings = room->bindings[device->facts.index],
        };
        double score = 0;
        int order;

        if (candidate.free_bytes < pick->min_free_bytes ||
            (pick->filter && !pick->filter(pick->user, &candidate)))
            continue;
        if (pick->policy == POOL_POLICY_SCORE) {
            score = pick->score(pick->user, &candidate);
            if (isnan(score))
                continue;
        }
        order = count ? compare(pick->policy, &candidate, score, &kept[0], best_score) : 1;
        if (order > 0) {
            count = 0;
            best_score = score;
        }
        if (order >= 0)
            kept[count++] = candidate;
    }
    return count;
}

static pool_status pick_from(device_pool *pool, const struct device_set *set, const pool_pick *pick,
    const struct pick_room *room, pool_device **device)
{
    atomic_uint_fast64_t *turn =
        pick->policy == POOL_POLICY_ROUND_ROBIN ? &pool->turn : &pool->tie_turn;
    uint64_t skip = 0;
    uint32_t count;

    if (pick->policy == POOL_POLICY_LEAST_LOADED || pick->filter || pick->score)
        device_pool_bindings(pool, room->bindings);
    count = gather(set, pick, room);
    if (!count)
        return base_fail(POOL_ERR_NOT_FOUND,
            "pool_pick_device: none of the %u usable devices passed the filter (asked: %llu bytes "
            "free)",
            (unsigned)set->count, (unsigned long long)pick->min_free_bytes);
    if (count > 1)
        skip = atomic_fetch_add_explicit(turn, 1, memory_order_relaxed) % count;
    *device = room->candidates[skip].device;
    return POOL_OK;
}

static pool_status pick_from_many(
    device_pool *pool, const struct device_set *set, const pool_pick *pick, pool_device **device)
{
    struct pick_room room = {
        .candidates = base_calloc(pool->count, sizeof(*room.candidates)),
        .bindings = base_calloc(pool->count, sizeof(*room.bindings)),
    };
    pool_status status = room.candidates && room.bindings
                             ? pick_from(pool, set, pick, &room, device)
                             : base_fail_memory("the candidates of a pick");

    base_free(room.candidates);
    base_free(room.bindings);
    return status;
}

static pool_status check_pick(const pool_pick *given, pool_pick *pick)
{
    size_t size = given ? given->struct_size : sizeof(*pick);

    memset(pick, 0, sizeof(*pick));
    if (size < sizeof(size))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_pick_device: struct_size is %zu; set it to sizeof(pool_pick)", size);
    if (given)
        memcpy(pick, given, size < sizeof(*pick) ? size : sizeof(*pick));
    if ((unsigned)pick->policy > POOL_POLICY_SCORE)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_pick_device: there is no policy %d",
            (int)pick->policy);
    if (pick->policy == POOL_POLICY_SCORE && !pick->score)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_pick_device: POOL_POLICY_SCORE needs the score callback");
    return POOL_OK;
}

pool_status pool_pick_device(device_pool *pool, const pool_pick *given, pool_device **device)
{
    pool_candidate candidates[CANDIDATES_ON_STACK];
    uint32_t bindings[CANDIDATES_ON_STACK] = {0};
    const struct device_set *set;
    pool_status status;
    pool_pick pick;

    if (!pool || !device)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_pick_device: pool or device is NULL");
    status = check_pick(given, &pick);
    if (status)
        return status;
    if (pick.policy == POOL_POLICY_ROUND_ROBIN && !pick.filter && !pick.min_free_bytes)
        return pool_next_device(pool, device);
    status = device_pool_check(pool);
    if (!status)
        status = device_pool_sample(pool);
    if (status)
        return status;
    set = atomic_load_explicit(&pool->usable, memory_order_acquire);
    if (!set->count)
        return next_slowly(pool, set, 0, device);
    if (pool->count > CANDIDATES_ON_STACK)
        return pick_from_many(pool, set, &pick, device);
    return pick_from(pool, set, &pick, &(struct pick_room){candidates, bindings}, device);
}
