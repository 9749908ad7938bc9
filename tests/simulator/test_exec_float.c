/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point instructions of the PTX executor: exact in all four rounding modes, and the
 * conversions.
 */
#include "executor.h"

#include <fenv.h>
#include <math.h>

enum { VALUES = 26 };

static const double values[VALUES] = {0.0, -0.0, 1.0, -1.0, 1.5, 0.5, 2.5, -2.5, 3.0, 1e-3, 0.1,
    -0.3, 1e10, 16777217.0, -16777219.0, 2147483647.0, 2147483648.0, -2147483649.0, 4294967295.5,
    1e19, -1e30, 3e38, 1e-40, -1e-45, INFINITY, NAN};

/* d = body(a, b, c) for every triple of the values, as f32 or f64. */
static void run_floats(
    const char *body, const char *type, unsigned size, void *in, void *out, uint32_t count)
{
    struct machine m = {0};
    char text[4096];
    snprintf(text, sizeof(text),
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param "
        ".u64 out, .param .u32 n) {\n"
        ".reg .b64 %%pi, %%po, %%l; .reg .%s %%a, %%b, %%c, %%d; .reg .b32 %%i, %%j, %%n, %%w; "
        ".reg .b16 %%h; .reg .pred %%p; .reg .f32 %%f; .reg .f64 %%e;\n"
        "mov.u32 %%i, %%ctaid.x; mov.u32 %%j, %%tid.x; mad.lo.u32 %%i, %%i, 128, %%j; ld.param.u32 "
        "%%n, [n]; setp.ge.u32 %%p, %%i, %%n; @%%p exit;\n"
        "ld.param.u64 %%pi, [in]; ld.param.u64 %%po, [out]; mad.wide.u32 %%pi, %%i, %u, %%pi; "
        "mad.wide.u32 %%po, %%i, 8, %%po;\n"
        "ld.global.%s %%a, [%%pi]; ld.global.%s %%b, [%%pi+%u]; ld.global.%s %%c, [%%pi+%u]; "
        "mov.u64 %%l, 0; %s st.global.u64 [%%po], %%l; ret; }\n",
        type, size * 3, type, type, size, type, size * 2, body);
    machine_load(&m, text);
    void *from = machine_alloc(&m, (size_t)count * size * 3),
         *to = machine_alloc(&m, (size_t)count * 8);
    memcpy(from, in, (size_t)count * size * 3);
    struct {
        void *in, *out;
        uint32_t n;
    } p = {from, to, count};
    machine_run(&m, "k", (count + 127) / 128, 128, &p);
    memcpy(out, to, (size_t)count * 8);
    machine_free(&m);
}

static uint32_t bits32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return isnan(x) ? 0x7fffffff : bits;
}

static uint64_t bits64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return isnan(x) ? UINT64_C(0xfff8000000000000) : bits;
}

typedef float (*answer32)(float a, float b, float c);
typedef double (*answer64)(double a, double b, double c);

