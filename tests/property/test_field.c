/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host field arithmetic compared with GMP: constants, every operation on edge cases and random
 * pairs, and the field laws.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/field.h"
#include "support/sample.h"
#include "zk/field/integer.h"

enum {
    RANDOM_PAIRS = 10000, /* of which a sample has a quarter */
    EDGE_MAX = 160,
};

/* One field under test with its numbers in GMP. */
struct subject {
    pool_field *field;
    size_t n;
    mpz_t p, r, r_inverse;
    uint64_t edges[EDGE_MAX][FIELD_MAX_LIMBS];
    size_t edge_count;
};

static void add_edge(struct subject *s, const mpz_t value)
{
    if (mpz_sgn(value) < 0 || mpz_cmp(value, s->p) >= 0 || s->edge_count == EDGE_MAX)
        return;
    mpz_to_limbs(s->edges[s->edge_count++], s->n, value);
}

/* 0 1 2, p - 1 p - 2, halves, R, R^2, limbs of all ones and all zeros in every position, p with one
 * limb changed. */
static void make_edges(struct subject *s)
{
    mpz_t x, y;

    mpz_inits(x, y, NULL);
    for (unsigned i = 0; i < 3; i++) {
        mpz_set_ui(x, i);
        add_edge(s, x);
        mpz_sub_ui(x, s->p, i + 1);
        add_edge(s, x);
        mpz_fdiv_q_2exp(x, s->p, 1);
        mpz_add_ui(x, x, i);
        add_edge(s, x);
    }
    mpz_mod(x, s->r, s->p);
    add_edge(s, x);
    mpz_mul(x, x, x);
    mpz_mod(x, x, s->p);
    add_edge(s, x);
    for (size_t low = 0; low < s->n; low++) {
        for (size_t high = low + 1; high <= s->n; high++) {
            /* ones in limbs [low, high), and the same below p */
            mpz_set_ui(x, 0);
            mpz_setbit(x, 64 * high);
            mpz_set_ui(y, 0);
            mpz_setbit(y, 64 * low);
            mpz_sub(x, x, y);
            add_edge(s, x);
            mpz_sub(x, s->p, x);
            add_edge(s, x);
        }
    }
    mpz_clears(x, y, NULL);
}

static void subject_open(struct subject *s, size_t index)
{
    memset(s, 0, sizeof(*s));
    s->field = tested_field(index);
    s->n = s->field->limbs;
    mpz_inits(s->p, s->r, s->r_inverse, NULL);
    modulus_to_mpz(s->p, s->field);
    mpz_setbit(s->r, 32 * s->field->words);
    assert_true(mpz_invert(s->r_inverse, s->r, s->p));
    make_edges(s);
}

static void subject_close(struct subject *s)
{
    mpz_clears(s->p, s->r, s->r_inverse, NULL);
    pool_field_destroy(&s->field);
    assert_null(s->field);
}

static void assert_limbs(
    const struct subject *s, const uint64_t *got, const mpz_t expected, const char *what)
{
    uint64_t limbs[FIELD_MAX_LIMBS];

    mpz_to_limbs(limbs, s->n, expected);
    if (memcmp(got, limbs, s->n * 8)) {
        gmp_fprintf(
            stderr, "%s in %s mod %Zx: expected %Zx\n", what, s->field->name, s->p, expected);
        fail();
    }
}

static void check_pair(const struct subject *s, const uint64_t *x, const uint64_t *y)
{
    uint64_t got[FIELD_MAX_LIMBS];
    mpz_t a, b, e;

    mpz_inits(a, b, e, NULL);
    limbs_to_mpz(a, x, s->n);
    limbs_to_mpz(b, y, s->n);

    mpz_add(e, a, b);
    mpz_mod(e, e, s->p);
    field_add(s->field, got, x, y);
    assert_limbs(s, got, e, "add");

    mpz_sub(e, a, b);
    mpz_mod(e, e, s->p);
    field_sub(s->field, got, x, y);
    assert_limbs(s, got, e, "sub");

    mpz_mul(e, a, b);
    mpz_mul(e, e, s->r_inverse);
    mpz_mod(e, e, s->p);
    field_mul(s->field, got, x, y);
    assert_limbs(s, got, e, "mul");
    /* results over either argument */
    field_copy(s->field, got, x);
    field_mul(s->field, got, got, y);
    assert_limbs(s, got, e, "mul over x");
    field_copy(s->field, got, y);
    field_mul(s->field, got, x, got);
    assert_limbs(s, got, e, "mul over y");

    mpz_clears(a, b, e, NULL);
}

