/* SPDX-License-Identifier: Apache-2.0 */
/* mbarrier, cp.async.mbarrier.arrive and bulk copies, of a block's own shared memory. */
#include "driver/sim/ptx/lower.h"

static enum sim_access_space object_space(const struct ptx_lowering *lowering)
{
    bool is_shared = ptx_current_has(lowering, PTX_M_SHARED) ||
                     ptx_current_has(lowering, PTX_M_SHARED_CTA) ||
                     ptx_current_has(lowering, PTX_M_SHARED_CLUSTER);
    return is_shared ? SIM_IN_SHARED : SIM_IN_GENERIC;
}

static void emit_object(struct ptx_lowering *lowering, enum ptx_type type, uint32_t d,
    const struct ptx_operand *object, uint32_t value, enum sim_mbarrier how)
{
    struct ptx_address address = ptx_lower_address(lowering, object, object_space(lowering));
    ptx_emit(lowering, SIM_MBARRIER, type, d, address.vreg, address.flags, value, (uint32_t)how);
    lowering->program->ops[ptx_emit_words(lowering)].words[0] = address.offset;
}

static void require_operands(struct ptx_lowering *lowering, uint32_t least, uint32_t most)
{
    if (lowering->instruction->count < least || lowering->instruction->count > most)
        ptx_bad_operands(lowering);
}

/* init [m], count; inval [m]; expect_tx [m], bytes; complete_tx [m], bytes */
static void lower_without_result(struct ptx_lowering *lowering, enum sim_mbarrier how)
{
    uint32_t operands = how == SIM_MBARRIER_INVAL ? 1 : 2;
    require_operands(lowering, operands, operands);
    uint32_t value = operands == 1 ? ptx_constant(lowering, 0, 4)
                                   : ptx_source(lowering, ptx_operand(lowering, 1), PTX_U32);
    emit_object(lowering, PTX_NONE, SIM_VREG_UNUSED, ptx_operand(lowering, 0), value, how);
}

/* arrive state, [m] {, count}; arrive.expect_tx state, [m], bytes */
static void lower_arrive(struct ptx_lowering *lowering)
{
    bool drops = ptx_current_has(lowering, PTX_M_ARRIVE_DROP);
    bool expects = ptx_current_has(lowering, PTX_M_EXPECT_TX);
    enum sim_mbarrier how =
        expects ? drops ? SIM_MBARRIER_ARRIVE_DROP_EXPECT_TX : SIM_MBARRIER_ARRIVE_EXPECT_TX
        : drops ? SIM_MBARRIER_ARRIVE_DROP
                : SIM_MBARRIER_ARRIVE;
    bool is_partial = ptx_current_has(lowering, PTX_M_NO_COMPLETE);
    require_operands(lowering, expects || is_partial ? 3 : 2, 3);
    bool has_count = lowering->instruction->count == 3;
    const struct ptx_operand *state = ptx_operand(lowering, 0);
    if (expects || ptx_current_has(lowering, PTX_M_SHARED_CLUSTER))
        ptx_require(lowering, 90, 80);
    else if (has_count && !is_partial)
        ptx_require(lowering, 90, 78);
    else if (state->kind == PTX_OPERAND_SINK)
        ptx_require(lowering, 80, 71);
    uint32_t value = has_count ? ptx_source(lowering, ptx_operand(lowering, 2), PTX_U32)
                               : ptx_constant(lowering, 1, 4);
    emit_object(lowering, PTX_NONE, ptx_target(lowering, state, PTX_B64), ptx_operand(lowering, 1),
        value, how);
}

/* test_wait p, [m], state; test_wait.parity p, [m], parity; try_wait … {, time} */
static void lower_wait(struct ptx_lowering *lowering)
{
    bool is_try = ptx_current_has(lowering, PTX_M_TRY_WAIT);
    bool is_parity = ptx_current_has(lowering, PTX_M_PARITY);
    ptx_require(lowering, is_try ? 90 : 80, is_try ? 78 : is_parity ? 71 : 70);
    require_operands(lowering, 3, is_try ? 4 : 3);
    uint32_t value = ptx_source(lowering, ptx_operand(lowering, 2), is_parity ? PTX_U32 : PTX_B64);
    if (lowering->instruction->count == 4)
        ptx_source(lowering, ptx_operand(lowering, 3), PTX_U32);
    emit_object(lowering, PTX_PRED, ptx_target_predicate(lowering, ptx_operand(lowering, 0)),
        ptx_operand(lowering, 1), value, is_parity ? SIM_MBARRIER_WAIT_PARITY : SIM_MBARRIER_WAIT);
}

/* pending_count count, state: the low 20 bits of the state, as mbarrier.c has them */
static void lower_pending_count(struct ptx_lowering *lowering)
{
    require_operands(lowering, 2, 2);
    uint32_t state = ptx_source(lowering, ptx_operand(lowering, 1), PTX_B64);
    uint32_t low = ptx_scratch(lowering);
    ptx_emit(lowering, SIM_TO32, PTX_U64, low, state, 0, 0, 0);
    ptx_emit(lowering, SIM_AND, PTX_U32, ptx_target(lowering, ptx_operand(lowering, 0), PTX_U32),
        low, ptx_constant(lowering, 0xfffff, 4), 0, 0);
}

