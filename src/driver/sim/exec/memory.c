/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of every width, address conversions, clocks. */
#include "driver/sim/exec/machine.h"

#include <string.h>
#include <time.h>

struct access {
    uint64_t addresses[SIM_LANES];
    uint32_t lanes, size, count, lane_bytes;
    bool is_signed;
};

static void load_addresses(const struct sim_warp *warp, uint32_t vreg, uint32_t flags,
    uint32_t offset, uint64_t *addresses)
{
    uint64_t add = (uint64_t)(int64_t)(int32_t)offset;
    if (flags & SIM_ACCESS_WIDE_ADDRESS) {
        const uint64_t *a = sim_vreg_at(warp, vreg);
        for (unsigned lane = 0; lane < SIM_LANES; lane++)
            addresses[lane] = a[lane] + add;
    } else {
        const uint32_t *a = sim_vreg_at(warp, vreg);
        for (unsigned lane = 0; lane < SIM_LANES; lane++)
            addresses[lane] = (uint32_t)(a[lane] + (uint32_t)add);
    }
}

static bool prepare(
    struct sim_warp *warp, const struct sim_op *op, struct access *access, bool is_write)
{
    uint32_t flags = op->b, bytes;
    access->lanes = sim_active_lanes(warp, op);
    access->size = 1u << (flags >> SIM_ACCESS_SIZE_SHIFT & 7);
    access->count = flags >> SIM_ACCESS_COUNT_SHIFT & 15;
    access->lane_bytes = 1u << (flags >> SIM_ACCESS_LANE_SHIFT & 7);
    access->is_signed = flags & SIM_ACCESS_SIGNED;
    bytes = access->size * access->count;
    load_addresses(warp, op->a, flags, op->aux, access->addresses);
    return sim_translate(warp, op, flags & 7, access->addresses, access->lanes, bytes, bytes,
        is_write, flags & SIM_ACCESS_ORDERED);
}

static bool is_contiguous(const uint64_t *addresses, uint32_t step)
{
    uint64_t bad = 0;
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
        bad |= addresses[lane] ^ (addresses[0] + lane * step);
    return bad == 0;
}

/* Values may be written by other threads: relaxed atomics, which compile to plain moves. */
#define LOAD_LANES(T, R)                                                                           \
    do {                                                                                           \
        R *d = vreg;                                                                               \
        for (uint32_t rest = access->lanes; rest; rest &= rest - 1) {                              \
            unsigned lane = (unsigned)__builtin_ctz(rest);                                         \
            const T *from = (const T *)(uintptr_t)(access->addresses[lane] + skip);                \
            d[lane] = (R)__atomic_load_n(from, __ATOMIC_RELAXED);                                  \
        }                                                                                          \
    } while (0)

#define STORE_LANES(T, R)                                                                          \
    do {                                                                                           \
        const R *a = vreg;                                                                         \
        for (uint32_t rest = access->lanes; rest; rest &= rest - 1) {                              \
            unsigned lane = (unsigned)__builtin_ctz(rest);                                         \
            T *to = (T *)(uintptr_t)(access->addresses[lane] + skip);                              \
            __atomic_store_n(to, (T)a[lane], __ATOMIC_RELAXED);                                    \
        }                                                                                          \
    } while (0)

static void load_wide(const struct access *access, uint64_t skip, void *vreg)
{
    for (uint32_t rest = access->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        memcpy((char *)vreg + lane * 16, (const char *)(uintptr_t)(access->addresses[lane] + skip),
            16);
    }
}

static void store_wide(const struct access *access, uint64_t skip, const void *vreg)
{
    for (uint32_t rest = access->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        memcpy((char *)(uintptr_t)(access->addresses[lane] + skip), (const char *)vreg + lane * 16,
            16);
    }
}

