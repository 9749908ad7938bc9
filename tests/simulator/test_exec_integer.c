/* SPDX-License-Identifier: Apache-2.0 */
/* Integer instructions of the PTX executor against C. */
#include "lanes.h"

typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint16_t u16;
typedef int16_t s16;
typedef unsigned __int128 u128;
typedef __int128 s128;

#define ANSWER(NAME, VALUE)                                                                        \
    static u64 NAME(u64 a, u64 b, u64 c)                                                           \
    {                                                                                              \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
        return (u64)(VALUE);                                                                       \
    }

#define A32 ((u32)a)
#define B32 ((u32)b)
#define C32 ((u32)c)
#define SA ((s32)(u32)a)
#define SB ((s32)(u32)b)
#define SC ((s32)(u32)c)
#define A16 ((u16)a)
#define B16 ((u16)b)
#define C16 ((u16)c)
#define TA ((s16)(u16)a)
#define TB ((s16)(u16)b)

ANSWER(add, a + b)
ANSWER(sub, a - b)
ANSWER(mul_lo, a *b)
ANSWER(mul_hi_u16, (u32)A16 *B16 >> 16)
ANSWER(mul_hi_s16, (s32)TA *TB >> 16)
ANSWER(mul_hi_u32, (u64)A32 *B32 >> 32)
ANSWER(mul_hi_s32, (s64)SA *SB >> 32)
ANSWER(mul_hi_u64, (u128)a *b >> 64)
ANSWER(mul_hi_s64, (s128)(s64)a *(s64)b >> 64)
ANSWER(mul_wide_u16, (u32)A16 *B16)
ANSWER(mul_wide_s16, (s32)TA *TB)
ANSWER(mul_wide_u32, (u64)A32 *B32)
ANSWER(mul_wide_s32, (s64)SA *SB)
ANSWER(mad_lo, a *b + c)
ANSWER(mad_hi_u32, ((u64)A32 * B32 >> 32) + c)
ANSWER(mad_hi_s32, (u64)((s64)SA *SB >> 32) + c)
ANSWER(mad_hi_u64, (u64)((u128)a *b >> 64) + c)
ANSWER(mad_wide_u32, (u64)A32 *B32 + c)
ANSWER(mad_wide_s32, (u64)((s64)SA *SB) + c)
ANSWER(mad_wide_u16, (u32)A16 *B16 + C32)
ANSWER(div_u32, B32 ? A32 / B32 : UINT32_MAX)
ANSWER(rem_u32, B32 ? A32 % B32 : A32)
ANSWER(div_s32, SB == 0 ? -1 : SB == -1 ? (s64)(0 - A32) : SA / SB)
ANSWER(rem_s32, SB == 0 ? SA : SB == -1 ? 0 : SA % SB)
ANSWER(div_u64, b ? a / b : UINT64_MAX)
ANSWER(rem_u64, b ? a % b : a)
ANSWER(div_s64, (s64)b == 0 ? (u64)-1 : (s64)b == -1 ? 0 - a : (u64)((s64)a / (s64)b))
ANSWER(rem_s64, (s64)b == 0 ? a : (s64)b == -1 ? 0 : (u64)((s64)a % (s64)b))
ANSWER(div_u16, B16 ? A16 / B16 : 0xffff)
ANSWER(abs_s32, SA < 0 ? 0 - A32 : A32)
ANSWER(abs_s64, (s64)a < 0 ? 0 - a : a)
ANSWER(abs_s16, TA < 0 ? -TA : TA)
ANSWER(neg, 0 - a)
ANSWER(min_u32, A32 < B32 ? A32 : B32)
ANSWER(max_u32, A32 > B32 ? A32 : B32)
ANSWER(min_s32, SA < SB ? SA : SB)
ANSWER(max_s32, SA > SB ? SA : SB)
ANSWER(min_u64, a < b ? a : b)
ANSWER(max_s64, (s64)a > (s64)b ? a : b)
ANSWER(min_s16, TA < TB ? TA : TB)
ANSWER(max_u16, A16 > B16 ? A16 : B16)
ANSWER(max_relu, (SA > SB ? SA : SB) > 0 ? (SA > SB ? SA : SB) : 0)
ANSWER(sad_u32, (A32 > B32 ? A32 - B32 : B32 - A32) + C32)
ANSWER(sad_s32, (SA > SB ? A32 - B32 : B32 - A32) + C32)
ANSWER(add_sat, (s64)SA + SB > INT32_MAX   ? INT32_MAX
                : (s64)SA + SB < INT32_MIN ? INT32_MIN
                                           : (s64)SA + SB)
