/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for the lanes of a mask, as shfl.sync and its kin do. A group that comes first is put
 * aside until all lanes of its mask that have not ended have come, to this operation or to one of
 * the same qualifiers and mask elsewhere; then the operation is done for all of them at once. Lanes
 * may come as late as they like. When they never will, a GPU hangs and the launch ends here with a
 * fault:
 *   - nobody in the warp can run, and none of it is at a barrier that others could complete;
 *   - nobody in the block can run;
 *   - a lane has come to the join of a branch behind which others wait for it. By the rules of PTX
 *     alone it could go on and end, and so set the others free; a GPU holds it at the join until
 *     they come.
 */
#include "sim/exec/machine.h"

#include <string.h>

/* Whether all lanes of a mask are among those here. Lanes of it that have ended are not waited for,
 * but may have ended behind a join. */
static inline bool is_complete(const struct sim_warp *warp, uint32_t mask, uint32_t lanes)
{
    return mask == lanes || ((mask & warp->live) == lanes && warp->join_count == 0);
}

/* Every lane named has come, each with the mask of those that it names. */
static bool are_complete(const struct sim_warp *warp, const uint32_t *masks, uint32_t lanes)
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

bool sim_sync_met(
    const struct sim_warp *warp, const uint32_t *masks, uint32_t lanes, uint32_t *present)
{
    uint32_t mask = masks[lanes ? __builtin_ctz(lanes) : 0], differing = 0;
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
        differing |= masks[lane] ^ mask;
    *present = lanes;
    if (lanes == 0 || (differing == 0 && is_complete(warp, mask, lanes)))
        return true;
    if (warp->met) {
        *present = warp->met;
        return true;
    }
    return are_complete(warp, masks, lanes);
}

/* ---- joins ----------------------------------------------------------------------------------- */

static void remove_join(struct sim_warp *warp, uint32_t index)
{
    warp->join_count--;
    memmove(&warp->joins[index], &warp->joins[index + 1],
        (warp->join_count - index) * sizeof(warp->joins[0]));
}

void sim_join_open(struct sim_warp *warp, uint32_t pc)
{
    uint32_t lanes = warp->active;
    for (uint32_t i = warp->join_count; i-- > 0;) {
        struct sim_join *j = &warp->joins[i];
        if (j->pc == pc && j->depth == warp->depth) {
            if ((lanes & ~j->pending) == 0)
                return;
            j->arrived &= ~lanes;
            j->pending &= ~lanes;
        }
        /* Where all are together again, only who has ended behind the join has passed it. */
        bool is_settled = warp->split_count == 0 && (j->arrived == 0 || (j->arrived & lanes));
        if ((j->pending & warp->live) == 0 || is_settled)
            remove_join(warp, i);
    }
    if (warp->join_count == SIM_JOINS)
        remove_join(warp, 0);
    warp->joins[warp->join_count++] = (struct sim_join){pc, warp->depth, lanes, 0};
}

/* A group waits before a join for lanes that are at it or behind it: a fault; true when one was
 * raised. */
static bool is_skipped(struct sim_warp *warp, const struct sim_join *j)
{
    for (uint32_t i = 0; i < warp->split_count; i++) {
        const struct sim_split *s = &warp->splits[i];
        uint32_t missing = s->members & j->arrived;
        if (s->state != SIM_SPLIT_AT_SYNC || (s->mask & j->pending) == 0 || missing == 0)
            continue;
        sim_fault_sync(warp, s, missing, j->pc == SIM_JOIN_RETURN ? s->pc : j->pc, true);
        return true;
    }
    return false;
}

bool sim_join_reach(struct sim_warp *warp, uint32_t pc, uint32_t lanes)
{
    for (uint32_t i = warp->join_count; i-- > 0;) {
        struct sim_join *j = &warp->joins[i];
        if (j->pc != pc || j->depth != warp->depth || (j->pending & lanes) == 0)
            continue;
        j->arrived |= j->pending & lanes;
        j->pending &= ~lanes;
        if (j->pending == 0)
            remove_join(warp, i);
        else if (is_skipped(warp, j))
            return false;
    }
    return true;
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* The same qualifiers and mask; the place does not matter. */
static bool belong_together(
    const struct sim_warp *warp, const struct sim_split *a, const struct sim_split *b)
{
    const struct sim_op *x = warp->code + a->pc, *y = warp->code + b->pc;
    return a->state == SIM_SPLIT_AT_SYNC && b->state == SIM_SPLIT_AT_SYNC &&
           a->members == b->members && x->run == y->run && x->aux == y->aux;
}

static uint32_t come_to(const struct sim_warp *warp, const struct sim_split *waiting)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < warp->split_count; i++)
        if (belong_together(warp, waiting, &warp->splits[i]))
            lanes |= warp->splits[i].mask;
    return lanes;
}

/* What the group brings goes to the row that all of them read. */
static void bring(struct sim_warp *warp, const struct sim_split *s, bool is_first)
{
    const struct sim_op *op = warp->code + s->pc;
    uint32_t source = sim_sync_find(op)->source;
    size_t width = source == SIM_SYNC_DOUBLE ? 8 : 4;
    unsigned char *to = sim_row_at(warp, SIM_ROW_MEETING);
    if (source == SIM_SYNC_BIT) {
        uint32_t *word = sim_word_at(warp, SIM_ROW_MEETING);
        *word = (is_first ? 0 : *word) | (*sim_word_at(warp, op->a) & s->mask);
    } else if (source != SIM_SYNC_NOTHING) {
        const unsigned char *from = sim_row_at(warp, op->a);
        for (unsigned lane = 0; lane < SIM_LANES; lane++)
            if (is_first || s->mask >> lane & 1)
                memcpy(to + lane * width, from + lane * width, width);
    }
}

