/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and returns: a record for each lane and depth; registers of recursive callers kept lane by
 * lane. */
#include "sim/exec/machine.h"

#include "base/alloc.h"

#include <string.h>

static bool has_records(struct sim_warp *warp)
{
    if (warp->depth < warp->record_room)
        return true;
    uint32_t room = warp->record_room ? warp->record_room * 2 : 8;
    void *moved = base_realloc(warp->records, room, sizeof(*warp->records) * SIM_LANES);
    if (!moved)
        return false;
    warp->records = moved;
    warp->record_room = room;
    return true;
}

/* Notes for each lane where it returns to and moves its local frame; false when a fault was raised.
 */
static bool push_records(
    struct sim_warp *warp, const struct sim_op *op, uint32_t lanes, uint32_t frame)
{
    uint32_t *local = sim_row_at(warp, SIM_ROW_LOCAL);
    if (warp->depth >= SIM_MAX_DEPTH) {
        sim_fault_raise(warp, op, SIM_FAULT_STACK_OVERFLOW, lanes);
        return false;
    }
    if (!has_records(warp)) {
        sim_fault_raise(warp, op, SIM_FAULT_NO_MEMORY, lanes);
        return false;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        warp->records[warp->depth * SIM_LANES + lane] =
            (struct sim_frame_record){sim_pc(warp, op) + 1, local[lane], warp->stack_top[lane]};
        local[lane] += frame;
    }
    return true;
}

static const struct sim_op *enter(struct sim_warp *warp, const struct sim_op *op, uint32_t lanes,
    const struct sim_function_code *f)
{
    const uint32_t *local = sim_row_at(warp, SIM_ROW_LOCAL);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (local[lane] + f->local_bytes > warp->stack_top[lane]) {
            return sim_fault_raise(warp, op, SIM_FAULT_STACK_OVERFLOW, 1u << lane);
        }
    }
    return warp->code + f->entry;
}

static const struct sim_op *run_call(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_lanes_of(warp, op);
    if (lanes == 0)
        return op + 1;
    if (!push_records(warp, op, lanes, op->d))
        return NULL;
    if (warp->active & ~lanes)
        sim_split_add(warp, sim_pc(warp, op) + 1, warp->active & ~lanes, warp->depth);
    warp->active = lanes;
    warp->depth++;
    return enter(warp, op, lanes, &warp->core->run->program->functions[op->aux]);
}

static const struct sim_function_code *function_at(
    const struct sim_program *program, uint64_t address)
{
    uint64_t number = (address - SIM_CODE_BASE) / SIM_CODE_STEP;
    if (address < SIM_CODE_BASE || address % SIM_CODE_STEP != 0 || number == 0 ||
        number > program->function_count || !program->functions[number - 1].has_code)
        return NULL;
    return &program->functions[number - 1];
}

/* Lanes call one function after the other; each group returns to the operation behind the call. */
static const struct sim_op *run_call_indirect(struct sim_warp *warp, const struct sim_op *op)
{
    const uint64_t *pointers = sim_row_at(warp, op->a);
    uint32_t lanes = sim_lanes_of(warp, op);
    if (lanes == 0)
        return op + 1;
    unsigned first = (unsigned)__builtin_ctz(lanes);
    uint32_t same = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        same |= pointers[lane] == pointers[first] ? 1u << lane : 0;
    }
    const struct sim_function_code *f = function_at(warp->core->run->program, pointers[first]);
    if (!f)
        return sim_fault_raise(warp, op, SIM_FAULT_INVALID_PC, same);
    if (!push_records(warp, op, same, op->d))
        return NULL;
    /* The rest calls when its turn comes: from here; lanes whose guard is off go on. */
    if (warp->active & ~lanes)
        sim_split_add(warp, sim_pc(warp, op) + 1, warp->active & ~lanes, warp->depth);
    if (lanes & ~same)
        sim_split_add(warp, sim_pc(warp, op), lanes & ~same, warp->depth);
    warp->active = same;
    warp->depth++;
    return enter(warp, op, same, f);
}

