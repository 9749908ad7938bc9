/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Roots of unity and Montgomery constants published by other systems.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include <devicepool/field.h>

#include "support/plain_products.h"

struct known_root {
    const char *field;
    const char *convention;
    uint32_t two_adicity;
    const char *root; /* of order 2^two_adicity, standard form */
};

static const struct known_root known_roots[] = {
    /* gnark-crypto ecc/bn254/fr/fft, arkworks ark-bn254 */
    {"bn254_fr", NULL, 28,
        "19103219067921713944291392827692070036145651957329286315305642004821462161904"},
    /* halo2curves bn256::Fr::ROOT_OF_UNITY */
    {"bn254_fr", "halo2", 28, "0x3ddb9f5166d18b798865ea93dd31f743215cf6dd39329c8d34f1ed960c37c9c"},
    /* bls12_381::Scalar::ROOT_OF_UNITY (zkcrypto); c-kzg-4844 SCALE2_ROOT_OF_UNITY */
    {"bls12_381_fr", NULL, 32,
        "0x16a2a19edfe81f20d09b681922c813b4b63683508c2280b93829971f439f0d2b"},
    {"bls12_377_fr", NULL, 47,
        "8065159656716812877374967518403273466521432693661810619979959746626482506078"},
    /* gnark-crypto ecc/bw6-761/fr/fft */
    {"bw6_761_fr", NULL, 46,
        "32863578547254505029601261939868325669770508939375122462904745766352256812585773382134936"
        "404344547323199885654433"},
    /* pasta_curves Fp and Fq ROOT_OF_UNITY */
    {"pallas_fq", NULL, 32, "0x2bce74deac30ebda362120830561f81aea322bf2b7bb7584bdad6fabd87ea32f"},
    {"pallas_fr", NULL, 32, "0x2de6a9b8746d3f589e5c4dfd492ae26e9bb97ea3c106f049a70e2c1102b6d05f"},
    /* Plonky3 two-adic generators; plonky2 POWER_OF_TWO_GENERATOR */
    {"goldilocks", NULL, 32, "1753635133440165772"},
    {"goldilocks", "plonky2", 32, "7277203076849721926"},
    {"babybear", NULL, 27, "0x1a427a41"},
    {"koalabear", NULL, 24, "0x6ac49f88"},
    {"stark252", NULL, 192, "0x5282db87529cfa3f0464519c8b0fa5ad187148e11a61616070024f42f8ef94"},
};

static void test_roots(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(known_roots) / sizeof(known_roots[0]); i++) {
        const struct known_root *known = &known_roots[i];
        const pool_field *field = pool_field_by_name(known->field);
        uint8_t got[POOL_FIELD_MAX_BYTES], expected[POOL_FIELD_MAX_BYTES];

        assert_non_null(field);
        assert_int_equal(pool_field_two_adicity(field), known->two_adicity);
        assert_int_equal(
            pool_field_parse(field, known->root, POOL_FORM_STANDARD, expected), POOL_OK);
        assert_int_equal(pool_field_root_of_unity(
                             field, known->convention, known->two_adicity, POOL_FORM_STANDARD, got),
            POOL_OK);
        assert_memory_equal(got, expected, pool_field_element_bytes(field));
    }
}

/* 5^t and 7^t are different roots of one order, and both names of 5^t agree. */
static void test_conventions_differ(void **state)
{
    const pool_field *field = pool_field_by_name("bls12_381_fr");
    uint8_t own[32], icicle[32], snarkjs[32], expected[32];

    (void)state;
    for (uint32_t log2_order = 2; log2_order <= 32; log2_order++) {
        assert_int_equal(
            pool_field_root_of_unity(field, NULL, log2_order, POOL_FORM_STANDARD, own), POOL_OK);
        assert_int_equal(
            pool_field_root_of_unity(field, "icicle", log2_order, POOL_FORM_STANDARD, icicle),
            POOL_OK);
        assert_int_equal(
            pool_field_root_of_unity(field, "snarkjs", log2_order, POOL_FORM_STANDARD, snarkjs),
            POOL_OK);
        assert_memory_equal(icicle, snarkjs, 32);
        if (log2_order > 8)
            assert_memory_not_equal(own, icicle, 32);
    }
    assert_int_equal(pool_field_parse(field,
                         "9379170890790077061069769848022497424648488174607585228507528076619259"
                         "04159",
                         POOL_FORM_STANDARD, expected),
        POOL_OK);
    assert_memory_equal(icicle, expected, 32);
}

/* 1 in Montgomery form as BN254 libraries print it, and one 31-bit word. */
static void test_montgomery_one(void **state)
{
    static const uint64_t bn254_r[4] = {
        0xac96341c4ffffffb, 0x36fc76959f60cd29, 0x666ea36f7879462e, 0x0e0a77c19a07df2f};
    const uint64_t one[4] = {1, 0, 0, 0};
    uint64_t got[4];
    uint32_t word = 1;

    (void)state;
    assert_int_equal(
        pool_field_to_montgomery(pool_field_by_name("bn254_fr"), one, 1, got), POOL_OK);
    assert_memory_equal(got, bn254_r, sizeof(got));
    assert_int_equal(pool_field_element_bytes(pool_field_by_name("babybear")), 4);
    assert_int_equal(
        pool_field_to_montgomery(pool_field_by_name("babybear"), &word, 1, &word), POOL_OK);
    assert_int_equal(word, 0x0ffffffe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_conventions_differ),
        cmocka_unit_test(test_montgomery_one),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    if (!failed && make_products_plain())
        failed = cmocka_run_group_tests_name("tests, products in C", tests, NULL, NULL);
    return failed;
}
