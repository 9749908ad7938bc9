/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of memory and streams: a pool on the kind of device that the program was
 * started for, data with a recognisable pattern, and checks that print the library's message.
 */
#ifndef TESTS_SUPPORT_MEMORY_H
#define TESTS_SUPPORT_MEMORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <devicepool.h>
#include <devicepool/mock.h>

#include "support/assert.h"

/* `--device mock|sim|all|…` chooses; returns 0, or 77 when there is no such device here. */
int memory_choose(int argc, char **argv, const char *otherwise);

/* A pool on it, with as many devices as it has (mock and sim: two). cmocka set up and tear down. */
extern device_pool *memory_pool;
extern pool_mock *memory_mock; /* NULL unless the choice is "mock" */
int memory_set_up(void **state);
int memory_set_up_without_pools(void **state); /* the mock, one device, no memory pools */
int memory_tear_down(void **state); /* the pool must be idle, balanced, and no context left */

pool_device *memory_device(size_t index);

/* Calls of a driver function that the mock has counted; NULL: of any. */
uint64_t memory_calls(const char *function);

/* The function table below a device. */
const pool_cuda_api *memory_driver(pool_device *device);
/* What calls that give or take a raw handle return: UNSUPPORTED in worker processes. */
pool_status memory_raw_status(void);

/* Zeros on the heap. */
unsigned char *memory_host(size_t bytes);
/* Bytes that depend on their position, and the check. */
void memory_pattern(unsigned char *to, size_t bytes, uint32_t seed);
void memory_check_pattern(const unsigned char *bytes, size_t count, uint32_t seed);
/* Whether all bytes have the value. */
int memory_all(const void *bytes, size_t count, unsigned char value);

#endif