static void load_element(const struct access *access, uint64_t skip, void *vreg)
{
    switch (access->size << 6 | access->lane_bytes << 1 | access->is_signed) {
    case 1 << 6 | 2 << 1 | 0:
        LOAD_LANES(uint8_t, uint16_t);
        break;
    case 1 << 6 | 4 << 1 | 0:
        LOAD_LANES(uint8_t, uint32_t);
        break;
    case 1 << 6 | 8 << 1 | 0:
        LOAD_LANES(uint8_t, uint64_t);
        break;
    case 1 << 6 | 2 << 1 | 1:
        LOAD_LANES(int8_t, int16_t);
        break;
    case 1 << 6 | 4 << 1 | 1:
        LOAD_LANES(int8_t, int32_t);
        break;
    case 1 << 6 | 8 << 1 | 1:
        LOAD_LANES(int8_t, int64_t);
        break;
    case 2 << 6 | 2 << 1 | 0:
    case 2 << 6 | 2 << 1 | 1:
        LOAD_LANES(uint16_t, uint16_t);
        break;
    case 2 << 6 | 4 << 1 | 0:
        LOAD_LANES(uint16_t, uint32_t);
        break;
    case 2 << 6 | 8 << 1 | 0:
        LOAD_LANES(uint16_t, uint64_t);
        break;
    case 2 << 6 | 4 << 1 | 1:
        LOAD_LANES(int16_t, int32_t);
        break;
    case 2 << 6 | 8 << 1 | 1:
        LOAD_LANES(int16_t, int64_t);
        break;
    case 4 << 6 | 4 << 1 | 0:
    case 4 << 6 | 4 << 1 | 1:
        LOAD_LANES(uint32_t, uint32_t);
        break;
    case 4 << 6 | 8 << 1 | 0:
        LOAD_LANES(uint32_t, uint64_t);
        break;
    case 4 << 6 | 8 << 1 | 1:
        LOAD_LANES(int32_t, int64_t);
        break;
    case 8 << 6 | 8 << 1 | 0:
        LOAD_LANES(uint64_t, uint64_t);
        break;
    default:
        load_wide(access, skip, vreg);
        break;
    }
}

static void store_element(const struct access *access, uint64_t skip, const void *vreg)
{
    switch (access->size) {
    case 1:
        STORE_LANES(uint8_t, uint16_t);
        break;
    case 2:
        STORE_LANES(uint16_t, uint16_t);
        break;
    case 4:
        STORE_LANES(uint32_t, uint32_t);
        break;
    case 8:
        STORE_LANES(uint64_t, uint64_t);
        break;
    default:
        store_wide(access, skip, vreg);
        break;
    }
}

/* A thread that polls memory may wait for one that needs this core, so it yields from time to
 * time. */
static const struct sim_op *yield_after_strong_load(
    struct sim_warp *warp, const struct sim_op *op, const struct sim_op *next)
{
    enum { POLLS = 32 };
    if ((op->b & SIM_ACCESS_STRONG) && ++warp->core->strong_loads % POLLS == 0)
        return sim_warp_yield(warp, sim_pc(warp, next));
    return next;
}

const struct sim_op *sim_run_ld(struct sim_warp *warp, const struct sim_op *op)
{
    struct access access;
    if (!prepare(warp, op, &access, false))
        return NULL;
    bool is_plain = access.size == access.lane_bytes && access.lanes == SIM_ALL_LANES;
    if (access.count == 1) {
        void *vreg = sim_vreg_at(warp, op->d);
        if (is_plain && is_contiguous(access.addresses, access.size))
            memcpy(vreg, (const void *)(uintptr_t)access.addresses[0],
                (size_t)access.size * SIM_LANES);
        else
            load_element(&access, 0, vreg);
        return yield_after_strong_load(warp, op, op + 1);
    }
    for (uint32_t i = 0; i < access.count; i++)
        load_element(&access, (uint64_t)i * access.size, sim_vreg_at(warp, op[1].words[i]));
    return yield_after_strong_load(warp, op, op + 2);
}

const struct sim_op *sim_run_st(struct sim_warp *warp, const struct sim_op *op)
{
    struct access access;
    if (!prepare(warp, op, &access, true))
        return NULL;
    bool is_plain = access.size == access.lane_bytes && access.lanes == SIM_ALL_LANES;
    if (access.count == 1) {
        const void *vreg = sim_vreg_at(warp, op->d);
        if (is_plain && is_contiguous(access.addresses, access.size))
            memcpy((void *)(uintptr_t)access.addresses[0], vreg, (size_t)access.size * SIM_LANES);
        else
            store_element(&access, 0, vreg);
        return op + 1;
    }
    for (uint32_t i = 0; i < access.count; i++)
        store_element(&access, (uint64_t)i * access.size, sim_vreg_at(warp, op[1].words[i]));
    return op + 2;
}

