/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controls and records of the fake libnvrtc that "compiles": symbol fake_nvrtc_control.
 */
#ifndef TESTS_UNIT_FAKE_LIBNVRTC_H
#define TESTS_UNIT_FAKE_LIBNVRTC_H

#include <stdatomic.h>

#include "driver/nvrtc.h"

struct fake_nvrtc {
    atomic_uint created, destroyed, compiled;
    atomic_uint running, most_running; /* in nvrtcCompileProgram at once */
    /* Runs as the n-th compilation, from 1; asks `cancelled` as the real one does. NULL: success.
     */
    nvrtc_result (*compile)(unsigned number, const char *name, int (*cancelled)(void *), void *of);
    nvrtc_result create; /* what nvrtcCreateProgram answers */
    int oldest_arch;     /* 0: 75 */
    const char *log;
};

#endif
