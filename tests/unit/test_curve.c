/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creation of curves: refused parameters and their messages, references, NULL in every argument,
 * failure of every allocation; every built-in curve passes the checks of custom curves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <devicepool/curve.h>

#include "base/alloc.h"
#include "zk/curve/curve.h"
#include "support/plain_products.h"

/* y^2 = x^3 + 2 x + 3 over F_97: 100 points = 4 * 25; (3, 6) has order 5. */
static void fill_params(pool_curve_params *params, const pool_field *field)
{
    pool_curve_params_init(params, sizeof(*params));
    params->field = field;
    params->a[0] = "2";
    params->b[0] = "3";
    params->generator_x[0] = "3";
    params->generator_y[0] = "6";
    params->order = "5";
}

static pool_field *make_field(const char *modulus)
{
    pool_field_params params = {.struct_size = sizeof(params)};
    pool_field *field = NULL;

    params.modulus = modulus;
    assert_int_equal(pool_field_create(&params, &field), POOL_OK);
    return field;
}

static void assert_refused(const pool_curve_params *params, const char *reason)
{
    pool_curve *untouched = (pool_curve *)(uintptr_t)16;
    pool_curve *curve = untouched;

    assert_int_equal(pool_curve_create(params, &curve), POOL_ERR_INVALID_ARGUMENT);
    assert_ptr_equal(curve, untouched);
    if (!strstr(pool_last_error()->message, reason))
        fail_msg("\"%s\" does not say \"%s\"", pool_last_error()->message, reason);
}

static void test_taken(void **state)
{
    pool_field *field = make_field("97"), *five = make_field("5");
    pool_curve_params params;
    pool_curve *curve;
    uint8_t cofactor;

    (void)state;
    fill_params(&params, field);
    params.cofactor = "20";
    assert_int_equal(pool_curve_create(&params, &curve), POOL_OK);
    assert_string_equal(pool_curve_name(curve), "custom");
    assert_int_equal(pool_curve_cofactor(curve, 1, &cofactor), POOL_OK);
    assert_int_equal(cofactor, 20);
    assert_int_equal(pool_field_bits(pool_curve_scalar_field(curve)), 3);
    pool_curve_destroy(&curve);
    /* 85, 90, … 115 are possible numbers of points: the order alone does not determine it */
    params.cofactor = NULL;
    assert_int_equal(pool_curve_create(&params, &curve), POOL_OK);
    assert_int_equal(pool_curve_cofactor(curve, 1, &cofactor), POOL_ERR_NOT_FOUND);
    pool_curve_destroy(&curve);
    /* a scalar field of the caller's */
    params.scalar_field = five;
    assert_int_equal(pool_curve_create(&params, &curve), POOL_OK);
    assert_ptr_equal(pool_curve_scalar_field(curve), five);
    pool_field_destroy(&five);
    assert_int_equal(pool_field_bits(pool_curve_scalar_field(curve)), 3);
    pool_field_destroy(&field);
    assert_int_equal(pool_field_bits(pool_curve_base_field(curve)), 7);
    pool_curve_destroy(&curve);
}

