/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bases that stay on a device: MSMs over handles with and without precomputed multiples, over
 * ranges of them, batches; fingerprints, look-up, reference counts; files that are saved and
 * loaded, and files that are damaged at every byte that matters.
 */
#include "support/msm.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "support/pool.h"
#include "support/sample.h"
#include "zk/msm/bases.h"

static const struct msm_shape_of_call plain;
static char directory[] = "/tmp/devicepool-points-XXXXXX";

static pool_bases_params params_of(const pool_curve *curve)
{
    return (pool_bases_params){.struct_size = sizeof(pool_bases_params), .curve = curve};
}

static pool_bases *handle_of(
    const struct msm_problem *problem, uint64_t count, uint32_t factor, uint32_t window_bits)
{
    pool_bases_params params = params_of(problem->curve);
    pool_exec exec = exec_here();
    pool_span span = msm_span(problem->points, count);
    pool_bases *points = NULL;

    params.precompute_factor = factor;
    params.window_bits = window_bits;
    exec.checks = POOL_CHECK_ON_CURVE;
    assert_ok(pool_bases_create(&params, &exec, &span, &points));
    return points;
}

/* Multiple j is 2^(j s) times the base, computed by the host. */
static void check_levels(const struct msm_problem *problem, pool_bases *points)
{
    const pool_curve *curve = problem->curve;
    pool_point_format format = {POOL_POINT_AFFINE,
        field_device_degree(pool_curve_base_field(curve)) ? POOL_FORM_MONTGOMERY
                                                          : POOL_FORM_STANDARD,
        0};
    uint64_t bytes = pool_bases_bytes(points);
    uint8_t *all = malloc(bytes);

    assert_int_equal(bytes, points->count * points->factor * problem->point_bytes);
    assert_ok(pool_copy_to_host(all, points->buffer, 0, bytes, NULL));
    for (uint64_t i = 0; i < points->count; i += points->count / 3 + 1) {
        struct curve_jacobian point, level;
        const pool_point_format standard = {0};

        assert_null(curve_load(curve, &point, &standard, msm_point(problem, i)));
        for (uint32_t j = 0; j < points->factor; j++) {
            assert_null(curve_load(
                curve, &level, &format, all + (j * points->count + i) * problem->point_bytes));
            assert_true(curve_jacobian_equal(curve, &point, &level));
            for (uint32_t k = 0; k < points->window_bits * points->bucket_sets; k++)
                curve_jacobian_double(curve, &point, &point);
        }
    }
    free(all);
}

static void check_sums(const struct msm_problem *problem, uint32_t factor, uint32_t window_bits)
{
    pool_msm_params params = {.struct_size = sizeof(params)};
    pool_exec exec = {.struct_size = sizeof(exec)};

    params.bases = handle_of(problem, problem->count, factor, window_bits);
    check_levels(problem, params.bases);
    exec.device = device;
    msm_compare(problem, &params, &exec, NULL);
    params.batch = 3;
    msm_compare(problem, &params, &exec, NULL);
    params.shared_bases = 1;
    msm_compare(problem, &params, &exec, NULL);
    /* The middle third of the bases. */
    struct msm_problem part = *problem;
    uint8_t got[MSM_POINT_MAX], wanted[MSM_POINT_MAX];
    params.batch = 1;
    params.first_base = part.count = problem->count / 3;
    part.points = msm_point(problem, part.count);
    msm_expect(&part, wanted);
    assert_ok(msm_call_shaped(&part, &params, &exec, &plain, 0, got));
    assert_memory_equal(got, wanted, problem->point_bytes);
    /* Short scalars use fewer multiples. */
    for (uint64_t i = 0; i < part.count; i++)
        msm_set_scalar(&part, i, i * 77);
    params.scalar_bits = 16;
    msm_expect(&part, wanted);
    assert_ok(msm_call_shaped(&part, &params, &exec, &plain, 0, got));
    assert_memory_equal(got, wanted, problem->point_bytes);
    assert_ok(pool_bases_destroy(&params.bases));
    assert_null(params.bases);
}

