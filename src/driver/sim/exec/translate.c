/* SPDX-License-Identifier: Apache-2.0 */
/* Translates device addresses to host addresses and checks every lane against the allocation that
 * contains it. */
#include "driver/sim/exec/machine.h"
#include "driver/sim/exec/profile.h"
#include "driver/sim/exec/race.h"

static bool is_inside_range(uint64_t address, uint32_t bytes, uint64_t base, uint64_t size)
{
    return address >= base && size >= bytes && address - base <= size - bytes;
}

static bool find_allocation(struct sim_core *core, uint64_t address, uint32_t bytes,
    struct sim_range *slot, struct sim_range *nearest)
{
    for (unsigned i = 0; i < SIM_RANGES; i++)
        if (is_inside_range(address, bytes, core->ranges[i].base, core->ranges[i].size)) {
            *slot = core->ranges[i];
            return true;
        }
    const struct sim_memory *memory = &core->run->launch->memory;
    struct sim_range found = {0, 0};
    bool is_inside = memory->resolve && memory->resolve(memory->context, address, &found);
    *nearest = found;
    if (!is_inside || !is_inside_range(address, bytes, found.base, found.size))
        return false;
    *slot = core->ranges[core->next_range++ % SIM_RANGES] = found;
    return true;
}

static bool track_shared(struct sim_warp *warp, const struct sim_op *op, uint64_t offset,
    unsigned lane, uint32_t bytes, bool is_write, bool is_ordered)
{
    unsigned char *shadow = warp->block->shadow ? warp->block->shadow + offset : NULL;
    const bool is_read = !is_write || sim_is_read_modify_write(op);
    for (uint32_t i = 0; shadow && i < bytes; i++) {
        if (is_read && !shadow[i]) {
            sim_fault_access(warp, op, SIM_FAULT_UNINITIALISED_SHARED, SIM_SPACE_SHARED, lane,
                offset, bytes, false, NULL);
            return false;
        }
        if (is_write)
            shadow[i] = 1;
    }
    return !warp->block->races ||
           sim_races_access(warp, op, lane, offset, bytes, is_write, is_ordered);
}

static bool is_tracked(const struct sim_block *block)
{
    return block->shadow || block->races;
}

static bool translate_shared(struct sim_warp *warp, const struct sim_op *op, uint64_t *addresses,
    uint32_t lanes, uint32_t bytes, bool is_write, bool is_ordered)
{
    const struct sim_block *block = warp->block;
    uint64_t base = (uint64_t)(uintptr_t)block->shared;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t offset = addresses[lane];
        if (!is_inside_range(offset, bytes, 0, block->shared_bytes)) {
            struct sim_range window = {0, block->shared_bytes};
            sim_fault_access(warp, op, SIM_FAULT_OUT_OF_BOUNDS, SIM_SPACE_SHARED, lane, offset,
                bytes, is_write, &window);
            return false;
        }
        if (is_tracked(block) && !track_shared(warp, op, offset, lane, bytes, is_write, is_ordered))
            return false;
        addresses[lane] = base + offset;
    }
    return true;
}

static bool translate_local(struct sim_warp *warp, const struct sim_op *op, uint64_t *addresses,
    uint32_t lanes, uint32_t bytes, bool is_write)
{
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t offset = addresses[lane];
        if (!is_inside_range(offset, bytes, 0, warp->local_bytes)) {
            struct sim_range window = {0, warp->local_bytes};
            sim_fault_access(warp, op, SIM_FAULT_OUT_OF_BOUNDS, SIM_SPACE_LOCAL, lane, offset,
                bytes, is_write, &window);
            return false;
        }
        addresses[lane] =
            (uint64_t)(uintptr_t)(warp->local + (size_t)lane * warp->local_stride) + offset;
    }
    return true;
}

/* Translates a lane's address that is in no cached allocation: the block's windows, then the
 * driver's allocations. */
