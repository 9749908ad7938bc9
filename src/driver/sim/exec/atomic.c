/* SPDX-License-Identifier: Apache-2.0 */
/* atom and red: executed lane by lane, atomic with respect to the other threads of the host. */
#include "driver/sim/exec/half.h"
#include "driver/sim/exec/machine.h"

#include <math.h>
#include <string.h>

static uint64_t read_bits(const void *vreg, unsigned lane, uint32_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, (const char *)vreg + lane * size, size);
    return bits;
}

static uint32_t add_float_bits(uint32_t x, uint32_t y)
{
    float a, b;
    memcpy(&a, &x, sizeof(a));
    memcpy(&b, &y, sizeof(b));
    a += b;
    memcpy(&x, &a, sizeof(x));
    return a != a ? 0x7fffffff : x;
}

static uint64_t add_double_bits(uint64_t x, uint64_t y)
{
    double a, b;
    memcpy(&a, &x, sizeof(a));
    memcpy(&b, &y, sizeof(b));
    a += b;
    memcpy(&x, &a, sizeof(x));
    return x;
}

static uint16_t add_half_bits(enum ptx_type type, uint16_t x, uint16_t y)
{
    if (type == PTX_F16)
        return sim_double_to_half(sim_half_to_double(x) + sim_half_to_double(y), SIM_RN);
    return sim_double_to_bfloat(sim_bfloat_to_double(x) + sim_bfloat_to_double(y), SIM_RN);
}

static uint64_t add_bits(enum ptx_type type, uint64_t x, uint64_t y)
{
    enum ptx_type part = type == PTX_F16X2 ? PTX_F16 : PTX_BF16;
    switch (type) {
    case PTX_F32:
        return add_float_bits((uint32_t)x, (uint32_t)y);
    case PTX_F64:
        return add_double_bits(x, y);
    case PTX_F16:
    case PTX_BF16:
        return add_half_bits(type, (uint16_t)x, (uint16_t)y);
    case PTX_F16X2:
    case PTX_BF16X2:
        return add_half_bits(part, (uint16_t)x, (uint16_t)y) |
               (uint64_t)add_half_bits(part, (uint16_t)(x >> 16), (uint16_t)(y >> 16)) << 16;
    default:
        return x + y;
    }
}

/* min and max as the instructions of these names: a number before a NaN, -0 below +0. */
static uint16_t pick_half(enum ptx_type type, uint16_t x, uint16_t y, bool is_max)
{
    double a = type == PTX_F16 ? sim_half_to_double(x) : sim_bfloat_to_double(x);
    double b = type == PTX_F16 ? sim_half_to_double(y) : sim_bfloat_to_double(y);
    if (isnan(a) && isnan(b))
        return 0x7fff;
    if (isnan(a) || isnan(b))
        return isnan(a) ? y : x;
    if (a == b)
        return (signbit(a) != 0) == is_max ? y : x;
    return (a < b) == is_max ? y : x;
}

static uint64_t pick_halves(enum ptx_type type, uint64_t x, uint64_t y, bool is_max)
{
    bool is_pair = type == PTX_F16X2 || type == PTX_BF16X2;
    enum ptx_type part = type == PTX_F16X2 ? PTX_F16 : type == PTX_BF16X2 ? PTX_BF16 : type;
    uint64_t low = pick_half(part, (uint16_t)x, (uint16_t)y, is_max);
    if (!is_pair)
        return low;
    return low | (uint64_t)pick_half(part, (uint16_t)(x >> 16), (uint16_t)(y >> 16), is_max) << 16;
}

static bool is_less(enum ptx_type type, uint64_t x, uint64_t y)
{
    if (type == PTX_S32)
        return (int32_t)(uint32_t)x < (int32_t)(uint32_t)y;
    if (type == PTX_S64)
        return (int64_t)x < (int64_t)y;
    return x < y;
}

/* The value that memory holds afterwards. It covers min and max too, so that one loop serves all
 * operations without a compiler builtin. */