static void check_single(const struct subject *s, const uint64_t *x)
{
    uint64_t got[FIELD_MAX_LIMBS];
    mpz_t a, e;

    mpz_inits(a, e, NULL);
    limbs_to_mpz(a, x, s->n);

    mpz_neg(e, a);
    mpz_mod(e, e, s->p);
    field_neg(s->field, got, x);
    assert_limbs(s, got, e, "neg");

    mpz_mul_2exp(e, a, 1);
    mpz_mod(e, e, s->p);
    field_double(s->field, got, x);
    assert_limbs(s, got, e, "double");
    field_halve(s->field, got, got);
    assert_limbs(s, got, a, "halve");

    mpz_mul(e, a, a);
    mpz_mul(e, e, s->r_inverse);
    mpz_mod(e, e, s->p);
    field_sqr(s->field, got, x);
    assert_limbs(s, got, e, "sqr");

    mpz_mul(e, a, s->r);
    mpz_mod(e, e, s->p);
    field_to_montgomery(s->field, got, x);
    assert_limbs(s, got, e, "to Montgomery");
    field_from_montgomery(s->field, got, got);
    assert_limbs(s, got, a, "from Montgomery");

    assert_true(field_is_canonical(s->field, x));
    assert_int_equal(field_is_zero(s->field, x), mpz_sgn(a) == 0);
    mpz_mul_2exp(e, a, 1);
    field_to_montgomery(s->field, got, x);
    assert_int_equal(field_is_larger_half(s->field, got), mpz_cmp(e, s->p) > 0);

    mpz_clears(a, e, NULL);
}

/* Inverse, character, root and power of a standard value. */
static void check_costly(const struct subject *s, const uint64_t *x)
{
    uint64_t m[FIELD_MAX_LIMBS], got[FIELD_MAX_LIMBS];
    mpz_t a, e;
    int character;

    mpz_inits(a, e, NULL);
    limbs_to_mpz(a, x, s->n);
    field_to_montgomery(s->field, m, x);

    if (!mpz_invert(e, a, s->p))
        mpz_set_ui(e, 0);
    field_inverse(s->field, got, m);
    field_from_montgomery(s->field, got, got);
    assert_limbs(s, got, e, "inverse");

    character = mpz_legendre(a, s->p);
    assert_int_equal(field_legendre(s->field, m), character);
    assert_int_equal(field_sqrt(s->field, got, m), character >= 0);
    if (character >= 0) {
        field_sqr(s->field, got, got);
        assert_memory_equal(got, m, s->n * 8);
    }

    mpz_powm(e, a, a, s->p);
    field_pow(s->field, got, m, x, s->n);
    field_from_montgomery(s->field, got, got);
    assert_limbs(s, got, e, "pow");
    mpz_clears(a, e, NULL);
}

static void test_constants(void **state)
{
    (void)state;
    for (size_t i = 0; i < tested_field_count(); i++) {
        struct subject s;
        uint64_t got[FIELD_MAX_LIMBS];
        mpz_t e, t;

        subject_open(&s, i);
        mpz_inits(e, t, NULL);
        assert_int_not_equal(mpz_probab_prime_p(s.p, 40), 0);
        assert_int_equal(s.field->bits, mpz_sizeinbase(s.p, 2));
        assert_int_equal(s.field->limbs, (s.field->bits + 63) / 64);
        assert_int_equal(s.field->spare_bits, 32 * s.field->words - s.field->bits);
        mpz_mod(e, s.r, s.p);
        assert_limbs(&s, s.field->one, e, "R");
        mpz_mul(e, e, e);
        mpz_mod(e, e, s.p);
        assert_limbs(&s, s.field->r2, e, "R^2");
        assert_true(s.field->inverse64 * s.field->modulus[0] == UINT64_MAX);
        assert_true(s.field->inverse32 * (uint32_t)s.field->modulus[0] == UINT32_MAX);
        mpz_sub_ui(e, s.p, 1);
        assert_int_equal(s.field->two_adicity, mpz_scan1(e, 0));
        mpz_fdiv_q_2exp(e, e, s.field->two_adicity);
        assert_limbs(&s, s.field->odd_part, e, "odd part");
        /* the generator is no square, and the root is its power and has its order */
        field_from_montgomery(s.field, got, s.field->generator);
        limbs_to_mpz(t, got, s.n);
        assert_int_equal(mpz_legendre(t, s.p), -1);
        mpz_powm(t, t, e, s.p);
        field_from_montgomery(s.field, got, s.field->root);
        assert_limbs(&s, got, t, "root");
        for (unsigned k = 1; k < s.field->two_adicity; k++) {
            mpz_mul(t, t, t);
            mpz_mod(t, t, s.p);
        }
        mpz_add_ui(t, t, 1);
        assert_int_equal(mpz_cmp(t, s.p), 0);
        field_mul(s.field, got, s.field->root, s.field->inverse_root);
        assert_memory_equal(got, s.field->one, s.n * 8);
        mpz_clears(e, t, NULL);
        subject_close(&s);
    }
}

