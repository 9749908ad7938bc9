/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of kernels: the first one of a launch is recorded with all details that help to find its
 * cause. */
#include "base/text.h"
#include "driver/sim/exec/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[] = {
    [SIM_FAULT_NONE] = "no fault",
    [SIM_FAULT_OUT_OF_BOUNDS] = "out-of-bounds access",
    [SIM_FAULT_MISALIGNED] = "misaligned access",
    [SIM_FAULT_TRAP] = "trap",
    [SIM_FAULT_BREAKPOINT] = "breakpoint",
    [SIM_FAULT_ASSERT] = "failed assertion",
    [SIM_FAULT_INVALID_PC] = "jump to no code",
    [SIM_FAULT_STACK_OVERFLOW] = "stack overflow",
    [SIM_FAULT_INSTRUCTION_LIMIT] = "instruction limit reached",
    [SIM_FAULT_DEADLOCK] = "deadlock at a barrier",
    [SIM_FAULT_SYNC_DEADLOCK] = "deadlock in a warp",
    [SIM_FAULT_SYNC_MASK] = "lane outside its own member mask",
    [SIM_FAULT_CANCELLED] = "cancelled",
    [SIM_FAULT_NO_BARRIER] = "barrier number above 15",
    [SIM_FAULT_DIVERGENT_BARRIER] = "barrier reached by a part of a warp",
    [SIM_FAULT_UNINITIALISED_SHARED] = "read of shared memory that nobody wrote",
    [SIM_FAULT_UNINITIALISED_GLOBAL] = "read of global memory that nobody wrote",
    [SIM_FAULT_RACE] = "data race",
    [SIM_FAULT_NO_MEMORY] = "no host memory",
};

const char *sim_fault_name(enum sim_fault_kind kind)
{
    return (size_t)kind < sizeof(kind_names) / sizeof(kind_names[0]) ? kind_names[kind] : "unknown";
}

const char *sim_class_name(enum sim_class instruction_class)
{
    static const char *const names[SIM_CLASS_COUNT] = {"integer", "multiply", "float", "global",
        "shared", "local", "atomic", "warp", "barrier", "control"};
    return (unsigned)instruction_class < SIM_CLASS_COUNT ? names[instruction_class] : "unknown";
}

__attribute__((format(printf, 2, 3))) static void append_text(
    struct sim_fault *fault, const char *format, ...)
{
    size_t used = strlen(fault->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->text + used, sizeof(fault->text) - used, format, arguments);
    va_end(arguments);
}

static void describe_access(struct sim_fault *fault)
{
    static const char *const spaces[] = {"", " global", " shared", " local", " parameter"};
    append_text(fault, ", %s of %u byte%s at%s 0x%llx", fault->is_write ? "write" : "read",
        fault->size, base_plural(fault->size), spaces[fault->space],
        (unsigned long long)fault->address);
    if (fault->nearest.size)
        append_text(fault, ", nearest allocation 0x%llx + %llu",
            (unsigned long long)fault->nearest.base, (unsigned long long)fault->nearest.size);
}

/* Records the first fault and stops all threads. */
static void record_fault(struct sim_run *run, const struct sim_fault *fault)
{
    pthread_mutex_lock(&run->lock);
    if (run->fault.kind == SIM_FAULT_NONE)
        run->fault = *fault;
    pthread_mutex_unlock(&run->lock);
    __atomic_store_n(&run->stop, 1, __ATOMIC_RELEASE);
}

/* The end of a long path, which is what tells files apart. */
static const char *end_of(const char *path)
{
    enum { MOST = 60 };
    const size_t length = strlen(path);

    return length <= MOST ? path : path + length - MOST;
}

static void set_location(
    struct sim_fault *fault, const struct sim_warp *warp, const struct sim_op *op, unsigned lane)
{
    const struct sim_run *run = warp->core->run;
    const uint32_t *shape = run->launch->block;
    uint32_t thread = warp->index * SIM_LANES + lane;
    fault->kernel = run->launch->kernel->name;
    memcpy(fault->block, warp->block->id, sizeof(fault->block));
    fault->thread[0] = thread % shape[0];
    fault->thread[1] = thread / shape[0] % shape[1];
    fault->thread[2] = thread / shape[0] / shape[1];
    fault->line = run->program->lines[sim_pc(warp, op)];
    append_text(fault, "%s in kernel %.80s, block (%u,%u,%u), thread (%u,%u,%u), PTX line %u",
        sim_fault_name(fault->kind), fault->kernel, fault->block[0], fault->block[1],
        fault->block[2], fault->thread[0], fault->thread[1], fault->thread[2], fault->line);
    fault->source_line = sim_program_source(run->program, fault->line, &fault->source_file);
    if (fault->source_line)
        append_text(fault, " (%s:%u)", end_of(fault->source_file), fault->source_line);
}

