/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controls and records of the fake libnvrtcs that "compile": symbol fake_nvrtc_control. The
 * library's trial of a compiler has controls and a count of its own.
 */
#ifndef TESTS_UNIT_FAKE_LIBNVRTC_H
#define TESTS_UNIT_FAKE_LIBNVRTC_H

#include <stdatomic.h>

#include "driver/nvrtc.h"

struct fake_nvrtc {
    atomic_uint created, destroyed, compiled;
    atomic_uint trials, images; /* trials among what was compiled; images given out */
    nvrtc_result trial;         /* what the compilation of a trial answers, after `create` */
    int needs_builtins;         /* 1: as the real one does, see libnvrtc_works.c */
    atomic_uint running, most_running; /* in nvrtcCompileProgram at once */
    /* Runs as the n-th compilation, from 1; asks `cancelled` as the real one does. NULL: success.
     */
    nvrtc_result (*compile)(unsigned number, const char *name, int (*cancelled)(void *), void *of);
    nvrtc_result create; /* what nvrtcCreateProgram answers */
    int oldest_arch;     /* 0: 75 */
    const char *log;
};

#endif