static void test_tables(void **state)
{
    static const uint32_t factors[] = {0, 1, 2, 3, 7, POOL_PRECOMPUTE_ALL};
    static const char *const names[] = {"bn254_g1", "bls12_381_g2"};

    (void)state;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
            if (!is_sampled(i + k + 1, 2))
                continue;
            struct msm_problem problem =
                msm_problem_random(pool_curve_by_name(names[k]), k ? 30 : 150, i);

            memset(msm_point(&problem, 7), 0, problem.point_bytes);
            check_sums(&problem, factors[i], 0);
            if (i == 3 || i == 5)
                check_sums(&problem, factors[i], 6);
            msm_problem_free(&problem);
        }
}

static void test_facts(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    struct msm_problem problem = msm_problem_random(curve, 40, 1);
    pool_bases *points = handle_of(&problem, 40, POOL_PRECOMPUTE_ALL, 8), *again;

    (void)state;
    assert_ptr_equal(pool_bases_curve(points), curve);
    assert_ptr_equal(pool_bases_device(points), device);
    assert_int_equal(pool_bases_count(points), 40);
    assert_int_equal(pool_bases_window_bits(points), 8);
    assert_int_equal(pool_bases_precompute_factor(points), 32);
    assert_int_equal(pool_bases_bytes(points), 40 * 32 * 64);
    again = handle_of(&problem, 40, 1000, 8); /* more than windows: all of them */
    assert_int_equal(pool_bases_precompute_factor(again), 32);
    assert_ok(pool_bases_destroy(&again));
    again = handle_of(&problem, 40, 20, 8); /* two bucket sets, for which 16 suffice */
    assert_int_equal(pool_bases_precompute_factor(again), 16);
    assert_ok(pool_bases_destroy(&again));
    again = pool_bases_retain(points);
    assert_ptr_equal(again, points);
    assert_ok(pool_bases_destroy(&again));
    assert_null(again);
    assert_int_equal(pool_destroy(&pool), POOL_ERR_BUSY);
    assert_int_equal(pool_bases_count(points), 40);
    assert_ok(pool_bases_destroy(&points));
    assert_ok(pool_bases_destroy(&points));
    assert_ok(pool_bases_destroy(NULL));
    assert_null(pool_bases_retain(NULL));
    assert_null(pool_bases_curve(NULL));
    assert_int_equal(pool_bases_count(NULL), 0);
    points = handle_of(&problem, 0, 2, 0);
    assert_int_equal(pool_bases_bytes(points), 0);
    assert_ok(pool_bases_destroy(&points));
    msm_problem_free(&problem);
}

/* The same points have the same fingerprint, whatever their layout; a look-up returns the same
 * handle. */
static void test_find(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    const pool_point_format format = {POOL_POINT_XYZZ, POOL_FORM_MONTGOMERY, 0};
    struct msm_problem problem = msm_problem_random(curve, 33, 1);
    uint8_t xyzz[33 * 128], first[32], second[32], third[32];
    pool_bases *handle = handle_of(&problem, 33, 1, 0), *tables = handle_of(&problem, 33, 3, 0);
    pool_bases *found = NULL, *other = NULL;
    pool_bases_params params = params_of(curve);
    const pool_exec here = exec_here();
    pool_span span = {.data = xyzz, .count = 33, .form = POOL_FORM_MONTGOMERY};

    (void)state;
    assert_ok(
        pool_points_convert(curve, NULL, problem.points, 33, POOL_CHECK_CANONICAL, &format, xyzz));
    params.layout = POOL_POINT_XYZZ;
    assert_ok(pool_bases_create(&params, &here, &span, &other));
    assert_ok(pool_bases_fingerprint(other, first));
    assert_ok(pool_bases_fingerprint(handle, second));
    assert_ok(pool_bases_fingerprint(tables, third));
    assert_memory_equal(first, second, 32);
    assert_memory_equal(first, third, 32);
    assert_ok(pool_bases_find(device, first, 3, &found));
    assert_ptr_equal(found, tables);
    assert_ok(pool_bases_destroy(&found));
    assert_int_equal(pool_bases_find(device, first, 2, &found), POOL_ERR_NOT_FOUND);
    assert_ok(pool_bases_destroy(&tables));
    assert_int_equal(pool_bases_find(device, first, 3, &found), POOL_ERR_NOT_FOUND);
    assert_ok(pool_bases_destroy(&other));
    assert_ok(pool_bases_find(device, first, 0, &found));
    assert_ptr_equal(found, handle);
    assert_ok(pool_bases_destroy(&handle));
    assert_ok(pool_bases_find(device, first, 1, &handle));
    assert_ok(pool_bases_destroy(&handle));
    assert_ok(pool_bases_destroy(&found));
    assert_int_equal(pool_bases_find(device, first, 1, &found), POOL_ERR_NOT_FOUND);
    /* Bases with another point, or with one point fewer, have other fingerprints. */
    problem.points[64 * 5] ^= 1;
    handle = NULL;
    params.layout = POOL_POINT_AFFINE;
    span = msm_span(problem.points, 33);
    assert_ok(pool_bases_create(&params, &here, &span, &handle));
    assert_ok(pool_bases_fingerprint(handle, second));
    assert_memory_not_equal(first, second, 32);
    assert_ok(pool_bases_destroy(&handle));
    msm_problem_free(&problem);
}

