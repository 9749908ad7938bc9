/* SPDX-License-Identifier: Apache-2.0 */
/* Warp-wide operations: shuffles, votes, matches, reductions. */
#include "driver/sim/exec/machine.h"
#include "driver/sim/exec/race.h"

#include <string.h>

static void store_word(struct sim_warp *warp, uint32_t offset, uint32_t bits, uint32_t lanes)
{
    uint32_t *word = sim_word_at(warp, offset);
    *word = (*word & ~lanes) | (bits & lanes);
}

#define BIT4(L) 1u << (L), 1u << (L + 1), 1u << (L + 2), 1u << (L + 3)
static const uint32_t lane_bits[SIM_LANES] = {
    BIT4(0), BIT4(4), BIT4(8), BIT4(12), BIT4(16), BIT4(20), BIT4(24), BIT4(28)};

/* Source lane of a shuffle, as the PTX manual computes it from c = clamp | segment mask << 8; the
 * result has the lanes whose source is valid. Without branches and with bits from a table, as a
 * loop over lanes with a constant mode is vectorised. */
static inline __attribute__((always_inline)) uint32_t shuffle_sources(
    uint32_t mode, const uint32_t *b, const uint32_t *c, uint32_t *sources)
{
    uint32_t valid = 0;

    for (uint32_t lane = 0; lane < SIM_LANES; lane++) {
        uint32_t bound = c[lane] & 0x1f, segment = c[lane] >> 8 & 0x1f, shift = b[lane] & 0x1f;
        int32_t end = (int32_t)((lane & segment) | (bound & ~segment));
        int32_t source = (int32_t)(mode == SIM_SHFL_UP     ? lane - shift
                                   : mode == SIM_SHFL_DOWN ? lane + shift
                                   : mode == SIM_SHFL_BFLY ? lane ^ shift
                                                           : (lane & segment) | (shift & ~segment));
        bool is_valid = mode == SIM_SHFL_UP ? source >= end : source <= end;

        sources[lane] = is_valid ? (uint32_t)source & 31 : lane;
        valid |= is_valid ? lane_bits[lane] : 0;
    }
    return valid;
}

const struct sim_op *sim_run_shfl(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_active_lanes(warp, op), valid, present;
    uint32_t values[SIM_LANES], sources[SIM_LANES];
    const uint32_t *b = sim_vreg_at(warp, op->b), *c = sim_vreg_at(warp, op->c);
    const uint32_t *masks = sim_vreg_at(warp, op[1].words[1]);
    if (!sim_sync_is_complete(warp, masks, lanes, &present))
        return sim_sync_wait(warp, op, masks);
    uint32_t *d = sim_vreg_at(warp, op->d);
    switch (op->aux) {
    case SIM_SHFL_UP:
        valid = shuffle_sources(SIM_SHFL_UP, b, c, sources);
        break;
    case SIM_SHFL_DOWN:
        valid = shuffle_sources(SIM_SHFL_DOWN, b, c, sources);
        break;
    case SIM_SHFL_BFLY:
        valid = shuffle_sources(SIM_SHFL_BFLY, b, c, sources);
        break;
    default:
        valid = shuffle_sources(SIM_SHFL_IDX, b, c, sources);
        break;
    }
    memcpy(values, sim_vreg_at(warp, op->a), sizeof(values));
    if (lanes == SIM_ALL_LANES) {
        for (unsigned lane = 0; lane < SIM_LANES; lane++)
            d[lane] = values[sources[lane]];
    } else {
        for (unsigned lane = 0; lane < SIM_LANES; lane++)
            d[lane] = lanes >> lane & 1 ? values[sources[lane]] : d[lane];
    }
    store_word(warp, op[1].words[0], valid, lanes);
    return op + 2;
}

