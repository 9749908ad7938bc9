/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generated device code as a string: the names that it defines per field, its dependence on the
 * modulus only, refused arguments, and failure of every allocation. tests/kernels checks what the
 * code computes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include <devicepool/curve.h>

#include "base/alloc.h"
#include "zk/curve/emit_curve.h"
#include "zk/field/emit_field.h"

static const char *const every_name[] = {"zero", "one", "modulus", "r2", "add", "sub", "neg", "dbl",
    "mul", "sqr", "mul_add", "mul_sub", "add_lazy", "sub_lazy", "neg_lazy", "dbl_lazy", "mul_lazy",
    "sqr_lazy", "mul_add_lazy", "mul_sub_lazy", "reduce", "is_zero", "is_zero_lazy", "eq", "less",
    "select", "cneg", "to_mont", "from_mont"};

/* How often `prefix_name(` opens a definition. */
static int definitions(const char *text, const char *name)
{
    char opening[64];
    int count = 0;
    snprintf(opening, sizeof opening, " zz_%s(", name);
    for (const char *at = strstr(text, opening); at != NULL; at = strstr(at + 1, opening)) {
        const char *line = at;
        while (line > text && line[-1] != '\n')
            line--;
        count += strncmp(line, "__device__ ", 11) == 0;
    }
    return count;
}

static void test_every_field_defines_every_name(void **state)
{
    (void)state;
    assert_true(pool_field_count() > 0);
    for (size_t i = 0; i < pool_field_count(); i++) {
        const pool_field *field = pool_field_at(i);
        char *text = NULL;
        assert_int_equal(field_emit_generate(field, "zz", &text), POOL_OK);
        for (size_t name = 0; name < sizeof every_name / sizeof every_name[0]; name++)
            if (definitions(text, every_name[name]) != 1)
                fail_msg("%s: zz_%s is defined %d times", pool_field_name(field), every_name[name],
                    definitions(text, every_name[name]));
        base_free(text);
    }
}

static void test_custom_field_has_the_same_text(void **state)
{
    (void)state;
    const pool_field *built_in = pool_field_by_name("bn254_fq");
    pool_field_params params = {.struct_size = sizeof(params)};
    pool_field *custom = NULL;
    char *expected = NULL;
    char *text = NULL;

    params.modulus = "0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47";
    params.name = "mine";
    assert_int_equal(pool_field_create(&params, &custom), POOL_OK);
    assert_int_equal(field_emit_generate(built_in, "fq", &expected), POOL_OK);
    assert_int_equal(field_emit_generate(custom, "fq", &text), POOL_OK);
    assert_string_equal(text, expected);
    base_free(text);
    base_free(expected);
    pool_field_destroy(&custom);
}

static void test_refused_arguments(void **state)
{
    (void)state;
    const pool_field *field = pool_field_by_name("bn254_fq");
    char *text = NULL;
    assert_int_equal(field_emit_generate(NULL, "fq", &text), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(field_emit_generate(field, NULL, &text), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(field_emit_generate(field, "fq", NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(field_emit_generate(field, "a_prefix_of_far_too_many_letters", &text),
        POOL_ERR_INVALID_ARGUMENT);
    assert_null(text);
}

static int fail_one(void *user)
{
    int *left = user;
    return (*left)-- == 0;
}

static void test_failing_memory(void **state)
{
    (void)state;
    const pool_field *field = pool_field_by_name("bw6_761_fq");
    pool_status status = POOL_ERR_INTERNAL;
    int failures = 0;
    for (int n = 0; status != POOL_OK; n++) {
        int left = n;
        char *text = NULL;
        base_alloc_set_hook(fail_one, &left);
        const struct curve_emit_params params = {.field = field};
        status = curve_emit_generate(&params, &text);
        base_alloc_set_hook(NULL, NULL);
        if (status == POOL_OK) {
            base_free(text);
            break;
        }
        assert_int_equal(status, POOL_ERR_OUT_OF_HOST_MEMORY);
        assert_null(text);
        failures++;
        assert_true(n < 1000);
    }
    assert_true(failures >= 4);
}

static void test_curves(void **state)
{
    (void)state;
    assert_true(pool_curve_count() > 0);
    for (size_t i = 0; i < pool_curve_count(); i++) {
        const pool_curve *curve = pool_curve_at(i);
        bool is_extension = curve->coordinates.degree == 2;
        char *text = NULL;
        assert_int_equal(curve_emit_of(curve, &text), POOL_OK);
        assert_non_null(strstr(text, is_extension ? "EC_DEGREE 2" : "EC_DEGREE 1"));
        assert_int_equal(strstr(text, "FQ2_NONRESIDUE") != NULL, is_extension);
        assert_non_null(strstr(text, "EC_A EC_A_ZERO"));
        base_free(text);
    }
    assert_int_equal(curve_emit_of(NULL, NULL), POOL_ERR_INVALID_ARGUMENT);
}

static void test_kinds_of_a(void **state)
{
    (void)state;
    static const struct {
        int32_t a0, a1;
        const char *kind;
    } cases[] = {{0, 0, "EC_A EC_A_ZERO"}, {-3, 0, "EC_A EC_A_MINUS_3"},
        {3, 0, "EC_A EC_A_GENERAL"}, {0, 1, "EC_A EC_A_GENERAL"}, {-3, 1, "EC_A EC_A_GENERAL"}};
    const pool_field *field = pool_field_by_name("bn254_fq");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t a[2 * FIELD_MAX_LIMBS] = {0};
        struct curve_emit_params params = {.field = field, .nonresidue = -1, .a = a};
        char *text = NULL;
        field_set_integer(field, a, cases[i].a0);
        field_set_integer(field, a + field->limbs, cases[i].a1);
        assert_int_equal(curve_emit_generate(&params, &text), POOL_OK);
        assert_non_null(strstr(text, cases[i].kind));
        base_free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field_defines_every_name),
        cmocka_unit_test(test_custom_field_has_the_same_text),
        cmocka_unit_test(test_refused_arguments),
        cmocka_unit_test(test_failing_memory),
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_kinds_of_a),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