static const int roundings[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
static const char *const rounding_names[4] = {"rn", "rz", "rm", "rp"};

/* format has %s for the rounding. */
static void check32(const char *format, unsigned modes, answer32 answer)
{
    enum { N = VALUES * VALUES * VALUES };
    float(*in)[3] = malloc(N * sizeof(*in));
    uint64_t *out = malloc(N * sizeof(*out));
    for (int i = 0; i < N; i++) {
        in[i][0] = (float)values[i % VALUES];
        in[i][1] = (float)values[i / VALUES % VALUES];
        in[i][2] = (float)values[i / VALUES / VALUES];
    }
    for (unsigned mode = 0; mode < modes; mode++) {
        char body[256], whole[320];
        snprintf(body, sizeof(body), format, rounding_names[mode]);
        snprintf(whole, sizeof(whole), "%s mov.b32 %%w, %%d; cvt.u64.u32 %%l, %%w;", body);
        run_floats(whole, "f32", 4, in, out, N);
        for (int i = 0; i < N; i++) {
            fesetround(roundings[mode]);
            volatile float a = in[i][0], b = in[i][1], c = in[i][2];
            volatile float want = answer(a, b, c);
            fesetround(FE_TONEAREST);
            if (out[i] != bits32(want))
                fail_msg("%s: %a %a %a gives %llx, not %x", body, (double)a, (double)b, (double)c,
                    (unsigned long long)out[i], bits32(want));
        }
    }
    free(in);
    free(out);
}

static void check64(const char *format, unsigned modes, answer64 answer)
{
    enum { N = VALUES * VALUES * VALUES };
    double(*in)[3] = malloc(N * sizeof(*in));
    uint64_t *out = malloc(N * sizeof(*out));
    for (int i = 0; i < N; i++) {
        in[i][0] = values[i % VALUES];
        in[i][1] = values[i / VALUES % VALUES];
        in[i][2] = values[i / VALUES / VALUES];
    }
    for (unsigned mode = 0; mode < modes; mode++) {
        char body[256], whole[320];
        snprintf(body, sizeof(body), format, rounding_names[mode]);
        snprintf(whole, sizeof(whole), "%s mov.b64 %%l, %%d;", body);
        run_floats(whole, "f64", 8, in, out, N);
        for (int i = 0; i < N; i++) {
            fesetround(roundings[mode]);
            volatile double a = in[i][0], b = in[i][1], c = in[i][2];
            volatile double want = answer(a, b, c);
            fesetround(FE_TONEAREST);
            /* Which NaN is in tests/conformance, from a GPU. */
            bool is_nan = (out[i] & INT64_MAX) > UINT64_C(0x7ff0000000000000);
            if (out[i] != bits64(want) && !(is_nan && isnan(want)))
                fail_msg("%s: %a %a %a gives %llx, not %llx", body, a, b, c,
                    (unsigned long long)out[i], (unsigned long long)bits64(want));
        }
    }
    free(in);
    free(out);
}

#define F32(NAME, VALUE)                                                                           \
    static float NAME(float a, float b, float c)                                                   \
    {                                                                                              \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
        return VALUE;                                                                              \
    }
#define F64(NAME, VALUE)                                                                           \
    static double NAME(double a, double b, double c)                                               \
    {                                                                                              \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
        return VALUE;                                                                              \
    }

static float flush(float x)
{
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0.0f, x) : x;
}

F32(add32, a + b)
F32(sub32, a - b)
F32(mul32, a *b)
F32(div32, a / b)
F32(fma32, fmaf(a, b, c))
F32(sqrt32, sqrtf(a))
F32(rcp32, 1.0f / a)
F32(mul_ftz, flush(flush(a) * flush(b)))
F32(add_sat, !(a + b > 0.0f) ? 0.0f : a + b > 1.0f ? 1.0f : a + b)
F32(min32, isnan(a) ? b : isnan(b) ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b)
F32(max32, isnan(a) ? b : isnan(b) ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b)
F32(max_nan, isnan(a) || isnan(b) ? NAN : a == b ? (signbit(a) ? b : a) : a > b ? a : b)
F64(add64, a + b)
F64(mul64, a *b)
F64(div64, a / b)
F64(fma64, fma(a, b, c))
F64(sqrt64, sqrt(a))
F64(sub64, a - b)

static void test_arithmetic32(void **state)
{
    (void)state;
    check32("add.%s.f32 %%d, %%a, %%b;", 4, add32);
    check32("sub.%s.f32 %%d, %%a, %%b;", 4, sub32);
    check32("mul.%s.f32 %%d, %%a, %%b;", 4, mul32);
    check32("div.%s.f32 %%d, %%a, %%b;", 4, div32);
    check32("fma.%s.f32 %%d, %%a, %%b, %%c;", 4, fma32);
    check32("mad.%s.f32 %%d, %%a, %%b, %%c;", 1, fma32);
    check32("sqrt.%s.f32 %%d, %%a;", 4, sqrt32);
    check32("rcp.%s.f32 %%d, %%a;", 4, rcp32);
    check32("mul.%s.ftz.f32 %%d, %%a, %%b;", 1, mul_ftz);
    check32("add.%s.sat.f32 %%d, %%a, %%b;", 1, add_sat);
}

