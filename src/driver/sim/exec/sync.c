/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for the lanes of a mask, as shfl.sync and related operations do. The first group to
 * arrive is parked until all lanes of its mask that have not ended have arrived, at this operation
 * or at another one with the same qualifiers and mask; then the operation is executed for all of
 * them at once. Lanes may arrive arbitrarily late. When they can no longer arrive, a GPU hangs;
 * the launch ends here with a fault in these cases:
 *   - no group of the warp can run, and none is at a barrier that other warps could complete;
 *   - no warp of the block can run;
 *   - a lane has reached the reconvergence point of a branch inside which others wait for it. By
 * the rules of PTX alone it could continue to its end and thereby release the others; a GPU holds
 *     it at the reconvergence point until they arrive.
 */
#include "driver/sim/exec/machine.h"
#include "driver/sim/exec/race.h"

#include <string.h>

/* Whether all lanes of a mask have arrived. Lanes that have ended are not waited for, unless they
 * ended beyond a reconvergence point. */
static inline bool is_complete(const struct sim_warp *warp, uint32_t mask, uint32_t lanes)
{
    return mask == lanes || ((mask & warp->live) == lanes && warp->reconvergence_count == 0);
}

/* Whether every lane has arrived together with all lanes that its own mask names. */
static bool all_complete(const struct sim_warp *warp, const uint32_t *masks, uint32_t lanes)
{
    for (uint32_t rest = lanes; rest;) {
        uint32_t mask = masks[__builtin_ctz(rest)], same = 0;
        for (uint32_t r = rest; r; r &= r - 1)
            same |= masks[__builtin_ctz(r)] == mask ? r & (0u - r) : 0;
        if (!is_complete(warp, mask, same))
            return false;
        rest &= ~same;
    }
    return true;
}

static bool have_arrived(
    const struct sim_warp *warp, const uint32_t *masks, uint32_t lanes, uint32_t *present)
{
    uint32_t mask = masks[lanes ? __builtin_ctz(lanes) : 0], differing = 0;
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
        differing |= masks[lane] ^ mask;
    *present = lanes;
    if (lanes == 0 || (differing == 0 && is_complete(warp, mask, lanes)))
        return true;
    if (warp->sync_lanes) {
        *present = warp->sync_lanes;
        return true;
    }
    return all_complete(warp, masks, lanes);
}

bool sim_sync_is_complete(
    const struct sim_warp *warp, const uint32_t *masks, uint32_t lanes, uint32_t *present)
{
    if (!have_arrived(warp, masks, lanes, present))
        return false;
    if (warp->block->races)
        sim_races_exchange(warp);
    return true;
}

/* ---- reconvergence points -------------------------------------------------------------------- */

static void remove_reconvergence(struct sim_warp *warp, uint32_t index)
{
    warp->reconvergence_count--;
    memmove(&warp->reconvergence[index], &warp->reconvergence[index + 1],
        (warp->reconvergence_count - index) * sizeof(warp->reconvergence[0]));
}

void sim_reconvergence_add(struct sim_warp *warp, uint32_t pc)
{
    uint32_t lanes = warp->active;
    for (uint32_t i = warp->reconvergence_count; i-- > 0;) {
        struct sim_reconvergence *point = &warp->reconvergence[i];
        if (point->pc == pc && point->depth == warp->depth) {
            if ((lanes & ~point->pending) == 0)
                return;
            point->arrived &= ~lanes;
            point->pending &= ~lanes;
        }
        /* Where all are together again, only who has ended behind the join has passed it. */
        bool is_settled =
            warp->group_count == 0 && (point->arrived == 0 || (point->arrived & lanes));
        if ((point->pending & warp->live) == 0 || is_settled)
            remove_reconvergence(warp, i);
    }
    if (warp->reconvergence_count == SIM_MAX_RECONVERGENCE)
        remove_reconvergence(warp, 0);
    warp->reconvergence[warp->reconvergence_count++] =
        (struct sim_reconvergence){pc, warp->depth, lanes, 0};
}