/* Does the operation for all who have come, group by group, and makes them ready behind it. */
static void meet(struct sim_warp *warp, struct sim_split waiting, uint32_t present)
{
    uint32_t active = warp->active, depth = warp->depth, group = 0;
    bool belongs[SIM_LANES];
    for (uint32_t i = 0; i < warp->split_count; i++) {
        belongs[i] = belong_together(warp, &waiting, &warp->splits[i]);
        if (belongs[i])
            bring(warp, &warp->splits[i], group++ == 0);
    }
    warp->met = present;
    for (uint32_t i = 0; i < warp->split_count; i++) {
        struct sim_split *s = &warp->splits[i];
        if (!belongs[i])
            continue;
        const struct sim_sync *sync = sim_sync_find(warp->code + s->pc);
        struct sim_op copy[2];
        memcpy(copy, warp->code + s->pc, sync->ops * sizeof(copy[0]));
        if (sync->source != SIM_SYNC_NOTHING)
            copy->a = SIM_ROW_MEETING;
        warp->active = s->mask;
        warp->depth = s->depth;
        copy->run(warp, copy);
        s->pc += sync->ops;
        s->state = SIM_SPLIT_READY;
    }
    warp->met = 0;
    warp->active = active;
    warp->depth = depth;
}

void sim_sync_recheck(struct sim_warp *warp)
{
    for (uint32_t i = 0; i < warp->split_count; i++) {
        const struct sim_split *s = &warp->splits[i];
        if (s->state != SIM_SPLIT_AT_SYNC)
            continue;
        uint32_t present = come_to(warp, s);
        if ((s->members & warp->live & ~present) == 0)
            meet(warp, *s, present);
    }
}

static void put_aside(struct sim_warp *warp, uint32_t pc, uint32_t lanes, uint32_t members)
{
    for (uint32_t i = 0; i < warp->split_count; i++) {
        struct sim_split *s = &warp->splits[i];
        if (s->state == SIM_SPLIT_AT_SYNC && s->pc == pc && s->depth == warp->depth &&
            s->members == members) {
            s->mask |= lanes;
            return;
        }
    }
    warp->splits[warp->split_count++] = (struct sim_split){.pc = pc,
        .mask = lanes,
        .depth = warp->depth,
        .members = members,
        .state = SIM_SPLIT_AT_SYNC};
}

/* Lanes whose guard is off skip the operation: nobody may wait for them there. */
static bool is_left_out(struct sim_warp *warp, uint32_t pc, uint32_t off, uint32_t after)
{
    for (uint32_t i = 0; i < warp->split_count; i++) {
        const struct sim_split *s = &warp->splits[i];
        if (s->state != SIM_SPLIT_AT_SYNC || s->pc != pc || s->depth != warp->depth ||
            (s->members & off) == 0)
            continue;
        sim_fault_sync(warp, s, s->members & off, after, true);
        return true;
    }
    return false;
}

const struct sim_op *sim_sync_wait(
    struct sim_warp *warp, const struct sim_op *op, const uint32_t *masks)
{
    uint32_t lanes = sim_lanes_of(warp, op), off = warp->active & ~lanes, pc = sim_pc(warp, op);
    uint32_t after = pc + sim_sync_find(op)->ops;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        if (!(masks[__builtin_ctz(rest)] & rest & (0u - rest)))
            return sim_fault_raise(warp, op, SIM_FAULT_SYNC_MASK, rest & (0u - rest));
    for (uint32_t rest = lanes; rest;) {
        uint32_t mask = masks[__builtin_ctz(rest)], same = 0;
        for (uint32_t r = rest; r; r &= r - 1)
            same |= masks[__builtin_ctz(r)] == mask ? r & (0u - r) : 0;
        put_aside(warp, pc, same, mask);
        rest &= ~same;
    }
    if (is_left_out(warp, pc, off, after))
        return NULL;
    if (off)
        sim_split_add(warp, after, off, warp->depth);
    warp->active = 0;
    for (uint32_t i = 0; i < warp->join_count; i++)
        if (is_skipped(warp, &warp->joins[i]))
            return NULL;
    sim_sync_recheck(warp);
    return sim_warp_pick(warp);
}

bool sim_sync_deadlock(struct sim_warp *warp)
{
    for (uint32_t i = 0; i < warp->split_count; i++) {
        const struct sim_split *s = &warp->splits[i];
        if (s->state != SIM_SPLIT_AT_SYNC)
            continue;
        uint32_t missing = s->members & warp->live & ~come_to(warp, s), where = s->pc;
        for (uint32_t k = 0; k < warp->split_count; k++) {
            const struct sim_split *other = &warp->splits[k];
            if (other->mask & missing & (0u - missing))
                where = other->state == SIM_SPLIT_AT_BARRIER ? other->pc - 1 : other->pc;
        }
        sim_fault_sync(warp, s, missing, where, false);
        return true;
    }
    return false;
}