const struct sim_op *sim_fault_access(struct sim_warp *warp, const struct sim_op *op,
    enum sim_fault_kind kind, enum sim_space space, unsigned lane, uint64_t address, uint32_t size,
    bool is_write, const struct sim_range *nearest)
{
    struct sim_fault fault = {
        .kind = kind, .space = space, .address = address, .size = size, .is_write = is_write};
    if (nearest)
        fault.nearest = *nearest;
    set_location(&fault, warp, op, lane);
    describe_access(&fault);
    record_fault(warp->core->run, &fault);
    warp->core->has_faulted = true;
    return NULL;
}

static void describe_other(
    struct sim_fault *fault, const struct sim_warp *warp, const struct sim_race *other)
{
    const struct sim_run *run = warp->core->run;
    const uint32_t *shape = run->launch->block, *grid = run->launch->grid;
    const uint32_t line = run->program->lines[other->pc];
    const bool is_of_block = other->block == (uint32_t)warp->block->number;
    const char *file;
    uint32_t source_line = sim_program_source(run->program, line, &file);

    append_text(fault, ", which ");
    if (!is_of_block)
        append_text(fault, "block (%u,%u,%u), ", other->block % grid[0],
            other->block / grid[0] % grid[1], other->block / grid[0] / grid[1]);
    append_text(fault, "thread (%u,%u,%u) %s in line %u", other->thread % shape[0],
        other->thread / shape[0] % shape[1], other->thread / shape[0] / shape[1],
        other->is_write ? "writes" : "reads", line);
    if (source_line)
        append_text(fault, " (%s:%u)", end_of(file), source_line);
    append_text(fault, is_of_block ? " with no barrier between" : " with no order between");
}

void sim_fault_race(struct sim_warp *warp, const struct sim_op *op, enum sim_space space,
    unsigned lane, uint64_t address, uint32_t bytes, bool is_write, const struct sim_race *other)
{
    struct sim_fault fault = {.kind = SIM_FAULT_RACE,
        .space = space,
        .address = address,
        .size = bytes,
        .is_write = is_write};

    set_location(&fault, warp, op, lane);
    describe_access(&fault);
    describe_other(&fault, warp, other);
    record_fault(warp->core->run, &fault);
    warp->core->has_faulted = true;
}

const struct sim_op *sim_fault_raise(
    struct sim_warp *warp, const struct sim_op *op, enum sim_fault_kind kind, uint32_t lanes)
{
    struct sim_fault fault = {.kind = kind};
    set_location(&fault, warp, op, lanes ? (unsigned)__builtin_ctz(lanes) : 0);
    record_fault(warp->core->run, &fault);
    warp->core->has_faulted = true;
    return NULL;
}

/* Writes "1, 4-7, 9" as far as the buffer permits, or the mask when it is too small. */
static void describe_lanes(struct sim_fault *fault, uint32_t lanes)
{
    unsigned runs = (unsigned)__builtin_popcount(lanes & ~(lanes << 1));
    if (runs > 8) {
        append_text(fault, "lanes 0x%08x", lanes);
        return;
    }
    append_text(fault, lanes & (lanes - 1) ? "lanes " : "lane ");
    for (uint32_t rest = lanes; rest;) {
        unsigned first = (unsigned)__builtin_ctz(rest), last = first;
        while (last < 31 && rest >> (last + 1) & 1)
            last++;
        append_text(fault, first == last ? "%u" : "%u-%u", first, last);
        rest &= last == 31 ? 0 : ~0u << (last + 1);
        append_text(fault, rest ? ", " : "");
    }
}

void sim_fault_sync(struct sim_warp *warp, const struct sim_group *waiting, uint32_t missing,
    uint32_t missing_pc, bool are_past)
{
    const struct sim_op *op = warp->code + waiting->pc;
    struct sim_fault fault = {.kind = SIM_FAULT_SYNC_DEADLOCK};
    set_location(&fault, warp, op, (unsigned)__builtin_ctz(waiting->mask));
    append_text(&fault, ": %s of warp %u with mask 0x%08x waits for ", sim_sync_find(op)->name,
        warp->index, waiting->members);
    describe_lanes(&fault, missing);
    append_text(&fault, are_past ? ", gone past it to line %u" : ", waiting at line %u",
        warp->core->run->program->lines[missing_pc]);
    record_fault(warp->core->run, &fault);
    warp->core->has_faulted = true;
}

void sim_fault_run(struct sim_run *run, enum sim_fault_kind kind)
{
    struct sim_fault fault = {.kind = kind, .kernel = run->launch->kernel->name};
    append_text(&fault, "%s in kernel %.80s", sim_fault_name(kind), fault.kernel);
    record_fault(run, &fault);
}