void ptx_lower_mbarrier(struct ptx_lowering *lowering)
{
    static const struct {
        uint8_t modifier, how, target, version;
    } simple[] = {{PTX_M_INIT, SIM_MBARRIER_INIT, 80, 70},
        {PTX_M_INVAL, SIM_MBARRIER_INVAL, 80, 70},
        {PTX_M_EXPECT_TX, SIM_MBARRIER_EXPECT_TX, 90, 80},
        {PTX_M_COMPLETE_TX, SIM_MBARRIER_COMPLETE_TX, 90, 80}};
    const struct ptx_mnemonic *mnemonic = lowering->instruction->mnemonic;
    enum ptx_modifier first =
        mnemonic->modifier_count ? (enum ptx_modifier)mnemonic->modifiers[0] : PTX_M_NONE;
    ptx_require(lowering, 80, 70);
    if (mnemonic->type_count != 1 || ptx_current_type(lowering, 0) != PTX_B64)
        ptx_bad_type(lowering);
    for (unsigned i = 0; i < sizeof(simple) / sizeof(simple[0]); i++)
        if (first == simple[i].modifier) {
            ptx_require(lowering, simple[i].target, simple[i].version);
            lower_without_result(lowering, (enum sim_mbarrier)simple[i].how);
            return;
        }
    if (first == PTX_M_ARRIVE || first == PTX_M_ARRIVE_DROP)
        lower_arrive(lowering);
    else if (first == PTX_M_TEST_WAIT || first == PTX_M_TRY_WAIT)
        lower_wait(lowering);
    else if (first == PTX_M_PENDING_COUNT)
        lower_pending_count(lowering);
    else
        ptx_bad_type(lowering);
}

/* The copies of cp.async are complete. Without .noinc the arrival is one that the operation itself
 * has added to the pending ones, so nothing changes. */
void ptx_lower_cp_async_arrive(struct ptx_lowering *lowering)
{
    if (ptx_current_type(lowering, 0) != PTX_B64)
        ptx_bad_type(lowering);
    require_operands(lowering, 1, 1);
    lowering->counted = SIM_CLASS_BARRIER;
    uint32_t arrivals = ptx_current_has(lowering, PTX_M_NOINC) ? 1 : 0;
    emit_object(lowering, PTX_NONE, SIM_VREG_UNUSED, ptx_operand(lowering, 0),
        ptx_constant(lowering, arrivals, 4), SIM_MBARRIER_ARRIVE);
}

/* ---- bulk copies ------------------------------------------------------------------------------
 */

/* Whether the two modifiers follow each other. */
static bool is_from_to(
    const struct ptx_mnemonic *mnemonic, enum ptx_modifier to, enum ptx_modifier from)
{
    for (uint32_t i = 0; i + 1 < mnemonic->modifier_count; i++)
        if (mnemonic->modifiers[i] == to && mnemonic->modifiers[i + 1] == from)
            return true;
    return false;
}

/* cp.async.bulk.SPACE.SPACE.COMPLETION [to], [from], bytes {, [mbarrier]} {, policy} */
void ptx_lower_cp_bulk(struct ptx_lowering *lowering)
{
    const struct ptx_mnemonic *mnemonic = lowering->instruction->mnemonic;
    bool into_shared = is_from_to(mnemonic, PTX_M_SHARED_CLUSTER, PTX_M_GLOBAL) ||
                       is_from_to(mnemonic, PTX_M_SHARED_CTA, PTX_M_GLOBAL);
    bool within = is_from_to(mnemonic, PTX_M_SHARED_CLUSTER, PTX_M_SHARED_CTA);
    bool from_shared = is_from_to(mnemonic, PTX_M_GLOBAL, PTX_M_SHARED_CTA);
    bool has_object = ptx_current_has(lowering, PTX_M_COMPLETES_MBARRIER);
    uint32_t needed = has_object ? 4 : 3;
    ptx_require(lowering, 90, 80);
    if (ptx_current_has(lowering, PTX_M_COMMIT_GROUP) ||
        ptx_current_has(lowering, PTX_M_WAIT_GROUP)) {
        lowering->counted = SIM_CLASS_BARRIER;
        return; /* the copies are complete */
    }
    if (into_shared + within + from_shared != 1 || mnemonic->type_count != 0 ||
        has_object == from_shared || ptx_current_has(lowering, PTX_M_BULK_GROUP) != from_shared)
        ptx_bad_type(lowering);
    require_operands(lowering, needed, needed + (ptx_current_has(lowering, PTX_M_HINT) ? 1u : 0u));
    if (is_from_to(mnemonic, PTX_M_SHARED_CTA, PTX_M_GLOBAL))
        ptx_require(lowering, 90, 86);
    const struct ptx_operand *bytes = ptx_operand(lowering, 2);
    if (bytes->kind == PTX_OPERAND_INTEGER && bytes->value % 16 != 0)
        ptx_bad(lowering, SIM_LOAD_INVALID, "a bulk copy has a multiple of 16 bytes");
    uint32_t size = ptx_source(lowering, bytes, PTX_U32);
    struct ptx_address to = ptx_lower_address(
        lowering, ptx_operand(lowering, 0), from_shared ? SIM_IN_GLOBAL : SIM_IN_SHARED);
    struct ptx_address from = ptx_lower_address(
        lowering, ptx_operand(lowering, 1), into_shared ? SIM_IN_GLOBAL : SIM_IN_SHARED);
    struct ptx_address object = {SIM_VREG_UNUSED, 0, 0};
    if (has_object)
        object = ptx_lower_address(lowering, ptx_operand(lowering, 3), SIM_IN_SHARED);
    lowering->counted = SIM_CLASS_GLOBAL;
    ptx_emit(lowering, SIM_CP_BULK, PTX_NONE, to.vreg, from.vreg, size, object.vreg, 0);
    uint32_t *words = lowering->program->ops[ptx_emit_words(lowering)].words;
    words[0] = to.flags;
    words[1] = to.offset;
    words[2] = from.flags;
    words[3] = from.offset;
    words[4] = object.flags;
    words[5] = object.offset;
}