ANSWER(sub_sat, (s64)SA - SB > INT32_MAX   ? INT32_MAX
                : (s64)SA - SB < INT32_MIN ? INT32_MIN
                                           : (s64)SA - SB)
ANSWER(mul24_lo_u, (u64)(A32 & 0xffffff) * (B32 & 0xffffff))
ANSWER(mul24_hi_u, (u64)(A32 & 0xffffff) * (B32 & 0xffffff) >> 16)
ANSWER(mul24_lo_s, (s64)((s32)(A32 << 8) >> 8) * ((s32)(B32 << 8) >> 8))
ANSWER(mad24_lo_u, (u64)(A32 & 0xffffff) * (B32 & 0xffffff) + c)

static void test_arithmetic(void **state)
{
    (void)state;
    check_lanes("add.u32 %d, %a, %b;", 32, add);
    check_lanes("add.s32 %d, %a, %b;", 32, add);
    check_lanes("add.u64 %ld, %la, %lb;", 64, add);
    check_lanes("add.s16 %hd, %ha, %hb;", 16, add);
    check_lanes("sub.s32 %d, %a, %b;", 32, sub);
    check_lanes("sub.u64 %ld, %la, %lb;", 64, sub);
    check_lanes("sub.u16 %hd, %ha, %hb;", 16, sub);
    check_lanes("neg.s32 %d, %a;", 32, neg);
    check_lanes("neg.s64 %ld, %la;", 64, neg);
    check_lanes("neg.s16 %hd, %ha;", 16, neg);
    check_lanes("abs.s32 %d, %a;", 32, abs_s32);
    check_lanes("abs.s64 %ld, %la;", 64, abs_s64);
    check_lanes("abs.s16 %hd, %ha;", 16, abs_s16);
    check_lanes("add.sat.s32 %d, %a, %b;", 32, add_sat);
    check_lanes("sub.sat.s32 %d, %a, %b;", 32, sub_sat);
    check_lanes("sad.u32 %d, %a, %b, %c;", 32, sad_u32);
    check_lanes("sad.s32 %d, %a, %b, %c;", 32, sad_s32);
}

static void test_extremes(void **state)
{
    (void)state;
    check_lanes("min.u32 %d, %a, %b;", 32, min_u32);
    check_lanes("max.u32 %d, %a, %b;", 32, max_u32);
    check_lanes("min.s32 %d, %a, %b;", 32, min_s32);
    check_lanes("max.s32 %d, %a, %b;", 32, max_s32);
    check_lanes("min.u64 %ld, %la, %lb;", 64, min_u64);
    check_lanes("max.s64 %ld, %la, %lb;", 64, max_s64);
    check_lanes("min.s16 %hd, %ha, %hb;", 16, min_s16);
    check_lanes("max.u16 %hd, %ha, %hb;", 16, max_u16);
    check_lanes("max.relu.s32 %d, %a, %b;", 32, max_relu);
}

