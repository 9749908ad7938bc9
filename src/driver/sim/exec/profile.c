/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of memory per operation; see profile.h. */
#include "driver/sim/exec/profile.h"

enum { BANKS = 32, WORD = 4, SECTOR = 32 };

/* ---- one request ----------------------------------------------------------------------------- */

/* Adds the value to the set unless it has it. */
static bool add_to_set(uint64_t *set, uint32_t *count, uint64_t value)
{
    for (uint32_t i = *count; i-- > 0;)
        if (set[i] == value)
            return false;
    set[(*count)++] = value;
    return true;
}

/* The most lanes that have the same address. */
static uint32_t count_same(const uint64_t *addresses, uint32_t lanes)
{
    uint32_t most = 0;

    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const uint64_t address = addresses[__builtin_ctz(rest)];
        uint32_t same = 0;

        for (uint32_t others = rest; others; others &= others - 1)
            same += addresses[__builtin_ctz(others)] == address;
        most = same > most ? same : most;
    }
    return most;
}

/* How often the banks are passed over for these lanes. */
static uint32_t count_passes(
    const uint64_t *offsets, uint32_t lanes, uint32_t bytes, bool is_atomic)
{
    uint64_t words[SIM_LANES * 4];
    uint32_t of_bank[BANKS] = {0}, count = 0, most = 0;

    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const uint64_t first = offsets[__builtin_ctz(rest)] / WORD;

        for (uint32_t i = 0; i < bytes || i == 0; i += WORD) {
            const uint64_t word = first + i / WORD;

            if (!is_atomic && !add_to_set(words, &count, word))
                continue;
            if (++of_bank[word % BANKS] > most)
                most = of_bank[word % BANKS];
        }
    }
    return most;
}

static void count_shared(struct sim_traffic *traffic, const uint64_t *offsets, uint32_t lanes,
    uint32_t bytes, bool is_atomic)
{
    const uint32_t at_once = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    const uint32_t part = at_once == 32 ? SIM_ALL_LANES : (1u << at_once) - 1;

    for (uint32_t first = 0; first < SIM_LANES; first += at_once) {
        const uint32_t some = lanes & part << first;
        const uint32_t passes = some ? count_passes(offsets, some, bytes, is_atomic) : 0;

        traffic->units += passes;
        traffic->ideal += some != 0;
        traffic->worst = passes > traffic->worst ? passes : traffic->worst;
    }
}

static void count_global(
    struct sim_traffic *traffic, const uint64_t *addresses, uint32_t lanes, uint32_t bytes)
{
    uint64_t sectors[SIM_LANES], starts[SIM_LANES];
    uint32_t sector_count = 0, start_count = 0;

    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const uint64_t address = addresses[__builtin_ctz(rest)];

        add_to_set(sectors, &sector_count, address / SECTOR);
        add_to_set(starts, &start_count, address);
    }
    traffic->units += sector_count;
    traffic->ideal += (start_count * bytes + SECTOR - 1) / SECTOR;
    traffic->worst = sector_count > traffic->worst ? sector_count : traffic->worst;
}

/* A copy in bulk, of one lane: whole sectors, and no bank is busier than the others. */
static void count_bulk(struct sim_traffic *traffic, uint32_t bytes, uint32_t unit)
{
    const uint32_t units = (bytes + unit - 1) / unit;

    traffic->units += units;
    traffic->ideal += units;
    traffic->worst = traffic->worst ? traffic->worst : 1;
}

static void count_request(struct sim_traffic *traffic, bool is_shared, enum sim_use use,
    const uint64_t *addresses, uint32_t lanes, uint32_t bytes)
{
    const uint32_t same = use == SIM_USE_ATOMIC ? count_same(addresses, lanes) : 0;

    if (!lanes)
        return;
    traffic->requests++;
    traffic->lanes += (uint32_t)__builtin_popcount(lanes);
    traffic->use = use;
    traffic->same = same > traffic->same ? same : traffic->same;
    if (bytes > 16)
        count_bulk(traffic, bytes, is_shared ? BANKS * WORD : SECTOR);
    else if (is_shared)
        count_shared(traffic, addresses, lanes, bytes, use == SIM_USE_ATOMIC);
    else
        count_global(traffic, addresses, lanes, bytes);
}

