/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point arithmetic. The four rounding modes are the host's, set around a whole vector
 * register; nothing is contracted or reordered. Approximate functions are computed accurately
 * enough for the errors that the PTX manual permits.
 */
#include "driver/sim/exec/half.h"
#include "driver/sim/exec/machine.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define HANDLER(NAME)                                                                              \
    static const struct sim_op *NAME(struct sim_warp *warp, const struct sim_op *op)
#define EACH_OF(LANES)                                                                             \
    for (uint32_t rest = LANES, l; rest && ((l = (uint32_t)__builtin_ctz(rest)), 1);               \
         rest &= rest - 1)

static int set_rounding(uint32_t flags)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    int before = fegetround();
    if (modes[flags & SIM_FLOAT_ROUNDING] != before)
        fesetround(modes[flags & SIM_FLOAT_ROUNDING]);
    return before;
}

static float flush32(float x, uint32_t flags)
{
    return (flags & SIM_FLOAT_FTZ) && fpclassify(x) == FP_SUBNORMAL ? copysignf(0.0f, x) : x;
}

/* GPUs return one canonical NaN for all f32 arithmetic. */
static float finish32(float x, uint32_t flags)
{
    x = flush32(x, flags);
    if (flags & SIM_FLOAT_SAT)
        return !(x > 0.0f) ? 0.0f : x > 1.0f ? 1.0f : x;
    if (isnan(x)) {
        uint32_t bits = 0x7fffffff;
        memcpy(&x, &bits, sizeof(x));
        return x;
    }
    if ((flags & SIM_FLOAT_RELU) && !(x > 0.0f))
        return 0.0f;
    return x;
}

static double flush64(double x, uint32_t flags)
{
    return (flags & SIM_FLOAT_FTZ) && fpclassify(x) == FP_SUBNORMAL ? copysign(0.0, x) : x;
}

