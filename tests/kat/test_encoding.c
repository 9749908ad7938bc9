/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points encoded by gnark-crypto and arkworks: compressed and uncompressed, both signs, infinity;
 * invalid encodings; encoded points with a stride.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <devicepool/curve.h>

#include "support/vectors.h"

#define G2_X1 "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2"
#define G2_X0 "1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed"
#define G2_Y1 "090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b"
#define G2_Y0 "12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa"

/*
 * The same point in two encodings. By gnark-crypto: points of proofs, compressed and uncompressed,
 * and ark-bn254's bytes of two of them (lightec-xyz/plonk_verifier_on_icp, point.rs). By arkworks:
 * the Groth16 verification key of Aptos' keyless accounts, from the governance proposal that sets
 * it (aptos_framework::keyless_account); its alpha and beta are those of the Perpetual Powers of
 * Tau, as in iden3/poseidon_bn254_verification_key.json. The generator uncompressed: snarkjs'
 * buffer_bn128_G2gen next to ark-bn254's bytes.
 */
static const struct {
    const char *curve;
    pool_encoding encoding;
    const char *bytes;
    pool_encoding other;
    const char *other_bytes;
} same[] = {
    {"bn254_g1", POOL_ENCODING_GNARK_COMPRESSED,
        "8000000000000000000000000000000000000000000000000000000000000001", POOL_ENCODING_EIP196,
        "0000000000000000000000000000000000000000000000000000000000000001"
        "0000000000000000000000000000000000000000000000000000000000000002"},
    {"bn254_g1", POOL_ENCODING_GNARK_COMPRESSED,
        "897c8a80aeec562a6b4abc29a019eec113192cb6c84f59beda5ddf3ce9c78ed8", POOL_ENCODING_EIP196,
        "097c8a80aeec562a6b4abc29a019eec113192cb6c84f59beda5ddf3ce9c78ed8"
        "0053bdf2cd5794fcc2b27919f84908cffcc0a897b32dce1324fc9ef61c26a206"},
    {"bn254_g1", POOL_ENCODING_GNARK_COMPRESSED,
        "a18e3b9acf719e44cd60e7dfa40090b17d5953b3ad2690caa81f8cdd3db06ef7", POOL_ENCODING_EIP196,
        "218e3b9acf719e44cd60e7dfa40090b17d5953b3ad2690caa81f8cdd3db06ef7"
        "10f82a8dc8fbe7ec03c2c5dd52d35592989ec5d8ab6f9c0fe348fa4299539c62"},
    {"bn254_g1", POOL_ENCODING_GNARK_COMPRESSED,
        "d934a10bcf7f1b4a365e8be1c1063fe8f919f03021c2ffe4f80b29267ec93e5b", POOL_ENCODING_EIP196,
        "1934a10bcf7f1b4a365e8be1c1063fe8f919f03021c2ffe4f80b29267ec93e5b"
        "211eb62900755b59dbf5639c244c35d67b6ce817aa42ca6cc6c6bed00089a894"},
    {"bn254_g1", POOL_ENCODING_GNARK_COMPRESSED,
        "cd12a1664917226af9d25a901300586a7cac148ff581e9aa384fd425dc0be54d", POOL_ENCODING_EIP196,
        "0d12a1664917226af9d25a901300586a7cac148ff581e9aa384fd425dc0be54d"
        "1c39fc0fa3549d71805220ab6cbb191a0c7ed1d510423363b6f510b977cd822c"},
    {"bn254_g1", POOL_ENCODING_GNARK_COMPRESSED,
        "efdb5ddfca8ebc04c952f1cf3b33f16375332fd6d53df220effe5ff7ee782415", POOL_ENCODING_EIP196,
        "2fdb5ddfca8ebc04c952f1cf3b33f16375332fd6d53df220effe5ff7ee782415"
        "256420cd2c09ac1432c95781ee6225f743938eb42e8bb1b1c88f3c7a90a2b125"},
    {"bn254_g1", POOL_ENCODING_GNARK_COMPRESSED,
        "897c8a80aeec562a6b4abc29a019eec113192cb6c84f59beda5ddf3ce9c78ed8",
        POOL_ENCODING_ARKWORKS_COMPRESSED,
        "d88ec7e93cdf5ddabe594fc8b62c1913c1ee19a029bc4a6b2a56ecae808a7c09"},
    {"bn254_g1", POOL_ENCODING_GNARK_COMPRESSED,
        "d934a10bcf7f1b4a365e8be1c1063fe8f919f03021c2ffe4f80b29267ec93e5b",
        POOL_ENCODING_ARKWORKS_COMPRESSED,
        "5b3ec97e26290bf8e4ffc22130f019f9e83f06c1e18b5e364a1b7fcf0ba13499"},
    {"bn254_g2", POOL_ENCODING_GNARK_COMPRESSED,
        "998e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2" G2_X0,
        POOL_ENCODING_EIP196, G2_X1 G2_X0 G2_Y1 G2_Y0},
    {"bn254_g2", POOL_ENCODING_ARKWORKS_COMPRESSED,
        "edf692d95cbdde46ddda5ef7d422436779445c5e66006a42761e1f12efde0018"
        "c212f3aeb785e49712e7a9353349aaf1255dfb31b7bf60723a480d9293938e19",
        POOL_ENCODING_EIP196, G2_X1 G2_X0 G2_Y1 G2_Y0},
    {"bn254_g2", POOL_ENCODING_ARKWORKS_UNCOMPRESSED,
        "edf692d95cbdde46ddda5ef7d422436779445c5e66006a42761e1f12efde0018"
        "c212f3aeb785e49712e7a9353349aaf1255dfb31b7bf60723a480d9293938e19"
        "aa7dfa6601cce64c7bd3430c69e7d1e38f40cb8d8071ab4aeb6d8cdba55ec812"
        "5b9722d1dcdaac55f38eb37033314bbc95330c69ad999eec75f05f58d0890609",
        POOL_ENCODING_EIP196, G2_X1 G2_X0 G2_Y1 G2_Y0},
    {"bls12_381_g1", POOL_ENCODING_GNARK_COMPRESSED,
        "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac58"
        "6c55e83ff97a1aeffb3af00adb22c6bb",
        POOL_ENCODING_ZCASH_COMPRESSED,
        "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac58"
        "6c55e83ff97a1aeffb3af00adb22c6bb"},
};