static void test_edges(void **state)
{
    (void)state;
    for (size_t i = 0; i < tested_field_count(); i++) {
        struct subject s;

        subject_open(&s, i);
        assert_true(s.edge_count >= 3);
        for (size_t x = 0; x < s.edge_count; x++) {
            check_single(&s, s.edges[x]);
            check_costly(&s, s.edges[x]);
            for (size_t y = 0; y < s.edge_count; y++)
                check_pair(&s, s.edges[x], s.edges[y]);
        }
        assert_false(field_is_canonical(s.field, s.field->modulus));
        subject_close(&s);
    }
}

/* A random element with limbs 0, 1, 2^63 and the last two among its own, where carries go wrong. */
static void random_with_borders(const struct subject *s, uint64_t seed, uint64_t k, uint64_t *x)
{
    static const uint64_t borders[] = {0, 1, (uint64_t)1 << 63, UINT64_MAX - 1, UINT64_MAX};
    uint64_t choice[FIELD_MAX_LIMBS];

    field_random(s->field, seed, 2 * k, x);
    field_random(s->field, seed, 2 * k + 1, choice);
    for (size_t i = 0; i < s->n; i++) {
        uint64_t kind = (choice[0] >> (4 * i)) % 16;

        if (kind < sizeof(borders) / sizeof(borders[0]))
            x[i] = borders[kind];
    }
    while (!field_is_canonical(s->field, x))
        x[s->n - 1] /= 2;
}

static void test_random_with_borders(void **state)
{
    (void)state;
    for (size_t i = 0; i < tested_field_count(); i++) {
        struct subject s;
        uint64_t x[FIELD_MAX_LIMBS], y[FIELD_MAX_LIMBS];

        subject_open(&s, i);
        for (uint64_t k = 0; k < RANDOM_PAIRS / (takes_a_sample() ? 4 : 1); k++) {
            random_with_borders(&s, 3, k, x);
            random_with_borders(&s, 4, k, y);
            check_pair(&s, x, y);
            check_single(&s, x);
        }
        subject_close(&s);
    }
}

static void test_random(void **state)
{
    (void)state;
    for (size_t i = 0; i < tested_field_count(); i++) {
        struct subject s;
        uint64_t x[FIELD_MAX_LIMBS], y[FIELD_MAX_LIMBS];

        subject_open(&s, i);
        for (uint64_t k = 0; k < RANDOM_PAIRS / (takes_a_sample() ? 4 : 1); k++) {
            field_random(s.field, 1, k, x);
            field_random(s.field, 2, k, y);
            check_pair(&s, x, y);
            check_single(&s, x);
            if (k % 64 == 0)
                check_costly(&s, x);
        }
        subject_close(&s);
    }
}

static void test_batch_inverse(void **state)
{
    enum { COUNT = 37 };
    (void)state;
    for (size_t i = 0; i < tested_field_count(); i++) {
        struct subject s;
        uint64_t values[COUNT * FIELD_MAX_LIMBS], scratch[COUNT * FIELD_MAX_LIMBS];
        uint64_t single[COUNT * FIELD_MAX_LIMBS];

        subject_open(&s, i);
        for (size_t k = 0; k < COUNT; k++) {
            field_random(s.field, 3, k, values + k * s.n);
            if (k % 5 == 0)
                field_set_zero(s.field, values + k * s.n);
            field_inverse(s.field, single + k * s.n, values + k * s.n);
        }
        field_batch_inverse(s.field, values, COUNT, scratch);
        assert_memory_equal(values, single, COUNT * s.n * 8);
        field_batch_inverse(s.field, values, 0, scratch);
        subject_close(&s);
    }
}