static void test_refused(void **state)
{
    pool_field *field = make_field("97"), *three = make_field("3");
    pool_curve_params good, params;
    char long_name[80];

    (void)state;
    fill_params(&good, field);
    params = good;
    params.field = NULL;
    assert_refused(&params, "field must not be NULL");
    params = good;
    params.field = three;
    assert_refused(&params, "3 elements");
    params = good;
    params.order = NULL;
    assert_refused(&params, "order of the curve is missing");
    params.order = "25";
    assert_refused(&params, "order of the curve is not prime");
    params.order = "2";
    assert_refused(&params, "order of the curve is even");
    params.order = "7";
    assert_refused(&params, "not the point at infinity");
    params.order = "5x";
    assert_refused(&params, "no digit");
    params = good;
    params.scalar_field = field;
    assert_refused(&params, "not the modulus of the scalar field");
    params = good;
    params.generator_x[0] = NULL;
    assert_refused(&params, "needs a generator's x");
    params = good;
    params.generator_y[0] = NULL;
    assert_refused(&params, "needs a generator's y");
    params.generator_y[0] = "7";
    assert_refused(&params, "not on the curve");
    params.generator_y[0] = "97";
    assert_refused(&params, "not below the modulus");
    params.generator_y[0] = "103"; /* 6 + 97 */
    assert_refused(&params, "not below the modulus");
    params = good;
    params.a[0] = "hello";
    assert_refused(&params, "no digit");
    params.a[0] = "0";
    params.b[0] = NULL;
    assert_refused(&params, "discriminant");
    params.a[0] = "94"; /* x^3 - 3 x + 2 = (x - 1)^2 (x + 2) */
    params.b[0] = "2";
    assert_refused(&params, "discriminant");
    params = good;
    params.b[1] = "1";
    assert_refused(&params, "no nonresidue");
    params = good;
    params.nonresidue = 4;
    assert_refused(&params, "no quadratic non-residue");
    params.nonresidue = 97;
    assert_refused(&params, "no quadratic non-residue");
    params = good;
    params.cofactor = "0";
    assert_refused(&params, "not a possible number of points");
    params.cofactor = "15"; /* 78.3 … 117.7 points are possible: not 75, not 120 */
    assert_refused(&params, "not a possible number of points");
    params.cofactor = "24";
    assert_refused(&params, "not a possible number of points");
    params.cofactor = "1e3";
    assert_refused(&params, "no digit");
    params = good;
    params.reserved = 1;
    assert_refused(&params, "reserved");
    params = good;
    params.struct_size = 16;
    assert_refused(&params, "struct_size");
    params = good;
    memset(long_name, 'n', sizeof(long_name));
    long_name[64] = 0;
    params.name = long_name;
    assert_refused(&params, "characters");
    pool_field_destroy(&field);
    pool_field_destroy(&three);
}

/* Each built-in entry by the checks of pool_curve_create, made from what it says of itself. */
static void test_built_in(void **state)
{
    (void)state;
    assert_int_equal(pool_curve_count(), 12);
    for (size_t i = 0; i < pool_curve_count(); i++) {
        const pool_curve *curve = pool_curve_at(i);
        const struct field_extension *f = &curve->coordinates;
        const uint64_t *numbers[] = {curve->a, curve->b, curve->generator.x, curve->generator.y};
        char text[4][2][200], cofactor[400], order[200];
        pool_curve_params params = {.struct_size = sizeof(params)};
        pool_curve *made;
        uint8_t one[32], other[32];

        for (int k = 0; k < 4; k++) {
            for (uint32_t part = 0; part < f->degree; part++) {
                uint64_t standard[FIELD_MAX_LIMBS] = {0};
                int length = snprintf(text[k][part], 200, "0x");

                field_from_montgomery(f->field, standard, numbers[k] + part * f->field->limbs);
                for (uint32_t limb = f->field->limbs; limb-- > 0;)
                    length += snprintf(text[k][part] + length, (size_t)(200 - length), "%016llx",
                        (unsigned long long)standard[limb]);
            }
        }
        int length = snprintf(order, sizeof(order), "0x");
        for (uint32_t limb = curve->scalar_field->limbs; limb-- > 0;)
            length += snprintf(order + length, sizeof(order) - (size_t)length, "%016llx",
                (unsigned long long)curve->scalar_field->modulus[limb]);
        length = snprintf(cofactor, sizeof(cofactor), "0x");
        for (int limb = CURVE_MAX_LIMBS; limb-- > 0;)
            length += snprintf(cofactor + length, sizeof(cofactor) - (size_t)length, "%016llx",
                (unsigned long long)curve->cofactor[limb]);
        params.field = f->field;
        params.scalar_field = curve->scalar_field;
        params.nonresidue = f->nonresidue;
        params.order = order;
        params.cofactor = cofactor;
        for (uint32_t part = 0; part < f->degree; part++) {
            params.a[part] = text[0][part];
            params.b[part] = text[1][part];
            params.generator_x[part] = text[2][part];
            params.generator_y[part] = text[3][part];
        }
        if (pool_curve_create(&params, &made))
            fail_msg("%s: %s", curve->name, pool_last_error()->message);
        assert_int_equal(pool_curve_fingerprint(curve, one), POOL_OK);
        assert_int_equal(pool_curve_fingerprint(made, other), POOL_OK);
        assert_memory_equal(one, other, 32);
        pool_curve_destroy(&made);
        /* an order above 4 sqrt(q) gives the cofactor, one below does not */
        params.cofactor = NULL;
        assert_int_equal(pool_curve_create(&params, &made), POOL_OK);
        if (made->cofactor_known)
            assert_memory_equal(made->cofactor, curve->cofactor, sizeof(made->cofactor));
        else
            assert_true(curve->scalar_field->bits < f->degree * f->field->bits / 2 + 3);
        pool_curve_destroy(&made);
        assert_ptr_equal(pool_curve_by_name(curve->name), curve);
    }
    assert_null(pool_curve_at(12));
    assert_null(pool_curve_by_name("bn254"));
    assert_int_equal(pool_last_error()->status, POOL_ERR_NOT_FOUND);
    assert_int_equal(pool_curve_degree(pool_curve_by_name("bn254_g2")), 2);
    assert_int_equal(pool_curve_coordinate_bytes(pool_curve_by_name("bn254_g2")), 64);
    assert_ptr_equal(pool_curve_scalar_field(pool_curve_by_name("bw6_761_g2")),
        pool_field_by_name("bw6_761_fr"));
}

