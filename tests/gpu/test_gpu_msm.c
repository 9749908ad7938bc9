/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large sums on a real device, each checked exactly: the points' discrete logarithms d_i are known,
 * so the result has to be (sum k_i d_i) G. Uniform and skewed scalars, G1 and G2, on the device and
 * from the host, in batches, over precomputed bases and over bases from a file, within small
 * budgets. Exit 77 without a device.
 *
 * --device sim and --most BITS make it small; --timing prints what each took, median of three.
 */
#include "support/msm.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "zk/field/integer.h"
#include "support/pool.h"

static uint32_t most_bits = 26;
static int prints_times;

/* So many points are made on the host, and lie one behind the other as often as it takes. */
enum { BASE_BITS = 18, THREADS = 16 };

enum kind { UNIFORM, EQUAL, ZEROS, BITS, HOT, GEOMETRIC, KINDS };
static const char *const kind_names[KINDS] = {
    "uniform", "all equal", "99 % zeros", "0 and 1", "one hot window", "geometric"};

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Scalar i of a kind, below the order. */
static void make_scalar(const pool_field *field, enum kind kind, uint64_t i, uint64_t *limbs)
{
    uint32_t bits = field->bits;

    memset(limbs, 0, FIELD_MAX_LIMBS * sizeof(*limbs));
    if (kind == EQUAL)
        i = 0;
    if (kind == BITS) {
        limbs[0] = mix(i) & 1;
        return;
    }
    if (kind == ZEROS && i % 100)
        return;
    if (kind == HOT) {
        limbs[field->limbs / 2] = mix(i) % 60000;
        return;
    }
    for (uint32_t k = 0; k < field->limbs; k++)
        limbs[k] = mix(i * 16 + k);
    if (kind == GEOMETRIC)
        bits = (uint32_t)__builtin_ctzll(mix(~i) | (uint64_t)1 << 62) * 4 + 1;
    for (uint32_t k = 0; k < field->limbs; k++) {
        uint32_t left = bits > 64 * k ? bits - 64 * k : 0;

        if (left < 64)
            limbs[k] &= ((uint64_t)1 << left) - 1;
    }
    /* Of two times the order there is at most one too much. */
    if (!field_is_canonical(field, limbs))
        field_integer_sub(limbs, limbs, field->modulus, field->limbs);
}

struct share {
    pthread_t thread;
    const pool_field *field;
    const uint64_t *logarithms; /* Montgomery form */
    uint8_t *scalars;
    enum kind kind;
    uint64_t first, count;
    uint64_t sum[FIELD_MAX_LIMBS];
};

static void *make_share(void *argument)
{
    struct share *share = argument;
    const pool_field *field = share->field;

    field_set_zero(field, share->sum);
    for (uint64_t i = share->first; i < share->first + share->count; i++) {
        uint64_t scalar[FIELD_MAX_LIMBS], product[FIELD_MAX_LIMBS];
        uint64_t base = i & (((uint64_t)1 << BASE_BITS) - 1);

        make_scalar(field, share->kind, i, scalar);
        field_store(field, share->scalars + i * field->bytes, scalar);
        field_mul(field, product, scalar, share->logarithms + base * field->limbs);
        field_add(field, share->sum, share->sum, product);
    }
    return NULL;
}

/* A set of points with known logarithms, and room for scalars. */
struct field_of_points {
    const pool_curve *curve;
    uint32_t bits;
    pool_buffer *points; /* packed affine Montgomery */
    pool_buffer *on_device;
    uint8_t *host_points; /* of the base */
    uint64_t *logarithms;
    uint8_t *scalars;
    size_t point_bytes;
};

static void *at(const pool_buffer *buffer)
{
    CUdeviceptr address = 0;

    assert_ok(pool_buffer_address(buffer, &address));
    return (void *)(uintptr_t)address;
}

static struct field_of_points make_points(const char *name, uint32_t bits)
{
    struct field_of_points made = {
        .curve = pool_curve_by_name(name), .bits = bits < most_bits ? bits : most_bits};
    const pool_field *field = pool_curve_scalar_field(made.curve);
    const pool_point_format format = {POOL_POINT_AFFINE, POOL_FORM_MONTGOMERY, 0};
    uint64_t count = (uint64_t)1 << made.bits, base = (uint64_t)1 << BASE_BITS;
    uint8_t *standard;

