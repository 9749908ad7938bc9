/* SPDX-License-Identifier: Apache-2.0 */
/* cvt from, to and between floating-point types. */
#include "driver/sim/exec/half.h"
#include "driver/sim/exec/machine.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

/* A source value in the widest format that represents it exactly. */
struct value {
    enum { IS_FLOAT, IS_SIGNED, IS_UNSIGNED } form;
    double real;
    uint64_t integer;
};

static int host_rounding(uint32_t rounding)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    return modes[rounding];
}

/* .ftz of a cvt to a 16-bit format has no effect: GPUs round the subnormal itself. */
static uint32_t cvt_flags(uint32_t flags, enum ptx_type to)
{
    return to == PTX_F16 || to == PTX_BF16 ? flags & ~(uint32_t)SIM_FLOAT_FTZ : flags;
}

static struct value read_value(const void *vreg, unsigned lane, enum ptx_type type, uint32_t flags)
{
    struct value value = {IS_UNSIGNED, 0.0, 0};
    uint32_t size = ptx_type_size(type) < 2 ? 2 : ptx_type_size(type);
    memcpy(&value.integer, (const char *)vreg + lane * size, size);
    if (type == PTX_F32) {
        uint32_t bits = (uint32_t)value.integer;
        float narrow;
        if ((flags & SIM_FLOAT_FTZ) && (bits & 0x7f800000) == 0)
            bits &= 0x80000000;
        if ((flags & SIM_FLOAT_FTZ) && (bits & 0x7fffffff) > 0x7f800000)
            bits = 0x7fffffff;
        memcpy(&narrow, &bits, sizeof(narrow));
        value.real = (double)narrow;
        value.form = IS_FLOAT;
    } else if (type == PTX_F64) {
        memcpy(&value.real, &value.integer, sizeof(value.real));
        value.form = IS_FLOAT;
    } else if (type == PTX_F16 || type == PTX_BF16) {
        uint16_t bits = (uint16_t)value.integer;
        value.real = type == PTX_F16 ? sim_half_to_double(bits) : sim_bfloat_to_double(bits);
        value.form = IS_FLOAT;
    } else if (ptx_type_is_signed(type)) {
        unsigned shift = 64 - size * 8;
        value.integer = (uint64_t)((int64_t)(value.integer << shift) >> shift);
        value.form = IS_SIGNED;
    }
    return value;
}

static double integral(double x, uint32_t flags)
{
    switch (flags & SIM_FLOAT_ROUNDING) {
    case SIM_RZ:
        return trunc(x);
    case SIM_RM:
        return floor(x);
    case SIM_RP:
        return ceil(x);
    default:
        return rint(x);
    }
}

/* Values out of range saturate; NaN becomes zero, except that 64-bit results and f64 sources yield
 * the top bit. */
