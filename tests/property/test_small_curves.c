/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Curves with so few points that schoolbook arithmetic provides the whole group table: every
 * pair of points, every coordinate system, every exceptional case; every byte string of an
 * encoding.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "support/curve.h"

enum {
    CURVES = 32, /* at least twenty are required */
    MAX_POINTS = 200,
};

/* c0 + c1 u with u^2 = beta; c1 is 0 in a prime field. */
struct element {
    int c0, c1;
};

struct point {
    struct element x, y;
    int infinity;
};

struct small {
    int p, beta; /* beta 0: prime field */
    struct element a, b;
    struct point points[MAX_POINTS]; /* 0 is infinity */
    int count;
    int order, generator; /* odd prime, and a point of that order */
};

static int mod(int x, int p)
{
    return (x % p + p) % p;
}

static struct element add(const struct small *s, struct element x, struct element y)
{
    return (struct element){mod(x.c0 + y.c0, s->p), mod(x.c1 + y.c1, s->p)};
}

static struct element sub(const struct small *s, struct element x, struct element y)
{
    return (struct element){mod(x.c0 - y.c0, s->p), mod(x.c1 - y.c1, s->p)};
}

static struct element mul(const struct small *s, struct element x, struct element y)
{
    return (struct element){mod(x.c0 * y.c0 + mod(s->beta, s->p) * mod(x.c1 * y.c1, s->p), s->p),
        mod(x.c0 * y.c1 + x.c1 * y.c0, s->p)};
}

static int same(struct element x, struct element y)
{
    return x.c0 == y.c0 && x.c1 == y.c1;
}

/* By looking for it. */
static struct element inverse(const struct small *s, struct element x)
{
    for (int i = 0; i < (s->beta ? s->p * s->p : s->p); i++) {
        struct element candidate = {i % s->p, i / s->p};

        if (same(mul(s, x, candidate), (struct element){1, 0}))
            return candidate;
    }
    fail();
    return x;
}

/* The schoolbook: chord and tangent. */
static struct point add_points(const struct small *s, struct point p, struct point q)
{
    struct point sum = {{0, 0}, {0, 0}, 0};
    struct element slope;

    if (p.infinity)
        return q;
    if (q.infinity)
        return p;
    if (same(p.x, q.x)) {
        struct element square = mul(s, p.x, p.x);

        if (!same(p.y, q.y) || same(p.y, (struct element){0, 0})) {
            sum.infinity = 1;
            return sum;
        }
        slope = add(s, add(s, square, square), add(s, square, s->a));
        slope = mul(s, slope, inverse(s, add(s, p.y, p.y)));
    } else {
        slope = mul(s, sub(s, q.y, p.y), inverse(s, sub(s, q.x, p.x)));
    }
    sum.x = sub(s, sub(s, mul(s, slope, slope), p.x), q.x);
    sum.y = sub(s, mul(s, slope, sub(s, p.x, sum.x)), p.y);
    return sum;
}

static int find_point(const struct small *s, struct point p)
{
    for (int i = 0; i < s->count; i++) {
        const struct point *q = &s->points[i];

        if (p.infinity ? q->infinity : !q->infinity && same(p.x, q->x) && same(p.y, q->y))
            return i;
    }
    fail_msg("a sum is not on the curve");
    return -1;
}

static struct point multiple(const struct small *s, int k, struct point p)
{
    struct point sum = s->points[0];

    while (k-- > 0)
        sum = add_points(s, sum, p);
    return sum;
}

static void enumerate(struct small *s)
{
    int size = s->beta ? s->p * s->p : s->p;

    s->count = 1;
    s->points[0] = (struct point){{0, 0}, {0, 0}, 1};
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            struct element x = {i % s->p, i / s->p}, y = {j % s->p, j / s->p};
            struct element right = add(s, mul(s, add(s, mul(s, x, x), s->a), x), s->b);

            if (same(mul(s, y, y), right)) {
                assert_true(s->count < MAX_POINTS);
                s->points[s->count++] = (struct point){x, y, 0};
            }
        }
    }
}

