/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mbarrier objects in shared memory of the block, and the bulk copies that complete on them. The
 * threads of a block run one after the other, so plain accesses suffice. Copies are executed
 * immediately, which is one of the orders that PTX allows.
 *
 * The 64 bits of an object, opaque to kernels: pending arrivals (20 bits), expected arrivals (20),
 * pending bytes of transactions (21, signed), phase (3). The phase ends when arrivals and bytes
 * that are pending have become 0.
 */
#include "driver/sim/exec/machine.h"

#include <string.h>

enum { COUNT_BITS = 20, BYTES_BITS = 21, PHASE_BITS = 3 };

struct state {
    uint32_t pending, expected, bytes, phase;
};

static uint32_t bits_of(uint64_t object, unsigned first, unsigned count)
{
    return (uint32_t)(object >> first & ((UINT64_C(1) << count) - 1));
}

static struct state unpack(uint64_t object)
{
    return (struct state){bits_of(object, 0, COUNT_BITS), bits_of(object, COUNT_BITS, COUNT_BITS),
        bits_of(object, 2 * COUNT_BITS, BYTES_BITS),
        bits_of(object, 2 * COUNT_BITS + BYTES_BITS, PHASE_BITS)};
}

static uint64_t pack(struct state state)
{
    return bits_of(state.pending, 0, COUNT_BITS) |
           (uint64_t)bits_of(state.expected, 0, COUNT_BITS) << COUNT_BITS |
           (uint64_t)bits_of(state.bytes, 0, BYTES_BITS) << (2 * COUNT_BITS) |
           (uint64_t)bits_of(state.phase, 0, PHASE_BITS) << (2 * COUNT_BITS + BYTES_BITS);
}

/* More arrivals than are pending have undefined results in PTX; here they end the phase. */
static void arrive(struct state *state, uint32_t count)
{
    state->pending -= count < state->pending ? count : state->pending;
}

static uint64_t finish(struct state state)
{
    if (state.pending == 0 && bits_of(state.bytes, 0, BYTES_BITS) == 0) {
        state.pending = state.expected;
        state.phase++;
    }
    return pack(state);
}

static uint64_t update(uint32_t how, uint64_t object, uint32_t value)
{
    struct state state = unpack(object);
    switch (how) {
    case SIM_MBARRIER_INIT:
        return pack((struct state){value, value, 0, 0});
    case SIM_MBARRIER_INVAL:
        return 0;
    case SIM_MBARRIER_ARRIVE:
        arrive(&state, value);
        return finish(state);
    case SIM_MBARRIER_ARRIVE_DROP:
        state.expected -= value < state.expected ? value : state.expected;
        arrive(&state, value);
        return finish(state);
    case SIM_MBARRIER_ARRIVE_EXPECT_TX:
        state.bytes += value;
        arrive(&state, 1);
        return finish(state);
    case SIM_MBARRIER_ARRIVE_DROP_EXPECT_TX:
        state.bytes += value;
        state.expected -= state.expected > 0;
        arrive(&state, 1);
        return finish(state);
    case SIM_MBARRIER_EXPECT_TX:
        state.bytes += value;
        return pack(state);
    default: /* SIM_MBARRIER_COMPLETE_TX */
        state.bytes -= value;
        return finish(state);
    }
}

static uint64_t load_object(uint64_t address)
{
    uint64_t object;
    memcpy(&object, (const void *)(uintptr_t)address, sizeof(object));
    return object;
}

static void store_object(uint64_t address, uint64_t object)
{
    memcpy((void *)(uintptr_t)address, &object, sizeof(object));
}

/* The object's host addresses. An object lies in shared memory, whether the address is generic or
 * not: a generic address is made one of the window first. */
static bool find_objects(struct sim_warp *warp, const struct sim_op *op, uint32_t vreg,
    uint32_t flags, uint32_t offset, uint32_t lanes, enum sim_mbarrier how, uint64_t *objects)
{
    bool is_write = how != SIM_MBARRIER_WAIT && how != SIM_MBARRIER_WAIT_PARITY;
    bool is_ordered = how != SIM_MBARRIER_INIT && how != SIM_MBARRIER_INVAL;
    sim_lane_addresses(warp, vreg, flags, offset, objects);
    if ((flags & 7) == SIM_IN_GENERIC)
        for (unsigned lane = 0; lane < SIM_LANES; lane++)
            objects[lane] -= (uint64_t)(uintptr_t)warp->block->shared;
    return sim_translate(warp, op, SIM_IN_SHARED, objects, lanes, 8, 8, is_write, is_ordered);
}

