/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums, doublings and conversions of points on the device against the textbook's affine formulas
 * over the host's field arithmetic: curves over built-in and custom fields and their quadratic
 * extensions with a = 0, a = -3 and any a, with infinity, equal and opposite points and points of
 * order two among the pairs; and all pairs of points of small curves. On the machine's GPU (exit 77
 * without one) or, with the argument `sim`, on a simulated device. Two more arguments share the
 * work out: part 0 of 4, say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "curve/emit_curve.h"
#include "device.h"

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

static uint64_t random_state = 20261121;

/* Of `parts` processes that share the curves, this is number `part`. */
static unsigned part, parts = 1, curves_seen;

/* xorshift64*: the numbers only have to differ. */
static uint64_t next_random(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545f4914f6cdd1du;
}

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

struct subject {
    struct device *device;
    const struct curve *curve;
    CUmodule module;
    const struct pair *pairs;
    uint32_t count;
    size_t bytes; /* of a coordinate */
    CUdeviceptr left_jacobian, right_jacobian, left_affine, right_affine, result;
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

static CUdeviceptr upload(struct subject *subject, bool is_left, bool is_affine)
{
    size_t size = (is_affine ? 2 : 3) * subject->bytes;
    uint8_t *packed = malloc(size * subject->count);
    for (uint32_t i = 0; i < subject->count; i++) {
        const struct point *p = is_left ? subject->pairs[i].left : subject->pairs[i].right;
        if (is_affine)
            store_affine(subject, packed + size * i, p);
        else
            store_jacobian(subject, packed + size * i, p);
    }
    CUdeviceptr memory = device_upload(subject->device, packed, size * subject->count);
    free(packed);
    return memory;
}

static void compare(struct subject *subject, const char *what, const struct point *expected)
{
    size_t size = 2 * subject->bytes;
    uint8_t *results = malloc(size * subject->count);
    uint8_t *packed = malloc(size);
    device_download(subject->device, results, subject->result, size * subject->count);
    for (uint32_t i = 0; i < subject->count; i++) {
        store_affine(subject, packed, &expected[i]);
        if (memcmp(packed, results + size * i, size) == 0)
            continue;
        printf("%s: pair %u of %u is wrong (%s, %s; expected %s)\n", what, i, subject->count,
            subject->pairs[i].left->is_infinity ? "infinity" : "point",
            subject->pairs[i].right->is_infinity ? "infinity" : "point",
            expected[i].is_infinity ? "infinity" : "a point");
        exit(1);
    }
    free(packed);
    free(results);
}

static void run(struct subject *subject, const char *kernel, CUdeviceptr left, CUdeviceptr right,
    const struct point *expected)
{
    void *arguments[] = {&left, &right, &subject->result, &subject->count};
    device_run(
        subject->device, subject->module, kernel, (subject->count + 127) / 128, 128, arguments);
    compare(subject, kernel, expected);
}

static void check_sums(struct subject *subject, struct point *expected)
{
    const struct curve *curve = subject->curve;
    const struct pair *pairs = subject->pairs;
    struct point opposite;
    for (uint32_t i = 0; i < subject->count; i++)
        reference_add(curve, &expected[i], pairs[i].left, pairs[i].right);
    run(subject, "add", subject->left_jacobian, subject->right_jacobian, expected);
    run(subject, "add_affine", subject->left_jacobian, subject->right_affine, expected);
    for (uint32_t i = 0; i < subject->count; i++)
        reference_neg(curve, &expected[i], pairs[i].left);
    run(subject, "negated", subject->left_jacobian, subject->right_affine, expected);
    for (uint32_t i = 0; i < subject->count; i++)
        reference_add(curve, &expected[i], pairs[i].left, pairs[i].left);
    run(subject, "twice", subject->left_jacobian, subject->right_jacobian, expected);
    for (uint32_t i = 0; i < subject->count; i++) {
        expected[i] = *pairs[i].left;
        for (uint32_t k = 0; k <= i % 8 && k < subject->count; k++) {
            opposite = *pairs[k].right;
            if (k % 2 == 0)
                reference_neg(curve, &opposite, pairs[k].right);
            reference_add(curve, &expected[i], &expected[i], &opposite);
        }
    }
    if (subject->count >= 8)
        run(subject, "alternating_sum", subject->left_jacobian, subject->right_affine, expected);
}

static void check_conversions(struct subject *subject, struct point *expected)
{
    for (uint32_t i = 0; i < subject->count; i++)
        expected[i] = *subject->pairs[i].left;
    run(subject, "through_jacobian", subject->left_jacobian, subject->left_jacobian, expected);
    run(subject, "through_projective", subject->left_jacobian, subject->left_jacobian, expected);
    run(subject, "through_affine", subject->left_affine, subject->left_affine, expected);
    CUdeviceptr points = device_alloc(subject->device, 4 * subject->bytes * subject->count);
    CUdeviceptr scratch = device_alloc(subject->device, subject->bytes * subject->count);
    void *arguments[] = {
        &subject->left_jacobian, &points, &scratch, &subject->result, &subject->count};
    device_run(subject->device, subject->module, "batch", 1, 32, arguments);
    compare(subject, "batch", expected);
    device_free(subject->device, points);
    device_free(subject->device, scratch);
}

static CUmodule build(struct device *device, const struct curve *curve)
{
    const struct curve_emit_params params = {
        .field = curve->fe.field, .nonresidue = curve->fe.nonresidue, .a = curve->a};
    char *text = NULL;
    if (curve_emit_generate(&params, &text)) {
        printf("%s\n", pool_last_error()->message);
        exit(1);
    }
    const struct device_text texts[] = {{"curve.cuh", text}};
    CUmodule module = device_build(device, device_kernels("point_kernels.cu"), texts, 1);
    free(text);
    return module;
}

static void check_pairs(struct device *device, const struct curve *curve, CUmodule module,
    const struct pair *pairs, uint32_t count)
{
    struct subject subject = {.device = device,
        .curve = curve,
        .module = module,
        .pairs = pairs,
        .count = count,
        .bytes = curve->fe.bytes};
    struct point *expected = calloc(count, sizeof *expected);
    subject.left_jacobian = upload(&subject, true, false);
    subject.right_jacobian = upload(&subject, false, false);
    subject.left_affine = upload(&subject, true, true);
    subject.right_affine = upload(&subject, false, true);
    subject.result = device_alloc(device, 2 * subject.bytes * count);
    check_sums(&subject, expected);
    check_conversions(&subject, expected);
    device_free(device, subject.left_jacobian);
    device_free(device, subject.right_jacobian);
    device_free(device, subject.left_affine);
    device_free(device, subject.right_affine);
    device_free(device, subject.result);
    free(expected);
}

/*
 * A curve through a random point: b is in no formula, so any (x, y) lies on the curve that it
 * defines. Points: infinity, its multiples, and their opposites.
 */
static void check_curve(struct device *device, const struct curve *curve, const char *name)
{
    static struct point points[2 * CHAIN];
    if (curves_seen++ % parts != part)
        return;
    const struct field_extension *fe = &curve->fe;
    uint32_t count = device->is_simulated ? SIM_PAIRS : GPU_PAIRS;
    struct pair *pairs = calloc(count, sizeof *pairs);
    CUmodule module = build(device, curve);
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
    check_pairs(device, curve, module, pairs, count);

    random_element(fe, order_two.x);
    const struct pair two[] = {{&order_two, &order_two}, {&order_two, &points[0]}};
    check_pairs(device, curve, module, two, 2);
    device_unload(device, module);
    free(pairs);
    printf("ok: curves over %s, degree %u, %s: %u pairs\n", pool_field_name(fe->field), fe->degree,
        name, count);
}

static void check_field(struct device *device, const pool_field *field, int32_t nonresidue)
{
    struct curve curve;
    memset(&curve, 0, sizeof curve);
    if (field_extension_init(&curve.fe, field, nonresidue)) {
        printf("%s\n", pool_last_error()->message);
        exit(1);
    }
    check_curve(device, &curve, "a = 0");
    field_set_integer(field, curve.a, -3);
    check_curve(device, &curve, "a = -3");
    random_element(&curve.fe, curve.a);
    check_curve(device, &curve, "any a");
}

static pool_field *custom_field(const char *modulus)
{
    pool_field_params params = {.struct_size = sizeof(params)};
    pool_field *field = NULL;
    params.modulus = modulus;
    if (pool_field_create(&params, &field)) {
        printf("%s\n", pool_last_error()->message);
        exit(1);
    }
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
    struct device *device, const struct curve *curve, const uint64_t *b, uint32_t prime)
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
    struct pair *pairs = calloc((size_t)count * count, sizeof *pairs);
    for (uint32_t i = 0; i < count * count; i++)
        pairs[i] = (struct pair){&points[i / count], &points[i % count]};
    CUmodule module = build(device, curve);
    check_pairs(device, curve, module, pairs, count * count);
    device_unload(device, module);
    free(pairs);
    printf("ok: all %u pairs of the %u points of a curve over F_%u\n", count * count, count, prime);
}