static uint64_t to_integer(double x, enum ptx_type to, enum ptx_type from, uint32_t flags)
{
    unsigned bits = ptx_type_size(to) * 8;
    bool is_signed = ptx_type_is_signed(to);
    double high = ldexp(1.0, (int)bits - is_signed), low = is_signed ? -high : 0.0;
    if (isnan(x)) {
        bool has_top = from == PTX_F64 || bits == 64;
        return has_top ? UINT64_C(1) << (bits - 1) : 0;
    }
    x = integral(x, flags);
    if (x >= high)
        return is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    if (x <= low)
        return is_signed ? (uint64_t)INT64_MIN >> (64 - bits) << 0 : 0;
    return is_signed ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static uint64_t sign_extended(uint64_t value, enum ptx_type type)
{
    unsigned shift = 64 - ptx_type_size(type) * 8;
    if (!ptx_type_is_signed(type))
        return value << shift >> shift;
    return (uint64_t)((int64_t)(value << shift) >> shift);
}

/* The value as a double, or converted to a float directly: never rounded twice. */
static uint64_t to_float(const struct value *value, enum ptx_type to, uint32_t flags)
{
    volatile double real = value->real;
    volatile float narrow;
    volatile int64_t as_signed = (int64_t)value->integer;
    volatile uint64_t as_unsigned = value->integer;
    uint32_t bits32;
    uint64_t bits64;
    if (to == PTX_F32) {
        narrow = value->form == IS_FLOAT    ? (float)real
                 : value->form == IS_SIGNED ? (float)as_signed
                                            : (float)as_unsigned;
        float result = narrow;
        if (flags & SIM_FLOAT_SAT)
            result = !(result > 0.0f) ? 0.0f : result > 1.0f ? 1.0f : result;
        memcpy(&bits32, &result, sizeof(bits32));
        if (isnan(result))
            bits32 = 0x7fffffff;
        if ((flags & SIM_FLOAT_FTZ) && (bits32 & 0x7f800000) == 0)
            bits32 &= 0x80000000;
        return bits32;
    }
    double result = value->form == IS_FLOAT    ? real
                    : value->form == IS_SIGNED ? (double)as_signed
                                               : (double)as_unsigned;
    if (flags & SIM_FLOAT_SAT)
        result = !(result > 0.0) ? 0.0 : result > 1.0 ? 1.0 : result;
    memcpy(&bits64, &result, sizeof(bits64));
    return bits64;
}

/* 64-bit integers lose bits in a double; for 16-bit formats the first 53 bits suffice and need no
 * rounding. */
static uint64_t to_half(const struct value *value, enum ptx_type to, uint32_t flags)
{
    enum sim_rounding rounding = (enum sim_rounding)(flags & SIM_FLOAT_ROUNDING);
    double real = value->real;
    if (value->form != IS_FLOAT) {
        bool is_negative = value->form == IS_SIGNED && (int64_t)value->integer < 0;
        uint64_t magnitude = is_negative ? 0 - value->integer : value->integer;
        uint64_t sticky = magnitude >> 40 ? (magnitude & 0xffff) != 0 : 0;
        magnitude = magnitude >> 40 ? (magnitude & ~UINT64_C(0xffff)) | sticky << 16 : magnitude;
        real = is_negative ? -(double)magnitude : (double)magnitude;
    }
    if (flags & SIM_FLOAT_SAT)
        real = !(real > 0.0) ? 0.0 : real > 1.0 ? 1.0 : real;
    return to == PTX_F16 ? sim_double_to_half(real, rounding)
                         : sim_double_to_bfloat(real, rounding);
}

/* Converts a NaN whose payload is preserved, as a GPU does where one of the formats is f64 (made
 * quiet) or bf16; false: the result is the canonical NaN. */
static bool convert_nan(uint64_t bits, enum ptx_type to, enum ptx_type from, uint64_t *result)
{
    bool from_f64 = from == PTX_F64, to_f64 = to == PTX_F64;
    if (from_f64 && to_f64)
        *result = bits | UINT64_C(1) << 51;
    else if (from_f64 && to == PTX_F32)
        *result = (bits >> 32 & 0x80000000) | 0x7fc00000 | (bits >> 29 & 0x3fffff);
    else if (from_f64 && to == PTX_F16)
        *result = (bits >> 48 & 0x8000) | 0x7e00 | (bits >> 42 & 0x1ff);
    else if (from == PTX_F16 && to_f64)
        *result = (bits & 0x8000) << 48 | UINT64_C(0x7ff8) << 48 | (bits & 0x1ff) << 42;
    else if (from == PTX_BF16 && to == PTX_F32)
        *result = bits << 16;
    else
        return false;
    return true;
}

static uint64_t convert(struct value value, enum ptx_type to, enum ptx_type from, uint32_t flags)
{
    uint64_t kept;
    if (!ptx_type_is_float(to))
        return sign_extended(to_integer(value.real, to, from, flags), to);
    if (value.form != IS_FLOAT && value.integer == 0)
        return 0; /* compilers convert by subtraction, which yields -0 when it rounds down */
    if (value.form == IS_FLOAT && isnan(value.real) && !(flags & SIM_FLOAT_SAT) &&
        convert_nan(value.integer, to, from, &kept))
        return kept;
    if (flags & SIM_FLOAT_INTEGRAL)
        value.real = integral(value.real, flags);
    return to == PTX_F16 || to == PTX_BF16 ? to_half(&value, to, flags)
                                           : to_float(&value, to, flags);
}

static const struct sim_op *run_cvt(struct sim_warp *warp, const struct sim_op *op)
{
    enum ptx_type to = (enum ptx_type)(op->aux >> SIM_FLOAT_FIRST_SHIFT & 0xff);
    enum ptx_type from = (enum ptx_type)(op->aux >> SIM_FLOAT_SECOND_SHIFT & 0xff);
    uint32_t size = ptx_type_size(to) < 2 ? 2 : ptx_type_size(to);
    uint32_t flags = cvt_flags(op->aux, to);
    char *d = sim_vreg_at(warp, op->d);
    const void *a = sim_vreg_at(warp, op->a);
    int before = fegetround();
    bool is_narrowing = ptx_type_is_float(to) && !(op->aux & SIM_FLOAT_INTEGRAL);
    fesetround(is_narrowing ? host_rounding(op->aux & SIM_FLOAT_ROUNDING) : FE_TONEAREST);
    for (uint32_t rest = sim_active_lanes(warp, op); rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t bits = convert(read_value(a, lane, from, flags), to, from, flags);
        memcpy(d + lane * size, &bits, size);
    }
    fesetround(before);
    return op + 1;
}

static const struct sim_op *run_cvt_pair(struct sim_warp *warp, const struct sim_op *op)
{
    enum ptx_type to = (enum ptx_type)(op->aux >> SIM_FLOAT_FIRST_SHIFT & 0xff);
    enum ptx_type part = to == PTX_F16X2 ? PTX_F16 : PTX_BF16;
    uint32_t *d = sim_vreg_at(warp, op->d), flags = cvt_flags(op->aux, part);
    const void *a = sim_vreg_at(warp, op->a), *b = sim_vreg_at(warp, op->b);
    for (uint32_t rest = sim_active_lanes(warp, op); rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t high = convert(read_value(a, lane, PTX_F32, flags), part, PTX_F32, flags);
        uint64_t low = convert(read_value(b, lane, PTX_F32, flags), part, PTX_F32, flags);
        d[lane] = (uint32_t)(high << 16 | low);
    }
    return op + 1;
}

void sim_convert_fill(struct sim_handlers *handlers)
{
    handlers->run[SIM_CVT_FLOAT][PTX_NONE] = run_cvt;
    handlers->run[SIM_CVT_FLOAT][PTX_F16X2] = run_cvt_pair;
    handlers->run[SIM_CVT_FLOAT][PTX_BF16X2] = run_cvt_pair;
}