/* Byte strings of both orders and several widths against GMP; strict refusal of p and above. */
static void test_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < tested_field_count(); i++) {
        struct subject s;
        size_t least;

        subject_open(&s, i);
        least = (s.field->bits + 7) / 8;
        for (size_t k = 0; k < s.edge_count; k++) {
            for (size_t width = least; width <= least + 17; width += 17) {
                for (int order = 0; order < 2; order++) {
                    uint8_t bytes[128] = {0}, again[128], element[96], back[96];
                    mpz_t a;
                    size_t size;

                    mpz_init(a);
                    limbs_to_mpz(a, s.edges[k], s.n);
                    size = (mpz_sizeinbase(a, 2) + 7) / 8;
                    if (mpz_sgn(a))
                        mpz_export(
                            order ? bytes + width - size : bytes, NULL, order ? 1 : -1, 1, 1, 0, a);
                    assert_int_equal(pool_field_from_bytes(s.field, width, (pool_byte_order)order,
                                         bytes, 1, POOL_FORM_MONTGOMERY, element),
                        POOL_OK);
                    assert_int_equal(pool_field_to_bytes(s.field, POOL_FORM_MONTGOMERY, element, 1,
                                         width, (pool_byte_order)order, again),
                        POOL_OK);
                    assert_memory_equal(bytes, again, width);
                    assert_int_equal(
                        pool_field_from_montgomery(s.field, element, 1, back), POOL_OK);
                    assert_memory_equal(back, s.edges[k], s.field->bytes);
                    mpz_clear(a);
                }
            }
        }
        subject_close(&s);
    }
}

static void test_bytes_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < tested_field_count(); i++) {
        struct subject s;
        uint8_t bytes[2 * 128], element[2 * 96], untouched[2 * 96];
        size_t width, bad = 99;

        subject_open(&s, i);
        width = (s.field->bits + 7) / 8 + 1;
        memset(element, 0x5a, sizeof(element));
        memset(untouched, 0x5a, sizeof(untouched));
        memset(bytes, 0, sizeof(bytes));
        field_integer_to_bytes(bytes + width, width, true, s.field->modulus, s.n);
        assert_int_equal(pool_field_from_bytes(s.field, width, POOL_BIG_ENDIAN, bytes, 2,
                             POOL_FORM_STANDARD, element),
            POOL_ERR_BAD_DATA);
        field_integer_to_bytes(bytes + width, width, false, s.field->modulus, s.n);
        assert_int_equal(pool_field_from_bytes(s.field, width, POOL_LITTLE_ENDIAN, bytes, 2,
                             POOL_FORM_STANDARD, element),
            POOL_ERR_BAD_DATA);
        memset(bytes, 0, sizeof(bytes));
        bytes[width] = 0x80; /* far above p in a byte of the encoding */
        assert_int_equal(pool_field_from_bytes(s.field, width, POOL_BIG_ENDIAN, bytes, 2,
                             POOL_FORM_STANDARD, element),
            POOL_ERR_BAD_DATA);
        assert_memory_equal(element, untouched, sizeof(element));
        memset(element, 0, sizeof(element));
        field_store(s.field, element + s.field->bytes, s.field->modulus);
        assert_int_equal(pool_field_check(s.field, element, 2, &bad), POOL_ERR_BAD_DATA);
        assert_int_equal(bad, 1);
        memset(untouched, 0x5a, sizeof(untouched));
        assert_int_equal(
            pool_field_to_montgomery(s.field, element, 2, untouched), POOL_ERR_BAD_DATA);
        assert_int_equal(untouched[0], 0x5a);
        if (s.field->bits > 8)
            assert_int_equal(pool_field_to_bytes(s.field, POOL_FORM_STANDARD, element, 1,
                                 (s.field->bits + 7) / 8 - 1, POOL_BIG_ENDIAN, bytes),
                POOL_ERR_INVALID_ARGUMENT);
        subject_close(&s);
    }
}

