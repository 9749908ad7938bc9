/* SPDX-License-Identifier: Apache-2.0 */
/* Data races in shared memory; see race.h. */
#include "driver/sim/exec/race.h"

#include <string.h>

struct access {
    uint32_t clock;  /* of the thread's warp; 0: there was none */
    uint32_t number; /* of the operation, in its block */
    uint32_t pc;
    uint16_t thread;
    bool is_ordered;
};

struct byte {
    struct access write;
    struct access read, other_lane, other_warp;
};

typedef uint32_t clocks[SIM_MAX_WARPS];

struct sim_races {
    uint32_t number;
    clocks known[SIM_MAX_WARPS];  /* what each warp knows of each warp's clock, its own included */
    clocks published;             /* by ordered writes */
    clocks arrived[SIM_BARRIERS]; /* by the warps that have arrived */
    struct byte bytes[];
};

size_t sim_races_bytes(uint32_t shared_bytes)
{
    return sizeof(struct sim_races) + (size_t)shared_bytes * sizeof(struct byte);
}

void sim_races_start(struct sim_block *block)
{
    memset(block->races, 0, sim_races_bytes(block->shared_bytes));
    for (uint32_t w = 0; w < SIM_MAX_WARPS; w++)
        block->races->known[w][w] = 1;
}

/* ---- order ----------------------------------------------------------------------------------- */

static void join(clocks to, const clocks from)
{
    for (uint32_t w = 0; w < SIM_MAX_WARPS; w++)
        to[w] = to[w] > from[w] ? to[w] : from[w];
}

/* Others know what the warp has done so far, and nothing of what follows. */
static void publish(const struct sim_warp *warp, clocks to)
{
    uint32_t *known = warp->block->races->known[warp->index];

    join(to, known);
    known[warp->index]++;
}

void sim_races_arrive(struct sim_warp *warp, uint32_t barrier)
{
    publish(warp, warp->block->races->arrived[barrier]);
}

void sim_races_release(struct sim_block *block, uint32_t barrier)
{
    struct sim_races *races = block->races;

    for (uint32_t w = 0; w < block->warp_count; w++)
        if (block->barriers[barrier].arrived[w])
            join(races->known[w], races->arrived[barrier]);
    memset(races->arrived[barrier], 0, sizeof(races->arrived[barrier]));
}

void sim_races_sync_warp(const struct sim_warp *warp)
{
    warp->block->races->known[warp->index][warp->index]++;
}

void sim_races_begin(struct sim_warp *warp, bool is_ordered)
{
    struct sim_races *races = warp->block->races;

    races->number++;
    if (is_ordered)
        join(races->known[warp->index], races->published);
}

void sim_races_end(struct sim_warp *warp, bool is_ordered, bool is_write)
{
    if (is_ordered && is_write)
        publish(warp, warp->block->races->published);
}

/* ---- accesses -------------------------------------------------------------------------------- */

static uint32_t warp_of(const struct access *access)
{
    return access->thread / SIM_LANES;
}

/* Whether nothing orders an earlier access of another thread before this one. Lanes of one
 * operation do not race. */
static bool is_concurrent(
    const struct sim_races *races, const struct access *before, const struct access *now)
{
    const uint32_t warp = warp_of(now);

    if (!before->clock || before->thread == now->thread || before->number == now->number)
        return false;
    if (warp_of(before) == warp)
        return before->clock == now->clock;
    return before->clock > races->known[warp][warp_of(before)];
}

static bool races_with(
    const struct sim_races *races, const struct access *before, const struct access *now)
{
    return !(before->is_ordered && now->is_ordered) && is_concurrent(races, before, now);
}

/* The access that the new one races with; NULL: none. */
static const struct access *find_race(
    const struct sim_races *races, const struct byte *byte, const struct access *now, bool is_write)
{
    const struct access *reads[] = {&byte->read, &byte->other_lane, &byte->other_warp};

    if (races_with(races, &byte->write, now))
        return &byte->write;
    for (size_t i = 0; is_write && i < sizeof(reads) / sizeof(*reads); i++)
        if (races_with(races, reads[i], now))
            return reads[i];
    return NULL;
}

/* Reads before a write need not be kept: who races with them races with the write, too, or is
 * ordered before it. */
static void record(struct byte *byte, const struct access *now, bool is_write)
{
    if (is_write) {
        *byte = (struct byte){.write = *now};
        return;
    }
    if (byte->read.clock && warp_of(&byte->read) != warp_of(now)) {
        byte->other_warp = byte->read;
        byte->other_lane = (struct access){0};
    } else if (byte->read.clock && byte->read.thread != now->thread) {
        byte->other_lane = byte->read;
    }
    byte->read = *now;
}

bool sim_races_access(struct sim_warp *warp, const struct sim_op *op, unsigned lane,
    uint64_t offset, uint32_t bytes, bool is_write, bool is_ordered)
{
    struct sim_races *races = warp->block->races;
    const struct access now = {.clock = races->known[warp->index][warp->index],
        .number = races->number,
        .pc = sim_pc(warp, op),
        .thread = (uint16_t)(warp->index * SIM_LANES + lane),
        .is_ordered = is_ordered};

    for (uint32_t i = 0; i < bytes; i++) {
        struct byte *byte = &races->bytes[offset + i];
        const struct access *other = find_race(races, byte, &now, is_write);

        if (other) {
            sim_fault_race(warp, op, lane, offset, bytes, is_write, other->thread, other->pc,
                other == &byte->write);
            return false;
        }
        record(byte, &now, is_write);
    }
    return true;
}
