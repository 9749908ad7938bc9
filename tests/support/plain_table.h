/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simplest driver table: every function counts its calls and returns the code in
 * `plain_answers`. For tests of driver/ itself, for which the mock does too much.
 */
#ifndef TESTS_SUPPORT_PLAIN_TABLE_H
#define TESTS_SUPPORT_PLAIN_TABLE_H

#include <stdatomic.h>
#include <string.h>

#include <devicepool/driver.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"

struct plain_counters {
#define PLAIN_MEMBER(field, symbol, suffix, version, need, parameters) atomic_uint field;
    POOL_CUDA_FUNCTIONS(PLAIN_MEMBER)
#undef PLAIN_MEMBER
};
static struct plain_counters plain_answers; /* the code that each function returns */
static struct plain_counters plain_calls;

#define PLAIN_FUNCTION(field, symbol, suffix, version, need, parameters)                           \
    static pool_cu_result plain_##field parameters                                                 \
    {                                                                                              \
        atomic_fetch_add(&plain_calls.field, 1);                                                   \
        return atomic_load(&plain_answers.field);                                                  \
    }
POOL_CUDA_FUNCTIONS(PLAIN_FUNCTION)
#undef PLAIN_FUNCTION

/* Functions whose results are read. */
static int plain_version = 13000;
static int plain_device = 5;

static pool_cu_result plain_tell_version(int *version)
{
    pool_cu_result answer = plain_DriverGetVersion(version);

    if (!answer)
        *version = plain_version;
    return answer;
}

static pool_cu_result plain_tell_device(CUdevice *device)
{
    pool_cu_result answer = plain_CtxGetDevice(device);

    if (!answer)
        *device = plain_device;
    return answer;
}

static pool_cu_result plain_tell_name(pool_cu_result code, const char **name)
{
    pool_cu_result answer = plain_GetErrorName(code, name);

    if (!answer)
        *name = "CUDA_ERROR_OF_TOMORROW";
    return answer;
}

static pool_cu_result plain_tell_text(pool_cu_result code, const char **text)
{
    pool_cu_result answer = plain_GetErrorString(code, text);

    if (!answer)
        *text = "something new";
    return answer;
}

/* Returns a complete table, and resets all answers and counts to 0. */
static void plain_table(pool_cuda_api *table)
{
    memset(&plain_answers, 0, sizeof(plain_answers));
    memset(&plain_calls, 0, sizeof(plain_calls));
    memset(table, 0, sizeof(*table));
    table->struct_size = sizeof(*table);
#define PLAIN_ENTRY(field, symbol, suffix, version, need, parameters) table->field = plain_##field;
    POOL_CUDA_FUNCTIONS(PLAIN_ENTRY)
#undef PLAIN_ENTRY
    table->DriverGetVersion = plain_tell_version;
    table->CtxGetDevice = plain_tell_device;
    table->GetErrorName = plain_tell_name;
    table->GetErrorString = plain_tell_text;
}

#pragma GCC diagnostic pop

#endif
