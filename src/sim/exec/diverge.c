/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which group of a warp's lanes runs. Deeper calls come first, then the lowest program counter, so
 * groups meet again at the first operation that both reach. A group that spins while others could
 * run gives them turns, as lanes of a real warp may wait for each other.
 */
#include "sim/exec/machine.h"

enum {
    /* Blocks in a row while others are ready; an atomic counts for many. Long enough that loops
       reconverge undisturbed, short enough that a lock held by a neighbour lane costs microseconds.
     */
    SPIN_LIMIT = 65536
};

void sim_split_add(struct sim_warp *warp, uint32_t pc, uint32_t mask, uint32_t depth)
{
    for (uint32_t i = 0; i < warp->split_count; i++) {
        struct sim_split *s = &warp->splits[i];
        if (s->state == SIM_SPLIT_READY && s->pc == pc && s->depth == depth) {
            s->mask |= mask;
            return;
        }
    }
    warp->splits[warp->split_count++] =
        (struct sim_split){.pc = pc, .mask = mask, .depth = depth, .state = SIM_SPLIT_READY};
}

static void remove_split(struct sim_warp *warp, uint32_t index)
{
    warp->split_count--;
    for (uint32_t i = index; i < warp->split_count; i++)
        warp->splits[i] = warp->splits[i + 1];
}

/* Groups that are ready at one place join the running one. */
static void absorb(struct sim_warp *warp, uint32_t pc)
{
    for (uint32_t i = warp->split_count; i-- > 0;) {
        const struct sim_split *s = &warp->splits[i];
        if (s->state == SIM_SPLIT_READY && s->pc == pc && s->depth == warp->depth) {
            warp->active |= s->mask;
            remove_split(warp, i);
        }
    }
}

static bool comes_first(const struct sim_split *a, uint32_t depth, uint32_t pc)
{
    return a->depth != depth ? a->depth > depth : a->pc < pc;
}

static const struct sim_op *run_split(struct sim_warp *warp, uint32_t index)
{
    struct sim_split chosen = warp->splits[index];
    remove_split(warp, index);
    warp->active = chosen.mask;
    warp->depth = chosen.depth;
    warp->status = SIM_WARP_READY;
    absorb(warp, chosen.pc);
    return warp->code + chosen.pc;
}

const struct sim_op *sim_warp_pick(struct sim_warp *warp)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < warp->split_count; i++) {
        const struct sim_split *s = &warp->splits[i];
        if (s->state != SIM_SPLIT_READY)
            continue;
        if (best == UINT32_MAX ||
            (!warp->hold && comes_first(s, warp->splits[best].depth, warp->splits[best].pc)))
            best = i;
    }
    warp->active = 0;
    if (best != UINT32_MAX)
        return run_split(warp, best);
    warp->status = warp->live ? SIM_WARP_BLOCKED : SIM_WARP_DONE;
    /* What a barrier holds another warp may set free. */
    bool is_at_barrier = false;
    for (uint32_t i = 0; i < warp->split_count; i++)
        is_at_barrier |= warp->splits[i].state == SIM_SPLIT_AT_BARRIER;
    if (!is_at_barrier)
        sim_sync_deadlock(warp);
    return NULL;
}

const struct sim_op *sim_warp_park(
    struct sim_warp *warp, uint32_t pc, enum sim_split_state state, uint8_t barrier)
{
    warp->splits[warp->split_count++] = (struct sim_split){.pc = pc,
        .mask = warp->active,
        .depth = warp->depth,
        .state = (uint8_t)state,
        .barrier = barrier};
    return sim_warp_pick(warp);
}

/* At the start of a basic block, with other groups waiting or joins ahead: join those that are
 * here, let those before us go on. */
static const struct sim_op *reconverge(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t pc = sim_pc(warp, op);
    absorb(warp, pc);
    if (op->d && warp->join_count && !sim_join_reach(warp, pc, warp->active))
        return NULL;
    bool any_ready = false, is_behind = false;
    for (uint32_t i = 0; i < warp->split_count; i++) {
        const struct sim_split *s = &warp->splits[i];
        if (s->state != SIM_SPLIT_READY)
            continue;
        any_ready = true;
        is_behind |= comes_first(s, warp->depth, pc);
    }
    if (!any_ready) {
        warp->spin = warp->hold = 0;
        return op;
    }
    if (warp->hold > 0) {
        warp->hold--;
        if (warp->hold > 0)
            return op;
    } else if (++warp->spin > SPIN_LIMIT) {
        warp->spin = 0;
        warp->hold = SPIN_LIMIT;
        return sim_warp_park(warp, pc, SIM_SPLIT_READY, 0);
    }
    return is_behind ? sim_warp_park(warp, pc, SIM_SPLIT_READY, 0) : op;
}