static int is_singular(const struct small *s)
{
    struct element cube = mul(s, mul(s, s->a, s->a), s->a), square = mul(s, s->b, s->b);

    return same(add(s, mul(s, (struct element){mod(4, s->p), 0}, cube),
                    mul(s, (struct element){mod(27, s->p), 0}, square)),
        (struct element){0, 0});
}

/* The largest odd prime that divides the number of points, and a point of that order. */
static int choose_generator(struct small *s)
{
    s->order = 0;
    for (int n = 3; n <= s->count; n += 2) {
        int prime = s->count % n == 0;

        for (int d = 3; d * d <= n; d += 2)
            prime &= n % d != 0;
        if (prime)
            s->order = n;
    }
    for (int i = 1; i < s->count && s->order; i++) {
        if (multiple(s, s->order, s->points[i]).infinity) {
            s->generator = i;
            return 1;
        }
    }
    return 0;
}

/* A reproducible sequence of curves: a zero, minus three, general; b zero; over F_p and F_p^2. */
static uint32_t draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

static void draw_curve(struct small *s, int index, uint32_t *state)
{
    static const int primes[] = {
        5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 53, 61, 71, 83, 97, 101, 103};
    static const int extension_primes[] = {5, 7, 11, 7};
    static const int nonresidues[] = {-2, -1, -1, -4};

    do {
        uint32_t p;

        if (index % 4 == 3) {
            s->p = extension_primes[index / 4 % 4];
            s->beta = nonresidues[index / 4 % 4];
        } else {
            s->p = primes[draw(state, sizeof(primes) / sizeof(primes[0]))];
            s->beta = 0;
        }
        p = (uint32_t)s->p;
        s->a = (struct element){(int)draw(state, p), s->beta ? (int)draw(state, p) : 0};
        s->b = (struct element){(int)draw(state, p), s->beta ? (int)draw(state, p) : 0};
        if (index % 5 == 0)
            s->a = (struct element){0, 0};
        if (index % 5 == 1)
            s->a = (struct element){mod(-3, s->p), 0};
        if (index % 7 == 2 && index % 5 != 0)
            s->b = (struct element){0, 0};
        if (is_singular(s))
            continue;
        enumerate(s);
    } while (is_singular(s) || !choose_generator(s));
}

static pool_status create(
    const struct small *s, const char *cofactor, int order, int generator, pool_curve **curve)
{
    pool_field_params field_params = {.struct_size = sizeof(field_params)};
    pool_curve_params params = {.struct_size = sizeof(params)};
    const struct point *g = &s->points[generator];
    const int numbers[] = {
        s->p, order, s->a.c0, s->a.c1, s->b.c0, s->b.c1, g->x.c0, g->x.c1, g->y.c0, g->y.c1};
    char text[10][16];
    pool_field *field;
    pool_status status;

    for (int i = 0; i < 10; i++)
        snprintf(text[i], sizeof(text[i]), "%d", numbers[i]);
    field_params.modulus = text[0];
    assert_int_equal(pool_field_create(&field_params, &field), POOL_OK);
    params.field = field;
    params.order = text[1];
    params.nonresidue = s->beta;
    params.cofactor = cofactor;
    for (int part = 0; part <= (s->beta != 0); part++) {
        params.a[part] = text[2 + part];
        params.b[part] = text[4 + part];
        params.generator_x[part] = text[6 + part];
        params.generator_y[part] = text[8 + part];
    }
    status = pool_curve_create(&params, curve);
    pool_field_destroy(&field);
    return status;
}

static void to_affine(const pool_curve *curve, struct curve_affine *q, const struct point *p)
{
    const pool_field *field = curve->coordinates.field;

    memset(q, 0, sizeof(*q));
    q->infinity = p->infinity;
    if (p->infinity)
        return;
    field_set_integer(field, q->x, p->x.c0);
    field_set_integer(field, q->y, p->y.c0);
    if (curve->coordinates.degree == 2) {
        field_set_integer(field, q->x + field->limbs, p->x.c1);
        field_set_integer(field, q->y + field->limbs, p->y.c1);
    }
}

