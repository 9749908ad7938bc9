/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creation of fields: refused parameters and their messages, references, NULL in every argument,
 * and failure of every allocation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdio.h>
#include <string.h>

#include <devicepool/field.h>

#include "base/alloc.h"
#include "zk/field/field.h"

static pool_status create(const char *modulus, const char *generator, const char *root)
{
    pool_field_params params = {.struct_size = sizeof(params)};
    pool_field *untouched = (pool_field *)(uintptr_t)16;
    pool_field *field = untouched;
    pool_status status;

    params.modulus = modulus;
    params.generator = generator;
    params.root = root;
    status = pool_field_create(&params, &field);
    if (status)
        assert_ptr_equal(field, untouched);
    else
        pool_field_destroy(&field);
    return status;
}

static void assert_refused(
    const char *modulus, const char *generator, const char *root, const char *reason)
{
    assert_int_equal(create(modulus, generator, root), POOL_ERR_INVALID_ARGUMENT);
    if (!strstr(pool_last_error()->message, reason))
        fail_msg("\"%s\" does not say \"%s\"", pool_last_error()->message, reason);
}

static void test_refused_moduli(void **state)
{
    /* Composites that single tests take for primes. */
    static const char *const composites[] = {
        "9",
        "561",
        "1105",
        "41041",
        "825265",
        "321197185", /* Carmichael */
        "2047",
        "3215031751",
        "3474749660383",
        "341550071728321", /* strong to 2; 2 to 7; to 17 */
        "3825123056546413051",
        "318665857834031151167461",  /* strong to 23, to 37 */
        "3317044064679887385961981", /* strong to 41 */
        "5459",
        "5777",
        "10877",
        "16109",
        "324899",
        "58519",                                    /* strong Lucas */
        "4194304000000000000000000000000000000001", /* trial division */
        /* squares of primes: (2^61 - 1)^2, 4294967291^2 */
        "5316911983139663487003542222693990401",
        "18446744030759878681",
        /* more Carmichael numbers */
        "1729",
        "294409",
        "56052361",
        "118901521",
        "172947529",
        /* two primes of 128 bits */
        "115792089237316195423570985008687907740296238847888994169617214340566083464051",
    };

    (void)state;
    assert_refused(NULL, NULL, NULL, "modulus must not be NULL");
    assert_refused("", NULL, NULL, "no digits");
    assert_refused("0x", NULL, NULL, "no digits");
    assert_refused("12a", NULL, NULL, "no digit");
    assert_refused("-7", NULL, NULL, "no digit");
    assert_refused(" 7", NULL, NULL, "no digit");
    assert_refused("0", NULL, NULL, "below 3");
    assert_refused("1", NULL, NULL, "below 3");
    assert_refused("2", NULL, NULL, "even");
    assert_refused("0x1000", NULL, NULL, "even");
    for (size_t i = 0; i < sizeof(composites) / sizeof(composites[0]); i++)
        assert_refused(composites[i], NULL, NULL, "not prime");
    /* 2^768 is one bit too long */
    char large[200] = "0x1";
    memset(large + 3, '0', 192);
    assert_refused(large, NULL, NULL, "too large");
    large[194] = '1';
    assert_refused(large, NULL, NULL, "too large");
}

/* Every odd number below 2^13 against trial division. */
static void test_small_moduli(void **state)
{
    (void)state;
    for (unsigned n = 3; n < 1 << 13; n += 2) {
        char text[16];
        int prime = 1;

        for (unsigned d = 3; d * d <= n; d += 2)
            prime &= n % d != 0;
        snprintf(text, sizeof(text), "%u", n);
        assert_int_equal(create(text, NULL, NULL) == POOL_OK, prime);
    }
}

/*
 * The composites that the parts of the primality test take for primes are known: OEIS A001262
 * (strong to base 2) and A217255 (strong Lucas). Both lists to 60000 must come out, with every
 * prime.
 */
