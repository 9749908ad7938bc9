/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic: add to rem, mul and mad in all halves, carry chains, min max abs neg sad,
 * 24-bit products, dot products. */
#include "conformance.h"

ANSWER(add, a + b)
ANSWER(sub, a - b)
ANSWER(mul, a *b)
ANSWER(mad, a *b + c)

static int64_t clamp32(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
}

ANSWER(add_sat, clamp32((int64_t)(s32)a + (s32)b))
ANSWER(sub_sat, clamp32((int64_t)(s32)a - (s32)b))
ANSWER(mul_hi_u16, (u32)(u16)a *(u16)b >> 16)
ANSWER(mul_hi_s16, (s16)a *(s16)b >> 16)
ANSWER(mul_hi_u32, (u64)(u32)a *(u32)b >> 32)
ANSWER(mul_hi_s32, (s64)(s32)a *(s32)b >> 32)
ANSWER(mul_hi_u64, (u128)a *b >> 64)
ANSWER(mul_hi_s64, (s128)(s64)a *(s64)b >> 64)
ANSWER(mul_wide_u16, (u32)(u16)a *(u16)b)
ANSWER(mul_wide_s16, (s16)a *(s16)b)
ANSWER(mul_wide_u32, (u64)(u32)a *(u32)b)
ANSWER(mul_wide_s32, (s64)(s32)a *(s32)b)
ANSWER(mad_hi_u16, ((u32)(u16)a * (u16)b >> 16) + c)
ANSWER(mad_hi_s16, (u64)((s16)a *(s16)b >> 16) + c)
ANSWER(mad_hi_u32, ((u64)(u32)a * (u32)b >> 32) + c)
ANSWER(mad_hi_s32, (u64)((s64)(s32)a *(s32)b >> 32) + c)
ANSWER(mad_hi_u64, (u64)((u128)a *b >> 64) + c)
ANSWER(mad_hi_s64, (u64)((s128)(s64)a *(s64)b >> 64) + c)
ANSWER(mad_hi_sat, clamp32(((s64)(s32)a * (s32)b >> 32) + (s32)c))
ANSWER(mad_wide_u16, (u32)(u16)a *(u16)b + (u32)c)
ANSWER(mad_wide_s16, (u32)((s16)a *(s16)b) + (u32)c)
ANSWER(mad_wide_u32, (u64)(u32)a *(u32)b + c)
ANSWER(mad_wide_s32, (u64)((s64)(s32)a *(s32)b) + c)

#define LOW24(x) ((x)&0xffffff)
#define SIGNED24(x) ((s64)(s32)((u32)(x) << 8) >> 8)
ANSWER(mul24_lo_u, LOW24(a) * LOW24(b))
ANSWER(mul24_hi_u, LOW24(a) * LOW24(b) >> 16)
ANSWER(mul24_lo_s, SIGNED24(a) * SIGNED24(b))
ANSWER(mul24_hi_s, SIGNED24(a) * SIGNED24(b) >> 16)
ANSWER(mad24_lo_u, LOW24(a) * LOW24(b) + c)
ANSWER(mad24_hi_u, (LOW24(a) * LOW24(b) >> 16) + c)
ANSWER(mad24_lo_s, (u64)(SIGNED24(a) * SIGNED24(b)) + c)
ANSWER(mad24_hi_s, (u64)(SIGNED24(a) * SIGNED24(b) >> 16) + c)
ANSWER(mad24_hi_sat, clamp32((s32)(SIGNED24(a) * SIGNED24(b) >> 16) + (s64)(s32)c))

/* Division by a divisor that is never 0, because the result for 0 is not specified. The most
 * negative number divided by -1 wraps. */
