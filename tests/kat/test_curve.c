/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points with known answers: scalar multiplications by Sage, valid and invalid cases of EIP-2537 by
 * double-and-add, compressed points of the KZG ceremony, the doubling of EIP-196.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <devicepool/curve.h>

#include "support/plain_products.h"
#include "support/point_vectors.h"
#include "support/sample.h"
#include "zk/field/integer.h"

static void test_sage_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAGE_SETS; i++) {
        const pool_curve *curve = pool_curve_by_name(sage_sets[i].curve);
        size_t size = pool_point_bytes(curve, POOL_POINT_AFFINE);
        cJSON *json = read_vectors(sage_sets[i].file), *vector;
        uint64_t cofactor[24] = {0}, expected[24] = {0};
        int count = 0;

        assert_null(field_integer_parse(expected, 24, json_text(json, "cofactor")));
        assert_int_equal(
            pool_curve_cofactor(curve, sizeof(cofactor), (uint8_t *)cofactor), POOL_OK);
        assert_memory_equal(cofactor, expected, sizeof(cofactor));
        cJSON_ArrayForEach(vector, cJSON_GetObjectItemCaseSensitive(json, "vectors"))
        {
            uint8_t p[384], q[384], product[384];
            uint64_t scalar[12];

            read_point(curve, vector, "P", p);
            read_point(curve, vector, "Q", q);
            assert_null(field_integer_parse(scalar, 12, json_text(vector, "scalar")));
            assert_int_equal(
                pool_points_check(curve, NULL, p, 1, POOL_CHECK_SUBGROUP, NULL), POOL_OK);
            assert_int_equal(
                pool_point_mul(curve, NULL, p, (const uint8_t *)scalar, sizeof(scalar), product),
                POOL_OK);
            assert_memory_equal(product, q, size);
            count++;
        }
        assert_int_equal(count, SAGE_VECTORS);
        cJSON_Delete(json);
    }
}

/* What the precompile does: points with a subgroup check and 32-byte scalars, summed up. */
static pool_status run_msm(
    const pool_curve *curve, const uint8_t *input, size_t size, uint8_t *output)
{
    size_t point = pool_encoding_bytes(curve, POOL_ENCODING_EIP2537);
    uint8_t sum[192] = {0}, term[192], scalar[32];

    if (size == 0 || size % (point + 32))
        return POOL_ERR_INVALID_ARGUMENT;
    for (size_t at = 0; at < size; at += point + 32) {
        pool_status status = pool_points_decode(
            curve, POOL_ENCODING_EIP2537, 0, input + at, 1, POOL_CHECK_SUBGROUP, NULL, term);

        if (status)
            return status;
        for (int i = 0; i < 32; i++)
            scalar[i] = input[at + point + 31 - (size_t)i];
        assert_int_equal(pool_point_mul(curve, NULL, term, scalar, 32, term), POOL_OK);
        assert_int_equal(pool_point_add(curve, NULL, sum, term, sum), POOL_OK);
    }
    return pool_points_encode(curve, NULL, sum, 1, POOL_ENCODING_EIP2537, 0, output);
}

static pool_status run_add(
    const pool_curve *curve, const uint8_t *input, size_t size, uint8_t *output)
{
    uint8_t points[2 * 192];
    pool_status status;

    if (size != 2 * pool_encoding_bytes(curve, POOL_ENCODING_EIP2537))
        return POOL_ERR_INVALID_ARGUMENT;
    status = pool_points_decode(
        curve, POOL_ENCODING_EIP2537, 0, input, 2, POOL_CHECK_ON_CURVE, NULL, points);
    if (status)
        return status;
    assert_int_equal(pool_point_add(curve, NULL, points,
                         points + pool_point_bytes(curve, POOL_POINT_AFFINE), points),
        POOL_OK);
    return pool_points_encode(curve, NULL, points, 1, POOL_ENCODING_EIP2537, 0, output);
}

typedef pool_status (*precompile)(
    const pool_curve *curve, const uint8_t *input, size_t size, uint8_t *output);

static bool is_plain;

