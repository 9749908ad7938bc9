/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library and a worker program of different builds, as after an upgrade of one of them: the pool
 * is not created, and the message says what to install. DEVICEPOOL_WORKER names the program
 * other_worker.
 */
#include "support/assert.h"

static void test_other_build(void **state)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "workers:sim:1"};
    device_pool *pool = NULL;

    (void)state;
    assert_status(pool_create(&pool, &params), POOL_ERR_NO_DEVICE);
    assert_says("the worker program is of another build than the library: install both of the same "
                "version");
    assert_null(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_other_build)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