static void test_primality_parts(void **state)
{
    static const unsigned strong[] = {
        2047, 3277, 4033, 4681, 8321, 15841, 29341, 42799, 49141, 52633, 0};
    static const unsigned lucas[] = {
        5459, 5777, 10877, 16109, 18971, 22499, 24569, 25199, 40309, 58519, 0};
    const unsigned *next_strong = strong, *next_lucas = lucas;

    (void)state;
    for (unsigned n = 5; n < 60000; n += 2) {
        uint64_t modulus[FIELD_MAX_LIMBS] = {n}, two[FIELD_MAX_LIMBS];
        int prime = 1, square = 0, shares = 0;
        pool_field field;

        for (unsigned d = 3; d * d <= n; d += 2) {
            prime &= n % d != 0;
            square |= d * d == n;
        }
        for (unsigned d = 3; d < 50; d += 2)
            shares |= n % d == 0 && n != d;
        memset(&field, 0, sizeof(field));
        field_derive_montgomery(&field, modulus);
        field_double(&field, two, field.one);
        assert_int_equal(field_passes_strong(&field, two), prime || n == *next_strong);
        next_strong += n == *next_strong;
        if (square || shares) /* what trial division is for */
            continue;
        assert_int_equal(field_passes_lucas(&field), prime || n == *next_lucas);
        next_lucas += n == *next_lucas;
    }
    assert_int_equal(*next_strong, 0);
    assert_int_equal(*next_lucas, 0);
}

static void test_generators_and_roots(void **state)
{
    (void)state;
    /* p - 1 = 2^16: every non-residue generates */
    assert_int_equal(create("65537", "3", NULL), POOL_OK);
    assert_refused("65537", "2", NULL, "non-residue");
    assert_refused("65537", "65537", NULL, "below the modulus");
    assert_refused("65537", "0", NULL, "non-residue");
    assert_refused("65537", "x", NULL, "no digit");
    /* 31: p - 1 = 2 * 3 * 5; 3 generates, 15 = 3^21 has order 10 */
    assert_int_equal(create("31", "3", NULL), POOL_OK);
    assert_refused("31", "15", NULL, "lacks the factor 3");
    assert_int_equal(create("65537", NULL, "3"), POOL_OK);
    assert_refused("65537", NULL, "9", "order");
    assert_refused("65537", NULL, "1", "order");
    assert_refused("65537", NULL, "65537", "below the modulus");
}

static void test_given_root_is_used(void **state)
{
    pool_field_params params = {.struct_size = sizeof(params)};
    pool_field *plain, *rooted;
    uint8_t one[32], other[32];
    uint32_t root;

    (void)state;
    params.modulus = "65537";
    params.name = "fermat";
    assert_int_equal(pool_field_create(&params, &plain), POOL_OK);
    params.root = "27";
    assert_int_equal(pool_field_create(&params, &rooted), POOL_OK);
    assert_string_equal(pool_field_name(rooted), "fermat");
    assert_int_equal(
        pool_field_root_of_unity(rooted, NULL, 16, POOL_FORM_STANDARD, &root), POOL_OK);
    assert_int_equal(root, 27);
    assert_int_equal(
        pool_field_root_of_unity(rooted, NULL, 15, POOL_FORM_STANDARD, &root), POOL_OK);
    assert_int_equal(root, 27 * 27);
    assert_int_equal(pool_field_fingerprint(plain, one), POOL_OK);
    assert_int_equal(pool_field_fingerprint(rooted, other), POOL_OK);
    assert_memory_not_equal(one, other, 32);
    pool_field_destroy(&plain);
    pool_field_destroy(&rooted);
}

