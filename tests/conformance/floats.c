/* SPDX-License-Identifier: Apache-2.0 */
/*
 * f32 and f64 arithmetic in every rounding mode, with and without flushing and saturation. The
 * answers are the host's own operations under fesetround.
 */
#include "conformance.h"

#include <stdio.h>

#include "softfloat.h"

enum operation { ADD, SUB, MUL, FMA, DIV, SQRT, RCP, NEG, ABS, MIN, MAX, OPERATIONS };
enum { FTZ = 1, SAT = 2, NAN_WINS = 4 };

static const struct {
    const char *name;
    int operands;
    int is_rounded;
    uint32_t flags; /* that f32 has */
} operations[] = {
    {"add", 2, 1, FTZ | SAT},
    {"sub", 2, 1, FTZ | SAT},
    {"mul", 2, 1, FTZ | SAT},
    {"fma", 3, 1, FTZ | SAT},
    {"div", 2, 1, FTZ},
    {"sqrt", 1, 1, FTZ},
    {"rcp", 1, 1, FTZ},
    {"neg", 1, 0, FTZ},
    {"abs", 1, 0, FTZ},
    {"min", 2, 0, FTZ | NAN_WINS},
    {"max", 2, 0, FTZ | NAN_WINS},
};
static const char *const rounding_names[] = {".rn", ".rz", ".rm", ".rp"};

#define CALCULATE(T, suffix)                                                                       \
    static T calculate_##T(enum operation operation, uint32_t flags, T x, T y, T z)                \
    {                                                                                              \
        volatile T a = x, b = y, c = z;                                                            \
        int is_first;                                                                              \
                                                                                                   \
        switch (operation) {                                                                       \
        case ADD:                                                                                  \
            return a + b;                                                                          \
        case SUB:                                                                                  \
            return a - b;                                                                          \
        case MUL:                                                                                  \
            return a * b;                                                                          \
        case FMA:                                                                                  \
            return fma##suffix(a, b, c);                                                           \
        case DIV:                                                                                  \
            return a / b;                                                                          \
        case SQRT:                                                                                 \
            return sqrt##suffix(a);                                                                \
        case RCP:                                                                                  \
            return 1 / a;                                                                          \
        case NEG:                                                                                  \
            return -a;                                                                             \
        case ABS:                                                                                  \
            return fabs##suffix(a);                                                                \
        default:                                                                                   \
            break;                                                                                 \
        }                                                                                          \
        if (isnan(a) || isnan(b))                                                                  \
            return flags & NAN_WINS ? (T)NAN : isnan(a) ? b : a;                                   \
        is_first = a < b || (a == b && signbit(a)); /* -0 is less than +0 */                       \
        return is_first == (operation == MIN) ? a : b;                                             \
    }
CALCULATE(float, f)
CALCULATE(double, )

/* how: operation, rounding, flags */
static uint64_t answer_float(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    float x = float_of(a), y = float_of(b), z = float_of(c), value;
    volatile float result;
    uint32_t flags = lane->how[2];

    if (flags & FTZ) {
        x = flush(x);
        y = flush(y);
        z = flush(z);
    }
    fesetround(host_rounding[lane->how[1]]);
    result = calculate_float((enum operation)lane->how[0], flags, x, y, z);
    value = result;
    if (flags & FTZ && fabsf(value) == 0x1p-126f) {
        /* Tiny is what is so after rounding with no limit to the exponent. */
        result = calculate_float((enum operation)lane->how[0], flags, x * 0x1p64f,
            lane->how[0] == ADD || lane->how[0] == SUB ? y * 0x1p64f : y, z * 0x1p64f);
        if (lane->how[0] != RCP && lane->how[0] != MIN && lane->how[0] != MAX)
            value = fabsf(result) < 0x1p-62f ? copysignf(0, value) : value;
    }
    value = flags & FTZ ? flush(value) : value;
    fesetround(FE_TONEAREST);
    return bits_of_float(flags & SAT ? (float)saturate((double)value) : value);
}

static uint64_t answer_double(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    volatile double result;

    fesetround(host_rounding[lane->how[1]]);
    result =
        calculate_double((enum operation)lane->how[0], 0, double_of(a), double_of(b), double_of(c));
    fesetround(FE_TONEAREST);
    return bits_of_double(result);
}

static void add_one(enum operation operation, uint32_t rounding, uint32_t flags, int is_double)
{
    static const char *const operands[2][3] = {
        {" d, a;", " d, a, b;", " d, a, b, c;"}, {" ld, la;", " ld, la, lb;", " ld, la, lb, lc;"}};
    char body[100];
    struct lane_case lane = {body, is_double ? DOUBLE : FLOAT, is_double ? DOUBLES : FLOATS,
        is_double ? answer_double : answer_float, NULL, {operation, rounding, flags}, NULL};

    snprintf(body, sizeof(body), "%s%s%s%s%s.%s%s", operations[operation].name,
        operations[operation].is_rounded ? rounding_names[rounding] : "", flags & FTZ ? ".ftz" : "",
        flags & NAN_WINS ? ".NaN" : "", flags & SAT ? ".sat" : "", is_double ? "f64" : "f32",
        operands[is_double][operations[operation].operands - 1]);
    lane_add(&lane);
}

static void add_cases(void)
{
    for (int i = 0; i < OPERATIONS; i++)
        for (uint32_t rounding = RN; rounding <= (operations[i].is_rounded ? RP : RN); rounding++) {
            for (uint32_t flags = 0; flags < 8; flags++)
                if ((flags & operations[i].flags) == flags)
                    add_one((enum operation)i, rounding, flags, 0);
            add_one((enum operation)i, rounding, 0, 1);
        }
}

const struct group floats_group = {.name = "floats", .add = add_cases};
