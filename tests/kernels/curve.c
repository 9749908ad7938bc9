/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Additions, doublings and conversions of points on the device against the textbook's affine
 * formulas over the host's field arithmetic: curves over built-in and custom fields and their
 * quadratic extensions with a = 0, a = -3 and any a, with infinity, equal and opposite points and
 * points of order two among the pairs; and all pairs of points of small curves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "support/random.h"
#include "support/sample.h"
#include "zk/curve/emit_curve.h"

enum { MAX_LIMBS = FIELD_EXTENSION_MAX_LIMBS, CHAIN = 256, GPU_PAIRS = 2000, SIM_PAIRS = 300 };

struct point {
    uint64_t x[MAX_LIMBS];
    uint64_t y[MAX_LIMBS];
    bool is_infinity;
};

struct curve {
    struct field_extension fe;
    uint64_t a[MAX_LIMBS];
};

struct pair {
    const struct point *left;
    const struct point *right;
};

static void random_element(const struct field_extension *fe, uint64_t *x)
{
    const pool_field *field = fe->field;
    for (uint32_t at = 0; at < fe->limbs; at += field->limbs) {
        do {
            for (uint32_t i = 0; i < field->limbs; i++)
                x[at + i] = next_random();
            if (field->bits % 64 != 0)
                x[at + field->limbs - 1] &= ((uint64_t)1 << field->bits % 64) - 1;
        } while (!field_is_canonical(field, x + at));
    }
}

/* ---- reference ---- */

static void reference_neg(const struct curve *curve, struct point *r, const struct point *p)
{
    *r = *p;
    if (!p->is_infinity)
        field_extension_neg(&curve->fe, r->y, p->y);
}

static void reference_add(
    const struct curve *curve, struct point *r, const struct point *p, const struct point *q)
{
    const struct field_extension *fe = &curve->fe;
    uint64_t top[MAX_LIMBS], bottom[MAX_LIMBS], slope[MAX_LIMBS], t[MAX_LIMBS];
    struct point sum = {.is_infinity = false};
    if (p->is_infinity || q->is_infinity) {
        *r = p->is_infinity ? *q : *p;
        return;
    }
    if (!field_extension_equal(fe, p->x, q->x)) {
        field_extension_sub(fe, top, q->y, p->y);
        field_extension_sub(fe, bottom, q->x, p->x);
    } else {
        field_extension_add(fe, bottom, p->y, q->y);
        if (field_extension_is_zero(fe, bottom)) {
            *r = (struct point){.is_infinity = true};
            return;
        }
        field_extension_sqr(fe, t, p->x);
        field_extension_double(fe, top, t);
        field_extension_add(fe, top, top, t);
        field_extension_add(fe, top, top, curve->a);
    }
    field_extension_inverse(fe, t, bottom);
    field_extension_mul(fe, slope, top, t);
    field_extension_sqr(fe, sum.x, slope);
    field_extension_sub(fe, sum.x, sum.x, p->x);
    field_extension_sub(fe, sum.x, sum.x, q->x);
    field_extension_sub(fe, t, p->x, sum.x);
    field_extension_mul(fe, sum.y, slope, t);
    field_extension_sub(fe, sum.y, sum.y, p->y);
    *r = sum;
}

/* ---- one curve on the device ---- */

/* Pairs of points of one curve, packed. */
struct subject {
    struct harness *harness;
    const struct curve *curve;
    pool_module *module; /* compiled for the first stage that is selected */
    const char *name;
    const struct pair *pairs;
    uint32_t count;
    size_t bytes; /* of a coordinate */
    uint8_t *left_jacobian, *right_jacobian, *left_affine, *right_affine;
};

static void store(const struct subject *subject, uint8_t *to, const uint64_t *element)
{
    field_extension_store(&subject->curve->fe, to, POOL_FORM_MONTGOMERY, element);
}

static void store_affine(const struct subject *subject, uint8_t *to, const struct point *p)
{
    memset(to, 0, 2 * subject->bytes);
    if (p->is_infinity)
        return;
    store(subject, to, p->x);
    store(subject, to + subject->bytes, p->y);
}

/* With a random z; infinity with random x and y. */
static void store_jacobian(const struct subject *subject, uint8_t *to, const struct point *p)
{
    const struct field_extension *fe = &subject->curve->fe;
    uint64_t x[MAX_LIMBS], y[MAX_LIMBS], z[MAX_LIMBS], t[MAX_LIMBS];
    do
        random_element(fe, z);
    while (field_extension_is_zero(fe, z));
    if (p->is_infinity) {
        random_element(fe, x);
        random_element(fe, y);
        field_extension_set_zero(fe, z);
    } else {
        field_extension_sqr(fe, t, z);
        field_extension_mul(fe, x, p->x, t);
        field_extension_mul(fe, t, t, z);
        field_extension_mul(fe, y, p->y, t);
    }
    store(subject, to, x);
    store(subject, to + subject->bytes, y);
    store(subject, to + 2 * subject->bytes, z);
}