static const struct sim_op *run_ret(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_lanes_of(warp, op);
    uint32_t *local = sim_row_at(warp, SIM_ROW_LOCAL);
    if (lanes == 0)
        return op + 1;
    if (warp->join_count && !sim_join_reach(warp, SIM_JOIN_RETURN, lanes))
        return NULL;
    uint32_t stay = warp->active & ~lanes, depth = warp->depth - 1;
    for (uint32_t rest = lanes; rest;) {
        uint32_t pc = warp->records[depth * SIM_LANES + (unsigned)__builtin_ctz(rest)].pc, same = 0;
        for (uint32_t r = rest; r; r &= r - 1) {
            unsigned lane = (unsigned)__builtin_ctz(r);
            const struct sim_frame_record *record = &warp->records[depth * SIM_LANES + lane];
            if (record->pc != pc)
                continue;
            same |= 1u << lane;
            local[lane] = record->local;
            warp->stack_top[lane] = record->stack;
        }
        if (same == warp->active && warp->split_count == 0) {
            warp->depth = depth;
            return warp->code + pc;
        }
        sim_split_add(warp, pc, same, depth);
        rest &= ~same;
    }
    if (stay)
        sim_split_add(warp, sim_pc(warp, op) + 1, stay, warp->depth);
    return sim_warp_pick(warp);
}

/* Copies one lane of all rows of a function to packed bytes, or back. */
static void copy_lane(struct sim_warp *warp, const struct sim_function_code *f, unsigned lane,
    unsigned char *packed, bool is_save)
{
    static const uint32_t widths[SIM_ROW_CLASSES] = {0, 2, 4, 8, 16};
    for (uint32_t i = 0; i < f->area_count[0]; i++, packed++) {
        uint32_t *word = sim_word_at(warp, f->area_base[0] + i * 4);
        if (is_save)
            *packed = *word >> lane & 1;
        else
            *word = (*word & ~(1u << lane)) | (uint32_t)*packed << lane;
    }
    for (int c = 1; c <= SIM_ROW_CLASSES; c++) {
        bool is_parameter = c == SIM_ROW_CLASSES;
        uint32_t width = is_parameter ? 4 : widths[c];
        uint32_t base = is_parameter ? f->parameter_base : f->area_base[c];
        uint32_t count = is_parameter ? f->parameter_count : f->area_count[c];
        for (uint32_t i = 0; i < count; i++, packed += width) {
            unsigned char *at = warp->frame + base + (size_t)i * width * SIM_LANES + lane * width;
            if (is_save)
                memcpy(packed, at, width);
            else
                memcpy(at, packed, width);
        }
    }
}

static unsigned char *saved_at(struct sim_warp *warp, uint32_t depth)
{
    if (depth >= warp->saved_room) {
        uint32_t room = depth * 2 + 8;
        unsigned char **moved = base_realloc(warp->saved, room, sizeof(*moved));
        if (!moved)
            return NULL;
        memset(moved + warp->saved_room, 0, (room - warp->saved_room) * sizeof(*moved));
        warp->saved = moved;
        warp->saved_room = room;
    }
    if (!warp->saved[depth])
        warp->saved[depth] = base_calloc(SIM_LANES, warp->core->run->program->saved_stride + 1);
    return warp->saved[depth];
}

static const struct sim_op *run_save(struct sim_warp *warp, const struct sim_op *op)
{
    const struct sim_program *program = warp->core->run->program;
    const struct sim_function_code *f = &program->functions[op->aux];
    unsigned char *saved = saved_at(warp, warp->depth);
    if (!saved)
        return sim_fault_raise(warp, op, SIM_FAULT_NO_MEMORY, warp->active);
    uint32_t stride = program->saved_stride;
    for (uint32_t rest = warp->active; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        copy_lane(warp, f, lane, saved + (size_t)lane * stride, true);
    }
    return op + 1;
}

static const struct sim_op *run_restore(struct sim_warp *warp, const struct sim_op *op)
{
    const struct sim_program *program = warp->core->run->program;
    const struct sim_function_code *f = &program->functions[op->aux];
    unsigned char *saved = saved_at(warp, warp->depth);
    for (uint32_t rest = saved ? warp->active : 0; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        copy_lane(warp, f, lane, saved + (size_t)lane * program->saved_stride, false);
    }
    return op + 1;
}