static void test_params(void **state)
{
    pool_field_params params;
    pool_field *field;
    char long_name[80];

    (void)state;
    pool_field_params_init(&params, sizeof(params));
    assert_int_equal(params.struct_size, sizeof(params));
    params.modulus = "7";
    params.struct_size = 4;
    assert_int_equal(pool_field_create(&params, &field), POOL_ERR_INVALID_ARGUMENT);
    params.struct_size = offsetof(pool_field_params, generator);
    assert_int_equal(pool_field_create(&params, &field), POOL_ERR_INVALID_ARGUMENT);
    pool_field_params_init(&params, sizeof(params));
    params.modulus = "7";
    memset(long_name, 'n', sizeof(long_name));
    long_name[63] = 0;
    params.name = long_name;
    assert_int_equal(pool_field_create(&params, &field), POOL_OK);
    assert_string_equal(pool_field_name(field), long_name);
    pool_field_destroy(&field);
    long_name[63] = 'n';
    long_name[64] = 0;
    assert_int_equal(pool_field_create(&params, &field), POOL_ERR_INVALID_ARGUMENT);
}

static void test_references(void **state)
{
    pool_field_params params = {.struct_size = sizeof(params)};
    pool_field *field, *second;
    const pool_field *builtin = pool_field_by_name("bn254_fr");

    (void)state;
    params.modulus = "101";
    assert_int_equal(pool_field_create(&params, &field), POOL_OK);
    second = pool_field_retain(field);
    assert_ptr_equal(field, second);
    pool_field_destroy(&field);
    assert_null(field);
    assert_int_equal(pool_field_bits(second), 7);
    pool_field_destroy(&second);
    pool_field_destroy(&second);
    pool_field_destroy(NULL);
    for (int i = 0; i < 3; i++) {
        field = pool_field_retain(builtin);
        assert_ptr_equal(field, builtin);
        pool_field_destroy(&field);
        assert_null(field);
        pool_field *again = pool_field_retain(builtin);
        pool_field_destroy(&again);
        pool_field_destroy(&again);
    }
    assert_string_equal(pool_field_name(builtin), "bn254_fr");
}

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < pool_field_count(); i++)
        assert_ptr_equal(pool_field_by_name(pool_field_name(pool_field_at(i))), pool_field_at(i));
    assert_null(pool_field_at(pool_field_count()));
    assert_ptr_equal(pool_field_by_name("grumpkin_fq"), pool_field_by_name("bn254_fr"));
    assert_ptr_equal(pool_field_by_name("bw6_761_fr"), pool_field_by_name("bls12_377_fq"));
    assert_ptr_equal(pool_field_by_name("vesta_fr"), pool_field_by_name("pallas_fq"));
    assert_null(pool_field_by_name("bn254"));
    assert_int_equal(pool_last_error()->status, POOL_ERR_NOT_FOUND);
}

/* A custom field with the same modulus is the same field. */
static void test_custom_equals_builtin(void **state)
{
    const pool_field *builtin = pool_field_by_name("bn254_fr");
    pool_field_params params = {.struct_size = sizeof(params)};
    pool_field *field;

    (void)state;
    params.modulus = "0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001";
    params.generator = "5";
    assert_int_equal(pool_field_create(&params, &field), POOL_OK);
    assert_memory_equal(field->fingerprint, builtin->fingerprint, 32);
    pool_field_destroy(&field);
}

/* Assembly multiplies where there is one for the processor and the modulus, and nowhere else. */
static void test_products(void **state)
{
    static const char *const without_assembly[] = {
        "secp256k1_fq", "goldilocks", "babybear", "bw6_761_fq"};

    (void)state;
    for (size_t i = 0; i < pool_field_count(); i++) {
        const pool_field *field = pool_field_at(i);
        field_product *assembly = field_product_x86(field);

        assert_true(field->product == (assembly ? assembly : field_product_plain(field)));
        assert_true(!assembly || field->limbs == 4 || field->limbs == 6);
    }
    for (size_t i = 0; i < sizeof(without_assembly) / sizeof(without_assembly[0]); i++)
        assert_true(field_product_x86(pool_field_by_name(without_assembly[i])) == NULL);
#if defined(__x86_64__)
    unsigned eax, ebx = 0, ecx, edx;
    bool expected =
        __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & bit_BMI2) && (ebx & bit_ADX);

    assert_true((field_product_x86(pool_field_by_name("bn254_fq")) != NULL) == expected);
    assert_true((field_product_x86(pool_field_by_name("bls12_381_fq")) != NULL) == expected);
