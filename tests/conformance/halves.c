/* SPDX-License-Identifier: Apache-2.0 */
/*
 * f16 and bf16: arithmetic, pairs, comparisons of magnitude. The exact result is taken to 53 bits
 * with the last one sticky and then rounded once more to 11 or 8, which is the same as rounding
 * once.
 */
#include "conformance.h"

#include <stdio.h>

#include "softfloat.h"

enum operation { ADD, SUB, MUL, FMA, NEG, ABS, MIN, MAX, OPERATIONS };
enum { FTZ = 1, SAT = 2, RELU = 4, NAN_WINS = 8 };

static double sticky(enum operation operation, double a, double b, double c)
{
    volatile double x = operation == ADD || operation == SUB ? 1 : b, y = a, result;
    volatile double z = operation == ADD ? b : operation == SUB ? -b : operation == MUL ? -0.0 : c;
    uint64_t bits;

    if (operation == MUL && !signbit(a * b))
        z = 0;
    feclearexcept(FE_ALL_EXCEPT);
    fesetround(FE_TOWARDZERO);
    result = fma(y, x, z);
    fesetround(FE_TONEAREST);
    if (result == 0 || isnan(result) || isinf(result)) /* the sign of a zero sum is to nearest's */
        return operation == MUL ? a * b : fma(y, x, z);
    if (!fetestexcept(FE_INEXACT))
        return result;
    bits = bits_of_double(result) | 1;
    return double_of(bits);
}

static double flush_half(const struct format *format, double value)
{
    return fabs(value) < ldexp(1, format->least) ? copysign(0, value) : value;
}

/* After rounding with no limit to the exponent, for which the value is taken 256 times. */
static int is_tiny(const struct format *format, double value)
{
    double least = ldexp(1, format->least);

    if (isnan(value) || fabs(value) >= least)
        return 0;
    value = value_of_format(format, bits_of_format(format, value * 256, RN));
    return fabs(value) < least * 256;
}

static uint64_t pick(
    enum operation operation, uint32_t flags, double a, double b, const struct format *format)
{
    double result;

    if (isnan(a) || isnan(b))
        result = flags & NAN_WINS ? (double)NAN : isnan(a) ? b : a;
    else if (a == b)
        result = signbit(a) == (operation == MIN) ? a : b;
    else
        result = (a < b) == (operation == MIN) ? a : b;
    return bits_of_format(format, result, RN);
}

/* how: operation, 1: bf16, flags */
static uint64_t answer(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    const struct format *format = lane->how[1] ? &bfloat_format : &half_format;
    enum operation operation = (enum operation)lane->how[0];
    uint32_t flags = lane->how[2];
    double x = value_of_format(format, a), y = value_of_format(format, b);
    double z = value_of_format(format, c), result;

    if (flags & FTZ && !(a & format_infinity(format) << (format->precision - 1)))
        a &= 0x8000;
    if (operation == NEG || operation == ABS)
        return operation == NEG ? a ^ 0x8000 : a & 0x7fff;
    if (flags & FTZ) {
        x = flush_half(format, x);
        y = flush_half(format, y);
        z = flush_half(format, z);
    }
    if (operation == MIN || operation == MAX)
        return pick(operation, flags, x, y, format);
    result = sticky(operation, x, y, z);
    if (flags & FTZ && is_tiny(format, result))
        result = copysign(0, result);
    result = value_of_format(format, bits_of_format(format, result, RN));
    if (flags & SAT)
        result = saturate(result);
    if (flags & RELU)
        result = isnan(result)                                    ? result
                 : result < 0 || (result == 0 && signbit(result)) ? 0
                                                                  : result;
    return bits_of_format(format, result, RN);
}

static uint64_t without_nan(const struct lane_case *lane, uint64_t bits)
{
    const struct format *format = lane->how[1] ? &bfloat_format : &half_format;

    return isnan(value_of_format(format, bits)) ? 0x7fff : bits;
}

/* Both halves, a NaN made 7fff by the kernel. */
static uint64_t answer_pair(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t low = answer(lane, a & 0xffff, b & 0xffff, c & 0xffff);
    uint64_t high = answer(lane, b & 0xffff, c & 0xffff, a & 0xffff);

    return without_nan(lane, low) | without_nan(lane, high) << 16;
}

static const struct {
    const char *name;
    int operands;
    uint32_t flags;
} operations[] = {{"add.rn", 2, FTZ | SAT}, {"sub.rn", 2, FTZ | SAT}, {"mul.rn", 2, FTZ | SAT},
    {"fma.rn", 3, FTZ | SAT | RELU}, {"neg", 1, FTZ}, {"abs", 1, FTZ}, {"min", 2, FTZ | NAN_WINS},
    {"max", 2, FTZ | NAN_WINS}};

static void add_one(enum operation operation, int is_bfloat, uint32_t flags)
{
    static const char *const operands[] = {" hd, ha;", " hd, ha, hb;", " hd, ha, hb, hc;"};
    static const char *const more[] = {"", ", y", ", y, z"};
    const char *type = is_bfloat ? "bf16" : "f16";
    char head[64], body[400], name[80];
    struct lane_case lane = {body, is_bfloat ? BFLOAT : HALF, is_bfloat ? BFLOATS : HALVES, answer,
        NULL, {operation, (uint32_t)is_bfloat, flags}, NULL};

    snprintf(head, sizeof(head), "%s%s%s%s%s.%s", operations[operation].name,
        flags & FTZ ? ".ftz" : "", flags & NAN_WINS ? ".NaN" : "", flags & SAT ? ".sat" : "",
        flags & RELU ? ".relu" : "", type);
    snprintf(body, sizeof(body), "%s%s", head, operands[operations[operation].operands - 1]);
    lane_add(&lane);
    snprintf(name, sizeof(name), "%sx2", head);
    snprintf(body, sizeof(body),
        "{.reg .b32 x, y, z; mov.b32 x, {ha, hb}; mov.b32 y, {hb, hc}; mov.b32 z, {hc, ha}; "
        "%s d, x%s; .reg .pred r; .reg .b16 lo, hi; mov.b32 {lo, hi}, d; setp.nan.%s r, lo, lo; "
        "@r mov.b16 lo, 0x7fff; setp.nan.%s r, hi, hi; @r mov.b16 hi, 0x7fff; mov.b32 d, {lo, "
        "hi};}",
        name, more[operations[operation].operands - 1], type, type);
    lane.result = R32;
    lane.name = name;
    lane.answer = answer_pair;
    lane_add(&lane);
}

static void add_cases(void)
{
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (uint32_t flags = 0; flags < 16; flags++) {
            int is_both = (flags & SAT) && (flags & RELU);

            if ((flags & operations[operation].flags) != flags || is_both)
                continue;
            add_one((enum operation)operation, 0, flags);
            if (!(flags & (FTZ | SAT)))
                add_one((enum operation)operation, 1, flags);
        }
}

const struct group halves_group = {.name = "halves", .add = add_cases};