static void test_multiply(void **state)
{
    (void)state;
    check_lanes("mul.lo.u32 %d, %a, %b;", 32, mul_lo);
    check_lanes("mul.lo.s32 %d, %a, %b;", 32, mul_lo);
    check_lanes("mul.lo.s64 %ld, %la, %lb;", 64, mul_lo);
    check_lanes("mul.lo.s16 %hd, %ha, %hb;", 16, mul_lo);
    check_lanes("mul.hi.u16 %hd, %ha, %hb;", 16, mul_hi_u16);
    check_lanes("mul.hi.s16 %hd, %ha, %hb;", 16, mul_hi_s16);
    check_lanes("mul.hi.u32 %d, %a, %b;", 32, mul_hi_u32);
    check_lanes("mul.hi.s32 %d, %a, %b;", 32, mul_hi_s32);
    check_lanes("mul.hi.u64 %ld, %la, %lb;", 64, mul_hi_u64);
    check_lanes("mul.hi.s64 %ld, %la, %lb;", 64, mul_hi_s64);
    check_lanes("mul.wide.u16 %d, %ha, %hb;", 32, mul_wide_u16);
    check_lanes("mul.wide.s16 %d, %ha, %hb;", 32, mul_wide_s16);
    check_lanes("mul.wide.u32 %ld, %a, %b;", 64, mul_wide_u32);
    check_lanes("mul.wide.s32 %ld, %a, %b;", 64, mul_wide_s32);
    check_lanes("mad.lo.u32 %d, %a, %b, %c;", 32, mad_lo);
    check_lanes("mad.lo.s64 %ld, %la, %lb, %lc;", 64, mad_lo);
    check_lanes("mad.lo.s16 %hd, %ha, %hb, %hc;", 16, mad_lo);
    check_lanes("mad.hi.u32 %d, %a, %b, %c;", 32, mad_hi_u32);
    check_lanes("mad.hi.s32 %d, %a, %b, %c;", 32, mad_hi_s32);
    check_lanes("mad.hi.u64 %ld, %la, %lb, %lc;", 64, mad_hi_u64);
    check_lanes("mad.wide.u32 %ld, %a, %b, %lc;", 64, mad_wide_u32);
    check_lanes("mad.wide.s32 %ld, %a, %b, %lc;", 64, mad_wide_s32);
    check_lanes("mad.wide.u16 %d, %ha, %hb, %c;", 32, mad_wide_u16);
    check_lanes("mul24.lo.u32 %d, %a, %b;", 32, mul24_lo_u);
    check_lanes("mul24.hi.u32 %d, %a, %b;", 32, mul24_hi_u);
    check_lanes("mul24.lo.s32 %d, %a, %b;", 32, mul24_lo_s);
    check_lanes("mad24.lo.u32 %d, %a, %b, %c;", 32, mad24_lo_u);
}

static void test_divide(void **state)
{
    (void)state;
    check_lanes("div.u32 %d, %a, %b;", 32, div_u32);
    check_lanes("rem.u32 %d, %a, %b;", 32, rem_u32);
    check_lanes("div.s32 %d, %a, %b;", 32, div_s32);
    check_lanes("rem.s32 %d, %a, %b;", 32, rem_s32);
    check_lanes("div.u64 %ld, %la, %lb;", 64, div_u64);
    check_lanes("rem.u64 %ld, %la, %lb;", 64, rem_u64);
    check_lanes("div.s64 %ld, %la, %lb;", 64, div_s64);
    check_lanes("rem.s64 %ld, %la, %lb;", 64, rem_s64);
    check_lanes("div.u16 %hd, %ha, %hb;", 16, div_u16);
}

/* ---- carry chains: 128-bit results from 32-bit and 64-bit pieces
 * --------------------------------- */

ANSWER(carry_add, ((u64)A32 + B32) >> 32)
ANSWER(carry_twice, ((u64)A32 + B32 + (((u64)B32 + C32) >> 32)))
ANSWER(carry_add64, ((u128)a + b) >> 64)
ANSWER(borrow, A32 < B32 ? UINT32_MAX : 0)
ANSWER(wide_sub, a - b)
ANSWER(chain_sum, a + b + c)
ANSWER(mad_chain_high, (u64)(((u128)a * b + c) >> 64))
ANSWER(mad_chain32, (u64)A32 *B32 + c)
ANSWER(mad_hi_carry, (u64)(((u128)(((u64)A32 * B32 >> 32) + C32)) >> 32))
ANSWER(mad_lo_cc64, (u64)(((u128)(a * b) + c) >> 64))
ANSWER(madc_hi_cc64, (u64)(((u128)(u64)((u128)a * b >> 64) + c + (((u128)a + b) >> 64)) >> 64))

