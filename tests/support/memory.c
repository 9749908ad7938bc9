/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices that tests of memory and streams run on.
 */
#include "support/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool/device/device.h"

device_pool *memory_pool;
pool_mock *memory_mock;
static const char *chosen = "mock";

int memory_choose(int argc, char **argv, const char *otherwise)
{
    device_pool *pool = NULL;
    pool_params params = {.struct_size = sizeof(params)};

    chosen = otherwise;
    if (argc == 3 && !strcmp(argv[1], "--device"))
        chosen = argv[2];
    if (!strcmp(chosen, "mock"))
        return 0;
    params.devices = chosen;
    if (pool_create(&pool, &params)) {
        printf("no device \"%s\": %s\n", chosen, pool_last_error()->message);
        return strncmp(chosen, "sim", 3) ? 77 : 1;
    }
    pool_destroy(&pool);
    return 0;
}

int memory_set_up(void **state)
{
    const pool_mock_params mock = {.struct_size = sizeof(mock), .devices = 2};
    pool_params params = {.struct_size = sizeof(params)};

    (void)state;
    if (!strcmp(chosen, "mock")) {
        if (pool_mock_create(&memory_mock, &mock))
            return -1;
        params.driver = pool_mock_table(memory_mock);
    } else {
        params.devices = chosen;
    }
    if (pool_create(&memory_pool, &params)) {
        printf("%s\n", pool_last_error()->message);
        return -1;
    }
    return 0;
}

int memory_set_up_without_pools(void **state)
{
    const pool_mock_params mock = {.struct_size = sizeof(mock), .devices = 1};
    pool_params params = {.struct_size = sizeof(params)};

    (void)state;
    if (pool_mock_create(&memory_mock, &mock))
        return -1;
    pool_mock_remove_function(memory_mock, "cuMemAllocFromPoolAsync");
    params.driver = pool_mock_table(memory_mock);
    return pool_create(&memory_pool, &params) ? -1 : 0;
}

int memory_tear_down(void **state)
{
    CUcontext current = NULL;
    int bad = 0;

    (void)state;
    if (memory_pool) {
        const pool_cuda_api *api = memory_driver(memory_device(0));

        if (api->CtxGetCurrent(&current) == 0 && current) {
            printf("a context is left on the thread\n");
            bad = 1;
        }
        if (pool_destroy(&memory_pool)) {
            printf("%s\n", pool_last_error()->message);
            bad = 1;
        }
    }
    if (memory_mock) {
        if (*pool_mock_leaks(memory_mock)) {
            printf("left behind:\n%s\n", pool_mock_leaks(memory_mock));
            bad = 1;
        }
        pool_mock_destroy(&memory_mock);
    }
    return bad ? -1 : 0;
}

pool_device *memory_device(size_t index)
{
    pool_device *device = NULL;

    if (pool_device_at(memory_pool, index, &device))
        fail_msg("%s", pool_last_error()->message);
    return device;
}

pool_status memory_raw_status(void)
{
    const bool is_isolated = memory_driver(memory_device(0))->flags & POOL_CUDA_ISOLATED_DEVICES;

    return is_isolated ? POOL_ERR_UNSUPPORTED : POOL_OK;
}

const pool_cuda_api *memory_driver(pool_device *device)
{
    return &device_driver(device)->api;
}

unsigned char *memory_host(size_t bytes)
{
    unsigned char *memory = calloc(bytes ? bytes : 1, 1);

    assert_non_null(memory);
    return memory;
}

void memory_pattern(unsigned char *to, size_t bytes, uint32_t seed)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)((i + seed) * 2654435761u >> 13);
}

void memory_check_pattern(const unsigned char *bytes, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != (unsigned char)((i + seed) * 2654435761u >> 13))
            fail_msg("byte %zu of %zu is 0x%02x", i, count, bytes[i]);
}

int memory_all(const void *bytes, size_t count, unsigned char value)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < count; i++)
        if (at[i] != value)
            return 0;
    return 1;
}

uint64_t memory_calls(const char *function)
{
    return pool_mock_calls(memory_mock, function);
}
