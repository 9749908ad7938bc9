/* A test with a mock of three devices, before and, as `pool`, after a pool is made on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <devicepool.h>
#include <devicepool/mock.h>

static const char sixteen_bytes[16] = "0123456789abcde";

static void test(void **state)
{
    pool_mock_params params = {.struct_size = sizeof(params), .devices = 3};
    pool_mock *mock;

    (void)state;
    assert_int_equal(pool_mock_create(&mock, &params), POOL_OK);
BLOCK
    assert_string_equal(pool_mock_verify(mock), "");
    pool_mock_destroy(&mock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