static void test_carry(void **state)
{
    (void)state;
    check_lanes("add.cc.u32 %e, %a, %b; addc.u32 %d, 0, 0;", 32, carry_add);
    check_lanes("add.cc.u32 %e, %b, %c; addc.cc.u32 %d, %a, %b;", 32, carry_twice);
    check_lanes("add.cc.u64 %le, %la, %lb; addc.u64 %ld, 0, 0;", 64, carry_add64);
    check_lanes("sub.cc.u32 %e, %a, %b; subc.u32 %d, 0, 0;", 32, borrow);
    check_lanes("{ .reg .b32 %al, %ah, %bl, %bh, %x, %y; mov.b64 {%al, %ah}, %la; mov.b64 {%bl, "
                "%bh}, %lb;\n"
                "sub.cc.u32 %x, %al, %bl; subc.cc.u32 %y, %ah, %bh; mov.b64 %ld, {%x, %y}; }",
        64, wide_sub);
    check_lanes("{ .reg .b32 %al, %ah, %bl, %bh, %x, %y; mov.b64 {%al, %ah}, %la; mov.b64 {%bl, "
                "%bh}, %lb;\n"
                "add.cc.u32 %x, %al, %bl; addc.u32 %y, %ah, %bh; mov.b64 {%al, %ah}, %lc;\n"
                "add.cc.u32 %x, %x, %al; addc.cc.u32 %y, %y, %ah; mov.b64 %ld, {%x, %y}; }",
        64, chain_sum);
    check_lanes(
        "mad.lo.cc.u64 %le, %la, %lb, %lc; madc.hi.u64 %ld, %la, %lb, 0;", 64, mad_chain_high);
    check_lanes(
        "{ .reg .b32 %cl, %ch, %x, %y; mov.b64 {%cl, %ch}, %lc; mad.lo.cc.u32 %x, %a, %b, %cl;\n"
        "madc.hi.cc.u32 %y, %a, %b, %ch; mov.b64 %ld, {%x, %y}; }",
        64, mad_chain32);
    check_lanes("mad.hi.cc.u32 %e, %a, %b, %c; addc.u32 %d, 0, 0;", 32, mad_hi_carry);
    check_lanes("mad.lo.cc.u64 %le, %la, %lb, %lc; addc.u64 %ld, 0, 0;", 64, mad_lo_cc64);
    check_lanes("add.cc.u64 %le, %la, %lb; madc.hi.cc.u64 %le, %la, %lb, %lc; addc.u64 %ld, 0, 0;",
        64, madc_hi_cc64);
}

static u64 guarded_carry(u64 a, u64 b, u64 c)
{
    return c & 1 ? 0 : ((u64)A32 + B32) >> 32;
}

/* Each lane has its own carry flag: a guarded add does not change those of other lanes. */
static void test_carry_guarded(void **state)
{
    (void)state;
    check_lanes(
        "add.cc.u32 %e, %a, %b; @%q add.cc.u32 %e, 0, 0; addc.u32 %d, 0, 0;", 32, guarded_carry);
}

/* ---- logic and bits -------------------------------------------------------------------------- */

ANSWER(and_, a &b)
ANSWER(or_, a | b)
ANSWER(xor_, a ^ b)
ANSWER(not_, ~a)
ANSWER(cnot, A32 == 0)
ANSWER(shl32, B32 > 31 ? 0 : A32 << B32)
ANSWER(shl64, B32 > 63 ? 0 : a << B32)
ANSWER(shl16, B32 > 15 ? 0 : (u32)A16 << B32)
ANSWER(shr_u32, B32 > 31 ? 0 : A32 >> B32)
ANSWER(shr_s32, SA >> (B32 > 31 ? 31 : B32))
ANSWER(shr_u64, B32 > 63 ? 0 : a >> B32)
ANSWER(shr_s64, (s64)a >> (B32 > 63 ? 63 : B32))
ANSWER(shr_s16, TA >> (B32 > 15 ? 15 : B32))
ANSWER(popc32, __builtin_popcount(A32))
ANSWER(popc64, __builtin_popcountll(a))
ANSWER(clz32, A32 ? __builtin_clz(A32) : 32)
ANSWER(clz64, a ? __builtin_clzll(a) : 64)
ANSWER(bfind_u32, A32 ? 31 - __builtin_clz(A32) : -1)
ANSWER(bfind_s32, (SA < 0 ? ~A32 : A32) ? 31 - __builtin_clz(SA < 0 ? ~A32 : A32) : -1)
ANSWER(bfind_u64, a ? 63 - __builtin_clzll(a) : -1)
ANSWER(bfind_shift, A32 ? __builtin_clz(A32) : -1)
ANSWER(lop3_96, (a ^ b) ^ c)
ANSWER(lop3_e8, (a & b) | (a & c) | (b & c))
ANSWER(lop3_ca, (a & b) | (~a & c))
ANSWER(shf_l_wrap, ((u64)B32 << 32 | A32) << (C32 & 31) >> 32)
ANSWER(shf_r_wrap, ((u64)B32 << 32 | A32) >> (C32 & 31))
ANSWER(shf_l_clamp, C32 >= 32 ? A32 : ((u64)B32 << 32 | A32) << C32 >> 32)
ANSWER(shf_r_clamp, C32 >= 32 ? B32 : ((u64)B32 << 32 | A32) >> C32)
ANSWER(bmsk, (A32 > 31 ? 0 : (u32)((B32 > 31 ? 0xffffffffull : (1ull << B32) - 1) << A32)))
ANSWER(szext_u, B32 >= 32 ? A32 : B32 == 0 ? 0 : A32 & ((1u << B32) - 1))
ANSWER(szext_s, B32 >= 32 ? A32 : B32 == 0 ? 0 : (u32)((s32)(A32 << (32 - B32)) >> (32 - B32)))