#define DIVISION(T)                                                                                \
    ANSWER(div_u##T, (u##T)a / (u##T)(b | 1))                                                      \
    ANSWER(rem_u##T, (u##T)a % (u##T)(b | 1))                                                      \
    ANSWER(                                                                                        \
        div_s##T, (s##T)(b | 1) == -1 ? (u64)(0 - (u64)(s##T)a) : (u64)((s##T)a / (s##T)(b | 1)))  \
    ANSWER(rem_s##T, (s##T)(b | 1) == -1 ? 0 : (s##T)a % (s##T)(b | 1))
DIVISION(16)
DIVISION(32)
DIVISION(64)

#define ORDERED(T)                                                                                 \
    ANSWER(min_u##T, (u##T)a < (u##T)b ? a : b)                                                    \
    ANSWER(max_u##T, (u##T)a > (u##T)b ? a : b)                                                    \
    ANSWER(min_s##T, (s##T)a < (s##T)b ? a : b)                                                    \
    ANSWER(max_s##T, (s##T)a > (s##T)b ? a : b)                                                    \
    ANSWER(abs_s##T, (s##T)a < 0 ? 0 - a : a)                                                      \
    ANSWER(sad_u##T, ((u##T)a < (u##T)b ? b - a : a - b) + c)                                      \
    ANSWER(sad_s##T, ((s##T)a < (s##T)b ? b - a : a - b) + c)
ORDERED(16)
ORDERED(32)
ORDERED(64)
ANSWER(neg, 0 - a)
ANSWER(min_relu, (s32)a < (s32)b ? ((s32)a < 0 ? 0 : a) : ((s32)b < 0 ? 0 : b))
ANSWER(max_relu, (s32)a > (s32)b ? ((s32)a < 0 ? 0 : a) : ((s32)b < 0 ? 0 : b))

/* The operand of each type in its position, zero- or sign-extended, for the dot products. */
static uint64_t dot(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    int is_two = (int)lane->how[0], high = (int)lane->how[1];
    int a_signed = (int)lane->how[2], b_signed = (int)lane->how[3];
    int64_t sum = 0;

    for (int i = 0; i < (is_two ? 2 : 4); i++) {
        u32 part = is_two ? (u32)a >> 16 * i & 0xffff : (u32)a >> 8 * i & 0xff;
        u32 byte = (u32)b >> 8 * (i + (is_two && high ? 2 : 0)) & 0xff;
        int64_t left = !a_signed ? (int64_t)part : is_two ? (s16)part : (s8)part;

        sum += left * (b_signed ? (s8)byte : (int64_t)byte);
    }
    return (u64)sum + c;
}

/* Carry chains over two words, and the flag itself. */

ANSWER(add_chain, (b << 32 | (u32)a) + (c << 32 | (u32)b))
ANSWER(sub_chain, (b << 32 | (u32)a) - (c << 32 | (u32)b))
ANSWER(add_carry, (u64)(((u128)a + b) >> 64) + c)
ANSWER(sub_borrow, c - (a < b))
ANSWER(
    carry_in_and_out, (u64)(((u128)(u32)a + (u32)b + ((((u64)(u32)b + (u32)c) >> 32))) >> 32) * 3 +
                          (u32)(a + b + (((u64)(u32)b + (u32)c) >> 32)))
ANSWER(mad_chain, (u64)(u32)a *(u32)b + c)
ANSWER(mad_chain_carry, (u32)(((u128)((u64)(u32)a * (u32)b) + c) >> 64) + (u32)a)
ANSWER(mad_chain64, (u64)((((u128)a * b) + ((u128)b << 64 | c)) >> 64))

static const struct lane_case simple[] = {
    {"add.u16 hd, ha, hb;", R16, INTEGERS, add},
    {"add.s16 hd, ha, hb;", R16, INTEGERS, add},
    {"add.u32 d, a, b;", R32, INTEGERS, add},
    {"add.s32 d, a, b;", R32, INTEGERS, add},
    {"add.u64 ld, la, lb;", R64, INTEGERS, add},
    {"add.s64 ld, la, lb;", R64, INTEGERS, add},
    {"add.sat.s32 d, a, b;", R32, INTEGERS, add_sat},
    {"sub.u16 hd, ha, hb;", R16, INTEGERS, sub},
    {"sub.s16 hd, ha, hb;", R16, INTEGERS, sub},
    {"sub.u32 d, a, b;", R32, INTEGERS, sub},
    {"sub.s32 d, a, b;", R32, INTEGERS, sub},
    {"sub.u64 ld, la, lb;", R64, INTEGERS, sub},
    {"sub.s64 ld, la, lb;", R64, INTEGERS, sub},
    {"sub.sat.s32 d, a, b;", R32, INTEGERS, sub_sat},
    {"mul.lo.u16 hd, ha, hb;", R16, INTEGERS, mul},
    {"mul.lo.s16 hd, ha, hb;", R16, INTEGERS, mul},
    {"mul.lo.u32 d, a, b;", R32, INTEGERS, mul},
    {"mul.lo.s32 d, a, b;", R32, INTEGERS, mul},
    {"mul.lo.u64 ld, la, lb;", R64, INTEGERS, mul},
    {"mul.lo.s64 ld, la, lb;", R64, INTEGERS, mul},
    {"mul.hi.u16 hd, ha, hb;", R16, INTEGERS, mul_hi_u16},
    {"mul.hi.s16 hd, ha, hb;", R16, INTEGERS, mul_hi_s16},
    {"mul.hi.u32 d, a, b;", R32, INTEGERS, mul_hi_u32},
    {"mul.hi.s32 d, a, b;", R32, INTEGERS, mul_hi_s32},
    {"mul.hi.u64 ld, la, lb;", R64, INTEGERS, mul_hi_u64},
    {"mul.hi.s64 ld, la, lb;", R64, INTEGERS, mul_hi_s64},
    {"mul.wide.u16 d, ha, hb;", R32, INTEGERS, mul_wide_u16},
    {"mul.wide.s16 d, ha, hb;", R32, INTEGERS, mul_wide_s16},
    {"mul.wide.u32 ld, a, b;", R64, INTEGERS, mul_wide_u32},
    {"mul.wide.s32 ld, a, b;", R64, INTEGERS, mul_wide_s32},
    {"mad.lo.u16 hd, ha, hb, hc;", R16, INTEGERS, mad},
    {"mad.lo.s16 hd, ha, hb, hc;", R16, INTEGERS, mad},
    {"mad.lo.u32 d, a, b, c;", R32, INTEGERS, mad},
    {"mad.lo.s32 d, a, b, c;", R32, INTEGERS, mad},
    {"mad.lo.u64 ld, la, lb, lc;", R64, INTEGERS, mad},
    {"mad.lo.s64 ld, la, lb, lc;", R64, INTEGERS, mad},
    {"mad.hi.u16 hd, ha, hb, hc;", R16, INTEGERS, mad_hi_u16},
    {"mad.hi.s16 hd, ha, hb, hc;", R16, INTEGERS, mad_hi_s16},
    {"mad.hi.u32 d, a, b, c;", R32, INTEGERS, mad_hi_u32},
    {"mad.hi.s32 d, a, b, c;", R32, INTEGERS, mad_hi_s32},
    {"mad.hi.u64 ld, la, lb, lc;", R64, INTEGERS, mad_hi_u64},
    {"mad.hi.s64 ld, la, lb, lc;", R64, INTEGERS, mad_hi_s64},
    {"mad.hi.sat.s32 d, a, b, c;", R32, INTEGERS, mad_hi_sat},
    {"mad.wide.u16 d, ha, hb, c;", R32, INTEGERS, mad_wide_u16},
    {"mad.wide.s16 d, ha, hb, c;", R32, INTEGERS, mad_wide_s16},
    {"mad.wide.u32 ld, a, b, lc;", R64, INTEGERS, mad_wide_u32},
    {"mad.wide.s32 ld, a, b, lc;", R64, INTEGERS, mad_wide_s32},
    {"mul24.lo.u32 d, a, b;", R32, INTEGERS, mul24_lo_u},
    {"mul24.hi.u32 d, a, b;", R32, INTEGERS, mul24_hi_u},
    {"mul24.lo.s32 d, a, b;", R32, INTEGERS, mul24_lo_s},
    {"mul24.hi.s32 d, a, b;", R32, INTEGERS, mul24_hi_s},
    {"mad24.lo.u32 d, a, b, c;", R32, INTEGERS, mad24_lo_u},
    {"mad24.hi.u32 d, a, b, c;", R32, INTEGERS, mad24_hi_u},
    {"mad24.lo.s32 d, a, b, c;", R32, INTEGERS, mad24_lo_s},
    {"mad24.hi.s32 d, a, b, c;", R32, INTEGERS, mad24_hi_s},
    {"mad24.hi.sat.s32 d, a, b, c;", R32, INTEGERS, mad24_hi_sat},
    {"neg.s16 hd, ha;", R16, INTEGERS, neg},
    {"neg.s32 d, a;", R32, INTEGERS, neg},
    {"neg.s64 ld, la;", R64, INTEGERS, neg},
    {"abs.s16 hd, ha;", R16, INTEGERS, abs_s16},
    {"abs.s32 d, a;", R32, INTEGERS, abs_s32},
    {"abs.s64 ld, la;", R64, INTEGERS, abs_s64},
    {"min.u16 hd, ha, hb;", R16, INTEGERS, min_u16},
    {"min.s16 hd, ha, hb;", R16, INTEGERS, min_s16},
    {"min.u32 d, a, b;", R32, INTEGERS, min_u32},
    {"min.s32 d, a, b;", R32, INTEGERS, min_s32},
    {"min.u64 ld, la, lb;", R64, INTEGERS, min_u64},
    {"min.s64 ld, la, lb;", R64, INTEGERS, min_s64},
    {"max.u16 hd, ha, hb;", R16, INTEGERS, max_u16},
    {"max.s16 hd, ha, hb;", R16, INTEGERS, max_s16},
    {"max.u32 d, a, b;", R32, INTEGERS, max_u32},
    {"max.s32 d, a, b;", R32, INTEGERS, max_s32},
    {"max.u64 ld, la, lb;", R64, INTEGERS, max_u64},
    {"max.s64 ld, la, lb;", R64, INTEGERS, max_s64},
    {"min.s32.relu d, a, b;", R32, INTEGERS, min_relu},
    {"max.s32.relu d, a, b;", R32, INTEGERS, max_relu},
    {"sad.u16 hd, ha, hb, hc;", R16, INTEGERS, sad_u16},
    {"sad.s16 hd, ha, hb, hc;", R16, INTEGERS, sad_s16},
    {"sad.u32 d, a, b, c;", R32, INTEGERS, sad_u32},
    {"sad.s32 d, a, b, c;", R32, INTEGERS, sad_s32},
    {"sad.u64 ld, la, lb, lc;", R64, INTEGERS, sad_u64},
    {"sad.s64 ld, la, lb, lc;", R64, INTEGERS, sad_s64},
};

static const struct lane_case divisions[] = {
    {"or.b16 he, hb, 1; div.u16 hd, ha, he;", R16, INTEGERS, div_u16, "div.u16"},
    {"or.b16 he, hb, 1; div.s16 hd, ha, he;", R16, INTEGERS, div_s16, "div.s16"},
    {"or.b16 he, hb, 1; rem.u16 hd, ha, he;", R16, INTEGERS, rem_u16, "rem.u16"},
    {"or.b16 he, hb, 1; rem.s16 hd, ha, he;", R16, INTEGERS, rem_s16, "rem.s16"},
    {"or.b32 e, b, 1; div.u32 d, a, e;", R32, INTEGERS, div_u32, "div.u32"},
    {"or.b32 e, b, 1; div.s32 d, a, e;", R32, INTEGERS, div_s32, "div.s32"},
    {"or.b32 e, b, 1; rem.u32 d, a, e;", R32, INTEGERS, rem_u32, "rem.u32"},
    {"or.b32 e, b, 1; rem.s32 d, a, e;", R32, INTEGERS, rem_s32, "rem.s32"},
    {"or.b64 le, lb, 1; div.u64 ld, la, le;", R64, INTEGERS, div_u64, "div.u64"},
    {"or.b64 le, lb, 1; div.s64 ld, la, le;", R64, INTEGERS, div_s64, "div.s64"},
    {"or.b64 le, lb, 1; rem.u64 ld, la, le;", R64, INTEGERS, rem_u64, "rem.u64"},
    {"or.b64 le, lb, 1; rem.s64 ld, la, le;", R64, INTEGERS, rem_s64, "rem.s64"},
};

static const struct lane_case chains[] = {
    {"add.cc.u32 d, a, b; addc.u32 e, b, c;", PAIR, INTEGERS, add_chain, "add.cc addc"},
    {"sub.cc.u32 d, a, b; subc.u32 e, b, c;", PAIR, INTEGERS, sub_chain, "sub.cc subc"},
    {"add.cc.u64 ld, la, lb; addc.u64 ld, lc, 0;", R64, INTEGERS, add_carry, "addc.u64"},
    {"sub.cc.u64 ld, la, lb; subc.u64 ld, lc, 0;", R64, INTEGERS, sub_borrow, "subc.u64"},
    {"add.cc.u32 d, b, c; addc.cc.u32 d, a, b; addc.u32 e, 0, 0; mul.lo.u32 e, e, 3; "
     "mul.wide.u32 ld, e, 1; cvt.u64.u32 le, d; add.u64 ld, ld, le;",
        R64, INTEGERS, carry_in_and_out, "addc.cc"},
    {"cvt.u32.u64 d, lc; shr.u64 ld, lc, 32; cvt.u32.u64 e, ld; mad.lo.cc.u32 d, a, b, d; "
     "madc.hi.u32 e, a, b, e;",
        PAIR, INTEGERS, mad_chain, "mad.lo.cc madc.hi"},
    {"cvt.u32.u64 d, lc; shr.u64 ld, lc, 32; cvt.u32.u64 e, ld; mad.lo.cc.u32 d, a, b, d; "
     "madc.hi.cc.u32 e, a, b, e; addc.u32 d, a, 0;",
        R32, INTEGERS, mad_chain_carry, "madc.hi.cc"},
    {"mad.lo.cc.u64 ld, la, lb, lc; madc.hi.u64 ld, la, lb, lb;", R64, INTEGERS, mad_chain64,
        "madc.hi.u64"},
};

#define DOT(name, text, two, high, a, b)                                                           \
    {                                                                                              \
        text, R32, INTEGERS, dot, name,                                                            \
        {                                                                                          \
            two, high, a, b                                                                        \
        }                                                                                          \
    }

static const struct lane_case dots[] = {
    DOT("dp4a.u32.u32", "dp4a.u32.u32 d, a, b, c;", 0, 0, 0, 0),
    DOT("dp4a.u32.s32", "dp4a.u32.s32 d, a, b, c;", 0, 0, 0, 1),
    DOT("dp4a.s32.u32", "dp4a.s32.u32 d, a, b, c;", 0, 0, 1, 0),
    DOT("dp4a.s32.s32", "dp4a.s32.s32 d, a, b, c;", 0, 0, 1, 1),
    DOT("dp2a.lo.u32.u32", "dp2a.lo.u32.u32 d, a, b, c;", 1, 0, 0, 0),
    DOT("dp2a.lo.u32.s32", "dp2a.lo.u32.s32 d, a, b, c;", 1, 0, 0, 1),
    DOT("dp2a.lo.s32.u32", "dp2a.lo.s32.u32 d, a, b, c;", 1, 0, 1, 0),
    DOT("dp2a.lo.s32.s32", "dp2a.lo.s32.s32 d, a, b, c;", 1, 0, 1, 1),
    DOT("dp2a.hi.u32.u32", "dp2a.hi.u32.u32 d, a, b, c;", 1, 1, 0, 0),
    DOT("dp2a.hi.u32.s32", "dp2a.hi.u32.s32 d, a, b, c;", 1, 1, 0, 1),
    DOT("dp2a.hi.s32.u32", "dp2a.hi.s32.u32 d, a, b, c;", 1, 1, 1, 0),
    DOT("dp2a.hi.s32.s32", "dp2a.hi.s32.s32 d, a, b, c;", 1, 1, 1, 1),
};

static void add_cases(void)
{
    lane_add_all(simple, COUNT_OF(simple));
    lane_add_all(divisions, COUNT_OF(divisions));
    lane_add_all(chains, COUNT_OF(chains));
    lane_add_all(dots, COUNT_OF(dots));
}

const struct group integer_group = {.name = "integer", .add = add_cases};
