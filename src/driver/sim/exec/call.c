/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and returns: one record per lane and call depth; registers of recursive callers are saved
 * per lane. */
#include "driver/sim/exec/machine.h"

#include "base/alloc.h"

#include <string.h>

static bool reserve_records(struct sim_warp *warp)
{
    if (warp->depth < warp->record_capacity)
        return true;
    uint32_t capacity = warp->record_capacity ? warp->record_capacity * 2 : 8;
    void *moved = base_realloc(warp->records, capacity, sizeof(*warp->records) * SIM_LANES);
    if (!moved)
        return false;
    warp->records = moved;
    warp->record_capacity = capacity;
    return true;
}

/* Records each lane's return address and moves its local frame; false when a fault was raised. */
static bool push_records(
    struct sim_warp *warp, const struct sim_op *op, uint32_t lanes, uint32_t frame)
{
    uint32_t *local = sim_vreg_at(warp, SIM_VREG_LOCAL);
    if (warp->depth >= SIM_MAX_DEPTH) {
        sim_fault_raise(warp, op, SIM_FAULT_STACK_OVERFLOW, lanes);
        return false;
    }
    if (!reserve_records(warp)) {
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

static const struct sim_op *enter_function(struct sim_warp *warp, const struct sim_op *op,
    uint32_t lanes, const struct sim_function_code *function)
{
    const uint32_t *local = sim_vreg_at(warp, SIM_VREG_LOCAL);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (local[lane] + function->local_bytes > warp->stack_top[lane]) {
            return sim_fault_raise(warp, op, SIM_FAULT_STACK_OVERFLOW, 1u << lane);
        }
    }
    return warp->code + function->entry;
}

static const struct sim_op *run_call(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_active_lanes(warp, op);
    if (lanes == 0)
        return op + 1;
    if (!push_records(warp, op, lanes, op->d))
        return NULL;
    if (warp->active & ~lanes)
        sim_group_add(warp, sim_pc(warp, op) + 1, warp->active & ~lanes, warp->depth);
    warp->active = lanes;
    warp->depth++;
    return enter_function(warp, op, lanes, &warp->core->run->program->functions[op->aux]);
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

/* Lanes with different callees call one function after the other; each group returns to the
 * operation after the call. */
static const struct sim_op *run_call_indirect(struct sim_warp *warp, const struct sim_op *op)
{
    const uint64_t *pointers = sim_vreg_at(warp, op->a);
    uint32_t lanes = sim_active_lanes(warp, op);
    if (lanes == 0)
        return op + 1;
    unsigned first = (unsigned)__builtin_ctz(lanes);
    uint32_t same = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        same |= pointers[lane] == pointers[first] ? 1u << lane : 0;
    }
    const struct sim_function_code *function =
        function_at(warp->core->run->program, pointers[first]);
    if (!function)
        return sim_fault_raise(warp, op, SIM_FAULT_INVALID_PC, same);
    if (!push_records(warp, op, same, op->d))
        return NULL;
    /* The remaining lanes start here again in their turn; lanes whose guard is off continue. */
    if (warp->active & ~lanes)
        sim_group_add(warp, sim_pc(warp, op) + 1, warp->active & ~lanes, warp->depth);
    if (lanes & ~same)
        sim_group_add(warp, sim_pc(warp, op), lanes & ~same, warp->depth);
    warp->active = same;
    warp->depth++;
    return enter_function(warp, op, same, function);
}

static const struct sim_op *run_ret(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_active_lanes(warp, op);
    uint32_t *local = sim_vreg_at(warp, SIM_VREG_LOCAL);
    if (lanes == 0)
        return op + 1;
    if (warp->reconvergence_count &&
        !sim_reconvergence_reach(warp, SIM_RECONVERGE_AT_RETURN, lanes))
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
        if (same == warp->active && warp->group_count == 0) {
            warp->depth = depth;
            return warp->code + pc;
        }
        sim_group_add(warp, pc, same, depth);
        rest &= ~same;
    }
    if (stay)
        sim_group_add(warp, sim_pc(warp, op) + 1, stay, warp->depth);
    return sim_warp_pick(warp);
}

/* Copies one lane of all vector registers of a function to packed bytes, or back. */
static void copy_lane(struct sim_warp *warp, const struct sim_function_code *function,
    unsigned lane, unsigned char *packed, bool is_save)
{
    static const uint32_t widths[SIM_VREG_CLASSES] = {0, 2, 4, 8, 16};
    for (uint32_t i = 0; i < function->area_count[0]; i++, packed++) {
        uint32_t *word = sim_word_at(warp, function->area_base[0] + i * 4);
        if (is_save)
            *packed = *word >> lane & 1;
        else
            *word = (*word & ~(1u << lane)) | (uint32_t)*packed << lane;
    }
    for (int c = 1; c <= SIM_VREG_CLASSES; c++) {
        bool is_parameter = c == SIM_VREG_CLASSES;
        uint32_t width = is_parameter ? 4 : widths[c];
        uint32_t base = is_parameter ? function->parameter_base : function->area_base[c];
        uint32_t count = is_parameter ? function->parameter_count : function->area_count[c];
        for (uint32_t i = 0; i < count; i++, packed += width) {
            unsigned char *at = warp->frame + base + (size_t)i * width * SIM_LANES + lane * width;
            if (is_save)
                memcpy(packed, at, width);
            else
                memcpy(at, packed, width);
        }
    }
}