static uint8_t *pack(const struct subject *subject, bool is_left, bool is_affine)
{
    size_t size = (is_affine ? 2 : 3) * subject->bytes;
    uint8_t *packed = harness_memory(subject->count, size);
    for (uint32_t i = 0; i < subject->count; i++) {
        const struct point *p = is_left ? subject->pairs[i].left : subject->pairs[i].right;
        if (is_affine)
            store_affine(subject, packed + size * i, p);
        else
            store_jacobian(subject, packed + size * i, p);
    }
    return packed;
}

static pool_module *module_of(struct subject *subject)
{
    const struct curve *curve = subject->curve;
    const struct curve_emit_params params = {
        .field = curve->fe.field, .nonresidue = curve->fe.nonresidue, .a = curve->a};
    char *text = NULL;
    if (subject->module == NULL) {
        MUST(curve_emit_generate(&params, &text));
        subject->module =
            harness_compile(subject->harness, "point_kernels.cu", "", "curve.cuh", text);
        free(text);
    }
    return subject->module;
}

/* ---- stages and their references ---- */

/* Result i of a stage. */
typedef void point_reference(const struct subject *subject, uint32_t i, struct point *expected);

static void expect_sum(const struct subject *subject, uint32_t i, struct point *expected)
{
    reference_add(subject->curve, expected, subject->pairs[i].left, subject->pairs[i].right);
}

static void expect_double(const struct subject *subject, uint32_t i, struct point *expected)
{
    reference_add(subject->curve, expected, subject->pairs[i].left, subject->pairs[i].left);
}

static void expect_negative(const struct subject *subject, uint32_t i, struct point *expected)
{
    reference_neg(subject->curve, expected, subject->pairs[i].left);
}

static void expect_same(const struct subject *subject, uint32_t i, struct point *expected)
{
    *expected = *subject->pairs[i].left;
}

/* left[i] - right[0] + right[1] - ... right[i % 8] */
static void expect_alternating(const struct subject *subject, uint32_t i, struct point *expected)
{
    *expected = *subject->pairs[i].left;
    for (uint32_t k = 0; k <= i % 8; k++) {
        struct point term = *subject->pairs[k].right;
        if (k % 2 == 0)
            reference_neg(subject->curve, &term, subject->pairs[k].right);
        reference_add(subject->curve, expected, expected, &term);
    }
}

enum form { JACOBIAN, AFFINE };

static const struct point_stage {
    const char *kernel;
    enum form left;
    enum form right;
    point_reference *reference;
    uint32_t least; /* pairs that the kernel reads at least */
    bool is_batch;  /* one block, with scratch memory */
} point_stages[] = {
    {"add", JACOBIAN, JACOBIAN, expect_sum, 1, false},
    {"add_affine", JACOBIAN, AFFINE, expect_sum, 1, false},
    {"twice", JACOBIAN, JACOBIAN, expect_double, 1, false},
    {"negated", JACOBIAN, AFFINE, expect_negative, 1, false},
    {"alternating_sum", JACOBIAN, AFFINE, expect_alternating, 8, false},
    {"through_jacobian", JACOBIAN, JACOBIAN, expect_same, 1, false},
    {"through_projective", JACOBIAN, JACOBIAN, expect_same, 1, false},
    {"through_affine", AFFINE, AFFINE, expect_same, 1, false},
    {"batch", JACOBIAN, JACOBIAN, expect_same, 1, true},
};

static void check_stage(struct subject *subject, const struct point_stage *row)
{
    size_t size = 2 * subject->bytes;
    uint32_t count = subject->count;
    struct stage stage;
    char name[64];

    snprintf(name, sizeof(name), "curve %s", row->kernel);
    if (count < row->least ||
        !stage_begin(subject->harness, &stage, name, "%s, %u pairs", subject->name, count))
        return;
    CUdeviceptr left =
        stage_upload(&stage, row->left == AFFINE ? subject->left_affine : subject->left_jacobian,
            (row->left == AFFINE ? 2 : 3) * subject->bytes * count);
    CUdeviceptr right =
        stage_upload(&stage, row->right == AFFINE ? subject->right_affine : subject->right_jacobian,
            (row->right == AFFINE ? 2 : 3) * subject->bytes * count);
    CUdeviceptr result = stage_alloc(&stage, size * count);
    CUdeviceptr points = row->is_batch ? stage_alloc(&stage, 4 * subject->bytes * count) : 0;
    CUdeviceptr scratch = row->is_batch ? stage_alloc(&stage, subject->bytes * count) : 0;
    void *pairwise[] = {&left, &right, &result, &count};
    void *batch[] = {&left, &points, &scratch, &result, &count};
    struct kernel_launch launch = {.kernel = kernel_of(module_of(subject), row->kernel),
        .blocks = row->is_batch ? 1 : (count + 127) / 128,
        .threads = row->is_batch ? 32 : 128,
        .arguments = row->is_batch ? batch : pairwise,
        .argument_count = row->is_batch ? 5 : 4};
    uint8_t *packed = harness_memory(count, size);

    for (uint32_t i = 0; i < count; i++) {
        struct point expected;
        row->reference(subject, i, &expected);
        store_affine(subject, packed + size * i, &expected);
    }
    stage_run(&stage, kernel_launch, &launch);
    stage_compare(&stage, "point", result, packed, count, size);
    stage_end(&stage);
    free(packed);
}

