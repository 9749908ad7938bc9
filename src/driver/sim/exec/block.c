/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a block: memory, constant vector registers, special registers, time slices of its
 * warps. */
#include "driver/sim/exec/block.h"

#include "driver/sim/exec/race.h"

#include "base/alloc.h"
#include "base/math.h"

#include <string.h>

static void fill_vreg(
    struct sim_warp *warp, const struct sim_vreg *vreg, unsigned lane, uint64_t value)
{
    unsigned char *at = warp->frame + vreg->offset + (size_t)lane * vreg->width;
    memcpy(at, &value, base_min(vreg->width, 8));
}

static uint64_t constant_value(const struct sim_run *run, const struct sim_vreg *vreg)
{
    switch (vreg->kind) {
    case SIM_VREG_VARIABLE:
        return run->launch->variables[vreg->id] + vreg->value;
    case SIM_VREG_SHARED:
        return run->kernel->shared_offsets[vreg->id] + vreg->value;
    case SIM_VREG_PARAMETER:
        return (uint64_t)(uintptr_t)run->parameters + vreg->value;
    default:
        return vreg->value;
    }
}

static uint64_t grid_value(const struct sim_block *block, uint32_t special)
{
    const struct sim_run *run = block->core->run;
    const struct sim_launch *launch = run->launch;
    uint32_t cores = launch->multiprocessor_count ? launch->multiprocessor_count : 1;
    switch (special) {
    case SIM_NTID_X:
    case SIM_NTID_Y:
    case SIM_NTID_Z:
        return launch->block[special - SIM_NTID_X];
    case SIM_CTAID_X:
    case SIM_CTAID_Y:
    case SIM_CTAID_Z:
        return block->id[special - SIM_CTAID_X];
    case SIM_NCTAID_X:
    case SIM_NCTAID_Y:
    case SIM_NCTAID_Z:
        return launch->grid[special - SIM_NCTAID_X];
    case SIM_NWARPID:
        return run->warps_per_block;
    case SIM_SMID:
        return launch->multiprocessors
                   ? launch->multiprocessors[block->number % launch->resident_count]
                   : block->number % cores;
    case SIM_NSMID:
        return cores;
    case SIM_GRIDID:
        return launch->grid_id;
    case SIM_DYNAMIC_SMEM:
        return launch->dynamic_shared_bytes;
    case SIM_TOTAL_SMEM:
    case SIM_AGGR_SMEM:
        return run->shared_bytes;
    case SIM_WORKSPACE_HIGH:
        return launch->is_cooperative ? (uint64_t)(uintptr_t)run->workspace >> 32 : 0;
    case SIM_WORKSPACE_LOW:
        return launch->is_cooperative ? (uint32_t)(uintptr_t)run->workspace : 0;
    case SIM_ONE:
        return 1;
    default:
        return 0;
    }
}

static uint64_t special_value(const struct sim_warp *warp, uint32_t special, unsigned lane)
{
    const uint32_t *shape = warp->core->run->launch->block;
    uint32_t thread = warp->index * SIM_LANES + lane;
    switch (special) {
    case SIM_TID_X:
        return thread % shape[0];
    case SIM_TID_Y:
        return thread / shape[0] % shape[1];
    case SIM_TID_Z:
        return thread / shape[0] / shape[1];
    case SIM_LANEID:
        return lane;
    case SIM_WARPID:
        return warp->index;
    case SIM_LANEMASK_EQ:
        return 1u << lane;
    case SIM_LANEMASK_LT:
        return (1u << lane) - 1;
    case SIM_LANEMASK_LE:
        return (2u << lane) - 1;
    case SIM_LANEMASK_GT:
        return ~((2u << lane) - 1);
    case SIM_LANEMASK_GE:
        return ~((1u << lane) - 1);
    default:
        return grid_value(warp->block, special);
    }
}

/* Special registers that differ between blocks; the others are those of the warp or the launch. */
static bool is_of_block(uint32_t special)
{
    return (special >= SIM_CTAID_X && special <= SIM_CTAID_Z) || special == SIM_SMID;
}

/* What is the same for all blocks is written only into fresh memory: no operation writes these
 * vector registers. */
static void fill_vregs(
    struct sim_warp *warp, const struct sim_vreg *vregs, uint32_t count, bool is_fresh)
{
    const struct sim_run *run = warp->core->run;
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_vreg *vreg = &vregs[i];
        bool is_special = vreg->kind == SIM_VREG_SPECIAL;
        if (!is_fresh && !(is_special && is_of_block(vreg->id)))
            continue;
        uint64_t value = is_special ? 0 : constant_value(run, vreg);
        for (unsigned lane = 0; lane < SIM_LANES; lane++)
            fill_vreg(warp, vreg, lane, is_special ? special_value(warp, vreg->id, lane) : value);
    }
}

