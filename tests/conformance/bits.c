/* SPDX-License-Identifier: Apache-2.0 */
/* Logic, shifts, bit fields and bit counts, byte permutations, and lop3 with all of its tables. */
#include "conformance.h"

#include <stdio.h>

ANSWER(and_, a &b)
ANSWER(or_, a | b)
ANSWER(xor_, a ^ b)
ANSWER(not_, ~a)
ANSWER(cnot16, (u16)a == 0)
ANSWER(cnot32, (u32)a == 0)
ANSWER(cnot64, a == 0)
ANSWER(shl16, (u32)b > 15 ? 0 : a << (u32)b)
ANSWER(shl32, (u32)b > 31 ? 0 : a << (u32)b)
ANSWER(shl64, (u32)b > 63 ? 0 : a << (u32)b)
ANSWER(shr_u16, (u32)b > 15 ? 0 : (u16)a >> (u32)b)
ANSWER(shr_u32, (u32)b > 31 ? 0 : (u32)a >> (u32)b)
ANSWER(shr_u64, (u32)b > 63 ? 0 : a >> (u32)b)
ANSWER(shr_s16, (s16)a >> ((u32)b > 15 ? 15 : (u32)b))
ANSWER(shr_s32, (s32)a >> ((u32)b > 31 ? 31 : (u32)b))
ANSWER(shr_s64, (s64)a >> ((u32)b > 63 ? 63 : (u32)b))

#define WORDS(high, low) ((u64)(u32)(high) << 32 | (u32)(low))
#define CLAMPED(c) ((u32)(c) > 32 ? 32 : (u32)(c))
ANSWER(shf_l_wrap, WORDS(b, a) << ((u32)c & 31) >> 32)
ANSWER(shf_r_wrap, WORDS(b, a) >> ((u32)c & 31))
ANSWER(shf_l_clamp, CLAMPED(c) == 32 ? a : WORDS(b, a) << CLAMPED(c) >> 32)
ANSWER(shf_r_clamp, WORDS(b, a) >> CLAMPED(c))

/* Position and length are the low bytes. */
static uint64_t extract(
    uint64_t value, unsigned position, unsigned length, int width, int is_signed)
{
    unsigned top = position + length;
    uint64_t sign = 0, result = 0;

    if (is_signed && length)
        sign = value >> (top > (unsigned)width ? (unsigned)width - 1 : top - 1) & 1;
    for (unsigned i = 0; i < (unsigned)width; i++) {
        uint64_t bit = sign;

        if (i < length && position + i < (unsigned)width)
            bit = value >> (position + i) & 1;
        result |= bit << i;
    }
    return result;
}

static uint64_t insert(
    uint64_t from, uint64_t into, unsigned position, unsigned length, unsigned width)
{
    for (unsigned i = 0; i < length && position + i < width; i++)
        into = (into & ~(UINT64_C(1) << (position + i))) | (from >> i & 1) << (position + i);
    return into;
}

ANSWER(bfe_u32, extract((u32)a, (u8)b, (u8)c, 32, 0))
ANSWER(bfe_s32, extract((u32)a, (u8)b, (u8)c, 32, 1))
ANSWER(bfe_u64, extract(a, (u8)b, (u8)c, 64, 0))
ANSWER(bfe_s64, extract(a, (u8)b, (u8)c, 64, 1))
ANSWER(bfi_32, insert(a, b, (u8)c, (u8)(c >> 8), 32))
ANSWER(bfi_64, insert(a, b, (u8)c, (u8)(c >> 8), 64))

static uint64_t reverse(uint64_t value, int width)
{
    uint64_t result = 0;

    for (int i = 0; i < width; i++)
        result |= (value >> i & 1) << (width - 1 - i);
    return result;
}

static uint32_t top_bit(uint64_t value)
{
    return value ? 63u - (uint32_t)__builtin_clzll(value) : UINT32_MAX;
}

static uint32_t shift_of(uint64_t value, uint32_t width)
{
    return value ? width - 1 - top_bit(value) : UINT32_MAX;
}

ANSWER(brev32, reverse(a, 32))
ANSWER(brev64, reverse(a, 64))
ANSWER(clz32, (u32)a ? __builtin_clz((u32)a) : 32)
ANSWER(clz64, a ? __builtin_clzll(a) : 64)
ANSWER(popc32, __builtin_popcount((u32)a))
ANSWER(popc64, __builtin_popcountll(a))
#define MAGNITUDE(T, x) ((s##T)(x) < 0 ? ~(u64)(s64)(s##T)(x) : (u64)(u##T)(x))
ANSWER(bfind_u32, top_bit((u32)a))
ANSWER(bfind_s32, top_bit((u32)MAGNITUDE(32, a)))
ANSWER(bfind_u64, top_bit(a))
ANSWER(bfind_s64, top_bit(MAGNITUDE(64, a)))
ANSWER(bfind_shift_u32, shift_of((u32)a, 32))
ANSWER(bfind_shift_s32, shift_of((u32)MAGNITUDE(32, a), 32))
ANSWER(bfind_shift_u64, shift_of(a, 64))
ANSWER(bfind_shift_s64, shift_of(MAGNITUDE(64, a), 64))

