/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: blocks are distributed over cores. A core runs one block after another and starts
 * further blocks when all of its resident blocks wait for blocks that have not started; all blocks
 * of a cooperative launch are resident from the start.
 */
#include "driver/sim/exec/block.h"
#include "driver/sim/exec/profile.h"
#include "driver/sim/exec/race.h"

#include "base/alloc.h"
#include "base/math.h"

#include <string.h>

enum {
    /* Warp instructions between checks of the cancel flag: less than a millisecond. */
    FUEL = 100000,
    /* Maximum number of blocks resident on a core, similar to a small GPU. */
    RESIDENT_BLOCKS = 64,
    /* Rounds without a finished block before another block is started. */
    IDLE_ROUNDS_BEFORE_NEXT_BLOCK = 8,
    DEFAULT_STACK = 1024,
    /* Launches of more blocks are not checked for data races in global memory. */
    MOST_RACE_BLOCKS = 1 << 24
};

/* Accounts for the fuel consumed, refuels, and returns whether the launch must end. */
bool sim_stop_requested(struct sim_core *core)
{
    struct sim_run *run = core->run;
    const struct sim_launch *launch = run->launch;
    uint64_t consumed = (uint64_t)(run->fuel - core->fuel);
    core->fuel = run->fuel;
    uint64_t sum = __atomic_add_fetch(&run->instructions, consumed, __ATOMIC_RELAXED);
    if (__atomic_load_n(&run->stop, __ATOMIC_ACQUIRE)) {
        core->has_faulted = true;
    } else if (launch->instruction_limit && sum > launch->instruction_limit) {
        sim_fault_run(run, SIM_FAULT_INSTRUCTION_LIMIT);
        core->has_faulted = true;
    } else if (launch->cancel && __atomic_load_n(launch->cancel, __ATOMIC_ACQUIRE)) {
        sim_fault_run(run, SIM_FAULT_CANCELLED);
        core->has_faulted = true;
    }
    return core->has_faulted;
}

struct residents {
    struct sim_block *blocks[RESIDENT_BLOCKS];
    struct sim_block **list; /* blocks; capacity for a cooperative launch's share */
    uint64_t count, capacity;
};

static bool start_block(struct sim_core *core, struct residents *residents, uint64_t number)
{
    struct sim_block *block = sim_block_start(core, number);
    if (!block) {
        /* Other cores may finish blocks and release their memory. */
        if (residents->count == 0 || core->run->launch->is_cooperative)
            sim_fault_run(core->run, SIM_FAULT_NO_MEMORY);
        core->has_faulted |= residents->count == 0 || core->run->launch->is_cooperative;
        return false;
    }
    residents->list[residents->count++] = block;
    return true;
}

/* Reports a block that cannot progress: every live thread is at a barrier or waits for a thread
 * that is. */
static void report_deadlock(struct sim_block *block)
{
    for (uint32_t w = 0; w < block->warp_count; w++)
        if (sim_sync_deadlock(&block->warps[w]))
            return;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        struct sim_warp *warp = &block->warps[w];
        if (warp->status == SIM_WARP_DONE || warp->group_count == 0)
            continue;
        const struct sim_group *group = &warp->groups[0];
        uint32_t pc = group->state == SIM_GROUP_AT_BARRIER && group->pc ? group->pc - 1 : group->pc;
        sim_fault_raise(warp, warp->code + pc, SIM_FAULT_DEADLOCK, group->mask);
        return;
    }
}

/* Runs one time slice of each resident block; returns the number of blocks that ended. */
static uint64_t run_slices(struct sim_core *core, struct residents *residents)
{
    uint64_t ended = 0;
    for (uint64_t i = 0; i < residents->count && !core->has_faulted;) {
        struct sim_block *block = residents->list[i];
        bool has_run = sim_block_run_slice(block);
        if (core->has_faulted)
            break;
        if (block->warps_left == 0) {
            sim_block_release(block);
            residents->list[i] = residents->list[--residents->count];
            ended++;
            continue;
        }
        if (!has_run)
            report_deadlock(block);
        i++;
    }
    return ended;
}

static bool claim_block(struct sim_run *run, uint64_t *number)
{
    if (__atomic_load_n(&run->next_block, __ATOMIC_RELAXED) >= run->block_count)
        return false;
    *number = __atomic_fetch_add(&run->next_block, 1, __ATOMIC_RELAXED);
    return *number < run->block_count;
}

static void run_blocks(struct sim_core *core, struct residents *residents)
{
    uint64_t number;
    uint32_t idle_rounds = 0;
    residents->list = residents->blocks;
    residents->capacity = RESIDENT_BLOCKS;
    while (!core->has_faulted) {
        bool wants_more = residents->count == 0 || (idle_rounds >= IDLE_ROUNDS_BEFORE_NEXT_BLOCK &&
                                                       residents->count < residents->capacity);
        if (wants_more && claim_block(core->run, &number)) {
            start_block(core, residents, number);
            idle_rounds = 0;
        }
        if (residents->count == 0)
            break;
        idle_rounds = run_slices(core, residents) ? 0 : idle_rounds + core->is_sliced;
        core->is_sliced = false;
    }
}

/* Every block of a cooperative launch may wait for all others, so each core starts its share
 * before it runs any. */
static void run_cooperative_blocks(struct sim_core *core, struct residents *residents)
{
    const struct sim_run *run = core->run;
    uint64_t share = base_ceil_div(run->block_count, core->core_count);
    residents->list = base_calloc(share + 1, sizeof(*residents->list));
    if (!residents->list) {
        sim_fault_run(core->run, SIM_FAULT_NO_MEMORY);
        return;
    }
    for (uint64_t n = core->index; n < run->block_count && !core->has_faulted;
         n += core->core_count)
        start_block(core, residents, n);
    while (residents->count > 0 && !core->has_faulted)
        run_slices(core, residents);
}