/* SHA-256 over the curve's fingerprint, the count and the points, as the header says. */
static void test_fingerprint(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    struct msm_problem problem = msm_problem_random(curve, 21, 1);
    pool_bases *points = handle_of(&problem, 21, 1, 0);
    uint8_t text[32 + 8 + 21 * 64], wanted[32], got[32];

    (void)state;
    assert_ok(pool_curve_fingerprint(curve, text));
    memset(text + 32, 0, 8);
    text[32] = 21;
    memcpy(text + 40, problem.points, 21 * 64);
    assert_ok(base_sha256_of(text, sizeof(text), wanted));
    assert_ok(pool_bases_fingerprint(points, got));
    assert_memory_equal(got, wanted, 32);
    assert_ok(pool_bases_destroy(&points));
    msm_problem_free(&problem);
}

static void path_of(const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", directory, name);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;

    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void test_files(void **state)
{
    pool_msm_params params = {.struct_size = sizeof(params)};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    char path[128];

    (void)state;
    path_of("points", path, sizeof(path));
    for (uint32_t factor = 1; factor < 4; factor += 2) {
        struct msm_problem problem =
            msm_problem_random(pool_curve_by_name("bls12_381_g1"), 60, factor);
        pool_bases_params load = params_of(problem.curve);
        const pool_exec here = exec_here();
        pool_bases *points = handle_of(&problem, 60, factor, 0), *found = NULL;
        uint8_t first[32], second[32];

        assert_ok(pool_bases_save(points, path));
        assert_ok(pool_bases_fingerprint(points, first));
        assert_ok(pool_bases_destroy(&points));
        assert_ok(pool_bases_load(&load, &here, path, &params.bases));
        assert_int_equal(params.bases->factor, factor);
        msm_compare(&problem, &params, &exec, NULL);
        assert_ok(pool_bases_find(device, first, factor, &found));
        assert_ptr_equal(found, params.bases);
        assert_ok(pool_bases_destroy(&found));
        assert_ok(pool_bases_fingerprint(params.bases, second));
        assert_memory_equal(first, second, 32);
        assert_ok(pool_bases_destroy(&params.bases));
        msm_problem_free(&problem);
    }
}

static void expect_bad(const char *path, const uint8_t *bytes, size_t size, const char *text)
{
    pool_bases_params load = params_of(pool_curve_by_name("bn254_g1"));
    const pool_exec here = exec_here();
    pool_bases *points = NULL;

    write_file(path, bytes, size);
    assert_int_equal(pool_bases_load(&load, &here, path, &points), POOL_ERR_BAD_DATA);
    assert_says(text);
    assert_null(points);
}

static void make_file(const char *path, const char *suffix, char *name, size_t size)
{
    int file;

    snprintf(name, size, "%s%s", path, suffix);
    file = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    close(file);
}

/* A save deletes the files of killed writers to the same path, and no others. */
static void test_killed_writers(void **state)
{
    struct msm_problem problem = msm_problem_random(pool_curve_by_name("bn254_g1"), 5, 1);
    pool_bases *points = handle_of(&problem, 5, 1, 0);
    char path[128], dead[160], alive[160], short_name[160], other[160];
    int writer;

    (void)state;
    path_of("killed", path, sizeof(path));
    make_file(path, ".0123456789abcdef.part", dead, sizeof(dead));
    make_file(path, ".fedcba9876543210.part", alive, sizeof(alive));
    make_file(path, ".0123456789abcde.part", short_name, sizeof(short_name));
    make_file(path, "x.0123456789abcdef.part", other, sizeof(other));
    writer = open(alive, O_WRONLY);
    assert_int_equal(flock(writer, LOCK_EX), 0);
    assert_ok(pool_bases_save(points, path));
    assert_int_equal(access(dead, F_OK), -1);
    assert_int_equal(access(alive, F_OK), 0);
    assert_int_equal(access(short_name, F_OK), 0);
    assert_int_equal(access(other, F_OK), 0);
    close(writer);
    assert_ok(pool_bases_save(points, path));
    assert_int_equal(access(alive, F_OK), -1);
    assert_int_equal(unlink(short_name), 0);
    assert_int_equal(unlink(other), 0);
    assert_int_equal(unlink(path), 0);
    assert_ok(pool_bases_destroy(&points));
    msm_problem_free(&problem);
}

static void test_damaged_files(void **state)
{
    struct msm_problem problem = msm_problem_random(pool_curve_by_name("bn254_g1"), 5, 1);
    pool_bases_params load = params_of(pool_curve_by_name("pallas"));
    const pool_exec here = exec_here();
    pool_bases *points = handle_of(&problem, 5, 2, 0);
    char path[128], bad[128];
    uint8_t *bytes;
    size_t size;

    (void)state;
    path_of("points", path, sizeof(path));
    path_of("bad", bad, sizeof(bad));
    assert_ok(pool_bases_save(points, path));
    assert_int_equal(pool_bases_load(&load, &here, path, &points), POOL_ERR_BAD_DATA);
    assert_says("another curve");
    assert_int_equal(pool_bases_load(&load, &here, "/tmp/no/such/file", &points), POOL_ERR_IO);
    assert_int_equal(pool_bases_save(points, "/tmp/no/such/file"), POOL_ERR_IO);
    bytes = read_file(path, &size);
    assert_int_equal(size, 112 + 5 * 2 * 64 + 32);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x10;
        expect_bad(bad, bytes, size, "");
        bytes[i] ^= 0x10;
    }
    expect_bad(bad, bytes, size - 1, "is truncated");
    expect_bad(bad, bytes, size + 1, "is truncated");
    expect_bad(bad, bytes, 100, "is not a file of bases");
    expect_bad(bad, bytes, 0, "is not a file of bases");
    bytes[150] ^= 1;
    expect_bad(bad, bytes, size, "is damaged");
    /* A failed save leaves the old file. */
    assert_int_equal(chmod(directory, 0500), 0);
    if (geteuid() != 0)
        assert_int_equal(pool_bases_save(points, path), POOL_ERR_IO);
    assert_int_equal(chmod(directory, 0700), 0);
    assert_ok(pool_bases_destroy(&points));
    free(bytes);
    msm_problem_free(&problem);
}