static void decode_hex(
    const pool_curve *curve, pool_encoding encoding, const char *hex, uint8_t *point)
{
    size_t size;
    uint8_t *bytes = hex_bytes(hex, &size), again[400];

    assert_int_equal(size, pool_encoding_bytes(curve, encoding));
    if (pool_points_decode(curve, encoding, 0, bytes, 1, POOL_CHECK_SUBGROUP, NULL, point))
        fail_msg("%s: %s", hex, pool_last_error()->message);
    assert_int_equal(pool_points_encode(curve, NULL, point, 1, encoding, 0, again), POOL_OK);
    assert_memory_equal(again, bytes, size);
    free(bytes);
}

static void test_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        const pool_curve *curve = pool_curve_by_name(same[i].curve);
        uint8_t one[200], other[200];

        decode_hex(curve, same[i].encoding, same[i].bytes, one);
        decode_hex(curve, same[i].other, same[i].other_bytes, other);
        assert_memory_equal(one, other, pool_point_bytes(curve, POOL_POINT_AFFINE));
    }
}

/* A coordinate of a key by snarkjs, an element of it. */
static void expect_element(const pool_curve *curve, const cJSON *number, const uint8_t *element)
{
    const pool_field *field = pool_curve_base_field(curve);
    uint8_t wanted[POOL_FIELD_MAX_BYTES];

    assert_int_equal(
        pool_field_parse(field, cJSON_GetStringValue(number), POOL_FORM_STANDARD, wanted), POOL_OK);
    assert_memory_equal(wanted, element, pool_field_element_bytes(field));
}

