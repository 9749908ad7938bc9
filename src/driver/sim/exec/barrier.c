/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers of a block: a group that waits is parked; the last arrival makes all groups ready
 * again. */
#include "driver/sim/exec/machine.h"
#include "driver/sim/exec/race.h"

#include <string.h>

/* Warps arrive_at_barrier as a whole: the missing lanes of a partial last warp count as arrived. */
static uint32_t arrivals(const struct sim_block *block, const struct sim_barrier *barrier)
{
    uint32_t sum = 0;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        uint32_t lanes = barrier->arrived[w], live = block->warps[w].live;
        bool is_whole = lanes && (live & ~lanes) == 0;
        sum += is_whole ? SIM_LANES : (uint32_t)__builtin_popcount(lanes);
    }
    return sum;
}

static bool is_complete(const struct sim_block *block, const struct sim_barrier *barrier)
{
    if (barrier->expected)
        return arrivals(block, barrier) >= barrier->expected;
    for (uint32_t w = 0; w < block->warp_count; w++)
        if (block->warps[w].live & ~barrier->arrived[w])
            return false;
    return true;
}

static void release_barrier(struct sim_block *block, uint32_t id)
{
    struct sim_barrier *barrier = &block->barriers[id];
    for (uint32_t w = 0; w < block->warp_count; w++) {
        struct sim_warp *warp = &block->warps[w];
        for (uint32_t i = 0; i < warp->group_count; i++) {
            struct sim_group *group = &warp->groups[i];
            if (group->state != SIM_GROUP_AT_BARRIER || group->barrier != id)
                continue;
            group->state = SIM_GROUP_READY;
            if (warp->status == SIM_WARP_BLOCKED)
                warp->status = SIM_WARP_READY;
        }
    }
    if (block->races)
        sim_races_release(block, id);
    barrier->result_true = barrier->true_count;
    barrier->result_lanes = barrier->lane_count;
    barrier->true_count = barrier->lane_count = barrier->expected = 0;
    barrier->is_used = false;
    memset(barrier->arrived, 0, sizeof(barrier->arrived));
}

void sim_barriers_recheck(struct sim_block *block)
{
    for (uint32_t id = 0; id < SIM_BARRIERS; id++)
        if (block->barriers[id].is_used && is_complete(block, &block->barriers[id]))
            release_barrier(block, id);
}

/* Whether the block has the barrier of each lane; a fault was raised if not. A constant number has
 * been checked when the module was loaded. */
static bool has_barrier(struct sim_warp *warp, const struct sim_op *op, uint32_t lanes)
{
    const uint32_t *ids = sim_vreg_at(warp, op->a);

    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        if (ids[__builtin_ctz(rest)] >= SIM_BARRIERS) {
            sim_fault_raise(warp, op, SIM_FAULT_NO_BARRIER, lanes);
            return false;
        }
    return true;
}

/* Records the arrival of the lanes at the operation's barrier; NULL when a fault was raised. */
static struct sim_barrier *arrive_at_barrier(
    struct sim_warp *warp, const struct sim_op *op, uint32_t lanes, uint32_t *id)
{
    unsigned first = (unsigned)__builtin_ctz(lanes);
    const uint32_t *ids = sim_vreg_at(warp, op->a);
    bool has_count = op->aux & 1, is_aligned = op->aux & 2;
    if (!has_barrier(warp, op, lanes))
        return NULL;
    *id = ids[first];
    struct sim_barrier *barrier = &warp->block->barriers[*id];
    if (is_aligned && lanes != warp->live &&
        (warp->core->run->launch->checks & SIM_CHECK_DIVERGENT_BARRIER)) {
        sim_fault_raise(warp, op, SIM_FAULT_DIVERGENT_BARRIER, lanes);
        return NULL;
    }
    barrier->is_used = true;
    barrier->arrived[warp->index] |= lanes;
    if (warp->block->races)
        sim_races_arrive(warp, *id);
    if (has_count)
        barrier->expected = ((const uint32_t *)sim_vreg_at(warp, op->b))[first];
    return barrier;
}

