/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion and checks of points, kernel by kernel against the host: points of every layout, form
 * and stride of every curve are converted to packed, reduced affine points; multiples are computed;
 * checks name the first bad point.
 */
#include "support/msm.h"
#include "support/sample.h"

#include "zk/msm/convert.h"

enum { COUNT = 67 };

static device_pool *pool;
static struct msm_run run;

static void use(const pool_curve *curve)
{
    assert_non_null(curve);
    run.curve = curve;
}

static CUdeviceptr address_of(pool_buffer *buffer)
{
    CUdeviceptr address = 0;

    assert_ok(pool_buffer_address(buffer, &address));
    return address;
}

/* Random points with infinities and equal neighbours among them. */
static struct msm_problem points_of(const pool_curve *curve)
{
    struct msm_problem problem = msm_problem_random(curve, COUNT, 7);

    memset(msm_point(&problem, 0), 0, problem.point_bytes);
    memset(msm_point(&problem, 33), 0, problem.point_bytes);
    memset(msm_point(&problem, COUNT - 1), 0, problem.point_bytes);
    memcpy(msm_point(&problem, 5), msm_point(&problem, 4), problem.point_bytes);
    return problem;
}

/* The form that kernels compute in. */
static pool_form device_form(const pool_curve *curve)
{
    return field_device_degree(pool_curve_base_field(curve)) ? POOL_FORM_MONTGOMERY
                                                             : POOL_FORM_STANDARD;
}

/* Points of a problem in another format, with a Z that is not 1 where there is one. */
static uint8_t *reformat(const struct msm_problem *problem, const pool_point_format *format)
{
    const pool_curve *curve = problem->curve;
    size_t stride = curve_point_stride(curve, format);
    uint8_t *made = calloc(COUNT, stride);

    for (uint64_t i = 0; i < COUNT; i++) {
        struct curve_jacobian point;
        uint64_t z[CURVE_MAX_LIMBS], power[CURVE_MAX_LIMBS];
        const pool_point_format plain = {0};

        assert_null(curve_load(curve, &point, &plain, msm_point(problem, i)));
        if (!curve_jacobian_is_infinity(curve, &point)) {
            field_extension_add(&curve->coordinates, z, point.x, point.y);
            field_extension_sqr(&curve->coordinates, power, z);
            field_extension_mul(&curve->coordinates, point.x, point.x, power);
            field_extension_mul(&curve->coordinates, power, power, z);
            field_extension_mul(&curve->coordinates, point.y, point.y, power);
            field_extension_copy(&curve->coordinates, point.z, z);
        }
        curve_store(curve, format, made + i * stride, &point);
    }
    return made;
}

static void check_import(const struct msm_problem *problem, pool_point_format format)
{
    const pool_point_format wanted_format = {POOL_POINT_AFFINE, device_form(problem->curve), 0};
    size_t stride = curve_point_stride(problem->curve, &format);
    uint8_t *given = reformat(problem, &format), *wanted = reformat(problem, &wanted_format);
    uint8_t *got = calloc(COUNT, problem->point_bytes);
    pool_buffer *from = NULL, *to = NULL;
    struct msm_input_bases source;

    assert_ok(pool_buffer_from_host(run.device, given, COUNT * stride, &from));
    assert_ok(pool_buffer_alloc(run.device, COUNT * problem->point_bytes, &to));
    const pool_span span = {.data = (void *)(uintptr_t)address_of(from),
        .count = COUNT,
        .stride = format.stride,
        .form = format.form,
        .space = POOL_MEMORY_DEVICE};
    msm_input_bases_init(&source, problem->curve, &span, format.layout);
    assert_ok(msm_convert_bases(&run, &source, address_of(to)));
    assert_ok(pool_copy_to_host(got, to, 0, COUNT * problem->point_bytes, NULL));
    for (uint64_t i = 0; i < COUNT; i++)
        if (memcmp(got + i * problem->point_bytes, wanted + i * problem->point_bytes,
                problem->point_bytes) != 0)
            fail_msg("%s layout %d form %d: point %d", pool_curve_name(problem->curve),
                format.layout, format.form, (int)i);
    assert_ok(pool_buffer_destroy(&from));
    assert_ok(pool_buffer_destroy(&to));
    free(given);
    free(wanted);
    free(got);
}