/* The digest that a file ends with, over the modified bytes before it. */
static void seal(uint8_t *bytes, size_t size)
{
    assert_ok(base_sha256_of(bytes, size - 32, bytes + size - 32));
}

static void put_number(uint8_t *bytes, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

/* Files whose digest is right, but which are not what their headers say. */
static void test_forged_files(void **state)
{
    static const struct {
        int at, size;
        uint64_t value;
    } numbers[] = {{8, 4, 2}, {12, 4, 96}, {16, 4, 0}, {16, 4, 40}, {24, 8, 0}, {24, 8, 6},
        {24, 8, UINT64_MAX / 128 + 1}, {36, 4, 0}, {36, 4, 1}, {36, 4, 3}, {36, 4, 1u << 26},
        {40, 4, 0}, {40, 4, UINT32_MAX}, {44, 4, 1}, {80, 8, 0}};
    struct msm_problem problem = msm_problem_random(pool_curve_by_name("bn254_g1"), 5, 1);
    struct msm_problem other = msm_problem_random(pool_curve_by_name("bn254_g1"), 5, 2);
    pool_bases *points = handle_of(&problem, 5, 2, 0), *others = handle_of(&other, 5, 2, 0);
    char path[128], bad[128];
    uint8_t *bytes, *kept;
    size_t size;

    (void)state;
    path_of("points", path, sizeof(path));
    path_of("bad", bad, sizeof(bad));
    assert_ok(pool_bases_save(points, path));
    bytes = read_file(path, &size);
    kept = read_file(path, &size);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        put_number(bytes + numbers[i].at, numbers[i].value, numbers[i].size);
        seal(bytes, size);
        expect_bad(bad, bytes, size, "");
        memcpy(bytes, kept, size);
    }
    /* No points, at more levels than there can be. */
    put_number(bytes + 24, 0, 8);
    put_number(bytes + 36, 1u << 30, 4);
    seal(bytes, 112 + 32);
    expect_bad(bad, bytes, 112 + 32, "invalid header");
    memcpy(bytes, kept, size);
    /* The fingerprint of other points, for which a look-up would then return these bases. */
    assert_ok(pool_bases_fingerprint(others, bytes + 80));
    assert_ok(pool_bases_destroy(&others));
    seal(bytes, size);
    expect_bad(bad, bytes, size, "has a header with another fingerprint than its bases");
    assert_int_equal(pool_bases_find(device, bytes + 80, 2, &others), POOL_ERR_NOT_FOUND);
    memcpy(bytes, kept, size);
    memset(bytes + 112 + 64 * 4 + 32, 255, 32);
    seal(bytes, size);
    expect_bad(bad, bytes, size, "point 4 has a coordinate that is not below the modulus");
    assert_ok(pool_bases_destroy(&points));
    free(bytes);
    free(kept);
    msm_problem_free(&problem);
    msm_problem_free(&other);
}