static bool check_lane(struct sim_warp *warp, const struct sim_op *op, unsigned lane,
    uint64_t address, uint32_t bytes, bool is_generic, bool is_write, bool is_ordered,
    struct sim_range *slot)
{
    struct sim_range nearest = {0, 0};
    const struct sim_block *block = warp->block;
    const struct sim_run *run = warp->core->run;
    if (is_inside_range(address, bytes, slot->base, slot->size))
        return true;
    uint64_t shared = (uint64_t)(uintptr_t)block->shared;
    if (is_generic && is_inside_range(address, bytes, shared, block->shared_bytes))
        return !is_tracked(block) ||
               track_shared(warp, op, address - shared, lane, bytes, is_write, is_ordered);
    uint64_t local = (uint64_t)(uintptr_t)(warp->local + (size_t)lane * warp->local_stride);
    if (is_generic && is_inside_range(address, bytes, local, warp->local_bytes))
        return true;
    uint64_t parameters = (uint64_t)(uintptr_t)run->parameters;
    if (!is_write && is_inside_range(address, bytes, parameters, run->parameter_bytes))
        return true;
    if (run->launch->is_cooperative &&
        is_inside_range(address, bytes, (uint64_t)(uintptr_t)run->workspace, SIM_WORKSPACE_BYTES))
        return true;
    if (find_allocation(warp->core, address, bytes, slot, &nearest))
        return true;
    sim_fault_access(warp, op, SIM_FAULT_OUT_OF_BOUNDS,
        is_generic ? SIM_SPACE_NONE : SIM_SPACE_GLOBAL, lane, address, bytes, is_write, &nearest);
    return false;
}

static bool translate_global(struct sim_warp *warp, const struct sim_op *op,
    const uint64_t *addresses, uint32_t lanes, uint32_t bytes, bool is_generic, bool is_write,
    bool is_ordered)
{
    struct sim_range *slot = sim_slot(warp, op);
    uint64_t base = slot->base, limit = slot->size - bytes, bad = slot->size < bytes;
    if (lanes == SIM_ALL_LANES) {
        for (unsigned lane = 0; lane < SIM_LANES; lane++)
            bad |= addresses[lane] - base > limit;
        if (!bad)
            return true;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (!check_lane(
                warp, op, lane, addresses[lane], bytes, is_generic, is_write, is_ordered, slot))
            return false;
    }
    return true;
}

static bool translate(struct sim_warp *warp, const struct sim_op *op, uint32_t space,
    uint64_t *addresses, uint32_t lanes, uint32_t bytes, bool is_write, bool is_ordered)
{
    if (space == SIM_IN_SHARED)
        return translate_shared(warp, op, addresses, lanes, bytes, is_write, is_ordered);
    if (space == SIM_IN_LOCAL)
        return translate_local(warp, op, addresses, lanes, bytes, is_write);
    return translate_global(
        warp, op, addresses, lanes, bytes, space == SIM_IN_GENERIC, is_write, is_ordered);
}

uint32_t sim_global_lanes(const struct sim_warp *warp, const uint64_t *addresses, uint32_t lanes)
{
    const struct sim_run *run = warp->core->run;
    const uint64_t shared = (uint64_t)(uintptr_t)warp->block->shared,
                   parameters = (uint64_t)(uintptr_t)run->parameters;
    uint32_t global = 0;

    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const uint64_t address = addresses[lane],
                       local =
                           (uint64_t)(uintptr_t)(warp->local + (size_t)lane * warp->local_stride);

        if (address - shared >= warp->block->shared_bytes && address - local >= warp->local_bytes &&
            address - parameters >= run->parameter_bytes + 64u + SIM_WORKSPACE_BYTES)
            global |= 1u << lane;
    }
    return global;
}