/* fns as its description in the PTX manual computes it; base and offset are kept in range. */
static uint64_t find_nth_set(uint32_t mask, uint32_t base, int32_t offset)
{
    int32_t position = (int32_t)base, step = offset < 0 ? -1 : 1;
    int32_t left = offset == 0 ? 1 : offset < 0 ? -offset : offset;

    if (offset == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    for (; position >= 0 && position < 32; position += step)
        if (mask >> position & 1 && --left == 0)
            return (uint32_t)position;
    return UINT32_MAX;
}

ANSWER(fns, find_nth_set((u32)a, (u32)b & 31, (s32)(c & 15) - 8))
ANSWER(bmsk_clamp, insert(UINT64_MAX, 0, (u32)a > 32 ? 32 : (u32)a, (u32)b > 32 ? 32 : (u32)b, 32))
ANSWER(bmsk_wrap, insert(UINT64_MAX, 0, (u32)a & 31, (u32)b & 31, 32))

static uint64_t extend(uint32_t value, uint32_t bits, int is_signed)
{
    if (bits == 0)
        return 0;
    return bits > 31 ? value : extract(value, 0, bits, 32, is_signed);
}

ANSWER(szext_clamp_u, extend((u32)a, (u32)b, 0))
ANSWER(szext_clamp_s, extend((u32)a, (u32)b, 1))
ANSWER(szext_wrap_u, extend((u32)a, (u32)b & 31, 0))
ANSWER(szext_wrap_s, extend((u32)a, (u32)b & 31, 1))

static uint64_t permute(uint64_t a, uint64_t b, const uint32_t selectors[4])
{
    uint64_t both = b << 32 | (u32)a, result = 0;

    for (int i = 0; i < 4; i++) {
        uint64_t byte = both >> 8 * (selectors[i] & 7) & 0xff;

        if (selectors[i] & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}

enum { GENERIC, F4E, B4E, RC8, ECL, ECR, RC16 };

static uint64_t prmt(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t selectors[4], n = (u32)c & 3;

    for (uint32_t i = 0; i < 4; i++)
        switch (lane->how[0]) {
        case GENERIC:
            selectors[i] = (u32)c >> 4 * i & 15;
            break;
        case F4E:
            selectors[i] = n + i;
            break;
        case B4E:
            selectors[i] = (n - i) & 7;
            break;
        case RC8:
            selectors[i] = n;
            break;
        case ECL:
            selectors[i] = i > n ? i : n;
            break;
        case ECR:
            selectors[i] = i < n ? i : n;
            break;
        default:
            selectors[i] = (n & 1) * 2 + (i & 1);
        }
    return permute(a, b, selectors);
}

static uint64_t lop3(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t result = 0;

    for (int i = 0; i < 32; i++)
        result |= (u64)(lane->how[0] >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1)
                  << i;
    return result;
}

static const struct lane_case simple[] = {
    {"and.b16 hd, ha, hb;", R16, INTEGERS, and_},
    {"and.b32 d, a, b;", R32, INTEGERS, and_},
    {"and.b64 ld, la, lb;", R64, INTEGERS, and_},
    {"or.b16 hd, ha, hb;", R16, INTEGERS, or_},
    {"or.b32 d, a, b;", R32, INTEGERS, or_},
    {"or.b64 ld, la, lb;", R64, INTEGERS, or_},
    {"xor.b16 hd, ha, hb;", R16, INTEGERS, xor_},
    {"xor.b32 d, a, b;", R32, INTEGERS, xor_},
    {"xor.b64 ld, la, lb;", R64, INTEGERS, xor_},
    {"not.b16 hd, ha;", R16, INTEGERS, not_},
    {"not.b32 d, a;", R32, INTEGERS, not_},
    {"not.b64 ld, la;", R64, INTEGERS, not_},
    {"cnot.b16 hd, ha;", R16, INTEGERS, cnot16},
    {"cnot.b32 d, a;", R32, INTEGERS, cnot32},
    {"cnot.b64 ld, la;", R64, INTEGERS, cnot64},
    {"shl.b16 hd, ha, b;", R16, INTEGERS, shl16},
    {"shl.b32 d, a, b;", R32, INTEGERS, shl32},
    {"shl.b64 ld, la, b;", R64, INTEGERS, shl64},
    {"shr.u16 hd, ha, b;", R16, INTEGERS, shr_u16},
    {"shr.b16 hd, ha, b;", R16, INTEGERS, shr_u16},
    {"shr.u32 d, a, b;", R32, INTEGERS, shr_u32},
    {"shr.b32 d, a, b;", R32, INTEGERS, shr_u32},
    {"shr.u64 ld, la, b;", R64, INTEGERS, shr_u64},
    {"shr.b64 ld, la, b;", R64, INTEGERS, shr_u64},
    {"shr.s16 hd, ha, b;", R16, INTEGERS, shr_s16},
    {"shr.s32 d, a, b;", R32, INTEGERS, shr_s32},
    {"shr.s64 ld, la, b;", R64, INTEGERS, shr_s64},
    {"shf.l.wrap.b32 d, a, b, c;", R32, INTEGERS, shf_l_wrap},
    {"shf.r.wrap.b32 d, a, b, c;", R32, INTEGERS, shf_r_wrap},
    {"shf.l.clamp.b32 d, a, b, c;", R32, INTEGERS, shf_l_clamp},
    {"shf.r.clamp.b32 d, a, b, c;", R32, INTEGERS, shf_r_clamp},
    {"and.b32 d, b, 255; and.b32 e, c, 255; bfe.u32 d, a, d, e;", R32, INTEGERS, bfe_u32,
        "bfe.u32"},
    {"and.b32 d, b, 255; and.b32 e, c, 255; bfe.s32 d, a, d, e;", R32, INTEGERS, bfe_s32,
        "bfe.s32"},
    {"and.b32 d, b, 255; and.b32 e, c, 255; bfe.u64 ld, la, d, e;", R64, INTEGERS, bfe_u64,
        "bfe.u64"},
    {"and.b32 d, b, 255; and.b32 e, c, 255; bfe.s64 ld, la, d, e;", R64, INTEGERS, bfe_s64,
        "bfe.s64"},
    {"and.b32 d, c, 255; shr.u32 e, c, 8; and.b32 e, e, 255; bfi.b32 d, a, b, d, e;", R32, INTEGERS,
        bfi_32, "bfi.b32"},
    {"and.b32 d, c, 255; shr.u32 e, c, 8; and.b32 e, e, 255; bfi.b64 ld, la, lb, d, e;", R64,
        INTEGERS, bfi_64, "bfi.b64"},
    {"brev.b32 d, a;", R32, INTEGERS, brev32},
    {"brev.b64 ld, la;", R64, INTEGERS, brev64},
    {"clz.b32 d, a;", R32, INTEGERS, clz32},
    {"clz.b64 d, la;", R32, INTEGERS, clz64},
    {"popc.b32 d, a;", R32, INTEGERS, popc32},
    {"popc.b64 d, la;", R32, INTEGERS, popc64},
    {"bfind.u32 d, a;", R32, INTEGERS, bfind_u32},
    {"bfind.s32 d, a;", R32, INTEGERS, bfind_s32},
    {"bfind.u64 d, la;", R32, INTEGERS, bfind_u64},
    {"bfind.s64 d, la;", R32, INTEGERS, bfind_s64},
    {"bfind.shiftamt.u32 d, a;", R32, INTEGERS, bfind_shift_u32},
    {"bfind.shiftamt.s32 d, a;", R32, INTEGERS, bfind_shift_s32},
    {"bfind.shiftamt.u64 d, la;", R32, INTEGERS, bfind_shift_u64},
    {"bfind.shiftamt.s64 d, la;", R32, INTEGERS, bfind_shift_s64},
    {"and.b32 d, b, 31; and.b32 e, c, 15; sub.s32 e, e, 8; fns.b32 d, a, d, e;", R32, INTEGERS, fns,
        "fns.b32"},
    {"bmsk.clamp.b32 d, a, b;", R32, INTEGERS, bmsk_clamp},
    {"bmsk.wrap.b32 d, a, b;", R32, INTEGERS, bmsk_wrap},
    {"szext.clamp.u32 d, a, b;", R32, INTEGERS, szext_clamp_u},
    {"szext.clamp.s32 d, a, b;", R32, INTEGERS, szext_clamp_s},
    {"szext.wrap.u32 d, a, b;", R32, INTEGERS, szext_wrap_u},
    {"szext.wrap.s32 d, a, b;", R32, INTEGERS, szext_wrap_s},
    {"prmt.b32 d, a, b, c;", R32, INTEGERS, prmt, NULL, {GENERIC}},
    {"prmt.b32.f4e d, a, b, c;", R32, INTEGERS, prmt, NULL, {F4E}},
    {"prmt.b32.b4e d, a, b, c;", R32, INTEGERS, prmt, NULL, {B4E}},
    {"prmt.b32.rc8 d, a, b, c;", R32, INTEGERS, prmt, NULL, {RC8}},
    {"prmt.b32.ecl d, a, b, c;", R32, INTEGERS, prmt, NULL, {ECL}},
    {"prmt.b32.ecr d, a, b, c;", R32, INTEGERS, prmt, NULL, {ECR}},
    {"prmt.b32.rc16 d, a, b, c;", R32, INTEGERS, prmt, NULL, {RC16}},
};

/* Every fifth table and the ones with names reach each of the eight bits both ways. */
static void add_cases(void)
{
    lane_add_all(simple, COUNT_OF(simple));
    for (uint32_t table = 0; table < 256; table++) {
        char body[64], name[32];
        struct lane_case lane = {body, R32, INTEGERS, lop3, name, {table}, NULL};

        if (table % 5 != 0 && table != 0x96 && table != 0xe8 && table != 0xca)
            continue;
        snprintf(body, sizeof(body), "lop3.b32 d, a, b, c, %u;", table);
        snprintf(name, sizeof(name), "lop3.b32,%02x", table);
        lane_add(&lane);
    }
}

const struct group bits_group = {.name = "bits", .add = add_cases};