static void test_references(void **state)
{
    pool_field *field = make_field("97");
    pool_curve_params params;
    pool_curve *curve, *second;

    (void)state;
    fill_params(&params, field);
    assert_int_equal(pool_curve_create(&params, &curve), POOL_OK);
    pool_field_destroy(&field);
    second = pool_curve_retain(curve);
    pool_curve_destroy(&curve);
    assert_null(curve);
    assert_int_equal(pool_field_bits(pool_curve_base_field(second)), 7);
    pool_curve_destroy(&second);
    pool_curve_destroy(&second);
    pool_curve_destroy(NULL);
    curve = pool_curve_retain(pool_curve_at(0));
    pool_curve_destroy(&curve);
    curve = pool_curve_retain(pool_curve_at(0));
    pool_curve_destroy(&curve);
    assert_string_equal(pool_curve_name(pool_curve_at(0)), "bn254_g1");
}

/* Bit i of `missing` leaves argument i out: each call must refuse each. */
static void test_null_arguments(void **state)
{
    const pool_curve *c = pool_curve_by_name("bls12_381_g1");
    const pool_status bad = POOL_ERR_INVALID_ARGUMENT;
    const pool_point_format wrong_layout = {(pool_point_layout)9, POOL_FORM_STANDARD, 0};
    const pool_point_format wrong_form = {POOL_POINT_AFFINE, (pool_form)9, 0};
    const pool_point_format wrong_stride = {POOL_POINT_AFFINE, POOL_FORM_STANDARD, 95};
    const pool_point_format *wrong[] = {&wrong_layout, &wrong_form, &wrong_stride};
    pool_curve_params params;
    pool_curve *curve;
    uint8_t x[300] = {0}, y[300] = {0};
    int equal;

    (void)state;
    pool_curve_params_init(NULL, 64);
    pool_curve_params_init(&params, sizeof(params));
    assert_null(pool_curve_by_name(NULL));
    assert_int_equal(pool_curve_create(NULL, &curve), bad);
    assert_int_equal(pool_curve_create(&params, NULL), bad);
    assert_null(pool_curve_retain(NULL));
    assert_string_equal(pool_curve_name(NULL), "");
    assert_null(pool_curve_base_field(NULL));
    assert_null(pool_curve_scalar_field(NULL));
    assert_int_equal(pool_curve_degree(NULL), 0);
    assert_int_equal(pool_curve_coordinate_bytes(NULL), 0);
    assert_int_equal(pool_curve_fingerprint(NULL, x), bad);
    assert_int_equal(pool_curve_fingerprint(c, NULL), bad);
    assert_int_equal(pool_curve_cofactor(NULL, 300, x), bad);
    assert_int_equal(pool_curve_cofactor(c, 300, NULL), bad);
    assert_int_equal(pool_curve_cofactor(c, 15, x), bad);
    assert_int_equal(pool_point_bytes(NULL, POOL_POINT_AFFINE), 0);
    assert_int_equal(pool_point_bytes(c, (pool_point_layout)9), 0);
    assert_int_equal(pool_encoding_bytes(NULL, POOL_ENCODING_EIP2537), 0);
    assert_int_equal(pool_encoding_bytes(c, (pool_encoding)9), 0);
    for (int missing = 0; missing < 2; missing++) {
        const pool_curve *given = missing == 0 ? NULL : c;
        uint8_t *p = missing == 1 ? NULL : x;

        assert_int_equal(pool_points_check(given, NULL, p, 1, POOL_CHECK_NONE, NULL), bad);
        assert_int_equal(pool_points_convert(given, NULL, p, 1, POOL_CHECK_NONE, NULL, y), bad);
        assert_int_equal(pool_points_encode(given, NULL, p, 1, POOL_ENCODING_EIP2537, 0, y), bad);
        assert_int_equal(
            pool_points_decode(given, POOL_ENCODING_EIP2537, 0, p, 1, POOL_CHECK_NONE, NULL, y),
            bad);
        assert_int_equal(pool_point_add(given, NULL, p, y, y), bad);
        assert_int_equal(pool_point_mul(given, NULL, p, x, 1, y), bad);
        assert_int_equal(pool_point_equal(given, NULL, p, NULL, y, &equal), bad);
        assert_int_equal(pool_curve_generator(given, NULL, p), bad);
        assert_int_equal(pool_random_points(given, 1, 1, NULL, p, NULL), bad);
    }
    assert_int_equal(pool_points_convert(c, NULL, x, 1, POOL_CHECK_NONE, NULL, NULL), bad);
    assert_int_equal(pool_points_encode(c, NULL, x, 1, POOL_ENCODING_EIP2537, 0, NULL), bad);
    assert_int_equal(
        pool_points_decode(c, POOL_ENCODING_EIP2537, 0, x, 1, POOL_CHECK_NONE, NULL, NULL), bad);
    assert_int_equal(pool_points_encode(c, NULL, x, 1, (pool_encoding)9, 0, y), bad);
    assert_int_equal(
        pool_points_decode(c, (pool_encoding)-1, 0, x, 1, POOL_CHECK_NONE, NULL, y), bad);
    assert_int_equal(pool_point_add(c, NULL, x, NULL, y), bad);
    assert_int_equal(pool_point_add(c, NULL, x, y, NULL), bad);
    assert_int_equal(pool_point_mul(c, NULL, x, NULL, 1, y), bad);
    assert_int_equal(pool_point_mul(c, NULL, x, x, 1, NULL), bad);
    assert_int_equal(pool_point_equal(c, NULL, x, NULL, NULL, &equal), bad);
    assert_int_equal(pool_point_equal(c, NULL, x, NULL, y, NULL), bad);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pool_points_check(c, wrong[i], x, 1, POOL_CHECK_NONE, NULL), bad);
        assert_int_equal(pool_points_convert(c, wrong[i], x, 1, POOL_CHECK_NONE, NULL, y), bad);
        assert_int_equal(pool_points_convert(c, NULL, x, 1, POOL_CHECK_NONE, wrong[i], y), bad);
        assert_int_equal(pool_points_encode(c, wrong[i], x, 1, POOL_ENCODING_EIP2537, 0, y), bad);
        assert_int_equal(
            pool_points_decode(c, POOL_ENCODING_EIP2537, 0, x, 1, POOL_CHECK_NONE, wrong[i], y),
            bad);
        assert_int_equal(pool_point_add(c, wrong[i], x, x, y), bad);
        assert_int_equal(pool_point_mul(c, wrong[i], x, x, 1, y), bad);
        assert_int_equal(pool_point_equal(c, wrong[i], x, NULL, y, &equal), bad);
        assert_int_equal(pool_point_equal(c, NULL, x, wrong[i], y, &equal), bad);
        assert_int_equal(pool_curve_generator(c, wrong[i], y), bad);
        assert_int_equal(pool_random_points(c, 1, 1, wrong[i], y, NULL), bad);
    }
    assert_int_equal(pool_points_check(c, NULL, x, 1, 16, NULL), bad);
    assert_int_equal(pool_points_check(c, NULL, x, 1, 4, NULL), bad);
    assert_int_equal(pool_points_decode(c, POOL_ENCODING_EIP2537, 0, x, 1, 8, NULL, y), bad);
    /* nothing to do is no error */
    assert_int_equal(pool_points_check(c, NULL, NULL, 0, POOL_CHECK_SUBGROUP, NULL), POOL_OK);
    assert_int_equal(
        pool_points_convert(c, NULL, NULL, 0, POOL_CHECK_SUBGROUP, NULL, NULL), POOL_OK);
    assert_int_equal(pool_random_points(c, 1, 0, NULL, NULL, NULL), POOL_OK);
    assert_int_equal(
        pool_points_decode(c, POOL_ENCODING_EIP2537, 0, NULL, 0, POOL_CHECK_SUBGROUP, NULL, NULL),
        POOL_OK);
    assert_int_equal(pool_point_mul(c, NULL, x, NULL, 0, y), POOL_OK);
}

