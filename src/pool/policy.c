/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing a device: round robin, most free memory, least loaded, the caller's score.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
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
        return base_check_pointers("pool_next_device", {"pool", pool}, {"device", device});
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

/*
 * Notes that the device is assigned, so that whoever asks before the job's memory shows knows of
 * it. 0: somebody else was faster since its share was `seen`, and the choice has to be made anew.
 * After a few times it does not matter any more.
 */
#define CHOICES_MAX 16

static int hand_out(pool_device *chosen, unsigned seen, int choice)
{
    if (choice < CHOICES_MAX)
        return atomic_compare_exchange_strong_explicit(
            &chosen->chosen, &seen, seen + 1, memory_order_relaxed, memory_order_relaxed);
    atomic_fetch_add_explicit(&chosen->chosen, 1, memory_order_relaxed);
    return 1;
}

/* The device with the largest share, of equals the one whose turn it is; NULL: the set is empty. */
static pool_device *largest_share(const struct device_set *set, uint64_t turn, unsigned *seen)
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
    skip = equals > 1 ? (uint32_t)(turn % equals) : 0;
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
    uint64_t turn;
    pool_status status;

    status = base_check_pointers("pool_best_device", {"pool", pool}, {"device", device});
    if (status)
        return status;
    status = device_pool_check(pool);
    if (!status)
        status = device_pool_sample(pool);
    if (status)
        return status;
    set = atomic_load_explicit(&pool->usable, memory_order_acquire);
    /* Equals go round robin: fresh devices of one kind all have the same. */
    turn = atomic_fetch_add_explicit(&pool->tie_turn, 1, memory_order_relaxed);
    do {
        best = largest_share(set, turn, &seen);
    } while (best && !hand_out(best, seen, choice++));
    if (!best)
        return next_slowly(pool, set, 0, device);
    *device = best;
    return POOL_OK;
}

/* What is not the caller's business of a candidate. */
struct rank {
    double score;
    uint64_t share; /* of free memory, by device_share */
};

static int order_of(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Calls under way and streams with work are what competes for the device; how long a queue is says
 * less, and who has it bound still less. */
static int compare_load(const pool_candidate *a, const struct rank *a_rank, const pool_candidate *b,
    const struct rank *b_rank)
{
    int order =
        order_of((uint64_t)b->calls + b->busy_streams, (uint64_t)a->calls + a->busy_streams);

    if (!order)
        order = order_of(b->unfinished, a->unfinished);
    if (!order)
        order = order_of(b->bindings, a->bindings);
    return order ? order : order_of(a_rank->share, b_rank->share);
}

/* Whether `a` is chosen before `b`: 1, after it: -1, or they are equal: 0. */
static int compare(pool_policy policy, const pool_candidate *a, const struct rank *a_rank,
    const pool_candidate *b, const struct rank *b_rank)
{
    switch (policy) {
    case POOL_POLICY_SCORE:
        return (a_rank->score > b_rank->score) - (a_rank->score < b_rank->score);
    case POOL_POLICY_LEAST_LOADED:
        return compare_load(a, a_rank, b, b_rank);
    case POOL_POLICY_MOST_FREE:
        return order_of(a_rank->share, b_rank->share);
    case POOL_POLICY_ROUND_ROBIN:
        break;
    }
    return 0;
}

/* Scratch of one pick. */
struct pick_room {
    pool_candidate *candidates;
    unsigned *chosen;   /* of each candidate, as it was seen */
    uint32_t *bindings; /* by position in the pool */
};

/* The candidates that pass the filter, best ones only; how many. */
static uint32_t gather(
    const struct device_set *set, const pool_pick *pick, const struct pick_room *room)
{
    pool_candidate *kept = room->candidates;
    struct rank best = {0};
    uint32_t count = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        pool_device *device = set->devices[i];
        struct driver_load load = driver_work_load(&device->work);
        unsigned chosen;
        struct rank rank = {.share = device_share(device, &chosen)};
        pool_candidate candidate = {
            .device = device,
            .free_bytes = device_net_free(device),
            .total_bytes = device->properties.total_bytes,
            .bindings = room->bindings[device->properties.index],
            .calls = atomic_load_explicit(&device->calls, memory_order_relaxed),
            .busy_streams = load.streams,
            .unfinished = load.items,
        };
        int order;

        if (candidate.free_bytes < pick->min_free_bytes ||
            (pick->filter && !pick->filter(pick->user, &candidate)))
            continue;
        if (pick->policy == POOL_POLICY_SCORE) {
            rank.score = pick->score(pick->user, &candidate);
            if (isnan(rank.score))
                continue;
        }
        order = count ? compare(pick->policy, &candidate, &rank, &kept[0], &best) : 1;
        if (order > 0) {
            count = 0;
            best = rank;
        }
        if (order >= 0) {
            room->chosen[count] = chosen;
            kept[count++] = candidate;
        }
    }
    return count;
}

static pool_status pick_from(device_pool *pool, const struct device_set *set, const pool_pick *pick,
    const struct pick_room *room, pool_device **device)
{
    atomic_uint_fast64_t *turns =
        pick->policy == POOL_POLICY_ROUND_ROBIN ? &pool->turn : &pool->tie_turn;
    /* A caller's score and filter are asked once. */
    int choice = pick->filter || pick->score ? CHOICES_MAX : 0;
    uint64_t turn = 0, at;
    uint32_t count;

    if (pick->policy == POOL_POLICY_LEAST_LOADED || pick->filter || pick->score)
        device_pool_bindings(pool, room->bindings);
    do {
        count = gather(set, pick, room);
        if (!count)
            return base_fail(POOL_ERR_NOT_FOUND,
                "pool_pick_device: none of the %u usable devices passed the filter (asked: %llu "
                "bytes free)",
                (unsigned)set->count, (unsigned long long)pick->min_free_bytes);
        if (count > 1 && !turn)
            turn = 1 + atomic_fetch_add_explicit(turns, 1, memory_order_relaxed);
        at = count > 1 ? (turn - 1) % count : 0;
    } while (!hand_out(room->candidates[at].device, room->chosen[at], choice++));
    *device = room->candidates[at].device;
    return POOL_OK;
}

static pool_status pick_from_many(
    device_pool *pool, const struct device_set *set, const pool_pick *pick, pool_device **device)
{
    struct pick_room room = {
        .candidates = base_calloc(pool->count, sizeof(*room.candidates)),
        .chosen = base_calloc(pool->count, sizeof(*room.chosen)),
        .bindings = base_calloc(pool->count, sizeof(*room.bindings)),
    };
    pool_status status = room.candidates && room.chosen && room.bindings
                             ? pick_from(pool, set, pick, &room, device)
                             : base_fail_memory("the candidates of a pick");

    base_free(room.candidates);
    base_free(room.chosen);
    base_free(room.bindings);
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
    status = device_pool_check(pool);
    if (!status)
        status = device_pool_sample(pool);
    if (!status && (pick.policy == POOL_POLICY_LEAST_LOADED || pick.filter || pick.score))
        status = device_pool_poll_work(pool);
    if (status)
        return status;
    set = atomic_load_explicit(&pool->usable, memory_order_acquire);
    if (!set->count)
        return next_slowly(pool, set, 0, device);
    if (pool->count > CANDIDATES_ON_STACK)
        return pick_from_many(pool, set, &pick, device);
    return pick_from(pool, set, &pick, &(struct pick_room){candidates, chosen, bindings}, device);
}