static bool affine_points_are_equal(
    const pool_curve *curve, const struct curve_affine *p, const struct curve_affine *q)
{
    if (p->infinity || q->infinity)
        return p->infinity && q->infinity;
    return field_extension_equal(&curve->coordinates, p->x, q->x) &&
           field_extension_equal(&curve->coordinates, p->y, q->y);
}

static void assert_pair(const struct small *s, const pool_curve *curve, int i, int j)
{
    struct curve_affine p, q, expected, got;
    struct curve_jacobian pj, qj, sum;

    to_affine(curve, &p, &s->points[i]);
    to_affine(curve, &q, &s->points[j]);
    to_affine(
        curve, &expected, &s->points[find_point(s, add_points(s, s->points[i], s->points[j]))]);
    curve_jacobian_from_affine(curve, &pj, &p);
    curve_jacobian_from_affine(curve, &qj, &q);
    rescale_jacobian(curve, &pj, (uint64_t)i);
    rescale_jacobian(curve, &qj, (uint64_t)(1000 + j));

    curve_jacobian_add(curve, &sum, &pj, &qj);
    curve_jacobian_to_affine(curve, &got, &sum);
    assert_true(affine_points_are_equal(curve, &got, &expected));
    curve_jacobian_add_affine(curve, &sum, &pj, &q);
    curve_jacobian_to_affine(curve, &got, &sum);
    assert_true(affine_points_are_equal(curve, &got, &expected));
    if (i == j) {
        curve_jacobian_double(curve, &pj, &pj);
        curve_jacobian_to_affine(curve, &got, &pj);
        assert_true(affine_points_are_equal(curve, &got, &expected));
    }
    curve_jacobian_from_affine(curve, &pj, &p);
    rescale_jacobian(curve, &pj, 7);
    curve_jacobian_from_affine(curve, &qj, &q);
    assert_int_equal(curve_jacobian_equal(curve, &pj, &qj), i == j);
}

static void assert_multiples(const struct small *s, const pool_curve *curve, int i)
{
    struct point expected = s->points[0];
    struct curve_affine p, e, got;
    struct curve_jacobian pj, product;

    to_affine(curve, &p, &s->points[i]);
    curve_jacobian_from_affine(curve, &pj, &p);
    assert_int_equal(
        curve_is_in_subgroup(curve, &pj), multiple(s, s->order, s->points[i]).infinity != 0);
    for (uint64_t k = 0; k < (uint64_t)s->count + 3; k++) {
        curve_multiply(curve, &product, &pj, &k, 1);
        curve_jacobian_to_affine(curve, &got, &product);
        to_affine(curve, &e, &expected);
        assert_true(affine_points_are_equal(curve, &got, &e));
        expected = add_points(s, expected, s->points[i]);
    }
}

/* Every point through every layout and encoding; where it is one byte, every byte through decoding.
 */