static void test_order(void **state)
{
    (void)state;
    check32("{ .reg .b32 %%%s; } min.f32 %%d, %%a, %%b;", 1, min32);
    check32("{ .reg .b32 %%%s; } max.f32 %%d, %%a, %%b;", 1, max32);
    check32("{ .reg .b32 %%%s; } max.NaN.f32 %%d, %%a, %%b;", 1, max_nan);
}

/* The sign of the first with the magnitude of the second, whatever that is. */
static void test_copysign(void **state)
{
    (void)state;
    float in[4][3] = {{-1, 2, 0}, {0.0f, -2, 0}, {-0.0f, INFINITY, 0}, {1, -0.0f, 0}};
    uint64_t out[4];
    run_floats(
        "copysign.f32 %d, %a, %b; mov.b32 %w, %d; cvt.u64.u32 %l, %w;", "f32", 4, in, out, 4);
    assert_int_equal(out[0], bits32(-2.0f));
    assert_int_equal(out[1], bits32(2.0f));
    assert_int_equal(out[2], bits32(-INFINITY));
    assert_int_equal(out[3], 0);
}

static void test_arithmetic64(void **state)
{
    (void)state;
    check64("add.%s.f64 %%d, %%a, %%b;", 4, add64);
    check64("sub.%s.f64 %%d, %%a, %%b;", 4, sub64);
    check64("mul.%s.f64 %%d, %%a, %%b;", 4, mul64);
    check64("div.%s.f64 %%d, %%a, %%b;", 4, div64);
    check64("fma.%s.f64 %%d, %%a, %%b, %%c;", 4, fma64);
    check64("sqrt.%s.f64 %%d, %%a;", 4, sqrt64);
}

/* ---- conversions ----------------------------------------------------------------------------- */

typedef uint64_t (*converted)(double a);

static void check_convert(const char *body, const char *type, converted answer)
{
    double wide[VALUES][3] = {{0}};
    float narrow[VALUES][3] = {{0}};
    uint64_t out[VALUES];
    bool is_wide = strcmp(type, "f64") == 0;
    for (int i = 0; i < VALUES; i++) {
        wide[i][0] = values[i];
        narrow[i][0] = (float)values[i];
    }
    run_floats(body, type, is_wide ? 8 : 4, is_wide ? (void *)wide : (void *)narrow, out, VALUES);
    for (int i = 0; i < VALUES; i++) {
        uint64_t want = answer(is_wide ? wide[i][0] : (double)narrow[i][0]);
        if (out[i] != want)
            fail_msg("%s: %a gives %llx, not %llx", body,
                is_wide ? wide[i][0] : (double)narrow[i][0], (unsigned long long)out[i],
                (unsigned long long)want);
    }
}

static uint64_t s32_rz(double a)
{
    return isnan(a)             ? 0
           : a >= 2147483647.0  ? 0x7fffffff
           : a <= -2147483648.0 ? 0x80000000
                                : (uint32_t)(int32_t)a;
}

static uint64_t u32_rn(double a)
{
    a = rint(a);
    return isnan(a) || a <= 0 ? 0 : a >= 4294967295.0 ? 0xffffffff : (uint32_t)a;
}

static uint64_t s16_rp(double a)
{
    a = ceil(a);
    return isnan(a) ? 0 : (uint16_t)(int16_t)(a >= 32767 ? 32767 : a <= -32768 ? -32768 : a);
}

static uint64_t u64_rm(double a)
{
    a = floor(a);
    return isnan(a)                      ? UINT64_C(0x8000000000000000)
           : a <= 0                      ? 0
           : a >= 18446744073709551616.0 ? UINT64_MAX
                                         : (uint64_t)a;
}

static uint64_t s64_rz(double a)
{
    return isnan(a)                      ? UINT64_C(0x8000000000000000)
           : a >= 9223372036854775808.0  ? (uint64_t)INT64_MAX
           : a <= -9223372036854775808.0 ? UINT64_C(0x8000000000000000)
                                         : (uint64_t)(int64_t)a;
}

static uint64_t f32_of(double a)
{
    return isnan(a) ? 0x7fc00000 : bits32((float)a);
}

static uint64_t whole32(double a)
{
    return bits32((float)rint(a));
}