#endif
}

static void test_null_arguments(void **state)
{
    const pool_field *field = pool_field_at(0);
    pool_field_params params = {.struct_size = sizeof(params)};
    pool_field *made;
    uint8_t x[96] = {0};
    const pool_status bad = POOL_ERR_INVALID_ARGUMENT;

    (void)state;
    pool_field_params_init(NULL, 64);
    assert_null(pool_field_by_name(NULL));
    assert_int_equal(pool_last_error()->status, bad);
    assert_int_equal(pool_field_create(NULL, &made), bad);
    assert_int_equal(pool_field_create(&params, NULL), bad);
    assert_null(pool_field_retain(NULL));
    assert_string_equal(pool_field_name(NULL), "");
    assert_int_equal(pool_field_bits(NULL), 0);
    assert_int_equal(pool_field_element_bytes(NULL), 0);
    assert_int_equal(pool_field_two_adicity(NULL), 0);
    assert_int_equal(pool_field_fingerprint(NULL, x), bad);
    assert_int_equal(pool_field_fingerprint(field, NULL), bad);
    assert_int_equal(pool_field_modulus(NULL, x), bad);
    assert_int_equal(pool_field_modulus(field, NULL), bad);
    assert_int_equal(pool_field_generator(NULL, POOL_FORM_STANDARD, x), bad);
    assert_int_equal(pool_field_generator(field, POOL_FORM_STANDARD, NULL), bad);
    assert_int_equal(pool_field_generator(field, (pool_form)7, x), bad);
    assert_int_equal(pool_field_root_of_unity(NULL, NULL, 0, POOL_FORM_STANDARD, x), bad);
    assert_int_equal(pool_field_root_of_unity(field, NULL, 0, POOL_FORM_STANDARD, NULL), bad);
    assert_int_equal(pool_field_root_of_unity(field, NULL, 29, POOL_FORM_STANDARD, x), bad);
    assert_int_equal(
        pool_field_root_of_unity(field, "none", 1, POOL_FORM_STANDARD, x), POOL_ERR_NOT_FOUND);
    assert_int_equal(pool_field_parse(NULL, "1", POOL_FORM_STANDARD, x), bad);
    assert_int_equal(pool_field_parse(field, NULL, POOL_FORM_STANDARD, x), bad);
    assert_int_equal(pool_field_parse(field, "1", POOL_FORM_STANDARD, NULL), bad);
    assert_int_equal(pool_field_parse(field, "1q", POOL_FORM_STANDARD, x), POOL_ERR_BAD_DATA);
    assert_int_equal(pool_field_check(NULL, x, 1, NULL), bad);
    assert_int_equal(pool_field_check(field, NULL, 1, NULL), bad);
    assert_int_equal(pool_field_check(field, NULL, 0, NULL), POOL_OK);
    assert_int_equal(pool_field_to_montgomery(NULL, x, 1, x), bad);
    assert_int_equal(pool_field_to_montgomery(field, NULL, 1, x), bad);
    assert_int_equal(pool_field_to_montgomery(field, x, 1, NULL), bad);
    assert_int_equal(pool_field_from_montgomery(NULL, x, 1, x), bad);
    assert_int_equal(pool_field_from_montgomery(field, NULL, 1, x), bad);
    assert_int_equal(pool_field_from_montgomery(field, x, 1, NULL), bad);
    for (int i = 0; i < 6; i++) {
        const pool_field *f = i == 0 ? NULL : field;
        uint8_t *from = i == 1 ? NULL : x;
        uint8_t *to = i == 2 ? NULL : x + 48;
        pool_byte_order order = i == 3 ? (pool_byte_order)2 : POOL_BIG_ENDIAN;
        pool_form form = i == 4 ? (pool_form)-1 : POOL_FORM_STANDARD;
        size_t width = i == 5 ? 0 : 32;

        assert_int_equal(pool_field_from_bytes(f, width, order, from, 1, form, to), bad);
        assert_int_equal(pool_field_to_bytes(f, form, from, 1, width, order, to), bad);
        assert_int_equal(pool_field_reduce_bytes(f, width, order, from, 1, form, to), bad);
    }
    assert_int_equal(pool_field_reduce_bytes(
                         field, 64, POOL_BIG_ENDIAN, x, SIZE_MAX / 32, POOL_FORM_STANDARD, x),
        bad);
    for (int i = 0; i < 5; i++) {
        const pool_field *f = i == 0 ? NULL : field;
        const void *from = i == 1 ? NULL : x;
        pool_form form = i == 2 ? (pool_form)7 : POOL_FORM_STANDARD;
        pool_radix radix = i == 3 ? (pool_radix)10 : POOL_DECIMAL;
        char text[8], *to = i == 4 ? NULL : text;

        assert_int_equal(pool_field_format(f, form, from, radix, to, sizeof(text), NULL), bad);
    }
    assert_non_null(strstr(pool_last_error()->message, "`string` must not be NULL"));
    assert_int_equal(pool_random_scalars(NULL, 1, 1, POOL_FORM_STANDARD, x), bad);
    assert_int_equal(pool_random_scalars(field, 1, 1, POOL_FORM_STANDARD, NULL), bad);
    assert_int_equal(pool_random_scalars(field, 1, 1, (pool_form)9, x), bad);
}