    base = base < count ? base : count;
    made.point_bytes = pool_point_bytes(made.curve, POOL_POINT_AFFINE);
    made.host_points = malloc(base * made.point_bytes);
    made.logarithms = calloc(base, field->limbs * sizeof(uint64_t));
    made.scalars = malloc(count * field->bytes);
    standard = malloc(base * field->bytes);
    assert_ok(pool_random_points(made.curve, 11, base, &format, made.host_points, standard));
    for (uint64_t i = 0; i < base; i++) {
        uint64_t *limbs = made.logarithms + i * field->limbs;

        field_load(field, limbs, standard + i * field->bytes);
        field_to_montgomery(field, limbs, limbs);
    }
    free(standard);
    assert_ok(pool_buffer_alloc(device, count * made.point_bytes, &made.points));
    assert_ok(pool_buffer_alloc(device, count * field->bytes, &made.on_device));
    assert_ok(pool_copy_to_device(made.points, 0, made.host_points, base * made.point_bytes, NULL));
    for (uint64_t done = base; done < count; done *= 2)
        assert_ok(pool_copy_device(
            made.points, done * made.point_bytes, made.points, 0, done * made.point_bytes, NULL));
    return made;
}

static void free_points(struct field_of_points *points)
{
    assert_ok(pool_buffer_destroy(&points->points));
    assert_ok(pool_buffer_destroy(&points->on_device));
    free(points->host_points);
    free(points->logarithms);
    free(points->scalars);
}