static void test_convert(void **state)
{
    (void)state;
    check_convert("cvt.rzi.s32.f32 %w, %a; cvt.u64.u32 %l, %w;", "f32", s32_rz);
    check_convert("cvt.rni.u32.f32 %w, %a; cvt.u64.u32 %l, %w;", "f32", u32_rn);
    check_convert("cvt.rpi.s16.f32 %h, %a; cvt.u64.u16 %l, %h;", "f32", s16_rp);
    check_convert("cvt.rmi.u64.f64 %l, %a;", "f64", u64_rm);
    check_convert("cvt.rzi.s64.f64 %l, %a;", "f64", s64_rz);
    check_convert("cvt.rn.f32.f64 %f, %a; mov.b32 %w, %f; cvt.u64.u32 %l, %w;", "f64", f32_of);
    check_convert("cvt.rni.f32.f32 %f, %a; mov.b32 %w, %f; cvt.u64.u32 %l, %w;", "f32", whole32);
}

static const uint64_t integers[] = {0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 16777217,
    0x8000000000000000, 0x7fffffffffffffff, 0xffffffffffffffff, 0x8000008000000000,
    0x8000008000000001, 0x20000000000001, 0xfffffffffffffc00};
enum { INTEGERS = sizeof(integers) / sizeof(integers[0]) };

static void check_from_integer(const char *body, int how)
{
    uint64_t in[INTEGERS][3] = {{0}}, out[INTEGERS];
    for (int i = 0; i < INTEGERS; i++)
        in[i][0] = integers[i];
    run_floats(body, "b64", 8, in, out, INTEGERS);
    for (int i = 0; i < INTEGERS; i++) {
        uint64_t x = integers[i];
        volatile uint64_t u = x;
        volatile int64_t s = (int64_t)x;
        fesetround(how / 4 == 1 ? FE_UPWARD : FE_TONEAREST);
        volatile float f = how % 4 == 0 ? (float)u : (float)s;
        volatile double d = how % 4 == 2 ? (double)u : (double)s;
        fesetround(FE_TONEAREST);
        assert_true(out[i] == (how % 4 < 2 ? bits32(f) : bits64(d)));
    }
}

static void test_from_integers(void **state)
{
    (void)state;
    check_from_integer("cvt.rn.f32.u64 %f, %a; mov.b32 %w, %f; cvt.u64.u32 %l, %w;", 0);
    check_from_integer("cvt.rn.f32.s64 %f, %a; mov.b32 %w, %f; cvt.u64.u32 %l, %w;", 1);
    check_from_integer("cvt.rn.f64.u64 %e, %a; mov.b64 %l, %e;", 2);
    check_from_integer("cvt.rn.f64.s64 %e, %a; mov.b64 %l, %e;", 3);
    check_from_integer("cvt.rp.f32.u64 %f, %a; mov.b32 %w, %f; cvt.u64.u32 %l, %w;", 4);
}

/* ---- 16 bits: known pairs -------------------------------------------------------------------- */

static void test_halves(void **state)
{
    (void)state;
    static const struct {
        float value;
        uint16_t half, bfloat;
    } known[] = {{1.0f, 0x3c00, 0x3f80}, {-2.0f, 0xc000, 0xc000}, {65504.0f, 0x7bff, 0x4780},
        {65520.0f, 0x7c00, 0x4780}, {5.9604645e-8f, 0x0001, 0x3380},
        {2.9802322e-8f, 0x0000, 0x3300}, {0.33325195f, 0x3555, 0x3eab},
        {1.00048828125f, 0x3c00, 0x3f80}, {1.00146484375f, 0x3c02, 0x3f80},
        {INFINITY, 0x7c00, 0x7f80}, {NAN, 0x7fff, 0x7fff}};
    enum { N = sizeof(known) / sizeof(known[0]) };
    float in[N][3] = {{0}};
    uint64_t out[N];
    for (int i = 0; i < N; i++)
        in[i][0] = in[i][1] = known[i].value;
    run_floats("cvt.rn.f16.f32 %h, %a; cvt.u64.u16 %l, %h;", "f32", 4, in, out, N);
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], known[i].half);
    run_floats("cvt.rn.bf16x2.f32 %w, %a, %b; cvt.u64.u32 %l, %w;", "f32", 4, in, out, N);
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], known[i].bfloat * 0x10001u);
    run_floats("cvt.rn.f16.f32 %h, %a; add.f16 %h, %h, %h; cvt.f32.f16 %f, %h; mov.b32 %w, %f; "
               "cvt.u64.u32 %l, %w;",
        "f32", 4, in, out, N);
    assert_int_equal(out[0], bits32(2.0f));
    assert_int_equal(out[2], bits32(INFINITY));
    assert_int_equal(out[4], bits32(1.1920929e-7f));
    run_floats("cvt.rn.f16x2.f32 %w, %a, %b; fma.rn.f16x2 %w, %w, %w, %w; cvt.u64.u32 %l, %w;",
        "f32", 4, in, out, N);
    assert_int_equal(out[0], 0x40004000);
    assert_int_equal(out[1], 0x40004000);
}

