/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's declarations of NVRTC's functions and results against nvrtc.h. The compiler checks
 * them; the strings that the loader looks up are compared at run time.
 */
#include <nvrtc.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/nvrtc.h"

_Static_assert(__builtin_types_compatible_p(nvrtc_program, nvrtcProgram), "nvrtcProgram");
_Static_assert(sizeof(nvrtc_result) == sizeof(nvrtcResult), "nvrtcResult");

#define SAME_RESULT(name, code)                                                                    \
    _Static_assert((int)NVRTC_##name == (code) && (int)DRIVER_NVRTC_##name == (code), #name);
NVRTC_RESULTS(SAME_RESULT)

/* `field` is the function's name without "nvrtc". */
#define SAME_PROTOTYPE(field, symbol, need, returned, parameters)                                  \
    _Static_assert(__builtin_types_compatible_p(                                                   \
                       __typeof__(((struct nvrtc_api *)0)->field), __typeof__(&nvrtc##field)),     \
        symbol);
NVRTC_FUNCTIONS(SAME_PROTOTYPE)

static void test_lookup_strings(void **state)
{
    (void)state;
#define SAME_NAME(field, symbol, need, returned, parameters)                                       \
    assert_string_equal("nvrtc" #field, symbol);
    NVRTC_FUNCTIONS(SAME_NAME)
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookup_strings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