/* Element i depends on seed and i only, is below p, and forms agree. */
static void test_random_scalars(void **state)
{
    (void)state;
    for (size_t f = 0; f < pool_field_count(); f++) {
        const pool_field *field = pool_field_at(f);
        size_t bytes = field->bytes;
        uint8_t many[50 * 96], few[3 * 96], montgomery[50 * 96];

        assert_int_equal(pool_random_scalars(field, 9, 50, POOL_FORM_STANDARD, many), POOL_OK);
        assert_int_equal(pool_random_scalars(field, 9, 3, POOL_FORM_STANDARD, few), POOL_OK);
        assert_memory_equal(many, few, 3 * bytes);
        assert_int_equal(pool_field_check(field, many, 50, NULL), POOL_OK);
        assert_int_equal(
            pool_random_scalars(field, 9, 50, POOL_FORM_MONTGOMERY, montgomery), POOL_OK);
        assert_int_equal(pool_field_from_montgomery(field, montgomery, 50, montgomery), POOL_OK);
        assert_memory_equal(many, montgomery, 50 * bytes);
        assert_int_equal(pool_random_scalars(field, 10, 3, POOL_FORM_STANDARD, few), POOL_OK);
        assert_memory_not_equal(many, few, bytes);
        assert_memory_not_equal(many, many + bytes, bytes);
    }
}

static int countdown(void *user)
{
    int *left = user;

    return (*left)-- <= 0;
}

static void test_memory_fails(void **state)
{
    pool_status status = POOL_ERR_INTERNAL;
    int failures = 0;

    (void)state;
    for (int allowed = 0; status; allowed++) {
        int left = allowed;

        assert_true(allowed < 1000);
        base_alloc_set_hook(countdown, &left);
        status = create("115792089237316195423570985008687907853269984665640564039457584007908834"
                        "671663",
            "3", NULL);
        base_alloc_set_hook(NULL, NULL);
        if (status) {
            assert_int_equal(status, POOL_ERR_OUT_OF_HOST_MEMORY);
            failures++;
        }
    }
    assert_true(failures >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_moduli),
        cmocka_unit_test(test_small_moduli),
        cmocka_unit_test(test_primality_parts),
        cmocka_unit_test(test_generators_and_roots),
        cmocka_unit_test(test_given_root_is_used),
        cmocka_unit_test(test_params),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_custom_equals_builtin),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_null_arguments),
        cmocka_unit_test(test_random_scalars),
        cmocka_unit_test(test_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