static void check_imports(const pool_curve *curve)
{
    static size_t index;

    if (msm_is_left_out(curve, run.device))
        return;
    struct msm_problem problem = points_of(curve);

    use(curve);
    for (int layout = POOL_POINT_AFFINE; layout <= POOL_POINT_XYZZ; layout++)
        for (int form = POOL_FORM_STANDARD; form <= POOL_FORM_MONTGOMERY; form++)
            for (int gap = 0; gap < 2; gap++)
                if (is_sampled(index++, 3))
                    check_import(&problem,
                        (pool_point_format){(pool_point_layout)layout, (pool_form)form,
                            gap ? pool_point_bytes(curve, (pool_point_layout)layout) + 12 : 0});
    msm_problem_free(&problem);
}

static void test_import_builtin(void **state)
{
    (void)state;
    for (size_t i = 0; i < pool_curve_count(); i++)
        check_imports(pool_curve_at(i));
}

static void check_multiples(const pool_curve *curve, uint32_t doublings)
{
    if (msm_is_left_out(curve, run.device))
        return;
    struct msm_problem problem = points_of(curve);
    const pool_point_format format = {POOL_POINT_AFFINE, device_form(curve), 0};
    uint8_t *given = reformat(&problem, &format), scalar[48] = {0}, wanted[MSM_POINT_MAX];
    uint64_t bytes = COUNT * problem.point_bytes;
    pool_buffer *buffer = NULL;

    use(curve);
    scalar[doublings / 8] = (uint8_t)(1 << doublings % 8);
    assert_ok(pool_buffer_alloc(run.device, 4 * bytes, &buffer));
    assert_ok(pool_copy_to_device(buffer, 0, given, bytes, NULL));
    const struct msm_doubling doubling = {.bases = address_of(buffer),
        .out = address_of(buffer) + bytes,
        .scratch = address_of(buffer) + 2 * bytes,
        .count = COUNT,
        .doublings = doublings};
    assert_ok(msm_double_bases(&run, &doubling));
    assert_ok(pool_copy_to_host(given, buffer, bytes, bytes, NULL));
    for (uint64_t i = 0; i < COUNT; i++) {
        int equal = 0;

        assert_ok(
            pool_point_mul(curve, NULL, msm_point(&problem, i), scalar, sizeof(scalar), wanted));
        assert_ok(pool_point_equal(
            curve, NULL, wanted, &format, given + i * problem.point_bytes, &equal));
        assert_int_equal(equal, 1);
    }
    assert_ok(pool_buffer_destroy(&buffer));
    free(given);
    msm_problem_free(&problem);
}

static void test_multiples(void **state)
{
    (void)state;
    check_multiples(pool_curve_by_name("bn254_g1"), 17);
    check_multiples(pool_curve_by_name("bls12_381_g2"), 1);
    check_multiples(pool_curve_by_name("bw6_761_g1"), 64);
}

/* Checks points on the device and returns the status, which the caller examines together with its
 * message. */
static pool_status check_points(
    const struct msm_problem *problem, pool_point_format format, const uint8_t *given, int check)
{
    size_t stride = curve_point_stride(problem->curve, &format);
    pool_buffer *from = NULL, *to = NULL, *word = NULL;
    struct msm_input_bases source;
    pool_status status;

    use(problem->curve);
    assert_ok(pool_buffer_from_host(run.device, given, COUNT * stride, &from));
    assert_ok(pool_buffer_alloc(run.device, COUNT * problem->point_bytes, &to));
    assert_ok(pool_buffer_alloc(run.device, 8, &word));
    const pool_span span = {.data = (void *)(uintptr_t)address_of(from),
        .count = COUNT,
        .stride = format.stride,
        .form = format.form,
        .space = POOL_MEMORY_DEVICE};
    const struct msm_check_result result = {
        .buffer = word, .address = address_of(word), .first_index = 1000};
    msm_input_bases_init(&source, problem->curve, &span, format.layout);
    status = msm_convert_bases(&run, &source, address_of(to));
    if (!status)
        status =
            msm_check_bases(&run, &source, &result, address_of(to), problem->point_bytes, check);
    assert_ok(pool_buffer_destroy(&from));
    assert_ok(pool_buffer_destroy(&to));
    assert_ok(pool_buffer_destroy(&word));
    return status;
}