static void start_warp(struct sim_block *block, uint32_t index, bool is_fresh)
{
    struct sim_warp *warp = &block->warps[index];
    const struct sim_run *run = block->core->run;
    uint32_t threads = run->threads_per_block - index * SIM_LANES;
    warp->core = block->core;
    warp->block = block;
    warp->code = run->program->ops;
    warp->index = index;
    warp->live = threads >= SIM_LANES ? SIM_ALL_LANES : (1u << threads) - 1;
    warp->active = 0;
    warp->depth = warp->spin = warp->priority_blocks = 0;
    warp->sync_lanes = warp->reconvergence_count = 0;
    warp->status = SIM_WARP_READY;
    warp->local_stride = run->local_stride;
    warp->local_bytes = run->local_bytes;
    warp->group_count = 1;
    warp->groups[0] = (struct sim_group){.pc = run->kernel->entry, .mask = warp->live};
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
        warp->stack_top[lane] = run->local_bytes;
    memset(warp->frame + SIM_VREG_LOCAL, 0, 128);
    *sim_word_at(warp, SIM_VREG_TRUE) = SIM_ALL_LANES;
    *sim_word_at(warp, SIM_VREG_FALSE) = 0;
    fill_vregs(warp, run->program->vregs, run->program->vreg_count, is_fresh);
    fill_vregs(warp, run->kernel->vregs, run->kernel->vreg_count, is_fresh);
}

/* One allocation holds the frames, local windows, shared memory and what is known of its bytes. A
 * launch writes few of the pages: those that it does not are never touched, so calloc's are aligned
 * here. */
static struct sim_block *create_block(struct sim_core *core)
{
    const struct sim_run *run = core->run;
    size_t warps = run->warps_per_block, shared = base_round_up((size_t)run->shared_bytes + 16, 64);
    size_t frame = base_round_up(run->kernel->frame_bytes, 64),
           local = base_round_up((size_t)run->local_stride * SIM_LANES, 64);
    bool is_checked = run->launch->checks & SIM_CHECK_SHARED_INIT;
    size_t races = run->launch->checks & SIM_CHECK_RACES ? sim_races_bytes(run->shared_bytes) : 0;
    struct sim_block *block = base_calloc(1, sizeof(*block));
    unsigned char *memory = NULL;

    if (block)
        block->memory = base_calloc(1, (frame + local) * warps + shared * 2 + races + 63);
    if (!block || !block->memory) {
        base_free(block);
        return NULL;
    }
    memory = block->memory + (-(uintptr_t)block->memory & 63);
    block->core = core;
    block->warp_count = run->warps_per_block;
    for (size_t w = 0; w < warps; w++) {
        block->warps[w].frame = memory + w * frame;
        block->warps[w].local = memory + warps * frame + w * local;
    }
    block->shared = memory + (frame + local) * warps;
    block->shadow = is_checked ? block->shared + shared : NULL;
    block->races = races ? (void *)(block->shared + shared * 2) : NULL;
    block->shared_bytes = run->shared_bytes;
    block->is_watched =
        is_checked || races || core->sites || (run->launch->checks & SIM_CHECK_GLOBAL_INIT);
    block->is_fresh = true;
    return block;
}

struct sim_block *sim_block_start(struct sim_core *core, uint64_t number)
{
    const uint32_t *grid = core->run->launch->grid;
    struct sim_block *block = core->idle;
    if (block)
        core->idle = block->next;
    else
        block = create_block(core);
    if (!block)
        return NULL;
    block->next = NULL;
    block->number = number;
    block->id[0] = (uint32_t)(number % grid[0]);
    block->id[1] = (uint32_t)(number / grid[0] % grid[1]);
    block->id[2] = (uint32_t)(number / grid[0] / grid[1]);
    block->warps_left = block->warp_count;
    memset(block->barriers, 0, sizeof(block->barriers));
    if (block->shadow)
        memset(block->shadow, 0, block->shared_bytes);
    if (block->races)
        sim_races_start(block);
    for (uint32_t w = 0; w < block->warp_count; w++)
        start_warp(block, w, block->is_fresh);
    block->is_fresh = false;
    return block;
}

static void run_warp(struct sim_warp *warp)
{
    const struct sim_op *op = sim_warp_pick(warp);
    while (op)
        op = op->run(warp, op);
}

bool sim_block_run_slice(struct sim_block *block)
{
    struct sim_core *core = block->core;
    bool has_run = false;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        struct sim_warp *warp = &block->warps[w];
        if (warp->status != SIM_WARP_READY)
            continue;
        has_run = true;
        run_warp(warp);
        if (core->has_faulted)
            return true;
        if (warp->status == SIM_WARP_DONE)
            block->warps_left--;
        if (core->fuel <= 0 && sim_stop_requested(core))
            return true;
    }
    return has_run;
}

void sim_block_release(struct sim_block *block)
{
    block->next = block->core->idle;
    block->core->idle = block;
}

static void free_warp(struct sim_warp *warp)
{
    for (uint32_t i = 0; i < warp->saved_capacity; i++)
        base_free(warp->saved[i]);
    base_free(warp->saved);
    base_free(warp->records);
}

void sim_blocks_free(struct sim_core *core)
{
    while (core->idle) {
        struct sim_block *block = core->idle;
        core->idle = block->next;
        for (uint32_t w = 0; w < block->warp_count; w++)
            free_warp(&block->warps[w]);
        base_free(block->memory);
        base_free(block);
    }
}