static void test_points(void **state)
{
    const pool_curve *curve = pool_curve_by_name("secp256k1");
    const pool_point_format jacobian = {POOL_POINT_JACOBIAN, POOL_FORM_MONTGOMERY, 0};
    const pool_point_format xyzz = {POOL_POINT_XYZZ, POOL_FORM_STANDARD, 0};
    uint8_t g[64], twice[96], other[128], two = 2, zero[64] = {0};
    int equal = -1;

    (void)state;
    assert_int_equal(pool_curve_generator(curve, NULL, g), POOL_OK);
    assert_int_equal(pool_curve_generator(curve, &jacobian, twice), POOL_OK);
    assert_int_equal(pool_point_mul(curve, &jacobian, twice, &two, 1, twice), POOL_OK);
    assert_int_equal(pool_point_equal(curve, NULL, g, &jacobian, twice, &equal), POOL_OK);
    assert_int_equal(equal, 0);
    assert_int_equal(pool_point_add(curve, NULL, g, g, g), POOL_OK);
    assert_int_equal(
        pool_points_convert(curve, &jacobian, twice, 1, POOL_CHECK_ON_CURVE, &xyzz, other),
        POOL_OK);
    assert_int_equal(pool_point_equal(curve, NULL, g, &xyzz, other, &equal), POOL_OK);
    assert_int_equal(equal, 1);
    assert_int_equal(pool_point_equal(curve, NULL, zero, NULL, zero, &equal), POOL_OK);
    assert_int_equal(equal, 1);
    /* not on the curve; a ZZZ that does not belong to ZZ */
    zero[0] = 1;
    assert_int_equal(pool_point_add(curve, NULL, zero, g, g), POOL_ERR_BAD_DATA);
    assert_int_equal(pool_point_add(curve, NULL, g, zero, g), POOL_ERR_BAD_DATA);
    assert_int_equal(pool_point_mul(curve, NULL, zero, &two, 1, g), POOL_ERR_BAD_DATA);
    other[96] ^= 1;
    assert_int_equal(
        pool_points_check(curve, &xyzz, other, 1, POOL_CHECK_NONE, NULL), POOL_ERR_BAD_DATA);
    assert_non_null(strstr(pool_last_error()->message, "ZZ^3"));
}

