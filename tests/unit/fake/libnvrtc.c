/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fake libnvrtc for the loader tests: reports version FAKE_MAJOR.FAKE_MINOR; every other function
 * exists and answers 0. Built without FlowCallback, without a needed function, and as an old one.
 */
#include "driver/nvrtc.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define FUNCTIONS(field, symbol, need, returned, parameters)                                       \
    __attribute__((weak)) returned exported_##field parameters __asm__(symbol);                    \
    returned exported_##field parameters                                                           \
    {                                                                                              \
        return 0;                                                                                  \
    }
NVRTC_FUNCTIONS(FUNCTIONS)