/* A group waits inside a branch for lanes that are at or beyond its reconvergence point: raises a
 * fault and returns true. */
static bool check_skipped(struct sim_warp *warp, const struct sim_reconvergence *point)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const struct sim_group *group = &warp->groups[i];
        uint32_t missing = group->members & point->arrived;
        if (group->state != SIM_GROUP_AT_SYNC || (group->mask & point->pending) == 0 ||
            missing == 0)
            continue;
        sim_fault_sync(warp, group, missing,
            point->pc == SIM_RECONVERGE_AT_RETURN ? group->pc : point->pc, true);
        return true;
    }
    return false;
}

bool sim_reconvergence_reach(struct sim_warp *warp, uint32_t pc, uint32_t lanes)
{
    for (uint32_t i = warp->reconvergence_count; i-- > 0;) {
        struct sim_reconvergence *point = &warp->reconvergence[i];
        if (point->pc != pc || point->depth != warp->depth || (point->pending & lanes) == 0)
            continue;
        point->arrived |= point->pending & lanes;
        point->pending &= ~lanes;
        if (point->pending == 0)
            remove_reconvergence(warp, i);
        else if (check_skipped(warp, point))
            return false;
    }
    return true;
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Same qualifiers and mask; the location does not matter. */
static bool is_same_sync(
    const struct sim_warp *warp, const struct sim_group *first, const struct sim_group *second)
{
    const struct sim_op *extra = warp->code + first->pc, *y = warp->code + second->pc;
    return first->state == SIM_GROUP_AT_SYNC && second->state == SIM_GROUP_AT_SYNC &&
           first->members == second->members && extra->run == y->run && extra->aux == y->aux;
}

static uint32_t arrived_lanes(const struct sim_warp *warp, const struct sim_group *waiting)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < warp->group_count; i++)
        if (is_same_sync(warp, waiting, &warp->groups[i]))
            lanes |= warp->groups[i].mask;
    return lanes;
}

/* Copies the values that the group contributes to the vector register that all groups read. */
static void gather_operand(struct sim_warp *warp, const struct sim_group *group, bool is_first)
{
    const struct sim_op *op = warp->code + group->pc;
    uint32_t source = sim_sync_find(op)->source;
    size_t width = source == SIM_SYNC_DOUBLE ? 8 : 4;
    unsigned char *to = sim_vreg_at(warp, SIM_VREG_SYNC);
    if (source == SIM_SYNC_BIT) {
        uint32_t *word = sim_word_at(warp, SIM_VREG_SYNC);
        *word = (is_first ? 0 : *word) | (*sim_word_at(warp, op->a) & group->mask);
    } else if (source != SIM_SYNC_NOTHING) {
        const unsigned char *from = sim_vreg_at(warp, op->a);
        for (unsigned lane = 0; lane < SIM_LANES; lane++)
            if (is_first || group->mask >> lane & 1)
                memcpy(to + lane * width, from + lane * width, width);
    }
}

/* Executes the operation for all lanes that have arrived, group by group, and makes the groups
 * ready after it. */
static void execute_sync(struct sim_warp *warp, struct sim_group waiting, uint32_t present)
{
    uint32_t active = warp->active, depth = warp->depth, group = 0;
    bool belongs[SIM_LANES];
    for (uint32_t i = 0; i < warp->group_count; i++) {
        belongs[i] = is_same_sync(warp, &waiting, &warp->groups[i]);
        if (belongs[i])
            gather_operand(warp, &warp->groups[i], group++ == 0);
    }
    warp->sync_lanes = present;
    for (uint32_t i = 0; i < warp->group_count; i++) {
        struct sim_group *s = &warp->groups[i];
        if (!belongs[i])
            continue;
        const struct sim_sync *sync = sim_sync_find(warp->code + s->pc);
        struct sim_op copy[2];
        memcpy(copy, warp->code + s->pc, sync->ops * sizeof(copy[0]));
        if (sync->source != SIM_SYNC_NOTHING)
            copy->a = SIM_VREG_SYNC;
        warp->active = s->mask;
        warp->depth = s->depth;
        copy->run(warp, copy);
        s->pc += sync->ops;
        s->state = SIM_GROUP_READY;
    }
    warp->sync_lanes = 0;
    warp->active = active;
    warp->depth = depth;
}

