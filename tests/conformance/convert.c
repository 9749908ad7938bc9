/* SPDX-License-Identifier: Apache-2.0 */
/* cvt between all pairs of types with every rounding modifier, flushing and saturation. */
#include "conformance.h"

#include <stdio.h>

#include "softfloat.h"

enum type {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    INTEGER_TYPES,
    F16 = INTEGER_TYPES,
    BF16,
    F32,
    F64
};
enum { SAT = 1, FTZ = 2, INTEGRAL = 4 };

static const struct {
    const char *text;
    const char *source, *target;
    int bits, is_signed;
    enum result result;
    enum inputs inputs;
} types[] = {
    {"u8", "ha", "hd", 8, 0, R16, INTEGERS},
    {"s8", "ha", "hd", 8, 1, R16, INTEGERS},
    {"u16", "ha", "hd", 16, 0, R16, INTEGERS},
    {"s16", "ha", "hd", 16, 1, R16, INTEGERS},
    {"u32", "a", "d", 32, 0, R32, INTEGERS},
    {"s32", "a", "d", 32, 1, R32, INTEGERS},
    {"u64", "la", "ld", 64, 0, R64, INTEGERS},
    {"s64", "la", "ld", 64, 1, R64, INTEGERS},
    {"f16", "ha", "hd", 16, 1, HALF, HALVES},
    {"bf16", "ha", "hd", 16, 1, BFLOAT, BFLOATS},
    {"f32", "a", "d", 32, 1, FLOAT, FLOATS},
    {"f64", "la", "ld", 64, 1, DOUBLE, DOUBLES},
};
static const char *const roundings[] = {".rn", ".rz", ".rm", ".rp"};
static const char *const integral_roundings[] = {".rni", ".rzi", ".rmi", ".rpi"};

static s128 integer_value(enum type type, uint64_t bits)
{
    int shift = 64 - types[type].bits;

    return types[type].is_signed ? (s128)((s64)(bits << shift) >> shift)
                                 : (s128)(bits << shift >> shift);
}

static s128 least_of(enum type type)
{
    return types[type].is_signed ? -((s128)1 << (types[type].bits - 1)) : 0;
}

static s128 greatest_of(enum type type)
{
    return ((s128)1 << (types[type].bits - types[type].is_signed)) - 1;
}

static s128 clamp(enum type type, s128 value)
{
    return value < least_of(type)      ? least_of(type)
           : value > greatest_of(type) ? greatest_of(type)
                                       : value;
}

static double float_value(enum type type, uint64_t bits, uint32_t flags)
{
    if (type == F32)
        return (double)(flags & FTZ ? flush(float_of(bits)) : float_of(bits));
    return type == F64 ? double_of(bits)
                       : value_of_format(type == F16 ? &half_format : &bfloat_format, bits);
}

/* how: to, from, rounding, flags. The result is extended to the register's width by its sign. */
static uint64_t integers(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    enum type to = (enum type)lane->how[0];
    s128 value = integer_value((enum type)lane->how[1], a);

    (void)b;
    (void)c;
    return (u64)(lane->how[3] & SAT ? clamp(to, value) : integer_value(to, (u64)value));
}

static uint64_t float_to_integer(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    enum type to = (enum type)lane->how[0], from = (enum type)lane->how[1];
    double value = float_value(from, a, lane->how[3]);

    (void)b;
    (void)c;
    if (isnan(value)) /* 0, but 100…0 where one of the two has 64 bits */
        return from == F64 || types[to].bits == 64
                   ? (u64)integer_value(to, UINT64_C(1) << (types[to].bits - 1))
                   : 0;
    value = integral(value, lane->how[2]);
    if (value >= 0x1p64)
        return (u64)greatest_of(to);
    return (u64)clamp(to, value <= -0x1p64 ? -((s128)1 << 64) : (s128)value);
}

static uint64_t round_to(enum type to, double value, int rounding)
{
    volatile double exact = value;
    volatile float narrow;

    if (to == F64)
        return bits_of_double(value);
    if (to != F32)
        return bits_of_format(to == F16 ? &half_format : &bfloat_format, value, rounding);
    fesetround(host_rounding[rounding]);
    narrow = (float)exact;
    fesetround(FE_TONEAREST);
    return bits_of_float(narrow);
}

/* 64 bits round to 53 with the last one sticky, so that rounding again is right; f64 at once. */
static uint64_t integer_to_float(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    s128 value = integer_value((enum type)lane->how[1], a);
    u64 magnitude = (u64)(value < 0 ? -value : value);
    int sign = value < 0 ? -1 : 1;

    (void)b;
    (void)c;
    if (lane->how[0] == F64) {
        volatile u64 exact = magnitude;
        volatile double result;

        fesetround(
            host_rounding[sign < 0 && lane->how[2] >= RM ? RM + RP - lane->how[2] : lane->how[2]]);
        result = (double)(exact >> 32) * 0x1p32 + (double)(exact & 0xffffffff);
        fesetround(FE_TONEAREST);
        return bits_of_double(sign * result);
    }
    if (magnitude >> 53)
        magnitude = (magnitude >> 11 | ((magnitude & 0x7ff) != 0)) << 11;
    return round_to((enum type)lane->how[0], sign * (double)magnitude, (int)lane->how[2]);
}