/* f64 results propagate a NaN operand, made quiet, in the order in which GPUs search for one. */
static double quiet64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bits |= UINT64_C(1) << 51;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* .ftz.f64 occurs only with the gross approximations, which return the upper word only. */
static double upper_word(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bits = (bits + 0x80000000) & ~UINT64_C(0xffffffff);
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static double finish64(double x, uint32_t flags)
{
    if ((flags & SIM_FLOAT_FTZ) && isfinite(x))
        x = upper_word(flush64(x, flags));
    if (flags & SIM_FLOAT_SAT)
        return !(x > 0.0) ? 0.0 : x > 1.0 ? 1.0 : x;
    return x;
}

/* f32 results have one canonical NaN. */
static float select_nan32(float value, float first, float second, float third)
{
    (void)first;
    (void)second;
    (void)third;
    return value;
}

static double select_nan64(double value, double first, double second, double third)
{
    uint64_t bits = UINT64_C(0xfff8000000000000);
    if (!isnan(value))
        return value;
    if (isnan(first) || isnan(second) || isnan(third))
        return quiet64(isnan(first) ? first : isnan(second) ? second : third);
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/*
 * Values pass through volatile because the compiler does not model the current rounding mode. With
 * .ftz a result is tiny when it is tiny after rounding with unbounded exponent, so a result that
 * was rounded up to the smallest normal number is recomputed with operands scaled by 2^64
 * (SCALED). NAN1 to NAN3 is the order of the operands for SELECT_NAN.
 */
#define ARITHMETIC(NAME, T, FLUSH, FINISH, SELECT_NAN, VALUE, SCALED, NAN1, NAN2, NAN3)            \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        T *d = sim_vreg_at(warp, op->d);                                                           \
        const T *a = sim_vreg_at(warp, op->a), *b = sim_vreg_at(warp, op->b);                      \
        const T *c = sim_vreg_at(warp, op->c);                                                     \
        uint32_t lanes = sim_active_lanes(warp, op), flags = op->aux;                              \
        int before = set_rounding(flags);                                                          \
        EACH_OF(lanes)                                                                             \
        {                                                                                          \
            volatile T x = FLUSH(a[l], flags), y = FLUSH(b[l], flags), z = FLUSH(c[l], flags);     \
            volatile T value = VALUE;                                                              \
            (void)y;                                                                               \
            (void)z;                                                                               \
            if ((flags & SIM_FLOAT_FTZ) && fabs((double)value) == 0x1p-126) {                      \
                volatile T scaled = SCALED;                                                        \
                value = fabs((double)scaled) < 0x1p-62 ? (T)copysign(0.0, (double)value) : value;  \
            }                                                                                      \
            d[l] = FINISH(SELECT_NAN(value, NAN1, NAN2, NAN3), flags);                             \
        }                                                                                          \
        fesetround(before);                                                                        \
        return op + 1;                                                                             \
    }

#define BOTH(NAME, VALUE32, VALUE64, SCALED, NAN1, NAN2, NAN3)                                     \
    ARITHMETIC(NAME##32, float, flush32, finish32, select_nan32, VALUE32, SCALED, x, y, z)         \
    ARITHMETIC(NAME##64, double, flush64, finish64, select_nan64, VALUE64, SCALED, NAN1, NAN2, NAN3)
#define ONE32(NAME, VALUE)                                                                         \
    ARITHMETIC(NAME, float, flush32, finish32, select_nan32, VALUE, 1.0f, x, x, x)
#define LARGE(X) ((X)*0x1p64f)
#define EXACT 1.0f /* no rounding produces the smallest normal number */

BOTH(run_add, x + y, x + y, EXACT, y, x, x)
BOTH(run_sub, x - y, x - y, EXACT, y, x, x)
BOTH(run_mul, x *y, x *y, LARGE(x) * y, y, x, x)
BOTH(run_div, x / y, x / y, LARGE(x) / y, x, y, y)
BOTH(
    run_fma, fmaf(x, y, z), fma(x, y, z), fmaf((float)LARGE(x), (float)y, (float)LARGE(z)), y, z, x)
BOTH(run_sqrt, sqrtf(x), sqrt(x), EXACT, x, x, x)
BOTH(run_rcp, 1.0f / x, 1.0 / x, 0x1p64f / x, x, x, x)
BOTH(run_rsqrt, (float)(1.0 / sqrt((double)x)), 1.0 / sqrt(x), EXACT, x, x, x)
ONE32(run_sin32, (float)sin((double)x))
ONE32(run_cos32, (float)cos((double)x))
ONE32(run_lg2_32, (float)log2((double)x))
ONE32(run_ex2_32, (float)exp2((double)x))
ONE32(run_tanh32, (float)tanh((double)x))

/* ---- sign and order: NaN as in arithmetic ---------------------------------------------------- */

#define MINMAX(NAME, T, FLUSH, FINISH, SELECT_NAN, LESS)                                           \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        T *d = sim_vreg_at(warp, op->d);                                                           \
        const T *a = sim_vreg_at(warp, op->a), *b = sim_vreg_at(warp, op->b);                      \
        uint32_t lanes = sim_active_lanes(warp, op), flags = op->aux;                              \
        EACH_OF(lanes)                                                                             \
        {                                                                                          \
            T x = FLUSH(a[l], flags), y = FLUSH(b[l], flags), value;                               \
            bool any_nan = isnan(x) || isnan(y), both_nan = isnan(x) && isnan(y);                  \
            if (both_nan || (any_nan && (flags & SIM_FLOAT_NAN)))                                  \
                value = SELECT_NAN((T)NAN, y, x, x);                                               \
            else if (any_nan)                                                                      \
                value = isnan(x) ? y : x;                                                          \
            else if (x == y)                                                                       \
                value = (signbit(x) != 0) == LESS ? x : y;                                         \
            else                                                                                   \
                value = (x < y) == LESS ? x : y;                                                   \
            d[l] = FINISH(value, flags);                                                           \
        }                                                                                          \
        return op + 1;                                                                             \
    }

MINMAX(run_min32, float, flush32, finish32, select_nan32, true)
MINMAX(run_max32, float, flush32, finish32, select_nan32, false)
MINMAX(run_min64, double, flush64, finish64, select_nan64, true)
MINMAX(run_max64, double, flush64, finish64, select_nan64, false)

#define SIGNS(W, U, TOP, FLUSHED, FINISHED)                                                        \
    HANDLER(run_abs##W)                                                                            \
    {                                                                                              \
        U *d = sim_vreg_at(warp, op->d);                                                           \
        const U *a = sim_vreg_at(warp, op->a);                                                     \
        uint32_t lanes = sim_active_lanes(warp, op), flags = op->aux;                              \
        EACH_OF(lanes) d[l] = FINISHED((U)(FLUSHED(a[l], flags) & ~(TOP)), a[l]);                  \
        return op + 1;                                                                             \
    }                                                                                              \
    HANDLER(run_neg##W)                                                                            \
    {                                                                                              \
        U *d = sim_vreg_at(warp, op->d);                                                           \
        const U *a = sim_vreg_at(warp, op->a);                                                     \
        uint32_t lanes = sim_active_lanes(warp, op), flags = op->aux;                              \
        EACH_OF(lanes) d[l] = FINISHED((U)(FLUSHED(a[l], flags) ^ (TOP)), a[l]);                   \
        return op + 1;                                                                             \
    }

#define COPYSIGN(W, U, TOP)                                                                        \
    HANDLER(run_copysign##W)                                                                       \
    {                                                                                              \
        U *d = sim_vreg_at(warp, op->d);                                                           \
        const U *a = sim_vreg_at(warp, op->a), *b = sim_vreg_at(warp, op->b);                      \
        EACH_OF(sim_active_lanes(warp, op)) d[l] = (U)((a[l] & (TOP)) | (b[l] & ~(TOP)));          \
        return op + 1;                                                                             \
    }

static uint16_t flush_half_bits(uint16_t x, uint32_t flags)
{
    bool is_subnormal = (x & 0x7c00) == 0;
    return (flags & SIM_FLOAT_FTZ) && is_subnormal ? x & 0x8000 : x;
}

static uint32_t flush_pair_bits(uint32_t x, uint32_t flags)
{
    uint32_t high = flush_half_bits((uint16_t)(x >> 16), flags);
    return high << 16 | flush_half_bits((uint16_t)x, flags);
}

static uint32_t flush_bits(uint32_t x, uint32_t flags)
{
    bool is_subnormal = (x & 0x7f800000) == 0;
    return (flags & SIM_FLOAT_FTZ) && is_subnormal ? x & 0x80000000 : x;
}

static uint32_t one_nan32(uint32_t result, uint32_t source)
{
    return (source & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : result;
}

/* A NaN preserves its sign too. */
static uint64_t same_nan64(uint64_t result, uint64_t source)
{
    bool is_nan = (source & INT64_MAX) > UINT64_C(0x7ff0000000000000);
    return is_nan ? source | UINT64_C(1) << 51 : result;
}

static uint16_t one_nan16(uint16_t result, uint16_t source)
{
    return (source & 0x7fff) > 0x7c00 ? 0x7fff : result;
}

static uint16_t one_nan_bfloat(uint16_t result, uint16_t source)
{
    return (source & 0x7fff) > 0x7f80 ? 0x7fff : result;
}

static uint32_t one_nan_pair(uint32_t result, uint32_t source)
{
    uint32_t high = one_nan16((uint16_t)(result >> 16), (uint16_t)(source >> 16));
    return high << 16 | one_nan16((uint16_t)result, (uint16_t)source);
}

static uint32_t one_nan_bfloats(uint32_t result, uint32_t source)
{
    uint32_t high = one_nan_bfloat((uint16_t)(result >> 16), (uint16_t)(source >> 16));
    return high << 16 | one_nan_bfloat((uint16_t)result, (uint16_t)source);
}

#define SAME(X, FLAGS) ((void)(FLAGS), (X))
SIGNS(f32, uint32_t, 0x80000000u, flush_bits, one_nan32)
SIGNS(f64, uint64_t, UINT64_C(0x8000000000000000), SAME, same_nan64)
SIGNS(f16, uint16_t, 0x8000u, flush_half_bits, one_nan16)
SIGNS(bf16, uint16_t, 0x8000u, SAME, one_nan_bfloat)
SIGNS(f16x2, uint32_t, 0x80008000u, flush_pair_bits, one_nan_pair)
SIGNS(bf16x2, uint32_t, 0x80008000u, SAME, one_nan_bfloats)
COPYSIGN(f32, uint32_t, 0x80000000u)
COPYSIGN(f64, uint64_t, UINT64_C(0x8000000000000000))

/* ---- 16-bit formats -------------------------------------------------------------------------- */

/* The product and sum of 16-bit formats in a double whose last bit is sticky: one more rounding
 * yields the same as rounding the exact value once. */
static double sticky_fma(double x, double y, double z)
{
    double product = x * y, sum = product + z; /* the product is exact */
    double part = sum - product, rest = (product - (sum - part)) + (z - part);
    uint64_t bits;
    if (!isfinite(sum) || rest == 0.0)
        return sum;
    memcpy(&bits, &sum, sizeof(bits));
    if ((bits & 1) == 0)
        bits += (rest > 0.0) == (sum > 0.0) ? 1 : UINT64_MAX;
    memcpy(&sum, &bits, sizeof(sum));
    return sum;
}

enum half_op { HALF_ADD, HALF_SUB, HALF_MUL, HALF_FMA, HALF_MIN, HALF_MAX };

static double half_value(enum half_op how, double x, double y, double z, uint32_t flags)
{
    switch (how) {
    case HALF_ADD:
        return x + y;
    case HALF_SUB:
        return x - y;
    case HALF_MUL:
        return x * y;
    case HALF_FMA:
        return sticky_fma(x, y, z);
    default:
        if ((flags & SIM_FLOAT_NAN) && (isnan(x) || isnan(y)))
            return NAN;
        if (x == y)
            return (signbit(x) != 0) == (how == HALF_MIN) ? x : y;
        return how == HALF_MIN ? fmin(x, y) : fmax(x, y);
    }
}

/* Flushing applies to f16 only. */
static double half_source(uint16_t bits, bool is_bfloat, uint32_t flags)
{
    return is_bfloat ? sim_bfloat_to_double(bits)
                     : sim_half_to_double(flush_half_bits(bits, flags));
}

/* Tests the value after rounding to 11 bits with unbounded exponent. */
static bool is_tiny_half(double value)
{
    if (!(fabs(value) < 0x1p-14))
        return false;
    return (sim_double_to_half(value * 256, SIM_RN) & 0x7fff) < 0x2400; /* 2^-6 */
}

static uint16_t half_lane(
    enum half_op how, bool is_bfloat, uint16_t a, uint16_t b, uint16_t c, uint32_t flags)
{
    double x = half_source(a, is_bfloat, flags), y = half_source(b, is_bfloat, flags);
    double value = half_value(how, x, y, half_source(c, is_bfloat, flags), flags);
    if ((flags & SIM_FLOAT_FTZ) && !is_bfloat && is_tiny_half(value))
        value = copysign(0.0, value);
    if (flags & SIM_FLOAT_SAT)
        value = !(value > 0.0) ? 0.0 : value > 1.0 ? 1.0 : value;
    if ((flags & SIM_FLOAT_RELU) && !isnan(value) && !(value > 0.0))
        value = 0.0;
    return is_bfloat ? sim_double_to_bfloat(value, SIM_RN) : sim_double_to_half(value, SIM_RN);
}

#define HALVES(NAME, HOW)                                                                          \
    HALF(NAME##_f16, HOW, false, 1)                                                                \
    HALF(NAME##_bf16, HOW, true, 1)                                                                \
    HALF(NAME##_f16x2, HOW, false, 2)                                                              \
    HALF(NAME##_bf16x2, HOW, true, 2)

#define HALF(NAME, HOW, IS_BFLOAT, PER_LANE)                                                       \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        uint16_t *d = sim_vreg_at(warp, op->d);                                                    \
        const uint16_t *a = sim_vreg_at(warp, op->a), *b = sim_vreg_at(warp, op->b);               \
        const uint16_t *c = sim_vreg_at(warp, op->c);                                              \
        EACH_OF(sim_active_lanes(warp, op))                                                        \
        for (uint32_t i = l * PER_LANE; i < (l + 1) * PER_LANE; i++)                               \
            d[i] = half_lane(HOW, IS_BFLOAT, a[i], b[i], c[i], op->aux);                           \
        return op + 1;                                                                             \
    }

HALVES(run_add, HALF_ADD)
HALVES(run_sub, HALF_SUB)
HALVES(run_mul, HALF_MUL)
HALVES(run_fma, HALF_FMA)
HALVES(run_min, HALF_MIN)
HALVES(run_max, HALF_MAX)

/* ---- comparison and classes ------------------------------------------------------------------ */

static bool compare(uint32_t kind, double x, double y)
{
    bool is_unordered = isnan(x) || isnan(y);
    switch (kind) {
    case SIM_CMP_EQ:
        return x == y;
    case SIM_CMP_NE:
        return !is_unordered && x != y;
    case SIM_CMP_LT:
        return x < y;
    case SIM_CMP_LE:
        return x <= y;
    case SIM_CMP_GT:
        return x > y;
    case SIM_CMP_GE:
        return x >= y;
    case SIM_CMP_EQU:
        return is_unordered || x == y;
    case SIM_CMP_NEU:
        return is_unordered || x != y;
    case SIM_CMP_LTU:
        return is_unordered || x < y;
    case SIM_CMP_LEU:
        return is_unordered || x <= y;
    case SIM_CMP_GTU:
        return is_unordered || x > y;
    case SIM_CMP_GEU:
        return is_unordered || x >= y;
    case SIM_CMP_NUM:
        return !is_unordered;
    default:
        return is_unordered;
    }
}

static uint16_t flush16(uint16_t bits, uint32_t flags)
{
    return (flags & SIM_FLOAT_FTZ) && !(bits & 0x7c00) ? bits & 0x8000 : bits;
}

#define WIDEN32(X) ((double)flush32(X, op->aux))
#define WIDEN64(X) (X)
#define WIDEN_HALF(X) sim_half_to_double(flush16(X, op->aux))
#define COMPARE(KIND, NAME, T, WIDEN)                                                              \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        const T *a = sim_vreg_at(warp, op->a), *b = sim_vreg_at(warp, op->b);                      \
        uint32_t lanes = sim_active_lanes(warp, op), bits = 0, *d = sim_word_at(warp, op->d);      \
        EACH_OF(lanes) bits |= compare(KIND, WIDEN(a[l]), WIDEN(b[l])) ? 1u << l : 0;              \
        *d = (*d & ~lanes) | bits;                                                                 \
        return op + 1;                                                                             \
    }

#define COMPARES(KIND)                                                                             \
    COMPARE(KIND, run_##KIND##_f32, float, WIDEN32)                                                \
    COMPARE(KIND, run_##KIND##_f64, double, WIDEN64)                                               \
    COMPARE(KIND, run_##KIND##_f16, uint16_t, WIDEN_HALF)                                          \
    COMPARE(KIND, run_##KIND##_bf16, uint16_t, sim_bfloat_to_double)

COMPARES(SIM_CMP_EQ)
COMPARES(SIM_CMP_NE)
COMPARES(SIM_CMP_LT)
COMPARES(SIM_CMP_LE)
COMPARES(SIM_CMP_GT)
COMPARES(SIM_CMP_GE)
COMPARES(SIM_CMP_EQU)
COMPARES(SIM_CMP_NEU)
COMPARES(SIM_CMP_LTU)
COMPARES(SIM_CMP_LEU)
COMPARES(SIM_CMP_GTU)
COMPARES(SIM_CMP_GEU)
COMPARES(SIM_CMP_NUM)
COMPARES(SIM_CMP_NAN)

static bool is_of_class(int class, uint32_t what)
{
    switch (what) {
    case SIM_TESTP_FINITE:
        return class != FP_NAN && class != FP_INFINITE;
    case SIM_TESTP_INFINITE:
        return class == FP_INFINITE;
    case SIM_TESTP_NUMBER:
        return class != FP_NAN;
    case SIM_TESTP_NAN:
        return class == FP_NAN;
    case SIM_TESTP_NORMAL:
        return class == FP_NORMAL || class == FP_ZERO; /* special case of the PTX manual */
    default:
        return class == FP_SUBNORMAL;
    }
}

#define TESTP(NAME, T)                                                                             \
    HANDLER(NAME)                                                                                  \
    {                                                                                              \
        const T *a = sim_vreg_at(warp, op->a);                                                     \
        uint32_t lanes = sim_active_lanes(warp, op), bits = 0, *d = sim_word_at(warp, op->d);      \
        EACH_OF(lanes) bits |= is_of_class(fpclassify(a[l]), op->aux) ? 1u << l : 0;               \
        *d = (*d & ~lanes) | bits;                                                                 \
        return op + 1;                                                                             \
    }

TESTP(run_testp32, float)
TESTP(run_testp64, double)

/* ---- the table ------------------------------------------------------------------------------- */

#define SET(KIND, TYPE, NAME) handlers->run[KIND][TYPE] = NAME;
#define SET_BOTH(KIND, NAME)                                                                       \
    SET(KIND, PTX_F32, NAME##32)                                                                   \
    SET(KIND, PTX_F64, NAME##64)
#define SET_HALVES(KIND, NAME)                                                                     \
    SET(KIND, PTX_F16, NAME##_f16)                                                                 \
    SET(KIND, PTX_BF16, NAME##_bf16)                                                               \
    SET(KIND, PTX_F16X2, NAME##_f16x2)                                                             \
    SET(KIND, PTX_BF16X2, NAME##_bf16x2)
#define SET_SIGNS(KIND, NAME)                                                                      \
    SET(KIND, PTX_F32, NAME##f32)                                                                  \
    SET(KIND, PTX_F64, NAME##f64)                                                                  \
    SET(KIND, PTX_F16, NAME##f16)                                                                  \
    SET(KIND, PTX_BF16, NAME##bf16)                                                                \
    SET(KIND, PTX_F16X2, NAME##f16x2)                                                              \
    SET(KIND, PTX_BF16X2, NAME##bf16x2)
#define SET_COMPARES(KIND)                                                                         \
    SET(KIND, PTX_F32, run_##KIND##_f32)                                                           \
    SET(KIND, PTX_F64, run_##KIND##_f64)                                                           \
    SET(KIND, PTX_F16, run_##KIND##_f16)                                                           \
    SET(KIND, PTX_BF16, run_##KIND##_bf16)

static void fill_compares(struct sim_handlers *handlers)
{
    SET_COMPARES(SIM_CMP_EQ)
    SET_COMPARES(SIM_CMP_NE)
    SET_COMPARES(SIM_CMP_LT)
    SET_COMPARES(SIM_CMP_LE)
    SET_COMPARES(SIM_CMP_GT)
    SET_COMPARES(SIM_CMP_GE)
    SET_COMPARES(SIM_CMP_EQU)
    SET_COMPARES(SIM_CMP_NEU)
    SET_COMPARES(SIM_CMP_LTU)
    SET_COMPARES(SIM_CMP_LEU)
    SET_COMPARES(SIM_CMP_GTU)
    SET_COMPARES(SIM_CMP_GEU)
    SET_COMPARES(SIM_CMP_NUM)
    SET_COMPARES(SIM_CMP_NAN)
}

void sim_float_fill(struct sim_handlers *handlers)
{
    SET_BOTH(SIM_ADD, run_add)
    SET_BOTH(SIM_SUB, run_sub)
    SET_BOTH(SIM_MUL, run_mul)
    SET_BOTH(SIM_DIV, run_div)
    SET_BOTH(SIM_FMA, run_fma)
    SET_BOTH(SIM_SQRT, run_sqrt)
    SET_BOTH(SIM_RCP, run_rcp)
    SET_BOTH(SIM_RSQRT, run_rsqrt)
    SET_BOTH(SIM_MIN, run_min)
    SET_BOTH(SIM_MAX, run_max)
    SET(SIM_SIN, PTX_F32, run_sin32)
    SET(SIM_COS, PTX_F32, run_cos32)
    SET(SIM_LG2, PTX_F32, run_lg2_32)
    SET(SIM_EX2, PTX_F32, run_ex2_32)
    SET(SIM_TANH, PTX_F32, run_tanh32)
    SET_SIGNS(SIM_ABS, run_abs)
    SET_SIGNS(SIM_NEG, run_neg)
    SET(SIM_COPYSIGN, PTX_F32, run_copysignf32)
    SET(SIM_COPYSIGN, PTX_F64, run_copysignf64)
    SET_HALVES(SIM_ADD, run_add)
    SET_HALVES(SIM_SUB, run_sub)
    SET_HALVES(SIM_MUL, run_mul)
    SET_HALVES(SIM_FMA, run_fma)
    SET_HALVES(SIM_MIN, run_min)
    SET_HALVES(SIM_MAX, run_max)
    SET(SIM_TESTP, PTX_F32, run_testp32)
    SET(SIM_TESTP, PTX_F64, run_testp64)
    fill_compares(handlers);
}