#define EXPECT_BAD(call, text)                                                                     \
    do {                                                                                           \
        assert_int_equal((call), POOL_ERR_BAD_DATA);                                               \
        assert_says(text);                                                                         \
    } while (0)

/* A point of the curve that is not in the subgroup: the first x that has a y. */
static void outside_subgroup(const pool_curve *curve, uint8_t *point)
{
    const struct field_extension *f = &curve->coordinates;
    struct curve_affine p = {.infinity = false};
    struct curve_jacobian q;
    uint64_t right[CURVE_MAX_LIMBS];
    const pool_point_format plain = {0};

    for (int64_t x = 1;; x++) {
        field_extension_set_zero(f, p.x);
        field_set_integer(f->field, p.x, x);
        curve_y_squared(curve, right, p.x);
        if (!field_extension_sqrt(f, p.y, right))
            continue;
        curve_jacobian_from_affine(curve, &q, &p);
        if (!curve_is_in_subgroup(curve, &q))
            break;
    }
    curve_store_affine(curve, &plain, point, &p);
}

static void check_checks(const pool_curve *curve)
{
    struct msm_problem problem = points_of(curve);
    pool_point_format format = {0};
    size_t bytes = problem.point_bytes;
    uint8_t *copy = malloc(COUNT * bytes), *strided;

    for (int layout = POOL_POINT_AFFINE; layout <= POOL_POINT_XYZZ; layout++) {
        format = (pool_point_format){(pool_point_layout)layout, POOL_FORM_MONTGOMERY, 0};
        strided = reformat(&problem, &format);
        assert_ok(check_points(&problem, format, strided, POOL_CHECK_SUBGROUP));
        /* Y becomes another one. */
        strided[40 * curve_point_stride(curve, &format) + bytes / 2] ^= 1;
        EXPECT_BAD(check_points(&problem, format, strided, POOL_CHECK_ON_CURVE),
            "point 1040 is not on the curve");
        memset(strided + 20 * curve_point_stride(curve, &format), 255, bytes / 2);
        EXPECT_BAD(check_points(&problem, format, strided, POOL_CHECK_ON_CURVE),
            "point 1020 has a coordinate that is not below the modulus");
        assert_ok(check_points(&problem, format, strided, POOL_CHECK_NONE));
        free(strided);
    }
    format = (pool_point_format){POOL_POINT_AFFINE_FLAG, POOL_FORM_STANDARD, 0};
    strided = reformat(&problem, &format);
    strided[2 * curve_point_stride(curve, &format) + bytes] = 2;
    EXPECT_BAD(check_points(&problem, format, strided, POOL_CHECK_ON_CURVE),
        "point 1002 has an infinity flag");
    free(strided);
    format = (pool_point_format){POOL_POINT_XYZZ, POOL_FORM_STANDARD, 0};
    strided = reformat(&problem, &format);
    strided[2 * curve_point_stride(curve, &format) + bytes] ^= 1;
    EXPECT_BAD(check_points(&problem, format, strided, POOL_CHECK_ON_CURVE), "ZZ^3 and ZZZ^2");
    free(strided);
    free(copy);
    msm_problem_free(&problem);
}

static void test_checks(void **state)
{
    (void)state;
    check_checks(pool_curve_by_name("bls12_381_g1"));
    check_checks(pool_curve_by_name("bn254_g2"));
}