static const struct sim_op *run_vote(struct sim_warp *warp, const struct sim_op *op)
{
    const uint32_t *masks = sim_vreg_at(warp, op->b);
    uint32_t lanes = sim_active_lanes(warp, op), present;
    if (!sim_sync_is_complete(warp, masks, lanes, &present))
        return sim_sync_wait(warp, op, masks);
    uint32_t p = *sim_word_at(warp, op->a), result = 0;
    uint32_t *d = sim_vreg_at(warp, op->aux == SIM_VOTE_BALLOT ? op->d : SIM_VREG_UNUSED);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint32_t among = masks[lane] & present, yes = among & p;
        bool is_true = op->aux == SIM_VOTE_ALL   ? yes == among
                       : op->aux == SIM_VOTE_ANY ? yes != 0
                                                 : yes == among || yes == 0;
        if (op->aux == SIM_VOTE_BALLOT)
            d[lane] = yes;
        result |= is_true ? 1u << lane : 0;
    }
    if (op->aux != SIM_VOTE_BALLOT)
        store_word(warp, op->d, result, lanes);
    return op + 1;
}

#define MATCH(NAME, TYPE)                                                                          \
    static const struct sim_op *NAME(struct sim_warp *warp, const struct sim_op *op)               \
    {                                                                                              \
        const uint32_t *masks = sim_vreg_at(warp, op->b);                                          \
        const TYPE *a = sim_vreg_at(warp, op->a);                                                  \
        uint32_t lanes = sim_active_lanes(warp, op), present;                                      \
        if (!sim_sync_is_complete(warp, masks, lanes, &present))                                   \
            return sim_sync_wait(warp, op, masks);                                                 \
        uint32_t all = 0, found[SIM_LANES] = {0};                                                  \
        uint32_t *d = sim_vreg_at(warp, op->d);                                                    \
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {                                      \
            unsigned lane = (unsigned)__builtin_ctz(rest);                                         \
            uint32_t among = masks[lane] & present, same = 0;                                      \
            for (uint32_t r = among; r; r &= r - 1)                                                \
                same |= a[__builtin_ctz(r)] == a[lane] ? r & (0u - r) : 0;                         \
            found[lane] = op->aux ? (same == among ? among : 0) : same;                            \
            all |= same == among ? 1u << lane : 0;                                                 \
        }                                                                                          \
        for (unsigned lane = 0; lane < SIM_LANES; lane++)                                          \
            d[lane] = lanes >> lane & 1 ? found[lane] : d[lane];                                   \
        store_word(warp, op->c, all, lanes);                                                       \
        return op + 1;                                                                             \
    }

MATCH(run_match32, uint32_t)
MATCH(run_match64, uint64_t)

static uint32_t reduce(uint32_t how, bool is_signed, uint32_t x, uint32_t y)
{
    bool is_less = is_signed ? (int32_t)x < (int32_t)y : x < y;
    switch (how) {
    case SIM_ATOMIC_ADD:
        return x + y;
    case SIM_ATOMIC_MIN:
        return is_less ? x : y;
    case SIM_ATOMIC_MAX:
        return is_less ? y : x;
    case SIM_ATOMIC_AND:
        return x & y;
    case SIM_ATOMIC_OR:
        return x | y;
    default:
        return x ^ y;
    }
}

static const struct sim_op *redux(struct sim_warp *warp, const struct sim_op *op, bool is_signed)
{
    const uint32_t *masks = sim_vreg_at(warp, op->b);
    uint32_t lanes = sim_active_lanes(warp, op), present, a[SIM_LANES];
    if (!sim_sync_is_complete(warp, masks, lanes, &present))
        return sim_sync_wait(warp, op, masks);
    uint32_t *d = sim_vreg_at(warp, op->d);
    memcpy(a, sim_vreg_at(warp, op->a), sizeof(a));
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint32_t among = masks[lane] & present;
        uint32_t sum = among ? a[__builtin_ctz(among)] : 0;
        for (uint32_t r = among & (among - 1); r; r &= r - 1)
            sum = reduce(op->aux, is_signed, sum, a[__builtin_ctz(r)]);
        d[lane] = sum;
    }
    return op + 1;
}

static const struct sim_op *run_redux_u32(struct sim_warp *warp, const struct sim_op *op)
{
    return redux(warp, op, false);
}

