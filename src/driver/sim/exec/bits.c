/* SPDX-License-Identifier: Apache-2.0 */
/* Integer handlers that are not performance-critical: division, bit fields, byte permutation,
 * packing, predicates, clamps. */
#include "driver/sim/exec/machine.h"

#include <string.h>

typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;

#define EACH for (unsigned l = 0; l < SIM_LANES; l++)
#define HANDLER(NAME)                                                                              \
    static const struct sim_op *NAME(struct sim_warp *warp, const struct sim_op *op)

/* Computes VALUE per lane and stores it where the guard holds. */
#define LANEWISE(NAME, D, A, B, C, VALUE)                                                          \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        D *d = sim_vreg_at(warp, op->d);                                                           \
        const A *a = sim_vreg_at(warp, op->a);                                                     \
        const B *b = sim_vreg_at(warp, op->b);                                                     \
        const C *c = sim_vreg_at(warp, op->c);                                                     \
        uint32_t lanes = sim_active_lanes(warp, op);                                               \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
        EACH d[l] = (lanes >> l & 1) ? (D)(VALUE) : d[l];                                          \
        return op + 1;                                                                             \
    }

/* Division by zero yields all ones and the dividend, as the code that GPUs execute for it does. */
#define DIVISION(W, U, S)                                                                          \
    static U div_u##W(U x, U y)                                                                    \
    {                                                                                              \
        if (y == 0)                                                                                \
            return (U) ~(U)0;                                                                      \
        return (U)(x / y);                                                                         \
    }                                                                                              \
    static U rem_u##W(U x, U y)                                                                    \
    {                                                                                              \
        if (y == 0)                                                                                \
            return x;                                                                              \
        return (U)(x % y);                                                                         \
    }                                                                                              \
    static U div_s##W(S x, S y)                                                                    \
    {                                                                                              \
        if (y == 0)                                                                                \
            return (U) ~(U)0;                                                                      \
        if (y == -1)                                                                               \
            return (U)(0 - (U)x);                                                                  \
        return (U)(x / y);                                                                         \
    }                                                                                              \
    static U rem_s##W(S x, S y)                                                                    \
    {                                                                                              \
        if (y == 0)                                                                                \
            return (U)x;                                                                           \
        if (y == -1)                                                                               \
            return 0;                                                                              \
        return (U)(x % y);                                                                         \
    }                                                                                              \
    LANEWISE(run_div_u##W, U, U, U, U, div_u##W(a[l], b[l]))                                       \
    LANEWISE(run_rem_u##W, U, U, U, U, rem_u##W(a[l], b[l]))                                       \
    LANEWISE(run_div_s##W, U, S, S, U, div_s##W(a[l], b[l]))                                       \
    LANEWISE(run_rem_s##W, U, S, S, U, rem_s##W(a[l], b[l]))                                       \
    LANEWISE(run_sad_u##W, U, U, U, U, (a[l] > b[l] ? a[l] - b[l] : b[l] - a[l]) + c[l])           \
    LANEWISE(run_sad_s##W, U, S, S, U, (a[l] > b[l] ? (U)a[l] - (U)b[l] : (U)b[l] - (U)a[l]) + c[l])

DIVISION(16, u16, s16)
DIVISION(32, u32, s32)
DIVISION(64, u64, s64)

static s64 clamp_s32(s64 value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
}

LANEWISE(run_add_sat, u32, s32, s32, u32, clamp_s32((s64)a[l] + b[l]))
LANEWISE(run_sub_sat, u32, s32, s32, u32, clamp_s32((s64)a[l] - b[l]))
LANEWISE(run_mad_hi_sat, u32, s32, s32, s32, clamp_s32(((s64)a[l] * b[l] >> 32) + c[l]))

#define LOW24(X) ((u64)((X)&0xffffffu))
#define LOW24S(X) ((s64)((s32)((u32)(X) << 8) >> 8))
LANEWISE(run_mul24_lo_u, u32, u32, u32, u32, LOW24(a[l]) * LOW24(b[l]))
LANEWISE(run_mul24_hi_u, u32, u32, u32, u32, LOW24(a[l]) * LOW24(b[l]) >> 16)
LANEWISE(run_mul24_lo_s, u32, u32, u32, u32, LOW24S(a[l]) * LOW24S(b[l]))
LANEWISE(run_mul24_hi_s, u32, u32, u32, u32, LOW24S(a[l]) * LOW24S(b[l]) >> 16)
LANEWISE(run_mad24_lo_u, u32, u32, u32, u32, LOW24(a[l]) * LOW24(b[l]) + c[l])
LANEWISE(run_mad24_hi_u, u32, u32, u32, u32, (LOW24(a[l]) * LOW24(b[l]) >> 16) + c[l])
LANEWISE(run_mad24_lo_s, u32, u32, u32, u32, LOW24S(a[l]) * LOW24S(b[l]) + (s32)c[l])
LANEWISE(run_mad24_hi_s, u32, u32, u32, u32, (LOW24S(a[l]) * LOW24S(b[l]) >> 16) + (s32)c[l])
LANEWISE(run_mad24_hi_sat, u32, u32, u32, s32,
    clamp_s32((s32)(u32)(LOW24S(a[l]) * LOW24S(b[l]) >> 16) + (s64)c[l]))

LANEWISE(run_min_u16, u16, u16, u16, u16, a[l] < b[l] ? a[l] : b[l])
LANEWISE(run_max_u16, u16, u16, u16, u16, a[l] > b[l] ? a[l] : b[l])
LANEWISE(run_min_s16, u16, s16, s16, u16, a[l] < b[l] ? a[l] : b[l])
LANEWISE(run_max_s16, u16, s16, s16, u16, a[l] > b[l] ? a[l] : b[l])
LANEWISE(run_min_relu, u32, s32, s32, u32,
    (a[l] < b[l] ? a[l] : b[l]) > 0 ? (a[l] < b[l] ? a[l] : b[l]) : 0)
LANEWISE(run_max_relu, u32, s32, s32, u32,
    (a[l] > b[l] ? a[l] : b[l]) > 0 ? (a[l] > b[l] ? a[l] : b[l]) : 0)

/* ---- pairs of 16 bits ------------------------------------------------------------------------ */

enum pair_op { PAIR_ADD, PAIR_MIN_U, PAIR_MAX_U, PAIR_MIN_S, PAIR_MAX_S };

static u32 pair_half(enum pair_op how, u16 x, u16 y)
{
    switch (how) {
    case PAIR_ADD:
        return (u16)(x + y);
    case PAIR_MIN_U:
        return x < y ? x : y;
    case PAIR_MAX_U:
        return x > y ? x : y;
    case PAIR_MIN_S:
        return (s16)x < (s16)y ? x : y;
    default:
        return (s16)x > (s16)y ? x : y;
    }
}

static u32 pair(enum pair_op how, u32 x, u32 y)
{
    return pair_half(how, (u16)x, (u16)y) | pair_half(how, (u16)(x >> 16), (u16)(y >> 16)) << 16;
}

LANEWISE(run_add_x2, u32, u32, u32, u32, pair(PAIR_ADD, a[l], b[l]))
LANEWISE(run_min_u16x2, u32, u32, u32, u32, pair(PAIR_MIN_U, a[l], b[l]))
LANEWISE(run_max_u16x2, u32, u32, u32, u32, pair(PAIR_MAX_U, a[l], b[l]))
LANEWISE(run_min_s16x2, u32, u32, u32, u32, pair(PAIR_MIN_S, a[l], b[l]))
LANEWISE(run_max_s16x2, u32, u32, u32, u32, pair(PAIR_MAX_S, a[l], b[l]))

LANEWISE(run_min_relu_s16x2, u32, u32, u32, u32, pair(PAIR_MAX_S, pair(PAIR_MIN_S, a[l], b[l]), 0))
LANEWISE(run_max_relu_s16x2, u32, u32, u32, u32, pair(PAIR_MAX_S, pair(PAIR_MAX_S, a[l], b[l]), 0))

/* ---- bits ------------------------------------------------------------------------------------ */

static u32 find_top(u64 x, unsigned width)
{
    (void)width;
    return x ? 63u - (u32)__builtin_clzll(x) : UINT32_MAX;
}

static u32 find_top_shift(u64 x, unsigned width)
{
    u32 top = find_top(x, width);
    return top == UINT32_MAX ? top : width - 1 - top;
}

static u64 fold_sign32(u32 x)
{
    return x >> 31 ? (u32)~x : x;
}

static u64 fold_sign64(u64 x)
{
    return x >> 63 ? ~x : x;
}

static u64 reverse(u64 x, unsigned width)
{
    x = (x & UINT64_C(0x5555555555555555)) << 1 | (x >> 1 & UINT64_C(0x5555555555555555));
    x = (x & UINT64_C(0x3333333333333333)) << 2 | (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4 | (x >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f));
    return __builtin_bswap64(x) >> (64 - width);
}

static u32 find_nth_set(u32 mask, u32 base, s32 offset)
{
    if (base > 31)
        return UINT32_MAX;
    if (offset == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    int64_t count = offset < 0 ? -(int64_t)offset : offset;
    for (int64_t pos = base; pos >= 0 && pos < 32; pos += offset < 0 ? -1 : 1)
        if (mask >> pos & 1 && --count == 0)
            return (u32)pos;
    return UINT32_MAX;
}

static u64 extract(u64 x, u32 position, u32 length, unsigned width, bool is_signed)
{
    u32 pos = position & 0xff, len = length & 0xff;
    u64 sign = 0, value = 0;
    if (is_signed && len) {
        u32 top = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
        sign = x >> top & 1;
    }
    for (u32 i = 0; i < width; i++)
        value |= (i < len && pos + i < width ? x >> (pos + i) & 1 : sign) << i;
    return value;
}

static u64 insert(u64 from, u64 into, u32 position, u32 length, unsigned width)
{
    u32 pos = position & 0xff, len = length & 0xff;
    for (u32 i = 0; i < len && pos + i < width; i++) {
        into &= ~(UINT64_C(1) << (pos + i));
        into |= (from >> i & 1) << (pos + i);
    }
    return into;
}

static u32 bit_mask(u32 position, u32 length, bool is_wrap)
{
    u32 pos = is_wrap ? position & 31 : position, len = is_wrap ? length & 31 : length;
    u64 mask = 0;
    if (pos < 32 && len)
        mask = ((len >= 32 ? UINT64_C(0x1ffffffff) >> 1 : (UINT64_C(1) << len) - 1)) << pos;
    return (u32)mask;
}

static u32 extend(u32 x, u32 width, bool is_wrap, bool is_signed)
{
    u32 w = is_wrap ? width & 31 : width;
    if (!is_wrap && w >= 32)
        return x;
    if (w == 0)
        return 0;
    u32 low = x & ((1u << w) - 1);
    return is_signed && low >> (w - 1) ? low | ~((1u << w) - 1) : low;
}

LANEWISE(run_popc32, u32, u32, u32, u32, __builtin_popcount(a[l]))
LANEWISE(run_popc64, u32, u64, u32, u32, __builtin_popcountll(a[l]))
LANEWISE(run_clz32, u32, u32, u32, u32, a[l] ? __builtin_clz(a[l]) : 32)
LANEWISE(run_clz64, u32, u64, u32, u32, a[l] ? __builtin_clzll(a[l]) : 64)
LANEWISE(run_bfind_u32, u32, u32, u32, u32, find_top(a[l], 32))
LANEWISE(run_bfind_s32, u32, u32, u32, u32, find_top(fold_sign32(a[l]), 32))
LANEWISE(run_bfind_u64, u32, u64, u32, u32, find_top(a[l], 64))
LANEWISE(run_bfind_s64, u32, u64, u32, u32, find_top(fold_sign64(a[l]), 64))
LANEWISE(run_bfind_shift_u32, u32, u32, u32, u32, find_top_shift(a[l], 32))
LANEWISE(run_bfind_shift_s32, u32, u32, u32, u32, find_top_shift(fold_sign32(a[l]), 32))
LANEWISE(run_bfind_shift_u64, u32, u64, u32, u32, find_top_shift(a[l], 64))
LANEWISE(run_bfind_shift_s64, u32, u64, u32, u32, find_top_shift(fold_sign64(a[l]), 64))
LANEWISE(run_brev32, u32, u32, u32, u32, reverse(a[l], 32))
LANEWISE(run_brev64, u64, u64, u32, u32, reverse(a[l], 64))
LANEWISE(run_fns, u32, u32, u32, s32, find_nth_set(a[l], b[l], c[l]))
LANEWISE(run_bfe_u32, u32, u32, u32, u32, extract(a[l], b[l], c[l], 32, false))
LANEWISE(run_bfe_s32, u32, u32, u32, u32, extract(a[l], b[l], c[l], 32, true))
LANEWISE(run_bfe_u64, u64, u64, u32, u32, extract(a[l], b[l], c[l], 64, false))
LANEWISE(run_bfe_s64, u64, u64, u32, u32, extract(a[l], b[l], c[l], 64, true))
LANEWISE(run_bmsk_clamp, u32, u32, u32, u32, bit_mask(a[l], b[l], false))
LANEWISE(run_bmsk_wrap, u32, u32, u32, u32, bit_mask(a[l], b[l], true))
LANEWISE(run_szext_clamp_u, u32, u32, u32, u32, extend(a[l], b[l], false, false))
LANEWISE(run_szext_clamp_s, u32, u32, u32, u32, extend(a[l], b[l], false, true))
LANEWISE(run_szext_wrap_u, u32, u32, u32, u32, extend(a[l], b[l], true, false))
LANEWISE(run_szext_wrap_s, u32, u32, u32, u32, extend(a[l], b[l], true, true))

/* slct's test of a float: with .ftz, negative subnormals count as zero. */
static inline bool is_first(float c, uint32_t flags)
{
    return flags & SIM_FLOAT_FTZ ? c > -0x1p-126f : c >= 0.0f;
}

LANEWISE(run_slct_f32_16, u16, u16, u16, float, is_first(c[l], op->aux) ? a[l] : b[l])
LANEWISE(run_slct_f32_32, u32, u32, u32, float, is_first(c[l], op->aux) ? a[l] : b[l])
LANEWISE(run_slct_f32_64, u64, u64, u64, float, is_first(c[l], op->aux) ? a[l] : b[l])

#define INSERT(NAME, T, WIDTH)                                                                     \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        T *d = sim_vreg_at(warp, op->d);                                                           \
        const T *a = sim_vreg_at(warp, op->a), *b = sim_vreg_at(warp, op->b);                      \
        const u32 *c = sim_vreg_at(warp, op->c), *length = sim_vreg_at(warp, op->aux);             \
        uint32_t lanes = sim_active_lanes(warp, op);                                               \
        EACH d[l] = (lanes >> l & 1) ? (T)insert(a[l], b[l], c[l], length[l], WIDTH) : d[l];       \
        return op + 1;                                                                             \
    }

INSERT(run_bfi32, u32, 32)
INSERT(run_bfi64, u64, 64)

/* ---- byte permutation ------------------------------------------------------------------------ */

static const unsigned char permute_modes[6][4][4] = {
    {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}, /* f4e */
    {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}, /* b4e */
    {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}, /* rc8 */
    {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}, /* ecl */
    {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}, /* ecr */
    {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}, /* rc16 */
};

static u32 permute(u32 x, u32 y, u32 selector, int mode)
{
    u64 bytes = (u64)y << 32 | x;
    u32 result = 0;
    for (unsigned i = 0; i < 4; i++) {
        u32 pick = mode < 0 ? selector >> (i * 4) & 0xf : permute_modes[mode][selector & 3][i];
        u32 byte = (u32)(bytes >> ((pick & 7) * 8)) & 0xff;
        if (mode < 0 && pick & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << (i * 8);
    }
    return result;
}

LANEWISE(run_prmt, u32, u32, u32, u32, permute(a[l], b[l], c[l], -1))
LANEWISE(run_prmt_f4e, u32, u32, u32, u32, permute(a[l], b[l], c[l], 0))
LANEWISE(run_prmt_b4e, u32, u32, u32, u32, permute(a[l], b[l], c[l], 1))
LANEWISE(run_prmt_rc8, u32, u32, u32, u32, permute(a[l], b[l], c[l], 2))
LANEWISE(run_prmt_ecl, u32, u32, u32, u32, permute(a[l], b[l], c[l], 3))
LANEWISE(run_prmt_ecr, u32, u32, u32, u32, permute(a[l], b[l], c[l], 4))
LANEWISE(run_prmt_rc16, u32, u32, u32, u32, permute(a[l], b[l], c[l], 5))

/* ---- dot products ---------------------------------------------------------------------------- */

static u32 part(u32 x, unsigned index, unsigned bits, bool is_signed)
{
    u32 value = x >> (index * bits) & ((1u << bits) - 1);
    return is_signed && value >> (bits - 1) ? value | ~((1u << bits) - 1) : value;
}

static u32 dot4(u32 x, u32 y, u32 sum, bool x_signed, bool y_signed)
{
    for (unsigned i = 0; i < 4; i++)
        sum += part(x, i, 8, x_signed) * part(y, i, 8, y_signed);
    return sum;
}

static u32 dot2(u32 x, u32 y, u32 sum, bool x_signed, bool y_signed, unsigned first)
{
    for (unsigned i = 0; i < 2; i++)
        sum += part(x, i, 16, x_signed) * part(y, first + i, 8, y_signed);
    return sum;
}

#define DOTS(SUFFIX, XS, YS)                                                                       \
    LANEWISE(run_dp4a_##SUFFIX, u32, u32, u32, u32, dot4(a[l], b[l], c[l], XS, YS))                \
    LANEWISE(run_dp2a_lo_##SUFFIX, u32, u32, u32, u32, dot2(a[l], b[l], c[l], XS, YS, 0))          \
    LANEWISE(run_dp2a_hi_##SUFFIX, u32, u32, u32, u32, dot2(a[l], b[l], c[l], XS, YS, 2))

DOTS(uu, false, false)
DOTS(us, false, true)
DOTS(su, true, false)
DOTS(ss, true, true)

static u32 differences(u32 x, u32 y, u32 sum, unsigned bits, u32 how)
{
    u32 mask = (1u << bits) - 1, packed = 0;
    for (unsigned i = 0; i < 32 / bits; i++) {
        u32 left = part(x, i, bits, how & 1), right = part(y, i, bits, how & 1);
        bool is_less = how & 1 ? (s32)left < (s32)right : left < right;
        u32 difference = is_less ? right - left : left - right;
        packed |= (difference & mask) << (i * bits);
        sum += difference;
    }
    return how & 2 ? sum : packed;
}

LANEWISE(run_absdiff2, u32, u32, u32, u32, differences(a[l], b[l], c[l], 16, op->aux))
LANEWISE(run_absdiff4, u32, u32, u32, u32, differences(a[l], b[l], c[l], 8, op->aux))

/* ---- clamps: a 64-bit value, signed when aux says so, to the range of a type ----------------- */

static u64 clamp(u64 value, bool from_signed, unsigned bits, bool to_signed)
{
    bool is_negative = from_signed && (s64)value < 0;
    u64 highest = to_signed ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    if (!is_negative)
        return value > highest ? highest : value;
    if (!to_signed)
        return 0;
    s64 lowest = -(s64)highest - 1;
    return (s64)value < lowest ? (u64)lowest : value;
}

#define CLAMP(BITS)                                                                                \
    LANEWISE(run_clamp##BITS##_u, u64, u64, u64, u64, clamp(a[l], op->aux, BITS, false))           \
    LANEWISE(run_clamp##BITS##_s, u64, u64, u64, u64, clamp(a[l], op->aux, BITS, true))

CLAMP(8)
CLAMP(16)
CLAMP(32)
CLAMP(64)

static u32 pack_clamped(u32 x, u32 y, u32 rest, enum ptx_type to)
{
    bool is_signed = ptx_type_is_signed(to);
    unsigned bits = ptx_type_size(to) * 8;
    u32 mask = (1u << bits) - 1;
    u32 high = (u32)clamp((u64)(s64)(s32)x, true, bits, is_signed) & mask;
    u32 low = (u32)clamp((u64)(s64)(s32)y, true, bits, is_signed) & mask;
    u32 packed = high << bits | low;
    return bits == 16 ? packed : packed | rest << 16;
}

LANEWISE(run_cvt_pack, u32, u32, u32, u32, pack_clamped(a[l], b[l], c[l], (enum ptx_type)op->aux))

/* ---- short vectors in one register ----------------------------------------------------------- */

HANDLER(run_pack)
{
    const uint32_t *words = op[1].words;
    uint32_t lanes = sim_active_lanes(warp, op), part_bytes = words[4], count = op->aux;
    uint32_t width = part_bytes * count, vreg = part_bytes < 2 ? 2 : part_bytes;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        unsigned char bytes[16];
        for (uint32_t i = 0; i < count; i++)
            memcpy(
                bytes + i * part_bytes, (char *)sim_vreg_at(warp, words[i]) + l * vreg, part_bytes);
        memcpy((char *)sim_vreg_at(warp, op->d) + l * width, bytes, width);
    }
    return op + 2;
}

HANDLER(run_pack64)
{
    const uint32_t *words = op[1].words;
    if (words[4] != 4)
        return run_pack(warp, op);
    u64 *d = sim_vreg_at(warp, op->d);
    const u32 *low = sim_vreg_at(warp, words[0]), *high = sim_vreg_at(warp, words[1]);
    uint32_t lanes = sim_active_lanes(warp, op);
    EACH d[l] = (lanes >> l & 1) ? low[l] | (u64)high[l] << 32 : d[l];
    return op + 2;
}

HANDLER(run_unpack)
{
    const uint32_t *words = op[1].words;
    uint32_t lanes = sim_active_lanes(warp, op), part_bytes = words[4], count = op->aux;
    uint32_t width = part_bytes * count, vreg = part_bytes < 2 ? 2 : part_bytes;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        unsigned char bytes[16];
        memcpy(bytes, (char *)sim_vreg_at(warp, op->d) + l * width, width);
        for (uint32_t i = 0; i < count; i++) {
            unsigned char value[8] = {0};
            memcpy(value, bytes + i * part_bytes, part_bytes);
            memcpy((char *)sim_vreg_at(warp, words[i]) + l * vreg, value, vreg);
        }
    }
    return op + 2;
}

HANDLER(run_unpack64)
{
    const uint32_t *words = op[1].words;
    if (words[4] != 4)
        return run_unpack(warp, op);
    const u64 *a = sim_vreg_at(warp, op->d);
    u32 *low = sim_vreg_at(warp, words[0]), *high = sim_vreg_at(warp, words[1]);
    uint32_t lanes = sim_active_lanes(warp, op);
    EACH low[l] = (lanes >> l & 1) ? (u32)a[l] : low[l];
    EACH high[l] = (lanes >> l & 1) ? (u32)(a[l] >> 32) : high[l];
    return op + 2;
}

/* ---- predicates ------------------------------------------------------------------------------ */

#define PREDICATE(NAME, BITS)                                                                      \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        uint32_t lanes = sim_active_lanes(warp, op), *d = sim_word_at(warp, op->d);                \
        uint32_t a = *sim_word_at(warp, op->a), b = *sim_word_at(warp, op->b);                     \
        (void)b;                                                                                   \
        *d = (*d & ~lanes) | ((BITS)&lanes);                                                       \
        return op + 1;                                                                             \
    }

PREDICATE(run_pred_mov, a)
PREDICATE(run_pred_not, ~a)
PREDICATE(run_pred_and, a &b)
PREDICATE(run_pred_or, a | b)
PREDICATE(run_pred_xor, a ^ b)

static uint32_t combine(uint32_t how, uint32_t x, uint32_t y)
{
    switch (how) {
    case SIM_BOOL_AND:
        return x & y;
    case SIM_BOOL_OR:
        return x | y;
    case SIM_BOOL_XOR:
        return x ^ y;
    default:
        return x;
    }
}

HANDLER(run_combine)
{
    uint32_t lanes = sim_active_lanes(warp, op), *p = sim_word_at(warp, op->d),
             *q = sim_word_at(warp, op->c);
    uint32_t raw = *sim_word_at(warp, op->a), with = *sim_word_at(warp, op->b);
    *p = (*p & ~lanes) | (combine(op->aux, raw, with) & lanes);
    *q = (*q & ~lanes) | (combine(op->aux, ~raw, with) & lanes);
    return op + 1;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define SET(KIND, TYPE, NAME) handlers->run[KIND][TYPE] = NAME;

#define SET_DIVISION(W)                                                                            \
    SET(SIM_DIV, PTX_U##W, run_div_u##W)                                                           \
    SET(SIM_DIV, PTX_S##W, run_div_s##W)                                                           \
    SET(SIM_REM, PTX_U##W, run_rem_u##W)                                                           \
    SET(SIM_REM, PTX_S##W, run_rem_s##W)                                                           \
    SET(SIM_SAD, PTX_U##W, run_sad_u##W)                                                           \
    SET(SIM_SAD, PTX_S##W, run_sad_s##W)

#define SET_BITS(W)                                                                                \
    SET(SIM_POPC, PTX_B##W, run_popc##W)                                                           \
    SET(SIM_CLZ, PTX_B##W, run_clz##W)                                                             \
    SET(SIM_BREV, PTX_B##W, run_brev##W)                                                           \
    SET(SIM_BFIND, PTX_U##W, run_bfind_u##W)                                                       \
    SET(SIM_BFIND, PTX_S##W, run_bfind_s##W)                                                       \
    SET(SIM_BFIND, PTX_B##W, run_bfind_u##W)                                                       \
    SET(SIM_BFIND_SHIFT, PTX_U##W, run_bfind_shift_u##W)                                           \
    SET(SIM_BFIND_SHIFT, PTX_S##W, run_bfind_shift_s##W)                                           \
    SET(SIM_BFE, PTX_U##W, run_bfe_u##W)                                                           \
    SET(SIM_BFE, PTX_S##W, run_bfe_s##W)                                                           \
    SET(SIM_BFI, PTX_B##W, run_bfi##W)                                                             \
    SET(SIM_BFI, PTX_U##W, run_bfi##W)

#define SET_DOTS(KIND, NAME)                                                                       \
    SET(KIND##_UU, PTX_U32, NAME##_uu)                                                             \
    SET(KIND##_US, PTX_U32, NAME##_us)                                                             \
    SET(KIND##_SU, PTX_U32, NAME##_su)                                                             \
    SET(KIND##_SS, PTX_U32, NAME##_ss)

static void fill_small(struct sim_handlers *handlers)
{
    SET(SIM_ADD_SAT, PTX_S32, run_add_sat)
    SET(SIM_SUB_SAT, PTX_S32, run_sub_sat)
    SET(SIM_MAD_HI_SAT, PTX_S32, run_mad_hi_sat)
    SET(SIM_MUL24_LO, PTX_U32, run_mul24_lo_u)
    SET(SIM_MUL24_HI, PTX_U32, run_mul24_hi_u)
    SET(SIM_MUL24_LO, PTX_S32, run_mul24_lo_s)
    SET(SIM_MUL24_HI, PTX_S32, run_mul24_hi_s)
    SET(SIM_MAD24_LO, PTX_U32, run_mad24_lo_u)
    SET(SIM_MAD24_HI, PTX_U32, run_mad24_hi_u)
    SET(SIM_MAD24_LO, PTX_S32, run_mad24_lo_s)
    SET(SIM_MAD24_HI, PTX_S32, run_mad24_hi_s)
    SET(SIM_MAD24_HI_SAT, PTX_S32, run_mad24_hi_sat)
    SET(SIM_MIN, PTX_U16, run_min_u16)
    SET(SIM_MAX, PTX_U16, run_max_u16)
    SET(SIM_MIN, PTX_S16, run_min_s16)
    SET(SIM_MAX, PTX_S16, run_max_s16)
    SET(SIM_MIN_RELU, PTX_S32, run_min_relu)
    SET(SIM_MAX_RELU, PTX_S32, run_max_relu)
    SET(SIM_ADD, PTX_U16X2, run_add_x2)
    SET(SIM_ADD, PTX_S16X2, run_add_x2)
    SET(SIM_MIN, PTX_U16X2, run_min_u16x2)
    SET(SIM_MAX, PTX_U16X2, run_max_u16x2)
    SET(SIM_MIN, PTX_S16X2, run_min_s16x2)
    SET(SIM_MAX, PTX_S16X2, run_max_s16x2)
    SET(SIM_FNS, PTX_B32, run_fns)
    SET(SIM_BMSK_CLAMP, PTX_B32, run_bmsk_clamp)
    SET(SIM_BMSK_WRAP, PTX_B32, run_bmsk_wrap)
    SET(SIM_SZEXT_CLAMP, PTX_U32, run_szext_clamp_u)
    SET(SIM_SZEXT_CLAMP, PTX_S32, run_szext_clamp_s)
    SET(SIM_SZEXT_WRAP, PTX_U32, run_szext_wrap_u)
    SET(SIM_SZEXT_WRAP, PTX_S32, run_szext_wrap_s)
    SET(SIM_SLCT_F32, PTX_U16, run_slct_f32_16)
    SET(SIM_SLCT_F32, PTX_U32, run_slct_f32_32)
    SET(SIM_SLCT_F32, PTX_U64, run_slct_f32_64)
    SET(SIM_CVT_PACK, PTX_U32, run_cvt_pack)
    SET(SIM_ABSDIFF2, PTX_U32, run_absdiff2)
    SET(SIM_ABSDIFF4, PTX_U32, run_absdiff4)
    SET(SIM_MIN_RELU, PTX_S16X2, run_min_relu_s16x2)
    SET(SIM_MAX_RELU, PTX_S16X2, run_max_relu_s16x2)
}

static void fill_bytes(struct sim_handlers *handlers)
{
    SET(SIM_PRMT, PTX_U32, run_prmt)
    SET(SIM_PRMT_F4E, PTX_U32, run_prmt_f4e)
    SET(SIM_PRMT_B4E, PTX_U32, run_prmt_b4e)
    SET(SIM_PRMT_RC8, PTX_U32, run_prmt_rc8)
    SET(SIM_PRMT_ECL, PTX_U32, run_prmt_ecl)
    SET(SIM_PRMT_ECR, PTX_U32, run_prmt_ecr)
    SET(SIM_PRMT_RC16, PTX_U32, run_prmt_rc16)
    SET(SIM_CLAMP8, PTX_U64, run_clamp8_u)
    SET(SIM_CLAMP8, PTX_S64, run_clamp8_s)
    SET(SIM_CLAMP16, PTX_U64, run_clamp16_u)
    SET(SIM_CLAMP16, PTX_S64, run_clamp16_s)
    SET(SIM_CLAMP32, PTX_U64, run_clamp32_u)
    SET(SIM_CLAMP32, PTX_S64, run_clamp32_s)
    SET(SIM_CLAMP64, PTX_U64, run_clamp64_u)
    SET(SIM_CLAMP64, PTX_S64, run_clamp64_s)
    SET(SIM_PACK, PTX_U16, run_pack)
    SET(SIM_PACK, PTX_U32, run_pack)
    SET(SIM_PACK, PTX_U64, run_pack64)
    SET(SIM_PACK, PTX_B128, run_pack)
    SET(SIM_UNPACK, PTX_U16, run_unpack)
    SET(SIM_UNPACK, PTX_U32, run_unpack)
    SET(SIM_UNPACK, PTX_U64, run_unpack64)
    SET(SIM_UNPACK, PTX_B128, run_unpack)
}

void sim_bits_fill(struct sim_handlers *handlers)
{
    SET_DIVISION(16)
    SET_DIVISION(32)
    SET_DIVISION(64)
    SET_BITS(32)
    SET_BITS(64)
    SET_DOTS(SIM_DP4A, run_dp4a)
    SET_DOTS(SIM_DP2A_LO, run_dp2a_lo)
    SET_DOTS(SIM_DP2A_HI, run_dp2a_hi)
    SET(SIM_MOV, PTX_PRED, run_pred_mov)
    SET(SIM_NOT, PTX_PRED, run_pred_not)
    SET(SIM_AND, PTX_PRED, run_pred_and)
    SET(SIM_OR, PTX_PRED, run_pred_or)
    SET(SIM_XOR, PTX_PRED, run_pred_xor)
    SET(SIM_COMBINE, PTX_PRED, run_combine)
    fill_small(handlers);
    fill_bytes(handlers);
}
