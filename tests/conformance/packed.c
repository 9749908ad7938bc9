/* SPDX-License-Identifier: Apache-2.0 */
/* Several values in one register: halves and bytes of integers, cvt.pack, two floats to one pair,
 * packing and unpacking moves; set with results of 16 bits. */
#include "conformance.h"

#include "softfloat.h"

#define LOW(x) ((u32)(x)&0xffff)
#define HIGH(x) ((u32)(x) >> 16)
#define BOTH(low, high) ((u64)LOW(low) | (u64)LOW(high) << 16)
#define LEAST(x, y) ((x) < (y) ? (x) : (y))
#define MOST(x, y) ((x) > (y) ? (x) : (y))
#define S(x) ((s32)(s16)(x))

ANSWER(add_pair, BOTH(LOW(a) + LOW(b), HIGH(a) + HIGH(b)))
ANSWER(min_u, BOTH(LEAST(LOW(a), LOW(b)), LEAST(HIGH(a), HIGH(b))))
ANSWER(max_u, BOTH(MOST(LOW(a), LOW(b)), MOST(HIGH(a), HIGH(b))))
ANSWER(min_s, BOTH(LEAST(S(a), S(b)), LEAST(S(HIGH(a)), S(HIGH(b)))))
ANSWER(max_s, BOTH(MOST(S(a), S(b)), MOST(S(HIGH(a)), S(HIGH(b)))))
ANSWER(min_relu, BOTH(MOST(LEAST(S(a), S(b)), 0), MOST(LEAST(S(HIGH(a)), S(HIGH(b))), 0)))
ANSWER(max_relu, BOTH(MOST(MOST(S(a), S(b)), 0), MOST(MOST(S(HIGH(a)), S(HIGH(b))), 0)))

/* how: bits of a part, 1: the differences are added to c */
static uint64_t differences(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    u32 bits = lane->how[0], mask = bits == 8 ? 0xff : 0xffff, sum = 0, parts = 0;

    for (u32 at = 0; at < 32; at += bits) {
        u32 x = (u32)a >> at & mask, y = (u32)b >> at & mask;
        u32 difference = x > y ? x - y : y - x;

        sum += difference;
        parts |= difference << at;
    }
    return lane->how[1] ? sum + c : parts;
}

static uint64_t clamp(uint64_t value, int64_t least, int64_t most, uint32_t mask)
{
    int64_t number = (s32)value;

    return (u64)LEAST(MOST(number, least), most) & mask;
}

ANSWER(pack_u8, clamp(b, 0, 255, 0xff) | clamp(a, 0, 255, 0xff) << 8 | (u64)(u32)c << 16)
ANSWER(pack_s8, clamp(b, -128, 127, 0xff) | clamp(a, -128, 127, 0xff) << 8 | (u64)(u32)c << 16)
ANSWER(pack_u16, clamp(b, 0, 65535, 0xffff) | clamp(a, 0, 65535, 0xffff) << 16)
ANSWER(pack_s16, clamp(b, -32768, 32767, 0xffff) | clamp(a, -32768, 32767, 0xffff) << 16)

/* how: 1: bf16, rounding */
static uint64_t narrowed(const struct lane_case *lane, uint64_t bits)
{
    double value = (double)float_of(bits);

    return isnan(value) ? 0x7fff
                        : bits_of_format(lane->how[0] ? &bfloat_format : &half_format, value,
                              (int)lane->how[1]);
}

static uint64_t pair(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return narrowed(lane, a) << 16 | narrowed(lane, b);
}

ANSWER(saturated, bits_of_format(&half_format,
                      saturate(value_of_format(
                          &half_format, bits_of_format(&half_format, (double)float_of(a), RN))),
                      RN))
ANSWER(unpacked, HIGH(a) + 3 * LOW(a))
ANSWER(unpacked64, (u32)(a >> 32) + 3 * (u64)(u32)a)
ANSWER(packed4, (u16)a | (u64)(u16)b << 16 | (u64)(u16)c << 32 | (u64)(u16)a << 48)
#define HALF_LESS (value_of_format(&half_format, a) < value_of_format(&half_format, b))
ANSWER(set_half, HALF_LESS ? 0x3c00 : 0)
ANSWER(set_word, HALF_LESS ? 0xffffffff : 0)

static const struct lane_case lanes[] = {
    {"add.u16x2 d, a, b;", R32, INTEGERS, add_pair},
    {"add.s16x2 d, a, b;", R32, INTEGERS, add_pair},
    {"min.u16x2 d, a, b;", R32, INTEGERS, min_u},
    {"max.u16x2 d, a, b;", R32, INTEGERS, max_u},
    {"min.s16x2 d, a, b;", R32, INTEGERS, min_s},
    {"max.s16x2 d, a, b;", R32, INTEGERS, max_s},
    {"min.relu.s16x2 d, a, b;", R32, INTEGERS, min_relu},
    {"max.relu.s16x2 d, a, b;", R32, INTEGERS, max_relu},
    {"vabsdiff2.u32.u32.u32.add d, a, b, c;", R32, INTEGERS, differences, NULL, {16, 1}},
    {"vabsdiff4.u32.u32.u32.add d, a, b, c;", R32, INTEGERS, differences, NULL, {8, 1}},
    {"vabsdiff2.u32.u32.u32 d, a, b, c;", R32, INTEGERS, differences, NULL, {16, 0}},
    {"vabsdiff4.u32.u32.u32 d, a, b, c;", R32, INTEGERS, differences, NULL, {8, 0}},
    {"cvt.pack.sat.u8.s32.b32 d, a, b, c;", R32, INTEGERS, pack_u8},
    {"cvt.pack.sat.s8.s32.b32 d, a, b, c;", R32, INTEGERS, pack_s8},
    {"cvt.pack.sat.u16.s32 d, a, b;", R32, INTEGERS, pack_u16},
    {"cvt.pack.sat.s16.s32 d, a, b;", R32, INTEGERS, pack_s16},
    {"cvt.rn.f16x2.f32 d, a, b;", R32, FLOATS, pair, NULL, {0, RN}},
    {"cvt.rz.f16x2.f32 d, a, b;", R32, FLOATS, pair, NULL, {0, RZ}},
    {"cvt.rn.bf16x2.f32 d, a, b;", R32, FLOATS, pair, NULL, {1, RN}},
    {"cvt.rz.bf16x2.f32 d, a, b;", R32, FLOATS, pair, NULL, {1, RZ}},
    {"cvt.rn.sat.f16.f32 hd, a;", R16, FLOATS, saturated},
    {"mov.b32 {hc, hd}, a; cvt.u32.u16 d, hd; mul.wide.u16 e, hc, 3; add.u32 d, d, e;", R32,
        INTEGERS, unpacked, "mov.b32{}"},
    {"mov.b64 {d, e}, la; mul.wide.u32 ld, d, 3; cvt.u64.u32 le, e; add.u64 ld, ld, le;", R64,
        INTEGERS, unpacked64, "mov.b64{}"},
    {"mov.b64 ld, {ha, hb, hc, ha};", R64, INTEGERS, packed4, "mov.b64{4}"},
    {"set.lt.f16.f16 hd, ha, hb;", R16, HALVES, set_half},
    {"set.lt.u32.f16 d, ha, hb;", R32, HALVES, set_word},
};

static void add_cases(void)
{
    lane_add_all(lanes, COUNT_OF(lanes));
}

const struct group packed_group = {.name = "packed", .add = add_cases};