static u64 brev32(u64 a, u64 b, u64 c)
{
    u32 r = 0;
    (void)b;
    (void)c;
    for (int i = 0; i < 32; i++)
        r = r << 1 | (A32 >> i & 1);
    return r;
}

static u64 bfe_u32(u64 a, u64 b, u64 c)
{
    u32 pos = b & 255, len = c & 255;
    if (pos > 31 || len == 0)
        return 0;
    u64 x = A32 >> pos;
    return len > 31 ? x : x & ((1u << len) - 1);
}

static u64 bfe_s32(u64 a, u64 b, u64 c)
{
    u32 pos = b & 255, len = c & 255;
    if (len == 0)
        return 0;
    s64 x = SA; /* beyond the top comes the sign */
    x = pos > 31 ? x >> 31 : x >> pos;
    if (pos + len > 32)
        return (u64)x;
    return (u64)((s64)((u64)x << (64 - len)) >> (64 - len));
}

static u64 bfi_b32(u64 a, u64 b, u64 c)
{
    u32 pos = c & 255;
    if (pos > 31)
        return B32;
    u32 mask = (u32)(0x1ffull << pos);
    return (B32 & ~mask) | ((u32)((u64)A32 << pos) & mask);
}

static u64 prmt(u64 a, u64 b, u64 c)
{
    u64 bytes = (u64)B32 << 32 | A32, r = 0;
    for (int i = 0; i < 4; i++) {
        u32 s = C32 >> (4 * i) & 15, byte = bytes >> (8 * (s & 7)) & 255;
        r |= (u64)(s & 8 ? (byte & 128 ? 255 : 0) : byte) << (8 * i);
    }
    return r;
}

static u64 dp4a_us(u64 a, u64 b, u64 c)
{
    u32 sum = C32;
    for (int i = 0; i < 4; i++)
        sum += (u32)((s32)(A32 >> (8 * i) & 255) * (int8_t)(B32 >> (8 * i)));
    return sum;
}

static u64 dp2a_hi_ss(u64 a, u64 b, u64 c)
{
    u32 sum = C32;
    for (int i = 0; i < 2; i++)
        sum += (u32)((s16)(A32 >> (16 * i)) * (int8_t)(B32 >> (16 + 8 * i)));
    return sum;
}

static u64 absdiff4(u64 a, u64 b, u64 c)
{
    u64 r = 0;
    (void)c;
    for (int i = 0; i < 32; i += 8) {
        u32 x = A32 >> i & 255, y = B32 >> i & 255;
        r |= (u64)(x > y ? x - y : y - x) << i;
    }
    return r;
}

static u64 absdiff2_sum(u64 a, u64 b, u64 c)
{
    u32 sum = C32;
    for (int i = 0; i < 32; i += 16) {
        s32 x = (s16)(A32 >> i), y = (s16)(B32 >> i);
        sum += (u32)(x > y ? x - y : y - x);
    }
    return sum;
}

static u64 fns(u64 a, u64 b, u64 c)
{
    s64 n = SC < 0 ? -(s64)SC : SC;
    if (B32 > 31)
        return UINT32_MAX;
    if (SC == 0)
        return A32 >> B32 & 1 ? B32 : UINT32_MAX;
    for (s32 i = (s32)B32; i >= 0 && i < 32; i += SC < 0 ? -1 : 1)
        if (A32 >> i & 1 && --n == 0)
            return (u32)i;
    return UINT32_MAX;
}