/* One lane's access: of bytes that were written, and which are then. */
static bool track_written(struct sim_warp *warp, const struct sim_op *op, unsigned lane,
    uint64_t address, uint32_t bytes, bool is_write)
{
    const bool is_read = !is_write || sim_is_read_modify_write(op);
    const struct sim_launch *launch = warp->core->run->launch;
    struct sim_written *written = &warp->core->written;

    if (!is_inside_range(address, bytes, written->range.base, written->range.size))
        launch->find_written(launch->memory.context, address, written);
    /* Another stream may have freed the memory, and something smaller may be there. */
    if (!written->bytes ||
        !is_inside_range(address, bytes, written->range.base, written->range.size))
        return true;
    unsigned char *flags = written->bytes + (address - written->range.base);
    for (uint32_t i = 0; i < bytes; i++) {
        if (is_read && !__atomic_load_n(&flags[i], __ATOMIC_RELAXED)) {
            sim_fault_access(warp, op, SIM_FAULT_UNINITIALISED_GLOBAL, SIM_SPACE_GLOBAL, lane,
                address, bytes, false, &written->range);
            return false;
        }
        if (is_write)
            __atomic_store_n(&flags[i], 1, __ATOMIC_RELAXED);
    }
    return true;
}

static bool track_global(struct sim_warp *warp, const struct sim_op *op, const uint64_t *addresses,
    uint32_t lanes, uint32_t bytes, bool is_write, bool is_ordered)
{
    const struct sim_run *run = warp->core->run;
    const bool checks_init = run->launch->checks & SIM_CHECK_GLOBAL_INIT;

    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);

        if (checks_init && !track_written(warp, op, lane, addresses[lane], bytes, is_write))
            return false;
        if (run->global_races &&
            !sim_races_global(warp, op, lane, addresses[lane], bytes, is_write, is_ordered))
            return false;
    }
    return true;
}

/* With the checks and counts that are enabled. */
static bool translate_watched(struct sim_warp *warp, const struct sim_op *op, uint32_t space,
    uint64_t *addresses, uint32_t lanes, uint32_t bytes, bool is_write, bool is_ordered)
{
    const bool has_races = warp->block->races, is_shared = space == SIM_IN_SHARED;
    const bool is_global = space == SIM_IN_GLOBAL || space == SIM_IN_GENERIC;
    const uint32_t global = is_global ? sim_global_lanes(warp, addresses, lanes) : 0;

    if (warp->core->sites)
        sim_profile_access(warp, op, space, addresses, lanes, bytes, is_write);
    if (has_races)
        sim_races_begin(warp, is_ordered, is_shared);
    /* Addresses of global memory stay what they are. */
    if (!translate(warp, op, space, addresses, lanes, bytes, is_write, is_ordered) ||
        !track_global(warp, op, addresses, global, bytes, is_write, is_ordered))
        return false;
    return !has_races || sim_races_end(warp, is_ordered, is_write, is_shared);
}

bool sim_translate(struct sim_warp *warp, const struct sim_op *op, uint32_t space,
    uint64_t *addresses, uint32_t lanes, uint32_t bytes, uint32_t alignment, bool is_write,
    bool is_ordered)
{
    uint64_t any = 0;
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
        any |= lanes >> lane & 1 ? addresses[lane] : 0;
    if (any & (alignment - 1)) {
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            if (addresses[lane] & (alignment - 1)) {
                enum sim_space where = space == SIM_IN_SHARED  ? SIM_SPACE_SHARED
                                       : space == SIM_IN_LOCAL ? SIM_SPACE_LOCAL
                                                               : SIM_SPACE_GLOBAL;
                sim_fault_access(warp, op, SIM_FAULT_MISALIGNED, where, lane, addresses[lane],
                    bytes, is_write, NULL);
                return false;
            }
        }
    }
    if (!warp->block->is_watched || !lanes)
        return translate(warp, op, space, addresses, lanes, bytes, is_write, is_ordered);
    return translate_watched(warp, op, space, addresses, lanes, bytes, is_write, is_ordered);
}