/* Checks apply to the contents of the file: points off the curve are refused, and wrong multiples
 * are recomputed. */
static void test_checked_files(void **state)
{
    struct msm_problem problem = msm_problem_random(pool_curve_by_name("bn254_g1"), 40, 1);
    pool_bases_params params = params_of(problem.curve);
    pool_exec exec = exec_here();
    pool_msm_params by = {.struct_size = sizeof(by)};
    pool_exec by_exec = exec_here();
    pool_span span = msm_span(problem.points, 40);
    pool_bases *points = handle_of(&problem, 40, 3, 0);
    char path[128];
    uint8_t *bytes;
    size_t size;

    (void)state;
    path_of("points", path, sizeof(path));
    assert_ok(pool_bases_save(points, path));
    assert_ok(pool_bases_destroy(&points));
    bytes = read_file(path, &size);
    memset(bytes + 112 + 40 * 64, 1, 40 * 2 * 64);
    seal(bytes, size);
    write_file(path, bytes, size);
    free(bytes);
    for (int i = 0; i < 2; i++) {
        exec.checks = i ? POOL_CHECK_SUBGROUP : POOL_CHECK_ON_CURVE;
        assert_ok(pool_bases_load(&params, &exec, path, &by.bases));
        check_levels(&problem, by.bases);
        msm_compare(&problem, &by, &by_exec, NULL);
        assert_ok(pool_bases_destroy(&by.bases));
    }
    problem.points[64 * 13 + 40] ^= 1;
    for (uint32_t factor = 1; factor < 3; factor++) {
        exec.checks = POOL_CHECK_NONE;
        params.precompute_factor = factor;
        assert_ok(pool_bases_create(&params, &exec, &span, &points));
        assert_ok(pool_bases_save(points, path));
        assert_ok(pool_bases_destroy(&points));
        assert_ok(pool_bases_load(&params, &exec, path, &points));
        assert_ok(pool_bases_destroy(&points));
        exec.checks = POOL_CHECK_ON_CURVE;
        assert_int_equal(pool_bases_load(&params, &exec, path, &points), POOL_ERR_BAD_DATA);
        assert_says("point 13 is not on the curve");
    }
    msm_problem_free(&problem);
}

