/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions for which the PTX manual gives only an error bound: the result must be within it,
 * and the results that the manual lists for zeros, infinities and NaN must hold. They are not
 * compared bit for bit.
 */
#include "conformance.h"

#include <float.h>

#include "softfloat.h"

enum function { RCP, SQRT, RSQRT, DIV, DIV_FULL, SIN, COS, LG2, EX2, TANH, RCP64, RSQRT64 };

static double exact(enum function function, double x, double y)
{
    switch (function) {
    case RCP:
    case RCP64:
        return 1 / x;
    case SQRT:
        return sqrt(x);
    case RSQRT:
    case RSQRT64:
        return 1 / sqrt(x);
    case DIV:
    case DIV_FULL:
        return x / y;
    case SIN:
        return sin(x);
    case COS:
        return cos(x);
    case LG2:
        return log2(x);
    case EX2:
        return exp2(x);
    default:
        return tanh(x);
    }
}

/* Where the manual promises something: sin and cos near zero, divisors that are no extremes. */
static int is_promised(enum function function, double x, double y)
{
    if (function == SIN || function == COS)
        return isnan(x) || isinf(x) || fabs(x) <= M_PI;
    if (function == DIV)
        return isnan(x) || isnan(y) || (fabs(y) >= 0x1p-126 && fabs(y) <= 0x1p126);
    if (function == DIV_FULL)
        return isnan(x) || isnan(y) || (fabs(y) >= 0x1p-126 && fabs(y) <= 0x1p126);
    return 1;
}

/* The largest error, absolute or relative, in the manual's words: maximum 1 or 2 ulp of f32 is up
 * to 2^-23 or 2^-22 of the value. */
static double tolerance(enum function function, double x, double value)
{
    double size = fabs(value), least = 0x1p-149;

    switch (function) {
    case RCP:
    case SQRT:
        return size * 0x1p-23 + least;
    case RSQRT:
        return size * 0x1p-22 + least;
    case DIV:
    case DIV_FULL:
    case EX2:
        return size * 0x1p-22 + least;
    case SIN:
    case COS:
        return 0x1p-20;
    case LG2:
        return x > 0.5 && x < 2 ? 0x1p-22 : size * 0x1p-22;
    case TANH:
        return size * 0x1p-10 + least;
    default: /* the upper word of an f64 is right within 20 bits */
        return size * 0x1p-20;
    }
}

/* how: function, 1: flushes */
static int accept(const struct lane_case *lane, const uint64_t in[3], uint64_t bits)
{
    enum function function = (enum function)lane->how[0];
    int is_double = lane->result == DOUBLE;
    double x = is_double ? double_of(in[0]) : (double)float_of(in[0]);
    double y = is_double ? 0 : (double)float_of(in[1]);
    double got = is_double ? double_of(bits) : (double)float_of(bits), value;

    if (lane->how[1]) {
        x = is_double ? (fabs(x) < DBL_MIN ? copysign(0, x) : x) : (double)flush(float_of(in[0]));
        y = (double)flush(float_of(in[1]));
    }
    if (is_double && lane->how[1] && !(in[0] << 12 >> 44)) /* only the upper word is examined */
        return 1;
    if (!is_promised(function, x, y))
        return 1;
    value = exact(function, x, y);
    if (isnan(value))
        return isnan(got);
    if (lane->how[1] && fabs(value) < (is_double ? DBL_MIN : (double)FLT_MIN) * (1 + 0x1p-20))
        return fabs(got) <= (is_double ? DBL_MIN : (double)FLT_MIN) * (1 + 0x1p-20);
    if (!is_double && fabs(value) > (double)FLT_MAX * (1 - 0x1p-22))
        return (isinf(got) || fabs(got) > (double)FLT_MAX * (1 - 0x1p-21)) &&
               signbit(got) == signbit(value);
    if (isinf(value) || (value == 0 && function != SIN && function != COS && function != LG2))
        return got == value && signbit(got) == signbit(value);
    return fabs(got - value) <= tolerance(function, x, value);
}

#define APPROXIMATE(text, result, inputs, function, flushes)                                       \
    {                                                                                              \
        text, result, inputs, NULL, NULL, {function, flushes}, accept                              \
    }

static const struct lane_case lanes[] = {
    APPROXIMATE("rcp.approx.f32 d, a;", FLOAT, FLOATS, RCP, 0),
    APPROXIMATE("rcp.approx.ftz.f32 d, a;", FLOAT, FLOATS, RCP, 1),
    APPROXIMATE("sqrt.approx.f32 d, a;", FLOAT, FLOATS, SQRT, 0),
    APPROXIMATE("sqrt.approx.ftz.f32 d, a;", FLOAT, FLOATS, SQRT, 1),
    APPROXIMATE("rsqrt.approx.f32 d, a;", FLOAT, FLOATS, RSQRT, 0),
    APPROXIMATE("rsqrt.approx.ftz.f32 d, a;", FLOAT, FLOATS, RSQRT, 1),
    APPROXIMATE("div.approx.f32 d, a, b;", FLOAT, FLOATS, DIV, 0),
    APPROXIMATE("div.approx.ftz.f32 d, a, b;", FLOAT, FLOATS, DIV, 1),
    APPROXIMATE("div.full.f32 d, a, b;", FLOAT, FLOATS, DIV_FULL, 0),
    APPROXIMATE("div.full.ftz.f32 d, a, b;", FLOAT, FLOATS, DIV_FULL, 1),
    APPROXIMATE("sin.approx.f32 d, a;", FLOAT, FLOATS, SIN, 0),
    APPROXIMATE("sin.approx.ftz.f32 d, a;", FLOAT, FLOATS, SIN, 1),
    APPROXIMATE("cos.approx.f32 d, a;", FLOAT, FLOATS, COS, 0),
    APPROXIMATE("cos.approx.ftz.f32 d, a;", FLOAT, FLOATS, COS, 1),
    APPROXIMATE("lg2.approx.f32 d, a;", FLOAT, FLOATS, LG2, 0),
    APPROXIMATE("lg2.approx.ftz.f32 d, a;", FLOAT, FLOATS, LG2, 1),
    APPROXIMATE("ex2.approx.f32 d, a;", FLOAT, FLOATS, EX2, 0),
    APPROXIMATE("ex2.approx.ftz.f32 d, a;", FLOAT, FLOATS, EX2, 1),
    APPROXIMATE("tanh.approx.f32 d, a;", FLOAT, FLOATS, TANH, 0),
    APPROXIMATE("rcp.approx.ftz.f64 ld, la;", DOUBLE, DOUBLES, RCP64, 1),
    APPROXIMATE("rsqrt.approx.f64 ld, la;", DOUBLE, DOUBLES, RSQRT64, 0),
    APPROXIMATE("rsqrt.approx.ftz.f64 ld, la;", DOUBLE, DOUBLES, RSQRT64, 1),
};

static void add_cases(void)
{
    lane_add_all(lanes, COUNT_OF(lanes));
}

const struct group approximate_group = {.name = "approximate", .add = add_cases};