static void check_pairs(struct subject *subject, const struct pair *pairs, uint32_t count)
{
    subject->pairs = pairs;
    subject->count = count;
    subject->bytes = subject->curve->fe.bytes;
    subject->left_jacobian = pack(subject, true, false);
    subject->right_jacobian = pack(subject, false, false);
    subject->left_affine = pack(subject, true, true);
    subject->right_affine = pack(subject, false, true);
    for (size_t i = 0; i < sizeof(point_stages) / sizeof(point_stages[0]); i++)
        check_stage(subject, &point_stages[i]);
    free(subject->left_jacobian);
    free(subject->right_jacobian);
    free(subject->left_affine);
    free(subject->right_affine);
}

/*
 * A curve through a random point: b is in no formula, so any (x, y) lies on the curve that it
 * defines. Points: infinity, its multiples, and their opposites.
 */
static void check_curve(struct harness *harness, const struct curve *curve, const char *a)
{
    static struct point points[2 * CHAIN];
    const struct field_extension *fe = &curve->fe;
    uint32_t count = (uint32_t)harness_size(harness, SIM_PAIRS, GPU_PAIRS);
    struct pair *pairs = harness_memory(count, sizeof *pairs);
    char name[96];
    snprintf(name, sizeof name, "%s%s, %s", pool_field_name(fe->field),
        fe->degree == 2 ? " squared" : "", a);
    struct subject subject = {.harness = harness, .curve = curve, .name = name};
    struct point order_two = {.is_infinity = false};

    points[0] = (struct point){.is_infinity = true};
    random_element(fe, points[1].x);
    random_element(fe, points[1].y);
    points[1].is_infinity = false;
    for (int i = 2; i < CHAIN; i++)
        reference_add(curve, &points[i], &points[i - 1], &points[1]);
    for (int i = 0; i < CHAIN; i++)
        reference_neg(curve, &points[CHAIN + i], &points[i]);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t left = next_random() % (2 * CHAIN), right = next_random() % (2 * CHAIN);
        uint32_t special = i % 16;
        pairs[i].left = &points[special == 0 || special == 1 ? 0 : left];
        pairs[i].right = &points[special == 0 || special == 2 ? 0
                                 : special == 3               ? left
                                 : special == 4               ? (left + CHAIN) % (2 * CHAIN)
                                                              : right];
    }
    check_pairs(&subject, pairs, count);

    random_element(fe, order_two.x);
    const struct pair two[] = {{&order_two, &order_two}, {&order_two, &points[0]}};
    check_pairs(&subject, two, 2);
    pool_module_destroy(&subject.module);
    free(pairs);
}

/* In a sample one kind of curve for three of five fields, another one for the next. */
static void check_field(struct harness *harness, const pool_field *field, int32_t nonresidue)
{
    static size_t index;
    struct curve curve;
    memset(&curve, 0, sizeof curve);
    MUST(field_extension_init(&curve.fe, field, nonresidue));
    if (is_sampled(index + 0, 5))
        check_curve(harness, &curve, "a = 0");
    field_set_integer(field, curve.a, -3);
    if (is_sampled(index + 2, 5))
        check_curve(harness, &curve, "a = -3");
    random_element(&curve.fe, curve.a);
    if (is_sampled(index + 4, 5))
        check_curve(harness, &curve, "any a");
    index++;
}

static pool_field *custom_field(const char *modulus)
{
    pool_field_params params = {.struct_size = sizeof(params)};
    pool_field *field = NULL;
    params.modulus = modulus;
    MUST(pool_field_create(&params, &field));
    return field;
}

static int32_t smallest_nonresidue(const pool_field *field)
{
    uint64_t element[FIELD_MAX_LIMBS];
    for (int32_t k = 2;; k++) {
        field_set_integer(field, element, k);
        if (field_legendre(field, element) == -1)
            return k;
    }
}