static const struct sim_op *run_copy_rows(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_lanes_of(warp, op);
    if (lanes == SIM_ALL_LANES) {
        memcpy(sim_row_at(warp, op->d), sim_row_at(warp, op->a), (size_t)op->aux * 128);
        return op + 1;
    }
    for (uint32_t i = 0; i < op->aux; i++) {
        uint32_t *d = sim_row_at(warp, op->d + i * 128);
        const uint32_t *a = sim_row_at(warp, op->a + i * 128);
        for (unsigned lane = 0; lane < SIM_LANES; lane++)
            d[lane] = lanes >> lane & 1 ? a[lane] : d[lane];
    }
    return op + 1;
}

static const struct sim_op *run_print(struct sim_warp *warp, const struct sim_op *op)
{
    const uint32_t *rows = sim_row_at(warp, op->a);
    uint32_t *d = sim_row_at(warp, op->d);
    for (uint32_t rest = sim_lanes_of(warp, op); rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        sim_print_lane(warp, rows[lane] | (uint64_t)rows[32 + lane] << 32,
            rows[64 + lane] | (uint64_t)rows[96 + lane] << 32);
        d[lane] = 0;
    }
    return op + 1;
}

static const struct sim_op *run_assert(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_lanes_of(warp, op);
    return lanes ? sim_fault_raise(warp, op, SIM_FAULT_ASSERT, lanes) : op + 1;
}

static const struct sim_op *run_alloca(struct sim_warp *warp, const struct sim_op *op)
{
    uint64_t *d = sim_row_at(warp, op->d);
    const uint64_t *bytes = sim_row_at(warp, op->a);
    const uint32_t *local = sim_row_at(warp, SIM_ROW_LOCAL);
    for (uint32_t rest = sim_lanes_of(warp, op); rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (bytes[lane] > warp->stack_top[lane] - local[lane])
            return sim_fault_raise(warp, op, SIM_FAULT_STACK_OVERFLOW, 1u << lane);
        warp->stack_top[lane] = (warp->stack_top[lane] - (uint32_t)bytes[lane]) & ~(op->aux - 1);
        d[lane] = warp->stack_top[lane];
        if (warp->stack_top[lane] < local[lane])
            return sim_fault_raise(warp, op, SIM_FAULT_STACK_OVERFLOW, 1u << lane);
    }
    return op + 1;
}

static const struct sim_op *run_stack_save(struct sim_warp *warp, const struct sim_op *op)
{
    uint64_t *d = sim_row_at(warp, op->d);
    for (uint32_t rest = sim_lanes_of(warp, op); rest; rest &= rest - 1)
        d[__builtin_ctz(rest)] = warp->stack_top[__builtin_ctz(rest)];
    return op + 1;
}

static const struct sim_op *run_stack_restore(struct sim_warp *warp, const struct sim_op *op)
{
    const uint64_t *a = sim_row_at(warp, op->a);
    for (uint32_t rest = sim_lanes_of(warp, op); rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (a[lane] > warp->local_bytes)
            return sim_fault_raise(warp, op, SIM_FAULT_STACK_OVERFLOW, 1u << lane);
        warp->stack_top[lane] = (uint32_t)a[lane];
    }
    return op + 1;
}

void sim_call_fill(struct sim_handlers *handlers)
{
    handlers->run[SIM_CALL][PTX_NONE] = run_call;
    handlers->run[SIM_CALL_INDIRECT][PTX_NONE] = run_call_indirect;
    handlers->run[SIM_RET][PTX_NONE] = run_ret;
    handlers->run[SIM_SAVE][PTX_NONE] = run_save;
    handlers->run[SIM_RESTORE][PTX_NONE] = run_restore;
    handlers->run[SIM_COPY_ROWS][PTX_NONE] = run_copy_rows;
    handlers->run[SIM_PRINT][PTX_NONE] = run_print;
    handlers->run[SIM_ASSERT][PTX_NONE] = run_assert;
    handlers->run[SIM_ALLOCA][PTX_U64] = run_alloca;
    handlers->run[SIM_STACK_SAVE][PTX_U64] = run_stack_save;
    handlers->run[SIM_STACK_RESTORE][PTX_U64] = run_stack_restore;
}
