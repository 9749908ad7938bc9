/* A test that uses the mock driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <devicepool.h>
#include <devicepool/mock.h>

static void the_code_under_test(device_pool *pool)
{
    pool_device *device;

    assert_int_equal(pool_next_device(pool, &device), POOL_OK);
    assert_int_equal(pool_bind(device), POOL_OK);
    assert_int_equal(pool_unbind(device), POOL_OK);
}

static void test(void **state)
{
    (void)state;
BLOCK
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
