/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's own kernels: a program is compiled and loaded once a device and stays; texts
 * generated for it tell programs apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include <devicepool.h>

#include "base/alloc.h"
#include "curve/emit_curve.h"
#include "driver/nvrtc.h"
#include "module/program.h"

static void load_twice(pool_device *device, const struct module_program *program,
    const struct module_key *id, pool_module **module)
{
    pool_module *again;

    assert_int_equal(module_program_get(device, program, id, module), POOL_OK);
    assert_int_equal(module_program_get(device, program, id, &again), POOL_OK);
    assert_ptr_equal(again, *module);
}

/* The point layer without kernels of its own: what counts here is that it compiles and stays. */
static void test_programs_stay(void **state)
{
    static const char *const names[] = {"bn254_fq", "pallas_fq"};
    pool_params params = {.struct_size = sizeof(params), .devices = "sim:2"};
    struct module_program missing = {.file = "no/such.cu"};
    pool_module *modules[2][2] = {{NULL}};
    pool_device *devices[2];
    struct module_key ids[2];
    device_pool *pool;

    (void)state;
    assert_int_equal(pool_create(&pool, &params), POOL_OK);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pool_device_at(pool, i, &devices[i]), POOL_OK);
    for (int c = 0; c < 2; c++) {
        pool_module_header text = {.name = "curve.cuh"};
        struct module_program program = {.file = "ec/xyzz.cuh", .texts = &text, .text_count = 1};
        const struct curve_emit_params curve = {.field = pool_field_by_name(names[c])};
        char *generated;

        assert_non_null(curve.field);
        assert_int_equal(curve_emit_generate(&curve, &generated), POOL_OK);
        text.text = generated;
        assert_int_equal(module_program_identify(&program, &ids[c]), POOL_OK);
        for (int d = 0; d < 2; d++)
            load_twice(devices[d], &program, &ids[c], &modules[c][d]);
        assert_ptr_not_equal(modules[c][0], modules[c][1]);
        base_free(generated);
    }
    assert_memory_not_equal(&ids[0], &ids[1], sizeof(ids[0]));
    assert_ptr_not_equal(modules[0][0], modules[1][0]);
    assert_int_equal(module_program_identify(&missing, &ids[0]), POOL_ERR_INTERNAL);
    assert_int_equal(pool_destroy(&pool), POOL_OK); /* kept modules are no reason to refuse */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs_stay)};
    const struct nvrtc *nvrtc;

    if (driver_nvrtc_open(&nvrtc))
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
