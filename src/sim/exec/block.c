/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a block: memory, rows with fixed contents, special registers, turns of its warps. */
#include "sim/exec/block.h"

#include "base/alloc.h"

#include <string.h>

static size_t round_up(size_t size)
{
    return (size + 63) / 64 * 64;
}

static void fill_row(
    struct sim_warp *warp, const struct sim_row *row, unsigned lane, uint64_t value)
{
    unsigned char *at = warp->frame + row->offset + (size_t)lane * row->width;
    memcpy(at, &value, row->width < 8 ? row->width : 8);
}

static uint64_t fixed_value(const struct sim_run *run, const struct sim_row *row)
{
    switch (row->kind) {
    case SIM_ROW_VARIABLE:
        return run->launch->variables[row->id] + row->value;
    case SIM_ROW_SHARED:
        return run->kernel->shared_offsets[row->id] + row->value;
    case SIM_ROW_PARAMETER:
        return (uint64_t)(uintptr_t)run->parameters + row->value;
    default:
        return row->value;
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
        return block->number % cores;
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

/* Constants only when the memory is fresh: nothing ever writes to their rows. */
static void fill_rows(
    struct sim_warp *warp, const struct sim_row *rows, uint32_t count, bool is_fresh)
{
    const struct sim_run *run = warp->core->run;
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_row *row = &rows[i];
        bool is_special = row->kind == SIM_ROW_SPECIAL;
        if (!is_special && !is_fresh)
            continue;
        uint64_t value = is_special ? 0 : fixed_value(run, row);
        for (unsigned lane = 0; lane < SIM_LANES; lane++)
            fill_row(warp, row, lane, is_special ? special_value(warp, row->id, lane) : value);
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
    warp->depth = warp->spin = warp->hold = 0;
    warp->met = warp->join_count = 0;
    warp->status = SIM_WARP_READY;
    warp->local_stride = run->local_stride;
    warp->local_bytes = run->local_bytes;
    warp->split_count = 1;
    warp->splits[0] = (struct sim_split){.pc = run->kernel->entry, .mask = warp->live};
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
        warp->stack_top[lane] = run->local_bytes;
    memset(warp->frame + SIM_ROW_LOCAL, 0, 128);
    *sim_word_at(warp, SIM_ROW_TRUE) = SIM_ALL_LANES;
    *sim_word_at(warp, SIM_ROW_FALSE) = 0;
    fill_rows(warp, run->program->rows, run->program->row_count, is_fresh);
    fill_rows(warp, run->kernel->rows, run->kernel->row_count, is_fresh);
}

/* One piece of memory: frames, local windows, shared memory, its shadow. */
static struct sim_block *make_block(struct sim_core *core)
{
    const struct sim_run *run = core->run;
    size_t warps = run->warps_per_block, shared = round_up((size_t)run->shared_bytes + 16);
    size_t frame = round_up(run->kernel->frame_bytes),
           local = round_up((size_t)run->local_stride * SIM_LANES);
    bool is_checked = run->launch->checks & SIM_CHECK_SHARED_INIT;
    struct sim_block *block = base_calloc(1, sizeof(*block));
    unsigned char *memory =
        block ? base_aligned_calloc(64, (frame + local) * warps + shared * 2) : NULL;
    if (!memory) {
        base_free(block);
        return NULL;
    }
    block->memory = memory;
    block->core = core;
    block->warp_count = run->warps_per_block;
    for (size_t w = 0; w < warps; w++) {
        block->warps[w].frame = memory + w * frame;
        block->warps[w].local = memory + warps * frame + w * local;
    }
    block->shared = memory + (frame + local) * warps;
    block->shadow = is_checked ? block->shared + shared : NULL;
    block->shared_bytes = run->shared_bytes;
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
        block = make_block(core);
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

bool sim_block_turn(struct sim_block *block)
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
        if (core->fuel <= 0 && sim_stop_asked(core))
            return true;
    }
    return has_run;
}

void sim_block_give_back(struct sim_block *block)
{
    block->next = block->core->idle;
    block->core->idle = block;
}

static void free_warp(struct sim_warp *warp)
{
    for (uint32_t i = 0; i < warp->saved_room; i++)
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