static void test_logic(void **state)
{
    (void)state;
    check_lanes("and.b32 %d, %a, %b;", 32, and_);
    check_lanes("and.b64 %ld, %la, %lb;", 64, and_);
    check_lanes("or.b16 %hd, %ha, %hb;", 16, or_);
    check_lanes("xor.b64 %ld, %la, %lb;", 64, xor_);
    check_lanes("not.b32 %d, %a;", 32, not_);
    check_lanes("cnot.b32 %d, %a;", 32, cnot);
    check_lanes("lop3.b32 %d, %a, %b, %c, 0x96;", 32, lop3_96);
    check_lanes("lop3.b32 %d, %a, %b, %c, 0xe8;", 32, lop3_e8);
    check_lanes("lop3.b32 %d, %a, %b, %c, 202;", 32, lop3_ca);
    check_lanes("shl.b32 %d, %a, %b;", 32, shl32);
    check_lanes("shl.b64 %ld, %la, %b;", 64, shl64);
    check_lanes("shl.b16 %hd, %ha, %b;", 16, shl16);
    check_lanes("shr.u32 %d, %a, %b;", 32, shr_u32);
    check_lanes("shr.s32 %d, %a, %b;", 32, shr_s32);
    check_lanes("shr.u64 %ld, %la, %b;", 64, shr_u64);
    check_lanes("shr.s64 %ld, %la, %b;", 64, shr_s64);
    check_lanes("shr.s16 %hd, %ha, %b;", 16, shr_s16);
    check_lanes("shf.l.wrap.b32 %d, %a, %b, %c;", 32, shf_l_wrap);
    check_lanes("shf.r.wrap.b32 %d, %a, %b, %c;", 32, shf_r_wrap);
    check_lanes("shf.l.clamp.b32 %d, %a, %b, %c;", 32, shf_l_clamp);
    check_lanes("shf.r.clamp.b32 %d, %a, %b, %c;", 32, shf_r_clamp);
}

static void test_bits(void **state)
{
    (void)state;
    check_lanes("popc.b32 %d, %a;", 32, popc32);
    check_lanes("popc.b64 %d, %la;", 32, popc64);
    check_lanes("clz.b32 %d, %a;", 32, clz32);
    check_lanes("clz.b64 %d, %la;", 32, clz64);
    check_lanes("bfind.u32 %d, %a;", 32, bfind_u32);
    check_lanes("bfind.s32 %d, %a;", 32, bfind_s32);
    check_lanes("bfind.u64 %d, %la;", 32, bfind_u64);
    check_lanes("bfind.shiftamt.u32 %d, %a;", 32, bfind_shift);
    check_lanes("brev.b32 %d, %a;", 32, brev32);
    check_lanes("bfe.u32 %d, %a, %b, %c;", 32, bfe_u32);
    check_lanes("bfe.s32 %d, %a, %b, %c;", 32, bfe_s32);
    check_lanes("bfi.b32 %d, %a, %b, %c, 9;", 32, bfi_b32);
    check_lanes("bmsk.clamp.b32 %d, %a, %b;", 32, bmsk);
    check_lanes("szext.clamp.u32 %d, %a, %b;", 32, szext_u);
    check_lanes("szext.clamp.s32 %d, %a, %b;", 32, szext_s);
    check_lanes("vabsdiff4.u32.u32.u32 %d, %a, %b, %c;", 32, absdiff4);
    check_lanes("vabsdiff2.s32.s32.s32.add %d, %a, %b, %c;", 32, absdiff2_sum);
    check_lanes("fns.b32 %d, %a, %b, %c;", 32, fns);
    check_lanes("prmt.b32 %d, %a, %b, %c;", 32, prmt);
    check_lanes("dp4a.u32.s32 %d, %a, %b, %c;", 32, dp4a_us);
    check_lanes("dp2a.hi.s32.s32 %d, %a, %b, %c;", 32, dp2a_hi_ss);
}

/* ---- comparison, selection, conversion ------------------------------------------------------- */