/* Text as GMP writes it, read back to the same element. */
static void assert_format(const struct subject *s, const uint64_t *value)
{
    uint8_t element[96], montgomery[96], back[96];
    mpz_t a;

    mpz_init(a);
    limbs_to_mpz(a, value, s->n);
    field_store(s->field, element, value);
    assert_int_equal(pool_field_to_montgomery(s->field, element, 1, montgomery), POOL_OK);
    for (int radix = POOL_DECIMAL; radix <= POOL_HEXADECIMAL; radix++) {
        char text[POOL_FIELD_STRING_BYTES + 1], expected[POOL_FIELD_STRING_BYTES + 1];
        size_t needed = 0, reported = 0;

        gmp_snprintf(expected, sizeof(expected), radix == POOL_DECIMAL ? "%Zd" : "0x%Zx", a);
        assert_int_equal(pool_field_format(s->field, POOL_FORM_STANDARD, element, (pool_radix)radix,
                             NULL, 0, &needed),
            POOL_OK);
        assert_int_equal(needed, strlen(expected) + 1);
        memset(text, '#', sizeof(text));
        assert_int_equal(pool_field_format(s->field, POOL_FORM_MONTGOMERY, montgomery,
                             (pool_radix)radix, text, needed - 1, &reported),
            POOL_ERR_INVALID_ARGUMENT);
        assert_int_equal(reported, needed);
        assert_int_equal(text[0], '#');
        assert_int_equal(pool_field_format(s->field, POOL_FORM_MONTGOMERY, montgomery,
                             (pool_radix)radix, text, needed, NULL),
            POOL_OK);
        assert_string_equal(text, expected);
        assert_int_equal(text[needed], '#');
        assert_int_equal(pool_field_parse(s->field, text, POOL_FORM_STANDARD, back), POOL_OK);
        assert_memory_equal(back, element, s->field->bytes);
    }
    mpz_clear(a);
}

static void test_format(void **state)
{
    (void)state;
    for (size_t i = 0; i < tested_field_count(); i++) {
        struct subject s;
        uint64_t value[FIELD_MAX_LIMBS];
        uint8_t bad[96];
        size_t needed;

        subject_open(&s, i);
        for (size_t k = 0; k < s.edge_count; k++)
            assert_format(&s, s.edges[k]);
        for (uint64_t k = 0; k < 50; k++) {
            field_random(s.field, 17, k, value);
            assert_format(&s, value);
        }
        field_store(s.field, bad, s.field->modulus);
        assert_int_equal(
            pool_field_format(s.field, POOL_FORM_STANDARD, bad, POOL_DECIMAL, NULL, 0, &needed),
            POOL_ERR_BAD_DATA);
        subject_close(&s);
    }
}

/* Values of any width against GMP's remainders: all ones, all zeros, p and its neighbours, random.
 */
static void test_reduce(void **state)
{
    (void)state;
    for (size_t i = 0; i < tested_field_count(); i++) {
        struct subject s;

        subject_open(&s, i);
        for (size_t k = 0; k < 600; k++) {
            pool_byte_order order = (pool_byte_order)(k % 2);
            size_t width = 1 + k % 203;
            uint8_t bytes[2 * 203], elements[2 * 96], standard[2 * 96];

            for (size_t j = 0; j < 2 * width; j++)
                bytes[j] = k < 4 ? 255 : k < 8 ? 0 : (uint8_t)rand();
            if (k >= 400 && width >= s.field->bytes) {
                memset(bytes, 0, 2 * width);
                field_integer_to_bytes(
                    bytes, width, order == POOL_BIG_ENDIAN, s.field->modulus, s.n);
                bytes[width + (order == POOL_BIG_ENDIAN ? width - 1 : 0)] = (uint8_t)k;
            }
            assert_int_equal(pool_field_reduce_bytes(
                                 s.field, width, order, bytes, 2, POOL_FORM_MONTGOMERY, elements),
                POOL_OK);
            assert_int_equal(pool_field_reduce_bytes(
                                 s.field, width, order, bytes, 2, POOL_FORM_STANDARD, standard),
                POOL_OK);
            assert_int_equal(pool_field_from_montgomery(s.field, elements, 2, elements), POOL_OK);
            assert_memory_equal(elements, standard, 2 * s.field->bytes);
            for (size_t j = 0; j < 2; j++) {
                uint64_t got[FIELD_MAX_LIMBS];
                mpz_t value;

                mpz_init(value);
                mpz_import(
                    value, width, order == POOL_BIG_ENDIAN ? 1 : -1, 1, 0, 0, bytes + j * width);
                mpz_mod(value, value, s.p);
                field_load(s.field, got, standard + j * s.field->bytes);
                assert_limbs(&s, got, value, "reduce_bytes");
                mpz_clear(value);
            }
        }
        subject_close(&s);
    }
}