void sim_sync_recheck(struct sim_warp *warp)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const struct sim_group *group = &warp->groups[i];
        if (group->state != SIM_GROUP_AT_SYNC)
            continue;
        uint32_t present = arrived_lanes(warp, group);
        if ((group->members & warp->live & ~present) == 0)
            execute_sync(warp, *group, present);
    }
}

static void park_group(struct sim_warp *warp, uint32_t pc, uint32_t lanes, uint32_t members)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        struct sim_group *group = &warp->groups[i];
        if (group->state == SIM_GROUP_AT_SYNC && group->pc == pc && group->depth == warp->depth &&
            group->members == members) {
            group->mask |= lanes;
            return;
        }
    }
    warp->groups[warp->group_count++] = (struct sim_group){.pc = pc,
        .mask = lanes,
        .depth = warp->depth,
        .members = members,
        .state = SIM_GROUP_AT_SYNC};
}

/* Lanes whose guard is off skip the operation, so no group may wait for them there. */
static bool check_guard(struct sim_warp *warp, uint32_t pc, uint32_t off, uint32_t after)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const struct sim_group *group = &warp->groups[i];
        if (group->state != SIM_GROUP_AT_SYNC || group->pc != pc || group->depth != warp->depth ||
            (group->members & off) == 0)
            continue;
        sim_fault_sync(warp, group, group->members & off, after, true);
        return true;
    }
    return false;
}

const struct sim_op *sim_sync_wait(
    struct sim_warp *warp, const struct sim_op *op, const uint32_t *masks)
{
    uint32_t lanes = sim_active_lanes(warp, op), off = warp->active & ~lanes, pc = sim_pc(warp, op);
    uint32_t after = pc + sim_sync_find(op)->ops;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        if (!(masks[__builtin_ctz(rest)] & rest & (0u - rest)))
            return sim_fault_raise(warp, op, SIM_FAULT_SYNC_MASK, rest & (0u - rest));
    for (uint32_t rest = lanes; rest;) {
        uint32_t mask = masks[__builtin_ctz(rest)], same = 0;
        for (uint32_t r = rest; r; r &= r - 1)
            same |= masks[__builtin_ctz(r)] == mask ? r & (0u - r) : 0;
        park_group(warp, pc, same, mask);
        rest &= ~same;
    }
    if (check_guard(warp, pc, off, after))
        return NULL;
    if (off)
        sim_group_add(warp, after, off, warp->depth);
    warp->active = 0;
    for (uint32_t i = 0; i < warp->reconvergence_count; i++)
        if (check_skipped(warp, &warp->reconvergence[i]))
            return NULL;
    sim_sync_recheck(warp);
    return sim_warp_pick(warp);
}

bool sim_sync_deadlock(struct sim_warp *warp)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const struct sim_group *group = &warp->groups[i];
        if (group->state != SIM_GROUP_AT_SYNC)
            continue;
        uint32_t missing = group->members & warp->live & ~arrived_lanes(warp, group),
                 where = group->pc;
        for (uint32_t k = 0; k < warp->group_count; k++) {
            const struct sim_group *other = &warp->groups[k];
            if (other->mask & missing & (0u - missing))
                where = other->state == SIM_GROUP_AT_BARRIER ? other->pc - 1 : other->pc;
        }
        sim_fault_sync(warp, group, missing, where, false);
        return true;
    }
    return false;
}