ANSWER(lt_s32, SA < SB)
ANSWER(le_u32, A32 <= B32)
ANSWER(hi_u32, A32 > B32)
ANSWER(ge_s64, (s64)a >= (s64)b)
ANSWER(gt_u64, a > b)
ANSWER(ne_s16, TA != TB)
ANSWER(eq_b32, A32 == B32)
ANSWER(lt_and, SA < SB && (c & 1))
ANSWER(lt_xor_second, !(SA < SB) ^ (c & 1))
ANSWER(selp, c & 1 ? A32 : B32)
ANSWER(set_, SA < SB ? UINT32_MAX : 0)
ANSWER(slct, SC >= 0 ? A32 : B32)
ANSWER(s64_s32, (s64)SA)
ANSWER(s32_s8, (s32)(int8_t)a)
ANSWER(s32_s16, (s32)TA)
ANSWER(u64_u16, A16)
ANSWER(s16_sat_s32, SA > 32767 ? 32767 : SA < -32768 ? -32768 : SA)
ANSWER(u8_sat_s32, SA > 255 ? 255 : SA < 0 ? 0 : SA)
ANSWER(u32_sat_s64, (s64)a > (s64)UINT32_MAX ? UINT32_MAX : (s64)a < 0 ? 0 : a)
ANSWER(s32_sat_u64, a > INT32_MAX ? INT32_MAX : a)
ANSWER(pack2, (u64)B32 << 32 | A32)
ANSWER(unpack_high, a >> 32)
ANSWER(pack4, (u64)A16 | (u64)B16 << 16 | (u64)C16 << 32 | (u64)A16 << 48)
ANSWER(pack_sat, (u32)((SA > 32767       ? 32767
                           : SA < -32768 ? -32768
                                         : SA) &
                       0xffff)
                         << 16 |
                     ((u32)(SB > 32767    ? 32767
                            : SB < -32768 ? -32768
                                          : SB) &
                         0xffff))

static void test_compare(void **state)
{
    (void)state;
    check_lanes("setp.lt.s32 %p, %a, %b;", 1, lt_s32);
    check_lanes("setp.le.u32 %p, %a, %b;", 1, le_u32);
    check_lanes("setp.hi.u32 %p, %a, %b;", 1, hi_u32);
    check_lanes("setp.ge.s64 %p, %la, %lb;", 1, ge_s64);
    check_lanes("setp.gt.u64 %p, %la, %lb;", 1, gt_u64);
    check_lanes("setp.ne.s16 %p, %ha, %hb;", 1, ne_s16);
    check_lanes("setp.eq.b32 %p, %a, %b;", 1, eq_b32);
    check_lanes("setp.lt.and.s32 %p, %a, %b, %q;", 1, lt_and);
    check_lanes("{ .reg .pred %x; setp.lt.xor.s32 %x|%p, %a, %b, %q; }", 1, lt_xor_second);
    check_lanes("selp.b32 %d, %a, %b, %q;", 32, selp);
    check_lanes("set.lt.u32.s32 %d, %a, %b;", 32, set_);
    check_lanes("slct.u32.s32 %d, %a, %b, %c;", 32, slct);
}

static void test_convert(void **state)
{
    (void)state;
    check_lanes("cvt.s64.s32 %ld, %a;", 64, s64_s32);
    check_lanes("cvt.s32.s8 %d, %a;", 32, s32_s8);
    check_lanes("cvt.u64.u16 %ld, %ha;", 64, u64_u16);
    check_lanes("cvt.sat.s16.s32 %hd, %a;", 16, s16_sat_s32);
    check_lanes("cvt.sat.u8.s32 %d, %a;", 32, u8_sat_s32);
    check_lanes("cvt.sat.u32.s64 %d, %la;", 32, u32_sat_s64);
    check_lanes("cvt.sat.s32.u64 %d, %la;", 32, s32_sat_u64);
    check_lanes("cvt.s32.s16 %d, %ha;", 32, s32_s16);
    check_lanes("mov.b64 %ld, {%a, %b};", 64, pack2);
    check_lanes("mov.b64 {_, %d}, %la;", 32, unpack_high);
    check_lanes("mov.b64 %ld, {%ha, %hb, %hc, %ha};", 64, pack4);
    check_lanes("cvt.pack.sat.s16.s32 %d, %a, %b;", 32, pack_sat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_multiply),
        cmocka_unit_test(test_divide),
        cmocka_unit_test(test_carry),
        cmocka_unit_test(test_carry_guarded),
        cmocka_unit_test(test_logic),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_convert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