static void test_subgroup(void **state)
{
    static const char *const names[] = {"bls12_381_g1", "bls12_381_g2", "bn254_g2"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct msm_problem problem = points_of(pool_curve_by_name(names[i]));

        outside_subgroup(problem.curve, msm_point(&problem, 11));
        assert_ok(
            check_points(&problem, (pool_point_format){0}, problem.points, POOL_CHECK_ON_CURVE));
        EXPECT_BAD(
            check_points(&problem, (pool_point_format){0}, problem.points, POOL_CHECK_SUBGROUP),
            "point 1011 is not in the subgroup");
        msm_problem_free(&problem);
    }
}

static pool_status check_scalars(
    const struct msm_problem *problem, const uint8_t *data, pool_form form, uint32_t bits)
{
    pool_buffer *from = NULL, *word = NULL;
    pool_status status;

    use(problem->curve);
    assert_ok(pool_buffer_from_host(run.device, data, COUNT * problem->scalar_bytes, &from));
    assert_ok(pool_buffer_alloc(run.device, 8, &word));
    const struct msm_check_result result = {
        .buffer = word, .address = address_of(word), .first_index = 1000};
    const struct msm_scalars scalars = {.data = address_of(from),
        .stride = problem->scalar_bytes / 4,
        .count = COUNT,
        .form = form,
        .bits = bits};
    status = msm_check_scalars(&run, &scalars, &result);
    assert_ok(pool_buffer_destroy(&from));
    assert_ok(pool_buffer_destroy(&word));
    return status;
}

static void test_scalars(void **state)
{
    struct msm_problem problem = msm_problem_random(pool_curve_by_name("bn254_g1"), COUNT, 9);
    const pool_field *field = pool_curve_scalar_field(problem.curve);
    uint8_t *montgomery = malloc(COUNT * problem.scalar_bytes);

    (void)state;
    assert_ok(check_scalars(&problem, problem.scalars, POOL_FORM_STANDARD, 0));
    assert_ok(check_scalars(&problem, problem.scalars, POOL_FORM_STANDARD, 254));
    EXPECT_BAD(check_scalars(&problem, problem.scalars, POOL_FORM_STANDARD, 200),
        "scalar 1000 is not below 2^200");
    for (uint64_t i = 0; i < COUNT; i++)
        msm_set_scalar(&problem, i, (1u << 20) - 1 - i);
    assert_ok(pool_field_to_montgomery(field, problem.scalars, COUNT, montgomery));
    assert_ok(check_scalars(&problem, problem.scalars, POOL_FORM_STANDARD, 20));
    assert_ok(check_scalars(&problem, montgomery, POOL_FORM_MONTGOMERY, 20));
    EXPECT_BAD(check_scalars(&problem, montgomery, POOL_FORM_MONTGOMERY, 19),
        "scalar 1000 is not below 2^19");
    msm_set_scalar(&problem, 44, 1u << 20);
    EXPECT_BAD(check_scalars(&problem, problem.scalars, POOL_FORM_STANDARD, 20),
        "scalar 1044 is not below 2^20");
    field_store(field, msm_scalar(&problem, 50), field->modulus);
    EXPECT_BAD(check_scalars(&problem, problem.scalars, POOL_FORM_STANDARD, 0),
        "scalar 1050 is not below the order of bn254_g1");
    free(montgomery);
    msm_problem_free(&problem);
}

static int open_pool(void **state)
{
    pool_params params = {.struct_size = sizeof(params), .devices = "sim"};

    (void)state;
    return pool_create(&pool, &params) || pool_device_at(pool, 0, &run.device) ||
           pool_stream_default(run.device, &run.stream);
}

static int close_pool(void **state)
{
    (void)state;
    return pool_destroy(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_import_builtin),
        cmocka_unit_test(test_multiples), cmocka_unit_test(test_checks),
        cmocka_unit_test(test_subgroup), cmocka_unit_test(test_scalars)};

    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