static void assert_formats(const struct small *s, const pool_curve *curve)
{
    const pool_point_format own = {POOL_POINT_AFFINE_FLAG, POOL_FORM_MONTGOMERY, 0};
    int accepted = 0;

    for (int i = 0; i < s->count; i++) {
        int origin = s->points[i].infinity == 0 && same(s->points[i].x, (struct element){0, 0}) &&
                     same(s->points[i].y, (struct element){0, 0});
        uint8_t flagged[32], other[64], back[32], bytes[256];
        struct curve_affine p;

        to_affine(curve, &p, &s->points[i]);
        curve_store_affine(curve, &own, flagged, &p);
        for (int layout = origin ? 1 : 0; layout <= POOL_POINT_XYZZ; layout++) {
            pool_point_format format = {(pool_point_layout)layout, POOL_FORM_STANDARD, 0};

            assert_int_equal(
                pool_points_convert(curve, &own, flagged, 1, POOL_CHECK_ON_CURVE, &format, other),
                POOL_OK);
            assert_int_equal(
                pool_points_convert(curve, &format, other, 1, POOL_CHECK_ON_CURVE, &own, back),
                POOL_OK);
            assert_memory_equal(flagged, back, pool_point_bytes(curve, own.layout));
        }
        if (origin) { /* the layout and the encodings that would make infinity of it */
            assert_int_equal(
                pool_points_convert(curve, &own, flagged, 1, POOL_CHECK_ON_CURVE, NULL, other),
                POOL_ERR_BAD_DATA);
            assert_int_equal(
                pool_points_encode(curve, &own, flagged, 1, POOL_ENCODING_EIP2537, 0, bytes),
                POOL_ERR_BAD_DATA);
            assert_int_equal(
                pool_points_encode(curve, &own, flagged, 1, POOL_ENCODING_EIP196, 0, bytes),
                POOL_ERR_BAD_DATA);
        }
        for (int encoding = 0; encoding <= POOL_ENCODING_ARKWORKS_UNCOMPRESSED; encoding++) {
            if (!pool_encoding_bytes(curve, (pool_encoding)encoding) ||
                (encoding / 2 == 1 && origin))
                continue;
            assert_int_equal(
                pool_points_encode(curve, &own, flagged, 1, (pool_encoding)encoding, 0, bytes),
                POOL_OK);
            assert_int_equal(pool_points_decode(curve, (pool_encoding)encoding, 0, bytes, 1,
                                 POOL_CHECK_ON_CURVE, &own, back),
                POOL_OK);
            assert_memory_equal(flagged, back, pool_point_bytes(curve, own.layout));
        }
    }
    if (pool_encoding_bytes(curve, POOL_ENCODING_ZCASH_COMPRESSED) != 1)
        return;
    for (int value = 0; value < 256; value++) {
        uint8_t byte = (uint8_t)value, back[32];

        accepted += pool_points_decode(curve, POOL_ENCODING_ZCASH_COMPRESSED, 0, &byte, 1,
                        POOL_CHECK_CANONICAL, &own, back) == POOL_OK;
    }
    assert_int_equal(accepted, s->count);
}

/* Which orders, generators and cofactors are taken. */
static void assert_creation(const struct small *s, pool_curve **curve)
{
    pool_curve *refused;
    char cofactor[16];
    uint64_t derived = 0;

    snprintf(cofactor, sizeof(cofactor), "%d", s->count / s->order);
    assert_int_equal(create(s, cofactor, s->order, s->generator, curve), POOL_OK);
    pool_curve_destroy(curve);
    assert_int_equal(create(s, NULL, s->order, s->generator, curve), POOL_OK);
    if (pool_curve_cofactor(*curve, 8, (uint8_t *)&derived) == POOL_OK)
        assert_int_equal(derived, s->count / s->order);
    assert_int_equal(create(s, "0", s->order, s->generator, &refused), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(
        create(s, "9999", s->order, s->generator, &refused), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(create(s, NULL, 100003, s->generator, &refused), POOL_ERR_INVALID_ARGUMENT);
    for (int i = 1; i < s->count; i++) {
        int good = multiple(s, s->order, s->points[i]).infinity;

        assert_int_equal(
            create(s, NULL, s->order, i, &refused), good ? POOL_OK : POOL_ERR_INVALID_ARGUMENT);
        if (good)
            pool_curve_destroy(&refused);
    }
}

static void test_exhaustively(void **state)
{
    static struct small s;
    uint32_t random = 1;
    int kinds[3] = {0}, extensions = 0, order_two = 0, b_zero = 0;

    (void)state;
    for (int index = 0; index < CURVES; index++) {
        pool_curve *curve;

        draw_curve(&s, index, &random);
        assert_creation(&s, &curve);
        kinds[curve->a_kind]++;
        extensions += curve->coordinates.degree == 2;
        b_zero += same(s.b, (struct element){0, 0});
        for (int i = 0; i < s.count; i++) {
            order_two += !s.points[i].infinity && same(s.points[i].y, (struct element){0, 0});
            for (int j = 0; j < s.count; j++)
                assert_pair(&s, curve, i, j);
            assert_multiples(&s, curve, i);
        }
        assert_formats(&s, curve);
        pool_curve_destroy(&curve);
    }
    /* the draw has covered what it should */
    assert_true(kinds[CURVE_A_ZERO] >= 4 && kinds[CURVE_A_MINUS_3] >= 4);
    assert_true(kinds[CURVE_A_GENERAL] >= 8 && extensions >= 6 && order_two >= 8 && b_zero >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exhaustively),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