/* In a sample each case runs once: every second one with products in C, the others without. */
static int run_cases(const char *file, const char *curve_name, precompile run)
{
    const pool_curve *curve = pool_curve_by_name(curve_name);
    cJSON *json = read_vectors(file), *item;
    int count = 0;

    cJSON_ArrayForEach(item, json)
    {
        size_t size, expected_size;
        uint8_t output[256];

        if (!is_sampled((size_t)count + is_plain, 2)) {
            count++;
            continue;
        }
        uint8_t *input = hex_bytes(json_text(item, "Input"), &size), *expected;
        pool_status status = run(curve, input, size, output);

        free(input);
        count++;
        if (strstr(file, "fail-")) {
            if (status == POOL_OK)
                fail_msg("%s: taken", json_text(item, "Name"));
            assert_int_equal(status, strstr(json_text(item, "ExpectedError"), "length")
                                         ? POOL_ERR_INVALID_ARGUMENT
                                         : POOL_ERR_BAD_DATA);
            continue;
        }
        if (status)
            fail_msg("%s: %s", json_text(item, "Name"), pool_last_error()->message);
        expected = hex_bytes(json_text(item, "Expected"), &expected_size);
        assert_int_equal(expected_size, pool_encoding_bytes(curve, POOL_ENCODING_EIP2537));
        assert_memory_equal(output, expected, expected_size);
        free(expected);
    }
    cJSON_Delete(json);
    return count;
}

static void test_eip2537(void **state)
{
    (void)state;
    assert_int_equal(run_cases("eip-2537/add_G1_bls.json", "bls12_381_g1", run_add), 9);
    assert_int_equal(run_cases("eip-2537/add_G2_bls.json", "bls12_381_g2", run_add), 9);
    assert_int_equal(run_cases("eip-2537/mul_G1_bls.json", "bls12_381_g1", run_msm), 11);
    assert_int_equal(run_cases("eip-2537/mul_G2_bls.json", "bls12_381_g2", run_msm), 11);
    assert_int_equal(run_cases("eip-2537/msm_G1_bls.json", "bls12_381_g1", run_msm), 163);
}

static void test_eip2537_refusals(void **state)
{
    (void)state;
    assert_int_equal(run_cases("eip-2537/fail-mul_G1_bls.json", "bls12_381_g1", run_msm), 8);
    assert_int_equal(run_cases("eip-2537/fail-mul_G2_bls.json", "bls12_381_g2", run_msm), 8);
    assert_int_equal(run_cases("eip-2537/fail-msm_G1_bls.json", "bls12_381_g1", run_msm), 8);
    assert_int_equal(run_cases("eip-2537/fail-msm_G2_bls.json", "bls12_381_g2", run_msm), 8);
}

/* Every ceremony point decodes into the subgroup and encodes to the same bytes, also by way of
 * uncompressed. */
static void test_kzg_points(void **state)
{
    char *text = read_vector_file("curves/kzg_points.txt"), *rest = NULL;
    const pool_curve *curve = NULL;
    int count = 0;

    (void)state;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        uint8_t points[192], again[96], whole[192], *bytes;
        const pool_point_format format = {POOL_POINT_AFFINE, POOL_FORM_MONTGOMERY, 0};
        size_t size;

        if (strlen(line) < 10) {
            curve = pool_curve_by_name(strcmp(line, "g1") ? "bls12_381_g2" : "bls12_381_g1");
            continue;
        }
        bytes = hex_bytes(line, &size);
        assert_int_equal(size, pool_encoding_bytes(curve, POOL_ENCODING_ZCASH_COMPRESSED));
        assert_int_equal(pool_points_decode(curve, POOL_ENCODING_ZCASH_COMPRESSED, 0, bytes, 1,
                             POOL_CHECK_SUBGROUP, &format, points),
            POOL_OK);
        assert_int_equal(pool_points_encode(
                             curve, &format, points, 1, POOL_ENCODING_ZCASH_UNCOMPRESSED, 0, whole),
            POOL_OK);
        assert_int_equal(pool_points_decode(curve, POOL_ENCODING_ZCASH_UNCOMPRESSED, 0, whole, 1,
                             POOL_CHECK_ON_CURVE, &format, points),
            POOL_OK);
        assert_int_equal(
            pool_points_encode(curve, &format, points, 1, POOL_ENCODING_ZCASH_COMPRESSED, 0, again),
            POOL_OK);
        assert_memory_equal(bytes, again, size);
        free(bytes);
        count++;
    }
    assert_int_equal(count, 96);
    free(text);
}

struct refusal {
    const char *reason;
    const char *hex;
};

static const char generator_hex[] =
    "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6"
    "bb";

#define ZEROS_23 "0000000000000000000000000000000000000000000000"
#define ZEROS_46 ZEROS_23 ZEROS_23

