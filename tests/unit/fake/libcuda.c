/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fake libcuda for the loader tests. Exports every function under its suffixed name and hands the
 * same functions out by version; the two ways give functions that answer differently. Built several
 * times:
 *   FAKE_PROC_ADDRESS   0: exports only, 1: cuGetProcAddress of CUDA 11.3, 2: also the _v2 of 12.0
 *   FAKE_HIDDEN         a function that cuGetProcAddress does not know (a map hides its export)
 */
#include <string.h>

#include <devicepool/driver.h>

#include "unit/fake/libcuda.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#ifndef FAKE_HIDDEN
#define FAKE_HIDDEN ""
#endif

/* Weak: libcuda_init.c has the real ones of two. */
#define FUNCTIONS(field, symbol, suffix, version, need, parameters)                                \
    __attribute__((weak)) pool_cu_result exported_##field parameters __asm__(symbol suffix);       \
    pool_cu_result exported_##field parameters                                                     \
    {                                                                                              \
        return FAKE_BY_EXPORT;                                                                     \
    }                                                                                              \
    __attribute__((unused)) static pool_cu_result versioned_##field parameters                     \
    {                                                                                              \
        return FAKE_BY_VERSION;                                                                    \
    }
POOL_CUDA_FUNCTIONS(FUNCTIONS)

#if FAKE_PROC_ADDRESS > 0
/* What stands for every function at a version at which its C type may be another. */
static pool_cu_result of_another_version(void)
{
    return FAKE_WRONG_VERSION;
}

static const struct row {
    const char *symbol;
    int version;
    void *function;
} rows[] = {
#define ROW(field, symbol, suffix, version, need, parameters)                                      \
    {symbol, version, (void *)versioned_##field},
    POOL_CUDA_FUNCTIONS(ROW)};

static pool_cu_result look_up(const char *symbol, void **function, int version)
{
    *function = NULL;
    if (strcmp(symbol, FAKE_HIDDEN) == 0)
        return POOL_CU_NOT_FOUND;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].symbol, symbol) != 0)
            continue;
        *function = (void *)of_another_version;
        if (rows[i].version == version) {
            *function = rows[i].function;
            break;
        }
    }
    if (strcmp(symbol, "cuInit") == 0)
        *function = (void *)exported_Init;
    if (strcmp(symbol, "cuDriverGetVersion") == 0)
        *function = (void *)exported_DriverGetVersion;
    return *function ? POOL_CU_SUCCESS : POOL_CU_NOT_FOUND;
}

pool_cu_result cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags);
pool_cu_result cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
    return flags ? POOL_CU_INVALID_VALUE : look_up(symbol, function, version);
}
#endif

#if FAKE_PROC_ADDRESS > 1
pool_cu_result cuGetProcAddress_v2(
    const char *symbol, void **function, int version, uint64_t flags, pool_cu_enum *reason);
pool_cu_result cuGetProcAddress_v2(
    const char *symbol, void **function, int version, uint64_t flags, pool_cu_enum *reason)
{
    pool_cu_result code = flags ? POOL_CU_INVALID_VALUE : look_up(symbol, function, version);

    /* As the real one: a symbol that is not there is a reason, not a failure. */
    *reason = code ? 1 : 0;
    return POOL_CU_SUCCESS;
}
#endif