/* arkworks' flag: 1 is infinity whatever x and y are, other values are refused. */
static void test_infinity_flag(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    const pool_point_format flagged = {POOL_POINT_AFFINE_FLAG, POOL_FORM_STANDARD, 0};
    uint8_t point[72] = {0}, plain[64];

    (void)state;
    point[32] = 1; /* (0, 1, true), as arkworks 0.3 wrote it */
    point[64] = 1;
    assert_int_equal(
        pool_points_convert(curve, &flagged, point, 1, POOL_CHECK_ON_CURVE, NULL, plain), POOL_OK);
    for (int i = 0; i < 64; i++)
        assert_int_equal(plain[i], 0);
    point[64] = 2;
    assert_int_equal(pool_points_convert(curve, &flagged, point, 1, POOL_CHECK_NONE, NULL, plain),
        POOL_ERR_BAD_DATA);
    point[64] = 0;
    assert_int_equal(
        pool_points_convert(curve, &flagged, point, 1, POOL_CHECK_ON_CURVE, NULL, plain),
        POOL_ERR_BAD_DATA);
    memset(point, 0, sizeof(point)); /* (0, 0) without the flag is a point, and not on this curve */
    assert_int_equal(
        pool_points_convert(curve, &flagged, point, 1, POOL_CHECK_ON_CURVE, NULL, plain),
        POOL_ERR_BAD_DATA);
    memset(plain, 0, sizeof(plain));
    memset(point, 0xff, sizeof(point));
    assert_int_equal(
        pool_points_convert(curve, NULL, plain, 1, POOL_CHECK_ON_CURVE, &flagged, point), POOL_OK);
    assert_int_equal(point[64], 1);
    for (int i = 0; i < 72; i++)
        assert_int_equal(point[i], i == 64);
}