/* arkworks' bytes of alpha and beta of the powers of tau, whose coordinates snarkjs wrote. */
static void test_ceremony(void **state)
{
    const pool_curve *g1 = pool_curve_by_name("bn254_g1"), *g2 = pool_curve_by_name("bn254_g2");
    cJSON *json = read_vectors("iden3/poseidon_bn254_verification_key.json");
    const cJSON *alpha = cJSON_GetObjectItemCaseSensitive(json, "vk_alpha_1");
    const cJSON *beta = cJSON_GetObjectItemCaseSensitive(json, "vk_beta_2");
    uint8_t point[128];

    (void)state;
    decode_hex(g1, POOL_ENCODING_ARKWORKS_COMPRESSED,
        "e2f26dbea299f5223b646cb1fb33eadb059d9407559d7441dfd902e3a79a4d2d", point);
    for (int i = 0; i < 2; i++)
        expect_element(g1, cJSON_GetArrayItem(alpha, i), point + 32 * i);
    decode_hex(g2, POOL_ENCODING_ARKWORKS_COMPRESSED,
        "abb73dc17fbc13021e2471e0c08bd67d8401f52b73d6d07483794cad4778180e"
        "0c06f33bbc4c79a9cadef253a68084d382f17788f885c9afd176f7cb2f036789",
        point);
    for (int i = 0; i < 4; i++)
        expect_element(
            g2, cJSON_GetArrayItem(cJSON_GetArrayItem(beta, i / 2), i % 2), point + 32 * i);
    /* delta and the inputs' points of the same key: both signs */
    decode_hex(g2, POOL_ENCODING_ARKWORKS_COMPRESSED,
        "b106619932d0ef372c46909a2492e246d5de739aa140e27f2c71c0470662f125"
        "219049cfe15e4d140d7e4bb911284aad1cad19880efb86f2d9dd4b1bb344ef8f",
        point);
    decode_hex(g1, POOL_ENCODING_ARKWORKS_COMPRESSED,
        "6123b6fea40de2a7e3595f9c35210da8a45a7e8c2f7da9eb4548e9210cfea81a", point);
    decode_hex(g1, POOL_ENCODING_ARKWORKS_COMPRESSED,
        "32a9b8347c512483812ee922dc75952842f8f3083edb6fe8d5c3c07e1340b683", point);
    cJSON_Delete(json);
}

static void test_sizes(void **state)
{
    static const struct {
        const char *curve;
        size_t gnark, compressed, uncompressed;
    } sizes[] = {{"bn254_g1", 32, 32, 64}, {"bn254_g2", 64, 64, 128}, {"grumpkin", 32, 32, 64},
        {"bls12_381_g1", 48, 48, 96}, {"bls12_381_g2", 96, 96, 192}, {"bls12_377_g1", 48, 48, 96},
        {"bls12_377_g2", 96, 96, 192}, {"bw6_761_g1", 96, 96, 192}, {"pallas", 0, 33, 65},
        {"secp256k1", 0, 33, 65}};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const pool_curve *curve = pool_curve_by_name(sizes[i].curve);

        assert_int_equal(
            pool_encoding_bytes(curve, POOL_ENCODING_GNARK_COMPRESSED), sizes[i].gnark);
        assert_int_equal(
            pool_encoding_bytes(curve, POOL_ENCODING_ARKWORKS_COMPRESSED), sizes[i].compressed);
        assert_int_equal(
            pool_encoding_bytes(curve, POOL_ENCODING_ARKWORKS_UNCOMPRESSED), sizes[i].uncompressed);
    }
}

/* Every curve, random points of both signs and infinity, there and back; the sign is in the flag.
 */
