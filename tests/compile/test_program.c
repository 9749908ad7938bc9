/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's own kernels: a program is compiled and loaded once per device and stays resident;
 * the subject's fingerprint and the key's parameters distinguish programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include <devicepool.h>

#include "driver/nvrtc.h"
#include "pool/module/program.h"
#include "support/assert.h"
#include "zk/curve/emit_curve.h"

static const char *field_name(const void *field)
{
    return pool_field_name(field);
}

static pool_status generate_curve(const void *field, char **text)
{
    const struct curve_emit_params curve = {.field = field};

    return curve_emit_generate(&curve, text);
}

/* The point layer without kernels: the tests need no more than that it compiles. */
static const struct module_subject subject = {field_name, {{"curve.cuh", generate_curve}}};
static const struct module_program_type program = {
    .file = "ec/xyzz.cuh", .subject = &subject, .defines = {"TEST_FIRST", "TEST_SECOND"}};
static const struct module_program_type missing = {.file = "no/such.cu"};

static pool_module *load_twice(
    pool_device *device, const pool_field *field, const struct module_program_key *key)
{
    pool_module *module, *again;

    assert_ok(module_find_or_load(device, field, key, &module));
    assert_ok(module_find_or_load(device, field, key, &again));
    assert_ptr_equal(again, module);
    return module;
}

static void test_programs_stay(void **state)
{
    static const char *const names[] = {"bn254_fq", "pallas_fq"};
    pool_params params = {.struct_size = sizeof(params), .devices = "sim:2"};
    const struct module_program_key missing_key = module_key_for(&missing, NULL);
    pool_module *modules[2][2], *module;
    pool_device *devices[2];
    device_pool *pool;

    (void)state;
    assert_ok(pool_create(&pool, &params));
    for (size_t d = 0; d < 2; d++) {
        assert_ok(pool_device_at(pool, d, &devices[d]));
        for (size_t c = 0; c < 2; c++) {
            const pool_field *field = pool_field_by_name(names[c]);
            struct module_program_key key = module_key_for(&program, field->fingerprint);

            modules[c][d] = load_twice(devices[d], field, &key);
            key.parameters[1] = 1;
            assert_ptr_not_equal(load_twice(devices[d], field, &key), modules[c][d]);
        }
        assert_ptr_not_equal(modules[0][d], modules[1][d]);
    }
    assert_ptr_not_equal(modules[0][0], modules[0][1]);
    assert_status(module_find_or_load(devices[0], NULL, &missing_key, &module), POOL_ERR_INTERNAL);
    assert_ok(pool_destroy(&pool)); /* resident modules are no reason to refuse */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs_stay)};
    const struct nvrtc *nvrtc;

    if (driver_nvrtc_open(&nvrtc))
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