/* op: d result, a address, b flags of the address, c value; words: 0 offset */
static const struct sim_op *run_update(struct sim_warp *warp, const struct sim_op *op)
{
    uint64_t objects[SIM_LANES], *d = sim_vreg_at(warp, op->d);
    const uint32_t *values = sim_vreg_at(warp, op->c);
    uint32_t lanes = sim_active_lanes(warp, op);
    if (!find_objects(
            warp, op, op->a, op->b, op[1].words[0], lanes, (enum sim_mbarrier)op->aux, objects))
        return NULL;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t before = op->aux == SIM_MBARRIER_INIT ? 0 : load_object(objects[lane]);
        store_object(objects[lane], update(op->aux, before, values[lane]));
        d[lane] = before;
    }
    return op + 2;
}

/* The result is a predicate: whether the phase of the state, or of the parity, has ended. A thread
 * that waits in a loop lets the others run. */
static const struct sim_op *run_wait(struct sim_warp *warp, const struct sim_op *op)
{
    uint64_t objects[SIM_LANES];
    const uint64_t *states = sim_vreg_at(warp, op->c);
    const uint32_t *parities = sim_vreg_at(warp, op->c);
    uint32_t lanes = sim_active_lanes(warp, op), ended = 0, *d = sim_word_at(warp, op->d);
    if (!find_objects(
            warp, op, op->a, op->b, op[1].words[0], lanes, (enum sim_mbarrier)op->aux, objects))
        return NULL;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint32_t phase = unpack(load_object(objects[lane])).phase;
        bool has_ended = op->aux == SIM_MBARRIER_WAIT ? phase != unpack(states[lane]).phase
                                                      : ((phase ^ parities[lane]) & 1) != 0;
        ended |= has_ended ? rest & (0u - rest) : 0;
    }
    *d = (*d & ~lanes) | ended;
    if (ended == lanes)
        return op + 2;
    if (warp->group_count)
        warp->spin += 128;
    return sim_warp_yield(warp, sim_pc(warp, op) + 2);
}

/* d: destination, a: source, b: size in bytes, c: the mbarrier, or SIM_VREG_UNUSED for copies that
 * complete in a bulk group; words: 0-1 flags and offset of the destination, 2-3 of the source, 4-5
 * of the mbarrier */
static const struct sim_op *run_bulk(struct sim_warp *warp, const struct sim_op *op)
{
    uint64_t to[SIM_LANES], from[SIM_LANES], objects[SIM_LANES];
    const uint32_t *words = op[1].words, *sizes = sim_vreg_at(warp, op->b);
    sim_lane_addresses(warp, op->d, words[0], words[1], to);
    sim_lane_addresses(warp, op->a, words[2], words[3], from);
    for (uint32_t rest = sim_active_lanes(warp, op); rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint32_t size = sizes[lane] & ~15u, own = 1u << lane; /* PTX has multiples of 16 only */
        if (size && (!sim_translate(warp, op, words[2] & 7, from, own, size, 16, false, false) ||
                        !sim_translate(warp, op, words[0] & 7, to, own, size, 16, true, false)))
            return NULL;
        if (size)
            memmove((void *)(uintptr_t)to[lane], (const void *)(uintptr_t)from[lane], size);
        if (op->c == SIM_VREG_UNUSED)
            continue;
        /* Last: who waits for the object sees the bytes. */
        if (!find_objects(
                warp, op, op->c, words[4], words[5], own, SIM_MBARRIER_COMPLETE_TX, objects))
            return NULL;
        store_object(
            objects[lane], update(SIM_MBARRIER_COMPLETE_TX, load_object(objects[lane]), size));
    }
    return op + 2;
}

void sim_mbarrier_fill(struct sim_handlers *handlers)
{
    handlers->run[SIM_MBARRIER][PTX_NONE] = run_update;
    handlers->run[SIM_MBARRIER][PTX_PRED] = run_wait;
    handlers->run[SIM_CP_BULK][PTX_NONE] = run_bulk;
}