static void test_there_and_back(void **state)
{
    enum { COUNT = 9 };

    (void)state;
    for (size_t c = 0; c < pool_curve_count(); c++) {
        const pool_curve *curve = pool_curve_at(c);
        size_t size = pool_point_bytes(curve, POOL_POINT_AFFINE);
        uint8_t *points = calloc(COUNT, size), *back = calloc(COUNT, size);

        assert_int_equal(pool_random_points(curve, c, COUNT - 1, NULL, points, NULL), POOL_OK);
        for (int e = 0; e <= POOL_ENCODING_ARKWORKS_UNCOMPRESSED; e++) {
            size_t width = pool_encoding_bytes(curve, (pool_encoding)e);
            size_t stride = width + 5;
            uint8_t *bytes = malloc(COUNT * stride);

            if (!width) {
                free(bytes);
                continue;
            }
            memset(bytes, 0x77, COUNT * stride);
            assert_int_equal(
                pool_points_encode(curve, NULL, points, COUNT, (pool_encoding)e, stride, bytes),
                POOL_OK);
            for (size_t i = 0; i < COUNT * 5; i++)
                assert_int_equal(bytes[i / 5 * stride + width + i % 5], 0x77);
            assert_int_equal(pool_points_decode(curve, (pool_encoding)e, stride, bytes, COUNT,
                                 POOL_CHECK_SUBGROUP, NULL, back),
                POOL_OK);
            assert_memory_equal(back, points, COUNT * size);
            assert_int_equal(pool_points_decode(curve, (pool_encoding)e, width - 1, bytes, 1,
                                 POOL_CHECK_SUBGROUP, NULL, back),
                POOL_ERR_INVALID_ARGUMENT);
            assert_non_null(strstr(pool_last_error()->message, "for `stride`"));
            assert_int_equal(
                pool_points_encode(curve, NULL, points, 1, (pool_encoding)e, width - 1, bytes),
                POOL_ERR_INVALID_ARGUMENT);
            free(bytes);
        }
        free(points);
        free(back);
    }
}

static void refuse(const char *name, pool_encoding encoding, size_t at, uint8_t byte,
    int is_infinity, const char *reason)
{
    const pool_curve *curve = pool_curve_by_name(name);
    uint8_t point[200] = {0}, bytes[200];

    if (!is_infinity)
        assert_int_equal(pool_curve_generator(curve, NULL, point), POOL_OK);
    assert_int_equal(pool_points_encode(curve, NULL, point, 1, encoding, 0, bytes), POOL_OK);
    bytes[at] = (uint8_t)(bytes[at] ^ byte);
    assert_int_equal(pool_points_decode(curve, encoding, 0, bytes, 1, POOL_CHECK_NONE, NULL, point),
        POOL_ERR_BAD_DATA);
    if (!strstr(pool_last_error()->message, reason))
        fail_msg("%s, wanted \"%s\"", pool_last_error()->message, reason);
}

static void test_refused(void **state)
{
    const pool_encoding gnark = POOL_ENCODING_GNARK_COMPRESSED;
    const pool_encoding brief = POOL_ENCODING_ARKWORKS_COMPRESSED;
    const pool_encoding whole = POOL_ENCODING_ARKWORKS_UNCOMPRESSED;

    (void)state;
    refuse("bn254_g1", gnark, 0, 0x80, 0, "lacks the compression flag");
    refuse("bn254_g1", gnark, 0, 0x40, 1, "lacks the compression flag");
    refuse("bn254_g1", gnark, 31, 1, 1, "infinity with bits set");
    refuse("bn254_g1", gnark, 0, 0x3f, 0, "not below the modulus");
    refuse("bls12_381_g1", gnark, 0, 0x80, 0, "lacks the compression flag");
    refuse("bn254_g1", brief, 31, 0x3f, 0, "not below the modulus");
    refuse("bn254_g1", brief, 31, 0x80, 1, "infinity with bits set");
    refuse("bn254_g1", brief, 0, 1, 1, "infinity with bits set");
    refuse("bn254_g1", brief, 31, 0x40, 0, "infinity with bits set");
    refuse("bn254_g1", whole, 63, 0x80, 0, "the flag of the other y");
    refuse("pallas", brief, 32, 0x01, 0, "besides its flags");
    refuse("pallas", brief, 32, 0x20, 1, "infinity with bits set");
    refuse("pallas", whole, 64, 0x20, 0, "besides its flags");
    refuse("pallas", brief, 31, 0xff, 0, "not below the modulus");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_ceremony),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
