/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the divergent group of a warp that runs. Deeper calls come first, then the lowest
 * program counter, so that groups reconverge at the first operation that both reach. A group that
 * spins while others are ready yields to them, because lanes of a real warp may wait for each
 * other too.
 */
#include "driver/sim/exec/machine.h"

enum {
    /*
     * Consecutive blocks of one group while others are ready; an atomic counts as many. Long
     * enough for loops to reconverge undisturbed, short enough that a lock held by another lane
     * costs microseconds.
     */
    SPIN_LIMIT = 65536
};

void sim_group_add(struct sim_warp *warp, uint32_t pc, uint32_t mask, uint32_t depth)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        struct sim_group *group = &warp->groups[i];
        if (group->state == SIM_GROUP_READY && group->pc == pc && group->depth == depth) {
            group->mask |= mask;
            return;
        }
    }
    warp->groups[warp->group_count++] =
        (struct sim_group){.pc = pc, .mask = mask, .depth = depth, .state = SIM_GROUP_READY};
}

static void remove_group(struct sim_warp *warp, uint32_t index)
{
    warp->group_count--;
    for (uint32_t i = index; i < warp->group_count; i++)
        warp->groups[i] = warp->groups[i + 1];
}

/* Merges ready groups at the same pc into the running one. */
static void merge_ready_groups(struct sim_warp *warp, uint32_t pc)
{
    for (uint32_t i = warp->group_count; i-- > 0;) {
        const struct sim_group *group = &warp->groups[i];
        if (group->state == SIM_GROUP_READY && group->pc == pc && group->depth == warp->depth) {
            warp->active |= group->mask;
            remove_group(warp, i);
        }
    }
}

static bool runs_before(const struct sim_group *first, uint32_t depth, uint32_t pc)
{
    return first->depth != depth ? first->depth > depth : first->pc < pc;
}

static const struct sim_op *resume_group(struct sim_warp *warp, uint32_t index)
{
    struct sim_group chosen = warp->groups[index];
    remove_group(warp, index);
    warp->active = chosen.mask;
    warp->depth = chosen.depth;
    warp->status = SIM_WARP_READY;
    merge_ready_groups(warp, chosen.pc);
    return warp->code + chosen.pc;
}

const struct sim_op *sim_warp_pick(struct sim_warp *warp)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const struct sim_group *group = &warp->groups[i];
        if (group->state != SIM_GROUP_READY)
            continue;
        if (best == UINT32_MAX ||
            (!warp->priority_blocks &&
                runs_before(group, warp->groups[best].depth, warp->groups[best].pc)))
            best = i;
    }
    warp->active = 0;
    if (best != UINT32_MAX)
        return resume_group(warp, best);
    warp->status = warp->live ? SIM_WARP_BLOCKED : SIM_WARP_DONE;
    /* A group at a barrier may be released by another warp. */
    bool is_at_barrier = false;
    for (uint32_t i = 0; i < warp->group_count; i++)
        is_at_barrier |= warp->groups[i].state == SIM_GROUP_AT_BARRIER;
    if (!is_at_barrier)
        sim_sync_deadlock(warp);
    return NULL;
}

const struct sim_op *sim_warp_park(
    struct sim_warp *warp, uint32_t pc, enum sim_group_state state, uint8_t barrier)
{
    warp->groups[warp->group_count++] = (struct sim_group){.pc = pc,
        .mask = warp->active,
        .depth = warp->depth,
        .state = (uint8_t)state,
        .barrier = barrier};
    return sim_warp_pick(warp);
}

/* At the start of a basic block, with other groups waiting or reconvergence points ahead: merges
 * with groups at this pc and lets groups behind it run first. */
static const struct sim_op *reconverge(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t pc = sim_pc(warp, op);
    merge_ready_groups(warp, pc);
    if (op->d && warp->reconvergence_count && !sim_reconvergence_reach(warp, pc, warp->active))
        return NULL;
    bool any_ready = false, is_behind = false;
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const struct sim_group *group = &warp->groups[i];
        if (group->state != SIM_GROUP_READY)
            continue;
        any_ready = true;
        is_behind |= runs_before(group, warp->depth, pc);
    }
    if (!any_ready) {
        warp->spin = warp->priority_blocks = 0;
        return op;
    }
    if (warp->priority_blocks > 0) {
        warp->priority_blocks--;
        if (warp->priority_blocks > 0)
            return op;
    } else if (++warp->spin > SPIN_LIMIT) {
        warp->spin = 0;
        warp->priority_blocks = SPIN_LIMIT;
        return sim_warp_park(warp, pc, SIM_GROUP_READY, 0);
    }
    return is_behind ? sim_warp_park(warp, pc, SIM_GROUP_READY, 0) : op;
}

const struct sim_op *sim_warp_yield(struct sim_warp *warp, uint32_t pc)
{
    warp->core->is_sliced = true;
    warp->groups[warp->group_count++] = (struct sim_group){
        .pc = pc, .mask = warp->active, .depth = warp->depth, .state = SIM_GROUP_READY};
    warp->active = 0;
    return NULL;
}

