/* SPDX-License-Identifier: Apache-2.0 */
/* binary16 and bfloat16: exact widening, and narrowing in the four rounding modes. */
#include "driver/sim/exec/half.h"

#include <math.h>

struct format {
    int mantissa; /* stored bits */
    int highest;  /* largest exponent of a normal number */
    int lowest;   /* smallest exponent of a normal number */
    uint16_t nan;
};

static const struct format half = {10, 15, -14, 0x7fff};
static const struct format bfloat = {7, 127, -126, 0x7fff};

static double widen(uint16_t bits, const struct format *format)
{
    int exponent_bits = 15 - format->mantissa;
    int exponent = bits >> format->mantissa & ((1 << exponent_bits) - 1);
    int fraction = bits & ((1 << format->mantissa) - 1);
    double value;
    if (exponent == (1 << exponent_bits) - 1)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, format->lowest - format->mantissa);
    else
        value = ldexp(
            fraction + (1 << format->mantissa), exponent - format->highest - format->mantissa);
    return bits & 0x8000 ? -value : value;
}

/* The magnitude in units of its last place, rounded to an integer. */
static double round_units(double units, enum sim_rounding rounding, int is_negative)
{
    double down = floor(units), rest = units - down;
    int up = 0;
    if (rounding == SIM_RN)
        up = rest > 0.5 || (rest == 0.5 && fmod(down, 2.0) != 0.0);
    else if (rounding == SIM_RM)
        up = is_negative && rest > 0.0;
    else if (rounding == SIM_RP)
        up = !is_negative && rest > 0.0;
    return down + up;
}

static uint16_t narrow(double value, const struct format *format, enum sim_rounding rounding)
{
    int is_negative = signbit(value) != 0;
    uint16_t sign = is_negative ? 0x8000 : 0;
    uint16_t infinity = (uint16_t)(((1u << (15 - format->mantissa)) - 1) << format->mantissa);
    if (isnan(value))
        return format->nan;
    if (isinf(value))
        return sign | infinity;
    if (value == 0.0)
        return sign;
    int exponent = ilogb(value);
    if (exponent < format->lowest)
        exponent = format->lowest;
    double units =
        round_units(ldexp(fabs(value), format->mantissa - exponent), rounding, is_negative);
    if (units >= ldexp(2.0, format->mantissa)) {
        units /= 2;
        exponent++;
    }
    if (exponent > format->highest) {
        int to_infinity = rounding == SIM_RN || (rounding == SIM_RM && is_negative) ||
                          (rounding == SIM_RP && !is_negative);
        return (uint16_t)(sign | (to_infinity ? infinity : infinity - 1));
    }
    uint16_t whole = (uint16_t)units;
    /* A subnormal has the exponent field 0 and no hidden bit. */
    if (whole < 1u << format->mantissa)
        return sign | whole;
    uint32_t field = (uint32_t)(exponent - format->lowest + 1) << format->mantissa;
    return (uint16_t)(sign | field | (whole - (1u << format->mantissa)));
}

double sim_half_to_double(uint16_t bits)
{
    return widen(bits, &half);
}

double sim_bfloat_to_double(uint16_t bits)
{
    return widen(bits, &bfloat);
}

uint16_t sim_double_to_half(double value, enum sim_rounding rounding)
{
    return narrow(value, &half, rounding);
}

uint16_t sim_double_to_bfloat(double value, enum sim_rounding rounding)
{
    return narrow(value, &bfloat, rounding);
}