static void test_zcash_refusals(void **state)
{
    static const struct refusal refusals[] = {
        {"lacks the compression flag",
            "17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af0"
            "0adb22c6bb"},
        /* infinity with the sign, with a bit of x, without the compression flag */
        {"bits set that must be zero", "e000" ZEROS_46},
        {"bits set that must be zero", "c100" ZEROS_46},
        {"bits set that must be zero", "c001" ZEROS_46},
        {"lacks the compression flag", "4000" ZEROS_46},
        /* x = p, x = p + 1, x all ones */
        {"not below the modulus", "9a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf"
                                  "6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab"},
        {"not below the modulus", "9a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf"
                                  "6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaac"},
        {"not below the modulus", "9fffffffffffffffffffffffffffffffffffffffffffffff"
                                  "ffffffffffffffffffffffffffffffffffffffffffffffff"},
        /* x = 1: 5 is no square; x = 0: the point (0, 2) of order three */
        {"on no point of the curve", "80" ZEROS_46 "01"},
        {"not in the subgroup", "8000" ZEROS_46},
        {"not in the subgroup", "a000" ZEROS_46},
    };
    const pool_curve *curve = pool_curve_by_name("bls12_381_g1");

    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        uint8_t point[96], *bytes;
        size_t size;

        bytes = hex_bytes(refusals[i].hex, &size);
        assert_int_equal(size, 48);
        memset(point, 0x77, sizeof(point));
        assert_int_equal(pool_points_decode(curve, POOL_ENCODING_ZCASH_COMPRESSED, 0, bytes, 1,
                             POOL_CHECK_SUBGROUP, NULL, point),
            POOL_ERR_BAD_DATA);
        if (!strstr(pool_last_error()->message, refusals[i].reason))
            fail_msg("case %zu: %s", i, pool_last_error()->message);
        assert_int_equal(point[0], 0x77);
        free(bytes);
    }
}

static void test_zcash_known(void **state)
{
    const pool_curve *g1 = pool_curve_by_name("bls12_381_g1");
    const pool_curve *g2 = pool_curve_by_name("bls12_381_g2");
    uint8_t point[192], bytes[192], zeros[192] = {0}, *expected;
    size_t size;

    (void)state;
    expected = hex_bytes(generator_hex, &size);
    assert_int_equal(pool_curve_generator(g1, NULL, point), POOL_OK);
    assert_int_equal(
        pool_points_encode(g1, NULL, point, 1, POOL_ENCODING_ZCASH_COMPRESSED, 0, bytes), POOL_OK);
    assert_memory_equal(bytes, expected, size);
    free(expected);
    /* the larger y has the third bit */
    assert_int_equal(
        pool_points_encode(g1, NULL, point, 1, POOL_ENCODING_ZCASH_UNCOMPRESSED, 0, bytes),
        POOL_OK);
    assert_int_equal(bytes[0], 0x17);
    assert_int_equal(bytes[48], 0x08);
    bytes[0] |= 0x20;
    assert_int_equal(pool_points_decode(g1, POOL_ENCODING_ZCASH_UNCOMPRESSED, 0, bytes, 1,
                         POOL_CHECK_NONE, NULL, point),
        POOL_ERR_BAD_DATA);
    bytes[0] |= 0x80;
    assert_int_equal(pool_points_decode(g1, POOL_ENCODING_ZCASH_UNCOMPRESSED, 0, bytes, 1,
                         POOL_CHECK_NONE, NULL, point),
        POOL_ERR_BAD_DATA);
    /* infinities */
    assert_int_equal(
        pool_points_encode(g2, NULL, zeros, 1, POOL_ENCODING_ZCASH_COMPRESSED, 0, bytes), POOL_OK);
    assert_int_equal(bytes[0], 0xc0);
    assert_memory_equal(bytes + 1, zeros, 95);
    assert_int_equal(pool_points_decode(g2, POOL_ENCODING_ZCASH_COMPRESSED, 0, bytes, 1,
                         POOL_CHECK_SUBGROUP, NULL, point),
        POOL_OK);
    assert_memory_equal(point, zeros, 192);
    bytes[95] = 1;
    assert_int_equal(pool_points_decode(g2, POOL_ENCODING_ZCASH_COMPRESSED, 0, bytes, 1,
                         POOL_CHECK_SUBGROUP, NULL, point),
        POOL_ERR_BAD_DATA);
    /* which curves have it: three bits must be free */
    assert_int_equal(pool_encoding_bytes(pool_curve_by_name("bn254_g1"), 0), 0);
    assert_int_equal(pool_encoding_bytes(pool_curve_by_name("bls12_377_g2"), 0), 96);
    assert_int_equal(pool_points_encode(pool_curve_by_name("bn254_g1"), NULL, zeros, 1,
                         POOL_ENCODING_ZCASH_COMPRESSED, 0, bytes),
        POOL_ERR_UNSUPPORTED);
}