/* Multiples for scalars of 20 bits also serve shorter scalars; longer ones would read beyond them.
 */
static void test_short_tables(void **state)
{
    struct msm_problem problem = msm_problem_random(pool_curve_by_name("bn254_g1"), 90, 1);
    pool_bases_params make = params_of(problem.curve);
    const pool_exec here = exec_here();
    pool_msm_params params = {.struct_size = sizeof(params)};
    pool_exec exec = {.struct_size = sizeof(exec)};
    pool_span span = msm_span(problem.points, 90);
    uint8_t got[64];

    (void)state;
    make.precompute_factor = POOL_PRECOMPUTE_ALL;
    make.scalar_bits = 20;
    assert_ok(pool_bases_create(&make, &here, &span, &params.bases));
    assert_int_equal(
        msm_call_shaped(&problem, &params, &exec, &plain, 0, got), POOL_ERR_INVALID_ARGUMENT);
    assert_says("`bases` are precomputed for");
    params.scalar_bits = 60;
    assert_int_equal(
        msm_call_shaped(&problem, &params, &exec, &plain, 0, got), POOL_ERR_INVALID_ARGUMENT);
    for (uint64_t i = 0; i < 90; i++)
        msm_set_scalar(&problem, i, (1u << 20) - 1 - i);
    exec.device = device;
    params.scalar_bits = 20;
    msm_compare(&problem, &params, &exec, NULL);
    params.window_bits = pool_bases_window_bits(params.bases) + 1;
    assert_int_equal(
        msm_call_shaped(&problem, &params, &exec, &plain, 0, got), POOL_ERR_INVALID_ARGUMENT);
    assert_says("`bases` are precomputed for");
    assert_ok(pool_bases_destroy(&params.bases));
    msm_problem_free(&problem);
}

#define REFUSE(change, status, text)                                                               \
    do {                                                                                           \
        pool_bases_params params = params_of(problem.curve);                                       \
        pool_exec exec = exec_here();                                                              \
        pool_span span = msm_span(problem.points, 20);                                             \
        pool_bases *made = NULL;                                                                   \
        change;                                                                                    \
        assert_int_equal(pool_bases_create(&params, &exec, &span, &made), status);                 \
        assert_says(text);                                                                         \
        assert_null(made);                                                                         \
    } while (0)