static const struct sim_op *handle_out_of_fuel(struct sim_warp *warp, const struct sim_op *op)
{
    if (sim_stop_requested(warp->core))
        return NULL;
    /* The warp restarts this block in its next time slice. */
    return sim_warp_yield(warp, sim_pc(warp, op));
}

static const struct sim_op *run_block(struct sim_warp *warp, const struct sim_op *op)
{
    struct sim_core *core = warp->core;
    if (core->fuel <= 0)
        return handle_out_of_fuel(warp, op);
    if (warp->group_count | warp->reconvergence_count) {
        const struct sim_op *other = reconverge(warp, op);
        /* The other group may continue at a block, which counts itself, or inside one, which was
         * counted. */
        if (other != op)
            return other;
    }
    struct sim_block_count *count = &core->counts[op->aux];
    count->warps++;
    count->lanes += (unsigned)__builtin_popcount(warp->active);
    core->fuel -= op->a;
    return op + 1;
}

static const struct sim_op *run_bra(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t taken = sim_active_lanes(warp, op);
    if (taken == warp->active)
        return warp->code + op->aux;
    if (taken == 0)
        return op + 1;
    if (op->d)
        sim_reconvergence_add(warp, op->d);
    uint32_t next = sim_pc(warp, op) + 1, stay = warp->active & ~taken;
    if (op->aux < next) {
        sim_group_add(warp, next, stay, warp->depth);
        warp->active = taken;
        return warp->code + op->aux;
    }
    sim_group_add(warp, op->aux, taken, warp->depth);
    warp->active = stay;
    return op + 1;
}

/* Lanes that take the branch go to their own targets; the others continue after the list. */
static const struct sim_op *run_brx(struct sim_warp *warp, const struct sim_op *op)
{
    const uint32_t *index = sim_vreg_at(warp, op->a);
    uint32_t taken = sim_active_lanes(warp, op), count = op->aux;
    uint32_t after = sim_pc(warp, op) + 1 + (count + 7) / 8;
    if (op->d && taken)
        sim_reconvergence_add(warp, op->d);
    if (warp->active & ~taken)
        sim_group_add(warp, after, warp->active & ~taken, warp->depth);
    while (taken) {
        unsigned lane = (unsigned)__builtin_ctz(taken);
        uint32_t chosen = index[lane], same = 0;
        if (chosen >= count)
            return sim_fault_raise(warp, op, SIM_FAULT_INVALID_PC, 1u << lane);
        for (uint32_t rest = taken; rest; rest &= rest - 1) {
            unsigned other = (unsigned)__builtin_ctz(rest);
            same |= index[other] == chosen ? 1u << other : 0;
        }
        sim_group_add(warp, op[1 + chosen / 8].words[chosen % 8], same, warp->depth);
        taken &= ~same;
    }
    return sim_warp_pick(warp);
}

static const struct sim_op *run_exit(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_active_lanes(warp, op);
    if (lanes == 0)
        return op + 1;
    warp->live &= ~lanes;
    warp->active &= ~lanes;
    sim_barriers_recheck(warp->block);
    if (warp->group_count)
        sim_sync_recheck(warp);
    return warp->active ? op + 1 : sim_warp_pick(warp);
}

static const struct sim_op *run_trap(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_active_lanes(warp, op);
    return lanes ? sim_fault_raise(warp, op, SIM_FAULT_TRAP, lanes) : op + 1;
}

static const struct sim_op *run_brkpt(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_active_lanes(warp, op);
    return lanes ? sim_fault_raise(warp, op, SIM_FAULT_BREAKPOINT, lanes) : op + 1;
}

/* A sleeping group waits for another one: yields to another group, then to another warp. */
static const struct sim_op *run_nanosleep(struct sim_warp *warp, const struct sim_op *op)
{
    if (sim_active_lanes(warp, op) == 0)
        return op + 1;
    for (uint32_t i = 0; i < warp->group_count; i++)
        if (warp->groups[i].state == SIM_GROUP_READY) {
            warp->priority_blocks = SPIN_LIMIT;
            break;
        }
    return sim_warp_yield(warp, sim_pc(warp, op) + 1);
}

void sim_control_fill(struct sim_handlers *handlers)
{
    handlers->run[SIM_BLOCK][PTX_NONE] = run_block;
    handlers->run[SIM_BRA][PTX_NONE] = run_bra;
    handlers->run[SIM_BRX][PTX_NONE] = run_brx;
    handlers->run[SIM_EXIT][PTX_NONE] = run_exit;
    handlers->run[SIM_TRAP][PTX_NONE] = run_trap;
    handlers->run[SIM_BRKPT][PTX_NONE] = run_brkpt;
    handlers->run[SIM_NANOSLEEP][PTX_NONE] = run_nanosleep;
    sim_call_fill(handlers);
}