static const struct sim_op *run_redux_s32(struct sim_warp *warp, const struct sim_op *op)
{
    return redux(warp, op, true);
}

static const struct sim_op *run_elect(struct sim_warp *warp, const struct sim_op *op)
{
    const uint32_t *masks = sim_vreg_at(warp, op->b);
    uint32_t lanes = sim_active_lanes(warp, op), present, chosen = 0;
    if (!sim_sync_is_complete(warp, masks, lanes, &present))
        return sim_sync_wait(warp, op, masks);
    uint32_t *d = sim_vreg_at(warp, op->d);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint32_t among = masks[lane] & present;
        d[lane] = among ? (uint32_t)__builtin_ctz(among) : 0;
        chosen |= d[lane] == lane ? 1u << lane : 0;
    }
    store_word(warp, op->c, chosen, lanes);
    return op + 1;
}

static const struct sim_op *run_bar_warp(struct sim_warp *warp, const struct sim_op *op)
{
    const uint32_t *masks = sim_vreg_at(warp, op->a);
    uint32_t present;
    if (!sim_sync_is_complete(warp, masks, sim_active_lanes(warp, op), &present))
        return sim_sync_wait(warp, op, masks);
    if (warp->block->races)
        sim_races_sync_warp(warp);
    return op + 1;
}

static const struct sim_op *run_activemask(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t *d = sim_vreg_at(warp, op->d);
    for (uint32_t rest = sim_active_lanes(warp, op); rest; rest &= rest - 1)
        d[__builtin_ctz(rest)] = warp->active;
    return op + 1;
}

/* mma, ldmatrix and stmatrix are for whole warps: this operation precedes each. Unlike
 * bar.warp.sync it does not order accesses of memory. */
static const struct sim_op *run_converge(struct sim_warp *warp, const struct sim_op *op)
{
    const uint32_t *masks = sim_vreg_at(warp, op->a);
    uint32_t present;
    return sim_sync_is_complete(warp, masks, sim_active_lanes(warp, op), &present)
               ? op + 1
               : sim_sync_wait(warp, op, masks);
}

const struct sim_sync *sim_sync_find(const struct sim_op *op)
{
    /* The last is not compared: the handler of shuffles is that of the instruction set. */
    static const struct sim_sync syncs[] = {{run_vote, "vote.sync", 1, SIM_SYNC_BIT},
        {run_match32, "match.sync", 1, SIM_SYNC_WORD},
        {run_match64, "match.sync", 1, SIM_SYNC_DOUBLE},
        {run_redux_u32, "redux.sync", 1, SIM_SYNC_WORD},
        {run_redux_s32, "redux.sync", 1, SIM_SYNC_WORD},
        {run_elect, "elect.sync", 1, SIM_SYNC_NOTHING},
        {run_bar_warp, "bar.warp.sync", 1, SIM_SYNC_NOTHING},
        {run_converge, "mma.sync, ldmatrix.sync or stmatrix.sync", 1, SIM_SYNC_NOTHING},
        {sim_run_shfl, "shfl.sync", 2, SIM_SYNC_WORD}};
    const struct sim_sync *sync = syncs;
    const struct sim_sync *last = &syncs[sizeof(syncs) / sizeof(*syncs) - 1];
    while (sync != last && sync->run != op->run)
        sync++;
    return sync;
}

void sim_warp_fill(struct sim_handlers *handlers)
{
    handlers->run[SIM_VOTE][PTX_NONE] = run_vote;
    handlers->run[SIM_MATCH][PTX_U32] = run_match32;
    handlers->run[SIM_MATCH][PTX_U64] = run_match64;
    handlers->run[SIM_REDUX][PTX_U32] = run_redux_u32;
    handlers->run[SIM_REDUX][PTX_S32] = run_redux_s32;
    handlers->run[SIM_ELECT][PTX_NONE] = run_elect;
    handlers->run[SIM_BAR_WARP][PTX_NONE] = run_bar_warp;
    handlers->run[SIM_CONVERGE][PTX_NONE] = run_converge;
    handlers->run[SIM_ACTIVEMASK][PTX_NONE] = run_activemask;
}