static void test_refusals(void **state)
{
    struct msm_problem problem = msm_problem_random(pool_curve_by_name("bn254_g1"), 20, 1);
    pool_cancel *cancel = NULL;

    (void)state;
    REFUSE(params.struct_size = 0, POOL_ERR_INVALID_ARGUMENT, "struct_size");
    REFUSE(params.curve = NULL, POOL_ERR_INVALID_ARGUMENT, "params->curve must not be NULL");
    REFUSE(exec.device = NULL, POOL_ERR_NOT_BOUND, "");
    REFUSE(exec.struct_size = 1, POOL_ERR_INVALID_ARGUMENT, "exec->struct_size is 1");
    REFUSE(exec.reserved = 1, POOL_ERR_INVALID_ARGUMENT, "for `reserved`; it must be 0");
    REFUSE(exec.checks = POOL_CHECK_CANONICAL, POOL_ERR_INVALID_ARGUMENT,
        "value 0x1 for `checks`; the supported flags are POOL_CHECK_ON_CURVE, POOL_CHECK_SUBGROUP");
    REFUSE(exec.checks = 4, POOL_ERR_INVALID_ARGUMENT, "POOL_CHECK_SUBGROUP is 0x6");
    REFUSE(exec.is_async = 1, POOL_ERR_UNSUPPORTED, "`is_async` is not supported");
    REFUSE(exec.on_host = 1, POOL_ERR_UNSUPPORTED, "`on_host` is not supported");
    REFUSE(exec.memory_limit = 1, POOL_ERR_UNSUPPORTED, "`memory_limit` is not supported");
    REFUSE(params.layout = (pool_point_layout)5, POOL_ERR_INVALID_ARGUMENT, "value 5 for `layout`");
    REFUSE(span.stride = 60, POOL_ERR_INVALID_ARGUMENT, "stride of 60 bytes");
    REFUSE(span.stride = 66, POOL_ERR_INVALID_ARGUMENT, "stride of 66 bytes");
    REFUSE(span.data = NULL, POOL_ERR_INVALID_ARGUMENT, "must not be NULL");
    REFUSE(span.form = (pool_form)2, POOL_ERR_INVALID_ARGUMENT, "unsupported value 2 for `form`");
    REFUSE(span.space = POOL_MEMORY_DEVICE, POOL_ERR_INVALID_ARGUMENT, "not device memory");
    REFUSE(span.count = UINT64_MAX / 2, POOL_ERR_INVALID_ARGUMENT, "too many");
    REFUSE(span.count = (uint64_t)1 << 31, POOL_ERR_INVALID_ARGUMENT, "more than 2^31 - 1");
    REFUSE((span.count = (uint64_t)1 << 30, params.precompute_factor = 4),
        POOL_ERR_INVALID_ARGUMENT, "more than 2^31 - 1");
    REFUSE((params.precompute_factor = 2, params.window_bits = 25), POOL_ERR_INVALID_ARGUMENT,
        "value 25 for `window_bits`");
    REFUSE(params.window_bits = 1, POOL_ERR_INVALID_ARGUMENT, "value 1 for `window_bits`");
    REFUSE(params.window_bits = 8, POOL_ERR_INVALID_ARGUMENT,
        "value 8 for `window_bits`; it must be 0 with a `precompute_factor` of 0");
    REFUSE((params.precompute_factor = 1, params.scalar_bits = 64), POOL_ERR_INVALID_ARGUMENT,
        "value 64 for `scalar_bits`; it must be 0 with a `precompute_factor` of 1");
    REFUSE(params.scalar_bits = 5000, POOL_ERR_INVALID_ARGUMENT, "value 5000 for `scalar_bits`");
    assert_ok(pool_cancel_create(&cancel));
    pool_cancel_request(cancel);
    REFUSE(exec.cancel = cancel, POOL_ERR_CANCELLED, "");
    pool_cancel_destroy(&cancel);
    problem.points[64 * 13 + 40] ^= 1;
    REFUSE(exec.checks = POOL_CHECK_ON_CURVE, POOL_ERR_BAD_DATA, "point 13 is not on the curve");
    msm_problem_free(&problem);
}

struct watch {
    uint64_t done, total;
    uint32_t calls;
    pool_cancel *cancel; /* requested by the first call */
};

static void watch_progress(void *user, uint64_t done, uint64_t total)
{
    struct watch *watch = user;

    assert_true(done > watch->done && done <= total);
    assert_true(watch->total == 0 || watch->total == total);
    watch->done = done;
    watch->total = total;
    watch->calls++;
    if (watch->cancel)
        pool_cancel_request(watch->cancel);
}

/* Cancelled after its first chunk. */
static void cancel_load(const pool_bases_params *params, const char *path)
{
    struct watch watch = {0};
    pool_exec exec = exec_here();
    pool_bases *bases = NULL;

    assert_ok(pool_cancel_create(&watch.cancel));
    exec.cancel = watch.cancel;
    exec.progress = watch_progress;
    exec.user = &watch;
    assert_int_equal(pool_bases_load(params, &exec, path, &bases), POOL_ERR_CANCELLED);
    assert_says("pool_bases_load: cancelled by the caller after");
    assert_int_equal(watch.calls, 1);
    assert_null(bases);
    pool_cancel_destroy(&watch.cancel);
}