/* ---- requests of a warp ---------------------------------------------------------------------- */

static bool is_within(uint64_t address, uint64_t base, uint64_t size)
{
    return address - base < size;
}

static bool is_constant(const struct sim_run *run, uint64_t address)
{
    const struct sim_program *program = run->program;

    for (uint32_t i = 0; i < program->variable_count; i++)
        if (program->variables[i].is_constant &&
            is_within(address, run->launch->variables[i], program->variables[i].size))
            return true;
    return false;
}

/* The lanes whose global or generic address is one of global memory. Those in shared memory are
 * *shared, with offsets. */
static uint32_t find_global(const struct sim_warp *warp, const uint64_t *addresses, uint32_t lanes,
    uint64_t *offsets, uint32_t *shared)
{
    const uint64_t window = (uint64_t)(uintptr_t)warp->block->shared;
    uint32_t global = sim_global_lanes(warp, addresses, lanes);

    *shared = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);

        offsets[lane] = addresses[lane] - window;
        *shared |= offsets[lane] < warp->block->shared_bytes ? 1u << lane : 0;
    }
    if (global && is_constant(warp->core->run, addresses[__builtin_ctz(global)]))
        global = 0;
    return global;
}

void sim_profile_access(struct sim_warp *warp, const struct sim_op *op, uint32_t space,
    const uint64_t *addresses, uint32_t lanes, uint32_t bytes, bool is_write)
{
    struct sim_site *site = &warp->core->sites[sim_pc(warp, op)];
    const bool is_atomic = sim_is_atomic(op);
    const enum sim_use use = is_atomic ? SIM_USE_ATOMIC : is_write ? SIM_USE_WRITE : SIM_USE_READ;
    uint64_t offsets[SIM_LANES];
    uint32_t shared, global;

    if (space == SIM_IN_LOCAL || space == SIM_IN_PARAM)
        return;
    if (space == SIM_IN_SHARED) {
        count_request(&site->shared, true, use, addresses, lanes, bytes);
        return;
    }
    global = find_global(warp, addresses, lanes, offsets, &shared);
    count_request(&site->shared, true, use, offsets, shared, bytes);
    count_request(&site->global, false, use, addresses, global, bytes);
}

/* ---- of a launch ----------------------------------------------------------------------------- */

static void add(struct sim_traffic *to, const struct sim_traffic *from)
{
    if (!from->requests)
        return;
    to->requests += from->requests;
    to->lanes += from->lanes;
    to->units += from->units;
    to->ideal += from->ideal;
    to->worst = from->worst > to->worst ? from->worst : to->worst;
    to->same = from->same > to->same ? from->same : to->same;
    to->use = from->use;
}

void sim_profile_merge(struct sim_run *run, const struct sim_site *sites)
{
    for (uint32_t i = 0; i < run->program->op_count; i++) {
        add(&run->sites[i].shared, &sites[i].shared);
        add(&run->sites[i].global, &sites[i].global);
    }
}

static void report(
    const struct sim_run *run, uint32_t op, enum sim_space space, const struct sim_traffic *traffic)
{
    struct sim_access_count count = {.line = run->program->lines[op],
        .space = space,
        .use = traffic->use,
        .requests = traffic->requests,
        .lanes = traffic->lanes,
        .units = traffic->units,
        .ideal = traffic->ideal,
        .worst = traffic->worst,
        .same = traffic->same};

    if (!traffic->requests)
        return;
    count.source_line = sim_program_source(run->program, count.line, &count.source_file);
    run->launch->count(run->launch->count_context, &count);
}

void sim_profile_report(const struct sim_run *run)
{
    for (uint32_t i = 0; run->sites && i < run->program->op_count; i++) {
        report(run, i, SIM_SPACE_SHARED, &run->sites[i].shared);
        report(run, i, SIM_SPACE_GLOBAL, &run->sites[i].global);
    }
}