/* Fp2 with the smallest usable non-residue: laws, inverses and roots. */
static void test_extension(void **state)
{
    (void)state;
    for (size_t i = 0; i < tested_field_count(); i++) {
        struct subject s;
        struct field_extension f;
        int32_t nonresidue = -1;
        uint64_t x[24], y[24], z[24], a[24], b[24];

        subject_open(&s, i);
        while (field_jacobi_small(s.field, nonresidue) != -1)
            nonresidue--;
        assert_int_equal(field_extension_init(&f, s.field, nonresidue), POOL_OK);
        for (uint64_t k = 0; k < 60; k++) {
            uint64_t *sides[] = {x, y, z};

            for (uint64_t c = 0; c < 6; c++)
                field_random(s.field, 10 + c, k, sides[c / 2] + c % 2 * s.n);
            if (k % 10 == 0)
                field_set_zero(s.field, x + s.n);
            if (k % 10 == 1)
                field_set_zero(s.field, x);
            /* x (y z) = (x y) z and x (y + z) = x y + x z */
            field_extension_mul(&f, a, y, z);
            field_extension_mul(&f, a, x, a);
            field_extension_mul(&f, b, x, y);
            field_extension_mul(&f, b, b, z);
            assert_true(field_extension_equal(&f, a, b));
            field_extension_add(&f, a, y, z);
            field_extension_mul(&f, a, x, a);
            field_extension_mul(&f, b, x, y);
            field_extension_mul(&f, z, x, z);
            field_extension_add(&f, b, b, z);
            assert_true(field_extension_equal(&f, a, b));
            field_extension_sqr(&f, a, x);
            field_extension_mul(&f, b, x, x);
            assert_true(field_extension_equal(&f, a, b));
            field_extension_copy(&f, b, x);
            field_extension_sqr(&f, b, b);
            assert_true(field_extension_equal(&f, a, b));
            assert_true(field_extension_sqrt(&f, b, a));
            field_extension_sqr(&f, b, b);
            assert_true(field_extension_equal(&f, a, b));
            if (!field_extension_is_zero(&f, x)) {
                field_extension_inverse(&f, a, x);
                field_extension_mul(&f, a, a, x);
                field_extension_set_one(&f, b);
                assert_true(field_extension_equal(&f, a, b));
            }
        }
        /* u itself squares to the non-residue */
        field_extension_set_zero(&f, x);
        field_set_one(s.field, x + s.n);
        field_extension_sqr(&f, x, x);
        assert_true(field_equal(s.field, x, f.nonresidue_element));
        assert_true(field_is_zero(s.field, x + s.n));
        subject_close(&s);
    }
}

/* In F_p^2 exactly half of the non-zero elements are squares: counted for small fields. */
static void test_extension_squares_counted(void **state)
{
    static const char *const moduli[] = {"3", "5", "7", "13", "17", "31"};

    (void)state;
    for (size_t i = 0; i < sizeof(moduli) / sizeof(moduli[0]); i++) {
        pool_field_params params = {.struct_size = sizeof(params)};
        struct field_extension f;
        pool_field *field;
        uint64_t squares = 0, p;
        int32_t nonresidue = -1;

        params.modulus = moduli[i];
        assert_int_equal(pool_field_create(&params, &field), POOL_OK);
        p = field->modulus[0];
        while (field_jacobi_small(field, nonresidue) != -1)
            nonresidue--;
        assert_int_equal(field_extension_init(&f, field, nonresidue), POOL_OK);
        for (uint64_t k = 0; k < p * p; k++) {
            uint64_t x[2] = {k % p, k / p}, root[2];

            if (field_extension_sqrt(&f, root, x)) {
                field_extension_sqr(&f, root, root);
                assert_memory_equal(root, x, sizeof(x));
                squares++;
            }
        }
        assert_int_equal(squares, (p * p + 1) / 2);
        pool_field_destroy(&field);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_random_with_borders),
        cmocka_unit_test(test_batch_inverse),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_bytes_refused),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_extension),
        cmocka_unit_test(test_extension_squares_counted),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    if (!failed && make_products_plain())
        failed = cmocka_run_group_tests_name("tests, products in C", tests, NULL, NULL);
    return failed;
}