static uint64_t parameter_value(const struct sim_warp *warp, const struct sim_op *op)
{
    const unsigned char *at = warp->core->run->parameters + op->a;
    uint64_t value = 0;
    memcpy(&value, at, op->b);
    if (op->c && op->b < 8 && value >> (op->b * 8 - 1) & 1)
        value |= ~UINT64_C(0) << (op->b * 8);
    return value;
}

#define FILL(NAME, T, VALUE)                                                                       \
    static const struct sim_op *NAME(struct sim_warp *warp, const struct sim_op *op)               \
    {                                                                                              \
        T *d = sim_vreg_at(warp, op->d);                                                           \
        T value = (T)(VALUE);                                                                      \
        uint32_t lanes = sim_active_lanes(warp, op);                                               \
        for (unsigned lane = 0; lane < SIM_LANES; lane++)                                          \
            d[lane] = lanes >> lane & 1 ? value : d[lane];                                         \
        return op + 1;                                                                             \
    }

FILL(run_ld_param16, uint16_t, parameter_value(warp, op))
FILL(run_ld_param32, uint32_t, parameter_value(warp, op))
FILL(run_ld_param64, uint64_t, parameter_value(warp, op))

static uint64_t clock_value(uint32_t special)
{
    struct timespec now;
    clock_gettime(special >= SIM_GLOBALTIMER ? CLOCK_REALTIME : CLOCK_MONOTONIC, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    bool is_high = special == SIM_CLOCK_HI || special == SIM_GLOBALTIMER_HI;
    return is_high ? ns >> 32 : ns;
}

FILL(run_clock32, uint32_t, clock_value(op->aux))
FILL(run_clock64, uint64_t, clock_value(op->aux))

#define LOCAL_ADDRESS(NAME, T)                                                                     \
    static const struct sim_op *NAME(struct sim_warp *warp, const struct sim_op *op)               \
    {                                                                                              \
        T *d = sim_vreg_at(warp, op->d);                                                           \
        const uint32_t *local = sim_vreg_at(warp, SIM_VREG_LOCAL);                                 \
        for (unsigned lane = 0; lane < SIM_LANES; lane++)                                          \
            d[lane] = local[lane] + op->aux;                                                       \
        return op + 1;                                                                             \
    }

/* The destination is always a scratch register, so lanes need no guard. */
LOCAL_ADDRESS(run_local_address32, uint32_t)
LOCAL_ADDRESS(run_local_address64, uint64_t)

static uint64_t window_base(const struct sim_warp *warp, uint32_t space, unsigned lane)
{
    if (space == SIM_IN_SHARED)
        return (uint64_t)(uintptr_t)warp->block->shared;
    return (uint64_t)(uintptr_t)(warp->local + (size_t)lane * warp->local_stride);
}

static const struct sim_op *run_to_generic(struct sim_warp *warp, const struct sim_op *op)
{
    uint64_t *d = sim_vreg_at(warp, op->d);
    const uint64_t *a = sim_vreg_at(warp, op->a);
    uint32_t lanes = sim_active_lanes(warp, op);
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
        d[lane] = lanes >> lane & 1 ? a[lane] + window_base(warp, op->aux, lane) : d[lane];
    return op + 1;
}

static const struct sim_op *run_from_generic(struct sim_warp *warp, const struct sim_op *op)
{
    uint64_t *d = sim_vreg_at(warp, op->d);
    const uint64_t *a = sim_vreg_at(warp, op->a);
    uint32_t lanes = sim_active_lanes(warp, op);
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
        d[lane] = lanes >> lane & 1 ? a[lane] - window_base(warp, op->aux, lane) : d[lane];
    return op + 1;
}

static bool is_in_window(
    const struct sim_warp *warp, uint32_t space, unsigned lane, uint64_t address)
{
    const struct sim_run *run = warp->core->run;
    bool in_shared = address - window_base(warp, SIM_IN_SHARED, lane) < warp->block->shared_bytes;
    bool in_local = address - window_base(warp, SIM_IN_LOCAL, lane) < warp->local_bytes;
    bool in_parameters = address - (uint64_t)(uintptr_t)run->parameters < run->parameter_bytes;
    switch (space & 7) {
    case SIM_IN_SHARED:
        return in_shared;
    case SIM_IN_LOCAL:
        return in_local;
    case SIM_IN_PARAM:
        return in_parameters;
    default:
        /* .const is a separate window that no address here lies in. */
        return !(space & 8) && !in_shared && !in_local;
    }
}

static const struct sim_op *run_is_space(struct sim_warp *warp, const struct sim_op *op)
{
    const uint64_t *a = sim_vreg_at(warp, op->a);
    uint32_t lanes = sim_active_lanes(warp, op), bits = 0, *d = sim_word_at(warp, op->d);
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
        bits |= is_in_window(warp, op->aux, lane, a[lane]) ? 1u << lane : 0;
    *d = (*d & ~lanes) | (bits & lanes);
    return op + 1;
}

/* Copies immediately what a GPU copies later; bytes beyond the source size are zeroed. */
static const struct sim_op *run_cp_async(struct sim_warp *warp, const struct sim_op *op)
{
    uint64_t to[SIM_LANES], from[SIM_LANES];
    const uint32_t *words = op[1].words, *taken = sim_vreg_at(warp, op->b);
    uint32_t lanes = sim_active_lanes(warp, op), size = op->c, reading = 0;
    load_addresses(warp, op->d, words[0], words[2], to);
    load_addresses(warp, op->a, words[1], op->aux, from);
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        reading |= taken[__builtin_ctz(rest)] ? rest & (0u - rest) : 0;
    if (!sim_translate(warp, op, SIM_IN_SHARED, to, lanes, size, size, true, false))
        return NULL;
    for (uint32_t rest = reading, same; rest; rest &= ~same) { /* lanes of the same size at once */
        uint32_t bytes = taken[__builtin_ctz(rest)] < size ? taken[__builtin_ctz(rest)] : size;
        same = 0;
        for (uint32_t others = rest; others; others &= others - 1)
            if ((taken[__builtin_ctz(others)] < size ? taken[__builtin_ctz(others)] : size) ==
                bytes)
                same |= others & (0u - others);
        if (!sim_translate(warp, op, SIM_IN_GLOBAL, from, same, bytes, size, false, false))
            return NULL;
        for (uint32_t copied = same; copied; copied &= copied - 1) {
            unsigned lane = (unsigned)__builtin_ctz(copied);
            memcpy((void *)(uintptr_t)to[lane], (const void *)(uintptr_t)from[lane], bytes);
        }
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (taken[lane] < size)
            memset((char *)(uintptr_t)to[lane] + taken[lane], 0, size - taken[lane]);
    }
    return op + 2;
}

void sim_lane_addresses(const struct sim_warp *warp, uint32_t vreg, uint32_t flags, uint32_t offset,
    uint64_t *addresses)
{
    load_addresses(warp, vreg, flags, offset, addresses);
}

void sim_memory_fill(struct sim_handlers *handlers)
{
    handlers->run[SIM_LD_PARAM][PTX_U16] = run_ld_param16;
    handlers->run[SIM_LD_PARAM][PTX_U32] = run_ld_param32;
    handlers->run[SIM_LD_PARAM][PTX_U64] = run_ld_param64;
    handlers->run[SIM_CLOCK][PTX_U32] = run_clock32;
    handlers->run[SIM_CLOCK][PTX_U64] = run_clock64;
    handlers->run[SIM_LOCAL_ADDRESS][PTX_U32] = run_local_address32;
    handlers->run[SIM_LOCAL_ADDRESS][PTX_U64] = run_local_address64;
    handlers->run[SIM_TO_GENERIC][PTX_U64] = run_to_generic;
    handlers->run[SIM_FROM_GENERIC][PTX_U64] = run_from_generic;
    handlers->run[SIM_IS_SPACE][PTX_U64] = run_is_space;
    handlers->run[SIM_CP_ASYNC][PTX_NONE] = run_cp_async;
}
