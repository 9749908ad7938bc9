/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of Poseidon on a device: the pool that the first argument names (none: the
 * devices of this host), operations there and on the host, random elements.
 */
#ifndef TESTS_SUPPORT_POSEIDON_H
#define TESTS_SUPPORT_POSEIDON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>

#include "driver/nvrtc.h"
#include "zk/poseidon/kernels.h"
#include "support/assert.h"
#include "support/pool.h"

static const pool_exec on_host = {.struct_size = sizeof(on_host), .on_host = 1};

static inline pool_exec here(void)
{
    return (pool_exec){.struct_size = sizeof(pool_exec), .device = device};
}

static inline size_t element_bytes(const pool_poseidon *set)
{
    return pool_field_element_bytes(pool_poseidon_field(set));
}

static inline unsigned char *random_elements(const pool_poseidon *set, size_t count, pool_form form)
{
    unsigned char *elements = calloc(count ? count : 1, element_bytes(set));

    assert_ok(pool_random_scalars(pool_poseidon_field(set), count, count, form, elements));
    return elements;
}

static inline void compare(
    const pool_poseidon *set, const char *what, const void *got, const void *want, size_t bytes)
{
    if (memcmp(got, want, bytes))
        fail_msg("%s: %s differ from the host's", pool_poseidon_name(set), what);
}

/* 0, or 77 with the reason printed if there is no such device or no NVRTC. */
static inline int open_here(int argc, char **argv)
{
    const struct nvrtc *nvrtc;

    device_text = argc > 1 ? argv[1] : NULL;
    if (!driver_nvrtc_open(&nvrtc) && !open_pool(NULL))
        return 0;
    printf("skipped: %s\n", pool_last_error()->message);
    return 77;
}

#endif