static bool is_on_curve(const struct curve *curve, const uint64_t *b, const struct point *p)
{
    const struct field_extension *fe = &curve->fe;
    uint64_t left[MAX_LIMBS], right[MAX_LIMBS];
    field_extension_sqr(fe, left, p->y);
    field_extension_sqr(fe, right, p->x);
    field_extension_add(fe, right, right, curve->a);
    field_extension_mul(fe, right, right, p->x);
    field_extension_add(fe, right, right, b);
    return field_extension_equal(fe, left, right);
}

/* 4 a^3 + 27 b^2 = 0 */
static bool is_singular(const struct curve *curve, const uint64_t *b)
{
    const struct field_extension *fe = &curve->fe;
    uint64_t left[MAX_LIMBS], right[MAX_LIMBS], factor[MAX_LIMBS] = {0};
    field_extension_sqr(fe, left, curve->a);
    field_extension_mul(fe, left, left, curve->a);
    field_set_integer(fe->field, factor, 4);
    field_extension_mul(fe, left, left, factor);
    field_extension_sqr(fe, right, b);
    field_set_integer(fe->field, factor, 27);
    field_extension_mul(fe, right, right, factor);
    field_extension_add(fe, left, left, right);
    return field_extension_is_zero(fe, left);
}

/* All pairs of points of y^2 = x^3 + a x + b over a field of a few dozen elements. */
static void check_small_curve(
    struct harness *harness, const struct curve *curve, const uint64_t *b, uint32_t prime)
{
    static struct point points[256];
    uint32_t count = 0;
    points[count++] = (struct point){.is_infinity = true};
    for (uint32_t x = 0; x < prime; x++)
        for (uint32_t y = 0; y < prime; y++) {
            struct point p = {.is_infinity = false};
            field_set_integer(curve->fe.field, p.x, (int32_t)x);
            field_set_integer(curve->fe.field, p.y, (int32_t)y);
            if (is_on_curve(curve, b, &p))
                points[count++] = p;
        }
    struct pair *pairs = harness_memory((size_t)count * count, sizeof *pairs);
    char name[96];
    snprintf(name, sizeof name, "all points of a curve over F_%u", prime);
    struct subject subject = {.harness = harness, .curve = curve, .name = name};
    for (uint32_t i = 0; i < count * count; i++)
        pairs[i] = (struct pair){&points[i / count], &points[i % count]};
    check_pairs(&subject, pairs, count * count);
    pool_module_destroy(&subject.module);
    free(pairs);
}

static void check_small_curves(struct harness *harness)
{
    static const char *const primes[] = {"5", "7", "11", "13", "17", "19", "23", "29", "31", "37"};
    for (int round = 0; round < 20; round++) {
        if (!is_sampled((size_t)round, 10))
            continue;
        const char *prime = primes[round % 10];
        pool_field *field = custom_field(prime);
        struct curve curve;
        uint64_t b[MAX_LIMBS] = {0};
        memset(&curve, 0, sizeof curve);
        MUST(field_extension_init(&curve.fe, field, 0));
        do {
            random_element(&curve.fe, curve.a);
            random_element(&curve.fe, b);
        } while (field_is_zero(field, b) || is_singular(&curve, b));
        check_small_curve(harness, &curve, b, (uint32_t)atoi(prime));
        pool_field_destroy(&field);
    }
}

void check_curve_stages(struct harness *harness)
{
    static const struct {
        const char *field;
        int32_t nonresidue;
    } built_in[] = {{"bn254_fq", 0}, {"bn254_fq", -1}, {"bls12_381_fq", 0}, {"bls12_381_fq", -1},
        {"bls12_377_fq", 0}, {"bls12_377_fq", -5}, {"bw6_761_fq", 0}, {"pallas_fq", 0},
        {"vesta_fq", 0}, {"secp256k1_fq", 0}, {"stark252", 0}};
    static const char *const custom[] = {"131071", "2147483647", "4294967291",
        "2305843009213693951", "170141183460469231731687303715884105727",
        "6277101735386680763835789423207666416083908700390324961279"};

    check_small_curves(harness);
    for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++)
        check_field(harness, pool_field_by_name(built_in[i].field), built_in[i].nonresidue);
    for (size_t i = 0; i < sizeof custom / sizeof custom[0]; i++) {
        if (!is_sampled(i, 2)) /* one, one and four words */
            continue;
        pool_field *field = custom_field(custom[i]);
        if ((field->flags & FIELD_DEVICE_STANDARD) == 0) {
            check_field(harness, field, 0);
            check_field(harness, field, smallest_nonresidue(field));
        }
        pool_field_destroy(&field);
    }
}