static uint64_t apply_atomic(uint32_t how, enum ptx_type type, uint64_t old, uint64_t b)
{
    switch (how) {
    case SIM_ATOMIC_ADD:
        return add_bits(type, old, b);
    case SIM_ATOMIC_INC:
        return old >= b ? 0 : old + 1;
    case SIM_ATOMIC_DEC:
        return old == 0 || old > b ? b : old - 1;
    case SIM_ATOMIC_MIN:
        if (ptx_type_is_float(type))
            return pick_halves(type, old, b, false);
        return is_less(type, b, old) ? b : old;
    case SIM_ATOMIC_MAX:
        if (ptx_type_is_float(type))
            return pick_halves(type, old, b, true);
        return is_less(type, old, b) ? b : old;
    case SIM_ATOMIC_AND:
        return old & b;
    case SIM_ATOMIC_OR:
        return old | b;
    case SIM_ATOMIC_XOR:
        return old ^ b;
    default:
        return b;
    }
}

#define ATOMIC(NAME, T)                                                                            \
    static uint64_t NAME(uint32_t how, enum ptx_type type, T *at, T b, T c)                        \
    {                                                                                              \
        T old = __atomic_load_n(at, __ATOMIC_RELAXED), next;                                       \
        if (how == SIM_ATOMIC_CAS) {                                                               \
            T expected = b;                                                                        \
            __atomic_compare_exchange_n(                                                           \
                at, &expected, c, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                      \
            return expected;                                                                       \
        }                                                                                          \
        if (how == SIM_ATOMIC_ADD && !ptx_type_is_float(type))                                     \
            return __atomic_fetch_add(at, b, __ATOMIC_SEQ_CST);                                    \
        do                                                                                         \
            next = (T)apply_atomic(how, type, old, b);                                             \
        while (!__atomic_compare_exchange_n(                                                       \
            at, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));                           \
        return old;                                                                                \
    }

ATOMIC(atomic16, uint16_t)
ATOMIC(atomic32, uint32_t)
ATOMIC(atomic64, uint64_t)

/* 128-bit operations: one lock for the process, because not every host has the instruction. */
static void atomic128(uint32_t how, unsigned char *at, const unsigned char *b,
    const unsigned char *c, unsigned char *old)
{
    static uint32_t lock;
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        continue;
    memcpy(old, at, 16);
    if (how == SIM_ATOMIC_EXCH)
        memcpy(at, b, 16);
    else if (memcmp(old, b, 16) == 0)
        memcpy(at, c, 16);
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static const struct sim_op *run_atom(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t lanes = sim_active_lanes(warp, op), flags = op[1].words[0], how = op[1].words[1];
    uint32_t size = 1u << (flags >> SIM_ACCESS_SIZE_SHIFT & 7);
    enum ptx_type type = (enum ptx_type)op[1].words[2];
    const char *b = sim_vreg_at(warp, op->b), *c = sim_vreg_at(warp, op->c);
    char *d = sim_vreg_at(warp, op->d);
    uint64_t addresses[SIM_LANES];
    if (warp->group_count)
        warp->spin += 128; /* likely a lock */
    if (flags & SIM_ACCESS_WIDE_ADDRESS) {
        memcpy(addresses, sim_vreg_at(warp, op->a), sizeof(addresses));
    } else {
        const uint32_t *a = sim_vreg_at(warp, op->a);
        for (unsigned lane = 0; lane < SIM_LANES; lane++)
            addresses[lane] = a[lane];
    }
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
        addresses[lane] += (uint64_t)(int64_t)(int32_t)op->aux;
    if (!sim_translate(warp, op, flags & 7, addresses, lanes, size, op[1].words[3], true, true))
        return NULL;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        void *at = (void *)(uintptr_t)addresses[lane];
        uint64_t x = size <= 8 ? read_bits(b, lane, size) : 0,
                 y = size <= 8 ? read_bits(c, lane, size) : 0;
        unsigned char old[16];
        uint64_t before = 0;
        if (size == 2)
            before = atomic16(how, type, at, (uint16_t)x, (uint16_t)y);
        else if (size == 4)
            before = atomic32(how, type, at, (uint32_t)x, (uint32_t)y);
        else if (size == 8)
            before = atomic64(how, type, at, x, y);
        else
            atomic128(how, at, (const unsigned char *)b + lane * 16,
                (const unsigned char *)c + lane * 16, old);
        memcpy(d + lane * size, size == 16 ? (void *)old : (void *)&before, size);
    }
    return op + 2;
}

bool sim_is_atomic(const struct sim_op *op)
{
    return op->run == run_atom;
}

bool sim_is_read_modify_write(const struct sim_op *op)
{
    return op->run == run_atom && op[1].words[1] != SIM_ATOMIC_EXCH;
}

void sim_atomic_fill(struct sim_handlers *handlers)
{
    handlers->run[SIM_ATOM][PTX_NONE] = run_atom;
}