static int countdown(void *user)
{
    int *left = user;

    return (*left)-- <= 0;
}

static void test_memory_fails(void **state)
{
    pool_field *field =
        make_field("0xffffffff00000001000000000000000000000000ffffffffffffffffffffffff");
    pool_curve_params params = {.struct_size = sizeof(params)};
    pool_status status = POOL_ERR_INTERNAL;
    int failures = 0;

    (void)state;
    params.field = field;
    params.a[0] = "0xffffffff00000001000000000000000000000000fffffffffffffffffffffffc";
    params.b[0] = "0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b";
    params.generator_x[0] = "0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
    params.generator_y[0] = "0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";
    params.order = "0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
    for (int allowed = 0; status; allowed++) {
        pool_curve *curve = NULL;
        int left = allowed;

        assert_true(allowed < 1000);
        base_alloc_set_hook(countdown, &left);
        status = pool_curve_create(&params, &curve);
        base_alloc_set_hook(NULL, NULL);
        if (status) {
            assert_int_equal(status, POOL_ERR_OUT_OF_HOST_MEMORY);
            assert_null(curve);
            failures++;
        }
        pool_curve_destroy(&curve);
    }
    assert_true(failures >= 4);
    pool_field_destroy(&field);
}

static void test_memory_fails_in_calls(void **state)
{
    const pool_curve *curve = pool_curve_at(0);
    uint8_t points[192], bytes[256] = {0};
    int runs[2] = {0};

    (void)state;
    for (int call = 0; call < 2; call++) {
        pool_status status = POOL_ERR_INTERNAL;

        for (int allowed = 0; status; allowed++) {
            int left = allowed;

            base_alloc_set_hook(countdown, &left);
            status = call ? pool_random_points(curve, 1, 3, NULL, points, NULL)
                          : pool_points_decode(curve, POOL_ENCODING_EIP2537, 0, bytes, 2,
                                POOL_CHECK_SUBGROUP, NULL, points);
            base_alloc_set_hook(NULL, NULL);
            assert_true(status == POOL_OK || status == POOL_ERR_OUT_OF_HOST_MEMORY);
            runs[call]++;
        }
    }
    assert_int_equal(runs[0], 2);
    assert_int_equal(runs[1], 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_built_in),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_null_arguments),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_infinity_flag),
        cmocka_unit_test(test_memory_fails),
        cmocka_unit_test(test_memory_fails_in_calls),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    if (!failed && make_products_plain())
        failed = cmocka_run_group_tests_name("tests, products in C", tests, NULL, NULL);
    return failed;
}