/* More bases than one chunk of a creation, a fingerprint or a file holds, with strides. */
static void test_chunks(void **state)
{
    enum { COUNT = (1 << 17) + 3, DISTINCT = 8, STRIDE = 132 };
    struct msm_problem problem = msm_problem_random(pool_curve_by_name("bn254_g2"), DISTINCT, 1);
    uint8_t *packed = malloc((size_t)COUNT * 128), *strided = malloc((size_t)COUNT * STRIDE);
    uint8_t *text = malloc(40 + (size_t)COUNT * 128), wanted[32], got[32];
    pool_bases_params params = params_of(problem.curve);
    pool_span span = msm_span(strided, COUNT);
    struct watch watch = {0};
    pool_exec exec = exec_here();
    pool_bases *bases = NULL, *loaded = NULL;
    char path[128];

    (void)state;
    path_of("points", path, sizeof(path));
    assert_int_equal(problem.point_bytes, 128);
    for (size_t i = 0; i < COUNT; i++)
        memcpy(packed + i * 128, msm_point(&problem, i * i % DISTINCT), 128);
    for (size_t i = 0; i < COUNT; i++)
        memcpy(strided + i * STRIDE, packed + i * 128, 128);
    span.stride = STRIDE;
    exec.progress = watch_progress;
    exec.user = &watch;
    assert_ok(pool_bases_create(&params, &exec, &span, &bases));
    assert_int_equal(watch.calls, 2);
    assert_int_equal(watch.done, COUNT);
    assert_int_equal(watch.total, COUNT);
    assert_ok(pool_curve_fingerprint(problem.curve, text));
    for (int i = 0; i < 8; i++)
        text[32 + i] = (uint8_t)((uint64_t)COUNT >> 8 * i);
    memcpy(text + 40, packed, (size_t)COUNT * 128);
    assert_ok(base_sha256_of(text, 40 + (size_t)COUNT * 128, wanted));
    assert_ok(pool_bases_fingerprint(bases, got));
    assert_memory_equal(got, wanted, 32);
    assert_ok(pool_bases_save(bases, path));
    assert_ok(pool_bases_destroy(&bases));
    watch = (struct watch){0};
    exec.checks = POOL_CHECK_ON_CURVE;
    assert_ok(pool_bases_load(&params, &exec, path, &loaded));
    assert_int_equal(watch.calls, 3); /* the second chunk of the file is too small to report */
    assert_int_equal(watch.done, 2 * COUNT);
    assert_int_equal(watch.total, 2 * COUNT);
    assert_ok(pool_bases_destroy(&loaded));
    cancel_load(&params, path);
    /* The last point, which is in the second chunk. */
    strided[(size_t)(COUNT - 1) * STRIDE] ^= 1;
    exec.progress = NULL;
    assert_int_equal(pool_bases_create(&params, &exec, &span, &bases), POOL_ERR_BAD_DATA);
    assert_says("point 131074 is not on the curve");
    assert_null(bases);
    free(packed);
    free(strided);
    free(text);
    msm_problem_free(&problem);
}

static int open_all(void **state)
{
    return !mkdtemp(directory) || open_pool(state);
}

static int close_all(void **state)
{
    char path[128];

    path_of("points", path, sizeof(path));
    unlink(path);
    path_of("bad", path, sizeof(path));
    unlink(path);
    /* No other file remains. */
    return rmdir(directory) || close_pool(state);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables), cmocka_unit_test(test_facts),
        cmocka_unit_test(test_find), cmocka_unit_test(test_fingerprint),
        cmocka_unit_test(test_files), cmocka_unit_test(test_killed_writers),
        cmocka_unit_test(test_damaged_files), cmocka_unit_test(test_forged_files),
        cmocka_unit_test(test_checked_files), cmocka_unit_test(test_short_tables),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_chunks)};

    tuning_text = POOL_NO_SMALL_MSMS;
    if (count > 1)
        cmocka_set_test_filter(arguments[1]);
    return cmocka_run_group_tests(tests, open_all, close_all);
}