static uint64_t floats(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    enum type to = (enum type)lane->how[0], from = (enum type)lane->how[1];
    uint32_t flags = lane->how[3];
    /* GPUs do not flush on the way to f16, whatever .ftz says. */
    double value = float_value(from, a, to == F16 ? flags & ~(uint32_t)FTZ : flags);
    uint64_t bits;

    (void)b;
    (void)c;
    if (flags & INTEGRAL)
        value = integral(value, lane->how[2]);
    bits = round_to(to, value, (int)lane->how[2]);
    if (flags & FTZ && to == F32)
        bits = bits_of_float(flush(float_of(bits)));
    if (flags & SAT) {
        value = saturate(float_value(to, bits, 0));
        bits = round_to(to, value, RN);
    }
    return bits;
}

static void add_one(enum type to, enum type from, const char *rounding, uint32_t mode,
    uint32_t flags, lane_answer answer)
{
    char body[100];
    struct lane_case lane = {
        body, types[to].result, types[from].inputs, answer, NULL, {to, from, mode, flags}, NULL};

    snprintf(body, sizeof(body), "cvt%s%s%s.%s.%s %s, %s;", rounding, flags & FTZ ? ".ftz" : "",
        flags & SAT ? ".sat" : "", types[to].text, types[from].text, types[to].target,
        types[from].source);
    lane_add(&lane);
}

/* .sat is refused where there is nothing to saturate. */
static int is_within(enum type from, enum type to)
{
    return least_of(from) >= least_of(to) && greatest_of(from) <= greatest_of(to);
}

static void add_integers(void)
{
    for (int to = 0; to < INTEGER_TYPES; to++)
        for (int from = 0; from < INTEGER_TYPES; from++) {
            add_one((enum type)to, (enum type)from, "", 0, 0, integers);
            if (!is_within((enum type)from, (enum type)to))
                add_one((enum type)to, (enum type)from, "", 0, SAT, integers);
        }
}

static void add_integers_and_floats(void)
{
    static const enum type floating[] = {F16, F32, F64};

    for (int integer = 0; integer < INTEGER_TYPES; integer++)
        for (size_t i = 0; i < COUNT_OF(floating); i++)
            for (uint32_t mode = RN; mode <= RP; mode++) {
                enum type whole = (enum type)integer, real = floating[i];

                add_one(real, whole, roundings[mode], mode, 0, integer_to_float);
                add_one(whole, real, integral_roundings[mode], mode, 0, float_to_integer);
                if (real == F32)
                    add_one(whole, real, integral_roundings[mode], mode, FTZ, float_to_integer);
            }
}

static void add_floats(void)
{
    for (uint32_t mode = RN; mode <= RP; mode++) {
        add_one(F32, F64, roundings[mode], mode, 0, floats);
        add_one(F32, F64, roundings[mode], mode, FTZ, floats);
        add_one(F32, F64, roundings[mode], mode, SAT, floats);
        add_one(F16, F32, roundings[mode], mode, 0, floats);
        add_one(F16, F32, roundings[mode], mode, FTZ, floats);
        add_one(F16, F64, roundings[mode], mode, 0, floats);
        if (mode == RN || mode == RZ)
            add_one(BF16, F32, roundings[mode], mode, 0, floats);
        add_one(F32, F32, integral_roundings[mode], mode, INTEGRAL, floats);
        add_one(F32, F32, integral_roundings[mode], mode, INTEGRAL | FTZ, floats);
        add_one(F32, F32, integral_roundings[mode], mode, INTEGRAL | SAT, floats);
        add_one(F64, F64, integral_roundings[mode], mode, INTEGRAL, floats);
        add_one(F16, F16, integral_roundings[mode], mode, INTEGRAL, floats);
    }
    add_one(F64, F32, "", RN, 0, floats);
    add_one(F64, F32, "", RN, FTZ, floats);
    add_one(F64, F32, "", RN, SAT, floats);
    add_one(F32, F16, "", RN, 0, floats);
    add_one(F64, F16, "", RN, 0, floats);
    add_one(F32, BF16, "", RN, 0, floats);
    add_one(F32, F32, "", RN, SAT, floats);
    add_one(F32, F32, "", RN, FTZ | SAT, floats);
}

static void add_cases(void)
{
    add_integers();
    add_integers_and_floats();
    add_floats();
}

const struct group convert_group = {.name = "convert", .add = add_cases};