static void add_counts(struct sim_core *core)
{
    struct sim_run *run = core->run;
    struct sim_counts sum = {0};
    for (uint32_t b = 0; b < run->program->block_count; b++) {
        const struct sim_block_count *count = &core->counts[b];
        const struct sim_basic_block *block = &run->program->blocks[b];
        if (count->warps == 0)
            continue;
        sum.warp_instructions += count->warps * block->instructions;
        sum.lane_instructions += count->lanes * block->instructions;
        for (int c = 0; c < SIM_CLASS_COUNT; c++) {
            sum.warp_by_class[c] += count->warps * block->by_class[c];
            sum.lane_by_class[c] += count->lanes * block->by_class[c];
        }
    }
    pthread_mutex_lock(&run->lock);
    run->counts.warp_instructions += sum.warp_instructions;
    run->counts.lane_instructions += sum.lane_instructions;
    for (int c = 0; c < SIM_CLASS_COUNT; c++) {
        run->counts.warp_by_class[c] += sum.warp_by_class[c];
        run->counts.lane_by_class[c] += sum.lane_by_class[c];
    }
    if (core->sites)
        sim_profile_merge(run, core->sites);
    pthread_mutex_unlock(&run->lock);
}

static void run_core(void *context, unsigned index, unsigned count)
{
    struct sim_run *run = context;
    struct sim_core core = {.run = run, .index = index, .core_count = count, .fuel = run->fuel};
    struct residents residents = {.count = 0};
    core.counts = base_calloc(run->program->block_count + 1u, sizeof(*core.counts));
    if (run->sites)
        core.sites = base_calloc(run->program->op_count + 1u, sizeof(*core.sites));
    if (!core.counts || (run->sites && !core.sites)) {
        base_free(core.counts);
        base_free(core.sites);
        sim_fault_run(run, SIM_FAULT_NO_MEMORY);
        return;
    }
    if (run->launch->is_cooperative)
        run_cooperative_blocks(&core, &residents);
    else
        run_blocks(&core, &residents);
    for (uint64_t i = 0; i < residents.count; i++)
        sim_block_release(residents.list[i]);
    if (residents.list != residents.blocks)
        base_free(residents.list);
    sim_blocks_free(&core);
    add_counts(&core);
    base_free(core.counts);
    base_free(core.sites);
}

static bool init_run(struct sim_run *run, const struct sim_launch *launch)
{
    const struct sim_kernel *kernel = launch->kernel;
    uint32_t stack = launch->stack_bytes ? launch->stack_bytes : DEFAULT_STACK;
    run->launch = launch;
    run->program = launch->program;
    run->kernel = &launch->program->kernel_codes[kernel->index];
    run->threads_per_block = launch->block[0] * launch->block[1] * launch->block[2];
    run->warps_per_block = (run->threads_per_block + SIM_LANES - 1) / SIM_LANES;
    run->block_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    run->shared_bytes = kernel->shared_bytes + launch->dynamic_shared_bytes;
    /* 16 bytes of slack per call level; an odd number of cache lines, so that lanes map to
     * different cache sets. */
    run->local_bytes =
        (uint32_t)base_round_up(kernel->local_bytes + stack, 16) + (kernel->is_recursive ? 0 : 256);
    run->local_stride = (uint32_t)base_round_up(run->local_bytes, 64);
    run->local_stride += run->local_stride / 64 % 2 == 0 ? 64 : 0;
    run->fuel = FUEL;
    if (launch->instruction_limit && launch->instruction_limit / 16 < FUEL)
        run->fuel = (int64_t)(launch->instruction_limit / 16 + 1);
    run->parameter_bytes = kernel->parameter_bytes;
    run->parameters =
        base_aligned_calloc(64, (size_t)kernel->parameter_bytes + 64 + SIM_WORKSPACE_BYTES);
    if (run->parameters && kernel->parameter_bytes)
        memcpy(run->parameters, launch->parameters, kernel->parameter_bytes);
    if (run->parameters)
        run->workspace = run->parameters + base_round_up(kernel->parameter_bytes, 64);
    if (launch->checks & SIM_CHECK_RACES && run->block_count <= MOST_RACE_BLOCKS)
        run->global_races = sim_global_races_create(run->block_count);
    if (launch->count)
        run->sites = base_calloc(launch->program->op_count + 1u, sizeof(*run->sites));
    return run->parameters && (run->sites || !launch->count);
}

static unsigned max_cores(const struct sim_run *run)
{
    return run->block_count > 256 ? 256 : (unsigned)run->block_count;
}

enum sim_fault_kind sim_launch_run(
    const struct sim_launch *launch, struct sim_counts *counts, struct sim_fault *fault)
{
    struct sim_run run = {0};
    if (!init_run(&run, launch)) {
        base_free(run.parameters);
        base_free(run.sites);
        sim_global_races_free(run.global_races);
        if (counts)
            memset(counts, 0, sizeof(*counts));
        if (fault)
            *fault =
                (struct sim_fault){.kind = SIM_FAULT_NO_MEMORY, .kernel = launch->kernel->name};
        return SIM_FAULT_NO_MEMORY;
    }
    pthread_mutex_init(&run.lock, NULL);
    base_thread_pool_run(launch->workers, max_cores(&run), run_core, &run);
    pthread_mutex_destroy(&run.lock);
    base_free(run.parameters);
    if (run.fault.kind == SIM_FAULT_NONE)
        sim_profile_report(&run);
    base_free(run.sites);
    sim_global_races_free(run.global_races);
    if (counts)
        *counts = run.counts;
    if (fault)
        *fault = run.fault;
    return run.fault.kind;
}
