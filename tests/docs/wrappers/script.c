/* A test that says which driver calls the code under test may make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <devicepool.h>
#include <devicepool/mock.h>

/* Queries the free memory, which the script makes fail. */
static void the_code_under_test(device_pool *pool)
{
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_device *device;

    assert_int_equal(pool_device_at(pool, 0, &device), POOL_OK);
    assert_int_equal(pool_bind(device), POOL_OK);
    assert_int_not_equal(pool_memory_get_info(device, &info), POOL_OK);
    assert_int_equal(pool_unbind(device), POOL_OK);
}

static void test(void **state)
{
    pool_mock_params mock_params = {.struct_size = sizeof(mock_params)};
    pool_params params = {.struct_size = sizeof(params)};
    device_pool *pool;
    pool_mock *mock;

    (void)state;
    assert_int_equal(pool_mock_create(&mock, &mock_params), POOL_OK);
    params.driver = pool_mock_table(mock);
    assert_int_equal(pool_create(&pool, &params), POOL_OK);
BLOCK
    pool_destroy(&pool);
    pool_mock_destroy(&mock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