static unsigned char *saved_registers(struct sim_warp *warp, uint32_t depth)
{
    if (depth >= warp->saved_capacity) {
        uint32_t capacity = depth * 2 + 8;
        unsigned char **moved = base_realloc(warp->saved, capacity, sizeof(*moved));
        if (!moved)
            return NULL;
        memset(moved + warp->saved_capacity, 0, (capacity - warp->saved_capacity) * sizeof(*moved));
        warp->saved = moved;
        warp->saved_capacity = capacity;
    }
    if (!warp->saved[depth])
        warp->saved[depth] = base_calloc(SIM_LANES, warp->core->run->program->saved_stride + 1);
    return warp->saved[depth];
}

static const struct sim_op *run_save(struct sim_warp *warp, const struct sim_op *op)
{
    const struct sim_program *program = warp->core->run->program;
    const struct sim_function_code *function = &program->functions[op->aux];
    unsigned char *saved = saved_registers(warp, warp->depth);
    if (!saved)
        return sim_fault_raise(warp, op, SIM_FAULT_NO_MEMORY, warp->active);
    uint32_t stride = program->saved_stride;
    for (uint32_t rest = warp->active; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        copy_lane(warp, function, lane, saved + (size_t)lane * stride, true);
    }
    return op + 1;
}

static const struct sim_op *run_restore(struct sim_warp *warp, const struct sim_op *op)
{
    const struct sim_program *program = warp->core->run->program;
    const struct sim_function_code *function = &program->functions[op->aux];
    unsigned char *saved = saved_registers(warp, warp->depth);
    for (uint32_t rest = saved ? warp->active : 0; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        copy_lane(warp, function, lane, saved + (size_t)lane * program->saved_stride, false);
    }
    return op + 1;
}

static const struct sim_op *run_copy_vregs(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_active_lanes(warp, op);
    if (lanes == SIM_ALL_LANES) {
        memcpy(sim_vreg_at(warp, op->d), sim_vreg_at(warp, op->a), (size_t)op->aux * 128);
        return op + 1;
    }
    for (uint32_t i = 0; i < op->aux; i++) {
        uint32_t *d = sim_vreg_at(warp, op->d + i * 128);
        const uint32_t *a = sim_vreg_at(warp, op->a + i * 128);
        for (unsigned lane = 0; lane < SIM_LANES; lane++)
            d[lane] = lanes >> lane & 1 ? a[lane] : d[lane];
    }
    return op + 1;
}

static const struct sim_op *run_print(struct sim_warp *warp, const struct sim_op *op)
{
    const uint32_t *vregs = sim_vreg_at(warp, op->a);
    uint32_t *d = sim_vreg_at(warp, op->d);
    for (uint32_t rest = sim_active_lanes(warp, op); rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        sim_print_lane(warp, vregs[lane] | (uint64_t)vregs[32 + lane] << 32,
            vregs[64 + lane] | (uint64_t)vregs[96 + lane] << 32);
        d[lane] = 0;
    }
    return op + 1;
}

static const struct sim_op *run_assert(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_active_lanes(warp, op);
    return lanes ? sim_fault_raise(warp, op, SIM_FAULT_ASSERT, lanes) : op + 1;
}

static const struct sim_op *run_alloca(struct sim_warp *warp, const struct sim_op *op)
{
    uint64_t *d = sim_vreg_at(warp, op->d);
    const uint64_t *bytes = sim_vreg_at(warp, op->a);
    const uint32_t *local = sim_vreg_at(warp, SIM_VREG_LOCAL);
    for (uint32_t rest = sim_active_lanes(warp, op); rest; rest &= rest - 1) {
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
    uint64_t *d = sim_vreg_at(warp, op->d);
    for (uint32_t rest = sim_active_lanes(warp, op); rest; rest &= rest - 1)
        d[__builtin_ctz(rest)] = warp->stack_top[__builtin_ctz(rest)];
    return op + 1;
}

static const struct sim_op *run_stack_restore(struct sim_warp *warp, const struct sim_op *op)
{
    const uint64_t *a = sim_vreg_at(warp, op->a);
    for (uint32_t rest = sim_active_lanes(warp, op); rest; rest &= rest - 1) {
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
    handlers->run[SIM_COPY_VREGS][PTX_NONE] = run_copy_vregs;
    handlers->run[SIM_PRINT][PTX_NONE] = run_print;
    handlers->run[SIM_ASSERT][PTX_NONE] = run_assert;
    handlers->run[SIM_ALLOCA][PTX_U64] = run_alloca;
    handlers->run[SIM_STACK_SAVE][PTX_U64] = run_stack_save;
    handlers->run[SIM_STACK_RESTORE][PTX_U64] = run_stack_restore;
}