/* Fills the scalars of an MSM of 2^bits terms and computes the expected result, affine. */
static void make_sum(
    const struct field_of_points *points, enum kind kind, uint32_t bits, uint8_t *wanted)
{
    const pool_field *field = pool_curve_scalar_field(points->curve);
    struct share shares[THREADS];
    uint64_t count = (uint64_t)1 << bits, sum[FIELD_MAX_LIMBS] = {0}, done = 0;
    uint8_t generator[MSM_POINT_MAX], scalar[POOL_FIELD_MAX_BYTES];

    for (uint64_t t = 0; t < THREADS; t++) {
        uint64_t end = count * (t + 1) / THREADS;

        shares[t] = (struct share){.field = field,
            .logarithms = points->logarithms,
            .scalars = points->scalars,
            .kind = kind,
            .first = done,
            .count = end - done};
        done = end;
        assert_int_equal(pthread_create(&shares[t].thread, NULL, make_share, &shares[t]), 0);
    }
    for (uint64_t t = 0; t < THREADS; t++) {
        pthread_join(shares[t].thread, NULL);
        field_add(field, sum, sum, shares[t].sum);
    }
    field_store(field, scalar, sum);
    assert_ok(pool_curve_generator(points->curve, NULL, generator));
    assert_ok(pool_point_mul(points->curve, NULL, generator, scalar, field->bytes, wanted));
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double run_once(pool_msm_params *params, pool_exec *exec, const pool_span *points,
    const pool_span *scalars, const uint8_t *wanted, const char *what)
{
    uint8_t got[MSM_POINT_MAX] = {0};
    pool_span result = msm_span(got, 1);
    const pool_curve *curve = params->bases ? pool_bases_curve(params->bases) : params->curve;
    double start = seconds(), took;

    assert_ok(pool_msm(params, exec, points, scalars, &result));
    took = seconds() - start;
    if (memcmp(got, wanted, pool_point_bytes(curve, POOL_POINT_AFFINE)) != 0)
        fail_msg("%s, %llu scalars, %s: wrong", pool_curve_name(curve),
            (unsigned long long)scalars->count, what);
    return took;
}

/* Median of three when it is printed, else once. */
static double run(pool_msm_params *params, pool_exec *exec, const pool_span *points,
    const pool_span *scalars, const uint8_t *wanted, const char *what)
{
    double first = run_once(params, exec, points, scalars, wanted, what), second, third, middle;

    if (!prints_times)
        return first;
    second = run_once(params, exec, points, scalars, wanted, what);
    third = run_once(params, exec, points, scalars, wanted, what);
    middle = second > third ? second : third;
    middle = first > second && first > third   ? middle
             : first < second && first < third ? second + third - middle
                                               : first;
    printf("  %.3f ms: %s, %llu scalars, %s\n", 1e3 * middle,
        pool_curve_name(params->bases ? pool_bases_curve(params->bases) : params->curve),
        (unsigned long long)scalars->count, what);
    return middle;
}

static pool_span device_points(const struct field_of_points *points, uint32_t bits)
{
    return (pool_span){.data = at(points->points),
        .count = (uint64_t)1 << bits,
        .form = POOL_FORM_MONTGOMERY,
        .space = POOL_MEMORY_DEVICE};
}

static pool_span device_scalars(const struct field_of_points *points, uint32_t bits)
{
    uint64_t count = (uint64_t)1 << bits;

    assert_ok(pool_copy_to_device(points->on_device, 0, points->scalars,
        count * pool_curve_scalar_field(points->curve)->bytes, NULL));
    return (pool_span){.data = at(points->on_device), .count = count, .space = POOL_MEMORY_DEVICE};
}

static pool_msm_params params_of(const pool_curve *curve)
{
    return (pool_msm_params){.struct_size = sizeof(pool_msm_params), .curve = curve};
}

/* All kinds at one size; with `grows` also uniform ones up to the most. */
static void check_curve(const char *name, uint32_t bits, uint32_t most)
{
    struct field_of_points points = make_points(name, most);
    pool_msm_params params = params_of(points.curve);
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t wanted[MSM_POINT_MAX];

    bits = bits < points.bits ? bits : points.bits;
    for (int kind = 0; kind < KINDS; kind++) {
        make_sum(&points, (enum kind)kind, bits, wanted);
        pool_span in = device_points(&points, bits), by = device_scalars(&points, bits);
        run(&params, &exec, &in, &by, wanted, kind_names[kind]);
    }
    for (uint32_t larger = bits + 3; larger <= points.bits; larger += 3) {
        make_sum(&points, UNIFORM, larger, wanted);
        pool_span in = device_points(&points, larger), by = device_scalars(&points, larger);
        run(&params, &exec, &in, &by, wanted, "uniform");
    }
    free_points(&points);
}

static void test_g1(void **state)
{
    (void)state;
    check_curve("bn254_g1", 23, 26);
    check_curve("bls12_381_g1", 20, 23);
    check_curve("bw6_761_g1", 17, 17);
    check_curve("pallas", 18, 18);
}

static void test_g2(void **state)
{
    (void)state;
    check_curve("bn254_g2", 20, 23);
    check_curve("bls12_381_g2", 18, 18);
}

/* All kinds with affine passes: each base is there several times, so that buckets have equal
 * neighbours, too. */
static void check_passes(const char *name, uint32_t most, uint32_t passes)
{
    const uint32_t bits = most_bits < most ? most_bits : most;
    struct field_of_points points = make_points(name, bits);
    pool_msm_params params = params_of(points.curve);
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t wanted[MSM_POINT_MAX];
    char what[64];

    params.affine_passes = passes;
    for (int kind = 0; kind < KINDS; kind++) {
        make_sum(&points, (enum kind)kind, bits, wanted);
        pool_span in = device_points(&points, bits), by = device_scalars(&points, bits);
        snprintf(what, sizeof(what), "%s, %u affine passes", kind_names[kind], passes);
        run(&params, &exec, &in, &by, wanted, what);
    }
    free_points(&points);
}

static void test_passes(void **state)
{
    (void)state;
    check_passes("bls12_381_g1", 21, 2);
    check_passes("bn254_g1", 21, 1);
    check_passes("bn254_g2", 19, 2);
}

/* Scalars, or both, from pageable and pinned memory; points of another layout. */
static void test_host(void **state)
{
    const uint32_t bits = most_bits < 22 ? most_bits : 22;
    struct field_of_points points = make_points("bn254_g1", bits);
    uint64_t count = (uint64_t)1 << bits;
    pool_msm_params params = params_of(points.curve);
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t wanted[MSM_POINT_MAX], *on_host = malloc(count * points.point_bytes);
    pool_pinned *pinned = NULL;

    (void)state;
    make_sum(&points, UNIFORM, bits, wanted);
    pool_span in = device_points(&points, bits), by = msm_span(points.scalars, count);
    run(&params, &exec, &in, &by, wanted, "scalars pageable");
    assert_ok(pool_pinned_create(device, count * 32, 0, &pinned));
    memcpy(pool_pinned_data(pinned), points.scalars, count * 32);
    by.data = pool_pinned_data(pinned);
    run(&params, &exec, &in, &by, wanted, "scalars pinned");
    assert_ok(pool_copy_to_host(on_host, points.points, 0, count * points.point_bytes, NULL));
    in.data = on_host;
    in.space = POOL_MEMORY_HOST;
    run(&params, &exec, &in, &by, wanted, "points pageable, scalars pinned");
    exec.memory_limit = (uint64_t)64 << 20;
    if (bits > 20)
        run(&params, &exec, &in, &by, wanted, "the same within 64 MiB");
    assert_ok(pool_pinned_destroy(&pinned));
    free(on_host);
    free_points(&points);
}

static void test_tables(void **state)
{
    static const uint32_t factors[] = {1, 2, 4, POOL_PRECOMPUTE_ALL};
    const uint32_t bits = most_bits < 20 ? most_bits : 20;
    struct field_of_points points = make_points("bn254_g1", bits);
    uint8_t wanted[MSM_POINT_MAX];

    (void)state;
    make_sum(&points, UNIFORM, bits, wanted);
    for (size_t i = 0; i < 4; i++) {
        pool_bases_params make = {
            .struct_size = sizeof(make), .curve = points.curve, .precompute_factor = factors[i]};
        pool_exec exec = {.struct_size = sizeof(exec), .device = device};
        pool_msm_params params = {.struct_size = sizeof(params)};
        pool_span in = device_points(&points, bits), by = device_scalars(&points, bits);
        char what[64];

        assert_ok(pool_bases_create(&make, &exec, &in, &params.bases));
        snprintf(what, sizeof(what), "table of %u levels, windows of %u bits",
            pool_bases_precompute_factor(params.bases), pool_bases_window_bits(params.bases));
        run(&params, &exec, NULL, &by, wanted, what);
        assert_ok(pool_bases_destroy(&params.bases));
    }
    free_points(&points);
}

/* An MSM over bases that were saved, and loaded again with a check of the subgroup. */
static void check_saved_bases(
    const char *name, uint32_t precompute_factor, uint32_t bits, const char *path)
{
    struct field_of_points points = make_points(name, bits);
    pool_bases_params make = {
        .struct_size = sizeof(make), .curve = points.curve, .precompute_factor = precompute_factor};
    const pool_bases_params load = {.struct_size = sizeof(load), .curve = points.curve};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_msm_params params = {.struct_size = sizeof(params)};
    pool_span in = device_points(&points, points.bits);
    uint8_t wanted[MSM_POINT_MAX];
    uint32_t stored_factor;
    char what[80];

    make_sum(&points, UNIFORM, points.bits, wanted);
    assert_ok(pool_bases_create(&make, &exec, &in, &params.bases));
    stored_factor = pool_bases_precompute_factor(params.bases);
    assert_ok(pool_bases_save(params.bases, path));
    assert_ok(pool_bases_destroy(&params.bases));
    exec.checks = POOL_CHECK_SUBGROUP;
    assert_ok(pool_bases_load(&load, &exec, path, &params.bases));
    assert_int_equal(pool_bases_precompute_factor(params.bases), stored_factor);
    assert_int_equal(pool_bases_count(params.bases), in.count);
    exec.checks = POOL_CHECK_NONE;
    pool_span scalars = device_scalars(&points, points.bits);
    snprintf(what, sizeof(what), "bases from a file, precompute factor %u", stored_factor);
    run(&params, &exec, NULL, &scalars, wanted, what);
    assert_ok(pool_bases_destroy(&params.bases));
    free_points(&points);
}

/* (0, 2) is on BLS12-381's G1 and has order 3. Only a check of the subgroup refuses its file. */
static void check_bases_outside_subgroup(const char *path)
{
    enum { COUNT = 9, OUTSIDE = 5 };
    const pool_curve *curve = pool_curve_by_name("bls12_381_g1");
    const size_t bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    const pool_bases_params params = {.struct_size = sizeof(params), .curve = curve};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t *points = malloc(COUNT * bytes);
    pool_span span = msm_span(points, COUNT);
    pool_bases *bases = NULL;

    assert_ok(pool_random_points(curve, 3, COUNT, NULL, points, NULL));
    memset(points + OUTSIDE * bytes, 0, bytes);
    points[OUTSIDE * bytes + bytes / 2] = 2;
    exec.checks = POOL_CHECK_ON_CURVE;
    assert_ok(pool_bases_create(&params, &exec, &span, &bases));
    assert_ok(pool_bases_save(bases, path));
    assert_ok(pool_bases_destroy(&bases));
    assert_ok(pool_bases_load(&params, &exec, path, &bases));
    assert_ok(pool_bases_destroy(&bases));
    exec.checks = POOL_CHECK_SUBGROUP;
    assert_int_equal(pool_bases_load(&params, &exec, path, &bases), POOL_ERR_BAD_DATA);
    assert_says("point 5 is not in the subgroup");
    assert_null(bases);
    free(points);
}

static void test_saved_bases(void **state)
{
    const uint32_t bits = most_bits < 16 ? most_bits : 16;
    char directory[] = "/tmp/devicepool-bases-XXXXXX", path[64];

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/bases", directory);
    check_saved_bases("bn254_g1", POOL_PRECOMPUTE_ALL, bits, path);
    check_saved_bases("bls12_381_g1", 1, bits, path);
    check_saved_bases("bls12_381_g2", 2, bits, path);
    check_bases_outside_subgroup(path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
}

/* The results of a batch equal those of single MSMs. */
static void test_batch(void **state)
{
    const uint32_t bits = most_bits < 18 ? most_bits : 18;
    enum { LOG_BATCH = 6 };
    struct field_of_points points = make_points("bn254_g1", bits);
    pool_msm_params params = params_of(points.curve);
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint64_t one = ((uint64_t)1 << bits) >> LOG_BATCH;
    uint8_t wanted[MSM_POINT_MAX], single[MSM_POINT_MAX];
    uint8_t *all = calloc(1u << LOG_BATCH, points.point_bytes), total[MSM_POINT_MAX] = {0};
    pool_span results = msm_span(all, 1u << LOG_BATCH), result = msm_span(single, 1);

    (void)state;
    make_sum(&points, UNIFORM, bits, wanted);
    pool_span in = device_points(&points, bits), by = device_scalars(&points, bits);
    params.batch = 1u << LOG_BATCH;
    assert_ok(pool_msm(&params, &exec, &in, &by, &results));
    params.batch = 1;
    for (uint64_t b = 0; b < 1u << LOG_BATCH; b++) {
        pool_span part_in = in, part_by = by;

        part_in.count = part_by.count = one;
        part_in.data = (uint8_t *)in.data + b * one * points.point_bytes;
        part_by.data = (uint8_t *)by.data + b * one * 32;
        if (b % 16 == 0) {
            assert_ok(pool_msm(&params, &exec, &part_in, &part_by, &result));
            assert_memory_equal(single, all + b * points.point_bytes, points.point_bytes);
        }
        assert_ok(pool_point_add(points.curve, NULL, total, all + b * points.point_bytes, total));
    }
    assert_memory_equal(total, wanted, points.point_bytes);
    free(all);
    free_points(&points);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_batch), cmocka_unit_test(test_tables),
        cmocka_unit_test(test_saved_bases), cmocka_unit_test(test_host),
        cmocka_unit_test(test_passes), cmocka_unit_test(test_g2), cmocka_unit_test(test_g1)};

    device_text = "0";
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--timing") == 0)
            prints_times = 1;
        else if (strcmp(arguments[i], "--device") == 0 && i + 1 < count)
            device_text = arguments[++i];
        else if (strcmp(arguments[i], "--most") == 0 && i + 1 < count)
            most_bits = (uint32_t)atoi(arguments[++i]);
        else
            cmocka_set_test_filter(arguments[i]);
    }
    if (open_pool(NULL)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, close_pool);
}