/* The generator doubled, as every EIP-196 test has it; EIP-197 puts the imaginary part first. */
static void test_eip196(void **state)
{
    const pool_curve *g1 = pool_curve_by_name("bn254_g1");
    const pool_curve *g2 = pool_curve_by_name("bn254_g2");
    static const char doubled[] =
        "030644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd3"
        "15ed738c0e0a7c92e7845f96b2ae9c0a68a6a449e3538fc7ff3ebf7a5a18a2c4";
    static const char g2_generator[] =
        "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2"
        "1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed"
        "090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b"
        "12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa";
    uint8_t point[128], bytes[128], *expected;
    size_t size;

    (void)state;
    assert_int_equal(pool_curve_generator(g1, NULL, point), POOL_OK);
    assert_int_equal(pool_point_add(g1, NULL, point, point, point), POOL_OK);
    assert_int_equal(
        pool_points_encode(g1, NULL, point, 1, POOL_ENCODING_EIP196, 0, bytes), POOL_OK);
    expected = hex_bytes(doubled, &size);
    assert_memory_equal(bytes, expected, 64);
    free(expected);
    assert_int_equal(pool_curve_generator(g2, NULL, point), POOL_OK);
    assert_int_equal(
        pool_points_encode(g2, NULL, point, 1, POOL_ENCODING_EIP196, 0, bytes), POOL_OK);
    expected = hex_bytes(g2_generator, &size);
    assert_memory_equal(bytes, expected, 128);
    /* (1, 1) is on no curve; p for x; both are refused */
    free(expected);
    memset(bytes, 0, 64);
    bytes[31] = bytes[63] = 1;
    assert_int_equal(
        pool_points_decode(g1, POOL_ENCODING_EIP196, 0, bytes, 1, POOL_CHECK_ON_CURVE, NULL, point),
        POOL_ERR_BAD_DATA);
    assert_int_equal(pool_points_decode(
                         g1, POOL_ENCODING_EIP196, 0, bytes, 1, POOL_CHECK_CANONICAL, NULL, point),
        POOL_OK);
    assert_int_equal(
        pool_encoding_bytes(pool_curve_by_name("bls12_381_g1"), POOL_ENCODING_EIP196), 0);
}

/* Sizes of the structs that gnark and arkworks keep in memory. */
static void test_strides(void **state)
{
    (void)state;
    assert_int_equal(pool_point_bytes(pool_curve_by_name("bn254_g1"), POOL_POINT_AFFINE), 64);
    assert_int_equal(pool_point_bytes(pool_curve_by_name("bn254_g1"), POOL_POINT_AFFINE_FLAG), 72);
    assert_int_equal(pool_point_bytes(pool_curve_by_name("bn254_g2"), POOL_POINT_AFFINE_FLAG), 136);
    assert_int_equal(
        pool_point_bytes(pool_curve_by_name("bls12_381_g1"), POOL_POINT_AFFINE_FLAG), 104);
    assert_int_equal(
        pool_point_bytes(pool_curve_by_name("bls12_381_g2"), POOL_POINT_AFFINE_FLAG), 200);
    assert_int_equal(pool_point_bytes(pool_curve_by_name("bw6_761_g1"), POOL_POINT_JACOBIAN), 288);
    assert_int_equal(pool_point_bytes(pool_curve_by_name("bw6_761_g2"), POOL_POINT_XYZZ), 384);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sage_vectors),
        cmocka_unit_test(test_eip2537),
        cmocka_unit_test(test_eip2537_refusals),
        cmocka_unit_test(test_kzg_points),
        cmocka_unit_test(test_zcash_refusals),
        cmocka_unit_test(test_zcash_known),
        cmocka_unit_test(test_eip196),
        cmocka_unit_test(test_strides),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    is_plain = !failed && make_products_plain();
    if (is_plain)
        failed = cmocka_run_group_tests_name("tests, products in C", tests, NULL, NULL);
    return failed;
}
