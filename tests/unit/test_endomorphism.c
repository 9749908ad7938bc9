/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Endomorphisms of curves: which curves have one, that it multiplies points by lambda, and that
 * every scalar is the sum of its halves, which have the documented number of bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "support/assert.h"
#include "support/curve.h"
#include "zk/curve/endomorphism.h"
#include "zk/field/integer.h"

/* Bits of the halves; 0: the curve has no endomorphism. */
static uint32_t expected_bits(const char *name)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } known[] = {{"bn254_g1", 126}, {"bn254_g2", 126}, {"bls12_381_g1", 127}, {"bls12_381_g2", 127},
        {"bls12_377_g1", 126}, {"bls12_377_g2", 126}, {"bw6_761_g1", 189}, {"bw6_761_g2", 189},
        {"pallas", 127}, {"vesta", 127}, {"grumpkin", 126}, {"secp256k1", 128}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].bits;
    return 0;
}

static void test_which_curves(void **state)
{
    (void)state;
    for (size_t i = 0; i < tested_curve_count(); i++) {
        pool_curve *curve = tested_curve(i);
        struct curve_endomorphism found;
        const uint32_t bits = expected_bits(curve->name);

        assert_int_equal(curve_endomorphism_find(curve, &found), bits != 0);
        if (bits && found.bits != bits)
            fail_msg("%s: halves of %u bits", curve->name, found.bits);
        pool_curve_destroy(&curve);
    }
}

static void test_eigenvalue(void **state)
{
    (void)state;
    for (size_t i = 0; i < pool_curve_count(); i++) {
        const pool_curve *curve = pool_curve_at(i);
        const pool_field *field = curve->coordinates.field, *order = curve->scalar_field;
        struct curve_endomorphism e;
        struct curve_jacobian p, q;
        struct curve_affine image;
        uint64_t scalar[FIELD_MAX_LIMBS] = {0};

        assert_true(curve_endomorphism_find(curve, &e));
        curve_jacobian_from_affine(curve, &p, &curve->generator);
        field_random(order, 1, i, scalar);
        curve_multiply(curve, &p, &p, scalar, order->limbs);
        curve_jacobian_to_affine(curve, &image, &p);
        for (uint32_t k = 0; k < curve->coordinates.degree; k++)
            field_mul(field, image.x + k * field->limbs, image.x + k * field->limbs, e.beta);
        field_from_montgomery(order, scalar, e.lambda);
        curve_multiply(curve, &p, &p, scalar, order->limbs);
        curve_jacobian_from_affine(curve, &q, &image);
        assert_true(curve_jacobian_equal(curve, &p, &q));
    }
}

/* A half with its sign, modulo the order, in Montgomery form. */
static void reduce_half(
    const pool_field *order, const struct curve_halves *halves, int i, uint64_t *element)
{
    memset(element, 0, FIELD_MAX_LIMBS * sizeof(*element));
    field_to_montgomery(order, element, halves->value[i]);
    if (halves->is_negative[i])
        field_neg(order, element, element);
}

static void check_split(
    const pool_curve *curve, const struct curve_endomorphism *e, const uint64_t *scalar)
{
    const pool_field *order = curve->scalar_field;
    uint64_t sum[FIELD_MAX_LIMBS], second[FIELD_MAX_LIMBS], wanted[FIELD_MAX_LIMBS] = {0};
    struct curve_halves halves;

    curve_endomorphism_split(curve, e, scalar, &halves);
    for (int i = 0; i < 2; i++)
        assert_between(field_integer_bits(halves.value[i], FIELD_MAX_LIMBS), 0, e->bits);
    reduce_half(order, &halves, 0, sum);
    reduce_half(order, &halves, 1, second);
    field_mul(order, second, second, e->lambda);
    field_add(order, sum, sum, second);
    field_to_montgomery(order, wanted, scalar);
    assert_true(field_equal(order, sum, wanted));
}

/* Random scalars, the ends of the range, lambda and its neighbours, and multiples of the basis. */
static void test_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < pool_curve_count(); i++) {
        const pool_curve *curve = pool_curve_at(i);
        const pool_field *order = curve->scalar_field;
        struct curve_endomorphism e;
        uint64_t scalar[FIELD_MAX_LIMBS] = {0};

        assert_true(curve_endomorphism_find(curve, &e));
        assert_ptr_equal(curve_endomorphism_of(curve), &curve->endomorphism);
        assert_memory_equal(curve_endomorphism_of(curve), &e, sizeof(e));
        for (uint64_t k = 0; k < 300; k++) {
            field_random(order, 2, k, scalar);
            check_split(curve, &e, scalar);
        }
        for (uint64_t k = 0; k < 4; k++) {
            memset(scalar, 0, sizeof(scalar));
            scalar[0] = k;
            check_split(curve, &e, scalar);
            memcpy(scalar, order->modulus, order->limbs * sizeof(*scalar));
            (void)field_integer_sub_small(scalar, k + 1, order->limbs);
            check_split(curve, &e, scalar);
            field_from_montgomery(order, scalar, e.lambda);
            (void)field_integer_sub_small(scalar, k, order->limbs);
            check_split(curve, &e, scalar);
        }
        for (uint32_t bit = 0; bit + 1 < order->bits; bit++) {
            memset(scalar, 0, sizeof(scalar));
            scalar[bit / 64] = UINT64_C(1) << bit % 64;
            check_split(curve, &e, scalar);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_curves),
        cmocka_unit_test(test_eigenvalue),
        cmocka_unit_test(test_split),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