static void test_compare(void **state)
{
    (void)state;
    float in[4][3] = {{1, 2, 0}, {2, 2, 0}, {NAN, 2, 0}, {3, 2, 0}};
    uint64_t out[4];
    static const struct {
        const char *name;
        uint64_t want[4];
    } cases[] = {{"lt", {1, 0, 0, 0}}, {"le", {1, 1, 0, 0}}, {"gt", {0, 0, 0, 1}},
        {"eq", {0, 1, 0, 0}}, {"ne", {1, 0, 0, 1}}, {"ltu", {1, 0, 1, 0}}, {"geu", {0, 1, 1, 1}},
        {"equ", {0, 1, 1, 0}}, {"neu", {1, 0, 1, 1}}, {"num", {1, 1, 0, 1}}, {"nan", {0, 0, 1, 0}}};
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[128];
        snprintf(body, sizeof(body), "setp.%s.f32 %%p, %%a, %%b; selp.u64 %%l, 1, 0, %%p;",
            cases[i].name);
        run_floats(body, "f32", 4, in, out, 4);
        for (int k = 0; k < 4; k++)
            assert_int_equal(out[k], cases[i].want[k]);
    }
    run_floats("testp.notanumber.f32 %p, %a; selp.u64 %l, 1, 0, %p;", "f32", 4, in, out, 4);
    assert_int_equal(out[2], 1);
    assert_int_equal(out[0], 0);
}

/* Approximations: within the error that the PTX manual gives. */
static void test_approximate(void **state)
{
    (void)state;
    float in[4][3] = {{0.5f, 3, 0}, {1.25f, 7, 0}, {2.0f, 0.1f, 0}, {1e-3f, 1e5f, 0}};
    uint64_t out[4];
    static const char *const ops[] = {"sin.approx.f32 %d, %a;", "cos.approx.f32 %d, %a;",
        "lg2.approx.f32 %d, %a;", "ex2.approx.ftz.f32 %d, %a;", "rsqrt.approx.f32 %d, %a;",
        "div.approx.f32 %d, %a, %b;", "div.full.f32 %d, %a, %b;", "tanh.approx.f32 %d, %a;",
        "sqrt.approx.f32 %d, %a;"};
    for (int o = 0; o < 9; o++) {
        char body[128];
        snprintf(body, sizeof(body), "%s mov.b32 %%w, %%d; cvt.u64.u32 %%l, %%w;", ops[o]);
        run_floats(body, "f32", 4, in, out, 4);
        for (int i = 0; i < 4; i++) {
            double a = (double)in[i][0], b = (double)in[i][1];
            double want[] = {
                sin(a), cos(a), log2(a), exp2(a), 1 / sqrt(a), a / b, a / b, tanh(a), sqrt(a)};
            uint32_t bits = (uint32_t)out[i];
            float got;
            memcpy(&got, &bits, 4);
            assert_true(fabs((double)got - want[o]) <= fabs(want[o]) * 0x1p-22);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic32),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_copysign),
        cmocka_unit_test(test_arithmetic64),
        cmocka_unit_test(test_convert),
        cmocka_unit_test(test_from_integers),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_approximate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
