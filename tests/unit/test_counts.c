/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts whose product with the size of an item exceeds the address space: they are refused before
 * anything is read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include <devicepool.h>

static uint8_t data[4096], result[4096];
static size_t place;

/* Counts for items of `size` bytes, where `size` times the count wraps around or nearly does. */
static const size_t *counts_of(size_t size)
{
    static size_t counts[6];

    counts[0] = SIZE_MAX;
    counts[1] = SIZE_MAX / size;
    counts[2] = SIZE_MAX / size + 1;
    counts[3] = SIZE_MAX / size + 2;
    counts[4] = SIZE_MAX / 2 / size + 3;
    counts[5] = SIZE_MAX / 2 / size + 2;
    return counts;
}

static void assert_refused(const char *call, pool_status status)
{
    const char *message = pool_last_error()->message;

    if (status != POOL_ERR_INVALID_ARGUMENT || strncmp(message, call, strlen(call)) != 0 ||
        !strstr(message, "do not fit in memory"))
        fail_msg("%s: %s: %s", call, pool_status_name(status), message);
    for (size_t i = 0; i < sizeof(result); i++)
        assert_int_equal(result[i], 0xaa);
}

#define REFUSED(function, ...) assert_refused(#function, function(__VA_ARGS__))

static void check_field(const pool_field *field)
{
    size_t size = pool_field_element_bytes(field);
    const size_t *counts = counts_of(size);

    for (int i = 0; i < 6; i++) {
        size_t n = counts[i];

        REFUSED(pool_field_check, field, data, n, &place);
        REFUSED(pool_field_to_montgomery, field, data, n, result);
        REFUSED(pool_field_from_montgomery, field, data, n, result);
        REFUSED(pool_random_scalars, field, 1, n, POOL_FORM_STANDARD, result);
        REFUSED(pool_field_from_bytes, field, size, POOL_BIG_ENDIAN, data, n, POOL_FORM_STANDARD,
            result);
        REFUSED(
            pool_field_to_bytes, field, POOL_FORM_STANDARD, data, n, size, POOL_BIG_ENDIAN, result);
    }
    /* Widths instead of counts. */
    REFUSED(pool_field_from_bytes, field, SIZE_MAX / 2, POOL_BIG_ENDIAN, data, 3,
        POOL_FORM_STANDARD, result);
    REFUSED(
        pool_field_to_bytes, field, POOL_FORM_STANDARD, data, 3, SIZE_MAX, POOL_BIG_ENDIAN, result);
}

static void test_elements(void **state)
{
    (void)state;
    for (size_t i = 0; i < pool_field_count(); i++)
        check_field(pool_field_at(i));
}

static void check_points(const pool_curve *curve, const pool_point_format *format)
{
    size_t size = format->stride ? format->stride : pool_point_bytes(curve, format->layout);
    size_t scalar = pool_field_element_bytes(pool_curve_scalar_field(curve));
    const size_t *counts = counts_of(size);
    const pool_point_format small = {0};

    for (int i = 0; i < 6; i++) {
        size_t n = counts[i];

        REFUSED(pool_points_check, curve, format, data, n, POOL_CHECK_ON_CURVE, &place);
        REFUSED(pool_points_convert, curve, format, data, n, POOL_CHECK_CANONICAL, &small, result);
        REFUSED(pool_points_convert, curve, &small, data, n, POOL_CHECK_CANONICAL, format, result);
        REFUSED(pool_random_points, curve, 1, n, format, result, NULL);
        if (n > SIZE_MAX / 2 / scalar)
            REFUSED(pool_random_points, curve, 1, n, NULL, result, result);
        for (int e = 0; e <= POOL_ENCODING_ARKWORKS_UNCOMPRESSED; e++) {
            if (!pool_encoding_bytes(curve, (pool_encoding)e))
                continue;
            REFUSED(pool_points_encode, curve, format, data, n, (pool_encoding)e, 0, result);
            REFUSED(pool_points_decode, curve, (pool_encoding)e, 0, data, n, POOL_CHECK_CANONICAL,
                format, result);
        }
    }
}

static void test_points(void **state)
{
    (void)state;
    for (size_t i = 0; i < pool_curve_count(); i++)
        for (int layout = 0; layout <= POOL_POINT_XYZZ; layout++) {
            pool_point_format format = {.layout = (pool_point_layout)layout};

            check_points(pool_curve_at(i), &format);
            format.stride = (size_t)1 << 40;
            check_points(pool_curve_at(i), &format);
        }
}

static void test_scalar(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    static uint8_t point[64];

    (void)state;
    assert_int_equal(pool_curve_generator(curve, NULL, point), POOL_OK);
    REFUSED(pool_point_mul, curve, NULL, point, data, (size_t)1 << 61, result);
    REFUSED(pool_point_mul, curve, NULL, point, data, SIZE_MAX, result);
}

/* Arrays in params. */
static void test_params(void **state)
{
    CUcontext context = (CUcontext)data;
    pool_params params = {.struct_size = sizeof(params),
        .context_mode = POOL_CONTEXT_ADOPT,
        .contexts = &context,
        .context_count = SIZE_MAX / sizeof(context) + 1};
    device_pool *pool = NULL;
    pool_device *device;
    pool_module *module = NULL;
    const char *text = "A";
    const pool_module_header header = {text, text};
    pool_module_params program = {.struct_size = sizeof(program), .source = ""};

    (void)state;
    REFUSED(pool_create, &pool, &params);
    params = (pool_params){.struct_size = sizeof(params), .devices = "sim"};
    assert_int_equal(pool_create(&pool, &params), POOL_OK);
    assert_int_equal(pool_device_at(pool, 0, &device), POOL_OK);
    program.headers = &header;
    program.header_count = SIZE_MAX / sizeof(header) + 2;
    REFUSED(pool_module_compile, device, &program, &module);
    program.header_count = 0;
    program.defines = program.options = &text;
    program.define_count = SIZE_MAX / 8 + 2;
    REFUSED(pool_module_compile, device, &program, &module);
    program.define_count = 0;
    program.option_count = SIZE_MAX;
    REFUSED(pool_module_compile, device, &program, &module);
    program.option_count = 0;
    REFUSED(pool_warm_up, pool, NULL, &program, SIZE_MAX);
    REFUSED(pool_warm_up, pool, NULL, &program, SIZE_MAX / sizeof(program) + 2);
    REFUSED(pool_module_load, device, data, SIZE_MAX, &module);
    assert_int_equal(pool_destroy(&pool), POOL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_scalar),
        cmocka_unit_test(test_params),
    };

    memset(result, 0xaa, sizeof(result));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