/* Lanes whose guard is off do not take part and continue. */
static void continue_without(struct sim_warp *warp, const struct sim_op *op, uint32_t lanes)
{
    if (warp->active & ~lanes)
        sim_group_add(warp, sim_pc(warp, op) + 1, warp->active & ~lanes, warp->depth);
    warp->active = lanes;
}

static const struct sim_op *wait_at_barrier(
    struct sim_warp *warp, const struct sim_op *op, uint32_t id)
{
    if (!is_complete(warp->block, &warp->block->barriers[id]))
        return sim_warp_park(warp, sim_pc(warp, op) + 1, SIM_GROUP_AT_BARRIER, (uint8_t)id);
    release_barrier(warp->block, id);
    if (warp->group_count)
        return sim_warp_park(warp, sim_pc(warp, op) + 1, SIM_GROUP_READY, 0);
    return op + 1;
}

static const struct sim_op *run_bar(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_active_lanes(warp, op), id;
    if (lanes == 0)
        return op + 1;
    if (!arrive_at_barrier(warp, op, lanes, &id))
        return NULL;
    continue_without(warp, op, lanes);
    return wait_at_barrier(warp, op, id);
}

static const struct sim_op *run_bar_arrive(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_active_lanes(warp, op), id;
    if (lanes == 0)
        return op + 1;
    if (!arrive_at_barrier(warp, op, lanes, &id))
        return NULL;
    if (is_complete(warp->block, &warp->block->barriers[id]))
        release_barrier(warp->block, id);
    return op + 1;
}

static const struct sim_op *run_bar_red(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_active_lanes(warp, op), id;
    if (lanes == 0)
        return op + 1;
    struct sim_barrier *barrier = arrive_at_barrier(warp, op, lanes, &id);
    if (!barrier)
        return NULL;
    barrier->true_count += (uint32_t)__builtin_popcount(lanes & *sim_word_at(warp, op->d));
    barrier->lane_count += (uint32_t)__builtin_popcount(lanes);
    continue_without(warp, op, lanes);
    return wait_at_barrier(warp, op, id);
}

static const struct sim_op *run_result_count(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t *d = sim_vreg_at(warp, op->d);
    const uint32_t *ids = sim_vreg_at(warp, op->a);
    for (uint32_t rest = sim_active_lanes(warp, op); rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        d[lane] = warp->block->barriers[ids[lane] % SIM_BARRIERS].result_true;
    }
    return op + 1;
}

static const struct sim_op *run_result_predicate(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_active_lanes(warp, op), *d = sim_word_at(warp, op->d);
    if (lanes == 0)
        return op + 1;
    const uint32_t *ids = sim_vreg_at(warp, op->a);
    const struct sim_barrier *barrier =
        &warp->block->barriers[ids[__builtin_ctz(lanes)] % SIM_BARRIERS];
    bool is_true =
        op->aux ? barrier->result_true == barrier->result_lanes : barrier->result_true > 0;
    *d = (*d & ~lanes) | (is_true ? lanes : 0);
    return op + 1;
}

static const struct sim_op *run_fence(struct sim_warp *warp, const struct sim_op *op)
{
    (void)warp;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return op + 1;
}

void sim_barrier_fill(struct sim_handlers *handlers)
{
    handlers->run[SIM_BAR][PTX_NONE] = run_bar;
    handlers->run[SIM_BAR_ARRIVE][PTX_NONE] = run_bar_arrive;
    handlers->run[SIM_BAR_RED][PTX_NONE] = run_bar_red;
    handlers->run[SIM_BAR_RESULT][PTX_U32] = run_result_count;
    handlers->run[SIM_BAR_RESULT][PTX_PRED] = run_result_predicate;
    handlers->run[SIM_FENCE][PTX_NONE] = run_fence;
}