static void check_small_curves(struct device *device)
{
    static const char *const primes[] = {"5", "7", "11", "13", "17", "19", "23", "29", "31", "37"};
    for (int round = 0; round < 20; round++) {
        const char *prime = primes[round % 10];
        pool_field *field = custom_field(prime);
        struct curve curve;
        uint64_t b[MAX_LIMBS] = {0};
        memset(&curve, 0, sizeof curve);
        if (field_extension_init(&curve.fe, field, 0))
            exit(1);
        do {
            random_element(&curve.fe, curve.a);
            random_element(&curve.fe, b);
        } while (field_is_zero(field, b) || is_singular(&curve, b));
        check_small_curve(device, &curve, b, (uint32_t)atoi(prime));
        pool_field_destroy(&field);
    }
}

int main(int argc, char **argv)
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
    struct device device;
    const pool_cuda_api *table = NULL;
    if (argc > 1 && strcmp(argv[1], "sim") == 0)
        table = device_simulated();
    if (argc > 3) {
        part = (unsigned)atoi(argv[2]);
        parts = (unsigned)atoi(argv[3]);
    }
    if (!device_open(&device, table))
        return 77;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (part == 0)
        check_small_curves(&device);
    for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++)
        check_field(&device, pool_field_by_name(built_in[i].field), built_in[i].nonresidue);
    for (size_t i = 0; i < sizeof custom / sizeof custom[0]; i++) {
        pool_field *field = custom_field(custom[i]);
        if ((field->flags & FIELD_DEVICE_STANDARD) == 0) {
            check_field(&device, field, 0);
            check_field(&device, field, smallest_nonresidue(field));
        }
        pool_field_destroy(&field);
    }
    device_close(&device);
    return 0;
}