const struct sim_op *sim_warp_yield(struct sim_warp *warp, uint32_t pc)
{
    warp->core->is_sliced = true;
    warp->splits[warp->split_count++] = (struct sim_split){
        .pc = pc, .mask = warp->active, .depth = warp->depth, .state = SIM_SPLIT_READY};
    warp->active = 0;
    return NULL;
}

static const struct sim_op *out_of_fuel(struct sim_warp *warp, const struct sim_op *op)
{
    if (sim_stop_asked(warp->core))
        return NULL;
    /* This block runs again from its start when the warp's turn comes. */
    return sim_warp_yield(warp, sim_pc(warp, op));
}

static const struct sim_op *run_block(struct sim_warp *warp, const struct sim_op *op)
{
    struct sim_core *core = warp->core;
    if (core->fuel <= 0)
        return out_of_fuel(warp, op);
    if (warp->split_count | warp->join_count) {
        const struct sim_op *other = reconverge(warp, op);
        /* Another group may start anywhere: at a block, which counts itself, or inside one, which
         * is counted. */
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
    uint32_t taken = sim_lanes_of(warp, op);
    if (taken == warp->active)
        return warp->code + op->aux;
    if (taken == 0)
        return op + 1;
    if (op->d)
        sim_join_open(warp, op->d);
    uint32_t next = sim_pc(warp, op) + 1, stay = warp->active & ~taken;
    if (op->aux < next) {
        sim_split_add(warp, next, stay, warp->depth);
        warp->active = taken;
        return warp->code + op->aux;
    }
    sim_split_add(warp, op->aux, taken, warp->depth);
    warp->active = stay;
    return op + 1;
}

/* Lanes that take the branch go to their own targets; the others go on behind the list. */
static const struct sim_op *run_brx(struct sim_warp *warp, const struct sim_op *op)
{
    const uint32_t *index = sim_row_at(warp, op->a);
    uint32_t taken = sim_lanes_of(warp, op), count = op->aux;
    uint32_t after = sim_pc(warp, op) + 1 + (count + 7) / 8;
    if (op->d && taken)
        sim_join_open(warp, op->d);
    if (warp->active & ~taken)
        sim_split_add(warp, after, warp->active & ~taken, warp->depth);
    while (taken) {
        unsigned lane = (unsigned)__builtin_ctz(taken);
        uint32_t chosen = index[lane], same = 0;
        if (chosen >= count)
            return sim_fault_raise(warp, op, SIM_FAULT_INVALID_PC, 1u << lane);
        for (uint32_t rest = taken; rest; rest &= rest - 1) {
            unsigned other = (unsigned)__builtin_ctz(rest);
            same |= index[other] == chosen ? 1u << other : 0;
        }
        sim_split_add(warp, op[1 + chosen / 8].words[chosen % 8], same, warp->depth);
        taken &= ~same;
    }
    return sim_warp_pick(warp);
}

static const struct sim_op *run_exit(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_lanes_of(warp, op);
    if (lanes == 0)
        return op + 1;
    warp->live &= ~lanes;
    warp->active &= ~lanes;
    sim_barriers_recheck(warp->block);
    if (warp->split_count)
        sim_sync_recheck(warp);
    return warp->active ? op + 1 : sim_warp_pick(warp);
}

static const struct sim_op *run_trap(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_lanes_of(warp, op);
    return lanes ? sim_fault_raise(warp, op, SIM_FAULT_TRAP, lanes) : op + 1;
}

static const struct sim_op *run_brkpt(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_lanes_of(warp, op);
    return lanes ? sim_fault_raise(warp, op, SIM_FAULT_BREAKPOINT, lanes) : op + 1;
}

/* Who sleeps waits for somebody: the turn goes to another group, and then to another warp. */
static const struct sim_op *run_nanosleep(struct sim_warp *warp, const struct sim_op *op)
{
    if (sim_lanes_of(warp, op) == 0)
        return op + 1;
    for (uint32_t i = 0; i < warp->split_count; i++)
        if (warp->splits[i].state == SIM_SPLIT_READY) {
            warp->hold = SPIN_LIMIT;
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
