/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers for floating point: bits and values, the host's rounding modes, flushing, and rounding to
 * the small formats.
 */
#ifndef TESTS_CONFORMANCE_SOFTFLOAT_H
#define TESTS_CONFORMANCE_SOFTFLOAT_H

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "conformance.h"

enum { RN, RZ, RM, RP };
static const int host_rounding[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static inline float float_of(uint64_t bits)
{
    u32 low = (u32)bits;
    float value;

    memcpy(&value, &low, sizeof(value));
    return value;
}

static inline uint64_t bits_of_float(float value)
{
    u32 bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint64_t bits_of_double(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* The compiler ignores rounding modes: values that are computed between changes of the mode are
 * volatile. */
static inline double integral(double value, uint32_t rounding)
{
    volatile double result = value;

    fesetround(host_rounding[rounding]);
    result = nearbyint(result);
    fesetround(FE_TONEAREST);
    return result;
}

/* .ftz: a subnormal becomes the zero of its sign. */
static inline float flush(float value)
{
    return fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value;
}

/* .sat: to [0, 1], NaN to +0. */
static inline double saturate(double value)
{
    return !(value > 0) ? 0 : value > 1 ? 1 : value;
}

/* The formats of 16 bits: precision counts the hidden bit. */
struct format {
    int precision;
    int least; /* exponent of the least normal number */
    int bits;  /* of the exponent */
};
static const struct format half_format = {11, -14, 5}, bfloat_format = {8, -126, 8};

static inline double value_of_format(const struct format *format, uint64_t bits)
{
    int mantissa = format->precision - 1;
    int exponent = (int)(bits >> mantissa) & ((1 << format->bits) - 1);
    int fraction = (int)bits & ((1 << mantissa) - 1);
    double value;

    if (exponent == (1 << format->bits) - 1)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, format->least - mantissa);
    else
        value = ldexp(fraction | 1 << mantissa, exponent - 1 + format->least - mantissa);
    return bits & 0x8000 ? -value : value;
}

static inline uint64_t format_infinity(const struct format *format)
{
    return (UINT64_C(1) << format->bits) - 1;
}

/* Rounds to the format's grid in the given mode. */
static inline uint64_t bits_of_format(const struct format *format, double value, int mode)
{
    int mantissa = format->precision - 1, exponent;
    uint64_t sign = signbit(value) ? 0x8000 : 0, most = format_infinity(format) << mantissa;
    double scaled, magnitude = fabs(value);

    if (isnan(value))
        return most | sign | 1;
    if (isinf(value) || magnitude == 0)
        return sign | (isinf(value) ? most : 0);
    exponent = ilogb(magnitude) < format->least ? format->least : ilogb(magnitude);
    scaled = ldexp(copysign(magnitude, value), mantissa - exponent);
    scaled = fabs(integral(scaled, (uint32_t)mode));
    if (scaled >= ldexp(1, format->precision)) {
        scaled /= 2;
        exponent++;
    }
    if (exponent > -format->least + 1)
        return sign | (mode == RN || mode == (sign ? RM : RP) ? most : most - 1);
    if (scaled < ldexp(1, mantissa))
        return sign | (uint64_t)scaled;
    return sign | (((uint64_t)(exponent - format->least) << mantissa) + (uint64_t)scaled);
}

#endif
